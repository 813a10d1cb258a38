"""The calls that wait on a dry buffer, for threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from ._clock import Clock
from ._errors import ErrorReason, SnowlaneError
from ._observer import ClientObserver, WaitEvent, tell
from ._refiller import Refiller

T = TypeVar("T")


class Waiters:
    """The calls that wait on a dry buffer.

    A waiting call owns nothing: a refill wakes it, and it claims like any other. Guarded by `changed`, the lock of the
    buffer.
    """

    def __init__(self, clock: Clock, observer: ClientObserver) -> None:
        self.changed = threading.Condition()
        self.count = 0
        """Calls that wait."""
        self.waits = 0
        """Calls that have waited."""
        self._clock = clock
        self._observer = observer

    def wake(self) -> None:
        """Lets all waiting calls look again. The lock is held."""
        self.changed.notify_all()

    def wait(self, refiller: Refiller, claim: Callable[[], T | None], failures: int, deadline_s: float) -> T:
        """Claims as soon as there is something to claim. To be called without the lock.

        Args:
            claim: Called with the lock held; returns None if there is nothing to claim.
            failures: How many reservations had failed when the call began; a later failure that waiting cannot fix ends
                the wait.

        Raises:
            SnowlaneError: As PrefetchBuffer.next_id.
        """
        started_s = self._clock.monotonic_s()
        reason: ErrorReason | None = None
        try:
            return self._wait(refiller, claim, failures, deadline_s)
        except SnowlaneError as error:
            reason = error.reason
            raise
        finally:
            duration_s = self._clock.monotonic_s() - started_s
            tell(lambda: self._observer.on_wait(WaitEvent(duration_s, reason)))

    def _wait(self, refiller: Refiller, claim: Callable[[], T | None], failures: int, deadline_s: float) -> T:
        with self.changed:
            self.count += 1
            self.waits += 1
            try:
                while True:
                    found = claim()
                    if found is not None:
                        return found
                    left_s = left_or_raise(refiller, failures, deadline_s - self._clock.monotonic_s())
                    self._clock.wait(self.changed, left_s)
            finally:
                self.count -= 1


def left_or_raise(refiller: Refiller, failures: int, left_s: float) -> float:
    """Returns how long a call that found no stock may go on waiting.

    Raises:
        SnowlaneError: CLIENT_CLOSED; a failure since `failures` that waiting cannot fix; once the time is over, the
            error of the last reservation, or DEADLINE_EXCEEDED.
    """
    refiller.refuse_if_closed()
    failure = refiller.last_failure
    if failure is not None and refiller.failures != failures and not failure.passes():
        raise failure.rethrown()
    if left_s > 0:
        return left_s
    if failure is not None:
        raise failure.rethrown()
    raise SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, "No ID came before the deadline of the call.")
