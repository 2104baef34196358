//! Combines the options of `data import` with the detected reading.

use super::count;
use crate::args::{AttributeConflictsArg, Import, OffsetsArg};
use anyhow::{Context, Result, bail};
use dissensus_api::{
    AnswerColumn, AttributeConflicts, ColumnChoices, ImportChoices, ImportReading, JoinChoice,
};
use dissensus_app::session::Session;
use dissensus_domain::{OffsetUnit, ScaleKind};
use dissensus_transfer::exchange;

/// Import choices from the command line, with detected values for the rest.
///
/// The flag indicates that a dry run shows one of several equally likely readings.
pub(super) fn choices(session: &Session, args: &Import) -> Result<(ImportChoices, bool)> {
    let form = ImportChoices {
        format: args.format.clone(),
        encoding: args.encoding.clone(),
        sheet: args.sheet.clone(),
        ..ImportChoices::default()
    };
    let (mut columns, undecided) = columns(session, args, &form)?;
    name_values(&mut columns, args);
    let has_answers = columns.label.is_some() || columns.span_start.is_some() || !columns.answers.is_empty();
    if !has_answers {
        let answers = [
            ("--types", args.types.is_some()),
            ("--question", args.question.is_some()),
            ("--prompt", args.prompt.is_some()),
            ("--scale", args.scale.is_some()),
            ("--levels", args.levels.is_some()),
        ];
        if let Some((option, _)) = answers.into_iter().find(|(_, given)| *given) {
            bail!(
                "{option} is about labels, and {} has no label column: name it with --label, or import the texts \
                 without {option} and then make the question with `dissensus data question`",
                args.file.display()
            );
        }
    }
    let choices = ImportChoices {
        columns: Some(columns),
        question: args.question.clone(),
        prompt: args.prompt.clone(),
        scale: args.scale.or(args.types.as_ref().map(|_| ScaleKind::Spans)),
        levels: args.levels.clone().or_else(|| args.types.clone()),
        skip_bad: args.skip_bad,
        ..form
    };
    Ok((choices, undecided))
}

/// Determines the role of each column.
fn columns(session: &Session, args: &Import, form: &ImportChoices) -> Result<(ColumnChoices, bool)> {
    if let Some(reading) = &args.reading
        && reading.parse::<usize>().is_err()
    {
        return Ok((with_roles(from_file(reading)?, args), false));
    }
    if let Some(path) = &args.join {
        let (on, other) = match args.on.as_deref().map(|on| on.split_once('=').unwrap_or((on, ""))) {
            Some((on, "")) => (on.to_owned(), None),
            Some((on, other)) => (on.to_owned(), Some(other.to_owned())),
            None => (String::new(), None),
        };
        let join = JoinChoice { path: path.to_string_lossy().into_owned(), on, other };
        let named = ColumnChoices { answers: answers(session, args, form)?, ..named_before(args) };
        let named = ImportChoices { columns: Some(named), ..form.clone() };
        let columns = exchange::join_columns(&session.exchange, &args.file, &named, &join)?;
        return Ok((with_roles(columns, args), false));
    }
    let answers = answers(session, args, form)?;
    if !answers.is_empty() {
        let partial = ColumnChoices { answers, ..named_before(args) };
        let choices = ImportChoices { columns: Some(partial), ..form.clone() };
        let columns = exchange::complete_columns(&session.exchange, &args.file, &choices)?;
        return Ok((with_roles(columns, args), false));
    }
    recognised(session, args, form)
}

/// The roles given on the command line, before detection.
fn named_before(args: &Import) -> ColumnChoices {
    ColumnChoices {
        label: args.label.clone(),
        annotator: args.annotator.clone(),
        text: args.text.clone(),
        text_id: args.text_id.clone(),
        time: args.time.clone(),
        ignored: args.ignore.clone().unwrap_or_default(),
        ..ColumnChoices::default()
    }
}

/// Reads a reading that `--dry-run --json` printed, or only its columns.
fn from_file(path: &str) -> Result<ColumnChoices> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("--reading {path}: neither a number nor a file that can be read"))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("--reading {path}: the file is no JSON"))?;
    let columns = json.get("columns").cloned().unwrap_or(json);
    ColumnChoices::from_json(columns).with_context(|| format!("--reading {path}: the file holds no reading"))
}

/// The most likely reading that is consistent with the given roles; if none is, the detected one with these
/// roles applied.
fn recognised(session: &Session, args: &Import, form: &ImportChoices) -> Result<(ColumnChoices, bool)> {
    let with_named = ImportChoices { columns: Some(named_before(args)), ..form.clone() };
    // Numbers of readings refer to the list that the command prints with the same options.
    let asked = ImportChoices { columns: Some(named_before(args)), ..form.clone() };
    let (readings, _) = exchange::readings(&session.exchange, &args.file, &asked)?;
    if let Some(number) = args.reading.as_deref().and_then(|number| number.parse::<usize>().ok()) {
        let Some(reading) = number.checked_sub(1).and_then(|at| readings.get(at)) else {
            bail!(
                "--reading {number}: the file can be read in {}, see --dry-run",
                count(readings.len() as u64, "way")
            );
        };
        let columns = reading.columns.clone();
        // If there are several questions, the given label column is already one of them.
        let several = !columns.answers.is_empty() && args.label.is_some();
        let columns = if several { columns } else { with_roles(columns, args) };
        return Ok((columns, false));
    }
    let agrees = |reading: &&ImportReading| {
        let mut columns = reading.columns.clone();
        let named = roles(&mut columns).into_iter().zip(named(args));
        named.into_iter().all(|(role, name)| name.is_none() || name == role)
            && args.option_separator.as_ref().is_none_or(|wanted| {
                reading.columns.option_separator.as_ref() == Some(wanted)
                    || !readings.iter().any(|other| other.columns.option_separator.as_ref() == Some(wanted))
            })
            && args.time_format.as_ref().is_none_or(|format| {
                reading.columns.time_format.as_deref().unwrap_or("iso") == format
                    || !differ_in_time_format(&readings)
            })
    };
    let fitting: Vec<&ImportReading> = readings.iter().filter(agrees).collect();
    match fitting.as_slice() {
        [] => Ok((guessed(session, args, form, &with_named)?, false)),
        [best, others @ ..] => {
            let undecided = others.iter().any(|other| other.confidence >= 0.75 * best.confidence);
            if undecided && !args.dry_run {
                let listed = readings.iter().enumerate().filter(|(_, reading)| agrees(reading));
                let listed: Vec<String> =
                    listed.map(|(nth, reading)| listed_reading(nth + 1, reading)).collect();
                bail!(
                    "{} can be read in several ways, and the file does not determine which is meant. Choose one with --reading N, or with its options:\n{}",
                    args.file.display(),
                    listed.join("\n")
                );
            }
            Ok((with_roles(best.columns.clone(), args), undecided))
        }
    }
}

/// Whether the readings differ in the time format.
fn differ_in_time_format(readings: &[ImportReading]) -> bool {
    readings.iter().any(|one| one.columns.time_format != readings[0].columns.time_format)
}

fn listed_reading(number: usize, reading: &ImportReading) -> String {
    format!("  {number}. {} ({})\n     {}", reading.title, reading.reasons.join("; "), reading.options)
}

/// The detected roles of a table in long form, with the given ones applied.
fn guessed(
    session: &Session,
    args: &Import,
    form: &ImportChoices,
    with_named: &ImportChoices,
) -> Result<ColumnChoices> {
    let mut columns = exchange::guess_columns(&session.exchange, &args.file, with_named)?;
    // `--label` without span columns means plain labels, even if the file looks like one row per span.
    let spans = [&args.start, &args.end, &args.span_type].into_iter().any(Option::is_some);
    if !spans && args.label.is_some() && args.label != columns.span_type {
        (columns.span_start, columns.span_end, columns.span_type) = (None, None, None);
    }
    let mut columns = with_roles(columns, args);
    let listed: Vec<String> =
        [&columns.annotator, &columns.label, &columns.time].into_iter().flatten().cloned().collect();
    let listed = listed.into_iter().chain(columns.attributes.iter().cloned()).collect::<Vec<_>>();
    let lists = exchange::columns_of_lists(&session.exchange, &args.file, form, &listed)?;
    // A list of annotators is paired with lists in other columns; if only labels are lists, they are option
    // sets.
    if columns.annotator.as_ref().is_some_and(|annotator| lists.contains(annotator)) {
        columns.lists = lists;
    }
    Ok(columns)
}

/// The answer columns given on the command line.
fn answers(session: &Session, args: &Import, form: &ImportChoices) -> Result<Vec<AnswerColumn>> {
    let mut answers = Vec::new();
    let column = |name: &str| AnswerColumn { column: name.trim().to_owned(), ..AnswerColumn::default() };
    for name in args.labels.iter().flatten() {
        answers.push(AnswerColumn { question: Some(name.trim().to_owned()), ..column(name) });
    }
    let several = args.labels.is_some() || args.options.len() > 1;
    if args.options.iter().filter(|set| !set.contains('=')).count() > 1 {
        bail!("several sets of options need names: write --options A,B,C=NAME for each");
    }
    for set in &args.options {
        let (columns, name) = set.rsplit_once('=').unwrap_or((set, ""));
        let question = match name.trim() {
            "" => several.then(|| "options".to_owned()),
            name => Some(name.to_owned()),
        };
        for option in columns.split(',') {
            let option = AnswerColumn { option: Some(option.trim().to_owned()), ..column(option) };
            answers.push(AnswerColumn { question: question.clone(), ..option });
        }
    }
    for (occasion, name) in (1..).zip(args.rounds.iter().flatten()) {
        answers.push(AnswerColumn { occasion: Some(occasion), ..column(name) });
    }
    for pair in args.pairs.iter().flatten() {
        let Some((annotator, name)) = pair.split_once('=') else {
            bail!("--pairs {pair}: write the column of who answered, =, and the column of the answer");
        };
        answers.push(AnswerColumn { annotator: Some(annotator.trim().to_owned()), ..column(name) });
    }
    if let Some(patterns) = &args.annotator_columns {
        let header = exchange::columns_of(&session.exchange, &args.file, form)?;
        for pattern in patterns {
            let matching: Vec<&String> = header.iter().filter(|name| matches(pattern.trim(), name)).collect();
            if matching.is_empty() {
                bail!(
                    "--annotator-columns {pattern}: no column is called so; the columns are {}",
                    header.join(", ")
                );
            }
            for name in matching {
                answers.push(AnswerColumn { annotator: Some(format!("={name}")), ..column(name) });
            }
        }
    }
    Ok(answers)
}

/// Whether a name matches a pattern, where * matches any characters.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, rest)) => name.strip_prefix(before).is_some_and(|name| {
            name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| matches(rest, &name[at..]))
        }),
    }
}

/// Applies the options about values.
fn name_values(columns: &mut ColumnChoices, args: &Import) {
    if let Some(missing) = &args.missing {
        columns.missing.clone_from(missing);
    }
    if let Some(ignored) = &args.ignore {
        columns.ignored.clone_from(ignored);
    }
    if args.option_separator.is_some() {
        columns.option_separator.clone_from(&args.option_separator);
    }
    columns.fold_case |= args.fold_case;
    columns.decimal_comma |= args.decimal_comma;
    if args.time_format.is_some() {
        columns.time_format.clone_from(&args.time_format);
    }
    if let Some(rule) = args.attribute_conflicts {
        columns.attribute_conflicts = match rule {
            AttributeConflictsArg::Refuse => AttributeConflicts::Refuse,
            AttributeConflictsArg::First => AttributeConflicts::First,
            AttributeConflictsArg::Last => AttributeConflicts::Last,
            AttributeConflictsArg::MostFrequent => AttributeConflicts::MostFrequent,
            AttributeConflictsArg::Unknown => AttributeConflicts::Unknown,
        };
    }
}

/// Applies the given roles, and takes their columns from other roles.
fn with_roles(mut columns: ColumnChoices, args: &Import) -> ColumnChoices {
    let chosen: Vec<String> = named(args)
        .into_iter()
        .filter_map(|name| name.clone())
        .chain(args.attributes.iter().flatten().cloned())
        .chain(args.ignore.iter().flatten().cloned())
        .collect();
    release(&mut columns, &chosen);
    for (role, name) in roles(&mut columns).into_iter().zip(named(args)) {
        if name.is_some() {
            role.clone_from(name);
        }
    }
    if let Some(offsets) = args.offsets {
        columns.offsets = match offsets {
            OffsetsArg::Characters => OffsetUnit::Characters,
            OffsetsArg::Utf16 => OffsetUnit::Utf16,
            OffsetsArg::Bytes => OffsetUnit::Bytes,
        };
    }
    if let Some(attributes) = &args.attributes {
        columns.attributes.clone_from(attributes);
    }
    columns
}

/// The roles with a single column, in the order of [`named`].
fn roles(columns: &mut ColumnChoices) -> [&mut Option<String>; 12] {
    [
        &mut columns.text,
        &mut columns.text_id,
        &mut columns.annotator,
        &mut columns.label,
        &mut columns.span_start,
        &mut columns.span_end,
        &mut columns.span_type,
        &mut columns.split,
        &mut columns.group,
        &mut columns.time,
        &mut columns.occasion,
        &mut columns.note,
    ]
}

/// The columns given for these roles.
fn named(args: &Import) -> [&Option<String>; 12] {
    [
        &args.text,
        &args.text_id,
        &args.annotator,
        &args.label,
        &args.start,
        &args.end,
        &args.span_type,
        &args.split,
        &args.group,
        &args.time,
        &args.occasion,
        &args.note,
    ]
}

/// Clears detected roles of columns that are given explicitly.
fn release(columns: &mut ColumnChoices, named: &[String]) {
    for role in roles(columns) {
        if role.as_ref().is_some_and(|column| named.contains(column)) {
            *role = None;
        }
    }
    columns.attributes.retain(|column| !named.contains(column));
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn star_matches_anything() {
        for (pattern, name, fits) in [
            ("rater_*", "rater_1", true),
            ("rater_*", "rater_", true),
            ("rater_*", "a rater_1", false),
            ("*_hate", "India_hate", true),
            ("a*b*c", "axxbyc", true),
            ("a*b", "ab x", false),
            ("é*", "éa", true),
            ("x", "x", true),
            ("x", "xy", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
