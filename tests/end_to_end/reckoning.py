"""What came of invitations after a run of accidents: who was mailed how often, whose door opens, what leaked."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import httpx

from tests.contracts.smtp_server import SmtpServer
from tests.end_to_end.installed import until
from tests.end_to_end.mortal_places import DatabaseAway, MortalPlace
from tests.end_to_end.visitor import Visitor

EMPLOYEES = "/api/v1/employees"
_PATIENCE_SECONDS = 120.0
_AT_ONCE = 4
_LETTERS_A_LIFE = 15
"""So many of one person are tried before the service begins to count attempts to log in anew: it admits 20."""

_INVITED_ANEW = 10
_DAY_MS = 24 * 3600 * 1000
_MAYBE_PASSWORD = re.compile(rb"(?=([0-9a-z]{5}(?:-[0-9a-z]{5}){3}|[0-9a-z]{20}))")


@attrs.frozen(kw_only=True)
class Figures:
    """All counted. Letters are counted before anybody is invited anew."""

    awaiting: int
    told_invited: int
    told_failed: int
    letters: int
    mailed: int
    most_to_one: int
    told_invited_but_never_mailed: int
    neither_mailed_nor_told: int
    still_pending: int
    mailed_but_not_noted: int
    letters_taken_twice: int
    """Handed over more than once, that is: each attempt has a password of its own."""
    doors_that_stay_closed: int
    invited_anew: int
    to_be_invited_anew: int
    passwords_found_in: list[str] = attrs.field(factory=list)
    kills: Mapping[str, int] = attrs.field(factory=dict)
    calls: Mapping[str, int] = attrs.field(factory=dict)
    exit_codes: list[int] = attrs.field(factory=list)
    seconds: int = 0

    @property
    def lost(self) -> int:
        """People who were to be mailed and were not, nor were told to have failed."""
        return self.told_invited_but_never_mailed + self.neither_mailed_nor_told + self.still_pending

    @property
    def duplicates(self) -> int:
        """Letters beyond one for each person."""
        return self.letters - self.mailed

    @property
    def is_good(self) -> bool:
        """Whether nothing is lost, every letter opens a door, and nothing leaked; duplicates are no fault."""
        return (
            not (
                self.lost
                or self.mailed_but_not_noted
                or self.letters_taken_twice
                or self.doors_that_stay_closed
            )
            and not (self.passwords_found_in or any(self.exit_codes))
            and self.invited_anew == self.to_be_invited_anew
        )

    def __str__(self) -> str:
        told = {**attrs.asdict(self), "lost": self.lost, "duplicates": self.duplicates}
        return "\n".join(f"  {name.replace('_', ' '):<32} {value}" for name, value in told.items())


@attrs.frozen
class Letter:
    email: str
    password: str


@attrs.define(kw_only=True)
class Reckoning:
    """Counting, with a service that answers on `url`. `told` is what callers were told of each address.

    `restart` starts it anew, and returns where it answers then.
    """

    place: MortalPlace
    smtp: SmtpServer
    url: str
    headers: Mapping[str, str]
    told: Mapping[str, set[str]]
    restart: Callable[[], str]

    def count(self) -> Figures:
        """Once nothing is pending any more."""
        until(
            lambda: self._number("SELECT count(*) FROM pending_invitations") == 0, patience=_PATIENCE_SECONDS
        )
        letters = self.letters()
        awaiting = self._awaiting()
        mailed = {letter.email for letter in letters}
        invited = {email for email, told in self.told.items() if "invited" in told}
        failed = {email for email, told in self.told.items() if "failed" in told}
        noted = self._number("SELECT count(*) FROM employees WHERE last_sent_at IS NOT NULL")
        anew = self._invite_anew(list(awaiting.values())[:_INVITED_ANEW])
        return Figures(
            awaiting=len(awaiting),
            told_invited=len(invited),
            told_failed=len(failed),
            letters=len(letters),
            mailed=len(mailed),
            most_to_one=max(Counter(letter.email for letter in letters).values()),
            told_invited_but_never_mailed=len(invited - mailed),
            neither_mailed_nor_told=len(awaiting.keys() - mailed - failed),
            still_pending=self._number("SELECT count(*) FROM pending_invitations"),
            mailed_but_not_noted=len(mailed) - noted,
            letters_taken_twice=len(letters) - len(set(letters)),
            doors_that_stay_closed=self._closed(self.letters()),
            invited_anew=anew,
            to_be_invited_anew=min(_INVITED_ANEW, len(awaiting)),
        )

    def letters(self) -> list[Letter]:
        """All that the mail server took so far."""
        return [_read(message) for message in self.smtp.messages]

    def passwords_in(self, texts: Iterable[tuple[str, bytes]]) -> list[str]:
        """The names of those in which a mailed password stands, with or without its dashes."""
        spelt = {letter.password.encode() for letter in self.letters()}
        wanted = spelt | {password.replace(b"-", b"") for password in spelt}
        return [name for name, text in texts if not wanted.isdisjoint(_MAYBE_PASSWORD.findall(text))]

    def _number(self, sql: str) -> int:
        try:
            (found,) = self.place.ask(sql)
        except DatabaseAway:
            return -1
        return found

    def _awaiting(self) -> dict[str, str]:
        """The ids of all who await access, by address."""
        found: dict[str, str] = {}
        with self._client() as client:
            page, has_more = 1, True
            while has_more:
                answer = client.get(EMPLOYEES, params={"page": page, "limit": 100}).raise_for_status().json()
                found |= {one["email"]: one["id"] for one in answer["data"] if one["acces"] == "en_attente"}
                page, has_more = page + 1, len(answer["data"]) == 100
        return found

    def _invite_anew(self, ids: list[str]) -> int:
        self.place.ask(f"UPDATE employees SET last_attempt_at = last_attempt_at - {_DAY_MS}")
        with self._client() as client:
            wanted = {"employee_ids": ids, "force": True}
            answer = client.post(f"{EMPLOYEES}/invite-bulk", json=wanted).raise_for_status()
        return int(answer.json()["summary"]["invited"])

    def _closed(self, letters: list[Letter]) -> int:
        rounds: defaultdict[int, list[Letter]] = defaultdict(list)
        seen: Counter[str] = Counter()
        for letter in letters:
            rounds[seen[letter.email] // _LETTERS_A_LIFE].append(letter)
            seen[letter.email] += 1
        closed = 0
        for some in rounds.values():
            self.url = self.restart()
            with ThreadPoolExecutor(_AT_ONCE) as threads:
                closed += list(threads.map(self._opens, some)).count(False)
        return closed

    def _opens(self, letter: Letter) -> bool:
        visitor = Visitor(self.url)
        visitor.get("/login")
        answer = visitor.post("/login", {"email": letter.email, "password": letter.password})
        return (answer.status_code, answer.headers.get("location")) == (303, "/portal/choose")

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=dict(self.headers), verify=False, timeout=60)


def _read(message: Any) -> Letter:  # noqa: ANN401 (an EmailMessage, whose headers mypy does not know)
    text = message.get_body(("plain",)).get_content().encode()
    (password,) = {found for found in _MAYBE_PASSWORD.findall(text) if b"-" in found}
    (recipient,) = message["To"].addresses
    return Letter(recipient.addr_spec, password.decode())
