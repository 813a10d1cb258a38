"""PrefetchBuffer by itself: what it hands out, when it asks for more, and what it drops."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from call_errors import error_of
from stub_source import StubSource, answers, raises, until

from snowlane import (
    ClientObserver,
    ErrorReason,
    ExpireEvent,
    IdRun,
    PrefetchBuffer,
    RefillEvent,
    SnowlaneError,
    WaitEvent,
    _id_slice,
)
from snowlane._clock import SystemClock
from snowlane._errors import as_snowlane_error
from snowlane._options import COUNT_MAX
from snowlane._run import ID_MAX
from snowlane.testing import FakeClock

PATIENT_S = 120.0


class CountingClock(SystemClock):
    """The clock of this machine, which counts the background work that has ended."""

    ended = 0

    def spawn(self, task: Callable[[], object]) -> None:
        def run() -> None:
            task()
            self.ended += 1

        super().spawn(run)


@pytest.fixture(params=["with the interpreter's lock", "without it"])
def _interpreter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without it":
        monkeypatch.setattr(_id_slice, "_has_interpreter_lock", lambda: False)


@pytest.fixture
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_a_run_is_handed_out_in_order_and_more_is_asked_for_once_at_the_low_water_mark() -> None:
    source = StubSource()
    with PrefetchBuffer(source, count_min=32) as buffer:
        ids = [buffer.next_id() for _ in range(24)]
        assert source.requests == 1
        ids += [buffer.next_id() for _ in range(8)]
        until(lambda: buffer.stats().refills == 2)
        assert source.requests == 2
        assert ids == list(range(ids[0], ids[0] + 32 * 3, 3))


def test_a_block_goes_on_in_the_next_run() -> None:
    with PrefetchBuffer(StubSource(run_max=10)) as buffer:
        before = buffer.next_id()
        ids = buffer.next_ids(5000)
        assert len(set(ids)) == 5000
        assert [before, *ids] == sorted([before, *ids])
        for count in (-1, 0, COUNT_MAX + 1):
            with pytest.raises(SnowlaneError) as caught:
                buffer.next_ids(count)
            assert caught.value.reason is ErrorReason.COUNT_OUT_OF_RANGE


def test_an_array_holds_the_ids_exactly() -> None:
    source = StubSource()
    with PrefetchBuffer(source, count_min=32) as buffer:
        first = buffer.next_id()
        ids = buffer.ids_array(3000)
        assert str(ids.dtype) == "uint64"
        assert first < ids[0]
        assert len(set(ids.tolist())) == 3000
        assert buffer.next_id() not in set(ids.tolist())
    source.script.append(answers([IdRun(ID_MAX - 4, 3, 2)]))
    with PrefetchBuffer(source, count_min=32) as buffer:
        assert buffer.ids_array(3).tolist() == [ID_MAX - 4, ID_MAX - 2, ID_MAX]


@pytest.mark.usefixtures("_interpreter", "_quick_switches")
@pytest.mark.parametrize(("callers", "per_caller"), [(64, 5000), (1000, 50)])
def test_many_callers_with_answers_expired_all_the_time_and_callers_that_give_up_get_no_id_twice(
    callers: int, per_caller: int
) -> None:
    source = StubSource(turns=20, run_max=3000)
    buffer = PrefetchBuffer(source, timeout_s=PATIENT_S)
    taken: list[list[int]] = []
    given_up = [0]
    start = threading.Event()

    def take() -> None:
        start.wait()
        ids: list[int] = []
        while len(ids) < per_caller:
            try:
                if len(ids) % 50 == 0:
                    # IDs that it had before it ran out would count as handed out.
                    ids += buffer.next_ids(7, timeout_s=PATIENT_S)
                else:
                    ids.append(buffer.next_id(timeout_s=random.choice([0.0001, PATIENT_S])))
            except SnowlaneError as error:
                assert error.reason is ErrorReason.DEADLINE_EXCEEDED
                given_up[0] += 1
        taken.append(ids)

    threads = [threading.Thread(target=take) for _ in range(callers)]
    for thread in threads:
        thread.start()
    start.set()
    while any(thread.is_alive() for thread in threads):
        expire_now(buffer)
        time.sleep(0.002)
    # On a busy machine all that may be over before anybody gave up.
    while not given_up[0] or not buffer.stats().dropped:
        expire_now(buffer)
        try:
            taken.append([buffer.next_id(timeout_s=0.0001)])
        except SnowlaneError:
            given_up[0] += 1
    ids = [id for part in taken for id in part]
    stats = buffer.stats()
    buffer.close()
    assert len(taken) >= callers
    assert len(set(ids)) == len(ids)
    assert stats.handed_out == len(ids)
    assert stats.reserved == stats.handed_out + stats.dropped + stats.stock
    assert stats.dropped > 0, "no answer expired under the callers"
    assert given_up[0] > 0, "no caller gave up"


def expire_now(buffer: PrefetchBuffer) -> None:
    """Lets all that is in stock grow too old at once."""
    for answer in list(buffer._stock._answers):
        buffer._expire(buffer._refiller, answer)


def test_an_id_older_than_max_age_is_not_handed_out() -> None:
    with PrefetchBuffer(StubSource(), count_min=32, max_age_s=0.05, timeout_s=30) as buffer:
        first = buffer.next_id()
        until(lambda: buffer.stats().dropped >= 31)
        assert buffer.next_id() > first + 31


def test_stock_is_renewed_only_for_callers_that_were_there_while_it_lasted() -> None:
    source, clock = StubSource(), FakeClock()
    with PrefetchBuffer(source, count_min=32, max_age_s=0.5, clock=clock) as buffer:
        buffer.next_id()
        clock.advance(0.6)
        assert (buffer.stats().refills, buffer.stats().stock) == (2, 32)
        clock.advance(60)
        assert (source.requests, buffer.stats().stock) == (2, 0)


def test_an_answer_that_comes_after_max_age_is_dropped_whole() -> None:
    source, clock = StubSource(), FakeClock()
    late = source.grant(32)

    def answer_late(count: int) -> list[IdRun]:
        clock.advance(0.12)
        return late

    source.script.append(answer_late)
    with PrefetchBuffer(source, count_min=32, max_age_s=0.1, timeout_s=30, clock=clock) as buffer:
        assert buffer.next_id() > late[0].ids()[-1]
        assert buffer.stats().refill_failures >= 1


def test_an_answer_to_a_request_that_was_given_up_is_dropped_whole() -> None:
    source = StubSource()
    late = source.grant(32)
    answered = threading.Event()

    def answer_when_told(count: int) -> list[IdRun]:
        answered.wait()
        return late

    source.script.append(answer_when_told)
    clock = CountingClock()
    with PrefetchBuffer(source, count_min=32, timeout_s=0.04, clock=clock) as buffer:
        first = buffer.next_id(timeout_s=30)
        assert first > late[0].ids()[-1]
        answered.set()
        until(lambda: clock.ended == 2)
        assert buffer.next_id() == first + 3
        assert buffer.stats().refills == 1


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [IdRun(5, 0, 1)],
        [IdRun(5, -1, 1)],
        [IdRun(5, 1, 0)],
        [IdRun(5, 1, -1)],
        [IdRun(-5, 1, 1)],
        [IdRun(0, 1, 1)],
        [IdRun(ID_MAX, 2, 1)],
        [IdRun(1, 3, ID_MAX)],
        [IdRun(5, 2, 1), IdRun(6, 2, 1)],
        [IdRun(50, 2, 1), IdRun(5, 16, 3)],
        [IdRun(5, 33, 1)],
        [IdRun(5, 20, 1), IdRun(50, 20, 1)],
    ],
)
def test_a_bad_answer_is_refused_whole(answer: list[IdRun]) -> None:
    source = StubSource()
    source.script.append(answers(answer))
    refills: list[RefillEvent] = []

    class Observer(ClientObserver):
        def on_refill(self, event: RefillEvent) -> None:
            refills.append(event)
            raise RuntimeError("an observer's fault is its own")

    with PrefetchBuffer(source, observer=Observer()) as buffer:
        assert buffer.next_id() >= 1 << 40
    assert refills[0].reason is ErrorReason.INVALID_RESPONSE
    assert refills[0].received == 0


def test_an_answer_that_is_no_answer_counts_as_a_failure() -> None:
    source = StubSource()
    source.script.append(lambda count: None)  # type: ignore[arg-type, return-value]
    with PrefetchBuffer(source, count_min=32) as buffer:
        assert buffer.next_id() >= 1 << 40
        assert buffer.stats().refill_failures == 1


def test_a_dry_buffer_waits_until_the_deadline_and_says_why() -> None:
    source = StubSource()
    down = SnowlaneError(ErrorReason.UNREACHABLE, "Nobody answers.")
    source.script.extend(raises(down) for _ in range(100))
    with PrefetchBuffer(source, count_min=32) as buffer:
        assert error_of(buffer.next_id_now).reason is ErrorReason.STOCK_EMPTY
        until(lambda: buffer.stats().refill_failures > 0)
        with pytest.raises(SnowlaneError) as caught:
            buffer.next_id(timeout_s=0.1)
        assert caught.value.reason is ErrorReason.UNREACHABLE
        assert caught.value.__cause__ is down
        source.script.clear()
        assert buffer.next_id(timeout_s=30) > 0


def test_a_dry_buffer_without_a_failure_says_that_the_deadline_passed() -> None:
    source = StubSource()
    held = threading.Event()
    waits: list[WaitEvent] = []

    class Observer(ClientObserver):
        def on_wait(self, event: WaitEvent) -> None:
            waits.append(event)

    source.script.append(lambda count: source.grant(count) if held.wait() else [])
    with PrefetchBuffer(source, observer=Observer()) as buffer:
        with pytest.raises(SnowlaneError) as caught:
            buffer.next_id(timeout_s=0.05)
        held.set()
        assert caught.value.reason is ErrorReason.DEADLINE_EXCEEDED
        assert [wait.reason for wait in waits] == [ErrorReason.DEADLINE_EXCEEDED]


def test_a_call_that_does_not_wait_takes_from_stock_or_says_that_it_is_empty() -> None:
    source = StubSource()
    with PrefetchBuffer(source, count_min=32) as buffer:
        with pytest.raises(SnowlaneError) as caught:
            buffer.next_id_now()
        assert caught.value.reason is ErrorReason.STOCK_EMPTY
        until(lambda: buffer.stats().stock > 0)
        assert buffer.next_id_now() > 0


def test_stock_is_handed_out_while_reservations_fail() -> None:
    source = StubSource()
    with PrefetchBuffer(source, count_min=32) as buffer:
        buffer.next_id()
        source.script.extend(raises(SnowlaneError(ErrorReason.STORE_UNAVAILABLE, "down")) for _ in range(100))
        buffer.next_ids(24)
        until(lambda: buffer.stats().refill_failures > 0)
        assert len(buffer.next_ids(7, timeout_s=0)) == 7


def test_what_no_retry_can_cure_fails_waiting_calls_at_once() -> None:
    source = StubSource()
    source.script.append(raises(SnowlaneError(ErrorReason.METHOD_DENIED, "Not for you.")))
    with PrefetchBuffer(source, timeout_s=PATIENT_S) as buffer:
        with pytest.raises(SnowlaneError) as caught:
            buffer.next_id()
        assert caught.value.reason is ErrorReason.METHOD_DENIED


def test_a_retry_comes_not_before_the_time_that_the_server_names() -> None:
    source = StubSource()
    source.script.append(raises(SnowlaneError(ErrorReason.BURST_EXCEEDED, "Later.", retry_after_s=3)))
    with PrefetchBuffer(source, count_min=32) as buffer:
        with pytest.raises(SnowlaneError):
            buffer.next_id(timeout_s=0.2)
        until(lambda: source.requests == 1)
        assert buffer.next_id(timeout_s=30) > 0


def test_closing_ends_waiting_calls_and_all_later_ones() -> None:
    source = StubSource()
    held = threading.Event()
    source.script.append(lambda count: source.grant(count) if held.wait() else [])
    clock = CountingClock()
    buffer = PrefetchBuffer(source, timeout_s=PATIENT_S, clock=clock)
    errors: list[SnowlaneError] = []

    def wait() -> None:
        try:
            buffer.next_id()
        except SnowlaneError as error:
            errors.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    until(lambda: buffer.stats().waits == 1)
    buffer.close()
    buffer.close()
    waiter.join(120)
    held.set()
    until(lambda: clock.ended == 1)
    for call in (buffer.next_id, buffer.next_id_now, lambda: buffer.next_ids(3)):
        with pytest.raises(SnowlaneError) as caught:
            call()
        errors.append(caught.value)
    assert [error.reason for error in errors] == [ErrorReason.CLIENT_CLOSED] * 4
    assert buffer.stats().stock == 0


def test_closing_drops_the_stock() -> None:
    expired: list[int] = []

    class Observer(ClientObserver):
        def on_expire(self, event: ExpireEvent) -> None:
            expired.append(event.dropped)

    buffer = PrefetchBuffer(StubSource(), observer=Observer())
    buffer.next_id()
    buffer.close()
    stats = buffer.stats()
    assert (stats.handed_out, stats.dropped, stats.stock) == (1, 7, 0)
    assert expired == [7]


def test_one_request_at_a_time_whatever_the_number_of_waiting_callers() -> None:
    source = StubSource()
    held = threading.Event()
    source.script.append(lambda count: source.grant(20) if held.wait() else [])
    with PrefetchBuffer(source, timeout_s=PATIENT_S) as buffer:
        waiters = [threading.Thread(target=buffer.next_id) for _ in range(100)]
        for waiter in waiters:
            waiter.start()
        until(lambda: buffer.stats().waits == 100)
        assert source.requests == 1
        held.set()
        for waiter in waiters:
            waiter.join()
        assert buffer.stats().handed_out == 100
        assert source.requests <= 10


def test_a_buffer_and_its_slices_cannot_be_copied() -> None:
    with PrefetchBuffer(StubSource(), count_min=32) as buffer:
        buffer.next_id()
        for copying in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                copying(buffer)


@pytest.mark.usefixtures("_interpreter")
def test_closing_a_slice_many_times_never_opens_it_again() -> None:
    ids = _id_slice.open_slice(range(100, 130, 3))
    assert [ids.take(), ids.take()] == [100, 103]
    assert ids.drain(3) == [106, 109, 112]
    assert ids.close() == 5
    for _ in range(1000):
        assert ids.close() == 0
        assert ids.drain(5) == []
        assert ids.left() == 0
        with pytest.raises(StopIteration):
            ids.take()


def test_options_out_of_range_are_refused() -> None:
    options: dict[str, Any]
    for options in ({"max_age_s": 0.001}, {"max_age_s": 61}, {"count_min": 0}, {"count_max": 7}, {"timeout_s": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            PrefetchBuffer(StubSource(), **options)


def test_an_error_can_be_pickled_whole() -> None:
    error = SnowlaneError(
        ErrorReason.QUOTA_EXCEEDED, "Slowly.", metadata={"a": 1}, retry_after_s=2.5, endpoint="http://a:1"
    )
    again = pickle.loads(pickle.dumps(error))
    for name in ("reason", "message", "code", "metadata", "retry_after_s", "endpoint"):
        assert getattr(again, name) == getattr(error, name)
    assert as_snowlane_error(error) is error
