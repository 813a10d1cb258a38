"""How a PrefetchBuffer works."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

COUNT_MAX = 1 << 20
"""The most IDs in one reservation, and the most that one call can ask for."""
TIMEOUT_END_S = 1 << 31
"""Every time that a call may take is shorter: timers cannot count without end."""


def call_timeout_s(timeout_s: float | None, default_s: float) -> float:
    """How long a call may take, as timers can count it; what has passed already is 0.

    Raises:
        ValueError: It is not a number.
    """
    if timeout_s is None:
        return default_s
    if math.isnan(timeout_s):
        raise ValueError("timeout_s is nan; it must be a number of seconds.")
    return min(max(timeout_s, 0.0), TIMEOUT_END_S - 1.0)


@dataclass(frozen=True)
class PrefetchOptions:
    """How a buffer works.

    Attributes:
        max_age_s: The oldest that the reservation of a handed-out ID may be, 0.01 to 60 seconds.
        count_min: The fewest IDs to ask for, 1 to `count_max`.
        count_max: The most IDs to ask for, up to 1,048,576; a buffer holds at most twice as many.
        timeout_s: How long a call waits for stock when it names no time of its own, and how long a reservation may
            take. None: as long as the client's calls, or 5 s without a client.
    """

    max_age_s: float = 5.0
    count_min: int = 32
    count_max: int = 65_536
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        if not 0.01 <= self.max_age_s <= 60:
            raise ValueError(f"max_age_s is {self.max_age_s}; it must be 0.01 to 60.")
        if not 1 <= operator.index(self.count_min) <= operator.index(self.count_max) <= COUNT_MAX:
            found = f"count_min is {self.count_min} and count_max {self.count_max}"
            raise ValueError(f"{found}; they must rise within 1 to {COUNT_MAX}.")
        if self.timeout_s is not None and not 0 < self.timeout_s < TIMEOUT_END_S:
            raise ValueError(f"timeout_s is {self.timeout_s}; it must be above 0 and below 2^31.")
