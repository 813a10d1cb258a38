"""What every source of IDs does offline, once it knows the layout."""

from __future__ import annotations

from ._errors import ErrorReason, SnowlaneError
from ._layout import Layout
from ._parse import ParsedId, parse_id
from ._text import TextCodec, TextForm, TextFormat


class OfflineIds:
    """Reads and writes the IDs of one namespace."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._codec: tuple[Layout, TextCodec] | None = None

    def parse(self, layout: Layout, id_or_text: int | str, form: TextForm | None, utc_offset_minutes: int) -> ParsedId:
        """Reads an ID, or a text form of one."""
        if not isinstance(id_or_text, str):
            return parse_id(layout, id_or_text)
        codec = self._codec_of(layout)
        id = codec.read(id_or_text, form, utc_offset_minutes=utc_offset_minutes).id
        if id is not None:
            return parse_id(layout, id)
        raise SnowlaneError(
            ErrorReason.MALFORMED_TEXT,
            "The UUID holds no ID of this deployment.",
            metadata={"form": "uuid", "reason": "foreign"},
        )

    def format(self, layout: Layout, id: int, format: TextFormat | TextForm) -> str:
        """Writes an ID as text."""
        return self._codec_of(layout).write(id, format)

    def _codec_of(self, layout: Layout) -> TextCodec:
        kept = self._codec
        if kept is None or kept[0] is not layout:
            kept = (layout, TextCodec(layout, self._namespace))
            self._codec = kept
        return kept[1]
