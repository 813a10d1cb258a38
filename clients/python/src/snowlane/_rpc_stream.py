"""The items of a stream: IDs or values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ._channels import Metadata, Stubs
from ._errors import check_chunk_size, check_count
from ._gen.v1 import id_service_pb2 as pb
from ._options import STREAM_COUNT_MAX
from ._wire import ChunkCheck

Item_co = TypeVar("Item_co", covariant=True)
Item = TypeVar("Item")


class ChunkReader(Protocol[Item_co]):
    """Reads the responses of one server's stream, and checks them against the contract."""

    def take(self, response: Any) -> Sequence[Item_co]:
        """Returns the items of a response. Raises SnowlaneError INVALID_RESPONSE."""

    def end(self) -> None:
        """Raises SnowlaneError INVALID_RESPONSE if the stream ended too early."""


@dataclass(frozen=True)
class StreamSpec(Generic[Item]):
    """A stream of `count` items, over as many RPCs as it takes.

    Attributes:
        open: Begins an RPC for the remaining items; gets the stubs, that count, the RPC's timeout and its metadata.
        read: Makes the reader of one RPC for that count.
    """

    method: str
    count: int
    open: Callable[[Stubs, int, float | None, Metadata], Any]
    read: Callable[[int], ChunkReader[Item]]
    timeout_s: float | None
    ordered: bool


def id_stream(count: int, timeout_s: float | None, chunk_size: int, ordered: bool) -> StreamSpec[int]:
    """Raises SnowlaneError COUNT_OUT_OF_RANGE."""
    check_count(count, STREAM_COUNT_MAX)
    check_chunk_size(chunk_size)

    def begin(stubs: Stubs, left: int, timeout: float | None, metadata: Metadata) -> Any:
        request = pb.BatchNextIdsRequest(count=left, chunk_size=chunk_size)
        return stubs.ids.BatchNextIds(request, timeout=timeout, metadata=metadata)

    return StreamSpec("BatchNextIds", count, begin, ChunkCheck, timeout_s, ordered)
