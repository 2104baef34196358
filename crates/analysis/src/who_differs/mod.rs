//! Who differs, and why, over all labels of a question: shares of text, person and neither; attributes of
//! people; people.

mod words;

use super::Analysis;
use super::caches::WhoDiffersState;
use super::groups::{MIN_PEOPLE, by_value};
use super::plan::difference_shares;
use dissensus_api::{AttributeDifference, Figure, GroupsChoice, PeopleChoice, PersonDifference, WhoDiffers};
use dissensus_domain::{Annotator, JobKind, QuestionId};
use dissensus_models::live::LiveModel;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Follow, Progress};
use dissensus_project::sync::lock;
use dissensus_stats::agreement::agreement;
use dissensus_stats::data::{AnnotatorModel as _, Observation, Severity, Target};
use dissensus_stats::disagreement::{AttributeShare, attribute_share, gap_of_sides, holm, severity_p_value};
use dissensus_stats::metrics::CONFIDENCE_LEVEL;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Kind of the job in the project.
const KIND: JobKind = JobKind::WhoDiffers;
/// A difference is shown if its corrected p value is below this.
const LEVEL: f64 = 1.0 - CONFIDENCE_LEVEL;
/// Maximum number of values of an attribute that are compared, the largest ones.
const MAX_VALUES: usize = 50;
/// Reported steps: shares, the model, attributes.
const STEPS: u64 = 3;

/// An attribute's values that are compared, with the rows of their people.
struct Values<'a> {
    attribute: &'a str,
    groups: Vec<(&'a str, Vec<u32>)>,
}

/// Who differs, and why: how much of what makes labels differ is the text, the person and neither; how
/// much of the differences in level each attribute of people explains; and who is shown to answer higher
/// or lower than the average person. Severities are those of the live model, which is fitted if missing.
/// If no label of the question, no person and no embedding has changed since the last call, its result is
/// returned.
///
/// # Errors
/// No such question, its levels were added, removed or moved meanwhile, the file cannot be read, or
/// cancellation.
pub fn find<'a>(
    cx: &Analysis,
    question: QuestionId,
    follow: impl Into<Follow<'a>>,
) -> Result<WhoDiffers, ProjectError> {
    // Before the labels: a label that is recorded while they are read makes the result outdated.
    let now = state(cx, question)?;
    if let Some((of, found)) = lock(&cx.last_who_differs).get(&question)
        && *of == now
    {
        return Ok(found.clone());
    }
    cx.context.run(follow, KIND, "who differs", |progress| {
        let found = look(cx, question, progress)?;
        lock(&cx.last_who_differs).insert(question, (now, found.clone()));
        Ok(found)
    })
}

fn state(cx: &Analysis, question: QuestionId) -> Result<WhoDiffersState, ProjectError> {
    let models = &cx.live.models;
    Ok((models.generation(), models.labels_or_people_changed(question), cx.encoding.embeddings()?.1))
}

fn look(cx: &Analysis, question: QuestionId, progress: &dyn Progress) -> Result<WhoDiffers, ProjectError> {
    let index = cx.context.index();
    let asked = index.with_levels(question)?;
    let target = Target::from_scale(&asked.scale);
    let labels = cx.context.observations_in(&index, index.texts().len(), question)?;
    let (texts, people) = (index.texts().len(), index.annotators().len());
    let mut counts = vec![0_u32; people];
    labels.iter().for_each(|label| counts[label.annotator as usize] += 1);
    report_progress(progress, 0, "shares")?;
    let shares = difference_shares(cx, &index, &labels, target, progress)?;
    let mut report = WhoDiffers {
        question,
        labels: labels.len() as u32,
        people: counts.iter().filter(|n| **n > 0).count() as u32,
        equal: agreement(&labels, texts, people, target)?.pairwise,
        shares_words: words::shares(&shares),
        shares: shares.ok(),
        attributes: Vec::new(),
        attributes_words: words::NO_ORDER.to_owned(),
        severities: Vec::new(),
        severities_words: words::NO_ORDER.to_owned(),
        encoder: None,
    };
    if !target.kind.is_ordered() {
        return Ok(report);
    }
    report_progress(progress, 1, "fitting the model")?;
    cx.live.fit(question, progress)?;
    // A copy, so that recording a label does not wait for the following.
    let fitted = cx.live.with(asked, |fitted| (fitted.model.clone(), fitted.basis.version.clone()))?;
    let Some((model, encoder)) = fitted else {
        report.attributes_words = words::attributes(&[], 0);
        report.severities_words = words::severities(&[]);
        return Ok(report);
    };
    report_progress(progress, 2, "attributes")?;
    report.severities = severities(&model, index.annotators(), &counts);
    report.severities_words =
        format!("{} {}", words::severities(&report.severities), words::basis(encoder.as_deref()));
    report.encoder = encoder;
    let has_labels = |row: &u32| counts[*row as usize] > 0;
    let values = compared_values(index.annotators(), has_labels);
    report.attributes = attributes(&model, &values, &labels, texts, progress)?;
    let named = index.annotators().iter().flat_map(|one| one.attributes.keys()).count();
    report.attributes_words = words::attributes(&report.attributes, named);
    Ok(report)
}

fn report_progress(progress: &dyn Progress, done: u64, doing: &str) -> Result<(), ProjectError> {
    progress.report(done, Some(STEPS), doing);
    if progress.cancelled() { Err(ProjectError::Cancelled) } else { Ok(()) }
}

/// People with labels, from the lowest severity to the highest, and who is shown to differ from the average
/// person.
fn severities(model: &LiveModel, annotators: &[Annotator], counts: &[u32]) -> Vec<PersonDifference> {
    let Some(prior) = model.severity(u32::MAX) else { return Vec::new() };
    let known: Vec<(&Annotator, u32, Severity)> = (0..model.annotators() as u32)
        .zip(annotators.iter().zip(counts))
        .filter(|(_, (_, labels))| **labels > 0)
        .filter_map(|(row, (who, labels))| Some((who, *labels, model.severity(row)?)))
        .collect();
    let tests: Vec<Option<f64>> =
        known.iter().map(|(.., severity)| severity_p_value(*severity, prior.sd)).collect();
    let mut people: Vec<PersonDifference> = known
        .iter()
        .zip(holm(&tests))
        .map(|((who, labels, severity), p)| PersonDifference {
            annotator: who.id,
            name: who.name.clone(),
            simulated: who.simulated,
            labels: *labels,
            severity: severity.mean,
            shown: p.is_some_and(|p| p < LEVEL),
        })
        .collect();
    people.sort_by(|a, b| a.severity.total_cmp(&b.severity));
    people
}

/// The values of each attribute that enough people with labels have, only the largest of them if there are
/// many.
fn compared_values(annotators: &[Annotator], has_labels: impl Fn(&u32) -> bool) -> Vec<Values<'_>> {
    let people: Vec<(u32, &Annotator)> = (0..).zip(annotators).filter(|(row, _)| has_labels(row)).collect();
    let compared = |(attribute, values): (_, BTreeMap<_, Vec<u32>>)| {
        let mut groups: Vec<(&str, Vec<u32>)> =
            values.into_iter().filter(|(_, people)| people.len() >= MIN_PEOPLE).collect();
        groups.sort_by_key(|(_, people)| Reverse(people.len()));
        groups.truncate(MAX_VALUES);
        Values { attribute, groups }
    };
    by_value(&people).into_iter().map(compared).collect()
}

/// Number of pairs of values of all attributes that can be compared among people with labels; any of these
/// gaps may be picked.
pub(super) fn compared_pairs(annotators: &[Annotator], has_labels: impl Fn(&u32) -> bool) -> usize {
    pairs_of(&compared_values(annotators, has_labels))
}

fn pairs_of(values: &[Values<'_>]) -> usize {
    values.iter().map(|of| of.groups.len() * of.groups.len().saturating_sub(1) / 2).sum()
}

/// What each attribute explains, ordered by evidence.
fn attributes(
    model: &LiveModel,
    values: &[Values<'_>],
    labels: &[Observation],
    texts: usize,
    progress: &dyn Progress,
) -> Result<Vec<AttributeDifference>, ProjectError> {
    let prior = model.severity(u32::MAX).map_or(0.0, |prior| prior.sd);
    let share = |of: &Values<'_>| {
        let severity = |row: &u32| model.severity(*row).filter(|_| (*row as usize) < model.annotators());
        let groups: Vec<Vec<Severity>> =
            of.groups.iter().map(|(_, people)| people.iter().filter_map(severity).collect()).collect();
        attribute_share(&groups, prior)
    };
    let shares: Vec<Option<AttributeShare>> = values.iter().map(share).collect();
    let tests: Vec<Option<f64>> = shares.iter().map(|share| share.as_ref().map(|share| share.p)).collect();
    let tested = tests.iter().flatten().count();
    let pairs = pairs_of(values);
    let mut found = Vec::with_capacity(values.len());
    for ((of, share), p) in values.iter().zip(&shares).zip(holm(&tests)) {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        let mut one = AttributeDifference {
            attribute: of.attribute.to_owned(),
            values: of.groups.len() as u32,
            people: of.groups.iter().map(|(_, people)| people.len()).sum::<usize>() as u32,
            share: share.as_ref().map(|share| share.share),
            most: share.as_ref().map(|share| share.most(tested)),
            p,
            shown: p.is_some_and(|p| p < LEVEL),
            groups: None,
            gap: None,
            words: String::new(),
        };
        let mut named = None;
        if let Some(share) = share {
            let (mut low, mut high) = share.furthest;
            let side = |at: usize| of.groups[at].1.as_slice();
            let gap = gap_of_sides(labels, texts, [side(low), side(high)], progress)?;
            // By the labels the order may be reversed: statements about levels are about the labels.
            if gap.is_some_and(|gap| gap.gap < 0.0) {
                (low, high) = (high, low);
            }
            let turned = gap.map(|gap| if gap.gap < 0.0 { -1.0 } else { 1.0 });
            one.gap = gap.zip(turned).map(|(gap, sign)| Figure {
                value: sign * gap.gap,
                interval: gap
                    .interval_among(pairs)
                    .map(|(low, high)| if sign < 0.0 { (-high, -low) } else { (low, high) }),
                p: gap.p_among(pairs),
            });
            let choice = |at: usize| PeopleChoice {
                attributes: vec![(of.attribute.to_owned(), of.groups[at].0.to_owned())],
                annotators: Vec::new(),
            };
            one.groups = Some(GroupsChoice { a: choice(high), b: choice(low) });
            named = Some((of.groups[high].0, of.groups[low].0));
        }
        one.words = words::attribute(&one, named, pairs);
        found.push(one);
    }
    let evidence =
        |one: &AttributeDifference| (one.p.is_none(), one.p.unwrap_or(1.0), -one.share.unwrap_or(0.0));
    found.sort_by(|a, b| {
        let (a, b) = (evidence(a), evidence(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
    });
    Ok(found)
}
