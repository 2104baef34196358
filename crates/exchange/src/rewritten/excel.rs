//! Excel workbooks (XLSX): a sheet cell by cell, as it was saved last.

use super::sheet::{Holds, SheetWriter, bad_cell, chosen, number, trouble};
use super::{Step, parts};
use crate::ExchangeError;
use calamine::{DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx, XlsxError};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

type Workbook = Xlsx<BufReader<File>>;

/// Rewrites the sheet that was asked for, or the first visible one that is not empty.
pub(super) fn rewrite(path: &Path, asked: Option<&str>, packed: u64) -> Result<Step, ExchangeError> {
    parts::check_parts(path, b"", packed)?;
    let damaged = |error: XlsxError| trouble(path, &io::Error::other(error));
    let file = File::open(path).map_err(|e| ExchangeError::reading(path, e))?;
    let mut workbook = Workbook::new(BufReader::new(file)).map_err(damaged)?;
    let visible = |sheet: &&calamine::Sheet| {
        sheet.typ == SheetType::WorkSheet && (sheet.visible == SheetVisible::Visible || asked.is_some())
    };
    let sheets: Vec<String> =
        workbook.sheets_metadata().iter().filter(visible).map(|sheet| sheet.name.clone()).collect();
    let (sheet, reported) = chosen(path, &sheets, asked, |sheet| {
        let mut cells = workbook.worksheet_cells_reader(sheet).map_err(damaged)?;
        let filled = std::iter::from_fn(|| {
            loop {
                match cells.next_cell().map_err(damaged).transpose()? {
                    Ok(cell) if *cell.get_value() == DataRef::Empty => {}
                    cell => return Some(cell.map(|cell| cell.get_position())),
                }
            }
        });
        Holds::of(filled)
    })?;
    let merged = workbook.merge_cells_by_sheet_name(sheet).map_err(damaged)?;
    if let Some(merged) = merged.first() {
        let to = super::sheet::cell_name(merged.end);
        let what = format!(
            "it is merged with the cells up to {to}, so that rows lack their values: unmerge them, and fill in each row"
        );
        return Err(bad_cell(path, sheet, merged.start, &what));
    }
    let mut out = SheetWriter::create(path, sheet, &sheets, packed).map_err(|e| trouble(path, &e))?;
    let mut cells = workbook.worksheet_cells_reader(sheet).map_err(damaged)?;
    while let Some(cell) = cells.next_cell_with_formula().map_err(damaged)? {
        let wrong = |what: &str| bad_cell(path, sheet, cell.pos, what);
        let value = match cell.value {
            DataRef::Empty if cell.formula.is_some() => {
                return Err(wrong(
                    "it holds a formula without its value: open the workbook in a spreadsheet, save it, and import it again",
                ));
            }
            DataRef::Empty => String::new(),
            DataRef::Int(x) => x.to_string(),
            DataRef::Float(x) => number(x),
            DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text,
            DataRef::SharedString(text) => text.to_owned(),
            DataRef::Bool(flag) => flag.to_string(),
            DataRef::DateTime(at) => moment(&at),
            DataRef::Error(error) => {
                return Err(wrong(&format!("it holds the error {error}: mend or empty it")));
            }
        };
        out.cell(cell.pos, value).map_err(|e| trouble(path, &e))?;
    }
    out.finish(reported).map_err(|e| trouble(path, &e))
}

/// A date without its time where that is midnight; lengths of time as seconds.
fn moment(at: &ExcelDateTime) -> String {
    if at.is_duration() {
        return number((at.as_f64() * 86_400_000.0).round() / 1000.0);
    }
    let (year, month, day, hour, minute, second, milli) = at.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) => date,
        (_, _, _, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    }
}
