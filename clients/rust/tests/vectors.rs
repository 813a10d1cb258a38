//! The vectors of all clients, where the repository is at hand: test/vectors/README.md.
use serde_json::Value;
use snowlane::{Id, Reason};

fn vectors(name: &str) -> Vec<Value> {
    let path = format!("{}/../../test/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors of the repository");
    // A lone surrogate is no text of Rust: U+FFFD gives the same error.
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
