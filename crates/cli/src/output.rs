//! Standard output, read by people or by scripts.
//!
//! Texts, names and paths come from untrusted sources. All human-readable output is escaped by [`visible`],
//! so that the terminal shows an escape sequence or a change of text direction instead of acting on it. JSON
//! is left to serde, which escapes control characters itself.
//!
//! Messages are printed in the user's language; texts, tables' cells and JSON are not translated.

use crate::language::{translate, translate_cell, translate_word};
use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use dissensus_project::error::ProjectError;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};

/// Escapes control characters, and invisible or direction-changing characters, as `\u{..}`. Line ends are
/// unchanged.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && acts(c))
}

/// Escapes as [`visible`] does, on one line.
fn visible_cell(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

fn escaped(text: &str, escape: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&escape) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match escape(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal would act on this character instead of drawing it: C0 and C1 controls, line separators,
/// direction marks, embeddings, overrides and isolates, joiners and zero-width spaces.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061C}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{2064}'
                | '\u{2066}'..='\u{206F}'
                | '\u{FEFF}'
        )
}

/// Prints one JSON document, of a type whose schema `dissensus schema` prints.
pub(crate) fn json<T: Serialize + JsonSchema>(value: &T) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// Prints a message and a line end. Rows of [`table`]s in it stay as they are.
pub(crate) fn line(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for part in parts(text) {
        match part.starts_with(ROW) {
            true => write!(out, "{}", visible(&unmarked(part)))?,
            false => write!(out, "{}", visible(&translate(part)))?,
        }
    }
    writeln!(out)?;
    Ok(())
}

/// The rows of tables in a text, and the text between them, with their line ends.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if at > begin && text[begin..].starts_with(ROW) != line.starts_with(ROW) {
            parts.push(&text[begin..at]);
            begin = at;
        }
        at += line.len();
    }
    parts.push(&text[begin..]);
    parts
}

/// The rows of tables without their mark.
fn unmarked(rows: &str) -> String {
    rows.split_inclusive('\n').map(|row| row.strip_prefix(ROW).unwrap_or(row)).collect()
}

/// Prints a text that somebody wrote, and a line end.
pub(crate) fn text(text: &str) -> Result<()> {
    writeln!(std::io::stdout().lock(), "{}", visible(text))?;
    Ok(())
}

/// Prints a value after its name, which is a word of the program.
pub(crate) fn field(name: &str, value: &str) -> Result<()> {
    text(&format!("{:10} {value}", translate_word(name)))
}

/// Prints a note on standard error, separate from the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{} {}", translate_word("note:"), visible(&translate(text)));
}

/// Prints on standard error what went wrong and what to do.
pub(crate) fn error(error: &anyhow::Error) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{} {}", translate_word("error:"), visible(&translate(&error.to_string())));
    if let Some(detail) = error.downcast_ref::<ProjectError>().and_then(ProjectError::detail) {
        for line in translate(&detail).lines() {
            let _ = writeln!(err, "  {}", visible(line));
        }
    }
}

/// The first character of each row of a table, which is not printed: text between tables is translated.
const ROW: char = '\u{E000}';

/// A table with a header; columns whose index is in `numbers` are right-aligned. A single word of the program
/// in a cell needs [`translate_word`], since most cells are names.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, numbers: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header(header.iter().map(|cell| visible_cell(&translate_word(cell)).into_owned()));
    // In a pipe a row stays on one line, whatever its length; on a terminal it is fitted to the width.
    let terminal = std::io::stdout().is_terminal();
    table.set_content_arrangement(if terminal {
        ContentArrangement::Dynamic
    } else {
        ContentArrangement::Disabled
    });
    for &column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.add_rows(
        rows.iter().map(|row| row.iter().map(|cell| visible_cell(&translate_cell(cell)).into_owned())),
    );
    let lines: Vec<String> =
        table.to_string().lines().map(|line| format!("{ROW}{}", line.trim_end())).collect();
    lines.join("\n")
}

/// A number with three decimals, or a dash if there is none.
pub(crate) fn three(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// The first `width` characters of a text on one line, cut with an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = visible_cell(&flat);
    if flat.chars().count() <= width {
        return flat.into_owned();
    }
    let head: String = flat.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", head.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_truncated_to_one_line() {
        assert_eq!(cut("a\nb  c", 10), "a b c");
        assert_eq!(cut("ééééé", 3), "éé…");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(visible("\u{1b}]0;title\u{7}x"), "\\u{1b}]0;title\\u{7}x");
        assert_eq!(visible("a\u{9b}2Jb\r\nc\td"), "a\\u{9b}2Jb\\u{d}\nc\\u{9}d");
        assert_eq!(
            visible("rtl\u{202e}xyz \u{2066}i\u{2069} \u{200b}\u{feff}"),
            "rtl\\u{202e}xyz \\u{2066}i\\u{2069} \\u{200b}\\u{feff}"
        );
        assert_eq!(visible("Größe, 笑, سلام, 👍"), "Größe, 笑, سلام, 👍");
        assert_eq!(cut("\u{1b}[2J hidden", 20), "\\u{1b}[2J hidden");
        let table = unmarked(&table(&["a\u{1b}[1m"], vec![vec!["x\ny\u{8}".into()]], &[]));
        assert!(table.contains("a\\u{1b}[1m") && table.contains("x\\u{a}y\\u{8}"), "{table}");
    }

    #[test]
    fn rows_of_tables_are_apart_from_messages() {
        let table = table(&["a"], vec![vec!["1 text".into()]], &[]);
        let text = format!("Before\n\n{table}\nAfter");
        assert_eq!(parts(&text).len(), 3);
        assert_eq!(parts(&text).concat(), text);
        assert_eq!(parts(&text)[2], "After");
        assert_eq!(parts(""), [""]);
    }

    #[test]
    fn table_aligns_numbers_to_the_right() {
        let text = table(&["model", "accuracy"], vec![vec!["shared".into(), "0.5".into()]], &[1]);
        insta::assert_snapshot!(unmarked(&text), @r"
         model    accuracy
        ───────────────────
         shared        0.5
        ");
    }
}
