"""The installed command line as a shell uses it: what it prints where, how it ends, what it refuses and how."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.end_to_end.installed import PROGRAM, Ended, Installation, commands
from tests.end_to_end.terminals import on_terminal


@pytest.fixture
def empty(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """A migrated installation with the company Example; for commands that change nothing."""
    installation = Installation(tmp_path_factory.mktemp("example"))
    installation.must("migrate")
    installation.must("company", "create", "Example")
    return installation


@pytest.fixture
def migrated(example: Installation, tmp_path: Path) -> Installation:
    """The same, for commands that change something."""
    shutil.copy(example.folder / "awareness.db", tmp_path)
    return Installation(tmp_path)


def line(done: Ended) -> str:
    """The one line that an error is told in."""
    assert "Traceback" not in done.err
    (only,) = done.err.splitlines()
    return only


def test_a_company_and_a_key_are_made_in_two_commands(migrated: Installation) -> None:
    company = migrated.must(
        "company", "create", "Société Générale", "--sso-domain", "@SG.example", "--language", "en"
    )
    key = migrated.must(
        "keys", "create", "--company", "  SOCIÉTÉ générale ", "--name", "HR", "--scope", "write:employees"
    )

    assert ("Société Générale", "en", ["sg.example"]) == (
        company["name"],
        company["language"],
        company["sso_domains"],
    )
    assert (company["id"], ["write:employees"], None) == (key["company_id"], key["scopes"], key["expires_at"])
    assert key["key"].startswith(key["begins_with"] + "_")


def test_a_listing_shows_what_was_created_and_never_a_key(migrated: Installation) -> None:
    company, key = migrated.company_with_key("read:results", "write:employees", name="Other")
    companies = migrated.must("company", "list")["data"]
    keys = migrated.must("keys", "list", "--company", company)["data"]

    assert [company] == [entry["id"] for entry in companies if entry["name"] == "Other"]
    assert [["write:employees", "read:results"]] == [entry["scopes"] for entry in keys]
    assert key not in json.dumps(keys)


def test_a_key_can_be_revoked_once_and_again(migrated: Installation) -> None:
    migrated.company_with_key("read:results", name="Other")
    (listed,) = migrated.must("keys", "list")["data"]
    revoked = migrated.must("keys", "revoke", listed["begins_with"])
    again = migrated.must("keys", "revoke", listed["id"])

    assert "revoked" == revoked["state"]
    assert revoked == again


def test_the_key_goes_to_stdout_and_the_warning_to_stderr(migrated: Installation) -> None:
    done = migrated.run("keys", "create", "--company", "example", "--name", "x", "--scope", "read:results")

    assert "awk_" in done.out
    assert "Keep the key now: it is stored nowhere and cannot be shown again.\n" == done.err


@pytest.mark.parametrize("expires", ["2099-12-31", "2099-12-31T10:00:00+02:00", "90d"])
def test_a_key_can_expire(migrated: Installation, expires: str) -> None:
    key = migrated.must(
        "keys",
        "create",
        "--company",
        "example",
        "--name",
        "x",
        "--scope",
        "read:results",
        "--expires",
        expires,
    )

    assert key["expires_at"].endswith("Z")


def test_a_company_is_changed_by_its_name(migrated: Installation) -> None:
    migrated.must("company", "create", "Acme", "--sso-domain", "sso.example", "--color", "#abc")

    changed = migrated.must("company", "set", "acme", "--language", "en", "--no-sso", "--color", "#B00000")

    assert ("Acme", "en", [], "#b00000") == tuple(
        changed[name] for name in ("name", "language", "sso_domains", "color")
    )
    assert changed in migrated.must("company", "list")["data"]
    for flags, told in (
        ([], "there is nothing to change"),
        (["--color", "red"], "color: 'red': must be written like #1a5a9c"),
        (["--no-sso", "--sso-domain", "a.example"], "exclude each other"),
    ):
        refused = migrated.run("company", "set", "Acme", *flags)
        assert (2, True) == (refused.code, told in refused.err)


def test_a_mail_is_shown_without_being_sent(migrated: Installation) -> None:
    migrated.must("company", "create", "Acme", "--language", "en", "--color", "#b00000")
    env = {"AWARENESS_PUBLIC_URL": "https://portal.example"}

    made_up = migrated.run("mail", "preview")
    text = migrated.run("mail", "preview", "--company", "acme", env=env)
    html = migrated.run("mail", "preview", "--company", "acme", "--format", "html", env=env)
    whole = migrated.run("mail", "preview", "--language", "en", "--format", "eml", env=env)

    assert [0] * 4 == [done.code for done in (made_up, text, html, whole)]
    assert made_up.out.startswith("Bonjour Camille,")
    assert "Acme invites you" in text.out
    assert "https://portal.example" in text.out
    assert "#b00000" in html.out
    assert "Content-Type: multipart/alternative" in whole.out
    assert "DKIM-Signature" not in whole.out


def test_a_mail_is_shown_signed_as_it_would_be_sent(migrated: Installation) -> None:
    env = {
        "AWARENESS_DKIM_KEY_FILE": str(Path(__file__).parents[1] / "contracts" / "dkim.pem"),
        "AWARENESS_DKIM_SELECTOR": "awareness2026",
    }
    whole = migrated.run("mail", "preview", "--format", "eml", env=env)

    assert 0 == whole.code
    assert whole.out.startswith("DKIM-Signature: ")
    assert "s=awareness2026" in whole.out


def test_campaigns_of_a_company_without_any_are_none(example: Installation) -> None:
    listed = example.must(
        "campaigns", "list", "--company", "example", "--from", "2020-01-01", "--status", "running"
    )

    assert {
        "data": [],
        "pagination": {"page": 1, "limit": 50, "total": 0, "total_pages": 0, "has_more": False},
    } == listed


def test_migrating_again_takes_no_step(empty: Installation) -> None:
    first = empty.must("migrate")["steps"]
    second = empty.must("migrate")["steps"]

    assert first
    assert [] == second


def test_the_shown_settings_hide_their_secrets(empty: Installation) -> None:
    shown = empty.run(
        "config",
        "show",
        "--json",
        env={"AWARENESS_SMTP_URL": "smtp://user:hunter2@mail", "AWARENESS_MAIL_FROM": "a@example.com"},
    )

    assert {
        "value": "smtp://user:***@mail",
        "from": "environment variable AWARENESS_SMTP_URL",
    } == shown.json["smtp_url"]
    assert "hunter2" not in shown.out + shown.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["company", "create"],
        ["company", "create", "A", "--language", "xx"],
        ["company", "create", "A", "--langauge", "fr"],
        ["company", "list", "surplus"],
        ["keys", "create", "--company", "Example", "--name", "x"],
        ["keys", "create", "--company", "Example", "--name", "x", "--scope", "read:result"],
        [
            "keys",
            "create",
            "--company",
            "Example",
            "--name",
            "x",
            "--scope",
            "read:results",
            "--expires",
            "soon",
        ],
        ["campaigns", "list", "--company", "Example", "--from", "31/12/2025"],
        ["campaigns", "list", "--company", "Example", "--page", "0"],
        ["campaigns", "list", "--company", "Example", "--limit", "101"],
        ["campaigns", "list", "--company", "Example", "--status", "done"],
        ["serve", "--port", "65536"],
        ["serve", "--workers", "two"],
    ],
    ids=commands,
)
def test_a_wrong_command_line_ends_with_2_and_one_line(example: Installation, arguments: list[str]) -> None:
    done = example.run(*arguments)

    assert (2, "") == (done.code, done.out)
    assert line(done).startswith("awareness: ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["company", "create", " "], "name: must have at least 1 character"),
        (["company", "create", "A", "--sso-domain", "a b"], "not a domain like example.com"),
        (["company", "create", "\x1b[2Jevil"], "control character"),
        (
            [
                "keys",
                "create",
                "--company",
                "Example",
                "--name",
                "x",
                "--scope",
                "read:results",
                "--expires",
                "2020-01-01",
            ],
            "must lie in the future",
        ),
        (["campaigns", "list", "--company", "Example", "--from", "2099-01-01"], "ends before it begins"),
    ],
)
def test_a_bad_value_ends_with_2_and_says_what_would_be_right(
    example: Installation, arguments: list[str], told: str
) -> None:
    done = example.run(*arguments)

    assert (2, "") == (done.code, done.out)
    assert told in line(done)
    assert line(done).isprintable()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["company", "create", "EXAMPLE"], "A company named 'EXAMPLE' exists already"),
        (["keys", "list", "--company", "Exmaple"], "there is no company 'Exmaple'; there are 'Example'"),
        (["keys", "revoke", "awk_0123456789A_secret"], "there is no such API key"),
    ],
)
def test_a_refusal_ends_with_1_and_says_what_would_be_right(
    example: Installation, arguments: list[str], told: str
) -> None:
    done = example.run(*arguments)

    assert (1, "") == (done.code, done.out)
    assert told in line(done)
    assert line(done).isprintable()


def test_all_faults_of_an_input_are_told(example: Installation) -> None:
    done = example.run("company", "create", "x" * 101, "--sso-domain", "a b", "--sso-domain", "ok.example")

    assert 2 == done.code
    assert 3 == len(done.err.splitlines())


@pytest.mark.parametrize(
    "arguments", [["company", "list"], ["serve", "--port", "0"], ["keys", "list"]], ids=commands
)
def test_an_unmigrated_database_ends_with_78_and_what_to_run(
    empty: Installation, arguments: list[str]
) -> None:
    done = empty.run(*arguments)

    assert 78 == done.code
    assert "`awareness migrate`" in line(done)


def test_a_database_of_an_older_release_ends_with_78(migrated: Installation) -> None:
    import sqlite3

    with sqlite3.connect(migrated.folder / "awareness.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '0000'")
    done = migrated.run("company", "list")

    assert 78 == done.code
    assert "`awareness migrate`" in line(done)


@pytest.mark.parametrize(
    "arguments", [["migrate"], ["company", "list"], ["serve", "--port", "0"]], ids=commands
)
@pytest.mark.parametrize("path", ["missing/awareness.db", "folder", "text.db"])
def test_a_database_that_cannot_be_opened_ends_with_69(
    empty: Installation, arguments: list[str], path: str
) -> None:
    (empty.folder / "folder").mkdir()
    (empty.folder / "text.db").write_text("this is no database, whatever its name says")
    done = empty.run(*arguments, env={"AWARENESS_DATABASE_URL": f"sqlite:///{path}"})

    assert 69 == done.code
    assert path.partition("/")[0] in line(done)


@pytest.mark.parametrize("arguments", [["config", "show"], ["serve"], ["company", "list"]], ids=commands)
def test_wrong_settings_end_with_78_and_are_all_told(empty: Installation, arguments: list[str]) -> None:
    (empty.folder / "awareness.toml").write_text('prot = 8000\nlog_level = "loud"\n')
    done = empty.run(*arguments, env={"AWARENESS_PROT": "1"})

    assert 78 == done.code
    assert [
        "awareness: 3 settings are wrong",
        "  prot: unknown setting; did you mean port? (awareness.toml)",
        "  AWARENESS_PROT: unknown setting; did you mean AWARENESS_PORT?",
        "  log_level: must be one of debug, info, warning, error, not 'loud' (awareness.toml)",
    ] == done.err.splitlines()


def test_a_settings_file_can_be_named_before_or_after_the_command(empty: Installation) -> None:
    (empty.folder / "other.toml").write_text("port = 9000\n")
    before = empty.run("--config", "other.toml", "config", "show", "--json").json
    after = empty.run("config", "show", "--json", "--config", "other.toml").json

    assert {"value": 9000, "from": "other.toml"} == before["port"]
    assert before == after


def test_debug_shows_the_traceback_and_then_the_line(empty: Installation) -> None:
    done = empty.run("company", "list", "--debug")

    assert 78 == done.code
    assert done.err.startswith("Traceback")
    assert done.err.splitlines()[-1].startswith("awareness: ")


def test_every_command_is_in_the_help_of_the_program(empty: Installation) -> None:
    done = empty.run("--help")

    assert 0 == done.code
    for command in (
        "serve",
        "demo",
        "migrate",
        "doctor",
        "config",
        "company",
        "keys",
        "employees",
        "campaigns",
    ):
        assert f" {command} " in done.out


HEAVY = ("litestar", "sqlalchemy", "granian", "structlog", "alembic", "typed_settings", "awareness_core")


def test_help_imports_nothing_that_takes_long() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", PROGRAM, "--help"], capture_output=True, text=True, check=True
    )
    imported = {entry.rpartition("|")[2].strip() for entry in done.stderr.splitlines()}

    assert "cyclopts" in imported
    assert set() == imported & set(HEAVY)


@pytest.mark.parametrize(
    ("module", "arguments", "extra"),
    [
        ("cyclopts", ["--help"], "server"),
        ("rich", ["--help"], "server"),
        ("typed_settings", ["config", "show"], "server"),
        ("sqlalchemy", ["company", "list"], "server"),
        ("alembic", ["migrate"], "server"),
        ("litestar", ["serve", "--port", "0"], "server"),
        ("granian", ["serve", "--port", "0"], "server"),
        ("structlog", ["serve", "--port", "0"], "server"),
        ("redis", ["serve", "--port", "0"], "redis"),
    ],
)
def test_a_missing_part_is_told_with_the_extra_that_brings_it(
    example: Installation, module: str, arguments: list[str], extra: str
) -> None:
    script = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from awareness_server.main import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=example.folder,
        env={**example.environment, "AWARENESS_LIMITS_URL": "redis://localhost:1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 69 == done.returncode
    assert f"awareness-core[{extra}]" in done.stderr
    assert 1 == len(done.stderr.splitlines())


def test_a_pipe_gets_every_column_whole_and_no_escape(migrated: Installation) -> None:
    name = "A company whose name is far wider than many a terminal that somebody may have"
    made = migrated.must("company", "create", name)
    done = migrated.run("company", "list", env={"COLUMNS": "20", "FORCE_COLOR": ""})
    header, row, _ = done.out.splitlines()

    assert header.startswith("ID ")
    assert row.startswith(f"{made['id']}  {name}  fr")
    assert "\x1b" not in done.out


@pytest.mark.parametrize("columns", [20, 60])
def test_a_narrow_terminal_gets_a_block_a_row_with_every_value_whole(
    example: Installation, columns: int
) -> None:
    (company,) = example.must("company", "list")["data"]
    shown = on_terminal(example, "company", "list", columns=columns).replace("\r", "").splitlines()

    assert [f"ID           {company['id']}", "NAME         Example", "LANGUAGE     fr"] == shown[:3]


def test_a_wide_terminal_gets_a_table(example: Installation) -> None:
    shown = re.sub(r"\x1b\[\d*m", "", on_terminal(example, "company", "list", columns=120)).splitlines()

    assert [["ID", "NAME", "LANGUAGE"], ["Example", "fr"]] == [shown[0].split()[:3], shown[2].split()[1:3]]
    assert 3 == len(shown), shown


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colour_gets_none(example: Installation, env: dict[str, str]) -> None:
    plain = on_terminal(example, "--help", columns=100, **env)

    assert "Usage" in plain
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain)


def test_a_reader_that_goes_away_ends_it_quietly(example: Installation) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [PROGRAM, "company", "list"],
        cwd=example.folder,
        env=example.environment,
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)

    assert (141, b"") == (done.returncode, done.stderr)


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_an_output_that_cannot_be_written_is_a_failure(example: Installation, flags: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [PROGRAM, "company", "list", *flags],
            cwd=example.folder,
            env=example.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert 1 == done.returncode
    assert (
        "awareness: the output cannot be written: No space left on device; the command itself was carried out\n"
        == done.stderr
    )


def test_without_any_output_it_ends_quietly(example: Installation) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec {PROGRAM} company list --json >&-"],
        cwd=example.folder,
        env=example.environment,
        stderr=subprocess.PIPE,
        check=False,
    )

    assert (141, b"") == (done.returncode, done.stderr)


def test_letters_that_the_output_cannot_carry_stay_json(migrated: Installation) -> None:
    migrated.must("company", "create", "Société")
    done = migrated.run("company", "list", "--json", env={"PYTHONIOENCODING": "ascii"})

    assert "Société" == done.json["data"][-1]["name"]


def test_ctrl_c_ends_a_command_at_once_without_a_traceback(migrated: Installation) -> None:
    # A settings file that never ends to be read: the command is certainly at work when the signal comes.
    fifo = migrated.folder / "secret"
    os.mkfifo(fifo, mode=stat.S_IRUSR | stat.S_IWUSR)
    started = migrated.start("company", "list", env={"AWARENESS_METRICS_TOKEN_FILE": str(fifo)})
    writer = os.open(fifo, os.O_WRONLY)
    # Opening has woken it. Once it sleeps again it waits for what will not come; a signal before that may be lost.
    while psutil.Process(started.process.pid).status() != psutil.STATUS_SLEEPING:
        os.sched_yield()
    started.signal(signal.SIGINT)
    done = started.end()
    os.close(writer)

    assert (130, "", "") == (done.code, done.out, done.err)
