"""Listing and inviting the people of an imported roster, through the command line, with mails in a folder."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.installed import PROGRAM
from tests.end_to_end.rosters import EXPORTS, Directory

FRENCH = EXPORTS[0]


@pytest.fixture
def directory(tmp_path: Path, template: Path) -> Iterator[Directory]:
    found = Directory(tmp_path, template, mail_folder=str(tmp_path / "mails"))
    yield found
    found.close()


def mails(folder: Path) -> list[str]:
    """To whom each mail went."""
    return [
        line.removeprefix("To: ")
        for path in sorted(folder.glob("*.eml"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("To: ")
    ]


def many(directory: Directory, folder: Path, count: int) -> None:
    path = folder / "many.csv"
    lines = "".join(f"N{n};P;p{n}@example.com;{n}\n" for n in range(count))
    path.write_text(f"Nom;Prénom;E-mail;Matricule\n{lines}", encoding="utf-8")
    directory.import_file(path)


def ids_of(directory: Directory) -> dict[str, str]:
    return {
        person["external_id"]: person["id"] for person in directory.json("list", "--limit", "100")["data"]
    }


# Listing


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--state", "archived"), {"00590", "00838"}),
        (("--sector", "qualité"), {"00518", "00715", "00799"}),
        (("--search", "MARTIN"), {"00561", "00562"}),
        (("--search", "ndiaye@"), {"00502"}),
        (("--email", "Camille.Faure@fonderies-morvan.example"), {"00652"}),
        (("--external-id", "00417"), {"00417"}),
        (("--access", "logged_in"), set()),
        (("--access", "awaiting_access", "--sector", "Talents et culture"), {"00502", "00533", "00733"}),
        (("--page", "9"), set()),
    ],
)
def test_a_listing_is_narrowed_by_each_filter(
    directory: Directory, flags: tuple[str, ...], expected: set[str]
) -> None:
    directory.import_file(FRENCH.march)
    directory.import_file(FRENCH.april)

    assert expected == {person["external_id"] for person in directory.json("list", *flags)["data"]}


def test_a_sector_that_is_not_there_is_told_with_those_that_are(directory: Directory) -> None:
    directory.import_file(FRENCH.march)
    done = directory.run("list", "--sector", "Cuisine")

    assert 1 == done.code
    assert "there is no sector 'Cuisine'; there are 'Direction générale', 'Ressources humaines'" in done.err


def test_an_empty_directory_says_what_to_do(directory: Directory) -> None:
    done = directory.run("list")

    assert 0 == done.code
    assert "awareness employees import FILE --company 'Acme'" in done.err


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (50, ["PERSON"]),
        (60, ["PERSON"]),
        (80, ["ID", "PERSON"]),
        (120, ["ID", "NAME", "E-MAIL", "EXTERNAL ID", "SECTOR", "STATUS"]),
        (160, ["ID", "NAME", "E-MAIL", "EXTERNAL ID", "SECTOR", "STATUS"]),
    ],
)
def test_a_table_fits_the_terminal_and_breaks_no_id_and_no_address(
    directory: Directory, width: int, columns: list[str]
) -> None:
    directory.import_file(FRENCH.march)
    people = directory.people()

    printed = _on_terminal(directory, width, "list", "--limit", "100")
    words = set(printed.split())

    assert columns == re.split(r" {2,}", printed.splitlines()[0].strip())
    assert max(map(len, printed.splitlines())) <= width
    assert [] == [person["id"] for person in people if person["id"] not in words]
    assert [] == [person["email"] for person in people if not _is_whole(person["email"], words)]


# Inviting


def test_a_hundred_are_mailed_a_call_and_everyone_once(directory: Directory, tmp_path: Path) -> None:
    many(directory, tmp_path, 130)
    first = directory.run("invite", "--all")
    second, third = (directory.json("invite", "--all")["summary"] for _ in range(2))
    written = mails(tmp_path / "mails")

    assert 0 == first.code
    assert "130 people considered: 100 invited, 0 skipped, 0 failed." in first.out
    assert "some are left: run it again for them, or with --until-done" in first.err
    assert (30, False) == (second["invited"], second["truncated"])
    assert (0, 0, False) == (third["total"], third["invited"], third["truncated"])
    assert 130 == len(written) == len(set(written))


def test_until_done_mails_everyone_in_one_go(directory: Directory, tmp_path: Path) -> None:
    many(directory, tmp_path, 230)
    report = directory.json("invite", "--all", "--until-done")

    assert (230, 230, False) == (
        report["summary"]["total"],
        report["summary"]["invited"],
        report["summary"]["truncated"],
    )
    assert 230 == len(report["results"]) == len(set(mails(tmp_path / "mails")))


def test_chosen_people_are_invited_and_each_other_one_says_why_not(
    directory: Directory, tmp_path: Path
) -> None:
    directory.import_file(FRENCH.march)
    directory.import_file(FRENCH.april)
    ids = ids_of(directory)
    report = directory.json("invite", ids["00417"], ids["00590"], "unknown", ids["00417"])

    assert [
        ("invited", None),
        ("skipped", "archived"),
        ("skipped", "not_found"),
        ("skipped", "duplicate"),
    ] == [(result["status"], result.get("code")) for result in report["results"]]
    assert "selection" == report["summary"]["mode"]
    assert 1 == len(mails(tmp_path / "mails"))


def test_a_mail_that_is_not_taken_ends_with_partial_and_is_named(
    directory: Directory, tmp_path: Path
) -> None:
    many(directory, tmp_path, 2)
    (tmp_path / "mails").write_text("in the way of the folder", encoding="utf-8")
    done = directory.run("invite", "--all")

    assert 3 == done.code
    assert 2 == done.out.count("failed  delivery failed") or 2 == len(
        re.findall(r"failed\s+delivery failed", done.out)
    )
    assert "2 people considered: 0 invited, 0 skipped, 2 failed." in done.out


@pytest.mark.parametrize("flags", [(), ("--all", "some-id"), ("some-id", "--until-done"), ("--until-done",)])
def test_whom_to_invite_has_to_be_said(directory: Directory, flags: tuple[str, ...]) -> None:
    assert 2 == directory.run("invite", *flags).code


def test_nobody_is_invited_while_no_mail_can_leave(tmp_path: Path, template: Path) -> None:
    directory = Directory(tmp_path, template)
    many(directory, tmp_path, 1)
    writes = directory.writes()
    done = directory.run("invite", "--all")

    assert 78 == done.code
    assert "set smtp_url and mail_from" in done.err
    assert writes == directory.writes()
    directory.close()


def test_passwords_are_in_the_mails_and_nowhere_else(directory: Directory, tmp_path: Path) -> None:
    many(directory, tmp_path, 3)
    done = directory.run("invite", "--all", "--json")
    passwords = [
        found
        for path in (tmp_path / "mails").glob("*.eml")
        for found in re.findall(r"^ {4}([0-9a-z]{5}(?:-[0-9a-z]{5}){3})$", path.read_text(), re.MULTILINE)
    ]
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("awareness.db*"))

    assert 3 == len(set(passwords))
    assert [] == [word for word in passwords if word in done.out + done.err or word.encode() in kept]
    assert json.loads(done.out)["ok"] is True


def _on_terminal(directory: Directory, width: int, *arguments: str) -> str:
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as screen:
        process = subprocess.Popen(
            [PROGRAM, "employees", *arguments, "--company", "acme"],
            cwd=directory.installation.folder,
            env={
                **directory.installation.environment,
                "COLUMNS": str(width),
                "TERM": "xterm",
                "NO_COLOR": "1",
            },
            stdout=follower,
            stderr=subprocess.DEVNULL,
        )
        os.close(follower)
        shown = b""
        try:
            while part := screen.read(65_536):
                shown += part
        except OSError:
            # Linux tells the end of a terminal by an error.
            pass
        process.wait()
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode().replace("\r\n", "\n"))


def _is_whole(address: str, words: set[str]) -> bool:
    local_part, _, domain = address.partition("@")
    return address in words or {local_part, f"@{domain}"} <= words
