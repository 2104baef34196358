//! A summary with one row per person: attributes, use of the scale, agreement with others, and the models'
//! estimates.

use super::cells::{Cell, Columns, Table};
use super::{CheckedSummary, Summaries, at_one_moment};
use crate::annotators;
use crate::labels_differ::level_counts;
use crate::text_figures::mean_of;
use dissensus_api::{AnnotatorReport, AnnotatorRow, SummaryWritten};
use dissensus_domain::{Annotator, AnnotatorId, Answer, Attributes, Question};
use dissensus_exchange::ColumnKind;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::pseudonyms::{Pseudonyms, SharedAttributes};
use dissensus_training::error::TrainingError;
use std::collections::{BTreeSet, HashMap};

/// An annotator as shown in the table.
struct PersonRow {
    /// The order of rows, which reveals nothing about people with pseudonyms.
    place: u32,
    id: String,
    name: Option<String>,
    attributes: Attributes,
}

pub(super) fn write(
    of: &Summaries,
    asked: &CheckedSummary,
    progress: &dyn Progress,
) -> Result<SummaryWritten, ProjectError> {
    let (context, question, request) = (&of.context, &asked.question, &asked.request);
    let mut everyone = context.store.annotators()?;
    let order = context.store.snapshot(|snapshot| snapshot.order())?;
    everyone.sort_by_key(|person| order.annotator(person.id));
    let (labels, cannot_say, report) = at_one_moment(context, || {
        let labels = context.store.current_labels(question.id)?;
        let cannot_say = context.store.cannot_say(question.id)?;
        Ok((labels, cannot_say, report(of, question, request.predicted.then_some(progress))?))
    })?;
    let mut answers: HashMap<AnnotatorId, Vec<&Answer>> = HashMap::new();
    labels.iter().for_each(|label| answers.entry(label.annotator).or_default().push(&label.answer));
    let mut cannot_say_counts: HashMap<AnnotatorId, u64> = HashMap::new();
    for (_, annotator) in cannot_say {
        *cannot_say_counts.entry(annotator).or_default() += 1;
    }
    let figures: HashMap<AnnotatorId, &AnnotatorRow> =
        report.iter().flat_map(|report| &report.annotators).map(|row| (row.id, row)).collect();
    if progress.cancelled() {
        return Err(ProjectError::Cancelled);
    }
    let labelled = |one: &&Annotator| answers.contains_key(&one.id);
    let masked = match request.pseudonyms {
        true => {
            let with_labels = everyone.iter().filter(labelled);
            let attributes = SharedAttributes::of(with_labels.map(|one| (one.id, &one.attributes)));
            Some((Pseudonyms::new(context)?, attributes))
        }
        false => None,
    };
    let shown: Vec<PersonRow> = match &masked {
        Some((pseudonyms, attributes)) => {
            let of = |one: &Annotator| as_others_see(pseudonyms, attributes, one.id);
            everyone.iter().map(of).collect::<Result<_, _>>()?
        }
        None => everyone.iter().zip(1..).map(as_they_are).collect(),
    };
    let attributes: BTreeSet<&String> = shown.iter().flat_map(|one| one.attributes.keys()).collect();
    let columns = columns(question, &attributes, report.is_some(), request.predicted, !request.pseudonyms);
    let mut table = Table::create(&asked.out, columns)?;
    let mut people: Vec<(&Annotator, &PersonRow)> = everyone.iter().zip(&shown).collect();
    people.sort_by_key(|(_, shown)| shown.place);
    for (one, shown) in &people {
        let given = answers.get(&one.id).map(Vec::as_slice).unwrap_or_default();
        let mut row = vec![Cell::Text(shown.id.clone())];
        row.extend(shown.name.iter().map(|name| table.written(name)));
        let known =
            |name: &&String| shown.attributes.get(*name).map_or(Cell::Missing, |value| table.written(value));
        row.extend(attributes.iter().map(known));
        row.push(Cell::Flag(one.simulated));
        row.extend(use_of_levels(
            question,
            given,
            cannot_say_counts.get(&one.id).copied().unwrap_or_default(),
        ));
        if report.is_some() {
            let of_person = figures.get(&one.id);
            row.extend(compare_with_others(of_person, !request.pseudonyms));
            if request.predicted {
                row.extend(modelled(of_person));
            }
        }
        table.write(&row)?;
    }
    table.finish(asked.replace)?;
    let left_out = masked.map(|(_, attributes)| attributes);
    Ok(SummaryWritten {
        question: question.name.clone(),
        rows: people.len() as u32,
        labels: labels.len() as u32,
        not_converged: Vec::new(),
        suppressed: left_out.as_ref().map_or(0, |all| all.suppressed as u32),
        left_blank: left_out.as_ref().map(|all| all.left_blank.clone()).unwrap_or_default(),
        identifiable: left_out.as_ref().map_or(0, |all| all.identifiable as u32),
    })
}

/// The annotator report of a question with levels; none for other questions.
///
/// # Errors
/// `models` are requested, and none is live.
fn report(
    of: &Summaries,
    question: &Question,
    models: Option<&dyn Progress>,
) -> Result<Option<AnnotatorReport>, ProjectError> {
    if question.scale.has_options() {
        return Ok(None);
    }
    let report = annotators::report(&of.analysis, question.id, models)?;
    // Otherwise requested figures would be missing without an error.
    if models.is_some() && report.estimation.is_none() {
        return Err(TrainingError::NotEncoded(of.context.store.path().to_owned()).into());
    }
    Ok(Some(report))
}

fn as_they_are((one, place): (&Annotator, u32)) -> PersonRow {
    let Annotator { external_id, name, attributes, .. } = one;
    PersonRow { place, id: external_id.clone(), name: Some(name.clone()), attributes: attributes.clone() }
}

/// An annotator under a pseudonym.
fn as_others_see(
    pseudonyms: &Pseudonyms,
    attributes: &SharedAttributes,
    one: AnnotatorId,
) -> Result<PersonRow, ProjectError> {
    let place = pseudonyms.number(one)?;
    Ok(PersonRow { place, id: Pseudonyms::name(place), name: None, attributes: attributes.person(one) })
}

fn columns(
    question: &Question,
    attributes: &BTreeSet<&String>,
    compare_with_others: bool,
    modelled: bool,
    as_they_are: bool,
) -> Columns {
    let mut columns = Columns::default();
    columns.add("annotator_id", ColumnKind::Text);
    if as_they_are {
        columns.add("name", ColumnKind::Text);
    }
    let mut rest = Columns::default();
    rest.add("simulated", ColumnKind::Flag);
    ["labels", "cannot_say"].iter().for_each(|name| rest.add(name, ColumnKind::Integer));
    rest.add_levels("count", &question.scale, ColumnKind::Integer);
    rest.add_levels("share", &question.scale, ColumnKind::Number);
    rest.add("mean", ColumnKind::Number);
    if compare_with_others {
        rest.add("shared_texts", ColumnKind::Integer);
        [
            "agreement_with_others",
            "agreement_with_others_lower",
            "agreement_with_others_upper",
            "alpha_without",
        ]
        .iter()
        .for_each(|name| rest.add(name, ColumnKind::Number));
        if as_they_are {
            rest.add("timed_labels", ColumnKind::Integer);
            rest.add("seconds_per_label", ColumnKind::Number);
        }
        rest.add("flags", ColumnKind::Text);
        if modelled {
            ["severity", "severity_sd", "consistency", "consistency_lower", "consistency_upper"]
                .iter()
                .for_each(|name| rest.add(name, ColumnKind::Number));
            rest.add("held_out_labels", ColumnKind::Integer);
            ["held_out_accuracy", "baseline_accuracy", "common_accuracy"]
                .iter()
                .for_each(|name| rest.add(name, ColumnKind::Number));
        }
    }
    columns.add_ahead_of(attributes.iter().map(|name| name.as_str()), "attribute", ColumnKind::Text, rest);
    columns
}

fn use_of_levels(question: &Question, given: &[&Answer], cannot_say: u64) -> Vec<Cell> {
    let scale = &question.scale;
    let counts = level_counts(scale, given);
    let all = given.len() as f64;
    let mut cells = vec![Cell::Count(given.len() as u64), Cell::Count(cannot_say)];
    cells.extend(counts.iter().map(|n| Cell::Count(u64::from(*n))));
    cells.extend(counts.iter().map(|n| Cell::Number((all > 0.0).then(|| f64::from(*n) / all))));
    cells.push(Cell::Number(mean_of(scale, &counts.iter().map(|n| f64::from(*n)).collect::<Vec<_>>())));
    cells
}

fn compare_with_others(row: Option<&&AnnotatorRow>, times: bool) -> Vec<Cell> {
    let agreement = row.and_then(|row| row.agreement_with_others.as_ref());
    let interval = agreement.and_then(|figure| figure.interval);
    let mut cells = vec![
        row.map_or(Cell::Missing, |row| Cell::Count(u64::from(row.shared_texts))),
        Cell::Number(agreement.map(|figure| figure.value)),
        Cell::Number(interval.map(|(lower, _)| lower)),
        Cell::Number(interval.map(|(_, upper)| upper)),
        Cell::Number(row.and_then(|row| row.alpha_without)),
    ];
    if times {
        cells.push(row.map_or(Cell::Missing, |row| Cell::Count(u64::from(row.timed_labels))));
        cells.push(Cell::Number(row.and_then(|row| row.seconds_per_label)));
    }
    // The flag for speed reveals the annotator's times.
    let flags = row.map(|row| row.flags.iter().filter(|flag| times || flag.kind != "too-fast"));
    let flags: Vec<&str> = flags.into_iter().flatten().map(|flag| flag.kind.as_str()).collect();
    cells.push(if flags.is_empty() { Cell::Missing } else { Cell::Text(flags.join(" ")) });
    cells
}

fn modelled(row: Option<&&AnnotatorRow>) -> Vec<Cell> {
    let number = |x: Option<f32>| Cell::Number(x.map(f64::from));
    let consistency = row.and_then(|row| row.consistency.as_ref());
    let interval = consistency.and_then(|figure| figure.interval);
    vec![
        number(row.and_then(|row| row.severity)),
        number(row.and_then(|row| row.severity_sd)),
        Cell::Number(consistency.map(|figure| figure.value)),
        Cell::Number(interval.map(|(lower, _)| lower)),
        Cell::Number(interval.map(|(_, upper)| upper)),
        row.map_or(Cell::Missing, |row| Cell::Count(u64::from(row.held_out_labels))),
        number(row.and_then(|row| row.held_out_accuracy)),
        number(row.and_then(|row| row.baseline_accuracy)),
        number(row.and_then(|row| row.common_accuracy)),
    ]
}
