//! A file that was recognised: its format, its separator, its columns.

use crate::ExchangeError;
use crate::cells::Cells;
use crate::conll::{self, Layout, Line};
use crate::csv_record::{LineState, Splitter, without_line_end};
use crate::json_record;
use crate::table_format::TableFormat;
use crate::window::{LineEnd, MAX_RECORD_BYTES, Window};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The mark that some tools put before UTF-8.
const BOM: &[u8] = b"\xEF\xBB\xBF";
/// The most columns a file may have: far more than any table of labels, and few enough to look at each.
pub const MAX_COLUMNS: usize = 4096;
const HEAD_BYTES: u64 = 64 << 10;
/// How many objects are read for the names of the columns of a JSON Lines file.
const JSON_HEADER_ROWS: usize = 1000;
/// How many blocks of a CoNLL file are.
const CONLL_HEADER_BLOCKS: usize = 2000;

/// A file that can be read: what it is and which columns it has. Reading opens the file again, so one
/// `TableFile` serves for a preview and for the import after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableFile {
    path: PathBuf,
    format: TableFormat,
    delimiter: Option<u8>,
    columns: Vec<String>,
    bytes: u64,
    data_offset: u64,
    data_line: u64,
    /// The layout of a CoNLL file; `None` for other formats.
    words: Option<Layout>,
}

impl TableFile {
    /// Recognises the file at `path`. A byte order mark is skipped; the separator of a `.csv` is the most
    /// frequent of `,` `;` and tab in its first line; the columns of JSON Lines are the keys of the first
    /// 1,000 objects (at most [`MAX_COLUMNS`]; keys beyond are metadata); those of a CoNLL file are the keys
    /// of comments, `text` and `label`. Names of columns are trimmed, and an unnamed column is called
    /// `column_3` after its position.
    ///
    /// # Errors
    /// A path that does not exist or is not an ordinary file; an unreadable or empty file; another format or
    /// encoding; or a first line that cannot name columns (a broken quote, two equal names, over
    /// [`MAX_COLUMNS`]).
    pub(crate) fn open(path: &Path, named: Option<TableFormat>) -> Result<Self, ExchangeError> {
        let reading = |e| ExchangeError::reading(path, e);
        let about = std::fs::metadata(path).map_err(reading)?;
        if about.is_dir() {
            return Err(ExchangeError::Directory { path: path.to_owned() });
        }
        if !about.is_file() {
            return Err(ExchangeError::NotAFile { path: path.to_owned() });
        }
        let mut head = Vec::new();
        File::open(path).and_then(|f| f.take(HEAD_BYTES).read_to_end(&mut head)).map_err(reading)?;
        let bom = if head.starts_with(BOM) { BOM.len() } else { 0 };
        if about.len() <= HEAD_BYTES && head[bom..].trim_ascii().is_empty() {
            return Err(ExchangeError::Empty { path: path.to_owned() });
        }
        let format = match named {
            Some(format) => TableFormat::readable(path, &head[bom..]).map(|()| format)?,
            None => TableFormat::detect(path, &head[bom..])?,
        };
        let found = Self {
            path: path.to_owned(),
            format,
            delimiter: None,
            columns: Vec::new(),
            bytes: about.len(),
            data_offset: bom as u64,
            data_line: 1,
            words: None,
        };
        match format {
            TableFormat::Jsonl => found.with_json_columns(),
            TableFormat::Conll => found.with_comments(),
            TableFormat::Csv | TableFormat::Tsv => found.with_header(),
        }
    }

    /// Returns the same CoNLL file with the tags of another column than the last: by its name in
    /// `# global.columns`, or by its position from 1. The column of spans then has that name. `None` if there
    /// is no such column, or the file is not CoNLL.
    pub(crate) fn with_tags(&self, column: &str) -> Option<Self> {
        let words = self.words.as_ref()?.with_tags(column.trim())?;
        let mut other = self.clone();
        let label = self.words.as_ref().map(|words| words.label.clone());
        other.columns.retain(|name| Some(name) != label.as_ref() && *name != words.label);
        other.columns.push(words.label.clone());
        other.words = Some(words);
        Some(other)
    }

    /// The layout of words and tags in a CoNLL file.
    pub(crate) fn words(&self) -> Option<&Layout> {
        self.words.as_ref()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn format(&self) -> TableFormat {
        self.format
    }

    /// The separator; `None` for JSON Lines.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    /// The names of the columns in order.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The length of the file when it was opened, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The file, the offset of its first record and the physical line that record is on.
    pub(crate) fn open_at_data(&self) -> io::Result<(File, u64, u64)> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.data_offset))?;
        Ok((file, self.data_offset, self.data_line))
    }

    fn window(&self) -> Result<Window<File>, ExchangeError> {
        let (file, offset, line) = self.open_at_data().map_err(|e| ExchangeError::reading(&self.path, e))?;
        Ok(Window::new(file, offset, line))
    }

    fn bad_header(&self, line: u64, message: impl Into<String>) -> ExchangeError {
        ExchangeError::Header { path: self.path.clone(), line, message: message.into() }
    }

    fn with_header(mut self) -> Result<Self, ExchangeError> {
        let mut window = self.window()?;
        let first = self.skip_blank_lines(&mut window)?;
        self.data_line = window.line();
        let delimiter = self.sniff(self.header_line(&window, 0, first)?);
        self.delimiter = Some(delimiter);
        let mut cells = Cells::default();
        let mut splitter = Splitter::new(delimiter);
        let (mut from, mut to) = (0, first);
        loop {
            let state = splitter.feed(self.header_line(&window, from, to)?, self.data_line, &mut cells);
            if state == LineState::Broken {
                return Err(self.bad_header(self.data_line, "something follows a closing quote"));
            }
            self.data_line += 1;
            if state == LineState::Complete {
                break;
            }
            match window.line_end(to).map_err(|e| ExchangeError::reading(&self.path, e))? {
                LineEnd::At(end) => (from, to) = (to, end),
                _ => return Err(self.bad_header(window.line(), "a quote is never closed")),
            }
        }
        self.data_offset = window.offset() + to as u64;
        self.with_columns(&cells, window.line())
    }

    /// Moves to the first line that is not blank and returns its length, including its end.
    fn skip_blank_lines(&self, window: &mut Window<File>) -> Result<usize, ExchangeError> {
        loop {
            match window.line_end(0).map_err(|e| ExchangeError::reading(&self.path, e))? {
                LineEnd::TooLong => return Err(self.bad_header(window.line(), too_long())),
                LineEnd::EndOfFile => return Err(ExchangeError::Empty { path: self.path.clone() }),
                LineEnd::At(end) if window.bytes()[..end].trim_ascii().is_empty() => window.consume(end, 1),
                LineEnd::At(end) => return Ok(end),
            }
        }
    }

    fn header_line<'a>(
        &self,
        window: &'a Window<File>,
        from: usize,
        to: usize,
    ) -> Result<&'a str, ExchangeError> {
        std::str::from_utf8(&window.bytes()[from..to]).map_err(|e| {
            let at = window.offset() + (from + e.valid_up_to()) as u64;
            self.bad_header(self.data_line, format!("byte {at} is not UTF-8: save the file as UTF-8"))
        })
    }

    fn with_columns(mut self, cells: &Cells, line: u64) -> Result<Self, ExchangeError> {
        if cells.len() > MAX_COLUMNS {
            let message = format!("there are {} of them, and at most {MAX_COLUMNS} are read", cells.len());
            return Err(self.bad_header(line, message));
        }
        self.columns = named(cells.iter());
        self.refuse_equal_names()
    }

    /// Returns the most frequent separator outside quotes; a comma if there is none.
    fn sniff(&self, line: &str) -> u8 {
        if self.format == TableFormat::Tsv {
            return b'\t';
        }
        let mut quoted = false;
        let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
        for byte in without_line_end(line).bytes() {
            quoted ^= byte == b'"';
            if let Some(count) = counts.iter_mut().find(|(d, _)| !quoted && *d == byte) {
                count.1 += 1;
            }
        }
        // `rev` because `max_by_key` returns the last of equals, and a comma has priority.
        counts.into_iter().rev().max_by_key(|(_, n)| *n).map_or(b',', |(d, _)| d)
    }

    fn refuse_equal_names(self) -> Result<Self, ExchangeError> {
        let mut places = HashMap::new();
        for (place, name) in self.columns.iter().enumerate() {
            if let Some(first) = places.insert(name, place + 1) {
                let (path, name) = (self.path.clone(), name.clone());
                return Err(ExchangeError::DuplicateColumn { path, name, first, second: place + 1 });
            }
        }
        Ok(self)
    }

    /// Keys of comments in order of appearance, then the text and the spans, which every block has.
    fn with_comments(mut self) -> Result<Self, ExchangeError> {
        let mut window = self.window()?;
        let mut seen = HashSet::from([conll::TEXT.to_owned(), conll::LABEL.to_owned()]);
        let (mut head, mut blocks) = (String::new(), 0);
        while blocks < CONLL_HEADER_BLOCKS {
            match window.line_end(0).map_err(|e| ExchangeError::reading(&self.path, e))? {
                LineEnd::EndOfFile => break,
                LineEnd::TooLong => window.skip_line().map_err(|e| ExchangeError::reading(&self.path, e))?,
                LineEnd::At(end) => {
                    let line = String::from_utf8_lossy(&window.bytes()[..end]).into_owned();
                    blocks += usize::from(line.trim().is_empty());
                    if let Line::Comment(key, _) = conll::line_of(&line) {
                        let key = key.strip_suffix(conll::JSON).unwrap_or(key);
                        if key != conll::COLUMNS && seen.insert(key.to_owned()) {
                            self.columns.push(key.to_owned());
                        }
                    }
                    if head.len() < HEAD_BYTES as usize {
                        head.push_str(&line);
                    }
                    window.consume(end, 1);
                }
            }
        }
        self.columns.truncate(MAX_COLUMNS - 2);
        self.columns.extend([conll::TEXT, conll::LABEL].map(str::to_owned));
        self.words = Some(Layout::new(head.lines()));
        Ok(self)
    }

    /// Collects the keys of the first objects, in order of appearance. Lines that are not objects are left
    /// for the reading of rows to report, unless there is nothing else.
    fn with_json_columns(mut self) -> Result<Self, ExchangeError> {
        let mut window = self.window()?;
        let mut seen = HashSet::new();
        let mut trouble = None;
        for _ in 0..JSON_HEADER_ROWS {
            match window.line_end(0).map_err(|e| ExchangeError::reading(&self.path, e))? {
                LineEnd::EndOfFile => break,
                LineEnd::TooLong => {
                    trouble.get_or_insert((window.line(), too_long()));
                    window.skip_line().map_err(|e| ExchangeError::reading(&self.path, e))?;
                }
                LineEnd::At(end) => {
                    match keys_of(&window.bytes()[..end]) {
                        Ok(keys) => self.columns.extend(keys.into_iter().filter(|k| seen.insert(k.clone()))),
                        Err(message) => drop(trouble.get_or_insert((window.line(), message))),
                    }
                    window.consume(end, 1);
                }
            }
        }
        self.columns.truncate(MAX_COLUMNS);
        match trouble {
            Some((line, message)) if self.columns.is_empty() => Err(self.bad_header(line, message)),
            _ => Ok(self),
        }
    }
}

fn too_long() -> String {
    format!("the line is longer than {MAX_RECORD_BYTES} bytes")
}

fn keys_of(line: &[u8]) -> Result<Vec<String>, String> {
    let line = std::str::from_utf8(line).map_err(|_| "not UTF-8: save the file as UTF-8".to_owned())?;
    if line.trim().is_empty() {
        return Ok(Vec::new());
    }
    let pairs = json_record::parse(line.trim()).map_err(|kind| kind.to_string())?;
    Ok(pairs.into_iter().map(|(key, _)| key).collect())
}

/// Trimmed names; blank ones are named after their position, clear of the names there are.
fn named<'a>(cells: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = cells.map(|c| c.trim().to_owned()).collect();
    let taken: HashSet<String> = names.iter().cloned().collect();
    for (place, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
        *name = format!("column_{}", place + 1);
        while taken.contains(name) {
            name.push('_');
        }
    }
    names
}
