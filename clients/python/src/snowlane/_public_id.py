"""Public IDs, which do not show when and at what rate IDs are made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ._errors import ErrorReason, SnowlaneError
from ._run import ID_MAX
from ._sip_hash import sip_hash
from ._whole_id import whole_id

_KEY_LENGTH_MIN = 16
_KEY_PURPOSE = b"snowlane public id 1\0"
"""Hashed together with the key, so that the same key yields another SipHash key for another purpose."""
_ROUNDS = 10
"""As NIST SP 800-38G has it for format-preserving Feistel networks."""
_MESSAGE_LENGTH = 5 << 56
"""Length of a round's message, where SipHash wants it: in the highest byte."""
_ID_BITS = 63


class NumberPermutation:
    """A keyed, reversible permutation of the numbers of `bits` bits, 2 to 63.

    An alternating Feistel network of ten rounds over the higher half of the bits, which is one bit longer where `bits`
    is odd, and the lower half. The even rounds change the higher half, the odd rounds the lower one, by SipHash-2-4 of
    the other half (four bytes, lowest first) and the round's number (one byte), cut to its last bits.
    """

    def __init__(self, key: bytes, bits: int) -> None:
        if len(key) < _KEY_LENGTH_MIN:
            raise ValueError(f"The key of public IDs has {len(key)} bytes; it needs at least {_KEY_LENGTH_MIN}.")
        digest = hashlib.sha256(_KEY_PURPOSE + key).digest()
        self._key0 = int.from_bytes(digest[:8], "little")
        self._key1 = int.from_bytes(digest[8:16], "little")
        self._low_bits = bits // 2
        self._low_mask = (1 << self._low_bits) - 1
        self._high_mask = (1 << (bits - self._low_bits)) - 1

    def apply(self, number: int) -> int:
        return self._permute(number, range(_ROUNDS))

    def invert(self, number: int) -> int:
        return self._permute(number, reversed(range(_ROUNDS)))

    def _permute(self, number: int, rounds: Iterable[int]) -> int:
        high, low = number >> self._low_bits, number & self._low_mask
        for number_of_round in rounds:
            block = _MESSAGE_LENGTH | number_of_round << 32
            if number_of_round % 2 == 0:
                high ^= sip_hash(self._key0, self._key1, (block | low,)) & self._high_mask
            else:
                low ^= sip_hash(self._key0, self._key1, (block | high,)) & self._low_mask
        return high << self._low_bits | low


class PublicId:
    """Turns each ID into another number from 0 to 2^63 - 1, and back, under a key.

    Hides time, worker, sequence, order and rate from everyone without the key. Equal IDs stay equal. Every number can
    be revealed as some ID, so a public ID is not a permission. Public IDs do not sort by time; a new key changes all of
    them. docs/text-forms.md says more.

    Args:
        key: At least 16 bytes; 32 from a random source are best. Keep it for as long as public IDs must be readable.

    Raises:
        ValueError: The key is shorter.
    """

    def __init__(self, key: bytes) -> None:
        self._permutation = NumberPermutation(key, _ID_BITS)

    def hide(self, id: int) -> int:
        """The public ID of an ID. Raises SnowlaneError MALFORMED_ID for a number that is not an ID."""
        return self._permutation.apply(_checked(id))

    def reveal(self, public_id: int) -> int:
        """The ID of a public ID; under another key, some other ID. Raises SnowlaneError MALFORMED_ID."""
        return self._permutation.invert(_checked(public_id))


def _checked(id: int) -> int:
    id = whole_id(id)
    if not 0 <= id <= ID_MAX:
        raise SnowlaneError(ErrorReason.MALFORMED_ID, f"The ID {id} is not from 0 to 2^63 - 1.", metadata={"id": id})
    return id
