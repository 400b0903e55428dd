"""Two spellings of one mailbox share a key, two mailboxes never do, and what is no address is refused with a reason."""

from __future__ import annotations

import unicodedata

import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import example, given
from hypothesis import strategies as st

from awareness_core.emails import (
    MAX_EMAIL_LENGTH,
    EmailAddress,
    InvalidDomain,
    InvalidEmail,
    parse_domain,
    parse_email,
)
from tests.core.strategies import BLANKS, code_points, email_texts, emails, hostile_texts

SCRAPS = (
    *(
        "a",
        "é",
        "İ",
        "ß",
        "@",
        "@",
        ".",
        "x.example",
        "xn--",
        "xn--a",
        "[1.2.3.4]",
        '"',
        "<",
        ">",
        "\\",
        "(c)",
    ),
    *(
        "\u0338",
        "\u3002",
        "\uff0e",
        "\u200b",
        "\u00ad",
        "\u05d0",
        "\x00",
        "\r\n",
        "\ud800",
        "\U0001f600",
        "1",
        "-",
    ),
)


PLAIN_SCRAPS = (
    "a",
    "B",
    "1",
    ".",
    "_",
    "+",
    "-",
    "@",
    "postmaster",
    "Abuse",
    "x.example",
    "X.Example",
    "test",
    "x" * 62,
    "é" * 50,
    "xn--bcher-kva.",
    "\u3002",
)


@given(st.lists(st.sampled_from(SCRAPS), max_size=9).map("".join) | hostile_texts())
@example("a@" + "x" * 100_000)
@example("<" * 100_000)
def test_any_text_is_an_address_or_is_refused_with_a_reason(text: str) -> None:
    address, reason = _parsed(text)

    assert (address is None) == bool(reason)


@given(email_texts())
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    address = parse_email(text)

    assert address == parse_email(address.text)


@given(emails())
def test_the_key_of_a_key_is_the_key(address: EmailAddress) -> None:
    assert address.key == parse_email(address.key).key


@given(email_texts())
def test_composed_and_decomposed_spellings_share_a_key(text: str) -> None:
    assert (
        parse_email(unicodedata.normalize("NFC", text)).key
        == parse_email(unicodedata.normalize("NFD", text)).key
    )


@given(email_texts())
def test_capital_letters_make_no_other_mailbox(text: str) -> None:
    assert parse_email(text).key == parse_email(text.lower()).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana.Bo@X.Example", "ana.bo@x.example"),
        ("ÉVA@x.example", "e\u0301va@x.example"),
        ("İ@x.example", "i\u0307@x.example"),
        ("I\u0307@x.example", "İ@x.example"),
        ("\u212a@x.example", "k@x.example"),
        ("a@bücher.example", "a@xn--bcher-kva.example"),
        ("a@BU\u0308CHER.example", "a@XN--BCHER-KVA.EXAMPLE"),
        ("a@x\u3002example", "a@x.example"),
        ("a@ﬁn.example", "a@fin.example"),
    ],
)
def test_two_spellings_of_one_mailbox_share_a_key(one: str, other: str) -> None:
    assert parse_email(one).key == parse_email(other).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.b@x.example", "ab@x.example"),
        ("a+b@x.example", "a@x.example"),
        ("ß@x.example", "ss@x.example"),
        ("ſ@x.example", "s@x.example"),
        ("ı@x.example", "i@x.example"),
        ("İ@x.example", "i@x.example"),
        ("ﬁ@x.example", "fi@x.example"),
        ("é@x.example", "e@x.example"),
        ("а@x.example", "a@x.example"),  # Cyrillic
        ("a@х.example", "a@x.example"),  # Cyrillic
        ("a@faß.example", "a@fass.example"),
        ("a@x.example", "a@y.example"),
    ],
)
def test_two_mailboxes_keep_two_keys(one: str, other: str) -> None:
    assert parse_email(one).key != parse_email(other).key


@given(email_texts(), email_texts())
def test_keys_are_equal_exactly_when_local_parts_and_domains_are(one: str, other: str) -> None:
    assert (_mailbox(one) == _mailbox(other)) == (parse_email(one).key == parse_email(other).key)


@given(email_texts(), st.sampled_from(BLANKS), st.sampled_from(("\t", "\r\n", "\u2028")))
def test_outer_white_space_is_trimmed(text: str, before: str, after: str) -> None:
    assert parse_email(text) == parse_email(f"{before}{text}{after}")


def test_the_text_keeps_capitals_and_readable_domains() -> None:
    address = parse_email("Ana@XN--bcher-KVA.Example")

    assert "Ana@bücher.example" == address.text == str(address)
    assert "ana@xn--bcher-kva.example" == address.key
    assert "xn--bcher-kva.example" == address.domain


@given(emails())
def test_the_domain_is_a_lower_case_a_label_and_ends_the_key(address: EmailAddress) -> None:
    assert address.domain.isascii()
    assert address.domain == address.domain.lower()
    assert address.key.endswith(f"@{address.domain}")


@pytest.mark.parametrize("length", [253, 254])
def test_an_address_may_have_254_characters(length: int) -> None:
    text = _of_length(length)

    assert text == parse_email(text).text


@pytest.mark.parametrize("length", [255, 256, 1_000_000])
def test_an_address_of_more_than_254_characters_is_refused_by_its_length(length: int) -> None:
    text = _of_length(length)

    with pytest.raises(InvalidEmail, match=rf"^has {length} characters; at most 254 are allowed$"):
        parse_email(text)


def test_blanks_around_an_address_of_254_characters_do_not_count() -> None:
    text = _of_length(MAX_EMAIL_LENGTH)

    assert text == parse_email(f"  {text} ").text


def test_an_address_of_more_than_254_bytes_on_the_wire_is_refused() -> None:
    text = _of_length(200).replace("x" * 50, "é" * 50)

    with pytest.raises(InvalidEmail, match="too long"):
        parse_email(text)


def test_a_local_part_of_more_than_64_characters_is_refused() -> None:
    longest = "a" * 64 + "@x.example"

    assert longest == parse_email(longest).text
    with pytest.raises(InvalidEmail, match="too long"):
        parse_email("a" * 65 + "@x.example")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a",
        "@",
        "a@",
        "@x.example",
        "a@x",
        "a@@x.example",
        "a@x.example,b@x.example",
        "a@x.example;b@x.example",
        "a@x.example b@x.example",
        "a@x.example@y.example",
        "Ana <a@x.example>",
        "<a@x.example>",
        "mailto:a@x.example?bcc=b@x.example",
        '"a b"@x.example',
        '"a"@x.example',
        "a@x.example.",
        "a@.x.example",
        "a@x..example",
        ".a@x.example",
        "a.@x.example",
        "a..b@x.example",
        "a@[192.0.2.1]",
        "a@192.0.2.1",
        "a@[IPv6:2001:db8::1]",
        "a@localhost",
        "a@x.invalid",
        "a@-x.example",
        "a@x_y.example",
        "a(comment)@x.example",
        "a@x.example(comment)",
        "a＠x.example",
    ],
)
def test_what_is_no_single_plain_mailbox_is_refused(text: str) -> None:
    with pytest.raises(InvalidEmail):
        parse_email(text)


@pytest.mark.parametrize(
    "intruder",
    [
        "\r\n",
        "\n",
        "\r",
        "\x00",
        "\t",
        " ",
        "\x7f",
        "\u2028",
        "\u202e",
        "\u2066",
        "\u200b",
        "\u200d",
        "\u00a0",
        "\ud800",
    ],
    ids=code_points,
)
@pytest.mark.parametrize("template", ["a{}b@x.example", "{}@x.example", "a@x{}y.example", "a@x.example{}b"])
def test_a_character_that_hides_splits_or_turns_is_refused_anywhere(intruder: str, template: str) -> None:
    with pytest.raises(InvalidEmail):
        parse_email(template.format(intruder))


@given(st.sampled_from(("x.example", "X.Example", "bücher.example", "xn--bcher-kva.example", "a.x.example")))
def test_a_domain_reads_as_that_of_an_address(domain: str) -> None:
    expected = parse_email(f"a@{domain}").domain

    assert expected == parse_domain(domain) == parse_domain(f" @{domain} ") == parse_domain(expected)


@pytest.mark.parametrize(
    "text", ["", "@", "x", "a@x.example", "@@x.example", "x.example.", "x .example", "[192.0.2.1]"]
)
def test_what_no_address_could_end_in_is_no_domain(text: str) -> None:
    with pytest.raises(InvalidDomain, match=r"^not a domain like example\.com: "):
        parse_domain(text)


@given(st.lists(st.sampled_from(PLAIN_SCRAPS), max_size=9).map("".join) | email_texts())
@example("POSTMASTER@x.example")
@example("a@localhost")
@example(f"{'a' * 64}@x.example")
@example(f"{'a' * 65}@x.example")
@example(f"a@{'x' * 63}.{'x' * 63}.{'x' * 63}.{'x' * 48}.example")
@example(f"{'a' * 64}@{'x' * 63}.{'x' * 63}.{'x' * 52}.example")
@example(f"{'a' * 64}@{'é' * 50}.{'é' * 50}.example")
@example("a@" + "x\u3002" * 60 + "x" * 60 + ".example")
def test_every_address_is_read_as_the_validator_reads_it(text: str) -> None:
    try:
        expected = validate_email(text.strip(), check_deliverability=False, strict=True)
    except EmailNotValidError:
        with pytest.raises(InvalidEmail):
            parse_email(text)
        return
    parsed = parse_email(text)

    assert (parsed.text, parsed.domain) == (expected.normalized, expected.ascii_domain.lower())
    assert parsed.key == f"{unicodedata.normalize('NFC', expected.local_part).lower()}@{parsed.domain}"


def _parsed(text: str) -> tuple[EmailAddress | None, str]:
    try:
        return parse_email(text), ""
    except InvalidEmail as refusal:
        return None, str(refusal)


def _mailbox(text: str) -> tuple[str, str]:
    """What the key stands for, told another way: the local part and the domain of an address from `email_texts`."""
    local, domain = unicodedata.normalize("NFC", text.strip()).split("@")
    readable = domain.lower().replace("xn--bcher-kva", "bücher")
    return unicodedata.normalize("NFC", local.lower()), readable


def _of_length(length: int) -> str:
    """An ASCII address of exactly `length` characters, its labels nearly as long as labels may be."""
    spare = length - len("a@.example")
    domain = "".join("." if place % 61 == 60 else "x" for place in range(spare))
    text = f"a@{domain.removesuffix('.')}{'x' * domain.endswith('.')}.example"
    assert length == len(text)
    return text
