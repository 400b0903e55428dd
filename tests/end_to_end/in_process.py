"""Commands run in the tests' own process, which saves starting Python and its imports for each."""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Iterator, Mapping

import structlog

from awareness_server.main import main
from tests.end_to_end.installed import Ended, Installation


class InProcess(Installation):
    """An `Installation` for commands that are about what the program does, not about how it is started."""

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Ended:
        """Run a command to its end."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with (
            contextlib.chdir(self.folder),
            _environment({**self.environment, **(env or {})}),
            _logs_as_before(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main([*arguments])
        return Ended(code=int(code), out=_text(out), err=_text(err))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _logs_as_before() -> Iterator[None]:
    # The command sets logs up for its process, which goes on here with other tests.
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        structlog.reset_defaults()
        logging.captureWarnings(capture=False)
        root.handlers[:] = handlers
        root.setLevel(level)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode()
