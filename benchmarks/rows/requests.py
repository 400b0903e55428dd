"""One request at a time: a key checked, a person created, a person found unchanged."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from benchmarks.figures import Bar, Line, absolute, compared, computing_times, microseconds, per_second
from benchmarks.measuring import Bench, in_turns
from benchmarks.serving import Served, serving
from benchmarks.stores import World
from benchmarks.wrk import Load, put_load, require_wrk

_PING = "/api/v1/ping"
_PEOPLE = "/api/v1/employees"
_SECONDS = 4.0
_WARM_UP = 1.0
_MANY = 10_000_000
_FEW = 500


def ping(bench: Bench) -> Iterable[Line]:
    """Check a key, count its quota, answer; beside a handler that does the least of this."""
    require_wrk()
    with (
        bench.backend.world() as world,
        serving("ours", world.url) as ours,
        serving(*bench.backend.ping_limit(world)) as bare,
    ):

        def load(server: Served, length: float, *key: str) -> Load:
            return put_load(server, _PING, script="get.lua", connections=32, seconds=length, arguments=key)

        load(ours, _WARM_UP, world.key)
        load(bare, _WARM_UP)
        mine, least = in_turns(
            bench, lambda _: load(ours, _SECONDS, world.key), lambda _: load(bare, _SECONDS)
        )
    yield _rates(
        "ping",
        f"`GET /api/v1/ping`, {bench.backend.name}",
        ours=mine,
        limit=least,
        bar=Bar(bench.backend.ping_bar, is_floor=True),
        limit_is=bench.backend.ping_limit_is,
    )


def create(bench: Bench) -> Iterable[Line]:
    """A person each, all new, on 16 connections; beside a handler with four statements and no rules."""
    require_wrk()
    with (
        bench.backend.world() as world,
        bench.backend.world() as other,
        serving("ours", world.url) as ours,
        serving(*bench.backend.write_limit(other)) as limit,
    ):

        def load(server: Served, key: str, number: int, length: float = _SECONDS) -> Load:
            return _post(server, key, first=number * _MANY, count=_MANY, length=length)

        load(ours, world.key, bench.rounds, _WARM_UP)
        load(limit, other.key, bench.rounds, _WARM_UP)
        mine, least = in_turns(
            bench,
            lambda number: load(ours, world.key, number),
            lambda number: load(limit, other.key, number),
        )
    yield _rates(
        "create",
        f"`POST /api/v1/employees`, new people, {bench.backend.name}, 16 connections",
        ours=mine,
        limit=least,
        bar=Bar(bench.backend.write_bar, is_floor=True),
        limit_is="BEGIN, SELECT, INSERT, COMMIT",
    )


def skip(bench: Bench) -> Iterable[Line]:
    """The same people again and again; beside ours with new people."""
    require_wrk()
    changes = []
    with bench.backend.world() as world, serving("ours", world.url) as ours:
        known = -1
        while known != (known := _settled(bench, world)):
            _post(ours, world.key, first=0, count=_FEW, length=_WARM_UP)

        def unchanged(_: int) -> Load:
            before = _settled(bench, world)
            done = _post(ours, world.key, first=0, count=_FEW, length=_SECONDS)
            changes.append(float(_settled(bench, world) - before))
            return done

        mine, least = in_turns(
            bench,
            unchanged,
            lambda number: _post(ours, world.key, first=(number + 1) * _MANY, count=_MANY, length=_SECONDS),
        )
    yield _rates(
        "skip",
        f"the same, nothing changed (`skipped`), {bench.backend.name}",
        ours=mine,
        limit=least,
        bar=Bar(1.50, is_floor=True),
        limit_is="new people, ours",
    )
    yield absolute(
        "skip",
        f"changes committed meanwhile, {bench.backend.name} ({bench.backend.changes_are})",
        ours=[max(changes)],
        spell=lambda count: f"{count:.0f}",
        bar=Bar(0),
    )


def _post(server: Served, key: str, *, first: int, count: int, length: float) -> Load:
    return put_load(
        server,
        _PEOPLE,
        script="post_person.lua",
        connections=16,
        seconds=length,
        arguments=[key, str(first), str(count)],
    )


def _settled(bench: Bench, world: World) -> int:
    """The number of changes once those are through that were on their way when the load ended."""
    found = bench.backend.changes(world)
    while True:
        time.sleep(0.3)
        again = bench.backend.changes(world)
        if again == found:
            return found
        found = again


def _rates(
    row: str, work: str, *, ours: Sequence[Load], limit: Sequence[Load], bar: Bar, limit_is: str
) -> Line:
    return compared(
        row,
        work,
        ours=[load.rate for load in ours],
        limit=[load.rate for load in limit],
        spell=per_second,
        bar=bar,
        limit_is=limit_is,
        computing=computing_times(
            [load.cpu_share for load in ours], [load.cpu_share for load in limit], microseconds
        ),
    )
