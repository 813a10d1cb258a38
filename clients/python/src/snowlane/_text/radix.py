"""IDs as digits: decimal, hexadecimal, and base 32, 58 and 62 of a fixed width."""

from __future__ import annotations

from collections.abc import Mapping

from .._run import ID_MAX
from .form import TextForm, check_id, malformed_text

DECIMAL_LENGTH_MAX = 19
_HEX_PREFIX = "0x"
_HEX_LENGTH = 18


def write_decimal(id: int) -> str:
    """Writes 1 to 19 digits without leading zeros. Sorts as the IDs do only among texts of one length."""
    check_id(id)
    return str(id)


def read_decimal(text: str) -> int:
    """Reads what write_decimal writes, and nothing else."""
    for i, character in enumerate(text):
        if i == DECIMAL_LENGTH_MAX:
            raise malformed_text("decimal", "too_long", i)
        if not "0" <= character <= "9":
            raise malformed_text("decimal", "character", i)
    if text == "":
        raise malformed_text("decimal", "too_short", 0)
    if len(text) > 1 and text[0] == "0":
        raise malformed_text("decimal", "leading_zero", 0)
    id = int(text)
    if id > ID_MAX:
        raise malformed_text("decimal", "out_of_range", 0)
    return id


def write_hex(id: int) -> str:
    """Writes `0x` and 16 digits in lower case. Sorts as the IDs do."""
    check_id(id)
    return f"0x{id:016x}"


def read_hex(text: str) -> int:
    """Reads what write_hex writes, and nothing else: no capitals, no fewer digits."""
    for i in range(_HEX_LENGTH):
        if i >= len(text):
            raise malformed_text("hex", "too_short", i)
        fits = text[i] == _HEX_PREFIX[i] if i < len(_HEX_PREFIX) else text[i] in "0123456789abcdef"
        if not fits:
            raise malformed_text("hex", "character", i)
    if len(text) > _HEX_LENGTH:
        raise malformed_text("hex", "too_long", _HEX_LENGTH)
    id = int(text[2:], 16)
    if id > ID_MAX:
        raise malformed_text("hex", "out_of_range", 2)
    return id


class Radix:
    """Digits of a fixed width, which sort as the IDs do where texts are compared by their bytes.

    Args:
        alphabet: The digits from 0 up, ASCII in ascending order.
        width: Digits of a text: as many as 2^63 - 1 needs.
        aliases: Characters that are read as digits but never written.
    """

    def __init__(self, form: TextForm, alphabet: str, width: int, aliases: Mapping[str, str] | None = None) -> None:
        self.width = width
        self._form: TextForm = form
        self._alphabet = alphabet
        self._digits = {character: digit for digit, character in enumerate(alphabet)}
        for alias, character in (aliases or {}).items():
            self._digits[alias] = self._digits[character]

    def write(self, id: int) -> str:
        """Raises SnowlaneError MALFORMED_ID."""
        check_id(id)
        base = len(self._alphabet)
        characters = []
        for _ in range(self.width):
            id, digit = divmod(id, base)
            characters.append(self._alphabet[digit])
        return "".join(reversed(characters))

    def read_digits(self, text: str, start: int = 0) -> int:
        """Reads the digits from start on; what follows them, and whether it is an ID, is the caller's concern."""
        base = len(self._alphabet)
        number = 0
        for i in range(start, start + self.width):
            if i >= len(text):
                raise malformed_text(self._form, "too_short", i)
            digit = self._digits.get(text[i])
            if digit is None:
                raise malformed_text(self._form, "character", i)
            number = number * base + digit
        return number

    def read(self, text: str, start: int = 0) -> int:
        """Reads what write writes, from start on, and nothing else."""
        id = self.read_digits(text, start)
        if len(text) > start + self.width:
            raise malformed_text(self._form, "too_long", start + self.width)
        if id > ID_MAX:
            raise malformed_text(self._form, "out_of_range", start)
        return id


BASE58_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
"""Bitcoin's alphabet, https://github.com/bitcoin/bitcoin/blob/master/src/base58.cpp: no 0, O, I and l."""
BASE58 = Radix("base58", BASE58_ALPHABET, 11)
BASE62 = Radix("base62", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11)
"""In the order of ASCII."""

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's alphabet, https://www.crockford.com/base32.html: no I, L, O and U."""
_ALIASES = {
    **{symbol.lower(): symbol for symbol in _CROCKFORD},
    **{"I": "1", "i": "1", "L": "1", "l": "1", "O": "0", "o": "0"},
}
_CHECK_ALPHABET = _CROCKFORD + "*~$=U"
_CHECK_ALIASES = {**_ALIASES, "u": "U"}
BASE32 = Radix("base32", _CROCKFORD, 13, _ALIASES)


def write_base32(id: int, check_symbol: bool) -> str:
    """Writes 13 symbols, capitals, then the check symbol if asked for. Sorts as the IDs do, either way."""
    text = BASE32.write(id)
    return text + _check_symbol_of(id) if check_symbol else text


def read_base32(text: str) -> tuple[int, bool]:
    """Reads 13 symbols, or 14 of which the last is the check symbol; returns the ID, and whether it had one.

    As in Crockford's definition, lower-case letters count as capitals, I and L as 1, and O as 0; no hyphens.
    """
    id = BASE32.read_digits(text)
    symbol = text[BASE32.width : BASE32.width + 1]
    check = symbol if symbol in _CHECK_ALPHABET else _CHECK_ALIASES.get(symbol)
    if check is None:
        raise malformed_text("base32", "character", BASE32.width)
    if len(text) > BASE32.width + 1:
        raise malformed_text("base32", "too_long", BASE32.width + 1)
    if id > ID_MAX:
        raise malformed_text("base32", "out_of_range", 0)
    if symbol == "":
        return id, False
    if check != _check_symbol_of(id):
        raise malformed_text("base32", "check_symbol", BASE32.width)
    return id, True


def _check_symbol_of(id: int) -> str:
    return _CHECK_ALPHABET[id % 37]
