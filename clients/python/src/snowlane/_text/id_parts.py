"""The parts of an ID, as texts have them: 0 where the layout has no such field."""

from __future__ import annotations

from typing import NamedTuple

from .._errors import ErrorReason, SnowlaneError
from .._layout import Layout
from .form import check_id


class IdParts(NamedTuple):
    """The parts of an ID."""

    ticks: int
    datacenter_id: int
    worker_id: int
    sequence: int


def try_read_parts(layout: Layout, id: int) -> IdParts | None:
    """The parts of an ID; None if a bit is set that belongs to no field, or the time is past the layout's life."""
    if id < 0 or id >> layout.bits:
        return None
    ticks = layout.timestamp.read(id)
    if ticks > layout.timestamp.max:
        return None
    return IdParts(ticks, layout.datacenter.read(id), layout.worker.read(id), layout.sequence.read(id))


def read_parts(layout: Layout, id: int) -> IdParts:
    """The same; raises SnowlaneError MALFORMED_ID if that returns None."""
    parts = try_read_parts(layout, id)
    if parts is None:
        check_id(id)
        metadata = {"id": id, "layout": layout.name}
        raise SnowlaneError(ErrorReason.MALFORMED_ID, "The ID does not fit this layout.", metadata=metadata)
    return parts
