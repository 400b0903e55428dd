"""When a session opens what: tokens, ends, and who is behind it."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.employees import Employee, archive, log_in_first
from awareness_core.sessions import (
    CHOOSING,
    TOKEN_BYTES,
    Session,
    SessionPolicy,
    account_subject,
    admits,
    begin_choosing,
    begin_session,
    digest_token,
    form_token,
    is_from_form,
    is_over,
    spell_token,
    use_is_worth_noting,
)
from tests.contracts.storages import ACME, NOW, person

ANNA = person(1)
POLICY = SessionPolicy(idle=timedelta(hours=1), lifetime=timedelta(hours=12))
DIGEST = digest_token("x")
TOKENS = st.binary(min_size=TOKEN_BYTES, max_size=TOKEN_BYTES).map(spell_token)
MOMENTS = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=3))


@given(TOKENS, TOKENS)
def test_tokens_are_fit_for_a_cookie_and_tell_nothing_of_what_is_kept(one: str, other: str) -> None:
    derived = {digest_token(one), form_token(one)}

    assert one.isascii()
    assert all(sign.isalnum() or sign in "-_" for sign in one)
    assert 2 == len(derived)
    assert one not in derived
    assert (
        (one == other) == (digest_token(one) == digest_token(other)) == (form_token(one) == form_token(other))
    )


@pytest.mark.parametrize("length", [0, TOKEN_BYTES - 1, TOKEN_BYTES + 1])
def test_a_token_of_fewer_or_more_random_bytes_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="32 random bytes"):
        spell_token(bytes(length))


@given(TOKENS, st.text())
def test_a_form_is_from_its_session_only(token: str, other: str) -> None:
    assert is_from_form(form_token(token), token)
    assert not is_from_form(other, token)
    assert not is_from_form(form_token(other + "x"), token)


@given(st.text(), st.text())
def test_a_cookie_may_hold_anything(token: str, sent: str) -> None:
    assert 64 == len(digest_token(token + "\ud800"))
    assert not is_from_form(sent, token)


@given(since=MOMENTS, seen=MOMENTS)
def test_a_session_is_over_when_idle_and_at_its_end_at_the_latest(since: timedelta, seen: timedelta) -> None:
    session = attrs.evolve(begin_session(DIGEST, ANNA.id, policy=POLICY, now=NOW), seen_at=NOW + seen)
    expected = since >= POLICY.lifetime or since >= seen + POLICY.idle

    assert expected == is_over(session, policy=POLICY, now=NOW + since)


@given(until=MOMENTS)
def test_one_may_choose_for_half_an_hour_and_no_longer_than_the_password_is_good(until: timedelta) -> None:
    session = begin_choosing(DIGEST, ANNA.id, until=NOW + until, now=NOW)

    assert session.must_choose
    assert NOW + min(until, CHOOSING) == session.expires_at


@given(MOMENTS, st.sampled_from([timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)]))
def test_uses_are_noted_often_enough_that_nobody_who_is_there_is_logged_out(
    since: timedelta, idle: timedelta
) -> None:
    session = begin_session(DIGEST, ANNA.id, policy=POLICY, now=NOW)
    is_noted = use_is_worth_noting(session, policy=attrs.evolve(POLICY, idle=idle), now=NOW + since)

    assert is_noted or since < idle / 10 or since < timedelta(minutes=1)
    assert not is_noted or since >= min(timedelta(minutes=1), idle / 10)


def _choosing(owner: Employee) -> Session:
    return begin_choosing(DIGEST, owner.id, until=NOW + timedelta(days=1), now=NOW)


def _whole(owner: Employee) -> Session:
    return begin_session(DIGEST, owner.id, policy=POLICY, now=NOW)


INSIDE = log_in_first(ANNA, now=NOW)
SSO = attrs.evolve(INSIDE, email=person(1, email="anna@sso.example").email)


@pytest.mark.parametrize(
    ("owner", "choosing", "whole"),
    [
        (ANNA, True, False),
        (INSIDE, False, True),
        (archive(ANNA, now=NOW), False, False),
        (archive(INSIDE, now=NOW), False, False),
        (attrs.evolve(archive(INSIDE, now=NOW), has_password=True), False, False),
        (SSO, False, False),
        (attrs.evolve(SSO, has_password=False, first_login_at=None), False, False),
    ],
    ids=["awaiting", "inside", "archived", "archived inside", "archived with password", "sso", "new sso"],
)
def test_a_session_opens_what_the_persons_access_says_now(
    owner: Employee, *, choosing: bool, whole: bool
) -> None:
    assert [choosing, whole] == [admits(one, owner, ACME) for one in (_choosing(owner), _whole(owner))]


def test_a_session_that_began_at_a_provider_opens_for_sso_and_no_other_access() -> None:
    sent = attrs.evolve(_whole(ANNA), is_sso=True)
    grace = attrs.evolve(person(1, email="grace@sso.example"), first_login_at=NOW)
    inside = log_in_first(ANNA, now=NOW)

    assert [True, False, False, False] == [
        admits(sent, one, ACME) for one in (grace, archive(grace, now=NOW), inside, ANNA)
    ]
    assert not admits(_whole(grace), grace, ACME)


def test_attempts_are_counted_by_mailbox_and_not_by_its_name() -> None:
    subjects = {account_subject(person(1, email=text).email) for text in ("A@acme.example", "a@ACME.example")}

    assert 1 == len(subjects)
    assert "acme" not in subjects.pop()


def test_nothing_of_a_session_shows_its_token() -> None:
    token = spell_token(bytes(32))

    assert token not in repr(begin_session(digest_token(token), ANNA.id, policy=POLICY, now=NOW))
