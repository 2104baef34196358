//! The records of a source one after the other, whatever kind of file it is.

use crate::ExchangeError;
use crate::annotations::AnnotationRecords;
use crate::cells::Cells;
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
    /// A table.
    Table(Box<TableRecords>),
    /// An annotation tool's file.
    Annotations(Box<AnnotationRecords>),
}

/// The same of either kind.
macro_rules! either {
    ($of:expr, $name:ident) => {
        match $of {
            Of::Table(records) => records.$name(),
            Of::Annotations(records) => records.$name(),
        }
    };
}

impl Records {
    /// The records of `source` from the first.
    ///
    /// # Errors
    /// It can no longer be opened.
    pub(crate) fn open(source: &Source) -> Result<Self, ExchangeError> {
        let of = match source.kind() {
            Kind::Table(table) => {
                let reading = |e| ExchangeError::reading(source.path(), e);
                Of::Table(Box::new(TableRecords::open(table).map_err(reading)?))
            }
            Kind::Annotations(file) => Of::Annotations(Box::new(AnnotationRecords::open(file)?)),
        };
        Ok(Self { of, source: source.clone() })
    }

    /// The values of the record given last.
    pub(crate) fn cells(&self) -> &Cells {
        either!(&self.of, cells)
    }

    /// Number of the record given last, from 1.
    pub(crate) fn row(&self) -> u64 {
        either!(&self.of, row)
    }

    /// Physical line on which the record given last begins, from 1; of a sheet its row there.
    pub(crate) fn line(&self) -> u64 {
        self.line_of(either!(&self.of, line))
    }

    /// Where the record stands beside its line, in an annotation tool's file or a workbook.
    pub(crate) fn place(&self) -> Option<String> {
        let place = match &self.of {
            Of::Table(_) => None,
            Of::Annotations(records) => records.place().map(str::to_owned),
        };
        self.with_sheet(place)
    }

    /// The record given last as it stood; of an annotation tool's file its values as a JSON object.
    pub(crate) fn raw(&self) -> &[u8] {
        either!(&self.of, raw)
    }

    /// Bytes of the file left behind.
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
