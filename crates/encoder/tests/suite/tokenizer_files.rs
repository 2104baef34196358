//! Truncated and edited tokenizer.json files of every family: an error with the file's name, or an encoder
//! that works; never a panic, which on a background thread would leave a job running for ever.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by panicking")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::spoilt::{Copy, check_message};
use serde_json::{Value, json};

/// Number of cuts of each part of a file.
const CUTS: usize = 40;

/// Every fixture with a tokenizer.
fn families() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found: Vec<PathBuf> = fs::read_dir(fixtures.join("families"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .chain([fixtures.join("tiny")])
        .filter(|dir| dir.join("tokenizer.json").is_file())
        .collect();
    found.sort();
    assert!(found.len() >= 12, "fixtures are missing: {found:?}");
    found
}

/// Opens the copy with this tokenizer.json, and encodes if it opens. `Err` after a panic.
fn try_out(copy: &Copy, file: &[u8]) -> Result<Option<dissensus_encoder::EncoderError>, String> {
    fs::write(copy.dir.join("tokenizer.json"), file).unwrap();
    let tried = catch_unwind(AssertUnwindSafe(|| {
        copy.open().and_then(|encoder| encoder.encode(&["this is not fair, \u{e9}\u{1F469}", "good"])).err()
    }));
    tried.map_err(|_| String::from_utf8_lossy(&file[file.len().saturating_sub(200)..]).into_owned())
}

#[test]
fn truncated_tokenizer_is_refused_by_name() {
    for family in families() {
        let copy = Copy::of(&family);
        let whole = fs::read(family.join("tokenizer.json")).unwrap();
        // Evenly over the file, and closely where its parts are named: the library panicked within the
        // decoder.
        let text = String::from_utf8(whole.clone()).unwrap();
        let decoder = text.find("\"decoder\"").unwrap();
        let model = text.find("\"model\"").unwrap_or(whole.len());
        let evenly = (0..CUTS).map(|i| i * whole.len() / CUTS);
        let closely = (decoder..model.max(decoder + CUTS)).step_by(3);
        for cut in evenly.chain(closely).chain([whole.len() - 1]).filter(|cut| *cut < whole.len()) {
            let error = try_out(&copy, &whole[..cut])
                .unwrap_or_else(|end| panic!("{}: panicked when cut after {end}", family.display()))
                .unwrap_or_else(|| panic!("{}: {cut} bytes are no tokenizer", family.display()));
            check_message(&error, "encoder-tokenizer", &["tokenizer.json"]);
        }
    }
}

#[test]
fn edited_tokenizer_is_refused_or_works() {
    let odd =
        [json!(null), json!("x"), json!(-1), json!([]), json!({}), json!(["x"]), json!({"type": "Nothing"})];
    for family in families() {
        let copy = Copy::of(&family);
        let whole: Value = serde_json::from_slice(&fs::read(family.join("tokenizer.json")).unwrap()).unwrap();
        let mut pointers = Vec::new();
        collect(&whole, "", &mut pointers);
        assert!(pointers.len() > 20, "{}", family.display());
        for pointer in &pointers {
            for odd in &odd {
                let mut edited = whole.clone();
                *edited.pointer_mut(pointer).unwrap() = odd.clone();
                if let Err(end) = try_out(&copy, edited.to_string().as_bytes()) {
                    panic!("{}: {pointer} = {odd} panicked: {end}", family.display());
                }
            }
        }
    }
}

#[test]
fn damaged_table_of_characters_is_an_error() {
    // Valid JSON: only the library's own table inside it is broken.
    let charsmap = "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAAAA==\"}";
    let copy = Copy::new();
    let mut whole: Value =
        serde_json::from_slice(&fs::read(copy.dir.join("tokenizer.json")).unwrap()).unwrap();
    whole["normalizer"] = serde_json::from_str(charsmap).unwrap();
    let outcome = try_out(&copy, whole.to_string().as_bytes());
    if let Some(error) = outcome.expect("it panicked") {
        assert!(["encoder-tokenizer", "encoder-text"].contains(&error.code()), "{error}");
    }
}

/// Collects pointers to everything but the vocabulary's own entries.
fn collect(value: &Value, at: &str, pointers: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().take(2).enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => return,
    };
    for (key, value) in inner {
        let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        let tables = ["/model/vocab", "/model/merges", "/added_tokens"];
        pointers.push(pointer.clone());
        if !tables.contains(&pointer.as_str()) {
            collect(value, &pointer, pointers);
        }
    }
}
