"""AsyncPrefetchBuffer: what is different from the buffer for threads."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import random
from collections.abc import Callable, Coroutine, Sequence
from typing import TypeVar

import pytest
from stub_source import StubSource, raises
from test_fork import ProcessSource, ids_of_child

from snowlane import AsyncPrefetchBuffer, ClientObserver, ErrorReason, IdRun, SnowlaneError, WaitEvent

T = TypeVar("T")
PATIENT_S = 120.0


def run(work: Coroutine[object, object, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 240))


async def until(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds."""
    while not condition():
        await asyncio.sleep(0)


class AsyncStubSource:
    """A StubSource whose answers are awaited, for some turns of the event loop."""

    def __init__(self, turns: int = 1, run_max: int = 1000) -> None:
        self.stub = StubSource(run_max=run_max)
        self.held: asyncio.Event | None = None
        self._turns = turns

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        self.stub.requests += 1
        if self.held is not None:
            await self.held.wait()
        for _ in range(self._turns):
            await asyncio.sleep(0)
        return self.stub.script.popleft()(count) if self.stub.script else self.stub.grant(count)


@pytest.mark.parametrize(("callers", "per_caller"), [(64, 5000), (1000, 100)])
def test_many_tasks_with_answers_expired_all_the_time_and_cancelled_tasks_get_no_id_twice(
    callers: int, per_caller: int
) -> None:
    async def main() -> None:
        buffer = AsyncPrefetchBuffer(AsyncStubSource(turns=20, run_max=3000), timeout_s=PATIENT_S)
        cancelled = 0
        taken: list[int] = []

        async def take() -> None:
            nonlocal cancelled
            mine = 0
            while mine < per_caller:
                try:
                    if mine % 50 == 0:
                        ids = await asyncio.wait_for(buffer.next_ids(7), random.choice([0.0001, 30]))
                    else:
                        ids = [await buffer.next_id()]
                except asyncio.TimeoutError:
                    cancelled += 1
                else:
                    taken.extend(ids)
                    mine += len(ids)

        tasks = [asyncio.create_task(take()) for _ in range(callers)]
        everything = asyncio.gather(*tasks)
        while not everything.done():
            for answer in list(buffer._stock._answers):
                buffer._expire(buffer._refiller, answer)
            await asyncio.sleep(0.002)
        await everything
        # On a busy machine all that may be over before anybody gave up.
        while not cancelled or not buffer.stats().dropped:
            for answer in list(buffer._stock._answers):
                buffer._expire(buffer._refiller, answer)
            await take()
        stats = buffer.stats()
        await buffer.close()
        assert len(set(taken)) == len(taken) >= callers * per_caller
        assert stats.handed_out >= len(taken)
        assert stats.reserved == stats.handed_out + stats.dropped + stats.stock
        assert stats.dropped > 0, "no answer expired under the tasks"
        assert cancelled > 0, "no task was cancelled"

    run(main())


def test_cancelling_a_waiting_task_takes_no_id_and_cancels_no_reservation() -> None:
    async def main() -> None:
        source = AsyncStubSource()
        source.held = asyncio.Event()
        waits: list[WaitEvent] = []

        class Observer(ClientObserver):
            def on_wait(self, event: WaitEvent) -> None:
                waits.append(event)

        async with AsyncPrefetchBuffer(source, observer=Observer()) as buffer:
            tasks = [asyncio.create_task(buffer.next_id()) for _ in range(10)]
            await until(lambda: buffer.stats().waits == 10)
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
            source.held.set()
            await buffer.next_id()
            assert source.stub.requests == 1
            assert buffer.stats().handed_out == 1
            assert [wait.reason for wait in waits] == [ErrorReason.CANCELLED] * 10 + [None]

    run(main())


def test_a_reservation_sees_nothing_of_the_request_whose_task_caused_it() -> None:
    async def main() -> None:
        user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")
        seen: list[str] = []

        class Source(AsyncStubSource):
            async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
                seen.append(user.get())
                return await super().reserve(count, timeout_s)

        user.set("alice")
        async with AsyncPrefetchBuffer(Source()) as buffer:
            await buffer.next_id()
        assert seen == ["nobody"]

    run(main())


def test_a_source_that_never_answers_is_given_up() -> None:
    async def main() -> None:
        source = AsyncStubSource()
        source.held = asyncio.Event()
        async with AsyncPrefetchBuffer(source, count_min=32, timeout_s=0.04) as buffer:
            with pytest.raises(SnowlaneError) as caught:
                await buffer.next_id()
            assert caught.value.reason is ErrorReason.DEADLINE_EXCEEDED
            await until(lambda: buffer.stats().refill_failures >= 1)
            source.held = None
            assert await buffer.next_id(timeout_s=30) > 0
            assert buffer.stats().refill_failures >= 1

    run(main())


def test_closing_ends_waiting_tasks_and_all_later_ones() -> None:
    async def main() -> None:
        source = AsyncStubSource()
        source.held = asyncio.Event()
        buffer = AsyncPrefetchBuffer(source, timeout_s=PATIENT_S)
        task = asyncio.create_task(buffer.next_id())
        await until(lambda: buffer.stats().waits == 1)
        await buffer.close()
        await buffer.close()
        for call in (task, buffer.next_id(), buffer.next_ids(3)):
            with pytest.raises(SnowlaneError) as caught:
                await call
            assert caught.value.reason is ErrorReason.CLIENT_CLOSED
        with pytest.raises(SnowlaneError) as caught:
            buffer.next_id_now()
        assert caught.value.reason is ErrorReason.CLIENT_CLOSED

    run(main())


def test_a_call_that_does_not_wait_takes_from_stock_or_says_that_it_is_empty() -> None:
    async def main() -> None:
        async with AsyncPrefetchBuffer(AsyncStubSource()) as buffer:
            with pytest.raises(SnowlaneError) as caught:
                buffer.next_id_now()
            assert caught.value.reason is ErrorReason.STOCK_EMPTY
            first = await buffer.next_id()
            assert buffer.next_id_now() > first
            assert len(set((await buffer.ids_array(2000)).tolist())) == 2000

    run(main())


def test_what_no_retry_can_cure_fails_waiting_tasks_at_once() -> None:
    async def main() -> None:
        source = AsyncStubSource()
        source.stub.script.append(raises(SnowlaneError(ErrorReason.METHOD_DENIED, "Not for you.")))
        async with AsyncPrefetchBuffer(source, timeout_s=PATIENT_S) as buffer:
            with pytest.raises(SnowlaneError) as caught:
                await buffer.next_id()
            assert caught.value.reason is ErrorReason.METHOD_DENIED

    run(main())


def test_another_event_loop_is_refused_and_copies_too() -> None:
    buffer = AsyncPrefetchBuffer(AsyncStubSource())

    async def take() -> int:
        return buffer.next_id_now()

    with pytest.raises(SnowlaneError):
        run(take())
    with pytest.raises(SnowlaneError, match="belongs to the event loop that used it first"):
        run(take())
    with pytest.raises(TypeError):
        copy.copy(buffer)


def test_a_forked_child_starts_afresh_on_a_loop_of_its_own() -> None:
    class Source:
        def __init__(self) -> None:
            self._source = ProcessSource()

        async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
            return self._source.reserve(count, timeout_s)

    buffer = AsyncPrefetchBuffer(Source())
    ids = run(buffer.next_ids(1000))
    ids += ids_of_child(lambda: run(buffer.next_ids(1000)))
    assert len(set(ids)) == 2000
