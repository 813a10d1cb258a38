"""What a stream is of: IDs or values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ._channels import Metadata, Stubs

Item_co = TypeVar("Item_co", covariant=True)
Item = TypeVar("Item")


class ChunkReader(Protocol[Item_co]):
    """Reads the responses of one server's stream, and holds them to the contract."""

    def take(self, response: Any) -> Sequence[Item_co]:
        """Gives the items of a response. Raises SnowlaneError INVALID_RESPONSE."""

    def end(self) -> None:
        """Raises SnowlaneError INVALID_RESPONSE if the stream ended too early."""


@dataclass(frozen=True)
class StreamSpec(Generic[Item]):
    """A stream of `count` items, over as many RPCs as it takes.

    Attributes:
        open: Begins an RPC for what is left; gets the stubs, that count, the RPC's time and its metadata.
        read: Makes the reader of one RPC for that count.
    """

    method: str
    count: int
    open: Callable[[Stubs, int, float | None, Metadata], Any]
    read: Callable[[int], ChunkReader[Item]]
    timeout_s: float | None
    ordered: bool
