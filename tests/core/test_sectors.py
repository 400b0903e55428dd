"""The directory of sectors behaves as a plain list of (number, name) would, searched from the start each time."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awareness_core.sectors import (
    Sector,
    SectorDirectory,
    SectorId,
    SectorReference,
    UnresolvableSector,
)
from awareness_core.texts import folded_name
from tests.core.strategies import hostile_texts, sector_references, sectors

REFERENCES = st.lists(sector_references(), max_size=6)
Answer = tuple[int, str] | str | None


@given(sectors(), REFERENCES)
def test_finding_or_creating_agrees_with_a_plain_list(
    known: list[Sector], references: list[SectorReference]
) -> None:
    directory = SectorDirectory(known)
    model = [(int(sector.id), sector.name) for sector in known]

    expected = [_naive(model, reference, known=known, create=True) for reference in references]

    assert expected == [_answer(directory, reference, create=True) for reference in references]
    assert model == [(sector.id, sector.name) for sector in (*known, *directory.created)]


@given(sectors(), REFERENCES, sector_references())
def test_looking_creates_nothing(
    known: list[Sector], references: list[SectorReference], sought: SectorReference
) -> None:
    directory = SectorDirectory(known)
    model = [(int(sector.id), sector.name) for sector in known]
    for reference in references:
        _naive(model, reference, known=known, create=True)
        _answer(directory, reference, create=True)

    found = _answer(directory, sought, create=False)

    assert _naive(model, sought, known=known, create=False) == found
    assert len(model) == len(known) + len(directory.created)


@given(sectors(), REFERENCES)
def test_what_was_created_is_told_in_the_order_of_creation(
    known: list[Sector], references: list[SectorReference]
) -> None:
    directory = SectorDirectory(known)
    answers = [_answer(directory, reference, create=True) for reference in references]

    created = [(int(sector.id), sector.name) for sector in directory.created]

    first_numbers = {sector.id for sector in known}
    assert created == list(
        dict.fromkeys(
            answer for answer in answers if isinstance(answer, tuple) and answer[0] not in first_numbers
        )
    )
    assert [number for number, _ in created] == [
        max(first_numbers, default=0) + place for place in range(1, len(created) + 1)
    ]


@given(sectors(), st.randoms(use_true_random=False), REFERENCES)
def test_the_order_in_which_sectors_were_loaded_makes_no_difference(
    known: list[Sector], chance: Random, references: list[SectorReference]
) -> None:
    shuffled = chance.sample(known, len(known))
    one, other = SectorDirectory(known), SectorDirectory(shuffled)

    assert [_answer(one, reference, create=True) for reference in references] == [
        _answer(other, reference, create=True) for reference in references
    ]


@given(sectors())
def test_every_sector_is_found_by_its_number_by_its_name_and_by_both(known: list[Sector]) -> None:
    directory = SectorDirectory(known)

    for sector in known:
        by_number = directory.find(SectorReference(id=str(sector.id)))
        by_name = directory.find(SectorReference(name=sector.name.swapcase()))
        by_both = directory.find(SectorReference(id=str(sector.id), name=f" {sector.name} "))
        assert by_number == by_both == sector
        assert by_name == sector or folded_name(sector.name.swapcase()) != sector.key


def test_the_first_spelling_of_a_name_is_kept() -> None:
    directory = SectorDirectory([])

    first = directory.find_or_create(SectorReference(name="R  D"))

    assert Sector(id=SectorId(1), name="R D") == first
    assert first is directory.find_or_create(SectorReference(name="r d"))
    assert (first,) == directory.created


def test_a_created_sector_has_no_number_that_the_same_payload_could_know() -> None:
    directory = SectorDirectory([Sector(id=SectorId(11), name="A")])

    created = directory.find_or_create(SectorReference(name="B"))

    assert created.id == SectorId(12)
    with pytest.raises(UnresolvableSector) as refusal:
        directory.find(SectorReference(id="12"))
    assert refusal.value.code == "unknown_sector"


@pytest.mark.parametrize(
    "text",
    ["012", " 12", "12 ", "+12", "-12", "12.0", "1_2", "١٢", "１２", "0xc", "12e0", "", "12\n", "9" * 19],
)
def test_a_number_is_spelt_in_plain_digits_or_means_no_sector(text: str) -> None:
    directory = SectorDirectory([Sector(id=SectorId(12), name="A"), Sector(id=SectorId(-12), name="B")])

    assert "unknown_sector" == _answer(directory, SectorReference(id=text), create=True)
    assert () == directory.created


@pytest.mark.parametrize("number", [1, 9, 10, 12, 10**17, 10**18 - 1])
def test_a_number_of_up_to_18_digits_is_found(number: int) -> None:
    sector = Sector(id=SectorId(number), name="A")

    assert sector == SectorDirectory([sector]).find(SectorReference(id=str(number)))


@given(hostile_texts())
def test_any_other_text_is_an_unknown_number(text: str) -> None:
    directory = SectorDirectory([])

    assert "unknown_sector" == _answer(directory, SectorReference(id=text), create=True)


def test_an_unknown_number_beside_a_known_name_is_still_unknown() -> None:
    directory = SectorDirectory([Sector(id=SectorId(1), name="A")])

    assert "unknown_sector" == _answer(directory, SectorReference(id="2", name="A"), create=True)


def test_a_number_and_the_name_of_another_sector_contradict_each_other() -> None:
    directory = SectorDirectory([Sector(id=SectorId(1), name="A"), Sector(id=SectorId(2), name="B")])

    assert "sector_conflict" == _answer(directory, SectorReference(id="1", name="B"), create=True)


def test_a_known_number_and_an_unknown_name_contradict_each_other() -> None:
    directory = SectorDirectory([Sector(id=SectorId(1), name="A")])

    assert "sector_conflict" == _answer(directory, SectorReference(id="1", name="C"), create=True)
    assert () == directory.created


def test_a_reference_to_nothing_finds_nothing_and_creates_nothing() -> None:
    directory = SectorDirectory([])

    assert directory.find(SectorReference()) is None
    assert "unknown_sector" == _answer(directory, SectorReference(), create=True)


def test_a_refusal_says_its_code() -> None:
    assert "sector_conflict" == str(UnresolvableSector("sector_conflict"))


def _answer(directory: SectorDirectory, reference: SectorReference, *, create: bool) -> Answer:
    try:
        sector = directory.find_or_create(reference) if create else directory.find(reference)
    except UnresolvableSector as refusal:
        return refusal.code
    return None if sector is None else (sector.id, sector.name)


def _naive(
    model: list[tuple[int, str]], reference: SectorReference, *, known: list[Sector], create: bool
) -> Answer:
    """The rule, told without indexes: walk the list."""
    named = None
    if reference.name is not None:
        named = next((row for row in model if folded_name(row[1]) == folded_name(reference.name)), None)
    if reference.id is not None:
        numbered = next(
            ((sector.id, sector.name) for sector in known if str(sector.id) == reference.id), None
        )
        if numbered is None:
            return "unknown_sector"
        return numbered if reference.name is None or named == numbered else "sector_conflict"
    if named is None and create and reference.name is not None:
        named = (max((number for number, _ in model), default=0) + 1, " ".join(reference.name.split()))
        model.append(named)
    return named
