"""How log lines are written: one form for our own and other libraries', to stderr, without secrets.

Set up once a process, by whoever starts it. Lines carry what is bound in structlog's context, such as the request id.
Our own lines do not pass through the standard library's logging: there is one on the way of every request, and it would
cost as much as the rest of a small one.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any, TextIO

import msgspec
import structlog

from awareness_server.redaction import Scrubber

_GRANIAN = "_granian"
# What these tell at "info" is in our own lines already, or on the way of every request.
_QUIET = {
    _GRANIAN: logging.ERROR,
    "alembic": logging.WARNING,
    "httpcore": logging.WARNING,
    "httpx": logging.WARNING,
    "litestar": logging.WARNING,
}

_Event = MutableMapping[str, Any]


def configure_logs(*, log_format: str, log_level: str, secrets: Iterable[str] = ()) -> None:
    """Write lines of at least `log_level` to stderr, as JSON or for people; none of them holds one of `secrets`."""
    level = getattr(logging, log_level.upper())
    begun: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    finished: list[structlog.types.Processor] = [
        structlog.processors.format_exc_info,
        _without_secrets(Scrubber(secrets)),
        _renderer(log_format),
    ]
    structlog.configure(
        processors=[*begun, *finished],
        logger_factory=lambda *_: _LineLogger(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=begun,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *finished],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(capture=True)
    for name, quiet in _QUIET.items():
        logging.getLogger(name).setLevel(logging.DEBUG if level == logging.DEBUG else max(level, quiet))


def granian_log_level() -> str:
    """For Granian's `log_level`: it would set its own otherwise."""
    return logging.getLevelName(logging.getLogger(_GRANIAN).getEffectiveLevel()).lower()


def granian_log_config() -> dict[str, Any]:
    """For Granian's `log_dictconfig`: leave the set-up above alone, and let its lines come through it."""
    return {
        "incremental": True,
        "formatters": {},
        "handlers": {},
        "loggers": {_GRANIAN: {"propagate": True}, "granian.access": {"propagate": True}},
    }


class _LineLogger:
    """Writes each line at once. A log that nobody takes fails no request."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def msg(self, line: str) -> None:
        """Write it."""
        try:
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):
            return

    debug = info = warning = error = critical = msg


def _without_secrets(scrubber: Scrubber) -> structlog.types.Processor:
    def clean(value: object) -> object:
        if isinstance(value, str):
            return scrubber(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [clean(item) for item in value]
        return scrubber(str(value))

    def processor(_logger: object, _method: str, event: _Event) -> _Event:
        return {key: clean(value) for key, value in event.items()}

    return processor


def _renderer(log_format: str) -> structlog.types.Processor:
    if log_format == "json":
        return structlog.processors.JSONRenderer(serializer=_as_json)
    return structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
        exception_formatter=structlog.dev.plain_traceback,
        pad_event_to=0,
    )


def _as_json(event: _Event, **_: object) -> str:
    return msgspec.json.encode(event).decode("utf-8")
