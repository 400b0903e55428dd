"""Who works at the fictional company, and what each of them lives through: joining, invitations, first login, leaving.

Drawn by lot from a seed: the same seed and number give the same people. Days count back from today. Stores nothing.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from ipaddress import ip_network
from random import Random

import attrs

from awareness_core.employees import EmployeeRecord
from awareness_core.records import RawEmployee, check_record
from awareness_server.demo_data import DemoData, SectorPlan

FOUNDED = 420
"""The day on which the first people were brought in: more than a year before the first campaign that is shown."""

_ONBOARDINGS = tuple(range(380, 10, -30))
_LATEST_ONBOARDING = 4
_REMINDER = 3

_SHARE_OF_FOUNDERS = 0.8
_SHARE_OF_LATEST = 0.03
_SHARE_OF_LEAVERS = 0.06
_SHARE_LOGGED_IN = 0.85
_SHARE_REMINDED = 0.5
_SHARE_AT_HOME = 0.4


@attrs.frozen(kw_only=True)
class DemoPerson:
    """One person. `recklessness` is 1 on average: how much more than others they fall for a lure.

    `address` and `user_agent` are where and with what they read their mail.
    """

    first_name: str
    last_name: str
    email: str
    external_id: str
    job_title: str
    phone: str
    sector: str
    recklessness: float
    address: str
    user_agent: str
    joined: int
    invited: tuple[int, ...] = ()
    logged_in: int | None = None
    left: int | None = None

    def record(self, *, active: bool = True) -> EmployeeRecord:
        """What a directory says of them."""
        return check_record(
            RawEmployee(
                email=self.email,
                last_name=self.last_name,
                first_name=self.first_name,
                external_id=self.external_id,
                job_title=self.job_title,
                phone=self.phone,
                sector_name=self.sector,
                active=active,
            )
        )

    def is_there(self, day: float) -> bool:
        """Whether they work there on that day."""
        return self.joined >= day and (self.left is None or self.left < day)


def fictional_people(data: DemoData, *, count: int, seed: int) -> tuple[DemoPerson, ...]:
    """Draw `count` people, in the order in which they joined."""
    lot = Random(f"{seed}/people")  # noqa: S311 (a story, no secret)
    # Apart, so that one more browser in the data makes nobody another person.
    desks = Random(f"{seed}/desks")  # noqa: S311 (as above)
    homes, offices = _hosts(data.homes), {sector.name: _hosts(sector.office) for sector in data.sectors}
    names = lot.sample(range(len(data.first_names) * len(data.last_names)), count)
    sectors = _sectors(data, count)
    lot.shuffle(sectors)
    addresses: Counter[str] = Counter()
    people = []
    for number, (name, sector) in enumerate(zip(names, sectors, strict=True)):
        last_index, first_index = divmod(name, len(data.first_names))
        first_name, last_name = data.first_names[first_index], data.last_names[last_index]
        local_part = f"{_plain(first_name)}.{_plain(last_name)}"
        addresses[local_part] += 1
        if addresses[local_part] > 1:
            local_part += str(addresses[local_part])
        domain = data.company.sso_domain if sector.uses_sso else data.company.domain
        person = DemoPerson(
            first_name=first_name,
            last_name=last_name,
            email=f"{local_part}@{domain}",
            external_id=f"B{1000 + number}",
            job_title=lot.choice(sector.jobs),
            phone=f"+33 4 99 {lot.randrange(100):02} {lot.randrange(100):02} {lot.randrange(100):02}",
            sector=sector.name,
            recklessness=lot.betavariate(2, 5) * 3.5,
            address=desks.choice(homes if desks.random() < _SHARE_AT_HOME else offices[sector.name]),
            user_agent=desks.choice(data.user_agents),
            joined=_joined(lot),
        )
        people.append(_with_life(person, lot, uses_sso=sector.uses_sso))
    return tuple(sorted(people, key=lambda person: (-person.joined, person.external_id)))


def _sectors(data: DemoData, count: int) -> list[SectorPlan]:
    # Largest remainders, so that shares are kept and everyone is somewhere.
    total = sum(sector.share for sector in data.sectors)
    sizes = [count * sector.share // total for sector in data.sectors]
    by_remainder = sorted(
        range(len(sizes)), key=lambda index: (count * data.sectors[index].share) % total, reverse=True
    )
    for index in by_remainder[: count - sum(sizes)]:
        sizes[index] += 1
    return [sector for sector, size in zip(data.sectors, sizes, strict=True) for _ in range(size)]


def _hosts(network: str) -> list[str]:
    return [str(address) for address in ip_network(network).hosts()]


def _joined(lot: Random) -> int:
    draw = lot.random()
    if draw < _SHARE_OF_FOUNDERS:
        return FOUNDED
    return _LATEST_ONBOARDING if draw > 1 - _SHARE_OF_LATEST else lot.choice(_ONBOARDINGS)


def _with_life(person: DemoPerson, lot: Random, *, uses_sso: bool) -> DemoPerson:
    leaves, logs_in, is_reminded = (
        lot.random() < share for share in (_SHARE_OF_LEAVERS, _SHARE_LOGGED_IN, _SHARE_REMINDED)
    )
    hesitation, stay = 1 + int(lot.expovariate(1 / 4)), lot.random()
    if person.joined == _LATEST_ONBOARDING:
        return person
    left = max(1, round(person.joined * (1 - stay)) - 5) if leaves else None
    first_invitation = person.joined - 1
    logged_in = first_invitation - hesitation if logs_in else None
    if left is not None and (logged_in is None or logged_in <= left):
        logged_in = None
    if uses_sso:
        return attrs.evolve(person, left=left)
    is_waiting = logged_in is None and left is None
    return attrs.evolve(
        person,
        invited=(first_invitation, _REMINDER) if is_waiting and is_reminded else (first_invitation,),
        logged_in=logged_in,
        left=left,
    )


def _plain(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name).lower().replace(" ", "-")
    return "".join(
        character
        for character in decomposed
        if (character.isalnum() and character.isascii()) or character == "-"
    )
