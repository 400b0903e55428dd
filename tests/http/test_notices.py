"""GoPhish's webhook: no key but a signature, and nothing told to whoever has none."""

from __future__ import annotations

import hmac
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from awareness_core.campaigns import Campaign, CampaignId, CampaignState
from awareness_core.quota import QuotaPolicy
from awareness_core.sources import SourceKind, campaign_external_id
from awareness_core.use_cases.add_source import AddedSource, add_source
from tests.contracts.storages import memory_storage
from tests.http.service import NOW, Answer, Service, new_service

pytestmark = pytest.mark.anyio

NOBODY = "/api/v1/sources/01950000-0000-7000-8000-000000000000/gophish"
EVENT = {
    "campaign_id": 8,
    "email": "ada@acme.example",
    "time": "2026-03-31T07:00:00.5Z",
    "message": "Submitted Data",
    "details": '{"payload": {"rid": ["x"], "password": ["hunter2"]}, "browser": {"address": "192.0.2.7"}}',
}


async def connected(service: Service, folder: Path) -> AddedSource:
    """A source of Acme's, of which a poll has shown the campaign 8."""
    file = folder / "key"
    file.write_text("k" * 64)
    added = await add_source(
        service.ports,
        service.acme.id,
        kind=SourceKind.GOPHISH,
        name="GoPhish",
        url="https://gophish.example",
        api_key_file=str(file),
    )
    known = Campaign(
        id=CampaignId("01950000-0000-7000-8000-000000000008"),
        name="Spring",
        state=CampaignState.RUNNING,
        created_at=NOW + timedelta(milliseconds=123),
        starts_at=NOW,
        external_id=campaign_external_id(added.source, "8"),
    )
    async with service.ports.store.transaction(service.acme.id) as transaction:
        await transaction.save_campaigns([known])
    return added


def path_of(added: AddedSource) -> str:
    return f"/api/v1/sources/{added.source.id}/gophish"


async def tell(
    service: Service,
    added: AddedSource,
    told: object = EVENT,
    *,
    secret: str | None = None,
    **options: Any,  # noqa: ANN401 (as `Service.call`)
) -> Answer:
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    digest = hmac.new((secret or added.webhook_secret).encode(), body, "sha256").hexdigest()
    headers = [("x-gophish-signature", f"sha256={digest}")]
    return await service.call(
        "POST", path_of(added), **{"body": body, "key": None, "headers": headers, **options}
    )


async def submitted(service: Service) -> int:
    answer = await service.get("/api/v1/campaigns", query={"date_debut": "2026-01-01"})
    return sum(campaign["stats"]["soumis"] for campaign in answer.json["data"])


async def test_a_genuine_notice_is_stored_once(stored: Service, tmp_path: Path) -> None:
    added = await connected(stored, tmp_path)
    first, again = await tell(stored, added), await tell(stored, added)

    assert [{"ok": True, "suite": "enregistre"}, {"ok": True, "suite": "deja_connu"}] == [
        first.json,
        again.json,
    ]
    assert 1 == await submitted(stored)


async def test_a_test_is_answered(service: Service, tmp_path: Path) -> None:
    answer = await tell(service, await connected(service, tmp_path), b'{"success": true}')

    assert (200, {"ok": True, "suite": "essai"}) == (answer.status, answer.json)


@pytest.mark.parametrize("body", [b"", b"null", b"{", b"  "])
async def test_a_genuine_body_that_cannot_be_read_is_bad_and_not_forged(
    service: Service, tmp_path: Path, body: bytes
) -> None:
    added = await connected(service, tmp_path)
    answer = await tell(service, added, body)
    forged = await tell(service, added, body, secret="guessed")

    assert (400, "VALIDATION_ERROR") == (answer.status, answer.code)
    assert (401, "SIGNATURE_INVALID") == (forged.status, forged.code)
    (known,) = await service.ports.sources.list_sources()
    assert 1 == known.forged


async def test_forged_and_unknown_are_answered_alike(stored: Service, tmp_path: Path) -> None:
    added = await connected(stored, tmp_path)
    forged = await tell(stored, added, secret="guessed")
    unsigned = await tell(stored, added, headers=[])
    unknown = await stored.call(
        "POST", NOBODY, body=b"{}", key=None, headers=[("x-gophish-signature", "sha256=00")]
    )
    truncated = await tell(
        stored,
        added,
        headers=[("x-gophish-signature", forged.headers["x-request-id"])],
        body=b'{"campaign_id": 8',
    )

    assert (401, "SIGNATURE_INVALID") == (forged.status, forged.code)
    assert (
        forged.without_its_own
        == unsigned.without_its_own
        == unknown.without_its_own
        == truncated.without_its_own
    )
    assert 0 == await submitted(stored)


async def test_each_forgery_is_counted_on_the_source(stored: Service, tmp_path: Path) -> None:
    added = await connected(stored, tmp_path)
    for _ in range(3):
        await tell(stored, added, secret="guessed")

    assert [3] == [source.forged for source in await stored.ports.sources.list_sources()]


async def test_two_signatures_are_none(service: Service, tmp_path: Path) -> None:
    added = await connected(service, tmp_path)
    body = json.dumps(EVENT).encode()
    good = (
        "x-gophish-signature",
        "sha256=" + hmac.new(added.webhook_secret.encode(), body, "sha256").hexdigest(),
    )

    assert 401 == (await tell(service, added, body, headers=[good, good])).status


async def test_a_key_stands_for_no_signature(service: Service, tmp_path: Path) -> None:
    added = await connected(service, tmp_path)

    assert "SIGNATURE_INVALID" == (await tell(service, added, headers=[], key="")).code


async def test_an_address_that_forges_too_often_is_stopped_and_a_genuine_one_never(tmp_path: Path) -> None:
    service = await new_service(
        memory_storage(), address_quota=QuotaPolicy(limit=3, window=timedelta(seconds=900))
    )
    added = await connected(service, tmp_path)
    forged = [await tell(service, added, secret="guessed") for _ in range(5)]
    genuine = [await tell(service, added) for _ in range(5)]

    assert [401, 401, 401, 429, 429] == [answer.status for answer in forged]
    assert [2, 1, 0, 0, 0] == [answer.remaining for answer in forged]
    assert {200} == {answer.status for answer in genuine}


async def test_what_is_signed_and_no_notice_is_told_why(service: Service, tmp_path: Path) -> None:
    added = await connected(service, tmp_path)
    answer = await tell(service, added, {**EVENT, "details": {"payload": {"password": ["hunter2"]}}})

    assert (400, [("", "invalid_notice")]) == (answer.status, answer.faults)
    assert b"hunter2" not in answer.body


async def test_without_its_key_file_a_notice_is_to_be_sent_again(service: Service, tmp_path: Path) -> None:
    added = await connected(service, tmp_path)
    (tmp_path / "key").unlink()
    answer = await tell(service, added)

    assert (503, "SOURCE_UNAVAILABLE") == (answer.status, answer.code)
    assert str(tmp_path).encode() not in answer.body


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"query": {"a": "1"}}, 400),
        ({"content_type": "text/plain"}, 415),
        ({"headers": [("content-encoding", "gzip")]}, 415),
        ({"body": b" " * (1024 * 1024 + 1)}, 413),
    ],
)
async def test_a_request_that_is_wrong_in_itself_is_refused(
    service: Service, tmp_path: Path, options: dict[str, Any], status: int
) -> None:
    added = await connected(service, tmp_path)

    assert status == (await tell(service, added, **options)).status


async def test_other_methods_ask_for_a_key_first(service: Service, tmp_path: Path) -> None:
    path = path_of(await connected(service, tmp_path))
    nameless = await service.get(path, key=None)
    known = await service.get(path)

    assert (401, "API_KEY_INVALID") == (nameless.status, nameless.code)
    assert (405, "OPTIONS, POST") == (known.status, known.headers["allow"])


@pytest.mark.parametrize(
    "path", ["/api/v1/sources/x/other", "/api/v1/sources//gophish", "/api/v1/sources/x/gophish/"]
)
async def test_what_only_looks_like_it_asks_for_a_key(service: Service, path: str) -> None:
    assert 401 == (await service.call("POST", path, key=None, body=b"{}")).status
    assert 404 == (await service.call("POST", path, body=b"{}")).status
