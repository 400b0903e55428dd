"""Letting somebody begin anew who forgot their password, through the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from awareness_core.employees import EmployeeId
from awareness_core.tenants import CompanyId
from awareness_core.use_cases.record_first_login import record_first_login
from awareness_server.settings import Settings
from awareness_server.wiring import build_ports
from tests.end_to_end.rosters import Directory

ROSTER = "Nom,Prénom,E-mail,Matricule\nLovelace,Ada,ada@example.com,7\nHopper,Grace,grace@example.com,8\n"


@pytest.fixture
def directory(tmp_path: Path, template: Path) -> Iterator[Directory]:
    found = Directory(tmp_path, template, mail_folder=str(tmp_path / "mails"))
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    found.import_file(tmp_path / "roster.csv")
    yield found
    found.close()


def listed(directory: Directory, external_id: str = "7") -> tuple[EmployeeId, str]:
    """Who that is, and how they get in."""
    (person,) = directory.json("list", "--external-id", external_id)["data"]
    return EmployeeId(person["id"]), person["access"]


def let_in(directory: Directory, folder: Path) -> EmployeeId:
    """Ada, who chose a password."""
    (company,) = directory.installation.must("company", "list")["data"]
    ada, _ = listed(directory)

    async def note() -> None:
        built = build_ports(Settings(database_url=f"sqlite:///{folder}/awareness.db"))
        try:
            await record_first_login(built.ports, CompanyId(company["id"]), ada)
        finally:
            await built.close()

    asyncio.run(note())
    return ada


@pytest.mark.parametrize("by", ["id", "--email", "--external-id"])
def test_somebody_awaits_access_again_and_is_mailed_a_password(
    directory: Directory, tmp_path: Path, by: str
) -> None:
    ada = let_in(directory, tmp_path)
    whom = {"id": (ada,), "--email": (by, "Ada@example.com"), "--external-id": (by, "7")}[by]
    before = listed(directory)
    skipped = directory.json("invite", ada)["results"][0]["code"]
    report = directory.json("reset-access", *whom, "--invite")

    assert ((ada, "logged_in"), "already_logged_in") == (before, skipped)
    assert {
        "id": ada,
        "email": "ada@example.com",
        "was_reset": True,
        "invitation": {"status": "invited", "code": None},
    } == report
    assert (ada, "awaiting_access") == listed(directory)
    assert 1 == len(list((tmp_path / "mails").glob("*.eml")))


def test_a_second_mail_within_a_quarter_of_an_hour_is_told_as_not_sent(
    directory: Directory, tmp_path: Path
) -> None:
    let_in(directory, tmp_path)
    first = directory.run("reset-access", "--email", "ada@example.com")
    mailed = directory.run("reset-access", "--email", "ada@example.com", "--invite")
    again = directory.run("reset-access", "--email", "ada@example.com", "--invite")

    assert [0, 0, 3] == [done.code for done in (first, mailed, again)]
    assert "awaits access again" in first.err
    assert "was mailed" in mailed.err
    assert "recently invited" in again.err


def test_who_it_is_has_to_be_said_and_known(directory: Directory) -> None:
    ada, _ = listed(directory)
    wrong = [(), (ada, "--email", "ada@example.com"), ("--email", "nonsense")]
    unknown = [("--email", "x@example.com"), ("--external-id", "9"), ("nobody",)]

    assert [2, 2, 2] == [directory.run("reset-access", *whom).code for whom in wrong]
    assert [1, 1, 1] == [directory.run("reset-access", *whom).code for whom in unknown]


def test_nothing_is_reset_where_no_mail_could_follow(tmp_path: Path, template: Path) -> None:
    directory = Directory(tmp_path, template)
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    directory.import_file(tmp_path / "roster.csv")
    ada = let_in(directory, tmp_path)
    done = directory.run("reset-access", ada, "--invite")
    directory.close()

    assert 78 == done.code
    assert "nothing was changed" in done.err
    assert (ada, "logged_in") == listed(directory)
