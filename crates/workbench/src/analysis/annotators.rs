//! Annotators among each other: how well each is predicted, and who judges like whom.

use super::Analysis;
use super::agreement::{alpha, metric};
use crate::encoding::Seen;
use crate::error::WorkbenchError;
use crate::jobs::{Progress, Silent};
use crate::view::{AnnotatorReport, AnnotatorRow, Estimation};
use dissensus_domain::{Annotator, QuestionId};
use dissensus_perspectives::{AnnotatorMap, HeldOut, Severity, agreement, annotator_map};
use std::sync::Arc;

/// So many people with labels make a map.
const MAP_FROM: usize = 3;

impl Analysis {
    /// Every annotator with level use, severity, agreement, held-out accuracy and place on the map. Takes seconds the first time,
    /// because models are fitted to measure how well people are predicted.
    ///
    /// # Errors
    /// No such question, or the file cannot be read.
    pub fn annotator_report(&self, question: QuestionId) -> Result<AnnotatorReport, WorkbenchError> {
        self.report(question, Some(&Silent))
    }

    /// As [`Analysis::annotator_report`], at once: with the held-out accuracy only where it is known.
    ///
    /// # Errors
    /// As there.
    pub fn annotators_so_far(&self, question: QuestionId) -> Result<AnnotatorReport, WorkbenchError> {
        self.report(question, None)
    }

    /// Measures the held-out accuracy that [`Analysis::annotators_so_far`] lacks, as a job in the background. Returns the job's id; that
    /// of the one at work where there is one for the same labels.
    ///
    /// # Errors
    /// The job cannot begin.
    pub fn measure_annotators_as_job(&self, question: QuestionId) -> Result<u32, WorkbenchError> {
        const KIND: &str = "evaluate";
        let context = &self.context;
        let begin = || context.begin_job(KIND, "accuracy for each annotator");
        let (id, job) = self.measurements.one_job(question, self.live.models.generation(), begin)?;
        let Some(job) = job else { return Ok(id) };
        let (analysis, at_work) = (self.clone(), Arc::clone(&job));
        let spawned = context.threads.spawn("measure", move || {
            let measured = analysis.context.finish_job(KIND, &at_work, |job| {
                let result = analysis.measure_annotators(question, job.as_ref());
                // Before it is told: who hears of the end may want the next one.
                analysis.measurements.job_ended(question, id);
                result
            });
            // After a panic too.
            analysis.measurements.job_ended(question, id);
            // Its error is told by the job.
            drop(measured);
        });
        if let Err(error) = spawned {
            self.measurements.job_ended(question, id);
            let ended: Result<(), _> = Err(error);
            context.end_job(&job, &ended);
            ended?;
        }
        Ok(id)
    }

    fn measure_annotators(
        &self,
        question: QuestionId,
        progress: &dyn Progress,
    ) -> Result<(), WorkbenchError> {
        let generation = self.live.models.generation();
        let (_, target) = self.context.question_parts(question)?;
        let labels = self.context.observations(question)?;
        self.measure_held_out(generation, question, &labels, target, progress).map(drop)
    }

    /// With the held-out accuracy measured where there is a `measure`, else as far as it is known.
    fn report(
        &self,
        question: QuestionId,
        measure: Option<&dyn Progress>,
    ) -> Result<AnnotatorReport, WorkbenchError> {
        let context = &self.context;
        let generation = self.live.models.generation();
        let (_, target) = context.question_parts(question)?;
        let labels = context.observations(question)?;
        let (texts, people) = context.sizes();
        let agreed = agreement(&labels, texts, people, target)?;
        let ordered = target.kind.is_ordered();
        let live: Option<(Vec<Option<Severity>>, AnnotatorMap, Estimation)> =
            self.live.models.with(question, |fitted| {
                let severities = (0..people as u32).map(|row| fitted.model.severity(row)).collect();
                (severities, annotator_map(&fitted.model, ordered), fitted.estimation())
            });
        let known: Option<(Vec<HeldOut>, usize)> = match measure {
            Some(progress) => Some(self.measure_held_out(generation, question, &labels, target, progress)?),
            None => self.known_held_out(generation, question, &labels)?,
        };
        let held_out_measured = known.is_some();
        let (measured, left_out) = known.unwrap_or_default();
        let mut counts = vec![vec![0_u32; target.levels]; people];
        labels.iter().for_each(|o| counts[o.annotator as usize][usize::from(o.level)] += 1);
        // Two points lie on a line whatever they judge.
        let judges = counts.iter().filter(|counts| counts.iter().any(|n| *n > 0)).count();
        let map = live.as_ref().map(|(_, map, _)| map).filter(|_| judges >= MAP_FROM);
        let row = |(at, annotator): (usize, &Annotator)| {
            let severity = live.as_ref().and_then(|(all, ..)| *all.get(at)?);
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
        let index = context.index();
        Ok(AnnotatorReport {
            question,
            annotators: index.annotators().iter().take(people).enumerate().map(row).collect(),
            alpha: alpha(&agreed.all, target.kind),
            alpha_metric: metric(target.kind).to_owned(),
            map_share: map.map(|map| (map.explained[0] + map.explained[1]) as f32),
            remark: live
                .is_none()
                .then(|| "The annotator models are being fitted: severity and map follow.".to_owned()),
            held_out_measured,
            held_out_note: Seen::note(left_out),
            estimation: live.map(|(.., estimation)| estimation),
        })
    }
}
