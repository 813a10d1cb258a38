"""How long ago something was."""

from __future__ import annotations

from typing import Protocol

_STEP_S = 1.0
"""Where the wall clock ran ahead by more, the machine was suspended, or the clock was set."""
_ROUNDING_S = 0.001


class MomentClock(Protocol):
    """What tells the age of something."""

    def monotonic_s(self) -> float:
        """Elapsed seconds since an arbitrary start, never falling; a suspended machine may not count."""

    def now_ms(self) -> int:
        """Wall time in Unix milliseconds; may step either way."""

    def uptime_s(self) -> float | None:
        """Seconds since the machine started, those in which it was suspended among them; None: not known."""


class Moment:
    """A moment, and how long ago it was: the time of a suspended machine counts, a step of the clock does not."""

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
