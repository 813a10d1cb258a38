"""Clients whose connection is open but answers nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from scripted_server import ScriptedServer
from swallowing_link import SwallowingLink

from snowlane import AsyncIdClient, AttemptEvent, ClientObserver, ErrorReason, IdClient


@pytest.fixture(name="link")
def _link(server: ScriptedServer) -> Iterator[SwallowingLink]:
    with SwallowingLink(server.url) as link:
        yield link


def test_no_call_fails_and_no_stream_ends_when_a_connection_is_swallowed(link: SwallowingLink) -> None:
    with IdClient(link.url, attempt_timeout_s=1, timeout_s=30) as client:
        first = client.next_id()
        link.swallow()
        assert client.next_id() > first
        chunks = client.stream(20_000)
        taken = list(next(chunks))
        link.swallow()
        taken += [id for chunk in chunks for id in chunk]
        assert len(set(taken)) == 20_000
        link.swallow()
        assert sum(run.count for run in client.reserve(100)) == 100


def test_an_attempt_on_a_dark_connection_is_reported_as_one_that_ran_out(link: SwallowingLink) -> None:
    # (As RPC_FAILED, where the connection that was replaced could not be closed.)
    reasons: list[ErrorReason | None] = []

    class Observer(ClientObserver):
        def on_attempt(self, event: AttemptEvent) -> None:
            reasons.append(event.reason)

    with IdClient(link.url, attempt_timeout_s=1, timeout_s=30, observer=Observer()) as client:
        client.next_id()
        link.swallow()
        client.next_id()
    assert reasons == [None, ErrorReason.DEADLINE_EXCEEDED, None]


def test_no_call_of_asyncio_fails_either_and_a_limit_of_the_caller_counts(link: SwallowingLink) -> None:
    async def run() -> None:
        async with AsyncIdClient(link.url, attempt_timeout_s=1, timeout_s=30) as client:
            first = await client.next_id()
            link.swallow()
            assert await client.next_id() > first
            link.swallow()
            assert len([id async for chunk in client.stream(20_000) for id in chunk]) == 20_000
        async with AsyncIdClient(link.url, attempt_timeout_s=20, timeout_s=30) as client:
            await client.next_id()
            link.swallow()
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.next_id(), 3)
            assert await client.next_id() > first

    asyncio.run(run())
