"""The recipients of one campaign and how far each came, as JSON and as CSV (Choice: decisions/022)."""

from __future__ import annotations

import csv
import enum
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated

import attrs
from msgspec import Meta

from awareness_core.errors import Fault, ValidationFailed
from awareness_core.pages import DEFAULT_LIMIT, Page, PageRequest
from awareness_core.periods import spell_moment
from awareness_core.recipients import Progress
from awareness_core.use_cases.read_campaigns import RecipientView
from awareness_http.csv_cells import guarded_cell
from awareness_http.typed_reader import Taken
from awareness_http.wire.pages import PageNumber, PageSize, Pagination, spell_pagination
from awareness_http.wire.people import Secteur

_Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


class EnvoiStatut(enum.Enum):
    """Whether the mail was sent."""

    EN_ATTENTE = "en_attente"
    ENVOYE = "envoye"
    ERREUR = "erreur"


@attrs.frozen(kw_only=True, slots=False)
class RecipientItem:
    """One recipient: the first moment of each step, null for one that they did not come to."""

    employee_id: Annotated[
        str | None, Meta(description="null for somebody who is not in the directory, or was erased.")
    ]
    email: Annotated[str | None, Meta(description="null for somebody who was erased.")]
    external_id: str | None
    secteur: Annotated[
        Secteur | None, Meta(description="Where they were when the campaign was told of them.")
    ]
    statut_envoi: EnvoiStatut
    envoye_at: _Moment | None
    ouvert_at: _Moment | None
    clique_at: _Moment | None
    soumis_at: _Moment | None
    signale_at: _Moment | None
    delai_signalement_s: Annotated[
        float | None, Meta(description="Seconds from the mail to the report, where both are known.")
    ]
    interactions_machine: Annotated[int, Meta(description="Interactions by scanners, left out of the steps.")]


@attrs.frozen(kw_only=True, slots=False)
class RecipientPage:
    """One page of recipients, by address."""

    data: list[RecipientItem]
    pagination: Pagination


@attrs.frozen(kw_only=True, slots=False)
class RecipientFilters:
    """The query parameters of the list of recipients."""

    page: PageNumber = 1
    limit: PageSize = DEFAULT_LIMIT


def read_page(taken: Taken) -> PageRequest:
    """Which page was asked for. Raises `ValidationFailed` with every fault."""
    if taken.faults:
        raise ValidationFailed(taken.faults)
    filters = RecipientFilters(**taken.fields)  # type: ignore[arg-type]  # checked by the reader, field by field
    return PageRequest(page=filters.page, limit=filters.limit)


def refuse_page(taken: Taken) -> None:
    """Raise `ValidationFailed` when a page was asked for of what is always told whole."""
    message = "is a parameter of JSON only; CSV holds everybody"
    sent = [Fault(field=name, code="unknown_parameter", message=message) for name in taken.fields]
    if sent or taken.faults:
        raise ValidationFailed([*taken.faults, *sent])


def spell_recipients(page: Page[RecipientView]) -> RecipientPage:
    """One page of recipients."""
    return RecipientPage(data=[_spell(view) for view in page.items], pagination=spell_pagination(page))


def spell_csv_head() -> bytes:
    """The first line of the CSV: the names of its columns, which are those of the JSON."""
    return _csv([[field.name for field in attrs.fields(RecipientItem)]])


def spell_csv(views: Iterable[RecipientView]) -> bytes:
    """A line of CSV each. No cell is one that a spreadsheet would run as a formula: a quote stands before it."""
    return _csv(map(_cells, views))


def _csv(rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _cells(view: RecipientView) -> list[object]:
    item = _spell(view)
    return [
        _guarded(item.employee_id),
        _guarded(item.email),
        _guarded(item.external_id),
        _guarded(None if item.secteur is None else item.secteur.nom),
        item.statut_envoi.value,
        item.envoye_at,
        item.ouvert_at,
        item.clique_at,
        item.soumis_at,
        item.signale_at,
        item.delai_signalement_s,
        item.interactions_machine,
    ]


def _guarded(text: str | None) -> str | None:
    return None if text is None else guarded_cell(text)


def _spell(view: RecipientView) -> RecipientItem:
    recipient, progress, sector = view.recipient, view.recipient.progress, view.sector
    delay = progress.report_delay
    return RecipientItem(
        employee_id=recipient.employee_id,
        email=None if recipient.is_erased else recipient.email.text,
        external_id=recipient.external_id,
        secteur=None if sector is None else Secteur(id=str(sector.id), nom=sector.name),
        statut_envoi=_statut_of(progress),
        envoye_at=_moment(progress.sent_at),
        ouvert_at=_moment(progress.opened_at),
        clique_at=_moment(progress.clicked_at),
        soumis_at=_moment(progress.submitted_at),
        signale_at=_moment(progress.reported_at),
        delai_signalement_s=None if delay is None else delay.total_seconds(),
        interactions_machine=progress.machine,
    )


def _statut_of(progress: Progress) -> EnvoiStatut:
    if progress.error_at is not None:
        return EnvoiStatut.ERREUR
    return EnvoiStatut.EN_ATTENTE if progress.sent_at is None else EnvoiStatut.ENVOYE


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else spell_moment(moment)
