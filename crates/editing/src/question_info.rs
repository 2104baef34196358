//! Summary of one question.

use dissensus_api::{QuestionEdits, QuestionInfo};
use dissensus_domain::Question;

/// Summarises a question. `counts` are the numbers of its labels and of annotators with labels.
pub fn question_info(question: &Question, counts: (u32, u32)) -> QuestionInfo {
    let (labels, annotators_with_labels) = counts;
    QuestionInfo {
        options: question.options().iter().map(|option| question_info(option, counts)).collect(),
        only_if: question.only_if.clone(),
        note_form: question.note_form.clone(),
        id: question.id,
        name: question.name.clone(),
        prompt: question.prompt.clone(),
        help: question.help.clone(),
        definitions: {
            let ids = question.scale.ids().iter();
            ids.map(|level| question.definition(*level).to_owned()).collect()
        },
        scale: question.scale.clone(),
        labels,
        annotators_with_labels,
        edits: QuestionEdits::default(),
        cannot_say: question.cannot_say,
        cannot_say_answers: 0,
    }
}
