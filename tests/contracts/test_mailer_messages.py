"""What a message is made of, read as a mail program reads it: whatever a name holds, it stays a name."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta, timezone
from email.header import decode_header, make_header
from email.message import EmailMessage, MIMEPart

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.employees import EmployeeId
from awareness_core.ports import InvitationLetter
from awareness_core.tenants import Language
from awareness_smtp import InvitationMessages, parse_sender
from awareness_smtp.dates import spell_moment
from awareness_smtp.plain_text import one_line
from tests.contracts.mail_letters import LETTER, NOW, letters
from tests.contracts.smtp_server import read_message

MESSAGES = InvitationMessages(
    parse_sender("Sensibilisation <no-reply@awareness.example>"),
    login_url="https://awareness.example/portail",
)
HEADERS = {
    *("date", "from", "to", "subject", "message-id", "auto-submitted", "x-auto-response-suppress"),
    *("content-language", "mime-version", "content-type"),
}


def test_headers_say_who_when_and_that_nobody_typed_it() -> None:
    message = _read(LETTER)

    assert HEADERS == {name.lower() for name in message.keys()}  # noqa: SIM118 - a message is no mapping
    assert "Sensibilisation <no-reply@awareness.example>" == message["From"]
    assert "Hélène Ünal <helene.unal@acme.example>" == message["To"]
    assert NOW.replace(microsecond=0) == message["Date"].datetime
    assert "auto-generated" == message["Auto-Submitted"]
    assert "fr" == message["Content-Language"]
    assert "multipart/alternative" == message.get_content_type()
    assert ["text/plain", "text/html"] == [part.get_content_type() for part in message.iter_parts()]
    assert [] == message.defects


def test_message_id_is_the_letter_s_own_and_stays_the_same() -> None:
    ids = {
        _read(letter)["Message-ID"]
        for letter in (
            LETTER,
            attrs.evolve(LETTER, first_name="Other", password="other"),
            # Another attempt at the same invitation.
            attrs.evolve(LETTER, created_at=NOW + timedelta(milliseconds=1)),
            attrs.evolve(LETTER, decided_at=NOW + timedelta(milliseconds=1)),
            attrs.evolve(LETTER, employee_id=EmployeeId("another")),
        )
    }

    assert 3 == len(ids)
    assert all(re.fullmatch(r"<[0-9a-f]{32}@awareness\.example>", message_id) for message_id in ids)


@pytest.mark.parametrize(
    "name",
    [
        "O'Brien",
        "Dupont, Jean-François",
        "Dupont, Jean",
        'Jean "Jeannot" Dupont',
        "back\\slash",
        "a@b.example",
        "Jean <x@y.example>",
        "(comment)",
        "=?utf-8?q?trick?=",
        "李 小龍",
        "محمد",
        "🙂" * 50,
        "é" * 100,
        "x" * 100,
        "Ωmega " * 16,
        "می‌خواهم",
    ],
)
def test_name_in_the_address_is_read_as_it_was_written(name: str) -> None:
    content = MESSAGES.write(attrs.evolve(LETTER, first_name=name, last_name="Z")).content
    message = read_message(content)
    (recipient,) = message["To"].addresses

    assert "helene.unal@acme.example" == recipient.addr_spec
    assert one_line(f"{name} Z") == _display_name(content)


@pytest.mark.parametrize(
    "text",
    [
        "Eve\r\nBcc: victim@x.example",
        "Eve\nBcc: victim@x.example",
        "Eve\rBcc: victim@x.example",
        "Eve\r\n\r\n<html>",
        "Eve\x00\x0b\x0c\x1c\x85\u2028\u2029Bcc: victim@x.example",
        "Eve\r\n.\r\nMAIL FROM:<x@y.example>",
        "Ève\r\nBcc: victim@x.example",
        '"\r\nBcc: victim@x.example',
        "Eve\ud800",
        "\u202egnp.exe",
        "",
        " ",
    ],
)
def test_nothing_gets_out_of_a_name_into_the_headers(text: str) -> None:
    letter = attrs.evolve(LETTER, first_name=text, last_name=text, company_name=text)
    content = MESSAGES.write(letter).content
    message = read_message(content)

    assert HEADERS == {name.lower() for name in message.keys()}  # noqa: SIM118 - a message is no mapping
    assert ["helene.unal@acme.example"] == [address.addr_spec for address in message["To"].addresses]
    assert [] == message.defects
    assert "\u202e" not in f"{message['To']}{message['Subject']}{_bodies(message)}"


@given(first=st.text(max_size=120), last=st.text(max_size=120), company=st.text(max_size=200))
@example(first="=?", last="?=", company="=?utf-8?q?=0D=0ABcc:x?=")
@example(first="\r", last="\n", company="\r\n ")
def test_whatever_the_texts_are_the_message_holds_together(first: str, last: str, company: str) -> None:
    letter = attrs.evolve(LETTER, first_name=first, last_name=last, company_name=company)
    content = MESSAGES.write(letter).content
    message = read_message(content)
    head = content.partition(b"\r\n\r\n")[0].decode()

    assert content.isascii()
    assert b"\n" not in content.replace(b"\r\n", b"")
    assert b"\r" not in content.replace(b"\r\n", b"")
    assert max(map(len, content.split(b"\r\n"))) <= 300
    assert HEADERS == {line.partition(":")[0].lower() for line in head.split("\r\n") if line[0] != " "}
    assert one_line(f"{first} {last}") == _display_name(content)
    assert one_line(str(make_header(decode_header(_unfolded(head, "Subject"))))).startswith(one_line(company))
    assert all(LETTER.password in body for body in _bodies(message)[:1])


def test_texts_are_escaped_in_html_and_plain_in_text() -> None:
    letter = attrs.evolve(LETTER, company_name="R&D <b>", first_name="<script>alert(1)</script>")
    text, html = _bodies(_read(letter))

    assert "R&D <b> vous invite" in text
    assert "R&amp;D &lt;b&gt;" in html
    assert "<script" not in html


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("login_url", ["https://awareness.example/portail?a=1&b=2", None])
def test_both_bodies_say_all_that_is_needed(language: Language, login_url: str | None) -> None:
    messages = InvitationMessages(parse_sender("a@b.example"), login_url=login_url)
    message = read_message(messages.write(attrs.evolve(LETTER, language=language)).content)
    text, html = _bodies(message)
    shown = re.sub(r"<[^>]+>", "", html.partition("<body")[2]).replace("&nbsp;", "\N{NO-BREAK SPACE}")

    for body in (text, shown):
        assert LETTER.password in body
        assert LETTER.company_name in body
        assert LETTER.email in body
        assert spell_moment(LETTER.expires_at, language) in body
        assert "http" not in body if login_url is None else login_url in body.replace("&amp;", "&")
    assert LETTER.company_name in message["Subject"]
    assert LETTER.password not in message["Subject"]


def test_html_loads_nothing_from_anywhere() -> None:
    html = _bodies(_read(LETTER))[1]

    assert [] == re.findall(r"<(?:img|script|link|iframe|object|form)\b|url\(|@import|\bsrc=", html)


def test_preview_in_a_list_of_mails_does_not_show_the_password() -> None:
    html = _bodies(_read(LETTER))[1]
    preview = html.partition("<body")[2][:500].partition("</div>")[0]

    assert "Votre mot de passe temporaire, valable" in preview
    assert LETTER.password.split("-")[0] not in preview


@pytest.mark.parametrize("login_url", ["https://awareness.example/", None])
def test_french_punctuation_never_begins_a_line(login_url: str | None) -> None:
    messages = InvitationMessages(parse_sender("a@b.example"), login_url=login_url)
    message = read_message(messages.write(LETTER).content)
    text, html = _bodies(message)
    shown = re.sub(r"<[^>]+>", "", html.partition("<body")[2])

    for body in (text, shown, str(message["Subject"])):
        assert [] == re.findall(r".{0,20}[ \n][:;!?»].{0,20}", body)
        assert [] == re.findall(r"\w'\w", body)
    assert re.findall(r"\N{NO-BREAK SPACE}[:;?]", text)


@pytest.mark.parametrize(
    ("moment", "french", "english"),
    [
        ("2026-11-28T07:45:59.999",
         "samedi 28_novembre 2026 à_7_h_45_(UTC)", "Saturday 28_November 2026 at_07:45_(UTC)"),
        ("2026-12-01T00:00:00", "mardi 1er_décembre 2026 à_0_h_00_(UTC)", "Tuesday 1_December 2026 at_00:00_(UTC)"),
        ("2028-02-29T23:09:00", "mardi 29_février 2028 à_23_h_09_(UTC)", "Tuesday 29_February 2028 at_23:09_(UTC)"),
    ],
)  # fmt: skip
def test_moments_are_spelt_in_utc_and_cut_to_the_minute(moment: str, french: str, english: str) -> None:
    aware = datetime.fromisoformat(moment).replace(tzinfo=UTC).astimezone(timezone(timedelta(hours=5)))

    assert french.replace("_", "\N{NO-BREAK SPACE}") == spell_moment(aware, Language.FRENCH)
    assert english.replace("_", "\N{NO-BREAK SPACE}") == spell_moment(aware, Language.ENGLISH)


def test_letter_without_a_first_name_is_greeted_without() -> None:
    text, html = _bodies(_read(attrs.evolve(LETTER, first_name=" ")))

    assert text.startswith("Bonjour,\n")
    assert "Bonjour,<" in html


def test_hundred_messages_take_less_than_a_tenth_of_a_second() -> None:
    sent = letters(100)
    MESSAGES.write(LETTER)
    rounds = []
    for _ in range(5):
        began = time.process_time()
        for letter in sent:
            MESSAGES.write(letter)
        rounds.append(time.process_time() - began)

    print(f"100 messages: {min(rounds) * 1000:.1f} ms")
    assert min(rounds) < 0.1


def test_password_is_in_no_representation() -> None:
    assert LETTER.password not in repr(MESSAGES.write(LETTER))


def _read(letter: InvitationLetter) -> EmailMessage:
    return read_message(MESSAGES.write(letter).content)


def _bodies(message: EmailMessage) -> tuple[str, str]:
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert html is not None
    return _lines(text), _lines(html)


def _lines(body: MIMEPart) -> str:
    return str(body.get_content()).replace("\r\n", "\n")


def _display_name(content: bytes) -> str:
    # Not `message["To"]`: in Python 3.11 it puts blanks between encoded words, which RFC 2047 §6.2 forbids.
    value = _unfolded(content.partition(b"\r\n\r\n")[0].decode(), "To")
    name, _, _ = value.rpartition("<")
    quoted = re.fullmatch(r'"(.*)"', name.strip())
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted[1])
    return str(make_header(decode_header(name.strip())))


def _unfolded(head: str, name: str) -> str:
    (line,) = [line for line in re.sub(r"\r\n(?= )", "", head).split("\r\n") if line.startswith(f"{name}: ")]
    return line.removeprefix(f"{name}: ")


@pytest.mark.parametrize(("color", "on_it"), [("#ffcc00", "#000000"), ("#101010", "#ffffff")])
def test_the_company_is_known_by_its_colour_and_the_button_can_be_read(color: str, on_it: str) -> None:
    plain, colored = (_html(attrs.evolve(LETTER, company_color=chosen)) for chosen in (None, color))

    assert color not in plain
    assert 3 < colored.count(color)
    assert f"color:{on_it};text-decoration:none" in colored


@pytest.mark.parametrize(
    ("color", "edge"), [("#ffff00", "#75808d"), ("#ffffff", "#75808d"), ("#101010", "#101010")]
)
def test_a_button_in_the_colour_of_the_page_is_seen_by_its_edge(color: str, edge: str) -> None:
    assert f"border:1px solid {edge};" in _html(attrs.evolve(LETTER, company_color=color))


def _html(letter: InvitationLetter) -> str:
    body = _read(letter).get_body(("html",))
    assert body is not None
    return str(body.get_content())
