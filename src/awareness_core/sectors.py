"""Sectors: the parts of a company its people belong to, found by number or by name, or created by name.

Two spellings of one name are one sector (`texts.folded_name`); the first spelling is kept. Numbers count from 1 within
a company, so a sector's number says nothing to another company (Choice: decisions/008).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NewType

import attrs

from awareness_core.texts import folded_name

SectorId = NewType("SectorId", int)

UNKNOWN_SECTOR = "unknown_sector"
SECTOR_CONFLICT = "sector_conflict"

_PLAIN_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_NO_SECTOR = SectorId(0)


@attrs.frozen(kw_only=True)
class Sector:
    """One sector of a company; `id` is unique within it."""

    id: SectorId
    name: str

    @property
    def key(self) -> str:
        """What two spellings of one name share."""
        return folded_name(self.name)


@attrs.frozen(kw_only=True)
class SectorReference:
    """How a record names its sector: by number as text, by name, or by both. At least one is given."""

    id: str | None = None
    name: str | None = None


class UnresolvableSector(ValueError):
    """The reference leads to no sector. `code` is `unknown_sector` or `sector_conflict`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class SectorDirectory:
    """The sectors of one company during one plan, with those the plan would create.

    It lives as long as the planning of one payload. A number means a sector that existed before the payload: nobody
    can have been told the number of one that the payload itself creates.
    """

    def __init__(self, sectors: Iterable[Sector]) -> None:
        self._by_id = {sector.id: sector for sector in sectors}
        self._by_key = {sector.key: sector for sector in self._by_id.values()}
        self._created: list[Sector] = []
        # A directory names the same few sectors over and over; folding a name once is enough.
        self._folded: dict[str, str] = {}
        self._next_id = max(self._by_id, default=0) + 1

    def find(self, reference: SectorReference) -> Sector | None:
        """The sector meant, or None when it is to be created by its name.

        Raises `UnresolvableSector` for an unknown number, or when number and name mean two sectors.
        """
        by_name = None if reference.name is None else self._by_key.get(self._fold(reference.name))
        if reference.id is None:
            return by_name
        by_id = self._by_id.get(_number(reference.id))
        if by_id is None:
            raise UnresolvableSector(UNKNOWN_SECTOR)
        if reference.name is not None and by_name != by_id:
            raise UnresolvableSector(SECTOR_CONFLICT)
        return by_id

    def find_or_create(self, reference: SectorReference) -> Sector:
        """As `find`, creating the sector when it is only named. Raises `UnresolvableSector`."""
        found = self.find(reference)
        if found is not None:
            return found
        if reference.name is None:
            raise UnresolvableSector(UNKNOWN_SECTOR)
        sector = Sector(id=SectorId(self._next_id), name=" ".join(reference.name.split()))
        self._next_id += 1
        self._by_key[sector.key] = sector
        self._created.append(sector)
        return sector

    @property
    def created(self) -> tuple[Sector, ...]:
        """Those that did not exist when the plan began, in the order of their creation."""
        return tuple(self._created)

    def _fold(self, name: str) -> str:
        folded = self._folded.get(name)
        if folded is None:
            folded = self._folded[name] = folded_name(name)
        return folded


def _number(text: str) -> SectorId:
    # `int` also reads "١٢", " 12 ", "012" and "1_2"; one sector has one number.
    return SectorId(int(text)) if _PLAIN_NUMBER.fullmatch(text) else _NO_SECTOR
