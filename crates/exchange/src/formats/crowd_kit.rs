//! `task,worker,label`: one row an answer, without the texts themselves.

use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, GivenAnswer, Item, Items, LABEL as QUESTION, Part, Unfold, text_of};
use std::sync::Arc;

/// The columns.
pub(crate) const TASK: &str = "task";
pub(crate) const WORKER: &str = "worker";
pub(crate) const LABEL: &str = QUESTION;

#[derive(Debug)]
pub(super) struct CrowdKit;

impl Format for CrowdKit {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "crowd-kit", title: "CSV with task, worker and label", endings: &["csv", "tsv"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let these = [TASK, WORKER, LABEL];
        // With more columns it is a table like any other, unless the user specified the format.
        let exactly = look.named || look.columns().len() == these.len();
        let table = look.table.as_ref().filter(|_| exactly && look.has_columns(&these))?;
        Some(Reading::Annotations(Division::Rows(table.clone()), Arc::new(Answers)))
    }
}

#[derive(Debug)]
struct Answers;

impl Unfold for Answers {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let cell = |column: &str| text_of(part.json().get(column));
        let (Some(task), Some(worker)) = (cell(TASK), cell(WORKER)) else {
            return items.fault("", None, "a row names a task and a worker");
        };
        let mut item = Item { text_id: Some(task), annotator: Some(worker), ..Item::default() };
        if let Some(label) = cell(LABEL) {
            item.answer(QUESTION, GivenAnswer::One(label));
        }
        items.push(item);
    }
}
