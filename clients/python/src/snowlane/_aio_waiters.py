"""The calls that wait on a dry buffer, for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from ._clock import Timer, system_uptime_s
from ._errors import ErrorReason, SnowlaneError
from ._observer import ClientObserver, WaitEvent, tell
from ._refiller import Refiller
from ._waiters import left_or_raise

T = TypeVar("T")


class LoopTimers(Protocol):
    """The part of a clock that a buffer on an event loop needs."""

    def monotonic_s(self) -> float:
        """Elapsed seconds since an arbitrary start; it never goes back."""

    def now_ms(self) -> int:
        """Wall time in Unix milliseconds; may step either way."""

    def uptime_s(self) -> float | None:
        """Seconds since the machine started, including those in which it was suspended. None: not known."""

    def after(self, delay_s: float, task: Callable[[], object]) -> Timer:
        """Runs `task` on the loop once the delay has passed."""


class SystemLoopTimers:
    """The timers of the running event loop."""

    def monotonic_s(self) -> float:
        return time.monotonic()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def uptime_s(self) -> float | None:
        return system_uptime_s()

    def after(self, delay_s: float, task: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(delay_s, task)


class AsyncWaiters:
    """Like Waiters, for the tasks of one event loop."""

    def __init__(self, clock: LoopTimers, observer: ClientObserver) -> None:
        self.count = 0
        """Calls that wait."""
        self.waits = 0
        """Calls that have waited."""
        self._clock = clock
        self._observer = observer
        self._waiters: set[asyncio.Future[None]] = set()

    def wake(self) -> None:
        """Lets all waiting calls look again."""
        for waiter in self._waiters:
            _wake(waiter)

    async def wait(self, refiller: Refiller, claim: Callable[[], T | None], deadline_s: float) -> T:
        """Claims as soon as there is something to claim. `claim` returns None if there is nothing.

        Raises:
            SnowlaneError: As PrefetchBuffer.next_id.
        """
        started_s = self._clock.monotonic_s()
        reason: ErrorReason | None = None
        try:
            return await self._wait(refiller, claim, deadline_s)
        except SnowlaneError as error:
            reason = error.reason
            raise
        except asyncio.CancelledError:
            reason = ErrorReason.CANCELLED
            raise
        finally:
            duration_s = self._clock.monotonic_s() - started_s
            tell(lambda: self._observer.on_wait(WaitEvent(duration_s, reason)))

    async def _wait(self, refiller: Refiller, claim: Callable[[], T | None], deadline_s: float) -> T:
        failures = refiller.failures
        self.count += 1
        self.waits += 1
        try:
            while True:
                found = claim()
                if found is not None:
                    return found
                await self._pause(left_or_raise(refiller, failures, deadline_s - self._clock.monotonic_s()))
        finally:
            self.count -= 1

    async def _pause(self, left_s: float) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        alarm = self._clock.after(left_s, lambda: _wake(waiter))
        try:
            await waiter
        finally:
            alarm.cancel()
            self._waiters.discard(waiter)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
