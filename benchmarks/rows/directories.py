"""A whole directory through `POST /api/v1/employees/sync`, with many people of other companies in the same tables."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import attrs
import msgspec

from benchmarks.apart import Taken
from benchmarks.directory_limits import time_limit
from benchmarks.figures import (
    Bar,
    Line,
    Spell,
    absolute,
    compared,
    computing_times,
    mebibytes,
    microseconds,
    milliseconds,
    seconds,
)
from benchmarks.machine import cpu_seconds, forget_peak, peak_resident_bytes, resident_bytes
from benchmarks.measuring import Bench, in_turns
from benchmarks.people import as_json, as_lines, directory, with_changes
from benchmarks.serving import Served, serving
from benchmarks.stores import World

_PATH = "/api/v1/employees/sync"
_OTHERS = 200_000
_MANY, _FEW, _MOST = 100_000, 10_000, 1_000_000
_PING_EVERY = 0.005
_PATIENCE = 3600.0


@attrs.frozen(kw_only=True)
class _Beside:
    """How others fared during one sync."""

    stall: float
    pings: Sequence[float]


@attrs.frozen(kw_only=True)
class _Share:
    """What one record of a directory took of the time, and the whole of it of the memory."""

    first: Taken
    unchanged: Taken
    peak: float


@attrs.frozen(kw_only=True)
class _Round:
    first: Taken
    unchanged: Taken
    changes_when_unchanged: int
    changed: Taken


def sync(bench: Bench) -> Iterable[Line]:
    """100,000 people for the first time, once more, and with one in a hundred changed."""
    people = directory(_MANY)
    first, changed = as_json(people), as_json(with_changes(people, one_in=100))
    with TemporaryDirectory() as folder:
        body = Path(folder) / "directory.json"
        body.write_bytes(first)

        def ours(_: int) -> _Round:
            with bench.backend.world(others=_OTHERS) as world, serving("ours", world.url) as server:
                loaded = _sync(server, world, first)
                before = bench.backend.changes(world)
                unchanged = _sync(server, world, first)
                return _Round(
                    first=loaded,
                    unchanged=unchanged,
                    changes_when_unchanged=bench.backend.changes(world) - before,
                    changed=_sync(server, world, changed),
                )

        def limit(_: int) -> tuple[Taken, Taken]:
            with bench.backend.world(others=_OTHERS) as world:
                load = time_limit(bench.backend.directory_limit(world, "load"), body)
                return load, time_limit(bench.backend.directory_limit(world, "compare"), body)

        rounds, limits = in_turns(bench, ours, limit)
    loads, compares = [load for load, _ in limits], [compare for _, compare in limits]
    name = bench.backend.name
    yield _against(
        "sync",
        f"first load of 100,000, {name}",
        ours=[each.first for each in rounds],
        limit=loads,
        bar=Bar(2.5),
        limit_is="decode, INSERT",
    )
    yield _against(
        "sync",
        f"the same again, unchanged, {name}",
        ours=[each.unchanged for each in rounds],
        limit=compares,
        bar=Bar(1.8),
        limit_is="decode, SELECT",
    )
    yield absolute(
        "sync",
        f"changes committed when unchanged, {name} ({bench.backend.changes_are})",
        ours=[max(each.changes_when_unchanged for each in rounds)],
        spell=lambda count: f"{count:.0f}",
        bar=Bar(0),
    )
    yield _against(
        "sync",
        f"one in 100 changed, {name}",
        ours=[each.changed for each in rounds],
        limit=compares,
        bar=Bar(2.2),
        limit_is="decode, SELECT",
    )


def beside(bench: Bench) -> Iterable[Line]:
    """What the same three mean for others.

    A second connection checks its key every few milliseconds, and the server notes how long its loop stood still.
    """
    people = directory(_MANY)
    first, changed = as_json(people), as_json(with_changes(people, one_in=100))
    rounds: list[list[_Beside]] = []
    for number in range(bench.rounds):
        bench.say(f"round {number + 1} of {bench.rounds}")
        with bench.backend.world(others=_OTHERS) as world, serving("watched", world.url) as server:
            rounds.append([_sync_beside_pings(server, world, body) for body in (first, first, changed)])
    name = bench.backend.name
    yield absolute(
        "beside",
        f"longest stall of the event loop during a sync of 100,000, {name}",
        ours=[max(each.stall for each in found) for found in rounds],
        spell=milliseconds,
        bar=Bar(0.050),
    )
    pings = [taken for found in rounds for each in found for taken in each.pings]
    yield absolute(
        "beside",
        f"99th percentile of {len(pings)} pings meanwhile, {name}",
        ours=[quantiles(pings, n=100)[98]],
        spell=milliseconds,
        bar=Bar(0.100),
    )


def growth(bench: Bench) -> Iterable[Line]:
    """The time a record of 10,000 and of 100,000."""
    bodies = {count: as_json(directory(count)) for count in (_FEW, _MANY)}
    many, few = in_turns(
        bench,
        lambda _: _shared(bench, bodies[_MANY], _MANY),
        lambda _: _shared(bench, bodies[_FEW], _FEW),
    )
    yield from _grown(bench, "growth", "100,000 to 10,000", many, few)


def memory_of_sync(bench: Bench) -> Iterable[Line]:
    """The peak of memory that 100,000 people as one JSON body take."""
    body = as_json(directory(_MANY))
    shares = []
    for number in range(bench.rounds):
        bench.say(f"round {number + 1} of {bench.rounds}")
        with bench.backend.world(others=_OTHERS) as world, serving("ours", world.url) as server:
            shares.append(_peak_above_idle(server, world, body) / len(body))
    yield absolute(
        "sync-memory",
        f"peak of memory above idle for 100,000 as JSON, × body ({mebibytes(len(body))}), {bench.backend.name}",
        ours=shares,
        spell=lambda value: f"{value:.1f} ×",
        bar=Bar(6),
    )


def million(bench: Bench) -> Iterable[Line]:
    """A million people, line by line; beside a hundred thousand."""
    with TemporaryDirectory() as folder:
        files = {count: Path(folder) / f"{count}.ndjson" for count in (_MANY, _MOST)}
        for count, path in files.items():
            with path.open("wb") as file:
                file.writelines(as_lines(directory(count)))

        most, many = in_turns(
            bench,
            lambda _: _shared(bench, files[_MOST], _MOST),
            lambda _: _shared(bench, files[_MANY], _MANY),
        )
    yield from _grown(bench, "million", "1,000,000 to 100,000, as lines", most, many)
    yield absolute(
        "million",
        f"peak of memory above idle for 1,000,000 as lines, {bench.backend.name}",
        ours=[each.peak for each in most],
        spell=mebibytes,
        bar=Bar(350 * 2**20),
    )


def _shared(bench: Bench, body: bytes | Path, count: int) -> _Share:
    with bench.backend.world(others=_OTHERS) as world, serving("ours", world.url) as server:
        idle = _idle(server, world)
        first, unchanged = (_sync(server, world, body) for _ in range(2))
        peak = peak_resident_bytes(server.pid) - idle
    return _Share(
        first=Taken(first.wall / count, first.cpu / count),
        unchanged=Taken(unchanged.wall / count, unchanged.cpu / count),
        peak=peak,
    )


def _grown(
    bench: Bench, row: str, which: str, more: Sequence[_Share], fewer: Sequence[_Share]
) -> Iterator[Line]:
    for work, taken in (("first load", attrgetter("first")), ("unchanged", attrgetter("unchanged"))):
        yield _against(
            row,
            f"{work}, time a record, {which}, {bench.backend.name}",
            ours=list(map(taken, more)),
            limit=list(map(taken, fewer)),
            spell=microseconds,
            bar=Bar(1.30),
            limit_is="ours, fewer",
        )


def _against(
    row: str,
    work: str,
    *,
    ours: Sequence[Taken],
    limit: Sequence[Taken],
    bar: Bar,
    limit_is: str,
    spell: Spell = seconds,
) -> Line:
    return compared(
        row,
        work,
        ours=[each.wall for each in ours],
        limit=[each.wall for each in limit],
        spell=spell,
        bar=bar,
        limit_is=limit_is,
        computing=computing_times([each.cpu for each in ours], [each.cpu for each in limit], spell),
    )


def _sync(server: Served, world: World, body: bytes | Path) -> Taken:
    cpu, began = cpu_seconds(server.pid), time.perf_counter()
    _send(server, world, body)
    return Taken(time.perf_counter() - began, cpu_seconds(server.pid) - cpu)


def _sync_beside_pings(server: Served, world: World, body: bytes) -> _Beside:
    server.longest_stall()
    with _pinging(server, world) as pings:
        _send(server, world, body)
    return _Beside(stall=server.longest_stall(), pings=pings)


def _send(server: Served, world: World, body: bytes | Path) -> None:
    is_json = isinstance(body, bytes)
    headers = {
        "Authorization": f"Bearer {world.key}",
        "Content-Type": "application/json" if is_json else "application/x-ndjson",
        "Content-Length": str(len(body) if isinstance(body, bytes) else body.stat().st_size),
    }
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=_PATIENCE)
    if isinstance(body, bytes):
        connection.request("POST", _PATH, body, headers)
    else:
        with body.open("rb") as file:
            connection.request("POST", _PATH, file, headers)
    answer = connection.getresponse()
    beginning, end = answer.read(400), b""
    while part := answer.read(2**20):
        end = part
    connection.close()
    totals = beginning if is_json else end.splitlines()[-1]
    if answer.status != 200 or b'"ok":true' not in totals:
        raise RuntimeError(f"a sync was answered {answer.status}: {totals.decode()}")


@contextmanager
def _pinging(server: Served, world: World) -> Iterator[Sequence[float]]:
    """Checks the key again and again while the block runs; the seconds that each took."""
    taken: list[float] = []
    is_over = threading.Event()

    def ping() -> None:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=_PATIENCE)
        while not is_over.wait(_PING_EVERY):
            began = time.perf_counter()
            connection.request("GET", "/api/v1/ping", headers={"Authorization": f"Bearer {world.key}"})
            connection.getresponse().read()
            taken.append(time.perf_counter() - began)
        connection.close()

    thread = threading.Thread(target=ping)
    thread.start()
    try:
        yield taken
    finally:
        is_over.set()
        thread.join()


def _idle(server: Served, world: World) -> int:
    """The memory of a server that has answered already; the peak is sought from here on."""
    _send(server, world, msgspec.json.encode({"employees": []}))
    idle = resident_bytes(server.pid)
    forget_peak(server.pid)
    return idle


def _peak_above_idle(server: Served, world: World, body: bytes) -> int:
    idle = _idle(server, world)
    _send(server, world, body)
    return peak_resident_bytes(server.pid) - idle
