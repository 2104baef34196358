//! Functions on a project file. Each opens the file, does one thing and closes it, so that it sees what
//! others wrote in the meantime and holds nothing between calls.

use crate::bundle::rows;
use crate::columns::{Column, into_python};
use crate::encoder::{EncoderRequest, choice, home};
use crate::error::{json, with_code};
use crate::work::{Stop, run};
use dissensus_analysis::bundles::BundleChoices;
use dissensus_analysis::predicted;
use dissensus_analysis::ranking;
use dissensus_api::{
    ColumnChoices, DisagreementMeasure, DisagreementQuery, DisagreementRow, DisagreementScores, ImportChoices,
};
use dissensus_app::session::Session;
use dissensus_domain::Note;
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::labels;
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::Progress;
use dissensus_project::sample;
use dissensus_training::prediction_tables::PredictionChoices;
use dissensus_transfer::exchange;
use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Opens a project for writing; retries for up to `wait` while it is open elsewhere.
fn open(path: &Path, home: &Home, wait: f64, progress: &Stop) -> Result<Session, ProjectError> {
    let until = Instant::now() + Duration::try_from_secs_f64(wait).unwrap_or_default();
    let upgrade: Arc<dyn Progress> = Arc::new(progress.clone());
    loop {
        match Session::open_reporting(path, home, &upgrade) {
            Err(error) if error.code() == "project-locked" && Instant::now() < until => {
                if progress.cancelled() {
                    return Err(ProjectError::Cancelled);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            opened => return opened,
        }
    }
}

/// Opens a project for reading and runs a function on it.
fn reading<T: Send>(
    py: Python<'_>,
    path: &Path,
    work: impl FnOnce(&Session, &Stop) -> Result<T, ProjectError> + Send,
) -> PyResult<T> {
    let home = home(py)?;
    run(py, |progress| work(&Session::open_to_read(path, &home)?, progress))
}

/// Opens a project for writing and runs a function on it.
fn writing<T: Send>(
    py: Python<'_>,
    path: &Path,
    wait: f64,
    work: impl FnOnce(&Session, &Stop) -> Result<T, ProjectError> + Send,
) -> PyResult<T> {
    let home = home(py)?;
    run(py, |progress| {
        let session = open(path, &home, wait, progress)?;
        let done = work(&session, progress);
        session.close();
        done
    })
}

/// Creates an empty project.
#[pyfunction]
pub(crate) fn project_create(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    let home = home(py)?;
    run(py, |_| Session::create(&path, &home).map(drop))
}

/// Creates a copy of the sample project.
#[pyfunction]
pub(crate) fn project_sample(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    run(py, |_| sample::create(&path))
}

/// Returns the project's contents as JSON.
#[pyfunction]
pub(crate) fn project_info(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let info = reading(py, &path, |session, _| info::read(&session.project))?;
    json(py, &info)
}

#[pyfunction]
pub(crate) fn project_texts(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyList>> {
    let texts = reading(py, &path, |session, _| texts::all(&session.project))?;
    let keys: BTreeSet<String> = texts.iter().flat_map(|text| text.metadata.keys().cloned()).collect();
    let fixed = ["text_id", "text", "group", "split"];
    let mut columns = vec![
        ("text_id".to_owned(), Column::texts(texts.iter().map(|text| text.external_id.clone()))),
        ("text".to_owned(), Column::texts(texts.iter().map(|text| text.body.clone()))),
        ("group".to_owned(), Column::Names(texts.iter().map(|text| text.group.clone()).collect())),
        ("split".to_owned(), Column::Names(texts.iter().map(|text| text.split.clone()).collect())),
    ];
    for key in keys {
        let values = Column::Names(texts.iter().map(|text| text.metadata.get(&key).cloned()).collect());
        let name = if fixed.contains(&key.as_str()) { format!("metadata.{key}") } else { key };
        columns.push((name, values));
    }
    into_python(py, columns)
}

#[pyfunction]
pub(crate) fn project_labels<'py>(
    py: Python<'py>,
    path: PathBuf,
    question: Option<String>,
) -> PyResult<Bound<'py, PyList>> {
    let rows = reading(py, &path, |session, _| labels::list(&session.project, question.as_deref()))?;
    // A missing number becomes NaN.
    let confidence = rows.iter().map(|row| row.confidence.map_or(f32::NAN, f32::from)).collect();
    let consent =
        rows.iter().map(|row| row.consent_version.map_or(f32::NAN, |number| number as f32)).collect();
    let columns = vec![
        ("text_id".to_owned(), Column::names(rows.iter().map(|row| row.text_id.clone()))),
        ("annotator_id".to_owned(), Column::names(rows.iter().map(|row| row.annotator_id.clone()))),
        ("question".to_owned(), Column::names(rows.iter().map(|row| row.question.clone()))),
        ("label".to_owned(), Column::Names(rows.iter().map(|row| row.label.clone()).collect())),
        ("time".to_owned(), Column::Whole(rows.iter().map(|row| row.at_ms).collect())),
        ("source".to_owned(), Column::names(rows.iter().map(|row| row.source.to_owned()))),
        ("note".to_owned(), Column::Names(rows.iter().map(|row| row.note.clone()).collect())),
        ("confidence".to_owned(), Column::Real(confidence)),
        ("consent_version".to_owned(), Column::Real(consent)),
    ];
    into_python(py, columns)
}

#[pyfunction]
pub(crate) fn project_annotators(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyList>> {
    let people = reading(py, &path, |session, _| annotators::list(&session.project))?;
    let keys: BTreeSet<String> = people.iter().flat_map(|one| one.attributes.keys().cloned()).collect();
    let fixed = ["annotator_id", "name", "labels", "simulated"];
    let mut columns = vec![
        ("annotator_id".to_owned(), Column::texts(people.iter().map(|one| one.external_id.clone()))),
        ("name".to_owned(), Column::texts(people.iter().map(|one| one.name.clone()))),
        ("labels".to_owned(), Column::Whole(people.iter().map(|one| one.labels.into()).collect())),
        ("simulated".to_owned(), Column::Flag(people.iter().map(|one| one.simulated).collect())),
    ];
    for key in keys {
        let values = Column::Names(people.iter().map(|one| one.attributes.get(&key).cloned()).collect());
        let name = if fixed.contains(&key.as_str()) { format!("attribute.{key}") } else { key };
        columns.push((name, values));
    }
    into_python(py, columns)
}

/// Predicts every annotator's answer to every text with the live model.
#[pyfunction]
pub(crate) fn project_predictions(
    py: Python<'_>,
    path: PathBuf,
    question: Option<String>,
    annotators: Vec<String>,
) -> PyResult<Bound<'_, PyList>> {
    let choices = PredictionChoices { question, annotators, replace: false };
    let found = reading(py, &path, |session, progress| {
        make_live(session, choices.question.as_deref(), progress)?;
        predicted::predict(&session.analysis, &choices, progress)
    })?;
    into_python(py, rows(found.text_ids, found.predicted, Some(found.observed)))
}

/// Ensures that every text has its embedding, and fits the question's model.
fn make_live(session: &Session, question: Option<&str>, progress: &Stop) -> Result<(), ProjectError> {
    let question = questions::find(&session.project, question)?;
    session.encoding.ensure_encoded(&Default::default(), progress)?;
    session.live.fit(question.id, progress)
}

/// Ranks all texts by predicted disagreement, highest first.
#[pyfunction]
pub(crate) fn project_disagreement(
    py: Python<'_>,
    path: PathBuf,
    question: Option<String>,
    by: String,
) -> PyResult<Bound<'_, PyList>> {
    let by: DisagreementMeasure = serde_json::from_value(serde_json::Value::String(by.replace('-', "_")))
        .map_err(|error| with_code(py, "measure", &format!("there is no measure \"{by}\": {error}"), None))?;
    let (rows, levels) = reading(py, &path, |session, progress| {
        make_live(session, question.as_deref(), progress)?;
        let question = questions::find(&session.project, question.as_deref())?;
        let query = DisagreementQuery {
            question: question.id,
            by,
            cut: None,
            groups: None,
            search: None,
            attributes: Default::default(),
            labelled_only: false,
        };
        let ranking = ranking::rank(&session.analysis, &query)?;
        Ok((ranking::read_rows(&session.analysis, &query, &ranking.texts)?, question.scale.levels().to_vec()))
    })?;
    let real = |of: &dyn Fn(&DisagreementRow) -> Option<f32>| {
        Column::Real(rows.iter().map(|row| of(row).unwrap_or(f32::NAN)).collect())
    };
    let score =
        |of: &dyn Fn(&DisagreementScores) -> Option<f32>| real(&|row| row.scores.as_ref().and_then(of));
    let mut columns = vec![
        ("text_id".to_owned(), Column::texts(rows.iter().map(|row| row.external_id.clone()))),
        ("rank".to_owned(), Column::Whole(rows.iter().map(|row| row.rank.into()).collect())),
        ("rank_first".to_owned(), Column::Whole(rows.iter().map(|row| row.band.0.into()).collect())),
        ("rank_last".to_owned(), Column::Whole(rows.iter().map(|row| row.band.1.into()).collect())),
        ("value".to_owned(), real(&|row| Some(row.value))),
        ("low".to_owned(), real(&|row| row.interval.map(|(low, _)| low))),
        ("high".to_owned(), real(&|row| row.interval.map(|(_, high)| high))),
        ("split".to_owned(), score(&|scores| Some(scores.split))),
        ("pairwise".to_owned(), score(&|scores| Some(scores.pairwise))),
        ("between".to_owned(), score(&|scores| Some(scores.between))),
        ("divergence".to_owned(), score(&|scores| Some(scores.divergence))),
        ("uncertainty".to_owned(), score(&|scores| Some(scores.uncertainty))),
        ("far_apart".to_owned(), score(&|scores| scores.far_apart)),
        ("mean_level".to_owned(), score(&|scores| scores.mean_level)),
        ("observed_split".to_owned(), real(&|row| row.observed_split)),
        ("observed_pairwise".to_owned(), real(&|row| row.observed_pairwise)),
    ];
    for (at, level) in levels.iter().enumerate() {
        columns.push((format!("p_{level}"), real(&|row| row.distribution.get(at).copied())));
        let observed = rows.iter().map(|row| row.observed.get(at).copied().unwrap_or(0).into()).collect();
        columns.push((format!("n_{level}"), Column::Whole(observed)));
    }
    into_python(py, columns)
}

/// Returns the ids of the texts, their embeddings (texts x dim) and the key of the encoder version.
#[pyfunction]
pub(crate) fn project_embeddings(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Vec<String>, Bound<'_, PyArray2<f32>>, String)> {
    let (ids, vectors, key) = reading(py, &path, |session, _| {
        let (vectors, key) = session.encoding.vectors()?;
        let texts = texts::all(&session.project)?;
        let ids: Vec<String> = texts.into_iter().take(vectors.texts).map(|text| text.external_id).collect();
        Ok((ids, vectors, key))
    })?;
    let (texts, dim) = (vectors.texts, vectors.dim);
    let rows = Arc::try_unwrap(vectors).map_or_else(|shared| shared.rows.clone(), |own| own.rows);
    Ok((ids, PyArray1::from_vec(py, rows).reshape([texts, dim])?, key))
}

/// Computes an embedding for every text; returns the result as JSON.
#[pyfunction]
pub(crate) fn project_encode(
    py: Python<'_>,
    path: PathBuf,
    asked: EncoderRequest,
    wait: f64,
) -> PyResult<String> {
    let choice = choice(py, asked)?;
    let done = writing(py, &path, wait, |session, progress| session.encoding.encode(&choice, progress))?;
    json(py, &done)
}

/// Records one label, as the command does; it is on disk when this returns.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a label and its details")]
pub(crate) fn project_label(
    py: Python<'_>,
    path: PathBuf,
    annotator: &str,
    text: &str,
    value: &str,
    question: Option<&str>,
    occasion: u16,
    note: (Option<String>, Vec<String>, Option<u8>),
    wait: f64,
) -> PyResult<String> {
    let (note, reasons, confidence) = note;
    let note = Note { note, reasons, confidence };
    let recorded = writing(py, &path, wait, |session, _| {
        let request = LabelByName { occasion, note, ..LabelByName::new(annotator, text, value, question) };
        by_name::record(&session.labelling, &request)
    })?;
    json(py, &recorded)
}

/// Parses choices from JSON; omitted columns keep their defaults.
fn import_choices(py: Python<'_>, choices: &str) -> PyResult<ImportChoices> {
    let read = || -> Result<ImportChoices, serde_json::Error> {
        let mut choices: serde_json::Value = serde_json::from_str(choices)?;
        let columns =
            choices.get_mut("columns").map(serde_json::Value::take).filter(|columns| !columns.is_null());
        let columns = columns.map(ColumnChoices::from_json).transpose()?;
        Ok(ImportChoices { columns, ..serde_json::from_value(choices)? })
    };
    read().map_err(|error| with_code(py, "import-choices", &error.to_string(), None))
}

/// Imports a file, completely or not at all; `choices` is JSON.
#[pyfunction]
pub(crate) fn project_import(
    py: Python<'_>,
    path: PathBuf,
    file: PathBuf,
    choices: &str,
    wait: f64,
) -> PyResult<String> {
    let choices = import_choices(py, choices)?;
    let report = writing(py, &path, wait, |session, stop| {
        let progress: Arc<dyn Progress> = Arc::new(stop.clone());
        exchange::import(&session.exchange, &file, &choices, Some(&progress))
    })?;
    json(py, &report)
}

/// Returns what importing a file would do, as JSON; writes nothing.
#[pyfunction]
pub(crate) fn project_import_preview(
    py: Python<'_>,
    path: PathBuf,
    file: PathBuf,
    choices: &str,
) -> PyResult<String> {
    let choices = import_choices(py, choices)?;
    let preview = reading(py, &path, |session, _| exchange::preview(&session.exchange, &file, &choices))?;
    json(py, &preview)
}

/// Writes models into a folder that predicts without the project; returns what was written as JSON.
#[pyfunction]
pub(crate) fn project_bundle(
    py: Python<'_>,
    path: PathBuf,
    dir: PathBuf,
    questions: Vec<String>,
    runs: Vec<u32>,
    with_ids: bool,
    replace: bool,
) -> PyResult<String> {
    let choices = BundleChoices { questions, runs, with_ids, replace };
    let (written, _) = reading(py, &path, |session, progress| {
        session.bundles.write(&choices, &dir, &Default::default(), progress)
    })?;
    json(py, &written)
}
