"""A form as a browser sends it, read within limits: URL-encoded UTF-8, small, in time, each field once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from litestar.types import Receive

from awareness_core.sessions import is_from_form
from awareness_web.head import Head
from awareness_web.refusals import FormTooLarge, FormTooSlow, NotFromHere, UnreadableForm

MAX_FORM_BYTES: Final = 16 * 1024
TOKEN_FIELD: Final = "form_token"  # noqa: S105 (a field's name)

_MEDIA: Final = b"application/x-www-form-urlencoded"
_MAX_FIELDS: Final = 10
_PATIENCE_SECONDS: Final = 10.0
# So much more is read and dropped before a refusal, as a client that still sends may never see it otherwise.
_DROPPED_BYTES: Final = 8 * 1024 * 1024
_DROPPING_SECONDS: Final = 2.0

Fields = Mapping[str, str]


async def read_form(head: Head, receive: Receive, *, token: str | None) -> Fields:
    """The fields of a form that was made for whoever holds `token`.

    Raises `NotFromHere` for one that was not, and what else `refusals` has for what is no such form.
    """
    media = head.one(b"content-type")
    if media is None or media.partition(b";")[0].strip().lower() != _MEDIA:
        await _drop(receive)
        raise UnreadableForm
    fields = _parsed(await _read(head, receive))
    if token is None or not is_from_form(fields.get(TOKEN_FIELD, ""), token):
        raise NotFromHere
    return fields


async def _read(head: Head, receive: Receive) -> bytes:
    declared = head.one(b"content-length") or b""
    if declared.isdigit() and int(declared[:19]) > MAX_FORM_BYTES:
        await _drop(receive)
        raise FormTooLarge
    body = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise UnreadableForm
                body += message.get("body", b"")
                if len(body) > MAX_FORM_BYTES:
                    break
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise FormTooSlow from None
    await _drop(receive)
    raise FormTooLarge


async def _drop(receive: Receive) -> None:
    left = _DROPPED_BYTES
    try:
        async with asyncio.timeout(_DROPPING_SECONDS):
            while left > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
                left -= len(message.get("body", b""))
    except TimeoutError:
        return


def _parsed(body: bytes) -> Fields:
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        raise UnreadableForm from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise UnreadableForm
    return fields
