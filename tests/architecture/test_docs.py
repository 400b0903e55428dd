"""The documentation tells the truth: links lead somewhere, made parts are as the code makes them, all is told.

With `--update` the made parts are written anew instead of compared: `pytest tests/architecture/test_docs.py --update`.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import awareness_core
from awareness_core import Scope, errors
from awareness_core.invitations import Reason
from awareness_core.sync_plan import SyncError, SyncWarning
from tests.architecture.doc_pages import DOCS, anchors, links, made_parts, pages, prose, remake
from tests.architecture.doc_tables import MAKERS, make
from tests.architecture.source_tree import ROOT, relative, text_files

DECISIONS = DOCS / "decisions"
CORE_REFERENCE = DOCS / "reference" / "core.md"

_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")
_CITED = re.compile(r"\bdecisions/(\d{3})\b")


@pytest.mark.parametrize("page", pages(), ids=relative)
def test_a_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    broken = [
        target for target in links(page) if not _ELSEWHERE.match(target) and not _is_there(page, target)
    ]

    assert [] == broken


@pytest.mark.parametrize("page", pages(), ids=relative)
def test_what_is_made_from_the_code_is_as_the_code_makes_it(
    page: Path, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--update"):
        remake(page, make)

    for part in made_parts(page):
        assert make(part.kind, part.arguments) == part.text


def test_everything_that_can_be_made_is_shown_once() -> None:
    shown = [part.kind for page in pages() for part in made_parts(page) if part.kind != "core"]

    assert sorted(MAKERS) == sorted(shown)


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = (target.partition("#")[0] for target in links(page) if not _ELSEWHERE.match(target))
        waiting += [path for target in targets if (path := (page.parent / target).resolve()).suffix == ".md"]

    assert [] == [relative(page) for page in pages() if page not in reached]


def test_every_public_name_of_the_core_is_declared_once_in_its_reference() -> None:
    declared = [name for part in made_parts(CORE_REFERENCE) if part.kind == "core" for name in part.arguments]

    assert sorted(awareness_core.__all__) == sorted(declared)


@pytest.mark.parametrize("name", awareness_core.__all__)
def test_every_public_name_of_the_core_states_its_contract(name: str) -> None:
    thing = getattr(awareness_core, name)
    has_docstring = inspect.isfunction(thing) or inspect.isclass(thing)

    assert thing.__doc__ or not has_docstring
    assert f"`{name}`" in CORE_REFERENCE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "word",
    sorted(
        {error.code for error in errors.AwarenessError.__subclasses__()}
        | {member.value for vocabulary in (Scope, Reason, SyncError, SyncWarning) for member in vocabulary}
    ),
)
def test_every_code_and_scope_is_documented(word: str) -> None:
    explained = [page for page in DOCS.rglob("*.md") if f"`{word}`" in page.read_text(encoding="utf-8")]

    assert explained


def test_every_decision_that_is_cited_is_on_record() -> None:
    cited = {number for path in text_files() for number in _CITED.findall(path.read_text(encoding="utf-8"))}

    assert [] == sorted(cited - _decisions().keys())


def test_every_decision_is_listed_under_its_title() -> None:
    listed = (DECISIONS / "README.md").read_text(encoding="utf-8")
    titles = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        for path in _decisions().values()
    }

    assert [] == [name for name, title in titles.items() if f"[{title}]({name})" not in listed]


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = sorted(_decisions())

    assert [f"{position:03d}" for position in range(1, len(numbers) + 1)] == numbers


@pytest.mark.parametrize("path", sorted(_path for _path in DECISIONS.glob("0*.md")), ids=relative)
def test_a_decision_tells_why_and_what_was_refused(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences", "Refused"]


def test_the_readme_tells_how_to_run_it_and_its_tests() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()

    assert {"make demo", "make test"} <= set(lines)


@pytest.mark.parametrize("page", pages(), ids=relative)
def test_a_page_stands_by_itself(page: Path) -> None:
    strangers = re.findall(r"/work\b|\.\./shared|\bissue #?\d+|\bTBD\b|\bthe reference \d", prose(page))

    assert [] == strangers


def _decisions() -> dict[str, Path]:
    return {path.name[:3]: path for path in DECISIONS.glob("[0-9][0-9][0-9]-*.md")}


def _is_there(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    path = (page.parent / name).resolve() if name else page
    return path.exists() and path.is_relative_to(ROOT) and (not anchor or anchor in anchors(path))
