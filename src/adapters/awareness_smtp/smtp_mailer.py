"""Letters taken to an SMTP server: few connections in all, one outcome for each letter, whatever the server does.

Decides how much patience a call has in all; what one connection makes of one letter is `smtp_session`'s.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

import attrs

from awareness_core.emails import InvalidEmail
from awareness_core.ports import Delivery, InvitationLetter, refuse_inside_transaction
from awareness_smtp.dkim_signing import DkimKey, signed
from awareness_smtp.mail_settings import parse_mail_server, parse_sender
from awareness_smtp.messages import InvitationMessages, Message
from awareness_smtp.outcomes import log_refusals, refusal
from awareness_smtp.smtp_call import SmtpCall
from awareness_smtp.smtp_connections import SmtpConnections
from awareness_smtp.smtp_session import SmtpSession

STEP_TIMEOUT = timedelta(seconds=10)
"""How long the server may take for each answer, and for connecting."""

CALL_LIMIT = timedelta(seconds=20)
"""After so long a call is over, whatever is under way: somebody waits for it."""

RETRY_WAITS = (timedelta(seconds=1), timedelta(seconds=3))
"""How long a letter waits before it is tried again when it was refused for now, and a call when the server is away."""


class SmtpMailer:
    """A `Mailer` over SMTP.

    All calls together open `connections` at most, a call no more than it has letters, and each is used for one letter
    after another; a connection that was lost is opened anew. Calls that run at the same time share them evenly. When
    connecting fails, or two letters of a call in a row are not answered in time, it begins no more for each of
    `retry_waits`, and then gives up the rest. A letter that was refused for now is tried again after waits of its own,
    while there is time. An address for which the server does not answer costs half of `call_limit` at most as long as
    others were not tried yet, and is tried again last. A letter of which it is not known
    whether the server took it is not accepted, and not sent again.
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
        self._connections_at_most = connections
        self._connections = SmtpConnections(connections)
        self._step_timeout = step_timeout
        self._call_limit = call_limit
        self._address_timeout = call_limit / 2
        self._retry_waits = retry_waits
        self._tls_context = tls_context
        self._dkim_key = dkim_key

    def __repr__(self) -> str:
        return f"SmtpMailer({self._server.place}, from {self._sender.address})"

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """One outcome a letter, in order. A 5xx answer to a letter is permanent, everything else may work later."""
        refuse_inside_transaction()
        tls_context = await self._context()
        call = SmtpCall(
            letters,
            retry_waits=self._retry_waits,
            stop_at=asyncio.get_running_loop().time() + self._call_limit.total_seconds(),
        )
        new_session = partial(
            SmtpSession,
            self._server,
            sender=self._sender,
            step_timeout=self._step_timeout,
            tls_context=tls_context,
        )
        try:
            async with asyncio.TaskGroup() as lanes:
                for _ in range(min(self._connections_at_most, len(letters))):
                    lanes.create_task(self._send_each(call, new_session))
        finally:
            await self._connections.close_idle()
        deliveries = call.deliveries()
        log_refusals(letters, deliveries)
        return deliveries

    async def _send_each(self, call: SmtpCall, new_session: Callable[[], SmtpSession]) -> None:
        while (place := await call.next_place()) is not None:
            letter, outage = call.letters[place], call.outage
            tried: SmtpSession | None = None
            try:
                async with asyncio.timeout_at(call.stop_at):
                    message = await self._written(letter)
                    if isinstance(message, Delivery):
                        call.note(place, message)
                        continue
                    async with self._connections.one(call, new_session) as tried:
                        delivery = await tried.send(
                            message,
                            outage,
                            address_timeout=self._address_timeout if call.has_untried else None,
                            secrets=(letter.password,),
                        )
                        call.note(place, delivery, outage=outage, was_kept_waiting=tried.was_kept_waiting)
            except TimeoutError:
                taken = f"the call took longer than {self._call_limit.total_seconds():g} s"
                call.end(taken)
                # Nobody else has had the session since: there was nothing to wait for in between.
                call.note(
                    place,
                    refusal(f"not tried: {taken}", tried=False) if tried is None else tried.broken_off(taken),
                )

    async def _written(self, letter: InvitationLetter) -> Message | Delivery:
        """The letter as it is sent, or the refusal of one that cannot be written."""
        try:
            message = self._messages.write(letter)
        except InvalidEmail as error:
            return refusal(f"the address cannot be written to: {error}", permanent=True)
        if self._dkim_key is None:
            return message
        content = await asyncio.to_thread(signed, message.content, self._dkim_key, domain=self._sender.domain)
        return attrs.evolve(message, content=content)

    async def _context(self) -> ssl.SSLContext:
        # Reading the system's authorities takes tens of milliseconds, once; the event loop does not wait for it.
        if self._tls_context is None:
            self._tls_context = await asyncio.to_thread(ssl.create_default_context)
        return self._tls_context
