"""`awareness serve`: answer the HTTP API until told to stop."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from awareness_server.cli.invocation import current_settings
from awareness_server.cli.output import say


def serve(
    *,
    host: str | None = None,
    port: Annotated[int | None, Parameter(validator=Number(gte=0, lte=65535))] = None,
    workers: Annotated[int | None, Parameter(validator=Number(gte=1, lte=64))] = None,
) -> None:
    """Answer the HTTP API until SIGTERM or Ctrl-C; requests in flight are finished then.

    Parameters
    ----------
    host
        The address to listen on; 0.0.0.0 for all networks. By default the setting host.
    port
        The port to listen on; 0 takes a free one. By default the setting port.
    workers
        How many processes answer; more than one needs PostgreSQL or limits_url. By default the setting workers.
    """
    from awareness_server.serving import serve_until_stopped

    serve_until_stopped(current_settings(host=host, port=port, workers=workers), say=say)
