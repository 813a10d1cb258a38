"""The streams of IdClient, against a server that follows a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import aclosing

import grpc
import pytest
from scripted_server import ScriptedServer, fault
from swallowing_link import SwallowingLink

from snowlane import AsyncIdClient, ErrorReason, IdClient, SnowlaneError
from snowlane._gen.v1 import id_service_pb2 as pb
from snowlane.testing import FakeClock

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def test_a_stream_that_breaks_is_taken_up_by_another(server: ScriptedServer) -> None:
    def cut(request: pb.BatchNextIdsRequest, context: grpc.ServicerContext) -> Iterator[pb.BatchNextIdsResponse]:
        chunks = server.chunks(request)
        yield next(chunks)
        yield next(chunks)
        fault(UNAVAILABLE, "CLOCK_ROLLED_BACK")(request, context)

    server.script.extend([cut] * 6)
    with IdClient(server.url) as client:
        ids = [id for chunk in client.stream(1000, chunk_size=50) for id in chunk]
        assert len(ids) == len(set(ids)) == 1000
        assert server.calls == ["BatchNextIds"] * 7
        server.script.append(cut)
        got: list[int] = []
        with pytest.raises(SnowlaneError) as caught:
            for chunk in client.stream(1000, chunk_size=50, ordered=True):
                got.extend(chunk)
        assert caught.value.reason is ErrorReason.CLOCK_ROLLED_BACK
        assert len(got) == 100


def test_a_reader_may_take_longer_than_the_time_of_the_client(server: ScriptedServer) -> None:
    is_waiting = threading.Event()

    def slow(request: pb.BatchNextIdsRequest, context: grpc.ServicerContext) -> Iterator[pb.BatchNextIdsResponse]:
        yield pb.BatchNextIdsResponse(ids=[1])
        is_waiting.wait(60)
        yield pb.BatchNextIdsResponse(ids=[2])

    server.script.append(slow)
    clock = FakeClock()
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            clock.advance(0)
            is_waiting.set()

    ticking = threading.Thread(target=tick)
    ids: list[int] = []
    with IdClient(server.url, clock=clock) as client:
        for chunk in client.stream(2):
            ids.extend(chunk)
            clock.advance(600)
            if len(ids) == 1:
                ticking.start()
    done.set()
    ticking.join()
    assert ids == [1, 2]


@pytest.mark.parametrize(
    "chunks",
    [
        [[]],
        [[1, 2, 3, 4]],
        [[1, 2], [2]],
        [[3, 2]],
        [[1]],
        [[1, 2], [3], [4]],
        [[2**63]],
        [[1, 2**64 - 1]],
        [[0, 1, 2]],
        [[5, 5, 5]],
        [[1, 2**63, 3]],
    ],
)
def test_chunks_that_cannot_be_are_refused(server: ScriptedServer, chunks: list[list[int]]) -> None:
    server.script.append(lambda request, context: (pb.BatchNextIdsResponse(ids=ids) for ids in chunks))
    with IdClient(server.url) as client:
        with pytest.raises(SnowlaneError) as caught:
            for _ in client.stream(3):
                pass
        assert caught.value.reason is ErrorReason.INVALID_RESPONSE
    assert len(server.calls) == 1


def test_a_stream_whose_reader_stops_is_cancelled(server: ScriptedServer) -> None:
    ended = threading.Event()

    def endless(request: pb.BatchNextIdsRequest, context: grpc.ServicerContext) -> Iterator[pb.BatchNextIdsResponse]:
        context.add_callback(ended.set)
        yield from server.chunks(request)

    server.script.append(endless)
    with IdClient(server.url) as client:
        for _ in client.stream(10**9):
            break
        assert ended.wait(120)


def test_the_wait_for_each_chunk_is_bounded(server: ScriptedServer) -> None:
    held = threading.Event()

    def stall(request: pb.BatchNextIdsRequest, context: grpc.ServicerContext) -> Iterator[pb.BatchNextIdsResponse]:
        yield next(server.chunks(request))
        held.wait(10)

    server.script.append(stall)
    with IdClient(server.url, attempt_timeout_s=1, timeout_s=30) as client:
        assert sum(len(chunk) for chunk in client.stream(10_000)) == 10_000
        assert len(server.calls) >= 2
        server.script.append(stall)
        with pytest.raises(SnowlaneError) as caught:
            list(client.stream(10_000, timeout_s=0.2))
        assert caught.value.reason is ErrorReason.DEADLINE_EXCEEDED
    held.set()


def test_streams_share_no_connection_with_calls(server: ScriptedServer) -> None:
    with SwallowingLink(server.url) as link, IdClient(link.url) as client:
        client.next_id()
        paused = [client.stream(10_000) for _ in range(3)]
        for chunks in paused:
            next(chunks)
        client.next_id()
        assert link.accepted == 2
        assert [sum(len(chunk) for chunk in chunks) for chunks in paused] == [10_000 - 4096] * 3


def test_streams_on_an_event_loop_share_no_connection_with_calls(server: ScriptedServer) -> None:
    async def run() -> None:
        with SwallowingLink(server.url) as link:
            async with AsyncIdClient(link.url) as client:
                await client.next_id()
                async with aclosing(client.stream(10_000)) as chunks:
                    await chunks.__anext__()
                    await client.next_id()
                assert link.accepted == 2

    asyncio.run(asyncio.wait_for(run(), 60))
