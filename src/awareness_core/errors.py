"""Every refusal of the core, one class per stable code.

A refusal is raised when a caller asked for something that cannot be done at all. What is an expected outcome of a
well-formed request (a person skipped, a record that failed among a thousand good ones) is a value instead, see
`awareness_core.sync` and `awareness_core.invitations`. No class here knows an HTTP status: adapters translate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import attrs

MAX_FAULTS = 100
"""At most so many faults are told at once; the rest would not be read (Choice: decisions/004)."""


@attrs.frozen(kw_only=True)
class Fault:
    """One thing that is wrong with one field of what was sent.

    `field` is a path in the caller's own terms, such as `employees[3].nom`; the empty path means the whole input.
    `message` says what was wrong and what would be right. `code` is stable.
    """

    field: str
    message: str
    code: str


class AwarenessError(Exception):
    """The root of every refusal. `code` is stable, the message may change."""

    code: ClassVar[str] = "INTERNAL_ERROR"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ValidationFailed(AwarenessError):
    """The input breaks a constraint. `faults` holds all of them, at most `MAX_FAULTS`."""

    code = "VALIDATION_ERROR"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)[:MAX_FAULTS]
        super().__init__(_summary(self.faults))


class ApiKeyInvalid(AwarenessError):
    """The key is absent, malformed, unknown, revoked or expired; which one is never told (reference 5.5)."""

    code = "API_KEY_INVALID"

    def __init__(self) -> None:
        super().__init__("The API key is missing or not valid. Send it as 'Authorization: Bearer <key>'.")


class InsufficientScope(AwarenessError):
    """The key lacks the scope that the operation requires; the message names it (reference 5.6)."""

    code = "INSUFFICIENT_SCOPE"

    def __init__(self, required: str) -> None:
        self.required = required
        super().__init__(f"This operation requires the scope '{required}', which this API key does not hold.")


class NotFound(AwarenessError):
    """Nothing of that name belongs to this company. Another company's things answer exactly alike."""

    code = "NOT_FOUND"


class Conflict(AwarenessError):
    """The request contradicts what is stored: a name already taken, a key already revoked."""

    code = "CONFLICT"


class StillRunning(Conflict):
    """The same request is being carried out already; `retry_after` whole seconds from now it is over, or given up."""

    def __init__(self, *, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(
            "An earlier request with this key is still being carried out. Send it again in a moment to get its answer."
        )


class IdempotencyKeyReused(AwarenessError):
    """The key was used for another request, less than a day ago."""

    code = "IDEMPOTENCY_KEY_REUSED"

    def __init__(self) -> None:
        super().__init__(
            "This key was used for a request with other content. Use a new key for a new request, and repeat a "
            "request exactly as it was sent, byte for byte."
        )


class MassDeactivationBlocked(AwarenessError):
    """A sync would archive so many people that it looks like a broken export; nothing was written.

    `planned` of the `active` employees that carry an external id would be archived; `summary` counts what the whole
    sync would do, by action.
    """

    code = "MASS_DEACTIVATION_BLOCKED"

    def __init__(self, *, planned: int, active: int, summary: Mapping[str, int]) -> None:
        self.planned = planned
        self.active = active
        self.summary = summary
        super().__init__(
            f"This sync would archive {planned} of {active} active employees that carry an external id. "
            f"Nothing was written. If that is right, send it again with the exact number, {planned}, as confirmation."
        )


class RateLimitExceeded(AwarenessError):
    """The quota is used up until `retry_after` whole seconds have passed."""

    code = "RATE_LIMIT_EXCEEDED"

    def __init__(self, *, limit: int, window_seconds: int, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(
            f"More than {limit} requests in {window_seconds} seconds. Try again in {retry_after} seconds."
        )


class StoreUnavailable(AwarenessError):
    """The store cannot be reached or did not answer in time. Trying again later may work."""

    code = "SERVICE_UNAVAILABLE"


class HasherBusy(AwarenessError):
    """So many passwords wait to be looked at that another one would wait too long. Nothing is down."""

    code = "SERVICE_UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__("Too many people log in at this moment. Try again in a few seconds.")


class SignatureInvalid(AwarenessError):
    """A notice is not signed with its source's secret, or names no source; which of the two is never told."""

    code = "SIGNATURE_INVALID"

    def __init__(self) -> None:
        super().__init__(
            "The notice is not signed with the secret of this webhook, or there is no such webhook."
        )


class SourceUnavailable(AwarenessError):
    """A tool whose results are wanted did not give them. The message says why and what would help, for an operator.

    `spoils_all` says that nothing else can be had of it either; otherwise only what was asked for was wrong, or, when
    `is_doubtful`, one of the two: the answer did not come, or not whole.
    """

    code = "SOURCE_UNAVAILABLE"

    def __init__(self, message: str, *, spoils_all: bool = True, is_doubtful: bool = False) -> None:
        self.spoils_all = spoils_all
        self.is_doubtful = is_doubtful
        super().__init__(message)


class ProviderUnavailable(AwarenessError):
    """A company's identity provider could not be used, or said what cannot be believed. The message is an operator's.

    It holds no code, no token and no secret. `reason` is one of few words, for counting.
    """

    code = "SERVICE_UNAVAILABLE"

    def __init__(self, message: str, *, reason: str) -> None:
        self.reason = reason
        super().__init__(message)


class SignInUnproven(ProviderUnavailable):
    """A provider answered, and nothing that can be believed came of it: a spent code, a token of somebody else's.

    Coming back from it once more proves no more; beginning anew may.
    """


class ConstraintViolated(AwarenessError):
    """A uniqueness rule of the store refused a write that the plan thought possible: another writer was faster.

    Use cases load, decide and write again when they meet it; it reaches a caller only when that keeps failing.
    """

    code = "CONFLICT"


def _summary(faults: tuple[Fault, ...]) -> str:
    if not faults:
        return "The input is not valid."
    first = faults[0]
    where = f"{first.field}: " if first.field else ""
    others = len(faults) - 1
    more = f" (and {others} more fault{'s' if others > 1 else ''})" if others else ""
    return f"{where}{first.message}{more}"
