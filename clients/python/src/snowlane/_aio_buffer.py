"""The buffer of reserved IDs, for asyncio."""

from __future__ import annotations

import asyncio
import os
from asyncio import get_running_loop
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

from ._aio_tasks import other_loop, start_apart
from ._aio_waiters import AsyncWaiters, LoopTimers, SystemLoopTimers
from ._buffer_stats import BufferStats, stats_of
from ._client_options import TIMEOUT_DEFAULT_S
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

if TYPE_CHECKING:
    from .arrays import IdArray

T = TypeVar("T")


class AsyncRunSource(Protocol):
    """Where a buffer gets its IDs from: like RunSource, but awaited."""

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Reserves IDs that no other caller ever gets. See RunSource."""


class AsyncPrefetchBuffer:
    """Like PrefetchBuffer, for the tasks of one event loop.

    Cancelling a waiting task takes no ID and cancels no reservation. A task that never awaits keeps the loop from
    refilling.
    """

    def __init__(
        self,
        source: AsyncRunSource,
        *,
        max_age_s: float | None = None,
        count_min: int = COUNT_MIN_DEFAULT,
        count_max: int = COUNT_MAX_DEFAULT,
        timeout_s: float | None = None,
        outage_s: float | None = None,
        stock_max: int = STOCK_MAX_DEFAULT,
        clock: LoopTimers | None = None,
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
        self._clock = clock or SystemLoopTimers()
        self._observer = observer or ClientObserver()
        self._states = States(self._clock.monotonic_s, self._observer)
        self._timeout_s = self._options.timeout_s or TIMEOUT_DEFAULT_S
        self._begin(is_closed=False)
        forget_after_fork(self)

    def _begin(self, *, is_closed: bool) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reserving: asyncio.Task[None] | None = None
        self._stock = Stock(RefillPolicy(self._options), self._options.age_limit_s, self._clock.monotonic_s)
        self._refiller = Refiller(self._options, self._stock)
        self._refiller.is_closed = is_closed
        self._waiters = AsyncWaiters(self._clock, self._observer)
        self._take = self._stock.take
        self._pid = os.getpid()

    async def next_id(self, timeout_s: float | None = None) -> int:
        """Returns an ID that was never returned before. See PrefetchBuffer.next_id."""
        if get_running_loop() is not self._loop:
            self._check_loop()
        try:
            return self._take()
        except StopIteration:
            pass
        return await self._claim_or_wait(self._claim, timeout_s)

    def next_id_now(self) -> int:
        """Returns an ID from stock. Never waits; if there is none, a reservation is started. Call it on the loop.

        An await costs more than the ID: use this in hot loops, and await next_id on STOCK_EMPTY.

        Raises:
            SnowlaneError: STOCK_EMPTY, CLIENT_CLOSED.
        """
        try:
            if get_running_loop() is not self._loop:
                self._check_loop()
        except RuntimeError:
            raise other_loop("AsyncPrefetchBuffer") from None
        try:
            return self._take()
        except StopIteration:
            pass
        found = self._claim()
        if found is None:
            self._refiller.refuse_if_closed()
            raise SnowlaneError(ErrorReason.STOCK_EMPTY, "Nothing is in stock, and the call does not wait.")
        return found

    async def ready(self, timeout_s: float | None = None) -> None:
        """Waits until there are IDs in stock, and takes none. Call it before a service's first request.

        Args:
            timeout_s: As for next_id.

        Raises:
            SnowlaneError: See next_id.
        """
        await self._claim_or_wait(self._look, timeout_s)

    async def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """Returns `count` IDs that were never returned before. See PrefetchBuffer.next_ids."""
        return [id for part in await self._claim_parts(count, timeout_s) for id in part]

    async def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """The same as next_ids, as an array of uint64. Needs numpy."""
        from .arrays import array_of  # noqa: PLC0415

        return array_of(await self._claim_parts(count, timeout_s))

    def stats(self) -> BufferStats:
        """The counters of the buffer; in a forked child, since the fork."""
        return stats_of(self._refiller, self._waiters.waits)

    async def close(self) -> None:
        """Drops the stock and ends all waiting calls with CLIENT_CLOSED. Closing again does nothing."""
        unused = self._refiller.close()
        self._take = self._stock.take
        if self._reserving is not None:
            self._reserving.cancel()
        self._waiters.wake()
        self._tell_expired(unused)

    async def __aenter__(self) -> AsyncPrefetchBuffer:
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("An AsyncPrefetchBuffer cannot be copied or pickled: the copy would hand out the same IDs.")

    def _after_fork_in_child(self) -> None:
        self._take = iter(range(0)).__next__
        self._stock.drop_in_child()
        self._begin(is_closed=self._refiller.is_closed)

    def _check_loop(self) -> None:
        if self._pid != os.getpid():
            self._after_fork_in_child()
        loop = get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise other_loop("AsyncPrefetchBuffer")

    async def _claim_parts(self, count: int, timeout_s: float | None) -> list[Part]:
        check_count(count, COUNT_MAX)
        deadline_s = self._clock.monotonic_s() + call_timeout_s(timeout_s, self._timeout_s)
        parts: list[Part] = []
        while count > 0:
            left, left_s = count, deadline_s - self._clock.monotonic_s()
            claimed = await self._claim_or_wait(lambda: self._claim_block(left), left_s)  # noqa: B023
            parts.extend(claimed)
            count -= sum(map(len, claimed))
        return parts

    def _claim(self) -> int | None:
        found = self._stock.claim()
        self._take = self._stock.take
        self._request()
        return found

    def _look(self) -> bool | None:
        """Whether there is stock; None if not, and then a reservation is started."""
        if self._stock.count == 0:
            self._stock.is_refill_due = True
            self._request()
        return self._stock.count > 0 or None

    def _claim_block(self, count: int) -> list[Part] | None:
        parts = self._stock.claim_block(count)
        self._take = self._stock.take
        self._request()
        return parts or None

    async def _claim_or_wait(self, claim: Callable[[], T | None], timeout_s: float | None) -> T:
        self._check_loop()
        found = claim()
        if found is not None:
            return found
        deadline_s = self._clock.monotonic_s() + call_timeout_s(timeout_s, self._timeout_s)
        return await self._waiters.wait(self._refiller, claim, deadline_s)

    def _request(self) -> None:
        """Asks for more if that is due."""
        refiller = self._refiller
        self._tell_expired(self._stock.take_expired())
        asked = refiller.next_request(self._clock.monotonic_s())
        if asked:
            if refiller.begins_top_ups(self._clock.monotonic_s()):
                self._schedule_top_up(refiller)
            self._reserving = start_apart(self._reserve(refiller, refiller.flight, asked))

    async def _reserve(self, refiller: Refiller, flight: int, asked: int) -> None:
        sent = Moment(self._clock)
        task = asyncio.current_task()

        def give_up() -> None:
            error = SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, "A reservation was not answered in time.")
            self._settle(refiller, flight, asked, sent, error)
            if task is not None:
                task.cancel()

        # The source should observe the time limit itself; this is for one that never answers.
        guard = self._clock.after(self._timeout_s * 1.25, give_up)
        outcome: Sequence[IdRun] | SnowlaneError = SnowlaneError(ErrorReason.CANCELLED, "The event loop ends.")
        try:
            outcome = await self._source.reserve(asked, self._timeout_s)
        except Exception as error:
            outcome = as_snowlane_error(error)
        finally:
            guard.cancel()
            self._settle(refiller, flight, asked, sent, outcome)

    def _settle(
        self, refiller: Refiller, flight: int, asked: int, sent: Moment, outcome: Sequence[IdRun] | SnowlaneError
    ) -> None:
        # The answer to an abandoned request is dropped whole.
        if refiller.flight != flight:
            return
        received = 0
        failure: SnowlaneError | None = None
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
        if refiller.tops_up(self._clock.monotonic_s(), has_waiters=self._waiters.count > 0):
            self._schedule_top_up(refiller)
            self._request()

    def _end_back_off(self, refiller: Refiller) -> None:
        refiller.end_back_off(has_waiters=self._waiters.count > 0)
        self._request()

    def _expire(self, refiller: Refiller, answer: Answer) -> None:
        unused = refiller.expire(answer, self._clock.monotonic_s(), has_waiters=self._waiters.count > 0)
        self._take = self._stock.take
        self._request()
        self._tell_expired(unused)

    def _tell_expired(self, unused: int) -> None:
        if unused:
            tell(lambda: self._observer.on_expire(ExpireEvent(unused)))
