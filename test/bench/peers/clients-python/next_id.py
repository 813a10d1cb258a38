"""What an ID costs a Python program: from the buffer, by local generators, and by one RPC each. One line of JSON a figure:
its source, its mode, and nanoseconds an ID.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import simpleflake
from snowflake import SnowflakeGenerator

from snowlane import AsyncIdClient, ClientOptions, IdClient, IdRun, PrefetchBuffer, PrefetchOptions

ROUNDS = 7
THREADS = 8
RPC_OPTIONS = ClientOptions(timeout_s=60)


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


def tell(source: str, mode: str, ns: float) -> None:
    print(json.dumps({"source": source, "mode": mode, "ns": ns}), flush=True)


def best_ns(count: int, work: Callable[[int], None]) -> float:
    """The best of some rounds, after one that only warms up."""
    work(count)
    times = []
    for _ in range(ROUNDS):
        started_ns = time.perf_counter_ns()
        work(count)
        times.append((time.perf_counter_ns() - started_ns) / count)
    return min(times)


def taking(next_id: Callable[[], int]) -> Callable[[int], None]:
    def work(count: int) -> None:
        # Each ID is kept for a while.
        kept: deque[int] = deque(maxlen=1024)
        keep = kept.append
        for _ in range(count):
            keep(next_id())

    return work


def on_threads(work: Callable[[int], None]) -> Callable[[int], None]:
    def work_on_threads(count: int) -> None:
        threads = [threading.Thread(target=work, args=(count // THREADS,)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return work_on_threads


def measure(source: str, next_id: Callable[[], int], count: int, *, is_shared: bool = True) -> None:
    tell(source, "1 thread", best_ns(count, taking(next_id)))
    if is_shared:
        tell(source, f"{THREADS} threads", best_ns(count, on_threads(taking(next_id))))


def drain(chunks: Iterator[Sequence[int]]) -> None:
    for _ in chunks:
        pass


def locals_beside_the_buffer() -> None:
    with PrefetchBuffer(MemorySource(), PrefetchOptions(count_max=1 << 20)) as buffer:
        measure("buffer", buffer.next_id, 400_000)
        tell("stock-list", "", best_ns(1_000_000, lambda count: [buffer.next_ids(10_000) for _ in range(count // 10_000)]))
        tell("stock-array", "", best_ns(5_000_000, lambda count: [buffer.ids_array(100_000) for _ in range(count // 100_000)]))
    measure("locked-clock", LockedClock().next_id, 200_000)
    # It has no lock: two threads can get the same ID.
    generator = SnowflakeGenerator(1)
    measure("snowflake-id", generator.__next__, 200_000, is_shared=False)
    measure("simpleflake", simpleflake.simpleflake, 50_000)


async def take_on_asyncio(url: str) -> None:
    async with AsyncIdClient(url, RPC_OPTIONS) as client:
        started_ns = time.perf_counter_ns()
        for _ in range(1_000):
            await client.next_id()
        tell("rpc-aio", "1 thread", (time.perf_counter_ns() - started_ns) / 1_000)
        buffer = client.prefetch()
        await buffer.next_ids(1_000)
        count = 200_000
        started_ns = time.perf_counter_ns()
        for _ in range(count):
            await buffer.next_id()
        tell("buffer-aio", "1 thread", (time.perf_counter_ns() - started_ns) / count)


def main() -> None:
    locals_beside_the_buffer()
    url = os.environ["SNOWLANE_URL"]
    with IdClient(url, RPC_OPTIONS) as client:
        tell("rpc", "1 thread", best_ns(300, taking(client.next_id)))
        tell("rpc", f"{THREADS} threads", best_ns(800, on_threads(taking(client.next_id))))
        tell("server-list", "", best_ns(200_000, lambda count: client.next_ids(count) and None))
        tell("server-stream", "", best_ns(500_000, lambda count: drain(client.stream(count))))
    asyncio.run(take_on_asyncio(url))


if __name__ == "__main__":
    main()
