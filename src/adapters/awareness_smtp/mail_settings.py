"""What an operator says about mail: the server, the sender, the address to log in at.

Refuses what it does not understand by naming what would be right. No message repeats a URL: it may hold a password.
"""

from __future__ import annotations

import enum
from email.utils import parseaddr
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import attrs

from awareness_core.emails import InvalidEmail, parse_email
from awareness_core.texts import text_problem

_RELAY_PORT, _SUBMISSION_PORT, _TLS_PORT = 25, 587, 465  # RFC 5321, RFC 6409, RFC 8314


class InvalidMailSetting(ValueError):
    """A setting of mail cannot be used. The message says what would be right, and holds no secret."""


class Security(enum.Enum):
    """How the way to the server is protected. A certificate is always checked where there is one."""

    TLS = "TLS from the first byte"
    STARTTLS_REQUIRED = "STARTTLS or nothing"
    STARTTLS_IF_OFFERED = "STARTTLS when the server offers it"
    PLAIN = "no encryption"


@attrs.frozen(kw_only=True)
class MailServer:
    """Where mail is taken to. `user` and `password` are both there or both None."""

    host: str
    port: int
    security: Security
    user: str | None = None
    password: str | None = attrs.field(default=None, repr=False)

    @property
    def place(self) -> str:
        """Host and port, for people."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@attrs.frozen(kw_only=True)
class Sender:
    """Who mail comes from. `address` is ASCII, `domain` its A-label."""

    name: str
    address: str
    domain: str


def parse_mail_server(url: str) -> MailServer:
    """The server that `url` names: `smtp://[user:password@]host[:port]`, or `smtps://` for TLS from the first byte.

    `smtp` takes STARTTLS when it is offered; `?starttls=required` or `?starttls=never` decides. Choice: with a password
    it is required unless `never` is said, as whoever sits in between could make the offer disappear. Ports by default:
    465 for `smtps`, 587 with a password, else 25. Raises `InvalidMailSetting`.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = (
            (parts.hostname or "").encode("idna").decode("ascii")
            if ":" not in (parts.hostname or "")
            else parts.hostname
        )
    except ValueError:
        raise InvalidMailSetting(f"the mail server's host or port cannot be read; {_SERVER_FORM}") from None
    if parts.scheme not in {"smtp", "smtps"}:
        raise InvalidMailSetting(f"the mail server's URL must begin with smtp:// or smtps://; {_SERVER_FORM}")
    if not host or not host.isprintable() or " " in host or port == 0:
        raise InvalidMailSetting(f"the mail server's host or port is missing; {_SERVER_FORM}")
    if parts.path not in {"", "/"} or parts.fragment:
        raise InvalidMailSetting(f"nothing but options may follow the mail server's port; {_SERVER_FORM}")
    user, password = _credentials(parts)
    security = _security(parts, has_password=password is not None)
    usual_port = _TLS_PORT if security is Security.TLS else _RELAY_PORT if user is None else _SUBMISSION_PORT
    return MailServer(host=host, port=port or usual_port, security=security, user=user, password=password)


def parse_sender(text: str) -> Sender:
    """The sender written as `someone@example.org` or `Some Name <someone@example.org>`.

    Raises `InvalidMailSetting`.
    """
    name, address = parseaddr(text)
    if not address or text_problem(text, max_length=500) is not None:
        raise InvalidMailSetting(f"the sender of mails cannot be read; {_SENDER_FORM}")
    try:
        email = parse_email(address)
    except InvalidEmail as error:
        raise InvalidMailSetting(f"the sender's address is not valid: {error}; {_SENDER_FORM}") from None
    local = email.text.rpartition("@")[0]
    if not local.isascii():
        raise InvalidMailSetting(
            "the sender's address must be ASCII before the @, so that any server takes it"
        )
    return Sender(name=name, address=f"{local}@{email.domain}", domain=email.domain)


def parse_login_url(url: str) -> str:
    """The address at which people log in, as mails show it: `http://` or `https://`. Raises `InvalidMailSetting`."""
    stripped = url.strip()
    try:
        parts = urlsplit(stripped)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not stripped.isprintable() or " " in stripped:
        raise InvalidMailSetting(
            "the address to log in at must be a web address such as https://awareness.example.org"
        )
    return stripped


_SERVER_FORM = (
    "write smtp://[user:password@]host[:port] or smtps://…, optionally ?starttls=required or ?starttls=never, "
    "and percent-encode what is special in a password"
)
_SENDER_FORM = "write someone@example.org or Some Name <someone@example.org>"

_STARTTLS = {"required": Security.STARTTLS_REQUIRED, "never": Security.PLAIN}


def _credentials(parts: SplitResult) -> tuple[str | None, str | None]:
    if parts.username is None and parts.password is None:
        return None, None
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not user or not password:
        raise InvalidMailSetting(f"the mail server's user and password go together; {_SERVER_FORM}")
    if not (user + password).isprintable():
        raise InvalidMailSetting("the mail server's user or password holds a control character")
    return user, password


def _security(parts: SplitResult, *, has_password: bool) -> Security:
    options = parse_qsl(parts.query, keep_blank_values=True)
    chosen = [_STARTTLS.get(value) if name == "starttls" else None for name, value in options]
    if None in chosen or len(chosen) > 1 or (parts.query and not options):
        raise InvalidMailSetting(f"an option of the mail server's URL is not known; {_SERVER_FORM}")
    if parts.scheme == "smtps":
        if chosen:
            raise InvalidMailSetting("smtps:// is encrypted from the first byte; leave out ?starttls")
        return Security.TLS
    if chosen:
        return chosen[0] or Security.PLAIN
    return Security.STARTTLS_REQUIRED if has_password else Security.STARTTLS_IF_OFFERED
