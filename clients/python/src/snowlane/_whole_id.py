"""Whole numbers, and why a value cannot be an ID: mostly floats, which spreadsheets and JSON numbers produce."""

from __future__ import annotations

import operator
from typing import SupportsIndex


def whole(number: SupportsIndex) -> int:
    """A whole number as an int.

    Raises:
        TypeError: It is not a whole number. A bool, which Python counts as an int, is not one.
    """
    if isinstance(number, bool):
        raise TypeError("a bool is not a number")
    return operator.index(number)


def whole_id(id: SupportsIndex) -> int:
    """An ID as an int, also one of numpy.

    Raises:
        TypeError: It is not a whole number.
    """
    try:
        return whole(id)
    except TypeError:
        why = "a float loses an ID's last digits" if isinstance(id, float) else "an ID is an int"
        raise TypeError(f"{id!r} is not an ID, because {why}: give an int, or read the ID as text.") from None
