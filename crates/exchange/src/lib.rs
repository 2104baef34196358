//! Reading and writing other tools' files.

mod atomic;
mod cells;
mod check;
mod csv_record;
mod error;
mod format;
mod guess;
mod json_record;
mod records;
mod rejects;
mod roles;
mod row;
mod row_error;
mod scan;
mod source;
mod survey;
mod table;
mod time;
mod window;
mod write;

pub use check::{Checker, LabelVerdict, Verdict, level_name, level_on};
pub use error::ExchangeError;
pub use format::Format;
pub use guess::guess_roles;
pub use rejects::RejectWriter;
pub use roles::{ColumnRoles, FileKind};
pub use row::{MAX_NAME_BYTES, Row, Rows, read_rows, text_id_of};
pub use row_error::{RowError, RowErrorKind};
pub use scan::{KEPT_PROBLEMS, SAMPLE_ROWS, SHOWN_CHARACTERS, Scan, scan, scan_while};
pub use source::Source;
pub use window::MAX_RECORD_BYTES;
pub use write::{AnnotatorWriter, LabelRow, LabelWriter, TextRow, TextWriter};
