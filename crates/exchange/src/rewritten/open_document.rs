//! OpenDocument spreadsheets (ODS).

use super::sheet::{SheetWriter, bad_cell, chosen, number, trouble};
use super::{Step, parts};
use crate::ExchangeError;
use calamine::{Data, Ods, OdsError, Reader, Sheet, SheetVisible};
use quick_xml::events::Event;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use zip::ZipArchive;

/// What stands where cells are merged.
const COVERED: &[u8] = b"<table:covered-table-cell";

/// The most cells with a value, and spaces that stand as a number of them, that are read: a few bytes may stand for all the memory there is.
const MAX_CELLS: u64 = 20_000_000;

/// Refuses tables in which repetitions come to more cells, or spaces, than are read.
fn refuse_multitudes(path: &Path) -> Result<(), ExchangeError> {
    let damaged = |error: io::Error| trouble(path, &error);
    let file = File::open(path).map_err(|e| ExchangeError::reading(path, e))?;
    let mut archive = ZipArchive::new(file).map_err(|e| damaged(io::Error::other(e)))?;
    let content = archive.by_name("content.xml").map_err(|e| damaged(io::Error::other(e)))?;
    let mut xml = quick_xml::Reader::from_reader(BufReader::new(content));
    let (mut buffer, mut rows, mut all) = (Vec::new(), 1_u64, 0_u64);
    loop {
        let event = xml.read_event_into(&mut buffer).map_err(|e| damaged(io::Error::other(e)))?;
        let element = match &event {
            Event::Start(element) | Event::Empty(element) => element,
            Event::Eof => return Ok(()),
            _ => {
                buffer.clear();
                continue;
            }
        };
        let number = |name: &str| {
            let found = element.try_get_attribute(name).ok().flatten()?;
            found.value.as_ref().parse::<u64>().ok()
        };
        match element.name().as_ref() {
            "table:table-row" => rows = number("table:number-rows-repeated").unwrap_or(1),
            "table:table-cell"
                if element.attributes().flatten().any(|a| a.key.as_ref().starts_with("office:")) =>
            {
                let columns = number("table:number-columns-repeated").unwrap_or(1);
                all = all.saturating_add(rows.saturating_mul(columns));
            }
            "text:s" => all = all.saturating_add(number("text:c").unwrap_or(1)),
            _ => {}
        }
        if all > MAX_CELLS {
            let why = format!(
                "its repetitions come to more than {MAX_CELLS} cells: save what is used of it as CSV"
            );
            return Err(ExchangeError::Package { path: path.to_owned(), why });
        }
        buffer.clear();
    }
}

/// Rewrites the sheet that was asked for, or the first one that is visible and holds something.
pub(super) fn rewrite(path: &Path, asked: Option<&str>) -> Result<Step, ExchangeError> {
    if parts::check_parts(path, COVERED)? {
        let why = "it has merged cells, so that rows lack their values: unmerge them, and fill in each row";
        return Err(ExchangeError::Package { path: path.to_owned(), why: why.to_owned() });
    }
    refuse_multitudes(path)?;
    let damaged = |error: OdsError| trouble(path, &io::Error::other(error));
    let file = File::open(path).map_err(|e| ExchangeError::reading(path, e))?;
    let mut workbook = Ods::new(BufReader::new(file)).map_err(damaged)?;
    // As of other workbooks, a hidden sheet is read where it is asked for.
    let visible = |sheet: &&Sheet| sheet.visible == SheetVisible::Visible || asked.is_some();
    let sheets: Vec<String> =
        workbook.sheets_metadata().iter().filter(visible).map(|sheet| sheet.name.clone()).collect();
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
