"""An employee as callers send them and what became of them (reference 2.1 to 2.3).

The figures of the constraints are the core's (`records.MAX_LENGTHS`), and so is the last word on every text: lengths
count in code points after normalisation, which no schema can say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

import attrs
import msgspec
from msgspec import UNSET, Meta, UnsetType

from awareness_core.absent import ABSENT, Absent
from awareness_core.employees import Action, EmployeeRecord
from awareness_core.errors import ValidationFailed
from awareness_core.invitations import InvitationResult, InvitationStatus, Reason
from awareness_core.records import MAX_LENGTHS, RawEmployee, UnchangedPerson, check_record
from awareness_core.sync_plan import SyncError, SyncItem, SyncWarning
from awareness_http.typed_reader import Taken
from awareness_http.wire.counting import SyncSummary
from awareness_http.wire.refusals import ErrorDetail

FIELD_NAMES: Final[Mapping[str, str]] = {
    "email": "email",
    "last_name": "nom",
    "first_name": "prenom",
    "external_id": "external_id",
    "job_title": "fonction",
    "phone": "telephone",
    "address": "adresse",
    "sector_name": "secteur",
    "sector_id": "secteur_id",
    "active": "active",
}
"""The core's name of each field of a record, and the reference's."""

_SKIPPED = Action.SKIPPED.value
_CLEARS = "Absent leaves what is stored; null or an empty text clears it."


def _shown(description: str, example: str) -> Meta:
    return Meta(description=description, examples=[example])


@attrs.frozen(kw_only=True, slots=False)
class EmployeeFields:
    """One person to create, update or archive. Texts are trimmed; lengths count in code points after NFC."""

    email: Annotated[
        str,
        Meta(
            max_length=MAX_LENGTHS["email"],
            description="An address that mail can be sent to.",
            examples=["camille.durand@example.com"],
            extra_json_schema={"format": "email"},
        ),
    ]
    nom: Annotated[
        str,
        Meta(
            min_length=1, max_length=MAX_LENGTHS["last_name"], description="Last name.", examples=["Durand"]
        ),
    ]
    prenom: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_LENGTHS["first_name"],
            description="First name.",
            examples=["Camille"],
        ),
    ]
    external_id: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["external_id"])] | UnsetType | None,
        _shown(
            "The identifier in your own system. It finds the person first, so that an address may change; "
            "it is never cleared, null means absent.",
            "RH-00042",
        ),
    ] = UNSET
    fonction: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["job_title"])] | UnsetType | None,
        _shown(f"Job title. {_CLEARS}", "Comptable"),
    ] = UNSET
    telephone: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["phone"])] | UnsetType | None,
        _shown(f"Phone. {_CLEARS}", "+33 1 23 45 67 89"),
    ] = UNSET
    adresse: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["address"])] | UnsetType | None,
        _shown(f"Address. {_CLEARS}", "1 rue de la Paix, 75002 Paris"),
    ] = UNSET
    secteur: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["sector_name"])] | UnsetType | None,
        _shown("The sector by name; created when there is none of that name.", "Finance"),
    ] = UNSET
    secteur_id: Annotated[
        Annotated[str, Meta(max_length=MAX_LENGTHS["sector_id"])] | int | UnsetType | None,
        _shown("The sector by id, instead of by name; the integer and its text mean the same.", "12"),
    ] = UNSET
    active: Annotated[
        bool | UnsetType | None,
        Meta(description="false archives the person, true brings an archived one back. null means absent."),
    ] = UNSET


@attrs.frozen(kw_only=True, slots=False)
class EmployeeBody(EmployeeFields):
    """One person, and what to do beside."""

    send_invitation: Annotated[
        bool, Meta(description="Mail the person access, with a temporary password, at once.")
    ] = False
    dry_run: Annotated[
        bool, Meta(description="Only tell what would happen: nothing is written or mailed.")
    ] = False


@attrs.frozen(kw_only=True, slots=False)
class SyncResultItem:
    """What became of one record."""

    external_id: str | None
    email: str
    action: Action
    id: Annotated[
        str | UnsetType, Meta(description="Absent when there is no such person, as for most `failed` ones.")
    ] = UNSET
    error: Annotated[SyncError | UnsetType, Meta(description="With `failed` only: why.")] = UNSET
    warning: Annotated[
        SyncWarning | UnsetType, Meta(description="What to know of a record that did not fail.")
    ] = UNSET
    planned: Annotated[
        bool | UnsetType, Meta(description="In a dry run only, and then true: nothing was written.")
    ] = UNSET
    details: Annotated[
        list[ErrorDetail] | UnsetType,
        Meta(description="With the error `validation_error` only: everything that is wrong with the record."),
    ] = UNSET


class SyncDone(msgspec.Struct, gc=False):
    """A `SyncResultItem` of a record that met nothing to be told of, encoded several times as fast."""

    external_id: str | None
    email: str
    action: str
    id: str


@attrs.frozen(kw_only=True, slots=False)
class InvitationOutcome:
    """What became of the invitation of that one person."""

    status: InvitationStatus
    code: Annotated[Reason | UnsetType, Meta(description="Why, unless the person was invited.")] = UNSET


@attrs.frozen(kw_only=True, slots=False)
class ProvisioningAnswer:
    """What `POST /employees` and its like answer."""

    ok: Annotated[
        bool, Meta(description="false when the record or its invitation failed; the status is 200 still.")
    ]
    employee: SyncResultItem
    summary: SyncSummary
    invitation: Annotated[
        InvitationOutcome | UnsetType,
        Meta(description="With `send_invitation` only, and not when the record failed."),
    ] = UNSET


@attrs.frozen(kw_only=True)
class EmployeeOrder:
    """An `EmployeeBody` that was found good: the core's record, and what to do with it."""

    record: EmployeeRecord
    send_invitation: bool
    dry_run: bool


def read_order(taken: Taken) -> EmployeeOrder:
    """The order that a body makes. Raises `ValidationFailed` with every fault, each field's once."""
    fields = taken.fields
    return EmployeeOrder(
        record=read_record(taken),
        send_invitation=fields.get("send_invitation") is True,
        dry_run=fields.get("dry_run") is True,
    )


def read_record(taken: Taken, *, fingerprint: bytes | None = None) -> EmployeeRecord:
    """The record among what was read. Raises `ValidationFailed` with every fault, each field's once."""
    fields = taken.fields
    raw = RawEmployee(
        email=_given(fields, "email", "a@example.com"),
        last_name=_given(fields, "nom", "-"),
        first_name=_given(fields, "prenom", "-"),
        external_id=_optional(fields, "external_id"),
        job_title=_optional(fields, "fonction"),
        phone=_optional(fields, "telephone"),
        address=_optional(fields, "adresse"),
        sector_name=_optional(fields, "secteur"),
        sector_id=_optional(fields, "secteur_id"),
        active=_truth(fields.get("active")),
    )
    try:
        record = check_record(raw, names=FIELD_NAMES, fingerprint=fingerprint)
    except ValidationFailed as refusal:
        # What could not be read was left out or replaced by something good, so no field is told of twice.
        raise ValidationFailed([*taken.faults, *refusal.faults]) from None
    if taken.faults:
        raise ValidationFailed(taken.faults)
    return record


def spell_line(item: SyncItem | UnchangedPerson, *, dry_run: bool) -> SyncResultItem | SyncDone:
    """One of a hundred thousand lines of an answer."""
    if isinstance(item, UnchangedPerson):
        if not dry_run:
            return SyncDone(item.external_id, item.email, _SKIPPED, item.id)
        item = SyncItem(external_id=item.external_id, email=item.email, action=Action.SKIPPED, id=item.id)
    if item.error is None and item.warning is None and item.id is not None and not dry_run:
        return SyncDone(item.external_id, item.email, item.action.value, item.id)
    return spell_item(item, dry_run=dry_run)


def spell_item(item: SyncItem, *, dry_run: bool) -> SyncResultItem:
    """One line of an answer. Who would only be created in a dry run has no id that could be used."""
    has_id = item.id is not None and not (dry_run and item.action is Action.CREATED)
    return SyncResultItem(
        external_id=item.external_id,
        email=item.email,
        action=item.action,
        id=str(item.id) if has_id else UNSET,
        error=item.error or UNSET,
        warning=item.warning or UNSET,
        planned=dry_run or UNSET,
        details=[
            ErrorDetail(field=fault.field, message=fault.message, code=fault.code) for fault in item.faults
        ]
        or UNSET,
    )


def spell_outcome(result: InvitationResult) -> InvitationOutcome:
    """What became of the invitation of the one person a call was about."""
    return InvitationOutcome(status=result.status, code=result.code or UNSET)


def _given(fields: Mapping[str, object], name: str, stand_in: str) -> str:
    value = fields.get(name, stand_in)
    return value if isinstance(value, str) else stand_in


def _optional(fields: Mapping[str, object], name: str) -> str | Absent | None:
    value = fields.get(name, ABSENT)
    if value is ABSENT or value is None:
        return value
    return str(value)


def _truth(value: object) -> bool | Absent:
    return value if isinstance(value, bool) else ABSENT
