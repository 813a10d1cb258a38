"""The stock of a buffer, and how IDs are claimed from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from ._clock import Timer
from ._id_slice import IdSlice, open_slice
from ._moment import Moment
from ._refill_policy import RefillPolicy
from ._run import IdRun

Part = range | list[int]
"""IDs that one step claimed, in order."""

_SLICE_COUNT_MAX = 1024
"""How many IDs may be claimed without the lock before it is taken again and the age of IDs is checked: few enough to
close in 20 us, and enough that the lock costs almost nothing;
"""
_SLICE_S = 0.01
"""and at most this much time of use: after a pause of the process, claims come before the timers."""


def _dry() -> Callable[[], int]:
    return iter(range(0)).__next__


class Answer:
    """The runs of one answer to a reservation, or of one piece of it. They share one age and one low-water mark.

    The age counts from before the first attempt: docs/adr/0094 says why.

    Attributes:
        is_of_reserve: Whether it is a piece of the reserve. Such a piece asks for the next answer at its first ID,
            because the working stock is then empty.
        in_use_s: When its first ID was cut off; None: no ID was.
    """

    __slots__ = ("asked", "count", "has_met_mark", "in_use_s", "is_of_reserve", "left", "mark", "ranges", "timer")

    def __init__(self, runs: Sequence[IdRun], asked: Moment, *, is_of_reserve: bool = False) -> None:
        self.ranges = deque(run.ids() for run in runs)
        self.count = sum(run.count for run in runs)
        self.asked = asked
        self.is_of_reserve = is_of_reserve
        self.mark: int | None = None
        """The rate as measured when the first run came into use."""
        self.has_met_mark = False
        self.in_use_s: float | None = None
        self.left = self.count
        """How many IDs were not cut off yet."""
        self.timer: Timer | None = None
        """The timer that drops it when it is too old."""

    def cut(self, count_max: int) -> range:
        """Cuts up to `count_max` IDs off its front: fewer at the end of a run. It must have some."""
        first = self.ranges[0]
        head, rest = first[:count_max], first[count_max:]
        # They leave the stock before a caller gets them: an exception between the two steps leaves a gap, not a repeat.
        if rest:
            self.ranges[0] = rest
        else:
            self.ranges.popleft()
            self.mark = None
        self.left -= len(head)
        return head

    def drop(self) -> None:
        """Drops all IDs that were not cut off."""
        self.ranges.clear()
        self.left = 0
        if self.timer is not None:
            self.timer.cancel()


class Stock:
    """The IDs at hand. It has no lock of its own: callers hold that of the buffer.

    Callers claim from a slice of the answer in use by `take`, without the lock. When the slice is used up,
    StopIteration makes them take the lock. A slice ends at the low-water mark, so no claim has to count IDs.

    Behind the answer in use there is at most one spare answer. Once both are used up, the newest piece of the reserve
    comes into use. Nothing is put back: an answer in use is used up or dropped. docs/adr/0198 says why.
    """

    def __init__(self, policy: RefillPolicy, age_limit_s: float, monotonic_s: Callable[[], float]) -> None:
        self.policy = policy
        self._age_limit_s = age_limit_s
        self._monotonic_s = monotonic_s
        self.is_refill_due = False
        """Whether to ask for the next answer. Claims set it at the low-water mark."""
        self.reserved = 0
        """IDs taken in."""
        self.dropped = 0
        """IDs dropped unused."""
        self.expired = 0
        """IDs that claims found too old, and that the observer has not been informed of."""
        self._answers: deque[Answer] = deque()
        """The answer in use and the spare one."""
        self._reserve: list[Answer] = []
        """Pieces of answers that are kept for an outage, the newest last."""
        self._slice: IdSlice = open_slice(range(0))
        self._slice_count = 0
        self.take: Callable[[], int] = self._slice.take
        self._retired_claims = 0

    @property
    def handed_out(self) -> int:
        """IDs given to callers."""
        return self._retired_claims + self._slice_count - self._slice.left()

    @property
    def count(self) -> int:
        """IDs that callers can get without waiting."""
        return self._working_count + sum(piece.left for piece in self._reserve)

    @property
    def has_spare(self) -> bool:
        """Whether an answer is spare."""
        return len(self._answers) > 1

    @property
    def pieces(self) -> int:
        """How many pieces the reserve has."""
        return len(self._reserve)

    def young(self, young_s: float) -> int:
        """How many IDs of the reserve are younger than the given age."""
        return sum(piece.left for piece in self._pieces_younger(young_s))

    def lasts_s(self, rate_per_second: float) -> float:
        """How long the IDs last at a rate, before the last of them is used up or too old."""
        lasts_s = self._working_count / rate_per_second
        for piece in self._pieces_younger(self._age_limit_s):
            use_s = piece.left / rate_per_second
            lasts_s = max(lasts_s, min(lasts_s + use_s, self._age_limit_s - piece.asked.elapsed_s()))
        return min(lasts_s, self._age_limit_s)

    @property
    def _working_count(self) -> int:
        return self._slice.left() + sum(answer.left for answer in self._answers)

    def _pieces_younger(self, age_s: float) -> Iterator[Answer]:
        for piece in reversed(self._reserve):
            if piece.asked.elapsed_s() >= age_s:
                return
            yield piece

    def claim(self) -> int | None:
        """Claims one ID, and opens the next slice if necessary; None if the stock is dry."""
        while True:
            try:
                return self.take()
            except StopIteration:
                if not self._open_slice():
                    return None

    def claim_block(self, count: int) -> list[Part]:
        """Claims up to `count` IDs in the order of the stock; nothing if it is dry."""
        parts: list[Part] = []
        while count > 0:
            part: Part = self._slice.drain(count)
            if not part:
                if not self._open_answer():
                    break
                # These come straight from the answer: a block needs no slice.
                part = self._answers[0].cut(count)
                self._retired_claims += len(part)
            parts.append(part)
            count -= len(part)
        if self._answers:
            self._ask_at_mark(self._answers[0].left - self._mark_of(self._answers[0]))
        return parts

    def _open_slice(self) -> bool:
        if not self._open_answer():
            return False
        answer = self._answers[0]
        to_mark = answer.left - self._mark_of(answer)
        size = min(_SLICE_COUNT_MAX, max(1, int(self.policy.rate_per_second * _SLICE_S)))
        ids = answer.cut(min(size, to_mark) if to_mark > 0 else size)
        self._slice = open_slice(ids)
        self._slice_count = len(ids)
        self.take = self._slice.take
        self._ask_at_mark(to_mark)
        return True

    def _open_answer(self) -> bool:
        """Retires the used-up slice and all used-up answers. Returns whether the first answer then has IDs to cut, and
        they are young enough.
        """
        self._retire_slice()
        while True:
            if not self._answers and self._reserve:
                self._answers.append(self._reserve.pop())
            if not self._answers:
                self.is_refill_due = True
                return False
            answer = self._answers[0]
            if answer.left == 0:
                self._answers.popleft().drop()
            elif answer.asked.elapsed_s() >= self._age_limit_s:
                self.expired += self.drop(answer)
            else:
                if answer.in_use_s is None:
                    answer.in_use_s = self._monotonic_s()
                    self.policy.in_use()
                return True

    def _mark_of(self, answer: Answer) -> int:
        if answer.mark is None:
            answer.mark = answer.count if answer.is_of_reserve else self.policy.mark(answer.count)
        return answer.mark

    def _ask_at_mark(self, to_mark: int) -> None:
        if to_mark > 0:
            return
        answer = self._answers[0]
        # If the mark is the whole answer, meeting it says nothing about the rate of use.
        if not answer.has_met_mark and self._mark_of(answer) < answer.count:
            self.policy.met_mark(answer.count, self._monotonic_s() - (answer.in_use_s or 0.0))
        answer.has_met_mark = True
        if not self.has_spare:
            self.is_refill_due = True

    def _retire_slice(self) -> int:
        unclaimed = self._slice.close()
        self._retired_claims += self._slice_count - unclaimed
        self._slice_count = 0
        self.take = _dry()
        return unclaimed

    def add(self, answer: Answer) -> None:
        """Adds an answer that was requested because the one in use is about to end."""
        self.is_refill_due = False
        self.reserved += answer.count
        self._answers.append(answer)

    def add_reserve(self, pieces: Sequence[Answer]) -> None:
        """Adds the pieces of an answer that was requested for the reserve. They are used in their order."""
        self.reserved += sum(piece.count for piece in pieces)
        self._reserve.extend(reversed(pieces))

    def has(self, answer: Answer) -> bool:
        """Whether an answer is in use, spare or in reserve."""
        return answer in self._answers or answer in self._reserve

    def drop(self, answer: Answer) -> int:
        """Drops an answer; returns how many of its IDs were left."""
        unused = answer.left
        if answer in self._reserve:
            self._reserve.remove(answer)
        else:
            if answer is self._answers[0]:
                unused += self._retire_slice()
            self._answers.remove(answer)
        answer.drop()
        self.dropped += unused
        return unused

    def take_expired(self) -> int:
        """How many IDs claims found too old since the last call."""
        expired, self.expired = self.expired, 0
        return expired

    def drop_all(self) -> int:
        """Drops the whole stock; returns how many IDs that were."""
        answers = [*self._answers, *self._reserve]
        unused = self._retire_slice() + sum(answer.left for answer in answers)
        for answer in answers:
            answer.drop()
        self._answers.clear()
        self._reserve.clear()
        self.dropped += unused
        return unused

    def drop_in_child(self) -> None:
        """Drops the whole stock in a forked child: it belongs to the parent."""
        self._slice.close_in_child()
        self.take = _dry()
        for answer in [*self._answers, *self._reserve]:
            answer.drop()
