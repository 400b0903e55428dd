"""Invitations outlive whatever dies: the short run. `make kill` is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.killing import Plan, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("store", "restarts"), [("sqlite", 0), ("postgres", 3)])
def test_nobody_invited_is_lost_whoever_is_killed(store: str, restarts: int, tmp_path: Path) -> None:
    plan = Plan(store=store, people=60, kills=16, restarts=restarts, seed=7)
    figures = run(plan, tmp_path)
    print(figures)

    assert figures.is_good
    assert (plan.people, plan.people) == (figures.awaiting, figures.mailed)
    assert plan.kills <= figures.kills["api"] + figures.kills["worker"]
    assert restarts == figures.kills.get("database", 0)
