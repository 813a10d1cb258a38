"""Chooses among the servers of one deployment."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ._backoff import back_off_s
from ._errors import SnowlaneError, never_answered

_SPREAD_S = 0.02
"""Clients that lose a server at the same moment move to the next one at random times within this span."""
_STAY_S = (300.0, 900.0)
"""A client moves to another server after a time between these two even without a failure, so that clients spread again
over servers that came back.
"""


@dataclass(eq=False)
class Endpoint:
    """One server and its recent failures. `down_until_s` is a time of the monotonic clock; if it is past, the server is
    up.
    """

    url: str
    failures_in_row: int = 0
    down_until_s: float = float("-inf")
    last_failure: SnowlaneError | None = None


class Endpoints:
    """Stays with one server, so that IDs rise, leaves it when it fails, and never returns to it in step with other
    clients.

    Safe for any number of threads.
    """

    def __init__(self, urls: Sequence[str], monotonic_s: Callable[[], float]) -> None:
        self._endpoints = [Endpoint(url) for url in urls]
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._has_answered = False
        self._hedges_won_in_row = 0
        self._move_to(self._endpoints)
        self._announced = self._current

    @property
    def count(self) -> int:
        """How many endpoints there are."""
        return len(self._endpoints)

    def urls(self) -> list[str]:
        """The URLs of all endpoints."""
        with self._lock:
            return [endpoint.url for endpoint in self._endpoints]

    def find(self, url: str) -> Endpoint | None:
        """The endpoint with that URL."""
        with self._lock:
            return next((endpoint for endpoint in self._endpoints if endpoint.url == url), None)

    def are_down(self, endpoints: Iterable[Endpoint], *, some: bool = False) -> bool:
        """Whether all of these endpoints are down, or some of them."""
        with self._lock:
            now_s = self._monotonic_s()
            down = (endpoint.down_until_s > now_s for endpoint in endpoints)
            return any(down) if some else all(down)

    def replace(self, gone: Sequence[Endpoint], come: Sequence[Endpoint], *, may_stay: bool) -> Endpoint | None:
        """Puts endpoints in place of others.

        Args:
            may_stay: Whether an endpoint that is in use and answers stays, and is returned.
        """
        with self._lock:
            current = self._current
            stays = current if may_stay and current in gone and current.failures_in_row == 0 else None
            kept = [each for each in self._endpoints if each is stays or each not in gone]
            self._endpoints = [*kept, *come]
            if current in gone and current is not stays:
                self._move_to(self._endpoints)
                if not may_stay and self._announced is current:
                    # Replacing a name by its addresses does not count as a move.
                    self._announced = self._current
            return stays

    def choose(self) -> tuple[Endpoint, float]:
        """The next endpoint, and how many seconds to wait before calling it."""
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

    def announce(self) -> str | None:
        """The URL of the endpoint in use if it has changed since the last call; else None."""
        with self._lock:
            is_new = self._announced is not self._current
            self._announced = self._current
            return self._current.url if is_new else None

    def note_answer(self) -> None:
        """Records that a server answered, with success or an error."""
        self._has_answered = True

    def note_success(self, endpoint: Endpoint) -> None:
        """Records that an attempt succeeded."""
        with self._lock:
            self._has_answered = True
            endpoint.failures_in_row = 0
            endpoint.last_failure = None

    def note_failure(self, endpoint: Endpoint, error: SnowlaneError) -> SnowlaneError:
        """Records that an attempt failed: the endpoint is down for a while.

        Returns:
            The error; if there is no server at any endpoint and no server ever answered, that of never_answered.
        """
        with self._lock:
            endpoint.failures_in_row += 1
            failures = endpoint.failures_in_row
            if not self._has_answered and error.is_absence():
                # Before the first answer, each call should fail within a second.
                failures = min(failures, 2)
            endpoint.down_until_s = self._monotonic_s() + back_off_s(failures, error.retry_after_s)
            endpoint.last_failure = error
            last_failures = [each.last_failure for each in self._endpoints]
            if not self._has_answered and all(last and last.is_absence() for last in last_failures):
                endpoint.last_failure = never_answered(error)
            return endpoint.last_failure

    def note_dark_connection(self, endpoint: Endpoint) -> None:
        """Records that an attempt failed only because of its connection. The endpoint does not count as down for that,
        but the next attempt goes to another that is up, if there is one.
        """
        with self._lock:
            others = self._others_up(endpoint)
            if self._current is endpoint and others:
                self._move_to(others)

    def others_up(self, endpoint: Endpoint) -> list[Endpoint]:
        """The other endpoints that are up, in random order."""
        with self._lock:
            others = self._others_up(endpoint)
        random.shuffle(others)
        return others

    def note_refill(self, winner: Endpoint, *, is_hedge: bool) -> None:
        """Records which endpoint was the first to answer a refill. The client moves to one that wins twice in a row
        although it was asked later.
        """
        with self._lock:
            self._hedges_won_in_row = self._hedges_won_in_row + 1 if is_hedge else 0
            if self._hedges_won_in_row >= 2:
                self._hedges_won_in_row = 0
                self._move_to([winner])

    def _others_up(self, endpoint: Endpoint) -> list[Endpoint]:
        now_s = self._monotonic_s()
        return [each for each in self._endpoints if each is not endpoint and each.down_until_s <= now_s]

    def _move_to(self, among: Sequence[Endpoint]) -> None:
        self._current = random.choice(among)
        self._move_at_s = self._monotonic_s() + random.uniform(*_STAY_S)
