//! The records of a file one after the other, in bounded memory, continuing after a bad one.

use crate::cells::Cells;
use crate::conll::{self, Block, Layout};
use crate::csv_record::{LineState, Splitter};
use crate::json_record;
use crate::row_error::{RowError, RowErrorKind};
use crate::table_file::TableFile;
use crate::window::{LineEnd, MAX_RECORD_BYTES, Window};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};

/// How many bytes of a record over the size limit are stored for display.
const SHOWN_OF_TOO_LONG: usize = 200;

#[derive(Debug)]
enum Decoder {
    Csv(Splitter),
    Json(HashMap<String, usize>),
    Conll(Box<Layout>, HashMap<String, usize>),
}

/// A record's extent in the window.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    bytes: usize,
    lines: u64,
}

/// A reader of one file's records.
#[derive(Debug)]
pub(crate) struct TableRecords<R = File> {
    window: Window<R>,
    decoder: Decoder,
    columns: Vec<String>,
    cells: Cells,
    row: u64,
    line: u64,
    /// The record returned last; it is consumed when the next one is requested.
    last: Extent,
    /// The beginning of a record over the size limit.
    cut: Option<Vec<u8>>,
    done: bool,
}

impl TableRecords {
    /// The records of `source` from the first.
    pub(crate) fn open(source: &TableFile) -> io::Result<Self> {
        let (file, offset, line) = source.open_at_data()?;
        Ok(Self::over(source, file, offset, line))
    }
}

impl<R: Read> TableRecords<R> {
    /// Reads the records in `input`, which begins at byte `offset` and physical line `line` of `source`.
    fn over(source: &TableFile, input: R, offset: u64, line: u64) -> Self {
        let places = || source.columns().iter().cloned().zip(0..).collect();
        let decoder = match (source.delimiter(), source.words()) {
            (Some(delimiter), _) => Decoder::Csv(Splitter::new(delimiter)),
            (None, Some(layout)) => Decoder::Conll(Box::new(layout.clone()), places()),
            (None, None) => Decoder::Json(places()),
        };
        Self {
            window: Window::new(input, offset, line),
            decoder,
            columns: source.columns().to_vec(),
            cells: Cells::default(),
            row: 0,
            line,
            last: Extent::default(),
            cut: None,
            done: false,
        }
    }

    /// Takes the list or object in a column of the current record; `None` where the format has none.
    pub(crate) fn take_parsed(&mut self, column: usize) -> Option<serde_json::Value> {
        let at = self.cells.parsed.iter().position(|(index, _)| *index == column)?;
        Some(self.cells.parsed.swap_remove(at).1)
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Number of the record returned last, from 1.
    pub(crate) fn row(&self) -> u64 {
        self.row
    }

    /// Physical line on which the record returned last begins, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The record returned last, byte for byte with its line end; only its beginning if it was too long.
    pub(crate) fn raw(&self) -> &[u8] {
        self.cut.as_deref().unwrap_or(&self.window.bytes()[..self.last.bytes])
    }

    /// Bytes of the file that have been read.
    pub(crate) fn position(&self) -> u64 {
        self.window.offset() + self.last.bytes as u64
    }

    /// Goes to the next record; false after the last one.
    pub(crate) fn advance(&mut self) -> Result<bool, RowError> {
        if self.done {
            return Ok(false);
        }
        self.window.consume(self.last.bytes, self.last.lines);
        self.last = Extent::default();
        self.cut = None;
        self.cells.clear();
        match self.read() {
            Ok(Some(outcome)) => outcome.map(|()| true).map_err(|(column, kind)| self.error(column, kind)),
            Ok(None) => {
                self.done = true;
                Ok(false)
            }
            Err(e) => {
                self.done = true;
                self.row += 1;
                self.line = self.window.line();
                Err(self.error(None, RowErrorKind::Unreadable { message: e.to_string() }))
            }
        }
    }

    fn error(&self, column: Option<String>, kind: RowErrorKind) -> RowError {
        RowError { row: self.row, line: self.line, place: None, column, kind }
    }

    fn read(&mut self) -> io::Result<Option<Result<(), Blame>>> {
        if matches!(self.decoder, Decoder::Conll(..)) {
            return self.read_conll();
        }
        let first = loop {
            match self.window.line_end(0)? {
                LineEnd::EndOfFile => return Ok(None),
                LineEnd::TooLong => return self.refuse_long_line().map(Some),
                LineEnd::At(end) if self.is_blank(end) => self.window.consume(end, 1),
                LineEnd::At(end) => break end,
            }
        };
        self.row += 1;
        self.line = self.window.line();
        self.last = Extent { bytes: first, lines: 1 };
        match &self.decoder {
            Decoder::Csv(splitter) => self.read_csv(*splitter, first).map(Some),
            Decoder::Json(columns) => {
                let outcome = read_json(&self.window, first, columns, &mut self.cells);
                Ok(Some(outcome))
            }
            Decoder::Conll(..) => self.read_conll(),
        }
    }

    /// Reads the lines up to a blank one, and continues if they make no row.
    fn read_conll(&mut self) -> io::Result<Option<Result<(), Blame>>> {
        loop {
            let (mut end, mut lines) = (0, 0);
            loop {
                match self.window.line_end(end)? {
                    LineEnd::At(to) if !conll::is_blank(&self.window.bytes()[end..to]) => {
                        (end, lines) = (to, lines + 1);
                    }
                    LineEnd::At(to) if lines == 0 => self.window.consume(to, 1),
                    LineEnd::At(_) => break,
                    LineEnd::EndOfFile if lines == 0 => return Ok(None),
                    LineEnd::EndOfFile => break,
                    LineEnd::TooLong => return self.refuse_long_block().map(Some),
                }
            }
            let Decoder::Conll(layout, columns) = &self.decoder else { return Ok(None) };
            let line = self.window.line();
            let outcome = match std::str::from_utf8(&self.window.bytes()[..end]) {
                Ok(block) => conll::fill(block, line, layout, columns, &mut self.cells),
                Err(e) => Err((None, not_utf8(self.window.offset() + e.valid_up_to() as u64))),
            };
            if outcome == Ok(Block::Nothing) {
                self.window.consume(end, lines);
                continue;
            }
            self.row += 1;
            self.line = line;
            self.last = Extent { bytes: end, lines };
            return Ok(Some(outcome.map(drop)));
        }
    }

    fn refuse_long_block(&mut self) -> io::Result<Result<(), Blame>> {
        let refused = self.refuse_long_line()?;
        loop {
            match self.window.line_end(0)? {
                LineEnd::At(end) if !conll::is_blank(&self.window.bytes()[..end]) => {
                    self.window.consume(end, 1)
                }
                LineEnd::TooLong => self.window.skip_line()?,
                LineEnd::At(_) | LineEnd::EndOfFile => return Ok(refused),
            }
        }
    }

    /// Whether a line is blank, and so not a row. Only white space is a value in CSV, and nothing in JSON.
    fn is_blank(&self, end: usize) -> bool {
        let line = &self.window.bytes()[..end];
        match self.decoder {
            Decoder::Csv(_) => matches!(line, b"\n" | b"\r\n" | b"\r"),
            Decoder::Json(_) | Decoder::Conll(..) => conll::is_blank(line),
        }
    }

    fn refuse_long_line(&mut self) -> io::Result<Result<(), Blame>> {
        self.row += 1;
        self.line = self.window.line();
        self.cut = Some(self.window.bytes()[..SHOWN_OF_TOO_LONG].to_vec());
        self.window.skip_line()?;
        Ok(Err((None, RowErrorKind::TooLong { limit: MAX_RECORD_BYTES })))
    }

    /// Reads lines until the record is whole. After a broken quote only the first line counts as this row, so
    /// that the rows after it are read normally.
    fn read_csv(&mut self, mut splitter: Splitter, first: usize) -> io::Result<Result<(), Blame>> {
        let (mut from, mut to, mut lines) = (0, first, 0);
        let mut bad_byte = None;
        loop {
            let number = self.window.line() + lines;
            let bytes = &self.window.bytes()[from..to];
            let state = match std::str::from_utf8(bytes) {
                Ok(line) => splitter.feed(line, number, &mut self.cells),
                Err(e) => {
                    bad_byte.get_or_insert((from + e.valid_up_to(), self.cells.len()));
                    splitter.feed(&String::from_utf8_lossy(bytes), number, &mut self.cells)
                }
            };
            lines += 1;
            match state {
                LineState::Complete => break,
                LineState::Broken => return Ok(Err(self.blame_quote(&splitter, state, number))),
                // Without this, every row of a file of stray quotes could look at megabytes after it.
                LineState::Open if self.cells.len() >= self.columns.len() => {
                    let (found, expected) = (self.cells.len() + 1, self.columns.len());
                    return Ok(Err((None, RowErrorKind::WrongFieldCount { found, expected })));
                }
                LineState::Open => {}
            }
            match self.window.line_end(to)? {
                LineEnd::At(end) => (from, to) = (to, end),
                _ => return Ok(Err(self.blame_quote(&splitter, state, number))),
            }
        }
        self.last = Extent { bytes: to, lines };
        Ok(self.check_csv(bad_byte))
    }

    fn blame_quote(&self, splitter: &Splitter, state: LineState, line: u64) -> Blame {
        (self.columns.get(self.cells.len()).cloned(), splitter.trouble(state, line))
    }

    fn check_csv(&self, bad_byte: Option<(usize, usize)>) -> Result<(), Blame> {
        if let Some((at, first_value)) = bad_byte {
            let damaged = (first_value..self.cells.len()).find(|i| self.cells.get(*i).contains('\u{FFFD}'));
            let column = damaged.and_then(|i| self.columns.get(i).cloned());
            return Err((column, not_utf8(self.window.offset() + at as u64)));
        }
        let (found, expected) = (self.cells.len(), self.columns.len());
        if found != expected {
            return Err((None, RowErrorKind::WrongFieldCount { found, expected }));
        }
        // A single column may contain its own name as a value.
        let named =
            || self.cells.iter().zip(&self.columns).all(|(cell, column)| cell.trim() == column.as_str());
        if self.columns.len() > 1 && named() {
            return Err((None, RowErrorKind::HeaderAgain));
        }
        Ok(())
    }
}

type Blame = (Option<String>, RowErrorKind);

fn not_utf8(offset: u64) -> RowErrorKind {
    RowErrorKind::NotUtf8 { offset }
}

fn read_json<R: Read>(
    window: &Window<R>,
    end: usize,
    columns: &HashMap<String, usize>,
    cells: &mut Cells,
) -> Result<(), Blame> {
    match std::str::from_utf8(&window.bytes()[..end]) {
        Ok(line) => json_record::fill(line.trim(), columns, cells),
        Err(e) => Err((None, not_utf8(window.offset() + e.valid_up_to() as u64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its bytes and then fails, like a disk or a network folder that becomes unavailable.
    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the disk went away")),
                read => Ok(read),
            }
        }
    }

    #[test]
    fn read_error_is_fatal_not_a_bad_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "text,note\n").unwrap();
        let source = TableFile::open(&path, None).unwrap();
        let mut records = TableRecords::over(&source, Failing(b"a,b\nc,d\ne"), 10, 2);
        assert_eq!((records.advance(), records.advance()), (Ok(true), Ok(true)));
        let error = records.advance().unwrap_err();
        assert!(error.is_fatal());
        assert_eq!(error.to_string(), "row 3 (line 4): the file cannot be read further: the disk went away");
        assert_eq!(records.advance(), Ok(false));
    }
}
