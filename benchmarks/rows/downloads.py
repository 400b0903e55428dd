"""The CSV of everyone in a large campaign: how soon it begins, and what it takes of memory."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

import attrs

from benchmarks.figures import Bar, Line, absolute, mebibytes, milliseconds, seconds
from benchmarks.machine import forget_peak, peak_resident_bytes, resident_bytes
from benchmarks.measuring import Bench
from benchmarks.serving import Served, serving
from benchmarks.stores import World
from benchmarks.taking_in import take_in, told_campaigns

_PEOPLE = 100_000
_LIST = "/api/v1/campaigns?date_debut=2000-01-01"
_READ_AT_ONCE = 2**16


@attrs.frozen(kw_only=True)
class _Download:
    first: float
    whole: float
    peak: int


def download(bench: Bench) -> Iterable[Line]:
    """`GET /api/v1/campaigns/{id}/results` as CSV, of 100,000 recipients."""
    with bench.backend.world() as world:
        bench.say(f"writing {_PEOPLE:,} recipients")
        told = told_campaigns(1, people=_PEOPLE, events=_PEOPLE)
        asyncio.run(take_in(world.url, world.company_id, told))
        with serving("ours", world.url) as server:
            campaigns = json.loads(_get(server, world, _LIST, "application/json").read())["data"]
            path = f"/api/v1/campaigns/{campaigns[0]['id']}/results"
            _get(server, world, path, "application/json").read()
            taken = []
            for number in range(bench.rounds):
                bench.say(f"round {number + 1} of {bench.rounds}")
                taken.append(_downloaded(server, world, path))
    work = f"CSV of {_PEOPLE:,} recipients"
    for what, ours, spell, bar in (
        ("first byte", [each.first for each in taken], milliseconds, Bar(0.2)),
        ("all of it", [each.whole for each in taken], seconds, None),
        (
            "peak of memory above what it was before",
            [each.peak for each in taken],
            mebibytes,
            Bar(10 * 2**20),
        ),
    ):
        yield absolute("download", f"{work}, {what}, {bench.backend.name}", ours=ours, spell=spell, bar=bar)


def _downloaded(server: Served, world: World, path: str) -> _Download:
    before = resident_bytes(server.pid)
    forget_peak(server.pid)
    began = time.perf_counter()
    answer = _get(server, world, path, "text/csv")
    answer.read(1)
    first = time.perf_counter() - began
    lines = 0
    while part := answer.read(_READ_AT_ONCE):
        lines += part.count(b"\n")
    whole = time.perf_counter() - began
    if lines != 1 + _PEOPLE:
        raise RuntimeError(f"{path} has {lines} lines")
    return _Download(first=first, whole=whole, peak=peak_resident_bytes(server.pid) - before)


def _get(server: Served, world: World, path: str, media: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    headers = {"Authorization": f"Bearer {world.key}", "Accept": media, "Connection": "close"}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    if answer.status != http.client.OK:
        raise RuntimeError(f"{path} was answered {answer.status}: {answer.read(400).decode()}")
    return answer
