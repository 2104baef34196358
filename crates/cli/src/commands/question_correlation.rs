//! `analyse correlate-questions`.

use super::{count, encoder_choice, note, open_or_read, print_switch};
use crate::args::CorrelateQuestions;
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::question_correlation;
use dissensus_api::{
    CorrelationChoice, CorrelationFigure, CorrelationFigures, QuestionCorrelation, ScorePair, ScoredQuestion,
};
use dissensus_app::session::Session;
use dissensus_editing::info;
use dissensus_editing::questions;
use schemars::JsonSchema;
use serde::Serialize;

/// What `correlate-questions --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct Correlations<'a> {
    /// Number of annotators that a score is averaged over; for runs, the largest number.
    annotators: u32,
    /// Number of texts omitted because they duplicate others.
    copies: u32,
    /// Number of folds of the labelled texts; null if runs predict.
    folds: Option<u32>,
    /// What the intervals refer to.
    interval: &'static str,
    /// Notes on the figures, one sentence each.
    notes: &'a [String],
    /// Notice about simulated annotators.
    notice: Option<&'a str>,
    /// Correlations of all pairs of scores.
    pairs: Vec<CorrelatedPair<'a>>,
    /// The scores.
    scores: Vec<CorrelatedScore<'a>>,
    /// Number of texts, with duplicates counted once.
    texts: u32,
    /// Number of texts that the encoder was trained on; these are in no held-out figure.
    texts_that_taught_the_encoder: u32,
}

/// The predicted score of one question.
#[derive(Serialize, JsonSchema)]
struct CorrelatedScore<'a> {
    /// Number of texts whose labels the model was trained on.
    learned_texts: u32,
    /// The question.
    question: &'a str,
    /// Number of the run; null for the live model.
    run: Option<u32>,
    /// Definition of the score.
    score: &'a str,
}

/// Correlation of two scores.
#[derive(Serialize, JsonSchema)]
struct CorrelatedPair<'a> {
    /// The first question.
    a: &'a str,
    /// Over all texts, with the models' own scores, which include what the texts' own labels contributed.
    /// Without intervals.
    as_learned: PairFigures,
    /// The second question.
    b: &'a str,
    /// Over all texts that can be scored by models that were not trained on any of their labels.
    held_out: PairFigures,
    /// Texts that the models were trained on.
    learned_texts: LearnedTexts,
    /// The held-out texts without labels of either question.
    unlabelled: PairFigures,
}

/// How many texts each of two models was trained on.
#[derive(Serialize, JsonSchema)]
struct LearnedTexts {
    /// Only the first.
    a_only: u32,
    /// Only the second.
    b_only: u32,
    /// Both.
    both: u32,
    /// Neither.
    neither: u32,
}

/// Correlations over some texts; null if one of the scores does not vary.
#[derive(Serialize, JsonSchema)]
struct PairFigures {
    /// Pearson's correlation.
    pearson: Option<PairFigure>,
    /// Spearman's correlation.
    spearman: Option<PairFigure>,
    /// Number of texts.
    texts: u32,
}

/// A correlation.
#[derive(Serialize, JsonSchema)]
struct PairFigure {
    /// Upper end of its interval.
    high: Option<f64>,
    /// Lower end of its interval.
    low: Option<f64>,
    /// The value.
    value: f64,
}

/// Maximum number of scores whose matrix is printed.
const MAX_IN_MATRIX: usize = 12;

pub(crate) fn correlate_questions(args: &CorrelateQuestions) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let choice =
        CorrelationChoice { questions: questions(&session, &args.questions)?, runs: args.run.clone() };
    let bar = Bar::new("steps");
    let ready = match args.run.is_empty() {
        true => session.encoding.ensure_encoded(&encoder_choice(&args.encoder), &bar),
        false => Ok(None),
    };
    let ready = ready
        .and_then(|switch| Ok((switch, question_correlation::correlate(&session.analysis, &choice, &bar)?)));
    drop(bar);
    let (switch, found) = ready?;
    print_switch(switch);
    let notice = info::read(&session.project)?.simulated_notice;
    if args.output.json {
        return output::json(&document(&found, notice.as_deref()));
    }
    if let Some(notice) = notice {
        output::line(&notice)?;
    }
    show(&found)
}

/// Resolves question names, which may be separated by commas; a name that contains a comma must be given
/// separately.
fn questions(session: &Session, named: &[String]) -> Result<Vec<dissensus_domain::QuestionId>> {
    let mut found = Vec::new();
    for asked in named {
        match questions::find(&session.project, Some(asked)) {
            Ok(question) => found.push(question.id),
            Err(whole) if !asked.contains(',') => return Err(whole.into()),
            Err(_) => {
                for name in asked.split(',') {
                    found.push(questions::find(&session.project, Some(name.trim()))?.id);
                }
            }
        }
    }
    Ok(found)
}

fn document<'a>(found: &'a QuestionCorrelation, notice: Option<&'a str>) -> Correlations<'a> {
    let score = |score: &'a ScoredQuestion| CorrelatedScore {
        learned_texts: score.learned,
        question: &score.name,
        run: score.run,
        score: &score.score,
    };
    let pair = |pair: &ScorePair| {
        let (both, a_only, b_only, neither) = pair.learned;
        CorrelatedPair {
            a: &found.scores[pair.a as usize].name,
            as_learned: figures(&pair.as_learned),
            b: &found.scores[pair.b as usize].name,
            held_out: figures(&pair.held_out),
            learned_texts: LearnedTexts { a_only, b_only, both, neither },
            unlabelled: figures(&pair.unlabelled),
        }
    };
    Correlations {
        annotators: found.annotators,
        copies: found.copies,
        folds: found.folds,
        interval: "95 %, bootstrapped over texts (whole groups where there are some) on the scale of Fisher's z; the models are given",
        notes: &found.notes,
        notice,
        pairs: found.pairs.iter().map(pair).collect(),
        scores: found.scores.iter().map(score).collect(),
        texts: found.texts,
        texts_that_taught_the_encoder: found.taught_encoder,
    }
}

fn figures(of: &CorrelationFigures) -> PairFigures {
    let figure = |of: CorrelationFigure| PairFigure {
        high: of.interval.map(|(_, high)| high),
        low: of.interval.map(|(low, _)| low),
        value: of.value,
    };
    PairFigures { pearson: of.pearson.map(figure), spearman: of.spearman.map(figure), texts: of.texts }
}

fn show(found: &QuestionCorrelation) -> Result<()> {
    let people = count(found.annotators.into(), "annotator");
    output::line(&format!(
        "Mean predictions over {people} of {}{}",
        count(found.texts.into(), "text"),
        match found.copies {
            0 => String::new(),
            1 => " (1 copy left out)".to_owned(),
            copies => format!(" ({copies} copies left out)"),
        }
    ))?;
    output::line(&match found.folds {
        Some(folds) => format!(
            "Held out: labelled texts are scored in {folds} folds, by models that learned no label of the text, of its group or of a copy; texts without labels by the models of all labels. Correlations are within folds."
        ),
        None => "Held out: the texts whose labels taught neither run, which are those without labels and test texts of both.".to_owned(),
    })?;
    found.notes.iter().try_for_each(|note| output::line(note))?;
    let header = ["score of", "", "learned texts"];
    let rows = found.scores.iter().map(|score| {
        let run = score.run.map_or_else(String::new, |run| format!(", run {run}"));
        vec![score.name.clone(), format!("{}{run}", score.score), score.learned.to_string()]
    });
    output::line(&format!("\n{}", output::table(&header, rows.collect(), &[2])))?;
    if found.scores.len() > 2 && found.scores.len() <= MAX_IN_MATRIX {
        output::line("\nSpearman's correlation, held out")?;
        output::line(&matrix(found))?;
    }
    // With runs, a text "without labels" is one that trained neither run: it may have labels that were held
    // out of both.
    let (unlabelled, of_which) = match found.folds {
        Some(_) => ("without labels", "have labels of neither question"),
        None => ("taught neither", "taught neither run: test texts, and texts without labels"),
    };
    let header = ["a", "b", "texts", "Pearson", "95 %", "Spearman", "95 %", unlabelled, "as learned"];
    let rows = found.pairs.iter().map(|pair| line(found, pair)).collect();
    output::line(&format!("\n{}", output::table(&header, rows, &[2, 3, 5, 7, 8])))?;
    let carried = found.pairs.iter().map(|pair| found.texts - pair.learned.3).max().unwrap_or_default();
    if carried > 0 {
        note(&format!(
            "\"as learned\" (Spearman) is of all texts, also of those, up to {carried} of {}, whose labels the models learned: such predictions carry these labels. Report the held-out figures. \"{unlabelled}\" (Spearman) is of the texts that {of_which}",
            found.texts
        ));
    }
    Ok(())
}

fn matrix(found: &QuestionCorrelation) -> String {
    let n = found.scores.len();
    let number = |at: usize| format!("{}", at + 1);
    let header: Vec<String> = std::iter::once(String::new()).chain((0..n).map(number)).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let cell = |a: usize, b: usize| {
        let (a, b) = (a.min(b) as u32, a.max(b) as u32);
        let pair = found.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b));
        pair.map_or_else(|| "1".to_owned(), |pair| signed(pair.held_out.spearman))
    };
    let row = |a: usize| {
        let name = format!("{} {}", a + 1, found.scores[a].name);
        std::iter::once(name).chain((0..n).map(|b| cell(a, b))).collect()
    };
    output::table(&header, (0..n).map(row).collect(), &(1..=n).collect::<Vec<_>>())
}

fn line(found: &QuestionCorrelation, pair: &ScorePair) -> Vec<String> {
    let name = |at: u32| found.scores[at as usize].name.clone();
    let with_texts = |of: &CorrelationFigures| match of.texts {
        0 => "–".to_owned(),
        texts => format!("{} ({texts})", signed(of.spearman)),
    };
    let held_out = &pair.held_out;
    vec![
        name(pair.a),
        name(pair.b),
        held_out.texts.to_string(),
        signed(held_out.pearson),
        interval(held_out.pearson),
        signed(held_out.spearman),
        interval(held_out.spearman),
        with_texts(&pair.unlabelled),
        with_texts(&pair.as_learned),
    ]
}

fn signed(figure: Option<CorrelationFigure>) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| format!("{:+.3}", figure.value))
}

fn interval(figure: Option<CorrelationFigure>) -> String {
    let ends = figure.and_then(|figure| figure.interval);
    ends.map_or_else(|| "–".to_owned(), |(low, high)| format!("{low:+.3} to {high:+.3}"))
}
