//! A list of JSON objects, or an object of them by their ids, as JSON Lines: one object a line.

use super::Step;
use super::limited::{Limited, failed, renamed};
use crate::ExchangeError;
use crate::annotations::JsonParts;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The name under which the key of an object becomes a value of it.
const ID: &str = "id";
/// How many parts are looked at.
const LOOKED_AT: usize = 20;

/// Whether the file holds objects one after the other, in a list or as the members of an object.
pub(super) fn are_in(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let mut parts = JsonParts::new(file);
    let mut found = 0;
    while found < LOOKED_AT {
        match parts.next_part() {
            Ok(Some(Ok(part))) if part.bytes.trim_ascii_start().starts_with(b"{") => found += 1,
            Ok(None) => break,
            _ => return false,
        }
    }
    found > 0
}

pub(super) fn rewrite(path: &Path, packed: u64) -> Result<Step, ExchangeError> {
    let inside = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let written = File::open(path).and_then(|file| {
        let mut out = Limited::create(renamed(path, "jsonl"), packed)?;
        let mut parts = JsonParts::new(file);
        while let Some(part) = parts.next_part()? {
            let part = part.map_err(|broken| {
                io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {}", broken.line, broken.why))
            })?;
            write_line(&mut out, part.key.as_deref(), &part.bytes)?;
        }
        out.finish(inside, Vec::new())
    });
    written.map_err(|error| failed(path, &error, "it is a list of JSON objects, and damaged or not whole"))
}

/// Writes an object on a line of its own. Line ends in JSON are white space: those in strings are escaped.
fn write_line(out: &mut impl Write, key: Option<&str>, object: &[u8]) -> io::Result<()> {
    let mut line: Vec<u8> =
        object.iter().map(|byte| if b"\r\n".contains(byte) { b' ' } else { *byte }).collect();
    if let Some(key) = key
        && !has_id(object)
        && let Some(open) = line.iter().position(|byte| *byte == b'{')
    {
        let empty = line[open + 1..].trim_ascii_start().starts_with(b"}");
        let member = format!("\"{ID}\": {}{}", serde_json::Value::from(key), if empty { "" } else { ", " });
        line.splice(open + 1..open + 1, member.into_bytes());
    }
    line.push(b'\n');
    out.write_all(&line)
}

fn has_id(object: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(object)
        .is_ok_and(|o| o.contains_key(ID))
}
