//! One row a text, one column a person. Nothing in such a table says that its columns are people, so it is read as one only where somebody says
//! that it is.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, Item, Items, LABEL as QUESTION, Part, Said, Unfold, text_of};
use std::sync::Arc;

/// The columns that are no people.
pub(crate) const TEXT_ID: &str = crate::annotations::TEXT_ID;
pub(crate) const TEXT: &str = "text";
pub(crate) const LABEL: &str = QUESTION;

/// The format.
#[derive(Debug)]
pub(super) struct Wide;

impl Format for Wide {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "wide", title: "CSV with a column for each person", endings: &["csv", "tsv"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let table = look.table.as_ref().filter(|_| look.named)?;
        let there = [TEXT_ID, TEXT].iter().any(|name| look.has_columns(&[name]));
        there.then(|| Reading::Annotations(Division::Rows(table.clone()), Arc::new(Texts)))
    }
}

#[derive(Debug)]
struct Texts;

impl Unfold for Texts {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(cells) = part.json().as_object() else {
            return items.fault("", None, "no row stands here");
        };
        let text = text_of(cells.get(TEXT));
        let common = Item {
            text_id: text_of(cells.get(TEXT_ID)),
            data: text.into_iter().map(|text| (TEXT.to_owned(), text)).collect(),
            ..Item::default()
        };
        let mut nobody = true;
        for (person, cell) in cells.iter().filter(|(column, _)| ![TEXT_ID, TEXT].contains(&column.as_str())) {
            if let Some(label) = text_of(Some(cell)) {
                let mut item =
                    Item { annotator: Some(person.clone()), place: person.clone(), ..common.clone() };
                item.answer(QUESTION, Said::One(label));
                items.push(item);
                nobody = false;
            }
        }
        if nobody {
            items.push(common);
        }
    }
}
