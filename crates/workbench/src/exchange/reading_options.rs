//! A reading as options of the command, to be pasted.

use dissensus_exchange::{AnswerColumn, AttributeConflicts, TableReading};
use std::collections::BTreeMap;

/// The options of `dissensus import` that ask for a reading; what they cannot say is left to `--reading`.
pub(super) fn options_of(reading: &TableReading) -> String {
    let mut options: Vec<String> = Vec::new();
    let mut add = |name: &str, value: &str| options.push(format!("{name} {}", quoted(value)));
    let roles = &reading.roles;
    for (name, column) in [
        ("--text", &roles.text),
        ("--text-id", &roles.text_id),
        ("--annotator", &roles.annotator),
        ("--label", &roles.label),
        ("--time", &roles.time),
        ("--occasion", &roles.occasion),
        ("--note", &roles.note),
    ] {
        if let Some(column) = column {
            add(name, column);
        }
    }
    let marks = |answer: &&AnswerColumn| answer.option.is_some();
    let people = |answer: &&AnswerColumn| answer.annotator.as_ref().is_some_and(|who| who.starts_with('='));
    let rounds = |answer: &&AnswerColumn| answer.occasion.is_some();
    let mut sets: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for answer in reading.answers.iter().filter(marks) {
        sets.entry(answer.question.as_deref()).or_default().push(&answer.column);
    }
    for (name, columns) in &sets {
        let columns = columns.join(",");
        add("--options", &name.map_or_else(|| columns.clone(), |name| format!("{columns}={name}")));
    }
    let columns = |wanted: &dyn Fn(&&AnswerColumn) -> bool| {
        reading
            .answers
            .iter()
            .filter(wanted)
            .map(|answer| answer.column.as_str())
            .collect::<Vec<_>>()
            .join(",")
    };
    let named = [
        ("--annotator-columns", columns(&|a| people(a) && !marks(a))),
        ("--rounds", columns(&|a| rounds(a) && !people(a))),
        ("--pairs", pairs(reading)),
        ("--labels", columns(&|a| !people(a) && !rounds(a) && !marks(a) && a.annotator.is_none())),
    ];
    for (name, columns) in named {
        if !columns.is_empty() {
            add(name, &columns);
        }
    }
    if let Some(join) = &reading.join {
        add("--join", &join.path.to_string_lossy());
        add(
            "--on",
            &join.other.as_ref().map_or_else(|| join.on.clone(), |other| format!("{}={other}", join.on)),
        );
    }
    let values = &reading.values;
    if !values.missing.is_empty() {
        add("--missing", &values.missing.join(","));
    }
    if let Some(format) = &values.time_format {
        add("--time-format", format);
    }
    let conflicts: &'static str = values.attribute_conflicts.into();
    if values.attribute_conflicts != AttributeConflicts::Refuse {
        add("--attribute-conflicts", conflicts);
    }
    if values.fold_case {
        options.push("--fold-case".to_owned());
    }
    options.join(" ")
}

/// `worker_1=score_1,worker_2=score_2`.
fn pairs(reading: &TableReading) -> String {
    let pair = |answer: &AnswerColumn| {
        let who = answer.annotator.as_ref().filter(|who| !who.starts_with('='))?;
        Some(format!("{who}={}", answer.column))
    };
    reading.answers.iter().filter_map(pair).collect::<Vec<_>>().join(",")
}

/// A word for a shell: in quotes where it is not plain.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,=+/:%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
