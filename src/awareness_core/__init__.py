"""The domain of a security-awareness service: who works where, who gets access, what the simulations showed.

This is what an embedding program imports. It touches no network, no file, no clock and no chance: the outside world is
`Ports`, and `awareness_memory`, `awareness_sql`, `awareness_smtp` and `awareness_limits` are ready-made parts of it.
"""

from awareness_core.absent import ABSENT
from awareness_core.api_keys import ApiKey, Caller, Scope, authorise
from awareness_core.campaigns import Campaign, CampaignQuery, CampaignState
from awareness_core.emails import EmailAddress, InvalidEmail, parse_email
from awareness_core.employees import Access, Action, Employee, EmployeeRecord, EmployeeState, Presence, access
from awareness_core.errors import (
    ApiKeyInvalid,
    AwarenessError,
    Conflict,
    Fault,
    InsufficientScope,
    MassDeactivationBlocked,
    NotFound,
    RateLimitExceeded,
    StoreUnavailable,
    ValidationFailed,
)
from awareness_core.invitations import InvitationReport, InvitationResult, InvitationStatus, Reason
from awareness_core.kpis import Funnel, Rate, Step, rate, tally
from awareness_core.pages import Page, PageRequest
from awareness_core.periods import Period
from awareness_core.ports import EmployeeQuery, Ports
from awareness_core.quota import QuotaDecision, QuotaPolicy
from awareness_core.records import InvalidRecord, RawEmployee, check_record
from awareness_core.sectors import Sector, SectorReference
from awareness_core.sync_plan import SyncError, SyncItem, SyncSummary, SyncWarning
from awareness_core.tenants import Company, CompanyId, Language
from awareness_core.use_cases.check_access import check_access
from awareness_core.use_cases.create_company import create_company
from awareness_core.use_cases.deactivate import deactivate
from awareness_core.use_cases.invite import invite, preview_invitations
from awareness_core.use_cases.issue_api_key import IssuedKey, issue_api_key
from awareness_core.use_cases.list_campaigns import list_campaigns
from awareness_core.use_cases.provision import SyncReport, provision
from awareness_core.use_cases.read_employees import EmployeeView, get_employee, list_employees
from awareness_core.use_cases.record_first_login import record_first_login

__all__ = [
    "ABSENT",
    "Access",
    "Action",
    "ApiKey",
    "ApiKeyInvalid",
    "AwarenessError",
    "Caller",
    "Campaign",
    "CampaignQuery",
    "CampaignState",
    "Company",
    "CompanyId",
    "Conflict",
    "EmailAddress",
    "Employee",
    "EmployeeQuery",
    "EmployeeRecord",
    "EmployeeState",
    "EmployeeView",
    "Fault",
    "Funnel",
    "InsufficientScope",
    "InvalidEmail",
    "InvalidRecord",
    "InvitationReport",
    "InvitationResult",
    "InvitationStatus",
    "IssuedKey",
    "Language",
    "MassDeactivationBlocked",
    "NotFound",
    "Page",
    "PageRequest",
    "Period",
    "Ports",
    "Presence",
    "QuotaDecision",
    "QuotaPolicy",
    "Rate",
    "RateLimitExceeded",
    "RawEmployee",
    "Reason",
    "Scope",
    "Sector",
    "SectorReference",
    "Step",
    "StoreUnavailable",
    "SyncError",
    "SyncItem",
    "SyncReport",
    "SyncSummary",
    "SyncWarning",
    "ValidationFailed",
    "access",
    "authorise",
    "check_access",
    "check_record",
    "create_company",
    "deactivate",
    "get_employee",
    "invite",
    "issue_api_key",
    "list_campaigns",
    "list_employees",
    "parse_email",
    "preview_invitations",
    "provision",
    "rate",
    "record_first_login",
    "tally",
]
