"""Clients and buffers of asyncio belong to one event loop, and say so on another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from scripted_server import ScriptedServer

from snowlane import AsyncIdClient, ErrorReason, IdRun, SnowlaneError, StatusCode
from snowlane.testing import AsyncFakeIdClient


def expect_other_loop(call: Callable[[], Awaitable[object]], name: str) -> None:
    async def run() -> None:
        await call()

    with pytest.raises(SnowlaneError, match=f"An {name} belongs to the event loop that used it first") as caught:
        asyncio.run(run())
    assert (caught.value.reason, caught.value.code) == (
        ErrorReason.RPC_FAILED,
        StatusCode.FAILED_PRECONDITION,
    )


def test_a_buffer_refuses_another_loop_also_while_it_has_stock() -> None:
    buffer = AsyncFakeIdClient([IdRun(1, 1000, 1)]).prefetch()

    async def now() -> int:
        return buffer.next_id_now()

    assert asyncio.run(buffer.next_id()) == 1
    assert buffer.stats().stock > 0
    for call in (buffer.next_id, now, lambda: buffer.next_ids(2), buffer.ready):
        expect_other_loop(call, "AsyncPrefetchBuffer")
    with pytest.raises(SnowlaneError, match="AsyncPrefetchBuffer"):
        buffer.next_id_now()


def test_a_client_refuses_another_loop_for_calls_and_streams_and_may_be_closed_there(server: ScriptedServer) -> None:
    client = AsyncIdClient(server.url)
    assert asyncio.run(client.next_id()) == 1

    async def stream() -> None:
        async for _ in client.stream(5):
            pass

    for call in (client.next_id, lambda: client.reserve(5), client.info, stream):
        expect_other_loop(call, "AsyncIdClient")
    asyncio.run(client.close())
    assert server.calls == ["NextId"]
