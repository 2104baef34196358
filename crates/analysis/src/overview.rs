//! The overview of a project. Its slow parts are requested separately: how far people agree, and on which
//! texts they differ most.

use super::Analysis;
use super::snippet::snippet;
use crate::agreement;
use crate::labels_differ::{labels_differ, level_counts};
use crate::ranking;
use dissensus_api::{
    ContestedText, DisagreementMeasure, DisagreementQuery, NextStep, NextStepKind, Overview,
    OverviewAgreement, OverviewContested, OverviewPerson, OverviewQuestion,
};
use dissensus_domain::{AnnotatorId, Answer, CurrentLabel, Question, QuestionId, TextId};
use dissensus_exchange::text_id_of;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_stats::agreement::IntervalScope;
use dissensus_stats::math::median::median;
use std::collections::{HashMap, HashSet};

/// Number of texts with labels of two people from which agreement is reported even without any difference,
/// and which is enough for a study.
const ENOUGH_SHARED: u32 = 20;

/// The content of the project, the progress of each person, and the next step. `texts` of its texts are
/// to be labelled (without practice texts); if there is an annotator in this window, `left` of them are
/// not yet answered by this person.
pub fn summarize(cx: &Analysis, texts: u32, left: Option<u32>) -> Result<Overview, ProjectError> {
    let index = cx.context.index();
    let mut questions = Vec::with_capacity(index.questions().len());
    let mut labels: HashMap<AnnotatorId, Vec<u32>> = HashMap::new();
    let mut times: HashMap<AnnotatorId, Vec<f64>> = HashMap::new();
    for (at, question) in index.questions().iter().enumerate() {
        let all = cx.context.store.current_labels(question.id)?;
        questions.push(of_question(question, &all));
        // "Cannot say" counts as answered here.
        let cannot_say = cx.context.store.cannot_say(question.id)?;
        for annotator in all.iter().map(|label| label.annotator).chain(cannot_say.iter().map(|(_, who)| *who))
        {
            labels.entry(annotator).or_insert_with(|| vec![0; index.questions().len()])[at] += 1;
        }
        for timed in cx.context.store.timed_answers(question.id)? {
            times.entry(timed.annotator).or_default().push(f64::from(timed.duration_ms) / 1000.0);
        }
    }
    let mut asked: HashMap<AnnotatorId, u32> = HashMap::new();
    for (packet, _) in cx.context.store.packets()? {
        let texts = packet.assignments.iter().filter(|item| item.occasion == 1).count() as u32;
        *asked.entry(packet.annotator).or_default() += texts;
    }
    let imported = cx.context.imported_people()?;
    let mut people: Vec<OverviewPerson> = index
        .annotators()
        .iter()
        .map(|who| OverviewPerson {
            annotator: who.id,
            name: who.name.clone(),
            simulated: who.simulated,
            imported: imported.contains(&who.id),
            labels: labels.remove(&who.id).unwrap_or_else(|| vec![0; questions.len()]),
            asked: asked.get(&who.id).copied().unwrap_or(texts),
            seconds: times.remove(&who.id).and_then(median),
        })
        .collect();
    let sum = |person: &OverviewPerson| person.labels.iter().sum::<u32>();
    people.sort_by_key(|person| (person.imported, std::cmp::Reverse(sum(person))));
    let all = index.texts().len() as u32;
    let steps = next_steps(cx, left, all, &questions)?;
    Ok(Overview { texts: all, people, questions, steps })
}

fn next_steps(
    cx: &Analysis,
    left: Option<u32>,
    texts: u32,
    questions: &[OverviewQuestion],
) -> Result<Vec<NextStep>, ProjectError> {
    let step = |kind, count| NextStep { kind, count };
    if texts == 0 {
        return Ok(vec![step(NextStepKind::Import, None)]);
    }
    if questions.is_empty() {
        return Ok(vec![step(NextStepKind::AskQuestion, None)]);
    }
    let mut steps = Vec::new();
    let labels: u32 = questions.iter().map(|question| question.labels).sum();
    if left.is_some_and(|left| left > 0) || (left.is_none() && labels == 0) {
        steps.push(step(NextStepKind::Label, left));
    }
    let encoding = cx.encoding.state()?;
    if encoding.problem.is_some_and(|problem| problem.code == "encoder-missing") {
        steps.push(step(NextStepKind::GetEncoder, None));
    }
    let packets = cx.context.store.packets()?;
    if !packets.is_empty() {
        let back: HashSet<_> = cx.context.store.submissions()?.into_iter().map(|one| one.packet).collect();
        let out = packets.iter().filter(|(packet, _)| !back.contains(&packet.id)).count() as u32;
        steps.extend((out > 0).then(|| step(NextStepKind::TakeIn, Some(out))));
    }
    let shared = questions.iter().map(|question| question.shared).max().unwrap_or(0);
    if packets.is_empty() && shared < ENOUGH_SHARED && labels > 0 {
        steps.push(step(NextStepKind::Plan, Some(shared)));
    }
    if shared > 0 {
        steps.push(step(NextStepKind::SeeDisagreement, Some(shared)));
    }
    if left.is_none() && labels > 0 {
        steps.push(step(NextStepKind::Label, None));
    }
    Ok(steps)
}

/// How far the people of a question agree, with intervals for people like these and for these people.
///
/// # Errors
/// No such question, or the file cannot be read.
pub fn agreement(cx: &Analysis, question: QuestionId) -> Result<OverviewAgreement, ProjectError> {
    let asked = cx.context.index().whole(question)?.clone();
    let labels = cx.context.store.current_labels(question)?;
    let shared = of_question(&asked, &labels).shared;
    let mut found = OverviewAgreement {
        question,
        alpha: None,
        low: None,
        high: None,
        like_these: false,
        these_low: None,
        these_high: None,
        metric: agreement::compared(&asked.scale).to_owned(),
        shared,
        needs: None,
    };
    if shared == 0 {
        found.needs = Some("No text has labels of two people yet.".to_owned());
        return Ok(found);
    }
    let measured = agreement::measure(cx, &asked, &Silent)?;
    let estimate = measured.alpha();
    // Without any difference there is nothing to resample.
    let all_agree = shared >= ENOUGH_SHARED && estimate.value.is_some_and(|value| value > 1.0 - 1e-9);
    let shown = estimate.shown();
    if shown.is_some() || all_agree {
        found.alpha = estimate.value;
        found.low = shown.map(|(interval, _)| interval.low);
        found.high = shown.map(|(interval, _)| interval.high);
        found.like_these = shown.is_some_and(|(_, scope)| scope == IntervalScope::PeopleLikeThese);
        found.these_low = estimate.over_texts.map(|interval| interval.low);
        found.these_high = estimate.over_texts.map(|interval| interval.high);
    } else {
        found.needs = Some(match shared < ENOUGH_SHARED {
            true => format!("{ENOUGH_SHARED} texts with labels of two people are needed."),
            false => "Nearly all labels are the same: too few texts say how people differ.".to_owned(),
        });
    }
    Ok(found)
}

/// The `top` texts on which labels differ most, and among texts with fewer than two labels those on
/// which people are predicted to differ most. If there is an annotator in this window (`reading_as`),
/// only texts that this person has answered.
///
/// # Errors
/// No such question, or the file cannot be read.
pub fn contested(
    cx: &Analysis,
    question: QuestionId,
    reading_as: Option<AnnotatorId>,
    top: usize,
) -> Result<OverviewContested, ProjectError> {
    let index = cx.context.index();
    let asked = index.whole(question)?.clone();
    let labels = cx.context.store.current_labels(question)?;
    let mut differing: Vec<(f32, TextId, Vec<u32>)> = Vec::new();
    let mut with_two: HashSet<TextId> = HashSet::new();
    let mut own: HashSet<TextId> = HashSet::new();
    for on_text in labels.chunk_by(|a, b| a.text == b.text) {
        let text = on_text[0].text;
        if on_text.len() > 1 {
            with_two.insert(text);
        }
        let mine = |label: &CurrentLabel| Some(label.annotator) == reading_as;
        if on_text.iter().any(mine) {
            own.insert(text);
        }
        let answers: Vec<&Answer> = on_text.iter().map(|label| &label.answer).collect();
        match labels_differ(&asked.scale, &answers) {
            Some(value) if value > 0.0 => {
                differing.push((value, text, level_counts(&asked.scale, &answers)));
            }
            _ => {}
        }
    }
    let may_see = |text: TextId| reading_as.is_none() || own.contains(&text);
    differing.retain(|(_, text, _)| may_see(*text));
    // Among equal values, more labels are stronger evidence.
    let sum = |counts: &[u32]| counts.iter().sum::<u32>();
    differing.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| sum(&b.2).cmp(&sum(&a.2))));
    let observed = differing
        .into_iter()
        .take(top)
        .filter_map(|(value, text, counts)| contested_text(cx, text, value, counts).transpose())
        .collect::<Result<_, _>>()?;
    let mut predicted = Vec::new();
    let learned = index.learned(question);
    if let [only] = learned.as_slice() {
        let practice = cx.practice.book()?;
        for (text, value) in predicted_splits(cx, *only)? {
            if predicted.len() == top {
                break;
            }
            if !with_two.contains(&text) && may_see(text) && !practice.is_practice(text) {
                predicted.extend(contested_text(cx, text, value, Vec::new())?);
            }
        }
    }
    Ok(OverviewContested { question, observed, predicted, own_only: reading_as.is_some() })
}

/// Texts by predicted split, most first; none without a live model, or if there is too little data on
/// how people differ.
fn predicted_splits(cx: &Analysis, question: QuestionId) -> Result<Vec<(TextId, f32)>, ProjectError> {
    let query = DisagreementQuery::of_everything(question, DisagreementMeasure::Split);
    let ranking = ranking::rank(cx, &query)?;
    match ranking.needs {
        Some(_) => Ok(Vec::new()),
        None => Ok(ranking.texts.into_iter().zip(ranking.values).collect()),
    }
}

fn contested_text(
    cx: &Analysis,
    text: TextId,
    value: f32,
    counts: Vec<u32>,
) -> Result<Option<ContestedText>, ProjectError> {
    let row = cx.context.index().text_row(text);
    let found = cx.context.store.text(text)?;
    Ok(found.zip(row).map(|(found, row)| ContestedText {
        text,
        named: found.external_id != text_id_of(&found.body),
        external_id: found.external_id,
        row: row + 1,
        snippet: snippet(&found.body),
        value,
        counts,
    }))
}

/// The summary of the labels of a question, which are sorted by text.
fn of_question(question: &Question, labels: &[CurrentLabel]) -> OverviewQuestion {
    let people: HashSet<AnnotatorId> = labels.iter().map(|label| label.annotator).collect();
    let (mut texts, mut shared) = (0, 0);
    for on_text in labels.chunk_by(|a, b| a.text == b.text) {
        texts += 1;
        shared += u32::from(on_text.len() > 1);
    }
    let answers: Vec<&Answer> = labels.iter().map(|label| &label.answer).collect();
    OverviewQuestion {
        question: question.id,
        name: question.name.clone(),
        labels: labels.len() as u32,
        people: people.len() as u32,
        texts,
        shared,
        counts: level_counts(&question.scale, &answers),
    }
}
