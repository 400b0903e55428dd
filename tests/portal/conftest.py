"""The portal on each store that it is told of."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from awareness_sql.migration import migrate
from tests.contracts.postgres_database import open_postgres, postgres  # noqa: F401 -- a fixture
from tests.contracts.storages import memory_storage, storage_of
from tests.portal.site import Site, new_site


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("migrated") / "empty.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def stored(request: pytest.FixtureRequest, migrated: Path, tmp_path: Path) -> AsyncIterator[Site]:
    """The portal on each store, for what a store has a part in."""
    if request.param == "postgres":
        async with open_postgres(request.getfixturevalue("postgres")) as storage:
            yield await new_site(storage, public_url="https://portal.example")
    else:
        async with storage_of(request.param, migrated, tmp_path) as storage:
            yield await new_site(storage, public_url="https://portal.example")


@pytest.fixture
async def site() -> Site:
    """The portal on memory, for what happens in front of any store."""
    return await new_site(memory_storage())
