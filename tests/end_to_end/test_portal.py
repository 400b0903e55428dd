"""From an invitation to being inside, as it happens: the API, a real mail server, the mail, the portal."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contracts.smtp_server import SmtpServer, running_smtp_server
from tests.end_to_end.installed import Installation, Server, employee
from tests.end_to_end.visitor import Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

GOOD = "sept chevaux sous la pluie"
EMAIL = "person.1@example.com"


async def test_a_mailed_password_lets_one_in_and_the_next_invitation_knows(tmp_path: Path) -> None:
    async with running_smtp_server() as smtp:
        settings = {
            "smtp_url": f"smtp://127.0.0.1:{smtp.port}",
            "mail_from": "awareness@example.com",
            "public_url": "https://awareness.example.com/",
        }
        installation = Installation(tmp_path, **settings)
        inside = await asyncio.to_thread(_invited_to_inside, installation, smtp)

    assert {
        "link": "https://awareness.example.com/login",
        "before": "en_attente",
        "entered": (303, "/portal/choose"),
        "still": "en_attente",
        "chosen": (303, "/portal"),
        "home": 200,
        "after": "connecte",
        "again": [("skipped", "already_logged_in")],
        "mails": 1,
        "back": (303, "/portal"),
        "used_up": 422,
    } == inside


def _invited_to_inside(installation: Installation, smtp: SmtpServer) -> dict[str, Any]:
    installation.must("migrate")
    _, key = installation.company_with_key("write:employees", "read:employees")
    with installation.serving() as server, server.client(key) as api:
        answer = api.post("/api/v1/employees", json=employee(1, send_invitation=True)).json()
        assert {"status": "invited"} == answer["invitation"]
        person = answer["employee"]["id"]
        found = _read_mail(smtp)
        inside: dict[str, Any] = {"link": found["link"], "before": _access(api, person)}
        visitor = Visitor(server.url)
        visitor.get("/login")
        entered = visitor.post("/login", {"email": EMAIL, "password": found["password"]})
        inside |= {"entered": _told(entered), "still": _access(api, person)}
        visitor.get("/portal/choose")
        inside["chosen"] = _told(visitor.post("/portal/choose", {"new": GOOD, "again": GOOD}))
        inside |= {"home": visitor.get("/portal").status_code, "after": _access(api, person)}
        again = api.post(
            "/api/v1/employees/invite-bulk", json={"employee_ids": [person], "force": True}
        ).json()
        inside["again"] = [(line["status"], line["code"]) for line in again["results"]]
        inside["mails"] = len(smtp.letters)
        inside["back"] = _told(_logged_in(server, GOOD))
        inside["used_up"] = _logged_in(server, found["password"]).status_code
        ended = server.stop()
    with closing(sqlite3.connect(installation.folder / "awareness.db")) as database:
        kept = "\n".join(database.iterdump())
    for secret in (GOOD, found["password"], found["password"].replace("-", "")):
        assert secret not in kept + ended.err + ended.out
    assert EMAIL not in ended.err
    return inside


def test_sessions_outlive_the_server(tmp_path: Path) -> None:
    installation = Installation(tmp_path, mail_folder=str(tmp_path / "mails"))
    installation.must("migrate")
    _, key = installation.company_with_key("write:employees")
    with installation.serving() as server, server.client(key) as api:
        api.post("/api/v1/employees", json=employee(1, send_invitation=True))
        (mail,) = (tmp_path / "mails").glob("*.eml")
        password = re.search(r"\b\w{5}(?:-\w{5}){3}\b", mail.read_text())
        assert password is not None
        visitor = Visitor(server.url)
        visitor.get("/login")
        visitor.post("/login", {"email": EMAIL, "password": password[0]})
        visitor.get("/portal/choose")
        visitor.post("/portal/choose", {"new": GOOD, "again": GOOD})
        server.stop()
    with installation.serving() as server:
        assert 200 == Visitor(server.url, visitor.cookies).get("/portal").status_code


def _read_mail(smtp: SmtpServer) -> dict[str, str]:
    (message,) = smtp.messages
    part = message.get_body(("plain",))
    assert part is not None
    text = part.get_content()
    link, password = re.search(r"https?://\S+", text), re.search(r"\b\w{5}(?:-\w{5}){3}\b", text)
    assert link is not None
    assert password is not None
    return {"link": link[0], "password": password[0]}


def _logged_in(server: Server, password: str) -> httpx.Response:
    visitor = Visitor(server.url)
    visitor.get("/login")
    return visitor.post("/login", {"email": EMAIL, "password": password})


def _access(api: httpx.Client, person: str) -> str:
    return str(api.get(f"/api/v1/employees/{person}").json()["employee"]["acces"])


def _told(answer: httpx.Response) -> tuple[int, str | None]:
    return answer.status_code, answer.headers.get("location")
