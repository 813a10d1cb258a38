"""The client, for asyncio."""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ._aio_buffer import AsyncPrefetchBuffer
from ._aio_calls import AsyncCalls
from ._client_options import ENDPOINT_DEFAULT, ClientOptions, read_endpoints
from ._deployments import number_of_response
from ._errors import check_count
from ._fork import forget_after_fork
from ._gen.v1 import id_service_pb2 as pb
from ._layout import Layout
from ._offline import OfflineIds
from ._options import COUNT_MAX, PrefetchOptions, call_timeout_s
from ._parse import IdRange, ParsedId, id_range
from ._remote_sequence import AsyncRemoteSequence
from ._rpc_stream import id_stream
from ._run import IdRun
from ._sequence import AsyncValueSequence
from ._text import TextForm, TextFormat
from ._unary import INFO, NEXT_ID, reservation
from ._wire import layout_of

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
        self._calls = AsyncCalls(read_endpoints(endpoints, self._options), self._options)
        self._offline = OfflineIds(self._options.namespace)
        # The layout that was asked for, and the number of the deployment that it is of.
        self._layout: tuple[int, Layout] | None = None
        self._buffers: weakref.WeakSet[AsyncPrefetchBuffer] = weakref.WeakSet()
        forget_after_fork(self)

    async def next_id(self, timeout_s: float | None = None) -> int:
        """Issues one ID, by one RPC. See IdClient.next_id."""
        return await self._calls.call(NEXT_ID, timeout_s)

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
        return self._calls.stream(id_stream(count, timeout_s, chunk_size, ordered))

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Reserves 1 to `count` IDs, as runs. See IdClient.reserve."""
        return await self._calls.call(reservation(count), timeout_s)

    async def info(self, timeout_s: float | None = None) -> pb.GetInfoResponse:
        """Asks a server what it is: layout, worker ID, limits, version."""
        return await self._calls.call(INFO, timeout_s)

    async def layout(self) -> Layout:
        """The deployment's layout: that of the options, or asked for once."""
        if self._options.layout is not None:
            return self._options.layout
        kept = self._layout
        if kept is None or kept[0] != self._calls.deployments.current:
            info = await self.info()
            number = number_of_response(info) or self._calls.deployments.current
            self._layout = kept = (number, layout_of(info.layout))
        return kept[1]

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
        self._calls.refuse_if_closed()
        options = replace(options or PrefetchOptions(), **keywords)
        if options.timeout_s is None:
            options = replace(options, timeout_s=self._options.timeout_s)
        source = _HedgedSource(self._calls)
        buffer = AsyncPrefetchBuffer(source, options, clock=self._options.clock, observer=self._calls.observer)
        self._buffers.add(buffer)
        return buffer

    def sequence(self, name: str) -> AsyncValueSequence:
        """The sequence of that name. Nothing is sent, so whether there is one shows with its first value."""
        return AsyncRemoteSequence(name, self._calls)

    async def close(self) -> None:
        """Ends all calls with CLIENT_CLOSED, closes the buffers and the connections. Closing twice is closing once."""
        if not self._calls.close():
            return
        for buffer in list(self._buffers):
            await buffer.close()
        await self._calls.cut()

    async def __aenter__(self) -> AsyncIdClient:
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("An AsyncIdClient cannot be copied or pickled: make one in each process.")

    def _after_fork_in_child(self) -> None:
        self._buffers = weakref.WeakSet()

    async def _reserve_all(self, count: int, timeout_s: float | None) -> list[IdRun]:
        check_count(count, COUNT_MAX)
        deadline_s = self._calls.clock.monotonic_s() + call_timeout_s(timeout_s, self._options.timeout_s)
        runs: list[IdRun] = []
        while count > 0:
            for run in await self.reserve(count, deadline_s - self._calls.clock.monotonic_s()):
                runs.append(run)
                count -= run.count
        return runs


class _HedgedSource:
    """The reservations of a client's buffers: a lost one is only a gap, so that a second request may be sent."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """See RunSource."""
        return await self._calls.hedged_call(reservation(count), timeout_s)
