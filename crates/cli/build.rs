//! Embeds the messages of the command: of each language one compressed file, from the catalogues of `ui`.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};
use std::fmt;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The catalogues: sentences that the window shows too, and those of the command alone.
const FOLDERS: [&str; 2] = ["../../ui/src/messages/program", "../../ui/src/messages/command"];

fn main() -> Result<(), Error> {
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
    }
    for entry in fs::read_dir(FOLDERS[0])? {
        let name = PathBuf::from(entry?.file_name());
        if name.extension().is_some_and(|extension| extension == "json") {
            let [of_program, of_command] = FOLDERS.map(|folder| read(&Path::new(folder).join(&name)));
            match name.file_stem().and_then(|stem| stem.to_str()) {
                Some("en") => embed("pseudo", pseudo(of_program?), pseudo(of_command?))?,
                Some(language) => embed(language, of_program?.0, of_command?.0)?,
                None => {}
            }
        }
    }
    Ok(())
}

/// Writes the messages of one language into the folder of what is built.
fn embed(language: &str, of_program: Entries, of_command: Entries) -> Result<(), Error> {
    // A single word of the command is above a column or next to a bar, and a name elsewhere.
    let (words, of_command): (Entries, _) =
        of_command.into_iter().partition(|(english, _)| !english.contains(' '));
    let sentences: Entries = of_program.into_iter().chain(of_command).collect();
    let words: Map<String, Value> = words.into_iter().collect();
    let file = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(language);
    let mut compressed = ZlibEncoder::new(fs::File::create(file)?, Compression::best());
    serde_json::to_writer(&mut compressed, &json!({ "sentences": sentences, "words": words }))?;
    compressed.finish()?.flush()
}

/// Every sentence of the English catalogue in a language of tests: English in other letters.
fn pseudo(english: InOrder) -> Entries {
    let files = english.0.into_iter().map(|(_, sentences)| sentences);
    let sentences = files.filter_map(|sentences| match sentences {
        Value::Array(sentences) => Some(sentences),
        _ => None,
    });
    let sentences = sentences.flatten().filter_map(|sentence| sentence.as_str().map(str::to_owned));
    sentences.map(|sentence| (sentence.clone(), Value::String(in_other_letters(&sentence)))).collect()
}

/// The text with circled letters instead of small ones, outside of `{{values}}`.
fn in_other_letters(text: &str) -> String {
    let mut is_value = false;
    let change = |c: char| {
        is_value = (is_value || c == '{') && c != '}';
        match u32::from(c) {
            small @ 0x61..=0x7a if !is_value => char::from_u32(small - 0x61 + 0x24d0).unwrap_or(c),
            _ => c,
        }
    };
    text.chars().map(change).collect()
}

/// The sentences of one file, in their order.
fn read(path: &Path) -> Result<InOrder, Error> {
    let text = fs::read_to_string(path)?;
    serde_json::from_str(&text).map_err(|error| Error::other(format!("{}: {error}", path.display())))
}

type Entries = Vec<(String, Value)>;

/// The entries of an object in their order: of two sentences that fit alike, the first counts.
struct InOrder(Entries);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = InOrder;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InOrder, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(InOrder(entries))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
