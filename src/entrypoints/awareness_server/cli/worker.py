"""`awareness worker`: what has to be done without anybody asking, in a process of its own."""

from __future__ import annotations

from awareness_server.cli.invocation import current_settings
from awareness_server.cli.output import say


def worker() -> None:
    """Poll sources, mail what a crash left, erase who left long ago if a setting says so, until SIGTERM or Ctrl-C.

    `serve` does the same beside answering, unless the setting serve_does_chores says no. With the setting
    worker_metrics_port its figures are told there.
    """
    from awareness_server.chores import work_until_stopped

    work_until_stopped(current_settings(), say=say)
