//! Formats a reading as options of the command, to be pasted.

use dissensus_exchange::{AnswerColumn, AttributeConflicts, TableReading};
use std::collections::BTreeMap;

/// Returns the options of `dissensus data import` that select a reading; `None` if they cannot express it.
pub(super) fn options_of(reading: &TableReading) -> Option<Vec<String>> {
    if !has_equivalent_options(reading) {
        return None;
    }
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
        ("--split", &roles.split),
        ("--group", &roles.group),
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
    if let Some(separator) = &values.option_separator {
        add("--option-separator", separator);
    }
    if values.fold_case {
        options.push("--fold-case".to_owned());
    }
    if values.decimal_comma {
        options.push("--decimal-comma".to_owned());
    }
    if !reading.ignored.is_empty() {
        options.push(format!("--ignore {}", quoted(&reading.ignored.join(","))));
    }
    Some(options)
}

/// Whether options can express the reading: they name columns, and questions, annotators and options by the
/// names of their columns.
fn has_equivalent_options(reading: &TableReading) -> bool {
    let answers = &reading.answers;
    let whole = |column: &str| !column.contains([',', '=']);
    let kind = |answer: &AnswerColumn| match (&answer.option, &answer.annotator, answer.occasion) {
        (Some(option), None, None) => (*option == answer.column).then_some(1),
        (None, Some(who), None) if who.starts_with('=') => {
            let plain = answer.question.is_none() && answer.attributes.is_empty();
            (plain && who[1..] == answer.column).then_some(2)
        }
        (None, Some(_), None) => answer.question.is_none().then_some(3),
        (None, None, Some(_)) => answer.question.is_none().then_some(4),
        (None, None, None) => (answer.question.as_deref() == Some(answer.column.as_str())).then_some(5),
        _ => None,
    };
    let kinds: Option<Vec<i32>> = answers.iter().map(kind).collect();
    let Some(kinds) = kinds.filter(|_| answers.iter().all(|answer| answer.text.is_none())) else {
        return false;
    };
    let mixed =
        kinds.iter().any(|kind| [2, 3, 4].contains(kind)) && kinds.windows(2).any(|pair| pair[0] != pair[1]);
    // Lists of several questions, and reading only texts where there may be labels, have no option.
    let lists = reading.lists.is_empty() || answers.is_empty();
    let labels = reading.roles.label.is_some() || !answers.is_empty();
    labels && lists && !mixed && answers.iter().all(|answer| whole(&answer.column))
}

/// `worker_1=score_1,worker_2=score_2`.
fn pairs(reading: &TableReading) -> String {
    let pair = |answer: &AnswerColumn| {
        let who = answer.annotator.as_ref().filter(|who| !who.starts_with('='))?;
        Some(format!("{who}={}", answer.column))
    };
    reading.answers.iter().filter_map(pair).collect::<Vec<_>>().join(",")
}

/// Quotes a word for a shell if necessary.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,=+/:%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
