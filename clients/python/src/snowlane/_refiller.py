"""Decides when a buffer reserves, and accepts the answers."""

from __future__ import annotations

from collections.abc import Sequence

from ._backoff import refill_back_off_s
from ._errors import ErrorReason, SnowlaneError, as_snowlane_error
from ._moment import Moment
from ._observer import State, StateEvent
from ._options import PrefetchOptions
from ._outage_policy import OutagePolicy
from ._run import IdRun, count_ids, cut_runs
from ._states import Spell
from ._stock import Answer, Stock


class Refiller:
    """Fills the stock of a buffer: one reservation at a time, with a back-off after one that failed.

    It has no lock, no clock and no requests: its callers hold the buffer's lock, pass the time in, and send the
    requests that it asks for.
    """

    def __init__(self, options: PrefetchOptions, stock: Stock) -> None:
        self.options = options
        self.policy = stock.policy
        self.outage = None if options.outage_s is None else OutagePolicy(options, options.outage_s)
        """None: no reserve is kept for an outage."""
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
        """Number of the reservation on its way; 0: there is none. The answer to any other is dropped whole."""
        self._flights = 0
        self._is_topping_up = False
        self._is_top_up_due = False
        self._failures_in_row = 0
        self._spell = Spell()
        self._is_backing_off = False
        self._piece_size = 0
        """How many IDs a piece has if the reservation on its way is for the reserve; 0: it is for the stock in use."""

    def next_request(self, now_s: float) -> int:
        """How many IDs to ask for now; 0: send nothing. If it is not 0, a reservation counts as on its way, as number
        `flight`.

        One reservation at a time, none during a back-off; where an answer is spare, only for the reserve.
        """
        is_short = self.stock.is_refill_due and not self.stock.has_spare
        if not self._is_free or not (is_short or self._is_top_up_due):
            return 0
        piece_size = 0 if is_short else self.policy.second_size()
        missing = 0 if is_short else self._missing(piece_size)
        if not is_short:
            self._is_top_up_due = False
            if missing == 0:
                return 0
        self._piece_size = piece_size
        self.policy.measured(now_s, self.stock.handed_out)
        self._flights += 1
        self.flight = self._flights
        self.rate_at_request = self.policy.rate_per_second
        return self.policy.size() if is_short else missing

    def begins_top_ups(self, now_s: float) -> bool:
        """Whether to call `tops_up` once a second from now on."""
        if self.outage is None or self._is_topping_up:
            return False
        self._is_topping_up = True
        self.outage.note(now_s, self.stock.handed_out)
        return True

    def tops_up(self, now_s: float, *, has_waiters: bool) -> bool:
        """Checks the reserve for an outage: the next request may be for it.

        Returns:
            Whether to continue: there is stock, or a call waits.
        """
        if self.outage is None or self.is_closed:
            return False
        if self.stock.count == 0 and not has_waiters and not self.flight:
            self._is_topping_up = False
            self.outage.forget()
            return False
        self.outage.note(now_s, self.stock.handed_out)
        self._is_top_up_due = True
        return True

    def outage_left_s(self, left: int) -> float:
        """How long a stock lasts at the measured rate, before it is used up or too old."""
        if left == 0:
            return 0.0
        rate = (self.outage or self.policy).rate_per_second
        return self.stock.lasts_s(rate) if rate > 0 else self.options.age_limit_s

    def accept(self, runs: Sequence[IdRun], asked: int, elapsed_s: float, moment: Moment) -> list[Answer]:
        """Takes the answer to the reservation on its way into stock. Returns it, or its pieces.

        Args:
            moment: The time before the first attempt to get it: none of its IDs can be older.

        Raises:
            SnowlaneError: The answer is refused, or too late; the reservation counts as failed.
        """
        self.flight = 0
        try:
            count_ids(runs, asked)
            self.policy.answered(elapsed_s)
            if moment.elapsed_s() >= self.options.age_limit_s:
                raise self._too_late(moment.elapsed_s())
        except Exception as error:
            failure = as_snowlane_error(error)
            self._failed(failure)
            raise failure from None
        self._failures_in_row = 0
        self.last_failure = None
        self.refills += 1
        if self._piece_size == 0:
            answer = Answer(runs, moment)
            self.stock.add(answer)
            return [answer]
        # It is cut before any caller can claim from it, so no ID is ever put back.
        pieces = [Answer(piece, moment, is_of_reserve=True) for piece in cut_runs(runs, self._piece_size)]
        self.stock.add_reserve(pieces)
        return pieces

    def fail(self, error: SnowlaneError) -> None:
        """Records that the reservation on its way failed."""
        self.flight = 0
        self._failed(error)

    def state_after(self, error: SnowlaneError | None, asked_s: float, now_s: float) -> StateEvent | None:
        """Returns the event to report after a reservation that failed with that error, or succeeded; None: no event."""
        if error is not None:
            is_told = self._spell.failed(asked_s, now_s, self._failures_in_row)
            return StateEvent(State.FAILING, error.reason, error.endpoint or "") if is_told else None
        lasted_s = self._spell.worked(now_s)
        return None if lasted_s is None else StateEvent(State.WORKING, duration_s=lasted_s)

    def back_off_s(self) -> float:
        """How long to wait after a failure."""
        return refill_back_off_s(self._failures_in_row, self.last_failure) if self.last_failure else 0.0

    def end_back_off(self, *, has_waiters: bool) -> None:
        """Records that the back-off is over. If no caller waits any more, no IDs are reserved until one comes."""
        self._is_backing_off = False
        if not has_waiters and self.stock.count == 0:
            self.stock.is_refill_due = False

    def expire(self, answer: Answer, now_s: float, *, has_waiters: bool) -> int:
        """Drops an answer that is too old; returns how many IDs that were."""
        if not self.stock.has(answer):
            return 0
        unused = self.stock.drop(answer)
        # If no caller came while it lasted, no IDs are reserved until one comes.
        was_used = answer.in_use_s is not None
        if (was_used or has_waiters) and not self.stock.has_spare:
            self.stock.is_refill_due = True
        elif self.stock.count == 0:
            self.stock.is_refill_due = False
            self.policy.forget()
        else:
            self.policy.measured(now_s, self.stock.handed_out)
        return unused

    def close(self) -> int:
        """Drops the stock, for good; returns how many IDs that were."""
        if self.is_closed:
            return 0
        self.is_closed = True
        self.flight = 0
        # Its traceback would keep alive the channel that it failed on.
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

    def _missing(self, piece_size: int) -> int:
        """How many IDs the reserve lacks, as many as one request may ask for."""
        if self.outage is None:
            return 0
        return self.outage.size(self.stock.young(self.outage.young_s), self.stock.pieces, piece_size)

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
