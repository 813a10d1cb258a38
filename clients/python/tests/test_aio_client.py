"""AsyncIdClient: what is different from the client for threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import aclosing
from typing import TypeVar

import grpc
import pytest
from scripted_server import ScriptedServer, fault

from snowlane import (
    LAYOUTS,
    AsyncIdClient,
    AttemptEvent,
    ClientObserver,
    ErrorReason,
    SnowlaneError,
)
from snowlane._gen.v1 import id_service_pb2 as pb

T = TypeVar("T")
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def run(work: Coroutine[object, object, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 240))


async def error_of(call: Awaitable[object]) -> SnowlaneError:
    with pytest.raises(SnowlaneError) as caught:
        await call
    return caught.value


def test_single_ids_many_ids_streams_and_arrays(server: ScriptedServer) -> None:
    async def main() -> None:
        async with AsyncIdClient(server.url) as client:
            assert [await client.next_id() for _ in range(3)] == [1, 2, 3]
            assert await client.next_ids(50_000) == list(range(4, 50_004))
            assert [id async for chunk in client.stream(10_000) for id in chunk] == list(range(50_004, 60_004))
            assert (await client.ids_array(25_000)).tolist() == list(range(60_004, 85_004))
            assert sum(run.count for run in await client.reserve(1000)) == 1000
            assert await client.layout() == LAYOUTS["twitter"]
            text = await client.format(1541815603606036480, "uuid")
            assert (await client.parse(text)).id == 1541815603606036480
            assert (await client.id_range(1_700_000_000_000_000_000, 1_700_000_001_000_000_000)).first_id > 0
            assert (await error_of(client.next_ids(0))).reason is ErrorReason.COUNT_OUT_OF_RANGE

    run(main())


def test_a_thousand_tasks_get_no_id_twice(server: ScriptedServer) -> None:
    async def main() -> None:
        async with AsyncIdClient(server.url) as client:
            buffer = client.prefetch(timeout_s=120)

            async def take() -> list[int]:
                return [await buffer.next_id() for _ in range(100)]

            ids = [id for part in await asyncio.gather(*(take() for _ in range(1000))) for id in part]
            assert len(set(ids)) == len(ids) == 100_000

    run(main())


def test_attempts_failover_and_typed_errors(server: ScriptedServer) -> None:
    async def main() -> None:
        server.script.extend(fault(UNAVAILABLE, "STORE_UNAVAILABLE") for _ in range(3))
        async with AsyncIdClient(server.url) as client:
            assert await client.next_id() == 1
            server.script.append(fault(grpc.StatusCode.PERMISSION_DENIED, "METHOD_DENIED", metadata={"a": "b"}))
            error = await error_of(client.next_id())
            assert (error.reason, error.metadata) == (ErrorReason.METHOD_DENIED, {"a": "b"})
        with ScriptedServer() as gone:
            url = gone.url
        async with AsyncIdClient([url, server.url]) as client:
            assert len({await client.next_id() for _ in range(20)}) == 20
        async with AsyncIdClient(url) as client:
            assert (await error_of(client.next_id(timeout_s=10))).reason is ErrorReason.UNREACHABLE

    run(main())


def test_a_call_that_runs_out_says_so(server: ScriptedServer) -> None:
    held = threading.Event()
    server.script.extend(lambda request, context: held.wait(5) and None for _ in range(4))

    async def main() -> None:
        async with AsyncIdClient(server.url) as client:
            assert (await error_of(client.next_id(timeout_s=0.3))).reason is ErrorReason.DEADLINE_EXCEEDED
        held.set()

    run(main())


def test_cancelling_a_task_cancels_its_call(server: ScriptedServer) -> None:
    ended = threading.Event()

    def hang(request: pb.NextIdRequest, context: grpc.ServicerContext) -> pb.NextIdResponse:
        context.add_callback(ended.set)
        ended.wait(120)
        return pb.NextIdResponse(id=1)

    async def main() -> None:
        server.script.append(hang)
        async with AsyncIdClient(server.url) as client:
            task = asyncio.create_task(client.next_id())
            while not server.calls:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(ended.wait, 5)
            assert server.calls == ["NextId"]

    run(main())


def test_a_stream_that_breaks_is_taken_up_and_one_that_stalls_is_given_up(server: ScriptedServer) -> None:
    held = threading.Event()

    def cut(request: pb.BatchNextIdsRequest, context: grpc.ServicerContext) -> Iterator[pb.BatchNextIdsResponse]:
        yield next(server.chunks(request))
        fault(UNAVAILABLE, "CLOCK_ROLLED_BACK")(request, context)

    def stall(request: pb.BatchNextIdsRequest, context: grpc.ServicerContext) -> Iterator[pb.BatchNextIdsResponse]:
        yield next(server.chunks(request))
        held.wait(10)

    async def main() -> None:
        server.script.extend([cut, stall])
        async with AsyncIdClient(server.url, attempt_timeout_s=1, timeout_s=30) as client:
            ids = [id async for chunk in client.stream(500, chunk_size=50) for id in chunk]
            assert len(ids) == len(set(ids)) == 500
            assert len(server.calls) >= 3
            server.script.append(cut)
            got: list[int] = []
            with pytest.raises(SnowlaneError) as caught:
                async for chunk in client.stream(500, chunk_size=50, ordered=True):
                    got.extend(chunk)
            assert (caught.value.reason, len(got)) == (ErrorReason.CLOCK_ROLLED_BACK, 50)
        held.set()

    run(main())


def test_a_stream_whose_reader_stops_is_cancelled(server: ScriptedServer) -> None:
    ended = threading.Event()

    def endless(request: pb.BatchNextIdsRequest, context: grpc.ServicerContext) -> Iterator[pb.BatchNextIdsResponse]:
        context.add_callback(ended.set)
        yield from server.chunks(request)

    async def main() -> None:
        server.script.append(endless)
        async with AsyncIdClient(server.url) as client:
            async with aclosing(client.stream(10**9)) as chunks:
                async for _ in chunks:
                    break
            assert await asyncio.to_thread(ended.wait, 10)

    run(main())


def test_a_token_may_be_awaited(server: ScriptedServer) -> None:
    async def token() -> str:
        await asyncio.sleep(0)
        return "t"

    async def main() -> None:
        async with AsyncIdClient(server.url, token=token) as client:
            await client.next_id()
        assert server.tokens == ["Bearer t"]

    run(main())


def test_closing_ends_calls_waits_and_buffers(server: ScriptedServer) -> None:
    held = threading.Event()

    async def main() -> None:
        server.script.append(lambda request, context: held.wait(5) and None)
        heard: list[AttemptEvent] = []

        class Observer(ClientObserver):
            def on_attempt(self, event: AttemptEvent) -> None:
                heard.append(event)

        client = AsyncIdClient(server.url, observer=Observer())
        calling = asyncio.create_task(client.next_id())
        while not server.calls:
            await asyncio.sleep(0.01)
        server.info_script.append(fault(UNAVAILABLE, "STORE_UNAVAILABLE", retry_after_s=3))
        waiting = asyncio.create_task(client.info())
        while not heard:
            await asyncio.sleep(0.01)
        buffer = client.prefetch()
        await client.close()
        await client.close()
        calls = (waiting, client.next_id(), buffer.next_id())
        errors = [await error_of(call) for call in calls]
        assert [error.reason for error in errors] == [ErrorReason.CLIENT_CLOSED] * 3
        ended = await asyncio.gather(calling, return_exceptions=True)
        assert isinstance(ended[0], SnowlaneError)
        assert ended[0].reason is ErrorReason.CLIENT_CLOSED
        held.set()

    run(main())
