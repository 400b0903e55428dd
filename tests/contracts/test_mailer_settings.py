"""What an operator writes about mail: what is understood, and that a refusal helps without telling a secret."""

from __future__ import annotations

import pytest

from awareness_smtp import (
    InvalidMailSetting,
    MailServer,
    Security,
    Sender,
    SmtpMailer,
    parse_login_url,
    parse_mail_server,
    parse_sender,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://mail", MailServer(host="mail", port=25, security=Security.STARTTLS_IF_OFFERED)),
        ("smtp://mail.example.org:2525/", MailServer(
            host="mail.example.org", port=2525, security=Security.STARTTLS_IF_OFFERED)),
        (" smtp://mail?starttls=required\n", MailServer(host="mail", port=25, security=Security.STARTTLS_REQUIRED)),
        ("SMTP://Mail?starttls=never", MailServer(host="mail", port=25, security=Security.PLAIN)),
        ("smtps://mail", MailServer(host="mail", port=465, security=Security.TLS)),
        ("smtps://[::1]:4650", MailServer(host="::1", port=4650, security=Security.TLS)),
        ("smtp://bücher.example", MailServer(
            host="xn--bcher-kva.example", port=25, security=Security.STARTTLS_IF_OFFERED)),
        ("smtp://u:p@mail", MailServer(
            host="mail", port=587, security=Security.STARTTLS_REQUIRED, user="u", password="p")),
        ("smtp://u%40x.org:p%2F%3A%40%C3%A9@mail?starttls=never", MailServer(
            host="mail", port=587, security=Security.PLAIN, user="u@x.org", password="p/:@é")),
    ],
)  # fmt: skip
def test_server_gets_its_defaults_from_what_is_said(url: str, expected: MailServer) -> None:
    assert expected == parse_mail_server(url)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("", "must begin with smtp:// or smtps://"),
        ("mail.example.org:25", "must begin with smtp:// or smtps://"),
        ("http://u:s3cret@mail", "must begin with smtp:// or smtps://"),
        ("smtp://", "host or port is missing"),
        ("smtp://u:s3cret@", "host or port is missing"),
        ("smtp://u:s3cret@mail:0", "host or port is missing"),
        ("smtp://u:s3cret@ma il", "host or port is missing"),
        ("smtp://u:s3cret@mail:x", "host or port cannot be read"),
        ("smtp://u:s3cret@mail:70000", "host or port cannot be read"),
        ("smtp://u:s3cret/x@mail", "host or port cannot be read"),
        ("smtp://u:s3cret@mail..org", "host or port cannot be read"),
        (f"smtp://u:s3cret@{'x' * 64}.org", "host or port cannot be read"),
        ("smtp://[::1", "host or port cannot be read"),
        ("smtp://u:s3cret@mail/inbox", "nothing but options may follow"),
        ("smtp://u:s3cret@mail#x", "nothing but options may follow"),
        ("smtp://u@mail", "user and password go together"),
        ("smtp://u:@mail", "user and password go together"),
        ("smtp://:s3cret@mail", "user and password go together"),
        ("smtp://u:s3cret%0D%0ARSET@mail", "control character"),
        ("smtp://u:s3cret@mail?starttls=maybe", "option of the mail server's URL is not known"),
        ("smtp://u:s3cret@mail?tls=1", "option of the mail server's URL is not known"),
        (
            "smtp://u:s3cret@mail?starttls=never&starttls=required",
            "option of the mail server's URL is not known",
        ),
        ("smtps://u:s3cret@mail?starttls=required", "encrypted from the first byte"),
    ],
)
def test_refused_server_is_told_what_would_be_right(url: str, told: str) -> None:
    with pytest.raises(InvalidMailSetting) as raised:
        SmtpMailer(url, "a@b.example")

    assert told in str(raised.value)
    assert "s3cret" not in str(raised.value)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_password_is_in_no_representation() -> None:
    url = "smtp://u:s3cret@mail"

    assert "s3cret" not in f"{parse_mail_server(url)!r} {SmtpMailer(url, 'a@b.example')!r}"
    assert "SmtpMailer(mail:587, from a@b.example)" == repr(SmtpMailer(url, "a@b.example"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a@b.example", Sender(name="", address="a@b.example", domain="b.example")),
        ("Awareness <a@b.example>", Sender(name="Awareness", address="a@b.example", domain="b.example")),
        ('"Acme, Sécurité" <a@b.example>', Sender(name="Acme, Sécurité", address="a@b.example", domain="b.example")),
        ("A <a@Bücher.example>", Sender(
            name="A", address="a@xn--bcher-kva.example", domain="xn--bcher-kva.example")),
    ],
)  # fmt: skip
def test_sender_is_a_name_and_an_address(text: str, expected: Sender) -> None:
    assert expected == parse_sender(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Awareness",
        "a@",
        "a@b@c.example",
        "A <>",
        "é@b.example",
        "a@b.example\r\nBcc: x@y.example",
        "A\x00 <a@b.example>",
    ],
)
def test_refused_sender_is_told_what_would_be_right(text: str) -> None:
    with pytest.raises(InvalidMailSetting, match="sender"):
        parse_sender(text)


@pytest.mark.parametrize("url", ["https://a.example", "http://localhost:8000/login?x=1"])
def test_web_address_to_log_in_at_is_shown_as_it_is(url: str) -> None:
    assert url == parse_login_url(f" {url}\n")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.example",
        "javascript:alert(1)",
        "ftp://a.example",
        "https://",
        "https://a b.example",
        "https://[::1",
        "https://a:99999",
        "https://a\x00.example",
    ],
)
def test_address_to_log_in_at_that_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidMailSetting, match=r"such as https://awareness\.example\.org"):
        parse_login_url(url)
