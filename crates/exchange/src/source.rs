//! A file that was recognised: its format and its columns.

use crate::annotations::{AnnotationFile, Facts, Findings, Hint};
use crate::format_info::FormatInfo;
use crate::formats::{self, Recognised};
use crate::reading::{Reshape, TableReading, truth_columns};
use crate::rewritten::{self, OpenOptions, Rewritten, SheetRows};
use crate::table_file::TableFile;
use crate::{ColumnRoles, ExchangeError};
use std::path::Path;
use std::sync::Arc;

/// Every format that is read, by name and title.
pub fn formats() -> Vec<FormatInfo> {
    formats::infos().chain(rewritten::FORMATS).collect()
}

fn known_format(name: &str) -> Result<FormatInfo, ExchangeError> {
    let wanted = name.trim().to_lowercase();
    formats().into_iter().find(|format| format.name == wanted).ok_or_else(|| {
        let formats = formats().iter().map(|info| info.name.to_owned()).collect();
        ExchangeError::NoSuchFormat { name: name.to_owned(), formats }
    })
}

/// A file that can be read: what it is and which columns it has. Reading opens the file again, so one
/// `Source` serves for a preview and for the import after it.
#[derive(Clone, Debug)]
pub struct Source {
    format: FormatInfo,
    kind: Kind,
    /// The rewritten file, which exists until the last of these is dropped.
    rewritten: Option<Arc<Rewritten>>,
    /// So was the table that it is joined with.
    _joined: Option<Arc<Rewritten>>,
}

/// How a file is read.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Row by row, with columns of its own.
    Table(Box<TableFile>),
    /// Unfolded into rows.
    Annotations(Arc<AnnotationFile>),
    /// A table with a reading that makes other rows.
    Reshaped(Arc<Reshape>),
}

impl Source {
    /// Recognises the file at `path`, which may be a folder or an archive of a tool. A byte order mark is
    /// skipped; the separator of a `.csv` is the most frequent of `,` `;` and tab in its first line; the
    /// columns of JSON Lines are the keys of the first 1,000 objects (at most
    /// [`MAX_COLUMNS`](crate::MAX_COLUMNS); keys beyond are metadata); those of a CoNLL file are the keys of
    /// comments, `text` and `label`. Names of columns are trimmed, and an unnamed column is called `column_3`
    /// after its position. Files of annotation tools are inspected as a whole.
    ///
    /// # Errors
    /// A path that does not exist or is not an ordinary file; an unreadable or empty file; another format or
    /// encoding; a first line that cannot name columns (a broken quote, two equal names, over
    /// [`MAX_COLUMNS`](crate::MAX_COLUMNS)); or nothing that can be imported.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ExchangeError> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens a file like [`Source::open`], with options that replace guesses.
    ///
    /// # Errors
    /// The same as [`Source::open`]; also an unknown format or encoding, or a sheet that the file does not
    /// have.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions<'_>) -> Result<Self, ExchangeError> {
        let path = path.as_ref();
        let named = options.format.map(known_format).transpose()?;
        Self::new(path, Rewritten::new(path, options)?, |path| {
            // A table in a form of its own may still be one that a tool wrote.
            let chosen = named.and_then(|named| formats::named(named.name));
            let (format, recognised) = formats::recognise(path, chosen)?;
            let kind = match recognised {
                Recognised::Table(table) => Kind::Table(table),
                Recognised::Annotations(division, unfold) => {
                    Kind::Annotations(Arc::new(AnnotationFile::open(path, format.title, division, unfold)?))
                }
            };
            Ok((format, kind))
        })
    }

    /// Opens a file, or what it was rewritten as.
    fn new(
        path: &Path,
        rewritten: Option<Rewritten>,
        open: impl FnOnce(&Path) -> Result<(FormatInfo, Kind), ExchangeError>,
    ) -> Result<Self, ExchangeError> {
        let Some(rewritten) = rewritten else {
            let (format, kind) = open(path)?;
            return Ok(Self { format, kind, rewritten: None, _joined: None });
        };
        let (found, kind) = open(rewritten.path()).map_err(|error| rewritten.blame(&error))?;
        let format = match kind {
            Kind::Table(_) | Kind::Reshaped(_) => rewritten.format().unwrap_or(found),
            Kind::Annotations(_) => found,
        };
        Ok(Self { format, kind, rewritten: Some(Arc::new(rewritten)), _joined: None })
    }

    /// Opens a file like [`Source::open`], but always as a table, even if an annotation tool wrote it.
    pub fn open_table(path: impl AsRef<Path>) -> Result<Self, ExchangeError> {
        let path = path.as_ref();
        Self::new(path, Rewritten::new(path, &OpenOptions::default())?, |path| {
            let (format, table) = formats::table(path)?;
            Ok((format, Kind::Table(table)))
        })
    }

    /// Returns the same CoNLL file with the tags of another column than the last: by its name in
    /// `# global.columns`, or by its position from 1. The column of spans then has that name. `None` if there
    /// is no such column, or the file is not CoNLL.
    pub fn with_tags(&self, column: &str) -> Option<Self> {
        let Kind::Table(table) = &self.kind else { return None };
        let table = table.with_tags(column)?;
        Some(Self {
            format: self.format,
            kind: Kind::Table(Box::new(table)),
            rewritten: self.rewritten.clone(),
            _joined: None,
        })
    }

    /// Returns the same table read by `reading`; its columns are then those of the rows that the reading
    /// makes, and their roles [`Source::roles`]. `other` is the table that it is joined with.
    ///
    /// # Errors
    /// The source is not a table, a column is missing, or the reading contradicts itself.
    pub fn with_reading(&self, reading: &TableReading, other: Option<&Self>) -> Result<Self, ExchangeError> {
        if reading.is_plain() {
            return Ok(self.clone());
        }
        let no_table = || ExchangeError::BadReading {
            why: format!("{} is a file of {}, and no table", self.path().display(), self.format.title),
        };
        let Kind::Table(table) = &self.kind else { return Err(no_table()) };
        let other_table = match other.map(|other| &other.kind) {
            None => None,
            Some(Kind::Table(table)) => Some(table.as_ref()),
            Some(_) => return Err(no_table()),
        };
        let mut reshape = Reshape::new(table, other_table, reading)?;
        if reading.values.fold_case {
            reshape.truths = truth_columns(self, other, &reshape)?;
        }
        let rewritten = self.rewritten.clone();
        let joined = other.and_then(|other| other.rewritten.clone());
        Ok(Self { format: self.format, kind: Kind::Reshaped(Arc::new(reshape)), rewritten, _joined: joined })
    }

    /// The roles of the columns that a reading makes; `None` where rows are read unchanged.
    pub fn roles(&self) -> Option<&ColumnRoles> {
        match &self.kind {
            Kind::Reshaped(reshape) => Some(&reshape.roles),
            _ => None,
        }
    }

    /// Whether rows are made of columns of answers, of lists, or of two tables: then a row may introduce a
    /// text without an answer.
    pub(crate) fn unfolds(&self) -> bool {
        self.reading().is_some_and(|reading| {
            !reading.answers.is_empty() || !reading.lists.is_empty() || reading.join.is_some()
        })
    }

    /// The reading by which rows are made, if it is not plain.
    pub(crate) fn reading(&self) -> Option<&TableReading> {
        match &self.kind {
            Kind::Reshaped(reshape) => Some(&reshape.reading),
            _ => None,
        }
    }

    /// Whether texts come from another table than their answers.
    pub(crate) fn is_joined(&self) -> bool {
        matches!(&self.kind, Kind::Reshaped(reshape) if reshape.joined.is_some())
    }

    pub fn path(&self) -> &Path {
        if let Some(rewritten) = &self.rewritten {
            return rewritten.original();
        }
        match &self.kind {
            Kind::Reshaped(reshape) => &reshape.path,
            Kind::Table(table) => table.path(),
            Kind::Annotations(file) => &file.path,
        }
    }

    /// Whether the file was unpacked or rewritten to be read.
    pub fn is_rewritten(&self) -> bool {
        self.rewritten.is_some()
    }

    /// The file that is read: what it was rewritten as, or itself.
    pub fn read_from(&self) -> &Path {
        self.rewritten.as_ref().map_or_else(|| self.path(), |rewritten| rewritten.path())
    }

    /// Whether the file that is read still exists.
    pub fn is_there(&self) -> bool {
        self.read_from().exists()
    }

    pub fn format(&self) -> FormatInfo {
        self.format
    }

    /// The separator; `None` for files without separators.
    pub fn delimiter(&self) -> Option<u8> {
        let is_of_own_form = self.rewritten.as_ref().is_some_and(|rewritten| rewritten.format().is_some());
        match &self.kind {
            Kind::Table(table) if !is_of_own_form => table.delimiter(),
            Kind::Reshaped(reshape) if !is_of_own_form => reshape.table.delimiter(),
            Kind::Table(_) | Kind::Annotations(_) | Kind::Reshaped(_) => None,
        }
    }

    /// The names of the columns in order.
    pub fn columns(&self) -> &[String] {
        match &self.kind {
            Kind::Table(table) => table.columns(),
            Kind::Annotations(file) => &file.columns,
            Kind::Reshaped(reshape) => &reshape.names,
        }
    }

    /// The length of the file when it was opened, in bytes; for a rewritten file, the length of the result.
    pub fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::Table(table) => table.bytes(),
            Kind::Annotations(file) => file.bytes,
            Kind::Reshaped(reshape) => {
                reshape.table.bytes() + reshape.joined.as_ref().map_or(0, |joined| joined.table.bytes())
            }
        }
    }

    /// What a tool's file specifies about its questions in addition to their answers; for a table, the
    /// options of sets that have a column each, under a blank name where none is given.
    pub fn hints(&self) -> Vec<Hint> {
        match &self.kind {
            Kind::Table(_) => Vec::new(),
            Kind::Reshaped(reshape) => reshape.hints(),
            Kind::Annotations(file) => file.facts.hints(),
        }
    }

    /// The questions that a tool's file answers, in order of appearance; nothing of a table.
    pub fn questions(&self) -> Vec<String> {
        match &self.kind {
            Kind::Table(_) | Kind::Reshaped(_) => Vec::new(),
            Kind::Annotations(file) => file.facts.names(),
        }
    }

    /// Notices about how the file was read, such as its encoding, and about the parts of a tool's file that
    /// are not plain answers and how they are treated.
    pub fn met(&self) -> Vec<Findings> {
        let mut met =
            self.rewritten.as_ref().map_or_else(Vec::new, |rewritten| rewritten.irregularities().to_vec());
        if let Kind::Annotations(file) = &self.kind {
            met.extend(file.facts.irregularities());
        }
        met
    }

    /// Whether it is a file of an annotation tool, and no table.
    pub fn is_of_tool(&self) -> bool {
        matches!(self.kind, Kind::Annotations(_))
    }

    /// The encoding of a text file that is not UTF-8, in the notation of [`OpenOptions::encoding`].
    pub fn encoding(&self) -> Option<&'static str> {
        self.rewritten.as_ref().and_then(|rewritten| rewritten.encoding())
    }

    /// The sheet of a workbook that is read, and the names of all that can be; nothing of other files.
    pub fn sheets(&self) -> Option<(&str, &[String])> {
        self.sheet_rows().map(|rows| (rows.sheet.as_str(), rows.sheets.as_slice()))
    }

    /// The row numbers in the sheet, for a workbook.
    pub(crate) fn sheet_rows(&self) -> Option<&SheetRows> {
        self.rewritten.as_ref().and_then(|rewritten| rewritten.rows())
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The facts collected from a tool's file.
    pub(crate) fn facts(&self) -> Option<&Facts> {
        match &self.kind {
            Kind::Table(_) | Kind::Reshaped(_) => None,
            Kind::Annotations(file) => Some(&file.facts),
        }
    }

    /// Why a tool's file does not identify its annotators.
    pub(crate) fn without_annotator(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Table(_) | Kind::Reshaped(_) => None,
            Kind::Annotations(file) => Some(file.unfold.without_annotator()),
        }
    }
}
