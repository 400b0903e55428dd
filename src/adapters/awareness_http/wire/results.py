"""Campaigns with their figures (reference 2.5 and 4.4), and the parameters that choose among them."""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, TypeAlias

import attrs
from msgspec import UNSET, Meta, UnsetType

from awareness_core.campaigns import Campaign, CampaignState, Difficulty
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.kpis import Funnel, Rate, Response, rate
from awareness_core.pages import DEFAULT_LIMIT, Page, PageRequest
from awareness_core.periods import InvalidMoment, parse_moment, spell_moment
from awareness_core.use_cases.read_campaigns import CampaignView
from awareness_http.typed_reader import Taken
from awareness_http.wire.pages import PageNumber, PageSize, Pagination, spell_pagination

_MAX_MOMENT: Final = 40


class CampaignStatut(enum.Enum):
    """Where a campaign stands."""

    BROUILLON = "brouillon"
    PLANIFIEE = "planifiee"
    EN_COURS = "en_cours"
    EN_PAUSE = "en_pause"
    TERMINEE = "terminee"
    ANNULEE = "annulee"


class Difficulte(enum.Enum):
    """How hard the lure is to see through."""

    FACILE = "facile"
    MOYENNE = "moyenne"
    DIFFICILE = "difficile"


class Machine(enum.Enum):
    """Whether `stats` count what machines did."""

    EXCLUES = "exclues"
    INCLUSES = "incluses"


DIFFICULTIES: Final[Mapping[Difficulte, Difficulty]] = {
    Difficulte.FACILE: Difficulty.EASY,
    Difficulte.MOYENNE: Difficulty.MODERATE,
    Difficulte.DIFFICILE: Difficulty.DIFFICULT,
}
_DIFFICULTE_OF = {difficulty: difficulte for difficulte, difficulty in DIFFICULTIES.items()}

STATES: Final[Mapping[CampaignStatut, CampaignState]] = {
    CampaignStatut.BROUILLON: CampaignState.DRAFT,
    CampaignStatut.PLANIFIEE: CampaignState.SCHEDULED,
    CampaignStatut.EN_COURS: CampaignState.RUNNING,
    CampaignStatut.EN_PAUSE: CampaignState.PAUSED,
    CampaignStatut.TERMINEE: CampaignState.COMPLETED,
    CampaignStatut.ANNULEE: CampaignState.CANCELLED,
}
_STATUT_OF = {state: statut for statut, state in STATES.items()}

_Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
_Percent = Annotated[float, Meta(ge=0, le=100)]
MachineOption: TypeAlias = Annotated[
    Machine | UnsetType,
    Meta(description="`incluses`: `stats` count what scanners did, too. Default: `exclues`."),
]
_Interval = Annotated[
    list[_Percent],
    Meta(min_length=2, max_length=2, description="95 % Wilson interval, `[low, high]` in percent."),
]


@attrs.frozen(kw_only=True, slots=False)
class CampaignStats:
    """Counts are distinct recipients; rates are percent of `total`, two decimals, 0 when `total` is 0."""

    total: Annotated[int, Meta(description="Recipients that the campaign targets.")]
    envoyes: Annotated[int, Meta(description="Sent.")]
    ouverts: Annotated[int, Meta(description="Opened.")]
    cliques: Annotated[int, Meta(description="Clicked.")]
    soumis: Annotated[int, Meta(description="Submitted data.")]
    signales: Annotated[int, Meta(description="Reported the mail.")]
    erreurs: Annotated[
        int, Meta(description="Could not be sent to, as far as is known: no later attempt did.")
    ]
    interactions_machine: Annotated[
        int, Meta(description="Interactions by scanners, left out of the counts unless asked for.")
    ]
    taux_ouverture: _Percent
    taux_clic: _Percent
    taux_soumission: _Percent
    taux_signalement: _Percent
    intervalle_ouverture: _Interval
    intervalle_clic: _Interval
    intervalle_soumission: _Interval
    intervalle_signalement: _Interval


@attrs.frozen(kw_only=True, slots=False)
class CampaignItem:
    """One campaign."""

    id: str
    external_id: Annotated[str | None, Meta(description="What the tool that ran it calls it.")]
    nom: str
    statut: CampaignStatut
    created_at: _Moment
    date_debut: Annotated[_Moment | None, Meta(description="null while there is no start.")]
    date_fin: Annotated[_Moment | None, Meta(description="null while there is no end.")]
    difficulte: Annotated[Difficulte | None, Meta(description="Of the lure; null when it was not told.")]
    stats: CampaignStats


@attrs.frozen(kw_only=True, slots=False)
class Reaction:
    """How fast the campaign was noticed."""

    premier_signalement_at: _Moment
    delai_median_s: Annotated[
        float | None,
        Meta(description="Median seconds from the mail to the report; null when no delay is known."),
    ]
    taux_epargnes: Annotated[
        _Percent, Meta(description="Percent of `total` who had not clicked when the first report came.")
    ]
    intervalle_epargnes: _Interval


@attrs.frozen(kw_only=True, slots=False)
class CampaignDetail(CampaignItem):
    """One campaign, and how fast it was noticed."""

    reaction: Annotated[Reaction | None, Meta(description="null while nobody has reported it.")]


@attrs.frozen(kw_only=True, slots=False)
class CampaignAnswer:
    """What `GET /campaigns/{id}` answers."""

    campaign: CampaignDetail


@attrs.frozen(kw_only=True, slots=False)
class CampaignOptions:
    """The query parameter of one campaign."""

    machine: MachineOption = UNSET


@attrs.frozen(kw_only=True, slots=False)
class CampaignPage:
    """One page of campaigns, the latest start first."""

    data: list[CampaignItem]
    pagination: Pagination


@attrs.frozen(kw_only=True, slots=False)
class CampaignFilters:
    """The query parameters of the list of campaigns."""

    page: PageNumber = 1
    limit: PageSize = DEFAULT_LIMIT
    date_debut: Annotated[
        Annotated[str, Meta(max_length=_MAX_MOMENT)] | UnsetType,
        Meta(
            description="Campaigns that start then or later: a date (in UTC) or a date-time with its offset. "
            "Default: 30 days ago.",
            examples=["2026-03-01", "2026-03-01T08:00:00Z"],
        ),
    ] = UNSET
    date_fin: Annotated[
        Annotated[str, Meta(max_length=_MAX_MOMENT)] | UnsetType,
        Meta(
            description="Campaigns that start then or earlier; a date means to the end of that day. Default: now.",
            examples=["2026-03-31"],
        ),
    ] = UNSET
    statut: CampaignStatut | UnsetType = UNSET
    machine: MachineOption = UNSET


@attrs.frozen(kw_only=True)
class CampaignChoice:
    """What a caller asked for, in the core's terms. A bound that is None takes the core's default."""

    start: datetime | None
    end: datetime | None
    state: CampaignState | None
    page: PageRequest
    with_machine: bool

    def name_period(self, refusal: ValidationFailed) -> ValidationFailed:
        """The same refusal, speaking of the parameter that was sent instead of the core's period."""
        named = "date_debut" if self.end is None else "date_fin"
        return ValidationFailed(
            attrs.evolve(fault, field=named) if fault.field == "period" else fault for fault in refusal.faults
        )


def read_choice(taken: Taken) -> CampaignChoice:
    """What was asked for. Raises `ValidationFailed` with every fault."""
    faults = list(taken.faults)
    filters = CampaignFilters(**taken.fields)  # type: ignore[arg-type]  # checked by the reader, field by field
    choice = CampaignChoice(
        start=_moment("date_debut", filters.date_debut, faults),
        end=_moment("date_fin", filters.date_fin, faults, end_of_day=True),
        state=None if filters.statut is UNSET else STATES[filters.statut],
        page=PageRequest(page=filters.page, limit=filters.limit),
        with_machine=filters.machine is Machine.INCLUSES,
    )
    if faults:
        raise ValidationFailed(faults)
    return choice


def wants_machine(taken: Taken) -> bool:
    """Whether one campaign is to be told with what machines did. Raises `ValidationFailed` with every fault."""
    if taken.faults:
        raise ValidationFailed(taken.faults)
    return taken.fields.get("machine") is Machine.INCLUSES


def spell_campaigns(page: Page[Campaign], *, with_machine: bool) -> CampaignPage:
    """One page of campaigns."""
    return CampaignPage(
        data=[spell_campaign(campaign, with_machine=with_machine) for campaign in page.items],
        pagination=spell_pagination(page),
    )


# The pages of a listing are read again and again, and most of their campaigns are over.
@functools.lru_cache(maxsize=1024)
def spell_campaign(campaign: Campaign, *, with_machine: bool = False) -> CampaignItem:
    """One campaign."""
    return CampaignItem(
        id=campaign.id,
        external_id=campaign.external_id,
        nom=campaign.name,
        statut=_STATUT_OF[campaign.state],
        created_at=spell_moment(campaign.created_at),
        date_debut=None if campaign.starts_at is None else spell_moment(campaign.starts_at),
        date_fin=None if campaign.ends_at is None else spell_moment(campaign.ends_at),
        difficulte=None if campaign.difficulty is None else _DIFFICULTE_OF[campaign.difficulty],
        stats=spell_stats(campaign.funnel_with_machine if with_machine else campaign.funnel),
    )


def spell_view(view: CampaignView, *, with_machine: bool) -> CampaignAnswer:
    """One campaign, and how fast it was noticed."""
    item = spell_campaign(view.campaign, with_machine=with_machine)
    return CampaignAnswer(campaign=CampaignDetail(**vars(item), reaction=_reaction(view.response)))


def spell_stats(funnel: Funnel) -> CampaignStats:
    """The figures of one campaign."""
    opened, clicked = rate(funnel.opened, funnel.total), rate(funnel.clicked, funnel.total)
    submitted, reported = rate(funnel.submitted, funnel.total), rate(funnel.reported, funnel.total)
    return CampaignStats(
        total=funnel.total,
        envoyes=funnel.sent,
        ouverts=funnel.opened,
        cliques=funnel.clicked,
        soumis=funnel.submitted,
        signales=funnel.reported,
        erreurs=funnel.errors,
        interactions_machine=funnel.machine,
        taux_ouverture=opened.percent,
        taux_clic=clicked.percent,
        taux_soumission=submitted.percent,
        taux_signalement=reported.percent,
        intervalle_ouverture=_interval(opened),
        intervalle_clic=_interval(clicked),
        intervalle_soumission=_interval(submitted),
        intervalle_signalement=_interval(reported),
    )


def _reaction(response: Response) -> Reaction | None:
    if response.first_report_at is None or response.spared is None:
        return None
    delay = response.median_delay
    return Reaction(
        premier_signalement_at=spell_moment(response.first_report_at),
        delai_median_s=None if delay is None else delay.total_seconds(),
        taux_epargnes=response.spared.percent,
        intervalle_epargnes=_interval(response.spared),
    )


def _interval(share: Rate) -> list[float]:
    return [share.low, share.high]


def _moment(
    name: str, text: str | UnsetType, faults: list[Fault], *, end_of_day: bool = False
) -> datetime | None:
    if text is UNSET:
        return None
    try:
        return parse_moment(text, end_of_day=end_of_day)
    except InvalidMoment as error:
        # An unescaped plus arrives as a blank.
        hint = "; in a URL, write + as %2B" if " " in text else ""
        faults.append(Fault(field=name, code="invalid_moment", message=f"{error}{hint}"))
        return None
