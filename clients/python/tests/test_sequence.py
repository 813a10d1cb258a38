"""Sequences of IdClient and AsyncIdClient, against a server that follows a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from datetime import datetime, timezone
from typing import Any, TypeVar

import grpc
import pytest
from scripted_server import ScriptedServer, fault

from snowlane import (
    AsyncIdClient,
    AsyncValueSequence,
    ErrorReason,
    IdClient,
    ReservedValues,
    SequenceValue,
    SnowlaneError,
    ValueRun,
)
from snowlane._gen.v1 import sequence_service_pb2 as pb
from snowlane.testing import AsyncFakeIdClient, FakeIdClient, ValueStep, delay, fail

LAST = 2**63 - 1
T = TypeVar("T")
Step = Callable[[Any, grpc.ServicerContext], Any]


def answers(response: object) -> Step:
    """A step that returns a response, or the responses of a stream."""
    return lambda request, context: iter(response) if isinstance(response, list) else response


def run_aio(server: ScriptedServer, work: Callable[[AsyncValueSequence], Awaitable[T]]) -> T:
    async def run() -> T:
        async with AsyncIdClient(server.url) as client:
            return await work(client.sequence("orders"))

    return asyncio.run(run())


def reason_of(work: Callable[[], object]) -> SnowlaneError:
    with pytest.raises(SnowlaneError) as caught:
        work()
    return caught.value


CHUNKS = [
    pb.BatchNextValuesResponse(values=[2**53, 2**53 + 1], texts=["x", "y"], period_key="2026"),
    pb.BatchNextValuesResponse(values=[LAST], period_key="2027"),
]
VALUES = [SequenceValue(2**53, "x", "2026"), SequenceValue(2**53 + 1, "y", "2026"), SequenceValue(LAST, "", "2027")]
ONE = pb.NextValueResponse(value=LAST, text="a", period_key="2026")
RUNS = pb.ReserveValuesResponse(runs=[pb.ValueRun(first_value=LAST - 4, count=3, increment=2)], period_key="2026")
RESERVED = ReservedValues([ValueRun(LAST - 4, 3, 2)], "2026")
METHODS = ["NextValue", "NextValue", "BatchNextValues", "ReserveValues"]


def test_a_value_of_another_times_period_is_asked_for_by_that_time(server: ScriptedServer) -> None:
    times: list[datetime | None] = []

    def step(request: Any, context: grpc.ServicerContext) -> object:
        at = request.for_time.ToDatetime(timezone.utc) if request.HasField("for_time") else None
        times.append(at)
        return ONE

    server.script.extend([step] * 6)
    at = datetime(2026, 3, 31, 23, 59, 59, 5, timezone.utc)
    with IdClient(server.url) as client:
        orders = client.sequence("orders")
        assert orders.next_value(for_time=at).period_key == "2026"
        assert orders.next_text(for_time=at) == "a"
        orders.next_value()
        orders.next_value(for_time=int(at.timestamp()) * 10**9 + 5_000)
        with pytest.raises(ValueError, match="time zone"):
            orders.next_value(for_time=datetime(2026, 3, 31))

    async def asked(orders: Any) -> object:
        return await orders.next_value(for_time=at), await orders.next_text(for_time=at)

    run_aio(server, asked)
    assert times == [at, at, None, at, at, at]


def test_values_up_to_the_last_arrive_exactly(server: ScriptedServer) -> None:
    names: list[str] = []

    def named(response: object) -> Step:
        def step(request: Any, context: grpc.ServicerContext) -> object:
            names.append(request.name)
            return answers(response)(request, context)

        return step

    script = [named(ONE), named(ONE), named(CHUNKS), named(RUNS)]
    server.script.extend(script * 2)
    with IdClient(server.url) as client:
        orders = client.sequence("orders")
        assert orders.next_value() == SequenceValue(LAST, "a", "2026")
        assert orders.next_text() == "a"
        assert orders.next_values(3) == VALUES
        assert orders.reserve(7) == RESERVED
        assert list(RESERVED.runs[0].values()) == [LAST - 4, LAST - 2, LAST]

    async def take(orders: AsyncValueSequence) -> None:
        assert await orders.next_value() == SequenceValue(LAST, "a", "2026")
        assert await orders.next_text() == "a"
        assert await orders.next_values(3) == VALUES
        assert await orders.reserve(7) == RESERVED

    run_aio(server, take)
    assert server.calls == METHODS * 2
    assert names == ["orders"] * 8


def test_only_a_server_that_is_unavailable_is_asked_again(server: ScriptedServer) -> None:
    unavailable = fault(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
    absent = fault(grpc.StatusCode.NOT_FOUND, "SEQUENCE_NOT_FOUND", metadata={"name": "orders"})
    server.script.extend([unavailable, answers(ONE), absent] * 2)
    with IdClient(server.url) as client:
        assert client.sequence("orders").next_value().value == LAST
        error = reason_of(client.sequence("orders").next_value)
        assert (error.reason, error.metadata) == (ErrorReason.SEQUENCE_NOT_FOUND, {"name": "orders"})

    async def take(orders: AsyncValueSequence) -> ErrorReason:
        assert (await orders.next_value()).value == LAST
        with pytest.raises(SnowlaneError) as caught:
            await orders.next_value()
        return caught.value.reason

    assert run_aio(server, take) is ErrorReason.SEQUENCE_NOT_FOUND
    assert server.calls == ["NextValue"] * 6


def test_a_stream_that_breaks_is_taken_up_for_the_rest_unless_it_is_ordered(server: ScriptedServer) -> None:
    asked: list[int] = []

    def cut(request: Any, context: grpc.ServicerContext) -> Iterator[pb.BatchNextValuesResponse]:
        asked.append(request.count)
        yield pb.BatchNextValuesResponse(values=[len(asked)])
        fault(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")(request, context)

    server.script.extend([cut] * 7)
    with IdClient(server.url) as client:
        assert [value.value for value in client.sequence("orders").next_values(3)] == [1, 2, 3]
        stream = client.sequence("orders").stream(3, ordered=True)
        assert next(stream) == [SequenceValue(4)]
        assert reason_of(lambda: next(stream)).reason is ErrorReason.STORE_UNAVAILABLE
    values = run_aio(server, lambda orders: orders.next_values(3))
    assert [value.value for value in values] == [5, 6, 7]
    assert asked == [3, 2, 1, 3, 3, 2, 1]


def test_leaving_a_stream_cancels_it_and_a_call_keeps_to_its_deadline(server: ScriptedServer) -> None:
    ended = threading.Semaphore(0)

    def hang(request: Any, context: grpc.ServicerContext) -> Iterator[pb.BatchNextValuesResponse]:
        context.add_callback(ended.release)
        yield pb.BatchNextValuesResponse(values=[1])
        threading.Event().wait(1)

    def late(request: Any, context: grpc.ServicerContext) -> pb.NextValueResponse:
        gone = threading.Event()
        context.add_callback(gone.set)
        gone.wait()
        return ONE

    server.script.extend([hang, late] * 2)
    with IdClient(server.url) as client:
        stream = client.sequence("orders").stream(10)
        assert next(stream) == [SequenceValue(1)]
        stream.close()  # type: ignore[attr-defined]
        ended.acquire()
        error = reason_of(lambda: client.sequence("orders").next_value(0.05))
        assert error.reason is ErrorReason.DEADLINE_EXCEEDED

    async def take(orders: AsyncValueSequence) -> ErrorReason:
        async with aclosing(orders.stream(10)) as chunks:
            assert await anext(chunks) == [SequenceValue(1)]
        await asyncio.to_thread(ended.acquire)
        with pytest.raises(SnowlaneError) as caught:
            await orders.next_value(0.05)
        return caught.value.reason

    assert run_aio(server, take) is ErrorReason.DEADLINE_EXCEEDED


RUN = pb.ValueRun(first_value=5, count=2, increment=1)


@pytest.mark.parametrize(
    ("operation", "response"),
    [
        ("value", pb.NextValueResponse(value=0)),
        ("value", pb.NextValueResponse(value=-1)),
        ("reserve", pb.ReserveValuesResponse()),
        ("reserve", pb.ReserveValuesResponse(runs=[pb.ValueRun(first_value=5, count=6, increment=1)])),
        ("reserve", pb.ReserveValuesResponse(runs=[RUN, RUN])),
        ("reserve", pb.ReserveValuesResponse(runs=[pb.ValueRun(first_value=5, count=2)])),
        ("reserve", pb.ReserveValuesResponse(runs=[pb.ValueRun(first_value=-5, count=1, increment=1)])),
        ("reserve", pb.ReserveValuesResponse(runs=[pb.ValueRun(first_value=LAST, count=2, increment=1)])),
        ("values", [pb.BatchNextValuesResponse()]),
        ("values", [pb.BatchNextValuesResponse(values=[1])]),
        ("values", [pb.BatchNextValuesResponse(values=[1, 2, 3])]),
        ("values", [pb.BatchNextValuesResponse(values=[1, 0])]),
        ("values", [pb.BatchNextValuesResponse(values=[1, 2], texts=["1"])]),
    ],
)
def test_an_answer_that_cannot_be_is_refused_whole(server: ScriptedServer, operation: str, response: object) -> None:
    server.script.append(answers(response))
    with IdClient(server.url) as client:
        orders = client.sequence("orders")
        work: dict[str, Callable[[], object]] = {
            "value": orders.next_value,
            "reserve": lambda: orders.reserve(5),
            "values": lambda: orders.next_values(2),
        }
        assert reason_of(work[operation]).reason is ErrorReason.INVALID_RESPONSE


def test_a_sequence_without_a_template_has_no_text_and_a_bad_count_sends_nothing(server: ScriptedServer) -> None:
    server.script.append(answers(pb.NextValueResponse(value=4)))
    with IdClient(server.url) as client:
        orders = client.sequence("orders")
        error = reason_of(orders.next_text)
        assert error.reason is ErrorReason.INVALID_SEQUENCE
        assert error.metadata == {"name": "orders", "value": "4", "field": "text_template"}
        for work in (
            lambda: orders.next_values(0),
            lambda: orders.reserve(1_048_577),
            lambda: orders.stream(10**9 + 1),
            lambda: orders.stream(1, chunk_size=65_537),
        ):
            assert reason_of(work).reason is ErrorReason.COUNT_OUT_OF_RANGE
    assert server.calls == ["NextValue"]


def test_a_fake_follows_its_script_and_any_other_sequence_is_not_there() -> None:
    january, february = SequenceValue(9, "2026-01/9", "2026-01"), SequenceValue(1, "2026-02/1", "2026-02")
    orders_script: list[ValueStep] = [5, ValueRun(10, 4, 10), fail(ErrorReason.SEQUENCE_DISABLED), delay(50), 7]
    scripts: dict[str, list[ValueStep]] = {"orders": orders_script, "invoices": [january, february, february, 3]}
    ids = FakeIdClient([], sequences=scripts)
    orders, invoices = ids.sequence("orders"), ids.sequence("invoices")
    assert orders.next_value() == SequenceValue(5)
    assert [value.value for value in orders.next_values(2)] == [10, 20]
    assert [run.first_value for run in orders.reserve(9).runs] == [30, 40]
    assert reason_of(orders.next_value).reason is ErrorReason.SEQUENCE_DISABLED
    assert orders.next_value().value == 7
    assert reason_of(orders.next_value).reason is ErrorReason.SCRIPT_ENDED
    assert list(invoices.stream(2)) == [[january], [february]]
    assert invoices.next_text() == "2026-02/1"
    assert reason_of(invoices.next_text).reason is ErrorReason.INVALID_SEQUENCE
    assert reason_of(ids.sequence("none").next_value).reason is ErrorReason.SEQUENCE_NOT_FOUND
    ids.close()
    assert reason_of(orders.next_value).reason is ErrorReason.CLIENT_CLOSED

    async def take() -> None:
        async with AsyncFakeIdClient([], sequences=scripts) as aio:
            orders, invoices = aio.sequence("orders"), aio.sequence("invoices")
            assert [value.value for value in await orders.next_values(3)] == [5, 10, 20]
            assert len((await orders.reserve(9)).runs) == 2
            with pytest.raises(SnowlaneError):
                await orders.next_value()
            late = asyncio.ensure_future(orders.next_value())
            await asyncio.sleep(0)
            aio.clock.advance(50)
            assert (await late).value == 7
            assert [values async for values in invoices.stream(2)] == [[january], [february]]
            assert await invoices.next_text() == "2026-02/1"

    asyncio.run(take())


def test_values_of_another_database_of_sequences_are_refused_by_every_method(server: ScriptedServer) -> None:
    def script(database: int) -> list[Step]:
        run = pb.ValueRun(first_value=1, count=1, increment=1)
        return [
            answers(pb.NextValueResponse(value=7, database=database)),
            answers(pb.ReserveValuesResponse(runs=[run], database=database)),
            answers([pb.BatchNextValuesResponse(values=[7], database=database)]),
        ]

    # An older server reports no number.
    numbers = (0xAB, 0xCD, 0, 0xAB)
    errors: list[SnowlaneError] = []
    with IdClient(server.url, retry_max=0) as client:
        orders = client.sequence("orders")
        calls: list[Callable[[], object]] = [
            orders.next_value,
            lambda: orders.reserve(1),
            lambda: orders.next_values(1),
        ]
        for number in numbers:
            server.script.extend(script(number))
            for call in calls:
                if number == 0xCD:
                    errors.append(reason_of(call))
                else:
                    call()

    async def run() -> None:
        async with AsyncIdClient(server.url, retry_max=0) as client:
            orders = client.sequence("orders")
            calls: list[Callable[[], Awaitable[object]]] = [
                orders.next_value,
                lambda: orders.reserve(1),
                lambda: orders.next_values(1),
            ]
            for number in numbers:
                server.script.extend(script(number))
                for call in calls:
                    if number == 0xCD:
                        with pytest.raises(SnowlaneError) as caught:
                            await call()
                        errors.append(caught.value)
                    else:
                        await call()

    asyncio.run(run())
    assert len(errors) == 6
    for error in errors:
        assert error.reason is ErrorReason.DEPLOYMENT_MISMATCH
        assert error.metadata == {
            "database": "000000cd",
            "expected_database": "000000ab",
            "endpoint_first": server.url,
        }
