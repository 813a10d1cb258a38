"""How much to keep in reserve for an outage."""

from __future__ import annotations

import math
from collections import deque

from ._options import PrefetchOptions

TOP_UP_S = 1.0
"""How often the reserve is checked."""

_PIECES_MAX = 8192
"""The most pieces that the reserve may consist of."""
_WINDOW_S = 60.0
"""The window over which the rate is measured."""
_MARGIN_S = 10.0
"""The reserve lasts this much longer than the outage, because a client takes some time to notice that its servers are
back.
"""
_FILL_S = 16.0
"""Each request asks for a part of the missing IDs: this time divided by the age up to which IDs count as young. So a
fleet that starts does not flood its servers.
"""


class OutagePolicy:
    """Decides how many IDs to keep for an outage of all servers, and how gradually to ask for them.

    It gets the counts once a second. It is pure, and guarded by the buffer's lock. docs/internals/client-contract.md in
    the repository has the rules.
    """

    def __init__(self, options: PrefetchOptions, outage_s: float) -> None:
        self._options = options
        age_s = options.age_limit_s
        # At most halfway to the age at which IDs are dropped: IDs that are used at an even rate are then used before
        # that age.
        self._target_s = min(outage_s + _MARGIN_S, (outage_s + age_s) / 2)
        spare_s = age_s - outage_s
        # IDs that are younger count: they can still be used at the end of an outage that begins now. Never below an
        # eighth of the age, so that at most about nine IDs are reserved for each one used.
        self.young_s = max(spare_s * 3 / 4, spare_s - 60, age_s / 8)
        self._samples: deque[tuple[float, int]] = deque()

    @property
    def rate_per_second(self) -> float:
        """IDs handed out a second, over the last 60 s or since the buffer woke up."""
        if len(self._samples) < 2:
            return 0.0
        (first_s, first), (last_s, last) = self._samples[0], self._samples[-1]
        return (last - first) / (last_s - first_s) if last_s > first_s else 0.0

    def note(self, now_s: float, handed_out: int) -> None:
        """Records how many IDs have been handed out so far."""
        self._samples.append((now_s, handed_out))
        while now_s - self._samples[0][0] > _WINDOW_S:
            self._samples.popleft()

    def forget(self) -> None:
        """Forgets the samples: the buffer goes to sleep."""
        self._samples.clear()

    def size(self, young: int, pieces: int, piece_size: int) -> int:
        """How many IDs to ask for; 0 if the reserve has what it needs.

        Args:
            young: IDs of the reserve that are young.
            pieces: How many pieces it has.
            piece_size: IDs of a piece.
        """
        missing = min(self.rate_per_second * self._target_s, self._options.stock_max) - young
        room = min(self._options.count_max, (_PIECES_MAX - pieces) * piece_size)
        if missing <= 0 or room < self._options.count_min:
            return 0
        wanted = math.ceil(missing * min(1.0, _FILL_S / self.young_s))
        return min(room, max(self._options.count_min, wanted))
