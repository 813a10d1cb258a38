"""What a client says that no server has ever answered."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
from scripted_server import ScriptedServer

from snowlane import AsyncIdClient, ErrorReason, IdClient, SnowlaneError

SHAPE = re.compile(r"^UNREACHABLE: The .*snowlane serve.* \(http:.*\)$")
ABSENT = [["http://127.0.0.1:1"], ["http://nosuch.invalid:7609"], ["http://127.0.0.1:1", "http://localhost:2"]]


def expect_mistake(call: Callable[[], object]) -> None:
    with pytest.raises(SnowlaneError) as caught:
        call()
    assert SHAPE.match(str(caught.value)), str(caught.value)
    assert caught.value.metadata["answered"] == "never"


@pytest.mark.parametrize("endpoints", ABSENT)
def test_where_no_server_ever_answered_calls_fail_before_their_deadline_and_say_what_to_start(
    endpoints: list[str],
) -> None:
    with IdClient(endpoints, timeout_s=3600) as client, client.prefetch() as buffer:
        for _ in range(3):
            expect_mistake(client.next_id)
            expect_mistake(buffer.next_id)


def test_the_same_holds_on_an_event_loop() -> None:
    async def run() -> None:
        async with AsyncIdClient(ABSENT[0], timeout_s=3600) as client:
            buffer = client.prefetch()
            for call in (client.next_id, buffer.next_id, buffer.next_id):
                with pytest.raises(SnowlaneError, match=SHAPE):
                    await call()

    asyncio.run(run())


def test_after_the_first_answer_a_call_waits_for_the_server_as_ever() -> None:
    server = ScriptedServer()
    with IdClient(server.url) as client:
        client.next_id()
        server.stop()
        with pytest.raises(SnowlaneError) as caught:
            client.next_id()
        assert "answered" not in caught.value.metadata


def test_a_count_that_is_too_large_names_stream() -> None:
    with IdClient("http://127.0.0.1:1") as client:
        with pytest.raises(SnowlaneError, match=r"stream\(\)") as caught:
            client.next_ids(1_048_577)
        assert caught.value.reason is ErrorReason.COUNT_OUT_OF_RANGE
        with pytest.raises(SnowlaneError) as caught:
            client.next_ids(0)
        assert "stream()" not in str(caught.value)
