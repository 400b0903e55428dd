"""What the linters cannot say: contracts are written, files stay small, names mean something, nothing is left over."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source_tree import (
    CORE,
    SOURCE_ROOTS,
    package_folders,
    parsed,
    relative,
    source_files,
    text_files,
)

LONGEST_FILE = 400
EMPTY_WORDS = {
    "abstract",
    "base",
    "common",
    "dto",
    "helper",
    "helpers",
    "impl",
    "manager",
    "misc",
    "service",
    "util",
    "utils",
}

# Written in two halves, for the sake of the very test that uses them.
REGISTRY_HOSTS = re.compile(
    "|".join(
        re.escape(first + last)
        for first, last in (
            ("pypi", ".org"),
            ("python", "hosted.org"),
            ("registry.npm", "js.org"),
            ("crates", ".io"),
            ("deb.deb", "ian.org"),
        )
    )
)
LEFT_OVER = re.compile(
    r"\b(?:" + "|".join(first + last for first, last in (("TO", "DO"), ("FIX", "ME"), ("XX", "X"))) + r")\b"
)


@pytest.mark.parametrize("path", source_files(), ids=relative)
def test_a_file_holds_one_idea(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", source_files(), ids=relative)
def test_a_name_tells_what_the_thing_is(path: Path) -> None:
    classes = [node.name for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)]
    words = {
        word.lower()
        for name in (path.stem, *classes)
        for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    }

    assert set() == words & EMPTY_WORDS


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=relative)
def test_everything_public_in_the_core_states_its_contract(path: Path) -> None:
    assert [] == [name for name, node in _public(parsed(path)) if not ast.get_docstring(node)]


@pytest.mark.parametrize("path", source_files(), ids=relative)
def test_a_module_opens_by_telling_what_it_decides(path: Path) -> None:
    assert ast.get_docstring(parsed(path))


def test_no_package_is_empty() -> None:
    folders = {path for root in SOURCE_ROOTS for path in root.iterdir() if path.name.startswith("awareness_")}
    folders -= {path for path in folders if path.name.endswith(".egg-info")}

    assert folders == set(package_folders())
    assert [] == [folder.name for folder in folders if len(list(folder.rglob("*.py"))) < 2]


def test_the_source_roots_are_no_packages() -> None:
    assert [] == [relative(root) for root in SOURCE_ROOTS if (root / "__init__.py").exists()]


def test_no_text_names_a_registry_host() -> None:
    assert [] == [
        relative(path) for path in text_files() if REGISTRY_HOSTS.search(path.read_text(encoding="utf-8"))
    ]


def test_nothing_is_left_for_later() -> None:
    written = (path for path in text_files() if path.suffix in {".py", ".md", ".toml", ".j2", ".html"})

    assert [] == [relative(path) for path in written if LEFT_OVER.search(path.read_text(encoding="utf-8"))]


def _public(
    module: ast.Module | ast.ClassDef, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    """Yield the public functions and classes of a module, and the public methods of its public classes."""
    for node in module.body:
        if isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ) and not node.name.startswith("_"):
            if not any(
                ast.unparse(decorator).endswith((".setter", "override", "overload"))
                for decorator in node.decorator_list
            ):
                yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _public(node, f"{prefix}{node.name}.")
