//! A summary with one row per text: the distribution of its labels, the aggregated label, and the models'
//! predictions for everyone.

use super::cells::{Cell, Columns, Table};
use super::{CheckedSummary, Summaries, at_one_moment};
use crate::aggregation;
use crate::error::AnalysisError;
use crate::multi_label;
use crate::ranking;
use crate::text_figures::{TextFigures, mean_of};
use crate::{AggregatedText, OptionsOfText};
use dissensus_api::{DisagreementMeasure, DisagreementQuery, DisagreementRow, SummaryWritten};
use dissensus_domain::{CurrentLabel, Question, TextId};
use dissensus_exchange::ColumnKind;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_training::error::TrainingError;
use std::collections::HashMap;

/// Number of texts that are predicted at once.
const BATCH_TEXTS: usize = 512;

/// The aggregated label of a text.
struct AggregatedLabel {
    label: String,
    probability: Option<f64>,
    tie: bool,
}

/// All label data, read at one moment.
struct LabelData {
    labels: Vec<CurrentLabel>,
    cannot_say: HashMap<TextId, u64>,
    /// By text id.
    decided: Option<HashMap<String, AggregatedLabel>>,
    /// What of the question the estimation did not converge for.
    not_converged: Vec<String>,
}

/// The prediction for all people on a text.
struct TextPrediction {
    /// Mean prediction, a probability per level.
    distribution: Vec<f32>,
    /// How far people would differ, and its interval, with the label of each person who has labelled the
    /// text.
    disagreement: f32,
    interval: (f32, f32),
}

pub(super) fn write(
    of: &Summaries,
    asked: &CheckedSummary,
    progress: &dyn Progress,
) -> Result<SummaryWritten, ProjectError> {
    let (context, question, request) = (&of.context, &asked.question, &asked.request);
    let scale = &question.scale;
    let expected = if request.predicted { Some(expected(of, question, progress)?) } else { None };
    let given = given(of, question, request.aggregate.as_deref(), progress)?;
    let mut by_text: HashMap<TextId, &[CurrentLabel]> = HashMap::new();
    for on_text in given.labels.chunk_by(|a, b| a.text == b.text) {
        by_text.insert(on_text[0].text, on_text);
    }
    let mut table = Table::create(&asked.out, columns(question, given.decided.is_some(), request.predicted))?;
    let index = context.index();
    let all = index.texts().len() as u64;
    let mut rows = 0;
    let order = context.store.snapshot(|snapshot| snapshot.order())?;
    let mut ids = index.texts().to_vec();
    ids.sort_by_key(|id| order.text(*id));
    for id in &ids {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        let Some(text) = context.store.text(*id)? else { continue };
        let figures = TextFigures::new(scale, by_text.get(id).copied().unwrap_or_default());
        let mut row = vec![Cell::Text(text.external_id.clone()), table.written(&text.body)];
        // The group is a thread or a document, and often reveals its author.
        let group = text.group.as_deref().filter(|_| !request.pseudonyms);
        let optional = |value: Option<&str>| value.map_or(Cell::Missing, |value| table.written(value));
        row.extend([optional(text.split.as_deref()), optional(group)]);
        row.push(Cell::Count(figures.labels as u64));
        row.push(Cell::Count(given.cannot_say.get(id).copied().unwrap_or_default()));
        row.extend(figures.counts.iter().map(|n| Cell::Count(u64::from(*n))));
        row.extend(figures.shares().map(Cell::Number));
        row.push(Cell::Number(figures.mean));
        row.push(Cell::Number(figures.disagreement.map(f64::from)));
        if let Some(decided) = &given.decided {
            let of_text = decided.get(&text.external_id);
            // As in any other file of labels, so that other files can be joined by it.
            row.push(of_text.map_or(Cell::Missing, |one| Cell::Text(one.label.clone())));
            row.push(Cell::Number(of_text.and_then(|one| one.probability)));
            row.push(of_text.map_or(Cell::Missing, |one| Cell::Flag(one.tie)));
        }
        if let Some(expected) = &expected {
            row.extend(cells_of(expected.get(id), question));
        }
        table.write(&row)?;
        rows += 1;
        if u64::from(rows).is_multiple_of(BATCH_TEXTS as u64) {
            progress.report(u64::from(rows), Some(all), "writing");
        }
    }
    table.finish(asked.replace)?;
    Ok(SummaryWritten {
        question: question.name.clone(),
        rows,
        labels: given.labels.len() as u32,
        not_converged: given.not_converged,
        suppressed: 0,
        left_blank: Vec::new(),
        identifiable: 0,
    })
}

fn columns(question: &Question, decided: bool, predicted: bool) -> Columns {
    let (scale, mut columns) = (&question.scale, Columns::default());
    ["text_id", "text", "split", "group"].iter().for_each(|name| columns.add(name, ColumnKind::Text));
    ["labels", "cannot_say"].iter().for_each(|name| columns.add(name, ColumnKind::Integer));
    columns.add_levels("count", scale, ColumnKind::Integer);
    columns.add_levels("share", scale, ColumnKind::Number);
    ["mean", "disagreement"].iter().for_each(|name| columns.add(name, ColumnKind::Number));
    if decided {
        columns.add("aggregated", ColumnKind::Level);
        columns.add("aggregated_probability", ColumnKind::Number);
        columns.add("aggregated_tie", ColumnKind::Flag);
    }
    if predicted {
        let mut rest = Columns::default();
        [
            "predicted_mean",
            "expected_disagreement",
            "expected_disagreement_lower",
            "expected_disagreement_upper",
        ]
        .iter()
        .for_each(|name| rest.add(name, ColumnKind::Number));
        let levels: Vec<String> = scale.levels().iter().map(|level| format!("predicted_{level}")).collect();
        columns.add_ahead_of(levels.iter().map(String::as_str), "level", ColumnKind::Number, rest);
    }
    columns
}

/// The labels and the figures derived from them.
fn given(
    of: &Summaries,
    question: &Question,
    aggregate: Option<&str>,
    progress: &dyn Progress,
) -> Result<LabelData, ProjectError> {
    let store = &of.context.store;
    at_one_moment(&of.context, || {
        let labels = store.current_labels(question.id)?;
        let mut cannot_say: HashMap<TextId, u64> = HashMap::new();
        for (text, _) in store.cannot_say(question.id)? {
            *cannot_say.entry(text).or_default() += 1;
        }
        let decided = aggregate.map(|method| decided(of, question, method, progress)).transpose()?;
        let (decided, not_converged) = decided.unzip();
        Ok(LabelData { labels, cannot_say, decided, not_converged: not_converged.unwrap_or_default() })
    })
}

/// The predictions for all people on every text, all by the same state of the model.
fn expected(
    of: &Summaries,
    question: &Question,
    progress: &dyn Progress,
) -> Result<HashMap<TextId, TextPrediction>, ProjectError> {
    let query = DisagreementQuery::of_everything(question.id, DisagreementMeasure::Split);
    let index = of.context.index();
    let mut found = HashMap::with_capacity(index.texts().len());
    let generation = of.live.models.generation();
    for ids in index.texts().chunks(BATCH_TEXTS) {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        let rows = ranking::rows_of(&of.analysis, question, &query, ids)?;
        found.extend(rows.into_iter().filter_map(|row| Some((row.text, TextPrediction::new(row)?))));
        progress.report(found.len() as u64, Some(index.texts().len() as u64), "predicting");
    }
    if of.live.models.generation() != generation {
        return Err(AnalysisError::LabelsChange.into());
    }
    if found.is_empty() && !index.texts().is_empty() {
        return Err(TrainingError::NotEncoded(of.context.store.path().to_owned()).into());
    }
    Ok(found)
}

impl TextPrediction {
    fn new(row: DisagreementRow) -> Option<Self> {
        let scores = row.scores?;
        let (disagreement, interval) = (scores.split, scores.split_interval);
        Some(Self { distribution: row.distribution, disagreement, interval })
    }
}

/// The cells of a text; empty for one that the model does not know, because it was added after the fit.
fn cells_of(expected: Option<&TextPrediction>, question: &Question) -> Vec<Cell> {
    let number = |x: Option<f32>| Cell::Number(x.map(f64::from));
    let levels = question.scale.len();
    let mut cells: Vec<Cell> = (0..levels)
        .map(|level| number(expected.and_then(|one| one.distribution.get(level).copied())))
        .collect();
    let weights = |one: &TextPrediction| one.distribution.iter().map(|p| f64::from(*p)).collect::<Vec<_>>();
    let mean = expected.and_then(|one| mean_of(&question.scale, &weights(one)));
    cells.push(Cell::Number(mean));
    cells.push(number(expected.map(|one| one.disagreement)));
    cells.push(number(expected.map(|one| one.interval.0)));
    cells.push(number(expected.map(|one| one.interval.1)));
    cells
}

/// Aggregates the labels of each text by a method; also names the options, or the question, for which the
/// estimation did not converge.
fn decided(
    of: &Summaries,
    question: &Question,
    method: &str,
    progress: &dyn Progress,
) -> Result<(HashMap<String, AggregatedLabel>, Vec<String>), ProjectError> {
    if question.scale.form().is_set() {
        let found = multi_label::aggregate(&of.analysis, question, method, progress)?;
        let one = |text: OptionsOfText| {
            let tie = !text.ties.is_empty();
            (text.text_id, AggregatedLabel { label: text.label, probability: None, tie })
        };
        return Ok((found.texts.into_iter().map(one).collect(), found.not_converged));
    }
    let found = aggregation::aggregate_labels(&of.analysis, question.id, method, progress)?;
    let one = |text: AggregatedText| {
        (
            text.text_id,
            AggregatedLabel { label: text.label, probability: Some(text.probability), tie: text.tie },
        )
    };
    let stopped = (found.converged == Some(false)).then(|| question.name.clone());
    Ok((found.texts.into_iter().map(one).collect(), stopped.into_iter().collect()))
}
