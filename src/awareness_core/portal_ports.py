"""What the core asks of the outside world for people who log in: hashes, what is common, and who is at the door.

A part of `ports`, which says what holds for every port; the parts of a reading and of a transaction are here, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from awareness_core.campaigns import Campaign, CampaignId
from awareness_core.chosen_passwords import ChosenPassword
from awareness_core.emails import EmailKey
from awareness_core.employees import EmployeeId
from awareness_core.identity_providers import IdentityProvider
from awareness_core.sessions import Membership, Session, SessionDigest


class PasswordHasher(Protocol):
    """Makes hashes that are slow to guess from. Its work is off the event loop, and never inside a transaction.

    Passwords are in normal form and not longer than `chosen_passwords.MAX_LENGTH`. Raises `HasherBusy` when so many
    wait already that another one would wait too long.
    """

    async def hash(self, password: str) -> str:
        """A new hash, which holds its own salt and parameters."""

    async def verify(self, password: str, kept: str | None) -> bool:
        """Whether `kept` was made from that password. None is nobody's hash: it takes as long, and is false."""

    def is_outdated(self, kept: str) -> bool:
        """Whether a hash was made with other parameters than new ones are."""


class FrequentPasswords(Protocol):
    """What people choose most often, and is guessed first."""

    def holds(self, text: str) -> bool:
        """Whether `text`, in lower case and without accents, is one of them."""


class Visitors(Protocol):
    """Who is at the door: asked before it is known of which company they are. Tells only where to look further."""

    async def find_holder(self, email_key: EmailKey) -> Membership | None:
        """The active person, of any company, who holds that address."""

    async def find_session(self, digest: SessionDigest) -> Membership | None:
        """Whose session that is, over or not."""


class PortalReading(Protocol):
    """The part of a `Reading` that is about logging in, and what people are shown of themselves."""

    async def chosen_password(self, employee_id: EmployeeId) -> ChosenPassword | None:
        """The password that they chose."""

    async def session(self, digest: SessionDigest) -> Session | None:
        """The session of that digest, over or not."""

    async def identity_provider(self) -> IdentityProvider | None:
        """The company's own."""

    async def campaigns_by_id(self, ids: Collection[CampaignId]) -> Sequence[Campaign]:
        """Those of `ids` that are this company's; in any order."""


class PortalWriting(Protocol):
    """The part of a `Transaction` that is about logging in.

    Chosen passwords and sessions of everyone whose change `ends_access` are destroyed with it. So are the sessions, of
    everyone whose change `moves_address`, in which they must choose.
    """

    async def save_chosen_password(self, password: ChosenPassword) -> None:
        """Keep it in the place of an earlier one. Raises `ConstraintViolated` for somebody who does not exist."""

    async def save_session(self, session: Session) -> None:
        """Insert it, or replace it by digest. Raises `ConstraintViolated` for somebody who does not exist."""

    async def end_session(self, digest: SessionDigest) -> None:
        """Destroy that session; nothing when there is none."""

    async def end_sessions(self, employee_ids: Collection[EmployeeId]) -> None:
        """Destroy all sessions of these people."""

    async def end_sso_sessions(self) -> None:
        """Destroy all sessions that began at the company's identity provider."""

    async def purge_sessions(self, *, at: datetime, at_most: int) -> int:
        """Remove so many sessions that are expired `at` that moment, the oldest first; how many were removed."""

    async def save_identity_provider(self, provider: IdentityProvider) -> None:
        """Keep it as the company's, in the place of an earlier one."""

    async def forget_identity_provider(self) -> None:
        """The company has none any more."""
