"""The application with a world behind it, called in this process as an ASGI server would call it.

Two companies, Acme and Globex, each with a key that may do everything that is built. Every answer is checked against
the OpenAPI document before a test sees it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

import attrs
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope

from awareness_core.api_keys import Scope as KeyScope
from awareness_core.ports import Ports, QuotaCounter
from awareness_core.sources import SourceKind
from awareness_core.tenants import Company
from awareness_core.use_cases.companies import create_company
from awareness_core.use_cases.issue_api_key import issue_api_key
from awareness_gophish import GophishTool
from awareness_http import create_app
from awareness_memory import ManualClock, MemoryMailer, MemoryQuotaCounter, SeededEntropy
from tests.contracts.storages import Storage
from tests.http.contract import check_answer

NOW: Final = datetime(2026, 3, 31, 8, 0, tzinfo=UTC)
BUILT_SCOPES: Final = (
    KeyScope.WRITE_EMPLOYEES,
    KeyScope.READ_EMPLOYEES,
    KeyScope.ERASE_EMPLOYEES,
    KeyScope.READ_RESULTS,
    KeyScope.WRITE_RESULTS,
)
ADA: Final = {"email": "ada@acme.example", "nom": "Lovelace", "prenom": "Ada"}

Headers = Iterable[tuple[str, str]]


@attrs.frozen(kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 (a test says what it expects)
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["code"])

    @property
    def faults(self) -> list[tuple[str, str]]:
        """Field and code of each fault."""
        return [(fault["field"], fault["code"]) for fault in self.json["details"]]

    @property
    def remaining(self) -> int:
        return int(self.headers["ratelimit-remaining"])

    @property
    def without_its_own(self) -> tuple[int, Mapping[str, str], bytes]:
        """The answer but for what differs between any two: the request's id and what is left of the quota."""
        own = {"x-request-id", "ratelimit-remaining", "ratelimit-reset"}
        return (
            self.status,
            {name: value for name, value in self.headers.items() if name not in own},
            self.body,
        )


@attrs.define(kw_only=True)
class Service:
    """One application. `key` is Acme's and sent unless a test says otherwise; `globex_key` is the other company's."""

    ports: Ports
    app: ASGIApp
    clock: ManualClock
    mailer: MemoryMailer
    acme: Company
    globex: Company
    key: str
    globex_key: str

    async def get(self, path: str, **options: Any) -> Answer:  # noqa: ANN401 (as `call`)
        return await self.call("GET", path, **options)

    async def post(self, path: str, body: object = None, **options: Any) -> Answer:  # noqa: ANN401 (as `call`)
        """Send `body` as JSON; None sends no body at all."""
        sent = None if body is None else json.dumps(body).encode()
        return await self.call("POST", path, body=sent, **options)

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | bytes = b"",
        body: bytes | None = None,
        content_type: str | None = "application/json",
        key: str | None = "",
        headers: Headers = (),
        client: str = "192.0.2.1",
        raw_path: bytes | None = None,
        parts: Sequence[bytes] | None = None,
    ) -> Answer:
        """Send one request. `key` of None sends none; `parts` are sent one by one, without a Content-Length."""
        sent = [("host", "api.example"), *headers]
        if key is not None:
            sent.append(("authorization", f"Bearer {key or self.key}"))
        if parts is not None:
            sent.append(("transfer-encoding", "chunked"))
        elif body is not None:
            sent.append(("content-length", str(len(body))))
        if content_type is not None and (body is not None or parts is not None):
            sent.append(("content-type", content_type))
        return await send(
            self.app,
            method,
            path,
            raw_path=raw_path,
            query=query if isinstance(query, bytes) else urlencode(query).encode(),
            headers=sent,
            client=client,
            receive=receiving([body or b""] if parts is None else parts),
        )

    async def key_with(self, *scopes: KeyScope, company: Company | None = None) -> str:
        """Issue a key that may do only that."""
        owner = company or self.acme
        return (await issue_api_key(self.ports, owner.id, name="narrow", scopes=scopes)).text

    async def person(self, *, key: str | None = None, **fields: object) -> str:
        """Provision somebody and return their id."""
        answer = await self.post("/api/v1/employees", {**ADA, **fields}, key=key or self.key)
        return str(answer.json["employee"]["id"])

    async def people(self) -> int:
        """Return how many people Acme has: what a refused request must not change."""
        return int((await self.get("/api/v1/employees", key=self.key)).json["pagination"]["total"])


async def new_service(storage: Storage, *, quota: QuotaCounter | None = None, **options: Any) -> Service:  # noqa: ANN401 (as create_app)
    """Return a service on that empty store. `options` are `create_app`'s."""
    clock = ManualClock(NOW)
    mailer = MemoryMailer()
    ports = Ports(
        clock=clock,
        entropy=SeededEntropy(7),
        companies=storage.companies,
        api_keys=storage.api_keys,
        store=storage.store,
        sources=storage.sources,
        mailer=mailer,
        quota=quota or MemoryQuotaCounter(clock),
        tools={SourceKind.GOPHISH: GophishTool()},
    )
    acme = await create_company(ports, name="Acme", sso_domains=["sso.example"])
    globex = await create_company(ports, name="Globex")
    return Service(
        ports=ports,
        app=create_app(ports, **{"access_log": False, **options}),
        clock=clock,
        mailer=mailer,
        acme=acme,
        globex=globex,
        key=await _key(ports, acme, BUILT_SCOPES),
        globex_key=await _key(ports, globex, BUILT_SCOPES),
    )


async def send(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    raw_path: bytes | None = None,
    query: bytes = b"",
    headers: Headers = (),
    client: str | None = "192.0.2.1",
    receive: Receive | None = None,
    http_version: str = "1.1",
) -> Answer:
    """Call an application once, check the answer against the contract, and return it."""
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": http_version,
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode() if raw_path is None else raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": None if client is None else (client, 40_000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    sent: list[dict[str, Any]] = []

    async def keep(message: Message) -> None:
        sent.append(dict(message))

    await app(_as_scope(scope), receive or receiving([b""]), keep)
    answer = _answer(sent)
    check_answer(method, path, answer.status, answer.headers, answer.body)
    return answer


def receiving(parts: Sequence[bytes]) -> Receive:
    """Return an ASGI `receive` that hands out these parts of a body, and then tells that the client has gone."""
    waiting: list[HTTPReceiveMessage] = [
        {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
        for number, part in enumerate(parts)
    ]

    async def receive() -> HTTPReceiveMessage:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    return receive


def _as_scope(scope: dict[str, Any]) -> Scope:
    return scope  # type: ignore[return-value]  # as an ASGI server hands it over


def _answer(sent: Sequence[Mapping[str, Any]]) -> Answer:
    start, *rest = sent
    names = [name.decode("latin-1") for name, _ in start["headers"]]
    assert len(set(names)) == len(names), f"a header is repeated: {names}"
    assert [message["more_body"] for message in rest] == [True] * (len(rest) - 1) + [False]
    return Answer(
        status=start["status"],
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]},
        body=b"".join(message["body"] for message in rest),
    )


async def _key(ports: Ports, company: Company, scopes: Collection[KeyScope]) -> str:
    return (await issue_api_key(ports, company.id, name="everything", scopes=scopes)).text
