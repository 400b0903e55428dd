"""Changing a company: what is named changes, all of it or nothing, and nobody else's."""

from __future__ import annotations

import attrs
import pytest

from awareness_core.errors import Conflict, NotFound, ValidationFailed
from awareness_core.tenants import Company, Language
from awareness_core.use_cases.companies import change_company, create_company
from tests.core.worlds import World, new_world, run


async def two() -> tuple[World, Company, Company]:
    world = new_world()
    first = await create_company(world, name="First", color="#ABC", sso_domains=["sso.example"])
    return world, first, await create_company(world, name="Second")


def test_what_is_named_changes_and_the_rest_stays() -> None:
    async def story() -> None:
        world, first, second = await two()
        assert ("#aabbcc", None) == (first.color, second.color)

        for change, told in (
            ({"name": " Third "}, {"name": "Third"}),
            ({"language": Language.ENGLISH}, {"language": Language.ENGLISH}),
            ({"sso_domains": ["B.example"]}, {"sso_domains": frozenset({"b.example"})}),
            ({"sso_domains": []}, {"sso_domains": frozenset()}),
            ({"color": "1a5a9c"}, {"color": "#1a5a9c"}),
            ({"color": " "}, {"color": None}),
            ({}, {}),
        ):
            expected = attrs.evolve(first, **told)
            assert expected == await change_company(world, first, **change)
            assert {expected, second} == {*await world.companies.list_companies()}
            first = expected

    run(story())


def test_a_name_in_use_is_refused_in_every_spelling_but_ones_own() -> None:
    async def story() -> None:
        world, first, second = await two()
        with pytest.raises(Conflict, match="FIRST"):
            await change_company(world, second, name="FIRST")
        assert "FIRST" == (await change_company(world, first, name="FIRST")).name

    run(story())


def test_all_faults_are_told_and_nothing_is_changed() -> None:
    async def story() -> list[str]:
        world, first, second = await two()
        with pytest.raises(ValidationFailed) as refusal:
            await change_company(world, first, name=" ", sso_domains=["no domain"], color="red")
        assert [first, second] == await world.companies.list_companies()
        return [fault.field for fault in refusal.value.faults]

    assert ["name", "sso_domain", "color"] == run(story())


def test_a_company_that_is_gone_is_not_made_again() -> None:
    async def story() -> None:
        _, first, _ = await two()
        with pytest.raises(NotFound):
            await change_company(new_world(), first, color="#000000")

    run(story())
