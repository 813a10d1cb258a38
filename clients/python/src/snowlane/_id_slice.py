"""The few IDs of a run that callers may claim without a lock.

docs/adr/0055 says why callers claim from slices.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import islice
from typing import Protocol


class IdSlice(Protocol):
    """IDs that any number of threads claim one by one, by `take`.

    A claim is one atomic step, and there is no other way to get an ID out, so the claims of two threads never overlap.
    An ID that is claimed and not used is a gap.
    """

    take: Callable[[], int]
    """Claims an ID; raises StopIteration once all are claimed."""

    def left(self) -> int:
        """How many IDs can still be claimed."""

    def drain(self, count: int) -> list[int]:
        """Claims up to `count` of them, in order."""

    def close(self) -> int:
        """Ends all claiming, by claiming what is left; returns how many that were. Closing again does nothing."""

    def close_in_child(self) -> None:
        """The same in a forked child, where this thread is the only one, and locks may be held by threads that do not
        exist there.
        """


class _AtomicSlice:
    """`take` is the `__next__` of a range iterator: one call into C, which never releases the interpreter's lock.

    It is as atomic as that lock makes it: a build without the lock uses _LockedSlice. Copies of a range iterator would
    repeat its IDs, so the iterator never leaves this class.
    """

    __slots__ = ("_ids", "take")

    def __init__(self, ids: range) -> None:
        self._ids = iter(ids)
        self.take: Callable[[], int] = self._ids.__next__

    def left(self) -> int:
        return self._ids.__length_hint__()  # type: ignore[attr-defined, no-any-return]

    def drain(self, count: int) -> list[int]:
        return list(islice(self._ids, count))

    def close(self) -> int:
        return len(list(self._ids))

    def close_in_child(self) -> None:
        self.close()


class _LockedSlice:
    """For builds without the interpreter's lock, in which threads that share a range iterator would see IDs twice."""

    __slots__ = ("_ids", "_lock", "take")

    def __init__(self, ids: range) -> None:
        self._ids = _AtomicSlice(ids)
        self._lock = lock = threading.Lock()
        take_unlocked = self._ids.take

        def take() -> int:
            with lock:
                return take_unlocked()

        self.take: Callable[[], int] = take

    def left(self) -> int:
        with self._lock:
            return self._ids.left()

    def drain(self, count: int) -> list[int]:
        with self._lock:
            return self._ids.drain(count)

    def close(self) -> int:
        with self._lock:
            return self._ids.close()

    def close_in_child(self) -> None:
        self._ids.close()


def _has_interpreter_lock() -> bool:
    is_enabled = getattr(sys, "_is_gil_enabled", None)
    return is_enabled is None or bool(is_enabled())


def open_slice(ids: range) -> IdSlice:
    """Makes a slice for this interpreter."""
    return _AtomicSlice(ids) if _has_interpreter_lock() else _LockedSlice(ids)
