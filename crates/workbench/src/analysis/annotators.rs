//! Annotators among each other: how much they agree, how well each is predicted, and who judges like whom.

use crate::core::Core;
use crate::encoding::Seen;
use crate::error::WorkbenchError;
use crate::jobs::Unwatched;
use crate::live::{Steps, cancelled};
use crate::session::Session;
use crate::sync::lock;
use crate::view::{AnnotatorReport, AnnotatorRow};
use dissensus_domain::{QuestionId, ScaleKind};
use dissensus_perspectives::{
    Alphas, AnnotatorMap, FitOptions, HeldOut, Observation, Severity, Target, TrainingData, agreement,
    annotator_map, held_out,
};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;

/// Held-out figures are measured anew after so many changes, or a twentieth of the labels, whichever is more.
const MEASURE_AFTER: usize = 20;
/// So many people with labels make a map.
const MAP_FROM: usize = 3;

/// How much the annotators of a question agree.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// The question.
    pub question: String,
    /// Krippendorff's alpha; none with fewer than two labels on any text, or one level only.
    pub alpha: Option<f64>,
    /// The difference function alpha used: `nominal` or `ordinal`.
    pub metric: &'static str,
    /// Share of pairs of labels on one text that are equal.
    pub pairwise_agreement: Option<f64>,
    /// Labels.
    pub labels: u32,
    /// Texts with a label.
    pub texts: u32,
    /// Annotators with a label.
    pub annotators: u32,
}

/// Held-out results of everyone, and the labels they were measured on.
pub(crate) struct Measured {
    labels: usize,
    annotators: usize,
    /// The encoder version of the embeddings.
    encoder: Option<String>,
    results: Vec<HeldOut>,
    /// Labelled texts that were not scored, because the encoder was tuned on them.
    left_out: usize,
}

impl Session {
    /// How much the annotators of a question agree.
    ///
    /// # Errors
    /// No such question, or the file cannot be read.
    pub fn agreement(&self, question: QuestionId) -> Result<Agreement, WorkbenchError> {
        let (name, target) = self.core.question_parts(question)?;
        let labels = self.core.observations(question)?;
        let (texts, annotators) = self.core.sizes();
        let found = agreement(&labels, texts, annotators, target)?;
        let distinct =
            |of: fn(&Observation) -> u32| labels.iter().map(of).collect::<HashSet<_>>().len() as u32;
        Ok(Agreement {
            question: name,
            alpha: alpha(&found.all, target.kind),
            metric: metric(target.kind),
            pairwise_agreement: found.pairwise,
            labels: labels.len() as u32,
            texts: distinct(|o| o.text),
            annotators: distinct(|o| o.annotator),
        })
    }

    /// Every annotator with level use, severity, agreement, held-out accuracy and place on the map. Takes seconds the first time,
    /// because models are fitted to measure how well people are predicted.
    ///
    /// # Errors
    /// No such question, or the file cannot be read.
    pub fn annotator_report(&self, question: QuestionId) -> Result<AnnotatorReport, WorkbenchError> {
        let core = &self.core;
        let (_, target) = core.question_parts(question)?;
        let labels = core.observations(question)?;
        let (texts, people) = core.sizes();
        let agreed = agreement(&labels, texts, people, target)?;
        let ordered = target.kind.is_ordered();
        let live: Option<(Vec<Option<Severity>>, AnnotatorMap)> = core.live.with(question, |fitted| {
            let severities = (0..people as u32).map(|row| fitted.model.severity(row)).collect();
            (severities, annotator_map(&fitted.model, ordered))
        });
        let (measured, left_out) = core.measured(question, &labels, target)?;
        let mut counts = vec![vec![0_u32; target.levels]; people];
        labels.iter().for_each(|o| counts[o.annotator as usize][usize::from(o.level)] += 1);
        // Two points lie on a line whatever they judge.
        let judges = counts.iter().filter(|counts| counts.iter().any(|n| *n > 0)).count();
        let map = live.as_ref().map(|(_, map)| map).filter(|_| judges >= MAP_FROM);
        let row = |(at, annotator): (usize, &dissensus_domain::Annotator)| {
            let severity = live.as_ref().and_then(|(all, _)| *all.get(at)?);
            let point = map.and_then(|map| map.points.get(at).copied());
            let result = measured.get(at).copied().unwrap_or_default();
            AnnotatorRow {
                id: annotator.id,
                external_id: annotator.external_id.clone(),
                name: annotator.name.clone(),
                attributes: annotator.attributes.clone(),
                simulated: annotator.simulated,
                labels: counts[at].iter().sum(),
                level_counts: counts[at].clone(),
                alpha_without: agreed.annotators.get(at).and_then(|a| alpha(&a.without, target.kind)),
                severity: severity.map(|s| s.mean as f32),
                severity_sd: severity.map(|s| s.sd as f32),
                held_out_accuracy: result.accuracy().map(|share| share as f32),
                baseline_accuracy: result.baseline().map(|share| share as f32),
                held_out_labels: result.labels as u32,
                x: point.map(|[x, _]| x),
                y: point.map(|[_, y]| y),
            }
        };
        let index = core.index();
        Ok(AnnotatorReport {
            question,
            annotators: index.annotators().iter().take(people).enumerate().map(row).collect(),
            alpha: alpha(&agreed.all, target.kind),
            alpha_metric: metric(target.kind).to_owned(),
            map_share: map.map(|map| (map.explained[0] + map.explained[1]) as f32),
            remark: match live {
                None => Some("The annotator models are being fitted: severity and map follow.".to_owned()),
                Some(_) => Seen::note(left_out),
            },
        })
    }
}

impl Core {
    pub(crate) fn question_parts(&self, question: QuestionId) -> Result<(String, Target), WorkbenchError> {
        let index = self.index();
        let found = index.question(question).ok_or(WorkbenchError::NoQuestion)?;
        Ok((found.name.clone(), Target { kind: found.scale.kind(), levels: found.scale.len() }))
    }

    /// Texts and annotators.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        let index = self.index();
        (index.texts().len(), index.annotators().len())
    }

    /// How well everyone is predicted on texts held out; from memory while little has changed.
    fn measured(
        &self,
        question: QuestionId,
        labels: &[Observation],
        target: Target,
    ) -> Result<(Vec<HeldOut>, usize), WorkbenchError> {
        let (embeddings, encoder) = self.embeddings()?;
        let annotators = self.sizes().1;
        let gate = Arc::clone(lock(&self.live.measuring).entry(question).or_default());
        let _gate = lock(&gate);
        self.fail_here("measure");
        if let Some(kept) = lock(&self.live.measured).get(&question) {
            let changed = labels.len().abs_diff(kept.labels);
            let same = kept.annotators == annotators && kept.encoder == encoder;
            if same && changed < MEASURE_AFTER.max(kept.labels / 20) {
                return Ok((kept.results.clone(), kept.left_out));
            }
        }
        let seen = self.seen_by(encoder.as_deref(), &self.index())?;
        let seen_texts = seen.rows().texts;
        let left_out: HashSet<u32> =
            labels.iter().map(|o| o.text).filter(|t| seen_texts.get(*t as usize) == Some(&true)).collect();
        let left_out = left_out.len();
        let data = TrainingData {
            embeddings: &embeddings,
            observations: labels,
            annotators,
            target,
            attributes: &[],
        };
        let results = match labels.len() {
            0 | 1 => vec![HeldOut::default(); annotators],
            _ => held_out(&data, seen.rows(), &FitOptions::default(), &mut Steps(&Unwatched))
                .map_err(cancelled)?,
        };
        lock(&self.live.measured).insert(
            question,
            Measured { labels: labels.len(), annotators, encoder, results: results.clone(), left_out },
        );
        Ok((results, left_out))
    }
}

/// Alpha under the difference that fits the scale.
fn alpha(alphas: &Alphas, kind: ScaleKind) -> Option<f64> {
    match kind {
        ScaleKind::Ordinal => alphas.ordinal,
        ScaleKind::Binary | ScaleKind::Choice | ScaleKind::MultiChoice => alphas.nominal,
    }
}

fn metric(kind: ScaleKind) -> &'static str {
    match kind {
        ScaleKind::Ordinal => "ordinal",
        ScaleKind::Binary | ScaleKind::Choice | ScaleKind::MultiChoice => "nominal",
    }
}
