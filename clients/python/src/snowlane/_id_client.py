"""The client, for threads."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from ._buffer import PrefetchBuffer
from ._calls import Calls
from ._client_options import (
    ATTEMPT_TIMEOUT_DEFAULT_S,
    ENDPOINT_DEFAULT,
    RETRY_MAX,
    TIMEOUT_DEFAULT_S,
    ClientOptions,
    Tls,
    Token,
    read_endpoints,
)
from ._clock import Clock
from ._deployments import number_of_response
from ._errors import check_count
from ._fork import forget_after_fork
from ._layout import Layout
from ._observer import ClientObserver
from ._offline import OfflineIds
from ._options import COUNT_MAX, COUNT_MAX_DEFAULT, COUNT_MIN_DEFAULT, STOCK_MAX_DEFAULT, call_timeout_s
from ._parse import IdRange, ParsedId, check_times, id_range
from ._remote_sequence import RemoteSequence
from ._rpc_stream import id_stream
from ._run import IdRun
from ._sequence import ValueSequence
from ._server_info import ServerInfo, server_info_of
from ._text import TextForm, TextFormat
from ._unary import INFO, NEXT_ID, reservation
from ._whole_id import whole_id
from ._wire import layout_of

if TYPE_CHECKING:
    from .arrays import IdArray


class IdClient:
    """Calls the ID service: one RPC a call, tried up to four times, over one or more endpoints.

    Safe for any number of threads. A forked child opens connections of its own.

    """

    def __init__(
        self,
        endpoints: str | Sequence[str] = ENDPOINT_DEFAULT,
        *,
        tls: Tls | None = None,
        token: Token | None = None,
        insecure_token: bool = False,
        timeout_s: float = TIMEOUT_DEFAULT_S,
        attempt_timeout_s: float = ATTEMPT_TIMEOUT_DEFAULT_S,
        retry_max: int = RETRY_MAX,
        observer: ClientObserver | None = None,
        interceptors: Sequence[Any] = (),
        channel_options: Sequence[tuple[str, Any]] = (),
        deployments: Sequence[str] | None = None,
        layout: Layout | None = None,
        namespace: str = "default",
        clock: Clock | None = None,
    ) -> None:
        """Makes a client. Connections are opened when they are first needed.

        Args:
            endpoints: One or more of `http://HOST:PORT`, `https://HOST:PORT`, `unix:/PATH`; all of one deployment.
            tls: For endpoints that begin with https; or a function that returns it for each new connection, so that
                certificates may change while the client runs.
            token: A bearer token, or a function that returns one for each attempt (for AsyncIdClient, it may be
                awaited). White space around it is dropped, because a file often ends in a line break. Refused over
                plaintext to a host that is not loopback, unless `insecure_token` is true.
            timeout_s: Deadline of a call whose caller sets none; it covers all attempts and waits.
            attempt_timeout_s: The longest that one attempt may take.
            retry_max: The most attempts after the first, 0 to 3.
            observer: The metrics hook.
            interceptors: Client interceptors of grpc, such as OpenTelemetry's.
            channel_options: gRPC options for each channel; those that the client sets itself are ignored.
            deployments: Fingerprints of the deployments whose IDs may be used, as `snowlane doctor` shows them. List
                several only if their IDs are known to differ. None: the first that answers.
            layout: The deployment's layout, for offline work. None: a server is asked for it once.
            namespace: The deployment's namespace, for offline work: it marks the UUIDs.
            clock: For tests.

        Raises:
            TypeError, ValueError: An endpoint or an option is wrong.
        """
        self._options = ClientOptions(
            tls=tls,
            token=token,
            insecure_token=insecure_token,
            timeout_s=timeout_s,
            attempt_timeout_s=attempt_timeout_s,
            retry_max=retry_max,
            observer=observer,
            interceptors=interceptors,
            channel_options=channel_options,
            deployments=deployments,
            layout=layout,
            namespace=namespace,
            clock=clock,
        )
        self._calls = Calls(read_endpoints(endpoints, self._options), self._options)
        self._offline = OfflineIds(self._options.namespace)
        # The layout that was asked for, and the number of the deployment that it is of.
        self._layout: tuple[int, Layout] | None = None
        self._buffers: weakref.WeakSet[PrefetchBuffer] = weakref.WeakSet()
        forget_after_fork(self)

    def next_id(self, timeout_s: float | None = None) -> int:
        """Issues one ID, by one RPC.

        Args:
            timeout_s: Deadline of the call; it covers all attempts and waits. None: that of the client.

        Raises:
            SnowlaneError: The error of the last attempt; DEADLINE_EXCEEDED; CLIENT_CLOSED.
        """
        return self._calls.call(NEXT_ID, timeout_s)

    def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """Issues `count` IDs, by as many reservations as it takes. They ascend as long as one server answers.

        Args:
            count: 1 to 1,048,576.
            timeout_s: As for next_id.

        Raises:
            SnowlaneError: COUNT_OUT_OF_RANGE, and those of next_id.
        """
        return [id for run in self._reserve_all(count, timeout_s) for id in run.ids()]

    def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """The same as next_ids, as an array of uint64: made from runs, not from a list. Needs numpy."""
        from .arrays import array_of  # noqa: PLC0415

        return array_of([run.ids() for run in self._reserve_all(count, timeout_s)])

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> Iterator[Sequence[int]]:
        """Issues `count` IDs as a stream of chunks: exactly that many, or an error. Closing the iterator cancels it.

        A stream that breaks is continued by another, whose IDs may start lower, unless `ordered` is set.

        Args:
            count: 1 to 10^9.
            timeout_s: Deadline of the whole stream. None: no deadline; the client's `timeout_s` then bounds the wait
                for each chunk.
            chunk_size: The most IDs of one chunk, 1 to 65,536; 0 leaves it to the server.
            ordered: Whether a stream that breaks ends with the error, so that all IDs ascend.

        Raises:
            SnowlaneError: COUNT_OUT_OF_RANGE, INVALID_RESPONSE, and those of next_id.
        """
        return self._calls.stream(id_stream(count, timeout_s, chunk_size, ordered))

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Reserves 1 to `count` IDs, as runs; a server grants what it has without waiting. They belong to the caller,
        used or not.

        Args:
            count: 1 to 1,048,576.
            timeout_s: As for next_id.

        Raises:
            SnowlaneError: COUNT_OUT_OF_RANGE, INVALID_RESPONSE, and those of next_id.
        """
        return self._calls.call(reservation(count), timeout_s)

    def info(self, timeout_s: float | None = None) -> ServerInfo:
        """Asks a server what it is: layout, worker ID, limits, version."""
        return server_info_of(self._calls.call(INFO, timeout_s))

    def ready(self, timeout_s: float | None = None) -> None:
        """Asks a server what it is, so that a service connects, and finds mistakes in its options, before its first
        request.

        Raises:
            SnowlaneError: See next_id.
        """
        self._calls.call(INFO, timeout_s)

    def layout(self) -> Layout:
        """The deployment's layout: that of the options, or else a server is asked for it once."""
        if self._options.layout is not None:
            return self._options.layout
        kept = self._layout
        if kept is None or kept[0] != self._calls.deployments.current:
            info = self._calls.call(INFO, None)
            number = number_of_response(info) or self._calls.deployments.current
            self._layout = kept = (number, layout_of(info.layout))
        return kept[1]

    def parse(self, id_or_text: int | str, form: TextForm | None = None, *, utc_offset_minutes: int = 0) -> ParsedId:
        """Reads an ID, or a text form of one, offline, by the layout.

        Raises:
            SnowlaneError: MALFORMED_ID, MALFORMED_TEXT (also for a UUID that holds no ID of this deployment),
                AMBIGUOUS_TEXT.
        """
        if not isinstance(id_or_text, str):
            id_or_text = whole_id(id_or_text)
        return self._offline.parse(self.layout(), id_or_text, form, utc_offset_minutes)

    def id_range(self, start: datetime | int, end: datetime | int) -> IdRange:
        """The IDs of [start, end), offline, by the layout. See snowlane.id_range."""
        check_times(start, end)
        return id_range(self.layout(), start, end)

    def format(self, id: int, format: TextFormat | TextForm) -> str:
        """Writes an ID as text, offline, by the layout. See TextCodec.write."""
        id = whole_id(id)
        return self._offline.format(self.layout(), id, format)

    def prefetch(
        self,
        *,
        max_age_s: float | None = None,
        count_min: int = COUNT_MIN_DEFAULT,
        count_max: int = COUNT_MAX_DEFAULT,
        timeout_s: float | None = None,
        outage_s: float | None = None,
        stock_max: int = STOCK_MAX_DEFAULT,
    ) -> PrefetchBuffer:
        """Makes a buffer over this client, which is closed with it. Its options are those of PrefetchBuffer."""
        buffer = PrefetchBuffer(
            _HedgedSource(self._calls),
            max_age_s=max_age_s,
            count_min=count_min,
            count_max=count_max,
            timeout_s=self._options.timeout_s if timeout_s is None else timeout_s,
            outage_s=outage_s,
            stock_max=stock_max,
            clock=self._calls.clock,
            observer=self._calls.observer,
        )
        buffer._states = self._calls.states
        with self._calls.changed:
            self._calls.refuse_if_closed()
            self._buffers.add(buffer)
        return buffer

    def sequence(self, name: str) -> ValueSequence:
        """The sequence of that name. Nothing is sent: whether it exists shows when its first value is taken."""
        return RemoteSequence(name, self._calls)

    def close(self) -> None:
        """Ends all calls with CLIENT_CLOSED, closes the buffers and the connections. Closing again does nothing."""
        if not self._calls.close():
            return
        with self._calls.changed:
            buffers = list(self._buffers)
        for buffer in buffers:
            buffer.close()
        self._calls.cut()

    def __enter__(self) -> IdClient:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("An IdClient cannot be copied or pickled: make one in each process.")

    def _after_fork_in_child(self) -> None:
        self._buffers = weakref.WeakSet()

    def _reserve_all(self, count: int, timeout_s: float | None) -> list[IdRun]:
        check_count(count, COUNT_MAX)
        deadline_s = self._calls.clock.monotonic_s() + call_timeout_s(timeout_s, self._options.timeout_s)
        runs: list[IdRun] = []
        while count > 0:
            for run in self.reserve(count, deadline_s - self._calls.clock.monotonic_s()):
                runs.append(run)
                count -= run.count
        return runs


class _HedgedSource:
    """The reservations of a client's buffers. A lost reservation is only a gap, so a second request may be sent."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """See RunSource."""
        return self._calls.hedged_call(reservation(count), timeout_s)
