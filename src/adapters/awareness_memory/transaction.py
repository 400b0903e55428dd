"""Writes to one company: each makes a new `CompanyState`, and the store takes the last one when the block ends well."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import datetime

import attrs

from awareness_core.anonymity import ErasedAddress
from awareness_core.campaigns import Campaign, CampaignId
from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.emails import EmailKey
from awareness_core.employees import Employee, EmployeeChange, EmployeeId
from awareness_core.errors import ConstraintViolated, NotFound
from awareness_core.identity_providers import IdentityProvider
from awareness_core.outbox import PendingInvitation
from awareness_core.passwords import TemporaryPassword
from awareness_core.receipts import Receipt, ReceiptId, forgotten
from awareness_core.results_plan import ResultChanges
from awareness_core.sectors import Sector
from awareness_core.sessions import Session, SessionDigest
from awareness_core.tenants import CompanyId
from awareness_core.verdict_rules import DEFAULT_RULES, VerdictRules
from awareness_memory.portal import (
    expired_sessions,
    sessions_of,
    sso_sessions,
    with_chosen_password,
    with_session,
    without_sessions,
)
from awareness_memory.reading import MemoryReading, World
from awareness_memory.state import (
    CompanyState,
    with_campaigns,
    with_changes,
    with_invitations,
    with_results,
    with_sectors,
    without,
    without_employees,
)


class MemoryTransaction(MemoryReading):
    """A `Transaction`: it sees its own writes, and the other companies as they are committed.

    `claim_addresses` waits until no other open transaction has changed who holds an address. Raises `NotFound` for a
    company that does not exist.
    """

    def __init__(
        self,
        newest: Callable[[], World],
        company_id: CompanyId,
        claim_addresses: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(newest(), company_id)
        self._newest = newest
        self._claim_addresses = claim_addresses

    def outcome(self) -> CompanyState:
        """The company with all that was written."""
        return self._existing()

    async def addresses_held_by_other_companies(
        self, email_keys: Collection[EmailKey]
    ) -> frozenset[EmailKey]:
        """See `Reading`; as committed by now."""
        self._world = self._newest()
        return await super().addresses_held_by_other_companies(email_keys)

    async def apply(self, *, changes: Sequence[EmployeeChange], sectors: Sequence[Sector] = ()) -> None:
        """See `Transaction`."""
        if changes:
            await self._claim_addresses()
        written = with_changes(with_sectors(self._existing(), sectors), changes)
        held = [change.after.email.key for change in changes if change.after.is_active]
        if await self.addresses_held_by_other_companies(held):
            raise ConstraintViolated("An active employee of another company holds that address.")
        self._state = written

    async def record_attempts(self, passwords: Sequence[TemporaryPassword]) -> None:
        """See `Transaction`. Raises `ConstraintViolated` for an employee who is not this company's.

        It does so for a digest that is kept already, too: it would be the same password again.
        """
        state = self._existing()
        people: dict[EmployeeId, Employee] = {}
        kept = dict(state.passwords)
        for password in passwords:
            person = state.employees.get(password.employee_id)
            if person is None:
                raise ConstraintViolated("A temporary password is for an employee who does not exist.")
            if password.digest in {earlier.digest for earlier in kept.get(person.id, ())}:
                raise ConstraintViolated("That temporary password is kept already.")
            history = attrs.evolve(person.invitation, last_attempt_at=password.created_at)
            people[person.id] = attrs.evolve(person, invitation=history)
            kept[person.id] = (*kept.get(person.id, ()), password)
        self._state = with_invitations(state, people.values(), kept)

    async def record_deliveries(self, passwords: Sequence[TemporaryPassword]) -> None:
        """See `Transaction`. A password destroyed meanwhile opens nothing, so it is noted for nobody."""
        state = self._existing()
        people: dict[EmployeeId, Employee] = {}
        for password in passwords:
            person = state.employees.get(password.employee_id)
            if person is None or not person.is_active or person.has_password:
                continue
            if password.digest in {kept.digest for kept in state.passwords.get(person.id, ())}:
                history = attrs.evolve(
                    person.invitation, last_sent_at=password.created_at, live_until=password.expires_at
                )
                people[person.id] = attrs.evolve(person, invitation=history)
        self._state = with_invitations(state, people.values(), state.passwords)

    async def record_failures(self, failures: Sequence[tuple[TemporaryPassword, datetime]]) -> None:
        """See `Transaction`."""
        state = self._existing()
        people: dict[EmployeeId, Employee] = {}
        for password, at in failures:
            person = people.get(password.employee_id) or state.employees.get(password.employee_id)
            last = None if person is None else person.invitation.last_attempt_at
            if person is None or last is None or last >= at:
                continue
            if password.digest in {kept.digest for kept in state.passwords.get(person.id, ())}:
                history = attrs.evolve(person.invitation, last_attempt_at=at)
                people[person.id] = attrs.evolve(person, invitation=history)
        self._state = with_invitations(state, people.values(), state.passwords)

    async def forget_passwords(self, employee_ids: Collection[EmployeeId]) -> None:
        """See `Transaction`."""
        state = self._existing()
        gone = set(employee_ids)
        self._state = attrs.evolve(
            state, passwords=without(state.passwords, gone), pending=without(state.pending, gone)
        )

    async def save_pending(self, invitations: Sequence[PendingInvitation]) -> None:
        """See `Transaction`. Of two for one employee in one call the last is kept."""
        state = self._existing()
        if any(pending.employee_id not in state.employees for pending in invitations):
            raise ConstraintViolated("A pending invitation is for an employee who does not exist.")
        saved = {pending.employee_id: pending for pending in invitations}
        self._state = attrs.evolve(state, pending={**state.pending, **saved})

    async def forget_pending(
        self, employee_ids: Collection[EmployeeId], *, holder: str | None = None
    ) -> None:
        """See `Transaction`."""
        state = self._existing()
        gone = {
            pending.employee_id
            for pending in state.pending.values()
            if pending.employee_id in set(employee_ids) and holder in {None, pending.holder}
        }
        self._state = attrs.evolve(state, pending=without(state.pending, gone))

    async def save_campaigns(self, campaigns: Sequence[Campaign]) -> None:
        """See `Transaction`. Of two with one id in one call the last is kept."""
        self._state = with_campaigns(self._existing(), campaigns)

    async def save_results(self, campaign_id: CampaignId, changes: ResultChanges) -> None:
        """See `Transaction`."""
        self._state = with_results(self._existing(), campaign_id, changes)

    async def save_verdict_rules(self, rules: VerdictRules | None) -> None:
        """See `Transaction`."""
        self._state = attrs.evolve(self._existing(), verdict_rules=rules or DEFAULT_RULES)

    async def save_receipt(self, receipt: Receipt, *, answer: Iterable[bytes] = ()) -> None:
        """See `Transaction`. Memory does hold all of it."""
        state = self._existing()
        kept = (receipt, tuple(answer))
        self._state = attrs.evolve(state, receipts={**state.receipts, receipt.id: kept})

    async def forget_receipt(self, receipt_id: ReceiptId) -> None:
        """See `Transaction`."""
        self._forget_receipts({receipt_id})

    async def purge_receipts(self, *, at: datetime, at_most: int) -> int:
        """See `Transaction`."""
        kept = (receipt for receipt, _ in self._existing().receipts.values())
        expired = [receipt for receipt in kept if receipt.expires_at <= at]
        oldest = sorted(expired, key=lambda receipt: (receipt.expires_at, receipt.id))[:at_most]
        self._forget_receipts({receipt.id for receipt in oldest})
        return len(oldest)

    async def remove_employees(self, employee_ids: Collection[EmployeeId]) -> None:
        """See `ErasureTransaction`."""
        await self._claim_addresses()
        self._state = without_employees(self._existing(), set(employee_ids))

    async def save_erasure_secret(self, secret: bytes) -> None:
        """See `ErasureTransaction`."""
        state = self._existing()
        if state.erasure_secret is not None:
            raise ConstraintViolated("The company has a secret already.")
        self._state = attrs.evolve(state, erasure_secret=secret)

    async def save_erased_addresses(self, erased: Collection[ErasedAddress]) -> None:
        """See `ErasureTransaction`."""
        state = self._existing()
        known = {**state.erased_addresses, **{one.mark: one for one in erased}}
        self._state = attrs.evolve(state, erased_addresses=known)

    async def forget_answers(self) -> None:
        """See `ErasureTransaction`."""
        state = self._existing()
        kept = {name: (forgotten(receipt), ()) for name, (receipt, _) in state.receipts.items()}
        self._state = attrs.evolve(state, receipts=kept)

    async def save_chosen_password(self, password: ChosenPassword) -> None:
        """See `PortalWriting`."""
        self._state = with_chosen_password(self._existing(), password)

    async def save_session(self, session: Session) -> None:
        """See `PortalWriting`."""
        self._state = with_session(self._existing(), session)

    async def end_session(self, digest: SessionDigest) -> None:
        """See `PortalWriting`."""
        self._state = without_sessions(self._existing(), {digest})

    async def end_sessions(self, employee_ids: Collection[EmployeeId]) -> None:
        """See `PortalWriting`."""
        state = self._existing()
        self._state = without_sessions(state, sessions_of(state, set(employee_ids)))

    async def end_sso_sessions(self) -> None:
        """See `PortalWriting`."""
        state = self._existing()
        self._state = without_sessions(state, sso_sessions(state))

    async def purge_sessions(self, *, at: datetime, at_most: int) -> int:
        """See `PortalWriting`."""
        expired = expired_sessions(self._existing(), at=at, at_most=at_most)
        self._state = without_sessions(self._existing(), expired)
        return len(expired)

    async def save_identity_provider(self, provider: IdentityProvider) -> None:
        """See `PortalWriting`."""
        kept = attrs.evolve(provider, company_id=self._company_id)
        self._state = attrs.evolve(self._existing(), identity_provider=kept)

    async def forget_identity_provider(self) -> None:
        """See `PortalWriting`."""
        self._state = attrs.evolve(self._existing(), identity_provider=None)

    def _forget_receipts(self, receipt_ids: Collection[ReceiptId]) -> None:
        state = self._existing()
        kept = {name: receipt for name, receipt in state.receipts.items() if name not in receipt_ids}
        self._state = attrs.evolve(state, receipts=kept)

    def _existing(self) -> CompanyState:
        if self._state is None:
            raise NotFound("No such company.")
        return self._state
