"""Sequences whose values a client requests from its servers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any

from ._aio_calls import AsyncCalls
from ._calls import Calls
from ._channels import Metadata, Stubs
from ._errors import check_chunk_size, check_count
from ._gen.v1 import sequence_service_pb2 as pb
from ._options import COUNT_MAX, STREAM_COUNT_MAX
from ._rpc_stream import StreamSpec
from ._sequence import ReservedValues, SequenceValue, text_of
from ._sequence_wire import ValueReader
from ._unary import next_value, value_reservation


def _stream_spec(
    name: str, count: int, timeout_s: float | None, chunk_size: int, ordered: bool
) -> StreamSpec[SequenceValue]:
    check_count(count, STREAM_COUNT_MAX)
    check_chunk_size(chunk_size)

    def begin(stubs: Stubs, left: int, timeout: float | None, metadata: Metadata) -> Any:
        request = pb.BatchNextValuesRequest(name=name, count=left, chunk_size=chunk_size)
        return stubs.sequences.BatchNextValues(request, timeout=timeout, metadata=metadata)

    return StreamSpec("BatchNextValues", count, begin, ValueReader, timeout_s, ordered)


class RemoteSequence:
    """A ValueSequence of an IdClient."""

    def __init__(self, name: str, calls: Calls) -> None:
        self.name = name
        self._calls = calls

    def next_value(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> SequenceValue:
        """See ValueSequence."""
        return self._calls.call(next_value(self.name, for_time), timeout_s)

    def next_text(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> str:
        """See ValueSequence."""
        return text_of(self.name, self.next_value(timeout_s, for_time=for_time))

    def next_values(self, count: int, timeout_s: float | None = None) -> list[SequenceValue]:
        """See ValueSequence."""
        check_count(count, COUNT_MAX)
        timeout_s = self._calls.options.timeout_s if timeout_s is None else timeout_s
        return [value for values in self.stream(count, timeout_s=timeout_s) for value in values]

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> Iterator[Sequence[SequenceValue]]:
        """See ValueSequence."""
        return self._calls.stream(_stream_spec(self.name, count, timeout_s, chunk_size, ordered))

    def reserve(self, count: int, timeout_s: float | None = None) -> ReservedValues:
        """See ValueSequence."""
        return self._calls.call(value_reservation(self.name, count), timeout_s)


class AsyncRemoteSequence:
    """An AsyncValueSequence of an AsyncIdClient."""

    def __init__(self, name: str, calls: AsyncCalls) -> None:
        self.name = name
        self._calls = calls

    async def next_value(
        self, timeout_s: float | None = None, *, for_time: datetime | int | None = None
    ) -> SequenceValue:
        """See ValueSequence."""
        return await self._calls.call(next_value(self.name, for_time), timeout_s)

    async def next_text(self, timeout_s: float | None = None, *, for_time: datetime | int | None = None) -> str:
        """See ValueSequence."""
        return text_of(self.name, await self.next_value(timeout_s, for_time=for_time))

    async def next_values(self, count: int, timeout_s: float | None = None) -> list[SequenceValue]:
        """See ValueSequence."""
        check_count(count, COUNT_MAX)
        timeout_s = self._calls.options.timeout_s if timeout_s is None else timeout_s
        async with aclosing(self.stream(count, timeout_s=timeout_s)) as chunks:
            return [value async for values in chunks for value in values]

    def stream(
        self, count: int, *, timeout_s: float | None = None, chunk_size: int = 0, ordered: bool = False
    ) -> AsyncGenerator[Sequence[SequenceValue], None]:
        """See ValueSequence."""
        return self._calls.stream(_stream_spec(self.name, count, timeout_s, chunk_size, ordered))

    async def reserve(self, count: int, timeout_s: float | None = None) -> ReservedValues:
        """See ValueSequence."""
        return await self._calls.call(value_reservation(self.name, count), timeout_s)
