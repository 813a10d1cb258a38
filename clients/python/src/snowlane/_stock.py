"""What a buffer has in stock, and how IDs are claimed of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from ._clock import Timer
from ._id_slice import IdSlice, open_slice
from ._run import IdRun

Part = range | list[int]
"""IDs that one step claimed, in order."""

_SLICE_COUNT_MAX = 1024
"""IDs that are claimed without the lock before it is taken again: few enough to close in 20 us, so many that the lock
costs nothing.
"""


def _dry() -> Callable[[], int]:
    return iter(range(0)).__next__


class Answer:
    """The runs of one answer to a reservation: one age, one low-water mark.

    The age counts from before the first attempt: docs/adr/0094 says why.
    """

    __slots__ = ("count", "left", "mark", "ranges", "timer")

    def __init__(self, runs: Sequence[IdRun], count: int, mark: int) -> None:
        self.ranges = deque(run.ids() for run in runs)
        self.count = count
        self.mark = mark
        self.left = count
        """IDs that were not cut off yet."""
        self.timer: Timer | None = None
        """What drops it when it is too old."""

    def cut(self, count_max: int) -> range:
        """Takes up to `count_max` IDs off its front: fewer at the end of a run. There must be some."""
        first = self.ranges[0]
        head, rest = first[:count_max], first[count_max:]
        # Out of the stock before they are in anybody's hands: an exception between the two leaves a gap, not a repeat.
        if rest:
            self.ranges[0] = rest
        else:
            self.ranges.popleft()
        self.left -= len(head)
        return head

    def drop(self) -> None:
        """Drops all that was not cut off."""
        self.ranges.clear()
        self.left = 0
        if self.timer is not None:
            self.timer.cancel()


class Stock:
    """The answer in use and those that are spare, without a lock: those that use it hold the buffer's.

    Callers claim from a slice of the answer in use by `take`, without the lock. That a slice is used up tells them, by
    StopIteration, to take the lock; a slice ends at the low-water mark, so nothing is counted for an ID.
    """

    def __init__(self) -> None:
        self.is_refill_due = False
        """Whether the next answer is to be asked for. Claims set it at the low-water mark."""
        self.reserved = 0
        """IDs taken in."""
        self.dropped = 0
        """IDs dropped unused."""
        self._answers: deque[Answer] = deque()
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
        """IDs that can be had without waiting."""
        return self._slice.left() + sum(answer.left for answer in self._answers)

    @property
    def answer_count(self) -> int:
        """How many answers are in use or spare."""
        return len(self._answers)

    def claim(self) -> int | None:
        """Claims one ID, the next slice opened if need be; None if the stock is dry."""
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
                # Straight from the answer: a block needs no slice.
                part = self._answers[0].cut(count)
                self._retired_claims += len(part)
            parts.append(part)
            count -= len(part)
        if self._answers:
            self._ask_at_mark(self._answers[0].left - self._answers[0].mark)
        return parts

    def _open_slice(self) -> bool:
        if not self._open_answer():
            return False
        answer = self._answers[0]
        to_mark = answer.left - answer.mark
        ids = answer.cut(min(_SLICE_COUNT_MAX, to_mark) if to_mark > 0 else _SLICE_COUNT_MAX)
        self._slice = open_slice(ids)
        self._slice_count = len(ids)
        self.take = self._slice.take
        self._ask_at_mark(to_mark)
        return True

    def _open_answer(self) -> bool:
        """Retires the slice, which is used up, and the answers that are. Returns whether the first one has IDs to
        cut.
        """
        self._retire_slice()
        while self._answers:
            if self._answers[0].left > 0:
                return True
            self._answers.popleft().drop()
        self.is_refill_due = True
        return False

    def _ask_at_mark(self, to_mark: int) -> None:
        has_spare = len(self._answers) > 1
        if to_mark <= 0 and not has_spare:
            self.is_refill_due = True

    def _retire_slice(self) -> int:
        unclaimed = self._slice.close()
        self._retired_claims += self._slice_count - unclaimed
        self._slice_count = 0
        self.take = _dry()
        return unclaimed

    def add(self, answer: Answer) -> None:
        """Takes an answer in, behind those that are spare."""
        self.is_refill_due = False
        self.reserved += answer.count
        self._answers.append(answer)

    def has(self, answer: Answer) -> bool:
        """Whether an answer is in use or spare."""
        return answer in self._answers

    def drop(self, answer: Answer) -> int:
        """Drops an answer that is in use or spare; returns how many of its IDs were left."""
        unused = answer.left
        if answer is self._answers[0]:
            unused += self._retire_slice()
        answer.drop()
        self._answers.remove(answer)
        self.dropped += unused
        return unused

    def drop_all(self) -> int:
        """Drops all there is; returns how many IDs that were."""
        unused = self._retire_slice() + sum(answer.left for answer in self._answers)
        for answer in self._answers:
            answer.drop()
        self._answers.clear()
        self.dropped += unused
        return unused

    def drop_in_child(self) -> None:
        """Drops all there is in a forked child: what the parent has in stock is the parent's."""
        self._slice.close_in_child()
        self.take = _dry()
        for answer in self._answers:
            answer.drop()
