"""What may happen between a look at the store and the write: hashing takes long, and requests come side by side."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import attrs
import pytest

from awareness_core.emails import parse_email
from awareness_core.employees import Access, EmployeeId, access
from awareness_core.errors import Conflict, NotFound
from awareness_core.portal_ports import PasswordHasher
from awareness_core.ports import Transaction
from awareness_core.records import RawEmployee, check_record
from awareness_core.sessions import SessionDigest, SessionPolicy, digest_token
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.choose_password import PasswordChosen, choose_password
from awareness_core.use_cases.companies import change_company, create_company
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.invite import invite
from awareness_core.use_cases.log_in import Admission, log_in
from awareness_core.use_cases.provision import provision
from awareness_core.use_cases.reset_access import reset_access
from awareness_core.use_cases.visit import Visit, find_visit, log_out
from awareness_memory import ManualClock, MemoryPorts, MemorySources, MemoryStore, ScryptHasher, memory_ports
from tests.contracts.storages import NOW

pytestmark = pytest.mark.anyio

ADA = "ada@acme.example"
GOOD, BETTER = "sept chevaux sous la pluie", "huit poneys dans la brume"
POLICY = SessionPolicy()

Meanwhile = Callable[[], Awaitable[object]]


@attrs.define
class _SlowHasher:
    """Lets something happen, once, while a password is hashed or compared."""

    hasher: PasswordHasher = attrs.field(factory=lambda: ScryptHasher(cost=2))
    meanwhile: Meanwhile | None = None

    async def hash(self, password: str) -> str:
        await self._happen()
        return await self.hasher.hash(password)

    async def verify(self, password: str, kept: str | None) -> bool:
        await self._happen()
        return await self.hasher.verify(password, kept)

    def is_outdated(self, kept: str) -> bool:
        return self.hasher.is_outdated(kept)

    async def _happen(self) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()


class _SlowStore(MemoryStore):
    """Lets something happen, once, before a transaction."""

    meanwhile: Meanwhile | None = None

    @contextlib.asynccontextmanager
    async def transaction(self, company_id: CompanyId) -> AsyncIterator[Transaction]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        async with super().transaction(company_id) as transaction:
            yield transaction


@attrs.frozen(kw_only=True)
class _World:
    ports: MemoryPorts
    clock: ManualClock
    hasher: _SlowHasher
    store: _SlowStore
    company: CompanyId
    ada: EmployeeId
    mailed: str

    async def log_in(self, password: str) -> Admission | None:
        return await log_in(self.ports, email=ADA, password=password, subject="somewhere", policy=POLICY)

    async def admitted(self, password: str) -> Admission:
        found = await self.log_in(password)
        assert found is not None
        return found

    async def choose(self, admission: Admission, password: str) -> object:
        digest = digest_token(admission.token)
        return await choose_password(self.ports, admission.member, digest, password=password, policy=POLICY)

    async def inside(self) -> str:
        """The token of somebody who chose `GOOD`."""
        chosen = await self.choose(await self.admitted(self.mailed), GOOD)
        assert isinstance(chosen, PasswordChosen)
        return chosen.token

    async def visit(self, token: str) -> Visit | None:
        return await find_visit(self.ports, token, policy=POLICY)

    async def archive(self) -> None:
        await deactivate(self.ports, self.company, self.ada)

    async def erase(self) -> None:
        await erase(self.ports, self.company, self.ada)

    async def is_kept(self, digest: SessionDigest) -> bool:
        return await self.ports.visitors.find_session(digest) is not None


@pytest.fixture
async def world() -> _World:
    clock, hasher, store = ManualClock(NOW), _SlowHasher(), _SlowStore()
    ports = attrs.evolve(
        memory_ports(clock=clock),
        hasher=hasher,
        store=store,
        companies=store,
        api_keys=store,
        sources=MemorySources(store),
        visitors=store.visitors,
    )
    company = await create_company(ports, name="Acme")
    record = check_record(RawEmployee(email=ADA, last_name="Lovelace", first_name="Ada"))
    report = await provision(ports, company.id, [record])
    ada = report.items[0].id
    assert ada is not None
    await invite(ports, company.id)
    mailed = ports.mailer.letters[0].password
    return _World(
        ports=ports,
        clock=clock,
        hasher=hasher,
        store=store,
        company=company.id,
        ada=ada,
        mailed=mailed,
    )


async def test_whoever_is_archived_while_their_password_is_compared_does_not_get_in(world: _World) -> None:
    await world.inside()
    world.hasher.meanwhile = world.archive

    assert await world.log_in(GOOD) is None


async def test_whoever_is_archived_with_a_temporary_password_in_hand_does_not_get_in(world: _World) -> None:
    world.hasher.meanwhile = world.archive

    assert await world.log_in(world.mailed) is None


async def test_a_temporary_password_that_is_used_up_meanwhile_opens_nothing(world: _World) -> None:
    other = await world.admitted(world.mailed)
    world.hasher.meanwhile = lambda: world.choose(other, GOOD)

    assert await world.log_in(world.mailed) is None


async def test_a_password_that_is_changed_while_it_is_compared_opens_nothing(world: _World) -> None:
    token = await world.inside()
    visit = await world.visit(token)
    assert visit is not None

    async def change() -> None:
        await choose_password(world.ports, visit.member, digest_token(token), password=BETTER, policy=POLICY)

    world.hasher.meanwhile = change

    assert await world.log_in(GOOD) is None
    assert await world.log_in(BETTER) is not None


async def test_of_two_who_choose_with_two_mailed_passwords_the_first_one_counts(world: _World) -> None:
    first, second = await world.admitted(world.mailed), await world.admitted(world.mailed)
    world.hasher.meanwhile = lambda: world.choose(second, BETTER)

    assert await world.choose(first, GOOD) is None
    assert await world.log_in(GOOD) is None
    assert await world.log_in(BETTER) is not None


async def test_whoever_forgot_their_password_is_let_in_anew_by_a_mailed_one(world: _World) -> None:
    token = await world.inside()
    outcome = await reset_access(world.ports, world.company, world.ada)
    again = await reset_access(world.ports, world.company, world.ada)
    world.clock.advance(timedelta(minutes=15))
    await invite(world.ports, world.company)
    mailed = world.ports.mailer.letters[-1].password

    assert [True, False] == [outcome.was_reset, again.was_reset]
    assert outcome.person == again.person
    assert await world.visit(token) is None
    assert [None, None] == [await world.log_in(password) for password in (GOOD, world.mailed)]
    chosen = await world.choose(await world.admitted(mailed), BETTER)
    assert isinstance(chosen, PasswordChosen)
    visit = await world.visit(chosen.token)
    assert visit is not None
    assert NOW == visit.person.first_login_at


async def test_whoever_is_reset_while_their_password_is_compared_does_not_get_in(world: _World) -> None:
    await world.inside()
    world.hasher.meanwhile = lambda: reset_access(world.ports, world.company, world.ada)

    assert await world.log_in(GOOD) is None


async def test_a_mailed_password_still_opens_after_a_reset_that_had_nothing_to_do(world: _World) -> None:
    await reset_access(world.ports, world.company, world.ada)

    assert await world.log_in(world.mailed) is not None


async def test_nobody_is_reset_who_has_no_password_here(world: _World) -> None:
    company = next(one for one in await world.ports.companies.list_companies() if one.id == world.company)
    await change_company(world.ports, company, sso_domains=["acme.example"])
    with pytest.raises(Conflict, match="identity provider"):
        await reset_access(world.ports, world.company, world.ada)
    await world.archive()
    with pytest.raises(Conflict, match="archived"):
        await reset_access(world.ports, world.company, world.ada)
    with pytest.raises(NotFound):
        await reset_access(world.ports, world.company, EmployeeId("nobody"))


async def test_whoever_is_archived_while_they_choose_has_chosen_nothing(world: _World) -> None:
    admission = await world.admitted(world.mailed)
    world.hasher.meanwhile = world.archive

    assert await world.choose(admission, GOOD) is None
    async with world.ports.store.reading(world.company) as reading:
        (ada,) = await reading.employees_by_id([world.ada])
        assert access(ada, await reading.company()) is None
        assert await reading.chosen_password(world.ada) is None


@pytest.mark.parametrize("is_mailed", [False, True])
async def test_whoever_is_erased_while_their_password_is_compared_does_not_get_in(
    world: _World, *, is_mailed: bool
) -> None:
    if not is_mailed:
        await world.inside()
    world.hasher.meanwhile = world.erase

    assert await world.log_in(world.mailed if is_mailed else GOOD) is None


async def test_whoever_is_erased_before_or_while_they_choose_has_chosen_nothing(world: _World) -> None:
    admission = await world.admitted(world.mailed)
    world.hasher.meanwhile = world.erase

    assert await world.choose(admission, GOOD) is None
    assert await world.choose(admission, GOOD) is None
    async with world.ports.store.reading(world.company) as reading:
        assert await reading.chosen_password(world.ada) is None


async def test_a_session_that_is_logged_out_while_its_use_is_noted_does_not_come_back(world: _World) -> None:
    token = await world.inside()
    world.clock.advance(timedelta(minutes=5))
    world.store.meanwhile = lambda: log_out(world.ports, token)

    assert await world.visit(token) is None
    assert not await world.is_kept(digest_token(token))


async def test_whoever_goes_over_to_single_sign_on_meanwhile_does_not_get_in(world: _World) -> None:
    await world.inside()

    async def go_over() -> None:
        (company,) = await world.ports.companies.list_companies()
        moved = attrs.evolve(company, sso_domains=frozenset({"acme.example"}))
        await world.ports.companies.change_company(moved)

    world.hasher.meanwhile = go_over

    assert await world.log_in(GOOD) is None


async def test_a_login_clears_expired_sessions_away(world: _World) -> None:
    token = await world.inside()
    world.clock.advance(POLICY.lifetime)
    assert await world.is_kept(digest_token(token))
    await world.admitted(GOOD)

    assert not await world.is_kept(digest_token(token))


async def test_the_first_login_is_when_the_password_was_chosen_and_not_before(world: _World) -> None:
    await world.admitted(world.mailed)
    async with world.ports.store.reading(world.company) as reading:
        (before,) = await reading.employees_by_id([world.ada])
        company = await reading.company()
    world.clock.advance(timedelta(minutes=16))
    await world.inside()
    async with world.ports.store.reading(world.company) as reading:
        (after,) = await reading.employees_by_id([world.ada])

    assert [(Access.AWAITING_ACCESS, None), (Access.LOGGED_IN, world.clock.now())] == [
        (access(one, company), one.first_login_at) for one in (before, after)
    ]
    assert parse_email(ADA) == after.email
