"""The buffer of reserved IDs, for asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

from .client_options import TIMEOUT_DEFAULT_S
from .clock import Timer
from .errors import ErrorReason, SnowlaneError, as_snowlane_error, check_count
from .fork import forget_after_fork
from .observer import ClientObserver, Refill, Wait, tell
from .options import COUNT_MAX, PrefetchOptions, call_timeout_s
from .run import IdRun
from .stock import Answer, BufferStats, Part, Stock

if TYPE_CHECKING:
    from .arrays import IdArray

T = TypeVar("T")


class AsyncRunSource(Protocol):
    """Where a buffer gets its IDs from; as RunSource, awaited."""

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Reserves IDs that nobody else is ever given. See RunSource."""


class LoopTimers(Protocol):
    """What a buffer on an event loop needs of a clock."""

    def monotonic_s(self) -> float:
        """Elapsed seconds since an arbitrary start, never falling."""

    def after(self, delay_s: float, task: Callable[[], object]) -> Timer:
        """Does `task` on the loop once the delay has passed."""


class _SystemLoopTimers:
    def monotonic_s(self) -> float:
        return time.monotonic()

    def after(self, delay_s: float, task: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(delay_s, task)


class AsyncPrefetchBuffer:
    """As PrefetchBuffer, for the tasks of one event loop.

    Cancelling a task that waits takes no ID and cancels no reservation. A task that never awaits keeps the loop from
    refilling.
    """

    def __init__(
        self,
        source: AsyncRunSource,
        options: PrefetchOptions | None = None,
        *,
        clock: LoopTimers | None = None,
        observer: ClientObserver | None = None,
    ) -> None:
        self._source = source
        self._options = options or PrefetchOptions()
        self._clock = clock or _SystemLoopTimers()
        self._observer = observer or ClientObserver()
        self._timeout_s = self._options.timeout_s or TIMEOUT_DEFAULT_S
        self._begin(is_closed=False)
        forget_after_fork(self)

    def _begin(self, *, is_closed: bool) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiters: set[asyncio.Future[None]] = set()
        self._reserving: asyncio.Task[None] | None = None
        self._stock = Stock(self._options, self._clock.monotonic_s())
        self._stock.is_closed = is_closed
        self._take = self._stock.take
        self._pid = os.getpid()

    async def next_id(self, timeout_s: float | None = None) -> int:
        """Returns an ID that was never returned before. See PrefetchBuffer.next_id."""
        try:
            return self._take()
        except StopIteration:
            pass
        return await self._claim_or_wait(self._claim, timeout_s)

    def next_id_now(self) -> int:
        """Returns an ID from stock. Never waits; if there is none, one is asked for. Call it on the loop.

        An await costs more than the ID: hot loops take this, and await next_id on STOCK_EMPTY.

        Raises:
            SnowlaneError: STOCK_EMPTY, CLIENT_CLOSED.
        """
        try:
            return self._take()
        except StopIteration:
            pass
        self._check_loop()
        found = self._claim()
        if found is None:
            self._refuse_if_closed()
            raise SnowlaneError(ErrorReason.STOCK_EMPTY, "Nothing is in stock, and the call does not wait.")
        return found

    async def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """Returns `count` IDs that were never returned before. See PrefetchBuffer.next_ids."""
        return [id for part in await self._claim_parts(count, timeout_s) for id in part]

    async def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """The same as next_ids, as an array of uint64. Needs numpy."""
        from .arrays import array_of  # noqa: PLC0415

        return array_of(await self._claim_parts(count, timeout_s))

    def stats(self) -> BufferStats:
        """What the buffer has done so far; in a forked child, since the fork."""
        return self._stock.stats()

    async def close(self) -> None:
        """Drops the stock and ends all waiting calls with CLIENT_CLOSED. Closing twice is closing once."""
        unused = self._stock.close()
        self._take = self._stock.take
        if self._reserving is not None:
            self._reserving.cancel()
        self._wake_all()
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
        self._stock.close_in_child()
        self._begin(is_closed=self._stock.is_closed)

    def _check_loop(self) -> None:
        if self._pid != os.getpid():
            self._after_fork_in_child()
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise RuntimeError("An AsyncPrefetchBuffer belongs to the event loop that used it first.")

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
        started_s = self._clock.monotonic_s()
        reason: ErrorReason | None = None
        try:
            return await self._await(claim, started_s + call_timeout_s(timeout_s, self._timeout_s))
        except SnowlaneError as error:
            reason = error.reason
            raise
        except asyncio.CancelledError:
            reason = ErrorReason.CANCELLED
            raise
        finally:
            duration_s = self._clock.monotonic_s() - started_s
            tell(lambda: self._observer.on_wait(Wait(duration_s, reason)))

    async def _await(self, claim: Callable[[], T | None], deadline_s: float) -> T:
        """A waiting task owns nothing: a refill wakes it, and it claims like any other."""
        stock = self._stock
        failures = stock.refill_failures
        stock.waiting += 1
        stock.waits += 1
        try:
            while True:
                found = claim()
                if found is not None:
                    return found
                self._refuse_if_closed()
                failure = stock.last_failure
                if failure is not None and stock.refill_failures != failures and not failure.passes():
                    raise failure.rethrown()
                left_s = deadline_s - self._clock.monotonic_s()
                if left_s <= 0:
                    raise self._waited_too_long()
                await self._wait(left_s)
        finally:
            stock.waiting -= 1

    async def _wait(self, left_s: float) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        alarm = self._clock.after(left_s, lambda: _wake(waiter))
        try:
            await waiter
        finally:
            alarm.cancel()
            self._waiters.discard(waiter)

    def _wake_all(self) -> None:
        for waiter in self._waiters:
            _wake(waiter)

    def _waited_too_long(self) -> SnowlaneError:
        if self._stock.last_failure is not None:
            return self._stock.last_failure.rethrown()
        return SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, "No ID came before the deadline of the call.")

    def _refuse_if_closed(self) -> None:
        if self._stock.is_closed:
            raise SnowlaneError(ErrorReason.CLIENT_CLOSED, "The buffer is closed.")

    def _request(self) -> None:
        """Sends for more if that is due."""
        stock = self._stock
        asked = stock.next_request(self._clock.monotonic_s())
        if asked:
            self._reserving = _start(self._reserve(stock, stock.flight, asked))

    async def _reserve(self, stock: Stock, flight: int, asked: int) -> None:
        sent_s = self._clock.monotonic_s()
        task = asyncio.current_task()

        def give_up() -> None:
            error = SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, "A reservation was not answered in time.")
            self._settle(stock, flight, asked, sent_s, error)
            if task is not None:
                task.cancel()

        # The source keeps to the time itself; this is for one that never answers.
        guard = self._clock.after(self._timeout_s * 1.25, give_up)
        outcome: Sequence[IdRun] | SnowlaneError = SnowlaneError(ErrorReason.CANCELLED, "The event loop ends.")
        try:
            outcome = await self._source.reserve(asked, self._timeout_s)
        except Exception as error:
            outcome = as_snowlane_error(error)
        finally:
            guard.cancel()
            self._settle(stock, flight, asked, sent_s, outcome)

    def _settle(
        self, stock: Stock, flight: int, asked: int, sent_s: float, outcome: Sequence[IdRun] | SnowlaneError
    ) -> None:
        # The answer to a request that was given up is dropped whole.
        if stock.flight != flight:
            return
        received = 0
        reason = None
        elapsed_s = self._clock.monotonic_s() - sent_s
        try:
            if isinstance(outcome, SnowlaneError):
                stock.fail(outcome)
                raise outcome
            answer = stock.accept(outcome, asked, elapsed_s)
            received = answer.count
            answer.timer = self._clock.after(stock.options.max_age_s - elapsed_s, lambda: self._expire(stock, answer))
        except SnowlaneError as error:
            reason = error.reason
            self._clock.after(stock.back_off_s(), lambda: self._end_back_off(stock))
        self._wake_all()
        refill = Refill(asked, received, elapsed_s, stock.policy.ids_per_second, reason)
        tell(lambda: self._observer.on_refill(refill))

    def _end_back_off(self, stock: Stock) -> None:
        stock.end_back_off()
        self._request()

    def _expire(self, stock: Stock, answer: Answer) -> None:
        unused = stock.expire(answer, self._clock.monotonic_s())
        self._take = self._stock.take
        self._request()
        self._tell_expired(unused)

    def _tell_expired(self, unused: int) -> None:
        if unused:
            tell(lambda: self._observer.on_expire(unused))


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _start(work: Coroutine[object, object, None]) -> asyncio.Task[None]:
    """Starts background work in a context of its own: it belongs to the buffer, not to the request whose task met the
    mark.
    """
    return contextvars.Context().run(asyncio.ensure_future, work)
