"""The metrics hook."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from .errors import ErrorReason


@dataclass(frozen=True)
class Attempt:
    """An attempt ended. `number` counts from 1 within its call; `reason` is None if it succeeded."""

    method: str
    endpoint: str
    number: int
    duration_s: float
    reason: ErrorReason | None


@dataclass(frozen=True)
class Refill:
    """A reservation ended. `received` is 0 if it failed; `reason` is None if it succeeded."""

    asked: int
    received: int
    duration_s: float
    ids_per_second: float
    reason: ErrorReason | None


@dataclass(frozen=True)
class Wait:
    """A caller that found the buffer dry went on. `reason` is None if it got an ID."""

    duration_s: float
    reason: ErrorReason | None


class ClientObserver:
    """Hears what a client and its buffers do: override what is of interest.

    No method is called for an ID that is in stock. Methods are called on any thread, without a lock; they should return
    soon, and what they raise is ignored.
    """

    def on_attempt(self, attempt: Attempt) -> None:
        """An attempt ended."""

    def on_refill(self, refill: Refill) -> None:
        """A reservation ended."""

    def on_wait(self, wait: Wait) -> None:
        """A caller that found the buffer dry went on."""

    def on_expire(self, count: int) -> None:
        """So many IDs, at least 1, grew too old unused, or were dropped because the buffer was closed."""


def tell(message: Callable[[], None]) -> None:
    """Calls an observer. What it raises is its own affair: it must not cost a caller an ID."""
    with contextlib.suppress(Exception):
        message()
