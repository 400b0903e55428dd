"""What the connector makes of a GoPhish that answers, that does not, and of something that is no GoPhish at all."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest

from awareness_core.errors import SourceUnavailable
from awareness_core.ports import inside_transaction
from awareness_core.sources import Source
from awareness_gophish import GophishTool
from awareness_gophish.client import Limits
from awareness_gophish.shapes import Summary
from awareness_gophish.translation import glance_of
from tests.contracts.gophish_server import (
    API_KEY,
    FakeGophish,
    Reply,
    bytes_of,
    dripping,
    endless,
    fake_gophish,
    raw,
    silence,
)
from tests.contracts.test_sources import source

pytestmark = pytest.mark.anyio

QUICK = Limits(connect=2, silence=0.3, whole=0.7, summary_bytes=1024 * 1024, results_bytes=2 * 1024 * 1024)
SUMMARY = "/api/campaigns/summary"
RESULTS = "/api/campaigns/7/results"
SPRING = glance_of(source(1), Summary(id=7, name="Spring", status="In progress"))
PAGE = b"<!DOCTYPE html><html><title>Please sign in</title></html>"


@pytest.fixture
async def gophish() -> AsyncIterator[FakeGophish]:
    async with fake_gophish() as fake:
        yield fake


@pytest.fixture
def spring(gophish: FakeGophish, tmp_path: Path) -> Source:
    file = tmp_path / "key"
    file.write_text(f"{API_KEY}\n")
    return attrs.evolve(source(1), url=gophish.url, api_key_file=str(file))


def key_file(spring: Source) -> Path:
    return Path(spring.api_key_file)


async def refused(spring: Source, *, results: bool = False) -> SourceUnavailable:
    tool = GophishTool(QUICK)
    with pytest.raises(SourceUnavailable) as refusal:
        await (tool.results(spring, SPRING) if results else tool.glances(spring))
    assert API_KEY not in str(refusal.value)
    assert refusal.value.__cause__ is None
    return refusal.value


async def test_only_two_paths_are_ever_asked_for(gophish: FakeGophish, spring: Source) -> None:
    tool = GophishTool(QUICK)
    glances = await tool.glances(spring)
    for glance in glances:
        await tool.results(spring, glance)

    assert ["7", "8", "9", "10"] == [glance.told_id for glance in glances]
    assert [SUMMARY, *(f"/api/campaigns/{number}/results" for number in (7, 8, 9, 10))] == gophish.paths
    assert {f"bearer {API_KEY}"} == {credential for _, credential in gophish.asked}


async def test_a_zipped_answer_is_read(gophish: FakeGophish, spring: Source) -> None:
    plain = await GophishTool(QUICK).results(spring, SPRING)
    gophish.zipped = True

    assert plain == await GophishTool(QUICK).results(spring, SPRING)


async def test_no_campaigns_are_no_fault(gophish: FakeGophish, spring: Source) -> None:
    gophish.summary = {"total": 0, "campaigns": None}

    assert [] == list(await GophishTool(QUICK).glances(spring))


ODD: dict[str, tuple[Reply, str]] = {
    "a login page": (raw(bytes_of(200, PAGE)), "with a web page instead of JSON"),
    "a page behind a proxy": (raw(bytes_of(502, PAGE)), "with the status 502"),
    "nothing": (raw(bytes_of(200, b"")), "with nothing"),
    "a redirect": (raw(bytes_of(302, b"", more="Location: https://evil.example/\r\n")), "with a redirect"),
    "its own refusal": (raw(bytes_of(401, b'{"message": "Invalid API Key"}')), "refused the API key"),
    "forbidden": (raw(bytes_of(403, b"")), "refused the API key"),
    "an inner error": (raw(bytes_of(500, b"{}")), "with the status 500"),
    "another shape": (raw(bytes_of(200, b'{"campaigns": {}}')), "with something else than expected"),
    "a list": (raw(bytes_of(200, b"[]")), "with JSON, but no object as GoPhish answers"),
    "null": (raw(bytes_of(200, b"null")), "with JSON, but no object as GoPhish answers"),
    "a text of JSON": (raw(bytes_of(200, b'"no"')), "with JSON, but no object as GoPhish answers"),
    "plain text": (raw(bytes_of(200, b"hello")), "with something that is no JSON"),
    "JSON that was cut": (
        raw(bytes_of(200, b'{"total": 1, "campaigns": [')),
        "with something else than expected",
    ),
    "an answer that breaks off": (
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
        "broke off in the middle",
    ),
    "half a head": (raw(b"HTTP/1.1 200 OK\r\nContent-"), "broke off in the middle"),
    "something that is no HTTP": (raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "broke off in the middle"),
    "not the zip that it says": (
        raw(bytes_of(200, b"{}", more="Content-Encoding: gzip\r\n")),
        "broke off in the middle",
    ),
    "silence": (silence, "did not answer .* in time"),
    "drops for ever": (dripping(b" ", pause=0.05), "for more than 0.7 s"),
    "too much": (endless(4 * 1024 * 1024), r"with more than [12] MiB"),
    "a small zip that is large": (
        raw(bytes_of(200, gzip.compress(b" " * 16 * 1024 * 1024), more="Content-Encoding: gzip\r\n")),
        r"with more than [12] MiB",
    ),
}


@pytest.mark.parametrize("results", [False, True], ids=["summary", "results"])
@pytest.mark.parametrize("name", ODD)
async def test_what_is_no_answer_is_told_in_one_sentence(
    gophish: FakeGophish, spring: Source, name: str, *, results: bool
) -> None:
    reply, expected = ODD[name]
    gophish.replies["*"] = reply

    refusal = await refused(spring, results=results)

    assert refusal.message.startswith(f"GoPhish at {gophish.url} ")
    assert re.search(expected, refusal.message)
    assert "\n" not in refusal.message


@pytest.mark.parametrize(
    ("status", "spoils_all", "is_doubtful"),
    [(404, False, False), (500, False, False), (502, False, True), (504, False, True), (401, True, False)],
)
async def test_a_campaign_that_cannot_be_read_does_not_spoil_the_others(
    gophish: FakeGophish, spring: Source, status: int, *, spoils_all: bool, is_doubtful: bool
) -> None:
    gophish.replies[RESULTS] = raw(bytes_of(status, b"{}"))
    refusal = await refused(spring, results=True)

    assert (spoils_all, is_doubtful) == (refusal.spoils_all, refusal.is_doubtful)


LOST = ["an answer that breaks off", "half a head", "silence", "drops for ever", "a page behind a proxy"]


@pytest.mark.parametrize("results", [False, True], ids=["summary", "results"])
@pytest.mark.parametrize("name", LOST)
async def test_an_answer_that_is_lost_may_be_one_campaigns_fault_but_without_the_summary_there_is_none(
    gophish: FakeGophish, spring: Source, name: str, *, results: bool
) -> None:
    gophish.replies["*"], _ = ODD[name]
    refusal = await refused(spring, results=results)

    assert (not results, results) == (refusal.spoils_all, refusal.is_doubtful)


async def test_the_phishing_pages_are_not_the_administration(gophish: FakeGophish, spring: Source) -> None:
    gophish.replies[SUMMARY] = raw(bytes_of(404, b"404 page not found"))

    assert "port 3333 by default" in (await refused(spring)).message


async def test_a_server_that_is_down_is_told_so(spring: Source) -> None:
    server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()

    refusal = await refused(attrs.evolve(spring, url=f"http://127.0.0.1:{port}"))

    assert f"GoPhish at http://127.0.0.1:{port} cannot be reached: " in refusal.message


async def test_a_server_that_speaks_no_tls_is_told_so(gophish: FakeGophish, spring: Source) -> None:
    refusal = await refused(attrs.evolve(spring, url=gophish.url.replace("http:", "https:")))

    assert "cannot be reached" in refusal.message
    assert [] == gophish.asked


async def test_an_error_tells_nothing_of_what_was_typed(gophish: FakeGophish, spring: Source) -> None:
    broken = json.loads(json.dumps(gophish.results[7]))
    broken["timeline"][0] |= {"email": 3}
    gophish.results[7] = broken

    refusal = await refused(spring, results=True)

    assert not refusal.spoils_all
    assert "$.timeline[0].email" in refusal.message
    assert "SECRET" not in refusal.message


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"two words", b"two\nlines", "clé".encode(), b"k" * 2000, b"\xff\xfe"]
)
async def test_a_key_file_holds_the_key_alone(spring: Source, content: bytes) -> None:
    key_file(spring).write_bytes(content)

    assert "must hold the API key alone" in (await refused(spring)).message


async def test_a_key_file_that_is_not_there_is_named(spring: Source) -> None:
    key_file(spring).unlink()

    assert (
        f"the file {spring.api_key_file} with the API key cannot be read" in (await refused(spring)).message
    )


async def test_another_key_counts_at_once(gophish: FakeGophish, spring: Source) -> None:
    tool = GophishTool(QUICK)
    await tool.glances(spring)
    key_file(spring).write_text("another")

    assert "refused the API key" in (await refused(spring)).message


async def test_nothing_is_asked_inside_a_transaction(gophish: FakeGophish, spring: Source) -> None:
    with inside_transaction(), pytest.raises(RuntimeError):
        await GophishTool(QUICK).glances(spring)

    assert [] == gophish.asked
