//! A first look at a file: enough to detect its format.

use crate::ExchangeError;
use crate::annotations::{JsonParts, Package};
use crate::table_file::TableFile;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many bytes of the beginning are read.
pub(super) const HEAD_BYTES: u64 = 1 << 20;
/// How many lines, elements and members are parsed.
const LOOKED_AT: usize = 20;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What the beginning of a file shows. The parts that do not apply are empty.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) path: PathBuf,
    /// The extension of its name in lower case, without the dot.
    pub(crate) ending: String,
    /// The user specified the format.
    pub(crate) named: bool,
    pub(crate) is_folder: bool,
    /// The first bytes, without a byte order mark.
    pub(crate) head: Vec<u8>,
    /// The objects on its first lines.
    pub(crate) lines: Vec<Map<String, Value>>,
    /// The first elements of a list, where they are objects.
    pub(crate) elements: Vec<Map<String, Value>>,
    /// The first members of an object.
    pub(crate) members: Vec<(String, Value)>,
    /// The names of the files of an archive or a folder.
    pub(crate) files: Vec<String>,
    /// A table with the names of its columns.
    pub(crate) table: Option<Box<TableFile>>,
}

impl Look {
    /// Inspects the file or folder at `path`; `None` if it is neither an ordinary file nor a folder.
    ///
    /// # Errors
    /// It cannot be read, or is a damaged archive.
    pub(crate) fn new(path: &Path, named: bool) -> Result<Option<Self>, ExchangeError> {
        let reading = |e| ExchangeError::reading(path, e);
        let about = std::fs::metadata(path).map_err(reading)?;
        let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
        let mut look =
            Self { path: path.to_owned(), ending, named, is_folder: about.is_dir(), ..Self::default() };
        if about.is_dir() {
            look.files = Package::open(path)?.names()?;
            return Ok(Some(look));
        }
        if !about.is_file() {
            return Ok(None);
        }
        File::open(path).and_then(|f| f.take(HEAD_BYTES).read_to_end(&mut look.head)).map_err(reading)?;
        if look.head.starts_with(BOM) {
            look.head.drain(..BOM.len());
        }
        match look.head.trim_ascii_start().first() {
            Some(b'P') if look.head.starts_with(b"PK\x03\x04") || look.head.starts_with(b"PK\x05\x06") => {
                let names = Package::open(path).and_then(|package| package.names());
                // Spreadsheets are archives too, and are recognised by the readers of tables.
                look.files = if look.ending == "zip" { names? } else { names.unwrap_or_default() };
            }
            Some(b'[') => look.elements = elements(path),
            Some(b'{') => {
                look.lines = lines(&look.head);
                look.members = members(path);
            }
            Some(_) if ["csv", "tsv", "tab", "txt"].contains(&look.ending.as_str()) => {
                look.table = TableFile::open(path, None).ok().map(Box::new);
            }
            _ => {}
        }
        Ok(Some(look))
    }

    /// The first objects, be they lines or elements of a list.
    pub(crate) fn objects(&self) -> &[Map<String, Value>] {
        if self.elements.is_empty() { &self.lines } else { &self.elements }
    }

    /// The names of the columns of a table.
    pub(crate) fn columns(&self) -> &[String] {
        self.table.as_ref().map_or(&[], |table| table.columns())
    }

    /// Whether a table has all of these columns.
    pub(crate) fn has_columns(&self, names: &[&str]) -> bool {
        let columns = self.columns();
        names.iter().all(|name| columns.iter().any(|column| column == name))
    }
}

fn lines(head: &[u8]) -> Vec<Map<String, Value>> {
    let parsed = |line: &[u8]| serde_json::from_slice::<Map<String, Value>>(line).ok();
    head.split(|byte| *byte == b'\n').take(LOOKED_AT).filter_map(parsed).collect()
}

fn elements(path: &Path) -> Vec<Map<String, Value>> {
    let parts = parts(path).into_iter();
    parts.filter_map(|(_, bytes)| serde_json::from_slice::<Map<String, Value>>(&bytes).ok()).collect()
}

fn members(path: &Path) -> Vec<(String, Value)> {
    let parts = parts(path).into_iter();
    parts.filter_map(|(key, bytes)| Some((key?, serde_json::from_slice(&bytes).ok()?))).collect()
}

fn parts(path: &Path) -> Vec<(Option<String>, Vec<u8>)> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let mut parts = JsonParts::new(file);
    let mut found = Vec::new();
    while found.len() < LOOKED_AT
        && let Ok(Some(Ok(part))) = parts.next_part()
    {
        found.push((part.key, part.bytes));
    }
    found
}
