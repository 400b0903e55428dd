"""Letters taken to an SMTP server: few connections for a call, one outcome for each letter, whatever the server does.

Decides how much patience a call has in all; what one connection makes of one letter is `smtp_session`'s.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator, Sequence
from datetime import timedelta

import attrs

from awareness_core.emails import InvalidEmail
from awareness_core.ports import Delivery, InvitationLetter, refuse_inside_transaction
from awareness_smtp.dkim_signing import DkimKey, signed
from awareness_smtp.mail_settings import parse_mail_server, parse_sender
from awareness_smtp.messages import InvitationMessages
from awareness_smtp.outcomes import log_refusals, refusal
from awareness_smtp.smtp_session import Outage, SmtpSession

STEP_TIMEOUT = timedelta(seconds=10)
"""How long the server may take for each answer, and for connecting."""

CALL_LIMIT = timedelta(seconds=20)
"""After so long a call is over, whatever is under way: somebody waits for it."""

RETRY_WAITS = (timedelta(seconds=1), timedelta(seconds=3))
"""How long a call waits before it tries again those that were refused for now."""


class SmtpMailer:
    """A `Mailer` over SMTP.

    A call opens `connections` at most, no more than it has letters, and uses each for one letter after another; a
    connection that was lost is opened anew. When connecting fails, or two letters in a row are not answered in time,
    the rest fails at once. What was refused for now is tried again after each of `retry_waits`, while there is time. A
    letter of which it is not known whether the server took it is not accepted, and not sent again.
    """

    def __init__(
        self,
        url: str,
        sender: str,
        *,
        login_url: str | None = None,
        connections: int = 1,
        step_timeout: timedelta = STEP_TIMEOUT,
        call_limit: timedelta = CALL_LIMIT,
        retry_waits: Sequence[timedelta] = RETRY_WAITS,
        tls_context: ssl.SSLContext | None = None,
        dkim_key: DkimKey | None = None,
    ) -> None:
        """Connects to nothing. Raises `InvalidMailSetting`; see `parse_mail_server`, `parse_sender`, `parse_login_url`.

        `tls_context` replaces the usual one, which trusts the system's authorities (and `SSL_CERT_FILE`). With a
        `dkim_key` each letter is signed for the sender's domain.
        """
        self._server = parse_mail_server(url)
        self._sender = parse_sender(sender)
        self._messages = InvitationMessages(self._sender, login_url=login_url)
        self._connections = connections
        self._step_timeout = step_timeout
        self._call_limit = call_limit
        self._retry_waits = retry_waits
        self._tls_context = tls_context
        self._dkim_key = dkim_key

    def __repr__(self) -> str:
        return f"SmtpMailer({self._server.place}, from {self._sender.address})"

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """One outcome a letter, in order. A 5xx answer to a letter is permanent, everything else may work later."""
        refuse_inside_transaction()
        tls_context = await self._context()
        stop_at = asyncio.get_running_loop().time() + self._call_limit.total_seconds()
        outcomes: dict[int, Delivery] = {}
        await self._send_all(list(enumerate(letters)), outcomes, stop_at, tls_context)
        for wait in self._retry_waits:
            again = [
                (place, letter) for place, letter in enumerate(letters) if _is_worth_a_retry(outcomes[place])
            ]
            if not again or asyncio.get_running_loop().time() + wait.total_seconds() >= stop_at:
                break
            await asyncio.sleep(wait.total_seconds())
            await self._send_all(again, outcomes, stop_at, tls_context)
        deliveries = [outcomes[place] for place in range(len(letters))]
        log_refusals(letters, deliveries)
        return deliveries

    async def _send_all(
        self,
        letters: Sequence[tuple[int, InvitationLetter]],
        outcomes: dict[int, Delivery],
        stop_at: float,
        tls_context: ssl.SSLContext,
    ) -> None:
        waiting = iter(letters)
        outage = Outage()
        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(self._connections, len(letters))):
                lanes.create_task(self._send_each(waiting, outcomes, outage, stop_at, tls_context))

    async def _send_each(
        self,
        waiting: Iterator[tuple[int, InvitationLetter]],
        outcomes: dict[int, Delivery],
        outage: Outage,
        stop_at: float,
        tls_context: ssl.SSLContext,
    ) -> None:
        session = SmtpSession(
            self._server,
            sender=self._sender,
            outage=outage,
            step_timeout=self._step_timeout,
            tls_context=tls_context,
        )
        try:
            for place, letter in waiting:
                try:
                    async with asyncio.timeout_at(stop_at):
                        outcomes[place] = await self._send(session, letter)
                except TimeoutError:
                    taken = f"the call took longer than {self._call_limit.total_seconds():g} s"
                    outage.declare(taken)
                    outcomes[place] = session.broken_off(taken)
        finally:
            await session.close()

    async def _send(self, session: SmtpSession, letter: InvitationLetter) -> Delivery:
        try:
            message = self._messages.write(letter)
        except InvalidEmail as error:
            return refusal(f"the address cannot be written to: {error}", permanent=True)
        if self._dkim_key is not None:
            content = await asyncio.to_thread(
                signed, message.content, self._dkim_key, domain=self._sender.domain
            )
            message = attrs.evolve(message, content=content)
        return await session.send(message, secrets=(letter.password,))

    async def _context(self) -> ssl.SSLContext:
        # Reading the system's authorities takes tens of milliseconds, once; the event loop does not wait for it.
        if self._tls_context is None:
            self._tls_context = await asyncio.to_thread(ssl.create_default_context)
        return self._tls_context


def _is_worth_a_retry(delivery: Delivery) -> bool:
    return not (delivery.accepted or delivery.permanent or delivery.in_doubt)
