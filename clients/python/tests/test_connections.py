"""Which connection a call takes, by a clock that the test sets."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from snowlane import ErrorReason, SnowlaneError
from snowlane._attempts import Attempt
from snowlane._connections import Connection, Connections
from snowlane._endpoints import Endpoint
from snowlane.testing import FakeClock

URL = "http://a:1"
LIMIT = SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, "No answer.", endpoint=URL)
BROKEN = SnowlaneError(ErrorReason.UNREACHABLE, "The server does not answer.", endpoint=URL)
REFUSED = SnowlaneError(ErrorReason.SHUTTING_DOWN, "Going.", endpoint=URL)


class Rig:
    """Calls over connections that a test leaves unanswered."""

    def __init__(self, *, calls_max: int | None = None, renews: bool = False) -> None:
        self.clock = FakeClock()
        self.closed: list[grpc.Channel] = []
        self.replaced: list[str] = []
        self.connections: Connections[grpc.Channel] = Connections(
            lambda _: grpc.insecure_channel("localhost:1"),
            self.closed.append,
            self.clock.monotonic_s,
            self.replaced.append,
            calls_max=calls_max,
            renews=renews,
        )

    def call(self, takes_s: float, error: BaseException | None = None) -> Connection[grpc.Channel]:
        """One call that ends after a given time; returns the connection that it took."""
        connection, _ = self.attempt(takes_s, error)
        return connection

    def attempt(self, takes_s: float, error: BaseException | None) -> tuple[Connection[grpc.Channel], Attempt]:
        attempt = Attempt(Endpoint(URL), 1, 0.0, 2.0)
        try:
            with self.connections.call(attempt) as connection:
                self.clock.advance(takes_s)
                if error is not None:
                    raise error
        except (SnowlaneError, asyncio.CancelledError):
            pass
        return connection, attempt


@pytest.mark.parametrize("limit", [LIMIT, asyncio.CancelledError()])
def test_a_connection_that_answers_nothing_for_a_second_is_replaced_and_closed(limit: BaseException) -> None:
    rig = Rig()
    first = rig.call(0)
    assert rig.call(1, limit) is first
    assert rig.closed == [first.channel]
    assert rig.call(0) is not first


def test_short_calls_that_run_out_in_turn_are_one_silence() -> None:
    rig = Rig()
    first = rig.call(0)
    assert [rig.call(0.3, LIMIT) is first for _ in range(4)] == [True] * 4
    assert rig.call(0) is not first


@pytest.mark.parametrize("answer", [None, REFUSED])
def test_an_answer_of_any_kind_ends_the_silence(answer: SnowlaneError | None) -> None:
    rig = Rig()
    first = rig.call(0)
    for _ in range(5):
        rig.call(0.6, LIMIT)
        rig.call(0.1, answer)
    assert rig.call(0) is first
    assert rig.closed == []


def test_calls_that_run_out_together_open_one_connection() -> None:
    rig = Rig()
    first = rig.call(0)
    attempts = [Attempt(Endpoint(URL), 1, 0.0, 2.0) for _ in range(3)]
    calls = [rig.connections.call(attempt) for attempt in attempts]
    assert {call.__enter__() for call in calls} == {first}
    rig.clock.advance(2)
    second = None
    for call in calls:
        assert rig.closed == []
        call.__exit__(type(LIMIT), LIMIT, None)
        second = second or rig.call(0)
    assert all(attempt.is_replaced for attempt in attempts)
    assert rig.closed == [first.channel]
    assert rig.call(0) is second


def test_a_connection_that_has_not_answered_yet_is_left_alone_for_ten_seconds() -> None:
    rig = Rig()
    first = rig.call(2, LIMIT)
    assert [rig.call(2, LIMIT) is first for _ in range(4)] == [True] * 4
    assert rig.call(0) is not first


def test_a_connection_that_ended_counts_as_a_new_one() -> None:
    rig = Rig()
    first = rig.call(0)
    rig.call(0, BROKEN)
    assert not rig.attempt(2, LIMIT)[1].is_replaced
    assert rig.call(0) is first


def test_new_connections_that_answer_nothing_get_longer_each_time() -> None:
    rig = Rig()
    rig.call(0)
    assert rig.attempt(1, LIMIT)[1].is_replaced
    for silence_s in (2, 4, 8, 8):
        # It is opened, and nothing is asked of it until it is old enough.
        rig.call(0, LIMIT).silent_since_s = None
        rig.clock.advance(10)
        assert not rig.attempt(silence_s - 0.5, LIMIT)[1].is_replaced
        assert rig.attempt(0.5, LIMIT)[1].is_replaced


def test_connections_that_are_given_up_are_not_taken_again() -> None:
    rig = Rig()
    first = rig.call(0)
    assert rig.connections.take_all() == [first.channel]
    assert rig.connections.take_all() == []
    assert rig.call(0) is not first


def test_streams_share_connections_up_to_a_number_and_those_but_the_first_close_when_they_are_empty() -> None:
    rig = Rig(calls_max=2)
    begun = [rig.connections.begin(URL) for _ in range(5)]
    assert begun[0] is begun[1]
    assert begun[2] is begun[3]
    assert len(set(begun)) == 3
    for connection in begun:
        rig.connections.end(URL, connection)
    assert rig.closed == [begun[2].channel, begun[4].channel]
    assert rig.call(0) is begun[0]


def test_the_connections_of_an_endpoint_that_is_gone_close_once_their_calls_have_ended() -> None:
    rig = Rig()
    first = rig.connections.begin(URL)
    rig.connections.forget(URL)
    assert rig.closed == []
    rig.connections.end(URL, first)
    assert rig.closed == [first.channel]
    second = rig.call(0)
    rig.connections.forget(URL)
    assert rig.closed == [first.channel, second.channel]


def test_a_connection_whose_tls_material_may_change_gets_a_new_channel_when_it_ends() -> None:
    rig = Rig(renews=True)
    first = rig.call(0)
    # That counts as a failure of the endpoint, unlike a dark connection.
    assert not rig.attempt(0, BROKEN)[1].is_replaced
    assert rig.closed == [first.channel]
    assert rig.call(0) is not first


def test_it_is_told_once_that_a_connection_is_replaced() -> None:
    rig = Rig()
    rig.call(0)
    rig.call(0.5, LIMIT)
    assert rig.replaced == []
    rig.call(1, LIMIT)
    rig.call(0)
    assert rig.replaced == [URL]
