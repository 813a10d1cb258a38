"""Background work on an event loop."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine

from ._errors import ErrorReason, SnowlaneError
from ._status_code import StatusCode


def start_apart(work: Coroutine[object, object, None]) -> asyncio.Task[None]:
    """Starts background work in a context of its own, because it belongs to the client and not to the task that was the
    first to need it.
    """
    return contextvars.Context().run(asyncio.ensure_future, work)


def other_loop(name: str) -> SnowlaneError:
    """The error of a call on another event loop than that of the existing futures and connections."""
    message = f"An {name} belongs to the event loop that used it first: make one in each loop."
    return SnowlaneError(ErrorReason.RPC_FAILED, message, code=StatusCode.FAILED_PRECONDITION)
