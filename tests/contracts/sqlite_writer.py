"""A program that writes to an SQLite store until it is done or killed, and prints the name of each write once told that
it was kept: `python -m tests.contracts.sqlite_writer PATH TAG COUNT TASKS`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

import attrs

from awareness_core.employees import Employee, EmployeeChange, EmployeeId
from awareness_sql import SqlStorage, open_storage
from tests.contracts.storages import ACME, changed, person

COUNTER = person(9999, last_name="0")
"""Somebody whose last name counts the writes."""


async def write(storage: SqlStorage, tag: str, numbers: Iterator[int]) -> None:
    """Hire somebody and count up, in one transaction, for each of `numbers`."""
    for number in numbers:
        name = f"{tag}{number}"
        async with storage.store.transaction(ACME.id) as transaction:
            (counter,) = await transaction.employees_by_id([COUNTER.id])
            await transaction.apply(
                changes=[
                    EmployeeChange(before=None, after=_named(name)),
                    changed(counter, last_name=str(int(counter.last_name) + 1)),
                ]
            )
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()


def _named(name: str) -> Employee:
    return attrs.evolve(person(0, email=f"{name}@acme.example"), id=EmployeeId(name))


async def main(path: str, tag: str, count: int, tasks: int) -> None:
    numbers = iter(range(count))
    async with open_storage(f"sqlite:///{path}") as storage:
        await asyncio.gather(*(write(storage, tag, numbers) for _ in range(tasks)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
