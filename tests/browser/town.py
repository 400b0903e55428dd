"""A served installation with its mail server, and the companies and people that tests found in it, over the API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import attrs
import httpx
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser

from awareness_core.tenants import Language
from awareness_web.languages import Texts, texts_in
from tests.browser.chromium import Window
from tests.contracts.redis_server import free_port
from tests.contracts.smtp_server import SmtpServer, running_smtp_server
from tests.end_to_end.installed import Installation, Server

GOOD = "sept chevaux sous la pluie"
COMMON = "password1234"

_SCOPES = ("write:employees", "read:employees", "write:results")


@attrs.frozen(kw_only=True)
class Person:
    """Somebody who was invited, with what was mailed to them."""

    id: str
    email: str
    first_name: str
    api: httpx.Client
    mail: EmailMessage

    @property
    def html(self) -> str:
        return self._part("html")

    @property
    def password(self) -> str:
        """The one in the mail."""
        found = re.search(r"\b\w{5}(?:-\w{5}){3}\b", self._part("plain"))
        assert found is not None
        return found[0]

    @property
    def access(self) -> str:
        """As the API tells it."""
        answer = self.api.get(f"/api/v1/employees/{self.id}").json()
        return str(answer["employee"]["acces"])

    def _part(self, kind: str) -> str:
        part = self.mail.get_body((kind,))
        assert part is not None
        return str(part.get_content())


@attrs.define
class Town:
    """Everything that runs."""

    installation: Installation
    server: Server
    smtp: SmtpServer
    url: str
    browser: Browser
    _clients: ExitStack
    _companies: int = 0

    def found(self, language: str, *, color: str | None = None, name: str = "Example") -> httpx.Client:
        """A new company; the API with a key of it."""
        self._companies += 1
        options = () if color is None else ("--color", color)
        named = f"{name} {self._companies}"
        made = self.installation.must("company", "create", named, "--language", language, *options)
        scopes = [part for scope in _SCOPES for part in ("--scope", scope)]
        issued = self.installation.must("keys", "create", "--company", made["id"], "--name", "test", *scopes)
        return self._clients.enter_context(self.server.client(issued["key"]))

    def invite(self, api: httpx.Client, email: str, *, first_name: str = "Zoé") -> Person:
        """Somebody new of that company."""
        told: dict[str, Any] = {
            "email": email,
            "nom": "Martin",
            "prenom": first_name,
            "send_invitation": True,
        }
        answer = api.post("/api/v1/employees", json=told).json()
        assert {"status": "invited"} == answer["invitation"]
        (mail,) = (message for message in self.smtp.messages if email in str(message["To"]))
        return Person(
            id=answer["employee"]["id"],
            email=email,
            first_name=first_name,
            api=api,
            mail=mail,
        )

    def log_in(self, window: Window, person: Person, password: str, *, texts: Texts) -> None:
        """Open the login page and send it."""
        window.page.goto(f"{self.url}/login")
        window.page.get_by_label(texts["login"]["email"]).fill(person.email)
        window.page.get_by_label(texts["login"]["password"], exact=True).fill(password)
        window.send(texts["login"]["button"])

    def guess(self, person: Person, times: int) -> None:
        """Try so many passwords, without a browser."""
        with self.server.client() as client:
            form = client.get("/login")
            token = re.search(r'name="form_token" value="(\w+)"', form.text)
            assert token is not None
            # As it would be sent back over HTTPS.
            sent = {"cookie": form.headers["set-cookie"].partition(";")[0]}
            fields = {"form_token": token[1], "email": person.email, "password": "wrong"}
            for _ in range(times):
                assert 422 == client.post("/login", data=fields, headers=sent).status_code


def texts_of(language: str) -> Texts:
    """What the portal says in it."""
    return texts_in(Language(language))


def choose(window: Window, password: str, *, texts: Texts) -> None:
    """Send the page on which a password is chosen."""
    window.page.get_by_label(texts["choose"]["new"]).fill(password)
    window.page.get_by_label(texts["choose"]["again"]).fill(password)
    window.send(texts["choose"]["button"])


@contextmanager
def running_town(folder: Path, browser: Browser) -> Iterator[Town]:
    """Served with SQLite at an address that mails lead to."""
    port = free_port()
    with (
        start_blocking_portal() as loop,
        loop.wrap_async_context_manager(running_smtp_server()) as smtp,
    ):
        installation = Installation(
            folder,
            smtp_url=f"smtp://127.0.0.1:{smtp.port}",
            mail_from="awareness@example.com",
            public_url=f"http://localhost:{port}",
        )
        installation.must("migrate")
        with installation.serving(port=port) as server, ExitStack() as clients:
            yield Town(installation, server, smtp, f"http://localhost:{port}", browser, clients)
