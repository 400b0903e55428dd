"""A program that carries out named requests once each, and prints each name with the answer it got:
`python -m tests.contracts.once_writer URL COUNT TASKS SECONDS_AHEAD`.

Each request counts up, so that one carried out twice shows. Its clock is ahead, so that leases of programs that were
killed have ended.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta

import attrs

from awareness_core.errors import StillRunning
from awareness_core.ports import Ports
from awareness_core.receipts import ReceiptId
from awareness_core.use_cases.once import AnsweredBefore, kept_answer, once
from awareness_memory import SystemClock, memory_ports
from awareness_sql import open_storage
from tests.contracts.sqlite_writer import COUNTER
from tests.contracts.storages import ACME, changed


@attrs.frozen
class _ClockAhead(SystemClock):
    ahead: timedelta

    def now(self) -> datetime:
        return super().now() + self.ahead


async def count_up(ports: Ports) -> int:
    """Add one to the counter, and tell what it says."""
    async with ports.store.transaction(ACME.id) as transaction:
        (counter,) = await transaction.employees_by_id([COUNTER.id])
        count = int(counter.last_name) + 1
        await transaction.apply(changes=[changed(counter, last_name=str(count))])
    return count


async def answer(ports: Ports, name: str) -> bytes:
    """The answer to the request of that name, whoever carries it out."""
    receipt_id = ReceiptId(name)

    async def fingerprint() -> bytes:
        return name.encode()

    while True:
        try:
            async with once(ports, ACME.id, receipt_id, fingerprint) as attempt:
                counted = b"%d" % await count_up(attempt.ports)
                await attempt.settle([counted])
                return counted
        except AnsweredBefore:
            return b"".join([part async for part in kept_answer(ports, ACME.id, receipt_id)])
        except StillRunning:
            await asyncio.sleep(0.005)


async def main(url: str, count: int, tasks: int, ahead: timedelta) -> None:
    async with open_storage(url) as storage:
        world: Ports = memory_ports(clock=_ClockAhead(ahead))
        ports = attrs.evolve(world, store=storage.store)
        await asyncio.gather(*(_ask_all(ports, map(str, range(count))) for _ in range(tasks)))


async def _ask_all(ports: Ports, names: Iterator[str]) -> None:
    for name in names:
        sys.stdout.write(f"{name} {(await answer(ports, name)).decode()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), timedelta(seconds=float(sys.argv[4]))))
