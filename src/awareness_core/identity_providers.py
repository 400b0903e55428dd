"""A company's own identity provider (OpenID Connect), and whom of its people what it says is taken for.

A company has one at most, and what one company's says counts for that company's people alone. It keeps no secret: the
client's secret stays in a file that the operator names (Choice: decisions/030). How a provider is spoken to, and how
its tokens are verified, is an adapter's business.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import datetime

import attrs

from awareness_core.emails import EmailAddress, InvalidEmail, parse_email
from awareness_core.employees import Access, Employee, access
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.tenants import Company, CompanyId
from awareness_core.texts import normal_text, text_problem
from awareness_core.web_addresses import is_safe_url

MAX_ISSUER = 500
MAX_CLIENT_ID = 500
MAX_SECRET_PATH = 4096

_ISSUERS_FOR_EVERYBODY = frozenset({"https://accounts.google.com"})
"""Issuers that whoever likes has an account with, under an address of any domain: the address alone proves little."""


class SignInRefusal(enum.Enum):
    """Why somebody whom a provider sent was not let in. For the log; the person is told one thing only."""

    NO_PROVIDER = "no_provider"
    """The company has none (any more)."""
    NO_ADDRESS = "no_address"
    """The provider names no e-mail address, or nothing that is one."""
    UNVERIFIED = "unverified_address"
    """The provider says that the address is not verified."""
    FOREIGN_ACCOUNT = "foreign_account"
    """A private account with a provider that everybody can have one with."""
    UNKNOWN = "unknown_person"
    """Nobody active of that company holds the address."""
    NOT_SSO = "not_sso"
    """The address is of a domain whose people log in otherwise."""


@attrs.frozen(kw_only=True)
class IdentityProvider:
    """Where a company's people log in. `issuer` is as the provider spells it; it is compared letter by letter.

    `client_secret_file` is the path of the file that holds the secret, and nothing else.
    """

    company_id: CompanyId
    issuer: str
    client_id: str
    client_secret_file: str
    created_at: datetime


@attrs.frozen(kw_only=True)
class Identity:
    """Who somebody is, as a provider's verified token says; None where it says nothing.

    `hosted_domain` is the organisation's domain that an account belongs to.
    """

    email: str | None
    email_verified: bool | None = None
    hosted_domain: str | None = None


def check_identity_provider(*, issuer: str, client_id: str, client_secret_file: str) -> tuple[str, str]:
    """The normal forms of `issuer` and `client_id`. Raises `ValidationFailed` with every fault."""
    faults: list[Fault] = []
    normal_issuer, normal_client = normal_text(issuer), normal_text(client_id)
    for field, text, longest in (
        ("issuer", normal_issuer, MAX_ISSUER),
        ("client_id", normal_client, MAX_CLIENT_ID),
        ("client_secret_file", client_secret_file, MAX_SECRET_PATH),
    ):
        problem = text_problem(text, min_length=1, max_length=longest)
        if problem is not None:
            faults.append(Fault(field=field, code=problem.code, message=problem.message))
    if not is_safe_url(normal_issuer):
        message = (
            "must be the provider's issuer, like https://login.example.com, without user, query or fragment; "
            "http is for localhost alone"
        )
        faults.append(Fault(field="issuer", code="invalid_url", message=message))
    if faults:
        raise ValidationFailed(faults)
    return normal_issuer, normal_client


def provider_of(of_domain: Sequence[IdentityProvider], holder: CompanyId | None) -> IdentityProvider | None:
    """Which of the providers of an address's domain its person logs in with; `holder` is whose person has the address.

    Where nobody has it, it is the first, as if it were that company's: who asks cannot tell (Choice: decisions/030).
    """
    own = (one for one in of_domain if holder is None or one.company_id == holder)
    return next(own, None)


def vouches_for_sessions_of(now: IdentityProvider | None, before: IdentityProvider | None) -> bool:
    """Whether who came in through the provider `before` may stay once it is `now`: the same client of the same issuer.

    A new file for the client's secret is no other provider.
    """
    if now is None or before is None:
        return False
    return (now.issuer, now.client_id) == (before.issuer, before.client_id)


def told_address(
    identity: Identity, provider: IdentityProvider, company: Company
) -> EmailAddress | SignInRefusal:
    """The address by which the person of this identity is found, or why there is none that can be believed."""
    if identity.email_verified is False:
        return SignInRefusal.UNVERIFIED
    if provider.issuer in _ISSUERS_FOR_EVERYBODY and (
        identity.hosted_domain is None or identity.hosted_domain.lower() not in company.sso_domains
    ):
        return SignInRefusal.FOREIGN_ACCOUNT
    try:
        return parse_email(identity.email or "")
    except InvalidEmail:
        return SignInRefusal.NO_ADDRESS


def entry(person: Employee | None, company: Company) -> SignInRefusal | None:
    """Why this holder of the address, of that company, may not come in through its provider; None when they may."""
    if person is None or not person.is_active:
        return SignInRefusal.UNKNOWN
    return None if access(person, company) is Access.SSO else SignInRefusal.NOT_SSO
