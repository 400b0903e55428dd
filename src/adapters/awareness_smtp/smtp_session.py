"""One connection to a mail server, and what it makes of one letter after another.

Reads each answer's own code, as a server may refuse one recipient for good and the next for now. Never raises for what
a server does.
"""

from __future__ import annotations

import contextlib
import ssl
from base64 import b64encode
from collections.abc import Sequence
from datetime import timedelta

import aiosmtplib
import attrs

from awareness_core.ports import Delivery
from awareness_smtp.mail_settings import MailServer, Security, Sender
from awareness_smtp.messages import Message
from awareness_smtp.outcomes import refusal
from awareness_smtp.plain_text import one_line
from awareness_smtp.redacted_addresses import without_recipient

_CLOSING = 421
_GOODBYE_S = 2.0
_MAX_UNANSWERED = 2
_ADDRESS, _DATA = "RCPT TO", "DATA"


class Outage:
    """Why the rest of a call is given up, once it is. Shared by the connections of one call."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._unanswered = 0

    def declare(self, reason: str) -> None:
        """Give up the rest. The first reason stays."""
        self.reason = self.reason or reason

    def note_unanswered(self, what: str) -> None:
        """A letter waited in vain. After two in a row the rest is given up, or a hung server would cost each a wait."""
        self._unanswered += 1
        if self._unanswered >= _MAX_UNANSWERED:
            self.declare(f"{what}, {self._unanswered} letters in a row")

    def note_answered(self) -> None:
        """The server answered a letter, one way or the other."""
        self._unanswered = 0


class SmtpSession:
    """A connection that is opened for the first letter, kept for the next, and opened anew when it was lost."""

    def __init__(
        self,
        server: MailServer,
        *,
        sender: Sender,
        step_timeout: timedelta,
        tls_context: ssl.SSLContext,
    ) -> None:
        self._server = server
        self._sender = sender
        self._timeout = self._address_timeout = step_timeout.total_seconds()
        self._tls_context = tls_context
        self._smtp: aiosmtplib.SMTP | None = None
        self._secrets = _forms(server.user, server.password)
        self._step: str | None = None
        self.was_kept_waiting = False

    async def send(
        self,
        message: Message,
        outage: Outage,
        *,
        address_timeout: timedelta | None = None,
        secrets: Sequence[str] = (),
    ) -> Delivery:
        """Take one letter to the server, unless its call is given up, which what happens may lead to.

        The server has no longer than `address_timeout` to say whether it takes the address. `was_kept_waiting` tells
        then whether an answer did not come in time. No address and none of `secrets` gets into the outcome's detail.
        """
        self._step = None
        self.was_kept_waiting = False
        self._address_timeout = min(
            self._timeout, self._timeout if address_timeout is None else address_timeout.total_seconds()
        )
        try:
            outcome = await self._send(message, outage)
            self._step = None
        except Exception as error:  # noqa: BLE001 - whatever a strange server makes the client raise is one letter's failure
            self._drop()
            said = _without(message, str(error))
            outcome = refusal(f"{self._server.place}: {type(error).__name__}: {said}")
        except BaseException:
            # Cancelled with an answer still to come: there is no telling it from the answer to a goodbye.
            self._drop()
            raise
        if outcome.accepted:
            return outcome
        return refusal(
            outcome.detail,
            tried=outcome.tried,
            permanent=outcome.permanent,
            in_doubt=outcome.in_doubt,
            secrets=(*secrets, *self._secrets),
        )

    def broken_off(self, why: str) -> Delivery:
        """What is known of the letter whose `send`, the last one, was cancelled: in doubt once it was handed over."""
        step, self._step = self._step, None
        match step:
            case None:
                return refusal(f"not tried: {why}", tried=False)
            case "connecting":
                return refusal(f"{self._server.place}: cannot connect: no answer until {why}", tried=False)
            case "DATA":
                return refusal(f"{why}; {UNKNOWN}", in_doubt=True)
            case _:
                return refusal(f"{step} was not answered until {why}")

    async def close(self) -> None:
        """Say goodbye, without waiting long for an answer."""
        if self._smtp is not None and self._smtp.is_connected:
            with contextlib.suppress(aiosmtplib.SMTPException, OSError):
                await self._smtp.quit(timeout=min(self._timeout, _GOODBYE_S))
        self._drop()

    async def _send(self, message: Message, outage: Outage) -> Delivery:
        while outage.reason is None:
            smtp = self._smtp if self._smtp is not None and self._smtp.is_connected else None
            is_new = smtp is None
            if smtp is None:
                self._step = "connecting"
                opened = await self._open()
                if isinstance(opened, str):
                    outage.declare(opened)
                    return refusal(opened, tried=False)
                smtp = self._smtp = opened
            outcome = await self._hand_over(smtp, message, outage)
            if isinstance(outcome, Delivery):
                return outcome
            # The letter was not handed over. On a connection that had been idle, or has carried all that the server
            # takes at once, that says nothing about the server: it gets one more try on a new connection.
            self._drop()
            if is_new:
                return refusal(outcome.detail)
        return refusal(f"not tried: {outage.reason}", tried=False)

    async def _hand_over(self, smtp: aiosmtplib.SMTP, message: Message, outage: Outage) -> Delivery | _Lost:
        if message.needs_smtputf8 and not smtp.supports_extension("smtputf8"):
            return refusal(
                f"{self._server.place} does not take addresses that are not ASCII before the @ (no SMTPUTF8)",
                permanent=True,
            )
        encoding = "utf-8" if message.needs_smtputf8 else "ascii"
        options = ["SMTPUTF8"] if message.needs_smtputf8 else []
        step = self._step = "MAIL FROM"
        try:
            await smtp.mail(self._sender.address, options=options, encoding=encoding)
            step = self._step = _ADDRESS
            await smtp.rcpt(message.recipient, encoding=encoding, timeout=self._address_timeout)
            step = self._step = _DATA
            await smtp.data(message.content)
        except aiosmtplib.SMTPResponseException as error:
            outage.note_answered()
            return await self._answered(smtp, step, error.code, _without(message, error.message))
        except aiosmtplib.SMTPTimeoutError:
            return self._unanswered(step, outage)
        except (aiosmtplib.SMTPServerDisconnected, OSError):
            self._drop()
            if step == _DATA:
                return refusal(f"the connection was lost after {_DATA}; {UNKNOWN}", in_doubt=True)
            return _Lost(detail=f"the connection was lost at {step}")
        outage.note_answered()
        return Delivery(accepted=True)

    async def _answered(self, smtp: aiosmtplib.SMTP, step: str, code: int, said: str) -> Delivery | _Lost:
        detail = f"{step} was refused: {code} {said}"
        if code == _CLOSING and step != _DATA:
            return _Lost(detail=detail)
        if 400 <= code < 600 and code != _CLOSING:  # noqa: PLR2004 - RFC 5321 §4.2.1
            # The answer to the letter stands, whatever becomes of the connection after it.
            try:
                await smtp.rset()
            except (aiosmtplib.SMTPException, OSError):
                self._drop()
        else:
            self._drop()
        return refusal(detail, permanent=500 <= code < 600)  # noqa: PLR2004

    def _unanswered(self, step: str, outage: Outage) -> Delivery:
        self._drop()
        self.was_kept_waiting = True
        waited = self._address_timeout if step == _ADDRESS else self._timeout
        detail = f"{step} was not answered within {waited:g} s"
        if step != _ADDRESS:
            # It may be that address: a server that hangs as a whole does not answer the next connection either.
            outage.note_unanswered(detail)
        if step == _DATA:
            return refusal(f"{detail}; {UNKNOWN}", in_doubt=True)
        return refusal(detail)

    def _drop(self) -> None:
        if self._smtp is not None:
            self._smtp.close()
            self._smtp = None

    async def _open(self) -> aiosmtplib.SMTP | str:
        """Connect, encrypt, log in: a connection, or what went wrong."""
        server = self._server
        smtp = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port,
            # The name of this machine would take a look-up that nothing bounds; the sender's domain always exists.
            local_hostname=self._sender.domain,
            timeout=self._timeout,
            use_tls=server.security is Security.TLS,
            start_tls=False,
            tls_context=self._tls_context,
        )
        try:
            await smtp.connect()
            await _introduce(smtp)
            await self._encrypt(smtp)
            if server.user is not None and server.password is not None:
                await smtp.login(server.user, server.password)
        except (aiosmtplib.SMTPException, OSError) as error:
            smtp.close()
            return f"{server.place}: {_connecting_fault(error, self._timeout)}"
        except BaseException:
            smtp.close()
            raise
        return smtp

    async def _encrypt(self, smtp: aiosmtplib.SMTP) -> None:
        if self._server.security not in {Security.STARTTLS_REQUIRED, Security.STARTTLS_IF_OFFERED}:
            return
        if smtp.supports_extension("starttls"):
            await smtp.starttls()
            await _introduce(smtp)
        elif self._server.security is Security.STARTTLS_REQUIRED:
            raise aiosmtplib.SMTPNotSupported(
                "the server offers no STARTTLS, so nothing was sent to it; use smtps://, "
                "or add ?starttls=never if the way to the server is trusted"
            )


UNKNOWN = "it is not known whether the server took the letter, so it counts as not accepted"


@attrs.frozen(kw_only=True)
class _Lost:
    """The connection ended before the letter was handed over."""

    detail: str


def _without(message: Message, said: str) -> str:
    return without_recipient(one_line(said), message.recipient)


async def _introduce(smtp: aiosmtplib.SMTP) -> None:
    try:
        await smtp.ehlo()
    except aiosmtplib.SMTPHeloError:
        await smtp.helo()


def _connecting_fault(error: Exception, timeout: float) -> str:
    cause = error.__cause__ if isinstance(error.__cause__, ssl.SSLError) else error
    match cause:
        case ssl.SSLCertVerificationError():
            return (
                f"the server's certificate is not trusted: {cause.verify_message}; "
                "if an authority of your own signed it, name its file in SSL_CERT_FILE"
            )
        case aiosmtplib.SMTPAuthenticationError():
            return f"the server refused the user or the password: {cause.code} {cause.message}"
        case aiosmtplib.SMTPResponseException():
            return f"the server refused the connection: {cause.code} {cause.message}"
        case TimeoutError():
            return f"{'' if _is_connected(cause) else 'cannot connect: '}no answer within {timeout:g} s"
        case aiosmtplib.SMTPConnectError() if cause.__cause__ is not None:
            return f"cannot connect: {cause.__cause__}"
        case _:
            return str(cause)


def _is_connected(error: TimeoutError) -> bool:
    """Whether the time-out came after the connection, as that of a server that never greets."""
    return not isinstance(error, aiosmtplib.SMTPConnectTimeoutError) or isinstance(
        error.__cause__, aiosmtplib.SMTPTimeoutError
    )


def _forms(user: str | None, password: str | None) -> tuple[str, ...]:
    """What a server could quote of the login: the password, and the base64 that it travels in."""
    if user is None or password is None:
        return ()
    sent = (password, f"\0{user}\0{password}")
    return (password, *(b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii") for text in sent))
