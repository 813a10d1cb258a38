"""Forks of a process that has called a server, each in a process of its own: no ID repeats, and no child hangs."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def run(*args: str, given: str | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "GRPC_ENABLE_FORK_SUPPORT"}
    result = subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
        input=given,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def ids_in(path: Path) -> list[int]:
    content = path.read_bytes()
    return list(struct.unpack(f">{len(content) // 8}Q", content))


@pytest.mark.parametrize("mode", ["buffer", "single", "batch", "stream"])
def test_forked_children_of_a_client_repeat_no_id(url: str, tmp_path: Path, mode: str) -> None:
    count = 200 if mode == "single" else 20_000
    keys = [f"endpoints={url}", f"mode={mode}", f"count={count}", "callers=4", f"out={tmp_path}/ids", "processes=4"]
    printed = json.loads(run(str(FOLDER / "interop_program.py"), given=" ".join(["fork", *keys])))
    assert printed == {"count": count * 4, "failures": 0, "reasons": {}}
    ids = [id for number in range(4) for id in ids_in(tmp_path / f"ids{number}")]
    assert len(ids) == len(set(ids)) == count * 4


def test_a_child_that_is_forked_while_other_threads_call_the_server_can_call(url: str) -> None:
    program = f"""
import os, threading, time
from snowlane import IdClient
client = IdClient({url!r}, timeout_s=60)
stop = threading.Event()
taken = []
def call():
    while not stop.is_set():
        taken.append(client.next_id())
        for chunk in client.stream(100, chunk_size=10):
            taken.extend(chunk)
threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads: thread.start()
while len(taken) < 1000: time.sleep(0.001)
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if len({{client.next_id() for _ in range(5)}}) == 5 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
for thread in threads: thread.join()
assert len(set(taken)) == len(taken) > 0
print("done")
"""
    assert run("-c", program) == "done\n"


def test_a_fork_cuts_off_calls_that_take_too_long_and_child_and_parent_can_call(url: str) -> None:
    program = f"""
import os, socket, threading
from snowlane import ClientObserver, IdClient
# Takes connections, and never says a word.
silent = socket.create_server(("127.0.0.1", 0))
failed = threading.Event()
class Observer(ClientObserver):
    def on_attempt(self, event):
        failed.set()
url = f"http://127.0.0.1:{{silent.getsockname()[1]}}"
stuck = IdClient(url, timeout_s=240, attempt_timeout_s=240, observer=Observer())
threading.Thread(target=stuck.next_id, daemon=True).start()
connection = silent.accept()
client = IdClient({url!r}, timeout_s=60)
taken = client.next_id()
child = os.fork()
if child == 0:
    os._exit(0 if client.next_id() != taken else 1)
print(failed.is_set(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), client.next_id() > 0, flush=True)
os._exit(0)
"""
    assert run("-c", program) == "True 0 True\n"


def test_a_fork_right_after_the_last_client_was_closed(url: str) -> None:
    program = f"""
import os
from snowlane import IdClient
def take():
    with IdClient({url!r}, timeout_s=60) as client:
        return client.next_id()
for _ in range(10):
    taken = take()
    child = os.fork()
    if child == 0:
        os._exit(0 if take() != taken else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""
    assert run("-c", program) == "done\n"


def test_asyncio_after_a_fork(url: str) -> None:
    program = f"""
import asyncio, os
from snowlane import AsyncIdClient
client = AsyncIdClient({url!r}, timeout_s=60)
async def take(client):
    buffer = client.prefetch()
    ids = [await client.next_id(), *await buffer.next_ids(100)]
    await client.close()
    return ids
ids = asyncio.run(take(client))
child = os.fork()
if child == 0:
    again = asyncio.run(take(AsyncIdClient({url!r}, timeout_s=60)))
    os._exit(0 if not set(again) & set(ids) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""
    assert run("-c", program) == "done\n"


def test_asyncio_after_a_fork_that_followed_a_close_with_calls_on_their_way(url: str) -> None:
    program = f"""
import asyncio, os
from snowlane import AsyncIdClient
client = AsyncIdClient({url!r}, timeout_s=60)
async def take(client):
    buffer = client.prefetch()
    await buffer.next_id()
    calls = [asyncio.ensure_future(call) for call in (client.next_id(), client.reserve(5), buffer.next_ids(10_000))]
    await asyncio.sleep(0)
    await client.close()
    await asyncio.gather(*calls, return_exceptions=True)
asyncio.run(take(client))
child = os.fork()
if child == 0:
    print(asyncio.run(AsyncIdClient({url!r}, timeout_s=60).next_id()) > 0, flush=True)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run("-c", program) == "True\n0\n"


def test_a_child_that_could_only_hang_says_why(url: str) -> None:
    program = f"""
import grpc, os
from snowlane import ErrorReason, IdClient, SnowlaneError, StatusCode
client = IdClient({url!r})
client.next_id()
child = os.fork()
if child == 0:
    for call in (client.next_id, client.prefetch().next_id):
        try:
            call()
        except SnowlaneError as error:
            if (error.reason, error.code) != (ErrorReason.RPC_FAILED, StatusCode.FAILED_PRECONDITION): os._exit(1)
            if "GRPC_ENABLE_FORK_SUPPORT" not in error.message: os._exit(2)
        else:
            os._exit(3)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run("-c", program) == "0\n"


def test_a_child_of_an_open_asyncio_client_says_why_it_cannot_call(url: str) -> None:
    program = f"""
import asyncio, os
from snowlane import AsyncIdClient, IdClient, SnowlaneError
client = AsyncIdClient({url!r})
asyncio.run(client.next_id())
child = os.fork()
if child == 0:
    for call in (lambda: asyncio.run(client.next_id()), IdClient({url!r}).next_id):
        try:
            call()
        except SnowlaneError as error:
            if "close it before" not in error.message: os._exit(1)
        else:
            os._exit(2)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run("-c", program) == "0\n"


def test_a_process_ends_quietly_though_its_client_was_not_closed(url: str) -> None:
    program = f"""
from snowlane import IdClient
buffer = IdClient({url!r}).prefetch()
print(buffer.next_id() > 0)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert (result.stdout, result.stderr) == ("True\n", "")
