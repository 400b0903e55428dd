"""A shared counter store that dies or hangs costs the requests almost nothing, and is taken up again by itself."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from awareness_core.errors import StoreUnavailable
from awareness_core.quota import API_KEY_POLICY, QuotaPolicy, QuotaUse
from awareness_limits import FallbackCounter, MemoryCounter, RedisCounter, counter_from_url, parse_store_url
from tests.contracts.polling import until
from tests.contracts.redis_server import RedisServer, free_port

pytestmark = pytest.mark.anyio

PATIENCE_S = 0.25
NEVER = timedelta(days=1)
SOON = timedelta(milliseconds=50)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path) as running:
        yield running


@pytest.mark.parametrize("fault", ["kill", "hang"])
async def test_lost_store_delays_requests_once_and_no_longer_than_its_patience(
    server: RedisServer, fault: str
) -> None:
    async with _counting(server.url, period=NEVER) as counter:
        await counter.hit("key", API_KEY_POLICY)
        getattr(server, fault)()
        waits = [await _seconds(counter.hit("key", API_KEY_POLICY)) for _ in range(50)]

    print(f"{fault}: first {waits[0] * 1000:.1f} ms, the other 49 together {sum(waits[1:]) * 1000:.1f} ms")
    # Half a second more for a busy machine; 50 waits would be 12 s.
    assert max(waits) < PATIENCE_S + 0.5
    assert sum(waits) < PATIENCE_S + 0.5


async def test_requests_that_meet_the_hung_store_together_wait_together(server: RedisServer) -> None:
    async with _counting(server.url, period=NEVER) as counter:
        await counter.hit("key", API_KEY_POLICY)
        server.hang()
        first = asyncio.gather(*(counter.hit("key", API_KEY_POLICY) for _ in range(300)))
        await asyncio.sleep(PATIENCE_S / 2)
        # Behind the first ones, for which the whole patience is not over yet.
        late = asyncio.gather(*(_seconds(counter.hit("key", API_KEY_POLICY)) for _ in range(300)))
        uses, waits = await first, await late

    assert list(range(1, 301)) == sorted(use.count for use in uses)
    assert max(waits) < PATIENCE_S + 0.5


@pytest.mark.parametrize("fault", ["kill", "hang"])
async def test_counting_goes_on_in_memory_and_returns_to_the_store(server: RedisServer, fault: str) -> None:
    async with _counting(server.url, period=SOON) as counter:
        await counter.hit("key", API_KEY_POLICY)
        await counter.hit("key", API_KEY_POLICY)
        getattr(server, fault)()
        in_memory = [(await counter.hit("key", API_KEY_POLICY)).count for _ in range(3)]
        was_down = await counter.is_shared_store_down()
        if fault == "kill":
            server.start()
        else:
            server.resume()
        await until(lambda: _is_up(counter))
        shared = await counter.hit("key", API_KEY_POLICY)

    assert [1, 2, 3] == in_memory
    assert was_down
    # A killed store has forgotten; a hung one was asked once more before it was given up.
    assert shared.count in ({1} if fault == "kill" else {3, 4})


async def test_store_is_asked_once_a_period_beside_the_requests(server: RedisServer) -> None:
    now = 0.0
    shared = _Watched(RedisCounter(parse_store_url(server.url)))
    counter = FallbackCounter(shared, MemoryCounter(), period=timedelta(seconds=5), monotonic=lambda: now)
    server.hang()
    waits = []
    for second in range(21):
        now = float(second)
        waits += [await _seconds(counter.hit("key", API_KEY_POLICY)) for _ in range(10)]
        # Lets a probe begin, and find out for itself.
        await asyncio.sleep(0)
        await until(shared.is_idle)
    await counter.aclose()

    assert 5 == shared.hits  # at 0, and probes at 5, 10, 15 and 20 s
    assert sum(waits[1:]) < PATIENCE_S


async def test_outage_and_return_are_logged_once_each(server: RedisServer) -> None:
    with capture_logs() as logs:
        async with _counting(server.url, period=SOON) as counter:
            server.kill()
            await asyncio.gather(*(counter.hit("key", API_KEY_POLICY) for _ in range(20)))
            for _ in range(20):
                await counter.hit("key", API_KEY_POLICY)
                await asyncio.sleep(0.01)
            server.start()
            await until(lambda: _is_up(counter))
            await counter.hit("key", API_KEY_POLICY)

    assert ["quota_store_down", "quota_store_back"] == [entry["event"] for entry in logs]
    assert f"redis://127.0.0.1:{server.port}/0" in logs[0]["reason"]


async def test_store_that_was_never_there_is_no_reason_to_refuse_anything() -> None:
    async with _counting(f"redis://127.0.0.1:{free_port()}", period=NEVER) as counter:
        peek = await counter.peek("key", API_KEY_POLICY)
        use = await counter.hit("key", API_KEY_POLICY)

        assert 0 == peek.count
        assert 1 == use.count
        assert await counter.is_shared_store_down()


async def test_readiness_learns_of_a_lost_store_without_any_request(server: RedisServer) -> None:
    async with _counting(server.url, period=SOON) as counter:
        assert not await counter.is_shared_store_down()
        server.kill()
        await until(counter.is_shared_store_down)
        server.start()
        await until(lambda: _is_up(counter))


async def test_full_store_is_a_lost_store(server: RedisServer) -> None:
    async with _counting(server.url, period=SOON) as counter:
        await counter.hit("key", API_KEY_POLICY)
        server.command("CONFIG", "SET", "maxmemory", "1")
        use = await counter.hit("key", API_KEY_POLICY)
        await asyncio.sleep(4 * SOON.total_seconds())

        # Looking would still work there, so looking is not what brings it back.
        assert 1 == use.count
        assert await counter.is_shared_store_down()
        server.command("CONFIG", "SET", "maxmemory", "0")
        await until(lambda: _is_up(counter))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00" * 100,
        b"220 mail.example ESMTP\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        *(one * 9 for one in (b"*0\r\n", b"+OK\r\n", b":1\r\n", b"-ERR\r\n", b"$-1\r\n", b"*2\r\n:1\r\n")),
    ],
)
async def test_peer_that_is_no_redis_is_a_lost_store(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read(1000)
            writer.write(answer)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as peer:
        port = peer.sockets[0].getsockname()[1]
        async with _counting(f"redis://127.0.0.1:{port}", period=NEVER) as counter:
            uses = [await counter.hit("key", API_KEY_POLICY) for _ in range(3)]
            is_down = await counter.is_shared_store_down()

    assert [1, 2, 3] == [use.count for use in uses]
    assert is_down


async def test_password_opens_the_store_and_is_never_told(tmp_path: Path) -> None:
    secret = "p4ss-w0rd/with:signs"
    with RedisServer(tmp_path, password="right-p4ssword") as server, capture_logs() as logs:
        async with _counting(server.url, period=NEVER) as counter:
            await counter.hit("key", API_KEY_POLICY)
            assert not await counter.is_shared_store_down()
        wrong = f"redis://someone:p4ss-w0rd%2Fwith%3Asigns@127.0.0.1:{server.port}"
        async with _counting(wrong, period=NEVER) as counter:
            await counter.hit("key", API_KEY_POLICY)
            assert await counter.is_shared_store_down()
        shared = RedisCounter(parse_store_url(wrong))
        with pytest.raises(StoreUnavailable) as raised:
            await shared.hit("key", API_KEY_POLICY)
        await shared.aclose()

    told = f"{logs} {shared!r} {raised.value} {parse_store_url(wrong)!r}"
    assert "quota_store_down" in told
    assert not any(
        secret_form in told for secret_form in (secret, "p4ss-w0rd%2F", "right-p4ssword", "someone")
    )


@pytest.mark.parametrize("scheme", ["redis+unix", "valkey+unix"])
async def test_store_can_be_reached_through_a_local_socket(server: RedisServer, scheme: str) -> None:
    async with _counting(f"{scheme}://{server.socket_path}", period=NEVER) as counter:
        use = await counter.hit("key", API_KEY_POLICY)

    assert 1 == use.count
    assert ":1\r\n" == server.command("DBSIZE")


async def test_closing_leaves_nobody_waiting(server: RedisServer) -> None:
    counter = RedisCounter(parse_store_url(server.url), patience=timedelta(seconds=60))
    await counter.hit("key", API_KEY_POLICY)
    server.hang()
    waiting = [asyncio.ensure_future(counter.hit("key", API_KEY_POLICY)) for _ in range(3)]
    await asyncio.sleep(0.05)
    waiting.append(asyncio.ensure_future(counter.hit("key", API_KEY_POLICY)))
    await asyncio.sleep(0)
    await counter.aclose()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)

    assert [StoreUnavailable] * 4 == [type(outcome) for outcome in outcomes]


async def test_caller_that_goes_away_takes_nobody_with_it(server: RedisServer) -> None:
    counter = RedisCounter(parse_store_url(server.url), patience=timedelta(seconds=20))
    gone = asyncio.ensure_future(counter.hit("key", API_KEY_POLICY))
    stays = asyncio.ensure_future(counter.hit("key", API_KEY_POLICY))
    await asyncio.sleep(0)
    gone.cancel()
    use = await stays
    later = await counter.hit("key", API_KEY_POLICY)
    await counter.aclose()

    assert use.count + 1 == later.count


async def test_one_url_is_all_that_choosing_takes(server: RedisServer) -> None:
    shared = counter_from_url(server.url)
    alone = [counter_from_url(url) for url in (None, "", "memory://")]
    use = await shared.hit("key", API_KEY_POLICY)
    await shared.aclose()

    assert isinstance(shared, FallbackCounter)
    assert ["MemoryCounter"] * 3 == [type(counter).__name__ for counter in alone]
    assert 1 == use.count
    assert ":1\r\n" == server.command("EXISTS", "awareness:quota:900000:key")


class _Watched:
    """Counts what reaches a shared counter, and knows when none of it is under way."""

    def __init__(self, counter: RedisCounter) -> None:
        self._counter = counter
        self._under_way = 0
        self.hits = 0

    async def hit(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        self.hits += 1
        self._under_way += 1
        try:
            return await self._counter.hit(subject, policy)
        finally:
            self._under_way -= 1

    async def peek(self, subject: str, policy: QuotaPolicy) -> QuotaUse:
        return await self._counter.peek(subject, policy)

    async def is_shared_store_down(self) -> bool:
        return await self._counter.is_shared_store_down()

    async def aclose(self) -> None:
        await self._counter.aclose()

    async def is_idle(self) -> bool:
        return self._under_way == 0


@contextlib.asynccontextmanager
async def _counting(url: str, *, period: timedelta) -> AsyncIterator[FallbackCounter]:
    counter = FallbackCounter(RedisCounter(parse_store_url(url)), MemoryCounter(), period=period)
    yield counter
    await counter.aclose()


async def _is_up(counter: FallbackCounter) -> bool:
    return not await counter.is_shared_store_down()


async def _seconds(hit: object) -> float:
    began = time.monotonic()
    await hit  # type: ignore[misc]
    return time.monotonic() - began
