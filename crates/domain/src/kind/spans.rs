//! Questions with passages of the text as their answer, each of a type.

use super::multi_label::{AND, NONE, check_count};
use super::{AnswerForm, QuestionKind, TargetKind, other_form};
use crate::{Answer, AnswerError, Scale, ScaleError, reads_as_spans, spans_named};
use std::collections::BTreeSet;

pub(super) struct Spans;

impl QuestionKind for Spans {
    fn title(&self) -> &'static str {
        "passages of several types"
    }

    fn form(&self) -> AnswerForm {
        AnswerForm::Spans
    }

    fn target(&self) -> TargetKind {
        TargetKind::Binary
    }

    fn check_names(&self, names: &[String]) -> Result<(), ScaleError> {
        if names.is_empty() {
            return Err(ScaleError::NoTypes);
        }
        check_count(names)?;
        // The types found in a text are joined like options when labels are aggregated.
        match names.iter().find(|name| name.as_str() == NONE || name.contains(AND)) {
            Some(name) => Err(ScaleError::OptionName(name.clone())),
            None => Ok(()),
        }
    }

    fn names_from_values(&self, values: BTreeSet<String>) -> Vec<String> {
        let named = values.iter().filter_map(|value| spans_named(value).ok()).flatten();
        named.map(|span| span.label).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn check(&self, answer: &Answer, scale: &Scale) -> Result<(), AnswerError> {
        let Answer::Spans(spans) = answer else { return Err(other_form(answer, scale)) };
        match spans.as_slice().iter().find(|span| scale.index_of_id(span.kind).is_none()) {
            Some(span) => Err(AnswerError::TypeOutside { kind: span.kind, types: scale.levels().join(", ") }),
            None => Ok(()),
        }
    }

    fn refuses_cannot_say(&self) -> Option<&'static str> {
        Some("\"cannot say\": mark nothing instead")
    }

    fn parse(&self, cell: &str, scale: &Scale) -> Option<Answer> {
        scale.spans_named(cell).ok().map(Answer::Spans)
    }
}

/// Whether one of the values is a list of spans.
pub(super) fn reads_as_answers(values: &BTreeSet<String>) -> bool {
    values.iter().any(|value| reads_as_spans(value) && spans_named(value).is_ok())
}
