"""The folder of letters: what is in it, who may read it, and what happens when it cannot be written."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import attrs

from awareness_core.ports import Delivery, InvitationLetter
from awareness_smtp import FileMailer
from tests.contracts.mail_letters import LETTER, letters
from tests.contracts.smtp_server import read_message


def test_files_and_folder_are_their_owner_s_alone(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "mailbox"
    _send(FileMailer(folder), letters(2))

    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert [0o600, 0o600] == [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()]


def test_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    _send(FileMailer(tmp_path), [LETTER])

    assert 0o755 == stat.S_IMODE(tmp_path.stat().st_mode)


def test_names_sort_by_time_then_by_order_of_sending(tmp_path: Path) -> None:
    later = [
        attrs.evolve(letter, created_at=letter.created_at + timedelta(seconds=1)) for letter in letters(2)
    ]
    _send(FileMailer(tmp_path), later)
    _send(FileMailer(tmp_path), letters(12))
    names = sorted(path.name for path in tmp_path.iterdir())
    sent = [read_message((tmp_path / name).read_bytes())["To"].addresses[0].username for name in names]

    assert names[0].startswith("20261121T074512.345Z-000-")
    assert names[0].endswith(".eml")
    assert [f"person{number}" for number in (*range(12), 0, 1)] == sent


def test_letter_written_twice_is_one_file(tmp_path: Path) -> None:
    mailer = FileMailer(tmp_path)
    _send(mailer, [LETTER])
    _send(mailer, [LETTER])

    assert 1 == len(list(tmp_path.iterdir()))


def test_folder_that_cannot_be_written_refuses_for_now(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    deliveries = _send(FileMailer(in_the_way / "mailbox"), letters(2))

    assert [False, False] == [delivery.accepted for delivery in deliveries]
    assert [False, False] == [delivery.permanent for delivery in deliveries]
    assert deliveries[0].detail.startswith("the file cannot be written: ")


def test_file_that_cannot_be_finished_leaves_nothing_behind(tmp_path: Path) -> None:
    mailer = FileMailer(tmp_path)
    _send(mailer, [LETTER])
    (path,) = tmp_path.iterdir()
    path.unlink()
    # A folder of that very name cannot be replaced by a file.
    path.mkdir()
    (path / "in the way").touch()
    (delivery,) = _send(mailer, [LETTER])

    assert not delivery.accepted
    assert [path] == list(tmp_path.iterdir())


def test_message_is_the_same_whoever_sends_it(tmp_path: Path) -> None:
    _send(FileMailer(tmp_path / "a", sender="x@y.example", login_url="https://z.example"), [LETTER])
    _send(FileMailer(tmp_path / "b", sender="x@y.example", login_url="https://z.example"), [LETTER])
    (one,), (other,) = (tmp_path / "a").iterdir(), (tmp_path / "b").iterdir()

    assert one.read_bytes() == other.read_bytes()
    assert one.name == other.name


def test_address_that_is_not_ascii_is_written_too(tmp_path: Path) -> None:
    odd = [attrs.evolve(LETTER, email=email) for email in ("hélène@acme.example", "x@bücher.example")]

    assert [Delivery(accepted=True)] * 2 == list(_send(FileMailer(tmp_path), odd))


def _send(mailer: FileMailer, sent: Sequence[InvitationLetter]) -> Sequence[Delivery]:
    return asyncio.run(mailer.send_invitations(sent))
