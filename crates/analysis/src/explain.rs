//! Explains why one annotator is predicted to answer a text as they are, and why two differ there.

use super::Analysis;
use super::agreed_texts::nearest_agreed;
use super::explain_sentence::sentence;
use super::near_texts::{NearRow, by_similarity, named, near_texts};
use super::needs::note_on_labels;
use crate::error::AnalysisError;
use dissensus_api::{
    ExplainQuery, ExplainedAnnotator, ExplainedOdds, Explanation, InfluentialLabel, PartDifference,
    ScorePart, ScorePartKind,
};
use dissensus_domain::{Annotator, AnnotatorId, Answer, Question, QuestionId, TargetKind, TextId};
use dissensus_models::live::{ExplainedPrediction, ExplainedText, Influence, LiveModel, Outcome};
use dissensus_models::mixed::ScoreParts;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::encoding::EncodedText;
use dissensus_training::error::TrainingError;

/// Number of labels listed.
const INFLUENCES: usize = 5;
/// Number of near texts listed.
const NEAR: usize = 5;
/// The parts in the order of `ScoreParts::parts`.
const KINDS: [ScorePartKind; 8] = [
    ScorePartKind::Average,
    ScorePartKind::Words,
    ScorePartKind::Others,
    ScorePartKind::OwnLabel,
    ScorePartKind::Severity,
    ScorePartKind::Thresholds,
    ScorePartKind::Slope,
    ScorePartKind::Discrimination,
];

/// The live model's explanation for one annotator.
struct AnnotatorExplanation {
    prediction: ExplainedPrediction,
    influences: Vec<Influence>,
    nearest: Vec<NearRow>,
    labels: u32,
}

/// The live model's explanations for all annotators of a query.
#[derive(Default)]
struct Explanations {
    annotators: Vec<Option<AnnotatorExplanation>>,
    odds: Option<ExplainedOdds>,
    agreed: Vec<NearRow>,
    has_slopes: bool,
    has_discrimination: bool,
}

/// Explains the predicted answers of one or two annotators to a text of the project. `reading_as` is the
/// person who labels in this window: that person's own prediction is hidden until the text is answered,
/// unless `show_hidden`.
///
/// # Errors
/// No such text or annotator, or the model of the question is not live
/// ([`dissensus_training::live::LiveModels::fit`] makes it so).
pub fn explain_text(
    cx: &Analysis,
    query: &ExplainQuery,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
) -> Result<Explanation, ProjectError> {
    let index = cx.context.index();
    let no_such = || ProjectError::NoSuchText(query.text.0.to_string());
    let row = index.text_row(query.text).ok_or_else(no_such)?;
    let (embeddings, _) = cx.encoding.embeddings()?;
    let x = embeddings.rows.get(row as usize * embeddings.dim..(row as usize + 1) * embeddings.dim);
    let people: Vec<AnnotatorId> = std::iter::once(query.annotator).chain(query.with).collect();
    let mut hidden = Vec::new();
    for person in &people {
        let reads = reading_as == Some(*person) && !show_hidden;
        hidden.push(reads && cx.context.store.current_label(query.question, query.text, *person)?.is_none());
    }
    let text = match query.without_own {
        true => ExplainedText::RowWithoutOwnLabel(row),
        false => ExplainedText::Row(row),
    };
    let asked = TextToExplain { text, embedding: x.unwrap_or_default(), row: Some(row) };
    explain_people(cx, query.question, Some(query.text), &asked, &people, &hidden)
}

/// Explains predictions as [`explain_text`] does, for any text
/// ([`dissensus_training::encoding::Encoding::embed`]).
///
/// # Errors
/// The embedding is of another length, no such annotator, or the model of the question is not live.
pub fn explain_new_text(
    cx: &Analysis,
    question: QuestionId,
    text: &EncodedText,
    annotator: AnnotatorId,
    with: Option<AnnotatorId>,
) -> Result<Explanation, ProjectError> {
    let people: Vec<AnnotatorId> = std::iter::once(annotator).chain(with).collect();
    let features = text.features();
    let asked =
        TextToExplain { text: ExplainedText::New(features), embedding: features.embedding, row: None };
    explain_people(cx, question, None, &asked, &people, &vec![false; people.len()])
}

fn explain_people(
    cx: &Analysis,
    question: QuestionId,
    text: Option<TextId>,
    asked: &TextToExplain<'_>,
    people: &[AnnotatorId],
    hidden: &[bool],
) -> Result<Explanation, ProjectError> {
    let index = cx.context.index();
    let question = index.with_levels(question)?.clone();
    let mut persons: Vec<(&Annotator, u32)> = Vec::new();
    for id in people {
        let row = index.annotator_row(*id).ok_or_else(|| ProjectError::NoSuchAnnotator {
            name: id.0.to_string(),
            known: dissensus_project::words::counted(index.annotators().len() as u64, "annotator"),
        })?;
        persons.push((&index.annotators()[row as usize], row));
    }
    let (embeddings, _) = cx.encoding.embeddings()?;
    let rows: Vec<Option<u32>> =
        persons.iter().zip(hidden).map(|((_, row), hidden)| (!hidden).then_some(*row)).collect();
    let all = 0..embeddings.texts as u32;
    let near = by_similarity(&embeddings, asked.embedding, all.filter(|row| Some(*row) != asked.row));
    // A copy, so that recording a label does not wait for the fits without one label each.
    let model = cx
        .live
        .with(&question, |fitted| fitted.model.clone())?
        .ok_or_else(|| TrainingError::NotEncoded(cx.context.store.path().to_owned()))?;
    if let Some(text) = text.filter(|_| asked.row.is_some_and(|row| row as usize >= model.texts())) {
        let found = cx.context.store.text(text)?;
        let name = found.map_or_else(|| text.0.to_string(), |found| found.external_id);
        return Err(AnalysisError::TextNotFitted(name).into());
    }
    cx.context.held_here("explain");
    let explanations = asked.explain_annotators(&model, question.scale.target(), &rows, &near)?;
    let mut annotators = Vec::new();
    for ((annotator, _), explanation) in persons.iter().zip(&explanations.annotators) {
        annotators.push(explain_annotator(cx, annotator, explanation.as_ref(), &explanations, &question)?);
    }
    let differences = match annotators.as_slice() {
        [first, second] if explanations.odds.is_some() && !first.hidden && !second.hidden => {
            differences(first, second)
        }
        _ => Vec::new(),
    };
    Ok(Explanation {
        text,
        odds: explanations.odds,
        annotators,
        differences,
        agreed: near_texts(cx, &question.scale, &explanations.agreed)?,
        remark: note_on_labels(cx, true)?,
    })
}

fn explain_annotator(
    cx: &Analysis,
    annotator: &Annotator,
    explanation: Option<&AnnotatorExplanation>,
    all: &Explanations,
    question: &Question,
) -> Result<ExplainedAnnotator, ProjectError> {
    let mut explained = ExplainedAnnotator {
        annotator: annotator.id,
        name: annotator.name.clone(),
        hidden: explanation.is_none(),
        labels: 0,
        observed: None,
        sentence: String::new(),
        distribution: Vec::new(),
        parts: Vec::new(),
        score: 0.0,
        log_odds: 0.0,
        probability: 0.0,
        others: 0,
        influences: Vec::new(),
        nearest: Vec::new(),
    };
    let (Some(explanation), Some(odds)) = (explanation, all.odds) else { return Ok(explained) };
    let found = &explanation.prediction;
    let (values, log_odds) = of_odds(found, odds);
    let kind = question.scale.target();
    let answer_at = |column: u16| question.scale.id_at(column.into()).map(Answer::Level);
    let has = |part: ScorePartKind| match part {
        ScorePartKind::OwnLabel => found.own_level.is_some(),
        ScorePartKind::Thresholds => kind.has_distances() && question.scale.len() > 2,
        ScorePartKind::Slope => all.has_slopes,
        ScorePartKind::Discrimination => all.has_discrimination,
        _ => true,
    };
    let parts = KINDS.iter().zip(values).filter(|(part, _)| has(**part));
    explained.parts = parts.map(|(part, value)| ScorePart { part: *part, value }).collect();
    explained.score = values.iter().sum();
    explained.log_odds = log_odds;
    explained.probability = 1.0 / (1.0 + (-log_odds).exp());
    explained.labels = explanation.labels;
    explained.observed = found.own_level.and_then(answer_at);
    explained.distribution.clone_from(&found.probabilities);
    explained.others = found.others as u32;
    explained.nearest = near_texts(cx, &question.scale, &explanation.nearest)?;
    explained.sentence = sentence(&explained, odds, &question.scale);
    for influence in &explanation.influences {
        let (text, external_id, snippet) = named(cx, influence.text)?;
        let Some(answer) = answer_at(influence.level) else { continue };
        let change = influence.change;
        explained.influences.push(InfluentialLabel { text, external_id, snippet, answer, change });
    }
    Ok(explained)
}

/// The text to explain.
struct TextToExplain<'a> {
    text: ExplainedText<'a>,
    /// Empty without an encoder.
    embedding: &'a [f32],
    row: Option<u32>,
}

impl TextToExplain<'_> {
    /// The model's explanations for these annotators (`None` if hidden); `near` are all other texts, the
    /// nearest first.
    fn explain_annotators(
        &self,
        model: &LiveModel,
        kind: TargetKind,
        annotators: &[Option<u32>],
        near: &[(u32, f32)],
    ) -> Result<Explanations, ProjectError> {
        let texts = model.texts() as u32;
        let predict =
            |annotator: &Option<u32>| annotator.map(|who| model.explain(self.text, who)).transpose();
        let predictions = annotators.iter().map(predict).collect::<Result<Vec<_>, _>>()?;
        let shown: Vec<&ExplainedPrediction> = predictions.iter().flatten().collect();
        let Some(odds) = chosen_odds(kind, &shown) else {
            let annotators = annotators.iter().map(|_| None).collect();
            return Ok(Explanations { annotators, ..Explanations::default() });
        };
        let has = |part: fn(&ScoreParts) -> f64| {
            shown.iter().any(|found| found.logits.iter().any(|logit| part(logit) != 0.0))
        };
        let (has_slopes, has_discrimination) = (has(|logit| logit.slope), has(|logit| logit.discrimination));
        let mut all =
            Explanations { odds: Some(odds), has_slopes, has_discrimination, ..Explanations::default() };
        let outcome = if kind.is_ordered() { Outcome::ExpectedLevel } else { Outcome::Level(odds.level) };
        for (annotator, prediction) in annotators.iter().zip(predictions) {
            let Some((annotator, prediction)) = annotator.zip(prediction) else {
                all.annotators.push(None);
                continue;
            };
            let known = near.iter().filter(|(row, _)| *row < texts);
            let own = known.filter_map(|&(row, cosine)| Some((row, cosine, model.label(row, annotator)?, 1)));
            all.annotators.push(Some(AnnotatorExplanation {
                influences: model.influences(self.text, annotator, outcome, INFLUENCES)?,
                nearest: own.take(NEAR).collect(),
                labels: model.labels_of(annotator) as u32,
                prediction,
            }));
        }
        all.agreed = nearest_agreed(model, kind, near);
        Ok(all)
    }
}

/// Chooses the odds to explain. For one annotator: the odds nearest to even ones of an ordered scale, which
/// bound the median, otherwise the most likely level against the next one. For two: where their
/// probabilities differ most, otherwise the most likely level of each. `None` without predictions.
fn chosen_odds(kind: TargetKind, predictions: &[&ExplainedPrediction]) -> Option<ExplainedOdds> {
    let first = predictions.first()?;
    if kind.is_ordered() {
        let above = |found: &ExplainedPrediction, j: usize| found.probabilities[j + 1..].iter().sum::<f64>();
        let closeness = |j: usize| match predictions.get(1) {
            Some(second) => -(above(first, j) - above(second, j)).abs(),
            None => first.logits[j].log_odds().abs(),
        };
        let thresholds = 0..first.logits.len();
        let j = thresholds.min_by(|a, b| closeness(*a).total_cmp(&closeness(*b)))?;
        return Some(ExplainedOdds { level: j as u16 + 1, against: None });
    }
    let order = |found: &ExplainedPrediction| {
        let mut levels: Vec<usize> = (0..found.probabilities.len()).collect();
        levels.sort_by(|a, b| found.probabilities[*b].total_cmp(&found.probabilities[*a]));
        levels
    };
    let own = order(first);
    let others = predictions.get(1).map(|second| order(second)[0]).filter(|top| *top != own[0]);
    Some(ExplainedOdds { level: own[0] as u16, against: Some(others.unwrap_or(own[1]) as u16) })
}

/// The parts of these odds, in the order of [`KINDS`], and the logarithm of the odds.
fn of_odds(found: &ExplainedPrediction, odds: ExplainedOdds) -> ([f64; 8], f64) {
    let logit = |level: u16| &found.logits[usize::from(level)];
    match odds.against {
        None => {
            let logit = logit(odds.level - 1);
            (logit.parts(), logit.log_odds())
        }
        Some(against) => {
            let (one, other) = (logit(odds.level), logit(against));
            let (mut parts, others) = (one.parts(), other.parts());
            parts.iter_mut().zip(others).for_each(|(part, other)| *part -= other);
            (parts, one.log_odds() - other.log_odds())
        }
    }
}

/// The parts in which two annotators differ, the largest first; common parts are left out.
fn differences(first: &ExplainedAnnotator, second: &ExplainedAnnotator) -> Vec<PartDifference> {
    let value = |of: &ExplainedAnnotator, part: ScorePartKind| {
        of.parts.iter().find(|found| found.part == part).map_or(0.0, |found| found.value)
    };
    let doubt = |of: &ExplainedAnnotator| of.log_odds - of.score;
    let by_part = KINDS.iter().map(|&part| (Some(part), value(first, part) - value(second, part)));
    let all = by_part.chain([(None, doubt(first) - doubt(second))]);
    let mut differences: Vec<PartDifference> =
        all.filter(|(_, value)| *value != 0.0).map(|(part, value)| PartDifference { part, value }).collect();
    differences.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(kind: TargetKind, log_odds: &[f64]) -> ExplainedPrediction {
        let logits: Vec<ScoreParts> = log_odds
            .iter()
            .map(|score| ScoreParts { words: *score, attenuation: 1.0, ..ScoreParts::default() })
            .collect();
        let probabilities = if kind.is_ordered() {
            let above: Vec<f64> = log_odds.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect();
            let ends = |j: usize| if j == 0 { 1.0 } else { above[j - 1] };
            (0..=above.len()).map(|j| ends(j) - above.get(j).copied().unwrap_or(0.0)).collect()
        } else {
            let sum: f64 = log_odds.iter().map(|x| x.exp()).sum();
            log_odds.iter().map(|x| x.exp() / sum).collect()
        };
        ExplainedPrediction { logits, probabilities, others: 0, own_level: None }
    }

    #[test]
    fn odds_are_at_the_median_of_one_and_between_two() {
        let mild = predicted(TargetKind::Ordinal, &[2.0, 0.3, -1.0, -3.0]);
        let harsh = predicted(TargetKind::Ordinal, &[3.0, 2.0, 1.5, 0.2]);
        let odds = |of: &[&ExplainedPrediction]| chosen_odds(TargetKind::Ordinal, of).unwrap();
        assert_eq!(odds(&[&mild]), ExplainedOdds { level: 2, against: None });
        assert_eq!(odds(&[&harsh]), ExplainedOdds { level: 4, against: None });
        // sigma(1.5) - sigma(-1) is the widest.
        assert_eq!(odds(&[&mild, &harsh]), ExplainedOdds { level: 3, against: None });
        assert_eq!(chosen_odds(TargetKind::Ordinal, &[]), None);
    }

    #[test]
    fn nominal_levels_are_compared_with_each_other() {
        let one = predicted(TargetKind::Nominal, &[0.0, 2.0, 1.0]);
        let same = predicted(TargetKind::Nominal, &[1.0, 1.5, 0.0]);
        let other = predicted(TargetKind::Nominal, &[3.0, 0.0, 0.0]);
        let odds = |of: &[&ExplainedPrediction]| chosen_odds(TargetKind::Nominal, of).unwrap();
        assert_eq!(odds(&[&one]), ExplainedOdds { level: 1, against: Some(2) });
        assert_eq!(odds(&[&one, &same]), ExplainedOdds { level: 1, against: Some(2) });
        assert_eq!(odds(&[&one, &other]), ExplainedOdds { level: 1, against: Some(0) });
        let (parts, log_odds) = of_odds(&one, odds(&[&one, &other]));
        assert_eq!((parts.iter().sum::<f64>(), log_odds), (2.0, 2.0));
    }
}
