"""Logging in, in memory: the parts of a reading and of a transaction, and who is at the door."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

import attrs

from awareness_core.campaigns import Campaign, CampaignId
from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.emails import EmailKey
from awareness_core.employees import EmployeeId
from awareness_core.errors import ConstraintViolated
from awareness_core.identity_providers import IdentityProvider
from awareness_core.sessions import Membership, Session, SessionDigest
from awareness_core.tenants import CompanyId
from awareness_memory.state import CompanyState


class MemoryVisitors:
    """`Visitors` of the world that `newest` gives."""

    def __init__(self, newest: Callable[[], Mapping[CompanyId, CompanyState]]) -> None:
        self._newest = newest

    async def find_holder(self, email_key: EmailKey) -> Membership | None:
        """See `Visitors`."""
        for company_id, state in self._newest().items():
            if email_key in state.holders:
                return Membership(company_id=company_id, employee_id=state.holders[email_key])
        return None

    async def find_session(self, digest: SessionDigest) -> Membership | None:
        """See `Visitors`."""
        for company_id, state in self._newest().items():
            if digest in state.sessions:
                return Membership(company_id=company_id, employee_id=state.sessions[digest].employee_id)
        return None


class MemoryPortalReading:
    """The `PortalReading` of a company's state."""

    _state: CompanyState | None

    async def chosen_password(self, employee_id: EmployeeId) -> ChosenPassword | None:
        """See `PortalReading`."""
        return None if self._state is None else self._state.chosen_passwords.get(employee_id)

    async def session(self, digest: SessionDigest) -> Session | None:
        """See `PortalReading`."""
        return None if self._state is None else self._state.sessions.get(digest)

    async def identity_provider(self) -> IdentityProvider | None:
        """See `PortalReading`."""
        return None if self._state is None else self._state.identity_provider

    async def campaigns_by_id(self, ids: Collection[CampaignId]) -> Sequence[Campaign]:
        """See `PortalReading`."""
        known = {} if self._state is None else self._state.campaigns
        return [known[campaign_id] for campaign_id in set(ids) if campaign_id in known]


def with_chosen_password(state: CompanyState, password: ChosenPassword) -> CompanyState:
    """`state` with it. Raises `ConstraintViolated` for somebody who does not exist."""
    _require(state, password.employee_id)
    kept = {**state.chosen_passwords, password.employee_id: password}
    return attrs.evolve(state, chosen_passwords=kept)


def with_session(state: CompanyState, session: Session) -> CompanyState:
    """`state` with it. Raises `ConstraintViolated` for somebody who does not exist."""
    _require(state, session.employee_id)
    return attrs.evolve(state, sessions={**state.sessions, session.digest: session})


def without_sessions(state: CompanyState, digests: Collection[SessionDigest]) -> CompanyState:
    """`state` less these."""
    kept = {digest: session for digest, session in state.sessions.items() if digest not in digests}
    return attrs.evolve(state, sessions=kept)


def sessions_of(state: CompanyState, employee_ids: Collection[EmployeeId]) -> Collection[SessionDigest]:
    """Those of these people."""
    return {digest for digest, session in state.sessions.items() if session.employee_id in employee_ids}


def sso_sessions(state: CompanyState) -> Collection[SessionDigest]:
    """Those that began at the company's provider."""
    return {digest for digest, session in state.sessions.items() if session.is_sso}


def expired_sessions(state: CompanyState, *, at: datetime, at_most: int) -> Collection[SessionDigest]:
    """So many that are expired, the oldest first."""
    expired = [session for session in state.sessions.values() if session.expires_at <= at]
    oldest = sorted(expired, key=lambda session: (session.expires_at, session.digest))
    return [session.digest for session in oldest[:at_most]]


def _require(state: CompanyState, employee_id: EmployeeId) -> None:
    if employee_id not in state.employees:
        raise ConstraintViolated("No such employee.")
