"""Errands to a provider and back: what is derived from a ticket, and for how long it is good."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.sessions import TOKEN_BYTES, spell_token
from awareness_core.sign_ins import ERRAND, Ticket, is_own_ticket, read_ticket, spell_ticket
from awareness_core.tenants import CompanyId
from tests.contracts.storages import NOW

TOKENS = st.binary(min_size=TOKEN_BYTES, max_size=TOKEN_BYTES).map(spell_token)
TICKET = Ticket(token=spell_token(bytes(TOKEN_BYTES)), company_id=CompanyId("acme"), issued_at=NOW)


@given(TOKENS, st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=9000)))
def test_a_ticket_comes_back_as_it_was_spelt(token: str, later: timedelta) -> None:
    moment = NOW + timedelta(seconds=later // timedelta(seconds=1))
    ticket = attrs.evolve(TICKET, token=token, issued_at=moment)
    spelt = spell_ticket(ticket)

    assert ticket == read_ticket(spelt)
    assert spelt.isascii()
    assert not set(spelt) & set(' ",;\\')


@given(st.text())
# So many milliseconds are in a year of five figures, which no calendar here has.
@example("9" * 15)
@example("9" * 16)
def test_whatever_a_cookie_holds_is_a_ticket_or_none(text: str) -> None:
    for tried in (text, f"a.{text}.b", f"a.1.{text}"):
        found = read_ticket(tried)

        assert found is None or len(found.state) == len(found.code_verifier) == 43


@given(TOKENS, TOKENS)
def test_what_a_provider_is_given_tells_nothing_of_the_ticket_or_of_each_other(one: str, other: str) -> None:
    tickets = [attrs.evolve(TICKET, token=token) for token in (one, other)]
    derived = [{ticket.state, ticket.nonce, ticket.code_verifier} for ticket in tickets]

    assert [3, 3] == [len(found) for found in derived]
    assert (one == other) == bool(derived[0] & derived[1])
    assert one not in derived[0]


@pytest.mark.parametrize(
    ("after", "is_in_time"),
    [
        (timedelta(0), True),
        (ERRAND - timedelta(milliseconds=1), True),
        (ERRAND, False),
        (timedelta(milliseconds=-1), False),
    ],
)
def test_one_is_back_within_ten_minutes_with_the_state_that_one_set_out_with(
    after: timedelta, *, is_in_time: bool
) -> None:
    assert is_in_time == is_own_ticket(TICKET, TICKET.state, now=NOW + after)
    for state in ("", TICKET.nonce, TICKET.state + "x", "é\ud800"):
        assert not is_own_ticket(TICKET, state, now=NOW + after)
