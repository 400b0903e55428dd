"""What the tests' real server serves: the application on an SQLite file, with one company and one key.

Run by Granian in a process of its own; see `granian_process`. It tells on its standard output what a test waits for.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from litestar.types import ASGIApp

from awareness_core.ports import Delivery, InvitationLetter, Ports
from awareness_core.quota import QuotaPolicy
from awareness_core.tenants import Company
from awareness_core.use_cases.companies import create_company
from awareness_core.use_cases.issue_api_key import issue_api_key
from awareness_http import create_app
from awareness_memory import MemoryQuotaCounter, SystemClock, SystemEntropy
from awareness_sql import open_storage
from tests.http.service import BUILT_SCOPES

DATABASE = "SERVED_DATABASE"
MAIL_SECONDS = "SERVED_MAIL_SECONDS"
BODY_SECONDS = 0.5

_GENEROUS = QuotaPolicy(limit=1_000_000, window=timedelta(seconds=900))


def create() -> ASGIApp:
    """Granian's factory."""
    storage = open_storage(f"sqlite:///{os.environ[DATABASE]}")
    clock = SystemClock()
    ports = Ports(
        clock=clock,
        entropy=SystemEntropy(),
        companies=storage.companies,
        api_keys=storage.api_keys,
        store=storage.store,
        sources=storage.sources,
        mailer=_SlowMailer(float(os.environ[MAIL_SECONDS])),
        quota=MemoryQuotaCounter(clock),
    )

    @asynccontextmanager
    async def life() -> AsyncIterator[None]:
        async with storage:
            company = await _company(ports)
            issued = await issue_api_key(ports, company.id, name="served", scopes=BUILT_SCOPES)
            _tell(key=issued.text)
            yield
        _tell(stopped=True)

    return create_app(
        ports, lifespan=life, body_idle_seconds=BODY_SECONDS, access_log=False, key_quota=_GENEROUS
    )


async def _company(ports: Ports) -> Company:
    """The only one, made by the first program that serves this file."""
    for company in await ports.companies.list_companies():
        return company
    return await create_company(ports, name="Served")


class _SlowMailer:
    """A mailer that takes its time, and says when it begins."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        for letter in letters:
            _tell(mailing=letter.email)
        await asyncio.sleep(self._seconds)
        return [Delivery(accepted=True) for _ in letters]


def _tell(**what: object) -> None:
    print(json.dumps(what), flush=True)
