"""People are invited while the service, its worker and its database are killed at random; then all is counted.

    python -m tests.end_to_end.killing --store postgres --kills 500 --restarts 50

Nobody waits for five minutes here: as soon as every process that could hold an invitation is dead, its lease is made
to run out. Whom it hits and when is drawn from the seed; what the operating system makes of that is not.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import attrs
import httpx

from tests.contracts.smtp_server import SmtpScript, SmtpServer, smtp_server_beside
from tests.end_to_end.installed import employee
from tests.end_to_end.mortal_places import PLACES, MortalPlace, let_leases_run_out
from tests.end_to_end.mortals import Mortal, Toll
from tests.end_to_end.reckoning import Figures, Reckoning

EMPLOYEES = "/api/v1/employees"
_ASKING = 3


@attrs.frozen(kw_only=True)
class Plan:
    """How much of it: kills of the service and its worker together, and restarts of a database that has a server."""

    store: str
    people: int
    kills: int
    restarts: int
    seed: int
    longest_life_s: float = 0.8


@attrs.frozen(kw_only=True)
class Step:
    """Whom a client hires and invites in one go: by one request, or by a sync and a call for these or for everyone."""

    people: Sequence[int]
    with_the_sync: bool
    everyone: bool


def run(plan: Plan, folder: Path) -> Figures:
    """Invite everybody while all are killed, let others finish what the dead had begun, and count."""
    print(plan, flush=True)
    began = time.monotonic()
    with smtp_server_beside(SmtpScript(delay_s=0.1, answer_delay_s=0.03)) as smtp:
        settings = {
            "smtp_url": f"smtp://127.0.0.1:{smtp.port}",
            "mail_from": "awareness@example.com",
            "smtp_connections": "2",
            "log_format": "json",
            # Whoever asks so often is not to be told to wait: that is not what this is about.
            "limits_url": "memory://",
        }
        with PLACES[plan.store](folder, **settings) as place:
            killing = Killing(plan, place)
            try:
                killing.kill_while_inviting()
                counted = killing.reckon(smtp)
            finally:
                killing.end()
    return attrs.evolve(counted, seconds=round(time.monotonic() - began))


class Killing:
    """One run: threads that ask, threads that kill, and what was told to those who asked."""

    def __init__(self, plan: Plan, place: MortalPlace) -> None:
        self._plan = plan
        self._place = place
        self._steps = steps_of(plan)
        self._kills = Toll(wanted=plan.kills)
        self._restarts = Toll(wanted=plan.restarts)
        self._has_failed = threading.Event()
        self._all_are_invited = threading.Event()
        self._calls: Counter[str] = Counter()
        self._told: defaultdict[str, set[str]] = defaultdict(set)
        self._figures: list[str] = []
        _, key = place.installation.company_with_key("write:employees", "read:employees")
        self._headers = {"Authorization": f"Bearer {key}", "Connection": "close"}
        self._api = Mortal(place.installation, "serve", "--port", "0", says_when_ready="serving")
        self._worker = Mortal(place.installation, "worker", says_when_ready="working")

    def kill_while_inviting(self) -> None:
        """Return when all are invited, and as many were killed as the plan says."""
        left = iter(list(enumerate(self._steps)))
        with ThreadPoolExecutor(4 + _ASKING) as threads:

            def begin(task: Callable[[], None]) -> Any:  # noqa: ANN401 (a future)
                return threads.submit(self._unless_others_fail, task)

            asking = [begin(lambda: self._invite_all(left)) for _ in range(_ASKING)]
            killing = [
                begin(lambda: self._die_again_and_again("api", self._api)),
                begin(lambda: self._die_again_and_again("worker", self._worker)),
                begin(self._restart_the_database),
                begin(self._let_time_pass),
            ]
            wait(asking)
            self._all_are_invited.set()
            for task in (*asking, *killing):
                task.result()

    def reckon(self, smtp: SmtpServer) -> Figures:
        """What the dead had begun is due now, and a service and a worker that stay alive finish it."""
        let_leases_run_out(self._place, taken_before=time.time())
        assert self._api.live()
        assert self._worker.live()
        assert self._api.url is not None
        reckoning = Reckoning(
            place=self._place,
            smtp=smtp,
            url=self._api.url,
            headers=self._headers,
            told=self._told,
            restart=self._restart_the_service,
        )
        figures = reckoning.count()
        kept = list(self._place.remains())
        codes = [self._worker.stop(), self._api.stop()]
        said = [("log", mortal.said()) for mortal in (self._api, self._worker)]
        metrics = [("/metrics", "".join(self._figures).encode())]
        return attrs.evolve(
            figures,
            kills=dict(self._kills.done + self._restarts.done),
            calls=dict(sorted(self._calls.items())),
            passwords_found_in=reckoning.passwords_in([*kept, *said, *metrics]),
            exit_codes=codes,
        )

    def end(self) -> None:
        """Leave nothing running."""
        self._api.kill()
        self._worker.kill()

    def _restart_the_service(self) -> str:
        assert self._api.stop() == 0
        assert self._api.live()
        assert self._api.url is not None
        return self._api.url

    def _unless_others_fail(self, task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException:
            # Else they would wait for this one for ever.
            self._has_failed.set()
            raise

    def _die_again_and_again(self, name: str, mortal: Mortal) -> None:
        chance = random.Random(f"{self._plan.seed} {name}")
        while not self._kills.is_paid and not self._has_failed.is_set():
            if chance.random() < 0.1:
                # In the middle of starting, perhaps.
                mortal.start()
            else:
                mortal.live()
            self._has_failed.wait(chance.uniform(0, self._plan.longest_life_s))
            self._kills.done[name] += mortal.kill()
        while not self._is_over():
            if mortal.live():
                _wait_until(self._is_over)
            mortal.kill()

    def _restart_the_database(self) -> None:
        chance = random.Random(f"{self._plan.seed} database")
        while not (self._restarts.is_paid or self._has_failed.is_set()):
            _wait_until(lambda: self._restarts.share <= self._kills.share or self._has_failed.is_set())
            self._has_failed.wait(chance.uniform(0, self._plan.longest_life_s))
            self._place.restart(chance)
            self._restarts.done["database"] += 1

    def _let_time_pass(self) -> None:
        while not self._is_over():
            # Whoever had begun before both were born is dead.
            let_leases_run_out(self._place, taken_before=min(self._api.born_at, self._worker.born_at))
            self._has_failed.wait(0.25)

    def _is_over(self) -> bool:
        return self._all_are_invited.is_set() or self._has_failed.is_set()

    def _invite_all(self, left: Iterator[tuple[int, Step]]) -> None:
        """Until nobody is left, no faster than others die."""
        with httpx.Client(verify=False, headers=self._headers, timeout=60) as client:
            for number, step in left:
                while self._kills.share * len(self._steps) < number:
                    self._look_on(client)
                self._invite(client, step)
            while self._invite_everyone(client):
                pass

    def _invite(self, client: httpx.Client, step: Step) -> None:
        people = [employee(number) for number in step.people]
        if len(people) == 1:
            answer = self._ask(client, "POST", EMPLOYEES, json={**people[0], "send_invitation": True})
            self._note([{"email": people[0]["email"], **answer["invitation"]}])
            return
        sync = {"employees": people, "send_invitations": step.with_the_sync}
        hired = self._ask(client, "POST", f"{EMPLOYEES}/sync", json=sync)
        if hired.get("invitations", {}).get("invited") == len(people):
            self._note([{"email": one["email"], "status": "invited"} for one in people])
        if step.everyone:
            self._invite_everyone(client)
            return
        chosen = {"employee_ids": [one["id"] for one in hired["results"]]}
        self._note(self._ask(client, "POST", f"{EMPLOYEES}/invite-bulk", json=chosen)["results"])

    def _invite_everyone(self, client: httpx.Client) -> bool:
        answer = self._ask(client, "POST", f"{EMPLOYEES}/invite-bulk", json={})
        self._note(answer["results"])
        return bool(answer["summary"]["truncated"])

    def _note(self, results: Sequence[dict[str, Any]]) -> None:
        for result in results:
            self._told[result["email"]].add(result["status"])

    def _look_on(self, client: httpx.Client) -> None:
        self._ask(client, "GET", "/api/v1/ping")
        self._figures.append(self._ask(client, "GET", "/metrics"))
        _wait_until(self._has_failed.is_set, patience=0.02)

    def _ask(self, client: httpx.Client, method: str, path: str, **body: Any) -> Any:  # noqa: ANN401 (as json.loads)
        """Ask until somebody answers with something else than 503, as clients are told to do."""
        while not self._has_failed.is_set():
            url = self._api.url
            if url is None:
                _wait_until(lambda: self._api.url is not None or self._has_failed.is_set(), patience=0.1)
                continue
            try:
                answer = client.request(method, url + path, **body)
            except httpx.TransportError:
                self._calls[f"{method}: cut off"] += 1
                continue
            self._calls[f"{method}: {answer.status_code}"] += 1
            if answer.status_code == 503:
                _wait_until(self._has_failed.is_set, patience=0.05)
                continue
            assert answer.status_code == 200, answer.text
            return answer.text if path == "/metrics" else answer.json()
        raise RuntimeError("another thread failed")


def steps_of(plan: Plan) -> Sequence[Step]:
    """Everybody, in groups of which most are one person and some as many as a call mails at once."""
    chance = random.Random(f"{plan.seed} steps")
    steps: list[Step] = []
    first = 1
    while first <= plan.people:
        size = chance.choices([1, 3, 10, min(100, plan.people // 5)], weights=[80, 12, 6, 2])[0]
        people = range(first, min(first + size, plan.people + 1))
        step = Step(people=people, with_the_sync=chance.random() < 0.3, everyone=chance.random() < 0.5)
        steps.append(step)
        first += size
    return steps


def _wait_until(condition: Callable[[], bool], *, patience: float | None = None) -> None:
    give_up_at = None if patience is None else time.monotonic() + patience
    while not condition() and (give_up_at is None or time.monotonic() < give_up_at):
        time.sleep(0.005)


def main() -> None:
    """Run as the command line says, print the figures; exit with 1 when they are not as they should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.killing", description=__doc__)
    parser.add_argument("--store", choices=sorted(PLACES), required=True)
    parser.add_argument("--people", type=int, default=1500)
    parser.add_argument("--kills", type=int, default=500, help="of the service and its worker together")
    parser.add_argument("--restarts", type=int, default=50, help="of the database, if it has a server")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    wanted = parser.parse_args()
    restarts = wanted.restarts if wanted.store == "postgres" else 0
    with tempfile.TemporaryDirectory(prefix="awareness-killing-") as folder:
        plan = Plan(**{**vars(wanted), "restarts": restarts})
        figures = run(plan, Path(folder))
    print(figures)
    sys.exit(not figures.is_good)


if __name__ == "__main__":
    main()
