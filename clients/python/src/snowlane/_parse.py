"""Reads the parts of an ID, and computes the IDs of a time interval."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from ._errors import ErrorReason, SnowlaneError
from ._layout import FieldPlace, Layout
from ._run import ID_MAX
from ._whole_id import whole_id

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class ParsedId:
    """The parts of an ID, as read by a layout.

    Attributes:
        ticks: Since the layout's epoch.
        datacenter_id: None where the layout has no such field, as the two below.
        create_time_ns: When the ID's tick began, in Unix nanoseconds.
    """

    id: int
    layout: Layout
    ticks: int
    datacenter_id: int | None
    worker_id: int | None
    sequence: int | None
    create_time_ns: int

    @property
    def create_time_ms(self) -> int:
        """When the ID's tick began, in Unix milliseconds, rounded down."""
        return self.create_time_ns // 1_000_000

    @property
    def create_time(self) -> datetime:
        """When the ID's tick began, in UTC."""
        return _UNIX_EPOCH + timedelta(microseconds=self.create_time_ns // 1_000)


@dataclass(frozen=True)
class IdRange:
    """The IDs that a time interval can hold, both ends inclusive."""

    first_id: int
    last_id: int


def parse_id(layout: Layout, id: int) -> ParsedId:
    """Reads an ID. It cannot tell whether the ID was ever issued: any number that fits the layout can be read.

    Raises:
        SnowlaneError: MALFORMED_ID if the ID is negative or above 2^63 - 1, has a bit that belongs to no field, or
            has a time after the layout's end.
        TypeError: It is not a whole number.
    """
    id = whole_id(id)
    if not 0 <= id <= ID_MAX:
        raise _malformed(layout, id, "is not from 0 to 2^63 - 1")
    if id >> layout.bits:
        raise _malformed(layout, id, f"has more than the layout's {layout.bits} bits")
    ticks = layout.timestamp.read(id)
    if ticks > layout.timestamp.max:
        raise _malformed(layout, id, "has a time after the layout's end")
    return ParsedId(
        id=id,
        layout=layout,
        ticks=ticks,
        datacenter_id=_read(layout.datacenter, id),
        worker_id=_read(layout.worker, id),
        sequence=_read(layout.sequence, id),
        create_time_ns=layout.ticks_to_ns(ticks),
    )


def _read(place: FieldPlace, id: int) -> int | None:
    return place.read(id) if place.bits else None


def _malformed(layout: Layout, id: int, why: str) -> SnowlaneError:
    metadata = {"id": id, "layout": layout.name}
    return SnowlaneError(ErrorReason.MALFORMED_ID, f"The ID {id} {why}.", metadata=metadata)


def id_range(layout: Layout, start: datetime | int, end: datetime | int) -> IdRange:
    """Returns the lowest and the highest ID whose creation time lies in [start, end), for range queries over stored
    IDs.

    Neighbouring intervals give neighbouring ranges, without a gap or an overlap. The ends are clamped to the layout's
    life. If another field is above the timestamp, IDs of other times lie between the two as well.

    Args:
        start: A datetime with a time zone, or Unix nanoseconds.
        end: As start; exclusive.

    Raises:
        SnowlaneError: INVALID_TIME_RANGE if the interval is empty or reversed, or no tick of the layout's life begins
            in it.
        TypeError, ValueError: One of them is not a time, or has no time zone.
    """
    check_times(start, end)
    start_ns, end_ns = _ns_of(start), _ns_of(end)
    life_end = layout.timestamp.max + 1
    first_tick = min(max(layout.ns_to_ticks_up(start_ns), 0), life_end)
    end_tick = min(max(layout.ns_to_ticks_up(end_ns), 0), life_end)
    if end_ns <= start_ns or first_tick >= end_tick:
        why = "is empty or reversed" if end_ns <= start_ns else f"holds no tick of the layout {layout.name}"
        raise SnowlaneError(
            ErrorReason.INVALID_TIME_RANGE,
            f"The interval from {_time_text(start)} to {_time_text(end)} {why}.",
            metadata={"start_ns": start_ns, "end_ns": end_ns, "layout": layout.name},
        )
    return IdRange(
        layout.compose(first_tick),
        layout.compose(end_tick - 1, layout.datacenter.max, layout.worker.max, layout.sequence.max),
    )


def check_times(*moments: object) -> None:
    """
    Raises:
        TypeError: One of them is not a time.
        ValueError: One of them has no time zone.
    """
    for moment in moments:
        if isinstance(moment, int) and not isinstance(moment, bool):
            continue
        if not isinstance(moment, datetime):
            raise TypeError(
                f"{moment!r} is not a time: give a datetime with a time zone, or an int of Unix nanoseconds."
            )
        if moment.tzinfo is None:
            raise ValueError("A datetime without a time zone is a different moment on each machine: give it one.")


def _time_text(moment: datetime | int) -> str:
    return f"{moment} ns" if isinstance(moment, int) else moment.isoformat()


def _ns_of(moment: datetime | int) -> int:
    if isinstance(moment, int):
        return moment
    return (moment - _UNIX_EPOCH) // timedelta(microseconds=1) * 1_000
