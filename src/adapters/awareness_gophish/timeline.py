"""One event of GoPhish's timeline as the core's, or why it is none.

What matters is what happened, never a result's status: GoPhish overwrites that one. Of `details` only the browser is
read; the payload beside it holds what somebody typed into a form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from awareness_core.errors import Fault, ValidationFailed
from awareness_core.kpis import Step
from awareness_core.results_check import EventTelling, RawEvent, RefusedLine, check_event
from awareness_gophish.browsers import read_browser

STEPS: Final[Mapping[str, Step]] = {
    "Email Sent": Step.SENT,
    "Email Opened": Step.OPENED,
    "Clicked Link": Step.CLICKED,
    "Submitted Data": Step.SUBMITTED,
    "Email Reported": Step.REPORTED,
    "Error Sending Email": Step.ERROR,
}

CREATED: Final = "Campaign Created"
"""About the campaign, not about a recipient."""

_NAMES: Final = {"at": "time"}


def read_event(told: object) -> EventTelling | RefusedLine | None:
    """The event, None for one that is about the campaign, or what is wrong with it."""
    if not isinstance(told, dict):
        return _refused("", "wrong_type", "must be an object")
    message = told.get("message")
    if message == CREATED:
        return None
    step = STEPS.get(message) if isinstance(message, str) else None
    if step is None:
        known = ", ".join(STEPS)
        return _refused("message", "unknown_value", f"must be one of {known}")
    email, at = told.get("email"), told.get("time")
    if not isinstance(email, str) or not isinstance(at, str):
        return _refused("", "wrong_type", "must have an email and a time, both texts")
    address, user_agent = read_browser(told.get("details"))
    try:
        return check_event(
            RawEvent(email=email, step=step, at=at, address=address, user_agent=user_agent), names=_NAMES
        )
    except ValidationFailed as refusal:
        return RefusedLine(faults=refusal.faults)


def _refused(field: str, code: str, message: str) -> RefusedLine:
    return RefusedLine(faults=(Fault(field=field, code=code, message=message),))
