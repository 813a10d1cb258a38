"""How long ago something was."""

from __future__ import annotations

from typing import Protocol

_STEP_S = 1.0
"""If the wall clock gained more than this on the monotonic clock, the machine was suspended or the clock was set."""
_ROUNDING_S = 0.001


class MomentClock(Protocol):
    """A clock that can tell the age of something."""

    def monotonic_s(self) -> float:
        """Elapsed seconds since an arbitrary start; it never goes back; a suspended machine may not count."""

    def now_ms(self) -> int:
        """Wall time in Unix milliseconds; may step either way."""

    def uptime_s(self) -> float | None:
        """Seconds since the machine started, including those in which it was suspended. None: not known."""


class Moment:
    """A point in time that knows how long ago it was. Time in which the machine was suspended counts; a step of the
    wall clock does not.
    """

    __slots__ = ("_clock", "_monotonic_s", "_uptime_s", "_wall_ms")

    def __init__(self, clock: MomentClock) -> None:
        self._clock = clock
        self._monotonic_s = clock.monotonic_s()
        self._wall_ms = clock.now_ms()
        self._uptime_s = clock.uptime_s()

    def running_s(self) -> float:
        """Seconds since then by the monotonic clock: how long something took."""
        return self._clock.monotonic_s() - self._monotonic_s

    def elapsed_s(self) -> float:
        """Seconds since then, by the later of two clocks: how old something is."""
        running_s = self.running_s()
        wall_s = (self._clock.now_ms() - self._wall_ms) / 1000 - _ROUNDING_S
        uptime_s = None if wall_s - running_s <= _STEP_S or self._uptime_s is None else self._clock.uptime_s()
        if uptime_s is None or self._uptime_s is None:
            return max(running_s, wall_s)
        return max(running_s, uptime_s - self._uptime_s)
