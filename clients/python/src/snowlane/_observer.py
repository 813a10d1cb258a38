"""The metrics hook."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable
from dataclasses import dataclass

from ._errors import ErrorReason


@dataclass(frozen=True)
class AttemptEvent:
    """How one attempt of an RPC ended.

    Attributes:
        method: The name of the RPC.
        endpoint: The URL of the server.
        attempt: Number of the attempt within its call, from 1.
        is_hedge: Whether it is the second request of a refill that had no answer soon; both have one number.
        duration_s: How long it took.
        reason: Why it failed; None if it succeeded.
    """

    method: str
    endpoint: str
    attempt: int
    is_hedge: bool
    duration_s: float
    reason: ErrorReason | None


@dataclass(frozen=True)
class RefillEvent:
    """How a reservation of a buffer ended.

    Attributes:
        asked: How many IDs the buffer asked for.
        received: How many IDs came; 0 if it failed.
        duration_s: How long it took.
        rate_per_second: The rate at which IDs were handed out, as last measured.
        reason: Why it failed; None if it succeeded.
    """

    asked: int
    received: int
    duration_s: float
    rate_per_second: float
    reason: ErrorReason | None


@dataclass(frozen=True)
class WaitEvent:
    """How a caller's wait on a dry buffer ended.

    Attributes:
        duration_s: How long the caller waited.
        reason: Why it got no ID; None if it got one.
    """

    duration_s: float
    reason: ErrorReason | None


@dataclass(frozen=True)
class ExpireEvent:
    """IDs of a buffer grew too old unused, or were dropped because the buffer was closed.

    Attributes:
        dropped: How many, at least 1.
    """

    dropped: int


class State(str, enum.Enum):
    """The state of a client or a buffer."""

    FAILING = "failing"
    """Refills of a buffer fail, three in a row or for a second."""
    WORKING = "working"
    """The refills of a buffer that failed work again."""
    MOVED = "moved"
    """From now on, the client calls another endpoint."""
    REPLACED = "replaced"
    """A connection that answered nothing is replaced by another."""
    MISMATCH = "mismatch"
    """A server of another deployment answered, and its answer was dropped."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class StateEvent:
    """A new state of a client or a buffer. The logger `snowlane` gets the same.

    Attributes:
        state: The new state.
        reason: Why; None where nothing failed.
        endpoint: The URL of the server; empty if the event is not about a server.
        duration_s: How long refills had failed; 0 in other states.
    """

    state: State
    reason: ErrorReason | None = None
    endpoint: str = ""
    duration_s: float = 0.0


class ClientObserver:
    """The metrics hook: it is called with what a client and its buffers do. Override the methods that are of interest.

    No method is called for an ID that is in stock. Methods are called on any thread, without a lock; they should return
    soon, and what they raise is ignored.
    """

    def on_attempt(self, event: AttemptEvent) -> None:
        """An attempt ended."""

    def on_refill(self, event: RefillEvent) -> None:
        """A reservation ended."""

    def on_wait(self, event: WaitEvent) -> None:
        """A caller's wait on a dry buffer ended."""

    def on_expire(self, event: ExpireEvent) -> None:
        """IDs of a buffer were dropped."""

    def on_state(self, event: StateEvent) -> None:
        """A client or a buffer has a new state."""


def tell(message: Callable[[], None]) -> None:
    """Calls an observer. What it raises is ignored: it must not cost a caller an ID."""
    with contextlib.suppress(Exception):
        message()
