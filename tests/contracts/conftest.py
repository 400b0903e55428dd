"""Each store under test, new and empty, with two companies in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from awareness_sql.migration import migrate
from tests.contracts.storages import ACME, GLOBEX, Storage, storage_of


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy, as migrating one for each test takes longer than the test."""
    path = tmp_path_factory.mktemp("migrated") / "empty.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["memory", "sqlite"])
async def empty_storage(
    request: pytest.FixtureRequest, migrated: Path, tmp_path: Path
) -> AsyncIterator[Storage]:
    async with storage_of(request.param, migrated, tmp_path) as storage:
        yield storage


@pytest.fixture
async def storage(empty_storage: Storage) -> Storage:
    await empty_storage.companies.add_company(ACME)
    await empty_storage.companies.add_company(GLOBEX)
    return empty_storage
