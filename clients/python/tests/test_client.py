"""IdClient against a server that does what it is told."""

from __future__ import annotations

import copy
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from datetime import datetime, timedelta, timezone
from typing import Any

import grpc
import pytest
from scripted_server import ScriptedServer, fault
from stub_source import until

from snowlane import (
    LAYOUTS,
    AttemptEvent,
    ClientObserver,
    ClientOptions,
    ErrorReason,
    IdClient,
    IdRun,
    PrefetchBuffer,
    PrefetchOptions,
    SnowlaneError,
    TlsOptions,
)
from snowlane._clock import SYSTEM_CLOCK, SystemClock
from snowlane._errors import _CODE_OF_REASON
from snowlane._gen.v1 import error_reason_pb2
from snowlane._gen.v1 import id_service_pb2 as pb
from snowlane._rpc_error import read_status_details
from snowlane.testing import FakeClock

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
_REASONS = list(error_reason_pb2.ErrorReason.keys())


@pytest.fixture(name="server")
def _server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


class Attempts(ClientObserver):
    """Keeps what it hears of attempts."""

    def __init__(self) -> None:
        self.heard: list[AttemptEvent] = []

    def on_attempt(self, event: AttemptEvent) -> None:
        self.heard.append(event)
        raise RuntimeError("an observer's fault is its own")


def error_of(call: Any, *args: Any, **options: Any) -> SnowlaneError:
    with pytest.raises(SnowlaneError) as caught:
        call(*args, **options)
    return caught.value


def next_id_at_last(client: IdClient) -> int:
    """Four attempts may all meet a server that is not back yet: so does its caller call again."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return client.next_id()
        except SnowlaneError as error:
            if error.reason is not ErrorReason.UNREACHABLE or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


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
    with IdClient(server.url, ClientOptions(layout=LAYOUTS["discord"])) as client:
        assert client.layout() is LAYOUTS["discord"]
    assert server.calls == ["GetInfo"]


@pytest.mark.parametrize("reason", [name for name in _REASONS if not name.endswith("_UNSPECIFIED")])
def test_every_reason_becomes_the_typed_error(server: ScriptedServer, reason: str) -> None:
    name = reason.removeprefix("ERROR_REASON_")
    code = _CODE_OF_REASON[ErrorReason(name)]
    server.script.append(fault(code, name, retry_after_s=2.25, metadata={"key": "välue"}))
    with IdClient(server.url, ClientOptions(retry_max=0)) as client:
        error = error_of(client.next_id)
    assert (error.reason, error.code, error.metadata) == (ErrorReason(name), code, {"key": "välue"})
    assert (error.retry_after_s, error.endpoint) == (2.25, server.url)
    assert error.message == f"scripted {name}"


def test_what_has_no_reason_of_ours_is_told_by_its_code(server: ScriptedServer) -> None:
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    server.script.extend(
        [
            fault(code, "TEAPOT", metadata={"a": "b"}),
            fault(code, "QUOTA_EXCEEDED", domain="example.com"),
            fault(code),
            lambda request, context: context.abort(code, "plain"),
            lambda request, context: (
                context.set_trailing_metadata((("grpc-status-details-bin", b"\xff\xff\xff"),)),
                context.abort(code, "garbage"),
            ),
            fault(UNAVAILABLE, "UNREACHABLE"),
        ]
    )
    with IdClient(server.url, ClientOptions(retry_max=0)) as client:
        errors = [error_of(client.next_id) for _ in range(6)]
    assert [error.reason for error in errors] == [ErrorReason.RPC_FAILED] * 6
    assert errors[0].metadata == {"a": "b", "reason": "TEAPOT"}
    assert [error.code for error in errors[:5]] == [code] * 5


def test_a_server_that_does_not_know_the_method_is_told_by_its_code() -> None:
    bare = grpc.server(futures.ThreadPoolExecutor(1))
    port = bare.add_insecure_port("127.0.0.1:0")
    bare.start()
    with IdClient(f"http://127.0.0.1:{port}") as client:
        error = error_of(client.next_id)
    bare.stop(0)
    assert (error.reason, error.code) == (ErrorReason.RPC_FAILED, grpc.StatusCode.UNIMPLEMENTED)


def test_status_details_that_do_not_decode_say_nothing() -> None:
    for content in (b"\x1a", b"\x1a\x05abc", b"\x80" * 11, b"\x1b\x00", b"\x1a\x02\x08\x01", b"\x1a\x00", b"\x18\x01"):
        details = read_status_details(content)
        assert (details.reason, details.retry_after_s) == (None, None)


def test_unavailable_is_tried_four_times_and_no_more(server: ScriptedServer) -> None:
    attempts = Attempts()
    server.script.extend(fault(UNAVAILABLE, "STORE_UNAVAILABLE") for _ in range(3))
    with IdClient(server.url, ClientOptions(observer=attempts)) as client:
        assert client.next_id() == 1
        assert [attempt.attempt for attempt in attempts.heard] == [1, 2, 3, 4]
        reasons = [attempt.reason for attempt in attempts.heard]
        assert reasons == [ErrorReason.STORE_UNAVAILABLE] * 3 + [None]
        server.script.extend(fault(UNAVAILABLE, "STORE_UNAVAILABLE") for _ in range(4))
        assert error_of(client.next_id).reason is ErrorReason.STORE_UNAVAILABLE
    assert len(attempts.heard) == 8


@pytest.mark.parametrize(
    "code",
    [code for code in grpc.StatusCode if code.name not in ("OK", "UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED")],
)
def test_other_codes_are_not_tried_again(server: ScriptedServer, code: grpc.StatusCode) -> None:
    server.script.append(fault(code))
    with IdClient(server.url) as client:
        error = error_of(client.next_id)
        assert (error.reason, error.code) == (ErrorReason.RPC_FAILED, code)
    assert len(server.calls) == 1


def test_a_quota_is_waited_for_at_the_same_endpoint(server: ScriptedServer) -> None:
    with ScriptedServer() as other:
        for one in (server, other):
            one.script.append(fault(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED", retry_after_s=0.2))
        with IdClient([server.url, other.url]) as client:
            started = time.monotonic()
            client.next_id()
            assert time.monotonic() - started >= 0.2
        assert sorted([len(server.calls), len(other.calls)]) == [0, 2]


def test_a_wait_that_would_outlast_the_deadline_is_not_begun(server: ScriptedServer) -> None:
    server.script.append(fault(UNAVAILABLE, "BURST_EXCEEDED", retry_after_s=60))
    with IdClient(server.url) as client:
        assert error_of(client.next_id).reason is ErrorReason.BURST_EXCEEDED
        assert len(server.calls) == 1


def test_an_attempt_that_runs_out_is_tried_elsewhere(server: ScriptedServer) -> None:
    with ScriptedServer(first_id=1000) as other:
        held = threading.Event()
        for one in (server, other):
            one.script.append(lambda request, context: held.wait(5) and None)
        with IdClient([server.url, other.url], ClientOptions(attempt_timeout_s=1, timeout_s=30)) as client:
            # Both hang once: the third attempt succeeds.
            assert client.next_id() in (1, 1000)
        held.set()


def test_a_call_that_runs_out_says_so(server: ScriptedServer) -> None:
    held = threading.Event()
    server.script.extend(lambda request, context: held.wait(5) and None for _ in range(4))
    with IdClient(server.url) as client:
        error = error_of(client.next_id, timeout_s=0.3)
        assert error.reason is ErrorReason.DEADLINE_EXCEEDED
        held.set()


def test_the_other_endpoint_takes_over_and_the_first_is_met_again_after_it_came_back() -> None:
    with ScriptedServer() as one, ScriptedServer(first_id=10**6) as two:
        with IdClient([one.url, two.url]) as client:
            first = client.next_id()
            current, other = (one, two) if first < 10**6 else (two, one)
            current.stop()
            ids = [next_id_at_last(client) for _ in range(20)]
            assert len(other.calls) >= 20
            current.start()
            other.stop()
            ids += [next_id_at_last(client) for _ in range(20)]
            other.start()
        assert len(set(ids)) == 40


def test_nobody_there_is_unreachable() -> None:
    with ScriptedServer() as server:
        url = server.url
    with IdClient(url) as client:
        error = error_of(client.next_id, timeout_s=10)
        assert (error.reason, error.code, error.endpoint) == (ErrorReason.UNREACHABLE, UNAVAILABLE, url)
        assert url in str(error)


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
    def slow(request: pb.BatchNextIdsRequest, context: grpc.ServicerContext) -> Iterator[pb.BatchNextIdsResponse]:
        yield pb.BatchNextIdsResponse(ids=[1])
        # Not before the reader has waited for a while.
        time.sleep(0.05)
        yield pb.BatchNextIdsResponse(ids=[2])

    server.script.append(slow)
    clock = FakeClock()
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            clock.advance(0)

    ticking = threading.Thread(target=tick)
    ids: list[int] = []
    with IdClient(server.url, ClientOptions(clock=clock)) as client:
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
    with IdClient(server.url, ClientOptions(attempt_timeout_s=1, timeout_s=30)) as client:
        assert sum(len(chunk) for chunk in client.stream(10_000)) == 10_000
        assert len(server.calls) >= 2
        server.script.append(stall)
        with pytest.raises(SnowlaneError) as caught:
            list(client.stream(10_000, timeout_s=0.2))
        assert caught.value.reason is ErrorReason.DEADLINE_EXCEEDED
    held.set()


@pytest.mark.parametrize(
    "runs",
    [
        [],
        [pb.IdRun(first_id=1, count=0, stride=1)],
        [pb.IdRun(first_id=1, count=1, stride=0)],
        [pb.IdRun(first_id=1, count=101, stride=1)],
        [pb.IdRun(count=1, stride=1)],
        [pb.IdRun(first_id=2**63, count=1, stride=1)],
        [pb.IdRun(first_id=2**64 - 1, count=2, stride=2**64 - 1)],
        [pb.IdRun(first_id=1, count=5, stride=1), pb.IdRun(first_id=5, count=5, stride=1)],
    ],
)
def test_reservations_that_cannot_be_are_refused(server: ScriptedServer, runs: list[pb.IdRun]) -> None:
    server.script.append(lambda request, context: pb.ReserveIdsResponse(runs=runs))
    with IdClient(server.url) as client:
        assert error_of(client.reserve, 100).reason is ErrorReason.INVALID_RESPONSE


@pytest.mark.parametrize("id", [0, 2**63])
def test_an_id_that_is_0_or_has_bit_63_set_is_refused(server: ScriptedServer, id: int) -> None:
    server.script.append(lambda request, context: pb.NextIdResponse(id=id))
    with IdClient(server.url) as client:
        assert error_of(client.next_id).reason is ErrorReason.INVALID_RESPONSE


def test_a_server_without_a_layout_is_none_of_ours(server: ScriptedServer) -> None:
    server.script.append(lambda request, context: pb.GetInfoResponse())
    with IdClient(server.url) as client:
        assert error_of(client.layout).reason is ErrorReason.INVALID_RESPONSE
        assert client.layout() == LAYOUTS["twitter"]


def test_a_token_travels_with_each_attempt(server: ScriptedServer) -> None:
    tokens = iter(f"t{i}" for i in range(10))
    server.script.append(fault(UNAVAILABLE))
    with IdClient(server.url, ClientOptions(token=lambda: next(tokens))) as client:
        client.next_id()
        list(client.stream(10))
    assert server.tokens == ["Bearer t0", "Bearer t1", "Bearer t2"]


def test_options_may_be_keywords_and_go_before_those_of_the_object() -> None:
    with ScriptedServer() as server, IdClient(server.url, ClientOptions(retry_max=0), timeout_s=1) as client:
        assert client.next_id() > 0
        assert client._options == ClientOptions(retry_max=0, timeout_s=1)
    with pytest.raises(TypeError, match="timeout_ms"):
        IdClient(timeout_ms=1)
    with pytest.raises(ValueError, match="timeout_s"):
        IdClient(timeout_s=-1)


def test_options_of_a_buffer_may_be_keywords_and_go_before_those_of_the_object() -> None:
    with IdClient(timeout_s=7) as client:
        assert client.prefetch(outage_s=600)._options == PrefetchOptions(outage_s=600, timeout_s=7)
        buffer = client.prefetch(PrefetchOptions(max_age_s=1, timeout_s=2), timeout_s=3)
        assert buffer._options == PrefetchOptions(max_age_s=1, timeout_s=3)
        with pytest.raises(TypeError, match="outage_ms"):
            client.prefetch(outage_ms=1)
        with pytest.raises(ValueError, match="outage_s"):
            client.prefetch(outage_s=0)


def test_wrong_options_are_refused_when_the_client_is_made() -> None:
    for endpoints, options in (
        ([], ClientOptions()),
        ("ftp://a", ClientOptions()),
        ("localhost:7609", ClientOptions()),
        ("http://u:p@a:1", ClientOptions()),
        ("http://a:1/path", ClientOptions()),
        ("http://a:99999", ClientOptions()),
        ("http://a:0", ClientOptions()),
        ("http://[::1", ClientOptions()),
        ("http://a b", ClientOptions()),
        ("http://a\n", ClientOptions()),
        (b"http://a", ClientOptions()),
        ([None], ClientOptions()),
        ("http://example.com:7609", ClientOptions(token="secret")),
    ):
        with pytest.raises(ValueError, match=r"endpoint|token"):
            IdClient(endpoints, options)  # type: ignore[arg-type]
    for endpoint in ("http://u:secret@a", "http://:secret@a", "ftp://u:secret@a", "http://u:secret@a b"):
        with pytest.raises(ValueError, match="endpoint") as caught:
            IdClient(endpoint)
        assert "secret" not in str(caught.value)
    with pytest.raises(TypeError, match="token"):
        ClientOptions(token=5)  # type: ignore[arg-type]
    bad: list[dict[str, Any]] = [
        {"timeout_s": 0},
        {"attempt_timeout_s": -1},
        {"retry_max": 4},
        {"timeout_s": float("nan")},
    ]
    for settings in bad:
        with pytest.raises(ValueError, match=next(iter(settings))):
            ClientOptions(**settings)
    with pytest.raises(ValueError, match="key"):
        TlsOptions(certificate=b"x")
    IdClient("http://example.com:7609", ClientOptions(token="secret", insecure_token=True)).close()
    IdClient("http://[::1]:7609", ClientOptions(token="secret")).close()
    IdClient("https://example.com", ClientOptions(token="secret")).close()


@pytest.mark.parametrize("token", ["", "two\nlines", "\u00fc", None, 5])
def test_what_is_no_token_is_refused_before_it_is_sent(server: ScriptedServer, token: Any) -> None:
    with IdClient(server.url, ClientOptions(token=lambda: token)) as client:
        error = error_of(client.next_id)
        assert (error.reason, error.code) == (ErrorReason.RPC_FAILED, grpc.StatusCode.UNAUTHENTICATED)
        assert "token" in error.message
    assert server.tokens == []


def test_the_line_break_at_the_end_of_a_token_file_is_dropped(server: ScriptedServer) -> None:
    with IdClient(server.url, ClientOptions(token="secret\n")) as client:
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
            assert (error.reason, error.code) == (ErrorReason.COUNT_OUT_OF_RANGE, grpc.StatusCode.INVALID_ARGUMENT)
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
    done = threading.Event()
    time.sleep(0.05)
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
    with IdClient(server.url, ClientOptions(clock=clock, timeout_s=3600, attempt_timeout_s=600)) as client:
        buffer = client.prefetch(PrefetchOptions(max_age_s=max_age_s, count_max=32))
        assert buffer.next_id() == 33
        assert (buffer.stats().refill_failures, buffer.stats().refills) == (1, 1)


def test_a_source_that_wants_to_leave_is_a_failed_reservation() -> None:
    class Leaving:
        def reserve(self, count: int, timeout_s: float | None = None) -> list[IdRun]:
            sys.exit(3)

    with PrefetchBuffer(Leaving(), PrefetchOptions(timeout_s=1)) as buffer:
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
    with IdClient(server.url) as client, client.prefetch(PrefetchOptions(max_age_s=60, timeout_s=60)) as buffer:
        ids = [buffer.next_id() for _ in range(1000)]
        for _ in range(3):
            server.stop()
            # Of what is in stock, if there is some: nobody could fill it up now.
            if stock := buffer.stats().stock:
                ids += buffer.next_ids(min(stock, 50))
            threading.Timer(0.2, server.start).start()
            ids += buffer.next_ids(30_000)
        assert len(set(ids)) == len(ids)


def test_a_client_cannot_be_copied(server: ScriptedServer) -> None:
    with IdClient(server.url) as client, pytest.raises(TypeError):
        copy.copy(client)
