//! Reads texts without labels from a file of any tool: one text a row of CSV, TSV or JSON Lines, or one text
//! a line of a `.txt` file.

use crate::window::{LineEnd, MAX_RECORD_BYTES, Window};
use crate::{
    ColumnRoles, ExchangeError, Row, RowError, RowErrorKind, Rows, Source, guess_roles, read_rows, text_id_of,
};
use dissensus_domain::MAX_TEXT_BYTES;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Interval between progress reports, in rows.
const REPORT_EVERY: u64 = 256;

/// A file of texts that was recognised. Reading opens it again, so that it can be counted and then read.
#[derive(Clone, Debug)]
pub struct TextFile {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Lines { bytes: u64 },
    Table { source: Box<Source>, roles: Box<ColumnRoles> },
}

/// One text and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOfFile {
    /// The id in the file; without a column of ids one derived from the body ([`crate::text_id_of`]), in a
    /// file of lines the number of the line.
    pub id: String,
    pub body: String,
}

/// A summary of a file of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextsFound {
    /// Number of good rows.
    pub texts: u64,
    /// Number of bad rows.
    pub bad: u64,
    /// The first [`crate::MAX_PROBLEMS`] of them.
    pub problems: Vec<RowError>,
}

impl TextFile {
    /// Recognises the file at `path`. A file whose name ends in `.txt` is read as one text a line, unless
    /// columns are named; everything else is a table, of which `text` and `text_id` name columns, guessed
    /// where they are not named. All other columns are ignored.
    ///
    /// # Errors
    /// The same as [`Source::open`]; also a missing column, or no column that looks like texts.
    pub fn open(path: &Path, text: Option<&str>, text_id: Option<&str>) -> Result<Self, ExchangeError> {
        let is_lines = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("txt"));
        let named = text.is_some() || text_id.is_some();
        if is_lines && !named {
            let about = std::fs::metadata(path).map_err(|e| ExchangeError::reading(path, e))?;
            return match about.is_file() {
                true => Ok(Self { path: path.to_owned(), kind: Kind::Lines { bytes: about.len() } }),
                false if about.is_dir() => Err(ExchangeError::Directory { path: path.to_owned() }),
                false => Err(ExchangeError::NotAFile { path: path.to_owned() }),
            };
        }
        // One text a row, also where a tool wrote a row for each answer.
        let source = Source::open_table(path)?;
        let guessed = guess_roles(&source)?;
        // A column has one role: a column that was named for one is not guessed for the other.
        let guess =
            |role: Option<String>, other: Option<&str>| role.filter(|name| Some(name.as_str()) != other);
        let roles = ColumnRoles {
            text: text.map(str::to_owned).or_else(|| guess(guessed.text, text_id)),
            text_id: text_id.map(str::to_owned).or_else(|| guess(guessed.text_id, text)),
            ..ColumnRoles::default()
        };
        if roles.text.is_none() {
            let (path, columns) = (path.to_owned(), source.columns().to_vec());
            let message = "no column looks like the texts: name it with --text-column".to_owned();
            return Err(ExchangeError::RolesDoNotFit { path, message, columns });
        }
        roles.kind(&source)?;
        Ok(Self {
            path: path.to_owned(),
            kind: Kind::Table { source: Box::new(source), roles: Box::new(roles) },
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length of the file when it was opened, in bytes.
    pub fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::Lines { bytes } => *bytes,
            Kind::Table { source, .. } => source.bytes(),
        }
    }

    /// Reads the texts in order; a bad row is an `Err`, and reading continues after it. A row whose id an
    /// earlier one has is a bad row; ids derived from bodies are the same for the same text, and not bad.
    /// Only a number for each id is held in memory.
    pub fn texts(&self) -> Result<Texts, ExchangeError> {
        let reader = match &self.kind {
            Kind::Table { source, roles } => Reader::Table(Box::new(read_rows(source, roles)?)),
            Kind::Lines { .. } => {
                let file = File::open(&self.path).map_err(|e| ExchangeError::reading(&self.path, e))?;
                Reader::Lines(Box::new(Lines {
                    window: Window::new(file, 0, 1),
                    row: 0,
                    broken: None,
                    done: false,
                }))
            }
        };
        let named = matches!(&self.kind, Kind::Table { roles, .. } if roles.text_id.is_some());
        Ok(Texts { reader, ids: named.then(HashMap::new) })
    }

    /// Reads the whole file and counts its texts, passing to `progress` now and then how many of its bytes
    /// are done.
    ///
    /// # Errors
    /// The file cannot be read to its end, or [`ExchangeError::Cancelled`] when `progress` breaks.
    pub fn count(
        &self,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<TextsFound, ExchangeError> {
        let mut found = TextsFound::default();
        let mut texts = self.texts()?;
        while let Some(text) = texts.next() {
            match text {
                Ok(_) => found.texts += 1,
                Err(error) if error.is_fatal() => {
                    let reason = std::io::Error::other(error.to_string());
                    return Err(ExchangeError::reading(&self.path, reason));
                }
                Err(error) => {
                    found.bad += 1;
                    if found.problems.len() < crate::MAX_PROBLEMS {
                        found.problems.push(error);
                    }
                }
            }
            let rows = found.texts + found.bad;
            if rows.is_multiple_of(REPORT_EVERY) && progress(texts.position()).is_break() {
                return Err(ExchangeError::Cancelled { path: self.path.clone() });
            }
        }
        Ok(found)
    }
}

/// The texts of a file in order. Made by [`TextFile::texts`].
#[derive(Debug)]
pub struct Texts {
    reader: Reader,
    /// The row that has an id, by the first half of the id's SHA-256; `None` where ids are derived from
    /// bodies or lines.
    ids: Option<HashMap<[u8; 16], u64>>,
}

#[derive(Debug)]
enum Reader {
    Lines(Box<Lines<File>>),
    Table(Box<Rows>),
}

impl Texts {
    /// Bytes of the file that have been read.
    pub fn position(&self) -> u64 {
        match &self.reader {
            Reader::Lines(lines) => lines.window.offset(),
            Reader::Table(rows) => Rows::position(rows),
        }
    }
}

impl Iterator for Texts {
    type Item = Result<TextOfFile, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.reader {
            Reader::Lines(lines) => lines.next(),
            Reader::Table(rows) => {
                let ids = self.ids.as_mut();
                Some(rows.next()?.and_then(|row| of_table(row, ids)))
            }
        }
    }
}

fn of_table(row: Row, ids: Option<&mut HashMap<[u8; 16], u64>>) -> Result<TextOfFile, RowError> {
    let error = |kind| RowError { row: row.row, line: row.line, place: None, column: None, kind };
    let body = row.text.ok_or_else(|| error(RowErrorKind::Missing { what: "text" }))?;
    let id = row.text_id.unwrap_or_else(|| text_id_of(&body));
    let Some(ids) = ids else { return Ok(TextOfFile { id, body }) };
    let digest = Sha256::digest(id.as_bytes());
    let key: [u8; 16] = std::array::from_fn(|at| digest[at]);
    match ids.entry(key) {
        Entry::Occupied(first) => Err(error(RowErrorKind::SameId { text_id: id, first: *first.get() })),
        Entry::Vacant(free) => {
            free.insert(row.row);
            Ok(TextOfFile { id, body })
        }
    }
}

/// The lines that are not blank; a byte order mark before the first is skipped.
#[derive(Debug)]
struct Lines<R> {
    window: Window<R>,
    row: u64,
    /// The error that prevents further reading, to be returned after the bad row before it.
    broken: Option<RowError>,
    done: bool,
}

impl<R: Read> Iterator for Lines<R> {
    type Item = Result<TextOfFile, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(broken) = self.broken.take() {
            return Some(Err(broken));
        }
        while !self.done {
            let line = self.window.line();
            let error = |row, kind| RowError { row, line, place: None, column: None, kind };
            match self.window.line_end(0) {
                Err(reason) => {
                    self.done = true;
                    let kind = RowErrorKind::Unreadable { message: reason.to_string() };
                    return Some(Err(error(self.row + 1, kind)));
                }
                Ok(LineEnd::EndOfFile) => self.done = true,
                Ok(LineEnd::TooLong) => {
                    self.row += 1;
                    if let Err(reason) = self.window.skip_line() {
                        self.done = true;
                        let kind = RowErrorKind::Unreadable { message: reason.to_string() };
                        self.broken = Some(error(self.row, kind));
                    }
                    return Some(Err(error(self.row, RowErrorKind::TooLong { limit: MAX_RECORD_BYTES })));
                }
                Ok(LineEnd::At(end)) => {
                    let offset = self.window.offset();
                    let read =
                        body_of(&self.window.bytes()[..end], offset).map(|body| body.map(str::to_owned));
                    self.window.consume(end, 1);
                    match read {
                        Ok(None) => {}
                        Ok(Some(body)) => {
                            self.row += 1;
                            return Some(Ok(TextOfFile { id: line.to_string(), body }));
                        }
                        Err(kind) => {
                            self.row += 1;
                            return Some(Err(error(self.row, kind)));
                        }
                    }
                }
            }
        }
        None
    }
}

/// Returns the text of a line that begins at byte `offset` of its file; `None` for a blank one.
fn body_of(line: &[u8], offset: u64) -> Result<Option<&str>, RowErrorKind> {
    let text = std::str::from_utf8(line)
        .map_err(|e| RowErrorKind::NotUtf8 { offset: offset + e.valid_up_to() as u64 })?;
    let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    let text = if offset == 0 { text.strip_prefix('\u{FEFF}').unwrap_or(text) } else { text };
    match text {
        blank if blank.trim().is_empty() => Ok(None),
        nul if nul.contains('\0') => Err(RowErrorKind::ControlCharacter { code: 0 }),
        long if long.len() > MAX_TEXT_BYTES => Err(RowErrorKind::TooLong { limit: MAX_TEXT_BYTES }),
        body => Ok(Some(body)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &[u8], text: Option<&str>, id: Option<&str>) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let file = TextFile::open(&path, text, id).map_err(|e| e.to_string())?;
        let found = file.count(|_| ControlFlow::Continue(())).map_err(|e| e.to_string())?;
        let rows: Vec<_> = file.texts().unwrap().collect();
        assert_eq!(rows.iter().filter(|row| row.is_ok()).count() as u64, found.texts);
        assert_eq!(rows.len() as u64, found.texts + found.bad);
        Ok(rows
            .into_iter()
            .map(|row| row.map_or_else(|e| e.to_string(), |text| format!("{}: {}", text.id, text.body)))
            .collect())
    }

    #[test]
    fn lines_are_texts_with_their_numbers() {
        let found =
            read("a.txt", b"\xEF\xBB\xBFone, two\r\n\n  \nthree \nbad \xFF\nlast", None, None).unwrap();
        assert_eq!(found[..2], ["1: one, two", "4: three "]);
        assert!(found[2].starts_with("row 3 (line 5): byte 28 of the file is not UTF-8"), "{}", found[2]);
        assert_eq!(found[3..], ["6: last"]);
        assert_eq!(read("b.txt", b"\n\n", None, None), Ok(vec![]));
    }

    #[test]
    fn table_may_have_other_columns() {
        let csv = b"id,comment,rater,rating\nc1,Well said.,ada,1\nc2,,bo,4\nc1,Well said.,bo,2\n";
        let found = read("a.csv", csv, None, None).unwrap();
        assert_eq!(found[0], "c1: Well said.");
        assert!(found[1].contains("no text"), "{}", found[1]);
        assert!(found[2].contains("row 3 (line 4): the id \"c1\" is that of row 1"), "{}", found[2]);
        // The columns that are named count.
        assert_eq!(read("a.csv", csv, Some("rater"), Some("comment")).unwrap()[0], "Well said.: ada");
        // The same text twice is the same text, where nothing else names it.
        let twice = read("a.csv", b"comment,rater\nWell said.,ada\nWell said.,bo\n", None, None).unwrap();
        assert!(twice.len() == 2 && twice[0] == twice[1], "{twice:?}");
        let jsonl = br#"{"body":"x y z and more words","nr":3}"#;
        assert_eq!(read("a.jsonl", jsonl, Some("body"), Some("nr")).unwrap(), ["3: x y z and more words"]);
    }

    /// A disk that fails after a line that is too long.
    #[test]
    fn read_error_after_a_bad_line_is_reported() {
        struct Failing(usize);
        impl Read for Failing {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let n = buffer.len().min(self.0);
                if n == 0 {
                    return Err(std::io::Error::other("the stick was pulled"));
                }
                self.0 -= n;
                buffer[..n].fill(b'x');
                Ok(n)
            }
        }
        let window = Window::new(Failing(MAX_RECORD_BYTES + (1 << 20)), 0, 1);
        let found: Vec<_> = Lines { window, row: 0, broken: None, done: false }.collect();
        assert!(matches!(&found[0], Err(e) if matches!(e.kind, RowErrorKind::TooLong { .. })), "{found:?}");
        assert!(matches!(&found[1..], [Err(e)] if e.is_fatal()), "{found:?}");
    }

    #[test]
    fn missing_text_column_suggests_the_option() {
        let error = read("a.csv", b"a,b\n1,2\n", None, None).unwrap_err();
        assert!(error.contains("--text-column"), "{error}");
    }

    #[test]
    fn unknown_column_suggests_a_similar_one() {
        let error = read("a.csv", b"id,comment\n1,Hello there\n", Some("coment"), None).unwrap_err();
        assert!(error.contains("did you mean \"comment\""), "{error}");
    }
}
