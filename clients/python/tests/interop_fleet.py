"""The command of the interop program that runs many clients: docs/internals/client-contract.md has it."""

from __future__ import annotations

import threading
import time
from collections import Counter

from snowlane import IdClient, PrefetchBuffer, SnowlaneError


def run_fleet(keys: dict[str, str]) -> dict[str, object]:
    """Makes many clients, each with a buffer that hands out IDs at an even rate once all have had their first one, and
    counts the calls that fail.
    """
    per_second = int(keys["per_second"])
    all_begun = threading.Barrier(int(keys["clients"]))
    lock = threading.Lock()
    reasons: Counter[str] = Counter()
    count = 0

    def take(buffer: PrefetchBuffer, timeout_s: float | None = None) -> None:
        nonlocal count
        try:
            buffer.next_id(timeout_s)
        except SnowlaneError as error:
            with lock:
                reasons[error.reason.value] += 1
        else:
            with lock:
                count += 1

    def member() -> None:
        with IdClient(keys["endpoints"].split(",")) as client, client.prefetch() as buffer:
            # All connect at once, which may take the machine a while.
            take(buffer, 120)
            all_begun.wait()
            start_s = time.monotonic()
            for index in range(per_second * int(keys["seconds"])):
                time.sleep(max(0.0, start_s + index / per_second - time.monotonic()))
                take(buffer)

    members = [threading.Thread(target=member) for _ in range(int(keys["clients"]))]
    for thread in members:
        thread.start()
    for thread in members:
        thread.join()
    return {"count": count, "failures": sum(reasons.values()), "reasons": dict(reasons)}
