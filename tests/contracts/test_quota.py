"""What every `QuotaCounter` does: exact counts in a fixed window that begins with the subject's first request."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from awareness_core.ports import QuotaCounter
from awareness_core.quota import API_KEY_POLICY, QuotaPolicy, QuotaUse, decide
from awareness_limits import FallbackCounter, MemoryCounter, RedisCounter, parse_store_url
from awareness_memory import SystemClock
from awareness_memory.quota import MemoryQuotaCounter
from awareness_sql.postgres.address import parse_address
from awareness_sql.postgres.quota import PostgresQuotaCounter
from tests.contracts.polling import until, until_now
from tests.contracts.postgres_database import PlacedDatabase
from tests.contracts.redis_server import RedisServer

pytestmark = pytest.mark.anyio

SHORT = QuotaPolicy(limit=3, window=timedelta(seconds=1))
# The machine may be busy; how long a counter waits is the business of another test.
UNHURRIED = timedelta(seconds=20)


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    given = os.environ.get("TEST_REDIS_URL")
    if given:
        yield given
    else:
        with RedisServer(tmp_path_factory.mktemp("redis")) as server:
            yield server.url


@pytest.fixture(params=["memory", "clocked memory", "redis", "fallback", "postgres"])
async def counter(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[QuotaCounter]:
    match request.param:
        case "postgres":
            async with _counter_in(request.getfixturevalue("postgres")) as counter:
                yield counter
        case "memory":
            yield MemoryCounter()
        case "clocked memory":
            yield MemoryQuotaCounter(SystemClock())
        case "redis":
            redis = _redis_counter(redis_url)
            yield redis
            await redis.aclose()
        case "fallback":
            fallback = FallbackCounter(_redis_counter(redis_url), MemoryCounter())
            yield fallback
            await fallback.aclose()


async def test_first_600_of_605_requests_pass(counter: QuotaCounter) -> None:
    uses = [await counter.hit("key", API_KEY_POLICY) for _ in range(605)]

    assert list(range(1, 606)) == [use.count for use in uses]
    assert [True] * 600 + [False] * 5 == [decide(API_KEY_POLICY, use).allowed for use in uses]


async def test_requests_that_arrive_together_are_each_counted_once(counter: QuotaCounter) -> None:
    uses = await asyncio.gather(*(counter.hit("key", API_KEY_POLICY) for _ in range(605)))

    assert set(range(1, 606)) == {use.count for use in uses}


async def test_window_begins_with_the_first_request(counter: QuotaCounter) -> None:
    before = time.monotonic()
    first = await counter.hit("key", API_KEY_POLICY)
    later = await counter.hit("key", API_KEY_POLICY)
    took = timedelta(seconds=time.monotonic() - before)

    # A shared store tells whole milliseconds.
    assert API_KEY_POLICY.window - took - _A_MILLISECOND <= first.resets_in <= API_KEY_POLICY.window
    assert API_KEY_POLICY.window - took - _A_MILLISECOND <= later.resets_in <= first.resets_in


async def test_window_ends_though_requests_keep_coming(counter: QuotaCounter) -> None:
    began = time.monotonic()
    counts = [(await counter.hit("key", SHORT)).count]
    async with asyncio.timeout(20):
        while (use := await counter.hit("key", SHORT)).count != 1:
            counts.append(use.count)
            await asyncio.sleep(0.001)
    lasted = time.monotonic() - began

    assert list(range(1, len(counts) + 1)) == counts
    assert lasted >= 0.99
    assert SHORT.window - use.resets_in <= timedelta(milliseconds=10)


async def test_peek_does_not_count(counter: QuotaCounter) -> None:
    await counter.hit("key", API_KEY_POLICY)
    peeks = [await counter.peek("key", API_KEY_POLICY) for _ in range(3)]
    use = await counter.hit("key", API_KEY_POLICY)

    assert [1, 1, 1] == [peek.count for peek in peeks]
    assert 2 == use.count
    assert use.resets_in <= peeks[0].resets_in <= API_KEY_POLICY.window


async def test_subject_without_requests_has_a_whole_window_left(counter: QuotaCounter) -> None:
    expected = QuotaUse(count=0, resets_in=API_KEY_POLICY.window)

    assert expected == await counter.peek("nobody", API_KEY_POLICY)
    assert expected == await counter.peek("nobody", API_KEY_POLICY)


async def test_ended_window_looks_like_no_requests(counter: QuotaCounter) -> None:
    await counter.hit("key", SHORT)
    await until(lambda: _has(counter, QuotaUse(count=0, resets_in=SHORT.window)))


@pytest.mark.parametrize(
    "subject",
    [
        "",
        " ",
        "a b",
        "line\r\nbreak",
        "nul\x00",
        "{slot}",
        "*?[",
        "ключ",
        "\ud800",
        "k" * 10_000,
        "a:b",
        "a::b",
    ],
)
async def test_subject_may_hold_any_characters(counter: QuotaCounter, subject: str) -> None:
    uses = [await counter.hit(subject, API_KEY_POLICY) for _ in range(2)]
    other = await counter.peek(f"{subject}.", API_KEY_POLICY)

    assert [1, 2] == [use.count for use in uses]
    assert 0 == other.count


async def test_subjects_are_counted_apart(counter: QuotaCounter) -> None:
    counts = [(await counter.hit(subject, API_KEY_POLICY)).count for subject in ("a", "b", "a", "A")]

    assert [1, 1, 2, 1] == counts


async def test_store_that_answers_is_not_down(counter: QuotaCounter) -> None:
    assert not await counter.is_shared_store_down()


@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_four_processes_admit_exactly_600(kind: str, redis_url: str, request: pytest.FixtureRequest) -> None:
    subject = f"key {uuid.uuid4()}"
    url = redis_url if kind == "redis" else request.getfixturevalue("postgres").url
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _RACER, url, subject],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert "ready\n" == racer.stdout.readline()
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    admitted = [int(racer.communicate(timeout=60)[0]) for racer in racers]

    assert 600 == sum(admitted)


async def test_ended_windows_leave_nothing_behind_in_the_store(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server:
        counter = _redis_counter(server.url)
        for number in range(50):
            await counter.hit(f"key {number}", SHORT)
            await counter.peek(f"other {number}", SHORT)
        assert ":50\r\n" == server.command("DBSIZE")

        await counter.aclose()
        until_now(lambda: server.command("DBSIZE") == ":0\r\n")


async def test_memory_is_given_back_when_windows_end() -> None:
    now = 0.0
    counter = MemoryCounter(monotonic=lambda: now)
    sizes = []
    for number in range(20_000):
        now = number * 0.9  # 1,000 windows of 900 s are under way at a time
        await counter.hit(f"address {number}", API_KEY_POLICY)
        sizes.append(len(counter))

    assert max(sizes) <= 1001


async def test_memory_is_bounded_whatever_strangers_do() -> None:
    counter = MemoryCounter(max_subjects=100)
    for number in range(1000):
        await counter.hit(f"address {number}", API_KEY_POLICY)

    assert 100 == len(counter)
    assert 1 == (await counter.peek("address 999", API_KEY_POLICY)).count
    assert 0 == (await counter.peek("address 0", API_KEY_POLICY)).count


async def test_memory_window_ends_to_the_moment() -> None:
    now = 100.0
    counter = MemoryCounter(monotonic=lambda: now)
    await counter.hit("key", API_KEY_POLICY)
    now = 999.75
    last = await counter.hit("key", API_KEY_POLICY)
    now = 1000.0
    next_window = await counter.hit("key", API_KEY_POLICY)

    assert QuotaUse(count=2, resets_in=timedelta(milliseconds=250)) == last
    assert QuotaUse(count=1, resets_in=API_KEY_POLICY.window) == next_window


async def _has(counter: QuotaCounter, use: QuotaUse) -> bool:
    return await counter.peek("key", SHORT) == use


_A_MILLISECOND = timedelta(milliseconds=1)

_RACER = textwrap.dedent(
    """
    import asyncio, sys
    from datetime import timedelta
    from awareness_core.quota import API_KEY_POLICY, decide
    from awareness_limits import RedisCounter, parse_store_url
    from awareness_sql.postgres.address import parse_address
    from awareness_sql.postgres.quota import PostgresQuotaCounter

    def counter_at(url):
        if url.startswith("redis"):
            return RedisCounter(parse_store_url(url), patience=timedelta(seconds=20))
        return PostgresQuotaCounter(parse_address(url), patience=timedelta(seconds=20))

    async def race(url, subject):
        counter = counter_at(url)
        await counter.peek(subject, API_KEY_POLICY)
        print("ready", flush=True)
        sys.stdin.readline()
        uses = await asyncio.gather(*(counter.hit(subject, API_KEY_POLICY) for _ in range(200)))
        await counter.aclose()
        print(sum(decide(API_KEY_POLICY, use).allowed for use in uses))

    asyncio.run(race(*sys.argv[1:]))
    """
)


@asynccontextmanager
async def _counter_in(database: PlacedDatabase) -> AsyncIterator[QuotaCounter]:
    database.empty()
    counter = PostgresQuotaCounter(parse_address(database.url), patience=UNHURRIED)
    yield counter
    await counter.aclose()


def _redis_counter(url: str) -> RedisCounter:
    return RedisCounter(parse_store_url(url), patience=UNHURRIED, prefix=f"test:{uuid.uuid4()}")
