//! The records of a source one after the other, whatever kind of file it is.

use crate::ExchangeError;
use crate::annotations::AnnotationRecords;
use crate::cells::Cells;
use crate::reading::ReshapedRecords;
use crate::row_error::RowError;
use crate::source::{Kind, Source};
use crate::table_records::TableRecords;

/// A reader of one file's records.
#[derive(Debug)]
pub(crate) struct Records {
    of: Of,
    source: Source,
}

#[derive(Debug)]
enum Of {
    Table(Box<TableRecords>),
    Annotations(Box<AnnotationRecords>),
    /// A table with a reading that makes other rows.
    Reshaped(Box<ReshapedRecords>),
}

/// Dispatches to the reader of either kind.
macro_rules! either {
    ($of:expr, $name:ident) => {
        match $of {
            Of::Table(records) => records.$name(),
            Of::Annotations(records) => records.$name(),
            Of::Reshaped(records) => records.$name(),
        }
    };
}

impl Records {
    /// The records of `source` from the first.
    pub(crate) fn open(source: &Source) -> Result<Self, ExchangeError> {
        let of = match source.kind() {
            Kind::Table(table) => {
                let reading = |e| ExchangeError::reading(source.path(), e);
                Of::Table(Box::new(TableRecords::open(table).map_err(reading)?))
            }
            Kind::Annotations(file) => Of::Annotations(Box::new(AnnotationRecords::open(file)?)),
            Kind::Reshaped(reshape) => {
                let reading = |e| ExchangeError::reading(source.path(), e);
                Of::Reshaped(Box::new(ReshapedRecords::open(reshape).map_err(reading)?))
            }
        };
        Ok(Self { of, source: source.clone() })
    }

    /// The values of the record returned last.
    pub(crate) fn cells(&self) -> &Cells {
        either!(&self.of, cells)
    }

    /// The unprocessed values of the record returned last.
    pub(crate) fn source_cells(&self) -> &Cells {
        match &self.of {
            Of::Reshaped(records) => records.source_cells(),
            _ => self.cells(),
        }
    }

    /// Number of the record of the row returned last, among all that are read, from 1.
    pub(crate) fn record(&self) -> u64 {
        match &self.of {
            Of::Reshaped(records) => records.record(),
            _ => self.row(),
        }
    }

    /// Whether the row returned last is the first of its record.
    pub(crate) fn begins_record(&self) -> bool {
        match &self.of {
            Of::Reshaped(records) => records.begins_record(),
            _ => true,
        }
    }

    /// Whether the record is in the file that was given, and not in one that it is joined with.
    pub(crate) fn is_of_given_file(&self) -> bool {
        match &self.of {
            Of::Reshaped(records) => records.is_of_given_file(),
            _ => true,
        }
    }

    /// The column of the file that a column of the rows is about.
    pub(crate) fn shown_column<'a>(&'a self, column: &'a str) -> &'a str {
        match &self.of {
            Of::Reshaped(records) => records.shown_column(column),
            _ => column,
        }
    }

    /// Number of the record returned last in its file, from 1.
    pub(crate) fn row(&self) -> u64 {
        either!(&self.of, row)
    }

    /// Physical line on which the record returned last begins, from 1; for a sheet, its row there.
    pub(crate) fn line(&self) -> u64 {
        self.line_of(either!(&self.of, line))
    }

    /// The position of the record in addition to its line, in an annotation tool's file or a workbook.
    pub(crate) fn place(&self) -> Option<String> {
        let place = match &self.of {
            Of::Table(_) => None,
            Of::Annotations(records) => records.place().map(str::to_owned),
            Of::Reshaped(records) => records.place(),
        };
        self.with_sheet(place)
    }

    /// The unprocessed bytes of the record returned last; for an annotation tool's file, its values as a JSON
    /// object.
    pub(crate) fn raw(&self) -> &[u8] {
        either!(&self.of, raw)
    }

    /// Bytes of the file that have been read.
    pub(crate) fn position(&self) -> u64 {
        either!(&self.of, position)
    }

    /// Goes to the next record; false after the last one.
    pub(crate) fn advance(&mut self) -> Result<bool, RowError> {
        either!(&mut self.of, advance).map_err(|error| RowError {
            line: self.line_of(error.line),
            place: self.with_sheet(error.place),
            ..error
        })
    }

    fn line_of(&self, line: u64) -> u64 {
        self.source.sheet_rows().map_or(line, |rows| rows.row_at(line))
    }

    fn with_sheet(&self, place: Option<String>) -> Option<String> {
        let sheet = self.source.sheet_rows().map(|rows| format!("sheet \"{}\"", rows.sheet));
        match (sheet, place) {
            (Some(sheet), Some(place)) => Some(format!("{sheet}, {place}")),
            (sheet, place) => sheet.or(place),
        }
    }
}
