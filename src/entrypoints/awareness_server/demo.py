"""`awareness demo` at work: the fictional company in this process' memory, behind the real HTTP API.

Chooses the adapters of the demo, as `wiring` does for an installation; no setting is read, so that nothing that is
configured for real can be touched. Listens on this machine only, as the figures may be looked at by anyone who can.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path

import attrs
import uvloop

from awareness_core.ports import PortalPorts
from awareness_memory import memory_ports
from awareness_server.asgi import application
from awareness_server.demo_data import demo_data
from awareness_server.demo_story import DemoCompany, found_demo_company
from awareness_server.garbage import look_seldom
from awareness_server.http_server import Address, claimed_port, serve_app
from awareness_server.logs import configure_logs
from awareness_server.settings import Settings

_HOST = "127.0.0.1"


@attrs.frozen(kw_only=True)
class Try:
    """A request to send from a shell, and what it is for."""

    purpose: str
    command: str


@attrs.frozen(kw_only=True)
class DemoSite:
    """All that a newcomer has to know: where it is, how to get in, where mail goes, what to try."""

    url: str
    mail_folder: Path
    demo: DemoCompany
    employees: int
    seed: int
    tries: tuple[Try, ...]


def run_demo(*, port: int, employees: int, seed: int, announce: Callable[[DemoSite], None]) -> Path | None:
    """Build the company, serve it, and call `announce` once it answers; returns when told to stop.

    The answer is the folder with the mails that were written, which are the user's to keep; None when there are none.
    Raises `CommandFailed` when the port is in use.
    """
    configure_logs(log_format="console", log_level="warning")
    with claimed_port(_HOST, port) as address, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        mail_folder = Path(tempfile.mkdtemp(prefix="awareness-demo-mail-"))
        try:
            runner.run(_serve(address, mail_folder, employees=employees, seed=seed, announce=announce))
        finally:
            with contextlib.suppress(OSError):
                # Removes an empty folder and no other.
                mail_folder.rmdir()
    return mail_folder if mail_folder.exists() else None


async def _serve(
    address: Address, mail_folder: Path, *, employees: int, seed: int, announce: Callable[[DemoSite], None]
) -> None:
    from awareness_passwords import Argon2Hasher, ListedPasswords
    from awareness_smtp import FileMailer

    # Here, too: a year of results is many values, which the collector would look through over and over.
    look_seldom()
    settings = Settings(port=address.port)
    world = memory_ports()
    demo = await found_demo_company(world, employees=employees, seed=seed, now=world.clock.now())
    ports = PortalPorts(
        clock=world.clock,
        entropy=world.entropy,
        companies=world.companies,
        api_keys=world.api_keys,
        store=world.store,
        mailer=FileMailer(mail_folder, login_url=f"{address.url}/login"),
        quota=world.quota,
        sources=world.sources,
        visitors=world.visitors,
        hasher=Argon2Hasher(),
        frequent_passwords=ListedPasswords(),
        identity_providers=world.identity_providers,
        single_sign_on=world.single_sign_on,
    )
    app = application(ports, settings)
    site = DemoSite(
        url=address.url,
        mail_folder=mail_folder,
        demo=demo,
        employees=employees,
        seed=seed,
        tries=_tries(address.url, demo),
    )
    await serve_app(app, address, on_ready=lambda: announce(site))


def _tries(url: str, demo: DemoCompany) -> tuple[Try, ...]:
    body = json.dumps(demo_data().first_request, ensure_ascii=False, indent=2)
    return (
        Try(
            purpose="Ask who you are",
            command=_curl(f"{url}/api/v1/ping", key=demo.reading_key.text),
        ),
        Try(
            purpose="Add a person and mail them their access; the mail is in the folder above, and opens the portal",
            command=_curl(f"{url}/api/v1/employees", key=demo.full_key.text, body=body),
        ),
        Try(
            purpose="List the campaigns of the last 30 days",
            command=_curl(f"{url}/api/v1/campaigns", key=demo.reading_key.text),
        ),
    )


def _curl(url: str, *, key: str, body: str | None = None) -> str:
    options = [("-H", f"Authorization: Bearer {key}")]
    if body is not None:
        options += [("-H", "Content-Type: application/json"), ("-d", body)]
    return " \\\n  ".join(shlex.join(words) for words in (("curl", "-sS", url), *options))
