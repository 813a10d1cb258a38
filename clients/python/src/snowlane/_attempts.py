"""The attempts of one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ._backoff import quota_wait_s
from ._endpoints import Endpoint, Endpoints
from ._errors import ErrorReason, SnowlaneError
from ._observer import AttemptEvent, ClientObserver, State, StateEvent, tell
from ._options import call_timeout_s
from ._states import States
from ._status_code import StatusCode


@dataclass(frozen=True)
class AttemptSettings:
    """How calls are tried. `retry_max` counts the attempts after the first."""

    endpoints: Endpoints
    monotonic_s: Callable[[], float]
    observer: ClientObserver
    timeout_s: float
    attempt_timeout_s: float
    retry_max: int
    states: States


@dataclass
class Attempt:
    """One attempt, on its way.

    Attributes:
        number: Counts from 1.
        is_replaced: Whether its connection was dark, so that the next attempt at this endpoint takes another one.
        is_hedge: Whether its second request was answered.
    """

    endpoint: Endpoint
    number: int
    started_s: float
    timeout_s: float
    is_replaced: bool = False
    is_hedge: bool = False


class Attempts:
    """Decides which endpoint is next, how long to wait before, and when to give up. It does not wait itself."""

    def __init__(self, settings: AttemptSettings, method: str, timeout_s: float | None) -> None:
        self._settings = settings
        self._method = method
        self._limit_s = call_timeout_s(timeout_s, settings.timeout_s)
        self._deadline_s = settings.monotonic_s() + self._limit_s
        self._number = 0
        self._quota_wait_s = 0.0
        # The error to report when time runs out: the last failure that was not itself caused by time running out.
        self._last_failure: SnowlaneError | None = None

    def left_s(self) -> float:
        """The time until the deadline of the call."""
        return self._deadline_s - self._settings.monotonic_s()

    def attempt_left_s(self) -> float:
        """How long the current attempt may still take."""
        return min(self._settings.attempt_timeout_s, self.left_s())

    def next(self) -> tuple[Endpoint, float]:
        """The endpoint of the next attempt, and how many seconds to wait before `begin`.

        Raises:
            SnowlaneError: The attempt would be due after the deadline of the call.
        """
        endpoint, wait_s = self._settings.endpoints.choose()
        moved_to = self._settings.endpoints.announce()
        if moved_to is not None:
            reason = self._last_failure.reason if self._last_failure else None
            self._settings.states.tell(StateEvent(State.MOVED, reason, moved_to))
        wait_s = max(wait_s, self._quota_wait_s)
        if wait_s >= self.left_s():
            raise self._last_failure or endpoint.last_failure or self._deadline_exceeded()
        return endpoint, wait_s

    def begin(self, endpoint: Endpoint) -> Attempt:
        """Begins an attempt, which must be ended by `succeed` or `fail`."""
        self._quota_wait_s = 0.0
        self._number += 1
        return Attempt(endpoint, self._number, self._settings.monotonic_s(), self.attempt_left_s())

    def progress(self, attempt: Attempt) -> None:
        """Records that a stream moved on: the count of attempts starts again."""
        self._number = 1
        self._last_failure = None
        self._settings.endpoints.note_success(attempt.endpoint)

    def await_next(self) -> None:
        """Records that the reader of a stream without a deadline waits for the next chunk: the time starts again."""
        self._deadline_s = self._settings.monotonic_s() + self._limit_s

    def succeed(self, attempt: Attempt) -> None:
        """Ends an attempt."""
        self._settings.endpoints.note_success(attempt.endpoint)
        self._report(attempt, None)

    def lost(self, attempt: Attempt, endpoint: Endpoint, reason: ErrorReason | None, *, is_hedge: bool) -> None:
        """Ends the second request of an attempt, or the first where the second one was answered before it.

        Args:
            reason: Why it failed; None: it was no longer needed.
        """
        other = replace(attempt, endpoint=endpoint, is_hedge=is_hedge)
        self._report(other, reason or ErrorReason.CANCELLED)

    def fail(self, attempt: Attempt, error: SnowlaneError) -> None:
        """Ends an attempt.

        Raises:
            SnowlaneError: No further attempt follows.
        """
        self._report(attempt, error.reason)
        has_run_out = error.reason is ErrorReason.DEADLINE_EXCEEDED
        is_mismatch = error.reason is ErrorReason.DEPLOYMENT_MISMATCH
        if error.endpoint and not has_run_out and error.reason is not ErrorReason.UNREACHABLE:
            self._settings.endpoints.note_answer()
        if error.reason is ErrorReason.QUOTA_EXCEEDED:
            self._quota_wait_s = quota_wait_s(error.retry_after_s)
        elif attempt.is_replaced:
            self._settings.endpoints.note_dark_connection(attempt.endpoint)
        elif has_run_out and self.left_s() <= 0:
            # The caller's own time has run out, which says nothing about the endpoint.
            pass
        elif has_run_out or error.code is StatusCode.UNAVAILABLE or is_mismatch:
            error = self._settings.endpoints.note_failure(attempt.endpoint, error)
            if error.is_first_mistake():
                raise error
        else:
            raise error
        if not has_run_out:
            self._last_failure = error
        if self._number > self._settings.retry_max:
            raise self._last_failure or error

    def _report(self, attempt: Attempt, reason: ErrorReason | None) -> None:
        duration_s = self._settings.monotonic_s() - attempt.started_s
        url, number, is_hedge = attempt.endpoint.url, attempt.number, attempt.is_hedge
        event = AttemptEvent(self._method, url, number, is_hedge, duration_s, reason)
        tell(lambda: self._settings.observer.on_attempt(event))

    def _deadline_exceeded(self) -> SnowlaneError:
        limit_ms = round(self._limit_s * 1000)
        return SnowlaneError(ErrorReason.DEADLINE_EXCEEDED, f"No answer came within {limit_ms} ms.")
