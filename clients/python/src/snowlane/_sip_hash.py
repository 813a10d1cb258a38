"""SipHash-2-4 with a 64-bit result: https://www.aumasson.jp/siphash/siphash.pdf, section 2."""

from __future__ import annotations

from collections.abc import Sequence

_MASK = (1 << 64) - 1
_BLOCK_ROUNDS = range(2)
_FINAL_ROUNDS = range(4)


def sip_hash(key0: int, key1: int, blocks: Sequence[int]) -> int:
    """Hashes a message.

    Args:
        blocks: The message, 8 bytes each, the lowest byte first. The last is filled up with zeros, and its highest byte
            is the message's length modulo 256.
    """
    v0 = key0 ^ 0x736F6D6570736575
    v1 = key1 ^ 0x646F72616E646F6D
    v2 = key0 ^ 0x6C7967656E657261
    v3 = key1 ^ 0x7465646279746573
    for block in (*blocks, None):
        if block is None:
            v2 ^= 0xFF
        else:
            v3 ^= block
        for _ in _FINAL_ROUNDS if block is None else _BLOCK_ROUNDS:
            v0 = v0 + v1 & _MASK
            v1 = (v1 << 13 & _MASK | v1 >> 51) ^ v0
            v2 = v2 + v3 & _MASK
            v3 = (v3 << 16 & _MASK | v3 >> 48) ^ v2
            v0 = (v0 << 32 & _MASK | v0 >> 32) + v3 & _MASK
            v3 = (v3 << 21 & _MASK | v3 >> 43) ^ v0
            v2 = v2 + v1 & _MASK
            v1 = (v1 << 17 & _MASK | v1 >> 47) ^ v2
            v2 = v2 << 32 & _MASK | v2 >> 32
        if block is not None:
            v0 ^= block
    return v0 ^ v1 ^ v2 ^ v3
