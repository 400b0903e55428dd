"""A mailer that tells Prometheus what became of letters. No company, no person."""

from __future__ import annotations

import os
from collections import Counter as Tally
from collections.abc import Sequence

import attrs
from prometheus_client import CollectorRegistry, Counter

from awareness_core.ports import Delivery, InvitationLetter, Mailer, PortalPorts


class CountedMailer:
    """The mailer `inner`, whose outcomes are counted in `registry`."""

    def __init__(self, inner: Mailer, registry: CollectorRegistry) -> None:
        self._inner = inner
        # What lies in files is collected from the files; registered as well, it would be told twice.
        told_by = None if os.environ.get("PROMETHEUS_MULTIPROC_DIR") else registry
        self._mails = Counter(
            "awareness_mails", "Mails by what became of them.", ["outcome"], registry=told_by
        )

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """As the inner one's."""
        deliveries = await self._inner.send_invitations(letters)
        for outcome, count in Tally(map(_outcome, deliveries)).items():
            self._mails.labels(outcome).inc(count)
        return deliveries


def with_counted_mail(ports: PortalPorts, registry: CollectorRegistry) -> PortalPorts:
    """The same, and whatever they mail is counted."""
    return attrs.evolve(ports, mailer=CountedMailer(ports.mailer, registry))


def _outcome(delivery: Delivery) -> str:
    if delivery.accepted:
        return "accepted"
    if delivery.in_doubt:
        return "unknown"
    return "refused" if delivery.permanent else "failed"
