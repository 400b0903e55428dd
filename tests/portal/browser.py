"""A browser in this process: it keeps cookies as browsers do, and fills in forms that it was shown."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import attrs
from litestar.types import ASGIApp, HTTPReceiveMessage, Message

HOST = "portal.example"
_TOKEN = re.compile(r'name="form_token" value="([^"]*)"')


@attrs.frozen(kw_only=True)
class Page:
    """One answer. Headers by name, of `set-cookie` all."""

    status: int
    headers: Mapping[str, str]
    set_cookies: Sequence[str]
    body: str

    @property
    def location(self) -> str | None:
        return self.headers.get("location")

    @property
    def text(self) -> str:
        """What is read on it."""
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", self.body)).replace("\xa0", " ").split())

    @property
    def form_token(self) -> str:
        found = _TOKEN.search(self.body)
        assert found is not None, "there is no form on this page"
        return found[1]

    @property
    def faults(self) -> list[str]:
        """What the summary of errors says, line by line."""
        summary = re.search(r'<div class="summary".*?</div>', self.body, re.DOTALL)
        return [] if summary is None else re.findall(r'<a href="#(\w+)">', summary[0])


@attrs.define(kw_only=True)
class Browser:
    """One browser of one person. `form_token` is that of the last page with a form."""

    app: ASGIApp
    client: str = "192.0.2.1"
    language: str = "en"
    cookies: dict[str, str] = attrs.field(factory=dict)
    form_token: str = ""

    async def get(self, path: str, **options: Any) -> Page:  # noqa: ANN401 (as `call`)
        return await self.call("GET", path, **options)

    async def post(self, path: str, fields: Mapping[str, str] | None = None, **options: Any) -> Page:  # noqa: ANN401 (as `call`)
        """Send a form, with the token of the page that was shown last unless the fields have one."""
        sent = urlencode({"form_token": self.form_token, **(fields or {})})
        return await self.call("POST", path, body=sent.encode(), **options)

    async def log_in(self, email: str, password: str) -> Page:
        """Open the login page and send its form."""
        await self.get("/login")
        return await self.post("/login", {"email": email, "password": password})

    async def choose(self, password: str) -> Page:
        """Open the page of the first password and send its form."""
        await self.get("/portal/choose")
        return await self.post("/portal/choose", {"new": password, "again": password})

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        parts: Sequence[bytes] | None = None,
        headers: Mapping[str, str | None] | None = None,
        raw_path: bytes | None = None,
        query: bytes = b"",
    ) -> Page:
        """Send one request; a header of None is left out."""
        sent: dict[str, str | None] = {"host": HOST, "accept-language": self.language}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body is not None or parts is not None:
            sent["content-type"] = "application/x-www-form-urlencoded"
            sent["origin"] = f"https://{HOST}"
            sent["sec-fetch-site"] = "same-origin"
        if body is not None:
            sent["content-length"] = str(len(body))
        sent |= headers or {}
        page = await _send(
            self.app,
            method,
            path,
            headers={name: value for name, value in sent.items() if value is not None},
            parts=[body or b""] if parts is None else parts,
            client=self.client,
            raw_path=raw_path,
            query=query,
        )
        self._keep(page)
        return page

    def _keep(self, page: Page) -> None:
        for line in page.set_cookies:
            pair, *attributes = line.split("; ")
            name, _, value = pair.partition("=")
            assert {"Path=/", "Secure", "HttpOnly", "SameSite=Lax"} <= set(attributes)
            assert name.startswith("__Host-")
            if "Max-Age=0" in attributes:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        if _TOKEN.search(page.body):
            self.form_token = page.form_token


async def _send(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str],
    parts: Sequence[bytes],
    client: str,
    raw_path: bytes | None,
    query: bytes,
) -> Page:
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode() if raw_path is None else raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
        "client": (client, 40_000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    waiting: list[HTTPReceiveMessage] = [
        {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
        for number, part in enumerate(parts)
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> Any:  # noqa: ANN401 (ASGI's)
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def keep(message: Message) -> None:
        sent.append(dict(message))

    await app(scope, receive, keep)  # type: ignore[arg-type]  # as an ASGI server hands it over
    start, *rest = sent
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
    single = [name for name, _ in pairs if name != "set-cookie"]
    assert len(set(single)) == len(single), f"a header is repeated: {single}"
    return Page(
        status=start["status"],
        headers={name: value for name, value in pairs if name != "set-cookie"},
        set_cookies=[value for name, value in pairs if name == "set-cookie"],
        body=b"".join(message["body"] for message in rest).decode(),
    )
