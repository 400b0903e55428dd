"""Take in what a tool tells of one campaign: its recipients and what happened to them, a batch of lines at a time.

All of it is written, or on any fault none. What is told again changes nothing, whatever the order.
"""

from __future__ import annotations

from awareness_core.ports import Ports
from awareness_core.results_intake import ImportOutcome, ResultsPayload, take_in
from awareness_core.tenants import CompanyId


async def import_results(ports: Ports, company_id: CompanyId, payload: ResultsPayload) -> ImportOutcome:
    """Take in the payload, in one transaction; the company's rules say what a machine did.

    Raises `ValidationFailed` when the campaign would end before it starts, `NotFound` for an unknown company, and
    whatever reading the payload raises.
    """
    async with ports.store.transaction(company_id) as transaction:
        return await take_in(ports, transaction, payload)
