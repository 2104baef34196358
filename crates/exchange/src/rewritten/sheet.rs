//! A sheet of a workbook, cell by cell, as CSV; with the place of each row in the sheet.

use super::Step;
use super::limited::{Limited, failed, renamed};
use crate::ExchangeError;
use crate::annotations::MetInFile;
use std::io;
use std::path::Path;

/// Where the rows of a sheet stand: the line of the CSV at which a row begins, and the number of the row, wherever they part.
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

/// A sheet being written. Cells come row by row, in each row from left to right.
#[derive(Debug)]
pub(super) struct SheetWriter {
    csv: csv::Writer<Limited>,
    rows: SheetRows,
    line: u64,
    /// The row at hand, from 1.
    row: u64,
    cells: Vec<String>,
    /// As many values as the first row has.
    width: usize,
}

impl SheetWriter {
    pub(super) fn create(path: &Path, sheet: &str, sheets: &[String], packed: u64) -> io::Result<Self> {
        // In quotes, so that no separator is seen in what cells hold.
        let csv = csv::WriterBuilder::new()
            .quote_style(csv::QuoteStyle::Always)
            .from_writer(Limited::create(renamed(path, "csv"), packed)?);
        let rows = SheetRows { sheet: sheet.to_owned(), sheets: sheets.to_vec(), starts: Vec::new() };
        Ok(Self { csv, rows, line: 1, row: 1, cells: Vec::new(), width: 0 })
    }

    /// The value of a cell, by row and column from 0.
    pub(super) fn cell(&mut self, (row, column): (u32, u32), value: String) -> io::Result<()> {
        let row = u64::from(row) + 1;
        if row < self.row {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("row {row} stands behind row {}", self.row),
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
        let mut cells = std::mem::take(&mut self.cells);
        if cells.is_empty() {
            return Ok(());
        }
        if self.width == 0 {
            self.width = cells.len();
        }
        if let Some(beyond) = cells.get(self.width..).filter(|beyond| !beyond.is_empty()) {
            let at = (self.row as u32 - 1, (self.width + beyond.len() - 1) as u32);
            let why = format!(
                "row {} has a value in cell {}, and the names of the columns end with {}: name its column, or empty the cell",
                self.row,
                cell_name(at),
                cell_name((at.0, self.width as u32 - 1)).trim_end_matches(char::is_numeric),
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        cells.resize(self.width, String::new());
        if self.rows.row_at(self.line) != self.row || self.rows.starts.is_empty() {
            self.rows.starts.push((self.line, self.row));
        }
        self.line += 1 + cells
            .iter()
            .map(|cell| memchr::memchr_iter(b'\n', cell.as_bytes()).count() as u64)
            .sum::<u64>();
        self.csv.write_record(&cells).map_err(crate::error::io_reason)
    }

    pub(super) fn finish(mut self, told: Vec<MetInFile>) -> io::Result<Step> {
        self.end_row()?;
        let out = self.csv.into_inner().map_err(csv::IntoInnerError::into_error)?;
        let mut step = out.finish(format!("the sheet \"{}\"", self.rows.sheet), told)?;
        step.rows = Some(self.rows);
        Ok(step)
    }
}

/// The sheet to read: the one that was asked for, else the first that is `of_use`; with what is told of the choice.
pub(super) fn chosen<'a>(
    path: &Path,
    sheets: &'a [String],
    asked: Option<&str>,
    mut of_use: impl FnMut(&str) -> Result<bool, ExchangeError>,
) -> Result<(&'a str, Vec<MetInFile>), ExchangeError> {
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
        if of_use(sheet)? {
            filled.push(sheet.as_str());
        }
    }
    let (first, others) =
        filled.split_first().ok_or_else(|| ExchangeError::Empty { path: path.to_owned() })?;
    let told = match others.is_empty() {
        true => Vec::new(),
        false => vec![MetInFile {
            code: "sheets",
            count: others.len() as u64,
            message: format!(
                "Sheet: \"{first}\". Others hold something too, and are left out: {}",
                others.iter().map(|sheet| format!("\"{sheet}\"")).collect::<Vec<_>>().join(", ")
            ),
        }],
    };
    Ok((first, told))
}

/// A number as a cell shows it where it has no format of its own: whole numbers without a point.
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

/// What is wrong with a cell, and what to do.
pub(super) fn bad_cell(path: &Path, sheet: &str, at: (u32, u32), what: &str) -> ExchangeError {
    let why = format!("sheet \"{sheet}\", cell {}: {what}", cell_name(at));
    ExchangeError::Package { path: path.to_owned(), why }
}

/// What the system, or the file, says while a sheet is written.
pub(super) fn trouble(path: &Path, error: &io::Error) -> ExchangeError {
    failed(path, error, "the workbook is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_names_that_spreadsheets_give_them() {
        let names: Vec<String> = [(0, 0), (6, 1), (0, 25), (0, 26), (9, 701), (9, 702)].map(cell_name).into();
        assert_eq!(names, ["A1", "B7", "Z1", "AA1", "ZZ10", "AAA10"]);
    }

    #[test]
    fn numbers_are_written_as_they_are_typed() {
        let shown: Vec<String> = [3.0, -0.5, 1e14, 0.1, 1.5e300].map(number).into();
        assert_eq!(shown[..4], ["3", "-0.5", "100000000000000", "0.1"]);
        assert_eq!(shown[4].parse::<f64>(), Ok(1.5e300));
    }

    #[test]
    fn rows_keep_their_numbers_over_empty_rows_and_line_ends_in_cells() {
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
