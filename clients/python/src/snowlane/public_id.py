"""IDs for people who must not learn when and at what rate IDs are made."""

from __future__ import annotations

import hmac
from collections.abc import Callable

from .errors import ErrorReason, SnowlaneError
from .run import ID_MAX

_KEY_LENGTH_MIN = 16
_ROUNDS = range(10)
"""As NIST SP 800-38G has it for format-preserving Feistel networks."""
_ID_BITS = 63


class NumberPermutation:
    """A keyed, reversible permutation of the numbers of `bits` bits: a Feistel network of ten rounds over two equal
    halves, whose round function is HMAC-SHA-256 of the round's number (one byte) and a half (four bytes, highest
    first), cut to its last bits. Where `bits` is odd the network has one bit too many, and is applied again until the
    result fits.
    """

    def __init__(self, key: bytes, bits: int) -> None:
        if len(key) < _KEY_LENGTH_MIN:
            raise ValueError(f"The key of public IDs has {len(key)} bytes; {_KEY_LENGTH_MIN} are the fewest.")
        self._key = bytes(key)
        self._half_bits = (bits + 1) // 2
        self._half_mask = (1 << self._half_bits) - 1
        self._end = 1 << bits

    def apply(self, number: int) -> int:
        return self._walk(self._encrypt_once, number)

    def invert(self, number: int) -> int:
        return self._walk(self._decrypt_once, number)

    def _walk(self, step: Callable[[int], int], number: int) -> int:
        number = step(number)
        while number >= self._end:
            number = step(number)
        return number

    def _encrypt_once(self, number: int) -> int:
        left, right = number >> self._half_bits, number & self._half_mask
        for number_of_round in _ROUNDS:
            left, right = right, left ^ self._round_of(number_of_round, right)
        return left << self._half_bits | right

    def _decrypt_once(self, number: int) -> int:
        left, right = number >> self._half_bits, number & self._half_mask
        for number_of_round in reversed(_ROUNDS):
            left, right = right ^ self._round_of(number_of_round, left), left
        return left << self._half_bits | right

    def _round_of(self, number_of_round: int, half: int) -> int:
        digest = hmac.digest(self._key, bytes((number_of_round,)) + half.to_bytes(4, "big"), "sha256")
        return int.from_bytes(digest[28:], "big") & self._half_mask


class PublicId:
    """Turns each ID into another number from 0 to 2^63 - 1, and back, under a key.

    Hides time, worker, sequence, order and distance from whoever lacks the key. Does not hide that two public IDs are
    equal, and is no permission: whoever holds one can use it. Public IDs do not sort; changing the key changes them
    all. docs/text-forms.md says more.

    Args:
        key: At least 16 bytes; 32 from a random source are best. Keep it as long as the public IDs are to be read.

    Raises:
        ValueError: The key is shorter.
    """

    def __init__(self, key: bytes) -> None:
        self._permutation = NumberPermutation(key, _ID_BITS)

    def hide(self, id: int) -> int:
        """The public ID of an ID. Raises SnowlaneError MALFORMED_ID for what is none."""
        return self._permutation.apply(_checked(id))

    def reveal(self, public_id: int) -> int:
        """The ID of a public ID; under another key, some other ID. Raises SnowlaneError MALFORMED_ID."""
        return self._permutation.invert(_checked(public_id))


def _checked(id: int) -> int:
    if not 0 <= id <= ID_MAX:
        raise SnowlaneError(ErrorReason.MALFORMED_ID, f"The ID {id} is not from 0 to 2^63 - 1.", metadata={"id": id})
    return id
