"""The client, for threads."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import grpc

from ._attempts import Attempt, Attempts, AttemptSettings
from ._buffer import PrefetchBuffer
from ._channels import CHANNEL_OPTIONS, Metadata, Stubs, credentials_of, prepare_process
from ._client_options import ENDPOINT_DEFAULT, ClientOptions, bearer_of, read_endpoints
from ._clock import SYSTEM_CLOCK
from ._connections import Connections
from ._endpoints import Endpoints
from ._errors import ErrorReason, SnowlaneError, check_chunk_size, check_count
from ._fork import forget_after_fork
from ._gen.v1 import id_service_pb2 as pb
from ._grpc_fork import grpc_call, leave_to_parent, wait_before_forks
from ._layout import Layout
from ._observer import ClientObserver
from ._offline import OfflineIds
from ._options import COUNT_MAX, STREAM_COUNT_MAX, PrefetchOptions, call_timeout_s
from ._parse import IdRange, ParsedId, id_range
from ._remote_sequence import RemoteSequence
from ._rpc_error import error_of_rpc
from ._rpc_stream import StreamSpec
from ._run import IdRun
from ._sequence import ValueSequence
from ._text import TextForm, TextFormat
from ._wire import ChunkCheck, id_of, layout_of, runs_of

if TYPE_CHECKING:
    from .arrays import IdArray

T = TypeVar("T")


class IdClient:
    """Calls the ID service: one RPC a call, tried up to four times, over one or more endpoints.

    Safe for any number of threads. A forked child opens connections of its own.

    Args:
        endpoints: One or more of `http://HOST:PORT` (plaintext) and `https://HOST:PORT` (TLS), which serve one
            deployment.
        options: What else the client is told.

    Raises:
        ValueError: An endpoint or an option is wrong.
    """

    def __init__(
        self,
        endpoints: str | Sequence[str] = ENDPOINT_DEFAULT,
        options: ClientOptions | None = None,
        **keywords: Any,
    ) -> None:
        """Makes a client. Connections are opened when they are first needed.

        Args:
            endpoints: One or more of `http://HOST:PORT`, `https://HOST:PORT`, `unix:/PATH`; all of one deployment.
            options: How the client works.
            keywords: Single options by the names of ClientOptions, in place of those in `options`.
        """
        self._options = replace(options or ClientOptions(), **keywords)
        self._urls = {endpoint.url: endpoint for endpoint in read_endpoints(endpoints, self._options)}
        self._clock = self._options.clock or SYSTEM_CLOCK
        self._observer = self._options.observer or ClientObserver()
        self._offline = OfflineIds(self._options.namespace)
        self._layout = self._options.layout
        self._is_closed = False
        self._begin()
        forget_after_fork(self)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._connections: Connections[grpc.Channel] = Connections(
            self._open_channel, grpc.Channel.close, self._clock.monotonic_s
        )
        self._buffers: weakref.WeakSet[PrefetchBuffer] = weakref.WeakSet()
        self._settings = AttemptSettings(
            endpoints=Endpoints(list(self._urls), self._clock.monotonic_s),
            monotonic_s=self._clock.monotonic_s,
            observer=self._observer,
            timeout_s=self._options.timeout_s,
            attempt_timeout_s=self._options.attempt_timeout_s,
            retry_max=self._options.retry_max,
        )

    def next_id(self, timeout_s: float | None = None) -> int:
        """Issues one ID, by one RPC.

        Args:
            timeout_s: Deadline of the call, over all attempts and waits; None: the client's.

        Raises:
            SnowlaneError: What the last attempt failed with; DEADLINE_EXCEEDED; CLIENT_CLOSED.
        """
        request = pb.NextIdRequest()

        def work(stubs: Stubs, timeout: float, metadata: Metadata) -> int:
            return id_of(stubs.ids.NextId(request, timeout=timeout, metadata=metadata))

        return self._call("NextId", timeout_s, work)

    def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """Issues `count` IDs, by as many reservations as it takes. They ascend as long as one server answers.

        Args:
            count: 1 to 1,048,576.
            timeout_s: As for next_id.

        Raises:
            SnowlaneError: COUNT_OUT_OF_RANGE, and as next_id.
        """
        return [id for run in self._reserve_all(count, timeout_s) for id in run.ids()]

    def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """The same as next_ids, as an array of uint64: made from runs, not from a list. Needs numpy."""
        from .arrays import array_of  # noqa: PLC0415

        return array_of([run.ids() for run in self._reserve_all(count, timeout_s)])

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> Iterator[Sequence[int]]:
        """Issues `count` IDs as a stream of chunks: exactly so many, or an error. Closing the iterator cancels it.

        A stream that breaks is taken up by another, whose IDs may start lower, unless `ordered` is set.

        Args:
            count: 1 to 10^9.
            timeout_s: Deadline of the whole stream; None: none, but the client's time bounds the wait for each chunk.
            chunk_size: The most IDs of one chunk, 1 to 65,536; 0 leaves it to the server.
            ordered: Ends with the error where a stream breaks, so that all IDs ascend.

        Raises:
            SnowlaneError: COUNT_OUT_OF_RANGE, INVALID_RESPONSE, and as next_id.
        """
        check_count(count, STREAM_COUNT_MAX)
        check_chunk_size(chunk_size)

        def begin(stubs: Stubs, left: int, timeout: float | None, metadata: Metadata) -> Any:
            request = pb.BatchNextIdsRequest(count=left, chunk_size=chunk_size)
            return stubs.ids.BatchNextIds(request, timeout=timeout, metadata=metadata)

        return self._stream(StreamSpec("BatchNextIds", count, begin, ChunkCheck, timeout_s, ordered))

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Reserves 1 to `count` IDs, as runs; a server grants what it has without waiting. They are the caller's, used
        or not.

        Args:
            count: 1 to 1,048,576.
            timeout_s: As for next_id.

        Raises:
            SnowlaneError: COUNT_OUT_OF_RANGE, INVALID_RESPONSE, and as next_id.
        """
        check_count(count, COUNT_MAX)
        request = pb.ReserveIdsRequest(count=count)

        def work(stubs: Stubs, timeout: float, metadata: Metadata) -> list[IdRun]:
            return runs_of(stubs.ids.ReserveIds(request, timeout=timeout, metadata=metadata), count)

        return self._call("ReserveIds", timeout_s, work)

    def info(self, timeout_s: float | None = None) -> pb.GetInfoResponse:
        """Asks a server what it is: layout, worker ID, limits, version."""
        request = pb.GetInfoRequest()

        def work(stubs: Stubs, timeout: float, metadata: Metadata) -> pb.GetInfoResponse:
            response: pb.GetInfoResponse = stubs.ids.GetInfo(request, timeout=timeout, metadata=metadata)
            return response

        return self._call("GetInfo", timeout_s, work)

    def layout(self) -> Layout:
        """The deployment's layout: that of the options, or asked for once."""
        layout = self._layout
        if layout is None:
            self._layout = layout = layout_of(self.info().layout)
        return layout

    def parse(self, id_or_text: int | str, form: TextForm | None = None, *, utc_offset_minutes: int = 0) -> ParsedId:
        """Reads an ID, or a text form of one, offline, by the layout.

        Raises:
            SnowlaneError: MALFORMED_ID, MALFORMED_TEXT (also for a UUID that holds no ID of this deployment),
                AMBIGUOUS_TEXT.
        """
        return self._offline.parse(self.layout(), id_or_text, form, utc_offset_minutes)

    def id_range(self, start: datetime | int, end: datetime | int) -> IdRange:
        """The IDs of [start, end), offline, by the layout. See snowlane.id_range."""
        return id_range(self.layout(), start, end)

    def format(self, id: int, format: TextFormat | TextForm) -> str:
        """Writes an ID as text, offline, by the layout. See TextCodec.write."""
        return self._offline.format(self.layout(), id, format)

    def prefetch(self, options: PrefetchOptions | None = None, **keywords: Any) -> PrefetchBuffer:
        """Makes a buffer that draws from this client, and is closed with it.

        Args:
            options: How the buffer works.
            keywords: Single options by the names of PrefetchOptions, in place of those in `options`.
        """
        options = replace(options or PrefetchOptions(), **keywords)
        if options.timeout_s is None:
            options = replace(options, timeout_s=self._options.timeout_s)
        with self._changed:
            self._refuse_if_closed()
            buffer = PrefetchBuffer(self, options, clock=self._clock, observer=self._observer)
            self._buffers.add(buffer)
        return buffer

    def sequence(self, name: str) -> ValueSequence:
        """The sequence of that name. Nothing is sent, so whether there is one shows with its first value."""
        return RemoteSequence(name, self)

    def close(self) -> None:
        """Ends all calls with CLIENT_CLOSED, closes the buffers and the connections. Closing twice is closing once."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            buffers = list(self._buffers)
            self._changed.notify_all()
        for buffer in buffers:
            buffer.close()
        self._cut_calls()

    def __enter__(self) -> IdClient:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("An IdClient cannot be copied or pickled: make one in each process.")

    def _cut_calls(self) -> None:
        for channel in self._connections.take_all():
            channel.close()

    def _after_fork_in_child(self) -> None:
        leave_to_parent(self._connections.take_all())
        self._begin()

    def _reserve_all(self, count: int, timeout_s: float | None) -> list[IdRun]:
        check_count(count, COUNT_MAX)
        deadline_s = self._clock.monotonic_s() + call_timeout_s(timeout_s, self._options.timeout_s)
        runs: list[IdRun] = []
        while count > 0:
            for run in self.reserve(count, deadline_s - self._clock.monotonic_s()):
                runs.append(run)
                count -= run.count
        return runs

    def _call(self, method: str, timeout_s: float | None, work: Callable[[Stubs, float, Metadata], T]) -> T:
        attempts = Attempts(self._settings, method, timeout_s)
        while True:
            attempt = self._begin_attempt(attempts)
            try:
                metadata = self._metadata()
                with self._connections.call(attempt) as connection, grpc_call():
                    value = work(connection.stubs, attempt.timeout_s, metadata)
            except Exception as error:
                attempts.fail(attempt, self._error_of(error, attempt))
            else:
                attempts.succeed(attempt)
                return value

    def _begin_attempt(self, attempts: Attempts) -> Attempt:
        self._refuse_if_closed()
        endpoint, wait_s = attempts.next()
        self._sleep(wait_s)
        return attempts.begin(endpoint)

    def _sleep(self, wait_s: float) -> None:
        until_s = self._clock.monotonic_s() + wait_s
        with self._changed:
            while not self._is_closed:
                left_s = until_s - self._clock.monotonic_s()
                if left_s <= 0:
                    return
                self._clock.wait(self._changed, left_s)
        self._refuse_if_closed()

    def _stream(self, spec: StreamSpec[T]) -> Iterator[Sequence[T]]:
        attempts = Attempts(self._settings, spec.method, spec.timeout_s)
        left = spec.count
        while left > 0:
            attempt = self._begin_attempt(attempts)
            reader = spec.read(left)
            try:
                with closing(self._open_stream(spec, left, attempt, attempts)) as responses:
                    for response in responses:
                        items = reader.take(response)
                        left -= len(items)
                        attempts.progress(attempt)
                        yield items
                        if spec.timeout_s is None:
                            attempts.await_next()
                reader.end()
            except Exception as error:
                failure = self._error_of(error, attempt)
                attempts.fail(attempt, failure)
                if spec.ordered and left < spec.count:
                    raise failure from None
            else:
                attempts.succeed(attempt)

    def _open_stream(
        self, spec: StreamSpec[T], left: int, attempt: Attempt, attempts: Attempts
    ) -> Generator[Any, None, None]:
        """Opens one stream and gives its responses; the wait for each is bounded."""
        timeout = None if spec.timeout_s is None else attempts.left_s()
        metadata = self._metadata()
        with self._connections.call(attempt) as connection:
            with grpc_call():
                call = spec.open(connection.stubs, left, timeout, metadata)
            try:
                while (response := self._next_response(call, attempts.attempt_left_s())) is not None:
                    self._connections.note_answer(attempt.endpoint.url, connection)
                    yield response
                    self._connections.await_answer(connection)
            finally:
                call.cancel()

    def _next_response(self, call: Any, timeout_s: float) -> Any:
        """Waits for the next response; None at the end of the stream."""
        late = False

        def give_up() -> None:
            nonlocal late
            late = True
            call.cancel()

        alarm = self._clock.after(max(timeout_s, 0), give_up)
        try:
            with grpc_call():
                return next(call, None)
        except grpc.RpcError as error:
            if late:
                raise SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, "No chunk came in time.") from error
            raise
        finally:
            alarm.cancel()

    def _open_channel(self, url: str) -> grpc.Channel:
        self._refuse_if_closed()
        prepare_process()
        endpoint = self._urls[url]
        credentials = credentials_of(endpoint, self._options.tls)
        if credentials is None:
            channel = grpc.insecure_channel(endpoint.target, CHANNEL_OPTIONS)
        else:
            channel = grpc.secure_channel(endpoint.target, credentials, CHANNEL_OPTIONS)
        wait_before_forks(self)
        return channel

    def _metadata(self) -> Metadata:
        token = self._options.token
        if token is None:
            return ()
        text = token if isinstance(token, str) else token()
        return (("authorization", bearer_of(text)),)

    def _error_of(self, error: Exception, attempt: Attempt) -> SnowlaneError:
        if self._is_closed:
            return SnowlaneError(ErrorReason.CLIENT_CLOSED, "The client is closed.")
        return error_of_rpc(error, attempt.endpoint.url)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise SnowlaneError(ErrorReason.CLIENT_CLOSED, "The client is closed.")
