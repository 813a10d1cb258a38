"""The calls of one client, for threads: its connections, its token, and the attempts of each call."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc

from ._attempts import Attempt, Attempts, AttemptSettings
from ._channels import Metadata, channel_options_of, credentials_of, prepare_process
from ._client_options import ClientOptions, EndpointUrl, bearer_of
from ._clock import SYSTEM_CLOCK
from ._connections import Connection, Connections
from ._deployments import MEET_TIMEOUT_S, Deployments, MetServer, database_of_response, number_of_response
from ._endpoints import Endpoint, Endpoints
from ._errors import ErrorReason, SnowlaneError
from ._fork import forget_after_fork
from ._grpc_fork import grpc_call, leave_to_parent, wait_before_forks
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


@dataclass(eq=False)
class _Leg:
    """One of the two requests of an attempt, on its way."""

    endpoint: Endpoint
    connection: Connection[grpc.Channel]
    started_s: float
    call: grpc.Future


class Calls:
    """Makes calls with their attempts. Safe for any number of threads. A forked child has connections of its own."""

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
        self.changed = threading.Condition()
        monotonic_s = self.clock.monotonic_s
        self._connections: Connections[grpc.Channel] = self._new_connections()
        # Streams never share a connection with calls, so that a paused reader holds up no call.
        self._stream_connections: Connections[grpc.Channel] = self._new_connections(calls_max=_STREAMS_MAX)
        self._endpoints = Endpoints([base.url for base in self._bases], monotonic_s)
        self._names = Names(self._bases, self._endpoints, monotonic_s)
        self._hedges = Hedges(monotonic_s, self.options.attempt_timeout_s)
        self._is_meeting = False
        self._has_met = threading.Event()
        self._settings = AttemptSettings(
            endpoints=self._endpoints,
            monotonic_s=monotonic_s,
            observer=self.observer,
            timeout_s=self.options.timeout_s,
            attempt_timeout_s=self.options.attempt_timeout_s,
            retry_max=self.options.retry_max,
            states=self.states,
        )

    def _new_connections(self, calls_max: int | None = None) -> Connections[grpc.Channel]:
        return Connections(
            self._open_channel,
            _close_channel,
            self.clock.monotonic_s,
            self._tell_replaced,
            calls_max=calls_max,
            renews=callable(self.options.tls),
        )

    def call(self, spec: UnarySpec[T], timeout_s: float | None) -> T:
        """Makes a call of one answer."""
        return self._attempt(spec, timeout_s, self._try_once)

    def hedged_call(self, spec: UnarySpec[T], timeout_s: float | None) -> T:
        """Makes a call of one answer whose attempts send a second request where the first has no answer soon."""
        return self._attempt(spec, timeout_s, self._try_hedged)

    def stream(self, spec: StreamSpec[T]) -> Iterator[Sequence[T]]:
        """Makes a stream. Closing the iterator cancels it."""
        attempts = Attempts(self._settings, spec.method, spec.timeout_s)
        left = spec.count
        while left > 0:
            attempt = self._begin_attempt(attempts)
            reader = spec.read(left)
            try:
                with closing(self._open_stream(spec, left, attempt, attempts)) as responses:
                    for response in responses:
                        self._admit(attempt.endpoint.url, response)
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

    def refuse_if_closed(self) -> None:
        """
        Raises:
            SnowlaneError: CLIENT_CLOSED.
        """
        if self.is_closed:
            raise SnowlaneError(ErrorReason.CLIENT_CLOSED, "The client is closed.")

    def close(self) -> bool:
        """Ends the calls that wait for an attempt. Returns False if it was closed before."""
        with self.changed:
            was_open = not self.is_closed
            self.is_closed = True
            self.changed.notify_all()
        return was_open

    def cut(self) -> None:
        """Ends the calls that are on their way."""
        for channel in self._forget_connections():
            channel.close()

    def _cut_calls(self) -> None:
        self.cut()

    def _forget_connections(self) -> list[grpc.Channel]:
        return [*self._connections.take_all(), *self._stream_connections.take_all()]

    def _after_fork_in_child(self) -> None:
        leave_to_parent(self._forget_connections())
        self.deployments.after_fork_in_child()
        self._databases.after_fork_in_child()
        self._begin()

    def _attempt(
        self,
        spec: UnarySpec[T],
        timeout_s: float | None,
        try_it: Callable[[UnarySpec[T], Attempt, Attempts], T],
    ) -> T:
        attempts = Attempts(self._settings, spec.method, timeout_s)
        while True:
            attempt = self._begin_attempt(attempts)
            try:
                value = try_it(spec, attempt, attempts)
            except Exception as error:
                attempts.fail(attempt, self._error_of(error, attempt))
            else:
                attempts.succeed(attempt)
                return value

    def _try_once(self, spec: UnarySpec[T], attempt: Attempt, attempts: Attempts) -> T:
        metadata = self._metadata()
        with self._connections.call(attempt) as connection, grpc_call():
            response = spec.rpc(connection.stubs)(spec.request, timeout=attempt.timeout_s, metadata=metadata)
        return self._read(spec, attempt.endpoint, response)

    def _read(self, spec: UnarySpec[T], endpoint: Endpoint, response: Any) -> T:
        self._admit(endpoint.url, response)
        return spec.read(response)

    def _try_hedged(self, spec: UnarySpec[T], attempt: Attempt, attempts: Attempts) -> T:
        """Sends a second request if the first has no answer after a while, and takes the first valid answer. The other
        request is cancelled and its answer never read. If both fail, the error is that of the first.
        """
        metadata = self._metadata()
        ended: queue.SimpleQueue[_Leg | None] = queue.SimpleQueue()

        def begin(endpoint: Endpoint, connection: Connection[grpc.Channel]) -> _Leg:
            call = self._begin_rpc(spec, connection, attempts.attempt_left_s(), metadata)
            leg = _Leg(endpoint, connection, self.clock.monotonic_s(), call)
            call.add_done_callback(lambda _: ended.put(leg))
            return leg

        failure: Exception | None = None
        reasons: dict[_Leg, ErrorReason] = {}
        with grpc_call():
            plan = self._hedges.plan(attempt.endpoint, self._endpoints, self._connections)
            first = begin(attempt.endpoint, self._connections.begin(attempt.endpoint.url))
            legs, under_way, reported = [first], [first], first
            alarm = self.clock.after(plan.delay_s, lambda: ended.put(None))
            try:
                while under_way:
                    leg = ended.get()
                    if leg is None:
                        # After an error there is no hedge, but the next attempt.
                        connection = None if failure else self._open_hedge(plan)
                        if connection is not None:
                            legs.append(begin(plan.endpoint, connection))
                            under_way.append(legs[-1])
                        continue
                    under_way.remove(leg)
                    try:
                        value = self._end_leg(spec, leg, attempt)
                    except Exception as error:
                        reasons[leg] = error_of_rpc(error, leg.endpoint.url).reason
                        if failure is None or leg is first:
                            failure = error
                        continue
                    reported = leg
                    self._note_winner(leg, attempt)
                    attempt.is_hedge = leg is not first
                    return value
            finally:
                alarm.cancel()
                for leg in under_way:
                    leg.call.cancel()
                    self._connections.leave(leg.connection)
                for leg in legs:
                    if leg is not reported:
                        attempts.lost(attempt, leg.endpoint, reasons.get(leg), is_hedge=leg is not first)
        assert failure is not None
        raise failure

    def _begin_rpc(
        self, spec: UnarySpec[Any], connection: Connection[grpc.Channel], timeout_s: float, metadata: Metadata
    ) -> grpc.Future:
        try:
            call: grpc.Future = spec.rpc(connection.stubs).future(spec.request, timeout=timeout_s, metadata=metadata)
        except BaseException:
            self._connections.leave(connection)
            raise
        return call

    def _open_hedge(self, plan: HedgePlan) -> Connection[grpc.Channel] | None:
        if self._hedges.are_paused:
            return None
        if plan.is_second:
            return self._connections.begin_second(plan.endpoint.url)
        return self._connections.begin(plan.endpoint.url)

    def _end_leg(self, spec: UnarySpec[T], leg: _Leg, attempt: Attempt) -> T:
        url = leg.endpoint.url
        try:
            response = leg.call.result()
        except Exception as error:
            is_replaced = self._connections.end(url, leg.connection, error)
            if leg.endpoint is attempt.endpoint:
                attempt.is_replaced = attempt.is_replaced or is_replaced
            if error_of_rpc(error, url).reason is ErrorReason.QUOTA_EXCEEDED:
                self._hedges.note_quota()
            raise
        self._connections.adopt(url, leg.connection)
        self._connections.end(url, leg.connection)
        return self._read(spec, leg.endpoint, response)

    def _note_winner(self, leg: _Leg, attempt: Attempt) -> None:
        self._hedges.note_answer(self.clock.monotonic_s() - leg.started_s)
        self._endpoints.note_refill(leg.endpoint, is_hedge=leg.endpoint is not attempt.endpoint)
        attempt.endpoint = leg.endpoint

    def _begin_attempt(self, attempts: Attempts) -> Attempt:
        self.refuse_if_closed()
        self._look()
        self._meet()
        endpoint, wait_s = attempts.next()
        self._sleep(wait_s)
        return attempts.begin(endpoint)

    def _look(self) -> None:
        """Makes sure that names are looked up from time to time, in the background. The first call waits for them."""
        for name in self._names.due():
            self._begin_look(name)
        for name in self._names.unknown():
            name.known.wait(LOOK_WAIT_S)
            name.known.set()

    def _begin_look(self, name: Name) -> None:
        names = self._names

        def work() -> None:
            for url in names.take(name, self.look_up(name)):
                self._connections.forget(url)
                self._stream_connections.forget(url)

        try:
            self.clock.spawn(work)
        except RuntimeError:
            # No thread could be started: there are too many, or the interpreter is about to end.
            names.take(name, [])

    def _sleep(self, wait_s: float) -> None:
        until_s = self.clock.monotonic_s() + wait_s
        with self.changed:
            while not self.is_closed:
                left_s = until_s - self.clock.monotonic_s()
                if left_s <= 0:
                    return
                self.clock.wait(self.changed, left_s)
        self.refuse_if_closed()

    def _meet(self) -> None:
        """Begins to ask all endpoints which deployment they belong to, once.

        Raises:
            SnowlaneError: DEPLOYMENT_MISMATCH, if they belong to two.
        """
        with self.changed:
            begins, self._is_meeting = not self._is_meeting, True
        if begins and self._endpoints.count == 1:
            self._has_met.set()
        elif begins:
            has_met = self._has_met
            try:
                self.clock.spawn(lambda: self._meet_all(has_met))
            except RuntimeError:
                # No thread could be started: there are too many, or the interpreter is about to end.
                self._meet_all(has_met)
        self.deployments.check_conflict()

    def _meet_all(self, has_met: threading.Event) -> None:
        try:
            for server in self._ask_deployments(self._endpoints.urls()):
                if not self.deployments.meet_at_start(server):
                    self._tell_mismatch(server.url)
        finally:
            has_met.set()

    def _ask_deployments(self, urls: Sequence[str]) -> list[MetServer]:
        """Asks servers which deployment they belong to. Those that do not answer soon are left out."""
        found: list[MetServer] = []
        asked: list[tuple[str, Connection[grpc.Channel], grpc.Future]] = []
        with grpc_call(), contextlib.suppress(Exception):
            # A mistake shows in the call itself.
            metadata = self._metadata()
            for url in urls:
                connection = self._connections.begin(url)
                asked.append((url, connection, self._begin_rpc(INFO, connection, MEET_TIMEOUT_S, metadata)))
        with grpc_call():
            for url, connection, call in asked:
                failure = call.exception()
                self._connections.end(url, connection, failure)
                number = 0 if failure else number_of_response(call.result())
                if number:
                    found.append(MetServer(url, number, call.result()))
        return found

    def _admit(self, url: str, response: Any) -> None:
        """Checks the number of an answer's deployment or database, before any ID or value of it is read.

        Raises:
            SnowlaneError: DEPLOYMENT_MISMATCH: the answer must be dropped whole.
        """
        if not self._has_met.is_set():
            self._has_met.wait()
        self.deployments.check_conflict()
        if database := database_of_response(response):
            self._admit_to(self._databases, MetServer(url, database))
        number = number_of_response(response)
        if number == 0:
            return
        server = MetServer(url, number)
        # With only one endpoint, there is nothing to compare its answer with.
        if not self.deployments.knows(number) and self._endpoints.count > 1:
            asked = self._ask_deployments([url])
            if asked and asked[0].number == number:
                server = asked[0]
        self._admit_to(self.deployments, server)

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

    def _open_stream(
        self, spec: StreamSpec[T], left: int, attempt: Attempt, attempts: Attempts
    ) -> Generator[Any, None, None]:
        """Opens one stream and yields its responses; the wait for each is bounded."""
        timeout = None if spec.timeout_s is None else attempts.left_s()
        metadata = self._metadata()
        with self._stream_connections.call(attempt) as connection:
            with grpc_call():
                call = spec.open(connection.stubs, left, timeout, metadata)
            try:
                while (response := self._next_response(call, attempts.attempt_left_s())) is not None:
                    self._stream_connections.note_answer(attempt.endpoint.url, connection)
                    yield response
                    self._stream_connections.await_answer(connection)
            finally:
                call.cancel()

    def _next_response(self, call: Any, timeout_s: float) -> Any:
        """Waits for the next response; None at the end of the stream."""
        late = False

        def give_up() -> None:
            nonlocal late
            late = True
            call.cancel()

        alarm = self.clock.after(max(timeout_s, 0), give_up)
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
        self.refuse_if_closed()
        prepare_process()
        endpoint = self._names.place_of(url)
        credentials = credentials_of(endpoint, self.options.tls)
        options = channel_options_of(self.options, endpoint)
        if credentials is None:
            channel = grpc.insecure_channel(endpoint.target, options)
        else:
            channel = grpc.secure_channel(endpoint.target, credentials, options)
        if self.options.interceptors:
            channel = grpc.intercept_channel(channel, *self.options.interceptors)
        wait_before_forks(self)
        return channel

    def _metadata(self) -> Metadata:
        token = self.options.token
        if token is None:
            return ()
        text = token if isinstance(token, str) else token()
        return (("authorization", bearer_of(text)),)

    def _error_of(self, error: Exception, attempt: Attempt) -> SnowlaneError:
        if self.is_closed:
            return SnowlaneError(ErrorReason.CLIENT_CLOSED, "The client is closed.")
        return error_of_rpc(error, attempt.endpoint.url)


def _close_channel(channel: grpc.Channel) -> None:
    channel.close()
