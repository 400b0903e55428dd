"""How the whole suite runs: the hypothesis profiles, the event loop, and the golden files.

Nothing here knows a rule, a store or a server; what a folder of tests shares stands in that folder's own conftest.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No deadline and no check of the generator's speed: how fast an example runs is the machine's business.
# In CI the examples are derived from the test itself, so the same commit gives the same run.
_ON_CI = bool(os.environ.get("CI"))
_ANY_MACHINE = settings(
    deadline=None,
    derandomize=_ON_CI,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=not _ON_CI,
)
settings.register_profile("fast", parent=_ANY_MACHINE, max_examples=50)
settings.register_profile("thorough", parent=_ANY_MACHINE, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # What a shell runs in the background ignores Ctrl-C, and so would the programs that the tests start and stop so.
    signal.signal(signal.SIGINT, signal.default_int_handler)

_SERVERS = ("postgres", "redis", "quota", "mailer_smtp", "real_server")
"""What tests that start a program beside them have in their names or parameters."""

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="write the golden files anew instead of comparing with them"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Each file runs in one process. The longest ones begin first, or all but one process would wait for them.
    items.sort(key=lambda item: "model" not in item.path.parts)
    for item in items:
        if any(server in item.nodeid for server in _SERVERS):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests marked `anyio` run on asyncio, which is what the service runs on."""
    return "asyncio"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], str]:
    """Return a function that reads what was expected, given a path below tests/golden and the actual text.

    `assert golden("mails/invitation.fr.txt", actual) == actual`. With `--update` the actual text is written first.
    """
    update: bool = request.config.getoption("--update")

    def expected(name: str, actual: str) -> str:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8", newline="")
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()

    return expected
