"""The fictional company comes to life: its people pass through the real use cases, day by day, up to today.

The results of its campaigns come in as a tool's do. On whatever ports it is given; it moves their clock itself. What it
draws by lot stands in `demo_people`, `demo_campaigns` and `demo_timeline`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

import attrs

from awareness_core.api_keys import Scope
from awareness_core.employees import EmployeeId
from awareness_core.invitations import MAX_PER_CALL
from awareness_core.ports import Ports
from awareness_core.tenants import Company, CompanyId, Language
from awareness_core.use_cases.companies import create_company
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.issue_api_key import IssuedKey, issue_api_key
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.record_first_login import record_first_login
from awareness_memory import ManualClock, MemoryMailer
from awareness_server.demo_campaigns import fictional_campaigns
from awareness_server.demo_data import demo_data
from awareness_server.demo_exports import told_by_tool
from awareness_server.demo_people import FOUNDED, DemoPerson, fictional_people

_READING = frozenset(scope for scope in Scope if scope.value.startswith("read:"))


@attrs.frozen(kw_only=True)
class DemoCompany:
    """The company as it stands today, and two keys to it: one that may do everything, one that may only read."""

    company: Company
    full_key: IssuedKey
    reading_key: IssuedKey


async def found_demo_company(ports: Ports, *, employees: int, seed: int, now: datetime) -> DemoCompany:
    """Let the company live up to `now`. Its mail of the past goes nowhere; keys and ids are new each time."""
    data = demo_data()
    clock = ManualClock(now - timedelta(days=FOUNDED + 1))
    past = attrs.evolve(ports, clock=clock, mailer=MemoryMailer())
    company = await create_company(
        past, name=data.company.name, language=Language.FRENCH, sso_domains=[data.company.sso_domain]
    )
    people = fictional_people(data, count=employees, seed=seed)
    await _live_through(past, clock, company.id, people, now=now)
    for campaign in fictional_campaigns(data, people, seed=seed, now=now):
        clock.set(campaign.created_at)
        await import_results(past, company.id, told_by_tool(campaign))
    clock.set(now)
    return DemoCompany(
        company=company,
        full_key=await issue_api_key(past, company.id, name="Demo: everything", scopes=frozenset(Scope)),
        reading_key=await issue_api_key(past, company.id, name="Demo: read only", scopes=_READING),
    )


async def _live_through(
    ports: Ports, clock: ManualClock, company_id: CompanyId, people: Sequence[DemoPerson], *, now: datetime
) -> None:
    diary = _diary(people)
    ids: dict[str, EmployeeId] = {}
    for day in sorted(diary, reverse=True):
        today = diary[day]
        clock.set(now - timedelta(days=day))
        records = [person.record() for person in today.joining]
        records += [person.record(active=False) for person in today.leaving]
        if records:
            report = await provision(ports, company_id, records)
            ids |= {item.email: item.id for item in report.items if item.id is not None}
        invited = [ids[person.email] for person in today.invited]
        for start in range(0, len(invited), MAX_PER_CALL):
            await invite(ports, company_id, selection=invited[start : start + MAX_PER_CALL])
        for person in today.logging_in:
            await record_first_login(ports, company_id, ids[person.email])


@attrs.define
class _Day:
    joining: list[DemoPerson] = attrs.field(factory=list)
    invited: list[DemoPerson] = attrs.field(factory=list)
    logging_in: list[DemoPerson] = attrs.field(factory=list)
    leaving: list[DemoPerson] = attrs.field(factory=list)


def _diary(people: Sequence[DemoPerson]) -> defaultdict[int, _Day]:
    diary: defaultdict[int, _Day] = defaultdict(_Day)
    for person in people:
        diary[person.joined].joining.append(person)
        for day in person.invited:
            diary[day].invited.append(person)
        if person.logged_in is not None:
            diary[person.logged_in].logging_in.append(person)
        if person.left is not None:
            diary[person.left].leaving.append(person)
    return diary
