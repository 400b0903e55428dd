"""Importing campaign results from files and looking at them, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.end_to_end.installed import Installation
from tests.end_to_end.terminals import on_terminal

FOLDER = ROOT / "tests" / "data" / "gophish"
JSON = str(FOLDER / "campaign-12.json")
CSV = str(FOLDER / "campaign-12-events.csv")
FRENCH_EVENTS = str(FOLDER.parent / "events" / "evenements-mars-2026.csv")
ENGLISH_EVENTS = str(FOLDER.parent / "events" / "q2-invoice.csv")
OURS = {
    "campaign": {"external_id": "x", "nom": "Ours", "statut": "en_cours"},
    "evenements": [{"email": "a@acme.example", "type": "clique", "survenu_at": "2026-03-03T08:00:00Z"}],
}


def test_a_campaign_of_gophish_is_imported_and_again_adds_nothing(acme: Installation) -> None:
    first = acme.must("campaigns", "import", JSON, "--company", "Acme")
    again = acme.must("campaigns", "import", CSV, "--company", "Acme", "--name", "Facture en attente")

    assert first["summary"] == {"recipients": 3, "events": 9, "new": 9, "known": 0, "failed": 0, "erased": 0}
    assert (again["summary"]["new"], again["summary"]["known"]) == (0, 9)
    assert first["campaign"]["id"] == again["campaign"]["id"]
    assert again["campaign"]["counts"] == {
        "total": 3,
        "sent": 3,
        "opened": 1,
        "clicked": 1,
        "submitted": 1,
        "reported": 1,
        # The mail that failed went out at the next attempt.
        "errors": 0,
        # A scanner followed the link while the mail was being sent.
        "machine": 1,
    }
    stored = b"".join(path.read_bytes() for path in acme.folder.glob("awareness.db*"))
    assert b"ada@acme.example" in stored
    assert b"correct horse" not in stored


def test_a_campaign_is_shown_as_a_picture(acme: Installation) -> None:
    imported = acme.must("campaigns", "import", JSON, "--company", "Acme")
    shown = acme.run("campaigns", "show", imported["campaign"]["id"], "--company", "acme")
    as_json = acme.must("campaigns", "show", imported["campaign"]["id"], "--company", "Acme")

    assert shown.code == 0, shown.err
    assert "Facture en attente (running)" in shown.out
    assert "clicked         1   33.3 %  (6.2 to 79.2)    " + "█" * 13 in shown.out
    assert "    1-2 h  1 ████████████████████  1 █" in shown.out
    assert "1*████████████████████\n" in shown.out
    assert "Half of the clicks came within 1 h 7 min of the mail" in shown.out
    assert "* First report 2026-03-03 09:20Z" in shown.out
    assert "Half of the reports came within 1 h 20 min of the mail" in shown.out
    assert as_json["response"]["first_report_at"] == "2026-03-03T09:20:02Z"
    assert as_json["response"]["spared"]["percent"] == 66.67
    assert as_json["median_click_seconds"] == 4048.9
    assert as_json["timeline"][-1] == {
        "from": "2026-03-03T09:00:02Z",
        "to": "2026-03-03T10:00:02Z",
        "opened": 1,
        "clicked": 1,
        "submitted": 1,
        "reported": 1,
    }
    assert sum(span["clicked"] for span in as_json["timeline"]) == as_json["counts"]["clicked"]


def test_a_status_that_was_told_wrongly_is_put_right(acme: Installation) -> None:
    said = ["--company", "Acme", "--external-id", "x", "--name", "Q2", "--status"]
    told = ["campaigns", "import", ENGLISH_EVENTS, *said]
    campaign = acme.run(*told, "completed", "--json").json["campaign"]
    corrected = acme.run("campaigns", "set-status", campaign["id"], "running", "--company", "Acme")
    again = acme.must("campaigns", "set-status", campaign["id"], "running", "--company", "Acme")
    late = acme.run(*told, "draft", "--json").json["campaign"]
    wrong = acme.run("campaigns", "set-status", "nothing", "running", "--company", "Acme")

    assert ("completed", 0) == (campaign["status"], corrected.code)
    assert "was completed and is running now." in corrected.err
    assert ("running", {**campaign, "status": "running"}) == (again["before"], again["campaign"])
    assert "running" == late["status"]
    assert (1, True) == (wrong.code, "has no campaign 'nothing'" in wrong.err)


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_picture_fits_the_terminal(acme: Installation, columns: int) -> None:
    imported = acme.must("campaigns", "import", JSON, "--company", "Acme")
    identity = imported["campaign"]["id"]
    shown = on_terminal(acme, "campaigns", "show", identity, "--company", "Acme", columns=columns)

    assert columns >= max(map(len, shown.splitlines()))
    assert all(figure in shown for figure in ("(6.2 to 79.2)", "66.7 %", "1-2 h", "1*", "█"))


def test_a_picture_is_drawn_of_signs_that_the_output_can_spell(acme: Installation) -> None:
    imported = acme.must("campaigns", "import", JSON, "--company", "Acme")
    shown = Installation(acme.folder).run(
        *("campaigns", "show", imported["campaign"]["id"], "--company", "Acme"),
        env={"LANG": "C", "PYTHONIOENCODING": "ascii"},
    )

    assert "(6.2 to 79.2)    " + "#" * 13 + "\n" in shown.out
    assert "1*" + "#" * 20 in shown.out
    assert "\\" not in shown.out


def test_a_campaign_without_results_is_shown_without_a_timeline(acme: Installation) -> None:
    path = acme.folder / "empty.json"
    path.write_text(json.dumps({"campaign": OURS["campaign"]}), encoding="utf-8")
    imported = acme.must("campaigns", "import", str(path), "--company", "Acme")
    identity = imported["campaign"]["id"]
    shown = acme.run("campaigns", "show", identity, "--company", "Acme")
    as_json = acme.must("campaigns", "show", identity, "--company", "Acme")

    assert shown.out.endswith("by machines, not counted: 0\n\nNobody has reported it.\n")
    assert (as_json["timeline"], as_json["median_click_seconds"]) == ([], None)


@pytest.mark.parametrize("as_lines", [False, True])
def test_files_of_our_own_interface_are_imported(acme: Installation, *, as_lines: bool) -> None:
    path = acme.folder / "ours"
    lines = [{"campaign": OURS["campaign"]}, {"evenement": OURS["evenements"][0]}, {"end": {"count": 2}}]  # type: ignore[index]
    path.write_text("\n".join(map(json.dumps, lines)) if as_lines else json.dumps(OURS), encoding="utf-8")
    imported = acme.must("campaigns", "import", str(path), "--company", "Acme")

    assert ("Ours", 1) == (imported["campaign"]["name"], imported["summary"]["new"])


def test_events_of_any_tool_are_imported_and_again_change_nothing(acme: Installation) -> None:
    arguments = (
        "campaigns",
        "import",
        FRENCH_EVENTS,
        "--company",
        "Acme",
        "--name",
        "Colis",
        "--external-id",
        "c3",
    )
    first = acme.run(*arguments, "--json")
    again = acme.run(*arguments, "--json")

    assert (3, 3) == (first.code, again.code)
    assert {"recipients": 5, "events": 9, "new": 9, "known": 0, "failed": 2, "erased": 0} == first.json[
        "summary"
    ]
    assert {"recipients": 5, "events": 9, "new": 0, "known": 9, "failed": 2, "erased": 0} == again.json[
        "summary"
    ]
    assert first.json["campaign"] == again.json["campaign"]
    campaign = first.json["campaign"]
    assert ("c3", "Colis", "running") == (campaign["external_id"], campaign["name"], campaign["status"])
    assert ("2026-03-03T08:00:00Z", None) == (campaign["starts_at"], campaign["ends_at"])
    assert {
        "total": 5,
        "sent": 3,
        "opened": 1,
        "clicked": 1,
        "submitted": 1,
        "reported": 1,
        "errors": 1,
        "machine": 1,
    } == campaign["counts"]
    assert ["line 12 Survenu le", "line 13 Événement"] == [fault["place"] for fault in first.json["errors"]]


def test_a_file_of_events_says_how_it_is_read_once_and_what_is_wrong_by_line(acme: Installation) -> None:
    done = acme.run("campaigns", "import", ENGLISH_EVENTS, "--company", "Acme", "--status", "completed")
    told = done.err.splitlines()

    assert 3 == done.code
    assert "q2-invoice.csv: events in UTF-8, 11 rows" == told[0]
    assert "Ignored: Landing page" == told[2]
    assert [
        "left out: line 11 id",
        "left out: line 12 Recipient email",
        "left out: line 12 Event time",
        "left out: line 12 Client IP",
    ] == [line[: line.index(":", 10)] for line in told if line.startswith("left out")]


def test_start_and_end_of_a_file_of_events_can_be_said(acme: Installation) -> None:
    said = ("--start", "2026-05-10", "--end", "2026-05-11", "--status", "completed")
    done = acme.run("campaigns", "import", ENGLISH_EVENTS, "--company", "Acme", *said, "--json")
    campaign = done.json["campaign"]

    assert ("2026-05-10T00:00:00Z", "2026-05-11T23:59:59.999Z") == (
        campaign["starts_at"],
        campaign["ends_at"],
    )
    assert ("q2-invoice", "q2-invoice", "completed") == (
        campaign["external_id"],
        campaign["name"],
        campaign["status"],
    )
    # What came a day later is kept and not counted.
    assert 1 == campaign["counts"]["reported"]


def test_what_a_file_says_itself_cannot_be_said_beside_it(acme: Installation) -> None:
    done = acme.run(
        "campaigns", "import", JSON, "--company", "Acme", "--start", "2026-01-01", "--status", "running"
    )

    assert (2, "") == (done.code, done.out)
    assert "--start and --status: only for a CSV of events, which this file is not" in done.err
    assert acme.must("campaigns", "list", "--company", "Acme", "--from", "2000-01-01")["data"] == []


def test_what_is_left_out_is_told_and_ends_with_partial(acme: Installation) -> None:
    path = acme.folder / "some.json"
    told = json.loads(Path(JSON).read_text(encoding="utf-8"))
    told["timeline"][3]["time"] = "later"
    path.write_text(json.dumps(told), encoding="utf-8")
    done = acme.run("campaigns", "import", str(path), "--company", "Acme")

    assert done.code == 3
    assert "left out: timeline[3] time: must be a date-time with its offset" in done.err
    assert "8 new" in done.out


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "a,b\n",
        "email,type,at\n",
        "email,type,at,time\na,b,c,d\n",
        "[1]",
        '{"campaign": {}}',
        '{"campaign": {}}\n{"end": {"count": 9}}\n',
    ],
)
def test_a_file_that_is_no_result_is_refused(acme: Installation, content: str) -> None:
    path = acme.folder / "file"
    path.write_text(content, encoding="utf-8")
    done = acme.run("campaigns", "import", str(path), "--company", "Acme")

    assert (2, "") == (done.code, done.out)
    assert done.err.startswith("awareness: ")
    assert acme.must("campaigns", "list", "--company", "Acme", "--from", "2000-01-01")["data"] == []


def test_a_web_page_is_called_one(acme: Installation) -> None:
    file = acme.folder / "events.csv"
    file.write_text("\n<!DOCTYPE html><html><title>Login</title></html>")
    refused = acme.run("campaigns", "import", str(file), "--company", "Acme")

    assert 2 == refused.code
    assert "events.csv: a web page, and no results" in refused.err
    assert "saved while logged out" in refused.err


def test_a_campaign_that_is_not_there_is_told(acme: Installation) -> None:
    done = acme.run("campaigns", "show", "nope", "--company", "Acme")

    assert (1, "awareness: 'Acme' has no campaign 'nope': awareness campaigns list shows them\n") == (
        done.code,
        done.err,
    )


def test_other_rules_change_what_was_counted(acme: Installation) -> None:
    imported = acme.must("campaigns", "import", JSON, "--company", "Acme")
    before = acme.must("campaigns", "rules", "--company", "Acme")
    changed = acme.must(
        "campaigns", "rules", "--company", "Acme", "--soon", "0", "--no-agent", "python-requests"
    )
    shown = acme.must("campaigns", "show", imported["campaign"]["id"], "--company", "Acme")
    again = acme.must("campaigns", "reclassify", "--company", "Acme")
    default = acme.must("campaigns", "rules", "--company", "Acme", "--default")

    assert (10, 0) == (before["rules"]["soon"], changed["rules"]["soon"])
    assert {"campaigns": 1, "changed_campaigns": 1, "changed_events": 1} == changed["reclassified"]
    assert (0, 2) == (shown["counts"]["machine"], shown["counts"]["clicked"])
    assert 0 == again["changed_events"]
    assert (before["rules"], 1) == (default["rules"], default["reclassified"]["changed_events"])


def test_rules_are_shown_as_a_table(acme: Installation) -> None:
    shown = acme.run("campaigns", "rules", "--company", "Acme")

    assert shown.code == 0, shown.err
    assert "crowd         10 recipients from one address within 5 s" in shown.out


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--soon", "nan"], "--soon: 'nan' is no number of seconds"),
        (["--crowd", "1"], "crowd: must be between 2 and 1000000"),
        (["--no-agent", "never"], "no_agent: 'never' is not among the user agents"),
        (["--default", "--crowd", "3"], "--default goes with no other rule"),
    ],
)
def test_rules_that_are_none_are_refused(acme: Installation, flags: list[str], told: str) -> None:
    refused = acme.run("campaigns", "rules", "--company", "Acme", *flags)

    assert refused.code == 2
    assert told in refused.err


def test_what_was_only_guessed_takes_the_place_of_nothing(acme: Installation, tmp_path: Path) -> None:
    unnamed = tmp_path / "export.csv"
    unnamed.write_bytes(Path(CSV).read_bytes())
    named = acme.must("campaigns", "import", JSON, "--company", "Acme")["campaign"]

    again = acme.must("campaigns", "import", str(unnamed), "--company", "Acme")["campaign"]

    assert (named["name"], named["status"]) == (again["name"], again["status"])


def test_an_export_joins_the_campaign_that_a_source_reads(acme: Installation) -> None:
    joined = [
        acme.must(
            "campaigns", "import", file, "--company", "Acme", "--external-id", "gophish:s:12", "--name", "N"
        )
        for file in (JSON, CSV)
    ]

    assert 1 == len({told["campaign"]["id"] for told in joined})
    assert "gophish:s:12" == joined[0]["campaign"]["external_id"]


@pytest.mark.parametrize("content", [b"email;time\ra@b.example;2026-03-03\r", bytes(range(256)) * 9, b"a\rb"])
def test_a_file_that_is_nothing_is_a_refusal_and_no_fault(
    acme: Installation, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "odd.csv").write_bytes(content)

    refused = acme.run("campaigns", "import", str(tmp_path / "odd.csv"), "--company", "Acme")

    assert (2, False) == (refused.code, "unexpected" in refused.err), refused.err
