"""What a letter becomes: a message in the company's language, ready for the wire.

What it says stands in `templates/`, where a value that is missing is an error and not a blank.
"""

from __future__ import annotations

import hashlib
from email.utils import format_datetime
from functools import cache

import attrs
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from awareness_core.colors import WHITE, readable_on, stands_out
from awareness_core.emails import parse_email
from awareness_core.ports import InvitationLetter
from awareness_core.tenants import Language
from awareness_smtp.dates import spell_moment
from awareness_smtp.mail_settings import Sender, parse_login_url
from awareness_smtp.mime import mailbox, two_alternatives, unstructured
from awareness_smtp.plain_text import one_line

_COLOR = "#1a5a9c"
_EDGE = "#75808d"
"""Of a button whose colour is nearly that of the page; seen on white and on the dark page alike."""


@attrs.frozen(kw_only=True)
class Message:
    """One letter for the wire. `recipient` is ASCII unless the letter `needs_smtputf8` (RFC 6531)."""

    recipient: str
    needs_smtputf8: bool
    message_id: str
    content: bytes = attrs.field(repr=False)


class InvitationMessages:
    """Writes letters. The same letter becomes the same bytes, `Message-ID` included, whenever it is written.

    `login_url` None leaves out the link and points to the company's own portal. Raises `InvalidMailSetting`.
    """

    def __init__(self, sender: Sender, *, login_url: str | None = None) -> None:
        self._sender = sender
        self._login_url = None if login_url is None else parse_login_url(login_url)

    def write(self, letter: InvitationLetter) -> Message:
        """The message for one letter. Raises `InvalidEmail` for an address that no message can be sent to."""
        email = parse_email(letter.email)
        local = email.text.rpartition("@")[0]
        needs_smtputf8 = not local.isascii()
        # The A-label spelling of a domain needs nothing special of any server on the way.
        recipient = email.text if needs_smtputf8 else f"{local}@{email.domain}"
        token = _token(letter)
        message_id = f"<{token}@{self._sender.domain}>"
        wording = _wording(letter.language)
        values = self._values(letter, email.text)
        headers = {
            "Date": format_datetime(letter.created_at),
            "From": mailbox(self._sender.name, self._sender.address, header="From"),
            "To": mailbox(f"{letter.first_name} {letter.last_name}", recipient, header="To"),
            "Subject": unstructured(wording.render("subject.txt", values), header="Subject"),
            "Message-ID": message_id,
            "Auto-Submitted": "auto-generated",
            # Exchange answers automatic mail unless it is told not to in its own words.
            "X-Auto-Response-Suppress": "All",
            "Content-Language": letter.language.value,
        }
        content = two_alternatives(
            headers, text=wording.render("txt", values), html=wording.render("html", values), boundary=token
        )
        return Message(
            recipient=recipient, needs_smtputf8=needs_smtputf8, message_id=message_id, content=content
        )

    def _values(self, letter: InvitationLetter, address: str) -> dict[str, object]:
        color = letter.company_color or _COLOR
        return {
            "company_name": one_line(letter.company_name),
            "first_name": one_line(letter.first_name),
            "address": address,
            "password_groups": letter.password.split("-"),
            "login_url": self._login_url,
            "color": color,
            "on_color": readable_on(color),
            "edge": color if stands_out(color, WHITE) else _EDGE,
            "has_color": letter.company_color is not None,
            "valid_until": spell_moment(letter.expires_at, letter.language),
        }


def _token(letter: InvitationLetter) -> str:
    known = f"{letter.employee_id}\n{letter.decided_at.isoformat()}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(known, digest_size=16, person=b"awareness mail").hexdigest()


class _Wording:
    """The compiled templates of one language."""

    def __init__(self, environment: Environment, language: Language) -> None:
        self._templates = {
            kind: environment.get_template(f"invitation.{language.value}.{kind}.j2")
            for kind in ("subject.txt", "txt", "html")
        }

    def render(self, kind: str, values: dict[str, object]) -> str:
        return self._templates[kind].render(values)


@cache
def _wording(language: Language) -> _Wording:
    return _Wording(_environment(), language)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("awareness_smtp"),
        undefined=StrictUndefined,
        autoescape=select_autoescape(enabled_extensions=("html.j2",), default_for_string=False),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
