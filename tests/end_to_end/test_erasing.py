"""Erasing through the command line: asked for on a terminal, never without being meant, and gone from the file."""

from __future__ import annotations

import os
import pty
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.in_process import InProcess
from tests.end_to_end.installed import PROGRAM, Installation

ROSTER = "Nom,Prénom,E-mail,Matricule\nQvornemzak,Ada,zyxgone@example.com,7\nHopper,Grace,g@example.com,8\n"

LEAVERS = "Nom,Prénom,E-mail,Matricule,Actif\nQvornemzak,Ada,zyxgone@example.com,7,Non\n"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("erasing")
    installation = Installation(folder)
    installation.must("migrate")
    installation.must("company", "create", "Example")
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    installation.must("employees", "import", "roster.csv", "--company", "Example")
    return folder


@pytest.fixture
def directory(tmp_path: Path, template: Path) -> Installation:
    return InProcess(Path(shutil.copytree(template, tmp_path / "erasing")))


def ids_of(directory: Installation) -> dict[str, str]:
    listed = directory.must("employees", "list", "--company", "Example")
    return {person["external_id"]: person["id"] for person in listed["data"]}


def on_a_terminal(directory: Installation, name: str, typed: str) -> tuple[int, str]:
    """What it ended with, and what stood on the terminal."""
    master, slave = pty.openpty()
    command = [str(PROGRAM), "employees", "erase", name, "--company", "Example"]
    with subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=directory.folder,
        env=directory.environment,
        close_fds=True,
    ) as process:
        os.close(slave)
        os.write(master, typed.encode())
        shown = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(master)
    return process.returncode, shown.decode()


def test_somebody_is_erased_from_the_list_and_from_the_file(directory: Installation) -> None:
    ada = ids_of(directory)["7"]
    assert b"Qvornemzak" in (directory.folder / "awareness.db").read_bytes()
    erased = directory.must("employees", "erase", ada, "--company", "Example", "--yes")
    again = directory.run("employees", "erase", ada, "--company", "Example", "--yes")

    assert {"ok": True, "id": ada} == erased
    assert ["8"] == list(ids_of(directory))
    kept = b"".join(file.read_bytes() for file in directory.folder.glob("awareness.db*")).lower()
    assert [] == [needle for needle in (b"qvornemzak", b"zyxgone") if needle in kept]
    assert (1, "") == (again.code, again.out)
    assert f"has no employee '{ada}'" in again.err


def test_without_a_terminal_nobody_is_erased_unless_it_is_said_to_be_meant(directory: Installation) -> None:
    refused = directory.run("employees", "erase", ids_of(directory)["7"], "--company", "Example")

    assert (2, "") == (refused.code, refused.out)
    assert "add --yes" in refused.err
    assert ["7", "8"] == list(ids_of(directory))


@pytest.mark.parametrize(("typed", "code", "left"), [("yes\n", 0, ["8"]), ("y\n", 1, ["7", "8"])])
def test_on_a_terminal_it_is_asked_who_is_meant(
    directory: Installation, typed: str, code: int, left: list[str]
) -> None:
    ended, shown = on_a_terminal(directory, ids_of(directory)["7"], typed)

    assert code == ended
    assert "Ada Qvornemzak <zyxgone@example.com> of Example" in shown
    assert left == list(ids_of(directory))


def test_who_left_is_erased_when_told_to_after_so_many_days(directory: Installation) -> None:
    """Nobody in here left long ago, so that nobody is due; what is to be said must be said all the same."""
    purge = ("employees", "purge", "--company", "Example")
    silent = directory.run(*purge)
    both = directory.run(*purge, "--all", "--days", "1")
    none_due = directory.must(*purge, "--days", "1")
    by_setting = directory.run(*purge, "--dry-run", env={"AWARENESS_RETENTION_ARCHIVED_DAYS": "30"})

    assert (2, 2) == (silent.code, both.code)
    assert "retention_archived_days" in silent.err
    assert [{"name": "Example", "people": 0}] == [
        {"name": one["name"], "people": one["people"]} for one in none_due["companies"]
    ]
    assert 0 == by_setting.code
    assert "0 people would be erased" in by_setting.err


def test_the_worker_erases_by_itself_who_left_long_ago(directory: Installation) -> None:
    (directory.folder / "left.csv").write_text(LEAVERS, encoding="utf-8")
    directory.must("employees", "import", "left.csv", "--company", "Example")
    with sqlite3.connect(directory.folder / "awareness.db") as database:
        database.execute(
            "UPDATE employees SET archived_at = archived_at - 86400000 * 3 WHERE state = 'archived'"
        )
    database.close()
    waiting = directory.must("employees", "purge", "--all", "--days", "2", "--dry-run")
    refused = directory.run("employees", "purge", "--all", "--days", "2")
    settings = {"AWARENESS_RETENTION_ARCHIVED_DAYS": "2", "AWARENESS_LOG_FORMAT": "json"}
    worker = directory.start("worker", env=settings)
    try:
        purged = worker.wait_for_event("archived_purged")
    finally:
        worker.kill()

    assert [1] == [one["people"] for one in waiting["companies"]]
    assert 2 == refused.code
    assert "add --yes" in refused.err
    assert 1 == purged["erased"]
    assert ["8"] == list(ids_of(directory))
