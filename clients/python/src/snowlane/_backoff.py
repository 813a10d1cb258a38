"""How long to wait after failures."""

from __future__ import annotations

import random

from ._errors import SnowlaneError
from ._status_code import StatusCode

_BASE_S = 0.1
_CAP_S = 2.0
_DOUBLINGS_MAX = 16
_RETRY_AFTER_MAX_S = 1.0
"""The longest wait that a server may ask for. Its trouble may be over sooner, so a longer wait is cut to this."""
_QUOTA_WAIT_MAX_S = 5.0


def back_off_s(failures_in_row: int, retry_after_s: float | None) -> float:
    """Returns a time drawn evenly from 0 to min(2 s, 100 ms x 2^failures), so that the clients of a server that
    restarts do not come back in step. It is never shorter than the server asked for, of which at most 1 s counts, and
    is spread above that.
    """
    drawn_s = random.uniform(0, min(_CAP_S, _BASE_S * 2 ** min(failures_in_row, _DOUBLINGS_MAX)))
    return max(drawn_s, _spread_s(retry_after_s, _RETRY_AFTER_MAX_S))


def refill_back_off_s(failures_in_row: int, error: SnowlaneError) -> float:
    """How long a buffer waits after reservations have failed. Where a server was UNAVAILABLE, the client already avoids
    it for a while, so the buffer adds at most 100 ms: two back-offs would make callers wait for the sum. docs/adr/0222
    has more.
    """
    if error.is_first_mistake():
        # Before the first answer, each call should fail within a second.
        return back_off_s(min(failures_in_row, 2), error.retry_after_s)
    is_left_alone = error.code is StatusCode.UNAVAILABLE and error.endpoint is not None
    return back_off_s(0, None) if is_left_alone else back_off_s(failures_in_row, error.retry_after_s)


def quota_wait_s(retry_after_s: float | None) -> float:
    """The time that a server asked for, of which at most 5 s count, made longer by up to half of it."""
    return _spread_s(retry_after_s, _QUOTA_WAIT_MAX_S)


def _spread_s(retry_after_s: float | None, most_s: float) -> float:
    return min(retry_after_s or 0.0, most_s) * random.uniform(1, 1.5)
