"""Each store under test, new and empty, with two companies in it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from awareness_sql import SqlStorage, open_storage
from awareness_sql.migration import migrate
from tests.contracts.postgres_database import open_postgres, postgres  # noqa: F401 -- a fixture
from tests.contracts.storages import ACME, GLOBEX, Storage, storage_of


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy, as migrating one for each test takes longer than the test."""
    path = tmp_path_factory.mktemp("migrated") / "empty.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def empty_storage(
    request: pytest.FixtureRequest, migrated: Path, tmp_path: Path
) -> AsyncIterator[Storage]:
    if request.param == "postgres":
        async with open_postgres(request.getfixturevalue("postgres")) as storage:
            yield storage
    else:
        async with storage_of(request.param, migrated, tmp_path) as storage:
            yield storage


@pytest.fixture
async def storage(empty_storage: Storage) -> Storage:
    await empty_storage.companies.add_company(ACME)
    await empty_storage.companies.add_company(GLOBEX)
    return empty_storage


@pytest.fixture
def path(migrated: Path, tmp_path: Path) -> Path:
    """A migrated SQLite file, for tests of what only SQLite has."""
    return Path(shutil.copy(migrated, tmp_path / "awareness.db"))


@pytest.fixture
async def sqlite(path: Path) -> AsyncIterator[SqlStorage]:
    """A store on `path`, with two companies in it."""
    async with open_storage(f"sqlite:///{path}") as storage:
        await storage.companies.add_company(ACME)
        await storage.companies.add_company(GLOBEX)
        yield storage
