"""A primary key for SQLAlchemy whose IDs come from Snowlane. Needs SQLAlchemy, which nothing else here does."""

from __future__ import annotations

import asyncio
from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.orm import MappedColumn, mapped_column
from sqlalchemy.util import await_only
from sqlalchemy.util.concurrency import in_greenlet

from ._buffer import PrefetchBuffer
from ._errors import ErrorReason, SnowlaneError

__all__ = ["id_column"]


def id_column(ids: PrefetchBuffer, **options: Any) -> MappedColumn[int]:
    """A primary key whose default is the next ID of a buffer, for Session and AsyncSession alike.

    Args:
        ids: The buffer that all tables of the program share. It may be made before a server forks: each child begins
            with an empty one.
        options: Of mapped_column; those that are given here win.

    In an AsyncSession, a wait for a server runs in a thread, so the event loop goes on.
    """
    column: dict[str, Any] = {"primary_key": True, "autoincrement": False, "default": lambda: _next_id(ids)}
    return mapped_column(BigInteger, **(column | options))


def _next_id(ids: PrefetchBuffer) -> int:
    if not in_greenlet():
        return ids.next_id()
    try:
        return ids.next_id_now()
    except SnowlaneError as error:
        if error.reason is not ErrorReason.STOCK_EMPTY:
            raise
    waited: int = await_only(asyncio.to_thread(ids.next_id))
    return waited
