"""What the tests of importing share: the exports in tests/data, and a directory that counts writes to its database."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import attrs

from tests.end_to_end.in_process import InProcess
from tests.end_to_end.installed import Ended, Installation

DATA = Path(__file__).parents[1] / "data"


@attrs.frozen(kw_only=True)
class Export:
    """This month's and next month's export of one HR system. `flags` are how its files are imported."""

    name: str
    march: Path
    april: Path
    flags: tuple[str, ...] = ()


EXPORTS = (
    Export(
        name="csv-windows-1252",
        march=DATA / "csv-windows-1252" / "effectif-2026-03.csv",
        april=DATA / "csv-windows-1252" / "effectif-2026-04.csv",
    ),
    Export(
        name="csv-utf-8-bom",
        march=DATA / "csv-utf-8-bom" / "people-2026-03.csv",
        april=DATA / "csv-utf-8-bom" / "people-2026-04.csv",
        flags=("--deactivate-missing",),
    ),
    Export(
        name="json-api",
        march=DATA / "json-api" / "directory-2026-03.json",
        april=DATA / "json-api" / "directory-2026-04.json",
    ),
)


class Directory:
    """An installation with one company, made from a template, whose database is watched."""

    def __init__(self, folder: Path, template: Path, **settings: str) -> None:
        shutil.copy(template, folder / "awareness.db")
        self.installation = Installation(folder, **settings)
        self._here = InProcess(folder, **settings)
        self._watcher = sqlite3.connect(folder / "awareness.db")

    def close(self) -> None:
        self._watcher.close()

    def run(self, *arguments: str) -> Ended:
        """`awareness employees` with these arguments, for the company; in this process, which saves its imports."""
        return self._here.run("employees", *arguments, "--company", "acme")

    def run_installed(self, *arguments: str) -> Ended:
        """The same by the installed program."""
        return self.installation.run("employees", *arguments, "--company", "acme")

    def json(self, *arguments: str) -> dict[str, Any]:
        """The same, and the JSON that it prints."""
        done = self.run(*arguments, "--json")
        assert "Traceback" not in done.err
        answer: dict[str, Any] = done.json
        return answer

    def import_file(self, path: Path, *flags: str) -> dict[str, Any]:
        return self.json("import", str(path), *flags)

    def writes(self) -> int:
        """A number that changes with every write that anybody but us commits to the database."""
        (version,) = self._watcher.execute("PRAGMA data_version").fetchone()
        return int(version)

    def people(self) -> list[dict[str, Any]]:
        """Everyone, with every field but those of time."""
        found: list[dict[str, Any]] = []
        page = 1
        while True:
            answer = self.json("list", "--limit", "100", "--page", str(page))
            found += answer["data"]
            if not answer["pagination"]["has_more"]:
                return [
                    {name: value for name, value in person.items() if not name.endswith("_at")}
                    for person in found
                ]
            page += 1


def without_ids(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a report, comparable between a plan and what was done."""
    return [
        {name: value for name, value in result.items() if name not in {"planned", "id"}}
        for result in report["results"]
    ]
