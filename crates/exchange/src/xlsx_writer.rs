//! Writing a workbook of Excel with one sheet, row by row, in bounded memory. Values are never formulas.

use crate::time::format_ms;
use crate::typed_column::{ColumnKind, TypedColumn, Value};
use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};
use std::io::{self, Write};

/// Maximum number of characters in a cell, in UTF-16 code units.
const MAX_CELL: usize = 32_767;
/// Maximum number of rows in a sheet.
const MAX_ROWS: u32 = 1_048_576;

/// A workbook being written.
pub(crate) struct XlsxWriter {
    book: Workbook,
    columns: Vec<TypedColumn>,
    row: u32,
}

impl std::fmt::Debug for XlsxWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("XlsxWriter").field("row", &self.row).finish_non_exhaustive()
    }
}

impl XlsxWriter {
    /// Begins a sheet whose first row names the columns.
    pub(crate) fn new(columns: &[TypedColumn]) -> io::Result<Self> {
        let mut book = Workbook::new();
        let sheet = book.add_worksheet_with_constant_memory().map_err(reason)?;
        let bold = Format::new().set_bold();
        for (place, column) in columns.iter().enumerate() {
            text(sheet, (0, place), &column.name, Some(&bold), &column.name)?;
        }
        sheet.set_freeze_panes(1, 0).map_err(reason)?;
        Ok(Self { book, columns: columns.to_vec(), row: 1 })
    }

    /// Writes a row: a value for each column.
    pub(crate) fn write(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        if self.row >= MAX_ROWS {
            return Err(refused(format!("a sheet holds {MAX_ROWS} rows: write .csv or .parquet")));
        }
        let sheet = self.book.worksheet_from_index(0).map_err(reason)?;
        for (place, (column, value)) in self.columns.iter().zip(row).enumerate() {
            let at = (self.row, place as u16);
            let number = match value {
                Value::Text(level) if column.kind == ColumnKind::Level => as_number(level),
                Value::Number(x) if x.is_finite() => Some(shortest(*x)),
                Value::Integer(x) if column.kind == ColumnKind::Integer && x.unsigned_abs() < 1 << 53 => {
                    Some(*x as f64)
                }
                _ => None,
            };
            match (number, value) {
                (Some(number), _) => drop(sheet.write_number(at.0, at.1, number).map_err(reason)?),
                (None, Value::Text(value)) => text(sheet, (at.0, place), value, None, &column.name)?,
                (None, Value::Flag(flag)) => drop(sheet.write_boolean(at.0, at.1, *flag).map_err(reason)?),
                (None, Value::Integer(x)) if column.kind == ColumnKind::Moment => {
                    text(sheet, (at.0, place), &format_ms(*x), None, &column.name)?;
                }
                (None, Value::Integer(x)) => text(sheet, (at.0, place), &x.to_string(), None, &column.name)?,
                // A missing number, or a value that spreadsheets cannot represent.
                (None, Value::Number(_) | Value::Vector(_) | Value::Missing) => {}
            }
        }
        self.row += 1;
        Ok(())
    }

    /// Writes the workbook.
    pub(crate) fn finish<W: Write + Send>(mut self, mut out: W) -> io::Result<W> {
        self.book.save_to_writer(&mut out).map_err(reason)?;
        Ok(out)
    }
}

fn text(
    sheet: &mut Worksheet,
    (row, place): (u32, usize),
    value: &str,
    format: Option<&Format>,
    column: &str,
) -> io::Result<()> {
    let length = value.encode_utf16().count();
    if length > MAX_CELL {
        return Err(refused(format!(
            "row {}, column \"{column}\": the text has {length} characters, and a cell holds {MAX_CELL}: write .csv or .parquet",
            row + 1
        )));
    }
    if value.is_empty() {
        return Ok(());
    }
    let place = u16::try_from(place)
        .map_err(|_| refused("a sheet holds 16384 columns: write .csv or .parquet".to_owned()))?;
    let written = match format {
        Some(format) => sheet.write_string_with_format(row, place, value, format),
        None => sheet.write_string(row, place, value),
    };
    written.map(drop).map_err(reason)
}

/// A level that is written as a number is: `3`, `-1.5`, but not `03` or `1e3`.
fn as_number(level: &str) -> Option<f64> {
    level.parse::<f64>().ok().filter(|x| x.is_finite() && x.abs() < 1e15 && x.to_string() == level)
}

/// The double that is shown as the single is.
fn shortest(x: f32) -> f64 {
    x.to_string().parse().unwrap_or_else(|_| f64::from(x))
}

fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

fn reason(error: XlsxError) -> io::Error {
    match error {
        XlsxError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
