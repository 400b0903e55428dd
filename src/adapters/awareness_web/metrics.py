"""What Prometheus is told of the portal: requests, their time, logins and choices of passwords by how they ended.

No company, no person and no address; labels are words of this file, and the portal's own paths.
"""

from __future__ import annotations

import enum
import os
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ANY_OTHER: Final = "other"


class LoginOutcome(enum.Enum):
    """How an attempt to log in ended. `TEMPORARY_PASSWORD`, `OWN_PASSWORD` and `COMPANY_ACCOUNT` let in.

    `COMPANY_REFUSED` came from a provider and were not let in, `COMPANY_FAILED` met one that could not be used.
    """

    TEMPORARY_PASSWORD = "temporary_password"  # noqa: S105 (a label)
    OWN_PASSWORD = "own_password"  # noqa: S105 (as above)
    COMPANY_ACCOUNT = "company_account"
    REFUSED = "refused"
    COMPANY_REFUSED = "company_refused"
    COMPANY_FAILED = "company_failed"
    THROTTLED = "throttled"


class ChoiceOutcome(enum.Enum):
    """How the choice of a password ended: kept, in place of the temporary one or of another, or not."""

    FIRST = "first"
    CHANGED = "changed"
    REFUSED = "refused"
    THROTTLED = "throttled"


class PortalMetrics:
    """The counters of one portal, told by whoever tells `registry`.

    With `PROMETHEUS_MULTIPROC_DIR` in the environment they are in files of that folder instead.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        # What lies in files is collected from the files; registered as well, it would be told twice.
        told_by = None if os.environ.get("PROMETHEUS_MULTIPROC_DIR") else registry
        self._requests = Counter(
            "awareness_portal_requests",
            "Requests answered by the portal.",
            ["method", "route", "status"],
            registry=told_by,
        )
        self._seconds = Histogram(
            "awareness_portal_request_seconds",
            "Time from the head of a request to its answer.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=told_by,
        )
        self._logins = Counter(
            "awareness_portal_logins",
            "Attempts to log in, by how they ended.",
            ["outcome"],
            registry=told_by,
        )
        self._choices = Counter(
            "awareness_portal_password_choices",
            "Choices of a password, by how they ended.",
            ["outcome"],
            registry=told_by,
        )
        # What has not happened yet is 0 and not unknown: an alarm on its growth sees the first one.
        for login in LoginOutcome:
            self._logins.labels(login.value)
        for choice in ChoiceOutcome:
            self._choices.labels(choice.value)

    def count_request(self, method: str, route: str, status: int, *, seconds: float) -> None:
        """One more request. `route` is a path of the portal or stands for all others."""
        # A method is anything that a caller makes up.
        shown = method if method in _METHODS else _ANY_OTHER
        self._requests.labels(shown, route, str(status)).inc()
        self._seconds.labels(shown, route).observe(seconds)

    def count_login(self, outcome: LoginOutcome) -> None:
        """One more attempt to log in."""
        self._logins.labels(outcome.value).inc()

    def count_choice(self, outcome: ChoiceOutcome) -> None:
        """One more choice of a password."""
        self._choices.labels(outcome.value).inc()
