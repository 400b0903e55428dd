"""Companies and keys: an operator's wishes are checked whole, and a key opens its own company and nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.api_keys import ApiKey, ApiKeyId, Caller, PublicId, Scope, parse_key
from awareness_core.errors import ApiKeyInvalid, AwarenessError, Conflict, NotFound, ValidationFailed
from awareness_core.tenants import INVITATION_LIFETIME, Company, Language
from awareness_core.texts import folded_name, normal_text
from awareness_core.use_cases.check_access import check_access
from awareness_core.use_cases.companies import create_company
from awareness_core.use_cases.issue_api_key import IssuedKey, issue_api_key
from tests.core.strategies import NOW, hostile_texts, normal_texts, plain_texts
from tests.core.worlds import (
    NOBODYS,
    OURS,
    THEIRS,
    WatchedStore,
    World,
    new_world,
    refusal_or_answer,
    run,
    settled_world,
)

TICK = timedelta(milliseconds=1)
MINUTE = timedelta(minutes=1)


class CountingStore(WatchedStore):
    """The store, counting look-ups and notes of use."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_up: list[PublicId] = []
        self.used: list[datetime] = []

    async def find_api_key(self, public_id: PublicId) -> ApiKey | None:
        """As the memory store's, counted."""
        self.looked_up.append(public_id)
        return await super().find_api_key(public_id)

    async def record_api_key_use(self, key_id: ApiKeyId, *, at: datetime) -> None:
        """As the memory store's, counted."""
        self.used.append(at)
        await super().record_api_key_use(key_id, at=at)


@given(normal_texts(), st.sampled_from(Language))
def test_a_company_is_stored_as_it_is_answered(name: str, language: Language) -> None:
    async def story() -> None:
        world = new_world()

        company = await create_company(world, name=f" {name} ", language=language, sso_domains=["X.Example"])

        expected = Company(
            id=company.id,
            name=name,
            language=language,
            sso_domains=frozenset({"x.example"}),
            invitation_lifetime=INVITATION_LIFETIME,
            created_at=NOW,
        )
        assert (expected, [expected]) == (company, await world.companies.list_companies())

    run(story())


def test_a_company_is_french_without_single_sign_on_unless_told_otherwise() -> None:
    company = run(create_company(new_world(), name="A"))

    assert (Language.FRENCH, frozenset()) == (company.language, company.sso_domains)


@given(st.lists(plain_texts(min_size=1).filter(normal_text), min_size=1, max_size=3))
def test_a_name_is_taken_once_whatever_its_spelling(names: list[str]) -> None:
    async def story() -> None:
        world = new_world()
        for place, name in enumerate(names):
            answer = await refusal_or_answer(create_company(world, name=name))
            is_taken = folded_name(name) in {folded_name(earlier) for earlier in names[:place]}

            assert isinstance(answer, Conflict if is_taken else Company)
        assert len({folded_name(name) for name in names}) == len(await world.companies.list_companies())

    run(story())


def test_a_taken_name_is_told() -> None:
    async def story() -> Company | AwarenessError:
        world = new_world()
        await create_company(world, name="Café")
        return await refusal_or_answer(create_company(world, name="CAFE\u0301"))

    assert "A company named 'CAFÉ' exists already; choose another name." == str(run(story()))


@pytest.mark.parametrize(
    ("name", "domains", "faults"),
    [
        ("", [], [("name", "too_short")]),
        (" ", [], [("name", "too_short")]),
        ("a\nb", [], [("name", "control_character")]),
        ("e\u0301" * 101, [], [("name", "too_long")]),
        ("A", ["x"], [("sso_domain", "invalid_domain")]),
        ("A", ["x.example", "a@x.example", ""], [("sso_domain", "invalid_domain")] * 2),
        ("", ["x"], [("name", "too_short"), ("sso_domain", "invalid_domain")]),
    ],
    ids=["empty", "blank", "control", "long", "domain", "domains", "both"],
)
def test_all_that_is_wrong_with_a_company_is_told_at_once_and_nothing_stored(
    name: str, domains: list[str], faults: list[tuple[str, str]]
) -> None:
    async def story() -> None:
        world = new_world()

        refusal = await refusal_or_answer(create_company(world, name=name, sso_domains=domains))

        assert isinstance(refusal, ValidationFailed)
        assert faults == [(fault.field, fault.code) for fault in refusal.faults]
        assert [] == await world.companies.list_companies()

    run(story())


@pytest.mark.parametrize("is_company", [True, False])
def test_a_bad_name_is_told_with_the_reason(is_company: bool) -> None:  # noqa: FBT001
    async def story() -> object:
        world = await settled_world()
        if is_company:
            return await refusal_or_answer(create_company(world, name="a" * 101))
        return await refusal_or_answer(issue_api_key(world, OURS, name="a" * 101, scopes=list(Scope)))

    assert "name: has 101 characters; at most 100 are allowed" == str(run(story()))


def test_the_bad_domain_is_quoted_with_the_reason() -> None:
    refusal = run(refusal_or_answer(create_company(new_world(), name="A", sso_domains=["x"])))

    assert isinstance(refusal, ValidationFailed)
    assert refusal.faults[0].message.startswith("'x': not a domain like example.com: ")


@pytest.mark.parametrize("name", ["a", "é" * 100])
def test_a_companys_name_has_up_to_100_characters(name: str) -> None:
    assert name == run(create_company(new_world(), name=name)).name


def test_companies_of_one_moment_have_different_ids() -> None:
    async def story() -> set[str]:
        world = new_world()
        return {(await create_company(world, name=name)).id for name in "abc"}

    assert 3 == len(run(story()))


@given(normal_texts(), st.frozensets(st.sampled_from(Scope), min_size=1))
def test_a_key_lets_its_caller_into_its_company_with_its_scopes(name: str, scopes: frozenset[Scope]) -> None:
    async def story() -> None:
        world = await settled_world()

        issued = await issue_api_key(world, OURS, name=f" {name} ", scopes=scopes)

        assert Caller(company_id=OURS, api_key_id=issued.key.id, scopes=scopes) == await check_access(
            world, issued.text
        )
        assert (name, NOW, None, None) == (
            issued.key.name,
            issued.key.created_at,
            issued.key.expires_at,
            issued.key.revoked_at,
        )
        assert [] == await world.api_keys.list_api_keys(THEIRS)

    run(story())


def test_the_text_of_a_key_is_kept_nowhere() -> None:
    async def story() -> tuple[IssuedKey, str]:
        world = await settled_world()
        issued = await _issued(world)
        return issued, repr(await world.api_keys.list_api_keys())

    issued, kept = run(story())
    presented = parse_key(issued.text)

    assert presented is not None
    assert presented.secret not in kept + repr(issued)
    assert issued.text not in kept + repr(issued)


@pytest.mark.parametrize(
    ("name", "scopes", "expires_at", "faults"),
    [
        ("", {Scope.READ_RESULTS}, None, [("name", "too_short")]),
        ("a\x00", {Scope.READ_RESULTS}, None, [("name", "control_character")]),
        ("a" * 101, {Scope.READ_RESULTS}, None, [("name", "too_long")]),
        ("a", set[Scope](), None, [("scope", "missing")]),
        ("a", {Scope.READ_RESULTS}, NOW, [("expires", "in_the_past")]),
        ("a", {Scope.READ_RESULTS}, NOW - TICK, [("expires", "in_the_past")]),
        ("", set[Scope](), NOW, [("name", "too_short"), ("scope", "missing"), ("expires", "in_the_past")]),
    ],
    ids=["empty", "control", "long", "no scope", "expiring now", "expired", "all"],
)
def test_all_that_is_wrong_with_a_key_is_told_at_once_and_nothing_stored(
    name: str, scopes: set[Scope], expires_at: datetime | None, faults: list[tuple[str, str]]
) -> None:
    async def story() -> None:
        world = await settled_world()

        refusal = await refusal_or_answer(
            issue_api_key(world, OURS, name=name, scopes=scopes, expires_at=expires_at)
        )

        assert isinstance(refusal, ValidationFailed)
        assert faults == [(fault.field, fault.code) for fault in refusal.faults]
        assert [] == await world.api_keys.list_api_keys()

    run(story())


def test_whoever_names_no_scope_is_told_all_of_them() -> None:
    async def story() -> AwarenessError | IssuedKey:
        return await refusal_or_answer(issue_api_key(await settled_world(), OURS, name="a", scopes=[]))

    refusal = run(story())

    assert isinstance(refusal, ValidationFailed)
    assert f"name at least one of: {', '.join(scope.value for scope in Scope)}" == refusal.faults[0].message


def test_a_past_expiry_is_told_what_would_be_right() -> None:
    async def story() -> AwarenessError | IssuedKey:
        world = await settled_world()
        return await refusal_or_answer(
            issue_api_key(world, OURS, name="a", scopes=[Scope.READ_RESULTS], expires_at=NOW)
        )

    refusal = run(story())

    assert isinstance(refusal, ValidationFailed)
    assert "must lie in the future" == refusal.faults[0].message


@pytest.mark.parametrize("name", ["a", "é" * 100])
def test_a_keys_name_has_up_to_100_characters(name: str) -> None:
    async def story() -> str:
        return (await issue_api_key(await settled_world(), OURS, name=name, scopes=list(Scope))).key.name

    assert name == run(story())


def test_no_key_is_issued_to_an_unknown_company() -> None:
    async def story() -> type:
        world = await settled_world()
        return type(await refusal_or_answer(issue_api_key(world, NOBODYS, name="a", scopes=list(Scope))))

    assert NotFound is run(story())


def test_a_key_expires_at_its_date() -> None:
    async def story() -> list[type]:
        world = await settled_world()
        issued = await issue_api_key(world, OURS, name="a", scopes=list(Scope), expires_at=NOW + TICK)
        early = await refusal_or_answer(check_access(world, issued.text))
        world.clock.advance(TICK)
        return [type(early), type(await refusal_or_answer(check_access(world, issued.text)))]

    assert [Caller, ApiKeyInvalid] == run(story())


def test_a_revoked_key_is_refused_at_the_very_next_request() -> None:
    async def story() -> list[type]:
        world = await settled_world()
        issued = await _issued(world)
        before = await refusal_or_answer(check_access(world, issued.text))
        await world.api_keys.revoke_api_key(issued.key.id, at=NOW)
        return [type(before), type(await refusal_or_answer(check_access(world, issued.text)))]

    assert [Caller, ApiKeyInvalid] == run(story())


@given(hostile_texts())
def test_a_text_that_is_no_key_is_refused_without_a_look_up(text: str) -> None:
    async def story() -> None:
        store = CountingStore()
        world = attrs.evolve(new_world(), api_keys=store)

        refusal = await refusal_or_answer(check_access(world, text))

        assert (ApiKeyInvalid, []) == (type(refusal), store.looked_up)

    run(story())


def test_a_key_that_is_nobodys_costs_one_look_up_and_is_not_noted_as_used() -> None:
    async def story() -> CountingStore:
        issued = await _issued(await settled_world())
        store = CountingStore()
        with pytest.raises(ApiKeyInvalid):
            await check_access(attrs.evolve(new_world(), api_keys=store), issued.text)
        return store

    store = run(story())

    assert (1, []) == (len(store.looked_up), store.used)


def test_the_use_of_a_key_is_noted_at_most_once_a_minute() -> None:
    async def story() -> tuple[CountingStore, datetime | None]:
        world = await settled_world()
        issued = await _issued(world)
        store = CountingStore()
        await store.add_company(Company(id=OURS, name="ours", created_at=NOW))
        await store.add_api_key(issued.key)
        world = attrs.evolve(world, api_keys=store)
        for wait in (timedelta(0), MINUTE - TICK, TICK, TICK, MINUTE):
            world.clock.advance(wait)
            await check_access(world, issued.text)
        return store, (await store.list_api_keys())[0].last_used_at

    store, last_used_at = run(story())

    assert [NOW, NOW + MINUTE, NOW + 2 * MINUTE + TICK] == store.used
    assert (5, store.used[-1]) == (len(store.looked_up), last_used_at)


async def _issued(world: World) -> IssuedKey:
    return await issue_api_key(world, OURS, name="a", scopes=[Scope.READ_RESULTS])
