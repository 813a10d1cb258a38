"""IdClient against a server that follows a script."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import inspect
import math
import sys
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import grpc
import pytest
from call_errors import error_of
from scripted_server import ScriptedServer, fault
from stub_source import until

from snowlane import (
    LAYOUTS,
    AsyncIdClient,
    AsyncIdSource,
    AsyncPrefetchBuffer,
    ErrorReason,
    IdClient,
    IdRun,
    IdSource,
    PrefetchBuffer,
    SnowlaneError,
    StatusCode,
    TlsOptions,
)
from snowlane._client_options import ClientOptions
from snowlane._clock import SYSTEM_CLOCK, SystemClock
from snowlane._options import PrefetchOptions
from snowlane.testing import AsyncFakeIdClient, FakeIdClient

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def test_single_ids_many_ids_and_streams(server: ScriptedServer) -> None:
    with IdClient(server.url) as client:
        assert [client.next_id() for _ in range(3)] == [1, 2, 3]
        assert client.next_ids(50_000) == list(range(4, 50_004))
        assert server.calls.count("ReserveIds") == 3
        chunks = list(client.stream(10_000))
        assert [len(chunk) for chunk in chunks] == [4096, 4096, 1808]
        assert [id for chunk in chunks for id in chunk] == list(range(50_004, 60_004))
        assert [len(chunk) for chunk in client.stream(10, chunk_size=4)] == [4, 4, 2]
        assert client.ids_array(25_000).tolist() == list(range(60_014, 85_014))
        assert sum(run.count for run in client.reserve(1000)) == 1000


def test_a_count_out_of_range_is_refused_without_a_call(server: ScriptedServer) -> None:
    with IdClient(server.url) as client:
        for call, count in (
            (client.next_ids, 0),
            (client.next_ids, 2**20 + 1),
            (client.reserve, 0),
            (client.reserve, 2**20 + 1),
            (client.stream, 0),
            (client.stream, 10**9 + 1),
            (client.ids_array, -1),
        ):
            assert error_of(call, count).reason is ErrorReason.COUNT_OUT_OF_RANGE
    assert server.calls == []


def test_offline_work_asks_for_the_layout_once(server: ScriptedServer) -> None:
    with IdClient(server.url) as client:
        id = 1541815603606036480
        parsed = client.parse(id)
        assert (parsed.datacenter_id, parsed.worker_id, parsed.sequence) == (11, 26, 0)
        assert parsed.create_time == datetime(2022, 6, 28, 16, 7, 40, 105000, tzinfo=timezone.utc)
        for form in ("decimal", "hex", "base32", "base58", "base62", "serial", "uuid"):
            assert client.parse(client.format(id, form), form).id == id
        found = client.id_range(parsed.create_time, parsed.create_time + timedelta(milliseconds=1))
        assert found.first_id <= id <= found.last_id
        foreign = error_of(client.parse, "c232ab00-9414-11ec-b3c8-9f6bdeced846")
        assert (foreign.reason, foreign.metadata["reason"]) == (ErrorReason.MALFORMED_TEXT, "foreign")
        assert server.calls == ["GetInfo"]
    with IdClient(server.url, layout=LAYOUTS["discord"]) as client:
        assert client.layout() is LAYOUTS["discord"]
    assert server.calls == ["GetInfo"]


def test_a_token_travels_with_each_attempt(server: ScriptedServer) -> None:
    tokens = iter(f"t{i}" for i in range(10))
    server.script.append(fault(UNAVAILABLE))
    with IdClient(server.url, token=lambda: next(tokens)) as client:
        client.next_id()
        list(client.stream(10))
    assert server.tokens == ["Bearer t0", "Bearer t1", "Bearer t2"]


def test_options_of_a_buffer_are_those_of_its_class_with_the_time_of_the_client() -> None:
    with IdClient(timeout_s=7) as client:
        assert client.prefetch(outage_s=600)._options == PrefetchOptions(outage_s=600, timeout_s=7)
        given = client.prefetch(max_age_s=1, timeout_s=2)._options
        assert given == PrefetchOptions(max_age_s=1, timeout_s=2)
        with pytest.raises(ValueError, match="outage_s"):
            client.prefetch(outage_s=0)


def test_every_option_is_a_keyword_that_is_spelled_out_and_an_unknown_one_is_refused() -> None:
    def keywords(function: Callable[..., object]) -> dict[str, object]:
        parameters = inspect.signature(function).parameters.values()
        return {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}

    def options(kind: type[Any]) -> dict[str, object]:
        return {field.name: field.default for field in dataclasses.fields(kind)}

    for client_class in (IdClient, AsyncIdClient):
        assert keywords(client_class) == options(ClientOptions)
        with pytest.raises(TypeError, match="timout_s"):
            client_class(timout_s=1)  # type: ignore[call-arg]
    for buffer in (PrefetchBuffer, AsyncPrefetchBuffer):
        assert keywords(buffer) == {**options(PrefetchOptions), "clock": None, "observer": None}
    for source in (IdClient, AsyncIdClient, IdSource, AsyncIdSource, FakeIdClient, AsyncFakeIdClient):
        assert keywords(source.prefetch) == options(PrefetchOptions)
    with IdClient() as client, pytest.raises(TypeError, match="outge_s"):
        client.prefetch(outge_s=1)  # type: ignore[call-arg]


def test_an_option_of_a_wrong_type_is_refused_in_one_sentence() -> None:
    options: dict[str, Any]
    for options in ({"timeout_s": "5"}, {"attempt_timeout_s": None}, {"timeout_s": True}, {"retry_max": True}):
        (name,) = options
        with pytest.raises(TypeError, match=f"^{name} is .*: it must be an? (number|int).$"):
            IdClient(**options)
    for options in ({"max_age_s": "5"}, {"outage_s": "600"}, {"count_min": 1.5}, {"stock_max": None}):
        (name,) = options
        with pytest.raises(TypeError, match=f"^{name} is .*: it must be an? (number|int).$"):
            PrefetchOptions(**options)
    for options in (
        {"endpoints": None},
        {"interceptors": 5},
        {"channel_options": {"a": 1}},
        {"channel_options": ["a"]},
        {"observer": 5},
        {"layout": "twitter"},
        {"namespace": 5},
        {"clock": 5},
    ):
        with pytest.raises(TypeError, match=f"^{next(iter(options))} (is|has) .*\\.$"):
            IdClient(**options)
    with IdClient() as client:
        timeout_s: Any = "5"
        with pytest.raises(TypeError, match=r"^timeout_s is '5': it must be a number\.$"):
            client.next_id(timeout_s)


def test_wrong_options_are_refused_when_the_client_is_made() -> None:
    refused: list[tuple[Any, dict[str, Any]]] = [
        ([], {}),
        ("ftp://a", {}),
        ("localhost:7609", {}),
        ("http://u:p@a:1", {}),
        ("http://a:1/path", {}),
        ("http://a:99999", {}),
        ("http://a:0", {}),
        ("http://[::1", {}),
        ("http://a b", {}),
        ("http://a\n", {}),
        (b"http://a", {}),
        ([None], {}),
        ("http://example.com:7609", {"token": "secret"}),
    ]
    for endpoints, options in refused:
        with pytest.raises(ValueError, match=r"endpoint|token"):
            IdClient(endpoints, **options)
    for endpoint in ("http://u:secret@a", "http://:secret@a", "ftp://u:secret@a", "http://u:secret@a b"):
        with pytest.raises(ValueError, match="endpoint") as caught:
            IdClient(endpoint)
        assert "secret" not in str(caught.value)
    with pytest.raises(TypeError, match="token"):
        IdClient(token=5)  # type: ignore[arg-type]
    bad: list[dict[str, Any]] = [
        {"timeout_s": 0},
        {"attempt_timeout_s": -1},
        {"retry_max": 4},
        {"timeout_s": float("nan")},
    ]
    for settings in bad:
        with pytest.raises(ValueError, match=next(iter(settings))):
            IdClient(**settings)
    with pytest.raises(ValueError, match="key"):
        TlsOptions(certificate=b"x")
    IdClient("http://example.com:7609", token="secret", insecure_token=True).close()
    IdClient("http://[::1]:7609", token="secret").close()
    IdClient("https://example.com", token="secret").close()


@pytest.mark.parametrize("token", ["", "two\nlines", "\u00fc", None, 5])
def test_what_is_no_token_is_refused_before_it_is_sent(server: ScriptedServer, token: Any) -> None:
    with IdClient(server.url, token=lambda: token) as client:
        error = error_of(client.next_id)
        assert (error.reason, error.code) == (ErrorReason.RPC_FAILED, StatusCode.UNAUTHENTICATED)
        assert "token" in error.message
    assert server.tokens == []


def test_the_line_break_at_the_end_of_a_token_file_is_dropped(server: ScriptedServer) -> None:
    with IdClient(server.url, token="secret\n") as client:
        client.next_id()
    assert server.tokens == ["Bearer secret"]


def test_what_is_no_count_is_refused_at_once(server: ScriptedServer) -> None:
    with IdClient(server.url) as client, client.prefetch() as buffer:
        calls: list[Callable[[Any], object]] = [client.next_ids, client.reserve, client.stream, buffer.next_ids]
        for call in calls:
            for count in (1.5, "5", None):
                with pytest.raises(TypeError):
                    call(count)
    with pytest.raises(TypeError):
        PrefetchOptions(count_min=1.5)  # type: ignore[arg-type]


def test_a_chunk_size_out_of_range_is_refused_without_a_call(server: ScriptedServer) -> None:
    with IdClient(server.url) as client:
        for chunk_size in (-1, 65_537, 1 << 32):
            error = error_of(client.stream, 5, chunk_size=chunk_size)
            assert (error.reason, error.code) == (ErrorReason.COUNT_OUT_OF_RANGE, StatusCode.INVALID_ARGUMENT)
            assert error.metadata == {"chunk_size": str(chunk_size), "chunk_size_max": "65536"}
    assert server.calls == []


def test_a_time_of_any_length_can_be_given_but_it_must_be_a_number(server: ScriptedServer) -> None:
    with IdClient(server.url) as client, client.prefetch() as buffer:
        for timeout_s in (math.inf, 1e300):
            assert buffer.next_id(timeout_s) > 0
            assert len(buffer.next_ids(3, timeout_s)) == 3
            assert client.next_id(timeout_s) > 0
            assert len(client.next_ids(3, timeout_s)) == 3
            assert [len(chunk) for chunk in client.stream(3, timeout_s=timeout_s)] == [3]
        for timeout_s in (-math.inf, -1, 0):
            assert error_of(client.next_id, timeout_s).reason is ErrorReason.DEADLINE_EXCEEDED
            assert error_of(list, client.stream(3, timeout_s=timeout_s)).reason is ErrorReason.DEADLINE_EXCEEDED
        calls: list[Callable[[float], object]] = [
            client.next_id,
            lambda timeout_s: client.next_ids(3, timeout_s),
            lambda timeout_s: list(client.stream(3, timeout_s=timeout_s)),
            lambda timeout_s: buffer.next_ids(3, timeout_s),
            lambda timeout_s: PrefetchOptions(timeout_s=timeout_s),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="nan"):
                call(math.nan)
    with pytest.raises(ValueError, match="2\\^31"):
        PrefetchOptions(timeout_s=math.inf)


def test_a_timer_without_end_stops_no_other() -> None:
    # In the process's one thread for timers it was an error, and the end of that thread.
    endless = SYSTEM_CLOCK.after(math.inf, lambda: None)
    # The second one is waited for behind the first, when that thread has met the endless one.
    for _ in range(2):
        done = threading.Event()
        SYSTEM_CLOCK.after(0.01, done.set)
        assert done.wait(60)
    endless.cancel()


def test_a_retried_reservation_is_as_old_as_its_first_attempt(server: ScriptedServer) -> None:
    class HastyClock(SystemClock):
        ahead_s = 0.0

        def monotonic_s(self) -> float:
            return super().monotonic_s() + self.ahead_s

    clock = HastyClock()
    max_age_s = 60.0

    def fail_late(request: Any, context: grpc.ServicerContext) -> Any:
        # By the clock of the client, the first attempt takes as long as IDs may be used.
        clock.ahead_s += max_age_s
        return fault(UNAVAILABLE)(request, context)

    server.script.append(fail_late)
    with IdClient(server.url, clock=clock, timeout_s=3600, attempt_timeout_s=600) as client:
        buffer = client.prefetch(max_age_s=max_age_s, count_min=32, count_max=32)
        assert buffer.next_id() == 33
        assert (buffer.stats().refill_failures, buffer.stats().refills) == (1, 1)


def test_a_source_that_wants_to_leave_is_a_failed_reservation() -> None:
    class Leaving:
        def reserve(self, count: int, timeout_s: float | None = None) -> list[IdRun]:
            sys.exit(3)

    with PrefetchBuffer(Leaving(), timeout_s=1) as buffer:
        assert error_of(buffer.next_id).reason is ErrorReason.RPC_FAILED


def test_closing_ends_calls_and_buffers_and_refuses_new_ones(server: ScriptedServer) -> None:
    held = threading.Event()
    server.script.append(lambda request, context: held.wait(5) and None)
    client = IdClient(server.url)
    errors: list[SnowlaneError] = []
    calling = threading.Thread(target=lambda: errors.append(error_of(client.next_id)))
    calling.start()
    until(lambda: server.calls == ["NextId"])
    buffer = client.prefetch()
    assert buffer.next_id() == 1
    client.close()
    client.close()
    calling.join(120)
    held.set()
    for call in (client.next_id, buffer.next_id, client.prefetch, lambda: list(client.stream(5)), client.info):
        errors.append(error_of(call))
    assert [error.reason for error in errors] == [ErrorReason.CLIENT_CLOSED] * 6


def test_a_buffer_lives_through_a_restart_of_the_server(server: ScriptedServer) -> None:
    with IdClient(server.url) as client, client.prefetch(max_age_s=60, timeout_s=60) as buffer:
        ids = [buffer.next_id() for _ in range(1000)]
        for _ in range(3):
            server.stop()
            # IDs come from the stock, if there are any: no server could refill it now.
            if stock := buffer.stats().stock:
                ids += buffer.next_ids(min(stock, 50))
            threading.Timer(0.2, server.start).start()
            ids += buffer.next_ids(30_000)
        assert len(set(ids)) == len(ids)


def test_a_client_cannot_be_copied(server: ScriptedServer) -> None:
    with IdClient(server.url) as client, pytest.raises(TypeError):
        copy.copy(client)


@pytest.mark.parametrize("value", [1.5e18, math.nan, None, [1], True])
def test_what_is_no_id_and_no_time_is_refused_in_one_sentence_and_no_server_is_asked(
    server: ScriptedServer, value: Any
) -> None:
    with IdClient(server.url) as client:
        for call in (client.parse, lambda id: client.format(id, "hex")):
            with pytest.raises(TypeError, match=r"is not an ID, because .*: give an int, or read the ID as text"):
                call(value)
        with pytest.raises(TypeError, match="is not a time: give a datetime with a time zone"):
            client.id_range(value, 5)

    async def run() -> None:
        async with AsyncIdClient(server.url) as client:
            for call in (client.parse(value), client.format(value, "hex"), client.id_range(5, value)):
                with pytest.raises(TypeError, match=r"is not an? (ID|time)"):
                    await call

    asyncio.run(run())
    assert server.calls == []
