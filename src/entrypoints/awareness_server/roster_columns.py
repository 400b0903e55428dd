"""Which column of a roster means which field: by its name, or by what the caller says with `--map`.

Decides on names alone, and never by guess: a field that no column, or more than one, could mean is told with what
would settle it, and a column that means nothing is named. Knows no file format.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import attrs

from awareness_server.roster_headers import HEADERS, REQUIRED, RosterField, field_of, fold
from awareness_server.roster_table import RosterUnusable

IGNORE = "ignore"
"""What `--map COLUMN=ignore` says: leave that column out, although its name means something."""

_EXAMPLES = 6


@attrs.frozen(kw_only=True)
class ColumnChoice:
    """Where each field is read from, and which columns that have a name are not read; both by position."""

    positions: Mapping[RosterField, int]
    unread: tuple[int, ...]


@attrs.frozen
class ColumnMap:
    """What the caller said of columns: the name as in the file, and the field, or None to leave it out."""

    pairs: tuple[tuple[str, RosterField | None], ...] = ()

    def recognises(self, column: str) -> bool:
        """Whether a column of this name means a field, by its name or by what was said."""
        said = {fold(name) for name, _ in self.pairs}
        return field_of(column) is not None or (fold(column) in said and fold(column) != "")


NOTHING_SAID = ColumnMap()


def parse_column_map(mappings: Iterable[str]) -> ColumnMap:
    """What texts like `Bureau=sector` say. The field may be named by any header that is recognised for it.

    Raises `RosterUnusable` naming the fields there are.
    """
    pairs: list[tuple[str, RosterField | None]] = []
    for text in mappings:
        # A column's name may hold an equals sign, a field's never does.
        column, _, target = text.rpartition("=")
        field = field_of(target)
        if not column.strip() or (field is None and fold(target) != IGNORE):
            known = ", ".join(field.value for field in RosterField)
            raise RosterUnusable(f"--map '{text}' is not COLUMN=field; the fields are {known}, and {IGNORE}")
        pairs.append((column.strip(), field))
    return ColumnMap(tuple(pairs))


def choose_columns(columns: Sequence[str], said: ColumnMap = NOTHING_SAID) -> ColumnChoice:
    """Find the column of each field.

    Raises `RosterUnusable` with everything that is missing or ambiguous.
    """
    by_caller: dict[int, RosterField | None] = {}
    for name, field in said.pairs:
        for position in _positions_of(name, columns):
            by_caller[position] = field
    mapped = {field for field in by_caller.values() if field is not None}
    candidates: defaultdict[RosterField, list[int]] = defaultdict(list)
    for position, column in enumerate(columns):
        field = by_caller[position] if position in by_caller else field_of(column)
        # What the caller said of one column outranks what the name of another suggests.
        if field is not None and (position in by_caller or field not in mapped):
            candidates[field].append(position)
    rivals = {field: found for field, found in candidates.items() if len(found) > 1}
    absent = [field for field in REQUIRED if field not in candidates]
    if rivals or absent:
        problems = [_ambiguity(field, columns, found) for field, found in rivals.items()]
        problems += [f"no column is the {_spoken(field)}" for field in absent]
        examples = [
            f"{columns[found[0]]}={field.value}"
            for field, found in rivals.items()
            if len({columns[position] for position in found}) > 1
        ]
        examples += [f"COLUMN={field.value}" for field in absent]
        advice = f'; say which it is, as in --map "{examples[0]}"' if examples else ""
        raise RosterUnusable(
            f"{'; '.join(problems)}{advice}",
            hints=[_columns_found(columns), *(_headers_known(field) for field in absent)],
        )
    positions = {field: found[0] for field, found in candidates.items()}
    read = set(positions.values())
    return ColumnChoice(
        positions=MappingProxyType(positions),
        unread=tuple(i for i, column in enumerate(columns) if column and i not in read),
    )


def _positions_of(name: str, columns: Sequence[str]) -> list[int]:
    exact = [position for position, column in enumerate(columns) if column == name]
    found = exact or [i for i, column in enumerate(columns) if column and fold(column) == fold(name)]
    if not found:
        raise RosterUnusable(
            f"--map names a column '{name}' that is not there", hints=[_columns_found(columns)]
        )
    return found


def _ambiguity(field: RosterField, columns: Sequence[str], found: Sequence[int]) -> str:
    names = " and ".join(f"'{columns[position]}'" for position in found)
    if len({columns[position] for position in found}) == 1:
        return f"{len(found)} columns are named '{columns[found[0]]}', rename all but one"
    return f"{names} could each be the {_spoken(field)}"


def _spoken(field: RosterField) -> str:
    return {RosterField.EMAIL: "e-mail"}.get(field, field.value.replace("_", " "))


def _columns_found(columns: Sequence[str]) -> str:
    named = [f"'{column}'" for column in columns if column]
    return f"Columns found: {', '.join(named) or 'none with a name'}"


def _headers_known(field: RosterField) -> str:
    headers = HEADERS[field]
    examples = ", ".join(f"'{header}'" for header in headers[:_EXAMPLES])
    more = " and others" if len(headers) > _EXAMPLES else ""
    return f"Recognised as the {_spoken(field)}: {examples}{more}"
