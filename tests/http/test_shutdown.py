"""SIGTERM under load: whoever was being answered is answered, and only then does the server end."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.http.granian_process import parse, serving
from tests.http.service import ADA, Answer

pytestmark = pytest.mark.slow

REQUESTS = 16


def test_requests_in_flight_are_finished_before_the_server_ends(migrated: Path, tmp_path: Path) -> None:
    with serving(migrated, tmp_path, mail_seconds=1.0) as server, ThreadPoolExecutor(REQUESTS) as threads:

        def provision(number: int) -> Answer:
            body = {**ADA, "email": f"p{number}@acme.example", "send_invitation": True}
            headers = ("Content-Type: application/json", "Connection: close")
            sent = server.request("POST", "/api/v1/employees", *headers, body=json.dumps(body).encode())
            return parse(server.send(sent))

        answers = [threads.submit(provision, number) for number in range(REQUESTS)]
        mailing = {server.next_word()["mailing"] for _ in range(REQUESTS)}
        server.process.send_signal(signal.SIGTERM)
        statuses = [answer.result().status for answer in answers]

        assert len(mailing) == REQUESTS
        assert [200] * REQUESTS == statuses
        assert {"stopped": True} == server.next_word()
        assert server.process.wait() == 0
