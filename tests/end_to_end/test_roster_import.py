"""Real HR exports through the installed command line into a real database: this month's file, and then next month's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.installed import Installation
from tests.end_to_end.rosters import EXPORTS, Directory, Export, without_ids

HEADER = "Nom;Prénom;E-mail;Matricule;Service\n"


@pytest.fixture
def directory(tmp_path: Path, template: Path) -> Iterator[Directory]:
    found = Directory(tmp_path, template)
    yield found
    found.close()


@pytest.fixture(params=EXPORTS, ids=lambda export: export.name)
def export(request: pytest.FixtureRequest) -> Export:
    chosen: Export = request.param
    return chosen


def test_each_month_does_what_its_table_says(
    directory: Directory, export: Export, golden: Callable[[str, str], str]
) -> None:
    steps = []
    for title, path in (
        ("March, for the first time", export.march),
        ("March again", export.march),
        ("April", export.april),
        ("April again", export.april),
        ("Back to March", export.march),
    ):
        done = directory.run_installed("import", str(path), *export.flags, "--json")
        steps.append(f"# {title}\n{_table(done.json)}")
    actual = "\n".join(steps)

    assert golden(f"rosters/{export.name}.txt", actual) == actual


def test_a_file_that_was_imported_writes_nothing_when_imported_again(
    directory: Directory, export: Export
) -> None:
    for path in (export.march, export.april):
        first = directory.import_file(path, *export.flags)
        people, writes = directory.people(), directory.writes()
        again = directory.import_file(path, *export.flags)

        assert {"skipped", "failed"} >= {result["action"] for result in again["results"]}
        assert first["summary"]["failed"] == again["summary"]["failed"]
        assert writes == directory.writes()
        assert people == directory.people()


def test_a_dry_run_tells_what_the_real_run_does_and_writes_nothing(
    directory: Directory, export: Export
) -> None:
    for path in (export.march, export.april):
        writes = directory.writes()
        planned = directory.import_file(path, *export.flags, "--dry-run")
        still = directory.writes()
        done = directory.import_file(path, *export.flags)

        assert writes == still
        assert without_ids(planned) == without_ids(done)
        assert (planned["summary"], planned["missing"]) == (done["summary"], done["missing"])
        assert {True} == {result["planned"] for result in planned["results"]}
        assert still != directory.writes()


def test_people_are_as_the_last_file_says(directory: Directory) -> None:
    french = EXPORTS[0]
    directory.import_file(french.march)
    directory.import_file(french.april)
    people = {person["external_id"]: person for person in directory.people()}

    assert {
        "last_name": "Martin",
        "first_name": "Paul",
        "email": "pierre.martin@fonderies-morvan.example",
        "state": "active",
    }.items() <= people["00561"].items()
    assert "Conducteur de four ; 3x8" == people["00604"]["job_title"]
    assert 'Responsable "Qualité et sécurité"' == people["00518"]["job_title"]
    assert "Talents et culture" == people["00733"]["sector"]["name"]
    assert people["00547"]["sector"] == people["00741"]["sector"]
    assert None is people["00625"]["phone"]
    assert "archived" == people["00590"]["state"]
    assert "00768" not in people


def test_exit_code_tells_whether_lines_failed(directory: Directory, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(HEADER + "A;B;a@example.com;1;\n", encoding="utf-8")
    bad.write_text(HEADER + "A;B;a@example.com;1;\nC;D;nonsense;2;\n", encoding="utf-8")

    assert [0, 3] == [directory.run("import", str(path)).code for path in (good, bad)]


def test_table_names_line_column_and_reason_and_the_rest_is_imported(
    directory: Directory, tmp_path: Path
) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(
        HEADER + "A;B;a@example.com;1;\n\nC;;nonsense;2;\nD;E\nF;G;f@example.com;3;\n", encoding="utf-8"
    )

    done = directory.run("import", str(path))
    rows = {line.split()[0]: line for line in done.out.splitlines() if line.startswith(" ")}

    assert ["2", "4", "5", "6"] == list(rows)
    assert "failed" in rows["4"]
    assert "E-mail: not an e-mail address" in rows["4"]
    assert "Prénom: must have at least 1 character" in rows["4"]
    assert "has 2 cells where the header has 5" in rows["5"]
    assert "4 people read: 2 created, 0 updated, 2 failed." in done.out
    assert {"a@example.com", "f@example.com"} == {person["email"] for person in directory.people()}


def test_a_table_of_thousands_lists_every_failure_and_few_of_the_rest(
    directory: Directory, tmp_path: Path
) -> None:
    path = tmp_path / "roster.csv"
    lines = [f"N{n};P;{'x' if n % 50 == 0 else f'p{n}@example.com'};{n};\n" for n in range(2000)]
    path.write_text(HEADER + "".join(lines), encoding="utf-8")

    cut = directory.run("import", str(path), "--dry-run")
    whole = directory.run("import", str(path), "--dry-run", "--verbose")

    assert (40, 20) == (cut.out.count(" failed "), cut.out.count(" created "))
    assert "Not listed: 1,940 created; --verbose lists them." in cut.err
    assert (40, 1960) == (whole.out.count(" failed "), whole.out.count(" created "))


def test_what_is_ignored_is_said_on_stderr_and_never_in_the_data(directory: Directory) -> None:
    done = directory.run("import", str(EXPORTS[0].march), "--json")

    assert "Windows-1252" in done.err
    assert "Ignored: Civilité, Date d'entrée, Date de sortie" in done.err
    assert {"Matricule": "external_id", "Actif": "active"}.items() <= done.json["file"]["columns"].items()


def test_changed_columns_are_named_in_the_words_of_the_file(directory: Directory) -> None:
    directory.import_file(EXPORTS[0].march)
    done = directory.run("import", str(EXPORTS[0].april), "--dry-run")
    (married,) = [line for line in done.out.splitlines() if "Petit-Moreau" in line]

    assert married.endswith("changed: Nom, E-mail")


@pytest.mark.parametrize(
    ("content", "flags", "said"),
    [
        ("Nom;Prénom\nA;B\n", (), "no column is the e-mail; say which it is"),
        (
            "Nom;Prénom;Mail;Courriel\nA;B;c@d.example;e@f.example\n",
            (),
            "'Mail' and 'Courriel' could each be",
        ),
        ("", (), "it is empty"),
        ("PK\x03\x04", (), "save it as CSV"),
        (HEADER + "A;B;a@example.com;1;\n", ("--map", "Bureau=sector"), "'Bureau' that is not there"),
        (HEADER + "A;B;a@example.com;1;\n", ("--map", "Nom=colour"), "the fields are email, last_name"),
        (HEADER + "A;B;a@example.com;1;\n", ("--delimiter", "||"), "is not one character"),
        (HEADER + "A;B;a@example.com;1;\n", ("--encoding", "klingon"), "'klingon' is not known"),
        (HEADER + "A;B;a@example.com;1;\n", ("--confirm-deactivations", "3"), "only goes with"),
    ],
)
def test_a_file_or_flag_that_cannot_be_used_is_a_wrong_command_line_before_any_database_is_asked(
    tmp_path: Path, content: str, flags: tuple[str, ...], said: str
) -> None:
    path = tmp_path / "roster"
    path.write_text(content, encoding="utf-8")
    done = Installation(tmp_path).run("employees", "import", str(path), "--company", "acme", *flags)

    assert 2 == done.code
    assert said in done.err
    assert "" == done.out
    assert "Traceback" not in done.err


def test_hostile_text_cannot_reach_the_terminal(directory: Directory, tmp_path: Path) -> None:
    path = tmp_path / "roster.json"
    record = {"nom": "[red]A[/red]", "prenom": "B", "email": "\x1b[2J\u202e@x\ud800", "\x1b]0;t\x07": 1}
    path.write_text(json.dumps([record]), encoding="utf-8")
    done = directory.run("import", str(path))

    assert 3 == done.code
    assert "\x1b" not in done.out + done.err
    assert "\\x1b[2J\\u202e@x\\ud800" in done.out


# The guard against broken exports


@pytest.fixture
def thirty(directory: Directory, tmp_path: Path) -> Path:
    path = tmp_path / "roster.csv"
    path.write_text(HEADER + "".join(f"N{n};P;p{n}@example.com;{n};\n" for n in range(30)), encoding="utf-8")
    directory.import_file(path)
    return path


def _keep(path: Path, lines: int) -> None:
    content = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(content[: lines + 1]), encoding="utf-8")


def test_a_file_that_leaves_many_out_is_blocked_until_their_exact_number_is_confirmed(
    directory: Directory, thirty: Path
) -> None:
    _keep(thirty, 20)
    writes = directory.writes()
    blocked = directory.run("import", str(thirty), "--deactivate-missing")
    wrong = directory.run("import", str(thirty), "--deactivate-missing", "--confirm-deactivations", "9")
    unchanged = directory.writes()
    right = directory.import_file(thirty, "--deactivate-missing", "--confirm-deactivations", "10")

    assert (1, 1) == (blocked.code, wrong.code)
    assert "10 of 30 active people" in blocked.err
    assert "add --confirm-deactivations 10" in blocked.err
    assert writes == unchanged
    assert (10, 20) == (right["summary"]["deactivated"], right["summary"]["skipped"])
    assert [f"p{n}@example.com" for n in range(20, 30)] == sorted(gone["email"] for gone in right["missing"])


def test_a_blocked_import_tells_programs_the_number(directory: Directory, thirty: Path) -> None:
    _keep(thirty, 3)
    done = directory.run("import", str(thirty), "--deactivate-missing", "--json", "--dry-run")

    assert 1 == done.code
    assert {
        "ok": False,
        "dry_run": True,
        "code": "MASS_DEACTIVATION_BLOCKED",
        "planned_deactivations": 27,
        "results": [],
    } == done.json


def test_few_who_are_left_out_are_archived_and_named(directory: Directory, thirty: Path) -> None:
    _keep(thirty, 28)
    done = directory.run("import", str(thirty), "--deactivate-missing")

    assert 0 == done.code
    assert "2 deactivated (2 not in the file)" in done.out
    assert ["p28@example.com", "p29@example.com"] == sorted(
        word
        for line in done.out.splitlines()
        if "not in the file" in line
        for word in line.split()
        if "@" in word
    )


def test_nobody_is_missed_while_a_line_could_be_anybodys(directory: Directory, thirty: Path) -> None:
    content = thirty.read_text(encoding="utf-8")
    broken = {
        "a cell too many": content.replace("N29;P;p29@example.com;29;", "N29;P;p29;example.com;29;"),
        "neither identifier nor address": content.replace("p29@example.com;29;", "p29(at)example.com;;"),
    }
    for text in broken.values():
        thirty.write_text(text, encoding="utf-8")
        refused = directory.run("import", str(thirty), "--deactivate-missing")

        assert 1 == refused.code
        assert "nobody can tell who is missing" in refused.err
        assert "line 31: " in refused.err
    assert 30 == sum(person["state"] == "active" for person in directory.people())


def test_an_invalid_line_that_names_its_person_keeps_them(directory: Directory, thirty: Path) -> None:
    content = thirty.read_text(encoding="utf-8").replace(
        "N29;P;p29@example.com;29;", ";P;p29@example.com;29;"
    )
    thirty.write_text(content, encoding="utf-8")
    report = directory.import_file(thirty, "--deactivate-missing")

    assert (0, 1) == (report["summary"]["deactivated"], report["summary"]["failed"])


def _table(report: dict[str, Any]) -> str:
    place = "index" if "index" in report["results"][0] else "line"
    rows = [
        (
            str(result[place]),
            result["action"],
            result["external_id"] or "-",
            result["email"],
            result.get("error") or result.get("warning") or "",
        )
        for result in report["results"]
    ]
    rows += [("-", "missing", gone["external_id"], gone["email"], "") for gone in report["missing"]]
    lines = [
        f"{line:>4} {action:<11} {who:<8} {email} {note}".rstrip() for line, action, who, email, note in rows
    ]
    summary = " ".join(f"{name}={count}" for name, count in report["summary"].items())
    return "\n".join([*lines, summary, ""])
