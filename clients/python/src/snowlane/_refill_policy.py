"""How many IDs to reserve, and when.

Example: callers use 2,000 IDs a second, and the bounds are 32 and 65,536.
- The first reservation asks for 32: no rate is known.
- Once 2,000 IDs were handed out in a second, a reservation asks for 2,000. The mark of its answer is at a quarter, 500
  left, while a round trip takes 5 ms: eight of them use 80. At 50 ms they use 400, and at 100 ms 1,600, which is then
  the mark.
- Each further second without use halves the rate: 1,000, 500, 250, 125, 62.5, and then 31.25, which asks for 32 again.
"""

from __future__ import annotations

import math

from ._options import PrefetchOptions

_SPAN_S = 1.0
"""A reservation should cover this much time at the current rate, and the rate is measured over at least this time."""
_ROUND_TRIPS_AHEAD = 8
_ROUND_TRIP_WEIGHT = 0.125
_RUSH_S = 0.25
"""Use is growing if an answer's mark is met within this time: the next answer then has at least twice as many IDs."""


class RefillPolicy:
    """About a second of what the callers use. Pure; guarded by the buffer's lock.

    docs/internals/client-contract.md in the repository has the rules.
    """

    def __init__(self, options: PrefetchOptions) -> None:
        self._options = options
        self.rate_per_second = 0.0
        self.mean_rtt_s = 0.0
        # Time and count of IDs handed out. The rate is measured from the older one.
        self._older: tuple[float, int] | None = None
        self._newer: tuple[float, int] | None = None
        self._growth = 0

    def measured(self, now_s: float, handed_out: int) -> None:
        """Records how many IDs have been handed out so far. The rate rises at once and falls by halves."""
        now = (now_s, handed_out)
        if self._newer is None or now_s - self._newer[0] >= _SPAN_S:
            self._older = self._newer or now
            self._newer = now
        since_s, count = self._older or now
        rate = (handed_out - count) / max(_SPAN_S, now_s - since_s)
        self.rate_per_second = max(rate, self.rate_per_second / 2)

    def forget(self) -> None:
        """Records that the buffer goes to sleep: the measurements start over."""
        self._older = None
        self._newer = None

    def answered(self, elapsed_s: float) -> None:
        """Records how long a successful reservation took."""
        weight = _ROUND_TRIP_WEIGHT if self.mean_rtt_s else 1
        self.mean_rtt_s += weight * (elapsed_s - self.mean_rtt_s)

    def in_use(self) -> None:
        """Records that an answer is in use from now on."""
        self._growth = 0

    def met_mark(self, count: int, elapsed_s: float) -> None:
        """Records that the answer in use, of `count` IDs, was used down to its mark within that time."""
        self._growth = 2 * count if elapsed_s <= _RUSH_S else 0

    def size(self) -> int:
        """How many IDs to reserve next."""
        return self._bound(max(self._growth, self.second_size()))

    def second_size(self) -> int:
        """IDs that are used within a second, within the bounds of a reservation."""
        return self._bound(math.ceil(self.rate_per_second * _SPAN_S))

    def mark(self, count: int) -> int:
        """The mark of an answer of `count` IDs: the next answer is due once that many or fewer are left."""
        ahead = _ROUND_TRIPS_AHEAD * self.rate_per_second * self.mean_rtt_s
        return min(count, math.ceil(max(ahead, count / 4)))

    def _bound(self, count: int) -> int:
        return min(self._options.count_max, max(self._options.count_min, count))
