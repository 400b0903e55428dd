"""No address of anybody is left of what a mail server said."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.emails import parse_email
from awareness_smtp.redacted_addresses import without_addresses, without_recipient

ADDRESS = "Refuse.Zwingli@exemple.fr"

locals_ = st.from_regex(r"[A-Za-z0-9éßİñ][A-Za-z0-9éßİñ_+'-]{0,9}(\.[A-Za-z0-9éß]{1,9})?", fullmatch=True)
addresses = st.builds("{}@{}".format, locals_, st.sampled_from(["exemple.fr", "xn--nergie-9ua.example"]))


def xtext(text: str) -> str:
    """RFC 3461 §4."""
    return "".join(
        chr(octet) if 33 <= octet <= 126 and octet not in b"+=.@" else f"+{octet:02X}"
        for octet in text.encode()
    )


def percent(text: str) -> str:
    return "".join(f"%{octet:02x}" for octet in text.encode())


def entities(text: str) -> str:
    return "".join(f"&#{ord(character)};" for character in text)


SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    str.lower,
    str.swapcase,
    "<{}>".format,
    "rfc822;{}".format,
    "({}):".format,
    xtext,
    percent,
    entities,
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: text.partition("@")[0],
    lambda text: text.partition("@")[0].upper(),
    lambda text: xtext(text.partition("@")[0]),
]


@given(addresses, st.lists(st.sampled_from(SPELLINGS) | st.text(max_size=12), max_size=6))
@example(ADDRESS, [str])
@example("strasse.groß@exemple.fr", [str.upper])
@example("ß@exemple.fr", ["SS"])
@example("ß@exemple.fr", ["ss"])
def test_recipient_does_not_occur_in_any_case_or_encoding(
    address: str, said: list[Callable[[str], str] | str]
) -> None:
    text = " ".join(piece if isinstance(piece, str) else piece(address) for piece in said)

    told = without_recipient(text, address)

    email = parse_email(address)
    for known in (address, email.text, email.key):
        for fold in (str.lower, str.upper, str.casefold):
            assert fold(known) not in fold(told)
            assert fold(known.partition("@")[0]) not in fold(told).replace("***", " ").split()


@given(st.text() | st.lists(st.sampled_from(['"', "a b", "@", "<", ">", "+40", " ", "x.fr"])).map("".join))
def test_no_at_sign_is_left(text: str) -> None:
    told = without_addresses(text)

    assert "@" not in told
    assert "+40" not in told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("5.1.1 no such user <Refuse.Zwingli@exemple.fr>", "5.1.1 no such user <***>"),
        ("refuse.zwingli: unknown", "***: unknown"),
        ("mailbox refuse+2Ezwingli+40exemple.fr is full", "mailbox *** is full"),
        ('"refuse zwingli"@exemple.fr, no', "***, no"),
        ("someone.else@exemple.org is the owner", "*** is the owner"),
        ("box_refuse.zwingli is unknown", "***"),
        (
            "4.7.1 greylisted, see https://mail.example/help?p=1",
            "4.7.1 greylisted, see https://mail.example/help?p=1",
        ),
    ],
)
def test_what_is_left_still_says_what_was_wrong(said: str, told: str) -> None:
    assert told == without_recipient(said, ADDRESS)
