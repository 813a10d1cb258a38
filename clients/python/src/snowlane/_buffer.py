"""The buffer of reserved IDs, for threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

from ._buffer_stats import BufferStats, stats_of
from ._client_options import TIMEOUT_DEFAULT_S
from ._clock import SYSTEM_CLOCK, Clock
from ._errors import ErrorReason, SnowlaneError, as_snowlane_error, check_count
from ._fork import forget_after_fork
from ._moment import Moment
from ._observer import ClientObserver, ExpireEvent, RefillEvent, tell
from ._options import (
    COUNT_MAX,
    COUNT_MAX_DEFAULT,
    COUNT_MIN_DEFAULT,
    STOCK_MAX_DEFAULT,
    PrefetchOptions,
    call_timeout_s,
)
from ._outage_policy import TOP_UP_S
from ._refill_policy import RefillPolicy
from ._refiller import Refiller
from ._run import IdRun
from ._states import States
from ._stock import Answer, Part, Stock
from ._waiters import Waiters

if TYPE_CHECKING:
    from .arrays import IdArray

T = TypeVar("T")


class RunSource(Protocol):
    """Where a buffer gets its IDs from: a server's ReserveIds, or a test's own list."""

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Reserves IDs that no other caller ever gets, and none of an earlier reservation.

        Args:
            count: The most IDs that are wanted, at least 1.
            timeout_s: After how many seconds the answer is no longer useful.

        Returns:
            Runs, together at least 1 and at most `count` IDs.

        Raises:
            SnowlaneError: The reservation failed.
        """


class PrefetchBuffer:
    """Hands out IDs from memory and reserves more in the background, before they run out.

    Safe for any number of threads. Each ID is handed out at most once, whatever is interrupted, times out or forks; an
    ID that is claimed and not used is a gap. Uniqueness depends only on the reservation, never on a timer: `max_age_s`
    only keeps IDs fresh.

    A forked child begins with an empty buffer of its own. HAZARD: a fork that skips Python's hooks (by ctypes, or by an
    extension that does not call PyOS_AfterFork_Child) and a memory image that runs twice would hand out the same stock
    twice. Close the buffer first.
    """

    def __init__(
        self,
        source: RunSource,
        *,
        max_age_s: float | None = None,
        count_min: int = COUNT_MIN_DEFAULT,
        count_max: int = COUNT_MAX_DEFAULT,
        timeout_s: float | None = None,
        outage_s: float | None = None,
        stock_max: int = STOCK_MAX_DEFAULT,
        clock: Clock | None = None,
        observer: ClientObserver | None = None,
    ) -> None:
        """Makes a buffer; nothing is asked for before its first ID.

        Args:
            source: Where the IDs come from.
            max_age_s: The maximum age of an ID's reservation when the ID is handed out, 0.01 to 60 seconds; with
                `outage_s`, `outage_s` to 3,600. None: 5; with `outage_s`, twice that, and at least `outage_s` + 30.
            count_min: The fewest IDs to ask for, 1 to `count_max`.
            count_max: The most IDs to ask for, up to 1,048,576; without `outage_s`, a buffer holds at most twice as
                many.
            timeout_s: How long a call without a timeout of its own waits for stock, and how long a reservation may
                take. None: the client's timeout, or 5 s without a client.
            outage_s: Keeps a reserve of IDs that lasts this long without any server, at the rate of the last minute, 1
                to 1,800 seconds. None: off. While servers answer, IDs are as fresh as without it; about 2.2 are
                reserved for each one used.
            stock_max: The most IDs that `outage_s` aims at, not counting those that will soon be too old, 1 to
                1,000,000,000.
            clock: For tests.
            observer: The metrics hook.

        Raises:
            TypeError, ValueError: An option is wrong.
        """
        self._source = source
        self._options = PrefetchOptions(max_age_s, count_min, count_max, timeout_s, outage_s, stock_max)
        self._clock = clock or SYSTEM_CLOCK
        self._observer = observer or ClientObserver()
        self._states = States(self._clock.monotonic_s, self._observer)
        self._timeout_s = self._options.timeout_s or TIMEOUT_DEFAULT_S
        self._begin(is_closed=False)
        forget_after_fork(self)

    def _begin(self, *, is_closed: bool) -> None:
        self._stock = Stock(RefillPolicy(self._options), self._options.age_limit_s, self._clock.monotonic_s)
        self._refiller = Refiller(self._options, self._stock)
        self._refiller.is_closed = is_closed
        self._waiters = Waiters(self._clock, self._observer)
        self._take = self._stock.take
        self._pid = os.getpid()

    def next_id(self, timeout_s: float | None = None) -> int:
        """Returns an ID that was never returned before.

        Args:
            timeout_s: How long to wait if nothing is in stock; None: the timeout of the options.

        Raises:
            SnowlaneError: CLIENT_CLOSED. If no ID came in time: the error of the last reservation, or
                DEADLINE_EXCEEDED. Errors that waiting cannot fix are raised at once.
        """
        try:
            return self._take()
        except StopIteration:
            return self._next_id_slowly(timeout_s)

    def next_id_now(self) -> int:
        """Returns an ID from stock. Never waits; if there is none, a reservation is started.

        Raises:
            SnowlaneError: STOCK_EMPTY, CLIENT_CLOSED.
        """
        try:
            return self._take()
        except StopIteration:
            pass
        with self._locked():
            found = self._claim()
            if found is None:
                self._refiller.refuse_if_closed()
                raise SnowlaneError(ErrorReason.STOCK_EMPTY, "Nothing is in stock, and the call does not wait.")
            return found

    def ready(self, timeout_s: float | None = None) -> None:
        """Waits until there are IDs in stock, and takes none. Call it before a service's first request.

        Args:
            timeout_s: As for next_id.

        Raises:
            SnowlaneError: See next_id.
        """
        self._claim_or_wait(self._look, timeout_s)

    def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """Returns `count` IDs that were never returned before, in blocks that ascend. Waits for what is not in stock.

        Args:
            count: 1 to 1,048,576.
            timeout_s: As for next_id.

        Raises:
            SnowlaneError: COUNT_OUT_OF_RANGE, and those of next_id; the IDs claimed by then are a gap.
        """
        ids: list[int] = []
        for part in self._claim_parts(count, timeout_s):
            ids.extend(part)
        return ids

    def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """The same as next_ids, as an array of uint64: made from runs, not from a list. Needs numpy."""
        from .arrays import array_of  # noqa: PLC0415

        return array_of(self._claim_parts(count, timeout_s))

    def stats(self) -> BufferStats:
        """The counters of the buffer; in a forked child, since the fork."""
        with self._locked():
            return stats_of(self._refiller, self._waiters.waits)

    def close(self) -> None:
        """Drops the stock and ends all waiting calls with CLIENT_CLOSED. Closing again does nothing."""
        with self._locked():
            unused = self._refiller.close()
            self._take = self._stock.take
            self._waiters.wake()
        self._tell_expired(unused)

    def __enter__(self) -> PrefetchBuffer:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A PrefetchBuffer cannot be copied or pickled: the copy would hand out the same IDs.")

    def _after_fork_in_child(self) -> None:
        self._take = iter(range(0)).__next__
        self._stock.drop_in_child()
        self._begin(is_closed=self._refiller.is_closed)

    def _locked(self) -> threading.Condition:
        # For forks that ran no hook: they repeat the rest of the parent's slice, but no more than that.
        if self._pid != os.getpid():
            self._after_fork_in_child()
        return self._waiters.changed

    def _next_id_slowly(self, timeout_s: float | None) -> int:
        return self._claim_or_wait(self._claim, timeout_s)

    def _claim_parts(self, count: int, timeout_s: float | None) -> list[Part]:
        check_count(count, COUNT_MAX)
        deadline_s = self._clock.monotonic_s() + call_timeout_s(timeout_s, self._timeout_s)
        parts: list[Part] = []
        while count > 0:
            left, left_s = count, deadline_s - self._clock.monotonic_s()
            claimed = self._claim_or_wait(lambda: self._claim_block(left), left_s)  # noqa: B023
            parts.extend(claimed)
            count -= sum(map(len, claimed))
        return parts

    def _claim(self) -> int | None:
        found = self._stock.claim()
        self._request()
        if found is None:
            # A source may answer immediately.
            found = self._stock.claim()
        self._take = self._stock.take
        return found

    def _look(self) -> bool | None:
        """Whether there is stock; None if not, and then a reservation is started."""
        if self._stock.count == 0:
            self._stock.is_refill_due = True
            self._request()
        return self._stock.count > 0 or None

    def _claim_block(self, count: int) -> list[Part] | None:
        parts = self._stock.claim_block(count)
        self._request()
        if not parts:
            parts = self._stock.claim_block(count)
        self._take = self._stock.take
        return parts or None

    def _claim_or_wait(self, claim: Callable[[], T | None], timeout_s: float | None) -> T:
        """Claims, and waits for stock if there is none. `claim` is called with the lock held, and returns None if there
        is no stock.
        """
        with self._locked():
            # The count is read before the claim, because the claim may ask for more, and that can fail before this call
            # begins to wait.
            failures = self._refiller.failures
            found = claim()
        if found is not None:
            return found
        deadline_s = self._clock.monotonic_s() + call_timeout_s(timeout_s, self._timeout_s)
        return self._waiters.wait(self._refiller, claim, failures, deadline_s)

    def _request(self) -> None:
        """Asks for more if that is due."""
        refiller = self._refiller
        self._tell_expired(self._stock.take_expired())
        asked = refiller.next_request(self._clock.monotonic_s())
        if not asked:
            return
        flight = refiller.flight
        if refiller.begins_top_ups(self._clock.monotonic_s()):
            self._schedule_top_up(refiller)
        try:
            self._clock.spawn(lambda: self._reserve(refiller, flight, asked))
        except RuntimeError as error:
            # No thread could be started: there are too many, or the interpreter is about to end.
            self._settle(refiller, flight, asked, Moment(self._clock), as_snowlane_error(error))

    def _reserve(self, refiller: Refiller, flight: int, asked: int) -> None:
        sent = Moment(self._clock)
        # The source should observe the time limit itself; this is for one that never answers.
        guard = self._clock.after(
            self._timeout_s * 1.25, lambda: self._settle(refiller, flight, asked, sent, _unanswered())
        )
        outcome: Sequence[IdRun] | SnowlaneError
        try:
            outcome = self._source.reserve(asked, self._timeout_s)
        except BaseException as error:
            # This thread runs nothing else. Whatever a source raises, the waiting calls must learn of it.
            outcome = as_snowlane_error(error)
        guard.cancel()
        self._settle(refiller, flight, asked, sent, outcome)

    def _settle(
        self, refiller: Refiller, flight: int, asked: int, sent: Moment, outcome: Sequence[IdRun] | SnowlaneError
    ) -> None:
        received = 0
        failure: SnowlaneError | None = None
        with self._waiters.changed:
            # The answer to an abandoned request is dropped whole.
            if refiller.flight != flight:
                return
            elapsed_s = sent.running_s()
            try:
                if isinstance(outcome, SnowlaneError):
                    refiller.fail(outcome)
                    raise outcome
                answers = refiller.accept(outcome, asked, elapsed_s, sent)
                received = sum(answer.count for answer in answers)
                left_s = refiller.options.age_limit_s - sent.elapsed_s()
                for answer in answers:
                    answer.timer = self._clock.after(left_s, partial(self._expire, refiller, answer))
            except SnowlaneError as error:
                failure = error
                self._clock.after(refiller.back_off_s(), lambda: self._end_back_off(refiller))
            self._waiters.wake()
            self._request()
            now_s = self._clock.monotonic_s()
            state = refiller.state_after(failure, now_s - elapsed_s, now_s)
            reason = failure.reason if failure else None
            event = RefillEvent(asked, received, elapsed_s, refiller.rate_at_request, reason)
        tell(lambda: self._observer.on_refill(event))
        if state is not None:
            self._states.tell(state)

    def _schedule_top_up(self, refiller: Refiller) -> None:
        self._clock.after(TOP_UP_S, lambda: self._top_up(refiller))

    def _top_up(self, refiller: Refiller) -> None:
        with self._waiters.changed:
            if refiller.tops_up(self._clock.monotonic_s(), has_waiters=self._waiters.count > 0):
                self._schedule_top_up(refiller)
                self._request()

    def _end_back_off(self, refiller: Refiller) -> None:
        with self._waiters.changed:
            refiller.end_back_off(has_waiters=self._waiters.count > 0)
            self._request()

    def _expire(self, refiller: Refiller, answer: Answer) -> None:
        with self._waiters.changed:
            unused = refiller.expire(answer, self._clock.monotonic_s(), has_waiters=self._waiters.count > 0)
            self._take = self._stock.take
            self._request()
        self._tell_expired(unused)

    def _tell_expired(self, unused: int) -> None:
        if unused:
            tell(lambda: self._observer.on_expire(ExpireEvent(unused)))


def _unanswered() -> SnowlaneError:
    return SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, "A reservation was not answered in time.")
