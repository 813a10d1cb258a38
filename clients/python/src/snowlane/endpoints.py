"""Chooses among the servers of one deployment."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .backoff import back_off_s
from .errors import SnowlaneError

_SPREAD_S = 0.02
"""Clients that lose a server at one moment reach the next one spread over so long."""
_STAY_S = (300.0, 900.0)
"""A client moves by itself after so long, so that clients spread again over servers that came back."""


@dataclass(eq=False)
class Endpoint:
    """One server, and how it has been doing. `down_until_s` is by the monotonic clock; in the past: it is up."""

    url: str
    failures_in_turn: int = 0
    down_until_s: float = float("-inf")
    last_failure: SnowlaneError | None = None


class Endpoints:
    """Stays with one server, so that IDs rise; leaves it when it fails; never returns in step with other clients.

    Safe for any number of threads.
    """

    def __init__(self, urls: Sequence[str], monotonic_s: Callable[[], float]) -> None:
        self._endpoints = [Endpoint(url) for url in urls]
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._move_to(self._endpoints)

    def choose(self) -> tuple[Endpoint, float]:
        """Where to go next, and how many seconds to wait before."""
        with self._lock:
            now_s = self._monotonic_s()
            up = [endpoint for endpoint in self._endpoints if endpoint.down_until_s <= now_s]
            if not up:
                self._current = min(self._endpoints, key=lambda endpoint: endpoint.down_until_s)
                return self._current, self._current.down_until_s - now_s
            is_up = self._current in up
            if is_up and now_s < self._move_at_s:
                return self._current, 0.0
            self._move_to(up)
            return self._current, 0.0 if is_up else random.uniform(0, _SPREAD_S)

    def note_success(self, endpoint: Endpoint) -> None:
        """Takes in that an attempt succeeded."""
        with self._lock:
            endpoint.failures_in_turn = 0
            endpoint.last_failure = None

    def note_failure(self, endpoint: Endpoint, error: SnowlaneError) -> None:
        """Takes in that an attempt failed: the endpoint is down for a while."""
        with self._lock:
            endpoint.failures_in_turn += 1
            endpoint.last_failure = error
            delay_s = back_off_s(endpoint.failures_in_turn, error.retry_after_s)
            endpoint.down_until_s = self._monotonic_s() + delay_s

    def _move_to(self, among: Sequence[Endpoint]) -> None:
        self._current = random.choice(among)
        self._move_at_s = self._monotonic_s() + random.uniform(*_STAY_S)
