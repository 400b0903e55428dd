"""The written pages: where they are, what they link to, and the parts of them that are made from the code.

A made part stands between `<!-- made: NAME ARGUMENTS -->` and `<!-- end -->`; what belongs there is `doc_tables`' and
`doc_signatures`' business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs

from tests.architecture.source_tree import ROOT

DOCS = ROOT / "docs"

_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2\s*$", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"(`+)[^`].*?\1", re.DOTALL)
_LINK = re.compile(
    r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|<(?:img|source|a)\b[^>]*\b(?:src|srcset|href)=\"([^\"]+)\""
)
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
_MADE = re.compile(r"(<!-- made: (\w+)((?: [\w.]+)*) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@attrs.frozen(kw_only=True)
class MadePart:
    """One part of a page that the code dictates: what kind, of what, and what stands there now."""

    kind: str
    arguments: tuple[str, ...]
    text: str


def pages() -> list[Path]:
    """Return every page that a reader may open, in a stable order."""
    return [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]


def prose(page: Path) -> str:
    """Return the text of a page without its code blocks and inline code."""
    return _INLINE_CODE.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))


def links(page: Path) -> list[str]:
    """Return the targets of all links and pictures of a page."""
    return [first or second for first, second in _LINK.findall(prose(page))]


def anchors(page: Path) -> set[str]:
    """Return the names under which the headings of a page can be linked to, as code hosts make them."""
    without_code = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {_anchor(heading) for heading in _HEADING.findall(without_code)}


def made_parts(page: Path) -> Iterator[MadePart]:
    """Yield the parts of a page that are made from the code, in their order."""
    for _, kind, arguments, text, _ in _MADE.findall(page.read_text(encoding="utf-8")):
        yield MadePart(kind=kind, arguments=tuple(arguments.split()), text=text)


def remake(page: Path, make: Callable[[str, tuple[str, ...]], str]) -> None:
    """Write the made parts of a page anew; `make` gives the text for a kind and its arguments."""
    text = page.read_text(encoding="utf-8")
    made = _MADE.sub(lambda part: part[1] + make(part[2], tuple(part[3].split())) + part[5], text)
    if made != text:
        page.write_text(made, encoding="utf-8")


def _anchor(heading: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
