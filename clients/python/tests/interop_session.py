"""The commands of the interop program that keep a client: docs/internals/client-contract.md has them."""

from __future__ import annotations

import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from snowlane import IdClient, PrefetchBuffer, SnowlaneError, TlsOptions
from snowlane._clock import SystemClock

# How long after its time a `take` ends whose calls are late.
_GRACE_S = 5.0

_Session = tuple[IdClient, PrefetchBuffer | None]
_sessions: dict[str, _Session] = {}
_paused: dict[str, list[Iterator[Sequence[int]]]] = {}
"""Streams of each client whose reading stops after the first chunk."""


class _SteppedClock(SystemClock):
    """The clocks of this machine, of which the wall clock can be stepped."""

    stepped_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.stepped_ms


_clock = _SteppedClock()


def step(keys: dict[str, str]) -> dict[str, object]:
    """Steps the wall clock of all clients."""
    _clock.stepped_ms += int(keys["ms"])
    return {}


def _seconds(keys: dict[str, str], *names: str) -> dict[str, Any]:
    return {f"{name}_s": int(keys[f"{name}_ms"]) / 1000 for name in names if f"{name}_ms" in keys}


def open_client(keys: dict[str, str]) -> dict[str, object]:
    """Makes a client, with a buffer if `buffer` is 1."""
    options: dict[str, Any] = {"token": keys.get("token"), **_seconds(keys, "timeout", "attempt_timeout")}
    if "ca" in keys:
        options["tls"] = TlsOptions(Path(keys["ca"]).read_bytes())
    if "retry_max" in keys:
        options["retry_max"] = int(keys["retry_max"])
    client = IdClient(keys["endpoints"].split(","), clock=_clock, **options)
    buffer = client.prefetch(**_seconds(keys, "max_age", "outage")) if keys.get("buffer") == "1" else None
    _sessions[keys["client"]] = (client, buffer)
    return {}


def shown_error(error: SnowlaneError) -> dict[str, object]:
    """How an error is printed."""
    retry_after_ms = None if error.retry_after_s is None else round(error.retry_after_s * 1000, 6)
    return {
        "reason": error.reason.value,
        "code": error.code.name,
        "metadata": error.metadata,
        "retryAfterMs": retry_after_ms,
        "text": str(error),
    }


def _next_id_of(keys: dict[str, str]) -> Callable[[], int]:
    client, buffer = _sessions[keys["client"]]
    return client.next_id if buffer is None else buffer.next_id


def call(keys: dict[str, str]) -> dict[str, object]:
    """Makes calls, one after the other; each result is an ID or an error."""
    next_id = _next_id_of(keys)
    results: list[dict[str, object]] = []
    for _ in range(int(keys.get("count", "1"))):
        started_s = time.monotonic()
        try:
            result: dict[str, object] = {"id": str(next_id())}
        except SnowlaneError as error:
            result = shown_error(error)
        result["durationMs"] = (time.monotonic() - started_s) * 1000
        results.append(result)
    return {"results": results}


def take(keys: dict[str, str]) -> dict[str, object]:
    """Takes IDs at an even rate, each with the time at which it came; what fails is counted and not made again."""
    next_id = _next_id_of(keys)
    per_second = int(keys["per_second"])
    start_s = time.monotonic()
    reasons: Counter[str] = Counter()
    count = 0
    wait_max_s = 0.0
    first_ms = -1.0
    with open(keys["out"], "wb") as out:
        for index in range(per_second * int(keys["seconds"])):
            if time.monotonic() > start_s + int(keys["seconds"]) + _GRACE_S:
                break
            time.sleep(max(0.0, start_s + index / per_second - time.monotonic()))
            called_s = time.monotonic()
            try:
                id = next_id()
            except SnowlaneError as error:
                reasons[error.reason.value] += 1
            else:
                out.write(struct.pack(">QQ", id, time.time_ns() // 1_000_000))
                count += 1
                if first_ms < 0:
                    first_ms = (time.monotonic() - start_s) * 1000
            wait_max_s = max(wait_max_s, time.monotonic() - called_s)
    return {
        "count": count,
        "failures": sum(reasons.values()),
        "reasons": dict(reasons),
        "waitMaxMs": wait_max_s * 1000,
        "firstMs": first_ms,
    }


def streams(keys: dict[str, str]) -> dict[str, object]:
    """Opens streams, reads the first chunk of each, and no more: they stay open until the client is closed."""
    client = _sessions[keys["client"]][0]
    paused = _paused.setdefault(keys["client"], [])
    reasons: Counter[str] = Counter()
    for _ in range(int(keys["count"])):
        stream = client.stream(1_000_000)
        try:
            next(stream)
        except SnowlaneError as error:
            reasons[error.reason.value] += 1
        else:
            paused.append(stream)
    return {"count": len(paused), "failures": sum(reasons.values()), "reasons": dict(reasons)}


def stats(keys: dict[str, str]) -> dict[str, object]:
    """The stats of the client's buffer."""
    buffer = _sessions[keys["client"]][1]
    if buffer is None:
        raise ValueError("This client has no buffer.")
    found = buffer.stats()
    return {
        "handedOut": found.handed_out,
        "reserved": found.reserved,
        "dropped": found.dropped,
        "waits": found.waits,
        "stock": found.stock,
    }


def close(keys: dict[str, str]) -> dict[str, object]:
    """Closes the client."""
    client, buffer = _sessions.pop(keys["client"])
    _paused.pop(keys["client"], [])
    if buffer is not None:
        buffer.close()
    client.close()
    return {}
