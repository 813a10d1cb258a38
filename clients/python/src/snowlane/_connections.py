"""The connection in use to each endpoint, and what tells a dark one: it stands and answers nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import grpc

from ._attempts import Attempt
from ._channels import Stubs
from ._errors import ErrorReason
from ._rpc_error import error_of_rpc

_SILENCE_S = 1.0
"""A connection that is silent for so long is dark; twice as long for each new one in a row that answered nothing."""
_SILENCE_MAX_S = 8.0
_SECOND_EVERY_S = 10.0
"""A second connection beside one that has answered is opened no more often than this."""
_OPENING_S = 10.0
"""A connection that has not answered yet is left alone until it is so old: its server may be short of time, and would
be shorter of it with one more to greet.
"""

Channel = TypeVar("Channel", bound="grpc.Channel | grpc.aio.Channel")


@dataclass(eq=False)
class Connection(Generic[Channel]):
    """One channel.

    Attributes:
        silent_since_s: When the first request was sent after the last answer; None: it owes no answer.
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
    """Opens a connection to an endpoint at its first call, and another where that one is dark.

    Safe for any number of threads.
    """

    def __init__(
        self,
        open_channel: Callable[[str], Channel],
        close_channel: Callable[[Channel], object],
        monotonic_s: Callable[[], float],
    ) -> None:
        self._open_channel = open_channel
        self._close_channel = close_channel
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._in_use: dict[str, Connection[Channel]] = {}
        self._replaced: set[Connection[Channel]] = set()
        self._unanswered_in_row: dict[str, int] = {}
        self._second_s: dict[str, float] = {}

    @contextmanager
    def call(self, attempt: Attempt) -> Iterator[Connection[Channel]]:
        """Goes around an RPC: gives the connection that it takes, and learns from how it ends."""
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
        """Gives the connection that a request takes. It is to be ended by `end`."""
        with self._lock:
            connection = self._in_use.get(url)
            if connection is None:
                self._in_use[url] = connection = self._make(url)
            connection.call_count += 1
        self.await_answer(connection)
        return connection

    def begin_second(self, url: str) -> Connection[Channel] | None:
        """Opens a connection beside the one in use, for one request. It ends with that, unless it is adopted. None: it
        may not be opened now.
        """
        with self._lock:
            now_s = self._monotonic_s()
            used = self._in_use.get(url)
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
        """Puts a second connection that answered first in the place of the one in use."""
        with self._lock:
            slow = self._in_use.get(url)
            # One without a call owes no answer: it is not the slow one any more.
            if not second.is_second or (slow is not None and slow.call_count == 0):
                return
            self._replaced.remove(second)
            second.is_replaced = second.is_second = False
            if slow is not None:
                slow.is_replaced = True
                self._replaced.add(slow)
            self._in_use[url] = second

    def is_open(self, url: str) -> bool:
        """Whether the connection in use has answered."""
        with self._lock:
            used = self._in_use.get(url)
            return used is not None and used.has_answered

    def rank(self, url: str) -> int:
        """How well an endpoint suits a second request: 0 answers at once; 1 must be opened; 2 owes an answer already,
        as far as anybody knows.
        """
        with self._lock:
            used = self._in_use.get(url)
            if used is None or not used.has_answered:
                return 1
            return 0 if used.silent_since_s is None else 2

    def end(self, url: str, connection: Connection[Channel], error: BaseException | None = None) -> bool:
        """Takes in how a request ended. Returns whether the next one takes another connection, because this one was
        dark.
        """
        try:
            return self._learn(url, connection, error)
        finally:
            self.leave(connection)

    def leave(self, connection: Connection[Channel]) -> None:
        """Takes in that a request was given up because another one was answered first. Its connection may still be
        slow, and no more than that: where it is dark, the next request finds out.
        """
        with self._lock:
            connection.call_count -= 1
            if connection not in self._replaced or connection.call_count > 0:
                return
            self._replaced.remove(connection)
        self._close_channel(connection.channel)

    def await_answer(self, connection: Connection[Channel]) -> None:
        """Takes in that an answer is due from now on."""
        with self._lock:
            if connection.silent_since_s is None:
                connection.silent_since_s = self._monotonic_s()

    def note_answer(self, url: str, connection: Connection[Channel]) -> None:
        """Takes in that a server answered, with success, an error or a chunk."""
        with self._lock:
            connection.silent_since_s = None
            connection.has_answered = True
            if not connection.is_replaced:
                self._unanswered_in_row[url] = 0

    def take_all(self) -> list[Channel]:
        """Gives up all connections, for the caller to close."""
        with self._lock:
            connections = [*self._in_use.values(), *self._replaced]
            self._in_use.clear()
            self._replaced.clear()
        return [connection.channel for connection in connections]

    def _make(self, url: str) -> Connection[Channel]:
        channel = self._open_channel(url)
        return Connection(channel, Stubs(channel), self._monotonic_s())

    def _learn(self, url: str, connection: Connection[Channel], error: BaseException | None) -> bool:
        # A task that is cancelled is a limit of the caller's own.
        if isinstance(error, asyncio.CancelledError):
            reason: ErrorReason | None = ErrorReason.DEADLINE_EXCEEDED
        elif isinstance(error, Exception):
            reason = error_of_rpc(error, url).reason
        elif error is not None:
            # The caller leaves: what the server does is not known.
            return False
        else:
            reason = None
        if reason is ErrorReason.DEADLINE_EXCEEDED:
            self._note_limit(url, connection)
            return connection.is_replaced
        if reason is ErrorReason.UNREACHABLE:
            self._note_end(connection)
            return connection.is_replaced
        self.note_answer(url, connection)
        return False

    def _note_end(self, connection: Connection[Channel]) -> None:
        """The connection was refused or ended: gRPC opens another in the same channel."""
        with self._lock:
            connection.silent_since_s = None
            connection.has_answered = False
            connection.opened_s = self._monotonic_s()

    def _note_limit(self, url: str, connection: Connection[Channel]) -> None:
        with self._lock:
            if self._in_use.get(url) is not connection or not self._is_dark(url, connection):
                return
            # The next call opens another. Calls that run out together find this one replaced.
            del self._in_use[url]
            connection.is_replaced = True
            self._replaced.add(connection)
            self._unanswered_in_row[url] = self._unanswered_in_row.get(url, 0) + 1

    def _is_dark(self, url: str, connection: Connection[Channel]) -> bool:
        now_s = self._monotonic_s()
        if connection.silent_since_s is None:
            return False
        if not connection.has_answered and now_s - connection.opened_s < _OPENING_S:
            return False
        limit_s = min(_SILENCE_MAX_S, _SILENCE_S * (1 << min(self._unanswered_in_row.get(url, 0), 3)))
        return now_s - connection.silent_since_s >= limit_s
