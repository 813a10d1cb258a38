"""The built-in layouts. docs/layouts.md says what each is good for, and where its constants come from."""

from __future__ import annotations

from types import MappingProxyType

from ._errors import ErrorReason, SnowlaneError
from ._layout import Layout, LayoutField, LayoutFieldKind

_NS_PER_MS = 1_000_000


def _preset(name: str, epoch_ms: int, tick_ms: int, *fields: tuple[LayoutFieldKind, int]) -> Layout:
    return Layout(name, epoch_ms, tick_ms * _NS_PER_MS, tuple(LayoutField(kind, bits) for kind, bits in fields))


LAYOUTS = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            _preset(
                "twitter",
                1_288_834_974_657,
                1,
                ("timestamp", 41),
                ("datacenter", 5),
                ("worker", 5),
                ("sequence", 12),
            ),
            _preset(
                "discord",
                1_420_070_400_000,
                1,
                ("timestamp", 41),
                ("datacenter", 5),
                ("worker", 5),
                ("sequence", 12),
            ),
            _preset("instagram", 1_314_220_021_721, 1, ("timestamp", 40), ("worker", 13), ("sequence", 10)),
            _preset("sonyflake", 1_409_529_600_000, 10, ("timestamp", 39), ("sequence", 8), ("worker", 16)),
            _preset("baidu", 1_463_673_600_000, 1_000, ("timestamp", 28), ("worker", 22), ("sequence", 13)),
            _preset("javascript", 1_767_225_600_000, 1, ("timestamp", 41), ("worker", 6), ("sequence", 6)),
            _preset("leaf", 1_288_834_974_657, 1, ("timestamp", 41), ("worker", 10), ("sequence", 12)),
            _preset("cosid", 1_577_203_200_000, 1, ("timestamp", 41), ("worker", 10), ("sequence", 12)),
            _preset("tsid", 1_577_836_800_000, 1, ("timestamp", 41), ("worker", 10), ("sequence", 12)),
            _preset("clickhouse", 0, 1, ("timestamp", 41), ("worker", 10), ("sequence", 12)),
            _preset("pgedge", 1_672_531_200_000, 1, ("timestamp", 41), ("worker", 10), ("sequence", 12)),
            _preset("pgedge-2.3", 1_672_531_200_000, 1, ("timestamp", 41), ("sequence", 12), ("worker", 10)),
            _preset("hazelcast", 1_514_764_800_000, 1, ("timestamp", 41), ("sequence", 6), ("worker", 16)),
            _preset("yitter", 1_582_136_402_000, 1, ("timestamp", 51), ("worker", 6), ("sequence", 6)),
            _preset("mastodon", 0, 1, ("timestamp", 47), ("sequence", 16)),
        )
    }
)
"""The built-in layouts by name."""


def preset_layout(name: str, epoch_ms: int | None = None) -> Layout:
    """Returns a built-in layout by its name, optionally with another epoch in Unix milliseconds.

    Raises:
        SnowlaneError: INVALID_LAYOUT if there is no layout of that name, or the epoch is out of range.
    """
    layout = LAYOUTS.get(name)
    if layout is None:
        message = f"There is no layout {name!r}; there are: {', '.join(LAYOUTS)}."
        raise SnowlaneError(ErrorReason.INVALID_LAYOUT, message, metadata={"layout": name})
    if epoch_ms is None or epoch_ms == layout.epoch_ms:
        return layout
    return Layout(layout.name, epoch_ms, layout.tick_ns, layout.fields)
