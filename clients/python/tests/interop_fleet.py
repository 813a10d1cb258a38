"""The command of the interop program that runs many clients: docs/internals/client-contract.md has it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from snowlane import AsyncIdClient, AsyncPrefetchBuffer, SnowlaneError

# This many clients wait for their first ID at a time.
_STARTING_MAX = 50


def run_fleet(keys: dict[str, str]) -> dict[str, object]:
    """Makes many clients, each with a buffer that hands out IDs at an even rate once all have had their first one, and
    counts the calls that fail. All are in one event loop: thousands of threads would wait for each other.
    """
    return asyncio.run(_run(keys))


async def _run(keys: dict[str, str]) -> dict[str, object]:
    clients, per_second = int(keys["clients"]), int(keys["per_second"])
    total = per_second * int(keys["seconds"])
    reasons: Counter[str] = Counter()
    count = 0
    starting = asyncio.Semaphore(_STARTING_MAX)
    unbegun = clients
    all_begun = asyncio.Event()

    async def take(buffer: AsyncPrefetchBuffer, timeout_s: float | None = None) -> None:
        nonlocal count
        try:
            await buffer.next_id(timeout_s)
        except SnowlaneError as error:
            reasons[error.reason.value] += 1
        else:
            count += 1

    async def member() -> None:
        nonlocal unbegun
        async with AsyncIdClient(keys["endpoints"].split(",")) as client, client.prefetch() as buffer:
            async with starting:
                # Connecting may take a busy machine a while.
                await take(buffer, 120)
            unbegun -= 1
            if unbegun == 0:
                all_begun.set()
            await all_begun.wait()
            start_s = time.monotonic()
            for index in range(total):
                await asyncio.sleep(max(0.0, start_s + index / per_second - time.monotonic()))
                await take(buffer)

    await asyncio.gather(*(member() for _ in range(clients)))
    return {"count": count, "failures": sum(reasons.values()), "reasons": dict(reasons)}
