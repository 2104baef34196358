//! The parts of an annotation file, one after the other: lines, elements of a list, members of an object,
//! files of an archive, rows.

use crate::ExchangeError;
use crate::annotations::json_parts::JsonParts;
use crate::annotations::package::Package;
use crate::row_error::RowErrorKind;
use crate::table_file::TableFile;
use crate::table_records::TableRecords;
use crate::window::{LineEnd, MAX_RECORD_BYTES, Window};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest file that is one part, in bytes.
const MAX_WHOLE_BYTES: u64 = 64 << 20;

/// How a file divides into parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// A JSON value a line.
    Lines,
    /// The elements of a JSON list.
    Elements,
    /// The members of a JSON object.
    Members,
    /// The file as a whole.
    Whole,
    /// A JSON value a line, in each of these files of an archive.
    EntryLines(Vec<String>),
    /// These files of an archive or a folder, each as a whole.
    Entries(Vec<String>),
    /// The rows of a table, as objects.
    Rows(Box<TableFile>),
}

/// The content of a part.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Json(Value),
    Text(String),
}

/// One part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The physical line on which it begins, from 1, in the file or in the file of an archive.
    pub(crate) line: u64,
    /// The key of a member, or the name of the file that it is or is in.
    pub(crate) name: String,
    pub(crate) content: Content,
    /// The unprocessed JSON of an element or a member, for readers that depend on the order of keys.
    pub(crate) raw: String,
}

impl Part {
    fn new(line: u64, name: impl Into<String>, content: Content) -> Self {
        Self { line, name: name.into(), content, raw: String::new() }
    }

    /// The JSON of a part that is JSON.
    pub(crate) fn json(&self) -> &Value {
        match &self.content {
            Content::Json(value) => value,
            Content::Text(_) => &Value::Null,
        }
    }

    /// The text of a part that is text.
    pub(crate) fn text(&self) -> &str {
        match &self.content {
            Content::Text(text) => text,
            Content::Json(_) => "",
        }
    }
}

/// A part that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct PartError {
    pub(crate) line: u64,
    pub(crate) name: String,
    pub(crate) kind: RowErrorKind,
}

/// The parts of one file in order.
#[derive(Debug)]
pub(crate) struct Parts {
    source: Input,
    name: String,
    done: bool,
}

#[derive(Debug)]
enum Input {
    Lines(Box<Window<File>>),
    Json(Box<JsonParts<File>>),
    Whole(Option<Result<String, PartError>>, u64),
    Entries(Box<Entries>),
    Rows(Box<TableRecords>, Vec<String>),
}

/// Files of an archive, as wholes or by line.
#[derive(Debug)]
struct Entries {
    package: Package,
    names: std::vec::IntoIter<String>,
    by_line: bool,
    /// The file whose lines are read: its name, its bytes, the position, and the next line's number.
    open: Option<(String, Vec<u8>, usize, u64)>,
    /// Approximate share of each file in the bytes of the whole.
    step: u64,
    position: u64,
}

impl Parts {
    /// The parts of the file at `path`.
    pub(crate) fn open(path: &Path, division: &Division) -> Result<Self, ExchangeError> {
        let reading = |e| ExchangeError::reading(path, e);
        let file = || File::open(path).map_err(reading);
        let source = match division {
            Division::Lines => Input::Lines(Box::new(Window::new(file()?, 0, 1))),
            Division::Elements | Division::Members => Input::Json(Box::new(JsonParts::new(file()?))),
            Division::Whole => {
                let mut bytes = Vec::new();
                file()?.take(MAX_WHOLE_BYTES + 1).read_to_end(&mut bytes).map_err(reading)?;
                let length = bytes.len() as u64;
                Input::Whole(Some(whole(bytes, "")), length)
            }
            Division::EntryLines(names) | Division::Entries(names) => {
                let length = std::fs::metadata(path).map(|about| about.len()).unwrap_or_default();
                Input::Entries(Box::new(Entries {
                    package: Package::open(path)?,
                    step: length / names.len().max(1) as u64,
                    names: names.clone().into_iter(),
                    by_line: matches!(division, Division::EntryLines(_)),
                    open: None,
                    position: 0,
                }))
            }
            Division::Rows(table) => {
                let records = TableRecords::open(table).map_err(reading)?;
                Input::Rows(Box::new(records), table.columns().to_vec())
            }
        };
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self { source, name, done: false })
    }

    /// Bytes of the file that have been read, approximately.
    pub(crate) fn position(&self) -> u64 {
        match &self.source {
            Input::Lines(window) => window.offset(),
            Input::Json(parts) => parts.position(),
            Input::Whole(left, length) => {
                if left.is_some() {
                    0
                } else {
                    *length
                }
            }
            Input::Entries(entries) => entries.position,
            Input::Rows(records, _) => records.position(),
        }
    }

    /// The next part.
    pub(crate) fn next_part(&mut self) -> Option<Result<Part, PartError>> {
        if self.done {
            return None;
        }
        let name = self.name.clone();
        let next = match &mut self.source {
            Input::Lines(window) => next_line(window, &name),
            Input::Json(parts) => next_json(parts, &name),
            Input::Whole(left, _) => left.take().map(|read| match read {
                Ok(text) => Ok(Part::new(1, name, Content::Text(text))),
                Err(bad) => Err(PartError { name, ..bad }),
            }),
            Input::Entries(entries) => entries.next_part(),
            Input::Rows(records, columns) => next_row(records, columns, &name),
        };
        self.done = match &next {
            None => true,
            Some(Err(bad)) => {
                matches!(bad.kind, RowErrorKind::Unreadable { .. } | RowErrorKind::CutOff { .. })
            }
            Some(Ok(_)) => false,
        };
        next
    }
}

fn unreadable(line: u64, name: &str, error: &std::io::Error) -> PartError {
    PartError { line, name: name.to_owned(), kind: RowErrorKind::Unreadable { message: error.to_string() } }
}

fn next_line(window: &mut Window<File>, name: &str) -> Option<Result<Part, PartError>> {
    loop {
        let line = window.line();
        let bad = |kind| Some(Err(PartError { line, name: name.to_owned(), kind }));
        match window.line_end(0) {
            Err(error) => return Some(Err(unreadable(line, name, &error))),
            Ok(LineEnd::EndOfFile) => return None,
            Ok(LineEnd::TooLong) => {
                return match window.skip_line() {
                    Err(error) => Some(Err(unreadable(line, name, &error))),
                    Ok(()) => bad(RowErrorKind::TooLong { limit: MAX_RECORD_BYTES }),
                };
            }
            Ok(LineEnd::At(end)) => {
                let read = json_line(&window.bytes()[..end], window.offset());
                window.consume(end, 1);
                match read {
                    Ok(None) => {}
                    Ok(Some(value)) => {
                        return Some(Ok(Part::new(line, name, Content::Json(value))));
                    }
                    Err(kind) => return bad(kind),
                }
            }
        }
    }
}

/// Parses the JSON of a line; `None` for a blank one.
fn json_line(line: &[u8], offset: u64) -> Result<Option<Value>, RowErrorKind> {
    let text = std::str::from_utf8(line)
        .map_err(|e| RowErrorKind::NotUtf8 { offset: offset + e.valid_up_to() as u64 })?;
    let text = if offset == 0 { text.strip_prefix('\u{FEFF}').unwrap_or(text) } else { text };
    match text.trim() {
        "" => Ok(None),
        text => parsed(text).map(Some),
    }
}

fn parsed(text: &str) -> Result<Value, RowErrorKind> {
    serde_json::from_str(text).map_err(|e| {
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        RowErrorKind::BadJson { at: e.column(), message }
    })
}

fn next_json(parts: &mut JsonParts<File>, name: &str) -> Option<Result<Part, PartError>> {
    let start = parts.position();
    match parts.next_part() {
        Err(error) => Some(Err(unreadable(1, name, &error))),
        Ok(None) => None,
        Ok(Some(Err(broken))) => {
            let kind = RowErrorKind::CutOff { why: broken.why };
            Some(Err(PartError { line: broken.line, name: name.to_owned(), kind }))
        }
        Ok(Some(Ok(part))) => {
            let name = part.key.unwrap_or_else(|| name.to_owned());
            let read = match std::str::from_utf8(&part.bytes) {
                Ok(text) => parsed(text).map(|value| (value, text.to_owned())),
                Err(e) => Err(RowErrorKind::NotUtf8 { offset: start + e.valid_up_to() as u64 }),
            };
            Some(match read {
                Ok((value, raw)) => Ok(Part { raw, ..Part::new(part.line, name, Content::Json(value)) }),
                Err(kind) => Err(PartError { line: part.line, name, kind }),
            })
        }
    }
}

fn whole(bytes: Vec<u8>, name: &str) -> Result<String, PartError> {
    let bad = |kind| PartError { line: 1, name: name.to_owned(), kind };
    if bytes.len() as u64 > MAX_WHOLE_BYTES {
        return Err(bad(RowErrorKind::TooLong { limit: MAX_WHOLE_BYTES as usize }));
    }
    let text = String::from_utf8(bytes)
        .map_err(|e| bad(RowErrorKind::NotUtf8 { offset: e.utf8_error().valid_up_to() as u64 }))?;
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}

fn next_row(records: &mut TableRecords, columns: &[String], name: &str) -> Option<Result<Part, PartError>> {
    match records.advance() {
        Ok(false) => None,
        Err(error) => Some(Err(PartError { line: error.line, name: name.to_owned(), kind: error.kind })),
        Ok(true) => {
            let cells = records.cells();
            let pairs = columns.iter().enumerate();
            let object: Map<String, Value> =
                pairs.map(|(nth, key)| (key.clone(), Value::from(cells.get(nth)))).collect();
            Some(Ok(Part::new(records.line(), name, Content::Json(Value::Object(object)))))
        }
    }
}

impl Entries {
    fn next_part(&mut self) -> Option<Result<Part, PartError>> {
        loop {
            if let Some((name, bytes, at, line)) = &mut self.open {
                if *at < bytes.len() {
                    let end =
                        memchr::memchr(b'\n', &bytes[*at..]).map_or(bytes.len(), |found| *at + found + 1);
                    let read = json_line(&bytes[*at..end], *at as u64);
                    let (here, name) = (*line, name.clone());
                    (*at, *line) = (end, *line + 1);
                    match read {
                        Ok(None) => continue,
                        Ok(Some(value)) => {
                            return Some(Ok(Part::new(here, name, Content::Json(value))));
                        }
                        Err(kind) => return Some(Err(PartError { line: here, name, kind })),
                    }
                }
                self.open = None;
            }
            let name = self.names.next()?;
            self.position += self.step;
            let bytes = match self.package.read(&name) {
                Ok(bytes) => bytes,
                Err(error) => {
                    let kind = RowErrorKind::Misshapen { why: error.to_string() };
                    return Some(Err(PartError { line: 1, name, kind }));
                }
            };
            if self.by_line {
                self.open = Some((name, bytes, 0, 1));
                continue;
            }
            return Some(whole(bytes, &name).map(|text| Part::new(1, name, Content::Text(text))));
        }
    }
}
