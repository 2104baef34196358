//! The predicted distribution of every annotator on one text.

use super::Analysis;
use super::chosen::among;
use super::groups::{difference, severity_difference};
use super::needs::{MIN_SHARED, enough, note_on_labels, too_few};
use super::observed::labels_given;
use crate::chosen;
use crate::groups;
use dissensus_api::{
    AnnotatorPrediction, DisagreementMeasure, DisagreementQuery, GroupPrediction, TextDetail,
};
use dissensus_api::{DisagreementScores, GroupDifference, SeverityDifference};
use dissensus_domain::{Annotator, AnnotatorId, Answer, QuestionId, Scale, Shown, TextId};
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::live::{Fitted, Over};
use std::collections::{BTreeMap, HashMap};

/// Shown for a missing attribute.
const UNKNOWN: &str = "not known";

/// Everything about one text, among the annotators whom the query chooses. `reading_as` is the person
/// who labels in this window: that person's predicted answer is hidden until the text is answered,
/// unless `show_hidden`, and what is shown of others is recorded for later labels. Labels are returned
/// without a live model too; scores and groups only if at least two annotators are predicted from enough
/// labels, otherwise `needs` states the reason.
///
/// # Errors
/// Those of [`ranking::rank`](crate::ranking::rank), or no such text.
pub fn read(
    cx: &Analysis,
    query: &DisagreementQuery,
    text: TextId,
    group_by: Option<&str>,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
) -> Result<TextDetail, ProjectError> {
    let context = &cx.context;
    let question = query.question;
    let found = context.store.text(text)?.ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?;
    let row =
        context.index().text_row(text).ok_or_else(|| ProjectError::NoSuchText(found.external_id.clone()))?;
    let levels = chosen::level_count(cx, question)?;
    let mask = chosen::people_mask(cx, &query.attributes)?;
    let chosen = mask.iter().filter(|chosen| **chosen).count();
    let ordinal = chosen::is_ordinal(cx, question)?;
    let mut needs = (chosen < 2).then(|| too_few(chosen, 2));
    let index = context.index();
    let asked = index.with_levels(question)?;
    let predicted = cx.live.with(asked, |fitted| {
        let model = &fitted.model;
        if model.texts() <= row as usize {
            return Ok(None);
        }
        let over = chosen::people_over(cx, &query.attributes, model.annotators())?;
        let all = model.row(row);
        if needs.is_none() {
            needs = enough(shared_texts(fitted, &over), DisagreementMeasure::Split);
        }
        let predicted = mask.iter().take(fitted.model.annotators()).filter(|chosen| **chosen).count();
        let measured = match needs.is_none() && predicted > 1 {
            true => Some(measured_on(cx, fitted, row, &over, ordinal)?),
            false => None,
        };
        Ok::<_, ProjectError>(Some((all, measured)))
    });
    let (all, measured) = predicted?.transpose()?.flatten().unwrap_or_default();
    if measured.is_none() && needs.is_none() {
        needs = note_on_labels(cx, false)?;
    }
    let mut answers: HashMap<AnnotatorId, Answer> = context
        .store
        .current_labels_on(text, question)?
        .into_iter()
        .map(|label| (label.annotator, label.answer))
        .collect();
    let given = labels_given(cx, question)?;
    let ordered = has_order(cx, question)?;
    let scale = &asked.scale;
    // Annotators who were added after the fit have labels, but no prediction yet.
    let predictions = all.chunks_exact(levels).map(Some).chain(std::iter::repeat(None));
    let person = |(annotator, p): (&Annotator, Option<&[f32]>)| {
        let observed = answers.remove(&annotator.id);
        let hidden = p.is_some() && reading_as == Some(annotator.id) && observed.is_none() && !show_hidden;
        let labels = given.get(&annotator.id).copied().unwrap_or(0);
        prediction(annotator, p.filter(|_| !hidden), observed, hidden, ordered, labels)
    };
    let everyone = index.annotators().iter().zip(predictions).zip(&mask);
    let mut people: Vec<AnnotatorPrediction> =
        everyone.filter(|(_, chosen)| **chosen).map(|(one, _)| one).map(person).collect();
    let by = |p: &AnnotatorPrediction| p.expected.unwrap_or(f32::INFINITY);
    people.sort_by(|a, b| by(a).total_cmp(&by(b)).then_with(|| a.name.cmp(&b.name)));
    if let Some(reader) = reading_as {
        let others = people.iter().filter(|person| person.annotator != reader);
        let answers = others.clone().any(|person| person.observed.is_some());
        let predictions = people.iter().any(|person| person.distribution.is_some());
        context.record_shown(question, text, reader, Shown { answers, predictions })?;
    }
    let (scores, differences, severity) = match measured {
        Some(MeasuredText { scores, differences, severity }) => (Some(scores), differences, severity),
        None => (None, Vec::new(), None),
    };
    let mut groups = match (group_by, &scores) {
        (Some(attribute), Some(_)) => groups(&people, attribute, scale, ordinal),
        _ => Vec::new(),
    };
    for group in &mut groups {
        set_gap(group, group_by.unwrap_or_default(), &differences);
    }
    let cannot_say = context.store.cannot_say(question)?;
    Ok(TextDetail {
        cannot_say: cannot_say.iter().filter(|(of, _)| *of == text).count() as u32,
        text: found.id,
        external_id: found.external_id,
        body: found.body,
        group: found.group,
        split: found.split,
        metadata: found.metadata.into_iter().collect(),
        scores,
        needs,
        annotators: people,
        groups,
        differences,
        severity,
    })
}

/// The measures of a text, and on an ordinal scale every group against the others.
fn measured_on(
    cx: &Analysis,
    fitted: &mut Fitted,
    row: u32,
    over: &Over,
    ordinal: bool,
) -> Result<MeasuredText, ProjectError> {
    let (scores, distribution) = among(fitted, row, over);
    let (mut differences, mut severity) = (Vec::new(), None);
    if ordinal {
        let comparison = groups::comparison(cx, fitted, None, over)?;
        let gaps = comparison.gaps(&fitted.model, row);
        differences =
            gaps.iter().enumerate().filter_map(|(at, gap)| difference(&comparison, at, gap)).collect();
        let by_severity = comparison.severity_gap(&fitted.model, row);
        severity = by_severity.and_then(|gap| severity_difference(&gap, &distribution));
    }
    Ok(MeasuredText { scores, differences, severity })
}

/// True if levels are ordered, so that a mean level is meaningful.
fn has_order(cx: &Analysis, question: QuestionId) -> Result<bool, ProjectError> {
    let index = cx.context.index();
    let question = index.with_levels(question)?;
    Ok(question.scale.is_ordered())
}

/// The measures of one text.
struct MeasuredText {
    scores: DisagreementScores,
    differences: Vec<GroupDifference>,
    severity: Option<SeverityDifference>,
}

/// Number of texts with labels of two of these people or more, counted only as far as [`enough`] needs.
fn shared_texts(fitted: &Fitted, over: &Over) -> usize {
    let model = &fitted.model;
    let shared = |text: &u32| model.labels_on(*text, over.mask()) > 1;
    (0..model.texts() as u32).filter(shared).take(MIN_SHARED).count()
}

/// `p` is the prediction, if it may be shown.
fn prediction(
    annotator: &Annotator,
    p: Option<&[f32]>,
    observed: Option<Answer>,
    hidden: bool,
    ordered: bool,
    labels: u32,
) -> AnnotatorPrediction {
    let expected = |p: &[f32]| p.iter().enumerate().map(|(level, p)| level as f32 * p).sum();
    AnnotatorPrediction {
        annotator: annotator.id,
        name: annotator.name.clone(),
        attributes: annotator.attributes.clone(),
        simulated: annotator.simulated,
        distribution: p.map(<[f32]>::to_vec),
        expected: p.filter(|_| ordered).map(expected),
        hidden,
        observed,
        labels,
    }
}

/// Mean distributions by the value of an attribute, largest group first. Hidden predictions are left out.
fn groups(
    people: &[AnnotatorPrediction],
    attribute: &str,
    scale: &Scale,
    ordinal: bool,
) -> Vec<GroupPrediction> {
    let mut members: BTreeMap<&str, Vec<&AnnotatorPrediction>> = BTreeMap::new();
    for person in people.iter().filter(|person| person.distribution.is_some()) {
        let value = person.attributes.get(attribute).map_or(UNKNOWN, String::as_str);
        members.entry(value).or_default().push(person);
    }
    let group = |(value, members): (&str, Vec<&AnnotatorPrediction>)| {
        let mut distribution = vec![0.0; scale.len()];
        for p in members.iter().filter_map(|person| person.distribution.as_ref()) {
            distribution.iter_mut().zip(p).for_each(|(sum, p)| *sum += p / members.len() as f32);
        }
        let level = |person: &&AnnotatorPrediction| {
            person.observed.as_ref().and_then(|answer| scale.index_of_answer(answer)).map(f32::from)
        };
        let given: Vec<f32> = members.iter().filter_map(level).collect();
        let mean = given.iter().sum::<f32>() / given.len().max(1) as f32;
        GroupPrediction {
            value: value.to_owned(),
            annotators: members.len() as u32,
            distribution,
            observed: (ordinal && !given.is_empty()).then_some(mean),
            labels: given.len() as u32,
            gap: None,
            gap_interval: None,
            significant: false,
        }
    };
    let mut groups: Vec<GroupPrediction> = members.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.annotators));
    groups
}

/// Sets the gap between a group and all others, if known. Of two values only one is compared: the other's
/// gap is its opposite.
fn set_gap(group: &mut GroupPrediction, attribute: &str, differences: &[GroupDifference]) {
    let of_attribute = || differences.iter().filter(|difference| difference.attribute == attribute);
    let own = of_attribute().find(|difference| difference.value == group.value);
    let other = of_attribute().find(|difference| difference.against.as_ref() == Some(&group.value));
    let Some(found) = own.or(other) else { return };
    let sign = if own.is_some() { 1.0 } else { -1.0 };
    let (low, high) = found.interval;
    group.gap = Some(sign * found.gap);
    group.gap_interval = Some(if own.is_some() { (low, high) } else { (-high, -low) });
    group.significant = found.significant;
}
