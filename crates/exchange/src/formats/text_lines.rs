//! Plain text, one text a line. Lines with only white space are skipped.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, Item, Items, Part, Unfold};
use std::sync::Arc;

/// How many records are inspected to distinguish a table from texts.
const LOOKED_AT: usize = 50;
/// Maximum number of bytes that are inspected.
const HEAD_BYTES: usize = super::look::HEAD_BYTES as usize - 3;
/// The column with the text of a line.
const TEXT: &str = "text";

#[derive(Debug)]
pub(super) struct TextLines;

impl Format for TextLines {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "text-lines", title: "plain text, one text a line", endings: &["txt"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let texts = look.named || (look.ending == "txt" && is_text(&look.head) && !is_table(&look.head));
        let ordinary = !look.is_folder && look.files.is_empty();
        (texts && ordinary).then(|| Reading::Annotations(Division::Whole, Arc::new(Lines)))
    }
}

/// Whether it is UTF-8 without the zero bytes of other encodings, and no JSON.
fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The last character of the inspected bytes may be cut.
        Err(error) => error.error_len().is_none(),
    };
    let starts = head.trim_ascii_start().first();
    valid && !head.contains(&0) && starts.is_some_and(|first| !b"{[".contains(first))
}

/// Whether its records have the same number of cells, as the rows of a table have, and more than one. A
/// single line is assumed to be the names of columns.
fn is_table(head: &[u8]) -> bool {
    b"\t;,".iter().any(|separator| {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.delimiter(*separator).has_headers(false).flexible(true);
        let records = reader.from_reader(head).into_byte_records().take(LOOKED_AT);
        let mut widths: Vec<usize> = records.map_while(Result::ok).map(|record| record.len()).collect();
        if head.len() >= HEAD_BYTES && widths.len() < LOOKED_AT {
            // The last record is cut at the end of the head.
            widths.pop();
        }
        // A row of a table may lack a cell.
        let first = widths.first().copied().unwrap_or_default();
        first > 1 && widths.iter().filter(|width| **width == first).count() * 5 >= widths.len() * 4
    })
}

#[derive(Debug)]
struct Lines;

impl Unfold for Lines {
    fn unfold(&self, part: &Part, items: &mut Items) {
        for (nth, line) in part.text().lines().enumerate() {
            let text = line.trim();
            if !text.is_empty() {
                let data = vec![(TEXT.to_owned(), text.to_owned())];
                items.push(Item { place: format!("line {}", nth + 1), data, ..Item::default() });
            }
        }
    }

    fn without_annotator(&self) -> &'static str {
        "lines of text have no answers"
    }
}
