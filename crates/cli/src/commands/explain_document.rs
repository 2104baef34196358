//! The JSON document of `analyse explain`.

use crate::args::Explain;
use crate::by_name::ByName;
use dissensus_api::{
    ExplainedAnnotator, ExplainedOdds, ExplainedWords, Explanation, InfluentialLabel, NearText,
    PartDifference, ScorePartKind,
};
use dissensus_domain::{Answer, Question};
use dissensus_stats::data::Target;
use schemars::JsonSchema;
use serde::Serialize;

/// Explanation of the predicted answers to a text.
#[derive(Serialize, JsonSchema)]
pub(super) struct ExplainedPrediction<'a> {
    /// Nearest texts on which annotators agreed.
    agreed: Vec<NearbyText<'a>>,
    /// The annotator, and with `--with` the second one.
    annotators: Vec<ExplainedPerson<'a>>,
    /// Parts of the difference between two annotators, the largest first.
    differences: Vec<PartOfDifference>,
    /// The event that the scores are log odds of.
    odds: Option<Odds<'a>>,
    /// The question.
    question: &'a str,
    /// Note about the explanation.
    remark: Option<&'a str>,
    /// The text, if it was given on the command line.
    text: Option<&'a str>,
    /// Id of the text, if it is in the project.
    text_id: Option<&'a str>,
    /// With `--words`: the effect of leaving out words.
    words: Option<WordsLeftOut<'a>>,
}

/// The event that odds refer to: this level or a higher one, or this level against another one.
#[derive(Serialize, JsonSchema)]
struct Odds<'a> {
    /// The other level.
    against: Option<&'a str>,
    /// The level.
    level: &'a str,
}

/// Predicted answer of one annotator.
#[derive(Serialize, JsonSchema)]
struct ExplainedPerson<'a> {
    /// Id of the annotator.
    annotator: &'a str,
    /// Labels with the largest effect on the prediction.
    influences: Vec<LabelThatMoves<'a>>,
    /// Number of labels by the annotator.
    labels: u32,
    /// Logarithm of the odds.
    log_odds: f64,
    /// The annotator's name.
    name: &'a str,
    /// Nearest texts that the annotator has labelled.
    nearest: Vec<NearbyText<'a>>,
    /// The annotator's actual answer to this text.
    observed: Option<String>,
    /// Number of other annotators' labels of this text that are used.
    others: u32,
    /// Parts that add up to the score.
    parts: Vec<PartOfScore>,
    /// The predicted level.
    prediction: &'a str,
    /// Probability of each level.
    probabilities: ByName<f64>,
    /// Probability of the event that the odds refer to.
    probability: f64,
    /// Sum of the parts.
    score: f64,
    /// The actual or predicted answer and its reasons, in words.
    sentence: &'a str,
}

/// A part of a score.
#[derive(Serialize, JsonSchema)]
struct PartOfScore {
    /// Kind of part.
    part: ScorePartKind,
    /// Value in logits.
    value: f64,
}

/// A part of the difference between two scores.
#[derive(Serialize, JsonSchema)]
struct PartOfDifference {
    /// Kind of part; `doubt` is what scores lose to uncertainty about text and annotator.
    part: &'static str,
    /// Value in logits.
    value: f64,
}

/// A label that affects a prediction.
#[derive(Serialize, JsonSchema)]
struct LabelThatMoves<'a> {
    /// The label.
    answer: String,
    /// What the label adds to the prediction, compared with a fit without it.
    change: f64,
    /// Beginning of the text.
    text: &'a str,
    /// Id of the text.
    text_id: &'a str,
}

/// A text similar to the one being explained.
#[derive(Serialize, JsonSchema)]
struct NearbyText<'a> {
    /// The answer to it.
    answer: String,
    /// Number of its labels.
    labels: u32,
    /// Cosine similarity of the embeddings.
    similarity: f64,
    /// Beginning of the text.
    text: &'a str,
    /// Id of the text.
    text_id: &'a str,
}

/// Effect of leaving out words on the text's score.
#[derive(Serialize, JsonSchema)]
struct WordsLeftOut<'a> {
    /// What is missing to compute the effect.
    needs: Option<&'a str>,
    /// The words, in text order.
    pieces: Vec<PieceLeftOut<'a>>,
    /// Note about the figures.
    remark: Option<&'a str>,
    /// The score of the whole text.
    score: f64,
    /// Number of words left out at a time.
    together: u32,
}

/// A group of words left out together.
#[derive(Serialize, JsonSchema)]
struct PieceLeftOut<'a> {
    /// Decrease of the score without these words.
    change: f64,
    /// The words.
    words: &'a str,
}

/// Builds the document; `names` are the annotators' ids.
pub(super) fn document<'a>(
    question: &'a Question,
    args: &'a Explain,
    names: &'a [String],
    explanation: &'a Explanation,
    words: Option<&'a ExplainedWords>,
) -> ExplainedPrediction<'a> {
    let odds = |odds: ExplainedOdds| Odds {
        against: odds.against.map(|against| level(question, against)),
        level: level(question, odds.level),
    };
    let difference = |difference: &PartDifference| PartOfDifference {
        part: difference.part.map_or("doubt", code),
        value: difference.value,
    };
    let people = explanation.annotators.iter().zip(names);
    ExplainedPrediction {
        agreed: explanation.agreed.iter().map(|text| nearby(question, text)).collect(),
        annotators: people.map(|(person, name)| explained(question, person, name)).collect(),
        differences: explanation.differences.iter().map(difference).collect(),
        odds: explanation.odds.map(odds),
        question: &question.name,
        remark: explanation.remark.as_deref(),
        text: args.what.text.as_deref(),
        text_id: args.what.text_id.as_deref(),
        words: words.map(left_out),
    }
}

fn explained<'a>(
    question: &'a Question,
    person: &'a ExplainedAnnotator,
    name: &'a str,
) -> ExplainedPerson<'a> {
    let influence = |label: &'a InfluentialLabel| LabelThatMoves {
        answer: named(question, &label.answer),
        change: label.change,
        text: &label.snippet,
        text_id: &label.external_id,
    };
    let parts = person.parts.iter().map(|part| PartOfScore { part: part.part, value: part.value });
    let levels = question.scale.levels().iter().cloned();
    ExplainedPerson {
        annotator: name,
        influences: person.influences.iter().map(influence).collect(),
        labels: person.labels,
        log_odds: person.log_odds,
        name: &person.name,
        nearest: person.nearest.iter().map(|text| nearby(question, text)).collect(),
        observed: person.observed.as_ref().map(|answer| named(question, answer)),
        others: person.others,
        parts: parts.collect(),
        prediction: level(question, predicted(question, person)),
        probabilities: levels.zip(person.distribution.iter().copied()).collect(),
        probability: person.probability,
        score: person.score,
        sentence: &person.sentence,
    }
}

fn nearby<'a>(question: &Question, near: &'a NearText) -> NearbyText<'a> {
    NearbyText {
        answer: named(question, &near.answer),
        labels: near.labels,
        similarity: near.similarity.into(),
        text: &near.snippet,
        text_id: &near.external_id,
    }
}

fn left_out(words: &ExplainedWords) -> WordsLeftOut<'_> {
    let pieces = words.pieces.iter();
    WordsLeftOut {
        needs: words.needs.as_deref(),
        pieces: pieces.map(|piece| PieceLeftOut { change: piece.change, words: &piece.words }).collect(),
        remark: words.remark.as_deref(),
        score: words.score,
        together: words.together,
    }
}

fn code(part: ScorePartKind) -> &'static str {
    match part {
        ScorePartKind::Average => "average",
        ScorePartKind::Words => "words",
        ScorePartKind::Others => "others",
        ScorePartKind::OwnLabel => "own_label",
        ScorePartKind::Severity => "severity",
        ScorePartKind::Thresholds => "thresholds",
        ScorePartKind::Slope => "slope",
        ScorePartKind::Discrimination => "discrimination",
    }
}

/// The name of a level.
pub(super) fn level(question: &Question, level: u16) -> &str {
    question.scale.name_at(level).unwrap_or("?")
}

/// The name of an answer.
pub(super) fn named(question: &Question, answer: &Answer) -> String {
    super::answer_name(question, answer)
}

/// The predicted level of an annotator.
fn predicted(question: &Question, person: &ExplainedAnnotator) -> u16 {
    let p: Vec<f32> = person.distribution.iter().map(|p| *p as f32).collect();
    Target { kind: question.scale.target(), levels: p.len() }.answer(&p)
}
