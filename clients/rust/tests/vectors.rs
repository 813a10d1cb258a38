//! The vectors of all clients, where the repository is at hand: test/vectors/README.md.
use serde_json::Value;
use snowlane::{FieldKind, Id, Layout, Reason};
use std::{
    collections::HashMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

fn vectors(name: &str) -> Vec<Value> {
    let path = format!("{}/../../test/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors of the repository");
    // A lone surrogate is not valid text in Rust: U+FFFD gives the same error.
    let text = ["d83d\"", "d800\""].iter().fold(text, |text, half| text.replace(&format!("\\u{half}"), "\u{fffd}\""));
    serde_json::from_str::<Value>(&text).expect("JSON")["vectors"].as_array().expect("a list").clone()
}

fn read(form: &str, text: &str) -> Result<Id, snowlane::Error> {
    if form == "decimal" { text.parse() } else { Id::from_base58(text) }
}

#[test]
fn an_id_is_written_and_read_as_in_every_language() {
    let mut seen = 0;
    for vector in vectors("ids.json") {
        let id: Id = vector["id"].as_str().expect("a string").parse().expect("an ID");
        for text in vector["texts"].as_array().expect("a list") {
            let (form, text) = (text["form"].as_str().expect("a form"), text["text"].as_str().expect("a text"));
            if form == "decimal" || form == "base58" {
                assert_eq!(if form == "decimal" { id.to_string() } else { id.to_base58() }, text);
                assert_eq!(read(form, text).expect("an ID"), id);
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen} texts");
}

#[test]
fn a_text_that_is_no_id_is_refused_as_in_every_language() {
    let mut seen = 0;
    for vector in vectors("refused.json") {
        let form = vector["form"].as_str().unwrap_or_default();
        if vector["kind"] != "text" || !["decimal", "base58"].contains(&form) {
            continue;
        }
        let error = read(form, vector["text"].as_str().expect("a text")).expect_err("no ID");
        assert_eq!(error.reason(), Reason::MalformedText);
        assert_eq!(serde_json::to_value(error.metadata()).expect("JSON"), vector["metadata"], "{vector}");
        seen += 1;
    }
    assert!(seen > 20, "{seen} texts");
}

fn time_of(seconds: i64, nanos: u32) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    (if seconds < 0 { UNIX_EPOCH - whole } else { UNIX_EPOCH + whole }) + Duration::from_nanos(nanos.into())
}

fn layout_of(vector: &Value) -> Result<Layout, snowlane::Error> {
    let epoch_ms = vector["epochMs"].as_i64().expect("an epoch");
    let epoch = time_of(epoch_ms.div_euclid(1_000), epoch_ms.rem_euclid(1_000) as u32 * 1_000_000);
    let fields: Vec<_> = vector["fields"]
        .as_array()
        .expect("fields")
        .iter()
        .map(|field| {
            let kind = match field["kind"].as_str().expect("a kind") {
                "timestamp" => FieldKind::Timestamp,
                "datacenter" => FieldKind::Datacenter,
                "worker" => FieldKind::Worker,
                _ => FieldKind::Sequence,
            };
            (kind, field["bits"].as_u64().expect("bits") as u32)
        })
        .collect();
    let tick = Duration::from_nanos(vector["tickNs"].as_u64().expect("a tick"));
    Layout::new(vector["name"].as_str().expect("a name"), epoch, tick, &fields)
}

#[test]
fn the_parts_of_an_id_are_read_as_in_every_language() {
    let layouts = vectors("layouts.json");
    let lives: HashMap<_, _> =
        layouts.iter().map(|vector| (vector["name"].as_str(), (layout_of(vector), &vector["timestampMax"]))).collect();
    let mut seen = 0;
    for vector in vectors("ids.json") {
        let (layout, tick_max) = &lives[&vector["layout"].as_str()];
        let layout = layout.as_ref().expect("a layout");
        let id: Id = vector["id"].as_str().expect("a string").parse().expect("an ID");
        let parsed = layout.parse(id).expect("an ID of this layout");
        assert_eq!(Some(parsed.ticks), vector["ticks"].as_u64(), "{vector}");
        for (part, key) in
            [(parsed.datacenter_id, "datacenterId"), (parsed.worker_id, "workerId"), (parsed.sequence, "sequence")]
        {
            assert_eq!(Some(part.unwrap_or(0).into()), vector[key].as_u64(), "{key} of {vector}");
        }
        let created = &vector["createTime"];
        let nanos = created["nanos"].as_u64().expect("nanos") as u32;
        assert_eq!(parsed.created, time_of(created["seconds"].as_i64().expect("seconds"), nanos), "{vector}");
        let range = layout.id_range(parsed.created, parsed.created + Duration::from_nanos(1)).expect("one tick");
        assert!(range.contains(&id), "{vector}");
        assert_eq!([range.start(), range.end()].map(|&id| layout.parse(id).expect("an ID").ticks), [parsed.ticks; 2]);
        if tick_max.as_u64() == Some(parsed.ticks) {
            let (after, later) = (Duration::from_nanos(1), Duration::from_secs(7_200));
            let past = layout.id_range(parsed.created + after, parsed.created + later);
            assert_eq!(past.expect_err("past the life").reason(), Reason::InvalidTimeRange);
        }
        seen += 1;
    }
    assert!(seen > 100, "{seen} IDs");
}

#[test]
fn an_id_of_another_layout_and_an_empty_interval_are_refused() {
    let layout = |tick, fields: &[(FieldKind, u32)]| Layout::new("custom", UNIX_EPOCH, tick, fields);
    let ms = Duration::from_millis(1);
    let small = layout(ms, &[(FieldKind::Timestamp, 20), (FieldKind::Worker, 4)]).expect("a layout");
    assert_eq!(small.parse(Id::new(1 << 24).expect("an ID")).expect_err("too long").reason(), Reason::MalformedId);
    for end in [UNIX_EPOCH, UNIX_EPOCH - ms] {
        assert_eq!(small.id_range(UNIX_EPOCH, end).expect_err("empty").reason(), Reason::InvalidTimeRange);
    }
    let timestamp = (FieldKind::Timestamp, 40);
    for (tick, fields) in [
        (ms, vec![]),
        (ms, vec![timestamp, timestamp]),
        (ms, vec![timestamp, (FieldKind::Worker, 0)]),
        (ms, vec![timestamp, (FieldKind::Sequence, 24)]),
        (ms, vec![(FieldKind::Timestamp, 30), (FieldKind::Worker, 30), (FieldKind::Datacenter, 3)]),
        (Duration::from_nanos(999), vec![timestamp]),
        (Duration::from_nanos(1_500_000), vec![timestamp]),
    ] {
        assert_eq!(layout(tick, &fields).expect_err("no layout").reason(), Reason::InvalidLayout, "{fields:?}");
    }
    let late = UNIX_EPOCH + Duration::from_nanos(1);
    assert_eq!(Layout::new("a", late, ms, &[timestamp]).expect_err("no epoch").reason(), Reason::InvalidLayout);
}

#[test]
fn a_number_above_2_to_the_63_is_no_id() {
    assert_eq!(Id::new(1 << 63).expect_err("no ID").reason(), Reason::MalformedId);
    assert_eq!(Id::new((1 << 63) - 1).expect("an ID").get(), snowlane::MAX_ID);
}

#[cfg(feature = "serde")]
#[test]
fn an_id_is_a_string_in_json() {
    let id = Id::new(1_900_000_000_000_000_005).expect("an ID");
    assert_eq!(serde_json::to_string(&id).expect("JSON"), "\"1900000000000000005\"");
    assert_eq!(serde_json::from_str::<Id>("\"1900000000000000005\"").expect("an ID"), id);
    assert!(serde_json::from_str::<Id>("1900000000000000005").is_err());
}
