"""What becomes of letters when the SMTP server refuses, hangs, hangs up, or is somebody else."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from awareness_core.ports import Delivery
from awareness_smtp import SmtpMailer
from tests.contracts.mail_letters import LETTER, letter_to, letters
from tests.contracts.polling import until
from tests.contracts.redis_server import free_port
from tests.contracts.smtp_server import (
    HUNG_UP,
    KEPT_WAITING,
    WENT_AWAY,
    SmtpScript,
    SmtpServer,
    running_smtp_server,
    trusting_context,
)

pytestmark = pytest.mark.anyio

SENDER = "Awareness <no-reply@awareness.example>"
STEP = timedelta(milliseconds=300)
LONG = timedelta(seconds=20)
ACCEPTED = Delivery(accepted=True)


def mailer(server: SmtpServer, *, step_timeout: timedelta = LONG, connections: int = 1) -> SmtpMailer:
    return SmtpMailer(
        f"smtp://127.0.0.1:{server.port}",
        SENDER,
        step_timeout=step_timeout,
        connections=connections,
        retry_waits=(),
    )


async def test_one_connection_carries_a_whole_call() -> None:
    async with running_smtp_server() as server:
        deliveries = await mailer(server).send_invitations(letters(100))

    assert [ACCEPTED] * 100 == list(deliveries)
    assert 1 == server.connections
    assert [f"person{number}@acme.example" for number in range(100)] == server.recipients


async def test_several_connections_are_opened_only_when_asked_for() -> None:
    async with running_smtp_server() as server:
        deliveries = await mailer(server, connections=8).send_invitations(letters(100))

    assert [ACCEPTED] * 100 == list(deliveries)
    assert 8 == server.connections
    assert {f"person{number}@acme.example" for number in range(100)} == set(server.recipients)
    assert 100 == len(server.recipients)


async def test_calls_at_the_same_time_share_the_connections_that_are_allowed() -> None:
    async with running_smtp_server() as server:
        server.hold_answers()
        sender = mailer(server, connections=3)
        calls = [asyncio.ensure_future(sender.send_invitations(letters(20))) for _ in range(5)]
        await until(lambda: _has(len(server.handed_over) == 3))
        server.release_answers()
        outcomes = await asyncio.gather(*calls)
        await until(lambda: _has(server.open_connections == 0))

    assert [[ACCEPTED] * 20] * 5 == [list(deliveries) for deliveries in outcomes]
    assert 100 == len(server.recipients)
    assert 3 == server.most_connections


async def test_a_call_whose_letters_are_slow_keeps_no_other_from_its_turn() -> None:
    slow = [letter_to(f"slow{number}@acme.example") for number in range(5)]
    script = SmtpScript(held={letter.email for letter in slow})
    async with running_smtp_server(script) as server:
        sender = mailer(server, connections=2)
        held = asyncio.ensure_future(sender.send_invitations(slow))
        await until(lambda: _has(len(server.handed_over) == 2))
        other = asyncio.ensure_future(sender.send_invitations(letters(20)))
        for _ in range(100):
            # All that can happen without an answer.
            await asyncio.sleep(0)
        script.held.remove(server.handed_over[0])
        deliveries = await asyncio.wait_for(other, LONG.total_seconds())
        is_held = not held.done()
        script.held.clear()
        await held

    assert [ACCEPTED] * 20 == list(deliveries)
    assert is_held
    assert [*(letter.email for letter in slow[:2]), *(letter.email for letter in letters(20))] == (
        server.handed_over[:22]
    )
    assert 2 == server.connections


async def test_envelope_is_from_the_sender_to_the_one_recipient() -> None:
    async with running_smtp_server() as server:
        await mailer(server).send_invitations([LETTER])

    (letter,) = server.letters
    assert "no-reply@awareness.example" == letter.mail_from
    assert ["helene.unal@acme.example"] == letter.rcpt_tos


async def test_each_recipient_is_refused_by_the_code_of_its_own() -> None:
    script = SmtpScript(
        rcpt={
            "person1@acme.example": "451 4.7.1 greylisted, try again",
            "person2@acme.example": "550 5.1.1 no such user",
            "person3@acme.example": "552 5.2.2 mailbox full",
            "person4@acme.example": "450 4.2.1 busy",
        },
        data={
            "person5@acme.example": "554 5.6.0 refused by policy",
            "person6@acme.example": "452 4.3.1 no space",
        },
    )
    async with running_smtp_server(script) as server:
        deliveries = await mailer(server).send_invitations(letters(8))

    assert [True, False, False, False, False, False, False, True] == [each.accepted for each in deliveries]
    assert [False, False, True, True, False, True, False, False] == [each.permanent for each in deliveries]
    assert "RCPT TO was refused: 451 4.7.1 greylisted, try again" == deliveries[1].detail
    assert "RCPT TO was refused: 550 5.1.1 no such user" == deliveries[2].detail
    assert "DATA was refused: 554 5.6.0 refused by policy" == deliveries[5].detail
    assert ["person0@acme.example", "person7@acme.example"] == server.recipients
    assert 1 == server.connections


@pytest.mark.parametrize(
    ("answer", "permanent"), [("553 5.7.1 not your address", [True]), ("451 busy", [False])]
)
async def test_refused_sender_refuses_every_letter(answer: str, permanent: list[bool]) -> None:
    async with running_smtp_server(SmtpScript(mail=answer)) as server:
        deliveries = await mailer(server).send_invitations(letters(3))

    expected = Delivery(accepted=False, permanent=permanent[0], detail=f"MAIL FROM was refused: {answer}")
    assert [expected] * 3 == list(deliveries)


async def test_connection_that_ends_between_letters_is_opened_anew() -> None:
    async with running_smtp_server(SmtpScript(hangs_up_after=2)) as server:
        deliveries = await mailer(server).send_invitations(letters(6))

    assert [ACCEPTED] * 6 == list(deliveries)
    assert 3 == server.connections
    assert 6 == len(server.recipients)


async def test_server_that_takes_only_so_many_letters_at_once_gets_the_rest_on_a_new_connection() -> None:
    async with running_smtp_server(SmtpScript(closes_after=2)) as server:
        deliveries = await mailer(server).send_invitations(letters(6))

    assert [ACCEPTED] * 6 == list(deliveries)
    assert 3 == server.connections


async def test_server_that_says_it_is_closing_on_every_connection_refuses_for_now() -> None:
    async with running_smtp_server(SmtpScript(mail="421 4.3.2 shutting down")) as server:
        deliveries = await mailer(server).send_invitations(letters(3))

    expected = Delivery(accepted=False, detail="MAIL FROM was refused: 421 4.3.2 shutting down")
    assert [expected] * 3 == list(deliveries)


async def test_letter_lost_after_its_data_is_not_accepted_and_not_sent_twice() -> None:
    script = SmtpScript(data={"person1@acme.example": HUNG_UP})
    async with running_smtp_server(script) as server:
        deliveries = await mailer(server).send_invitations(letters(3))

    assert [True, False, True] == [each.accepted for each in deliveries]
    assert not deliveries[1].permanent
    assert "not known whether the server took the letter" in deliveries[1].detail
    assert ["person0@acme.example", "person1@acme.example", "person2@acme.example"] == server.handed_over
    assert 2 == server.connections


async def test_letter_lost_before_its_data_gets_one_more_try() -> None:
    script = SmtpScript(rcpt={"person1@acme.example": HUNG_UP})
    async with running_smtp_server(script) as server:
        deliveries = await mailer(server).send_invitations(letters(3))

    assert [True, False, True] == [each.accepted for each in deliveries]
    assert Delivery(accepted=False, detail="the connection was lost at RCPT TO") == deliveries[1]
    assert 3 == server.connections  # the first, the second try, and the letter after that


@pytest.mark.parametrize(
    "script",
    [
        SmtpScript(rcpt={"person1@acme.example": KEPT_WAITING}),
        SmtpScript(data={"person1@acme.example": KEPT_WAITING}),
    ],
)
async def test_letter_that_is_kept_waiting_is_given_up_and_the_next_one_arrives(script: SmtpScript) -> None:
    async with running_smtp_server(script) as server:
        took, deliveries = await _timed(server, count=3, step_timeout=STEP)

    assert [True, False, True] == [each.accepted for each in deliveries]
    assert not deliveries[1].permanent
    assert "was not answered within 0.3 s" in deliveries[1].detail
    assert took < 3 * STEP.total_seconds() + 1


async def test_letters_kept_waiting_now_and_then_do_not_end_the_call() -> None:
    slow = [f"person{number}@acme.example" for number in (1, 3, 5)]
    async with running_smtp_server(SmtpScript(rcpt=dict.fromkeys(slow, KEPT_WAITING))) as server:
        deliveries = await mailer(server, step_timeout=STEP).send_invitations(letters(7))

    assert [True, False, True, False, True, False, True] == [each.accepted for each in deliveries]


@pytest.mark.parametrize("connections", [1, 4])
async def test_server_that_keeps_all_waiting_costs_two_waits_not_a_hundred(connections: int) -> None:
    async with running_smtp_server(SmtpScript(mail=KEPT_WAITING)) as server:
        took, deliveries = await _timed(server, count=100, step_timeout=STEP, connections=connections)

    print(f"100 letters to a server that hangs at each: {took:.2f} s with a step of {STEP.total_seconds()} s")
    assert {False} == {each.accepted for each in deliveries}
    assert {False} == {each.permanent for each in deliveries}
    assert "not tried: MAIL FROM was not answered within 0.3 s, 2 letters in a row" == deliveries[-1].detail
    assert took < 2 * STEP.total_seconds() + 1


async def test_server_that_never_greets_costs_one_wait() -> None:
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()

    async with _peer(say_nothing) as port:
        sender = SmtpMailer(f"smtp://127.0.0.1:{port}", SENDER, step_timeout=STEP, retry_waits=())
        began = time.monotonic()
        deliveries = await sender.send_invitations(letters(100))
        took = time.monotonic() - began

    assert (
        Delivery(accepted=False, tried=False, detail=f"127.0.0.1:{port}: no answer within 0.3 s")
        == deliveries[0]
    )
    assert {False} == {each.accepted for each in deliveries}
    assert took < STEP.total_seconds() + 1


async def test_refused_connection_fails_all_letters_at_once_and_is_logged_once() -> None:
    port = free_port()
    with capture_logs() as logs:
        sender = SmtpMailer(f"smtp://127.0.0.1:{port}", SENDER, retry_waits=())
        deliveries = await sender.send_invitations(letters(50))

    assert {False} == {each.accepted for each in deliveries}
    assert {False} == {each.permanent for each in deliveries}
    assert deliveries[0].detail.startswith(f"127.0.0.1:{port}: cannot connect: ")
    assert [1, 49] == [entry["letters"] for entry in logs]


async def test_only_whoever_the_server_was_asked_about_was_tried() -> None:
    script = SmtpScript(
        rcpt={"person0@acme.example": "550 unknown", "person1@acme.example": KEPT_WAITING},
        data={"person2@acme.example": KEPT_WAITING, "person3@acme.example": WENT_AWAY},
    )
    async with running_smtp_server(script) as server:
        sender = mailer(server, step_timeout=STEP)
        some = await sender.send_invitations(letters(2))
        cut_off = await sender.send_invitations([*letters(4)[2:], *letters(6)[4:]])

    assert [True, True] == [each.tried for each in some]
    assert [True, True, False, False] == [each.tried for each in cut_off]


async def test_server_that_goes_away_midway_fails_the_rest_at_once() -> None:
    async with running_smtp_server(SmtpScript(data={"person2@acme.example": WENT_AWAY})) as server:
        deliveries = await mailer(server).send_invitations(letters(50))

    assert [True, True] + [False] * 48 == [each.accepted for each in deliveries]
    assert "cannot connect" in deliveries[3].detail
    assert "not tried" in deliveries[49].detail


async def test_answer_that_makes_no_sense_fails_the_letter_only() -> None:
    for answer in ("hello", "999 what", "354 go on", "\x00\xff", "250-", "550 " + "x" * 3000):
        async with running_smtp_server(SmtpScript(rcpt={"person1@acme.example": answer})) as server:
            deliveries = await mailer(server, step_timeout=STEP).send_invitations(letters(3))

        assert [True, False, True] == [each.accepted for each in deliveries], answer
        assert len(deliveries[1].detail) <= 300


async def test_lost_answer_to_a_reset_does_not_change_the_outcome() -> None:
    script = SmtpScript(rcpt={"person1@acme.example": "550 unknown"}, reset=KEPT_WAITING)
    async with running_smtp_server(script) as server:
        deliveries = await mailer(server, step_timeout=STEP).send_invitations(letters(3))

    assert [
        ACCEPTED,
        Delivery(accepted=False, permanent=True, detail="RCPT TO was refused: 550 unknown"),
    ] == [*deliveries[:2]]
    assert ACCEPTED == deliveries[2]


async def test_a_call_ends_in_time_however_slow_the_server_is() -> None:
    async with running_smtp_server(SmtpScript(delay_s=0.4)) as server:
        sender = SmtpMailer(f"smtp://127.0.0.1:{server.port}", SENDER, call_limit=timedelta(seconds=1))
        deliveries = await sender.send_invitations(letters(100))

    accepted = [each.accepted for each in deliveries]
    assert 1 <= sum(accepted) <= 3
    assert sorted(accepted, reverse=True) == accepted
    assert (
        Delivery(accepted=False, tried=False, detail="not tried: the call took longer than 1 s")
        == deliveries[-1]
    )


class Once(dict[str, str]):
    """Scripted answers that are each given once."""

    def get(self, recipient: str, default: object = None) -> str | None:  # type: ignore[override]
        """The answer, which is gone then."""
        return self.pop(recipient, None)


async def test_what_was_refused_for_now_is_tried_again_and_nothing_else() -> None:
    script = SmtpScript(
        rcpt=Once({"person1@acme.example": "451 greylisted", "person2@acme.example": "550 unknown"}),
        data=Once({"person3@acme.example": HUNG_UP, "person4@acme.example": "452 full"}),
    )
    async with running_smtp_server(script) as server:
        sender = SmtpMailer(f"smtp://127.0.0.1:{server.port}", SENDER, retry_waits=(timedelta(0),))
        deliveries = await sender.send_invitations(letters(6))

    assert [True, True, False, False, True, True] == [each.accepted for each in deliveries]
    assert [(True, False), (False, True)] == [(each.permanent, each.in_doubt) for each in deliveries[2:4]]
    assert [0, 1, 4, 5] == [int(recipient[6]) for recipient in server.recipients]


async def test_an_address_that_hangs_holds_up_no_retry_of_another() -> None:
    script = SmtpScript(
        rcpt=Once({"person0@acme.example": KEPT_WAITING, "person1@acme.example": "451 greylisted"})
    )
    async with running_smtp_server(script) as server:
        sender = SmtpMailer(
            f"smtp://127.0.0.1:{server.port}",
            SENDER,
            connections=2,
            step_timeout=LONG,
            retry_waits=(timedelta(0),),
        )
        sending = asyncio.ensure_future(sender.send_invitations(letters(2)))
        await until(lambda: _has(server.recipients))
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    assert ["person1@acme.example"] == server.recipients
    assert 2 == server.most_connections


@pytest.mark.parametrize("connections", [1, 3])
async def test_addresses_that_hang_are_no_server_that_hangs(connections: int) -> None:
    hanging = [f"person{number}@acme.example" for number in range(3)]
    async with running_smtp_server(SmtpScript(rcpt=dict.fromkeys(hanging, KEPT_WAITING))) as server:
        deliveries = await mailer(server, step_timeout=STEP, connections=connections).send_invitations(
            letters(9)
        )

    assert [False] * 3 + [True] * 6 == [each.accepted for each in deliveries]


async def test_an_address_that_hangs_leaves_others_of_its_call_half_of_the_time() -> None:
    script = SmtpScript(rcpt={"person0@acme.example": KEPT_WAITING})
    async with running_smtp_server(script) as server:
        sender = SmtpMailer(
            f"smtp://127.0.0.1:{server.port}", SENDER, step_timeout=LONG, call_limit=timedelta(seconds=3)
        )
        deliveries = await sender.send_invitations(letters(5))

    assert [False, True, True, True, True] == [each.accepted for each in deliveries]
    assert 2 <= server.connections


async def test_a_call_goes_on_where_it_was_when_the_server_is_back() -> None:
    turned_away: list[bool] = []

    async with running_smtp_server() as server:

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if not turned_away:
                turned_away.append(True)
                writer.write(b"421 come back later\r\n")
                writer.close()
                return
            there, onwards = await asyncio.open_connection("127.0.0.1", server.port)
            await asyncio.gather(_pipe(reader, onwards), _pipe(there, writer))

        async with _peer(pass_on) as port:
            sender = SmtpMailer(f"smtp://127.0.0.1:{port}", SENDER, retry_waits=(timedelta(0),))
            deliveries = await sender.send_invitations(letters(5))

    assert turned_away
    assert [ACCEPTED] * 5 == list(deliveries)
    assert [letter.email for letter in letters(5)] == server.recipients


async def test_what_was_refused_is_told_as_that_though_the_time_is_over_at_its_retry() -> None:
    script = SmtpScript(
        rcpt=Once({"person0@acme.example": "451 greylisted"}), data={"person1@acme.example": KEPT_WAITING}
    )
    async with running_smtp_server(script) as server:
        sender = SmtpMailer(
            f"smtp://127.0.0.1:{server.port}",
            SENDER,
            call_limit=timedelta(seconds=1),
            retry_waits=(timedelta(seconds=0.3),),
        )
        deliveries = await sender.send_invitations(letters(2))

    assert Delivery(accepted=False, detail="RCPT TO was refused: 451 greylisted") == deliveries[0]
    assert deliveries[1].in_doubt


async def test_a_server_that_refuses_for_now_is_asked_as_often_as_there_are_waits() -> None:
    script = SmtpScript(mail="451 busy")
    async with running_smtp_server(script) as server:
        sender = SmtpMailer(f"smtp://127.0.0.1:{server.port}", SENDER, retry_waits=(timedelta(0),) * 3)
        await sender.send_invitations([LETTER])

        assert 4 == len(server.is_encrypted)


async def test_a_retry_that_would_come_too_late_is_not_waited_for() -> None:
    async with running_smtp_server(SmtpScript(mail="451 busy")) as server:
        sender = SmtpMailer(f"smtp://127.0.0.1:{server.port}", SENDER, retry_waits=(timedelta(hours=1),))
        deliveries = await sender.send_invitations([LETTER])

    assert [False] == [each.accepted for each in deliveries]


async def test_a_letter_on_its_way_when_the_time_is_over_is_cut_off_and_in_doubt() -> None:
    async with running_smtp_server(SmtpScript(data={"person0@acme.example": KEPT_WAITING})) as server:
        sender = SmtpMailer(f"smtp://127.0.0.1:{server.port}", SENDER, call_limit=timedelta(seconds=0.3))
        deliveries = await sender.send_invitations(letters(2))

    assert [True, False] == [each.in_doubt for each in deliveries]
    assert "the call took longer than 0.3 s" in deliveries[0].detail
    assert "not tried" in deliveries[1].detail


@contextlib.contextmanager
def _swallowing_port() -> Iterator[int]:
    """A port whose queue is full, so that whoever connects hears nothing at all."""
    with contextlib.ExitStack() as sockets:
        listening = sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(2):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


@pytest.mark.parametrize(
    ("patience", "detail"),
    [
        ({"step_timeout": STEP}, "cannot connect: no answer within 0.3 s"),
        ({"call_limit": STEP}, "cannot connect: no answer until the call took longer than 0.3 s"),
    ],
)
async def test_a_server_that_is_never_reached_has_certainly_taken_nothing(
    patience: dict[str, timedelta], detail: str
) -> None:
    with _swallowing_port() as port:
        sender = SmtpMailer(f"smtp://127.0.0.1:{port}", SENDER, retry_waits=(), **patience)  # type: ignore[arg-type]
        deliveries = await sender.send_invitations(letters(2))

    assert Delivery(accepted=False, tried=False, detail=f"127.0.0.1:{port}: {detail}") == deliveries[0]
    assert [False, False] == [each.in_doubt for each in deliveries]


async def test_a_letter_that_was_not_handed_over_when_the_time_is_over_is_not_in_doubt() -> None:
    script = SmtpScript(rcpt={"person0@acme.example": KEPT_WAITING})
    async with running_smtp_server(script) as server:
        sender = SmtpMailer(f"smtp://127.0.0.1:{server.port}", SENDER, call_limit=STEP)
        deliveries = await sender.send_invitations(letters(1))

    expected = "RCPT TO was not answered until the call took longer than 0.3 s"
    assert Delivery(accepted=False, detail=expected) == deliveries[0]


async def test_starttls_is_used_when_it_is_offered() -> None:
    async with running_smtp_server(starttls=True) as server:
        deliveries = await _to(server, "smtp://localhost").send_invitations(letters(2))

    assert [ACCEPTED] * 2 == list(deliveries)
    assert [True, True] == server.is_encrypted


async def test_starttls_is_left_out_when_told_so() -> None:
    async with running_smtp_server(starttls=True) as server:
        deliveries = await _to(server, "smtp://localhost", "?starttls=never").send_invitations(letters(2))

    assert [ACCEPTED] * 2 == list(deliveries)
    assert [False, False] == server.is_encrypted


async def test_required_starttls_that_is_not_offered_sends_nothing() -> None:
    async with running_smtp_server() as server:
        deliveries = await _to(server, "smtp://localhost", "?starttls=required").send_invitations(letters(2))

    assert "offers no STARTTLS" in deliveries[0].detail
    assert [False, False] == [each.accepted for each in deliveries]
    assert [] == server.is_encrypted


async def test_server_that_requires_starttls_gets_it() -> None:
    async with running_smtp_server(requires_starttls=True) as server:
        deliveries = await _to(server, "smtp://localhost").send_invitations([LETTER])

    assert [ACCEPTED] == list(deliveries)


async def test_smtps_is_encrypted_from_the_first_byte() -> None:
    async with running_smtp_server(tls=True) as server:
        deliveries = await _to(server, "smtps://localhost").send_invitations(letters(2))

    assert [ACCEPTED] * 2 == list(deliveries)
    assert 1 == server.connections


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_certificate_that_nobody_vouches_for_is_refused(scheme: str) -> None:
    async with running_smtp_server(tls=scheme == "smtps", starttls=scheme == "smtp") as server:
        sender = SmtpMailer(f"{scheme}://localhost:{server.port}", SENDER, retry_waits=())
        deliveries = await sender.send_invitations(letters(2))

    assert "certificate is not trusted: self-signed certificate" in deliveries[0].detail
    assert [False, False] == [each.accepted for each in deliveries]
    assert [] == server.letters


async def test_certificate_of_another_host_is_refused() -> None:
    # The certificate names localhost and 127.0.0.1, and is trusted for them.
    async with running_smtp_server(tls=True, host="127.0.0.2") as server:
        (delivery,) = await _to(server, "smtps://127.0.0.2").send_invitations([LETTER])

    assert "certificate is not trusted: IP address mismatch" in delivery.detail
    assert [] == server.letters


async def test_plain_server_behind_smtps_and_encrypted_one_behind_smtp_are_told_of() -> None:
    async with running_smtp_server() as plain, running_smtp_server(tls=True) as encrypted:
        (to_plain,) = await _to(plain, "smtps://localhost", step_timeout=STEP).send_invitations([LETTER])
        (to_encrypted,) = await _to(encrypted, "smtp://localhost", step_timeout=STEP).send_invitations(
            [LETTER]
        )

    assert not to_plain.accepted
    assert f"localhost:{plain.port}: " in to_plain.detail
    assert (
        Delivery(accepted=False, tried=False, detail=f"localhost:{encrypted.port}: no answer within 0.3 s")
        == to_encrypted
    )


async def test_user_and_password_open_the_server() -> None:
    async with running_smtp_server(starttls=True, password="p@ss/w0rd") as server:
        sender = _to(server, "smtp://awareness:p%40ss%2Fw0rd@localhost")
        deliveries = await sender.send_invitations(letters(2))

    assert [ACCEPTED] * 2 == list(deliveries)
    assert {"awareness"} == {login.split()[1] for login in server.logins}
    assert [True, True] == server.is_encrypted


async def test_wrong_password_fails_all_letters_for_now_and_is_never_told() -> None:
    async with running_smtp_server(starttls=True, password="right") as server:
        sender = _to(server, "smtp://awareness:s3cret-w0rd@localhost")
        with capture_logs() as logs:
            deliveries = await sender.send_invitations(letters(20))

    assert "refused the user or the password: 535" in deliveries[0].detail
    assert {False} == {each.accepted for each in deliveries}
    assert {False} == {each.permanent for each in deliveries}
    assert 1 == server.connections
    told = f"{deliveries} {logs} {sender!r} {vars(sender)}"
    assert "s3cret-w0rd" not in told


async def test_password_is_not_sent_in_the_clear_unless_told_so() -> None:
    async with running_smtp_server(password="s3cret-w0rd") as server:
        (refused,) = await _to(server, "smtp://awareness:s3cret-w0rd@localhost").send_invitations([LETTER])
        assert [] == server.logins
        (accepted,) = await _to(
            server, "smtp://awareness:s3cret-w0rd@localhost", "?starttls=never"
        ).send_invitations([LETTER])

    assert "offers no STARTTLS" in refused.detail
    assert ACCEPTED == accepted


async def test_login_that_the_server_does_not_know_of_fails_clearly() -> None:
    async with running_smtp_server() as server:
        sender = _to(server, "smtp://awareness:s3cret-w0rd@localhost", "?starttls=never")
        (delivery,) = await sender.send_invitations([LETTER])

    assert "AUTH extension is not supported" in delivery.detail


async def test_server_that_quotes_secrets_does_not_get_them_into_the_log() -> None:
    script = SmtpScript(
        data={LETTER.email: f"554 spam: {LETTER.password} AGF3YXJlbmVzcwBzM2NyZXQtdzByZA== s3cret-w0rd"}
    )
    async with running_smtp_server(script, password="s3cret-w0rd") as server:
        sender = _to(server, "smtp://awareness:s3cret-w0rd@localhost", "?starttls=never")
        with capture_logs() as logs:
            (delivery,) = await sender.send_invitations([LETTER])

    assert "DATA was refused: 554 spam: *** *** ***" == delivery.detail
    assert [delivery.detail] == [entry["detail"] for entry in logs]


async def test_server_that_quotes_an_address_does_not_get_it_into_the_log() -> None:
    script = SmtpScript(
        rcpt={
            LETTER.email: "550 5.1.1 no user <Helene.UNAL@acme.example> (rfc822;helene+2Eunal+40acme.example)"
        },
        data={"person1@acme.example": "554 5.7.1 PERSON1 is on holiday, ask boss@acme.example"},
    )
    async with running_smtp_server(script) as server:
        with capture_logs() as logs:
            deliveries = await mailer(server).send_invitations([LETTER, letters(2)[1]])

    assert [
        "RCPT TO was refused: 550 5.1.1 no user <***> (***)",
        "DATA was refused: 554 5.7.1 *** is on holiday, ask ***",
    ] == [delivery.detail for delivery in deliveries]
    assert [delivery.detail for delivery in deliveries] == [entry["detail"] for entry in logs]


async def test_address_in_unicode_goes_to_a_server_that_takes_it() -> None:
    async with running_smtp_server() as server:
        deliveries = await mailer(server).send_invitations([letter_to("hélène@acme.example"), LETTER])

    assert [ACCEPTED] * 2 == list(deliveries)
    assert ["hélène@acme.example", "helene.unal@acme.example"] == server.recipients
    assert ["SMTPUTF8" in letter.mail_options for letter in server.letters] == [True, False]
    assert "hélène@acme.example" in str(server.messages[0]["To"])


async def test_address_in_unicode_is_refused_for_good_by_a_server_that_does_not_take_it() -> None:
    async with running_smtp_server(smtputf8=False) as server:
        deliveries = await mailer(server).send_invitations([letter_to("hélène@acme.example"), LETTER])

    assert [False, True] == [each.accepted for each in deliveries]
    assert deliveries[0].permanent
    assert "no SMTPUTF8" in deliveries[0].detail
    assert 1 == server.connections


async def test_domain_in_unicode_goes_to_any_server() -> None:
    async with running_smtp_server(smtputf8=False) as server:
        deliveries = await mailer(server).send_invitations([letter_to("helene@bücher.example")])

    assert [ACCEPTED] == list(deliveries)
    assert ["helene@xn--bcher-kva.example"] == server.recipients


async def test_caller_that_goes_away_leaves_no_connection_behind() -> None:
    async with running_smtp_server(SmtpScript(mail=KEPT_WAITING)) as server:
        sending = asyncio.ensure_future(mailer(server).send_invitations(letters(3)))
        await until(lambda: _has(server.is_encrypted))
        began = time.monotonic()
        sending.cancel()
        outcome = await asyncio.gather(sending, return_exceptions=True)

        await until(lambda: _has(server.open_connections == 0))
        took = time.monotonic() - began

    assert isinstance(outcome[0], asyncio.CancelledError)
    assert took < 1


@pytest.mark.parametrize("connections", [1, 8])
@pytest.mark.parametrize("delay_s", [0.0, 0.02])
async def test_hundred_letters_are_sent_at_the_speed_of_the_server(connections: int, delay_s: float) -> None:
    async with running_smtp_server(SmtpScript(delay_s=delay_s)) as server:
        took, deliveries = await _timed(server, count=100, step_timeout=LONG, connections=connections)

    print(f"100 letters, {connections} connection(s), {delay_s * 1000:g} ms of delay: {took:.2f} s")
    assert [ACCEPTED] * 100 == deliveries
    # Ten times what a quiet machine takes.
    assert took < 10 * (0.5 + 100 * delay_s / connections)


@contextlib.asynccontextmanager
async def _peer(serve: object) -> AsyncIterator[int]:
    listening = await asyncio.start_server(serve, "127.0.0.1", 0)  # type: ignore[arg-type]
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


async def _has(come_true: object) -> bool:
    return bool(come_true)


async def _timed(
    server: SmtpServer, *, count: int, step_timeout: timedelta, connections: int = 1
) -> tuple[float, list[Delivery]]:
    sender = mailer(server, step_timeout=step_timeout, connections=connections)
    began = time.monotonic()
    deliveries = await sender.send_invitations(letters(count))
    return time.monotonic() - began, list(deliveries)


def _to(server: SmtpServer, url: str, options: str = "", *, step_timeout: timedelta = LONG) -> SmtpMailer:
    return SmtpMailer(
        f"{url}:{server.port}{options}",
        SENDER,
        step_timeout=step_timeout,
        tls_context=trusting_context(),
        retry_waits=(),
    )
