"""Granian inside this process: take a port for ourselves, serve an ASGI application on it, stop gracefully.

Granian binds with SO_REUSEPORT, so that two servers started on one port would silently share its requests, and count
two quotas. So the port is claimed exclusively first. Knows no route and no setting.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import attrs

from awareness_server.exit_codes import CommandFailed, ExitCode

AsgiApp = Callable[..., Awaitable[None]]

_GRACE_SECONDS = 30.0
_CONNECT_ATTEMPTS_EVERY = 0.01


@attrs.frozen(kw_only=True)
class Address:
    """Where a server listens: a numeric IP address and a port."""

    ip: str
    port: int

    @property
    def url(self) -> str:
        """As one opens it from this machine."""
        host = {"0.0.0.0": "localhost", "::": "localhost", "127.0.0.1": "localhost"}.get(self.ip, self.ip)  # noqa: S104 (shown, not bound)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


@contextlib.contextmanager
def claimed_port(host: str, port: int) -> Iterator[Address]:
    """The address of `host` and `port`, ours alone until the block ends; port 0 means any free one.

    Raises `CommandFailed` when somebody listens there already, or the host is not this machine's.
    """
    family, _, _, _, place = _resolve(host, port)
    with socket.socket(family, socket.SOCK_STREAM) as claim:
        claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            claim.bind(place)
        except OSError as error:
            raise _refusal(host, port, error) from error
        # From here on Granian may bind beside us, while another claim, which has the option off, may not.
        claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        ip, actual_port = claim.getsockname()[:2]
        yield Address(ip=ip, port=actual_port)


async def serve_app(app: AsgiApp, address: Address, *, on_ready: Callable[[], None] = lambda: None) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight, 30 seconds at most.

    `on_ready` is called once connections are answered. `address` comes from `claimed_port`, still open.
    """
    from granian.constants import Interfaces
    from granian.server.embed import Server

    server = Server(app, address=address.ip, port=address.port, interface=Interfaces.ASGI, websockets=False)
    stopping = asyncio.Event()
    _stop_on_signals(stopping)
    serving = asyncio.ensure_future(server.serve())
    announcing = asyncio.ensure_future(_announce(address, on_ready))
    waiting = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        server.stop()  # type: ignore[no-untyped-call]
        await asyncio.wait({serving}, timeout=_GRACE_SECONDS)
        if serving.done():
            serving.result()
    finally:
        for task in (announcing, waiting, serving):
            task.cancel()


async def _announce(address: Address, on_ready: Callable[[], None]) -> None:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.ip, address.ip)  # noqa: S104 (connected to, not bound)
    while True:
        try:
            _, writer = await asyncio.open_connection(host, address.port)
        except OSError:
            await asyncio.sleep(_CONNECT_ATTEMPTS_EVERY)
            continue
        writer.close()
        on_ready()
        return


def _stop_on_signals(stopping: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)


def _resolve(host: str, port: int) -> tuple[Any, ...]:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise CommandFailed(
            f"host '{host}' is not known here; 127.0.0.1 serves this machine, 0.0.0.0 all networks",
            ExitCode.BAD_SETTINGS,
        ) from error


def _refusal(host: str, port: int, error: OSError) -> CommandFailed:
    if error.errno == errno.EADDRINUSE:
        return CommandFailed(
            f"port {port} of {host} is in use; stop what listens there or give another --port"
        )
    if error.errno == errno.EACCES:
        return CommandFailed(f"port {port} needs more rights than this user has; give a --port above 1023")
    return CommandFailed(
        f"cannot listen on {host} port {port}: {error.strerror}; is {host} this machine's address?"
    )
