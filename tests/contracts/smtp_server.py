"""A real SMTP server (aiosmtpd) on a port of its own that does what a test tells it: refuse, hang, hang up, encrypt.

`KEPT_WAITING`, `HUNG_UP` and `WENT_AWAY` (listening too) stand where an answer would; all else is the answer itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import email
import email.policy
import ssl
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import cast

import attrs
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

KEPT_WAITING = "kept waiting"
HUNG_UP = "hung up"
WENT_AWAY = "went away"

CERTIFICATE = Path(__file__).with_name("localhost.pem")


@attrs.define(kw_only=True)
class SmtpScript:
    """What to answer, by recipient (`rcpt`, `data`) or always (`mail`); None and what is not there mean 250.

    `hangs_up_after` ends a connection once it has carried so many letters, after the last answer was sent.
    `closes_after` answers 421 from then on instead, as servers do that limit what a connection may carry.
    Letters to whoever is in `held` are answered once they are not. `delay_s` is before a letter is taken,
    `answer_delay_s` between that and the answer.
    """

    mail: str | None = None
    rcpt: dict[str, str] = attrs.field(factory=dict)
    data: dict[str, str] = attrs.field(factory=dict)
    reset: str | None = None
    held: set[str] = attrs.field(factory=set)
    hangs_up_after: int | None = None
    closes_after: int | None = None
    delay_s: float = 0.0
    answer_delay_s: float = 0.0


@attrs.define(kw_only=True)
class SmtpServer:
    """A running server, and what it has seen. `letters` are those that it answered 250, in order."""

    script: SmtpScript
    port: int = 0
    connections: int = 0
    is_encrypted: list[bool] = attrs.field(factory=list)
    logins: list[str] = attrs.field(factory=list)
    letters: list[Envelope] = attrs.field(factory=list)
    handed_over: list[str] = attrs.field(factory=list)
    open_connections: int = 0
    most_connections: int = 0
    stop_listening: Callable[[], None] = lambda: None
    _may_answer: threading.Event = attrs.field(factory=threading.Event, init=False)

    def __attrs_post_init__(self) -> None:
        self._may_answer.set()

    def hold_answers(self) -> None:
        """Letters are read and not answered, until `release_answers`."""
        self._may_answer.clear()

    def release_answers(self) -> None:
        self._may_answer.set()

    async def wait_to_answer(self, recipient: str) -> None:
        while not self._may_answer.is_set() or recipient in self.script.held:  # noqa: ASYNC110 - set in another thread
            await asyncio.sleep(0.005)

    @property
    def recipients(self) -> list[str]:
        return [address for letter in self.letters for address in letter.rcpt_tos]

    @property
    def messages(self) -> list[EmailMessage]:
        return [read_message(letter.content) for letter in self.letters]


def read_message(content: bytes | str | None) -> EmailMessage:
    """Read it as a mail program does."""
    assert isinstance(content, bytes)
    message = email.message_from_bytes(content, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def trusting_context() -> ssl.SSLContext:
    """What a client needs that is to trust the server's certificate."""
    return ssl.create_default_context(cafile=CERTIFICATE)


@contextlib.asynccontextmanager
async def running_smtp_server(
    script: SmtpScript | None = None,
    *,
    starttls: bool = False,
    requires_starttls: bool = False,
    tls: bool = False,
    password: str | None = None,
    smtputf8: bool = True,
    host: str = "127.0.0.1",
) -> AsyncIterator[SmtpServer]:
    """Serve on the loop of the test. `password` is the one that user `awareness` may log in with."""
    server = SmtpServer(script=script or SmtpScript())

    def check_login(
        _: SMTP, session: Session, envelope: Envelope, mechanism: str, given: object
    ) -> AuthResult:
        assert isinstance(given, LoginPassword)
        server.logins.append(f"{mechanism} {given.login.decode()}")
        is_right = given == LoginPassword(b"awareness", (password or "").encode())
        return AuthResult(success=is_right, handled=is_right)

    def accept() -> SMTP:
        server.connections += 1
        with warnings.catch_warnings():
            # A login without encryption is what some tests are about.
            warnings.filterwarnings("ignore", message="Requiring AUTH while not requiring TLS")
            return _Connection(
                _Handler(server),
                hostname="mail.test",
                enable_SMTPUTF8=smtputf8,
                tls_context=server_context() if starttls or requires_starttls else None,
                require_starttls=requires_starttls,
                authenticator=check_login if password is not None else None,
                auth_required=password is not None,
                auth_require_tls=password is None,
            )

    listening = await asyncio.get_running_loop().create_server(
        accept, host, 0, ssl=server_context() if tls else None
    )
    server.stop_listening = listening.close
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


@contextlib.contextmanager
def smtp_server_beside(script: SmtpScript | None = None) -> Iterator[SmtpServer]:
    """Serve in a thread, for tests without an event loop. Whatever is kept waiting at the end is cut off."""
    started, stopping = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    servers: list[SmtpServer] = []

    async def serve() -> None:
        async with running_smtp_server(script) as server:
            servers.append(server)
            started.set()
            await stopping.wait()

    thread = threading.Thread(target=lambda: _run_to_the_end(loop, serve()), daemon=True)
    thread.start()
    try:
        assert started.wait(10)
        yield servers[0]
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()


def _run_to_the_end(loop: asyncio.AbstractEventLoop, work: Coroutine[None, None, None]) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(work)


class _Connection(SMTP):
    def connection_lost(self, error: Exception | None) -> None:
        self.event_handler.note_lost()
        super().connection_lost(error)


class _Handler:
    """What aiosmtpd asks at each step of one connection."""

    def __init__(self, server: SmtpServer) -> None:
        self._server = server
        server.open_connections += 1
        server.most_connections = max(server.most_connections, server.open_connections)
        self._carried = 0

    def note_lost(self) -> None:
        self._server.open_connections -= 1

    async def handle_MAIL(  # noqa: N802 - aiosmtpd's name
        self, smtp: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        script = self._server.script
        self._server.is_encrypted.append(session.ssl is not None)
        if script.closes_after is not None and self._carried >= script.closes_after:
            return "421 too many messages on one connection"
        answer = await self._answer(smtp, script.mail)
        if answer.startswith("250"):
            envelope.mail_from = address
            envelope.mail_options.extend(options)
        return answer

    async def handle_RCPT(  # noqa: N802
        self, smtp: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        answer = await self._answer(smtp, self._server.script.rcpt.get(address))
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, smtp: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        script = self._server.script
        (recipient,) = envelope.rcpt_tos
        self._server.handed_over.append(recipient)
        if script.delay_s:
            await asyncio.sleep(script.delay_s)
        await self._server.wait_to_answer(recipient)
        answer = await self._answer(smtp, script.data.get(recipient))
        if answer.startswith("250"):
            self._server.letters.append(envelope)
            self._carried += 1
            if script.answer_delay_s:
                await asyncio.sleep(script.answer_delay_s)
            if self._carried == script.hangs_up_after:
                asyncio.get_running_loop().call_soon(_transport(smtp).close)
        return answer

    async def handle_RSET(self, smtp: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        return await self._answer(smtp, self._server.script.reset)

    async def _answer(self, smtp: SMTP, scripted: str | None) -> str:
        if scripted == KEPT_WAITING:
            await asyncio.Event().wait()
        if scripted == WENT_AWAY:
            self._server.stop_listening()
        if scripted in {HUNG_UP, WENT_AWAY}:
            _transport(smtp).abort()
            await asyncio.Event().wait()
        return scripted or "250 OK"


def _transport(smtp: SMTP) -> asyncio.Transport:
    # Not every loop's transports are of asyncio's own classes.
    return cast("asyncio.Transport", smtp.transport)
