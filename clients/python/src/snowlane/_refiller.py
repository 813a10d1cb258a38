"""When a buffer reserves, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Sequence

from ._backoff import back_off_s
from ._errors import ErrorReason, SnowlaneError, as_snowlane_error
from ._options import PrefetchOptions
from ._outage_policy import SPARE_ANSWERS_MAX, OutagePolicy
from ._refill_policy import RefillPolicy
from ._run import IdRun, count_ids
from ._stock import Answer, Stock


class Refiller:
    """Fills the stock of a buffer: one reservation at a time, with a back-off after one that failed.

    It has no lock, no clock and no requests: those that use it hold the buffer's lock, pass the time in and send what
    it asks for.
    """

    def __init__(self, options: PrefetchOptions, stock: Stock, now_s: float) -> None:
        self.options = options
        self.policy = RefillPolicy(options)
        self.outage = None if options.outage_s is None else OutagePolicy(options, options.outage_s)
        """None: no stock is kept for an outage."""
        self.rate_at_request = 0.0
        """IDs handed out a second, as measured for the latest reservation."""
        self.stock = stock
        self.is_closed = False
        self.last_failure: SnowlaneError | None = None
        self.failures = 0
        """Reservations that failed, or whose answer was refused or too late."""
        self.refills = 0
        """Answers taken into stock."""
        self.flight = 0
        """Number of the reservation that is on its way; 0: none is. The answer to any other is dropped whole."""
        self._flights = 0
        self._is_topping_up = False
        self._is_top_up_due = False
        self._failures_in_row = 0
        self._is_backing_off = False
        self._measured_claims = 0
        self._measured_s = now_s

    def next_request(self, now_s: float) -> int:
        """How many IDs to ask for now; 0: nothing is to be sent. Not 0: a reservation counts as on its way, as number
        `flight`.

        One reservation at a time, none during a back-off; where an answer is spare, only for an outage.
        """
        is_short = self.stock.is_refill_due and self.stock.answer_count <= 1
        if not self._is_free or not (is_short or self._is_top_up_due):
            return 0
        lacking = self._lacking()
        self._is_top_up_due = False
        if not is_short and lacking == 0:
            return 0
        self._measure(now_s)
        self._flights += 1
        self.flight = self._flights
        self.rate_at_request = self.policy.rate_per_second
        if self.outage is not None:
            self.outage.asked(self.stock.handed_out)
        return max(self.policy.size(), lacking) if is_short else lacking

    def begins_top_ups(self, now_s: float) -> bool:
        """Whether to call `tops_up` once a second from now on."""
        if self.outage is None or self._is_topping_up:
            return False
        self._is_topping_up = True
        self.outage.note(now_s, self.stock.handed_out)
        return True

    def tops_up(self, now_s: float, *, has_waiters: bool) -> bool:
        """Looks after the stock for an outage: the next request may be for it.

        Returns:
            Whether to go on: there is stock, or a call waits.
        """
        if self.outage is None or self.is_closed:
            return False
        if self.stock.count == 0 and not has_waiters and not self.flight:
            self._is_topping_up = False
            self.outage.forget()
            return False
        self.outage.note(now_s, self.stock.handed_out)
        self._is_top_up_due = self._is_free
        return True

    def outage_left_s(self, left: int) -> float:
        """How long a stock lasts at the measured rate, at most `max_age_s`."""
        if left == 0:
            return 0.0
        rate = (self.outage or self.policy).rate_per_second
        return min(self.options.age_limit_s, left / rate) if rate > 0 else self.options.age_limit_s

    def accept(self, runs: Sequence[IdRun], asked: int, elapsed_s: float) -> Answer:
        """Takes the answer to the reservation on its way into stock.

        Raises:
            SnowlaneError: It is refused, or too late: the reservation counts as failed.
        """
        self.flight = 0
        try:
            count = count_ids(runs, asked)
            self.policy.answered(elapsed_s)
            if elapsed_s >= self.options.age_limit_s:
                raise self._too_late(elapsed_s)
        except Exception as error:
            failure = as_snowlane_error(error)
            self._failed(failure)
            raise failure from None
        self._failures_in_row = 0
        self.last_failure = None
        self.refills += 1
        answer = Answer(runs, count, self.policy.mark(count))
        self.stock.add(answer)
        self._is_top_up_due = self.outage is not None and self.stock.count < self.policy.rate_per_second
        return answer

    def fail(self, error: SnowlaneError) -> None:
        """Takes in that the reservation on its way failed."""
        self.flight = 0
        self._failed(error)

    def back_off_s(self) -> float:
        """How long to wait after a failure."""
        retry_after_s = self.last_failure.retry_after_s if self.last_failure else None
        failures = self._failures_in_row
        if self.last_failure and self.last_failure.is_first_mistake():
            # Before the first answer, each call is to fail within a second.
            failures = min(failures, 2)
        return back_off_s(failures, retry_after_s)

    def end_back_off(self, *, has_waiters: bool) -> None:
        """Takes in that the back-off is over. If no caller is there any more, nothing is fetched until one comes."""
        self._is_backing_off = False
        if not has_waiters and self.stock.answer_count == 0:
            self.stock.is_refill_due = False

    def expire(self, answer: Answer, now_s: float, *, has_waiters: bool) -> int:
        """Drops an answer that is too old; returns how many IDs that were."""
        if not self.stock.has(answer):
            return 0
        unused = self.stock.drop(answer)
        self._measure(now_s)
        # If no caller came while it lasted, nothing is fetched until one comes.
        was_used = unused < answer.count
        self.stock.is_refill_due = self.stock.answer_count == 0 and (was_used or has_waiters)
        return unused

    def close(self) -> int:
        """Drops the stock, for good; returns how many IDs that were."""
        if self.is_closed:
            return 0
        self.is_closed = True
        self.flight = 0
        # Its traceback keeps the channel that it failed on.
        self.last_failure = None
        return self.stock.drop_all()

    def refuse_if_closed(self) -> None:
        """
        Raises:
            SnowlaneError: CLIENT_CLOSED.
        """
        if self.is_closed:
            raise SnowlaneError(ErrorReason.CLIENT_CLOSED, "The buffer is closed.")

    @property
    def _is_free(self) -> bool:
        return not self.is_closed and not self.flight and not self._is_backing_off

    def _lacking(self) -> int:
        """How many IDs the stock for an outage lacks, as many as are to be asked for at once."""
        if self.outage is None or self.stock.answer_count > SPARE_ANSWERS_MAX:
            return 0
        return self.outage.size(self.stock.count, self.stock.handed_out)

    def _failed(self, error: SnowlaneError) -> None:
        self.failures += 1
        self._failures_in_row += 1
        self.last_failure = error
        self._is_backing_off = True

    def _too_late(self, elapsed_s: float) -> SnowlaneError:
        elapsed_ms, max_age_ms = round(elapsed_s * 1000), round(self.options.age_limit_s * 1000)
        return SnowlaneError(
            ErrorReason.DEADLINE_EXCEEDED,
            f"The answer was dropped: it took {elapsed_ms} ms, and IDs are handed out for {max_age_ms} ms.",
            metadata={"elapsed_ms": elapsed_ms, "max_age_ms": max_age_ms},
        )

    def _measure(self, now_s: float) -> None:
        claims = self.stock.handed_out
        self.policy.measured(claims - self._measured_claims, now_s - self._measured_s)
        self._measured_claims = claims
        self._measured_s = now_s
