//! Writes pasted rows (a table from a spreadsheet, or lines of text) to a temporary file, which is imported
//! like any other and then removed.

use super::Exchange;
use crate::error::TransferError;
use dissensus_api::PastedRows;
use dissensus_project::clock::file_time;
use dissensus_project::error::ProjectError;
use dissensus_project::home::{Home, make_private_folder};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The age at which a file is removed that a crashed window left.
const LEFT_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum length of a column's name, in characters.
const LONGEST_NAME: usize = 40;
/// The column of lines without a name.
const TEXT: &str = "text";

/// Writes pasted rows to a file. Cells are separated by tabs, as spreadsheets copy them; rows without a
/// tab are one text a line. `header` is whether the first row has the names of the columns; without it
/// that is guessed. Of unnamed columns the one with the most characters is called `text`, the others
/// `column_2` and so on.
///
/// # Errors
/// The text is only white space, or the file cannot be written.
pub fn paste(cx: &Exchange, pasted: &str, header: Option<bool>) -> Result<PastedRows, ProjectError> {
    let rows = rows_of(pasted);
    let width = rows.iter().map(Vec::len).max().unwrap_or_default();
    if width == 0 {
        return Err(TransferError::NothingPasted.into());
    }
    let header = header.unwrap_or_else(|| looks_like_header(&rows));
    let folder = cx.context.home.pasted();
    make_private_folder(&folder).map_err(failed("making the folder", &folder))?;
    forget_old(&folder);
    let path = write(&folder, &rows, width, header)?;
    Ok(PastedRows { path: path.to_string_lossy().into_owned(), header })
}

/// Removes a file of pasted rows; it never removes any other file, and a missing file is not an error.
pub fn forget_pasted(home: &Home, path: &Path) -> Result<(), ProjectError> {
    let folder = home.pasted();
    // Compared as the path was returned: only a name from this program in its folder.
    if path.parent() != Some(folder.as_path()) || !is_ours(path) {
        return Ok(());
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed("removing", path)(error)),
        _ => Ok(()),
    }
}

/// Whether a name is like `Pasted 2026-03-01 14.05.31.csv`, and not that of its rejected rows.
fn is_ours(path: &Path) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let moment = stem.as_deref().and_then(|stem| stem.strip_prefix("Pasted "));
    path.extension().is_some_and(|ending| ending == "csv")
        && moment.is_some_and(|moment| moment.bytes().all(|b| b.is_ascii_digit() || b"-. ".contains(&b)))
}

fn failed(doing: &'static str, path: &Path) -> impl Fn(std::io::Error) -> ProjectError + use<> {
    let path = path.to_owned();
    move |source| ProjectError::Io { path: path.clone(), doing, source }
}

/// Removes files left by crashed windows. What cannot be inspected is not removed.
fn forget_old(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
        if is_ours(&entry.path()) && age.is_some_and(|age| age > LEFT_FOR) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

fn write(folder: &Path, rows: &[Vec<String>], width: usize, header: bool) -> Result<PathBuf, ProjectError> {
    let mut part = tempfile::NamedTempFile::new_in(folder).map_err(failed("making a file in", folder))?;
    let writing = |error: csv::Error| failed("writing in", folder)(error.into());
    // Quoted, so that contents of cells are not seen as separators.
    let mut out =
        csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_writer(part.as_file_mut());
    // A single column holds texts, whatever its name is.
    if !header || width == 1 {
        let texts = longest_column(rows, width);
        let name = |nth| if nth == texts { TEXT.to_owned() } else { format!("column_{}", nth + 1) };
        out.write_record((0..width).map(name)).map_err(writing)?;
    }
    for row in rows.iter().skip(usize::from(header && width == 1)) {
        let missing = std::iter::repeat_n("", width - row.len());
        out.write_record(row.iter().map(String::as_str).chain(missing)).map_err(writing)?;
    }
    out.flush().map_err(failed("writing in", folder))?;
    drop(out);
    let moment = file_time();
    let mut nth = 1;
    loop {
        let again = if nth == 1 { String::new() } else { format!(" {nth}") };
        let path = folder.join(format!("Pasted {moment}{again}.csv"));
        match part.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(taken) if taken.error.kind() == std::io::ErrorKind::AlreadyExists => {
                part = taken.file;
                nth += 1;
            }
            Err(other) => return Err(failed("writing", &path)(other.error)),
        }
    }
}

/// Returns the column with the most characters, from 0: texts are longer than data about them.
fn longest_column(rows: &[Vec<String>], width: usize) -> usize {
    let length = |nth: &usize| rows.iter().filter_map(|row| row.get(*nth)).map(String::len).sum::<usize>();
    // Of several equally long ones the first.
    (0..width).rev().max_by_key(length).unwrap_or_default()
}

/// Splits pasted text into rows, without blank ones.
///
/// A spreadsheet quotes a cell that has a line end or a tab, and no others: a quote that is not closed before
/// the end of a cell is an ordinary character.
fn rows_of(pasted: &str) -> Vec<Vec<String>> {
    let mut rest = pasted.strip_prefix('\u{feff}').unwrap_or(pasted);
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    let mut add = |row: &mut Vec<String>| {
        let row = std::mem::take(row);
        if row.iter().any(|cell: &String| !cell.trim().is_empty()) {
            rows.push(row);
        }
    };
    while !rest.is_empty() {
        let (cell, after) = quoted(rest).unwrap_or_else(|| {
            let end = rest.find(['\t', '\n', '\r']).unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        });
        row.push(cell);
        rest = match after.strip_prefix('\t') {
            // A row may end with an empty cell.
            Some(next) if next.is_empty() || next.starts_with(['\n', '\r']) => {
                row.push(String::new());
                next
            }
            Some(next) => {
                rest = next;
                continue;
            }
            None => after,
        };
        rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', '\r'])).unwrap_or(rest);
        add(&mut row);
    }
    rows
}

/// A cell in quotes at the beginning, and what follows it.
fn quoted(rest: &str) -> Option<(String, &str)> {
    let inner = rest.strip_prefix('"')?;
    let mut from = 0;
    loop {
        let quote = from + inner[from..].find('"')?;
        let after = &inner[quote + 1..];
        if after.starts_with('"') {
            from = quote + 2;
        } else if after.is_empty() || after.starts_with(['\t', '\n', '\r']) {
            return Some((inner[..quote].replace("\"\"", "\""), after));
        } else {
            return None;
        }
    }
}

/// Whether the first row seems to have the names of the columns: for lines, a known name of texts; for
/// several columns, short names that are all different and not numbers, if something below is a number,
/// longer, or not unique.
fn looks_like_header(rows: &[Vec<String>]) -> bool {
    let Some((first, rest)) = rows.split_first() else { return false };
    let names: Vec<String> = first.iter().map(|cell| cell.trim().to_lowercase()).collect();
    let is_number = |cell: &str| cell.trim().parse::<f64>().is_ok();
    if rest.is_empty() {
        return false;
    }
    if let [only] = names.as_slice() {
        return matches!(
            only.as_str(),
            TEXT | "texts" | "body" | "comment" | "sentence" | "tweet" | "content"
        );
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let named = |name: &String| {
        !name.is_empty() && name.chars().count() <= LONGEST_NAME && !is_number(name) && !name.contains('\n')
    };
    if sorted.len() < names.len() || !names.iter().all(named) {
        return false;
    }
    (0..names.len()).any(|nth| {
        let below: Vec<&str> = rest.iter().filter_map(|row| row.get(nth)).map(String::as_str).collect();
        let repeated = below.windows(2).any(|two| two[0] == two[1]);
        let reported = |cell: &&str| is_number(cell) || cell.chars().count() > LONGEST_NAME;
        repeated || below.iter().any(reported)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(pasted: &str) -> Vec<Vec<String>> {
        rows_of(pasted)
    }

    #[test]
    fn cells_split_at_tabs_and_rows_at_lines() {
        assert_eq!(rows("a\tb\r\n1\t2\r\n"), [["a", "b"], ["1", "2"]]);
        assert_eq!(rows("a\t\n\t\n\n x \t"), [["a", ""], [" x ", ""]], "rows without a character are none");
        assert_eq!(rows("one\rtwo\nthree"), [["one"], ["two"], ["three"]]);
        assert_eq!(rows(" \n\t\t\n"), Vec::<Vec<String>>::new());
        assert_eq!(rows("Well, yes; no, \"so\"\n"), [["Well, yes; no, \"so\""]], "commas are no separators");
    }

    #[test]
    fn quotes_must_close_at_the_end_of_a_cell() {
        assert_eq!(rows("\"two\nlines\"\tx\n"), [["two\nlines", "x"]]);
        assert_eq!(rows("\"say \"\"so\"\"\tnow\"\n"), [["say \"so\"\tnow"]]);
        assert_eq!(rows("\"Yes\" she said\tx\n\"open\ty\n"), [["\"Yes\" she said", "x"], ["\"open", "y"]]);
        assert_eq!(rows("\"😊\"\t\"\"\n"), [["😊", ""]]);
    }

    #[test]
    fn header_is_distinguished_from_a_row() {
        let header = |pasted: &str| looks_like_header(&rows(pasted));
        assert!(header("text\nso good\n") && header("Comment\nwell\n"));
        assert!(!header("so good\nwell\n") && !header("text\n"), "nothing below it");
        assert!(header("who\tscore\nana\t3\nben\t1\n"));
        assert!(header("who\tlabel\nana\tyes\nana\tno\n"));
        assert!(!header("ana\t3\nben\t1\n"), "a number names nothing");
        assert!(!header("a\ta\n1\t2\n") && !header("a\t\n1\t2\n"));
        assert!(!header("ana\tgood\nben\tbad\n"), "nothing tells");
    }
}
