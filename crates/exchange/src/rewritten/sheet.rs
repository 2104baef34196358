//! A sheet of a workbook, cell by cell, as CSV; with the position of each row in the sheet.

use super::Step;
use super::limited::{Limited, failed, renamed};
use crate::ExchangeError;
use crate::annotations::Findings;
use std::io;
use std::path::Path;

/// Maps lines of the CSV to rows of the sheet: the line at which a row begins and the number of the row,
/// wherever their difference changes.
#[derive(Debug)]
pub(crate) struct SheetRows {
    /// The name of the sheet.
    pub(crate) sheet: String,
    /// The names of all that can be read.
    pub(crate) sheets: Vec<String>,
    starts: Vec<(u64, u64)>,
}

impl SheetRows {
    /// The row of the sheet, from 1, of the record that begins at this line.
    pub(crate) fn row_at(&self, line: u64) -> u64 {
        match self.starts.partition_point(|(start, _)| *start <= line).checked_sub(1) {
            Some(before) => self.starts[before].1 + (line - self.starts[before].0),
            None => line,
        }
    }
}

/// A sheet being written. Cells are added row by row, in each row from left to right.
#[derive(Debug)]
pub(super) struct SheetWriter {
    csv: csv::Writer<Limited>,
    rows: SheetRows,
    line: u64,
    /// The current row, from 1.
    row: u64,
    cells: Vec<String>,
    /// The number of columns; 0 before their names are found.
    width: usize,
    /// The rows before the names are found.
    first: Vec<(u64, Vec<String>)>,
    /// The titles above the names.
    titles: Vec<(u64, String)>,
}

/// Maximum number of rows above the names of the columns.
const MAX_TITLES: usize = 10;
/// A row with at least so many values below a single cell has the names of columns.
const NAMES: usize = 3;

impl SheetWriter {
    pub(super) fn create(path: &Path, sheet: &str, sheets: &[String], packed: u64) -> io::Result<Self> {
        // Quoted, so that contents of cells are not seen as separators.
        let csv = csv::WriterBuilder::new()
            .quote_style(csv::QuoteStyle::Always)
            .from_writer(Limited::create(renamed(path, "csv"), packed)?);
        let rows = SheetRows { sheet: sheet.to_owned(), sheets: sheets.to_vec(), starts: Vec::new() };
        let (first, titles) = (Vec::new(), Vec::new());
        Ok(Self { csv, rows, line: 1, row: 1, cells: Vec::new(), width: 0, first, titles })
    }

    /// The value of a cell, by row and column from 0.
    pub(super) fn cell(&mut self, (row, column): (u32, u32), value: String) -> io::Result<()> {
        let row = u64::from(row) + 1;
        if row < self.row {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("row {row} comes after row {}", self.row),
            ));
        }
        if row > self.row {
            self.end_row()?;
            self.row = row;
        }
        if value.is_empty() {
            return Ok(());
        }
        let column = column as usize;
        if column >= crate::MAX_COLUMNS {
            let why = format!(
                "row {row} has a value in column {}, and at most {} are read",
                column + 1,
                crate::MAX_COLUMNS
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        self.cells[column] = value;
        Ok(())
    }

    /// A row without a value is no row.
    fn end_row(&mut self) -> io::Result<()> {
        let cells = std::mem::take(&mut self.cells);
        let filled = cells.iter().filter(|cell| !cell.trim().is_empty()).count();
        if cells.is_empty() {
            return Ok(());
        }
        if self.width > 0 {
            return self.write(self.row, cells);
        }
        // A single cell above a row with the names of columns is a title.
        self.first.push((self.row, cells));
        if filled == 1 && self.first.len() <= MAX_TITLES {
            return Ok(());
        }
        if filled >= NAMES && self.first.len() > 1 {
            let above = self.first.len() - 1;
            self.titles = self.first.drain(..above).map(|(row, cells)| (row, cells.concat())).collect();
        }
        self.write_first()
    }

    fn write_first(&mut self) -> io::Result<()> {
        for (row, cells) in std::mem::take(&mut self.first) {
            self.write(row, cells)?;
        }
        Ok(())
    }

    fn write(&mut self, row: u64, mut cells: Vec<String>) -> io::Result<()> {
        if self.width == 0 {
            self.width = cells.len();
        }
        if let Some(beyond) = cells.get(self.width..).filter(|beyond| !beyond.is_empty()) {
            let at = (row as u32 - 1, (self.width + beyond.len() - 1) as u32);
            let why = format!(
                "row {row} has a value in cell {}, and the names of the columns end with {}: name its column, or empty the cell",
                cell_name(at),
                cell_name((at.0, self.width as u32 - 1)).trim_end_matches(char::is_numeric),
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        cells.resize(self.width, String::new());
        if self.rows.row_at(self.line) != row || self.rows.starts.is_empty() {
            self.rows.starts.push((self.line, row));
        }
        self.line += 1 + cells
            .iter()
            .map(|cell| memchr::memchr_iter(b'\n', cell.as_bytes()).count() as u64)
            .sum::<u64>();
        self.csv.write_record(&cells).map_err(crate::error::io_reason)
    }

    pub(super) fn finish(mut self, mut findings: Vec<Findings>) -> io::Result<Step> {
        self.end_row()?;
        self.write_first()?;
        if let Some((row, title)) = self.titles.first() {
            let rows = match self.titles.len() {
                1 => format!("Row {row} is left out, because it is"),
                several => format!("{several} rows from row {row} on are left out, because they are"),
            };
            findings.push(Findings {
                code: "titles",
                count: self.titles.len() as u64,
                message: format!("{rows} above the names of the columns: \"{title}\""),
            });
        }
        let out = self.csv.into_inner().map_err(csv::IntoInnerError::into_error)?;
        let mut step = out.finish(format!("the sheet \"{}\"", self.rows.sheet), findings)?;
        step.rows = Some(self.rows);
        Ok(step)
    }
}

/// How much a sheet contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    Nothing,
    /// Values in one row or in one column.
    Something,
    /// Values in several rows and several columns.
    Table,
}

impl Holds {
    /// Determines this from the positions of a sheet's filled cells, by row and column.
    pub(super) fn of<E>(cells: impl Iterator<Item = Result<(u32, u32), E>>) -> Result<Self, E> {
        let (mut first, mut rows, mut columns) = (None, false, false);
        for cell in cells {
            let (row, column) = cell?;
            let (first_row, first_column) = *first.get_or_insert((row, column));
            rows |= row != first_row;
            columns |= column != first_column;
            if rows && columns {
                return Ok(Self::Table);
            }
        }
        Ok(if first.is_some() { Self::Something } else { Self::Nothing })
    }
}

/// Chooses the sheet to read: the one that was asked for, else the first with a table, else the first that is
/// not empty; with notices about the choice.
pub(super) fn chosen<'a>(
    path: &Path,
    sheets: &'a [String],
    asked: Option<&str>,
    mut holds: impl FnMut(&str) -> Result<Holds, ExchangeError>,
) -> Result<(&'a str, Vec<Findings>), ExchangeError> {
    let refuse = |why: String| ExchangeError::Package { path: path.to_owned(), why };
    if let Some(asked) = asked {
        let found = sheets.iter().find(|sheet| *sheet == asked);
        let names = || sheets.iter().map(|sheet| format!("\"{sheet}\"")).collect::<Vec<_>>().join(", ");
        return found
            .map(|sheet| (sheet.as_str(), Vec::new()))
            .ok_or_else(|| refuse(format!("it has no sheet \"{asked}\"; its sheets are {}", names())));
    }
    let mut filled = Vec::new();
    for sheet in sheets {
        let found = holds(sheet)?;
        if found != Holds::Nothing {
            filled.push((found, sheet.as_str()));
        }
    }
    // The sort is stable.
    filled.sort_by_key(|(found, _)| std::cmp::Reverse(*found));
    let filled: Vec<&str> = filled.into_iter().map(|(_, sheet)| sheet).collect();
    let (first, others) =
        filled.split_first().ok_or_else(|| ExchangeError::Empty { path: path.to_owned() })?;
    let findings = match others.is_empty() {
        true => Vec::new(),
        false => vec![Findings {
            code: "sheets",
            count: others.len() as u64,
            message: format!(
                "Sheet: \"{first}\". Others hold something too, and are left out: {}",
                others.iter().map(|sheet| format!("\"{sheet}\"")).collect::<Vec<_>>().join(", ")
            ),
        }],
    };
    Ok((first, findings))
}

/// Formats a number like a cell without a format of its own: whole numbers without a point.
pub(super) fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 { format!("{x:.0}") } else { x.to_string() }
}

/// The name of a cell by row and column from 0: `B7`.
pub(super) fn cell_name((row, column): (u32, u32)) -> String {
    let (mut letters, mut left) = (Vec::new(), column + 1);
    while left > 0 {
        left -= 1;
        letters.push(char::from(b'A' + (left % 26) as u8));
        left /= 26;
    }
    format!("{}{}", letters.iter().rev().collect::<String>(), row + 1)
}

/// Returns the error of a cell: what is wrong with it, and what to do.
pub(super) fn bad_cell(path: &Path, sheet: &str, at: (u32, u32), what: &str) -> ExchangeError {
    let why = format!("sheet \"{sheet}\", cell {}: {what}", cell_name(at));
    ExchangeError::Package { path: path.to_owned(), why }
}

/// Returns the error of the system, or of the file, while a sheet is written.
pub(super) fn trouble(path: &Path, error: &io::Error) -> ExchangeError {
    failed(path, error, "the workbook is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_named_like_in_spreadsheets() {
        let names: Vec<String> = [(0, 0), (6, 1), (0, 25), (0, 26), (9, 701), (9, 702)].map(cell_name).into();
        assert_eq!(names, ["A1", "B7", "Z1", "AA1", "ZZ10", "AAA10"]);
    }

    #[test]
    fn numbers_are_formatted_as_typed() {
        let shown: Vec<String> = [3.0, -0.5, 1e14, 0.1, 1.5e300].map(number).into();
        assert_eq!(shown[..4], ["3", "-0.5", "100000000000000", "0.1"]);
        assert_eq!(shown[4].parse::<f64>(), Ok(1.5e300));
    }

    fn written(cells: &[((u32, u32), &str)]) -> Step {
        let mut sheet = SheetWriter::create(Path::new("a.xlsx"), "S", &[], 0).unwrap();
        for (at, value) in cells {
            sheet.cell(*at, (*value).to_owned()).unwrap();
        }
        sheet.finish(Vec::new()).unwrap()
    }

    #[test]
    fn titles_above_the_header_are_skipped() {
        let cells =
            [((0, 0), "Study 3"), ((1, 0), "May"), ((3, 0), "id"), ((3, 1), "text"), ((3, 2), "label")];
        let step = written(&[cells.as_slice(), &[((4, 0), "1"), ((4, 1), "a"), ((4, 2), "0")]].concat());
        assert_eq!(
            std::fs::read_to_string(&step.path).unwrap(),
            "\"id\",\"text\",\"label\"\n\"1\",\"a\",\"0\"\n"
        );
        assert_eq!([1, 2].map(|line| step.rows.as_ref().unwrap().row_at(line)), [4, 5]);
        assert_eq!((step.findings[0].code, step.findings[0].count), ("titles", 2));
        // One column has no title.
        let step = written(&[((0, 0), "text"), ((1, 0), "a b"), ((2, 0), "c")]);
        assert_eq!(std::fs::read_to_string(&step.path).unwrap(), "\"text\"\n\"a b\"\n\"c\"\n");
        assert!(step.findings.is_empty());
    }

    #[test]
    fn first_sheet_with_a_table_is_read() {
        let sheets = ["About", "Data", "More"].map(str::to_owned);
        let holds = |sheet: &str| Ok(if sheet == "About" { Holds::Something } else { Holds::Table });
        let (sheet, findings) = chosen(Path::new("a.xlsx"), &sheets, None, holds).unwrap();
        assert_eq!((sheet, findings[0].count), ("Data", 2));
        let cells = [(0, 0), (0, 3), (2, 3)].map(Ok::<_, ()>);
        assert_eq!(Holds::of(cells.into_iter()), Ok(Holds::Table));
        assert_eq!(Holds::of(cells.into_iter().take(2)), Ok(Holds::Something));
    }

    #[test]
    fn row_numbers_count_empty_rows() {
        let mut sheet = SheetWriter::create(Path::new("a.xlsx"), "S", &[], 0).unwrap();
        for (at, value) in [((2, 0), "text"), ((3, 0), "a\nb"), ((4, 0), "c"), ((9, 0), "d"), ((10, 0), "e")]
        {
            sheet.cell(at, value.to_owned()).unwrap();
        }
        let step = sheet.finish(Vec::new()).unwrap();
        assert_eq!(std::fs::read_to_string(&step.path).unwrap(), "\"text\"\n\"a\nb\"\n\"c\"\n\"d\"\n\"e\"\n");
        let rows = step.rows.unwrap();
        assert_eq!([1, 2, 4, 5, 6].map(|line| rows.row_at(line)), [3, 4, 5, 10, 11]);
    }
}
