"""UUIDs of version 7 that hold IDs, and the fields of any UUID (RFC 9562)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from .._layout import Layout
from .form import invalid_text_format, malformed_text
from .id_parts import read_parts

_LENGTH = 36
_HYPHENS = frozenset((8, 13, 18, 23))
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_GREGORIAN_OFFSET = 0x01B2_1DD2_1381_4000
"""1582-10-15 to 1970-01-01 in units of 100 ns: RFC 9562 section 5.1."""
_TIMESTAMP_LAST_MS = 253_402_300_799_999
_UUID_MAX = 2**128 - 1
_RAND_B_BITS = 62
_PAYLOAD_BITS = 12 + _RAND_B_BITS
"""The bits that version 7 leaves free: rand_a and rand_b of RFC 9562 section 5.7."""


@dataclass(frozen=True)
class UuidInfo:
    """The fields of a UUID.

    Attributes:
        version: 0 to 15 in the variant rfc9562; else 0, but 15 for the max UUID.
        create_time_ns: When it was made, in Unix nanoseconds: versions 1, 6 and 7, up to the year 9999.
        clock_sequence: 0 to 16,383: versions 1 and 6.
        node: Six octets in hexadecimal with colons: versions 1, 2 and 6.
    """

    version: int
    variant: Literal["ncs", "rfc9562", "microsoft", "future"]
    create_time_ns: int | None = None
    clock_sequence: int | None = None
    node: str | None = None


def read_uuid(text: str) -> int:
    """Reads the 128 bits of any UUID: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12. Capitals are read as well.

    Raises:
        SnowlaneError: MALFORMED_TEXT: character, too_short, too_long.
    """
    for i in range(_LENGTH):
        if i >= len(text):
            raise malformed_text("uuid", "too_short", i)
        if text[i] != "-" if i in _HYPHENS else text[i] not in _HEX_DIGITS:
            raise malformed_text("uuid", "character", i)
    if len(text) > _LENGTH:
        raise malformed_text("uuid", "too_long", _LENGTH)
    return int(text.replace("-", ""), 16)


def describe_uuid(uuid: int) -> UuidInfo:
    """Reads the fields of a UUID. Of version 2, which the RFC leaves to others, only the node is read."""
    variant = _variant_of(_slice(uuid, 61, 3))
    if variant != "rfc9562":
        return UuidInfo(15 if uuid == _UUID_MAX else 0, variant)
    version = _slice(uuid, 76, 4)
    node = ":".join(f"{octet:02x}" for octet in _slice(uuid, 0, 48).to_bytes(6, "big"))
    clock_sequence = _slice(uuid, 48, 14)
    if version == 1:
        time = _slice(uuid, 64, 12) << 48 | _slice(uuid, 80, 16) << 32 | _slice(uuid, 96, 32)
        return UuidInfo(version, variant, _gregorian_to_unix_ns(time), clock_sequence, node)
    if version == 2:
        return UuidInfo(version, variant, node=node)
    if version == 6:
        time = _slice(uuid, 80, 48) << 12 | _slice(uuid, 64, 12)
        return UuidInfo(version, variant, _gregorian_to_unix_ns(time), clock_sequence, node)
    if version == 7:
        ms = _slice(uuid, 80, 48)
        return UuidInfo(version, variant, None if ms > _TIMESTAMP_LAST_MS else ms * 1_000_000)
    return UuidInfo(version, variant)


class UuidCodec:
    """UUIDs of version 7 that hold the IDs of one layout and namespace.

    The Unix millisecond of the ID's tick in 48 bits; then, in the 74 free bits, the number of the tick within its
    millisecond (none for ticks of 1 ms or more), the ID's bits without its timestamp, and a filler. The UUID is unique
    because the ID is.
    """

    def __init__(self, layout: Layout, namespace: str) -> None:
        self._layout = layout
        self._tick_bits = (layout.ticks_per_ms - 1).bit_length()
        self._other_bits = layout.bits - layout.timestamp.bits
        self.filler_bits = _PAYLOAD_BITS - self._tick_bits - self._other_bits
        """The bits that are equal in all of them: a UUID made elsewhere is taken for one of these with a chance of
        2^-bits.
        """
        self._filler = _filler_of(layout, namespace, self.filler_bits)

    def write(self, id: int) -> str:
        """Raises SnowlaneError MALFORMED_ID; INVALID_TEXT_FORMAT for an ID from before 1970, which version 7 cannot
        express.
        """
        layout = self._layout
        ticks = read_parts(layout, id).ticks
        ms = layout.ticks_to_ms(ticks)
        if ms < 0:
            raise invalid_text_format("An ID from before 1970 cannot be written as a UUID.", create_ms=ms)
        shift, bits = layout.timestamp.shift, layout.timestamp.bits
        other = id >> (shift + bits) << shift | _slice(id, 0, shift)
        payload = (ticks % layout.ticks_per_ms << self._other_bits | other) << self.filler_bits | self._filler
        uuid = ms << 80 | 7 << 76 | _slice(payload, _RAND_B_BITS, 12) << 64 | 2 << 62 | _slice(payload, 0, _RAND_B_BITS)
        text = f"{uuid:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def id_of(self, uuid: int) -> int | None:
        """The ID that a UUID holds; None if the UUID is not of this layout and namespace."""
        layout = self._layout
        info = describe_uuid(uuid)
        payload = _slice(uuid, 64, 12) << _RAND_B_BITS | _slice(uuid, 0, _RAND_B_BITS)
        is_ours = _slice(payload, 0, self.filler_bits) == self._filler
        if info.variant != "rfc9562" or info.version != 7 or not is_ours:
            return None
        ms = uuid >> 80
        whole_ticks = layout.ms_to_ticks_up(ms)
        tick_of_ms = payload >> (self.filler_bits + self._other_bits)
        ticks = whole_ticks + tick_of_ms
        if layout.ticks_to_ms(whole_ticks) != ms or tick_of_ms >= layout.ticks_per_ms:
            return None
        if not 0 <= ticks <= layout.timestamp.max:
            return None
        other = _slice(payload, self.filler_bits, self._other_bits)
        shift, bits = layout.timestamp.shift, layout.timestamp.bits
        return other >> shift << (shift + bits) | ticks << shift | _slice(other, 0, shift)


def _slice(number: int, shift: int, bits: int) -> int:
    """Takes `bits` bits that have `shift` bits to their right."""
    return number >> shift & (1 << bits) - 1


def _gregorian_to_unix_ns(time: int) -> int:
    return (time - _GREGORIAN_OFFSET) * 100


def _variant_of(bits: int) -> Literal["ncs", "rfc9562", "microsoft", "future"]:
    """By the three highest bits of the ninth octet: RFC 9562 section 4.1."""
    if bits < 4:
        return "ncs"
    if bits < 6:
        return "rfc9562"
    return "microsoft" if bits == 6 else "future"


def _filler_of(layout: Layout, namespace: str, bits: int) -> int:
    """The leading bits of a hash over the layout, without its name, and the namespace."""
    fields = ",".join(f"{field.kind}:{field.bits}" for field in layout.fields)
    seed = f"snowlane uuid 1\n{layout.epoch_ms}\n{layout.tick_ns}\n{fields}\n{namespace}"
    return int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big") >> (256 - bits)
