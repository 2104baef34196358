//! `analyse explain`: reasons for an annotator's predicted answer.

use super::explain_document::{document, level, named};
use super::{count, encoder_choice, open_or_read, print_switch};
use crate::args::Explain;
use crate::output;
use crate::progress::Bar;
use anyhow::{Result, bail};
use dissensus_analysis::explain;
use dissensus_analysis::explain_words;
use dissensus_api::{
    ExplainQuery, ExplainedAnnotator, ExplainedOdds, ExplainedWords, Explanation, NearText, ScorePartKind,
};
use dissensus_domain::{Question, TargetKind};
use dissensus_editing::annotators;
use dissensus_editing::questions;
use dissensus_editing::texts;

/// Maximum number of characters of a text in a table.
const TEXT_WIDTH: usize = 60;
/// Number of words in the table, the most influential ones.
const WORDS: usize = 10;
/// Part of the score that is lost to uncertainty about text and annotator, or to the text's own scale.
const DOUBT: &str = "uncertainty, text's scale";
/// Number of logits of a full bar.
const WIDEST: f64 = 3.0;
const BAR: f64 = 20.0;

pub(crate) fn explain(args: &Explain) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let annotator = annotators::find(&session.project, &args.annotator)?;
    let with = args.with.as_deref().map(|name| annotators::find(&session.project, name)).transpose()?;
    if with.as_ref().is_some_and(|with| with.id == annotator.id) {
        bail!("--with {}: name somebody else than --annotator", args.with.as_deref().unwrap_or_default());
    }
    let choice = encoder_choice(&args.encoder);
    let bar = Bar::new("texts");
    let ready = session
        .encoding
        .ensure_encoded(&choice, &bar)
        .and_then(|switch| session.live.fit(question.id, &bar).map(|_| switch));
    drop(bar);
    print_switch(ready?);
    let names: Vec<String> =
        std::iter::once(&annotator).chain(&with).map(|person| person.external_id.clone()).collect();
    let with = with.map(|with| with.id);
    let (explanation, body, known) = match (&args.what.text_id, &args.what.text) {
        (Some(id), _) => {
            let (text, body) = texts::find(&session.project, id)?;
            let query = ExplainQuery {
                question: question.id,
                text,
                annotator: annotator.id,
                with,
                without_own: args.without_own,
            };
            (explain::explain_text(&session.analysis, &query, None, false)?, body, Some(text))
        }
        (None, text) => {
            let body = text.clone().unwrap_or_default();
            let x = session.encoding.embed(&body, &choice)?;
            (explain::explain_new_text(&session.analysis, question.id, &x, annotator.id, with)?, body, None)
        }
    };
    let words = match explanation.odds.filter(|_| args.words) {
        None => None,
        Some(odds) => {
            let bar = Bar::new("words");
            let found = explain_words::explain_odds(
                &session.analysis,
                question.id,
                known,
                &body,
                odds,
                &choice,
                &bar,
            );
            drop(bar);
            Some(found?)
        }
    };
    if args.output.json {
        return output::json(&document(&question, args, &names, &explanation, words.as_ref()));
    }
    show(&question, &explanation, words.as_ref())
}

/// Describes the odds: "4 or above", "remove", "angry and not sad".
fn odds_words(question: &Question, odds: ExplainedOdds) -> String {
    let own = level(question, odds.level);
    match odds.against {
        Some(against) => format!("{own} and not {}", level(question, against)),
        None if usize::from(odds.level) + 1 == question.scale.len() => own.to_owned(),
        None => format!("{own} or above"),
    }
}

fn part_words(part: ScorePartKind, kind: TargetKind) -> &'static str {
    match part {
        ScorePartKind::Average => "the average annotator",
        ScorePartKind::Words => "the text's words",
        ScorePartKind::Others => "others' labels",
        ScorePartKind::OwnLabel => "the own label of this text",
        ScorePartKind::Severity if kind.is_ordered() => "severity",
        ScorePartKind::Severity => "how readily taken",
        ScorePartKind::Thresholds => "own thresholds",
        ScorePartKind::Slope => "own or group's reaction",
        ScorePartKind::Discrimination => "own consistency",
    }
}

fn bar_of(value: f64) -> String {
    let length = (value.abs() / WIDEST * BAR).round().min(BAR) as usize;
    if value < 0.0 { "░".repeat(length) } else { "█".repeat(length) }
}

fn row(name: &str, value: f64) -> Vec<String> {
    // Avoids "-0.000".
    let value = if value.abs() < 5e-4 { 0.0 } else { value };
    vec![name.to_owned(), format!("{value:+.3}"), bar_of(value)]
}

fn show(question: &Question, explanation: &Explanation, words: Option<&ExplainedWords>) -> Result<()> {
    let Some(odds) = explanation.odds else { return Ok(()) };
    let (kind, asked) = (question.scale.target(), odds_words(question, odds));
    if let Some(remark) = &explanation.remark {
        output::line(remark)?;
    }
    for person in &explanation.annotators {
        output::line(&person.sentence)?;
        output::line(&format!(
            "{}, known from {}: {:.1} % for {asked}",
            person.name,
            count(u64::from(person.labels), "label"),
            person.probability * 100.0
        ))?;
        let mut rows: Vec<Vec<String>> = person
            .parts
            .iter()
            .map(|part| match part.part {
                ScorePartKind::Others => row(&format!("others' labels ({})", person.others), part.value),
                other => row(part_words(other, kind), part.value),
            })
            .collect();
        rows.push(row(DOUBT, person.log_odds - person.score));
        rows.push(row("sum: logarithm of the odds", person.log_odds));
        output::line(&output::table(&["part", "logits", ""], rows, &[1]))?;
        output::line("")?;
    }
    if let [first, second] = explanation.annotators.as_slice() {
        output::line(&format!("Where {} and {} differ, the largest part first", first.name, second.name))?;
        let rows = explanation
            .differences
            .iter()
            .map(|difference| {
                let name = difference.part.map_or(DOUBT, |part| part_words(part, kind));
                row(name, difference.value)
            })
            .collect();
        output::line(&output::table(&["part", "difference", ""], rows, &[1]))?;
        output::line("")?;
    }
    for person in &explanation.annotators {
        show_labels(question, person, odds)?;
    }
    if !explanation.agreed.is_empty() {
        output::line("Nearest texts on which people agreed")?;
        show_near(question, &explanation.agreed, "agreed on")?;
    }
    words.map_or(Ok(()), |words| show_words(words, &asked))
}

fn show_labels(question: &Question, person: &ExplainedAnnotator, odds: ExplainedOdds) -> Result<()> {
    if person.labels == 0 {
        return output::line(&format!(
            "{} has no labels yet and is predicted as the average annotator\n",
            person.name
        ));
    }
    let unit = match question.scale.target() {
        TargetKind::Ordinal => "expected level".to_owned(),
        TargetKind::Binary => format!("probability of {}", level(question, 1)),
        TargetKind::Nominal => format!("probability of {}", level(question, odds.level)),
    };
    output::line(&format!(
        "Labels of {} that move this most: what each adds to the {unit}, against a fit of {} without it",
        person.name, person.name
    ))?;
    let rows = person
        .influences
        .iter()
        .map(|label| {
            vec![
                format!("{:+.4}", label.change),
                named(question, &label.answer),
                label.external_id.clone(),
                output::cut(&label.snippet, TEXT_WIDTH),
            ]
        })
        .collect();
    output::line(&output::table(&["adds", "label", "text id", "text"], rows, &[0]))?;
    output::line("")?;
    if !person.nearest.is_empty() {
        output::line(&format!("Nearest texts that {} labelled", person.name))?;
        show_near(question, &person.nearest, "label")?;
    }
    Ok(())
}

fn show_near(question: &Question, near: &[NearText], answer: &str) -> Result<()> {
    let rows = near
        .iter()
        .map(|near| {
            vec![
                format!("{:.2}", near.similarity),
                named(question, &near.answer),
                near.labels.to_string(),
                near.external_id.clone(),
                output::cut(&near.snippet, TEXT_WIDTH),
            ]
        })
        .collect();
    output::line(&output::table(&["cosine", answer, "labels", "text id", "text"], rows, &[0, 2]))?;
    output::line("")
}

fn show_words(words: &ExplainedWords, asked: &str) -> Result<()> {
    if let Some(needs) = &words.needs {
        return output::line(needs);
    }
    let what = match words.together {
        1 => "each word".to_owned(),
        n => format!("{n} words at a time"),
    };
    output::line(&format!(
        "Words: what leaving out {what} takes from the text's score towards {asked} (what it does to the score, not a cause)"
    ))?;
    if let Some(remark) = &words.remark {
        output::line(remark)?;
    }
    let mut pieces: Vec<_> = words.pieces.iter().collect();
    pieces.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
    let rows = pieces
        .into_iter()
        .take(WORDS)
        .map(|piece| {
            vec![
                format!("{:+.3}", piece.change),
                output::cut(piece.words.trim(), TEXT_WIDTH),
                bar_of(piece.change),
            ]
        })
        .collect();
    output::line(&output::table(&["logits", "words", ""], rows, &[0]))
}
