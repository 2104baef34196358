//! A table in a file of JSON as JSON Lines: one object a line.

use super::Step;
use super::json_layout::{Layout, Member, members};
use super::limited::{Limited, failed, renamed};
use crate::ExchangeError;
use crate::annotations::{Findings, JsonParts};
use dissensus_domain::Split;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The key under which the key of an object is added to it.
const ID: &str = "id";
/// The same, if the object has another id.
const KEY: &str = "key";
/// The key under which the numbers and names of rows are added, if they are not simply counted.
const INDEX: &str = "index";
/// The key under which the split that a list is named after is added to its objects.
const SPLIT: &str = "split";
/// Maximum number of columns that are read in parallel: each is an open file.
const MAX_SIDE_BY_SIDE: usize = 500;

pub(super) fn rewrite(path: &Path, layout: &Layout, packed: u64) -> Result<Step, ExchangeError> {
    let inside = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let written = Limited::create(renamed(path, "jsonl"), packed).and_then(|mut out| {
        let mut reported = Vec::new();
        match layout {
            Layout::Records => each_part(path, |key, object| write_record(&mut out, key, &object))?,
            Layout::Nested(list) => each_part(path, |_, object| write_nested(&mut out, &object, list))?,
            Layout::Wrapped(lists) => reported.extend(write_wrapped(&mut out, path, lists)?),
            Layout::Columns => write_columns(&mut out, path)?,
            Layout::Rows => write_rows(&mut out, path)?,
        }
        out.finish(inside, reported)
    });
    written.map_err(|error| failed(path, &error, "it is a table in JSON, and damaged or not whole"))
}

/// Calls `see` with the key and the bytes of each part of a file.
fn each_part(path: &Path, mut see: impl FnMut(Option<&str>, Vec<u8>) -> io::Result<()>) -> io::Result<()> {
    each_part_of(JsonParts::new(File::open(path)?), |key, bytes, _| see(key, bytes))
}

/// Calls `see` with the key, the bytes and the end offset of each part.
fn each_part_of<R: Read>(
    mut parts: JsonParts<R>,
    mut see: impl FnMut(Option<&str>, Vec<u8>, u64) -> io::Result<()>,
) -> io::Result<()> {
    while let Some(part) = parts.next_part()? {
        let part = part.map_err(|broken| damaged(format!("line {}: {}", broken.line, broken.why)))?;
        see(part.key.as_deref(), part.bytes, parts.position())?;
    }
    Ok(())
}

fn damaged(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Writes an object with its key: as its id, or as an additional key if it has another id.
fn write_record(out: &mut impl Write, key: Option<&str>, object: &[u8]) -> io::Result<()> {
    let Some(key) = key else { return write_line(out, object, &[]) };
    let own = members(object).unwrap_or_default().into_iter().find(|(name, _)| name == ID);
    let name = match own {
        None => ID,
        Some((_, id)) if plain(&id) == key => return write_line(out, object, &[]),
        Some(_) => KEY,
    };
    write_line(out, object, &[(name.to_owned(), json(key))])
}

/// A value as text.
fn plain(value: &[u8]) -> String {
    serde_json::from_slice(value).map(|value| crate::annotations::plain(&value)).unwrap_or_default()
}

fn json(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

/// Writes the objects of a list, each with the other members of the object around it.
fn write_nested(out: &mut impl Write, object: &[u8], list: &str) -> io::Result<()> {
    let Some(found) = members(object) else { return Err(damaged("an object is broken".to_owned())) };
    let (within, around): (Vec<Member>, Vec<Member>) = found.into_iter().partition(|(key, _)| key == list);
    // An object without the list is a row of its own, and reported if the row lacks something.
    if !within.iter().any(|(_, objects)| objects.starts_with(b"[")) {
        return write_line(out, object, &[]);
    }
    for (_, objects) in within.iter().filter(|(_, objects)| objects.starts_with(b"[")) {
        each_part_of(JsonParts::new(objects.as_slice()), |_, object, _| {
            let own = members(&object).unwrap_or_default();
            let named = |(name, value): &Member| {
                let taken = own.iter().any(|(known, _)| known == name);
                (if taken { format!("{list}_{name}") } else { name.clone() }, value.clone())
            };
            write_line(out, &object, &around.iter().map(named).collect::<Vec<Member>>())
        })?;
    }
    Ok(())
}

/// Writes the objects of these lists of the file; returns a notice if the file has other members.
fn write_wrapped(out: &mut impl Write, path: &Path, lists: &[String]) -> io::Result<Option<Findings>> {
    let mut others: Vec<String> = Vec::new();
    each_part(path, |key, part| {
        let key = key.unwrap_or_default();
        if !lists.iter().any(|list| list == key) {
            others.push(format!("\"{key}\""));
            return Ok(());
        }
        let split = Split::from_name(key).map(|_| (SPLIT.to_owned(), json(key)));
        each_part_of(JsonParts::new(part.as_slice()), |_, object, _| {
            write_line(out, &object, split.as_slice())
        })
    })?;
    Ok((!others.is_empty()).then(|| Findings {
        code: "members",
        count: others.len() as u64,
        message: format!(
            "\"{}\" is read; the rest of the file is left out: {}",
            lists.join("\", \""),
            others.join(", ")
        ),
    }))
}

/// Zips columns into rows.
fn write_columns(out: &mut impl Write, path: &Path) -> io::Result<()> {
    let mut columns: Vec<(String, JsonParts<io::Take<File>>)> = Vec::new();
    let mut counted = true;
    each_part_of(JsonParts::new(File::open(path)?), |name, bytes, end| {
        if columns.len() == MAX_SIDE_BY_SIDE {
            return Err(damaged(format!("it has more than {MAX_SIDE_BY_SIDE} columns: save it as CSV")));
        }
        if columns.is_empty() {
            let mut row = 0_u64;
            each_part_of(JsonParts::new(bytes.as_slice()), |key, _, _| {
                counted &= key == Some(row.to_string().as_str());
                row += 1;
                Ok(())
            })?;
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(end - bytes.len() as u64))?;
        columns.push((name.unwrap_or_default().to_owned(), JsonParts::new(file.take(bytes.len() as u64))));
        Ok(())
    })?;
    let has_index = columns.iter().any(|(name, _)| name == INDEX);
    let mut row = 0_u64;
    loop {
        row += 1;
        let mut key: Option<Option<String>> = None;
        let mut cells: Vec<Member> = Vec::new();
        for (name, values) in &mut columns {
            let part = values.next_part()?.transpose();
            let part = part.map_err(|broken| damaged(format!("column \"{name}\": {}", broken.why)))?;
            let here = part.as_ref().and_then(|part| part.key.clone());
            if key.get_or_insert_with(|| here.clone()) != &here {
                return Err(damaged(format!(
                    "row {row}: column \"{name}\" has other rows than the first column"
                )));
            }
            cells.extend(part.map(|part| (name.clone(), part.bytes)));
        }
        if cells.is_empty() {
            return Ok(());
        }
        if let Some(key) = key.flatten().filter(|_| !counted && !has_index) {
            cells.push((INDEX.to_owned(), json(&key)));
        }
        write_line(out, b"{}", &cells)?;
    }
}

/// Rows as lists, with the names of their columns.
fn write_rows(out: &mut impl Write, path: &Path) -> io::Result<()> {
    let mut names: Vec<String> = Vec::new();
    let (mut rows, mut index): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
    each_part(path, |key, part| {
        match key {
            Some("columns") => {
                let found: Vec<serde_json::Value> = serde_json::from_slice(&part)?;
                names = found.iter().map(crate::annotations::plain).collect();
            }
            Some("data") => rows = part,
            Some(INDEX) if part.starts_with(b"[") => index = part,
            _ => {}
        }
        Ok(())
    })?;
    let mut counted = true;
    let mut row = 0_u64;
    if !index.is_empty() {
        each_part_of(JsonParts::new(index.as_slice()), |_, value, _| {
            counted &= value == row.to_string().as_bytes();
            row += 1;
            Ok(())
        })?;
    }
    let keep = !counted && !names.iter().any(|name| name == INDEX);
    let mut index = JsonParts::new(index.as_slice());
    row = 0;
    each_part_of(JsonParts::new(rows.as_slice()), |_, values, _| {
        row += 1;
        let mut cells: Vec<Member> = Vec::new();
        each_part_of(JsonParts::new(values.as_slice()), |_, value, _| {
            let name = names.get(cells.len());
            let name =
                name.ok_or_else(|| damaged(format!("row {row} has more values than there are columns")))?;
            cells.push((name.clone(), value));
            Ok(())
        })?;
        if cells.len() < names.len() {
            return Err(damaged(format!("row {row} has fewer values than there are columns")));
        }
        if let Some(Ok(part)) = if keep { index.next_part()? } else { None } {
            cells.push((INDEX.to_owned(), part.bytes));
        }
        write_line(out, b"{}", &cells)
    })
}

/// Writes an object on a line of its own, after the members of `more` that it does not have. Line ends in
/// JSON are white space: those in strings are escaped.
fn write_line(out: &mut impl Write, object: &[u8], more: &[Member]) -> io::Result<()> {
    let own = if more.is_empty() { Vec::new() } else { members(object).unwrap_or_default() };
    let is_new = |(name, _): &&Member| !own.iter().any(|(known, _)| known == name);
    let mut line: Vec<u8> = Vec::with_capacity(object.len());
    line.push(b'{');
    for (name, value) in more.iter().filter(is_new) {
        if line.len() > 1 {
            line.extend_from_slice(b", ");
        }
        line.extend_from_slice(serde_json::Value::from(name.as_str()).to_string().as_bytes());
        line.extend_from_slice(b": ");
        line.extend_from_slice(value);
    }
    let rest = object.trim_ascii_start().strip_prefix(b"{").unwrap_or(object);
    if line.len() > 1 && !rest.trim_ascii_start().starts_with(b"}") {
        line.extend_from_slice(b", ");
    }
    line.extend_from_slice(rest);
    for byte in line.iter_mut().filter(|byte| b"\r\n".contains(byte)) {
        *byte = b' ';
    }
    line.push(b'\n');
    out.write_all(&line)
}
