"""What may happen on the way to a provider and back, with a provider in memory that vouches for whom it is told to."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from awareness_core.emails import parse_email
from awareness_core.errors import Fault, ProviderUnavailable, RateLimitExceeded, ValidationFailed
from awareness_core.identity_ports import SignInRequest
from awareness_core.identity_providers import Identity, IdentityProvider, SignInRefusal
from awareness_core.records import RawEmployee, check_record
from awareness_core.sessions import SessionPolicy, digest_token
from awareness_core.tenants import Company
from awareness_core.use_cases.choose_password import choose_password
from awareness_core.use_cases.companies import change_company, create_company
from awareness_core.use_cases.identity_providers import remove_identity_provider, set_identity_provider
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.sign_in import Arrival, arrive, find_provider_for, set_out
from awareness_core.use_cases.visit import find_visit
from awareness_memory import ManualClock, MemoryPorts, MemorySingleSignOn, memory_ports
from tests.contracts.storages import NOW

pytestmark = pytest.mark.anyio

GRACE = "grace@acme.example"
POLICY = SessionPolicy()
RETURN = "https://portal.example/login/oidc"


@attrs.frozen(kw_only=True)
class _World:
    ports: MemoryPorts
    acme: Company
    globex: Company

    async def connect(
        self,
        company: Company,
        issuer: str = "https://login.acme.example",
        *,
        client_id: str = "portal",
        secret_file: str = "/run/secrets/oidc",
    ) -> IdentityProvider:
        return await set_identity_provider(
            self.ports, company.id, issuer=issuer, client_id=client_id, client_secret_file=secret_file
        )

    async def is_inside(self, arrival: Arrival) -> bool:
        return await find_visit(self.ports, arrival.token, policy=POLICY) is not None

    async def hire(self, email: str, company: Company) -> None:
        record = check_record(RawEmployee(email=email, last_name="x", first_name="x"))
        await provision(self.ports, company.id, [record])

    async def arrive(
        self, *, code: str = "1", told: str = GRACE, remove: bool = False
    ) -> Arrival | SignInRefusal:
        provider = await find_provider_for(self.ports, GRACE)
        assert provider is not None
        departure = await set_out(self.ports, provider, email=GRACE, redirect_uri=RETURN, subject="here")
        self.ports.single_sign_on.identities[provider.issuer, "1"] = Identity(email=told)
        if remove:
            await remove_identity_provider(self.ports, provider.company_id)
        return await arrive(
            self.ports,
            departure.ticket,
            code=code,
            issuer=None,
            redirect_uri=RETURN,
            subject="here",
            policy=POLICY,
        )


@pytest.fixture
async def world() -> _World:
    clock = ManualClock(NOW - timedelta(seconds=1))
    ports = memory_ports(clock=clock)
    acme = await create_company(ports, name="Acme", sso_domains=["acme.example"])
    # Of two ids that are made in one millisecond either may come first.
    clock.set(NOW)
    globex = await create_company(ports, name="Globex", sso_domains=["acme.example", "globex.example"])
    return _World(ports=ports, acme=acme, globex=globex)


async def test_of_companies_that_share_a_domain_the_one_that_holds_the_address_decides_else_the_first(
    world: _World,
) -> None:
    first, second = await world.connect(world.acme), await world.connect(world.globex)
    await world.hire("hans@acme.example", world.globex)
    found = [
        await find_provider_for(world.ports, email)
        for email in (GRACE, "HANS@acme.example", "x@globex.example", "x@elsewhere.example", "", "x")
    ]

    assert [first, second, second, None, None, None] == found


async def test_people_of_another_company_at_the_domain_are_sent_to_no_provider(world: _World) -> None:
    third = await create_company(world.ports, name="Initech")
    provider = await world.connect(world.acme)
    await world.hire("hans@acme.example", world.globex)
    await world.hire("ines@acme.example", third)
    found = [
        await find_provider_for(world.ports, email)
        for email in ("hans@acme.example", "INES@acme.example", GRACE)
    ]

    assert [None, None, provider] == found


async def test_a_first_login_ends_the_passwords_that_were_mailed_before_the_domain_was_sso(
    world: _World,
) -> None:
    acme = await change_company(world.ports, world.acme, sso_domains=[])
    await world.hire(GRACE, acme)
    await invite(world.ports, acme.id)
    await change_company(world.ports, acme, sso_domains=["acme.example"])
    await world.connect(acme)
    arrival = await world.arrive()

    assert isinstance(arrival, Arrival)
    async with world.ports.store.reading(acme.id) as reading:
        (person,) = await reading.employees_by_id([arrival.member.employee_id])
        mailed = await reading.temporary_passwords(person.id)
    assert ([], NOW, False, None) == (
        list(mailed),
        person.first_login_at,
        person.has_password,
        person.invitation.live_until,
    )


async def test_a_session_that_began_there_chooses_no_password(world: _World) -> None:
    await world.connect(world.acme)
    await world.hire(GRACE, world.acme)
    arrival = await world.arrive()
    assert isinstance(arrival, Arrival)
    digest = digest_token(arrival.token)
    chosen = await choose_password(
        world.ports, arrival.member, digest, password="sept chevaux sous la pluie", policy=POLICY
    )

    assert chosen is None
    visit = await find_visit(world.ports, arrival.token, policy=POLICY)
    assert visit is not None
    assert not visit.person.has_password


async def test_a_provider_that_was_removed_meanwhile_is_not_asked(world: _World) -> None:
    await world.connect(world.acme)
    await world.hire(GRACE, world.acme)

    assert SignInRefusal.NO_PROVIDER is await world.arrive(remove=True)


async def test_whoever_came_in_through_a_provider_is_out_once_it_is_removed(world: _World) -> None:
    await world.connect(world.acme)
    await world.hire(GRACE, world.acme)
    arrival = await world.arrive()
    assert isinstance(arrival, Arrival)
    was_inside = await world.is_inside(arrival)
    removed = [await remove_identity_provider(world.ports, world.acme.id) for _ in range(2)]
    is_inside = await world.is_inside(arrival)
    await world.connect(world.acme)

    assert [True, False] == removed
    assert (True, False, False) == (was_inside, is_inside, await world.is_inside(arrival))


@pytest.mark.parametrize(
    ("changes", "stays"),
    [
        ({}, True),
        ({"secret_file": "/run/secrets/renewed"}, True),
        ({"issuer": "https://other.acme.example"}, False),
        ({"client_id": "other"}, False),
    ],
    ids=str,
)
async def test_another_issuer_or_client_ends_the_sessions_that_began_before(
    world: _World, *, changes: dict[str, str], stays: bool
) -> None:
    await world.connect(world.acme)
    await world.hire(GRACE, world.acme)
    arrival = await world.arrive()
    assert isinstance(arrival, Arrival)
    await world.connect(world.acme, **changes)

    assert stays is await world.is_inside(arrival)


async def test_a_provider_that_is_removed_while_it_answers_lets_nobody_in(world: _World) -> None:
    await world.connect(world.acme)
    await world.hire(GRACE, world.acme)

    class Slow(MemorySingleSignOn):
        async def identity(
            self, provider: IdentityProvider, request: SignInRequest, *, code: str, issuer: str | None
        ) -> Identity:
            await remove_identity_provider(world.ports, provider.company_id)
            return await super().identity(provider, request, code=code, issuer=issuer)

    ports = attrs.evolve(world.ports, single_sign_on=Slow())
    slow = attrs.evolve(world, ports=ports)

    assert SignInRefusal.NO_PROVIDER is await slow.arrive()
    async with ports.store.reading(world.acme.id) as reading:
        (person,) = await reading.matching_employees(external_ids=[], email_keys=[parse_email(GRACE).key])
    assert None is person.first_login_at


async def test_whatever_fails_counts_and_three_hundred_are_enough(world: _World) -> None:
    await world.connect(world.acme)
    for _ in range(150):
        assert SignInRefusal.UNKNOWN is await world.arrive()
        with pytest.raises(ProviderUnavailable):
            await world.arrive(code="another")

    with pytest.raises(RateLimitExceeded):
        await world.arrive()


async def test_the_token_and_the_ticket_are_in_no_repr(world: _World) -> None:
    await world.connect(world.acme)
    await world.hire(GRACE, world.acme)
    provider = await find_provider_for(world.ports, GRACE)
    assert provider is not None
    departure = await set_out(world.ports, provider, email=GRACE, redirect_uri=RETURN, subject="here")
    arrival = await world.arrive()

    assert isinstance(arrival, Arrival)
    assert departure.ticket.token not in repr(departure)
    assert departure.ticket.state not in repr(departure)
    assert arrival.token not in repr(arrival)


@pytest.mark.parametrize(
    ("reason", "field"), [("secret", "client_secret_file"), ("strange", "issuer"), ("metadata", "issuer")]
)
async def test_a_provider_that_does_not_pass_the_check_is_told_by_its_field_and_not_stored(
    world: _World, reason: str, field: str
) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        await _unfit(world, reason).connect(world.acme)

    expected = Fault(field=field, code=reason, message="https://login.acme.example is unfit")
    assert [expected] == list(refusal.value.faults)
    assert not await world.ports.identity_providers.is_any_provider()


@pytest.mark.parametrize("reason", ["unreachable", "slow"])
async def test_a_provider_that_does_not_answer_is_no_fault_of_what_was_typed(
    world: _World, reason: str
) -> None:
    with pytest.raises(ProviderUnavailable, match="is unfit"):
        await _unfit(world, reason).connect(world.acme)

    assert not await world.ports.identity_providers.is_any_provider()


async def test_a_provider_that_cannot_be_is_not_stored(world: _World) -> None:
    with pytest.raises(ValidationFailed):
        await world.connect(world.acme, "http://login.acme.example")

    assert not await world.ports.identity_providers.is_any_provider()


def _unfit(world: _World, reason: str) -> _World:
    """The same, where no provider passes the check."""

    class Unfit(MemorySingleSignOn):
        async def check(self, provider: IdentityProvider) -> None:
            raise ProviderUnavailable(f"{provider.issuer} is unfit", reason=reason)

    return attrs.evolve(world, ports=attrs.evolve(world.ports, single_sign_on=Unfit()))
