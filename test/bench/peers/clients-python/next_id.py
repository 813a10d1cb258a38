"""What an ID costs a Python program: from the buffer, by local generators, and by one RPC each.

A pyperf program: each figure comes from a few processes of its own, one after the other, after a round that only warms
up; loops are calibrated by pyperf. A benchmark is named after its source, and its mode where it has one:
`buffer/8 threads`. Values are seconds an ID.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import cache

import pyperf
import simpleflake
from snowflake import SnowflakeGenerator

from snowlane import AsyncIdClient, IdClient, IdRun, PrefetchBuffer

THREADS = 8
LIST_COUNT = 10_000
ARRAY_COUNT = 100_000
STREAM_COUNT = 200_000
RPC_TIMEOUT_S = 60.0

Work = Callable[[int], None]
"""Takes the given number of IDs, or makes that many calls that give many."""


class MemorySource:
    """Answers as a server does whose ceiling nobody reaches, after about as long as a call within a machine takes."""

    def __init__(self) -> None:
        self._next_id = 1 << 60

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        time.sleep(0.001)
        first = self._next_id
        self._next_id += count
        return [IdRun(first, count, 1)]


class LockedClock:
    """What people write by hand: a lock, a clock, and as many bits of sequence as never run out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = 0
        self._sequence = 0

    def next_id(self) -> int:
        with self._lock:
            now_ms = time.time_ns() // 1_000_000
            if now_ms > self._last_ms:
                self._last_ms = now_ms
                self._sequence = 0
            else:
                self._sequence += 1
            return self._last_ms << 22 | self._sequence


@cache
def locked_clock() -> LockedClock:
    return LockedClock()


@cache
def snowflake_generator() -> SnowflakeGenerator:
    return SnowflakeGenerator(1)


@cache
def memory_buffer() -> PrefetchBuffer:
    return PrefetchBuffer(MemorySource(), count_max=1 << 20)


@cache
def server_client() -> IdClient:
    return IdClient(os.environ["SNOWLANE_URL"], timeout_s=RPC_TIMEOUT_S)


def taking(next_id: Callable[[], int]) -> Work:
    def work(count: int) -> None:
        # Each ID is kept for a while.
        kept: deque[int] = deque(maxlen=1024)
        keep = kept.append
        for _ in range(count):
            keep(next_id())

    return work


def on_threads(work: Work) -> Work:
    def work_on_threads(count: int) -> None:
        threads = [threading.Thread(target=work, args=(count,)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return work_on_threads


def repeating(call: Callable[[], object]) -> Work:
    def work(count: int) -> None:
        for _ in range(count):
            call()

    return work


def drain(chunks: Iterator[Sequence[int]]) -> None:
    for _ in chunks:
        pass


def measure(runner: pyperf.Runner, name: str, make_work: Callable[[], Work], ids_per_loop: int = 1) -> None:
    """`make_work` runs in the processes that measure, and no time counts before its work begins."""

    def elapsed_s(loops: int) -> float:
        work = make_work()
        started_s = time.perf_counter()
        work(loops)
        return time.perf_counter() - started_s

    runner.bench_time_func(name, elapsed_s, inner_loops=ids_per_loop)


def measure_next_id(
    runner: pyperf.Runner, source: str, next_id_of: Callable[[], Callable[[], int]], *, is_shared: bool = True
) -> None:
    """`next_id_of` gives the function that gives an ID."""
    measure(runner, f"{source}/1 thread", lambda: taking(next_id_of()))
    if is_shared:
        measure(runner, f"{source}/{THREADS} threads", lambda: on_threads(taking(next_id_of())), THREADS)


def measure_next_id_on_asyncio(
    runner: pyperf.Runner, source: str, take: Callable[[AsyncIdClient, int], Awaitable[float]]
) -> None:
    async def elapsed_s(loops: int) -> float:
        async with AsyncIdClient(os.environ["SNOWLANE_URL"], timeout_s=RPC_TIMEOUT_S) as client:
            return await take(client, loops)

    runner.bench_time_func(f"{source}/1 thread", lambda loops: asyncio.run(elapsed_s(loops)))


async def take_by_rpc(client: AsyncIdClient, count: int) -> float:
    await client.next_id()
    started_s = time.perf_counter()
    for _ in range(count):
        await client.next_id()
    return time.perf_counter() - started_s


async def take_from_buffer(client: AsyncIdClient, count: int) -> float:
    buffer = client.prefetch()
    await buffer.next_ids(1_000)
    started_s = time.perf_counter()
    for _ in range(count):
        await buffer.next_id()
    return time.perf_counter() - started_s


def main() -> None:
    runner = pyperf.Runner(processes=3, values=4, warmups=2)
    measure_next_id(runner, "buffer", lambda: memory_buffer().next_id)
    # Without a lock, two threads can get the same ID of it.
    measure_next_id(runner, "snowflake-id", lambda: snowflake_generator().__next__, is_shared=False)
    measure_next_id(runner, "locked-clock", lambda: locked_clock().next_id)
    measure_next_id(runner, "simpleflake", lambda: simpleflake.simpleflake, is_shared=False)
    measure_next_id(runner, "rpc", lambda: server_client().next_id)
    measure_next_id_on_asyncio(runner, "rpc-aio", take_by_rpc)
    measure_next_id_on_asyncio(runner, "buffer-aio", take_from_buffer)
    measure(runner, "stock-list", lambda: repeating(lambda: memory_buffer().next_ids(LIST_COUNT)), LIST_COUNT)
    measure(runner, "stock-array", lambda: repeating(lambda: memory_buffer().ids_array(ARRAY_COUNT)), ARRAY_COUNT)
    measure(runner, "server-list", lambda: repeating(lambda: server_client().next_ids(STREAM_COUNT)), STREAM_COUNT)
    measure(runner, "server-stream", lambda: repeating(lambda: drain(server_client().stream(STREAM_COUNT))), STREAM_COUNT)


if __name__ == "__main__":
    main()
