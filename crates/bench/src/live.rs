//! End-to-end latency of one label: commit to disk, refit of the annotator, predictions and ranking up to
//! date.

use crate::error::BenchError;
use crate::figures::quantile_ms;
use dissensus_analysis::multi_label;
use dissensus_analysis::ranking;
use dissensus_api::{DisagreementMeasure, DisagreementQuery, NewLabel};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, Answer, LabelSource, OptionSet, QuestionId, Scale, ScaleKind, TextId};
use dissensus_editing::questions;
use dissensus_labelling::record;
use dissensus_project::home::Home;
use dissensus_project::jobs::Silent;
use dissensus_stats::data::synthetic::{Simulation, simulate_consistency};
use dissensus_store::{NewAnnotator, NewQuestion, NewText, Store, StoreError};
use dissensus_training::encoding::adopt_embeddings;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

const DIM: usize = 384;
/// Number of texts shown of the ranking for a multi-label question.
const SHOWN: usize = 20;
const LABELS_AN_ANNOTATOR: usize = 50;
/// Standard deviation of the log discriminations of simulated annotators; not zero, so that the model has a
/// discrimination to update for each annotator.
const DISCRIMINATION_SD: f64 = 0.5;

/// Size of the simulated project, and number of labels to record.
#[derive(Clone, Copy, Debug)]
pub struct LiveSize {
    pub texts: usize,
    /// Number of annotators; each has 50 labels already.
    pub annotators: usize,
    /// Number of levels of the scale.
    pub levels: usize,
    /// Number of options, for a multi-label question instead of a scale with levels.
    pub options: Option<u8>,
    /// Number of labels to record.
    pub clicks: usize,
}

/// Latency of a label. Times exclude the disk sync, which is reported separately.
#[derive(Clone, Debug, Serialize)]
pub struct LiveBench {
    pub texts: usize,
    pub annotators: usize,
    pub levels: usize,
    /// Number of options of a multi-label question.
    pub options: Option<u8>,
    /// Number of labels recorded.
    pub clicks: usize,
    /// Median latency of a label: recorded, model updated, all texts ranked.
    pub median_ms: f64,
    /// 99th percentile of the same.
    pub p99_ms: f64,
    /// Median of the commit that waits for the disk.
    pub sync_median_ms: f64,
    /// 99th percentile of the same.
    pub sync_p99_ms: f64,
    /// Part of `median_ms` for recording and updating the model.
    pub learn_median_ms: f64,
    /// Part of `p99_ms` for recording and updating the model.
    pub learn_p99_ms: f64,
    /// Part of `median_ms` for ranking all texts in the default order.
    pub ranking_median_ms: f64,
    /// Part of `p99_ms` for ranking all texts.
    pub ranking_p99_ms: f64,
    /// Seconds of the first fit, before any label is recorded.
    pub fit_seconds: f64,
    /// Standard deviation of annotators' log discriminations, if the model has found that they differ.
    pub discrimination_sd: Option<f64>,
}

/// Records labels in a simulated project, each by the next annotator on a text that is new to that annotator.
///
/// # Errors
/// Fails if the disk does, or if the sizes do not make a valid project.
pub fn live(size: LiveSize) -> Result<LiveBench, BenchError> {
    let folder = tempfile::tempdir().map_err(BenchError::io("making a folder in", std::env::temp_dir()))?;
    let path = folder.path().join("live.dissensus");
    let sim = simulate_consistency(
        size.texts,
        size.annotators,
        size.levels,
        DIM,
        LABELS_AN_ANNOTATOR,
        DISCRIMINATION_SD,
        1,
    );
    make_project(&path, &sim, size)?;
    let session = Session::open(&path, &Home::inside(folder.path(), Vec::new()))?;
    let asked = questions::find(&session.project, None)?;
    let question = asked.id;
    let started = Instant::now();
    session.live.fit(question, &Silent)?;
    let fit_seconds = started.elapsed().as_secs_f64();
    let discrimination_sd = session.live.estimation(question)?.and_then(|found| found.discrimination_sd);
    let query = DisagreementQuery {
        question,
        by: DisagreementMeasure::default(),
        cut: None,
        groups: None,
        search: None,
        attributes: Default::default(),
        labelled_only: false,
    };
    let (mut whole, mut syncs, mut learning, mut rankings) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for click in 0..size.clicks {
        let new = next_label(question, click, size);
        let started = Instant::now();
        let recorded = record::record_label(&session.labelling, &new)?;
        let learned = started.elapsed().saturating_sub(recorded.sync);
        let ranking = Instant::now();
        let texts = match size.options {
            Some(_) => multi_label::rank(&session.analysis, &asked, SHOWN, None)?.1,
            None => ranking::rank(&session.analysis, &query)?.texts.len(),
        };
        let ranked = ranking.elapsed();
        debug_assert_eq!(texts, size.texts);
        whole.push(learned + ranked);
        syncs.push(recorded.sync);
        learning.push(learned);
        rankings.push(ranked);
    }
    session.close();
    let of = |times: &mut Vec<Duration>| (quantile_ms(times, 0.5), quantile_ms(times, 0.99));
    let ((median_ms, p99_ms), (sync_median_ms, sync_p99_ms)) = (of(&mut whole), of(&mut syncs));
    let ((learn_median_ms, learn_p99_ms), (ranking_median_ms, ranking_p99_ms)) =
        (of(&mut learning), of(&mut rankings));
    Ok(LiveBench {
        texts: size.texts,
        annotators: size.annotators,
        levels: size.levels,
        options: size.options,
        clicks: size.clicks,
        median_ms,
        p99_ms,
        sync_median_ms,
        sync_p99_ms,
        learn_median_ms,
        learn_p99_ms,
        ranking_median_ms,
        ranking_p99_ms,
        fit_seconds,
        discrimination_sd,
    })
}

/// The next label, by each annotator in turn; strides without a common factor with usual sizes spread the
/// texts.
fn next_label(question: QuestionId, click: usize, size: LiveSize) -> NewLabel {
    NewLabel {
        question,
        annotator: AnnotatorId((click % size.annotators) as u32 + 1),
        text: TextId(((click * 7_919 + 13) % size.texts) as u32 + 1),
        answer: match size.options {
            Some(options) => some_options(click % size.levels, click, options),
            None => Answer::from_level(((click * 31) % size.levels) as u16),
        },
        duration_ms: Some(1_500),
    }
}

/// Options for a level: the higher the level, the more options. Each option is included from a certain level
/// on, and one in eight is flipped.
fn some_options(level: usize, nth: usize, options: u8) -> Answer {
    let mixed = |option: usize| (nth * 64 + option).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61 == 0;
    let has = |option: usize| (level > option % 4) != mixed(option);
    let bits =
        (0..usize::from(options)).filter(|option| has(*option)).fold(0, |bits, option| bits | 1 << option);
    Answer::Options(OptionSet::from_bits(bits))
}

fn make_project(path: &Path, sim: &Simulation, size: LiveSize) -> Result<(), BenchError> {
    let store = Store::create(path)?;
    let (kind, names) = match size.options {
        Some(options) => (ScaleKind::MultiLabel, usize::from(options)),
        None if size.levels == 2 => (ScaleKind::Binary, 2),
        None => (ScaleKind::Ordinal, size.levels),
    };
    let scale = Scale::new(kind, (1..=names).map(|level| level.to_string()))?;
    let observations = sim.observations.clone();
    store.write(move |tx| {
        let prompt = "Made up for a benchmark".to_owned();
        let question = tx.add_question(&NewQuestion { name: "made-up".into(), prompt, scale })?;
        let mut texts = Vec::with_capacity(size.texts);
        for text in 0..size.texts {
            let (external_id, body) = (format!("t{text}"), format!("made-up text {text}"));
            texts.push(tx.add_text(&NewText { external_id, body, ..NewText::default() })?);
        }
        let mut annotators = Vec::with_capacity(size.annotators);
        for annotator in 0..size.annotators {
            let name = format!("a{annotator}");
            let new =
                NewAnnotator { external_id: name.clone(), name, simulated: true, ..NewAnnotator::default() };
            annotators.push(tx.add_annotator(&new)?);
        }
        for o in &observations {
            tx.add_label(&dissensus_store::NewLabel {
                question,
                text: texts[o.text as usize],
                annotator: annotators[o.annotator as usize],
                answer: match size.options {
                    Some(options) => {
                        some_options(o.level.into(), (o.text * 31 + o.annotator) as usize, options)
                    }
                    None => Answer::from_level(o.level),
                },
                at_ms: 0,
                duration_ms: None,
                source: LabelSource::Simulated,
            })?;
        }
        Ok::<(), StoreError>(())
    })?;
    let rows = (0..size.texts).map(|text| (TextId(text as u32 + 1), sim.embeddings.row(text).to_vec()));
    adopt_embeddings(&store, "synthetic", DIM, rows)?;
    Ok(store.close()?)
}
