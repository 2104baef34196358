//! How many annotators per text and labels per person a study needs, estimated from its labels.

use super::Analysis;
use super::snippet::snippet;
use dissensus_api::{
    DifferenceShares, Figure, OpenText, PlanReport, PlanRequest, PlannedNumber, VarianceShares,
};
use dissensus_domain::{JobKind, QuestionId};
use dissensus_project::answer_time::{MIN_TIMED, median_seconds};
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Follow, Progress};
use dissensus_project::words::counted;
use dissensus_stats::agreement::{LabelDesign, TextVariances, VarianceComponents};
use dissensus_stats::data::{Observation, Target};
use dissensus_stats::metrics::CONFIDENCE_LEVEL;

/// Numbers above this are reported as such, because a pilot cannot distinguish them.
const LIMIT: u32 = 100;
/// Minimum number of texts with labels of two people or more, and of people with two labels or more, for
/// estimating components.
const MIN_TEXTS: usize = 20;
const MIN_PEOPLE: usize = 5;
/// Minimum number of labels other than the most frequent level for estimating components: a few would
/// describe only themselves.
const MIN_OTHERS: usize = 10;
/// Number of simulated pilots for an interval, and maximum number of labels of all of them together.
const RESAMPLES: usize = 400;
const RESAMPLED_LABELS: usize = 40_000_000;

/// The requirements of a study.
#[derive(Clone, Copy, Debug)]
pub struct PlanChoices {
    /// Reliability of a text's mean and of a person's severity, between 0 and 1.
    pub reliability: f64,
    /// Width of the 95 % interval of a text's mean, in levels.
    pub interval_width: Option<f64>,
    /// Cost per label.
    pub cost_per_label: Option<f64>,
    /// Time per label in seconds; as measured if `None`.
    pub seconds_per_label: Option<f64>,
    /// Maximum number of listed texts that need more labels.
    pub top: usize,
}

impl Default for PlanChoices {
    fn default() -> Self {
        Self {
            reliability: 0.8,
            interval_width: None,
            cost_per_label: None,
            seconds_per_label: None,
            top: 10,
        }
    }
}

/// The plan of a study from the labels of a question: what it needs, what it has, and which texts can
/// stop. Intervals are parametric, for texts and people like these ([`LabelDesign::plausible`]).
///
/// # Errors
/// No such question, the file cannot be read, or cancellation.
pub fn make<'a>(
    cx: &Analysis,
    question: QuestionId,
    choices: PlanChoices,
    follow: impl Into<Follow<'a>>,
) -> Result<PlanReport, ProjectError> {
    cx.context.run(follow, JobKind::Plan, "", |progress| simulate(cx, question, choices, progress))
}

fn simulate(
    cx: &Analysis,
    question: QuestionId,
    choices: PlanChoices,
    progress: &dyn Progress,
) -> Result<PlanReport, ProjectError> {
    let context = &cx.context;
    let (_, target) = context.question_parts(question)?;
    let labels = context.observations(question)?;
    let index = context.index();
    let (texts, people) = (index.texts().len(), index.annotators().len());
    let (per_text, per_person) = counts(&labels, texts, people);
    let is_conditional = index.whole(question.row())?.only_if.is_some();
    let practice = cx.practice.book()?;
    // Whether anybody is asked about a conditional question is only known of texts with a label.
    let is_asked =
        |row: &usize| !practice.is_practice(index.texts()[*row]) && (!is_conditional || per_text[*row] > 0);
    let rows: Vec<usize> = (0..texts).filter(is_asked).collect();
    let ordered = target.kind.is_ordered();
    let (seconds, timed_labels) = match choices.seconds_per_label {
        Some(given) => (Some(given), 0),
        None => median_seconds(&cx.context.store, question)?,
    };
    let mut report = PlanReport {
        question,
        reliability: choices.reliability,
        interval_width: choices.interval_width.filter(|_| ordered),
        cost_per_label: choices.cost_per_label,
        seconds_per_label: seconds,
        timed_labels,
        limit: LIMIT,
        texts: rows.len() as u32,
        labels: labels.len() as u32,
        annotators: per_person.iter().filter(|n| **n > 0).count() as u32,
        shares: None,
        for_reliability: PlannedNumber::default(),
        for_width: None,
        annotators_per_text: None,
        labels_per_person: PlannedNumber::default(),
        labels_per_text_now: None,
        reliability_now: None,
        width_now: None,
        labels_in_all: None,
        labels_missing: None,
        cost_in_all: None,
        cost_missing: None,
        seconds_in_all: None,
        seconds_missing: None,
        texts_done: 0,
        people_done: 0,
        done: false,
        open_texts: Vec::new(),
        needs: needs(&per_text, &per_person),
        remark: None,
    };
    if report.needs.is_some() {
        return Ok(report);
    }
    let by_id = by_id(cx, &index, &labels)?;
    let design = LabelDesign::new(&by_id, texts, people);
    let Some((found, shares)) = components(&by_id, &design, target) else {
        report.needs = Some(too_alike());
        return Ok(report);
    };
    report.shares = Some(shares);
    let resamples = resampled(&design, &found, progress)?;
    let number = |of: &dyn Fn(&VarianceComponents) -> f64| planned(&found, &resamples, of);
    report.for_reliability = number(&|c| c.annotators_for_reliability(choices.reliability));
    report.for_width = report.interval_width.map(|width| number(&|c| c.annotators_for_width(width)));
    report.labels_per_person = number(&|c| c.labels_for_reliability(choices.reliability));
    let labelled = per_text.iter().filter(|n| **n > 0).count();
    let now = labels.len() as f64 / labelled as f64;
    report.labels_per_text_now = Some(now);
    report.reliability_now = Some(found.reliability_of(now));
    report.width_now = ordered.then(|| found.width_of(now));
    report.remark = remark(&report, is_conditional);
    report.people_done = report
        .labels_per_person
        .value
        .map_or(0, |needed| per_person.iter().filter(|n| **n >= needed).count() as u32);
    let for_width = report.for_width.map(|number| number.value);
    report.annotators_per_text = match (report.for_reliability.value, for_width) {
        (Some(n), None) => Some(n),
        (Some(n), Some(Some(m))) => Some(n.max(m)),
        _ => None,
    };
    if report.annotators_per_text.is_none() {
        return Ok(report);
    }
    // A text stops by its own spread: one on which people agree needs fewer labels than the average one.
    let spread = report.interval_width.and_then(|width| Some((width, TextVariances::new(&labels, texts)?)));
    let for_reliability = report.for_reliability.value.unwrap_or(1);
    let lacks = |row: usize| {
        let for_width =
            spread.as_ref().map_or(0, |(width, of)| of.labels_for_width(row, *width).min(1e6) as u32);
        for_reliability.max(for_width).saturating_sub(per_text[row])
    };
    let missing: u64 = rows.iter().map(|row| u64::from(lacks(*row))).sum();
    let cost = |labels: u64| choices.cost_per_label.map(|each| each * labels as f64);
    report.labels_missing = u32::try_from(missing).ok();
    report.labels_in_all = u32::try_from(labels.len() as u64 + missing).ok();
    (report.cost_in_all, report.cost_missing) = (cost(labels.len() as u64 + missing), cost(missing));
    let time = |labels: u64| report.seconds_per_label.map(|each| each * labels as f64);
    (report.seconds_in_all, report.seconds_missing) = (time(labels.len() as u64 + missing), time(missing));
    report.texts_done = rows.iter().filter(|row| lacks(**row) == 0).count() as u32;
    report.done = missing == 0;
    let mut open: Vec<(u32, usize)> =
        rows.iter().map(|row| (lacks(*row), *row)).filter(|(missing, _)| *missing > 0).collect();
    open.sort_unstable();
    for (missing, row) in open.into_iter().take(choices.top) {
        let Some(text) = context.store.text(index.texts()[row])? else { continue };
        report.open_texts.push(OpenText {
            text: text.id,
            text_id: text.external_id,
            body: snippet(&text.body),
            labels: per_text[row],
            missing,
            width: spread.as_ref().and_then(|(_, of)| of.width(row)),
        });
    }
    Ok(report)
}

impl PlanChoices {
    /// Converts the request of the window.
    ///
    /// # Errors
    /// A reliability that is not between 0 and 1, or a width, cost or time that is not above 0.
    pub fn from_request(request: &PlanRequest) -> Result<Self, ProjectError> {
        let refused = |name, value: f64, allowed: &str| ProjectError::Setting {
            name,
            value: value.to_string(),
            allowed: allowed.to_owned(),
        };
        if !(request.reliability > 0.0 && request.reliability < 1.0) {
            return Err(refused("reliability", request.reliability, "a number above 0 and below 1"));
        }
        let above_zero = |name, value: Option<f64>| match value {
            Some(value) if !(value.is_finite() && value > 0.0) => {
                Err(refused(name, value, "a number above 0"))
            }
            value => Ok(value),
        };
        Ok(Self {
            reliability: request.reliability,
            interval_width: above_zero("width", request.interval_width)?,
            cost_per_label: above_zero("cost per label", request.cost_per_label)?,
            seconds_per_label: above_zero("seconds per label", request.seconds_per_label)?,
            ..Self::default()
        })
    }
}

/// Components of these labels on their design, and as shares; `None` if the labels cannot separate texts
/// from people.
fn components(
    labels: &[Observation],
    design: &LabelDesign,
    target: Target,
) -> Option<(VarianceComponents, VarianceShares)> {
    let mut levels = vec![0_usize; target.levels];
    labels.iter().for_each(|label| levels[usize::from(label.level)] += 1);
    if labels.len() - levels.iter().max().copied().unwrap_or(0) < MIN_OTHERS {
        return None;
    }
    let found = VarianceComponents::new(labels, design, target.levels, target.kind.is_ordered())?;
    Some((found, shares_of(&found)?))
}

fn shares_of(found: &VarianceComponents) -> Option<VarianceShares> {
    let [text, annotator, residual] = [found.text, found.annotator, found.residual].map(|part| part.max(0.0));
    let all = text + annotator + residual;
    (all > 0.0).then(|| VarianceShares {
        text: text / all,
        annotator: annotator / all,
        residual: residual / all,
    })
}

/// Shares of what makes labels differ, with 95 % intervals by simulation as those of a plan; the inner `Err`
/// describes what is missing.
///
/// # Errors
/// Cancellation.
pub(super) fn difference_shares(
    cx: &Analysis,
    index: &Index,
    labels: &[Observation],
    target: Target,
    progress: &dyn Progress,
) -> Result<Result<DifferenceShares, String>, ProjectError> {
    let (texts, people) = (index.texts().len(), index.annotators().len());
    let (per_text, per_person) = counts(labels, texts, people);
    if let Some(needs) = needs(&per_text, &per_person) {
        return Ok(Err(needs));
    }
    let by_id = by_id(cx, index, labels)?;
    let design = LabelDesign::new(&by_id, texts, people);
    let Some((found, shares)) = components(&by_id, &design, target) else { return Ok(Err(too_alike())) };
    let drawn: Vec<VarianceShares> =
        resampled(&design, &found, progress)?.iter().filter_map(shares_of).collect();
    let figure = |of: fn(&VarianceShares) -> f64| {
        let value = of(&shares);
        let mut all: Vec<f64> = drawn.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all.get((all.len().saturating_sub(1) as f64 * share).round() as usize).copied();
        let missed = (1.0 - CONFIDENCE_LEVEL) / 2.0;
        let interval = at(missed).zip(at(1.0 - missed)).map(|(low, high)| (low.min(value), high.max(value)));
        Figure { value, interval, p: None }
    };
    Ok(Ok(DifferenceShares {
        text: figure(|shares| shares.text),
        person: figure(|shares| shares.annotator),
        neither: figure(|shares| shares.residual),
    }))
}

/// The labels with texts and people numbered, and sorted, by their ids in files: what is simulated for them
/// does not depend on the order in which they came into the project.
fn by_id(cx: &Analysis, index: &Index, labels: &[Observation]) -> Result<Vec<Observation>, ProjectError> {
    let mut texts = cx.context.store.all_text_ids_and_externals()?;
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    let mut people: Vec<(u32, &str)> =
        (0..).zip(index.annotators().iter().map(|person| person.external_id.as_str())).collect();
    people.sort_by_key(|(_, id)| *id);
    let mut text_places = vec![0; index.texts().len()];
    let rows = texts.iter().filter_map(|(id, _)| index.text_row(*id));
    rows.zip(0..).for_each(|(row, place)| text_places[row as usize] = place);
    let mut person_places = vec![0; people.len()];
    people.iter().zip(0..).for_each(|((row, _), place)| person_places[*row as usize] = place);
    let mut found: Vec<Observation> = labels
        .iter()
        .map(|label| Observation {
            text: text_places[label.text as usize],
            annotator: person_places[label.annotator as usize],
            ..*label
        })
        .collect();
    found.sort_unstable();
    Ok(found)
}

fn counts(labels: &[Observation], texts: usize, people: usize) -> (Vec<u32>, Vec<u32>) {
    let (mut per_text, mut per_person) = (vec![0; texts], vec![0; people]);
    for label in labels {
        per_text[label.text as usize] += 1;
        per_person[label.annotator as usize] += 1;
    }
    (per_text, per_person)
}

/// Components of simulated pilots that are like this one.
fn resampled(
    design: &LabelDesign,
    found: &VarianceComponents,
    progress: &dyn Progress,
) -> Result<Vec<VarianceComponents>, ProjectError> {
    let runs = (RESAMPLED_LABELS / design.labels().max(1)).clamp(80, RESAMPLES);
    let mut all = Vec::with_capacity(runs);
    for run in 0..runs {
        progress.report(run as u64, Some(runs as u64), "resamples");
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        all.extend(design.plausible(found, run as u64));
    }
    Ok(all)
}

/// A number and its 95 % interval, which is widened to contain it.
fn planned(
    found: &VarianceComponents,
    resamples: &[VarianceComponents],
    of: &dyn Fn(&VarianceComponents) -> f64,
) -> PlannedNumber {
    let estimate = of(found);
    let mut all: Vec<f64> = resamples.iter().map(of).filter(|n| !n.is_nan()).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all.get(((all.len() - 1) as f64 * share).round() as usize).copied();
    let (low, high) = match all.is_empty() {
        true => (None, None),
        false => (at(0.5 - 0.5 * CONFIDENCE_LEVEL), at(0.5 + 0.5 * CONFIDENCE_LEVEL)),
    };
    // 16.000000000000004 annotators are 16.
    let whole = |n: f64| (n <= f64::from(LIMIT)).then(|| ((n - 1e-6).ceil() as u32).max(1));
    PlannedNumber {
        value: whole(estimate),
        low: whole(low.unwrap_or(estimate).min(estimate)),
        high: whole(high.unwrap_or(estimate).max(estimate)),
    }
}

fn needs(per_text: &[u32], per_person: &[u32]) -> Option<String> {
    let several = |counts: &[u32]| counts.iter().filter(|n| **n > 1).count();
    let (texts, people) = (several(per_text), several(per_person));
    (texts < MIN_TEXTS || people < MIN_PEOPLE).then(|| {
        format!(
            "It takes {MIN_TEXTS} texts or more with labels of two people or more (so far {texts}), and {MIN_PEOPLE} \
             people or more with two labels or more (so far {people})."
        )
    })
}

fn too_alike() -> String {
    format!(
        "The labels do not tell texts and people apart: fewer than {MIN_OTHERS} are of another level than the most frequent one, or \
         nobody has labelled what others labelled."
    )
}

/// Notes on components without variance, and on numbers with wide intervals.
fn remark(report: &PlanReport, is_conditional: bool) -> Option<String> {
    let mut sentences: Vec<String> = Vec::new();
    if is_conditional {
        sentences.push("This question has a condition: only texts with a label are counted.".to_owned());
    }
    if report.for_reliability.value.is_none() {
        sentences.push("Texts hardly differ: more annotators would not tell them apart.".to_owned());
    }
    if report.labels_per_person.value.is_none() {
        sentences.push("People hardly differ in how high they answer: more labels of one person tell little of that person.".to_owned());
    }
    let unsure = |n: PlannedNumber| n.value.is_some() && n.high.is_none();
    if unsure(report.for_reliability) || unsure(report.labels_per_person) {
        sentences.push(
            "Of these numbers the pilot tells little: label more texts before relying on them.".to_owned(),
        );
    }
    if report.seconds_per_label.is_none() && report.timed_labels > 0 {
        sentences.push(format!(
            "Too little to tell how long a label takes: {} with a known time, and {MIN_TIMED} are needed. Say it, or label some more.",
            counted(report.timed_labels.into(), "label")
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_number_is_in_its_interval_up_to_the_limit() {
        let found = VarianceComponents { text: 0.2, annotator: 0.2, residual: 0.6 };
        let others = [0.1, 0.15, 0.3].map(|text| VarianceComponents { text, ..found });
        let n = planned(&found, &others, &|c| c.annotators_for_reliability(0.8));
        assert_eq!(n, PlannedNumber { value: Some(16), low: Some(11), high: Some(32) });
        let flat = VarianceComponents { text: 0.0, ..found };
        let n = planned(&flat, &others, &|c| c.annotators_for_reliability(0.8));
        assert_eq!((n.value, n.high), (None, None));
        let alone = planned(&found, &[], &|c| c.annotators_for_reliability(0.8));
        assert_eq!((alone.low, alone.high), (alone.value, alone.value));
    }
}
