"""Refills that are sent a second time because the first request has no answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import grpc
import pytest
from scripted_server import ScriptedServer, fault
from swallowing_link import SwallowingLink

from snowlane import AsyncIdClient, AttemptEvent, ClientObserver, ErrorReason, IdClient, SnowlaneError
from snowlane._hedges import Hedges
from snowlane.testing import FakeClock

# First request and hedge both have time in plenty: a quarter of the attempt passes before the hedge.
OPTIONS: dict[str, Any] = {"attempt_timeout_s": 8, "timeout_s": 60}


@pytest.fixture(name="pair")
def _pair() -> Iterator[list[ScriptedServer]]:
    with ExitStack() as stack:
        servers = [ScriptedServer(first_id) for first_id in (1, 1_000_000)]
        for server in servers:
            server.deployment = 1
        yield [stack.enter_context(server) for server in servers]


@pytest.fixture(name="over")
def _over() -> Iterator[threading.Event]:
    """Set at the end of a test, so that the requests end that its servers hold back."""
    over = threading.Event()
    yield over
    over.set()


def hold(server: ScriptedServer, over: threading.Event, count: int = 100) -> None:
    """Lets the next calls of a server wait until the test ends."""
    server.script.extend([lambda request, context: over.wait(60) and fault(grpc.StatusCode.ABORTED)] * count)


def refills(server: ScriptedServer) -> int:
    return server.calls.count("ReserveIds")


def test_the_second_request_goes_out_after_four_round_trips_within_its_bounds() -> None:
    clock = FakeClock()
    hedges = Hedges(clock.monotonic_s, 2)
    assert (hedges.delay_s(must_open=False), hedges.delay_s(must_open=True)) == (0.5, 0.5)
    for rtt_s, delay_s in ((0.001, 0.1), (0.05, 0.2), (0.9, 1)):
        hedges = Hedges(clock.monotonic_s, 2)
        hedges.note_answer(rtt_s)
        assert hedges.delay_s(must_open=False) == pytest.approx(delay_s)
        assert hedges.delay_s(must_open=True) == pytest.approx(max(delay_s, 0.5))


def test_none_is_sent_within_five_seconds_after_a_quota_was_used_up() -> None:
    clock = FakeClock()
    hedges = Hedges(clock.monotonic_s, 2)
    assert not hedges.are_paused
    hedges.note_quota()
    clock.advance(4.9)
    assert hedges.are_paused
    clock.advance(0.2)
    assert not hedges.are_paused


def test_a_refill_without_an_answer_is_sent_to_another_server_and_two_in_a_row_move_the_client(
    pair: list[ScriptedServer], over: threading.Event
) -> None:
    with IdClient([server.url for server in pair], **OPTIONS) as client:
        client.next_id()
        slow, well = sorted(pair, key=lambda server: server.calls.count("NextId") == 0)
        hold(slow, over)
        for _ in range(3):
            with client.prefetch(max_age_s=60) as buffer:
                buffer.next_id()
        assert (refills(slow), refills(well)) == (2, 3)


def test_a_refill_without_an_answer_is_sent_over_a_second_connection_which_is_kept(server: ScriptedServer) -> None:
    with SwallowingLink(server.url) as link, IdClient(link.url, **OPTIONS) as client:
        client.next_id()
        link.swallow()
        with client.prefetch(max_age_s=60) as buffer:
            buffer.next_id()
        # The same connection: the one before answers nothing.
        client.next_id()
        assert link.accepted == 2


def test_the_same_holds_on_an_event_loop(
    server: ScriptedServer, pair: list[ScriptedServer], over: threading.Event
) -> None:
    async def run() -> None:
        async with AsyncIdClient([each.url for each in pair], **OPTIONS) as client:
            await client.next_id()
            slow, well = sorted(pair, key=lambda each: each.calls.count("NextId") == 0)
            hold(slow, over)
            for _ in range(3):
                await client.prefetch(max_age_s=60).next_id()
            assert (refills(slow), refills(well)) == (2, 3)
        with SwallowingLink(server.url) as link:
            async with AsyncIdClient(link.url, **OPTIONS) as client:
                await client.next_id()
                link.swallow()
                await client.prefetch(max_age_s=60).next_id()
                await client.next_id()
            assert link.accepted == 2

    asyncio.run(asyncio.wait_for(run(), 120))


@pytest.mark.parametrize("is_aio", [False, True])
def test_where_both_requests_fail_the_error_is_that_of_the_first(pair: list[ScriptedServer], is_aio: bool) -> None:
    seen = threading.Event()

    def first(request: Any, context: grpc.ServicerContext) -> Any:
        seen.wait(60)
        return fault(grpc.StatusCode.PERMISSION_DENIED, "METHOD_DENIED")(request, context)

    def second(request: Any, context: grpc.ServicerContext) -> Any:
        seen.set()
        return fault(grpc.StatusCode.PERMISSION_DENIED, "HOST_NOT_ALLOWED")(request, context)

    def script() -> None:
        begun, other = sorted(pair, key=lambda server: server.calls.count("NextId") == 0)
        begun.script.append(first)
        other.script.append(second)

    urls = [server.url for server in pair]

    async def run() -> None:
        async with AsyncIdClient(urls, **OPTIONS) as client:
            await client.next_id()
            script()
            await client.prefetch().next_id()

    def run_threads() -> None:
        with IdClient(urls, **OPTIONS) as client:
            client.next_id()
            script()
            with client.prefetch() as buffer:
                buffer.next_id()

    call: Callable[[], object] = (lambda: asyncio.run(run())) if is_aio else run_threads
    with pytest.raises(SnowlaneError) as caught:
        call()
    assert caught.value.reason is ErrorReason.METHOD_DENIED


@pytest.mark.parametrize("is_aio", [False, True])
def test_the_observer_learns_of_both_requests_of_a_refill_and_which_one_is_the_hedge(
    pair: list[ScriptedServer], over: threading.Event, is_aio: bool
) -> None:
    heard: list[AttemptEvent] = []

    class Observer(ClientObserver):
        def on_attempt(self, event: AttemptEvent) -> None:
            heard.append(event)

    urls = [server.url for server in pair]

    def hold_slow() -> ScriptedServer:
        slow, well = sorted(pair, key=lambda server: server.calls.count("NextId") == 0)
        hold(slow, over)
        heard.clear()
        return well

    async def run() -> ScriptedServer:
        async with AsyncIdClient(urls, observer=Observer(), **OPTIONS) as client:
            await client.next_id()
            well = hold_slow()
            await client.prefetch().next_id()
        return well

    def run_threads() -> ScriptedServer:
        with IdClient(urls, observer=Observer(), **OPTIONS) as client:
            client.next_id()
            well = hold_slow()
            with client.prefetch() as buffer:
                buffer.next_id()
        return well

    well = asyncio.run(run()) if is_aio else run_threads()
    events = {event.endpoint: (event.method, event.attempt, event.is_hedge, event.reason) for event in heard}
    assert len(heard) == 2
    assert events.pop(well.url) == ("ReserveIds", 1, True, None)
    assert list(events.values()) == [("ReserveIds", 1, False, ErrorReason.CANCELLED)]
