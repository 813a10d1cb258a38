"""IDs as arrays. Needs numpy, which nothing else here does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from ._errors import ErrorReason, SnowlaneError
from ._layout import FieldPlace, Layout
from ._run import ID_MAX
from ._stock import Part

IdArray = NDArray[numpy.uint64]


def array_of(parts: Sequence[Part]) -> IdArray:
    """Writes claimed IDs one after another. A range becomes an array by whole-number steps, without a list."""
    return numpy.concatenate([_array_of_part(part) for part in parts])


def _array_of_part(part: Part) -> IdArray:
    if isinstance(part, range):
        # The stop is not used directly: it can be above the type's maximum.
        steps = numpy.arange(len(part), dtype=numpy.uint64)
        steps *= numpy.uint64(part.step)
        steps += numpy.uint64(part.start)
        return steps
    return numpy.array(part, dtype=numpy.uint64)


@dataclass(frozen=True)
class ParsedArray:
    """The parts of many IDs; each array has one element per ID.

    Attributes:
        ticks: Since the layout's epoch.
        datacenter_id: None where the layout has no such field, as the two below.
        create_time: When each ID's tick began, in UTC: datetime64[ms], rounded down, or datetime64[ns] where ticks are
            shorter than a millisecond.
    """

    layout: Layout
    ticks: IdArray
    datacenter_id: IdArray | None
    worker_id: IdArray | None
    sequence: IdArray | None
    create_time: NDArray[numpy.datetime64]


def parse_array(layout: Layout, ids: Any) -> ParsedArray:
    """Reads many IDs at once, by whole-number steps. As parse_id.

    Args:
        ids: An array of uint64 or int64, or a sequence of ints.

    Raises:
        SnowlaneError: MALFORMED_ID for the first that is not from 0 to 2^63 - 1, has a bit that belongs to no field, or
            has a time after the layout's end.
        TypeError: The IDs are floating-point numbers, which cannot hold them.
    """
    array = numpy.asarray(ids)
    if array.size == 0:
        array = array.astype(numpy.uint64)
    if array.dtype.kind not in "ui":
        raise TypeError(f"IDs are whole numbers; an array of {array.dtype} cannot hold them.")
    unsigned = array.astype(numpy.uint64)
    ticks = _read(layout.timestamp, unsigned)
    foreign = unsigned >> numpy.uint64(layout.bits) != 0
    bad = (array < 0) | (unsigned > ID_MAX) | foreign | (ticks > layout.timestamp.max)
    if bad.any():
        index = int(bad.argmax())
        message = f"The ID {array[index]} at index {index} is not an ID of the layout {layout.name}."
        metadata = {"id": array[index], "index": index, "layout": layout.name}
        raise SnowlaneError(ErrorReason.MALFORMED_ID, message, metadata=metadata)
    return ParsedArray(
        layout=layout,
        ticks=ticks,
        datacenter_id=_read_if_any(layout.datacenter, unsigned),
        worker_id=_read_if_any(layout.worker, unsigned),
        sequence=_read_if_any(layout.sequence, unsigned),
        create_time=_create_time(layout, ticks),
    )


def _read(place: FieldPlace, ids: IdArray) -> IdArray:
    field: IdArray = ids >> numpy.uint64(place.shift) & numpy.uint64((1 << place.bits) - 1)
    return field


def _read_if_any(place: FieldPlace, ids: IdArray) -> IdArray | None:
    return _read(place, ids) if place.bits else None


def _create_time(layout: Layout, ticks: IdArray) -> NDArray[numpy.datetime64]:
    steps = ticks.astype(numpy.int64)
    if layout.tick_ns < 1_000_000:
        return (layout.epoch_ms * 1_000_000 + steps * layout.tick_ns).astype("datetime64[ns]")
    return (layout.epoch_ms + steps * (layout.tick_ns // 1_000_000)).astype("datetime64[ms]")
