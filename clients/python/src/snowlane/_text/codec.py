"""All text forms of the IDs of one layout and namespace."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .._errors import ErrorReason, SnowlaneError
from .._layout import Layout
from .._whole_id import whole_id
from . import radix, typed
from .form import (
    TEXT_FORMS,
    TextForm,
    TextFormat,
    check_text_form,
    check_text_format,
    check_utc_offset,
    malformed_text,
)
from .id_parts import try_read_parts
from .serial import SerialCodec
from .uuids import UuidCodec, UuidInfo, describe_uuid, read_uuid

_TELLS_BY_TIME = frozenset(("base32", "base58", "base62"))
"""The forms whose shape says so little that detection requires a plausible time as well."""
_DAY_MS = 86_400_000
_LENGTH_MAX = 64
"""Above the longest text of any form, which is a serial number of 56 characters."""


@dataclass(frozen=True)
class TextReading:
    """The result of reading a text.

    Attributes:
        format: The form of the text, with those of its options that the text shows: writing `id` in it yields the
            canonical text.
        id: None for a UUID that holds no ID of this layout and namespace.
        uuid: The fields of the UUID, if it is one.
    """

    format: TextFormat
    id: int | None
    uuid: UuidInfo | None = None


class TextCodec:
    """Writes and reads the text forms of a layout.

    Args:
        namespace: The deployment's; it marks the UUIDs, nothing else depends on it.
    """

    def __init__(self, layout: Layout, namespace: str = "default") -> None:
        self._layout = layout
        self._serial = SerialCodec(layout)
        self._uuids = UuidCodec(layout, namespace)
        self._writers: Mapping[TextForm, Callable[[int, TextFormat], str]] = {
            "decimal": lambda id, _: radix.write_decimal(id),
            "hex": lambda id, _: radix.write_hex(id),
            "base32": lambda id, format: radix.write_base32(id, format.check_symbol),
            "base58": lambda id, _: radix.BASE58.write(id),
            "base62": lambda id, _: radix.BASE62.write(id),
            "serial": lambda id, format: self._serial.write(id, format.serial_prefix, format.utc_offset_minutes),
            "uuid": lambda id, _: self._uuids.write(id),
            "typed": lambda id, format: typed.write_typed(id, format.type_prefix),
        }
        self._plain_readers: Mapping[TextForm, Callable[[str], int]] = {
            "decimal": radix.read_decimal,
            "hex": radix.read_hex,
            "base58": radix.BASE58.read,
            "base62": radix.BASE62.read,
        }

    def write(self, id: int, format: TextFormat | TextForm) -> str:
        """Writes an ID.

        Raises:
            SnowlaneError: INVALID_TEXT_FORMAT, also for a time that the form cannot express; MALFORMED_ID for a number
                that is not an ID or, in the forms `serial` and `uuid`, not an ID of the layout.
            TypeError: The ID is not a whole number.
        """
        if isinstance(format, str):
            format = TextFormat(format)
        id = whole_id(id)
        check_text_format(format)
        return self._writers[format.form](id, format)

    def write_all(self, id: int) -> dict[TextForm, str]:
        """Writes an ID in every form in which it has a text, without options.

        Raises:
            SnowlaneError: MALFORMED_ID.
        """
        texts: dict[TextForm, str] = {}
        for form in TEXT_FORMS:
            try:
                texts[form] = self.write(id, form)
            except SnowlaneError as error:
                if error.reason is not ErrorReason.INVALID_TEXT_FORMAT:
                    raise
        return texts

    def read(
        self,
        text: str,
        form: TextForm | None = None,
        *,
        utc_offset_minutes: int = 0,
        type_prefix: str = "",
        now_ms: int | None = None,
    ) -> TextReading:
        """Reads a text strictly: each ID has one text in a format, and no other text is accepted, except Crockford's
        aliases and capitals in UUIDs.

        The work is bounded, however long the text is.

        Args:
            form: The form; None: it is detected.
            utc_offset_minutes: The offset from UTC at which a serial number was written.
            type_prefix: The prefix that a typed ID must have; the text is then read only as a typed ID. Empty: any
                prefix.
            now_ms: The limit of detection, in Unix milliseconds: no text is taken for an ID that is from more than a
                day later. None: now.

        Raises:
            SnowlaneError: MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_TEXT_FORMAT.
            TypeError: It is not a text.
        """
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is not a text: give a str.")
        check_utc_offset(utc_offset_minutes)
        if type_prefix:
            form = form or "typed"
            check_text_format(TextFormat(form, type_prefix=type_prefix))
        if form is None:
            now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
            return self._detect(text, utc_offset_minutes, now_ms)
        check_text_form(form)
        return self._read_as(form, text, utc_offset_minutes, type_prefix)

    def _read_as(self, form: TextForm, text: str, utc_offset_minutes: int, type_prefix: str = "") -> TextReading:
        if form == "base32":
            id, check_symbol = radix.read_base32(text)
            return TextReading(TextFormat(form, check_symbol=check_symbol), id)
        if form == "serial":
            id, prefix = self._serial.read(text, utc_offset_minutes)
            return TextReading(TextFormat(form, prefix, utc_offset_minutes), id)
        if form == "uuid":
            uuid = read_uuid(text)
            return TextReading(TextFormat(form), self._uuids.id_of(uuid), describe_uuid(uuid))
        if form == "typed":
            id, prefix = typed.read_typed(text, type_prefix)
            return TextReading(TextFormat(form, type_prefix=prefix), id)
        return TextReading(TextFormat(form), self._plain_readers[form](text))

    def _detect(self, text: str, utc_offset_minutes: int, now_ms: int) -> TextReading:
        candidates = _forms_of_shape(text, self._serial.digit_count)
        readings: list[TextReading] = []
        fault: SnowlaneError | None = None
        for form in candidates:
            try:
                reading = self._read_as(form, text, utc_offset_minutes)
            except SnowlaneError as error:
                fault = error
                continue
            if form not in _TELLS_BY_TIME or self._is_from_before(reading.id, now_ms + _DAY_MS):
                readings.append(reading)
        if len(readings) == 1:
            return readings[0]
        if not readings:
            raise fault or malformed_text(candidates[-1], "future", 0)
        names = ",".join(reading.format.form for reading in readings)
        raise SnowlaneError(
            ErrorReason.AMBIGUOUS_TEXT, f"The text can be read as {names}: say which.", metadata={"candidates": names}
        )

    def _is_from_before(self, id: int | None, unix_ms: int) -> bool:
        parts = None if id is None else try_read_parts(self._layout, id)
        return parts is not None and self._layout.ticks_to_ms(parts.ticks) < unix_ms


def _forms_of_shape(text: str, serial_digit_count: int) -> list[TextForm]:
    """Names the forms that a text can be in, judged by its shape alone. Looks at no more than 65 characters."""
    for i, character in enumerate(text[: _LENGTH_MAX + 1]):
        if i == _LENGTH_MAX:
            raise malformed_text(None, "too_long", i)
        if not "!" <= character <= "~":
            raise malformed_text(None, "character", i)
    if text == "":
        raise malformed_text(None, "too_short", 0)
    if text.startswith("0x"):
        return ["hex"]
    if typed.SEPARATOR in text or "-" in text:
        return ["typed"] if typed.SEPARATOR in text else ["uuid"]
    if len(text) >= serial_digit_count and re.fullmatch(r"[0-9]+", text[-serial_digit_count:]):
        return ["serial"]
    # This comes before the widths: 11 or 13 digits are far more often a number than another form without a single
    # letter.
    if re.fullmatch(r"0|[1-9][0-9]*", text):
        return ["decimal"]
    if len(text) in (radix.BASE32.width, radix.BASE32.width + 1):
        return ["base32"]
    if len(text) == radix.BASE58.width:
        return ["base62"] if re.search(r"[0OIl]", text) else ["base58", "base62"]
    raise malformed_text(None, "no_form", 0)
