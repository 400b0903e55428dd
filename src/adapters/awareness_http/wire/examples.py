"""What requests and answers look like, for who reads the reference. Invented people; the types check the names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from awareness_core.api_keys import Scope
from awareness_core.employees import Action
from awareness_core.invitations import InvitationStatus, Reason
from awareness_core.kpis import Funnel
from awareness_http.wire.access import AccessCheck
from awareness_http.wire.counting import SyncSummary
from awareness_http.wire.inviting import InvitationAnswer, InvitationItem, InvitationSummary, InviteBody, Mode
from awareness_http.wire.pages import Pagination
from awareness_http.wire.people import (
    Acces,
    Employee,
    EmployeeAnswer,
    EmployeePage,
    ErasureAnswer,
    Secteur,
    Statut,
)
from awareness_http.wire.provisioning import (
    EmployeeBody,
    EmployeeFields,
    InvitationOutcome,
    ProvisioningAnswer,
    SyncResultItem,
)
from awareness_http.wire.recipients import EnvoiStatut, RecipientItem, RecipientPage
from awareness_http.wire.result_imports import (
    Destinataire,
    Evenement,
    EventType,
    ImportAnswer,
    ImportBody,
    ImportCounts,
    ImportedCampaign,
    LineError,
)
from awareness_http.wire.results import (
    CampaignAnswer,
    CampaignDetail,
    CampaignItem,
    CampaignPage,
    CampaignStatut,
    Difficulte,
    Reaction,
    spell_stats,
)
from awareness_http.wire.synchronising import SyncAnswer, SyncBody

_CAMILLE: Final = "019a1f6e-5c3a-7b52-9d5e-3f0b6a3c9e11"
_NOOR: Final = "019a1f6e-5c3a-7c0e-8a44-71c2b7f4d0a2"
_ONE_PAGE: Final = Pagination(page=1, limit=50, total=1, total_pages=1, has_more=False)

ACCESS: Final = AccessCheck(
    ok=True,
    entreprise_id="019a1f6d-0b1e-7d3c-a6f0-5d2f4c1b8e77",
    scopes=[Scope.READ_RESULTS, Scope.WRITE_EMPLOYEES],
    api_key_id="019a1f6d-9f42-7e19-b1d3-0c9a6e5f2b48",
)

PROVISIONING_BODIES: Final[Mapping[str, EmployeeBody]] = {
    "Create or update, and invite": EmployeeBody(
        email="camille.durand@example.com",
        nom="Durand",
        prenom="Camille",
        external_id="RH-00042",
        fonction="Comptable",
        secteur="Finance",
        send_invitation=True,
    ),
    "Archive": EmployeeBody(
        email="camille.durand@example.com",
        nom="Durand",
        prenom="Camille",
        external_id="RH-00042",
        active=False,
    ),
}

PROVISIONED: Final = ProvisioningAnswer(
    ok=True,
    employee=SyncResultItem(
        external_id="RH-00042", email="camille.durand@example.com", action=Action.CREATED, id=_CAMILLE
    ),
    summary=SyncSummary(received=1, created=1, updated=0, reactivated=0, deactivated=0, skipped=0, failed=0),
    invitation=InvitationOutcome(status=InvitationStatus.INVITED),
)

DEACTIVATED: Final = ProvisioningAnswer(
    ok=True,
    employee=SyncResultItem(
        external_id="RH-00042", email="camille.durand@example.com", action=Action.DEACTIVATED, id=_CAMILLE
    ),
    summary=SyncSummary(received=1, created=0, updated=0, reactivated=0, deactivated=1, skipped=0, failed=0),
)

ERASED: Final = ErasureAnswer(ok=True, id=_CAMILLE)

INVITE_BODIES: Final[Mapping[str, InviteBody]] = {
    "Everyone who awaits access": InviteBody(),
    "These two, again if need be": InviteBody(employee_ids=[_CAMILLE, _NOOR], force=True),
}

INVITED: Final = InvitationAnswer(
    ok=True,
    summary=InvitationSummary(
        total=2, invited=1, skipped=1, failed=0, truncated=False, max_per_call=100, mode=Mode.SELECTION
    ),
    results=[
        InvitationItem(id=_CAMILLE, email="camille.durand@example.com", status=InvitationStatus.INVITED),
        InvitationItem(
            id=_NOOR,
            email="noor.haddad@example.com",
            status=InvitationStatus.SKIPPED,
            code=Reason.ALREADY_LOGGED_IN,
        ),
    ],
)

_PERSON: Final = Employee(
    id=_CAMILLE,
    external_id="RH-00042",
    email="camille.durand@example.com",
    nom="Durand",
    prenom="Camille",
    fonction="Comptable",
    telephone=None,
    adresse=None,
    secteur=Secteur(id="3", nom="Finance"),
    statut=Statut.ACTIF,
    acces=Acces.EN_ATTENTE,
    derniere_invitation_at="2026-03-02T08:00:00Z",
    premiere_connexion_at=None,
    created_at="2026-03-02T07:59:58.412Z",
    updated_at="2026-03-02T07:59:58.412Z",
    archived_at=None,
)
PERSON: Final = EmployeeAnswer(employee=_PERSON)
PEOPLE: Final = EmployeePage(data=[_PERSON], pagination=_ONE_PAGE)

_SPRING: Final = CampaignItem(
    id="019a1f70-77d1-7f6b-9c1a-2e8d5b4a6c30",
    external_id="gophish-12",
    nom="Facture en attente",
    statut=CampaignStatut.TERMINEE,
    created_at="2026-02-20T14:05:00Z",
    date_debut="2026-03-03T08:00:00Z",
    date_fin="2026-03-10T18:00:00Z",
    difficulte=Difficulte.MOYENNE,
    stats=spell_stats(
        Funnel(total=240, sent=240, opened=151, clicked=37, submitted=12, reported=64, machine=9)
    ),
)
CAMPAIGNS: Final = CampaignPage(data=[_SPRING], pagination=_ONE_PAGE)
CAMPAIGN: Final = CampaignAnswer(
    campaign=CampaignDetail(
        **vars(_SPRING),
        reaction=Reaction(
            premier_signalement_at="2026-03-03T08:04:10Z",
            delai_median_s=1260.5,
            taux_epargnes=98.75,
            intervalle_epargnes=[96.39, 99.57],
        ),
    )
)
RECIPIENTS: Final = RecipientPage(
    data=[
        RecipientItem(
            employee_id=_CAMILLE,
            email="camille.durand@example.com",
            external_id="RH-00042",
            secteur=Secteur(id="3", nom="Finance"),
            statut_envoi=EnvoiStatut.ENVOYE,
            envoye_at="2026-03-03T08:00:02Z",
            ouvert_at="2026-03-03T08:21:40Z",
            clique_at=None,
            soumis_at=None,
            signale_at="2026-03-03T08:22:05Z",
            delai_signalement_s=1323.0,
            interactions_machine=1,
        )
    ],
    pagination=_ONE_PAGE,
)

IMPORT_BODIES: Final[Mapping[str, ImportBody]] = {
    "A campaign and what happened": ImportBody(
        campaign=ImportedCampaign(
            external_id="gophish-12",
            nom="Facture en attente",
            statut=CampaignStatut.EN_COURS,
            date_debut="2026-03-03T08:00:00Z",
        ),
        destinataires=[
            Destinataire(email="camille.durand@example.com", external_id="RH-00042"),
            Destinataire(email="noor.haddad@example.com"),
        ],
        evenements=[
            Evenement(
                email="camille.durand@example.com",
                type=EventType.CLIQUE,
                survenu_at="2026-03-03T08:21:40Z",
                ip="192.0.2.44",
                user_agent="Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                methode="GET",
            )
        ],
    ),
}

IMPORTED: Final = ImportAnswer(
    ok=False,
    campaign=_SPRING,
    summary=ImportCounts(destinataires=2, evenements=1, nouveaux=1, deja_connus=0, failed=1, effaces=0),
    errors=[
        LineError(
            index=1,
            field="evenements[1].survenu_at",
            message="must be a date-time with its offset like 2026-03-31T08:00:00Z (RFC 3339)",
            code="invalid_moment",
        )
    ],
)

SYNC_BODIES: Final[Mapping[str, SyncBody]] = {
    "The whole directory": SyncBody(
        employees=[
            EmployeeFields(
                email="camille.durand@example.com", nom="Durand", prenom="Camille", external_id="RH-00042"
            ),
            EmployeeFields(
                email="noor.haddad@example.com", nom="Haddad", prenom="Noor", external_id="RH-00043"
            ),
        ],
        deactivate_missing=True,
    ),
}

SYNCHRONISED: Final = SyncAnswer(
    ok=True,
    dry_run=False,
    summary=SyncSummary(received=2, created=1, updated=0, reactivated=0, deactivated=1, skipped=1, failed=0),
    results=[
        SyncResultItem(
            external_id="RH-00042", email="camille.durand@example.com", action=Action.SKIPPED, id=_CAMILLE
        ),
        SyncResultItem(
            external_id="RH-00043", email="noor.haddad@example.com", action=Action.CREATED, id=_NOOR
        ),
    ],
)
