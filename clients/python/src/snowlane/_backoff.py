"""How long to leave alone what has failed."""

from __future__ import annotations

import random

_BASE_S = 0.1
_CAP_S = 5.0
_DOUBLINGS_MAX = 16


def back_off_s(failures_in_row: int, retry_after_s: float | None) -> float:
    """Drawn evenly from 0 to min(5 s, 100 ms x 2^failures), so that the clients of a server that restarts do not come
    back in step; never shorter than the server asked for, and spread above that.
    """
    drawn_s = random.uniform(0, min(_CAP_S, _BASE_S * 2 ** min(failures_in_row, _DOUBLINGS_MAX)))
    return max(drawn_s, spread_s(retry_after_s))


def spread_s(retry_after_s: float | None) -> float:
    """A time that a server asked for, and up to half as much again."""
    return (retry_after_s or 0.0) * random.uniform(1, 1.5)
