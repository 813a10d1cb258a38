"""Reports the state of a client to its observer and the log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ._observer import ClientObserver, State, StateEvent, tell

_LOGGER = logging.getLogger("snowlane")
_LOG_PAUSE_S = 60.0
"""The shortest time between two lines of one kind in the log."""
_LINES = {
    State.FAILING: (logging.WARNING, "Refills fail."),
    State.WORKING: (logging.INFO, "Refills work again."),
    State.MOVED: (logging.INFO, "Another endpoint is in use."),
    State.REPLACED: (logging.INFO, "A connection that answered nothing is replaced."),
    State.MISMATCH: (logging.ERROR, "A server is of another deployment, and its answer was dropped."),
}


class States:
    """Reports to the observer and the log. Safe for any number of threads."""

    def __init__(self, monotonic_s: Callable[[], float], observer: ClientObserver) -> None:
        self._monotonic_s = monotonic_s
        self._observer = observer
        self._lock = threading.Lock()
        self._logged_s: dict[State, float] = {}

    def tell(self, event: StateEvent) -> None:
        """Must be called without a lock: the observer may call the client."""
        tell(lambda: self._observer.on_state(event))
        if not self._is_due(event.state):
            return
        level, text = _LINES[event.state]
        details = [f"reason={event.reason}"] if event.reason else []
        if event.endpoint:
            details.append(f"endpoint={event.endpoint}")
        if event.duration_s:
            details.append(f"duration_s={event.duration_s:.1f}")
        _LOGGER.log(level, "%s", " ".join([text, *details]))

    def _is_due(self, state: State) -> bool:
        with self._lock:
            now_s = self._monotonic_s()
            if now_s - self._logged_s.get(state, float("-inf")) < _LOG_PAUSE_S:
                return False
            self._logged_s[state] = now_s
            return True


class Spell:
    """How long refills have failed in a row, as a buffer counts it. Guarded by the buffer's lock."""

    _FAILURES_MIN = 3
    _LASTS_MIN_S = 1.0

    def __init__(self) -> None:
        self._since_s: float | None = None
        self._is_told = False

    def failed(self, asked_s: float, now_s: float, failures_in_row: int) -> bool:
        """Records that a refill failed. Returns whether to report it, which is once a spell."""
        if self._since_s is None:
            self._since_s = asked_s
        is_short = failures_in_row < self._FAILURES_MIN and now_s - self._since_s < self._LASTS_MIN_S
        if self._is_told or is_short:
            return False
        self._is_told = True
        return True

    def worked(self, now_s: float) -> float | None:
        """Records that a refill succeeded. Returns how long refills had failed; None if that was never reported."""
        since_s, was_told = self._since_s, self._is_told
        self._since_s, self._is_told = None, False
        return now_s - since_s if was_told and since_s is not None else None
