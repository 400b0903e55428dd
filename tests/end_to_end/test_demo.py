"""`awareness demo` as a newcomer starts it: what it prints works when pasted, and it goes away as it came."""

from __future__ import annotations

import email
import email.policy
import json
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest

from tests.end_to_end.installed import PATIENCE_SECONDS, Ended, Installation, Started, until

LONG_AGO = "2000-01-01"
FAR_AHEAD = "2100-01-01"


@attrs.frozen
class Demo:
    started: Started
    said: dict[str, Any]

    def get(self, path: str, **query: str) -> Any:  # noqa: ANN401 (JSON)
        answer = httpx.get(
            f"{self.said['api_url']}{path}",
            params=query,
            headers={"x-api-key": self.said["keys"][1]["key"]},
            timeout=PATIENCE_SECONDS,
        )
        assert answer.is_success, answer.text
        return answer.json()

    def every(self, path: str, **query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        page = 1
        while True:
            answer = self.get(path, page=str(page), limit="100", **query)
            found += answer["data"]
            if not answer["pagination"]["has_more"]:
                return found
            page += 1

    def stop(self, number: signal.Signals = signal.SIGTERM) -> Ended:
        self.started.signal(number)
        return self.started.end()


@contextmanager
def running(folder: Path, *flags: str) -> Iterator[Demo]:
    started = Installation(folder, tmpdir=str(folder)).start(
        "demo", "--port", "0", "--json", *flags, env={"TMPDIR": str(folder)}
    )
    try:
        until(lambda: "}\n" in started.out or started.process.poll() is not None)
        yield Demo(started, json.loads("".join(started.out)))
    finally:
        started.kill()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    with running(tmp_path_factory.mktemp("demo")) as found:
        yield found


def test_every_printed_command_works_when_pasted(tmp_path: Path) -> None:
    started = Installation(tmp_path).start("demo", "--port", "0", env={"TMPDIR": str(tmp_path)})
    try:
        until(lambda: any("Ctrl-C" in line for line in started.out) or started.process.poll() is not None)
        printed = "".join(started.out)
        commands = [part.partition("\n")[2] for part in printed.split("\n\n") if "\ncurl " in part]
        ping, added, campaigns = (_pasted(command) for command in commands)

        assert ping["ok"] is True
        assert ("created", {"status": "invited"}) == (added["employee"]["action"], added["invitation"])
        assert campaigns["data"]
        folder = Path(_after(printed, "Mails"))
        assert folder.parent == tmp_path
        (mail,) = folder.glob("*.eml")
        message = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
        assert added["employee"]["email"] in str(message["To"])
        text = message.get_body(("plain",))
        assert text is not None
        assert "mot de passe temporaire" in text.get_content()
        assert _after(printed, "Portal") in text.get_content()
        assert "Se connecter" in httpx.get(_after(printed, "Portal"), headers={"accept-language": "fr"}).text
    finally:
        started.signal(signal.SIGINT)
        ended = started.end()

    assert f"The mails stay in {folder}" in ended.err
    assert mail.exists()


def test_addresses_that_it_prints_answer(demo: Demo) -> None:
    answers = [httpx.get(demo.said[name], timeout=PATIENCE_SECONDS) for name in ("docs_url", "health_url")]

    assert [200, 200] == [answer.status_code for answer in answers]


def test_the_reading_key_cannot_write_and_the_full_key_can(demo: Demo) -> None:
    body = {"email": "x@ateliers-belrive.example", "nom": "X", "prenom": "Y", "dry_run": True}
    answers = [
        httpx.post(f"{demo.said['api_url']}/employees", json=body, headers={"x-api-key": key["key"]})
        for key in demo.said["keys"]
    ]

    assert [200, 403] == [answer.status_code for answer in answers]
    assert 2 == len({key["name"] for key in demo.said["keys"]})


def test_the_last_thirty_days_show_campaigns_in_many_states(demo: Demo) -> None:
    states = [campaign["statut"] for campaign in demo.get("/campaigns")["data"]]

    assert {"brouillon", "en_cours", "en_pause", "terminee", "annulee"} == set(states)
    assert states.count("terminee") >= 2


def test_a_year_shows_every_state_and_progress(demo: Demo) -> None:
    campaigns = demo.every("/campaigns", date_debut=LONG_AGO, date_fin=FAR_AHEAD)
    finished = [campaign for campaign in campaigns if campaign["statut"] == "terminee"][::-1]
    half = len(finished) // 2

    assert 6 == len({campaign["statut"] for campaign in campaigns})
    assert _share(finished[:half], "cliques") > 1.3 * _share(finished[half:], "cliques")
    assert 1.3 * _share(finished[:half], "signales") < _share(finished[half:], "signales")


def test_a_campaign_tells_who_did_what_and_when_and_what_machines_did(demo: Demo) -> None:
    (latest, *_) = demo.get("/campaigns", statut="terminee")["data"]
    shown = demo.get(f"/campaigns/{latest['id']}")["campaign"]
    recipients = demo.every(f"/campaigns/{latest['id']}/results")
    clicked = [one for one in recipients if one["clique_at"] is not None]

    assert latest["stats"]["total"] == len(recipients)
    assert latest["stats"]["cliques"] == len(clicked) > 0
    assert all(one["envoye_at"] < one["ouvert_at"] <= one["clique_at"] for one in clicked)
    assert (
        latest["stats"]["interactions_machine"] == sum(one["interactions_machine"] for one in recipients) > 0
    )
    assert latest["difficulte"] == "difficile"
    assert shown["reaction"]["delai_median_s"] > 60


def test_the_same_seed_makes_the_same_company_and_another_seed_another(demo: Demo, tmp_path: Path) -> None:
    with running(tmp_path) as again:
        same = _portrait(again)
    with running(tmp_path, "--seed", "2", "--employees", "40") as other:
        different = _portrait(other)
        size = len(other.every("/employees"))

    assert _portrait(demo) == same
    assert same != different
    assert 40 == size


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_at_once_and_leaves_nothing_that_nobody_wants(
    tmp_path: Path, number: signal.Signals
) -> None:
    with running(tmp_path, "--employees", "20") as demo:
        ended = demo.stop(number)

    assert (0, "") == (ended.code, ended.err)
    assert [] == list(tmp_path.iterdir())


def test_a_port_in_use_is_said_and_not_shared(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = Installation(tmp_path).run("demo", "--port", str(port))

    assert 1 == done.code
    assert f"awareness: port {port} of 127.0.0.1 is in use" in done.err
    assert "Traceback" not in done.err
    assert "" == done.out


@pytest.mark.parametrize("flags", [("--employees", "19"), ("--employees", "5001"), ("--port", "65536")])
def test_a_size_or_port_out_of_range_is_a_wrong_command_line(tmp_path: Path, flags: tuple[str, str]) -> None:
    assert 2 == Installation(tmp_path).run("demo", *flags).code


def test_settings_of_an_installation_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "awareness.toml").write_text("nonsense = true\n", encoding="utf-8")
    with running(tmp_path, "--employees", "20") as demo:
        employees = demo.get("/employees")

    assert 20 == employees["pagination"]["total"]
    assert ["awareness.toml"] == [path.name for path in tmp_path.iterdir() if path.is_file()]


def _pasted(command: str) -> Any:  # noqa: ANN401 (JSON)
    if shutil.which("curl") is None:
        return _as_httpx(command).json()
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    return json.loads(done.stdout)


def _as_httpx(command: str) -> httpx.Response:
    words = shlex.split(command.replace("\\\n", " "))
    assert ["curl", "-sS"] == words[:2]
    options = list(zip(words[3::2], words[4::2], strict=True))
    headers = dict(value.split(": ", 1) for option, value in options if option == "-H")
    body = next((value for option, value in options if option == "-d"), None)
    return httpx.request("GET" if body is None else "POST", words[2], headers=headers, content=body)


def _after(printed: str, title: str) -> str:
    (line,) = [line for line in printed.splitlines() if line.startswith(title)]
    return line.removeprefix(title).strip()


def _share(campaigns: list[dict[str, Any]], step: str) -> float:
    reached = sum(campaign["stats"][step] for campaign in campaigns)
    return float(reached / sum(campaign["stats"]["total"] for campaign in campaigns))


def _portrait(demo: Demo) -> object:
    """All that is the same whenever it is started: neither ids nor dates, but the time between campaigns."""
    people = [
        {
            name: value
            for name, value in person.items()
            if name != "id" and not name.endswith("_at") and name != "secteur"
        }
        | {"secteur": person["secteur"]["nom"]}
        for person in demo.every("/employees")
    ]
    campaigns = demo.every("/campaigns", date_debut=LONG_AGO, date_fin=FAR_AHEAD)
    return (
        sorted(people, key=lambda person: str(person["external_id"])),
        [(campaign["nom"], campaign["statut"], campaign["stats"]) for campaign in campaigns],
    )
