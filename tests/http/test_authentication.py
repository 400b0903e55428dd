"""Whose request it is: one good key in one of two headers, and everything else refused alike."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from awareness_core.api_keys import PublicId, Scope, mint_key, spell_key
from awareness_core.use_cases.issue_api_key import issue_api_key
from tests.http.service import BUILT_SCOPES, Answer, Service

pytestmark = pytest.mark.anyio

PING = "/api/v1/ping"


async def ping(service: Service, *headers: tuple[str, str]) -> Answer:
    return await service.get(PING, key=None, headers=headers)


async def test_the_access_check_tells_whose_key_it_is_and_what_it_may_do(stored: Service) -> None:
    answer = await stored.get(PING)

    assert answer.status == 200
    assert ["ok", "entreprise_id", "scopes", "api_key_id"] == list(answer.json)
    assert answer.json["ok"] is True
    assert answer.json["entreprise_id"] == stored.acme.id
    assert sorted(scope.value for scope in BUILT_SCOPES) == answer.json["scopes"]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
async def test_the_scheme_is_read_in_any_case(service: Service, scheme: str) -> None:
    answer = await ping(service, ("authorization", f"{scheme} {service.key}"))

    assert answer.status == 200


async def test_the_other_header_does_as_well(service: Service) -> None:
    assert (await ping(service, ("x-api-key", service.key))).status == 200


async def test_both_headers_may_be_sent_when_they_agree(service: Service) -> None:
    both = ("authorization", f"Bearer {service.key}"), ("x-api-key", service.key)

    assert (await ping(service, *both)).status == 200


async def test_every_credential_that_is_not_one_good_key_is_refused_alike(service: Service) -> None:
    key, other = service.key, service.globex_key
    unknown = spell_key(mint_key(public_id=PublicId("0" * 11), secret=bytes(32)))
    refused = {
        "absent": (),
        "empty": (("authorization", ""),),
        "empty bearer": (("authorization", "Bearer "),),
        "scheme alone": (("authorization", "Bearer"),),
        "no scheme": (("authorization", key),),
        "other scheme": (("authorization", f"Basic {key}"),),
        "tab for a blank": (("authorization", f"Bearer\t{key}"),),
        "two tokens": (("authorization", f"Bearer {key} {key}"),),
        "malformed": (("authorization", "Bearer awk_nonsense"),),
        "wrong checksum": (("authorization", f"Bearer {key[:-1]}{'a' if key[-1] != 'a' else 'b'}"),),
        "unknown": (("authorization", f"Bearer {unknown}"),),
        "not ASCII": (("authorization", f"Bearer {key}\xe9"),),
        "not ASCII, other header": (("x-api-key", f"{key}\xe9"),),
        "repeated": (("authorization", f"Bearer {key}"), ("authorization", f"Bearer {key}")),
        "repeated, other header": (("x-api-key", key), ("x-api-key", key)),
        "two different": (("authorization", f"Bearer {key}"), ("x-api-key", other)),
        "one of another scheme": (("authorization", f"Basic {key}"), ("x-api-key", key)),
        "one of them bad": (("authorization", "Bearer nonsense"), ("x-api-key", key)),
        "one of them repeated": (("authorization", f"Bearer {key}"), ("x-api-key", key), ("x-api-key", key)),
    }
    answers = {name: await ping(service, *headers) for name, headers in refused.items()}
    expected = answers["absent"].without_its_own

    assert expected[0] == 401
    assert answers["absent"].code == "API_KEY_INVALID"
    assert [] == [name for name, answer in answers.items() if answer.without_its_own != expected]


async def test_a_revoked_key_is_refused_on_the_very_next_request(stored: Service) -> None:
    key_id = (await stored.get(PING)).json["api_key_id"]
    await stored.ports.api_keys.revoke_api_key(key_id, at=stored.clock.now())

    assert (await stored.get(PING)).status == 401


async def test_a_key_works_until_it_expires_and_not_longer(stored: Service) -> None:
    issued = await issue_api_key(
        stored.ports,
        stored.acme.id,
        name="short",
        scopes=[Scope.READ_RESULTS],
        expires_at=stored.clock.now() + timedelta(hours=1),
    )
    before = await stored.get(PING, key=issued.text)
    stored.clock.advance(timedelta(hours=1))
    after = await stored.get(PING, key=issued.text)

    assert (before.status, after.status) == (200, 401)
    assert after.without_its_own[2] == (await ping(stored)).body


async def test_unknown_and_revoked_keys_take_the_same_kind_of_time(service: Service) -> None:
    """No assertion about microseconds: both must do the look-up and the hash, which a factor of ten would betray."""
    issued = await issue_api_key(service.ports, service.acme.id, name="gone", scopes=[Scope.READ_RESULTS])
    await service.ports.api_keys.revoke_api_key(issued.key.id, at=service.clock.now())
    unknown = spell_key(mint_key(public_id=PublicId("0" * 11), secret=bytes(32)))

    assert 0.1 < await _seconds(service, issued.text) / await _seconds(service, unknown) < 10


async def test_the_scope_is_asked_for_before_the_body_is_read(service: Service) -> None:
    narrow = await service.key_with(Scope.READ_RESULTS)
    answer = await service.post("/api/v1/employees", key=narrow, headers=[("content-length", "1000000000")])

    assert (answer.status, answer.code) == (403, "INSUFFICIENT_SCOPE")
    assert "write:employees" in answer.json["message"]


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("POST", "/api/v1/employees", Scope.WRITE_EMPLOYEES),
        ("POST", "/api/v1/employees/invite-bulk", Scope.WRITE_EMPLOYEES),
        ("POST", "/api/v1/employees/x/deactivate", Scope.WRITE_EMPLOYEES),
        ("DELETE", "/api/v1/employees/x", Scope.ERASE_EMPLOYEES),
        ("GET", "/api/v1/employees", Scope.READ_EMPLOYEES),
        ("GET", "/api/v1/employees/x", Scope.READ_EMPLOYEES),
        ("GET", "/api/v1/campaigns", Scope.READ_RESULTS),
        ("GET", "/api/v1/campaigns/x", Scope.READ_RESULTS),
        ("GET", "/api/v1/campaigns/x/results", Scope.READ_RESULTS),
        ("POST", "/api/v1/campaigns/import", Scope.WRITE_RESULTS),
    ],
)
async def test_only_the_scope_of_the_operation_opens_it(
    service: Service, method: str, path: str, scope: Scope
) -> None:
    others = await service.key_with(*(known for known in Scope if known is not scope))
    only = await service.key_with(scope)
    closed = await service.call(method, path, key=others)
    opened = await service.call(method, path, key=only)

    assert closed.status == 403
    assert f"'{scope.value}'" in closed.json["message"]
    assert opened.status != 403


async def test_the_access_check_needs_no_scope(service: Service) -> None:
    key = await service.key_with(Scope.READ_EVENTS)

    assert (await service.get(PING, key=key)).json["scopes"] == ["read:events"]


async def _seconds(service: Service, key: str) -> float:
    """The fastest of several refusals."""
    taken = []
    for _ in range(30):
        began = time.perf_counter()
        await service.get(PING, key=key)
        taken.append(time.perf_counter() - began)
    return min(taken)
