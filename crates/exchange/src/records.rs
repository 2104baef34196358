//! The records of a source one after the other, whatever kind of file it is.

use crate::ExchangeError;
use crate::annotations::AnnotationRecords;
use crate::cells::Cells;
use crate::row_error::RowError;
use crate::source::{Kind, Source};
use crate::table_records::TableRecords;

/// A reader of one file's records.
#[derive(Debug)]
pub(crate) enum Records {
    /// Of a table.
    Table(Box<TableRecords>),
    /// Of an annotation tool's file.
    Annotations(Box<AnnotationRecords>),
}

/// The same of either kind.
macro_rules! either {
    ($records:expr, $name:ident) => {
        match $records {
            Records::Table(records) => records.$name(),
            Records::Annotations(records) => records.$name(),
        }
    };
}

impl Records {
    /// The records of `source` from the first.
    ///
    /// # Errors
    /// It can no longer be opened.
    pub(crate) fn open(source: &Source) -> Result<Self, ExchangeError> {
        Ok(match source.kind() {
            Kind::Table(table) => {
                let reading = |e| ExchangeError::reading(source.path(), e);
                Self::Table(Box::new(TableRecords::open(table).map_err(reading)?))
            }
            Kind::Annotations(file) => Self::Annotations(Box::new(AnnotationRecords::open(file)?)),
        })
    }

    /// The values of the record given last.
    pub(crate) fn cells(&self) -> &Cells {
        either!(self, cells)
    }

    /// Number of the record given last, from 1.
    pub(crate) fn row(&self) -> u64 {
        either!(self, row)
    }

    /// Physical line on which the record given last begins, from 1.
    pub(crate) fn line(&self) -> u64 {
        either!(self, line)
    }

    /// Where the record stands beside its line, in an annotation tool's file.
    pub(crate) fn place(&self) -> Option<String> {
        match self {
            Self::Table(_) => None,
            Self::Annotations(records) => records.place().map(str::to_owned),
        }
    }

    /// The record given last as it stood; of an annotation tool's file its values as a JSON object.
    pub(crate) fn raw(&self) -> &[u8] {
        either!(self, raw)
    }

    /// Bytes of the file left behind.
    pub(crate) fn position(&self) -> u64 {
        either!(self, position)
    }

    /// Goes to the next record; false after the last one.
    pub(crate) fn advance(&mut self) -> Result<bool, RowError> {
        either!(self, advance)
    }
}
