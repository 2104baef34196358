//! Tables of runs' predictions: for every text of the project, or for those of a file, one table per run.

use super::Runs;
use super::table_model::TableModel;
use crate::encoding::{CheckedTexts, EncodedText, TextFileChoices, in_order};
use crate::error::TrainingError;
use crate::prediction_tables::{
    LabelledBodies, LevelFile, LevelPredictions, PredictedAnnotator, PredictionChoices, TableRequest,
};
use crate::runs::data;
use crate::runs::predict;
use crate::runs::table_model;
use crate::saved_runs::{SavedRun, choices};
use dissensus_domain::AnnotatorId;
use dissensus_encoder::{Encoder, FreezePolicy};
use dissensus_exchange::TypedTable;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use dissensus_stats::data::Target;
use dissensus_store::body_hash;
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Summary of the table of a run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunPredictionFile {
    pub run: u32,
    pub model: String,
    /// Its table.
    #[serde(flatten)]
    pub written: LevelPredictions,
}

/// A run whose table is being written.
struct RunTable {
    run: u32,
    name: String,
    model: TableModel,
    file: LevelFile,
    /// Rows of texts and annotators whose labels trained the run.
    learned: HashSet<(u32, u32)>,
    bodies: LabelledBodies,
}

impl RunTable {
    /// Writes the rows of one text: row `row` of the project, or none.
    fn write(
        &mut self,
        row: Option<u32>,
        id: &str,
        body: &str,
        text: &EncodedText,
    ) -> Result<(), ProjectError> {
        let people: Vec<u32> = self.file.annotators().iter().map(|one| one.row).collect();
        let (p, measures) = self.model.predict(row, text, &people)?;
        let same = body_hash(body).and_then(|hash| self.bodies.get(&hash));
        let observed = |who: u32| {
            let own = |text: &u32| self.learned.contains(&(*text, who));
            row.as_ref().is_some_and(own) || same.is_some_and(|rows| rows.iter().any(own))
        };
        self.file.write(id, &p, Some(&observed), measures)
    }
}

/// Runs that share an encoder.
struct OnOneEncoder {
    encoder: Encoder,
    /// The key of the embeddings, if these are in the project.
    frozen: Option<String>,
    tables: Vec<RunTable>,
}

/// Writes the predictions of the models of finished runs, a row for each text and annotator and a table
/// for each run: for every text of the project, or for those of a file. `out` is the table of a single
/// run; with several, the number of the run is appended to the name (`out-3.csv`). A text is read once
/// per encoder. Memory does not grow with texts x annotators.
///
/// A text of the project is predicted with what its labels taught the run, as in
/// [`predict`](crate::runs::predict::predict), and a text of a file only by its
/// content.
///
/// # Errors
/// Those of [`predict::predict`](crate::runs::predict::predict), for any of them, before anything is
/// written; a run named twice or of an early version; another question than the one that is named; the
/// conditions on files and names that
/// `Analysis::check_predictions` checks; a full disk; cancellation.
pub fn prediction_tables(
    cx: &Runs,
    runs: &[u32],
    choices: &PredictionChoices,
    texts: Option<&TextFileChoices>,
    out: &Path,
    progress: &dyn Progress,
) -> Result<Vec<RunPredictionFile>, ProjectError> {
    let written = write_tables(cx, runs, choices, texts, out, progress);
    written.map_err(ProjectError::all_or_nothing)
}

fn write_tables(
    cx: &Runs,
    runs: &[u32],
    asked: &PredictionChoices,
    texts: Option<&TextFileChoices>,
    out: &Path,
    progress: &dyn Progress,
) -> Result<Vec<RunPredictionFile>, ProjectError> {
    TypedTable::check(out, false)?;
    let outs: Vec<PathBuf> = runs.iter().map(|run| out_of_run(out, runs, *run)).collect();
    let read: Vec<&Path> =
        texts.map(|texts| texts.path.as_path()).into_iter().chain([cx.context.store.path()]).collect();
    check_outputs(&outs.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &read, asked.replace)?;
    let mut all = Vec::new();
    for (nth, run) in runs.iter().enumerate() {
        all.push(run_to_tabulate(cx, *run, &runs[..nth], asked)?);
    }
    let checked = texts.map(|texts| CheckedTexts::open(texts, progress)).transpose()?;
    let mut groups: Vec<(String, OnOneEncoder)> = Vec::new();
    for (kept, out) in all.iter().zip(&outs) {
        add_table(cx, &mut groups, kept, asked, out, progress)?;
    }
    for (_, group) in &mut groups {
        match &checked {
            Some(texts) => {
                let OnOneEncoder { encoder, tables, .. } = group;
                texts.encode(encoder, progress, |text, embedding| {
                    let encoded = EncodedText::new(&text.body, embedding)?;
                    tables.iter_mut().try_for_each(|one| one.write(None, &text.id, &text.body, &encoded))
                })?;
            }
            None => write_project(cx, group, progress)?,
        }
    }
    // No table gets its name before all texts are written to every one.
    let tables = groups.into_iter().flat_map(|(_, group)| group.tables);
    let bad_rows = checked.as_ref().map_or(0, CheckedTexts::bad);
    let mut files: Vec<RunPredictionFile> = tables
        .map(|table| {
            let written = table.file.finish(bad_rows)?;
            Ok(RunPredictionFile { run: table.run, model: table.name, written })
        })
        .collect::<Result<_, ProjectError>>()?;
    files.sort_by_key(|file| runs.iter().position(|run| *run == file.run));
    Ok(files)
}

fn run_to_tabulate(
    cx: &Runs,
    run: u32,
    before: &[u32],
    asked: &PredictionChoices,
) -> Result<SavedRun, ProjectError> {
    let refused = |why: String| Err(TrainingError::NoTable { run, why }.into());
    let kept = cx.kept.get(run)?;
    if kept.outcome.report.is_none() {
        return Err(TrainingError::NoScores(run).into());
    }
    if before.contains(&run) {
        return refused("it is named twice".to_owned());
    }
    if kept.run.start.is_none() {
        return refused(
            "it is of an early version, which did not keep its annotators: train again".to_owned(),
        );
    }
    let index = cx.context.index();
    let question = index.with_levels(kept.choices.question)?;
    match &asked.question {
        Some(named) if *named != question.name => {
            refused(format!("it was trained on \"{}\" and predicts nothing of \"{named}\"", question.name))
        }
        _ => Ok(kept),
    }
}

/// Opens the model of a run and its table, and adds them to the runs on the same encoder.
fn add_table(
    cx: &Runs,
    groups: &mut Vec<(String, OnOneEncoder)>,
    kept: &SavedRun,
    asked: &PredictionChoices,
    out: &Path,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let (config, _) = choices::config(&kept.choices)?;
    let name = super::predict::encoder_of_run(kept, &config);
    let at = match groups.iter().position(|(known, _)| *known == name) {
        Some(at) => at,
        None => {
            let encoder = predict::encoder_of(cx, kept, &config)?.0;
            let is_frozen = config.policy == FreezePolicy::Frozen;
            let frozen = if is_frozen { kept.outcome.encoder.clone() } else { None };
            groups.push((name, OnOneEncoder { encoder, frozen, tables: Vec::new() }));
            groups.len() - 1
        }
    };
    let group = &mut groups[at].1;
    let table = table_of(cx, kept, &group.encoder, asked, out, progress)?;
    group.tables.push(table);
    Ok(())
}

fn table_of(
    cx: &Runs,
    kept: &SavedRun,
    encoder: &Encoder,
    asked: &PredictionChoices,
    out: &Path,
    progress: &dyn Progress,
) -> Result<RunTable, ProjectError> {
    let run = kept.run.id.0;
    let question = cx.context.index().with_levels(kept.choices.question)?.clone();
    let model = table_model::table_model(cx, kept, encoder, progress)?;
    if model.levels() != question.scale.len() {
        let why = format!("\"{}\" has other levels now: train again", question.name);
        return Err(TrainingError::NoTable { run, why }.into());
    }
    let data = data::run_data(cx, kept)?;
    let labels = data.training_and_validation();
    let with_labels: BTreeSet<u32> = labels.iter().map(|o| o.annotator).collect();
    let index = cx.context.index();
    let person = |id: AnnotatorId, external: &str| {
        let row = data.row_of(id);
        PredictedAnnotator { row, id: external.to_owned(), has_labels: with_labels.contains(&row) }
    };
    let mut chosen = Vec::new();
    for name in &asked.annotators {
        let found = index.find_annotator(name)?;
        chosen.push(person(found.id, &found.external_id));
    }
    if asked.annotators.is_empty() {
        let known = index.annotators().iter().filter(|a| data.annotators.contains(&a.id));
        chosen.extend(known.map(|a| person(a.id, &a.external_id)));
    }
    chosen.sort();
    chosen.dedup();
    let bodies = bodies_of(cx, labels.iter().map(|o| o.text).collect())?;
    let learned = labels.iter().map(|o| (o.text, o.annotator)).collect();
    let request = TableRequest {
        question: &question.name,
        levels: question.scale.levels(),
        annotators: &chosen,
        everybody: asked.annotators.is_empty(),
        out,
        replace: asked.replace,
    };
    let file = LevelFile::create(&request, Target::from_scale(&question.scale), true)?;
    let name = kept.choices.model.name().to_owned();
    Ok(RunTable { run, name, model, file, learned, bodies })
}

/// Rows of these texts by the hashes of their bodies.
fn bodies_of(cx: &Runs, rows: BTreeSet<u32>) -> Result<LabelledBodies, ProjectError> {
    let index = cx.context.index();
    let mut found = LabelledBodies::new();
    for row in rows {
        let body = cx.context.store.bodies(&[index.texts()[row as usize]])?.swap_remove(0);
        if let Some(hash) = body_hash(&body) {
            found.entry(hash).or_default().push(row);
        }
    }
    Ok(found)
}

/// Writes every text of the project, on stored embeddings if all texts have one, otherwise read once for
/// all runs.
fn write_project(cx: &Runs, group: &mut OnOneEncoder, progress: &dyn Progress) -> Result<(), ProjectError> {
    let OnOneEncoder { encoder, frozen, tables } = group;
    let index = cx.context.index();
    let texts = index.texts();
    let read = |row: usize| {
        let found = cx.context.store.text(texts[row])?;
        found.ok_or_else(|| ProjectError::NoSuchText(texts[row].0.to_string()))
    };
    let mut write = |row: usize, embedding: Vec<f32>| {
        let text = read(row)?;
        let encoded = EncodedText::new(&text.body, embedding)?;
        progress.report(row as u64 + 1, Some(texts.len() as u64), "predicting");
        tables
            .iter_mut()
            .try_for_each(|one| one.write(Some(row as u32), &text.external_id, &text.body, &encoded))
    };
    let kept = match frozen {
        Some(key) if cx.context.store.embedding_count(key)? as usize >= texts.len() => {
            Some(cx.encoding.embeddings_of(key)?)
        }
        _ => None,
    };
    match kept {
        Some(x) => (0..texts.len()).try_for_each(|row| match progress.cancelled() {
            true => Err(ProjectError::Cancelled),
            false => write(row, x.row(row).to_vec()),
        }),
        None => in_order(encoder, (0..texts.len()).map(|row| Ok(read(row)?.body)), progress, write),
    }
}

/// The table of one of several runs, for example `predicted-3.csv` for run 3.
fn out_of_run(out: &Path, runs: &[u32], run: u32) -> PathBuf {
    if runs.len() < 2 {
        return out.to_owned();
    }
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_os_string();
    let mut name = part(out.file_stem());
    name.push(format!("-{run}."));
    name.push(part(out.extension()));
    out.with_file_name(name)
}
