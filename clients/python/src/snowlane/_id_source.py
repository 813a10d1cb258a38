"""Where IDs come from: IdClient, or FakeIdClient in tests. Code that takes an IdSource needs no server in tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from ._aio_buffer import AsyncPrefetchBuffer
from ._buffer import PrefetchBuffer
from ._layout import Layout
from ._options import COUNT_MAX_DEFAULT, COUNT_MIN_DEFAULT, STOCK_MAX_DEFAULT
from ._parse import IdRange, ParsedId
from ._run import IdRun
from ._sequence import AsyncValueSequence, ValueSequence
from ._text import TextForm, TextFormat

if TYPE_CHECKING:
    from .arrays import IdArray


class IdSource(Protocol):
    """A source for threads. Every method may raise SnowlaneError."""

    def next_id(self, timeout_s: float | None = None) -> int:
        """Issues one ID."""

    def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """Issues `count` IDs, 1 to 1,048,576. They ascend as long as one server answers."""

    def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """The same as next_ids, as an array of uint64. Needs numpy."""

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> Iterator[Sequence[int]]:
        """Issues `count` IDs, 1 to 10^9, in chunks: exactly that many, or an error."""

    def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """Reserves 1 to `count` IDs, as runs."""

    def layout(self) -> Layout:
        """The deployment's layout. A server is asked for it once."""

    def parse(self, id_or_text: int | str, form: TextForm | None = None, *, utc_offset_minutes: int = 0) -> ParsedId:
        """Reads an ID, or a text form of one, by the layout. MALFORMED_TEXT for a UUID that holds no ID of the
        deployment.
        """

    def id_range(self, start: datetime | int, end: datetime | int) -> IdRange:
        """The IDs of [start, end), by the layout. See snowlane.id_range."""

    def format(self, id: int, format: TextFormat | TextForm) -> str:
        """Writes an ID as text, by the layout."""

    def prefetch(
        self,
        *,
        max_age_s: float | None = None,
        count_min: int = COUNT_MIN_DEFAULT,
        count_max: int = COUNT_MAX_DEFAULT,
        timeout_s: float | None = None,
        outage_s: float | None = None,
        stock_max: int = STOCK_MAX_DEFAULT,
    ) -> PrefetchBuffer:
        """Makes a buffer that draws from here, and is closed with it. See PrefetchBuffer for the options."""

    def sequence(self, name: str) -> ValueSequence:
        """The sequence of that name, for small dense numbers. Nothing is sent before its first value."""

    def close(self) -> None:
        """Ends all calls with CLIENT_CLOSED. Closing again does nothing."""


class AsyncIdSource(Protocol):
    """A source for asyncio: like IdSource, but awaited."""

    async def next_id(self, timeout_s: float | None = None) -> int:
        """See IdSource."""

    async def next_ids(self, count: int, timeout_s: float | None = None) -> list[int]:
        """See IdSource."""

    async def ids_array(self, count: int, timeout_s: float | None = None) -> IdArray:
        """See IdSource."""

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> AsyncGenerator[Sequence[int], None]:
        """See IdSource."""

    async def reserve(self, count: int, timeout_s: float | None = None) -> Sequence[IdRun]:
        """See IdSource."""

    async def layout(self) -> Layout:
        """See IdSource."""

    async def parse(
        self, id_or_text: int | str, form: TextForm | None = None, *, utc_offset_minutes: int = 0
    ) -> ParsedId:
        """See IdSource."""

    async def id_range(self, start: datetime | int, end: datetime | int) -> IdRange:
        """See IdSource."""

    async def format(self, id: int, format: TextFormat | TextForm) -> str:
        """See IdSource."""

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
        """See IdSource."""

    def sequence(self, name: str) -> AsyncValueSequence:
        """See IdSource."""

    async def close(self) -> None:
        """See IdSource."""
