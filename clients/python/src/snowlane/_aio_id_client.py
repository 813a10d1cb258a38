"""The client, for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import grpc
import grpc.aio

from ._aio_buffer import AsyncPrefetchBuffer
from ._attempts import Attempt, Attempts, AttemptSettings
from ._channels import CHANNEL_OPTIONS, Metadata, Stubs, credentials_of, prepare_process
from ._client_options import ENDPOINT_DEFAULT, ClientOptions, bearer_of, read_endpoints
from ._clock import SYSTEM_CLOCK
from ._connections import Connections
from ._endpoints import Endpoints
from ._errors import ErrorReason, SnowlaneError, check_chunk_size, check_count
from ._fork import forget_after_fork
from ._gen.v1 import id_service_pb2 as pb
from ._grpc_fork import leave_to_parent
from ._layout import Layout
from ._observer import ClientObserver
from ._offline import OfflineIds
from ._options import COUNT_MAX, STREAM_COUNT_MAX, PrefetchOptions, call_timeout_s
from ._parse import IdRange, ParsedId, id_range
from ._remote_sequence import AsyncRemoteSequence
from ._rpc_error import error_of_rpc
from ._rpc_stream import StreamSpec
from ._run import IdRun
from ._sequence import AsyncValueSequence
from ._text import TextForm, TextFormat
from ._wire import ChunkCheck, id_of, layout_of, runs_of

if TYPE_CHECKING:
    from .arrays import IdArray

T = TypeVar("T")


class AsyncIdClient:
    """As IdClient, for the tasks of one event loop. A task that is cancelled gets CancelledError, and its RPC is
    cancelled.

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
        self._connections: Connections[grpc.aio.Channel] = Connections(
            self._open_channel, self._close_channel, self._clock.monotonic_s
        )
        self._closing: set[asyncio.Task[None]] = set()
        self._buffers: weakref.WeakSet[AsyncPrefetchBuffer] = weakref.WeakSet()
        self._sleepers: set[asyncio.Future[None]] = set()
        self._settings = AttemptSettings(
            endpoints=Endpoints(list(self._urls), self._clock.monotonic_s),
            monotonic_s=self._clock.monotonic_s,
            observer=self._observer,
            timeout_s=self._options.timeout_s,
            attempt_timeout_s=self._options.attempt_timeout_s,
            retry_max=self._options.retry_max,
        )

    async def next_id(self, timeout_s: float | None = None) -> int:
        """Issues one ID, by one RPC. See IdClient.next_id."""
        request = pb.NextIdRequest()

        async def work(stubs: Stubs, timeout: float, metadata: Metadata) -> int:
            return id_of(await stubs.ids.NextId(request, timeout=timeout, metadata=metadata))

        return await self._call("NextId", timeout_s, work)

    async def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """Issues `count` IDs, by as many reservations as it takes. See IdClient.next_ids."""
        return [id for run in await self._reserve_all(count, timeout_s) for id in run.ids()]

    async def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """The same as next_ids, as an array of uint64: made from runs, not from a list. Needs numpy."""
        from .arrays import array_of  # noqa: PLC0415

        return array_of([run.ids() for run in await self._reserve_all(count, timeout_s)])

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> AsyncGenerator[Sequence[int], None]:
        """Issues `count` IDs as a stream of chunks. See IdClient.stream.

        A loop that is left early cancels the stream when its iterator is closed: contextlib.aclosing does so at once.
        """
        check_count(count, STREAM_COUNT_MAX)
        check_chunk_size(chunk_size)

        def begin(stubs: Stubs, left: int, timeout: float | None, metadata: Metadata) -> Any:
            request = pb.BatchNextIdsRequest(count=left, chunk_size=chunk_size)
            return stubs.ids.BatchNextIds(request, timeout=timeout, metadata=metadata)

        return self._stream(StreamSpec("BatchNextIds", count, begin, ChunkCheck, timeout_s, ordered))

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Reserves 1 to `count` IDs, as runs. See IdClient.reserve."""
        check_count(count, COUNT_MAX)
        request = pb.ReserveIdsRequest(count=count)

        async def work(stubs: Stubs, timeout: float, metadata: Metadata) -> list[IdRun]:
            return runs_of(await stubs.ids.ReserveIds(request, timeout=timeout, metadata=metadata), count)

        return await self._call("ReserveIds", timeout_s, work)

    async def info(self, timeout_s: float | None = None) -> pb.GetInfoResponse:
        """Asks a server what it is: layout, worker ID, limits, version."""
        request = pb.GetInfoRequest()

        async def work(stubs: Stubs, timeout: float, metadata: Metadata) -> pb.GetInfoResponse:
            response: pb.GetInfoResponse = await stubs.ids.GetInfo(request, timeout=timeout, metadata=metadata)
            return response

        return await self._call("GetInfo", timeout_s, work)

    async def layout(self) -> Layout:
        """The deployment's layout: that of the options, or asked for once."""
        layout = self._layout
        if layout is None:
            self._layout = layout = layout_of((await self.info()).layout)
        return layout

    async def parse(
        self, id_or_text: int | str, form: TextForm | None = None, *, utc_offset_minutes: int = 0
    ) -> ParsedId:
        """Reads an ID, or a text form of one, by the layout. See IdClient.parse."""
        return self._offline.parse(await self.layout(), id_or_text, form, utc_offset_minutes)

    async def id_range(self, start: datetime | int, end: datetime | int) -> IdRange:
        """The IDs of [start, end), by the layout. See snowlane.id_range."""
        return id_range(await self.layout(), start, end)

    async def format(self, id: int, format: TextFormat | TextForm) -> str:
        """Writes an ID as text, by the layout. See TextCodec.write."""
        return self._offline.format(await self.layout(), id, format)

    def prefetch(self, options: PrefetchOptions | None = None, **keywords: Any) -> AsyncPrefetchBuffer:
        """Makes a buffer that draws from this client, and is closed with it.

        Args:
            options: How the buffer works.
            keywords: Single options by the names of PrefetchOptions, in place of those in `options`.
        """
        self._refuse_if_closed()
        options = replace(options or PrefetchOptions(), **keywords)
        if options.timeout_s is None:
            options = replace(options, timeout_s=self._options.timeout_s)
        buffer = AsyncPrefetchBuffer(self, options, clock=self._options.clock, observer=self._observer)
        self._buffers.add(buffer)
        return buffer

    def sequence(self, name: str) -> AsyncValueSequence:
        """The sequence of that name. Nothing is sent, so whether there is one shows with its first value."""
        return AsyncRemoteSequence(name, self)

    async def close(self) -> None:
        """Ends all calls with CLIENT_CLOSED, closes the buffers and the connections. Closing twice is closing once."""
        if self._is_closed:
            return
        self._is_closed = True
        for sleeper in self._sleepers:
            _wake(sleeper)
        for buffer in list(self._buffers):
            await buffer.close()
        for channel in self._connections.take_all():
            await channel.close()
        await asyncio.gather(*self._closing)

    async def __aenter__(self) -> AsyncIdClient:
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("An AsyncIdClient cannot be copied or pickled: make one in each process.")

    def _after_fork_in_child(self) -> None:
        leave_to_parent(self._connections.take_all())
        self._begin()

    async def _reserve_all(self, count: int, timeout_s: float | None) -> list[IdRun]:
        check_count(count, COUNT_MAX)
        deadline_s = self._clock.monotonic_s() + call_timeout_s(timeout_s, self._options.timeout_s)
        runs: list[IdRun] = []
        while count > 0:
            for run in await self.reserve(count, deadline_s - self._clock.monotonic_s()):
                runs.append(run)
                count -= run.count
        return runs

    async def _call(
        self,
        method: str,
        timeout_s: float | None,
        work: Callable[[Stubs, float, Metadata], Awaitable[T]],
    ) -> T:
        attempts = Attempts(self._settings, method, timeout_s)
        while True:
            attempt = await self._begin_attempt(attempts)
            try:
                metadata = await self._metadata()
                with self._connections.call(attempt) as connection:
                    value = await work(connection.stubs, attempt.timeout_s, metadata)
            except asyncio.CancelledError:
                # A channel that is closed cancels its calls; so does a task that is cancelled.
                if not self._is_closed:
                    raise
                attempts.fail(attempt, _closed_error())
            except Exception as error:
                attempts.fail(attempt, self._error_of(error, attempt))
            else:
                attempts.succeed(attempt)
                return value

    async def _begin_attempt(self, attempts: Attempts) -> Attempt:
        self._refuse_if_closed()
        endpoint, wait_s = attempts.next()
        if wait_s > 0:
            await self._sleep(wait_s)
        return attempts.begin(endpoint)

    async def _sleep(self, wait_s: float) -> None:
        loop = asyncio.get_running_loop()
        sleeper: asyncio.Future[None] = loop.create_future()
        self._sleepers.add(sleeper)
        clock = self._options.clock
        alarm = clock.after(wait_s, lambda: _wake(sleeper)) if clock else loop.call_later(wait_s, _wake, sleeper)
        try:
            await sleeper
        finally:
            alarm.cancel()
            self._sleepers.discard(sleeper)
        self._refuse_if_closed()

    async def _stream(self, spec: StreamSpec[T]) -> AsyncGenerator[Sequence[T], None]:
        attempts = Attempts(self._settings, spec.method, spec.timeout_s)
        left = spec.count
        while left > 0:
            attempt = await self._begin_attempt(attempts)
            reader = spec.read(left)
            try:
                async with aclosing(self._open_stream(spec, left, attempt, attempts)) as responses:
                    async for response in responses:
                        items = reader.take(response)
                        left -= len(items)
                        attempts.progress(attempt)
                        yield items
                        if spec.timeout_s is None:
                            attempts.await_next()
                reader.end()
            except asyncio.CancelledError:
                if not self._is_closed:
                    raise
                attempts.fail(attempt, _closed_error())
            except Exception as error:
                failure = self._error_of(error, attempt)
                attempts.fail(attempt, failure)
                if spec.ordered and left < spec.count:
                    raise failure from None
            else:
                attempts.succeed(attempt)

    async def _open_stream(
        self, spec: StreamSpec[T], left: int, attempt: Attempt, attempts: Attempts
    ) -> AsyncGenerator[Any, None]:
        """Opens one stream and gives its responses; the wait for each is bounded."""
        timeout = None if spec.timeout_s is None else attempts.left_s()
        metadata = await self._metadata()
        with self._connections.call(attempt) as connection:
            call = spec.open(connection.stubs, left, timeout, metadata)
            try:
                while (response := await _next_response(call, attempts.attempt_left_s())) is not None:
                    self._connections.note_answer(attempt.endpoint.url, connection)
                    yield response
                    self._connections.await_answer(connection)
            finally:
                call.cancel()

    def _open_channel(self, url: str) -> grpc.aio.Channel:
        self._refuse_if_closed()
        prepare_process()
        endpoint = self._urls[url]
        credentials = credentials_of(endpoint, self._options.tls)
        if credentials is None:
            return grpc.aio.insecure_channel(endpoint.target, CHANNEL_OPTIONS)
        return grpc.aio.secure_channel(endpoint.target, credentials, CHANNEL_OPTIONS)

    def _close_channel(self, channel: grpc.aio.Channel) -> None:
        task = asyncio.ensure_future(channel.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _metadata(self) -> Metadata:
        token = self._options.token
        if token is None:
            return ()
        text = token if isinstance(token, str) else token()
        if inspect.isawaitable(text):
            text = await text
        return (("authorization", bearer_of(text)),)

    def _error_of(self, error: Exception, attempt: Attempt) -> SnowlaneError:
        return _closed_error() if self._is_closed else error_of_rpc(error, attempt.endpoint.url)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise _closed_error()


async def _next_response(call: grpc.aio.UnaryStreamCall, timeout_s: float) -> Any:
    """Waits for the next response; None at the end of the stream."""
    try:
        response = await asyncio.wait_for(call.read(), max(timeout_s, 0))
    except asyncio.TimeoutError as error:
        raise SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, "No chunk came in time.") from error
    return None if response is grpc.aio.EOF else response


def _closed_error() -> SnowlaneError:
    return SnowlaneError(ErrorReason.CLIENT_CLOSED, "The client is closed.")


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)
