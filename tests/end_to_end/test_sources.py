"""`awareness sources` and the served webhook, with the installed program and a GoPhish on a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from awareness_core.sources import LEASE
from tests.contracts.gophish_server import API_KEY, FakeGophish, bytes_of, fake_gophish, raw
from tests.end_to_end.installed import Installation, until

PERIOD = ("--company", "Acme", "--from", "2026-01-01", "--to", "2026-12-31")


@pytest.fixture
def gophish() -> Iterator[FakeGophish]:
    """One in a thread of its own, as the program runs in a process of its own."""
    ready, done = threading.Event(), asyncio.Event()
    found: list[tuple[FakeGophish, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        async with fake_gophish() as fake:
            found.append((fake, asyncio.get_running_loop()))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    ready.wait()
    fake, loop = found[0]
    yield fake
    loop.call_soon_threadsafe(done.set)
    thread.join()


@pytest.fixture(autouse=True)
def key_file(acme: Installation) -> None:
    (acme.folder / "key").write_text(API_KEY)


def added(acme: Installation, gophish: FakeGophish, name: str = "GoPhish") -> Any:  # noqa: ANN401 (JSON)
    return acme.must(
        "sources",
        "add",
        "gophish",
        "--company",
        "Acme",
        "--name",
        name,
        "--url",
        gophish.url,
        "--api-key-file",
        "key",
    )


def test_a_source_is_added_synced_listed_and_removed(acme: Installation, gophish: FakeGophish) -> None:
    source = added(acme, gophish)
    synced = acme.must("sources", "sync", "gophish")
    listed = acme.run("sources", "list")
    campaigns = acme.must("campaigns", "list", *PERIOD)

    assert f"/api/v1/sources/{source['id']}/gophish" == source["webhook_path"]
    assert source["webhook_secret"].startswith("whs_")
    assert (True, 4, 17) == (
        synced["data"][0]["ok"],
        synced["data"][0]["read"],
        synced["data"][0]["new_events"],
    )
    assert source["webhook_secret"] not in listed.out
    assert ["ok"] == [word for word in listed.out.splitlines()[1].split() if word in {"ok", "failing", "new"}]
    assert {"Spring", "Été", "Winter", "Called off"} == {one["name"] for one in campaigns["data"]}

    assert {"id": source["id"], "removed": True} == acme.must("sources", "remove", "GoPhish")
    assert [] == acme.must("sources", "list")["data"]
    assert 4 == len(acme.must("campaigns", "list", *PERIOD)["data"])


def test_a_gophish_that_is_none_is_told_in_words(acme: Installation, gophish: FakeGophish) -> None:
    added(acme, gophish)
    gophish.replies["*"] = raw(bytes_of(200, b"<html>"))
    failed = acme.run("sources", "sync")
    (state,) = acme.must("sources", "list")["data"]
    gophish.replies.clear()
    caught_up = acme.must("sources", "sync")

    assert 69 == failed.code
    assert "a web page instead of JSON" in failed.err
    assert API_KEY not in failed.err + failed.out
    assert ("failing", None) == (state["state"], state["ok_at"])
    assert "a web page instead of JSON" in state["error"]
    assert 17 == caught_up["data"][0]["new_events"]


def test_lines_that_are_left_out_are_told(acme: Installation, gophish: FakeGophish) -> None:
    added(acme, gophish)
    gophish.happens(8, {**gophish.results[8]["timeline"][1], "email": "no\u001b[31mbody"})
    place = f"timeline[{len(gophish.results[8]['timeline']) - 1}].email"
    synced = acme.run("sources", "sync")
    in_json = acme.must("sources", "sync", "--everything")
    (listed,) = acme.must("sources", "list")["data"]

    assert 0 == synced.code
    assert f"GoPhish: left out: campaign 8 'Été', {place}: not an e-mail address" in synced.err
    assert "\u001b" not in synced.err
    (told,) = in_json["data"][0]["left_out"]
    assert ("8", "Été", place, "invalid_email") == (
        told["campaign"],
        told["name"],
        told["place"],
        told["code"],
    )
    assert 1 == listed["left_out"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sync", "nope"], "there is no source 'nope'; there are: 'GoPhish'"),
        (["remove", "nope"], "there is no source 'nope'"),
        (
            [
                "add",
                "gophish",
                "--company",
                "Acme",
                "--name",
                "x",
                "--url",
                "gophish",
                "--api-key-file",
                "key",
            ],
            "url: ",
        ),
        (
            [
                "add",
                "gophish",
                "--company",
                "Acme",
                "--name",
                "x",
                "--url",
                "https://g.example",
                "--api-key-file",
                "no",
            ],
            "api_key_file: ",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    acme: Installation, gophish: FakeGophish, arguments: list[str], told: str
) -> None:
    added(acme, gophish)
    refused = acme.run("sources", *arguments)

    assert refused.code in {1, 2}
    assert told in refused.err
    assert "Traceback" not in refused.err


def test_a_source_that_is_being_polled_is_listed_so(acme: Installation, gophish: FakeGophish) -> None:
    """As a process leaves it that polls at this moment, or was killed meanwhile."""
    added(acme, gophish)
    (idle,) = acme.must("sources", "list")["data"]
    until_ms = (int(time.time()) + 300) * 1000
    with contextlib.closing(sqlite3.connect(acme.folder / "awareness.db")) as database, database:
        database.execute("UPDATE sources SET holder = 'somebody', held_until = ?", [until_ms])
    (held,) = acme.must("sources", "list")["data"]
    table = acme.run("sources", "list")

    alive_at = datetime.fromtimestamp(until_ms / 1000, UTC) - LEASE
    assert ("new", None) == (idle["state"], idle["alive_at"])
    assert ("polling", alive_at) == (held["state"], datetime.fromisoformat(held["alive_at"]))
    assert " polling " in table.out
    assert "being polled, and alive at" in table.err


def test_the_server_polls_by_itself_and_takes_notices(acme: Installation, gophish: FakeGophish) -> None:
    source = added(acme, gophish)
    event = {**gophish.results[7]["timeline"][7], "campaign_id": 8, "time": "2026-03-10T10:00:00Z"}
    body = json.dumps(event).encode()
    signature = "sha256=" + hmac.new(source["webhook_secret"].encode(), body, "sha256").hexdigest()
    headers = {"content-type": "application/json", "x-gophish-signature": signature}
    with acme.serving() as server:
        until(lambda: acme.must("sources", "list")["data"][0]["state"] == "ok")
        told = httpx.post(server.url + source["webhook_path"], content=body, headers=headers)
        forged = httpx.post(server.url + source["webhook_path"], content=body + b" ", headers=headers)
        log = server.stop().err
    files = b"".join(path.read_bytes() for path in acme.folder.glob("awareness.db*"))

    assert (200, "enregistre") == (told.status_code, told.json()["suite"])
    assert 401 == forged.status_code
    assert 1 == acme.must("sources", "list")["data"][0]["forged"]
    for secret in (API_KEY, source["webhook_secret"], "hunter2-SECRET", "t0k3n-SECRET"):
        assert secret.encode() not in files
        assert secret not in log
