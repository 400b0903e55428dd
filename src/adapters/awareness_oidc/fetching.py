"""One question to a provider over HTTP: limits of time and size, and one sentence for whatever goes wrong.

Redirects are not followed, so that a code or a secret goes to nobody else; neither stands in an error, as no error
quotes what was sent or answered. Knows nothing of what the answers mean.
"""

from __future__ import annotations

import asyncio
import functools
import os
import ssl
from collections.abc import Mapping
from typing import Final

import attrs
import certifi
import httpx

from awareness_core.errors import ProviderUnavailable
from awareness_core.ports import refuse_inside_transaction

UNREACHABLE: Final = "unreachable"
SLOW: Final = "slow"
STRANGE: Final = "strange_answer"


@attrs.frozen(kw_only=True)
class Limits:
    """How long, in seconds, and how much. `question` is for one, `whole` for all that one visit of somebody asks."""

    connect: float = 5.0
    question: float = 8.0
    whole: float = 10.0
    answer_bytes: int = 512 * 1024


@attrs.frozen(kw_only=True)
class Answer:
    """What came back, whole."""

    status: int
    body: bytes = attrs.field(repr=False)


async def ask(
    method: str,
    url: str,
    *,
    limits: Limits,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> Answer:
    """The answer to one request. Raises `ProviderUnavailable`."""
    refuse_inside_transaction()
    where = shown(url)
    timeout = httpx.Timeout(limits.question, connect=limits.connect)
    sent = {"accept": "application/json", **(headers or {})}
    try:
        async with (
            asyncio.timeout(limits.question),
            # No proxy and no .netrc of the environment: either would get to see the secret, or replace it.
            httpx.AsyncClient(verify=_trust(), timeout=timeout, trust_env=False) as client,
            client.stream(method, url, headers=sent, content=body) as response,
        ):
            content = bytearray()
            async for part in response.aiter_bytes():
                content += part
                if len(content) > limits.answer_bytes:
                    raise ProviderUnavailable(
                        f"{where} answered with more than {limits.answer_bytes // 1024} KiB", reason=STRANGE
                    )
            return Answer(status=response.status_code, body=bytes(content))
    except (TimeoutError, httpx.TimeoutException):
        raise ProviderUnavailable(f"{where} did not answer in time", reason=SLOW) from None
    except httpx.ConnectError as error:
        message = f"{where} cannot be reached: {_reason(error)}"
        raise ProviderUnavailable(message, reason=UNREACHABLE) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        message = f"{where} broke off, or cannot be asked: {type(error).__name__}"
        raise ProviderUnavailable(message, reason=UNREACHABLE) from None


def shown(url: str) -> str:
    """A URL as a log may hold it: without its query."""
    return url.partition("?")[0]


@functools.cache
def _trust() -> ssl.SSLContext:
    """Public authorities and those that the computer trusts (`SSL_CERT_FILE` names more); names are checked."""
    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()
    return context


def _reason(error: httpx.ConnectError) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({cause.verify_message}); SSL_CERT_FILE can name an authority"
        if isinstance(cause, ssl.SSLError):
            return "it does not speak TLS there"
        if isinstance(cause, OSError) and cause.strerror:
            # Event loops word it each in its own way; resolvers have numbers of their own, below 0.
            number = cause.errno or 0
            return os.strerror(number) if number > 0 else cause.strerror
        cause = cause.__cause__ or cause.__context__
    return str(error) or "no connection"
