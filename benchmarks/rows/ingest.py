"""Results of campaigns as they are taken in: a thousand events at a time, and one at a time."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

import msgspec

from benchmarks.apart import Taken, taken_by
from benchmarks.figures import (
    Bar,
    Line,
    compared,
    computing_times,
    microseconds,
    per_second,
)
from benchmarks.machine import cpu_seconds
from benchmarks.measuring import Bench, in_turns
from benchmarks.people import as_json, directory
from benchmarks.serving import Served, serving
from benchmarks.stores import World
from benchmarks.tellings import BATCH, told_events
from benchmarks.wrk import Load, put_load, require_wrk

_CAMPAIGNS, _PEOPLE, _EVENTS = 10, 2000, 5000
_COUNTS = (str(_CAMPAIGNS), str(_PEOPLE), str(_EVENTS))
_PATH = "/api/v1/campaigns/import"
_MANY_CAMPAIGNS = 20
_CONNECTIONS = 8
_SECONDS = 4.0
_WARM_UP = 1.0


def ingest(bench: Bench) -> Iterable[Line]:
    """50,000 events of ten campaigns through the use case, and over HTTP; beside writing the same events."""
    bodies = list(_bodies())

    def ours(_: int) -> tuple[Taken, Taken]:
        with bench.backend.world() as world:
            called = taken_by("taking_in", world.url, world.company_id, *_COUNTS)
        with bench.backend.world() as world, serving("ours", world.url) as server:
            _post(server, world, "/api/v1/employees/sync", as_json(directory(_PEOPLE)))
            return called, _post_all(server, world, bodies)

    def limit(_: int) -> Taken:
        with bench.backend.world() as world:
            return taken_by("result_limits", *bench.backend.result_limit(world, "events"), *_COUNTS)

    rounds, least = in_turns(bench, ours, limit)
    for how, taken in (
        (f"`import_results`, batches of {BATCH:,} events", [called for called, _ in rounds]),
        (f"`POST {_PATH}` of {BATCH:,} events each, as JSON", [posted for _, posted in rounds]),
    ):
        yield compared(
            "ingest",
            f"{how}, {bench.backend.name}",
            ours=[_rate(each) for each in taken],
            limit=[_rate(each) for each in least],
            spell=per_second,
            bar=Bar(0.25, is_floor=True),
            limit_is=f"{bench.backend.writes_events_by} of the events",
            computing=computing_times(
                [each.cpu / (_CAMPAIGNS * _EVENTS) for each in taken],
                [each.cpu / (_CAMPAIGNS * _EVENTS) for each in least],
                microseconds,
            ),
        )


def hot(bench: Bench) -> Iterable[Line]:
    """An event a request, all of one campaign; beside the same on twenty."""
    require_wrk()
    with bench.backend.world() as world, serving("ours", world.url) as server:
        _post(server, world, "/api/v1/employees/sync", as_json(directory(_PEOPLE)))

        def load(name: str, campaigns: int, length: float = _SECONDS) -> Load:
            return put_load(
                server,
                _PATH,
                script="post_event.lua",
                connections=_CONNECTIONS,
                seconds=length,
                arguments=[world.key, name, str(campaigns)],
            )

        load("warm", _MANY_CAMPAIGNS, _WARM_UP)
        one, many = in_turns(
            bench,
            lambda number: load(f"hot-{number}", 1),
            lambda number: load(f"cool-{number}", _MANY_CAMPAIGNS),
        )
    yield compared(
        "hot",
        f"`POST {_PATH}` of one event each, one campaign, {bench.backend.name}, {_CONNECTIONS} connections",
        ours=[each.rate for each in one],
        limit=[each.rate for each in many],
        spell=per_second,
        bar=Bar(0.60, is_floor=True),
        limit_is=f"ours, {_MANY_CAMPAIGNS} campaigns",
        computing=computing_times(
            [each.cpu_share for each in one], [each.cpu_share for each in many], microseconds
        ),
    )


def _bodies() -> Iterator[bytes]:
    tellings = told_events([person["email"] for person in directory(_PEOPLE)], _EVENTS)
    for number in range(_CAMPAIGNS):
        campaign = {
            "external_id": f"campaign-{number}",
            "nom": f"Campaign {number}",
            "statut": "terminee",
            "date_debut": "2026-01-05T08:00:00Z",
            "date_fin": "2026-01-19T08:00:00Z",
        }
        for start in range(0, _EVENTS, BATCH):
            yield msgspec.json.encode({"campaign": campaign, "evenements": tellings[start : start + BATCH]})


def _post_all(server: Served, world: World, bodies: Sequence[bytes]) -> Taken:
    cpu, began = cpu_seconds(server.pid), time.perf_counter()
    for body in bodies:
        _post(server, world, _PATH, body)
    return Taken(time.perf_counter() - began, cpu_seconds(server.pid) - cpu)


def _post(server: Served, world: World, path: str, body: bytes) -> None:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=600)
    headers = {"Authorization": f"Bearer {world.key}", "Content-Type": "application/json"}
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    told = answer.read()
    connection.close()
    if answer.status != 200 or b'"ok":true' not in told[:400]:
        raise RuntimeError(f"{path} was answered {answer.status}: {told[:400].decode()}")


def _rate(taken: Taken) -> float:
    return _CAMPAIGNS * _EVENTS / taken.wall
