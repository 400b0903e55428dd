"""What every `ApiKeys` does."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypedDict, Unpack

import attrs
import pytest

from awareness_core.api_keys import ApiKey, ApiKeyId, PublicId, Scope
from awareness_core.errors import ConstraintViolated, NotFound
from awareness_core.tenants import CompanyId
from tests.contracts.storages import ACME, GLOBEX, LATER, NOW, Storage

pytestmark = pytest.mark.anyio


class KeyFields(TypedDict, total=False):
    id: ApiKeyId
    company_id: CompanyId
    public_id: PublicId
    scopes: frozenset[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


def api_key(number: int, **fields: Unpack[KeyFields]) -> ApiKey:
    key = ApiKey(
        id=ApiKeyId(f"key-{number}"),
        company_id=ACME.id,
        public_id=PublicId(f"{number:011}"),
        secret_digest=bytes(range(32)),
        name="HR connector",
        scopes=frozenset({Scope.WRITE_EMPLOYEES}),
        created_at=NOW,
    )
    return attrs.evolve(key, **fields)


async def test_a_key_comes_back_as_it_was_stored(storage: Storage) -> None:
    plain = api_key(1, scopes=frozenset())
    full = api_key(
        2, scopes=frozenset(Scope), expires_at=LATER, revoked_at=LATER, last_used_at=NOW - timedelta(days=1)
    )

    await storage.api_keys.add_api_key(plain)
    await storage.api_keys.add_api_key(full)

    assert plain == await storage.api_keys.find_api_key(plain.public_id)
    assert full == await storage.api_keys.find_api_key(full.public_id)


async def test_an_unknown_public_id_finds_nothing(storage: Storage) -> None:
    await storage.api_keys.add_api_key(api_key(1))

    assert None is await storage.api_keys.find_api_key(PublicId("00000000002"))


async def test_a_key_for_an_unknown_company_is_refused(storage: Storage) -> None:
    with pytest.raises(NotFound):
        await storage.api_keys.add_api_key(api_key(1, company_id=CompanyId("nobody")))

    assert [] == await storage.api_keys.list_api_keys()


@pytest.mark.parametrize(
    "second",
    [
        api_key(2, company_id=GLOBEX.id, id=api_key(1).id),
        api_key(2, company_id=GLOBEX.id, public_id=api_key(1).public_id),
    ],
)
async def test_an_id_or_a_public_id_is_taken(storage: Storage, second: ApiKey) -> None:
    first = api_key(1)
    await storage.api_keys.add_api_key(first)

    with pytest.raises(ConstraintViolated):
        await storage.api_keys.add_api_key(second)

    assert [first] == await storage.api_keys.list_api_keys()


async def test_keys_are_listed_oldest_first_then_by_id(storage: Storage) -> None:
    newer = api_key(1, created_at=LATER)
    second = api_key(3)
    first = api_key(2, company_id=GLOBEX.id)
    for key in (newer, second, first):
        await storage.api_keys.add_api_key(key)

    assert [first, second, newer] == await storage.api_keys.list_api_keys()
    assert [second, newer] == await storage.api_keys.list_api_keys(ACME.id)
    assert [first] == await storage.api_keys.list_api_keys(GLOBEX.id)


async def test_a_key_is_revoked_from_the_very_next_look_up_on(storage: Storage) -> None:
    key = api_key(1)
    await storage.api_keys.add_api_key(key)
    await storage.api_keys.find_api_key(key.public_id)

    assert True is await storage.api_keys.revoke_api_key(key.id, at=NOW)

    found = await storage.api_keys.find_api_key(key.public_id)
    assert found is not None
    assert NOW == found.revoked_at


async def test_a_revoked_key_stays_revoked_since_the_first_time(storage: Storage) -> None:
    key = api_key(1)
    await storage.api_keys.add_api_key(key)
    await storage.api_keys.revoke_api_key(key.id, at=NOW)

    assert True is await storage.api_keys.revoke_api_key(key.id, at=LATER)

    assert [NOW] == [key.revoked_at for key in await storage.api_keys.list_api_keys()]


async def test_revoking_an_unknown_key_says_so(storage: Storage) -> None:
    assert False is await storage.api_keys.revoke_api_key(ApiKeyId("nobody's"), at=NOW)


async def test_the_last_use_moves_forward_only(storage: Storage) -> None:
    key = api_key(1)
    await storage.api_keys.add_api_key(key)

    uses = []
    for at in (NOW, LATER, NOW):
        await storage.api_keys.record_api_key_use(key.id, at=at)
        found = await storage.api_keys.find_api_key(key.public_id)
        assert found is not None
        uses.append(found.last_used_at)

    assert [NOW, LATER, LATER] == uses
    assert [LATER] == [key.last_used_at for key in await storage.api_keys.list_api_keys()]


async def test_the_use_of_an_unknown_key_is_no_error(storage: Storage) -> None:
    await storage.api_keys.record_api_key_use(ApiKeyId("nobody's"), at=NOW)

    assert [] == await storage.api_keys.list_api_keys()
