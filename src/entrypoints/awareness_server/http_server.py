"""Granian inside this process: take a port for ourselves, serve an ASGI application on it, stop gracefully.

Granian binds with SO_REUSEPORT, so that two servers started on one port would silently share its requests, and count
two quotas. So the port is claimed exclusively first. Knows no route and no setting.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import attrs

from awareness_server.exit_codes import CommandFailed, ExitCode
from awareness_server.garbage import look_seldom
from awareness_server.logs import granian_log_config, granian_log_level

AsgiApp = Callable[..., Awaitable[None]]

GRACE_SECONDS = 30
_CONNECT_EVERY_SECONDS = 0.01
_LOCAL = {"0.0.0.0", "::", "127.0.0.1"}  # noqa: S104 (not bound here)
# Where one connects to what listens everywhere.
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (not bound here)


@attrs.frozen(kw_only=True)
class Address:
    """Where a server listens: a numeric IP address and a port."""

    ip: str
    port: int

    @property
    def url(self) -> str:
        """As one opens it from this machine."""
        host = "localhost" if self.ip in _LOCAL else self.ip
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


async def serve_app(
    app: AsgiApp,
    address: Address,
    *,
    grace: float = GRACE_SECONDS,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight.

    Raises `CommandFailed` when that takes longer than `grace` seconds, or is cut short by a second signal.

    `on_ready` is called once connections are answered; what it raises ends the serving. `address` comes from
    `claimed_port`, still open.
    """
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server.embed import Server

    look_seldom()
    server = Server(
        app,
        address=address.ip,
        port=address.port,
        interface=Interfaces.ASGI,
        websockets=False,
        log_level=LogLevels(granian_log_level()),
        log_dictconfig=granian_log_config(),
    )
    stopping, hurrying = asyncio.Event(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(
            number, lambda: hurrying.set() if stopping.is_set() else stopping.set()
        )
    serving = asyncio.ensure_future(server.serve())
    waiting = asyncio.ensure_future(stopping.wait())
    losing_patience = asyncio.ensure_future(hurrying.wait())
    announcing = asyncio.ensure_future(
        asyncio.to_thread(_call_when_answering, address, on_ready, stopping.is_set)
    )
    announcing.add_done_callback(lambda done: stopping.set() if _has_failed(done) else None)
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        stopping.set()
        server.stop()  # type: ignore[no-untyped-call]
        finishing = asyncio.gather(serving, announcing)
        ends: set[asyncio.Future[Any]] = {finishing, losing_patience}
        await asyncio.wait(ends, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        if not finishing.done():
            # What is cancelled now would each be told as an error of its own.
            logging.disable()
            raise CommandFailed("stopped before every request in flight was answered")
        finishing.result()
    finally:
        for task in (announcing, waiting, losing_patience, serving):
            task.cancel()


def serve_workers(
    load_app: Callable[[], AsgiApp],
    address: Address,
    *,
    workers: int,
    grace: int,
    on_ready: Callable[[], None],
) -> None:
    """As `serve_app`, in so many processes; each calls `load_app`, which has to be picklable.

    A process that dies is replaced, unless it does so again at once: then all stop, and `SystemExit` is raised.
    """
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server import Server

    server = Server(
        "awareness",
        address=address.ip,
        port=address.port,
        interface=Interfaces.ASGI,
        websockets=False,
        workers=workers,
        workers_kill_timeout=grace,
        respawn_failed_workers=True,
        log_level=LogLevels(granian_log_level()),
        log_dictconfig=granian_log_config(),
    )
    stopped = threading.Event()
    announcing = threading.Thread(target=_call_when_answering, args=(address, on_ready, stopped.is_set))
    announcing.start()
    try:
        server.serve(target_loader=load_app, wrap_loader=False)
    finally:
        stopped.set()
        announcing.join()


def stop_with_parent(*, grace: float) -> None:
    """Make this worker stop gracefully when the process that started it is gone, killed perhaps.

    Call it first in a worker: until the worker is ready to stop gracefully, a signal ends it at once.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        # A forked worker begins with the handlers of the process that started it, which would swallow the signal.
        signal.signal(number, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(grace)
            os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=follow, daemon=True).start()


def _has_failed(task: asyncio.Future[None]) -> bool:
    return not task.cancelled() and task.exception() is not None


def _call_when_answering(address: Address, call: Callable[[], None], is_over: Callable[[], bool]) -> None:
    place = (_ANY.get(address.ip, address.ip), address.port)
    while not is_over():
        try:
            socket.create_connection(place, timeout=1).close()
        except OSError:
            time.sleep(_CONNECT_EVERY_SECONDS)
        else:
            call()
            return


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
