//! One row a text, one column an annotator. Such a table cannot be recognised by its contents, so it is read
//! as one only if the user specifies the format.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, GivenAnswer, Item, Items, LABEL as QUESTION, Part, Unfold, text_of};
use crate::roles::simplified;
use crate::vocabulary::vocabulary;
use std::sync::Arc;

/// The columns that are not annotators.
pub(crate) const TEXT_ID: &str = crate::annotations::TEXT_ID;
pub(crate) const TEXT: &str = "text";
pub(crate) const LABEL: &str = QUESTION;

#[derive(Debug)]
pub(super) struct Wide;

impl Format for Wide {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "wide", title: "CSV with a column for each person", endings: &["csv", "tsv"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let table = look.table.as_ref().filter(|_| look.named)?;
        let names = &vocabulary().columns;
        let called = |names: &[String]| {
            let column = |name: &String| look.columns().iter().find(|column| simplified(column) == *name);
            names.iter().find_map(column).cloned()
        };
        let texts = Texts { id: called(&names.text_id), text: called(&names.text) };
        let there = texts.id.is_some() || texts.text.is_some();
        there.then(|| Reading::Annotations(Division::Rows(table.clone()), Arc::new(texts)))
    }
}

/// The columns that are not annotators.
#[derive(Debug)]
struct Texts {
    id: Option<String>,
    text: Option<String>,
}

impl Unfold for Texts {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(cells) = part.json().as_object() else {
            return items.fault("", None, "this is not a row");
        };
        let cell = |column: &Option<String>| text_of(column.as_ref().and_then(|name| cells.get(name)));
        let text = cell(&self.text);
        let common = Item {
            text_id: cell(&self.id),
            data: text.into_iter().map(|text| (TEXT.to_owned(), text)).collect(),
            ..Item::default()
        };
        let mut nobody = true;
        for (person, cell) in cells
            .iter()
            .filter(|(column, _)| Some(*column) != self.id.as_ref() && Some(*column) != self.text.as_ref())
        {
            if let Some(label) = text_of(Some(cell)) {
                let mut item =
                    Item { annotator: Some(person.clone()), place: person.clone(), ..common.clone() };
                item.answer(QUESTION, GivenAnswer::One(label));
                items.push(item);
                nobody = false;
            }
        }
        if nobody {
            items.push(common);
        }
    }
}
