"""What a buffer has in stock, and what it has to do next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .backoff import back_off_s
from .clock import Timer
from .errors import ErrorReason, SnowlaneError, as_snowlane_error
from .id_slice import IdSlice, open_slice
from .options import PrefetchOptions
from .refill_policy import RefillPolicy
from .run import IdRun, count_ids

Part = range | list[int]
"""IDs that one step claimed, in order."""

_SLICE_COUNT_MAX = 1024
"""IDs that are claimed without the lock before it is taken again: few enough to close in 20 us, so many that the lock
costs nothing.
"""


def _dry() -> Callable[[], int]:
    return iter(range(0)).__next__


@dataclass(frozen=True)
class BufferStats:
    """What a buffer has done so far. `reserved` is `handed_out` + `dropped` + `stock`.

    Attributes:
        handed_out: IDs given to callers.
        reserved: IDs taken into stock.
        dropped: IDs dropped unused, too old or at the end.
        refills: Answers taken into stock.
        refill_failures: Reservations that failed, or whose answer was refused or too late.
        waits: Calls that found nothing in stock and waited.
        stock: IDs that can be had without waiting.
        ids_per_second: The rate at which IDs were handed out, as last measured.
        mean_round_trip_s: Of successful reservations, the latest weighing most.
    """

    handed_out: int
    reserved: int
    dropped: int
    refills: int
    refill_failures: int
    waits: int
    stock: int
    ids_per_second: float
    mean_round_trip_s: float


class Answer:
    """The runs of one answer to a reservation: one age, one low-water mark."""

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
    """The state of a buffer without its lock, its clock and its requests: those who use it hold the lock, and pass the
    time in.

    Callers claim from a slice of the answer in use by `take`, without the lock. That a slice is used up tells them, by
    StopIteration, to take the lock; a slice ends at the low-water mark, so nothing is counted for an ID.
    """

    def __init__(self, options: PrefetchOptions, now_s: float) -> None:
        self.options = options
        self.policy = RefillPolicy(options)
        self.waiting = 0
        self.waits = 0
        self.refill_failures = 0
        self.last_failure: SnowlaneError | None = None
        self.is_closed = False
        self.is_backing_off = False
        self.flight = 0
        """Number of the request that is on its way; 0: none is. The answer to any other is dropped whole."""
        self._flights = 0
        self._failures_in_turn = 0
        self._refill_due = False
        self._answers: deque[Answer] = deque()
        self._slice: IdSlice = open_slice(range(0))
        self._slice_count = 0
        self.take: Callable[[], int] = self._slice.take
        self._reserved = 0
        self._dropped = 0
        self._refills = 0
        self._retired_claims = 0
        self._measured_claims = 0
        self._measured_s = now_s

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
        self._refill_due = True
        return False

    def _ask_at_mark(self, to_mark: int) -> None:
        has_spare = len(self._answers) > 1
        if to_mark <= 0 and not has_spare:
            self._refill_due = True

    def _retire_slice(self) -> int:
        unclaimed = self._slice.close()
        self._retired_claims += self._slice_count - unclaimed
        self._slice_count = 0
        self.take = _dry()
        return unclaimed

    def next_request(self, now_s: float) -> int:
        """How many IDs to ask for now; 0: nothing is to be sent. Not 0: a request counts as on its way, as number
        `flight`.

        One request at a time, one spare answer at most, none during a back-off.
        """
        if self.is_closed or not self._refill_due or self.flight or self.is_backing_off or len(self._answers) > 1:
            return 0
        self._measure(now_s)
        self._flights += 1
        self.flight = self._flights
        return self.policy.size()

    def _claims(self) -> int:
        return self._retired_claims + self._slice_count - self._slice.left()

    def _measure(self, now_s: float) -> None:
        claims = self._claims()
        self.policy.measured(claims - self._measured_claims, now_s - self._measured_s)
        self._measured_claims = claims
        self._measured_s = now_s

    def accept(self, runs: Sequence[IdRun], asked: int, elapsed_s: float) -> Answer:
        """Takes the answer to the request on its way into stock.

        Raises:
            SnowlaneError: It is refused, or too late: the request counts as failed.
        """
        self.flight = 0
        try:
            count = count_ids(runs, asked)
            self.policy.answered(elapsed_s)
            if elapsed_s >= self.options.max_age_s:
                raise self._too_late(elapsed_s)
        except Exception as error:
            failure = as_snowlane_error(error)
            self._failed(failure)
            raise failure from None
        self._refill_due = False
        self._failures_in_turn = 0
        self.last_failure = None
        self._refills += 1
        self._reserved += count
        answer = Answer(runs, count, self.policy.mark(count))
        self._answers.append(answer)
        return answer

    def _too_late(self, elapsed_s: float) -> SnowlaneError:
        elapsed_ms, max_age_ms = round(elapsed_s * 1000), round(self.options.max_age_s * 1000)
        return SnowlaneError(
            ErrorReason.DEADLINE_EXCEEDED,
            f"The answer was dropped: it took {elapsed_ms} ms, and IDs are handed out for {max_age_ms} ms.",
            metadata={"elapsed_ms": elapsed_ms, "max_age_ms": max_age_ms},
        )

    def fail(self, error: SnowlaneError) -> None:
        """Takes in that the request on its way failed."""
        self.flight = 0
        self._failed(error)

    def _failed(self, error: SnowlaneError) -> None:
        self.refill_failures += 1
        self._failures_in_turn += 1
        self.last_failure = error
        self.is_backing_off = True

    def back_off_s(self) -> float:
        """How long to wait after a failure."""
        retry_after_s = self.last_failure.retry_after_s if self.last_failure else None
        return back_off_s(self._failures_in_turn, retry_after_s)

    def end_back_off(self) -> None:
        """Takes in that the back-off is over. If nobody is here any more, nothing is fetched until somebody is."""
        self.is_backing_off = False
        if self.waiting == 0 and not self._answers:
            self._refill_due = False

    def expire(self, answer: Answer, now_s: float) -> int:
        """Drops an answer that is too old; returns how many IDs that were."""
        if answer not in self._answers:
            return 0
        unused = answer.left
        if answer is self._answers[0]:
            unused += self._retire_slice()
        answer.drop()
        self._answers.remove(answer)
        self._dropped += unused
        self._measure(now_s)
        # If nobody was here while it lasted, nothing is fetched until somebody is.
        self._refill_due = not self._answers and (unused < answer.count or self.waiting > 0)
        return unused

    def close(self) -> int:
        """Drops all there is, for good; returns how many IDs that were."""
        if self.is_closed:
            return 0
        self.is_closed = True
        self.flight = 0
        # Its traceback keeps the channel that it failed on.
        self.last_failure = None
        unused = self._retire_slice() + sum(answer.left for answer in self._answers)
        for answer in self._answers:
            answer.drop()
        self._answers.clear()
        self._dropped += unused
        return unused

    def close_in_child(self) -> None:
        """The same in a forked child: what the parent has in stock is the parent's."""
        self._slice.close_in_child()
        self.take = _dry()
        for answer in self._answers:
            answer.drop()

    def stats(self) -> BufferStats:
        """A snapshot."""
        left = self._slice.left()
        return BufferStats(
            handed_out=self._retired_claims + self._slice_count - left,
            reserved=self._reserved,
            dropped=self._dropped,
            refills=self._refills,
            refill_failures=self.refill_failures,
            waits=self.waits,
            stock=left + sum(answer.left for answer in self._answers),
            ids_per_second=self.policy.ids_per_second,
            mean_round_trip_s=self.policy.mean_round_trip_s,
        )
