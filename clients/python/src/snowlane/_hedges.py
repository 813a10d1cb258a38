"""When a refill that has no answer is sent a second time, and where."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._connections import Connections
from ._endpoints import Endpoint, Endpoints

_ROUND_TRIPS = 4
"""A refill is sent a second time after this many mean round trips without an answer,"""
_DELAY_MIN_S = 0.1
"""but not before this much time has passed,"""
_OPENING_MIN_S = 0.5
"""or this much where a connection must be opened."""
_QUOTA_PAUSE_S = 5.0
"""For this long after the quota was exceeded, no hedge is sent."""
_ROUND_TRIP_WEIGHT = 0.125


@dataclass(frozen=True)
class HedgePlan:
    """Where the second request of an attempt goes, and when.

    Attributes:
        is_second: It goes over another connection of the same endpoint.
    """

    endpoint: Endpoint
    is_second: bool
    delay_s: float


class Hedges:
    """Attempts 13 of docs/internals/client-contract.md in the repository. Safe for any number of threads."""

    def __init__(self, monotonic_s: Callable[[], float], attempt_timeout_s: float) -> None:
        self._monotonic_s = monotonic_s
        self._attempt_timeout_s = attempt_timeout_s
        self._lock = threading.Lock()
        self._mean_rtt_s: float | None = None
        self._quota_at_s = float("-inf")

    def note_answer(self, elapsed_s: float) -> None:
        """Records how long the answer to a refill took."""
        with self._lock:
            mean_s = elapsed_s if self._mean_rtt_s is None else self._mean_rtt_s
            self._mean_rtt_s = mean_s + _ROUND_TRIP_WEIGHT * (elapsed_s - mean_s)

    def note_quota(self) -> None:
        """Records that the caller's quota is used up."""
        self._quota_at_s = self._monotonic_s()

    @property
    def are_paused(self) -> bool:
        """Whether no hedge may be sent, because it would be charged to a used-up quota."""
        return self._monotonic_s() - self._quota_at_s < _QUOTA_PAUSE_S

    def delay_s(self, *, must_open: bool) -> float:
        """How long to wait for an answer before sending the second request."""
        limit_s = self._attempt_timeout_s
        if self._mean_rtt_s is None:
            delay_s = limit_s / 4
        else:
            delay_s = min(max(_ROUND_TRIPS * self._mean_rtt_s, _DELAY_MIN_S), limit_s / 2)
        return max(delay_s, _OPENING_MIN_S) if must_open else delay_s

    def plan(self, first: Endpoint, endpoints: Endpoints, connections: Connections[Any]) -> HedgePlan:
        """The endpoint for the second request of an attempt whose first request went to `first`."""
        others = endpoints.others_up(first)
        if not others:
            return HedgePlan(first, is_second=True, delay_s=self.delay_s(must_open=True))
        best = min(others, key=lambda other: connections.rank(other.url))
        return HedgePlan(best, is_second=False, delay_s=self.delay_s(must_open=not connections.is_open(best.url)))
