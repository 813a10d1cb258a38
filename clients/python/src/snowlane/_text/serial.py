"""Serial numbers: time, worker and sequence in decimal digits."""

from __future__ import annotations

from .._layout import Layout
from .civil_time import civil_from_seconds, last_day_of_month, seconds_from_civil
from .form import SERIAL_PREFIX_LENGTH_MAX, invalid_text_format, malformed_text
from .id_parts import read_parts

_DATE_LENGTH = len("yyyyMMddHHmmss")
_GROUP_LENGTH_MIN = 4


class SerialCodec:
    """Serial numbers of a layout: `{prefix}{time}{worker}{sequence}`.

    The time is `yyyyMMddHHmmss` and as many digits of the second as distinguish two ticks: none for ticks of 1 s or
    more, then 1, 2 and 3 for 100, 10 and 1 ms. Below 1 ms the number of the tick within its millisecond follows. Worker
    (`datacenter ID x 2^workerBits + worker ID`) and sequence take 4 digits each, or as many as their highest value
    needs.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        tick_ns = layout.tick_ns
        self._unit_ms = next((ms for ms in (1_000, 100, 10) if tick_ns >= ms * 1_000_000), 1)
        self._units_per_second = 1_000 // self._unit_ms
        self._unit_length = len(str(self._units_per_second)) - 1
        self._tick_length = len(str(layout.ticks_per_ms - 1)) if layout.ticks_per_ms > 1 else 0
        self._worker_length = max(_GROUP_LENGTH_MIN, len(str(layout.worker_count - 1)))
        self._sequence_length = max(_GROUP_LENGTH_MIN, len(str(layout.sequence.max)))
        self._time_length = _DATE_LENGTH + self._unit_length + self._tick_length
        self.digit_count = self._time_length + self._worker_length + self._sequence_length
        """How many digits follow the prefix. It is the same for every ID, so that a prefix may itself end in digits."""

    def write(self, id: int, prefix: str, utc_offset_minutes: int) -> str:
        """Raises SnowlaneError MALFORMED_ID; INVALID_TEXT_FORMAT if the offset moves the time out of the years 0 to
        9999.
        """
        layout = self._layout
        parts = read_parts(layout, id)
        units = layout.ticks_to_ms(parts.ticks) // self._unit_ms + utc_offset_minutes * 60 * self._units_per_second
        seconds, unit = divmod(units, self._units_per_second)
        year, month, day, hour, minute, second = civil_from_seconds(seconds)
        if not 0 <= year <= 9_999:
            raise invalid_text_format(f"The offset moves the time into the year {year}.", year=year)
        worker = parts.datacenter_id * (layout.worker.max + 1) + parts.worker_id
        return (
            f"{prefix}{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}"
            f"{_pad(unit, self._unit_length)}{_pad(parts.ticks % layout.ticks_per_ms, self._tick_length)}"
            f"{_pad(worker, self._worker_length)}{_pad(parts.sequence, self._sequence_length)}"
        )

    def read(self, text: str, utc_offset_minutes: int) -> tuple[int, str]:
        """Reads what write writes with the same offset, and nothing else; returns the ID and the prefix."""
        layout = self._layout
        start = self._check_shape(text)

        def number(offset: int, length: int) -> int:
            return int(text[start + offset : start + offset + length]) if length else 0

        seconds = _read_date(text, start) - utc_offset_minutes * 60
        time_ms = seconds * 1_000 + number(_DATE_LENGTH, self._unit_length) * self._unit_ms
        whole_ticks = layout.ms_to_ticks_up(time_ms)
        tick_of_ms = number(_DATE_LENGTH + self._unit_length, self._tick_length)
        if tick_of_ms >= layout.ticks_per_ms:
            raise malformed_text("serial", "tick", start + _DATE_LENGTH + self._unit_length)
        ticks = whole_ticks + tick_of_ms
        is_of_layout = 0 <= ticks <= layout.timestamp.max
        if not is_of_layout or layout.ticks_to_ms(whole_ticks) >= time_ms + self._unit_ms:
            raise malformed_text("serial", "tick", start)
        worker = number(self._time_length, self._worker_length)
        if worker >= layout.worker_count:
            raise malformed_text("serial", "out_of_range", start + self._time_length)
        sequence = number(self._time_length + self._worker_length, self._sequence_length)
        if sequence > layout.sequence.max:
            raise malformed_text("serial", "out_of_range", start + self._time_length + self._worker_length)
        datacenter_id, worker_id = divmod(worker, layout.worker.max + 1)
        return layout.compose(ticks, datacenter_id, worker_id, sequence), text[:start]

    def _check_shape(self, text: str) -> int:
        """Where the digits begin. All characters are checked before the length."""
        length_max = SERIAL_PREFIX_LENGTH_MAX + self.digit_count
        for i, character in enumerate(text):
            if i == length_max:
                raise malformed_text("serial", "too_long", i)
            if not ("0" <= character <= "9" or "A" <= character <= "Z"):
                raise malformed_text("serial", "character", i)
        if len(text) < self.digit_count:
            raise malformed_text("serial", "too_short", len(text))
        start = len(text) - self.digit_count
        for i in range(start, len(text)):
            if text[i] > "9":
                raise malformed_text("serial", "character", i)
        return start


def _pad(number: int, length: int) -> str:
    return str(number).zfill(length) if length else ""


def _read_date(text: str, start: int) -> int:
    """Seconds since 1970 of the `yyyyMMddHHmmss` at `start`, which are digits."""
    year = int(text[start : start + 4])
    month, day, hour, minute, second = (int(text[start + at : start + at + 2]) for at in range(4, 14, 2))
    if not 1 <= month <= 12:
        raise malformed_text("serial", "date", start + 4)
    if not 1 <= day <= last_day_of_month(year, month):
        raise malformed_text("serial", "date", start + 6)
    for at, value, most in ((8, hour, 23), (10, minute, 59), (12, second, 59)):
        if value > most:
            raise malformed_text("serial", "date", start + at)
    return seconds_from_civil(year, month, day) + hour * 3_600 + minute * 60 + second
