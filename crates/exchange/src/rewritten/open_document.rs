//! OpenDocument spreadsheets (ODS).

use super::limited::too_much;
use super::sheet::{Holds, SheetWriter, bad_cell, chosen, number, trouble};
use super::{Step, parts};
use crate::ExchangeError;
use crate::unpacking::unpacking_limit;
use calamine::{Data, Ods, OdsError, Reader, Sheet, SheetVisible};
use quick_xml::events::Event;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use zip::ZipArchive;

/// The element for cells that are covered by a merged cell.
const COVERED: &[u8] = b"<table:covered-table-cell";

/// The memory that a cell needs in addition to its text, in bytes.
const CELL_BYTES: u64 = 32;

/// Refuses tables in which repeated cells and spaces need more memory than the file may unpack to: a few
/// bytes may be repeated a billion times.
fn refuse_multitudes(path: &Path, packed: u64) -> Result<(), ExchangeError> {
    let limit = unpacking_limit(packed);
    let damaged = |error: io::Error| trouble(path, &error);
    let file = File::open(path).map_err(|e| ExchangeError::reading(path, e))?;
    let mut archive = ZipArchive::new(file).map_err(|e| damaged(io::Error::other(e)))?;
    let content = archive.by_name("content.xml").map_err(|e| damaged(io::Error::other(e)))?;
    let mut xml = quick_xml::Reader::from_reader(BufReader::new(content));
    let (mut buffer, mut rows, mut columns, mut all) = (Vec::new(), 1_u64, 1_u64, 0_u64);
    loop {
        let event = xml.read_event_into(&mut buffer).map_err(|e| damaged(io::Error::other(e)))?;
        let element = match &event {
            Event::Start(element) | Event::Empty(element) => element,
            Event::Eof => return Ok(()),
            Event::Text(text) => {
                all = all.saturating_add(rows.saturating_mul(columns).saturating_mul(text.len() as u64));
                if all > limit {
                    return Err(damaged(too_much(limit)));
                }
                buffer.clear();
                continue;
            }
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
                columns = number("table:number-columns-repeated").unwrap_or(1);
                let cells = rows.saturating_mul(columns);
                all = all.saturating_add(cells.saturating_mul(CELL_BYTES + element.len() as u64));
            }
            "text:s" => {
                let spaces = number("text:c").unwrap_or(1);
                all = all.saturating_add(rows.saturating_mul(columns).saturating_mul(spaces));
            }
            _ => {}
        }
        if all > limit {
            return Err(damaged(too_much(limit)));
        }
        buffer.clear();
    }
}

/// Rewrites the sheet that was asked for, or the first visible one that is not empty.
pub(super) fn rewrite(path: &Path, asked: Option<&str>, packed: u64) -> Result<Step, ExchangeError> {
    if parts::check_parts(path, COVERED, packed)? {
        let why = "it has merged cells, so that rows lack their values: unmerge them, and fill in each row";
        return Err(ExchangeError::Package { path: path.to_owned(), why: why.to_owned() });
    }
    refuse_multitudes(path, packed)?;
    let damaged = |error: OdsError| trouble(path, &io::Error::other(error));
    let file = File::open(path).map_err(|e| ExchangeError::reading(path, e))?;
    let mut workbook = Ods::new(BufReader::new(file)).map_err(damaged)?;
    // As in other workbooks, a hidden sheet is read only if it is asked for.
    let visible = |sheet: &&Sheet| sheet.visible == SheetVisible::Visible || asked.is_some();
    let sheets: Vec<String> =
        workbook.sheets_metadata().iter().filter(visible).map(|sheet| sheet.name.clone()).collect();
    let (sheet, reported) = chosen(path, &sheets, asked, |sheet| {
        let cells = workbook.worksheet_range(sheet).map_err(damaged)?;
        Holds::of(cells.used_cells().map(|(row, column, _)| Ok((row as u32, column as u32))))
    })?;
    let cells = workbook.worksheet_range(sheet).map_err(damaged)?;
    let (top, left) = cells.start().unwrap_or_default();
    let mut out = SheetWriter::create(path, sheet, &sheets, packed).map_err(|e| trouble(path, &e))?;
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
    out.finish(reported).map_err(|e| trouble(path, &e))
}
