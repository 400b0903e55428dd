"""The one body of every error (reference 2.8), as the OpenAPI shows it."""

from __future__ import annotations

from typing import Annotated

import attrs
from msgspec import UNSET, Meta, UnsetType

from awareness_http.wire.counting import SyncSummary


@attrs.frozen(kw_only=True, slots=False)
class ErrorDetail:
    """One thing that is wrong with one field or parameter."""

    field: Annotated[
        str,
        Meta(description="Where, as it was sent; empty for the whole body.", examples=["employee_ids[3]"]),
    ]
    message: Annotated[
        str, Meta(description="What is wrong and what would be right. For people; may change.")
    ]
    code: Annotated[str, Meta(description="Stable.", examples=["too_long", "unknown_field"])]


@attrs.frozen(kw_only=True, slots=False)
class ErrorResponse:
    """The body of every answer that is no success."""

    message: Annotated[str, Meta(description="For people; may change.")]
    code: Annotated[str, Meta(description="Stable; what programs look at.")]
    details: Annotated[
        list[ErrorDetail] | UnsetType,
        Meta(description="With `VALIDATION_ERROR` only: everything that is wrong, at most 100 things."),
    ] = UNSET
    planned_deactivations: Annotated[
        int | UnsetType,
        Meta(description="With `MASS_DEACTIVATION_BLOCKED` only: the number that confirms."),
    ] = UNSET
    summary: Annotated[
        SyncSummary | UnsetType,
        Meta(description="With `MASS_DEACTIVATION_BLOCKED` only: what the sync would have done."),
    ] = UNSET
