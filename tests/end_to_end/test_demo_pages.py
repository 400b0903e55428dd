"""The tutorial and the page on rosters, walked through as a reader does: what they show is what one gets.

In the tutorial a JSON block is what the command before it answers, shortened: what it shows must be there, and "..."
stands for any text. On the page on rosters a console block shows all that a terminal would.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.end_to_end.installed import PATIENCE_SECONDS, PROGRAM, Installation, until

_BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)


def blocks(page: str) -> list[tuple[str, str]]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [(found["kind"], found["text"]) for found in _BLOCK.finditer(text)]


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables that the tutorial asks for, for a demo as `make demo` starts it."""
    started = Installation(tmp_path).start("demo", "--port", "0", "--json", env={"TMPDIR": str(tmp_path)})
    try:
        until(lambda: "}\n" in started.out or started.process.poll() is not None)
        said = json.loads("".join(started.out))
        full_key, reading_key = said["keys"]
        yield {
            "URL": said["api_url"],
            "KEY": full_key["key"],
            "READING_KEY": reading_key["key"],
            "MAILS": said["mail_folder"],
        }
    finally:
        started.kill()


def test_tutorial_answers_as_it_says(demo: dict[str, str]) -> None:
    answer, walked = "", 0
    for kind, text in blocks("tutorial.md"):
        if kind == "json":
            assert [] == list(_differences(json.loads(text), json.loads(answer)))
            walked += 1
        elif "make demo" not in text and not text.startswith("URL="):
            answer = _run(text, {**os.environ, **demo})

    assert walked > 10
    assert 4 == len(re.findall("ratelimit-", answer))


def test_tutorial_asks_for_the_variables_that_it_uses(demo: dict[str, str]) -> None:
    (assigned,) = [text for _, text in blocks("tutorial.md") if text.startswith("URL=")]

    assert set(demo) == set(re.findall(r"^(\w+)=", assigned, re.MULTILINE))


def test_page_on_rosters_shows_what_a_terminal_shows(tmp_path: Path) -> None:
    environment = {**Installation(tmp_path).environment, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    names = iter(("effectif.csv", "effectif-avril.csv"))
    shown, printed = [], []
    for kind, text in blocks("how-to/import-a-roster.md"):
        if kind == "csv":
            (tmp_path / next(names)).write_text(text, encoding="utf-8")
        elif kind == "console":
            for found in _COMMAND.finditer(text):
                shown.append((found["command"], found["output"]))
                printed.append((found["command"], _run(found["command"], environment, tmp_path)))

    assert len(shown) > 5
    assert shown == printed


def _run(command: str, environment: dict[str, str], folder: Path | None = None) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return done.stdout


def _differences(shown: object, actual: object, place: str = "") -> Iterator[str]:
    """Yield where `actual` does not hold what is `shown`; a list that is shown is shown whole."""
    match shown, actual:
        case "...", str():
            return
        case dict(), dict():
            for key, value in shown.items():
                if key in actual:
                    yield from _differences(value, actual[key], f"{place}.{key}")
                else:
                    yield f"{place}.{key} is not there"
        case list(), list() if len(shown) == len(actual):
            for number, (one, other) in enumerate(zip(shown, actual, strict=True)):
                yield from _differences(one, other, f"{place}[{number}]")
        case _:
            if shown != actual:
                yield f"{place} is {actual!r}, shown {shown!r}"
