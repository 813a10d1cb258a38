"""Time, timers and background work. Tests may pass a FakeClock of snowlane.testing instead."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A task that will run, unless it is cancelled before."""

    def cancel(self) -> None:
        """Cancels it; without effect once it has begun."""


class Clock(Protocol):
    """The clock of a client and its buffers."""

    def monotonic_s(self) -> float:
        """Elapsed seconds since an arbitrary start; it never goes back."""

    def now_ms(self) -> int:
        """Wall time in Unix milliseconds; may step either way."""

    def uptime_s(self) -> float | None:
        """Seconds since the machine started, including those in which it was suspended. None: not known."""

    def after(self, delay_s: float, task: Callable[[], object]) -> Timer:
        """Runs `task` once the delay has passed, on another thread. The task must return soon."""

    def spawn(self, task: Callable[[], object]) -> None:
        """Runs `task` in the background, now. It may take long."""

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Waits for a condition, whose lock the caller holds, for at most the given time."""


def system_uptime_s() -> float | None:
    """The uptime of this machine, where it is available (Linux)."""
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return None if boot_time is None else time.clock_gettime(boot_time)


class _SystemTimer:
    __slots__ = ("task",)

    def __init__(self, task: Callable[[], object]) -> None:
        self.task: Callable[[], object] | None = task

    def cancel(self) -> None:
        self.task = None


class SystemClock:
    """The clocks of this machine, and one daemon thread for all timers, which starts with the first one."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, _SystemTimer]] = []
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def monotonic_s(self) -> float:
        return time.monotonic()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def uptime_s(self) -> float | None:
        return system_uptime_s()

    def after(self, delay_s: float, task: Callable[[], object]) -> Timer:
        timer = _SystemTimer(task)
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + delay_s, next(self._numbers), timer))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="snowlane-timers", daemon=True)
                self._thread.start()
            elif self._due[0][2] is timer:
                self._changed.notify()
        return timer

    def spawn(self, task: Callable[[], object]) -> None:
        threading.Thread(target=task, name="snowlane-refill", daemon=True).start()

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        condition.wait(min(timeout_s, threading.TIMEOUT_MAX))

    def after_fork_in_child(self) -> None:
        """In a forked child: the thread stayed in the parent, and it may have held the lock."""
        self._reset()

    def _run(self) -> None:
        while True:
            task = self._next_task()
            if task is not None:
                task()

    def _next_task(self) -> Callable[[], object] | None:
        with self._changed:
            while True:
                if not self._due:
                    self._changed.wait()
                    continue
                due_s, _, timer = self._due[0]
                if timer.task is None:
                    heapq.heappop(self._due)
                    continue
                left_s = due_s - time.monotonic()
                if left_s <= 0:
                    heapq.heappop(self._due)
                    return timer.task
                self._changed.wait(min(left_s, threading.TIMEOUT_MAX))


SYSTEM_CLOCK = SystemClock()
"""The clock that the whole process shares."""
