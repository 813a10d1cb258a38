"""What test/interop and the conformance program run of this client.

It takes a command a line, `COMMAND key=value ...`, on standard input, and prints a line of JSON for each.
docs/internals/client-contract.md has the commands. `api=aio` runs `issue` on asyncio.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from array import array
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import BinaryIO

from interop_fleet import run_fleet
from interop_sequence import run_sequence
from interop_session import call, close, open_client, shown_error, stats, step, streams, take

from snowlane import (
    LAYOUTS,
    AsyncIdClient,
    IdClient,
    PrefetchBuffer,
    SnowlaneError,
    TextCodec,
    TextFormat,
    parse_id,
)

_RETRY_S = 0.01
_GIVE_UP_S = 60.0
_FLUSH_COUNT = 1_000
_BATCH_COUNT = 1_000
_STREAM_COUNT = 50_000


class Collector:
    """Writes IDs into a file, 8 bytes big-endian each, and counts what failed."""

    def __init__(self, out: BinaryIO) -> None:
        self.count = 0
        self.failures = 0
        self.reasons: Counter[str] = Counter()
        self._out = out
        self._lock = threading.Lock()
        self._succeeded_s = time.monotonic()

    def write(self, ids: Sequence[int]) -> None:
        packed = array("Q", ids)
        if sys.byteorder == "little":
            packed.byteswap()
        with self._lock:
            self._out.write(packed.tobytes())
            self.count += len(ids)
            self._succeeded_s = time.monotonic()

    def failed(self, error: SnowlaneError) -> None:
        """Raises the error if nothing has succeeded for too long."""
        with self._lock:
            self.failures += 1
            self.reasons[error.reason.value] += 1
            if time.monotonic() - self._succeeded_s > _GIVE_UP_S:
                raise error

    def result(self) -> dict[str, object]:
        return {"count": self.count, "failures": self.failures, "reasons": dict(self.reasons)}


def client_of(keys: dict[str, str]) -> IdClient:
    return IdClient(keys["endpoints"].split(","), timeout_s=timeout_s_of(keys), token=keys.get("token"))


def timeout_s_of(keys: dict[str, str]) -> float:
    return int(keys.get("timeout_ms", "5000")) / 1000


def max_age_s_of(keys: dict[str, str]) -> float:
    return int(keys.get("max_age_ms", "5000")) / 1000


def shares_of(count: int, callers: int) -> list[int]:
    return [count // callers + (i < count % callers) for i in range(callers)]


def issue(keys: dict[str, str]) -> dict[str, object]:
    if keys.get("api") == "aio":
        return asyncio.run(issue_aio(keys))
    with (
        open(keys["out"], "wb") as out,
        client_of(keys) as client,
        client.prefetch(max_age_s=max_age_s_of(keys)) as buffer,
    ):
        return issue_into(out, keys, client, buffer)


def issue_into(out: BinaryIO, keys: dict[str, str], client: IdClient, buffer: PrefetchBuffer) -> dict[str, object]:
    collector = Collector(out)
    errors: list[BaseException] = []
    mode = keys["mode"] if keys["mode"] != "values" else f"values:{keys['sequence']}"

    def take(count: int) -> None:
        try:
            while count > 0:
                count -= take_some(mode, count, client, buffer, collector)
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=take, args=(share,)) for share in shares_of(int(keys["count"]), int(keys["callers"]))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return collector.result()


def take_some(mode: str, count: int, client: IdClient, buffer: PrefetchBuffer, collector: Collector) -> int:
    """Takes some of `count` IDs; what was handed out before a failure counts."""
    taken = 0
    ids: list[int] = []
    try:
        if mode == "buffer":
            for _ in range(min(count, _FLUSH_COUNT)):
                ids.append(buffer.next_id())
        elif mode == "batch":
            ids = client.next_ids(min(count, _BATCH_COUNT))
        elif mode == "stream":
            for chunk in client.stream(min(count, _STREAM_COUNT)):
                collector.write(chunk)
                taken += len(chunk)
        elif mode.startswith("values:"):
            sequence = client.sequence(mode.removeprefix("values:"))
            ids = [value.value for value in sequence.next_values(min(count, _BATCH_COUNT))]
        else:
            ids = [client.next_id()]
    except SnowlaneError as error:
        collector.failed(error)
        time.sleep(_RETRY_S)
    if ids:
        collector.write(ids)
    return taken + len(ids)


async def issue_aio(keys: dict[str, str]) -> dict[str, object]:
    with open(keys["out"], "wb") as out:
        collector = Collector(out)
        endpoints, token = keys["endpoints"].split(","), keys.get("token")
        async with AsyncIdClient(endpoints, timeout_s=timeout_s_of(keys), token=token) as client:
            buffer = client.prefetch(max_age_s=max_age_s_of(keys))
            next_id: Callable[[], Awaitable[int]] = buffer.next_id if keys["mode"] == "buffer" else client.next_id

            async def take(count: int) -> None:
                while count > 0:
                    ids: list[int] = []
                    try:
                        if keys["mode"] == "batch":
                            ids = await client.next_ids(min(count, _BATCH_COUNT))
                        elif keys["mode"] == "stream":
                            async for chunk in client.stream(min(count, _STREAM_COUNT)):
                                collector.write(chunk)
                                count -= len(chunk)
                        else:
                            for _ in range(min(count, _FLUSH_COUNT if keys["mode"] == "buffer" else 1)):
                                ids.append(await next_id())
                    except SnowlaneError as error:
                        collector.failed(error)
                        await asyncio.sleep(_RETRY_S)
                    if ids:
                        collector.write(ids)
                        count -= len(ids)

            await asyncio.gather(*(take(share) for share in shares_of(int(keys["count"]), int(keys["callers"]))))
        return collector.result()


def fork(keys: dict[str, str]) -> dict[str, object]:
    """Fills a buffer, forks, and lets parent and children go on; the children's files are named with their number."""
    totals: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with client_of(keys) as client, client.prefetch(max_age_s=max_age_s_of(keys)) as buffer:
        buffer.next_ids(100)
        children = []
        for number in range(int(keys["processes"])):
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                run_child(keys, number, writer, client, buffer)
            os.close(writer)
            children.append((pid, reader))
        for pid, reader in children:
            with os.fdopen(reader) as stream:
                result = json.loads(stream.read() or "null")
            exit_code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if exit_code != 0 or result is None:
                raise RuntimeError(f"a child left with {exit_code}")
            totals.update({"count": result["count"], "failures": result["failures"]})
            reasons.update(result["reasons"])
    return {"count": totals["count"], "failures": totals["failures"], "reasons": dict(reasons)}


def run_child(keys: dict[str, str], number: int, writer: int, client: IdClient, buffer: PrefetchBuffer) -> None:
    exit_code = 1
    try:
        with open(f"{keys['out']}{number}", "wb") as out:
            result = issue_into(out, keys, client, buffer)
        with os.fdopen(writer, "w") as stream:
            stream.write(json.dumps(result))
        exit_code = 0
    finally:
        os._exit(exit_code)


def parse(keys: dict[str, str]) -> dict[str, object]:
    layout = LAYOUTS["twitter"]
    codec = TextCodec(layout)
    with open(keys["in"], "rb") as stream:
        ids = array("Q", stream.read())
    if sys.byteorder == "little":
        ids.byteswap()
    with open(keys["out"], "w", encoding="ascii") as out:
        for id in ids:
            parsed = parse_id(layout, id)
            parts = (parsed.ticks, parsed.datacenter_id, parsed.worker_id, parsed.sequence)
            typed = codec.write(id, TextFormat("typed", type_prefix="order"))
            if codec.read(typed, type_prefix="order").id != id:
                raise ValueError(f"{typed} reads as another ID.")
            print(id, *parts, codec.write(id, "base62"), codec.write(id, "uuid"), typed, file=out)
    return {"count": len(ids)}


def hello(_: dict[str, str]) -> dict[str, object]:
    return {"language": "python", "leavesOut": []}


def answer(line: str) -> dict[str, object]:
    """Runs the command of a line; what is printed for it."""
    command, *pairs = line.split()
    try:
        return _COMMANDS[command](dict(pair.split("=", 1) for pair in pairs))
    except SnowlaneError as error:
        return {"error": shown_error(error)}


_COMMANDS: dict[str, Callable[[dict[str, str]], dict[str, object]]] = {
    "hello": hello,
    "open": open_client,
    "call": call,
    "take": take,
    "streams": streams,
    "stats": stats,
    "step": step,
    "close": close,
    "fleet": run_fleet,
    "issue": issue,
    "fork": fork,
    "parse": parse,
    "sequence": run_sequence,
}

if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(line)), flush=True)
