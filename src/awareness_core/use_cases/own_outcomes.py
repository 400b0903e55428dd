"""What somebody at the portal is shown of themselves."""

from __future__ import annotations

from collections.abc import Sequence

from awareness_core.outcomes import OwnOutcome, OwnResult, told_outcomes
from awareness_core.ports import Ports
from awareness_core.sessions import Membership


async def read_own_outcomes(ports: Ports, member: Membership) -> Sequence[OwnOutcome]:
    """How the simulated mails went that they were sent, the latest first; see `outcomes.told_outcomes`."""
    async with ports.store.reading(member.company_id) as reading:
        found = await reading.recipients_of_employees([member.employee_id])
        results = [OwnResult(campaign_id=one.campaign_id, progress=one.recipient.progress) for one in found]
        campaigns = await reading.campaigns_by_id({result.campaign_id for result in results})
    return told_outcomes(results, campaigns, now=ports.clock.now())
