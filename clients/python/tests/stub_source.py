"""Sources of runs for tests."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from snowlane import IdRun

Step = Callable[[int], Sequence[IdRun]]


class StubSource:
    """Grants ever new IDs, each answer after other threads had some turns and in several runs, or does what the test
    set for the next request.
    """

    def __init__(self, turns: int = 0, run_max: int = 1000) -> None:
        self.requests = 0
        self.script: deque[Step] = deque()
        self._turns = turns
        self._run_max = run_max
        self._next_id = 1 << 40
        self._lock = threading.Lock()

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        self.requests += 1
        if self.script:
            return self.script.popleft()(count)
        for _ in range(self._turns):
            os.sched_yield()
        return self.grant(count)

    def grant(self, count: int) -> list[IdRun]:
        runs = []
        with self._lock:
            while count > 0:
                size = min(count, self._run_max)
                stride = 1 + count % 3
                runs.append(IdRun(self._next_id, size, stride))
                self._next_id += size * stride
                count -= size
        return runs


def until(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it never became so"
        time.sleep(0.001)


def raises(error: Exception) -> Step:
    """A step that fails."""

    def step(count: int) -> Sequence[IdRun]:
        raise error

    return step


def answers(runs: Sequence[IdRun]) -> Step:
    """A step that answers with these runs."""
    return lambda count: runs
