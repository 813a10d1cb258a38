"""The client, for asyncio."""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ._aio_buffer import AsyncPrefetchBuffer
from ._aio_calls import AsyncCalls
from ._client_options import (
    ATTEMPT_TIMEOUT_DEFAULT_S,
    ENDPOINT_DEFAULT,
    RETRY_MAX,
    TIMEOUT_DEFAULT_S,
    AsyncToken,
    ClientOptions,
    Tls,
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
from ._remote_sequence import AsyncRemoteSequence
from ._rpc_stream import id_stream
from ._run import IdRun
from ._sequence import AsyncValueSequence
from ._server_info import ServerInfo, server_info_of
from ._text import TextForm, TextFormat
from ._unary import INFO, NEXT_ID, reservation
from ._whole_id import whole_id
from ._wire import layout_of

if TYPE_CHECKING:
    from .arrays import IdArray

T = TypeVar("T")


class AsyncIdClient:
    """Like IdClient, for the tasks of one event loop. A task that is cancelled gets CancelledError, and its RPC is
    cancelled.
    """

    def __init__(
        self,
        endpoints: str | Sequence[str] = ENDPOINT_DEFAULT,
        *,
        tls: Tls | None = None,
        token: AsyncToken | None = None,
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
            interceptors: Client interceptors of grpc.aio, such as OpenTelemetry's.
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

    async def info(self, timeout_s: float | None = None) -> ServerInfo:
        """Asks a server what it is: layout, worker ID, limits, version."""
        return server_info_of(await self._calls.call(INFO, timeout_s))

    async def ready(self, timeout_s: float | None = None) -> None:
        """Asks a server what it is, so that a service connects, and finds mistakes in its options, before its first
        request.

        Raises:
            SnowlaneError: See next_id.
        """
        await self._calls.call(INFO, timeout_s)

    async def layout(self) -> Layout:
        """The deployment's layout: that of the options, or else a server is asked for it once."""
        if self._options.layout is not None:
            return self._options.layout
        kept = self._layout
        if kept is None or kept[0] != self._calls.deployments.current:
            info = await self._calls.call(INFO, None)
            number = number_of_response(info) or self._calls.deployments.current
            self._layout = kept = (number, layout_of(info.layout))
        return kept[1]

    async def parse(
        self, id_or_text: int | str, form: TextForm | None = None, *, utc_offset_minutes: int = 0
    ) -> ParsedId:
        """Reads an ID, or a text form of one, by the layout. See IdClient.parse."""
        if not isinstance(id_or_text, str):
            id_or_text = whole_id(id_or_text)
        return self._offline.parse(await self.layout(), id_or_text, form, utc_offset_minutes)

    async def id_range(self, start: datetime | int, end: datetime | int) -> IdRange:
        """The IDs of [start, end), by the layout. See snowlane.id_range."""
        check_times(start, end)
        return id_range(await self.layout(), start, end)

    async def format(self, id: int, format: TextFormat | TextForm) -> str:
        """Writes an ID as text, by the layout. See TextCodec.write."""
        id = whole_id(id)
        return self._offline.format(await self.layout(), id, format)

    def prefetch(
        self,
        *,
        max_age_s: float | None = None,
        count_min: int = COUNT_MIN_DEFAULT,
        count_max: int = COUNT_MAX_DEFAULT,
        timeout_s: float | None = None,
        outage_s: float | None = None,
        stock_max: int = STOCK_MAX_DEFAULT,
    ) -> AsyncPrefetchBuffer:
        """Makes a buffer over this client, which is closed with it. Its options are those of AsyncPrefetchBuffer."""
        self._calls.refuse_if_closed()
        buffer = AsyncPrefetchBuffer(
            _HedgedSource(self._calls),
            max_age_s=max_age_s,
            count_min=count_min,
            count_max=count_max,
            timeout_s=self._options.timeout_s if timeout_s is None else timeout_s,
            outage_s=outage_s,
            stock_max=stock_max,
            clock=self._options.clock,
            observer=self._calls.observer,
        )
        buffer._states = self._calls.states
        self._buffers.add(buffer)
        return buffer

    def sequence(self, name: str) -> AsyncValueSequence:
        """The sequence of that name. Nothing is sent: whether it exists shows when its first value is taken."""
        return AsyncRemoteSequence(name, self._calls)

    async def close(self) -> None:
        """Ends all calls with CLIENT_CLOSED, closes the buffers and the connections. Closing again does nothing."""
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
    """The reservations of a client's buffers. A lost reservation is only a gap, so a second request may be sent."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """See RunSource."""
        return await self._calls.hedged_call(reservation(count), timeout_s)
