"""The domain of a security-awareness service: who works where, who gets access, what the simulations showed.

This is what an embedding program imports. It touches no network, no file, no clock and no chance: the outside world is
`Ports`, and `awareness_memory`, `awareness_sql`, `awareness_smtp` and `awareness_limits` are ready-made parts of it.
"""

from awareness_core.absent import ABSENT
from awareness_core.api_keys import ApiKey, Caller, Scope, authorise
from awareness_core.campaigns import (
    Campaign,
    CampaignPart,
    CampaignQuery,
    CampaignState,
    CampaignTelling,
    Difficulty,
)
from awareness_core.chosen_passwords import Weakness
from awareness_core.emails import EmailAddress, InvalidEmail, parse_email
from awareness_core.employees import Access, Action, Employee, EmployeeRecord, EmployeeState, Presence, access
from awareness_core.errors import (
    ApiKeyInvalid,
    AwarenessError,
    Conflict,
    Fault,
    HasherBusy,
    IdempotencyKeyReused,
    InsufficientScope,
    MassDeactivationBlocked,
    NotFound,
    ProviderUnavailable,
    RateLimitExceeded,
    SignatureInvalid,
    SignInUnproven,
    SourceUnavailable,
    StillRunning,
    StoreUnavailable,
    ValidationFailed,
)
from awareness_core.identity_ports import SignInRequest
from awareness_core.identity_providers import Identity, IdentityProvider, SignInRefusal
from awareness_core.invitations import InvitationReport, InvitationResult, InvitationStatus, Reason
from awareness_core.kpis import Funnel, MachineSteps, Rate, Response, Step, rate, tally
from awareness_core.outcomes import Outcome, OwnOutcome
from awareness_core.pages import Page, PageRequest
from awareness_core.periods import Period
from awareness_core.ports import EmployeeQuery, PortalPorts, Ports
from awareness_core.quota import QuotaDecision, QuotaPolicy
from awareness_core.receipts import ReceiptId
from awareness_core.recipients import Progress, Recipient
from awareness_core.records import InvalidRecord, RawEmployee, check_record
from awareness_core.results_check import EventTelling, RawEvent, RefusedLine, check_event
from awareness_core.results_intake import ImportOutcome, LineFailure, ResultsPayload
from awareness_core.results_plan import ImportSummary
from awareness_core.sectors import Sector, SectorReference
from awareness_core.sessions import Membership, Session, SessionDigest, SessionPolicy
from awareness_core.sign_ins import Ticket, is_own_ticket, read_ticket, spell_ticket
from awareness_core.sources import Source, SourceId, SourceKind, SourceState, is_due
from awareness_core.sync_plan import SyncError, SyncItem, SyncSummary, SyncWarning
from awareness_core.tenants import Company, CompanyId, Language
from awareness_core.timelines import Span, Timeline, timeline_of
from awareness_core.use_cases.add_source import AddedSource, add_source, renew_webhook_secret
from awareness_core.use_cases.check_access import check_access
from awareness_core.use_cases.choose_password import (
    PasswordChosen,
    PasswordRefused,
    choose_password,
    is_own_password,
)
from awareness_core.use_cases.companies import change_company, create_company
from awareness_core.use_cases.correct_campaign import CorrectedCampaign, correct_campaign_state
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.deliver_pending import PendingDelivered, deliver_pending
from awareness_core.use_cases.erase import erase
from awareness_core.use_cases.identity_providers import remove_identity_provider, set_identity_provider
from awareness_core.use_cases.import_results import import_results
from awareness_core.use_cases.invite import invite, preview_invitations
from awareness_core.use_cases.issue_api_key import IssuedKey, issue_api_key
from awareness_core.use_cases.list_campaigns import list_campaigns
from awareness_core.use_cases.log_in import Admission, log_in
from awareness_core.use_cases.once import AnsweredBefore, kept_answer, once
from awareness_core.use_cases.own_outcomes import read_own_outcomes
from awareness_core.use_cases.provision import SyncReport, provision
from awareness_core.use_cases.purge_archived import count_archived, purge_archived
from awareness_core.use_cases.read_campaigns import (
    CampaignHistory,
    CampaignView,
    RecipientView,
    all_recipients,
    get_campaign,
    get_campaign_history,
    list_recipients,
)
from awareness_core.use_cases.read_employees import EmployeeView, get_employee, list_employees
from awareness_core.use_cases.receive_notice import NoticeOutcome, receive_notice
from awareness_core.use_cases.record_first_login import record_first_login
from awareness_core.use_cases.reset_access import AccessReset, reset_access
from awareness_core.use_cases.sign_in import Arrival, Departure, arrive, find_provider_for, set_out
from awareness_core.use_cases.sync_source import LeftOut, SyncedSource, SyncProgress, sync_source
from awareness_core.use_cases.verdict_rules import (
    Reclassified,
    change_verdict_rules,
    read_verdict_rules,
    reclassify_campaigns,
    reset_verdict_rules,
)
from awareness_core.use_cases.visit import Visit, find_visit, log_out, log_out_everywhere
from awareness_core.verdict_rules import RulesChange, VerdictRules

__all__ = [
    "ABSENT",
    "Access",
    "AccessReset",
    "Action",
    "AddedSource",
    "Admission",
    "AnsweredBefore",
    "ApiKey",
    "ApiKeyInvalid",
    "Arrival",
    "AwarenessError",
    "Caller",
    "Campaign",
    "CampaignHistory",
    "CampaignPart",
    "CampaignQuery",
    "CampaignState",
    "CampaignTelling",
    "CampaignView",
    "Company",
    "CompanyId",
    "Conflict",
    "CorrectedCampaign",
    "Departure",
    "Difficulty",
    "EmailAddress",
    "Employee",
    "EmployeeQuery",
    "EmployeeRecord",
    "EmployeeState",
    "EmployeeView",
    "EventTelling",
    "Fault",
    "Funnel",
    "HasherBusy",
    "IdempotencyKeyReused",
    "Identity",
    "IdentityProvider",
    "ImportOutcome",
    "ImportSummary",
    "InsufficientScope",
    "InvalidEmail",
    "InvalidRecord",
    "InvitationReport",
    "InvitationResult",
    "InvitationStatus",
    "IssuedKey",
    "Language",
    "LeftOut",
    "LineFailure",
    "MachineSteps",
    "MassDeactivationBlocked",
    "Membership",
    "NotFound",
    "NoticeOutcome",
    "Outcome",
    "OwnOutcome",
    "Page",
    "PageRequest",
    "PasswordChosen",
    "PasswordRefused",
    "PendingDelivered",
    "Period",
    "PortalPorts",
    "Ports",
    "Presence",
    "Progress",
    "ProviderUnavailable",
    "QuotaDecision",
    "QuotaPolicy",
    "Rate",
    "RateLimitExceeded",
    "RawEmployee",
    "RawEvent",
    "Reason",
    "ReceiptId",
    "Recipient",
    "RecipientView",
    "Reclassified",
    "RefusedLine",
    "Response",
    "ResultsPayload",
    "RulesChange",
    "Scope",
    "Sector",
    "SectorReference",
    "Session",
    "SessionDigest",
    "SessionPolicy",
    "SignInRefusal",
    "SignInRequest",
    "SignInUnproven",
    "SignatureInvalid",
    "Source",
    "SourceId",
    "SourceKind",
    "SourceState",
    "SourceUnavailable",
    "Span",
    "Step",
    "StillRunning",
    "StoreUnavailable",
    "SyncError",
    "SyncItem",
    "SyncProgress",
    "SyncReport",
    "SyncSummary",
    "SyncWarning",
    "SyncedSource",
    "Ticket",
    "Timeline",
    "ValidationFailed",
    "VerdictRules",
    "Visit",
    "Weakness",
    "access",
    "add_source",
    "all_recipients",
    "arrive",
    "authorise",
    "change_company",
    "change_verdict_rules",
    "check_access",
    "check_event",
    "check_record",
    "choose_password",
    "correct_campaign_state",
    "count_archived",
    "create_company",
    "deactivate",
    "deliver_pending",
    "erase",
    "find_provider_for",
    "find_visit",
    "get_campaign",
    "get_campaign_history",
    "get_employee",
    "import_results",
    "invite",
    "is_due",
    "is_own_password",
    "is_own_ticket",
    "issue_api_key",
    "kept_answer",
    "list_campaigns",
    "list_employees",
    "list_recipients",
    "log_in",
    "log_out",
    "log_out_everywhere",
    "once",
    "parse_email",
    "preview_invitations",
    "provision",
    "purge_archived",
    "rate",
    "read_own_outcomes",
    "read_ticket",
    "read_verdict_rules",
    "receive_notice",
    "reclassify_campaigns",
    "record_first_login",
    "remove_identity_provider",
    "renew_webhook_secret",
    "reset_access",
    "reset_verdict_rules",
    "set_identity_provider",
    "set_out",
    "spell_ticket",
    "sync_source",
    "tally",
    "timeline_of",
]
