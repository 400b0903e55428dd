"""Which providers there can be, and whom of a company's people what they say is taken for."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.emails import EmailAddress, parse_email
from awareness_core.employees import Access, access, archive, let_in_first
from awareness_core.errors import ValidationFailed
from awareness_core.identity_providers import (
    Identity,
    IdentityProvider,
    SignInRefusal,
    check_identity_provider,
    entry,
    provider_of,
    told_address,
    vouches_for_sessions_of,
)
from awareness_core.tenants import CompanyId
from awareness_core.web_addresses import is_safe_url
from tests.contracts.storages import ACME, GLOBEX, LATER, NOW, person

PROVIDER = IdentityProvider(
    company_id=ACME.id,
    issuer="https://login.acme.example",
    client_id="portal",
    client_secret_file="/run/secrets/oidc",
    created_at=NOW,
)
GOOGLE = attrs.evolve(PROVIDER, issuer="https://accounts.google.com")
GRACE = person(1, email="grace@sso.example")


@given(
    st.lists(st.sampled_from(["a", "b", "c"]), unique=True), st.none() | st.sampled_from(["a", "b", "c", "d"])
)
def test_nobody_is_sent_to_the_provider_of_another_company(asked: list[str], holder: str | None) -> None:
    of_domain = [attrs.evolve(PROVIDER, company_id=CompanyId(name)) for name in asked]
    found = provider_of(of_domain, None if holder is None else CompanyId(holder))

    expected = next(iter(asked), None) if holder is None else holder if holder in asked else None
    assert expected == (None if found is None else found.company_id)


_PROVIDERS = st.none() | st.builds(
    IdentityProvider,
    company_id=st.just(ACME.id),
    issuer=st.sampled_from(["https://one.example", "https://two.example"]),
    client_id=st.sampled_from(["portal", "other"]),
    client_secret_file=st.sampled_from(["/one", "/two"]),
    created_at=st.sampled_from([NOW, LATER]),
)


@given(_PROVIDERS, _PROVIDERS)
def test_who_came_in_stays_only_with_the_same_client_of_the_same_issuer(
    now: IdentityProvider | None, before: IdentityProvider | None
) -> None:
    said = [(one.issuer, one.client_id) for one in (now, before) if one is not None]

    assert (len(said) == 2 and said[0] == said[1]) == vouches_for_sessions_of(now, before)


@pytest.mark.parametrize(
    "url",
    [
        "https://login.example.com",
        "https://login.example.com:8443/realms/Staff/",
        "https://login.example.com/6f8b/v2.0",
        "https://[2001:db8::1]/x",
        "http://localhost:8080",
        "http://127.0.0.1:9/realms/x",
        "http://[::1]:9",
    ],
)
def test_https_and_this_computer_are_safe(url: str) -> None:
    assert is_safe_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "login.example.com",
        "http://login.example.com",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://[2001:db8::1]",
        "http://[::1::]",
        "https://user@login.example.com",
        "https://login.example.com?x=1",
        "https://login.example.com#x",
        "https://login.example.com:0",
        "https://login.example.com:70000",
        "https://login.example.com/\nx",
        "https://login.example.com/a b",
        'https://login.example.com/"x',
        "https://é.example",
        "javascript:alert(1)",
        "file:///etc/passwd",
    ],
)
def test_nothing_else_is(url: str) -> None:
    assert not is_safe_url(url)


@given(st.text())
def test_what_is_safe_can_stand_in_a_header_and_in_a_page(url: str) -> None:
    for tried in (url, f"https://login.example.com/{url}"):
        if is_safe_url(tried):
            assert tried.isascii()
            assert not set(tried) & set('\r\n\t "<>`{}|\\^?#')


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(ValidationFailed) as refused:
        check_identity_provider(issuer="http://login.example.com", client_id=" ", client_secret_file="")

    assert ["client_id", "client_secret_file", "issuer"] == sorted(
        fault.field for fault in refused.value.faults
    )


def test_an_issuer_is_kept_as_it_is_spelt_slash_and_all() -> None:
    checked = check_identity_provider(
        issuer=" https://login.example.com/X/ ", client_id=" portal ", client_secret_file="/x"
    )

    assert ("https://login.example.com/X/", "portal") == checked


@given(
    st.text(),
    st.sampled_from(["nothing", "yes", "no"]),
    st.sampled_from([None, "sso.example", "else.example"]),
)
def test_whatever_a_provider_says_is_an_address_or_a_refusal(
    email: str, word: str, hosted: str | None
) -> None:
    verified = {"yes": True, "no": False}.get(word)
    for provider in (PROVIDER, GOOGLE):
        told = told_address(
            Identity(email=email, email_verified=verified, hosted_domain=hosted), provider, ACME
        )

        assert isinstance(told, EmailAddress | SignInRefusal)
        assert verified is not False or told is SignInRefusal.UNVERIFIED
        assert not isinstance(told, EmailAddress) or told == parse_email(email)


@pytest.mark.parametrize(
    ("identity", "told"),
    [
        (Identity(email="Grace@SSO.example"), GRACE.email.key),
        (Identity(email="grace@sso.example", email_verified=True), GRACE.email.key),
        (Identity(email="grace@sso.example", email_verified=False), SignInRefusal.UNVERIFIED),
        (Identity(email=None), SignInRefusal.NO_ADDRESS),
        (Identity(email="grace"), SignInRefusal.NO_ADDRESS),
    ],
)
def test_an_address_is_believed_unless_it_is_said_to_be_unverified(
    identity: Identity, told: str | SignInRefusal
) -> None:
    found = told_address(identity, PROVIDER, ACME)

    assert told == (found if isinstance(found, SignInRefusal) else found.key)


@pytest.mark.parametrize(
    ("hosted", "is_believed"),
    [("sso.example", True), ("SSO.example", True), ("else.example", False), (None, False)],
)
def test_of_an_issuer_for_everybody_only_accounts_of_the_companys_domains_count(
    hosted: str | None, *, is_believed: bool
) -> None:
    identity = Identity(email="grace@sso.example", email_verified=True, hosted_domain=hosted)

    assert is_believed == isinstance(told_address(identity, GOOGLE, ACME), EmailAddress)
    assert isinstance(told_address(identity, PROVIDER, ACME), EmailAddress)


def test_only_somebody_active_whose_domain_is_sso_comes_in() -> None:
    entries = [
        entry(GRACE, ACME),
        entry(None, ACME),
        entry(archive(GRACE, now=LATER), ACME),
        entry(GRACE, GLOBEX),
        entry(person(2), ACME),
    ]

    assert [
        None,
        SignInRefusal.UNKNOWN,
        SignInRefusal.UNKNOWN,
        SignInRefusal.NOT_SSO,
        SignInRefusal.NOT_SSO,
    ] == entries


def test_the_first_time_is_noted_once_and_makes_no_password() -> None:
    inside = let_in_first(GRACE, now=NOW)
    again = let_in_first(inside, now=LATER)

    assert (NOW, NOW, False) == (inside.first_login_at, again.first_login_at, inside.has_password)
    assert (Access.SSO, Access.AWAITING_ACCESS) == (access(inside, ACME), access(inside, GLOBEX))
