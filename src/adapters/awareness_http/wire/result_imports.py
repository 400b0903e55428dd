"""Results of a campaign as tools send them, and the answer to them (Choice: decisions/022)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, TypeVar

import attrs
from msgspec import UNSET, Meta, UnsetType

from awareness_core.campaigns import CampaignPart, CampaignTelling
from awareness_core.emails import MAX_EMAIL_LENGTH
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.kpis import Step
from awareness_core.recipients import Recipient
from awareness_core.results_check import (
    MAX_LENGTHS,
    EventTelling,
    RawCampaign,
    RawEvent,
    check_campaign,
    check_event,
    check_recipient,
)
from awareness_core.results_intake import ImportOutcome
from awareness_http.places import place_within
from awareness_http.typed_reader import Taken, take
from awareness_http.wire.results import (
    DIFFICULTIES,
    STATES,
    CampaignItem,
    CampaignStatut,
    Difficulte,
    spell_campaign,
)

_Value = TypeVar("_Value")

MAX_IMPORTED: Final = 100_000
"""Recipients, and events, in one JSON body (Choice: decisions/022)."""

CAMPAIGN: Final = "campaign"
RECIPIENTS: Final = "destinataires"
EVENTS: Final = "evenements"
LISTS: Final = (RECIPIENTS, EVENTS)
"""The fields of `ImportBody`."""

RECIPIENT: Final = "destinataire"
EVENT: Final = "evenement"
"""What a line beside the campaign's may be; in the order of `LISTS`."""

_Instant = Annotated[str, Meta(max_length=40, extra_json_schema={"format": "date-time"})]
_Address = Annotated[str, Meta(min_length=1, max_length=MAX_EMAIL_LENGTH)]
_CampaignName = Annotated[str, Meta(min_length=1, max_length=MAX_LENGTHS["external_id"])]


class EventType(enum.Enum):
    """What happened."""

    ENVOYE = "envoye"
    OUVERT = "ouvert"
    CLIQUE = "clique"
    SOUMIS = "soumis"
    SIGNALE = "signale"
    ERREUR = "erreur"


STEPS: Final[Mapping[EventType, Step]] = {
    EventType.ENVOYE: Step.SENT,
    EventType.OUVERT: Step.OPENED,
    EventType.CLIQUE: Step.CLICKED,
    EventType.SOUMIS: Step.SUBMITTED,
    EventType.SIGNALE: Step.REPORTED,
    EventType.ERREUR: Step.ERROR,
}


@attrs.frozen(kw_only=True, slots=False)
class ImportedCampaign:
    """A campaign as the tool that runs it knows it."""

    external_id: Annotated[_CampaignName, Meta(description="What the tool calls it, for good.")]
    nom: Annotated[str, Meta(min_length=1, max_length=MAX_LENGTHS["name"])]
    statut: Annotated[
        CampaignStatut,
        Meta(description="One that the campaign is past already is passed over: it was told late."),
    ]
    created_at: Annotated[
        _Instant | UnsetType | None,
        Meta(description="Absent, null or empty: as it is, or now for a new one."),
    ] = UNSET
    date_debut: Annotated[
        _Instant | UnsetType | None, Meta(description="Absent: as it is. Null or empty: there is none.")
    ] = UNSET
    date_fin: Annotated[
        _Instant | UnsetType | None,
        Meta(
            description="Absent: as it is. Null or empty: there is none. Later events are kept and not counted."
        ),
    ] = UNSET
    difficulte: Annotated[
        Difficulte | UnsetType | None,
        Meta(description="Of the lure. Absent: as it is. Null: there is none."),
    ] = UNSET


@attrs.frozen(kw_only=True, slots=False)
class Destinataire:
    """Somebody whom the campaign targets."""

    email: _Address
    external_id: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["external_id"])] | UnsetType | None,
        Meta(description="The person's, as in the directory."),
    ] = UNSET


@attrs.frozen(kw_only=True, slots=False)
class Evenement:
    """Something that happened to a recipient; an address that is none becomes one."""

    email: _Address
    type: EventType
    survenu_at: Annotated[_Instant, Meta(description="When: a date-time with its offset.")]
    id: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["id"])] | UnsetType | None,
        Meta(description="Names the event for good. Without, it is known by address, type and time."),
    ] = UNSET
    ip: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["address"])] | UnsetType | None,
        Meta(description="Of the browser."),
    ] = UNSET
    user_agent: Annotated[str, Meta(max_length=MAX_LENGTHS["user_agent"])] | UnsetType | None = UNSET
    methode: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["method"])] | UnsetType | None,
        Meta(description="Of HTTP, such as GET or HEAD."),
    ] = UNSET


@attrs.frozen(kw_only=True, slots=False)
class ImportBody:
    """What is known of one campaign: one JSON object, or lines.

    As lines: first {"campaign": ...}, then {"destinataire": ...} and {"evenement": ...} in any order, last
    {"end": {"count": N}} with the number of lines before it.
    """

    campaign: ImportedCampaign
    destinataires: Annotated[list[Destinataire], Meta(max_length=MAX_IMPORTED)] = attrs.field(factory=list)
    evenements: Annotated[list[Evenement], Meta(max_length=MAX_IMPORTED)] = attrs.field(factory=list)


@attrs.frozen(kw_only=True, slots=False)
class ImportCounts:
    """What was told."""

    destinataires: Annotated[int, Meta(description="Recipients read.")]
    evenements: Annotated[int, Meta(description="Events read: the new and the known ones.")]
    nouveaux: Annotated[int, Meta(description="Events that were not known.")]
    deja_connus: Annotated[int, Meta(description="Events that were, or were sent twice.")]
    failed: Annotated[int, Meta(description="Recipients and events that were left out.")]
    effaces: Annotated[
        int,
        Meta(description="Recipients and events of people who were erased; they are counted nowhere else."),
    ]


@attrs.frozen(kw_only=True, slots=False)
class LineError:
    """What was wrong with one recipient or event."""

    index: Annotated[int, Meta(description="Of the item in its list; of the line, from 0, in lines.")]
    field: Annotated[str, Meta(description="Where in the body.")]
    message: str
    code: str


@attrs.frozen(kw_only=True, slots=False)
class ImportAnswer:
    """What `POST /campaigns/import` answers."""

    ok: Annotated[bool, Meta(description="false when something was left out; the status is 200 still.")]
    campaign: CampaignItem
    summary: ImportCounts
    errors: Annotated[list[LineError], Meta(description="Of the first 1,000 that were left out.")]


_CAMPAIGN_NAMES: Final = {
    "external_id": "external_id",
    "name": "nom",
    "state": "statut",
    "created_at": "created_at",
    "starts_at": "date_debut",
    "ends_at": "date_fin",
}
_EVENT_NAMES: Final = {"at": "survenu_at", "address": "ip", "method": "methode"}


def read_campaign(value: object) -> CampaignTelling:
    """The campaign among what was sent. Raises `ValidationFailed` with every fault, by its place."""
    taken = take(ImportedCampaign, value)
    if taken.faults:
        raise ValidationFailed(_within("campaign", taken.faults))
    sent = ImportedCampaign(**taken.fields)  # type: ignore[arg-type]  # `take` checked each against its type
    difficulty = _known(sent.difficulte)
    emptied: Mapping[CampaignPart, object] = {
        CampaignPart.START: sent.date_debut,
        CampaignPart.END: sent.date_fin,
        CampaignPart.DIFFICULTY: sent.difficulte,
    }
    raw = RawCampaign(
        external_id=sent.external_id,
        name=sent.nom,
        state=STATES[sent.statut],
        created_at=_filled(sent.created_at),
        starts_at=_filled(sent.date_debut),
        ends_at=_filled(sent.date_fin),
        difficulty=None if difficulty is None else DIFFICULTIES[difficulty],
        cleared=frozenset(part for part, value in emptied.items() if _is_emptied(value)),
    )
    try:
        return check_campaign(raw, names=_CAMPAIGN_NAMES)
    except ValidationFailed as refusal:
        raise ValidationFailed(_within("campaign", refusal.faults)) from None


def read_recipient(taken: Taken) -> Recipient:
    """The recipient that was read. Raises `ValidationFailed` with every fault."""
    if taken.faults:
        raise ValidationFailed(taken.faults)
    sent = Destinataire(**taken.fields)  # type: ignore[arg-type]  # checked against its type
    return check_recipient(sent.email, _known(sent.external_id), names={})


def read_event(taken: Taken) -> EventTelling:
    """The event that was read. Raises `ValidationFailed` with every fault."""
    if taken.faults:
        raise ValidationFailed(taken.faults)
    sent = Evenement(**taken.fields)  # type: ignore[arg-type]  # checked against its type
    raw = RawEvent(
        email=sent.email,
        step=STEPS[sent.type],
        at=sent.survenu_at,
        id=_known(sent.id),
        address=_known(sent.ip),
        user_agent=_known(sent.user_agent),
        method=_known(sent.methode),
    )
    return check_event(raw, names=_EVENT_NAMES)


def spell_import(outcome: ImportOutcome, errors: Iterable[LineError]) -> ImportAnswer:
    """The answer to an import; `errors` are its failures by their place in what was sent."""
    counted = outcome.summary
    return ImportAnswer(
        ok=outcome.is_ok,
        campaign=spell_campaign(outcome.campaign),
        summary=ImportCounts(
            destinataires=counted.recipients,
            evenements=counted.events,
            nouveaux=counted.new,
            deja_connus=counted.known,
            failed=counted.failed,
            effaces=counted.erased,
        ),
        errors=list(errors),
    )


def _within(place: str, faults: Iterable[Fault]) -> list[Fault]:
    return [attrs.evolve(fault, field=place_within(place, fault.field)) for fault in faults]


def _filled(value: str | UnsetType | None) -> str | None:
    return None if _is_emptied(value) else _known(value)


def _is_emptied(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _known(value: _Value | UnsetType | None) -> _Value | None:
    return None if isinstance(value, UnsetType) else value
