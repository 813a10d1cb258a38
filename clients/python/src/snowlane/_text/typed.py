"""Typed IDs: a prefix, an underscore and the ID in base 58."""

from __future__ import annotations

from .form import malformed_text
from .radix import BASE58_ALPHABET, Radix

SEPARATOR = "_"
_PREFIX_LENGTH_MAX = 16
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_RADIX = Radix("typed", BASE58_ALPHABET, 11)


def write_typed(id: int, prefix: str) -> str:
    """Writes an ID; the prefix must be in its range."""
    return prefix + SEPARATOR + _RADIX.write(id)


def read_typed(text: str, expected_prefix: str) -> tuple[int, str]:
    """Reads what write_typed writes, and nothing else; returns the ID and its prefix.

    The prefix ends at the first separator.

    Args:
        expected_prefix: The only prefix that is accepted; empty: any.
    """
    prefix = text[: _length_of_prefix(text)]
    if expected_prefix and prefix != expected_prefix:
        raise malformed_text("typed", "prefix", 0)
    return _RADIX.read(text, len(prefix) + len(SEPARATOR)), prefix


def _length_of_prefix(text: str) -> int:
    for i, character in enumerate(text):
        if character == SEPARATOR and i > 0:
            return i
        fits = character in _LETTERS or (i > 0 and character in "0123456789")
        if not fits or i == _PREFIX_LENGTH_MAX:
            raise malformed_text("typed", "prefix", i)
    raise malformed_text("typed", "too_short", len(text))
