"""How much to keep in stock for an outage."""

from __future__ import annotations

import math
from collections import deque

from ._options import PrefetchOptions

TOP_UP_S = 1.0
"""The stock is looked after so often."""
SPARE_ANSWERS_MAX = 4096
"""The stock is in so many answers at most, beside the one in use."""

_WINDOW_S = 60.0
"""The rate is measured over so long."""
_MARGIN_S = 10.0
"""The target lasts so much longer than the outage, for a client notices that its servers are back only after two
back-offs: that of the endpoint and that of the buffer.
"""
_FILL_PART = 1 / 30
"""One refill closes this part of what is missing, so that a fleet that starts does not flood its servers."""


class OutagePolicy:
    """How much to keep in stock so that IDs go on while no server answers, and how gently to fill it.

    Fed once a second with what was handed out. Pure; guarded by the buffer's lock. docs/internals/client-contract.md in
    the repository has the rules.
    """

    def __init__(self, options: PrefetchOptions, outage_s: float) -> None:
        self._options = options
        # Halfway to the age at which IDs are dropped, at most: what is used at an even rate is used before that age.
        self._target_s = min(outage_s + _MARGIN_S, (outage_s + options.age_limit_s) / 2)
        self._samples: deque[tuple[float, int]] = deque()
        self._asked_at = 0

    @property
    def rate_per_second(self) -> float:
        """IDs handed out a second, over the last 60 s or since the buffer woke up."""
        if len(self._samples) < 2:
            return 0.0
        (first_s, first), (last_s, last) = self._samples[0], self._samples[-1]
        return (last - first) / (last_s - first_s) if last_s > first_s else 0.0

    def note(self, now_s: float, handed_out: int) -> None:
        """Takes in how many IDs have been handed out by now."""
        self._samples.append((now_s, handed_out))
        while now_s - self._samples[0][0] > _WINDOW_S:
            self._samples.popleft()

    def forget(self) -> None:
        """Forgets what was handed out so far: the buffer goes to sleep."""
        self._samples.clear()

    def size(self, stock: int, handed_out: int) -> int:
        """How many IDs to ask for, of a stock of `stock`; 0 if it is full."""
        missing = min(self.rate_per_second * self._target_s, self._options.stock_max) - stock
        if missing <= 0:
            return 0
        wanted = math.ceil(min(missing, handed_out - self._asked_at + missing * _FILL_PART))
        return min(max(wanted, self._options.count_min), self._options.count_max)

    def asked(self, handed_out: int) -> None:
        """Takes in that a reservation is sent: the next one asks for what is handed out from here on."""
        self._asked_at = handed_out
