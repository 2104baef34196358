//! Scores of every text by the models of several questions: including what its labels taught, and without.

use crate::Analysis;
use crate::correlated_scores::{Column, QuestionScores, ScoredTexts};
use dissensus_domain::{Question, TargetKind};
use dissensus_project::context::QuestionData;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{TextFolds, cross_fitted};
use dissensus_stats::data::{AnnotatorModel as _, Embeddings, FitOptions, TrainingData};
use dissensus_training::encoding::Basis;
use std::collections::HashSet;

/// Number of folds of the labelled texts.
pub(super) const FOLDS: u8 = 5;

/// Part of a longer work.
struct Part<'a> {
    progress: &'a dyn Progress,
    nth: u64,
    all: u64,
    name: &'a str,
}

impl Progress for Part<'_> {
    fn report(&self, done: u64, total: Option<u64>, _: &str) {
        let share = total.map_or(0, |total| (100 * done / total.max(1)).min(100));
        self.progress.report(self.nth * 100 + share, Some(self.all * 100), self.name);
    }
    fn cancelled(&self) -> bool {
        self.progress.cancelled()
    }
}

/// Clusters of texts of one group, or with one body, by number.
pub(super) fn clusters_of(data: &QuestionData) -> Vec<u32> {
    let groups = data.groups.iter().flatten().max().map_or(0, |last| last + 1);
    data.groups.iter().zip(&data.copies).map(|(group, first)| group.unwrap_or(groups + first)).collect()
}

/// `marked`, and every copy of a marked text.
pub(super) fn with_copies(marked: &[bool], first_with_body: &[u32]) -> Vec<bool> {
    let bodies: HashSet<u32> =
        first_with_body.iter().zip(marked).filter(|(_, marked)| **marked).map(|(first, _)| *first).collect();
    first_with_body.iter().map(|first| bodies.contains(first)).collect()
}

/// Scores by the live models; the labelled texts are scored anew in folds that all questions share.
pub(super) fn live_scores(
    cx: &Analysis,
    questions: &[Question],
    progress: &dyn Progress,
) -> Result<ScoredTexts, ProjectError> {
    let mut all: Vec<QuestionData> = Vec::new();
    for question in questions {
        all.push(cx.context.question_data(question)?);
    }
    let (embeddings, basis) = cx.encoding.embeddings()?;
    let Some(first) = all.first() else { return Err(ProjectError::NoQuestion) };
    let same = |data: &QuestionData| data.texts == first.texts && data.annotators == first.annotators;
    if !all.iter().all(same) || embeddings.texts != first.texts.len() {
        // An import took place between two of them.
        return Err(ProjectError::Busy("import"));
    }
    let (clusters, copies) = (clusters_of(first), first.copies.clone());
    let mut labelled = vec![false; first.texts.len()];
    all.iter().flat_map(|data| &data.observations).for_each(|o| labelled[o.text as usize] = true);
    let folds = TextFolds::new(&labelled, &clusters, &copies, FOLDS, 0);
    let seen = cx.encoding.seen_by(basis.version.as_deref(), &cx.context.index())?;
    let mut taught_encoder = seen.rows().texts.to_vec();
    taught_encoder.resize(first.texts.len(), false);
    let mut scored = Vec::new();
    for (nth, data) in all.iter().enumerate() {
        let (nth, count) = (nth as u64, all.len() as u64);
        let part = Part { progress, nth, all: count, name: &data.question.name };
        scored.push(live_score(cx, data, &embeddings, &basis, &folds, &part)?);
    }
    let fold_of = |text: u32| folds.of(text).unwrap_or(folds.folds());
    Ok(ScoredTexts {
        scored,
        strata: (0..labelled.len() as u32).map(|text| u16::from(fold_of(text))).collect(),
        taught_encoder: with_copies(&taught_encoder, &copies),
        first_with_body: copies,
        clusters,
        annotators: first.annotators.len(),
        folds: Some(FOLDS),
    })
}

fn live_score(
    cx: &Analysis,
    data: &QuestionData,
    embeddings: &Embeddings,
    basis: &Basis,
    folds: &TextFolds,
    progress: &Part<'_>,
) -> Result<QuestionScores, ProjectError> {
    let texts = data.texts.len();
    cx.live.fit(data.question.id, progress)?;
    let read = cx.live.with(&data.question, |fitted| {
        let model = &fitted.model;
        let of = |text: u32| model.mean_distribution(text).into_iter().map(f64::from);
        let scores: Vec<f64> = (0..texts.min(model.texts()) as u32).flat_map(of).collect();
        let learned: Vec<bool> =
            (0..texts.min(model.texts()) as u32).map(|text| model.labels_on(text, None) > 0).collect();
        (fitted.basis == *basis && learned.len() == texts).then_some((scores, learned))
    })?;
    // Another encoder was activated, or everything was dropped by an import.
    let (as_learned, learned) = read.flatten().ok_or(ProjectError::Busy("import"))?;
    let learned = with_copies(&learned, &data.copies);
    let target = data.target();
    let training = TrainingData { target, ..data.data(embeddings) };
    let mut held_out = cross_fitted(&training, folds, &FitOptions::default(), progress)?;
    let levels = target.levels;
    for (text, learned) in learned.iter().enumerate() {
        // Labels that were recorded after the labels were read trained the live model, but are in no
        // fold.
        if folds.of(text as u32).is_none() && !learned {
            let row = text * levels..(text + 1) * levels;
            held_out[row.clone()].copy_from_slice(&as_learned[row]);
        }
    }
    Ok(QuestionScores { question: data.question.clone(), run: None, as_learned, held_out, learned })
}

/// The scores of a question: the mean level, the probability of yes, or for a choice question the
/// probability of each level.
pub(super) fn columns(of: usize, scored: &QuestionScores) -> Vec<Column> {
    let scale = &scored.question.scale;
    let (levels, name) = (scale.levels(), &scored.question.name);
    let column = |name: String, score: String, range: (f64, f64), weights: Vec<f64>| {
        let of_row = |row: &[f64]| row.iter().zip(&weights).map(|(p, w)| p * w).sum::<f64>();
        let all = |p: &[f64]| p.chunks_exact(levels.len()).map(of_row).collect::<Vec<f64>>();
        let (as_learned, held_out) = (all(&scored.as_learned), all(&scored.held_out));
        Column { name, score, range, of, as_learned, held_out }
    };
    let only = |level: usize| (0..levels.len()).map(|k| f64::from(u8::from(k == level))).collect::<Vec<_>>();
    match scale.target() {
        TargetKind::Ordinal => {
            let (first, last) =
                (levels.first().map_or("", String::as_str), levels.last().map_or("", String::as_str));
            let score = format!("mean level, 1 ({first}) to {} ({last})", levels.len());
            let weights = (1..=levels.len()).map(|level| level as f64).collect();
            vec![column(name.clone(), score, (1.0, levels.len() as f64), weights)]
        }
        TargetKind::Binary => {
            let score = format!("probability of {}", levels.last().map_or("", String::as_str));
            vec![column(name.clone(), score, (0.0, 1.0), only(levels.len() - 1))]
        }
        TargetKind::Nominal => (0..levels.len())
            .map(|level| {
                let score = format!("probability of {}", levels[level]);
                column(format!("{name} = {}", levels[level]), score, (0.0, 1.0), only(level))
            })
            .collect(),
    }
}
