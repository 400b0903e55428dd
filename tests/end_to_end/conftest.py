"""What several of these tests start from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.end_to_end.in_process import InProcess
from tests.end_to_end.installed import Installation


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database with the company Acme in it, to copy from."""
    installation = Installation(tmp_path_factory.mktemp("template"))
    installation.must("migrate")
    installation.must("company", "create", "Acme")
    return installation.folder / "awareness.db"


@pytest.fixture
def acme(template: Path, tmp_path: Path) -> Installation:
    """An installation with a copy of it; its commands that come to an end do so in this process."""
    shutil.copy(template, tmp_path / "awareness.db")
    return InProcess(tmp_path)
