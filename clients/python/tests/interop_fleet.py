"""The command of the interop program that runs many clients: docs/internals/client-contract.md has it."""

from __future__ import annotations

import threading
import time
from collections import Counter

from snowlane import IdClient, SnowlaneError


def run_fleet(keys: dict[str, str]) -> dict[str, object]:
    """Makes many clients, each with a buffer that hands out IDs at an even rate, and counts the calls that fail."""
    per_second = int(keys["per_second"])
    lock = threading.Lock()
    reasons: Counter[str] = Counter()
    count = 0

    def member() -> None:
        nonlocal count
        with IdClient(keys["endpoints"].split(",")) as client, client.prefetch() as buffer:
            start_s = time.monotonic()
            for index in range(per_second * int(keys["seconds"])):
                time.sleep(max(0.0, start_s + index / per_second - time.monotonic()))
                try:
                    buffer.next_id()
                except SnowlaneError as error:
                    with lock:
                        reasons[error.reason.value] += 1
                else:
                    with lock:
                        count += 1

    members = [threading.Thread(target=member) for _ in range(int(keys["clients"]))]
    for thread in members:
        thread.start()
    for thread in members:
        thread.join()
    return {"count": count, "failures": sum(reasons.values()), "reasons": dict(reasons)}
