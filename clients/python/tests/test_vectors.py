"""The vectors that every language's tests read: equal results, equal refusals."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy
import pytest

from snowlane import (
    TEXT_FORMS,
    ErrorReason,
    Layout,
    LayoutField,
    PublicId,
    SnowlaneError,
    TextCodec,
    TextFormat,
    id_range,
    parse_id,
    preset_layout,
)
from snowlane._presets import LAYOUTS
from snowlane._public_id import NumberPermutation
from snowlane._sip_hash import sip_hash
from snowlane._text.radix import BASE58, BASE62, read_base32, write_base32
from snowlane._text.serial import SerialCodec
from snowlane._text.uuids import UuidCodec, describe_uuid, read_uuid
from snowlane.arrays import parse_array
from snowlane.testing import FakeIdClient

FOLDER = Path(__file__).parents[3] / "test" / "vectors"


def load(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert len(content["vectors"]) > 0
    return content


def layouts() -> dict[str, Layout]:
    return {
        vector["name"]: Layout(
            vector["name"],
            vector["epochMs"],
            vector["tickNs"],
            tuple(LayoutField(field["kind"], field["bits"]) for field in vector["fields"]),
        )
        for vector in load("layouts")["vectors"]
    }


def past_ids(claim: dict[str, Any], ticks: Iterable[int]) -> Iterator[int | None]:
    """The IDs of rows, whose ticks come sorted; None where the claim has no room left."""
    lanes, numbers = claim["lane_bits"], claim["numbers"]
    capacity = len(lanes) * numbers
    slot = -1
    for row_tick in ticks:
        slot = max(slot + 1, (row_tick - claim["first_tick"]) * capacity)
        ahead, place = divmod(slot, capacity)
        tick = claim["first_tick"] + ahead
        sequence = place % numbers << claim["sequence_shift"]
        id = tick << claim["timestamp_shift"] | lanes[place // numbers] | sequence
        yield id if tick < claim["end_tick"] else None


def format_of(vector: dict[str, Any]) -> TextFormat:
    return TextFormat(
        vector["form"],
        vector.get("serialPrefix", ""),
        vector.get("utcOffsetMinutes", 0),
        vector.get("checkSymbol", False),
        vector.get("typePrefix", ""),
    )


def ns_of(time: dict[str, int]) -> int:
    return time["seconds"] * 1_000_000_000 + time["nanos"]


def test_layouts() -> None:
    made = layouts()
    for vector in load("layouts")["vectors"]:
        layout = made[vector["name"]]
        assert layout.timestamp.max == vector["timestampMax"], layout.name
        assert SerialCodec(layout).digit_count == vector["serialDigits"]
        assert UuidCodec(layout, "default").filler_bits == vector["uuidFillerBits"]
        if not layout.name.startswith("custom-"):
            assert preset_layout(layout.name) == layout
    assert set(LAYOUTS) == {name for name in made if not name.startswith("custom-")}


def test_ids() -> None:
    content = load("ids")
    made = layouts()
    for vector in content["vectors"]:
        layout, id = made[vector["layout"]], int(vector["id"])
        parsed = parse_id(layout, id)
        parts = (parsed.ticks, parsed.datacenter_id or 0, parsed.worker_id or 0, parsed.sequence or 0)
        assert parts == (vector["ticks"], vector["datacenterId"], vector["workerId"], vector["sequence"])
        assert (parsed.datacenter_id is None) == (layout.datacenter.bits == 0)
        assert parsed.create_time_ns == ns_of(vector["createTime"])
        assert layout.compose(*parts) == id
        codec = TextCodec(layout, content["namespace"])
        for text in vector["texts"]:
            format = format_of(text)
            assert codec.write(id, format) == text["text"]
            reading = codec.read(text["text"], format.form, utc_offset_minutes=format.utc_offset_minutes)
            assert (reading.id, reading.format) == (id, format)
        forms = {text["form"] for text in vector["texts"]}
        without_options = forms - {"typed"}
        assert set(codec.write_all(id)) == without_options
        for form in set(TEXT_FORMS) - without_options:
            with pytest.raises(SnowlaneError):
                codec.write(id, form)


def test_id_ranges_of_ids() -> None:
    made = layouts()
    for vector in load("ids")["vectors"]:
        layout, id = made[vector["layout"]], int(vector["id"])
        start = ns_of(vector["createTime"])
        found = id_range(layout, start, start + layout.tick_ns)
        low, high = parse_id(layout, found.first_id), parse_id(layout, found.last_id)
        assert (low.ticks, high.ticks) == (vector["ticks"], vector["ticks"])
        assert found.first_id <= id <= found.last_id or layout.fields[0].kind != "timestamp"


def test_detection() -> None:
    content = load("detection")
    made = layouts()
    for vector in content["vectors"]:
        codec = TextCodec(made[vector["layout"]], content["namespace"])
        reading = codec.read(vector["text"], utc_offset_minutes=vector["utcOffsetMinutes"], now_ms=content["nowMs"])
        assert reading.format == format_of(vector["format"])
        assert reading.id == (None if vector["id"] is None else int(vector["id"]))


@pytest.mark.parametrize("name", ["uuids", "published-uuids"])
def test_uuids(name: str) -> None:
    content = load(name)
    codec = TextCodec(layouts()[content.get("layout", "twitter")], content.get("namespace", "default"))
    for vector in content["vectors"]:
        info = describe_uuid(read_uuid(vector["text"]))
        assert codec.read(vector["text"]).uuid == info
        assert (info.version, info.variant) == (vector["version"], vector["variant"])
        assert info.create_time_ns == (None if vector["createTime"] is None else ns_of(vector["createTime"]))
        assert (info.clock_sequence, info.node) == (vector["clockSequence"], vector["node"])
        if "id" in vector:
            assert codec.read(vector["text"]).id == (None if vector["id"] is None else int(vector["id"]))


def test_refused() -> None:
    content = load("refused")
    made = layouts()
    for vector in content["vectors"]:
        codec = TextCodec(made[vector["layout"]], content["namespace"])
        with pytest.raises(SnowlaneError) as caught:
            if vector["kind"] == "text":
                prefix = vector.get("typePrefix", "")
                codec.read(vector["text"], vector["form"], type_prefix=prefix, now_ms=content["nowMs"])
            else:
                codec.write(int(vector.get("id", "0")), format_of(vector["format"]))
        assert caught.value.reason == vector["error"], vector
        if vector["kind"] == "text":
            assert caught.value.metadata == vector["metadata"], vector


def test_published_texts() -> None:
    for vector in load("published-texts")["vectors"]:
        number, text = int(vector["number"]), vector["text"]
        if vector["form"] == "base32":
            assert write_base32(number, vector["checkSymbol"]) == text
            assert read_base32(text) == (number, vector["checkSymbol"])
        else:
            codec = BASE58 if vector["form"] == "base58" else BASE62
            assert codec.write(number) == text
            assert codec.read(text) == number


def test_a_number_that_is_no_id_is_refused() -> None:
    for name, id in (("twitter", -1), ("twitter", 2**63), ("twitter", 2**64), ("javascript", 2**53)):
        with pytest.raises(SnowlaneError) as caught:
            parse_id(preset_layout(name), id)
        assert caught.value.reason is ErrorReason.MALFORMED_ID


@pytest.mark.parametrize("value", [1.5e18, float("nan"), None, b"1", True])
def test_what_is_no_whole_number_is_refused_in_one_sentence(value: Any) -> None:
    layout = LAYOUTS["twitter"]
    codec = TextCodec(layout)
    public_id = PublicId(bytes(16))
    parse = FakeIdClient([], layout=layout).parse
    read: list[Callable[[Any], object]] = [partial(parse_id, layout), parse, public_id.hide, public_id.reveal]
    write: list[Callable[[Any], object]] = [codec.write_all, partial(codec.write, format="hex")]
    for call in read + write:
        with pytest.raises(TypeError, match=f"^{re.escape(repr(value))} is not an ID, because .* the ID as text.$"):
            call(value)
    with pytest.raises(TypeError, match=f"^{re.escape(repr(value))} is not a text"):
        codec.read(value)
    assert parse_id(layout, cast(int, numpy.int64(1541815603606036480))) == parse_id(layout, 1541815603606036480)


def test_layouts_that_cannot_be_are_refused() -> None:
    good = preset_layout("twitter")
    timestamp = LayoutField("timestamp", 41)
    for epoch_ms, tick_ns, fields in (
        (-(10**15), 10**6, good.fields),
        (0, 999, good.fields),
        (0, 1_500_000, good.fields),
        (0, 10**6, ()),
        (0, 10**6, (timestamp, timestamp)),
        (0, 10**6, (LayoutField("timestamp", 0),)),
        (0, 10**6, (LayoutField("sequence", 12),)),
        (0, 10**6, (timestamp, LayoutField("sequence", 33))),
        (0, 10**6, (timestamp, LayoutField("worker", 11), LayoutField("sequence", 12))),
        (0, 10**6, (LayoutField("timestamp", 20), LayoutField("worker", 20), LayoutField("datacenter", 20))),
        (0, 10**6, (timestamp, LayoutField("bogus", 3))),  # type: ignore[arg-type]
    ):
        with pytest.raises(SnowlaneError) as caught:
            Layout("custom", epoch_ms, tick_ns, fields)
        assert caught.value.reason is ErrorReason.INVALID_LAYOUT
    with pytest.raises(SnowlaneError):
        preset_layout("facebook")
    assert preset_layout("twitter", 0).epoch_ms == 0


def test_neighbouring_intervals_give_neighbouring_ranges() -> None:
    layout = preset_layout("twitter")
    start = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=8)))
    first = id_range(layout, start, start + timedelta(seconds=1))
    second = id_range(layout, start + timedelta(seconds=1), start + timedelta(seconds=2))
    assert second.first_id == first.last_id + 1
    assert parse_id(layout, first.first_id).create_time == start
    for bad in ((start, start), (start, start - timedelta(seconds=1)), (0, 1), (2**70, 2**71)):
        with pytest.raises(SnowlaneError) as caught:
            id_range(layout, *bad)
        assert caught.value.reason is ErrorReason.INVALID_TIME_RANGE
    with pytest.raises(ValueError, match="time zone"):
        id_range(layout, datetime(2026, 1, 1), start)


def test_arrays_read_as_single_ids_do() -> None:
    made = layouts()
    for name, layout in made.items():
        ids = [int(vector["id"]) for vector in load("ids")["vectors"] if vector["layout"] == name]
        found = parse_array(layout, numpy.array(ids, dtype=numpy.uint64))
        for i, id in enumerate(ids):
            parsed = parse_id(layout, id)
            assert found.ticks[i] == parsed.ticks
            for one, many in (
                (parsed.datacenter_id, found.datacenter_id),
                (parsed.worker_id, found.worker_id),
                (parsed.sequence, found.sequence),
            ):
                assert (None if many is None else many[i]) == one
            time = found.create_time[i]
            if layout.tick_ns >= 1_000_000:
                assert int(time.astype("int64")) == parsed.create_time_ms
            elif -(2**63) < parsed.create_time_ns < 2**63:
                assert int(time.astype("int64")) == parsed.create_time_ns


def test_arrays_refuse_what_is_no_id() -> None:
    layout = preset_layout("javascript")
    for ids in ([1, 2**53], numpy.array([1, -1]), numpy.array([1, 2**64 - 1], dtype=numpy.uint64)):
        with pytest.raises(SnowlaneError) as caught:
            parse_array(layout, ids)
        assert caught.value.metadata["index"] == "1"
    with pytest.raises(TypeError):
        parse_array(layout, numpy.array([1.0]))
    assert len(parse_array(layout, []).ticks) == 0


def test_sip_hash() -> None:
    for vector in load("public-ids")["sipHash"]:
        key, message = bytes.fromhex(vector["key"]), bytes.fromhex(vector["message"])
        filled = message + bytes(7 - len(message) % 8) + bytes((len(message),))
        key0, key1 = struct.unpack("<2Q", key)
        blocks = struct.unpack(f"<{len(filled) // 8}Q", filled)
        assert f"{sip_hash(key0, key1, blocks):016x}" == vector["hash"]


@pytest.mark.parametrize("bits", range(2, 17))
def test_every_permutation_up_to_16_bits_is_one(bits: int) -> None:
    permutation = NumberPermutation(bytes(16), bits)
    images = [permutation.apply(number) for number in range(2**bits)]
    assert sorted(images) == list(range(2**bits))
    # All of them would take half a minute.
    numbers = range(0, 2**bits, max(1, 2**bits // 4_096))
    assert [permutation.invert(images[number]) for number in numbers] == list(numbers)


def test_public_ids() -> None:
    for vector in load("public-ids")["vectors"]:
        permutation = NumberPermutation(bytes.fromhex(vector["key"]), vector["bits"])
        id, public_id = int(vector["id"]), int(vector["publicId"])
        assert (permutation.apply(id), permutation.invert(public_id)) == (public_id, id)
        if vector["bits"] == 63:
            public_ids = PublicId(bytes.fromhex(vector["key"]))
            assert (public_ids.hide(id), public_ids.reveal(public_id)) == (public_id, id)


def test_public_ids_refuse_what_is_no_id_and_short_keys() -> None:
    public_ids = PublicId(bytes(32))
    for call in (public_ids.hide, public_ids.reveal):
        for id in (-1, 2**63):
            with pytest.raises(SnowlaneError) as caught:
                call(id)
            assert caught.value.reason is ErrorReason.MALFORMED_ID
    with pytest.raises(ValueError, match="key"):
        PublicId(bytes(15))


def test_past() -> None:
    by_name = layouts()
    for vector in load("past")["vectors"]:
        layout = by_name[vector["layout"]]
        claim = {
            "first_tick": vector["firstTick"],
            "end_tick": vector["endTick"],
            "lane_bits": [int(bits) for bits in vector["laneBits"]],
            "numbers": layout.sequence.max + 1,
            "timestamp_shift": layout.timestamp.shift,
            "sequence_shift": layout.sequence.shift,
        }
        runs = vector["rows"]
        ticks = [run["tick"] for run in runs for _ in range(run["count"])]
        ids = [None if id is None else str(id) for id in past_ids(claim, ticks)]
        at = 0
        for run in runs:
            last = at + run["count"] - 1
            assert (ids[at], ids[last]) == (run["firstId"], run["lastId"]), vector
            at = last + 1
