"""A mail server that refuses, hangs, hangs up or is away, and being told to stop while it does: nobody is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contracts.redis_server import free_port
from tests.contracts.smtp_server import HUNG_UP, KEPT_WAITING, SmtpScript, SmtpServer, smtp_server_beside
from tests.end_to_end.installed import Installation, Server, employee, until
from tests.end_to_end.mortal_places import PLACES, MortalPlace

pytestmark = pytest.mark.slow

INVITE = "/api/v1/employees/invite-bulk"
DAY_MS = 24 * 3600 * 1000
LEFT_BEHIND = (
    "INSERT INTO pending_invitations (company_id, employee_id, decided_at, attempts, holder, due_at) "
    "SELECT company_id, id, created_at, 1, 'gone', 0 FROM employees"
)
"""As five minutes after whoever wanted to invite everybody was killed."""

FAULTS = {
    "person.1@example.com": "451 greylisted",
    "person.2@example.com": "550 no such user",
    "person.3@example.com": HUNG_UP,
    "person.4@example.com": KEPT_WAITING,
}


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with smtp_server_beside(SmtpScript()) as server:
        yield server


@pytest.fixture
def settings(smtp: SmtpServer) -> dict[str, str]:
    return {
        "smtp_url": f"smtp://127.0.0.1:{smtp.port}",
        "mail_from": "a@example.com",
        "mail_seconds": "3",
        "log_format": "json",
    }


@pytest.fixture
def place(settings: dict[str, str], tmp_path: Path) -> Iterator[MortalPlace]:
    with PLACES["sqlite"](tmp_path, **settings) as opened:
        yield opened


def hired(place: MortalPlace, people: int) -> str:
    """So many, who await access; a key."""
    _, key = place.installation.company_with_key("write:employees", "read:employees")
    with place.installation.serving() as server, server.client(key) as client:
        sync = {"employees": [employee(number) for number in range(1, people + 1)]}
        client.post("/api/v1/employees/sync", json=sync).raise_for_status()
    return key


def pending(place: MortalPlace, where: str = "") -> int:
    (found,) = place.ask(f"SELECT count(*) FROM pending_invitations {where}")
    return found


def delivered(installation: Installation, **env: str) -> tuple[int, ...]:
    """What a worker tells of what it finds due when it starts; it is told to stop then."""
    worker = installation.start("worker", env=env)
    told = worker.wait_for_event("pending_invitations_delivered")
    worker.process.terminate()
    assert 0 == worker.end().code
    return tuple(told[name] for name in ("mailed", "postponed", "refused", "dropped"))


def test_a_caller_is_told_who_was_not_reached_and_can_invite_them_again(
    place: MortalPlace, smtp: SmtpServer
) -> None:
    key = hired(place, 5)
    smtp.script.data = FAULTS
    with place.installation.serving() as server, server.client(key) as client:
        first = client.post(INVITE, json={}).json()
        mailed_at_first = list(smtp.recipients)
        smtp.script.data = {}
        # As when a quarter of an hour has passed.
        place.ask(f"UPDATE employees SET last_attempt_at = last_attempt_at - {DAY_MS}")
        second = client.post(INVITE, json={}).json()

    told = {line["email"]: (line["status"], line.get("code")) for line in first["results"]}
    assert {
        **dict.fromkeys(FAULTS, ("failed", "delivery_failed")),
        "person.5@example.com": ("invited", None),
    } == told
    assert ["person.5@example.com"] == mailed_at_first
    assert {*FAULTS} == {line["email"] for line in second["results"] if line["status"] == "invited"}
    assert {*told} == {*smtp.recipients}
    assert (5, 0) == (len(smtp.letters), pending(place))


def test_what_a_crash_left_outlives_a_mail_server_that_refuses_hangs_and_is_away(
    place: MortalPlace, smtp: SmtpServer
) -> None:
    hired(place, 5)
    smtp.script.data = FAULTS
    place.ask(LEFT_BEHIND)

    outcomes = [delivered(place.installation)]
    for away in (True, False):
        # As when the time to wait has passed.
        place.ask("UPDATE pending_invitations SET due_at = 0")
        smtp.script.data = {}
        elsewhere = {"AWARENESS_SMTP_URL": f"smtp://127.0.0.1:{free_port()}"}
        outcomes.append(delivered(place.installation, **(elsewhere if away else {})))

    assert [(1, 3, 1, 0), (0, 3, 0, 0), (3, 0, 0, 0)] == outcomes
    assert sorted({*FAULTS, "person.5@example.com"} - {"person.2@example.com"}) == sorted(smtp.recipients)
    assert 0 == pending(place)


def test_a_worker_tells_what_became_of_its_mails_on_a_port_of_its_own(
    place: MortalPlace, smtp: SmtpServer
) -> None:
    hired(place, 5)
    smtp.script.data = {"person.1@example.com": "451 greylisted", "person.2@example.com": "550 no such user"}
    place.ask(LEFT_BEHIND)
    token = "hunter2-of-the-metrics"
    told = {"AWARENESS_WORKER_METRICS_PORT": str(free_port()), "AWARENESS_METRICS_TOKEN": token}
    worker = place.installation.start("worker", env=told)
    working = worker.wait_for_event("working")
    worker.wait_for_event("pending_invitations_delivered")
    second = place.installation.run("worker", env=told)
    with httpx.Client(base_url=working["metrics"].removesuffix("/metrics"), verify=False) as client:
        headers = {"Authorization": f"Bearer {token}"}
        figures = client.get("/metrics", headers=headers).text.splitlines()
        others = [client.get("/metrics"), client.get("/health/live"), client.get("/api/v1/ping")]
    worker.process.terminate()

    assert 0 == worker.end().code
    assert {
        'awareness_mails_total{outcome="accepted"} 3.0',
        'awareness_mails_total{outcome="refused"} 1.0',
        'awareness_mails_total{outcome="failed"} 1.0',
        "awareness_pending_invitations 1.0",
    } <= {*figures}
    assert any(line.startswith("process_resident_memory_bytes") for line in figures)
    assert [401, 404, 404] == [answer.status_code for answer in others]
    assert (1, True) == (second.code, "is in use" in second.err)


def test_others_are_answered_while_a_mail_server_hangs(place: MortalPlace, smtp: SmtpServer) -> None:
    key = hired(place, 3)
    smtp.hold_answers()
    with (
        place.installation.serving(env={"AWARENESS_MAIL_SECONDS": "30"}) as server,
        ThreadPoolExecutor(1) as caller,
        server.client(key) as client,
    ):
        inviting = caller.submit(_invite_all, server, key)
        until(lambda: len(smtp.handed_over) == 3)
        answers = [
            client.get("/api/v1/ping"),
            client.post("/api/v1/employees", json=employee(9)),
            client.post("/api/v1/employees/sync", json={"employees": [employee(8)]}),
            client.get("/api/v1/employees"),
        ]
        is_waiting = not inviting.done()
        smtp.release_answers()
        summary = inviting.result()["summary"]

    assert [200] * 4 == [answer.status_code for answer in answers]
    assert is_waiting
    assert 3 == summary["invited"]


@pytest.mark.parametrize("command", [("worker",), ("serve", "--port", "0")], ids=["worker", "serve"])
def test_whoever_is_told_to_stop_finishes_what_a_crash_left_and_they_have_begun(
    place: MortalPlace, smtp: SmtpServer, command: tuple[str, ...]
) -> None:
    hired(place, 50)
    place.ask(LEFT_BEHIND)
    smtp.hold_answers()
    started = place.installation.start(*command, env={"AWARENESS_MAIL_SECONDS": "30"})
    until(lambda: bool(smtp.handed_over))
    started.process.terminate()
    smtp.release_answers()
    code = started.end().code

    assert 0 == code
    assert 0 == pending(place, "WHERE holder <> 'gone'")
    assert 50 == len(smtp.letters) + pending(place)
    assert len({*smtp.recipients}) == len(smtp.letters) >= 20


def test_a_server_that_is_told_to_stop_answers_for_those_it_is_inviting(
    place: MortalPlace, smtp: SmtpServer
) -> None:
    key = hired(place, 30)
    smtp.hold_answers()
    with (
        place.installation.serving(env={"AWARENESS_MAIL_SECONDS": "25"}) as server,
        ThreadPoolExecutor(1) as caller,
    ):
        inviting = caller.submit(_invite_all, server, key)
        until(lambda: bool(smtp.handed_over))
        server.started.process.terminate()
        smtp.release_answers()
        summary = inviting.result()["summary"]
        code = server.started.end().code

    assert (30, 0, 0) == (summary["invited"], pending(place), code)
    assert 30 == len({*smtp.recipients}) == len(smtp.letters)


@pytest.mark.parametrize(("store", "workers"), [("sqlite", 1), ("postgres", 2)])
def test_a_server_that_is_told_to_stop_mails_no_more_of_what_was_left_while_it_answers_the_last(
    store: str, workers: int, settings: dict[str, str], smtp: SmtpServer, tmp_path: Path
) -> None:
    with PLACES[store](tmp_path, **settings | {"mail_seconds": "25"}) as place:
        key = hired(place, 50)
        place.ask(LEFT_BEHIND)
        smtp.hold_answers()
        smtp.script.held = {"last@example.com"}
        with place.installation.serving("--workers", str(workers)) as server, ThreadPoolExecutor(1) as caller:
            # Each has begun a turn of twenty, over as many connections as it may open.
            until(lambda: len(smtp.handed_over) == 8 * workers)
            last = employee(0, email="last@example.com", external_id="last", send_invitation=True)
            inviting = caller.submit(_created, server, key, last)
            until(lambda: _is_asked_about(place, "last@example.com"))
            server.started.process.terminate()
            until(lambda: not _listens(server))
            smtp.release_answers()
            server.started.wait_for_event("pending_invitations_delivered")
            until(lambda: "last@example.com" in smtp.handed_over)
            smtp.script.held.clear()
            answer = inviting.result()
            code = server.started.end().code
        left = pending(place)

    assert ("invited", 0) == (answer["invitation"]["status"], code)
    assert (50 - 20 * workers, 20 * workers + 1) == (left, len(smtp.letters))


@pytest.mark.parametrize("store", PLACES)
def test_two_workers_and_a_server_at_once_mail_everybody_once(
    store: str, settings: dict[str, str], smtp: SmtpServer, tmp_path: Path
) -> None:
    smtp.hold_answers()
    with PLACES[store](tmp_path, **settings | {"mail_seconds": "30"}) as place:
        hired(place, 150)
        place.ask(LEFT_BEHIND)
        commands = {("worker",): "working", ("serve", "--port", "0"): "serving"}
        started = [place.installation.start(*command) for command in [*commands, ("worker",)]]
        try:
            # Each has begun with so many as it opens connections.
            until(lambda: len(smtp.handed_over) == 3 * 8)
            for one, said in zip(started, [*commands.values(), "working"], strict=True):
                one.wait_for_event(said)
            smtp.release_answers()
            until(lambda: pending(place) == 0)
        finally:
            for one in started:
                one.process.terminate()
        codes = [one.end().code for one in started]

    assert [0, 0, 0] == codes
    assert 150 == len({*smtp.recipients}) == len(smtp.letters)


def _invite_all(server: Server, key: str) -> Any:  # noqa: ANN401 (as json.loads)
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.post(server.url + INVITE, json={}, headers=headers, verify=False, timeout=60)
    return answer.raise_for_status().json()


def _created(server: Server, key: str, body: dict[str, object]) -> Any:  # noqa: ANN401 (as json.loads)
    headers = {"Authorization": f"Bearer {key}"}
    url = f"{server.url}/api/v1/employees"
    return httpx.post(url, json=body, headers=headers, verify=False, timeout=60).raise_for_status().json()


def _is_asked_about(place: MortalPlace, email: str) -> bool:
    """Whether it is decided that somebody is invited, which the mail follows."""
    return pending(place, f"WHERE employee_id IN (SELECT id FROM employees WHERE email_key = '{email}')") == 1


def _listens(server: Server) -> bool:
    try:
        httpx.get(server.url, verify=False, timeout=60)
    except httpx.ConnectError:
        return False
    except httpx.TransportError:
        return True
    return True
