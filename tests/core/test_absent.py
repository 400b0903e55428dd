"""Not sent is not the same as sent empty."""

from __future__ import annotations

import copy
import pickle

from awareness_core.absent import ABSENT


def test_absent_is_neither_true_nor_none() -> None:
    assert not ABSENT
    assert ABSENT is not None


def test_absent_survives_copies_as_itself() -> None:
    assert copy.deepcopy(ABSENT) is ABSENT
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT


def test_absent_reads_as_its_name() -> None:
    assert "ABSENT" == repr(ABSENT)
