//! Summarises an import: its rows, its columns, its questions and its annotators.

use super::plan::Plan;
use super::reading::FileReading;
use dissensus_api::{
    ColumnUse, DroppedRows, ExampleAnswer, ExampleText, ImportAccount, ImportPerson, ImportQuestion,
};
use dissensus_exchange::{FileKind, Scan, TableReading};

fn number(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Summarises the rows by outcome.
pub(super) fn account_of(scan: &Scan) -> ImportAccount {
    let account = &scan.account;
    ImportAccount {
        rows: number(scan.rows),
        read: number(account.read),
        repeated: number(account.repeated),
        changed: number(account.changed),
        without_label: number(account.without_label),
        dropped: number(account.dropped),
        reasons: account
            .reasons
            .iter()
            .map(|dropped| DroppedRows {
                reason: dropped.reason.clone(),
                rows: number(dropped.rows),
                first_row: number(dropped.first_row),
            })
            .collect(),
    }
}

/// Lists the questions that labels answer.
pub(super) fn asked_of(plan: &Plan) -> Vec<ImportQuestion> {
    let one = |part: &super::plan::Part| ImportQuestion {
        name: part.name.clone(),
        prompt: part.prompt.clone(),
        scale: part.scale.clone(),
        exists: part.existing.is_some(),
        guessed: part.guessed,
        labels: number(part.labels),
        level_counts: part.level_counts.clone(),
    };
    plan.parts.iter().map(one).collect()
}

/// Lists the annotators who gave labels, those with the most first.
pub(super) fn people_of(scan: &Scan) -> Vec<ImportPerson> {
    let mut people: Vec<ImportPerson> = scan
        .of_annotators
        .iter()
        .map(|(annotator, labels)| ImportPerson { annotator: annotator.clone(), labels: number(*labels) })
        .collect();
    people.sort_by(|a, b| b.labels.cmp(&a.labels).then_with(|| a.annotator.cmp(&b.annotator)));
    people
}

/// Returns three texts with all of their answers.
pub(super) fn examples_of(plan: &Plan) -> Vec<ExampleText> {
    let only = plan.parts.first().map(|part| part.name.clone()).unwrap_or_default();
    let examples = plan.scan.examples.iter();
    let one = |example: &dissensus_exchange::ExampleOfText| ExampleText {
        text_id: example.text_id.clone(),
        text: example.text.clone(),
        answers: example
            .answers
            .iter()
            .map(|answer| {
                let question = answer.question.clone().unwrap_or_else(|| only.clone());
                let scale = plan.parts.iter().find(|part| part.name == question).map(|part| &part.scale);
                // In the spelling of the project, if the scale has the level.
                let named = scale.and_then(|scale| {
                    let found = scale.answer_named(dissensus_exchange::level_name(&answer.answer))?;
                    scale.name_of_answer(&found).map(std::borrow::Cow::into_owned)
                });
                ExampleAnswer {
                    annotator: answer.annotator.clone(),
                    question,
                    answer: named.unwrap_or_else(|| answer.answer.clone()),
                    occasion: answer.occasion,
                }
            })
            .collect(),
    };
    examples.map(one).collect()
}

/// Returns the use of each column of a table; empty for an annotation tool's file.
pub(super) fn uses_of(read: &FileReading) -> Vec<ColumnUse> {
    if read.plain.is_of_tool() {
        return Vec::new();
    }
    let of_people = read.roles().kind(&read.source).is_ok_and(|kind| kind == FileKind::Annotators);
    let use_of = |column: &String| ColumnUse {
        column: column.clone(),
        used_as: use_of(&read.reading, column, of_people),
    };
    read.plain.columns().iter().map(use_of).collect()
}

fn use_of(reading: &TableReading, column: &str, of_people: bool) -> String {
    if reading.ignored.iter().any(|ignored| ignored == column) {
        return "left out".to_owned();
    }
    if let Some(answer) = reading.answers.iter().find(|answer| answer.column == column) {
        let mut words = match (&answer.option, &answer.question) {
            (Some(option), Some(set)) => format!("the option \"{option}\" of \"{set}\""),
            (Some(option), None) => format!("the option \"{option}\""),
            (None, Some(question)) => format!("answers to \"{question}\""),
            (None, None) => "answers".to_owned(),
        };
        match answer.annotator.as_deref().map(|who| who.strip_prefix('=').unwrap_or(who)) {
            Some(who) if answer.annotator.as_deref().is_some_and(|name| name.starts_with('=')) => {
                words.push_str(&format!(" of \"{who}\""));
            }
            Some(who) => words.push_str(&format!(" of the person in \"{who}\"")),
            None => {}
        }
        if let Some(occasion) = answer.occasion {
            words.push_str(&format!(", round {occasion}"));
        }
        return words;
    }
    if reading.answers.iter().any(|answer| answer.annotator.as_deref() == Some(column)) {
        return "annotator".to_owned();
    }
    let roles = reading.roles.named();
    let of_field = format!("{column}.");
    let fields: Vec<&str> =
        roles.iter().filter(|(_, name)| name.starts_with(&of_field)).map(|(role, _)| *role).collect();
    if !fields.is_empty() {
        return format!("lists with {}", fields.join(", "));
    }
    if let Some((role, _)) = roles.iter().find(|(_, name)| *name == column) {
        let words = match *role {
            "attribute" => "attribute of the annotator",
            "study" => "left out: the study has it",
            role => role,
        };
        let listed = reading.lists.iter().any(|list| list == column);
        return if listed { format!("{words}, in lists") } else { words.to_owned() };
    }
    let of_id = reading.roles.text_id.as_deref().is_some_and(|id| id.split('+').any(|part| part == column));
    // Of two joined files, the one with the answers has no metadata of texts.
    let of_answers = reading.join.is_some();
    match (of_id, of_people || of_answers, reading.lists.iter().any(|list| list == column)) {
        (true, ..) => "part of the text id".to_owned(),
        (_, true, _) | (.., true) => "left out".to_owned(),
        _ => "metadata of the text".to_owned(),
    }
}
