"""How a PrefetchBuffer works."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._whole_id import whole

COUNT_MAX = 1 << 20
"""The most IDs in one reservation, and the most that one call can ask for."""
COUNT_MIN_DEFAULT = 8
COUNT_MAX_DEFAULT = 65_536
STOCK_MAX_DEFAULT = 10_000_000
STREAM_COUNT_MAX = 10**9
"""The most IDs or values of one stream."""
STOCK_MAX_LIMIT = 1_000_000_000
"""The highest value of `stock_max`."""
TIMEOUT_END_S = 1 << 31
"""The longest time that a call may take; timers cannot count longer ones."""


def check_number(name: str, value: object) -> None:
    """Raises TypeError for a value that is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {value!r}: it must be a number.")


def check_whole(name: str, value: object) -> None:
    """Raises TypeError for a value that is not a whole number."""
    try:
        whole(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is {value!r}: it must be an int.") from None


def call_timeout_s(timeout_s: float | None, default_s: float) -> float:
    """How long a call may take, cut to what timers can count; a time that has already passed counts as 0.

    Raises:
        TypeError, ValueError: It is not a number.
    """
    if timeout_s is None:
        return default_s
    check_number("timeout_s", timeout_s)
    if math.isnan(timeout_s):
        raise ValueError("timeout_s is nan; it must be a number of seconds.")
    return min(max(timeout_s, 0.0), TIMEOUT_END_S - 1.0)


@dataclass(frozen=True)
class PrefetchOptions:
    """How a buffer works.

    Attributes:
        max_age_s: The maximum age of an ID's reservation when the ID is handed out, 0.01 to 60 seconds; with
            `outage_s`, `outage_s` to 3,600. None: 5; with `outage_s`, twice that, and at least `outage_s` + 30.
        count_min: The fewest IDs to ask for, 1 to `count_max`.
        count_max: The most IDs to ask for, up to 1,048,576; without `outage_s`, a buffer holds at most twice as many.
        timeout_s: How long a call without a timeout of its own waits for stock, and how long a reservation may take.
            None: the client's timeout, or 5 s without a client.
        outage_s: Keeps a reserve of IDs that lasts this long without any server, at the rate of the last minute, 1 to
            1,800 seconds. None: off. While servers answer, IDs are as fresh as without it; about 2.2 are reserved for
            each one used.
        stock_max: The most IDs that `outage_s` aims at, not counting those that will soon be too old, 1 to
            1,000,000,000.
    """

    max_age_s: float | None = None
    count_min: int = COUNT_MIN_DEFAULT
    count_max: int = COUNT_MAX_DEFAULT
    timeout_s: float | None = None
    outage_s: float | None = None
    stock_max: int = STOCK_MAX_DEFAULT

    def __post_init__(self) -> None:
        for name in ("max_age_s", "timeout_s", "outage_s"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name))
        for name in ("count_min", "count_max", "stock_max"):
            check_whole(name, getattr(self, name))
        if self.outage_s is not None and not 1 <= self.outage_s <= 1800:
            raise ValueError(f"outage_s is {self.outage_s}; it must be 1 to 1,800.")
        least, most = (0.01, 60) if self.outage_s is None else (self.outage_s, 3600)
        if not least <= self.age_limit_s <= most:
            raise ValueError(f"max_age_s is {self.max_age_s}; it must be {least} to {most}.")
        if not 1 <= self.stock_max <= STOCK_MAX_LIMIT:
            raise ValueError(f"stock_max is {self.stock_max}; it must be 1 to {STOCK_MAX_LIMIT}.")
        if not 1 <= self.count_min <= self.count_max <= COUNT_MAX:
            found = f"count_min is {self.count_min} and count_max {self.count_max}"
            raise ValueError(f"{found}; they must be in ascending order within 1 to {COUNT_MAX}.")
        if self.timeout_s is not None and not 0 < self.timeout_s < TIMEOUT_END_S:
            raise ValueError(f"timeout_s is {self.timeout_s}; it must be above 0 and below 2^31.")

    @property
    def age_limit_s(self) -> float:
        """`max_age_s`, or its default if it was not set."""
        if self.max_age_s is not None:
            return self.max_age_s
        return 5.0 if self.outage_s is None else max(2 * self.outage_s, self.outage_s + 30)
