"""Text forms and their options."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from .._errors import ErrorReason, SnowlaneError
from .._run import ID_MAX

TextForm = Literal["decimal", "hex", "base32", "base58", "base62", "serial", "uuid", "typed"]
TEXT_FORMS: tuple[TextForm, ...] = get_args(TextForm)

SERIAL_PREFIX_LENGTH_MAX = 16
UTC_OFFSET_MINUTES_MAX = 1_080
"""18 hours either way."""


@dataclass(frozen=True)
class TextFormat:
    """How to write an ID.

    Attributes:
        form: One of TEXT_FORMS.
        serial_prefix: For `serial`: the prefix of the digits, 0 to 16 characters of A-Z and 0-9.
        utc_offset_minutes: For `serial`: minutes east of UTC of the time in the text, -1,080 to 1,080.
        check_symbol: For `base32`: whether a check symbol follows.
        type_prefix: For `typed`, which must have one: the prefix before the underscore, a letter of a-z, then 0 to 15
            characters of a-z and 0-9.
    """

    form: TextForm
    serial_prefix: str = ""
    utc_offset_minutes: int = 0
    check_symbol: bool = False
    type_prefix: str = ""


def check_id(id: int) -> None:
    """Raises SnowlaneError MALFORMED_ID unless an ID is 0 to 2^63 - 1, which every form can write."""
    if not 0 <= id <= ID_MAX:
        raise SnowlaneError(ErrorReason.MALFORMED_ID, "The ID is not from 0 to 2^63 - 1.", metadata={"id": id})


def check_utc_offset(utc_offset_minutes: int) -> None:
    """Raises SnowlaneError INVALID_TEXT_FORMAT unless an offset is in its range."""
    if not -UTC_OFFSET_MINUTES_MAX <= utc_offset_minutes <= UTC_OFFSET_MINUTES_MAX:
        raise invalid_text_format(
            f"The offset {utc_offset_minutes} is not whole minutes from -1080 to 1080.",
            utc_offset_minutes=utc_offset_minutes,
        )


def check_text_form(form: str) -> None:
    """Raises SnowlaneError INVALID_TEXT_FORMAT unless there is such a form."""
    if form not in TEXT_FORMS:
        raise invalid_text_format(f"There is no text form {form}.", form=form)


def check_text_format(format: TextFormat) -> None:
    """Raises SnowlaneError INVALID_TEXT_FORMAT unless each option is in its range, and the form uses it."""
    form = format.form
    check_text_form(form)
    if form != "serial" and format.serial_prefix:
        raise invalid_text_format("Only serial numbers have a prefix.", form=form)
    if form != "serial" and format.utc_offset_minutes:
        raise invalid_text_format("Only serial numbers have an offset from UTC.", form=form)
    if form != "base32" and format.check_symbol:
        raise invalid_text_format("Only base 32 has a check symbol.", form=form)
    if not re.fullmatch(r"[A-Z0-9]{0,16}", format.serial_prefix):
        message = "The prefix of a serial number is not 0 to 16 characters of A-Z and 0-9."
        raise invalid_text_format(message, form=form)
    if form != "typed" and format.type_prefix:
        raise invalid_text_format("Only typed IDs have a type prefix.", form=form)
    if form == "typed" and not re.fullmatch(r"[a-z][a-z0-9]{0,15}", format.type_prefix):
        message = "The prefix of a typed ID is not a letter of a-z and 0 to 15 characters of a-z and 0-9."
        raise invalid_text_format(message, form=form)
    check_utc_offset(format.utc_offset_minutes)


def invalid_text_format(message: str, **metadata: object) -> SnowlaneError:
    """Makes an INVALID_TEXT_FORMAT error."""
    return SnowlaneError(ErrorReason.INVALID_TEXT_FORMAT, message, metadata=metadata)


_FAULTS = {
    "character": "an unexpected character",
    "too_short": "the text ends too early",
    "too_long": "the text should end here",
    "leading_zero": "a leading zero",
    "out_of_range": "a number that is too large",
    "check_symbol": "a check symbol that does not match the symbols before it",
    "date": "not a valid date and time",
    "tick": "a time at which no tick of the layout begins",
    "prefix": "a type prefix that is malformed, or not the expected one",
    "no_form": "the text is not recognized as an ID",
    "future": "an ID whose time is later than tomorrow, or that does not fit this layout",
}


def malformed_text(form: str | None, reason: str, position: int) -> SnowlaneError:
    """Makes a MALFORMED_TEXT error. The text is not repeated: it may be huge, or a secret that was pasted by
    mistake.
    """
    subject = "The text" if form is None else f"As {form}, the text"
    metadata: dict[str, object] = {} if form is None else {"form": form}
    return SnowlaneError(
        ErrorReason.MALFORMED_TEXT,
        f"{subject} is malformed at position {position}: {_FAULTS[reason]}.",
        metadata={**metadata, "reason": reason, "position": position},
    )
