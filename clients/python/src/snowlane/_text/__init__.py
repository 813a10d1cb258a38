"""The ways to write an ID as text. docs/text-forms.md says what each is for, how long it is and how it sorts."""

from .codec import TextCodec, TextReading
from .form import TEXT_FORMS, TextForm, TextFormat
from .uuids import UuidInfo

__all__ = ["TEXT_FORMS", "TextCodec", "TextForm", "TextFormat", "TextReading", "UuidInfo"]
