"""Work in the background of an event loop."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine


def start_apart(work: Coroutine[object, object, None]) -> asyncio.Task[None]:
    """Starts background work in a context of its own: it belongs to the client, not to the request whose task was the
    first to need it.
    """
    return contextvars.Context().run(asyncio.ensure_future, work)
