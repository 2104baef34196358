//! One row a text: how its labels are distributed, what they come to, and what the models expect of everybody.

use super::cells::{Cell, Columns, Table};
use super::{CheckedSummary, Summaries};
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use crate::text_figures::TextFigures;
use crate::view::{DisagreementMeasure, DisagreementQuery, DisagreementRow, SummaryWritten};
use dissensus_domain::{Question, TextId};
use dissensus_exchange::ColumnKind;
use std::collections::HashMap;

/// Texts whose predictions are asked for at once.
const TOGETHER: usize = 512;

/// What the labels of a text come to by a method that brings them together.
struct Decided {
    label: String,
    probability: Option<f64>,
    tie: bool,
}

pub(super) fn write(
    of: &Summaries,
    asked: &CheckedSummary,
    progress: &dyn Progress,
) -> Result<SummaryWritten, WorkbenchError> {
    let (context, question, wish) = (&of.context, &asked.question, &asked.wish);
    let scale = &question.scale;
    let labels = context.store.current_labels(question.id)?;
    let mut by_text: HashMap<TextId, &[_]> = HashMap::new();
    for on_text in labels.chunk_by(|a, b| a.text == b.text) {
        by_text.insert(on_text[0].text, on_text);
    }
    let mut unsaid: HashMap<TextId, u64> = HashMap::new();
    for (text, _) in context.store.cannot_say(question.id)? {
        *unsaid.entry(text).or_default() += 1;
    }
    let decided = match &wish.aggregate {
        Some(method) => Some(decided(of, question, method, progress)?),
        None => None,
    };
    let mut table = Table::create(&asked.out, columns(question, decided.is_some(), wish.predicted))?;
    let index = context.index();
    let all = index.texts().len() as u64;
    let mut rows = 0;
    for ids in index.texts().chunks(TOGETHER) {
        if progress.cancelled() {
            return Err(WorkbenchError::Cancelled);
        }
        let predicted = if wish.predicted { predicted(of, question, ids)? } else { HashMap::new() };
        for id in ids {
            let Some(text) = context.store.text(*id)? else { continue };
            let figures = TextFigures::of(scale, by_text.get(id).copied().unwrap_or_default());
            let mut row = vec![Cell::Text(text.external_id.clone()), table.written(&text.body)];
            // A thread or a document, and often who wrote it.
            let group = text.group.as_deref().filter(|_| !wish.pseudonyms);
            let optional = |value: Option<&str>| value.map_or(Cell::Missing, |value| table.written(value));
            row.extend([optional(text.split.as_deref()), optional(group)]);
            row.push(Cell::Count(figures.labels as u64));
            row.push(Cell::Count(unsaid.get(id).copied().unwrap_or_default()));
            row.extend(figures.counts.iter().map(|n| Cell::Count(u64::from(*n))));
            row.extend(figures.shares().map(Cell::Number));
            row.push(Cell::Number(figures.mean));
            row.push(Cell::Number(figures.disagreement.map(f64::from)));
            if let Some(decided) = &decided {
                let of_text = decided.get(&text.external_id);
                row.push(of_text.map_or(Cell::Missing, |one| table.written(&one.label)));
                row.push(Cell::Number(of_text.and_then(|one| one.probability)));
                row.push(Cell::Flag(of_text.is_some_and(|one| one.tie)));
            }
            if wish.predicted {
                row.extend(expected(predicted.get(id), scale.len()));
            }
            table.write(&row)?;
            rows += 1;
        }
        progress.report(u64::from(rows), Some(all), "writing");
    }
    table.finish(asked.replace)?;
    Ok(SummaryWritten {
        question: question.name.clone(),
        rows,
        labels: labels.len() as u32,
        suppressed: 0,
        told_apart: 0,
    })
}

fn columns(question: &Question, decided: bool, predicted: bool) -> Columns {
    let mut columns = Columns::default();
    ["text_id", "text", "split", "group"].iter().for_each(|name| columns.add(name, ColumnKind::Text));
    ["labels", "cannot_say"].iter().for_each(|name| columns.add(name, ColumnKind::Integer));
    columns.add_levels("count", &question.scale, ColumnKind::Integer);
    columns.add_levels("share", &question.scale, ColumnKind::Number);
    ["mean", "disagreement"].iter().for_each(|name| columns.add(name, ColumnKind::Number));
    if decided {
        columns.add("aggregated", ColumnKind::Level);
        columns.add("aggregated_probability", ColumnKind::Number);
        columns.add("aggregated_tie", ColumnKind::Flag);
    }
    if predicted {
        columns.add_levels("predicted", &question.scale, ColumnKind::Number);
        [
            "predicted_mean",
            "predicted_disagreement",
            "predicted_disagreement_lower",
            "predicted_disagreement_upper",
        ]
        .iter()
        .for_each(|name| columns.add_free(name, "expected", ColumnKind::Number));
    }
    columns
}

/// What everybody is expected to answer to these texts.
fn predicted(
    of: &Summaries,
    question: &Question,
    texts: &[TextId],
) -> Result<HashMap<TextId, DisagreementRow>, WorkbenchError> {
    let query = DisagreementQuery {
        question: question.id,
        by: DisagreementMeasure::Split,
        cut: None,
        groups: None,
        search: None,
        attributes: std::collections::BTreeMap::new(),
        labelled_only: false,
    };
    let rows = of.analysis.rows(&query, texts)?;
    Ok(rows.into_iter().map(|row| (row.text, row)).collect())
}

/// Its cells; empty of a text that the model does not know.
fn expected(row: Option<&DisagreementRow>, levels: usize) -> Vec<Cell> {
    let number = |x: Option<f32>| Cell::Number(x.map(f64::from));
    let mut cells: Vec<Cell> =
        (0..levels).map(|level| number(row.and_then(|row| row.distribution.get(level).copied()))).collect();
    cells.push(number(row.and_then(|row| row.scores.mean_level)));
    cells.push(number(row.map(|row| row.scores.split)));
    cells.push(number(row.map(|row| row.scores.split_interval.0)));
    cells.push(number(row.map(|row| row.scores.split_interval.1)));
    cells
}

/// One label of each text that has some, by a method.
fn decided(
    of: &Summaries,
    question: &Question,
    method: &str,
    progress: &dyn Progress,
) -> Result<HashMap<String, Decided>, WorkbenchError> {
    if question.scale.is_multi_label() {
        let found = of.analysis.aggregate_options(question, method, progress)?;
        let one = |text: crate::analysis::OptionsOfText| {
            let tie = !text.ties.is_empty();
            (text.text_id, Decided { label: text.label, probability: None, tie })
        };
        return Ok(found.into_iter().map(one).collect());
    }
    let found = of.analysis.aggregate(question.id, method, progress)?;
    let one = |text: crate::analysis::AggregatedText| {
        (text.text_id, Decided { label: text.label, probability: Some(text.probability), tie: text.tie })
    };
    Ok(found.texts.into_iter().map(one).collect())
}
