"""How many IDs to reserve, and when.

Example: callers use 2,000 IDs a second, and nobody changed the bounds of 32 and 65,536.
- The first reservation asks for 32: no rate is known.
- Once 2,000 IDs were handed out in a second, a reservation asks for 2,000. The mark of its answer is at a quarter, 500
  left, while a round trip takes 5 ms: eight of them use 80. At 50 ms they use 400, and at 100 ms 1,600, which is then
  the mark.
- Each further second without use halves the rate: 1,000, 500, 250, 125, 62.5, and then 31.25, which asks for 32 again.
"""

from __future__ import annotations

from ._options import PrefetchOptions

_ELAPSED_MIN_S = 0.01
"""No rate is measured over less: a burst of 32 calls in a microsecond says nothing about the next second."""
_ROUND_TRIPS_AHEAD = 8
_ROUND_TRIP_WEIGHT = 0.125


class RefillPolicy:
    """About a second of what the callers use. Pure; guarded by the buffer's lock.

    The rules were found by simulating rates of 10 to 20,000 IDs a second, steady and in bursts, against servers of
    which one answer in a thousand is late: they let the fewest calls wait and throw the fewest IDs away.
    """

    def __init__(self, options: PrefetchOptions) -> None:
        self._options = options
        self.rate_per_second = 0.0
        self.mean_rtt_s = 0.0

    def measured(self, count: int, elapsed_s: float) -> None:
        """Takes in what was handed out since the last measurement. The rate rises at once and falls by halves."""
        rate = count / max(elapsed_s, _ELAPSED_MIN_S)
        self.rate_per_second = max(rate, self.rate_per_second / 2)

    def answered(self, elapsed_s: float) -> None:
        """Takes in how long a successful reservation took."""
        weight = _ROUND_TRIP_WEIGHT if self.mean_rtt_s else 1
        self.mean_rtt_s += weight * (elapsed_s - self.mean_rtt_s)

    def size(self) -> int:
        """How many IDs to reserve next."""
        return int(min(max(self.rate_per_second, self._options.count_min), self._options.count_max))

    def mark(self, count: int) -> int:
        """With how many IDs left of an answer of `count` to ask for the next."""
        ahead = _ROUND_TRIPS_AHEAD * self.rate_per_second * self.mean_rtt_s
        return int(min(max(ahead, count // 4), count))
