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

/// Why a text is predicted to be answered so.
#[derive(Serialize, JsonSchema)]
pub(super) struct ExplainedPrediction<'a> {
    /// Nearest texts on which people agreed.
    agreed: Vec<NearbyText<'a>>,
    /// The annotator, and with `--with` the other one.
    annotators: Vec<ExplainedPerson<'a>>,
    /// Where two annotators differ, the largest part first.
    differences: Vec<PartOfDifference>,
    /// What the sums are the odds of.
    odds: Option<Odds<'a>>,
    /// The question.
    question: &'a str,
    /// What is to be known.
    remark: Option<&'a str>,
    /// The text that was given.
    text: Option<&'a str>,
    /// The text of the project, by id.
    text_id: Option<&'a str>,
    /// With `--words`: what leaving out words does.
    words: Option<WordsLeftOut<'a>>,
}

/// What odds are of: this level or one above it, or this level against another one.
#[derive(Serialize, JsonSchema)]
struct Odds<'a> {
    /// The other level.
    against: Option<&'a str>,
    /// The level.
    level: &'a str,
}

/// How one annotator is predicted to answer.
#[derive(Serialize, JsonSchema)]
struct ExplainedPerson<'a> {
    /// Who, by id.
    annotator: &'a str,
    /// Labels that move the prediction most.
    influences: Vec<LabelThatMoves<'a>>,
    /// Labels that the annotator gave.
    labels: u32,
    /// The logarithm of the odds.
    log_odds: f64,
    /// The annotator's name.
    name: &'a str,
    /// Nearest texts that the annotator labelled.
    nearest: Vec<NearbyText<'a>>,
    /// What the annotator answered to this text.
    observed: Option<String>,
    /// How many others' labels of this text count.
    others: u32,
    /// What the score is the sum of.
    parts: Vec<PartOfScore>,
    /// The predicted level.
    prediction: &'a str,
    /// How likely each level is.
    probabilities: ByName<f64>,
    /// How likely it is what the odds are of.
    probability: f64,
    /// The sum of the parts.
    score: f64,
    /// What was answered or is predicted and why, in words.
    sentence: &'a str,
}

/// A part of a score.
#[derive(Serialize, JsonSchema)]
struct PartOfScore {
    /// Which.
    part: ScorePartKind,
    /// Logits.
    value: f64,
}

/// A part of the difference between two scores.
#[derive(Serialize, JsonSchema)]
struct PartOfDifference {
    /// Which; `doubt` is what scores lose because text and annotator are not known exactly.
    part: &'static str,
    /// Logits.
    value: f64,
}

/// A label that moves a prediction.
#[derive(Serialize, JsonSchema)]
struct LabelThatMoves<'a> {
    /// The label.
    answer: String,
    /// What it adds to the prediction, against a fit without it.
    change: f64,
    /// The text's beginning.
    text: &'a str,
    /// Its id.
    text_id: &'a str,
}

/// A text like the one that is asked about.
#[derive(Serialize, JsonSchema)]
struct NearbyText<'a> {
    /// The answer to it.
    answer: String,
    /// How many labels it has.
    labels: u32,
    /// How alike its embedding is (cosine).
    similarity: f64,
    /// The text's beginning.
    text: &'a str,
    /// Its id.
    text_id: &'a str,
}

/// What leaving out words takes from the text's score.
#[derive(Serialize, JsonSchema)]
struct WordsLeftOut<'a> {
    /// What is missing to tell.
    needs: Option<&'a str>,
    /// The words, in the order of the text.
    pieces: Vec<PieceLeftOut<'a>>,
    /// What is to be known.
    remark: Option<&'a str>,
    /// The score of the whole text.
    score: f64,
    /// How many words are left out at a time.
    together: u32,
}

/// Words that were left out.
#[derive(Serialize, JsonSchema)]
struct PieceLeftOut<'a> {
    /// What leaving them out takes from the score.
    change: f64,
    /// The words.
    words: &'a str,
}

/// `names` are the annotators' ids.
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
    question.scale.name_of(level).unwrap_or("?")
}

/// The name of an answer.
pub(super) fn named(question: &Question, answer: &Answer) -> String {
    super::answer_name(question, answer)
}

/// The level that is predicted of somebody.
fn predicted(question: &Question, person: &ExplainedAnnotator) -> u16 {
    let p: Vec<f32> = person.distribution.iter().map(|p| *p as f32).collect();
    Target { kind: question.scale.kind(), levels: p.len() }.answer(&p)
}
