//! Comparison of annotators: how well each is predicted, and who judges alike.

use super::Analysis;
use super::agreement::{alpha, metric};
use crate::held_out;
use dissensus_api::{AnnotatorFlag, AnnotatorReport, AnnotatorRow, Estimation, Figure};
use dissensus_domain::{Annotator, AnnotatorId, JobKind, QuestionId};
use dissensus_models::mixed::Discrimination;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_project::words::counted;
use dissensus_selection::evaluation::HeldOut;
use dissensus_stats::agreement::agreement;
use dissensus_stats::agreement::{AnnotatorFlag as Flag, Speed, TimedLabel, compare_with_others, speeds};
use dissensus_stats::data::{Severity, Target};
use dissensus_stats::disagreement::{AnnotatorMap, annotator_map};
use dissensus_store::TimedAnswer;
use dissensus_training::encoding::SeenRows;
use std::collections::HashMap;
use std::sync::Arc;

/// Minimum number of people with labels for a map.
const MAP_FROM: usize = 3;

/// The live model's figures for one annotator.
type LiveFigures = (Option<Severity>, Option<Discrimination>);

fn consistency(of: Discrimination) -> Figure {
    Figure { value: of.factor(), interval: Some(of.interval()), p: None }
}

/// Every annotator with level use, severity, agreement, held-out accuracy and position on the map. Takes
/// seconds the first time, because models are fitted to measure how well people are predicted.
///
/// # Errors
/// No such question, or the file cannot be read.
pub fn measure(cx: &Analysis, question: QuestionId) -> Result<AnnotatorReport, ProjectError> {
    report(cx, question, Some(&Silent))
}

/// The report of [`measure`] without waiting: with the held-out accuracy only if it
/// is known.
pub fn report_known(cx: &Analysis, question: QuestionId) -> Result<AnnotatorReport, ProjectError> {
    report(cx, question, None)
}

/// Measures the held-out accuracy that [`report_known`] lacks, as a job in the
/// background. Returns the job's id, or that of a running job for the same labels.
///
/// # Errors
/// The job cannot begin.
pub fn start_measuring(cx: &Analysis, question: QuestionId) -> Result<u32, ProjectError> {
    const KIND: JobKind = JobKind::Evaluate;
    let context = &cx.context;
    let begin = || context.begin_job(KIND, "accuracy for each annotator");
    let (id, job) = cx.measurements.one_job(question, cx.live.models.generation(), begin)?;
    let Some(job) = job else { return Ok(id) };
    let (analysis, at_work) = (cx.clone(), Arc::clone(&job));
    let spawned = context.threads.spawn("measure", move || {
        let measured = analysis.context.finish_job(KIND, &at_work, |job| {
            let result = measure_annotators(&analysis, question, job.as_ref());
            // Before the end is announced, because a listener may request the next job.
            analysis.measurements.job_ended(question, id);
            result
        });
        // Also after a panic.
        analysis.measurements.job_ended(question, id);
        // Its error is reported by the job.
        drop(measured);
    });
    if let Err(error) = spawned {
        cx.measurements.job_ended(question, id);
        let ended: Result<(), _> = Err(error);
        context.end_job(&job, &ended);
        ended?;
    }
    Ok(id)
}

fn measure_annotators(
    cx: &Analysis,
    question: QuestionId,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let generation = cx.live.models.generation();
    let (_, target) = cx.context.question_parts(question)?;
    let labels = cx.context.observations(question)?;
    held_out::measure_held_out(cx, generation, question, &labels, target, progress).map(drop)
}

/// The report, with the held-out accuracy measured if `measure` is given, otherwise as far as it is
/// known.
pub(crate) fn report(
    cx: &Analysis,
    question: QuestionId,
    measure: Option<&dyn Progress>,
) -> Result<AnnotatorReport, ProjectError> {
    let context = &cx.context;
    let generation = cx.live.models.generation();
    let index = context.index();
    let asked = index.with_levels(question)?;
    let target = Target::from_scale(&asked.scale);
    let (texts, people) = (index.texts().len(), index.annotators().len());
    let labels = context.observations_in(&index, texts, question)?;
    let agreed = agreement(&labels, texts, people, target)?;
    let with_others = compare_with_others(&labels, texts, people, target)?;
    let speeds = measure_speeds(cx, question, people)?;
    let levels = asked.scale.levels().to_vec();
    let ordered = target.kind.is_ordered();
    let ordinal = target.kind.has_distances();
    let live: Option<(Vec<LiveFigures>, AnnotatorMap, Estimation)> = cx.live.with(asked, |fitted| {
        let of = |row| (fitted.model.severity(row), fitted.model.discrimination(row));
        let figures = (0..people as u32).map(of).collect();
        (figures, annotator_map(&fitted.model, ordered), fitted.estimation())
    })?;
    let known: Option<(Vec<HeldOut>, usize)> = match measure {
        Some(progress) => {
            Some(held_out::measure_held_out(cx, generation, question, &labels, target, progress)?)
        }
        None => held_out::known_held_out(cx, generation, question, &labels)?,
    };
    let held_out_measured = known.is_some();
    let (measured, left_out) = known.unwrap_or_default();
    let mut counts = vec![vec![0_u32; target.levels]; people];
    labels.iter().for_each(|o| counts[o.annotator as usize][usize::from(o.level)] += 1);
    let mut cannot_say_counts: HashMap<AnnotatorId, u32> = HashMap::new();
    for (_, annotator) in context.store.cannot_say(question)? {
        *cannot_say_counts.entry(annotator).or_default() += 1;
    }
    // Two points are on a line whatever the judgements.
    let judges = counts.iter().filter(|counts| counts.iter().any(|n| *n > 0)).count();
    let map = live.as_ref().map(|(_, map, _)| map).filter(|_| judges >= MAP_FROM);
    let row = |(at, annotator): (usize, &Annotator)| {
        let figures = live.as_ref().and_then(|(all, ..)| all.get(at).copied());
        let (severity, discrimination) = figures.unwrap_or_default();
        let point = map.and_then(|map| map.points.get(at).copied());
        let result = measured.get(at).copied().unwrap_or_default();
        let distance = |sum: usize| result.mean_distance(sum).filter(|_| ordinal).map(|d| d as f32);
        let with_others = with_others.get(at).cloned().unwrap_or_default();
        let speed = speeds.get(at).copied().unwrap_or_default();
        AnnotatorRow {
            id: annotator.id,
            external_id: annotator.external_id.clone(),
            name: annotator.name.clone(),
            attributes: annotator.attributes.clone(),
            simulated: annotator.simulated,
            labels: counts[at].iter().sum(),
            cannot_say: cannot_say_counts.get(&annotator.id).copied().unwrap_or_default(),
            level_counts: counts[at].clone(),
            alpha_without: agreed.annotators.get(at).and_then(|a| alpha(&a.without, target.kind)),
            severity: severity.map(|s| s.mean as f32),
            severity_sd: severity.map(|s| s.sd as f32),
            consistency: discrimination.map(consistency),
            held_out_accuracy: result.accuracy().map(|share| share as f32),
            baseline_accuracy: result.baseline().map(|share| share as f32),
            common_accuracy: result.common_baseline().map(|share| share as f32),
            held_out_distance: distance(result.distance),
            baseline_distance: distance(result.baseline_distance),
            common_distance: distance(result.common_distance),
            held_out_labels: result.labels as u32,
            agreement_with_others: with_others.equal.map(|value| Figure {
                value,
                interval: with_others.interval,
                p: None,
            }),
            shared_texts: with_others.texts as u32,
            flags: with_others
                .flags
                .iter()
                .map(|flag| describe_flag(flag, &levels))
                .chain(hasty(&speed))
                .collect(),
            timed_labels: speed.labels as u32,
            seconds_per_label: speed.seconds,
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
        held_out_note: SeenRows::note(left_out),
        estimation: live.map(|(.., estimation)| estimation),
    })
}

/// How fast each of the first `people` annotators labels.
fn measure_speeds(cx: &Analysis, question: QuestionId, people: usize) -> Result<Vec<Speed>, ProjectError> {
    let index = cx.context.index();
    let timed = cx.context.store.timed_answers(question)?;
    let row = |answer: &TimedAnswer| {
        let annotator = index.annotator_row(answer.annotator)?;
        let (characters, milliseconds) = (answer.characters, answer.duration_ms);
        ((annotator as usize) < people).then_some(TimedLabel { annotator, characters, milliseconds })
    };
    Ok(speeds(&timed.iter().filter_map(row).collect::<Vec<_>>(), people)?)
}

/// The flag of an annotator who answers too fast.
fn hasty(speed: &Speed) -> Option<AnnotatorFlag> {
    let (flag, seconds) = (speed.too_fast?, speed.seconds?);
    let words = format!(
        "Answers in {seconds:.1} s, where the others need {:.1} s on texts as long (medians, {}); of people who work like the others, {} \
         are so fast.",
        flag.others_seconds,
        counted(speed.labels as u64, "timed label"),
        share(flag.p)
    );
    Some(AnnotatorFlag { kind: "too-fast".to_owned(), words })
}

/// Describes a flag.
fn describe_flag(flag: &Flag, levels: &[String]) -> AnnotatorFlag {
    let (kind, words) = match flag {
        Flag::OneLevel { level, labels, chance } => {
            let name = levels.get(usize::from(*level)).map_or("", String::as_str);
            (
                "one-level",
                format!(
                    "Gave {name} on all of {}: of people who use it as the others do, {} would.",
                    counted(*labels as u64, "label"),
                    share(*chance)
                ),
            )
        }
        Flag::Reversed { r, texts, p } => (
            "reversed",
            format!(
                "Runs against the others: correlation {r:.2} with their mean on {}; of people who judge by chance, {} would go so far below 0. Was the scale turned round?",
                counted(*texts as u64, "text"),
                share(*p)
            ),
        ),
    };
    AnnotatorFlag { kind: kind.to_owned(), words }
}

/// Formats a small probability.
fn share(chance: f64) -> String {
    match chance {
        c if c < 1e-4 => "fewer than 1 in 10,000".to_owned(),
        c => format!("{:.2} %", 100.0 * c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_stats::agreement::TooFast;

    #[test]
    fn flag_text_contains_its_numbers() {
        let levels = ["mild".to_owned(), "rude".to_owned()];
        let one = describe_flag(&Flag::OneLevel { level: 1, labels: 40, chance: 2e-9 }, &levels);
        assert_eq!(
            one.words,
            "Gave rude on all of 40 labels: of people who use it as the others do, fewer than 1 in 10,000 would."
        );
        let turned = describe_flag(&Flag::Reversed { r: -0.41, texts: 52, p: 0.0012 }, &levels);
        assert!(turned.words.contains("-0.41") && turned.words.contains("52 texts"), "{}", turned.words);
        assert!(turned.words.contains("0.12 %"), "{}", turned.words);
        let too_fast = Some(TooFast { others_seconds: 8.44, p: 0.0007, people: 9 });
        let fast = hasty(&Speed { labels: 40, seconds: Some(0.61), too_fast }).unwrap();
        assert_eq!(fast.kind, "too-fast");
        assert!(fast.words.starts_with("Answers in 0.6 s, where the others need 8.4 s"), "{}", fast.words);
        assert!(fast.words.contains("40 timed labels") && fast.words.contains("0.07 %"), "{}", fast.words);
        assert!(hasty(&Speed { labels: 40, seconds: Some(0.61), too_fast: None }).is_none());
    }
}
