"""`Idempotency-Key` on real servers: several at once on one database, and one that is killed."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.http.granian_process import Served, serving
from tests.http.service import ADA, Answer

pytestmark = pytest.mark.slow

EMPLOYEES = "/api/v1/employees"
INVITE = "/api/v1/employees/invite-bulk"
JSON = "Content-Type: application/json"
KEY = "Idempotency-Key: a name of ours"
AT_ONCE = 24


def _create(server: Served, **fields: object) -> Answer:
    return server.ask("POST", EMPLOYEES, JSON, KEY, body=json.dumps({**ADA, **fields}).encode())


def test_of_many_at_once_on_two_servers_one_is_carried_out(migrated: Path, tmp_path: Path) -> None:
    with serving(migrated, tmp_path) as one, serving(migrated, tmp_path) as other:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            answers = list(threads.map(_create, [one, other] * (AT_ONCE // 2)))

        replayed = [answer for answer in answers if "idempotency-replayed" in answer.headers]
        refused = [answer for answer in answers if answer.status != 200]
        assert 1 == AT_ONCE - len(replayed) - len(refused)
        assert {(409, "CONFLICT")} >= {(answer.status, answer.code) for answer in refused}
        assert 1 == len({answer.body for answer in answers if answer.status == 200})
        assert "true" == _create(other).headers["idempotency-replayed"]
        assert 1 == one.people()


def test_after_kill_9_what_was_answered_is_answered_alike(migrated: Path, tmp_path: Path) -> None:
    with serving(migrated, tmp_path) as doomed:
        first = _create(doomed)
        doomed.process.kill()
    with serving(migrated, tmp_path) as server:
        second = _create(server)

        assert "true" == second.headers["idempotency-replayed"]
        assert (first.status, first.body) == (second.status, second.body)


def test_after_kill_9_in_the_middle_of_mailing_nobody_is_mailed_again(migrated: Path, tmp_path: Path) -> None:
    with serving(migrated, tmp_path, mail_seconds=3600) as doomed, doomed.connect() as connection:
        _create(doomed)
        connection.sendall(doomed.request("POST", INVITE, JSON, KEY, body=b'{"force": true}'))
        assert {"mailing": ADA["email"]} == doomed.next_word()
        doomed.process.kill()
        doomed.process.wait()
    with serving(migrated, tmp_path) as server:
        answers = [server.ask("POST", INVITE, JSON, KEY, body=b'{"force": true}') for _ in range(3)]

        assert Counter({(409, "CONFLICT"): 3}) == Counter((answer.status, answer.code) for answer in answers)
        assert 0 < int(answers[0].headers["retry-after"]) <= 120
        server.process.terminate()
        assert {"stopped": True} == server.next_word()
