"""Log lines: one form for our own and other libraries', on stderr, with the context bound to them and no secret."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

SCRIPT = """
import logging, sys, warnings
import structlog
from awareness_server.logs import configure_logs, granian_log_config
early = structlog.get_logger("early")
configure_logs(log_format=sys.argv[1], log_level=sys.argv[2], secrets=["smtp://u:hunter2-mail@h", "hunter2-token"])
early.info("made before the set-up")
structlog.contextvars.bind_contextvars(request_id="r1")
log = structlog.get_logger("ours")
log.info("ours", count=1, listed=["hunter2-mail", {"in": "hunter2-token"}], none=None)
log.debug("too fine")
logging.getLogger("theirs").warning("theirs %s", "redis://u:other@h")
logging.config.dictConfig(
    {**{"version": 1, "disable_existing_loggers": False}, **granian_log_config()}
)
logging.getLogger("_granian").error("granian")
logging.getLogger("_granian").info("granian chatters")
warnings.warn("warned")
try:
    raise ValueError("bad hunter2-token: Key (company_id, email_key)=(1, zwingli@exemple.fr) already exists")
except ValueError:
    log.exception("failed", key="awk_0123456789A_" + "x" * 49)
print("data")
"""


def logged(log_format: str, level: str = "info") -> str:
    done = subprocess.run(
        [sys.executable, "-c", "import logging.config\n" + SCRIPT, log_format, level],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "data\n"
    return done.stderr


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    return [json.loads(line) for line in logged("json").splitlines()]


def test_every_line_is_one_json_object_with_level_time_and_event(events: list[dict[str, Any]]) -> None:
    assert all({"event", "level", "timestamp"} <= event.keys() for event in events)
    assert all(event["timestamp"].endswith("Z") for event in events)


def test_lines_of_other_libraries_come_in_the_same_form(events: list[dict[str, Any]]) -> None:
    told = {event["event"].split(" ")[0]: event["level"] for event in events}

    assert ("info", "warning", "error") == (told["ours"], told["theirs"], told["granian"])
    assert any("warned" in event["event"] for event in events)


def test_what_is_less_important_than_asked_is_left_out(events: list[dict[str, Any]]) -> None:
    names = {event["event"] for event in events}

    assert set() == names & {"too fine", "granian chatters"}
    assert "too fine" in logged("console", "debug")


def test_what_is_bound_to_the_context_is_on_every_line(events: list[dict[str, Any]]) -> None:
    assert [None, "r1", "r1"] == [event.get("request_id") for event in events[:3]]


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_line_holds_a_secret(log_format: str) -> None:
    text = logged(log_format)

    assert "hunter2" not in text
    assert "u:other" not in text
    assert "x" * 20 not in text
    assert "ValueError: bad ***" in text.replace("\\n", "\n")


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_line_holds_an_address(log_format: str) -> None:
    text = logged(log_format)

    assert "zwingli" not in text
    assert "email_key)=(1, ***) already exists" in text
    assert "redis://***@h" in text


def test_values_keep_their_types(events: list[dict[str, Any]]) -> None:
    (ours,) = [event for event in events if event["event"] == "ours"]

    assert (1, ["***", {"in": "***"}], None) == (ours["count"], ours["listed"], ours["none"])


def test_lines_for_people_have_no_colour_when_no_terminal_reads_them() -> None:
    assert "\x1b" not in logged("console")
