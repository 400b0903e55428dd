"""Erasing a person over HTTP: what is answered, what callers see afterwards, and that it is nowhere to be found."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

import pytest
import structlog

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.campaign_events import event_key
from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.emails import parse_email
from awareness_core.employees import EmployeeId
from awareness_core.kpis import Step
from awareness_core.periods import parse_moment
from awareness_core.sessions import SessionDigest, SessionPolicy, begin_session
from awareness_http.idempotency import receipt_id_of
from tests.contracts.postgres_database import PlacedDatabase, open_postgres, postgres  # noqa: F401 -- a fixture
from tests.contracts.storages import Storage, storage_of
from tests.http.service import ADA, Service, new_service
from tests.http.test_result_imports import CAMPAIGN, IMPORT, event

pytestmark = pytest.mark.anyio

EMPLOYEES: Final = "/api/v1/employees"
SYNC: Final = "/api/v1/employees/sync"


async def erase(service: Service, name: str, **options: Any) -> Any:  # noqa: ANN401 (as Service.call)
    return await service.call("DELETE", f"{EMPLOYEES}/{name}", **options)


async def test_a_person_is_erased_once_and_is_nobody_from_then_on(stored: Service) -> None:
    ada = await stored.person(external_id="RH-1")
    erased = await erase(stored, ada)
    again = await erase(stored, ada)
    read = await stored.get(f"{EMPLOYEES}/{ada}")

    assert (200, {"ok": True, "id": ada}) == (erased.status, erased.json)
    assert (404, "NOT_FOUND") == (again.status, again.code)
    assert again.json == read.json
    assert 0 == await stored.people()


@pytest.mark.parametrize("name", ["nobody", "01950000-0000-7000-8000-000000000000", "0", "x" * 4000])
async def test_an_id_that_is_nobodys_is_not_found(stored: Service, name: str) -> None:
    answer = await erase(stored, name)

    assert (404, "NOT_FOUND") == (answer.status, answer.code)


async def test_a_parameter_is_refused_and_nobody_erased(service: Service) -> None:
    ada = await service.person()
    answer = await erase(service, ada, query={"force": "true"})

    assert (400, [("force", "unknown_parameter")]) == (answer.status, answer.faults)
    assert 1 == await service.people()


async def test_the_scope_to_write_people_does_not_erase_them(service: Service) -> None:
    ada = await service.person()
    key = await service.key_with(KeyScope.WRITE_EMPLOYEES, KeyScope.READ_EMPLOYEES)
    answer = await erase(service, ada, key=key)

    assert (403, "INSUFFICIENT_SCOPE") == (answer.status, answer.code)
    assert 1 == await service.people()


async def test_every_figure_stays_and_the_recipient_is_nobodys(stored: Service) -> None:
    ada = await stored.person(external_id="RH-1", secteur="Research")
    told = {
        "campaign": CAMPAIGN,
        "destinataires": [{"email": "ada@acme.example", "external_id": "RH-1"}, {"email": "b@acme.example"}],
        "evenements": [event("ada", "envoye"), event("ada", ip="192.0.2.7"), event("ada", "signale")],
    }
    path = f"/api/v1/campaigns/{(await stored.post(IMPORT, told)).json['campaign']['id']}"
    before = await stored.get(path)
    people_before = (await stored.get(f"{path}/results")).json["data"]
    await erase(stored, ada)
    again = (await stored.post(IMPORT, told)).json

    assert before.body == (await stored.get(path)).body
    assert (0, 0, 4) == tuple(again["summary"][name] for name in ("nouveaux", "deja_connus", "effaces"))
    assert before.json["campaign"]["stats"] == again["campaign"]["stats"]
    people = (await stored.get(f"{path}/results")).json["data"]
    (was,) = [one for one in people_before if one["employee_id"] == ada]
    (is_now,) = [one for one in people if one["email"] is None]
    assert {**was, "employee_id": None, "email": None, "external_id": None} == is_now
    as_csv = await stored.get(f"{path}/results", headers=[("accept", "text/csv")])
    cells = csv.DictReader(io.StringIO(as_csv.body.decode()))
    assert ["", "b@acme.example"] == sorted(line["email"] for line in cells)


async def test_a_request_answered_before_is_refused_and_not_carried_out_again(stored: Service) -> None:
    key = [("Idempotency-Key", "one")]
    created = await stored.post(EMPLOYEES, ADA, headers=key)
    await erase(stored, created.json["employee"]["id"])
    again = await stored.post(EMPLOYEES, ADA, headers=key)

    assert (409, "CONFLICT") == (again.status, again.code)
    assert "an employee was erased" in again.json["message"].lower()
    assert 0 == await stored.people()


async def test_the_same_person_can_be_created_anew(stored: Service) -> None:
    ada = await stored.person(external_id="RH-1")
    await erase(stored, ada)
    anew = await stored.post(EMPLOYEES, {**ADA, "external_id": "RH-1"})

    assert "created" == anew.json["employee"]["action"]
    assert ada != anew.json["employee"]["id"]


# What follows is found nowhere else: a name, a number, an address, all that is told of one person, and what earlier
# versions of it were.
GONE: Final = {
    "email": "Zyxgoneq.Wvutsq@acme.example",
    "nom": "Qvornemzak",
    "prenom": "Xilbethra",
    "external_id": "RH-77213341",
    "fonction": "Wrangler of yoqquas",
    "telephone": "+33 7 81 93 04 55 27",
    "adresse": "19 rue des Ephxmeres",
    "secteur": "Research",
}
BEFORE: Final = {
    **GONE,
    "email": "bxforeq@acme.example",
    "nom": "Prmierzak",
    "telephone": "+33 1 00 44 77 99 13",
}
IP, AGENT, EVENT_ID = "203.0.113.231", "Gnoxfire/77.13", "rid-Kx81zzq"
AT: Final = "2026-03-03T09:00:00Z"
HASH, SESSION = "$argon2id$qvrzz$kmwnnp", "5e5510d16e57aa0bb1"
NEEDLES: Final = (
    HASH,
    SESSION,
    *(GONE[name] for name in GONE if name != "secteur"),
    "zyxgoneq",
    "qvornemzak",
    "bxforeq",
    "Prmierzak",
    "prmierzak",
    BEFORE["telephone"],
    IP,
    AGENT,
    EVENT_ID,
    # The key of an event without an id is a digest that whoever knows the address can make again.
    event_key(None, parse_email(GONE["email"]).key, Step.CLICKED, parse_moment(AT)),
)

Look = Callable[[], str]
"""All that is kept, as one text."""


def _text_of(pieces: Iterable[bytes]) -> str:
    return "\n".join(piece.decode("latin-1") for piece in pieces)


@contextlib.asynccontextmanager
async def _in_sqlite(
    _: pytest.FixtureRequest, migrated: Path, folder: Path
) -> AsyncIterator[tuple[Storage, Look]]:
    async with storage_of("sqlite", migrated, folder) as storage:
        yield storage, lambda: _text_of(file.read_bytes() for file in folder.glob("awareness.db*"))


@contextlib.asynccontextmanager
async def _in_postgres(
    request: pytest.FixtureRequest, _migrated: Path, _folder: Path
) -> AsyncIterator[tuple[Storage, Look]]:
    database: PlacedDatabase = request.getfixturevalue("postgres")

    def look() -> str:
        """Every column of every table, bytes as they are."""
        tables = database.within(
            "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = 'public'"
        )
        rows = [line for table in tables for line in database.within(f"SELECT t::text FROM {table} t")]
        text = "\n".join(rows)
        return text + _text_of(bytes.fromhex(found) for found in re.findall(r"\\x((?:[0-9a-f]{2})+)", text))

    async with open_postgres(database) as storage:
        yield storage, look


@pytest.mark.parametrize("opened", [_in_sqlite, _in_postgres])
async def test_what_was_erased_is_in_no_column_no_file_and_no_line_of_the_log(
    request: pytest.FixtureRequest,
    migrated: Path,
    tmp_path: Path,
    opened: Callable[..., AbstractAsyncContextManager[tuple[Storage, Look]]],
) -> None:
    async with opened(request, migrated, tmp_path) as (storage, look):
        service = await new_service(storage, access_log=True)
        with structlog.testing.capture_logs() as lines:
            name = await _lived(service)
            await _logged_in(storage, service, EmployeeId(name))
            answers = await _kept_answers(storage, service)
            before = look()
            erased = await erase(service, name)
        after = look()

        assert 200 == erased.status
        # The test itself: all of it had been there, and the log was on.
        assert [] == [needle for needle in (*NEEDLES[:9], IP, AGENT) if needle not in before]
        assert 3 == len(answers)
        assert [] == [part for part in answers if part not in before]
        assert lines
        assert [] == [needle for needle in (*NEEDLES, *answers) if needle in after]
        assert [] == [needle for needle in NEEDLES if needle in repr(lines)]
        assert "Research" in after


async def _lived(service: Service) -> str:
    """Somebody among many, who changed, was invited, took part, and was told of in answers that are kept; their id."""
    people = [
        {"email": f"person{number}@acme.example", "nom": f"Name{number}", "prenom": "Jeanne"}
        for number in range(400)
    ]
    await service.post(SYNC, {"employees": [*people[:200], BEFORE, *people[200:]]})
    await service.post(SYNC, {"employees": [GONE, *({**one, "fonction": "x" * 90} for one in people)]})
    name = (await service.get(EMPLOYEES, query={"external_id": GONE["external_id"]})).json["data"][0]["id"]
    once = [("Idempotency-Key", "one")]
    await service.post(f"{EMPLOYEES}/invite-bulk", {"employee_ids": [name]}, headers=once)
    await service.post(EMPLOYEES, {**GONE, "fonction": "Tamer"}, headers=once)
    await service.post(EMPLOYEES, GONE)
    local = GONE["email"].partition("@")[0]
    told = [
        event(local, "envoye", "2026-03-03T08:00:00Z", id=EVENT_ID),
        event(local, "clique", AT, ip=IP, user_agent=AGENT, methode="GET"),
        *(event(f"person{number}", "clique", AT, ip="192.0.2.9") for number in range(300)),
    ]
    targeted = {"email": GONE["email"], "external_id": GONE["external_id"]}
    await service.post(
        IMPORT, {"campaign": CAMPAIGN, "destinataires": [targeted], "evenements": told}, headers=once
    )
    return str(name)


async def _logged_in(storage: Storage, service: Service, name: EmployeeId) -> None:
    async with storage.store.transaction(service.acme.id) as transaction:
        await transaction.save_chosen_password(
            ChosenPassword(employee_id=name, hash=HASH, changed_at=service.clock.now())
        )
        session = begin_session(SessionDigest(SESSION), name, policy=SessionPolicy(), now=service.clock.now())
        await transaction.save_session(session)


async def _kept_answers(storage: Storage, service: Service) -> list[str]:
    """The beginning of each answer that is kept. They are compressed, so no name is in them to be found."""
    async with storage.store.reading(service.acme.id) as reading:
        return [
            part[:64].decode("latin-1")
            for path in (f"{EMPLOYEES}/invite-bulk", EMPLOYEES, IMPORT)
            async for part in reading.kept_answer(receipt_id_of(b"one", "POST", path.encode()))
        ]
