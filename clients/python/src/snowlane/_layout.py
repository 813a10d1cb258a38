"""How the 63 bits of an ID are divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ._errors import ErrorReason, SnowlaneError

LayoutFieldKind = Literal["timestamp", "datacenter", "worker", "sequence"]

_TIMESTAMP_FIRST_MS = -62_135_596_800_000
"""0001-01-01: the first that google.protobuf.Timestamp can carry."""
_TIMESTAMP_LAST_MS = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z: the last."""
_NS_PER_MS = 1_000_000
_TICK_NS_MIN = 1_000
_TICK_NS_MAX = 3_600_000 * _NS_PER_MS
_TICKS_MAX = 2**53 - 1
"""The largest whole number that all client languages count exactly."""


@dataclass(frozen=True)
class LayoutField:
    """One field of a layout: what it holds, and its width in bits, 1 to 62."""

    kind: LayoutFieldKind
    bits: int


@dataclass(frozen=True)
class FieldPlace:
    """The position of a field: its width, the bits below it, its highest value. All 0 if a layout has no such field."""

    bits: int = 0
    shift: int = 0
    max: int = 0

    def read(self, id: int) -> int:
        """Takes the field out of an ID."""
        return (id >> self.shift) & ((1 << self.bits) - 1)


@dataclass(frozen=True)
class Layout:
    """A layout, checked when it is made.

    Its life ends with its timestamp field, with the year 9999, or at 2^53 - 1 ticks, whichever is first.

    Attributes:
        name: Of a preset, or `custom`.
        epoch_ms: Zero point of time in Unix milliseconds, from year 1 to year 9999.
        tick_ns: Unit of the timestamp in nanoseconds, 1,000 to 3.6e12: a divisor of one millisecond, or whole
            milliseconds.
        fields: The fields from the highest bit down; the lowest ends at bit 0. There must be a timestamp; each kind may
            occur once; all fields together have at most 63 bits.

    Raises:
        SnowlaneError: INVALID_LAYOUT.
    """

    name: str
    epoch_ms: int
    tick_ns: int
    fields: tuple[LayoutField, ...]
    timestamp: FieldPlace = field(init=False, repr=False, compare=False)
    datacenter: FieldPlace = field(init=False, repr=False, compare=False)
    worker: FieldPlace = field(init=False, repr=False, compare=False)
    sequence: FieldPlace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))
        self._check_numbers()
        places = _place_fields(self.fields)
        timestamp = places["timestamp"]
        life_ticks = (_TIMESTAMP_LAST_MS - self.epoch_ms) * _NS_PER_MS // self.tick_ns
        ticks_max = min(timestamp.max, life_ticks, _TICKS_MAX)
        object.__setattr__(self, "timestamp", FieldPlace(timestamp.bits, timestamp.shift, ticks_max))
        for kind in ("datacenter", "worker", "sequence"):
            object.__setattr__(self, kind, places.get(kind, FieldPlace()))

    def _check_numbers(self) -> None:
        if not _TIMESTAMP_FIRST_MS <= self.epoch_ms <= _TIMESTAMP_LAST_MS:
            raise _invalid(f"The epoch {self.epoch_ms} ms is not from year 1 to year 9999.", epoch_ms=self.epoch_ms)
        tick_ns = self.tick_ns
        in_range = _TICK_NS_MIN <= tick_ns <= _TICK_NS_MAX
        if not in_range or (_NS_PER_MS % tick_ns != 0 and tick_ns % _NS_PER_MS != 0):
            what = "is not from 1 us to 1 h, or neither divides one millisecond nor is whole milliseconds"
            raise _invalid(f"The tick {tick_ns} ns {what}.", tick_ns=tick_ns)

    @property
    def bits(self) -> int:
        """Width of all fields together, at most 63."""
        return sum(place.bits for place in self.fields)

    @property
    def worker_count(self) -> int:
        """How many processes the layout can tell apart: datacenter and worker together."""
        return 1 << (self.datacenter.bits + self.worker.bits)

    @property
    def ticks_per_ms(self) -> int:
        """Ticks in a millisecond; 1 where a tick is longer."""
        return max(_NS_PER_MS // self.tick_ns, 1)

    def ticks_to_ms(self, ticks: int) -> int:
        """The Unix millisecond in which a tick begins, rounded down."""
        return self.epoch_ms + ticks * self.tick_ns // _NS_PER_MS

    def ticks_to_ns(self, ticks: int) -> int:
        """The Unix nanosecond in which a tick begins."""
        return self.epoch_ms * _NS_PER_MS + ticks * self.tick_ns

    def ns_to_ticks_up(self, unix_ns: int) -> int:
        """The first tick that begins at or after a time. Negative before the epoch."""
        return -((self.epoch_ms * _NS_PER_MS - unix_ns) // self.tick_ns)

    def ms_to_ticks_up(self, unix_ms: int) -> int:
        """The first tick that begins at or after a Unix millisecond."""
        return self.ns_to_ticks_up(unix_ms * _NS_PER_MS)

    def compose(self, ticks: int, datacenter_id: int = 0, worker_id: int = 0, sequence: int = 0) -> int:
        """Puts the parts of an ID together. They must lie in their ranges."""
        return (
            ticks << self.timestamp.shift
            | datacenter_id << self.datacenter.shift
            | worker_id << self.worker.shift
            | sequence << self.sequence.shift
        )


def _place_fields(fields: Sequence[LayoutField]) -> dict[str, FieldPlace]:
    places: dict[str, FieldPlace] = {}
    shift = 0
    for place in reversed(fields):
        kind, bits = place.kind, place.bits
        if kind not in ("timestamp", "datacenter", "worker", "sequence"):
            raise _invalid(f"There is no field {kind}.", field=kind)
        bits_max = 62 if kind == "timestamp" else 32
        if not 1 <= bits <= bits_max:
            raise _invalid(f"The {kind} field has {bits} bits; 1 to {bits_max} are possible.", field=kind, bits=bits)
        if kind in places:
            raise _invalid(f"The {kind} field occurs twice.", field=kind)
        places[kind] = FieldPlace(bits, shift, (1 << bits) - 1)
        shift += bits
    if "timestamp" not in places:
        raise _invalid("The layout has no timestamp field.", field="timestamp")
    if shift > 63:
        raise _invalid(f"The fields take {shift} bits; at most 63 are possible.", bits=shift)
    identity_bits = sum(places[kind].bits for kind in ("datacenter", "worker") if kind in places)
    if identity_bits > 32:
        raise _invalid(f"Datacenter and worker take {identity_bits} bits; at most 32 are possible.", bits=identity_bits)
    return places


def _invalid(message: str, **metadata: object) -> SnowlaneError:
    return SnowlaneError(ErrorReason.INVALID_LAYOUT, message, metadata=metadata)
