"""The calls of one client, for asyncio: its connections, its token, and the attempts of each call."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

import grpc
import grpc.aio

from ._aio_tasks import other_loop, start_apart
from ._attempts import Attempt, Attempts, AttemptSettings
from ._channels import Metadata, channel_options_of, credentials_of, prepare_process
from ._client_options import ClientOptions, EndpointUrl, bearer_of
from ._clock import SYSTEM_CLOCK, Timer
from ._connections import Connection, Connections
from ._deployments import MEET_TIMEOUT_S, Deployments, MetServer, database_of_response, number_of_response
from ._endpoints import Endpoint, Endpoints
from ._errors import ErrorReason, SnowlaneError
from ._fork import forget_after_fork
from ._grpc_fork import leave_to_parent
from ._hedges import HedgePlan, Hedges
from ._names import LOOK_WAIT_S, Name, Names, look_up
from ._observer import ClientObserver, State, StateEvent
from ._rpc_error import error_of_rpc
from ._rpc_stream import StreamSpec
from ._states import States
from ._unary import INFO, UnarySpec

T = TypeVar("T")

_STREAMS_MAX = 90
"""The most streams of one connection: servers allow 100."""


class AsyncCalls:
    """Like Calls, for the tasks of one event loop."""

    def __init__(self, urls: Sequence[EndpointUrl], options: ClientOptions) -> None:
        self.options = options
        self.clock = options.clock or SYSTEM_CLOCK
        self.observer = options.observer or ClientObserver()
        self.deployments = Deployments(options.deployments)
        self._databases = Deployments.of_databases()
        self.states = States(self.clock.monotonic_s, self.observer)
        self.is_closed = False
        self._bases = list(urls)
        self.look_up = look_up
        self._begin()
        forget_after_fork(self)

    def _begin(self) -> None:
        monotonic_s = self.clock.monotonic_s
        self._connections: Connections[grpc.aio.Channel] = self._new_connections()
        # Streams never share a connection with calls, so that a paused reader holds up no call.
        self._stream_connections: Connections[grpc.aio.Channel] = self._new_connections(calls_max=_STREAMS_MAX)
        self._endpoints = Endpoints([base.url for base in self._bases], monotonic_s)
        self._names = Names(self._bases, self._endpoints, monotonic_s)
        self._hedges = Hedges(monotonic_s, self.options.attempt_timeout_s)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._meeting: asyncio.Task[None] | None = None
        self._looks: dict[str, asyncio.Future[None]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._sleepers: set[asyncio.Future[None]] = set()
        self._settings = AttemptSettings(
            endpoints=self._endpoints,
            monotonic_s=monotonic_s,
            observer=self.observer,
            timeout_s=self.options.timeout_s,
            attempt_timeout_s=self.options.attempt_timeout_s,
            retry_max=self.options.retry_max,
            states=self.states,
        )

    def _new_connections(self, calls_max: int | None = None) -> Connections[grpc.aio.Channel]:
        return Connections(
            self._open_channel,
            self._close_channel,
            self.clock.monotonic_s,
            self._tell_replaced,
            calls_max=calls_max,
            renews=callable(self.options.tls),
        )

    async def call(self, spec: UnarySpec[T], timeout_s: float | None) -> T:
        """Makes a call of one answer."""
        return await self._attempt(spec, timeout_s, self._try_once)

    async def hedged_call(self, spec: UnarySpec[T], timeout_s: float | None) -> T:
        """Makes a call of one answer whose attempts send a second request where the first has no answer soon."""
        return await self._attempt(spec, timeout_s, self._try_hedged)

    async def stream(self, spec: StreamSpec[T]) -> AsyncGenerator[Sequence[T], None]:
        """Makes a stream. Closing the iterator cancels it."""
        attempts = Attempts(self._settings, spec.method, spec.timeout_s)
        left = spec.count
        while left > 0:
            attempt = await self._begin_attempt(attempts)
            reader = spec.read(left)
            try:
                async with aclosing(self._open_stream(spec, left, attempt, attempts)) as responses:
                    async for response in responses:
                        await self._admit(attempt.endpoint.url, response)
                        items = reader.take(response)
                        left -= len(items)
                        attempts.progress(attempt)
                        yield items
                        if spec.timeout_s is None:
                            attempts.await_next()
                reader.end()
            except asyncio.CancelledError:
                if not self.is_closed:
                    raise
                attempts.fail(attempt, _closed_error())
            except Exception as error:
                failure = self._error_of(error, attempt)
                attempts.fail(attempt, failure)
                if spec.ordered and left < spec.count:
                    raise failure from None
            else:
                attempts.succeed(attempt)

    def refuse_if_closed(self) -> None:
        """
        Raises:
            SnowlaneError: CLIENT_CLOSED.
        """
        if self.is_closed:
            raise _closed_error()

    def close(self) -> bool:
        """Ends the calls that wait for an attempt. Returns False if it was closed before."""
        was_open = not self.is_closed
        self.is_closed = True
        for sleeper in self._sleepers:
            _wake(sleeper)
        return was_open

    async def cut(self) -> None:
        """Ends the calls that are on their way."""
        if self._loop not in {None, asyncio.get_running_loop()}:
            # The calls of a loop that has ended have ended with it.
            self._forget_connections()
            return
        if self._meeting is not None:
            self._meeting.cancel()
            await asyncio.wait({self._meeting})
        for channel in self._forget_connections():
            await channel.close()
        await asyncio.gather(*self._closing)

    def _forget_connections(self) -> list[grpc.aio.Channel]:
        return [*self._connections.take_all(), *self._stream_connections.take_all()]

    def _after_fork_in_child(self) -> None:
        leave_to_parent(self._forget_connections())
        self.deployments.after_fork_in_child()
        self._databases.after_fork_in_child()
        self._begin()

    async def _attempt(
        self,
        spec: UnarySpec[T],
        timeout_s: float | None,
        try_it: Callable[[UnarySpec[T], Attempt, Attempts], Awaitable[T]],
    ) -> T:
        attempts = Attempts(self._settings, spec.method, timeout_s)
        while True:
            attempt = await self._begin_attempt(attempts)
            try:
                value = await try_it(spec, attempt, attempts)
            except asyncio.CancelledError:
                # A closed channel cancels its calls, and so does a cancelled task.
                if not self.is_closed:
                    raise
                attempts.fail(attempt, _closed_error())
            except Exception as error:
                attempts.fail(attempt, self._error_of(error, attempt))
            else:
                attempts.succeed(attempt)
                return value

    async def _try_once(self, spec: UnarySpec[T], attempt: Attempt, attempts: Attempts) -> T:
        metadata = await self._metadata()
        with self._connections.call(attempt) as connection:
            response = await spec.rpc(connection.stubs)(spec.request, timeout=attempt.timeout_s, metadata=metadata)
        return await self._read(spec, attempt.endpoint, response)

    async def _read(self, spec: UnarySpec[T], endpoint: Endpoint, response: Any) -> T:
        await self._admit(endpoint.url, response)
        return spec.read(response)

    async def _try_hedged(self, spec: UnarySpec[T], attempt: Attempt, attempts: Attempts) -> T:
        """Sends a second request if the first has no answer after a while, and takes the first valid answer. The other
        request is cancelled and its answer never read. If both fail, the error is that of the first.
        """
        metadata = await self._metadata()
        started_s: dict[asyncio.Task[T], float] = {}
        lost: set[Connection[grpc.aio.Channel]] = set()

        def begin(endpoint: Endpoint, connection: Connection[grpc.aio.Channel]) -> asyncio.Task[T]:
            timeout_s = attempts.attempt_left_s()
            leg = asyncio.ensure_future(
                self._run_leg(spec, attempt, endpoint, connection, lost, timeout_s=timeout_s, metadata=metadata)
            )
            started_s[leg] = self.clock.monotonic_s()
            return leg

        plan = self._hedges.plan(attempt.endpoint, self._endpoints, self._connections)
        first_connection = self._connections.begin(attempt.endpoint.url)
        first = begin(attempt.endpoint, first_connection)
        connections = {first_connection}
        second: asyncio.Task[T] | None = None
        begun_at, reported = attempt.endpoint, first
        try:
            await self._wait_for(first, plan.delay_s)
            connection = None if first.done() else self._open_hedge(plan)
            if connection is not None:
                connections.add(connection)
                second = begin(plan.endpoint, connection)
            under_way = set(started_s)
            while under_way:
                done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                winner = next((leg for leg in done if not leg.cancelled() and leg.exception() is None), None)
                if winner is not None:
                    endpoint = plan.endpoint if winner is second else attempt.endpoint
                    self._hedges.note_answer(self.clock.monotonic_s() - started_s[winner])
                    self._endpoints.note_refill(endpoint, is_hedge=endpoint is not attempt.endpoint)
                    attempt.endpoint, attempt.is_hedge = endpoint, winner is second
                    reported = winner
                    return winner.result()
            return first.result()
        finally:
            lost.update(connections)
            for leg in started_s:
                leg.cancel()
            await asyncio.wait(started_s)
            for leg in started_s:
                if leg is not reported:
                    endpoint = plan.endpoint if leg is second else begun_at
                    attempts.lost(attempt, endpoint, _reason_of(leg, endpoint), is_hedge=leg is second)

    async def _run_leg(
        self,
        spec: UnarySpec[T],
        attempt: Attempt,
        endpoint: Endpoint,
        connection: Connection[grpc.aio.Channel],
        lost: set[Connection[grpc.aio.Channel]],
        *,
        timeout_s: float,
        metadata: Metadata,
    ) -> T:
        """Makes one of the two requests of an attempt. A request whose connection is in `lost` is no longer needed."""
        try:
            response = await spec.rpc(connection.stubs)(spec.request, timeout=timeout_s, metadata=metadata)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and connection in lost:
                self._connections.leave(connection)
                raise
            is_replaced = self._connections.end(endpoint.url, connection, error)
            if endpoint is attempt.endpoint:
                attempt.is_replaced = attempt.is_replaced or is_replaced
            if isinstance(error, Exception) and (
                error_of_rpc(error, endpoint.url).reason is ErrorReason.QUOTA_EXCEEDED
            ):
                self._hedges.note_quota()
            raise
        if connection not in lost:
            self._connections.adopt(endpoint.url, connection)
        self._connections.end(endpoint.url, connection)
        return await self._read(spec, endpoint, response)

    def _open_hedge(self, plan: HedgePlan) -> Connection[grpc.aio.Channel] | None:
        if self._hedges.are_paused:
            return None
        if plan.is_second:
            return self._connections.begin_second(plan.endpoint.url)
        return self._connections.begin(plan.endpoint.url)

    async def _wait_for(self, task: asyncio.Task[T], delay_s: float) -> None:
        """Waits until a task is done, for at most the given time."""
        due: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        alarm = self._after(delay_s, due)
        try:
            both: set[asyncio.Future[Any]] = {task, due}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()

    def _check_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise other_loop("AsyncIdClient")

    async def _begin_attempt(self, attempts: Attempts) -> Attempt:
        self.refuse_if_closed()
        self._check_loop()
        await self._look()
        self._meet()
        endpoint, wait_s = attempts.next()
        if wait_s > 0:
            await self._sleep(wait_s)
        return attempts.begin(endpoint)

    async def _look(self) -> None:
        """Makes sure that names are looked up from time to time, in the background. The first call waits for them."""
        for name in self._names.due():
            self._begin_look(name)
        for name in self._names.unknown():
            looked = self._looks.get(name.base.url)
            if looked is not None:
                await asyncio.wait({looked}, timeout=LOOK_WAIT_S)
                name.known.set()

    def _begin_look(self, name: Name) -> None:
        loop, names = asyncio.get_running_loop(), self._names
        looked = self._looks[name.base.url] = loop.create_future()

        def finish(found: Sequence[str]) -> None:
            self._forget_endpoints(names.take(name, found))
            _wake(looked)

        def work() -> None:
            found = self.look_up(name)
            # The loop may have ended meanwhile.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(finish, found)

        try:
            self.clock.spawn(work)
        except RuntimeError:
            # No thread could be started: there are too many, or the interpreter is about to end.
            finish([])

    def _forget_endpoints(self, urls: Sequence[str]) -> None:
        for url in urls:
            self._connections.forget(url)
            self._stream_connections.forget(url)

    async def _sleep(self, wait_s: float) -> None:
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.add(sleeper)
        alarm = self._after(wait_s, sleeper)
        try:
            await sleeper
        finally:
            alarm.cancel()
            self._sleepers.discard(sleeper)
        self.refuse_if_closed()

    def _after(self, delay_s: float, future: asyncio.Future[None]) -> Timer:
        clock = self.options.clock
        if clock is not None:
            return clock.after(delay_s, lambda: _wake(future))
        return asyncio.get_running_loop().call_later(delay_s, _wake, future)

    def _meet(self) -> None:
        """Begins to ask all endpoints which deployment they belong to, once.

        Raises:
            SnowlaneError: DEPLOYMENT_MISMATCH, if they belong to two.
        """
        if self._meeting is None and self._endpoints.count > 1:
            self._meeting = start_apart(self._meet_all())
        self.deployments.check_conflict()

    async def _meet_all(self) -> None:
        for server in await asyncio.gather(*(self._ask_deployment(url) for url in self._endpoints.urls())):
            if server is not None and not self.deployments.meet_at_start(server):
                self._tell_mismatch(server.url)

    async def _ask_deployment(self, url: str) -> MetServer | None:
        """Asks a server which deployment it belongs to; None if it does not answer soon."""
        try:
            metadata = await self._metadata()
            connection = self._connections.begin(url)
        except Exception:
            # A mistake shows in the call itself.
            return None
        try:
            info = await INFO.rpc(connection.stubs)(INFO.request, timeout=MEET_TIMEOUT_S, metadata=metadata)
        except BaseException as error:
            self._connections.end(url, connection, error)
            if isinstance(error, Exception):
                return None
            raise
        self._connections.end(url, connection)
        number = number_of_response(info)
        return MetServer(url, number, info) if number else None

    async def _admit(self, url: str, response: Any) -> None:
        """Checks the number of an answer's deployment or database, before any ID or value of it is read.

        Raises:
            SnowlaneError: DEPLOYMENT_MISMATCH: the answer must be dropped whole.
        """
        if self._meeting is not None and not self._meeting.done():
            await asyncio.wait({self._meeting})
        self.deployments.check_conflict()
        if database := database_of_response(response):
            self._admit_to(self._databases, MetServer(url, database))
        number = number_of_response(response)
        if number == 0:
            return
        server: MetServer | None = None
        # With only one endpoint, there is nothing to compare its answer with.
        if not self.deployments.knows(number) and self._endpoints.count > 1:
            server = await self._ask_deployment(url)
        self._admit_to(self.deployments, server if server and server.number == number else MetServer(url, number))

    def _admit_to(self, known: Deployments, server: MetServer) -> None:
        try:
            known.admit(server)
        except SnowlaneError:
            self._tell_mismatch(server.url)
            raise

    def _tell_mismatch(self, url: str) -> None:
        self.states.tell(StateEvent(State.MISMATCH, ErrorReason.DEPLOYMENT_MISMATCH, url))

    def _tell_replaced(self, url: str) -> None:
        self.states.tell(StateEvent(State.REPLACED, endpoint=url))

    async def _open_stream(
        self, spec: StreamSpec[T], left: int, attempt: Attempt, attempts: Attempts
    ) -> AsyncGenerator[Any, None]:
        """Opens one stream and yields its responses; the wait for each is bounded."""
        timeout = None if spec.timeout_s is None else attempts.left_s()
        metadata = await self._metadata()
        with self._stream_connections.call(attempt) as connection:
            call = spec.open(connection.stubs, left, timeout, metadata)
            try:
                while (response := await _next_response(call, attempts.attempt_left_s())) is not None:
                    self._stream_connections.note_answer(attempt.endpoint.url, connection)
                    yield response
                    self._stream_connections.await_answer(connection)
            finally:
                call.cancel()

    def _open_channel(self, url: str) -> grpc.aio.Channel:
        self.refuse_if_closed()
        prepare_process()
        endpoint = self._names.place_of(url)
        credentials = credentials_of(endpoint, self.options.tls)
        options, interceptors = channel_options_of(self.options, endpoint), self.options.interceptors
        if credentials is None:
            return grpc.aio.insecure_channel(endpoint.target, options, interceptors=interceptors)
        return grpc.aio.secure_channel(endpoint.target, credentials, options, interceptors=interceptors)

    def _close_channel(self, channel: grpc.aio.Channel) -> None:
        task = asyncio.ensure_future(channel.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _metadata(self) -> Metadata:
        token = self.options.token
        if token is None:
            return ()
        text = token if isinstance(token, str) else token()
        if inspect.isawaitable(text):
            text = await text
        return (("authorization", bearer_of(text)),)

    def _error_of(self, error: Exception, attempt: Attempt) -> SnowlaneError:
        return _closed_error() if self.is_closed else error_of_rpc(error, attempt.endpoint.url)


def _reason_of(leg: asyncio.Task[T], endpoint: Endpoint) -> ErrorReason | None:
    """Why a request failed; None where it was cancelled, or answered too late."""
    error = None if leg.cancelled() else leg.exception()
    return error_of_rpc(error, endpoint.url).reason if error is not None else None


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
