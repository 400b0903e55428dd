"""What a refusal tells: a stable code, and a message that names the field and hides nothing but secrets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from awareness_core import errors
from awareness_core.errors import (
    MAX_FAULTS,
    ApiKeyInvalid,
    AwarenessError,
    Fault,
    InsufficientScope,
    MassDeactivationBlocked,
    RateLimitExceeded,
    ValidationFailed,
)

FAULTS = st.builds(
    Fault,
    field=st.sampled_from(("", "employees[3].email")),
    message=st.just("is wrong"),
    code=st.just("wrong"),
)

CODES = {
    "AwarenessError": "INTERNAL_ERROR",
    "ValidationFailed": "VALIDATION_ERROR",
    "ApiKeyInvalid": "API_KEY_INVALID",
    "InsufficientScope": "INSUFFICIENT_SCOPE",
    "NotFound": "NOT_FOUND",
    "Conflict": "CONFLICT",
    "ConstraintViolated": "CONFLICT",
    "StillRunning": "CONFLICT",
    "IdempotencyKeyReused": "IDEMPOTENCY_KEY_REUSED",
    "MassDeactivationBlocked": "MASS_DEACTIVATION_BLOCKED",
    "RateLimitExceeded": "RATE_LIMIT_EXCEEDED",
    "StoreUnavailable": "SERVICE_UNAVAILABLE",
    "HasherBusy": "SERVICE_UNAVAILABLE",
    "SignatureInvalid": "SIGNATURE_INVALID",
    "SourceUnavailable": "SOURCE_UNAVAILABLE",
    "ProviderUnavailable": "SERVICE_UNAVAILABLE",
    "SignInUnproven": "SERVICE_UNAVAILABLE",
}
"""As the HTTP contract spells them."""


def test_every_refusal_has_the_code_of_the_contract() -> None:
    refusals = {
        name: kind.code
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, AwarenessError)
    }

    assert CODES == refusals


@given(st.lists(FAULTS, max_size=2 * MAX_FAULTS + 1))
def test_no_more_faults_are_told_than_can_be_read_and_the_first_ones_are(faults: list[Fault]) -> None:
    assert tuple(faults[:100]) == ValidationFailed(faults).faults


@given(st.lists(FAULTS))
def test_faults_may_come_from_any_iterable(faults: list[Fault]) -> None:
    assert ValidationFailed(faults).faults == ValidationFailed(iter(faults)).faults


def test_the_summary_of_one_fault_names_its_field() -> None:
    refusal = ValidationFailed([Fault(field="email", message="is wrong", code="wrong")])

    assert "email: is wrong" == refusal.message == str(refusal)


def test_the_summary_of_many_faults_counts_the_others() -> None:
    faults = [Fault(field="email", message="is wrong", code="wrong")] * 3

    assert "email: is wrong (and 2 more faults)" == ValidationFailed(faults).message


def test_the_summary_of_two_faults_counts_the_other() -> None:
    faults = [Fault(field="email", message="is wrong", code="wrong")] * 2

    assert "email: is wrong (and 1 more fault)" == ValidationFailed(faults).message


def test_a_fault_of_the_whole_input_has_no_field_to_name() -> None:
    assert "is wrong" == ValidationFailed([Fault(field="", message="is wrong", code="wrong")]).message


def test_a_refusal_without_faults_still_says_something() -> None:
    assert "The input is not valid." == ValidationFailed([]).message


def test_a_refused_key_is_told_how_to_send_one_and_nothing_else() -> None:
    assert (
        "The API key is missing or not valid. Send it as 'Authorization: Bearer <key>'."
        == ApiKeyInvalid().message
    )


def test_a_missing_scope_is_named() -> None:
    refusal = InsufficientScope("read:results")

    assert "read:results" == refusal.required
    assert (
        "This operation requires the scope 'read:results', which this API key does not hold."
        == refusal.message
    )


def test_a_blocked_sync_says_the_number_that_would_confirm_it() -> None:
    refusal = MassDeactivationBlocked(planned=40, active=200, summary={"deactivated": 40})

    assert (40, 200, {"deactivated": 40}) == (refusal.planned, refusal.active, refusal.summary)
    assert "would archive 40 of 200 active employees" in refusal.message
    assert "the exact number, 40, as confirmation" in refusal.message


def test_a_used_up_quota_says_when_to_come_back() -> None:
    refusal = RateLimitExceeded(limit=600, window_seconds=900, retry_after=7)

    assert 7 == refusal.retry_after
    assert "More than 600 requests in 900 seconds. Try again in 7 seconds." == refusal.message
