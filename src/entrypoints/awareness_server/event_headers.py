"""The words that tools write above columns of events, in French and English, and the field that each one means.

Like `roster_headers`, it is where other people's words become ours; words compare folded. The first header of a field
is the name that the HTTP interface has for it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType

from awareness_core.kpis import Step
from awareness_http.wire.result_imports import STEPS
from awareness_server.roster_headers import HEADERS as ROSTER_HEADERS
from awareness_server.roster_headers import RosterField, fold


class EventField(enum.Enum):
    """What a column can mean, by the core's names."""

    EMAIL = "email"
    STEP = "step"
    AT = "at"
    ID = "id"
    ADDRESS = "address"
    USER_AGENT = "user_agent"
    METHOD = "method"
    EXTERNAL_ID = "external_id"


REQUIRED = (EventField.EMAIL, EventField.STEP, EventField.AT)

HEADERS: Mapping[EventField, tuple[str, ...]] = MappingProxyType(
    {
        EventField.EMAIL: (
            *(
                "email",
                "Destinataire",
                "E-mail du destinataire",
                "Recipient",
                "Recipient email",
                "User email",
            ),
            *ROSTER_HEADERS[RosterField.EMAIL],
        ),
        EventField.STEP: (
            *("type", "Type d'événement", "Événement", "Étape", "Action"),
            *("Step", "Event", "Event type"),
        ),
        EventField.AT: (
            *("survenu_at", "Survenu le", "Horodatage", "Date", "Date et heure", "Date/heure"),
            *("At", "Time", "Timestamp", "Date time", "Event time", "Event date", "Occurred at"),
        ),
        EventField.ID: ("id", "ID d'événement", "ID de l'événement", "Event ID"),
        EventField.ADDRESS: ("ip", "Adresse IP", "IP address", "Client IP", "Source IP"),
        EventField.USER_AGENT: ("user_agent", "Navigateur", "Agent utilisateur", "Browser"),
        EventField.METHOD: ("methode", "Méthode HTTP", "Method", "HTTP method"),
        EventField.EXTERNAL_ID: ("external_id", *ROSTER_HEADERS[RosterField.EXTERNAL_ID]),
    }
)

STEP_WORDS: Mapping[str, Step] = MappingProxyType(
    {said.value: step for said, step in STEPS.items()} | {step.value: step for step in Step}
)
"""What a cell may say of what happened: the words of the HTTP interface, and the core's."""


def field_of(header: str) -> EventField | None:
    """The field that a column of this name means, or None."""
    return _FIELD_OF.get(fold(header))


def recognises(header: str) -> bool:
    """Whether a column of this name means a field."""
    return field_of(header) is not None


def step_said(word: str) -> Step | None:
    """What happened, or None for a word that says nothing of it."""
    return _STEP_OF.get(fold(word))


_FIELD_OF = {fold(header): field for field, headers in HEADERS.items() for header in headers}
_STEP_OF = {fold(word): step for word, step in STEP_WORDS.items()}
