"""What is in this checkout: the packages, their files, and their parsed modules. Tests in this folder ask it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE_ROOTS = (ROOT / "src", ROOT / "src" / "adapters", ROOT / "src" / "entrypoints")
CORE = ROOT / "src" / "awareness_core"


def package_folders() -> list[Path]:
    """Return the folder of every package that the project ships, sorted by package name."""
    found = [path.parent for root in SOURCE_ROOTS for path in root.glob("*/__init__.py")]
    return sorted(found, key=lambda folder: folder.name)


def source_files() -> list[Path]:
    """Return every Python file under src, in a stable order."""
    return sorted(path for path in (ROOT / "src").rglob("*.py") if "egg-info" not in path.as_posix())


def text_files() -> Iterator[Path]:
    """Yield each file that the project's authors wrote and that is text, whatever folder it is in."""
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT)
        if _is_made(relative) or not path.is_file():
            continue
        if path.suffix in _TEXT_SUFFIXES or path.name in _TEXT_NAMES:
            yield path


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def relative(path: Path) -> str:
    """Return the path as a person would write it from the project's root."""
    return path.relative_to(ROOT).as_posix()


_TEXT_SUFFIXES = {
    *(".css", ".html", ".in", ".ini", ".j2", ".js", ".json", ".lock"),
    *(".md", ".mako", ".py", ".sh", ".svg", ".toml", ".txt", ".yaml", ".yml"),
}
_TEXT_NAMES = {".gitignore", "LICENSE", "Makefile", "run"}
_MADE = {"build", "dist", "htmlcov", "mailbox", "mutants", "node_modules", "__pycache__"}


def _is_made(path: Path) -> bool:
    """Tell whether a tool made this path. Folders with a dot are tools' own, but for .ci."""
    return any(
        part in _MADE
        or part.endswith(".egg-info")
        or (part.startswith(".") and part not in {".ci", ".gitignore"})
        for part in path.parts
    )
