"""What a client reports to servers, its observer and the log; and how a service waits until it is ready."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import grpc
import grpc.aio
import pytest
from call_errors import error_of
from scripted_server import ScriptedServer, fault
from swallowing_link import SwallowingLink

from snowlane import (
    AsyncIdClient,
    ClientObserver,
    ErrorReason,
    IdClient,
    IdRun,
    PrefetchBuffer,
    SnowlaneError,
    State,
    StateEvent,
    StatusCode,
)
from snowlane._states import Spell, States
from snowlane.testing import AsyncFakeIdClient, FakeClock, FakeIdClient, fail

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Recorder(ClientObserver):
    """Notes states in their order."""

    def __init__(self) -> None:
        self.events: list[StateEvent] = []

    def on_state(self, event: StateEvent) -> None:
        self.events.append(event)

    @property
    def states(self) -> list[State]:
        return [event.state for event in self.events]


class CallDetails(NamedTuple):
    method: str
    timeout: float | None
    metadata: Any
    credentials: Any
    wait_for_ready: bool | None
    compression: Any


def traced(details: Any) -> CallDetails:
    """A call with the caller's trace, as an instrumentation passes it on."""
    metadata = [*(details.metadata or ()), ("traceparent", TRACEPARENT)]
    return CallDetails(details.method, details.timeout, metadata, details.credentials, details.wait_for_ready, None)


class Tracing(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):  # type: ignore[misc]
    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return continuation(traced(details), request)

    def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return continuation(traced(details), request)


class AsyncTracing(grpc.aio.UnaryUnaryClientInterceptor):  # type: ignore[misc]
    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        metadata = grpc.aio.Metadata(*(details.metadata or ()), ("traceparent", TRACEPARENT))
        return await continuation(details._replace(metadata=metadata), request)


def test_interceptors_of_the_user_pass_on_a_trace_and_the_user_agent_names_the_client(server: ScriptedServer) -> None:
    options: dict[str, Any] = {"channel_options": [("grpc.primary_user_agent", "other"), ("grpc.enable_retries", 1)]}
    with IdClient(server.url, interceptors=[Tracing()], **options) as client:
        client.next_id()
        list(client.stream(5))
        client.prefetch().next_id()
    seen = [dict(metadata) for metadata in server.metadata]
    assert [each["traceparent"] for each in seen] == [TRACEPARENT] * 3
    assert all(each["user-agent"].startswith("snowlane-python/0.") for each in seen)

    async def run() -> None:
        async with AsyncIdClient(server.url, interceptors=[AsyncTracing()], **options) as client:
            await client.next_id()
            await client.prefetch().next_id()

    asyncio.run(run())
    assert [dict(metadata).get("traceparent") for metadata in server.metadata[3:]] == [TRACEPARENT] * 2


def test_that_refills_fail_is_told_once_after_three_in_a_row_or_a_second() -> None:
    spell = Spell()
    assert [spell.failed(0, number / 10, number) for number in (1, 2, 3, 4)] == [False, False, True, False]
    assert spell.worked(7) == 7
    assert spell.worked(8) is None
    assert [spell.failed(10, now_s, number) for number, now_s in ((1, 10.5), (2, 11.0))] == [False, True]
    spell = Spell()
    assert not spell.failed(0, 0.1, 1)
    assert spell.worked(1) is None


def test_the_log_gets_a_line_of_one_kind_a_minute_and_the_observer_every_event(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, recorder = FakeClock(), Recorder()
    states = States(clock.monotonic_s, recorder)
    caplog.set_level(logging.INFO, logger="snowlane")
    steps = ((0, State.FAILING, 1), (0, State.WORKING, 2), (59, State.FAILING, 2), (1, State.FAILING, 3))
    for after_s, state, lines in steps:
        clock.advance(after_s)
        states.tell(StateEvent(state))
        assert len(caplog.records) == lines
    assert len(recorder.events) == len(steps)


def test_when_refills_begin_to_fail_and_when_they_work_again_is_one_line_each(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="snowlane")
    recorder = Recorder()
    faults = [fail(ErrorReason.STORE_UNAVAILABLE) for _ in range(5)]
    source = FakeIdClient([*faults, IdRun(1, 100, 1)])
    clock = source.clock
    buffer = PrefetchBuffer(source, clock=clock, observer=recorder, timeout_s=3600)
    assert buffer.next_id() == 1
    assert recorder.states == [State.FAILING, State.WORKING]
    assert recorder.events[0].reason is ErrorReason.STORE_UNAVAILABLE
    assert recorder.events[1].duration_s > 0
    assert [(record.name, record.levelno) for record in caplog.records] == [
        ("snowlane", logging.WARNING),
        ("snowlane", logging.INFO),
    ]
    assert "STORE_UNAVAILABLE" in caplog.messages[0]
    buffer.close()


@pytest.fixture(name="pair")
def _pair() -> Iterator[list[ScriptedServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(ScriptedServer(first_id)) for first_id in (1, 1_000_000)]


def test_a_client_tells_that_it_moved_that_a_connection_was_replaced_and_that_deployments_mix(
    pair: list[ScriptedServer],
) -> None:
    recorder = Recorder()
    with IdClient([server.url for server in pair], observer=recorder) as client:
        used = pair[0] if client.next_id() < 1_000_000 else pair[1]
        (other,) = (server for server in pair if server is not used)
        used.script.append(fault(grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN"))
        client.next_id()
    assert recorder.events == [StateEvent(State.MOVED, ErrorReason.SHUTTING_DOWN, other.url)]
    recorder.events.clear()
    with SwallowingLink(pair[0].url) as link, IdClient(link.url, observer=recorder, attempt_timeout_s=1) as client:
        client.next_id()
        link.swallow()
        client.next_id()
        assert recorder.events == [StateEvent(State.REPLACED, None, link.url)]
    recorder.events.clear()
    pair[0].deployment, pair[1].deployment = 1, 2
    with IdClient([server.url for server in pair], observer=recorder) as client:
        error_of(client.next_id)
    assert recorder.events == [StateEvent(State.MISMATCH, ErrorReason.DEPLOYMENT_MISMATCH, pair[1].url)]


def test_a_buffer_is_ready_when_it_has_stock_and_no_id_is_taken(server: ScriptedServer) -> None:
    with IdClient(server.url) as client:
        client.ready()
        assert server.calls == ["GetInfo"]
        buffer = client.prefetch()
        buffer.ready()
        buffer.ready()
        stats = buffer.stats()
        assert (stats.handed_out, stats.stock, server.calls.count("ReserveIds")) == (0, stats.reserved, 1)
        assert buffer.next_id_now() == 1
        buffer.close()
        assert error_of(buffer.ready).reason is ErrorReason.CLIENT_CLOSED
    with IdClient("http://127.0.0.1:1") as client:
        assert error_of(client.ready).reason is ErrorReason.UNREACHABLE
        assert error_of(client.prefetch().ready).reason is ErrorReason.UNREACHABLE


def test_a_buffer_on_an_event_loop_is_ready_in_the_same_way(server: ScriptedServer) -> None:
    async def run() -> None:
        async with AsyncIdClient(server.url) as client:
            await client.ready()
            buffer = client.prefetch()
            await buffer.ready()
            assert (buffer.stats().handed_out, buffer.stats().stock) == (0, 8)
            assert buffer.next_id_now() == 1
        source = AsyncFakeIdClient([fail(ErrorReason.METHOD_DENIED, code=StatusCode.PERMISSION_DENIED)])
        with pytest.raises(SnowlaneError) as caught:
            await source.prefetch().ready()
        assert caught.value.reason is ErrorReason.METHOD_DENIED

    asyncio.run(asyncio.wait_for(run(), 60))
