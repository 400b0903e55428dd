"""What Prometheus is told: requests by route and status, their time, refusals by code, and mail that waits.

No company and no person is in it.

Each application has a registry of its own. Where several worker processes serve one address, each would tell only its
own part; with `PROMETHEUS_MULTIPROC_DIR` in the environment before the process starts, all of them write to files in
that folder and every one tells the sum.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

import attrs
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from awareness_http.exchange import Exchange

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST.encode("ascii")

_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ANY_OTHER: Final = "other"

_Observe = Callable[[float], None]
_Increment = Callable[[], None]


@attrs.frozen(kw_only=True, eq=False)
class BacklogFigures(Collector):
    """The invitations that are pending in the database, of all companies."""

    pending: int
    overdue: timedelta

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """As Prometheus' library asks."""
        yield GaugeMetricFamily("awareness_pending_invitations", "Invitations not settled yet.", self.pending)
        yield GaugeMetricFamily(
            "awareness_overdue_invitation_seconds",
            "How long the invitation that is longest due has been so.",
            self.overdue.total_seconds(),
        )


class Metrics:
    """The counters of one application, and whatever else `registry` tells."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        self._registry = registry or CollectorRegistry()
        # What lies in files is collected from the files; registered as well, it would be told twice.
        told_by = None if self._folder else self._registry
        self._requests = Counter(
            "awareness_http_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=told_by,
        )
        self._seconds = Histogram(
            "awareness_http_request_seconds",
            "Time from the head of a request to its answer.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=told_by,
        )
        self._refusals = Counter(
            "awareness_http_refusals", "Answers that were an error, by code.", ["code"], registry=told_by
        )
        # Finding a labelled child costs more than counting with it.
        self._known: dict[tuple[str, str, int], tuple[_Increment, _Observe]] = {}
        if self._folder is None:
            ProcessCollector(registry=self._registry)
            PlatformCollector(registry=self._registry)

    def count(self, exchange: Exchange, *, seconds: float) -> None:
        """One more request."""
        key = (exchange.method, exchange.template, exchange.status)
        known = self._known.get(key)
        if known is None:
            known = self._labelled(*key)
            # A method is anything that a caller makes up.
            if exchange.method in _METHODS:
                self._known[key] = known
        increment, observe = known
        increment()
        observe(seconds)
        if exchange.refused_with is not None:
            self._refusals.labels(exchange.refused_with).inc()

    def render(self, backlog: BacklogFigures | None) -> bytes:
        """All figures in Prometheus' text form, with `backlog` if it is known; of all workers that share a folder."""
        # What the database holds is the same for every process, and in no process' registry.
        shared = CollectorRegistry()
        if backlog is not None:
            shared.register(backlog)
        if self._folder is None:
            return generate_latest(self._registry) + generate_latest(shared)
        MultiProcessCollector(shared, path=self._folder)  # type: ignore[no-untyped-call]
        return generate_latest(shared)

    def _labelled(self, method: str, template: str, status: int) -> tuple[_Increment, _Observe]:
        shown = method if method in _METHODS else _ANY_OTHER
        return (
            self._requests.labels(shown, template, str(status)).inc,
            self._seconds.labels(shown, template).observe,
        )
