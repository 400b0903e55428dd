"""All that is kept of one company, as a value: each write makes a new one and leaves the old one to whoever reads it.

That makes roll-back and the one moment's state of a reading true by construction. Here stand the constraints that a
database would enforce: who holds an address, whose an external id is, which sectors exist.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import attrs

from awareness_core.anonymity import AddressMark, ErasedAddress
from awareness_core.campaign_events import Event, EventKey, place_of
from awareness_core.campaigns import Campaign, CampaignId
from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee, EmployeeChange, EmployeeId
from awareness_core.errors import ConstraintViolated
from awareness_core.identity_providers import IdentityProvider
from awareness_core.outbox import PendingInvitation
from awareness_core.passwords import TemporaryPassword
from awareness_core.receipts import Receipt, ReceiptId
from awareness_core.recipients import Recipient
from awareness_core.results_plan import ResultChanges
from awareness_core.sectors import Sector, SectorId
from awareness_core.sessions import Session, SessionDigest
from awareness_core.tenants import Company
from awareness_core.verdict_rules import DEFAULT_RULES, VerdictRules

Value = TypeVar("Value")

Passwords = Mapping[EmployeeId, tuple[TemporaryPassword, ...]]
Receipts = Mapping[ReceiptId, tuple[Receipt, tuple[bytes, ...]]]
"""With the parts of the answer that is kept."""


@attrs.frozen(kw_only=True)
class CampaignResults:
    """The recipients and events of one campaign. Mappings are never changed in place."""

    recipients: Mapping[EmailKey, Recipient] = attrs.field(factory=dict)
    events: Mapping[EventKey, Event] = attrs.field(factory=dict)
    events_of: Mapping[EmailKey, tuple[EventKey, ...]] = attrs.field(factory=dict)
    events_at: Mapping[str, frozenset[EventKey]] = attrs.field(factory=dict)


NO_RESULTS = CampaignResults()


@attrs.frozen(kw_only=True)
class CompanyState:
    """One company at one moment. Mappings are never changed in place.

    `people_of` finds everyone with an address, archived ones included; `holders` only the active one who holds it.
    """

    company: Company
    sectors: Mapping[SectorId, Sector] = attrs.field(factory=dict)
    employees: Mapping[EmployeeId, Employee] = attrs.field(factory=dict)
    people_of: Mapping[EmailKey, frozenset[EmployeeId]] = attrs.field(factory=dict)
    holders: Mapping[EmailKey, EmployeeId] = attrs.field(factory=dict)
    by_external_id: Mapping[str, EmployeeId] = attrs.field(factory=dict)
    by_fingerprint: Mapping[bytes, EmployeeId] = attrs.field(factory=dict)
    passwords: Passwords = attrs.field(factory=dict)
    campaigns: Mapping[CampaignId, Campaign] = attrs.field(factory=dict)
    receipts: Receipts = attrs.field(factory=dict)
    results: Mapping[CampaignId, CampaignResults] = attrs.field(factory=dict)
    verdict_rules: VerdictRules = DEFAULT_RULES
    pending: Mapping[EmployeeId, PendingInvitation] = attrs.field(factory=dict)
    erasure_secret: bytes | None = attrs.field(default=None, repr=False)
    erased_addresses: Mapping[AddressMark, ErasedAddress] = attrs.field(factory=dict)
    chosen_passwords: Mapping[EmployeeId, ChosenPassword] = attrs.field(factory=dict)
    sessions: Mapping[SessionDigest, Session] = attrs.field(factory=dict)
    identity_provider: IdentityProvider | None = None


def with_sectors(state: CompanyState, sectors: Sequence[Sector]) -> CompanyState:
    """`state` with new sectors. Raises `ConstraintViolated` for a number or a name that exists."""
    if not sectors:
        return state
    known = dict(state.sectors)
    names = {sector.key for sector in known.values()}
    for sector in sectors:
        if sector.id in known or sector.key in names:
            raise ConstraintViolated("A sector of that number or name exists already.")
        known[sector.id] = sector
        names.add(sector.key)
    return attrs.evolve(state, sectors=known)


def with_changes(state: CompanyState, changes: Sequence[EmployeeChange]) -> CompanyState:
    """`state` after all changes together, so that addresses and external ids may swap hands.

    Raises `ConstraintViolated` when two people of this company would hold one address or one external id, when a person
    to change does not exist or a new one does, or when a sector does not exist.
    """
    if not changes:
        return state
    register = _Register(state)
    for change in changes:
        if change.before is not None:
            register.strike_out(change.after.id)
    for change in changes:
        register.enter(change.after)
    written = {change.after.id for change in changes}
    fingerprints = {
        fingerprint: owner for fingerprint, owner in state.by_fingerprint.items() if owner not in written
    }
    fingerprints.update(
        {change.fingerprint: change.after.id for change in changes if change.fingerprint is not None}
    )
    gone = {change.after.id for change in changes if change.ends_access}
    moved = {change.after.id for change in changes if change.moves_address}
    return attrs.evolve(
        state,
        employees=register.employees,
        people_of=register.people_of,
        holders=register.holders,
        by_external_id=register.by_external_id,
        by_fingerprint=fingerprints,
        passwords=without(state.passwords, gone | moved),
        pending=without(state.pending, gone),
        chosen_passwords=without(state.chosen_passwords, gone),
        sessions={
            key: kept
            for key, kept in state.sessions.items()
            if kept.employee_id not in gone and not (kept.must_choose and kept.employee_id in moved)
        },
    )


def with_invitations(state: CompanyState, invited: Iterable[Employee], passwords: Passwords) -> CompanyState:
    """`state` with the invitation histories of `invited` and all of `passwords`. Nobody's address or id may differ."""
    employees = {**state.employees, **{person.id: person for person in invited}}
    return attrs.evolve(state, employees=employees, passwords=passwords)


def with_campaigns(state: CompanyState, campaigns: Sequence[Campaign]) -> CompanyState:
    """`state` with campaigns added or replaced. Raises `ConstraintViolated` when two share an external id."""
    saved = {**state.campaigns, **{campaign.id: campaign for campaign in campaigns}}
    named = [campaign.external_id for campaign in saved.values() if campaign.external_id is not None]
    if len(named) != len(set(named)):
        raise ConstraintViolated("That external id is another campaign's.")
    return attrs.evolve(state, campaigns=saved)


def with_results(state: CompanyState, campaign_id: CampaignId, changes: ResultChanges) -> CompanyState:
    """`state` after these changes. Raises `ConstraintViolated` when there is no such campaign."""
    if campaign_id not in state.campaigns:
        raise ConstraintViolated("Results are for a campaign that does not exist.")
    known = _less(state.results.get(campaign_id, NO_RESULTS), changes)
    events, events_of, events_at = dict(known.events), dict(known.events_of), dict(known.events_at)
    for event in changes.new_events:
        events_of[event.recipient] = (*events_of.get(event.recipient, ()), event.key)
    for event in (*changes.new_events, *changes.changed_events, *changes.judged_events):
        before, after = events.get(event.key), place_of(event)
        if before is not None and (left := place_of(before)) is not None:
            events_at[left] = events_at[left] - {event.key}
        if after is not None:
            events_at[after] = events_at.get(after, frozenset()) | {event.key}
        events[event.key] = event
    written = (*changes.new_recipients, *changes.changed_recipients, *changes.progressed_recipients)
    results = CampaignResults(
        recipients={**known.recipients, **{recipient.email.key: recipient for recipient in written}},
        events=events,
        events_of=events_of,
        events_at=events_at,
    )
    return attrs.evolve(state, results={**state.results, campaign_id: results})


def without(
    kept: Mapping[EmployeeId, Value], employee_ids: Collection[EmployeeId]
) -> Mapping[EmployeeId, Value]:
    """`kept` less what is of these employees."""
    if not kept.keys() & employee_ids:
        return kept
    return {owner: value for owner, value in kept.items() if owner not in employee_ids}


def without_employees(state: CompanyState, employee_ids: Collection[EmployeeId]) -> CompanyState:
    """`state` less these people, their passwords, sessions and pending invitations."""
    gone = state.employees.keys() & employee_ids
    register = _Register(state)
    for employee_id in gone:
        register.strike_out(employee_id)
    return attrs.evolve(
        state,
        employees=register.employees,
        people_of=register.people_of,
        holders=register.holders,
        by_external_id=register.by_external_id,
        by_fingerprint={name: owner for name, owner in state.by_fingerprint.items() if owner not in gone},
        passwords=without(state.passwords, gone),
        pending=without(state.pending, gone),
        chosen_passwords=without(state.chosen_passwords, gone),
        sessions={key: kept for key, kept in state.sessions.items() if kept.employee_id not in gone},
    )


def _less(known: CampaignResults, changes: ResultChanges) -> CampaignResults:
    """`known` without what is gone."""
    if not (changes.gone_events or changes.gone_recipients):
        return known
    events, events_of, events_at = dict(known.events), dict(known.events_of), dict(known.events_at)
    for key in changes.gone_events:
        event = events.pop(key, None)
        if event is None:
            continue
        events_of[event.recipient] = tuple(one for one in events_of[event.recipient] if one != key)
        if (place := place_of(event)) is not None:
            events_at[place] = events_at[place] - {key}
    recipients = {key: one for key, one in known.recipients.items() if key not in changes.gone_recipients}
    # An empty set would still say who had been there.
    return CampaignResults(
        recipients=recipients,
        events=events,
        events_of={who: keys for who, keys in events_of.items() if keys},
        events_at={place: keys for place, keys in events_at.items() if keys},
    )


class _Register:
    """The people of a company and who is found by what, while they are being changed."""

    def __init__(self, state: CompanyState) -> None:
        self.employees = dict(state.employees)
        self.people_of = dict(state.people_of)
        self.holders = dict(state.holders)
        self.by_external_id = dict(state.by_external_id)
        self._sectors = state.sectors

    def strike_out(self, employee_id: EmployeeId) -> None:
        old = self.employees.pop(employee_id, None)
        if old is None:
            raise ConstraintViolated("An employee to change does not exist.")
        others = self.people_of.pop(old.email.key) - {old.id}
        if others:
            self.people_of[old.email.key] = others
        if old.is_active:
            del self.holders[old.email.key]
        if old.external_id is not None:
            del self.by_external_id[old.external_id]

    def enter(self, new: Employee) -> None:
        if new.id in self.employees:
            raise ConstraintViolated("An employee of that id exists already.")
        if new.sector_id is not None and new.sector_id not in self._sectors:
            raise ConstraintViolated("An employee's sector does not exist.")
        self.employees[new.id] = new
        self.people_of[new.email.key] = self.people_of.get(new.email.key, frozenset()) | {new.id}
        if new.is_active and self.holders.setdefault(new.email.key, new.id) != new.id:
            raise ConstraintViolated("Another active employee holds that address.")
        if new.external_id is not None and self.by_external_id.setdefault(new.external_id, new.id) != new.id:
            raise ConstraintViolated("That external id is another employee's.")
