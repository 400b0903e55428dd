"""`GET /api/v1/campaigns` beside the SQL of its counters alone, and with a hundred times the events behind it."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from benchmarks.apart import Taken, taken_by
from benchmarks.figures import Bar, Line, compared, computing_times, microseconds
from benchmarks.histories import CAMPAIGNS, history_that_fits, write_history
from benchmarks.measuring import Bench, in_turns
from benchmarks.serving import Served, serving
from benchmarks.stores import World
from benchmarks.wrk import Load, put_load, require_wrk

_FEW = 100_000
_LIMIT = 20
_PERIOD = "date_debut=2000-01-01&date_fin=2100-01-01"
_SECONDS = 2.0
_WARM_UP = 1.0


@attrs.frozen(kw_only=True)
class _Page:
    shown: str
    number: int = 1
    statut: str = ""
    state: str = ""

    @property
    def path(self) -> str:
        wanted = self.statut and f"&statut={self.statut}"
        return f"/api/v1/campaigns?{_PERIOD}&page={self.number}&limit={_LIMIT}{wanted}"

    @property
    def offset(self) -> int:
        return (self.number - 1) * _LIMIT


_PAGES = (
    _Page(shown="first page"),
    _Page(shown="last page", number=CAMPAIGNS // _LIMIT),
    _Page(shown="of one status", statut="terminee", state="completed"),
)


def campaigns(bench: Bench) -> Iterable[Line]:
    """A page of the list, one request at a time."""
    require_wrk()
    events = history_that_fits(bench.backend.history)
    with bench.backend.world() as world, bench.backend.world() as small:
        bench.say(f"writing {events + _FEW:,} events")
        write_history(bench.backend, world, events)
        write_history(bench.backend, small, _FEW)
        with serving("ours", world.url) as ours, serving("ours", small.url) as fewer:
            for page in _PAGES:
                yield from _measured(bench, page, events, (ours, world), (fewer, small))


def _measured(
    bench: Bench, page: _Page, events: int, ours: tuple[Served, World], fewer: tuple[Served, World]
) -> Iterable[Line]:
    def sql(_: int) -> Taken:
        limit = bench.backend.result_limit(ours[1], "page")
        return taken_by("result_limits", *limit, str(page.offset), page.state)

    _load(*ours, page, _WARM_UP)
    _load(*fewer, page, _WARM_UP)
    mine, others = in_turns(
        bench,
        lambda _: _load(*ours, page, _SECONDS),
        lambda number: (sql(number), _load(*fewer, page, _SECONDS)),
    )
    least, less = [taken for taken, _ in others], [load for _, load in others]
    work = f"`GET /api/v1/campaigns`, {page.shown} of {CAMPAIGNS:,} with {events:,} events"
    yield compared(
        "campaigns",
        f"{work}, median, {bench.backend.name}",
        ours=[load.median for load in mine],
        limit=[taken.wall for taken in least],
        spell=microseconds,
        bar=Bar(4),
        limit_is="SELECT of the same page and of how many there are",
        computing=computing_times(
            [load.cpu_share for load in mine], [taken.cpu for taken in least], microseconds
        ),
    )
    yield compared(
        "campaigns",
        f"{work} to {_FEW:,}, {bench.backend.name}",
        ours=[load.median for load in mine],
        limit=[load.median for load in less],
        spell=microseconds,
        bar=Bar(1.2),
        limit_is="ours, fewer events",
        computing=computing_times(
            [load.cpu_share for load in mine], [load.cpu_share for load in less], microseconds
        ),
    )


def _load(server: Served, world: World, page: _Page, length: float) -> Load:
    return put_load(server, page.path, script="get.lua", connections=1, seconds=length, arguments=[world.key])
