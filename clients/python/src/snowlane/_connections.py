"""The connection in use to each endpoint, and how to recognize a dark one, which is open but answers nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

import grpc

from ._attempts import Attempt
from ._channels import Stubs
from ._errors import ErrorReason
from ._rpc_error import error_of_rpc

_SILENCE_S = 1.0
"""A connection counts as dark after this much silence. The time doubles for each new connection in a row that answered
nothing.
"""
_SILENCE_MAX_S = 8.0
_SECOND_EVERY_S = 10.0
"""The shortest time between two openings of a second connection beside one that has answered."""
_OPENING_S = 10.0
"""A connection that has not answered yet is not replaced before this age: its server may be overloaded, and one more
handshake would add to the load.
"""

Channel = TypeVar("Channel", bound="grpc.Channel | grpc.aio.Channel")


@dataclass(eq=False)
class Connection(Generic[Channel]):
    """One channel.

    Attributes:
        silent_since_s: The time of the first request after the last answer; None: it owes no answer.
        is_replaced: Whether its endpoint has another now. It gets no more calls.
        is_second: Whether it was opened beside the one in use, for one request.
    """

    channel: Channel
    stubs: Stubs
    opened_s: float
    call_count: int = 0
    has_answered: bool = False
    silent_since_s: float | None = None
    is_replaced: bool = False
    is_second: bool = False


class Connections(Generic[Channel]):
    """Opens a connection to an endpoint at its first call, and another if that one is dark.

    Safe for any number of threads.
    """

    def __init__(
        self,
        open_channel: Callable[[str], Channel],
        close_channel: Callable[[Channel], object],
        monotonic_s: Callable[[], float],
        on_replaced: Callable[[str], object] = lambda url: None,
        *,
        calls_max: int | None = None,
        renews: bool = False,
    ) -> None:
        """Opens nothing yet.

        Args:
            on_replaced: Called with the endpoint whose connection was dark.
            calls_max: How many calls share a connection; None: all. More calls open more connections, of which all but
                the first are closed when they are empty.
            renews: Whether a connection that ended gets a new channel, whose TLS material is asked for again.
        """
        self._open_channel = open_channel
        self._close_channel = close_channel
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._on_replaced = on_replaced
        self._calls_max = calls_max
        self._renews = renews
        self._in_use: dict[str, list[Connection[Channel]]] = {}
        self._replaced: set[Connection[Channel]] = set()
        self._unanswered_in_row: dict[str, int] = {}
        self._second_s: dict[str, float] = {}

    @contextmanager
    def call(self, attempt: Attempt) -> Iterator[Connection[Channel]]:
        """A context for an RPC: provides its connection, and records how the RPC ends."""
        url = attempt.endpoint.url
        connection = self.begin(url)
        try:
            yield connection
        except BaseException as error:
            attempt.is_replaced = self.end(url, connection, error)
            raise
        else:
            self.end(url, connection)

    def begin(self, url: str) -> Connection[Channel]:
        """Returns the connection for a request. It must be ended by `end`."""
        with self._lock:
            in_use = self._in_use.setdefault(url, [])
            connection = next((each for each in in_use if not self._is_full(each)), None)
            if connection is None:
                connection = self._make(url)
                in_use.append(connection)
            connection.call_count += 1
        self.await_answer(connection)
        return connection

    def begin_second(self, url: str) -> Connection[Channel] | None:
        """Opens a connection beside the one in use, for one request. It closes after that request, unless it is
        adopted. None: it may not be opened now.
        """
        with self._lock:
            now_s = self._monotonic_s()
            used = self._first(url)
            if used is None or not used.has_answered:
                return None
            if now_s - self._second_s.get(url, float("-inf")) < _SECOND_EVERY_S:
                return None
            self._second_s[url] = now_s
            second = self._make(url)
            second.is_replaced = second.is_second = True
            second.call_count = 1
            self._replaced.add(second)
        self.await_answer(second)
        return second

    def adopt(self, url: str, second: Connection[Channel]) -> None:
        """Puts a second connection that answered first in place of the one in use."""
        with self._lock:
            slow = self._first(url)
            # A connection without a call owes no answer, so it is no longer the slow one.
            if not second.is_second or (slow is not None and slow.call_count == 0):
                return
            self._replaced.remove(second)
            second.is_replaced = second.is_second = False
            if slow is not None:
                slow.is_replaced = True
                self._replaced.add(slow)
            self._in_use[url] = [second]

    def is_open(self, url: str) -> bool:
        """Whether the connection in use has answered."""
        with self._lock:
            used = self._first(url)
            return used is not None and used.has_answered

    def rank(self, url: str) -> int:
        """How well an endpoint suits a second request: 0: it should answer at once; 1: its connection must be opened;
        2: it owes an answer already.
        """
        with self._lock:
            used = self._first(url)
            if used is None or not used.has_answered:
                return 1
            return 0 if used.silent_since_s is None else 2

    def end(self, url: str, connection: Connection[Channel], error: BaseException | None = None) -> bool:
        """Records how a request ended. Returns whether the next one takes another connection, because this one was
        dark.
        """
        try:
            return self._learn(url, connection, error)
        finally:
            self.leave(connection)

    def leave(self, connection: Connection[Channel]) -> None:
        """Records that a request was given up because another one was answered first. All that is known of its
        connection is that it may still be slow. If it is dark, the next request finds out.
        """
        with self._lock:
            connection.call_count -= 1
            if connection.call_count > 0 or not self._drop_empty(connection):
                return
        self._close_channel(connection.channel)

    def await_answer(self, connection: Connection[Channel]) -> None:
        """Records that an answer is due from now on."""
        with self._lock:
            if connection.silent_since_s is None:
                connection.silent_since_s = self._monotonic_s()

    def note_answer(self, url: str, connection: Connection[Channel]) -> None:
        """Records that a server answered, with success, an error or a chunk."""
        with self._lock:
            connection.silent_since_s = None
            connection.has_answered = True
            if not connection.is_replaced:
                self._unanswered_in_row[url] = 0

    def take_all(self) -> list[Channel]:
        """Takes all connections out of use and returns them, for the caller to close."""
        with self._lock:
            connections = [*chain.from_iterable(self._in_use.values()), *self._replaced]
            self._in_use.clear()
            self._replaced.clear()
        return [connection.channel for connection in connections]

    def forget(self, url: str) -> None:
        """Closes the connections of an endpoint that is gone, once their calls have ended."""
        with self._lock:
            gone = self._in_use.pop(url, [])
            busy = {connection for connection in gone if connection.call_count > 0}
            for connection in busy:
                connection.is_replaced = True
            self._replaced |= busy
            self._unanswered_in_row.pop(url, None)
            self._second_s.pop(url, None)
        for connection in gone:
            if connection not in busy:
                self._close_channel(connection.channel)

    def _first(self, url: str) -> Connection[Channel] | None:
        in_use = self._in_use.get(url)
        return in_use[0] if in_use else None

    def _is_full(self, connection: Connection[Channel]) -> bool:
        return self._calls_max is not None and connection.call_count >= self._calls_max

    def _drop_empty(self, connection: Connection[Channel]) -> bool:
        """Forgets a connection if it has no calls and is no longer needed. Returns whether it did."""
        if connection in self._replaced:
            self._replaced.remove(connection)
            return True
        for in_use in self._in_use.values():
            if connection in in_use[1:]:
                in_use.remove(connection)
                return True
        return False

    def _make(self, url: str) -> Connection[Channel]:
        channel = self._open_channel(url)
        return Connection(channel, Stubs(channel), self._monotonic_s())

    def _learn(self, url: str, connection: Connection[Channel], error: BaseException | None) -> bool:
        # A cancelled task is a limit that the caller set itself.
        if isinstance(error, asyncio.CancelledError):
            reason: ErrorReason | None = ErrorReason.DEADLINE_EXCEEDED
        elif isinstance(error, Exception):
            reason = error_of_rpc(error, url).reason
        elif error is not None:
            # The caller left, so it is not known what the server did.
            return False
        else:
            reason = None
        if reason is ErrorReason.DEADLINE_EXCEEDED:
            if self._note_limit(url, connection):
                self._on_replaced(url)
            return connection.is_replaced
        if reason is ErrorReason.UNREACHABLE:
            was_replaced = connection.is_replaced
            self._note_end(url, connection)
            return was_replaced
        self.note_answer(url, connection)
        return False

    def _note_end(self, url: str, connection: Connection[Channel]) -> None:
        """The connection was refused or ended: gRPC opens another in the same channel."""
        with self._lock:
            connection.silent_since_s = None
            connection.has_answered = False
            connection.opened_s = self._monotonic_s()
            if self._renews:
                self._replace(url, connection)

    def _note_limit(self, url: str, connection: Connection[Channel]) -> bool:
        with self._lock:
            if not self._is_dark(url, connection) or not self._replace(url, connection):
                return False
            self._unanswered_in_row[url] = self._unanswered_in_row.get(url, 0) + 1
            return True

    def _replace(self, url: str, connection: Connection[Channel]) -> bool:
        """Takes a connection out of use: the next call opens another. False: it is out of use already, as after calls
        that timed out together.
        """
        in_use = self._in_use.get(url, [])
        if connection not in in_use:
            return False
        in_use.remove(connection)
        connection.is_replaced = True
        self._replaced.add(connection)
        return True

    def _is_dark(self, url: str, connection: Connection[Channel]) -> bool:
        now_s = self._monotonic_s()
        if connection.silent_since_s is None:
            return False
        if not connection.has_answered and now_s - connection.opened_s < _OPENING_S:
            return False
        limit_s = min(_SILENCE_MAX_S, _SILENCE_S * (1 << min(self._unanswered_in_row.get(url, 0), 3)))
        return now_s - connection.silent_since_s >= limit_s
