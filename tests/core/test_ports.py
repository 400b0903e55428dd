"""No adapter may talk to a network while a store's transaction is open."""

from __future__ import annotations

import contextvars

import pytest

from awareness_core.ports import inside_transaction, refuse_inside_transaction


def test_outside_a_transaction_a_network_call_is_fine() -> None:
    refuse_inside_transaction()


def test_inside_a_transaction_a_network_call_is_refused() -> None:
    with (
        inside_transaction(),
        pytest.raises(RuntimeError, match=r"^a network call was made while a store transaction was open$"),
    ):
        refuse_inside_transaction()


def test_after_a_transaction_a_network_call_is_fine_again_even_when_it_failed() -> None:
    with pytest.raises(LookupError), inside_transaction():
        raise LookupError

    refuse_inside_transaction()


def test_a_transaction_inside_another_leaves_the_outer_one_open() -> None:
    with inside_transaction():
        with inside_transaction():
            pass
        with pytest.raises(RuntimeError):
            refuse_inside_transaction()


def test_a_transaction_of_one_task_does_not_hinder_another() -> None:
    elsewhere = contextvars.copy_context()
    with inside_transaction():
        elsewhere.run(refuse_inside_transaction)
