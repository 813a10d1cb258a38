"""Forked children: none ever hands out an ID that its parent, or another child, has."""

from __future__ import annotations

import gc
import multiprocessing
import os
import struct
import threading
import weakref
from collections.abc import Callable
from multiprocessing.context import ForkContext

import pytest
from stub_source import StubSource

from snowlane import ErrorReason, IdRun, PrefetchBuffer, SnowlaneError, _id_slice

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")


class ProcessSource:
    """Grants each process IDs of its own, as a server does: each asks for its own reservations."""

    def reserve(self, count: int, timeout_s: float | None = None) -> list[IdRun]:
        self.granted = getattr(self, "granted", 0) + count
        return [IdRun((os.getpid() << 32) + self.granted - count, count)]


def ids_of_child(work: Callable[[], list[int]]) -> list[int]:
    """Forks, as prefork servers do, and returns what `work` returns in the child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        exit_code = 1
        try:
            ids = work()
            os.write(writer, struct.pack(f">{len(ids)}Q", *ids))
            exit_code = 0
        finally:
            os._exit(exit_code)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        content = stream.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return list(struct.unpack(f">{len(content) // 8}Q", content))


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_forked_child_repeats_no_id_of_its_parent(has_lock: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_id_slice, "_has_interpreter_lock", lambda: has_lock)
    with PrefetchBuffer(ProcessSource()) as buffer:
        ids = buffer.next_ids(1000)
        for _ in range(3):
            ids += ids_of_child(lambda: [buffer.next_id() for _ in range(1000)])
            ids += buffer.next_ids(100)
        assert len(ids) == 4300
        assert len(set(ids)) == len(ids)


def test_without_the_hook_every_id_would_repeat() -> None:
    # Shows that the test above can fail: a bare range iterator goes on in both.
    iterator = iter(range(1000))
    child = ids_of_child(lambda: [next(iterator) for _ in range(1000)])
    assert child == list(iterator)


def test_a_child_that_is_forked_while_other_threads_claim_repeats_no_id_and_does_not_hang() -> None:
    buffer = PrefetchBuffer(ProcessSource(), timeout_s=120)
    stop = threading.Event()
    taken: list[int] = []

    def take() -> None:
        while not stop.is_set():
            taken.extend(buffer.next_ids(64))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    children: list[int] = []
    for _ in range(20):
        children += ids_of_child(lambda: buffer.next_ids(500))
    stop.set()
    for thread in threads:
        thread.join()
    buffer.close()
    ids = taken + children
    assert len(children) == 20 * 500
    assert len(set(ids)) == len(ids)


def test_children_of_multiprocessing_repeat_no_id() -> None:
    context = multiprocessing.get_context("fork")
    assert isinstance(context, ForkContext)
    with PrefetchBuffer(ProcessSource()) as buffer:
        _shared.append(buffer)
        ids = buffer.next_ids(500)
        with context.Pool(4) as pool:
            for part in pool.map(_take_shared, [250] * 16):
                ids += part
        ids += buffer.next_ids(500)
    assert len(ids) == 5000
    assert len(set(ids)) == len(ids)


_shared: list[PrefetchBuffer] = []


def _take_shared(count: int) -> list[int]:
    return [_shared[-1].next_id() for _ in range(count)]


def test_a_buffer_that_was_closed_stays_closed_in_the_child() -> None:
    buffer = PrefetchBuffer(StubSource())
    buffer.close()

    def refused() -> list[int]:
        with pytest.raises(SnowlaneError) as caught:
            buffer.next_id()
        assert caught.value.reason is ErrorReason.CLIENT_CLOSED
        return [1]

    assert ids_of_child(refused) == [1]


def test_a_fork_that_ran_no_hook_is_noticed_in_the_slow_path(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = PrefetchBuffer(ProcessSource())
    parent = [buffer.next_id() for _ in range(24)]
    stocked = set(buffer.next_ids(8))

    def child() -> list[int]:
        # As if no hook had run.
        buffer._pid = os.getppid()
        return buffer.next_ids(100)

    assert not set(ids_of_child(child)) & (set(parent) | stocked)
    buffer.close()


def test_buffers_that_are_gone_are_not_kept_for_the_hook() -> None:
    buffer = PrefetchBuffer(StubSource())
    buffer.next_id()
    buffer.close()
    gone = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert gone() is None
