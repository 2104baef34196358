//! OpenDocument spreadsheets (ODS).

use super::sheet::{SheetWriter, bad_cell, chosen, number, trouble};
use super::{Step, archive};
use crate::ExchangeError;
use calamine::{Data, Ods, OdsError, Reader};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// What stands where cells are merged.
const COVERED: &[u8] = b"<table:covered-table-cell";

/// Rewrites the sheet that was asked for, or the first one that holds something.
pub(super) fn rewrite(path: &Path, asked: Option<&str>) -> Result<Step, ExchangeError> {
    if archive::check_parts(path, COVERED)? {
        let why = "it has merged cells, so that rows lack their values: unmerge them, and fill in each row";
        return Err(ExchangeError::Package { path: path.to_owned(), why: why.to_owned() });
    }
    let damaged = |error: OdsError| trouble(path, &io::Error::other(error));
    let file = File::open(path).map_err(|e| ExchangeError::reading(path, e))?;
    let mut workbook = Ods::new(BufReader::new(file)).map_err(damaged)?;
    let sheets = workbook.sheet_names();
    let (sheet, told) = chosen(path, &sheets, asked, |sheet| {
        Ok(!workbook.worksheet_range(sheet).map_err(damaged)?.is_empty())
    })?;
    let cells = workbook.worksheet_range(sheet).map_err(damaged)?;
    let (top, left) = cells.start().unwrap_or_default();
    let mut out = SheetWriter::create(path, sheet, &sheets).map_err(|e| trouble(path, &e))?;
    for (row, column, cell) in cells.used_cells() {
        let at = (top + row as u32, left + column as u32);
        let value = match cell {
            Data::Empty => String::new(),
            Data::Int(x) => x.to_string(),
            Data::Float(x) => number(*x),
            Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
            Data::Bool(flag) => flag.to_string(),
            Data::DateTime(at) => number(at.as_f64()),
            Data::Error(error) => {
                return Err(bad_cell(
                    path,
                    sheet,
                    at,
                    &format!("it holds the error {error}: mend or empty it"),
                ));
            }
        };
        out.cell(at, value).map_err(|e| trouble(path, &e))?;
    }
    out.finish(told).map_err(|e| trouble(path, &e))
}
