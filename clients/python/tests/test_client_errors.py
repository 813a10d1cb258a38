"""The errors and attempts of IdClient, against a server that follows a script."""

from __future__ import annotations

import re
import threading
import time
from concurrent import futures
from typing import Any

import grpc
import pytest
from call_errors import error_of
from scripted_server import ScriptedServer, fault

from snowlane import LAYOUTS, AttemptEvent, ClientObserver, ErrorReason, IdClient, SnowlaneError, StatusCode
from snowlane._errors import _CODE_OF_REASON
from snowlane._gen.v1 import error_reason_pb2
from snowlane._gen.v1 import id_service_pb2 as pb
from snowlane._rpc_error import read_status_details

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
_REASONS = list(error_reason_pb2.ErrorReason.keys())


class Attempts(ClientObserver):
    """Keeps what it hears of attempts."""

    def __init__(self) -> None:
        self.heard: list[AttemptEvent] = []

    def on_attempt(self, event: AttemptEvent) -> None:
        self.heard.append(event)
        raise RuntimeError("an observer's fault is its own")


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


@pytest.mark.parametrize("reason", [name for name in _REASONS if not name.endswith("_UNSPECIFIED")])
def test_every_reason_becomes_the_typed_error(server: ScriptedServer, reason: str) -> None:
    name = reason.removeprefix("ERROR_REASON_")
    code = _CODE_OF_REASON[ErrorReason(name)]
    server.script.append(fault(grpc.StatusCode[code.name], name, retry_after_s=2.25, metadata={"key": "välue"}))
    with IdClient(server.url, retry_max=0) as client:
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
    with IdClient(server.url, retry_max=0) as client:
        errors = [error_of(client.next_id) for _ in range(6)]
    assert [error.reason for error in errors] == [ErrorReason.RPC_FAILED] * 6
    assert errors[0].metadata == {"a": "b", "reason": "TEAPOT"}
    assert [error.code for error in errors[:5]] == [StatusCode.RESOURCE_EXHAUSTED] * 5


def test_a_server_that_does_not_know_the_method_is_told_by_its_code() -> None:
    bare = grpc.server(futures.ThreadPoolExecutor(1))
    port = bare.add_insecure_port("127.0.0.1:0")
    bare.start()
    with IdClient(f"http://127.0.0.1:{port}") as client:
        error = error_of(client.next_id)
    bare.stop(0)
    assert (error.reason, error.code) == (ErrorReason.RPC_FAILED, StatusCode.UNIMPLEMENTED)


def test_status_details_that_do_not_decode_say_nothing() -> None:
    for content in (b"\x1a", b"\x1a\x05abc", b"\x80" * 11, b"\x1b\x00", b"\x1a\x02\x08\x01", b"\x1a\x00", b"\x18\x01"):
        details = read_status_details(content)
        assert (details.reason, details.retry_after_s) == (None, None)


def test_unavailable_is_tried_four_times_and_no_more(server: ScriptedServer) -> None:
    attempts = Attempts()
    server.script.extend(fault(UNAVAILABLE, "STORE_UNAVAILABLE") for _ in range(3))
    with IdClient(server.url, observer=attempts) as client:
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
        assert (error.reason, error.code) == (ErrorReason.RPC_FAILED, StatusCode[code.name])
    assert len(server.calls) == 1


def test_an_error_shows_its_reason_in_every_form() -> None:
    error = SnowlaneError(ErrorReason.QUOTA_EXCEEDED, "Slowly.", endpoint="http://a:1")
    assert str(error) == "QUOTA_EXCEEDED: Slowly. (http://a:1)"
    assert repr(error) == "SnowlaneError(QUOTA_EXCEEDED, 'Slowly.', endpoint='http://a:1')"


@pytest.mark.parametrize("count", ["5", 1.5, None, True])
def test_a_count_that_is_no_whole_number_is_refused_in_one_sentence(count: Any) -> None:
    with IdClient() as client:
        for call in (client.next_ids, client.reserve, client.stream):
            with pytest.raises(TypeError, match=f"^count is {re.escape(repr(count))}; it must be an int from 1 to"):
                call(count)


def test_a_wait_that_would_outlast_the_deadline_is_not_begun(server: ScriptedServer) -> None:
    server.script.append(fault(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED", retry_after_s=60))
    with IdClient(server.url) as client:
        error = error_of(client.next_id)
        assert (error.reason, error.retry_after_s) == (ErrorReason.QUOTA_EXCEEDED, 60)
        assert len(server.calls) == 1


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
    server.info_script.append(lambda request, context: pb.GetInfoResponse())
    with IdClient(server.url) as client:
        assert error_of(client.layout).reason is ErrorReason.INVALID_RESPONSE
        assert client.layout() == LAYOUTS["twitter"]
