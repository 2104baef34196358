//! What a person or a script reads on standard output.

use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;
use std::io::{IsTerminal, Write};

/// Prints one JSON document.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// Prints text and a line end.
pub(crate) fn line(text: &str) -> Result<()> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}

/// A table with a header; columns whose index is in `numbers` stand to the right.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, numbers: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_header(header.to_vec());
    // Through a pipe a row stays one line, whatever its length; on a terminal it is fitted to the width.
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
    table.add_rows(rows);
    let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// A number with three decimals, or a dash where there is none.
pub(crate) fn three(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// The first `width` characters of a text on one line, cut with an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= width {
        return flat;
    }
    let head: String = flat.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", head.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters_and_stay_on_one_line() {
        assert_eq!(cut("a\nb  c", 10), "a b c");
        assert_eq!(cut("ééééé", 3), "éé…");
    }

    #[test]
    fn a_table_aligns_numbers_to_the_right() {
        let text = table(&["model", "accuracy"], vec![vec!["shared".into(), "0.5".into()]], &[1]);
        insta::assert_snapshot!(text, @r"
         model    accuracy
        ───────────────────
         shared        0.5
        ");
    }
}
