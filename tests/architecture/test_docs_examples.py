"""The code in README and docs runs: Python blocks are executed page by page, and print what the page shows.

A `text` block right after a `python` block is its output. Blocks of one page share their names, as a reader who types
them in order does. A page that asks for `AWARENESS_URL` to be set runs against a service. Shell blocks (`sh`, and the
lines after `$` in `console`) are checked for syntax, not run.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from sybil import Document, Example, Region, Sybil

from tests.architecture.doc_pages import pages
from tests.architecture.doc_service import running_service
from tests.architecture.source_tree import relative

_PYTHON = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n*```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
_SHELL = re.compile(r"^( *)```(?P<kind>sh|console)\n(?P<lines>.*?)^\1```$", re.MULTILINE | re.DOTALL)


ALONE = [page for page in pages() if "AWARENESS_URL" not in page.read_text(encoding="utf-8")]
WITH_SERVICE = [page for page in pages() if page not in ALONE]


@pytest.mark.parametrize("page", ALONE, ids=relative)
def test_python_on_a_page_runs_and_prints_what_the_page_shows(page: Path) -> None:
    _evaluate(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_SERVICE, ids=relative)
def test_python_that_talks_to_a_service_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_service(tmp_path) as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

        _evaluate(page)


@pytest.mark.parametrize("page", pages(), ids=relative)
def test_output_stands_right_after_the_code_that_prints_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    compared = [block for block in _PYTHON.finditer(text) if block["output"] is not None]

    assert "```python\n" not in text or len(compared) == text.count("```text\n")


@pytest.mark.parametrize("page", pages(), ids=relative)
def test_shell_commands_on_a_page_are_well_formed(page: Path) -> None:
    for block in _SHELL.finditer(page.read_text(encoding="utf-8")):
        checked = subprocess.run(
            ["bash", "-n"], input=_commands(block), capture_output=True, text=True, check=False
        )

        assert "" == checked.stderr


def _evaluate(page: Path) -> None:
    for example in Sybil(parsers=[_python_blocks]).parse(page).examples():
        example.evaluate()


def _python_blocks(document: Document) -> Iterable[Region]:
    for block in _PYTHON.finditer(document.text):
        # Blank lines before the code give a traceback the line numbers of the page.
        above = document.text.count("\n", 0, block.start("code"))
        yield Region(block.start(), block.end(), ("\n" * above + block["code"], block["output"]), _run)


def _run(example: Example) -> str | None:
    code, shown = example.parsed
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, example.path, "exec", dont_inherit=True), example.namespace)
    if shown is None or printed.getvalue() == shown:
        return None
    return f"the page shows\n{shown}\nand the code prints\n{printed.getvalue()}"


def _commands(block: re.Match[str]) -> str:
    if block["kind"] == "sh":
        return block["lines"]
    return "".join(
        line.removeprefix("$ ") for line in block["lines"].splitlines(keepends=True) if line.startswith("$ ")
    )
