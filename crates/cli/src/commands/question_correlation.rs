//! `correlate-questions`.

use super::{count, encoder_choice, note, open_or_read, tell_switch};
use crate::args::CorrelateQuestions;
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_workbench::Session;
use dissensus_workbench::view::{
    CorrelationChoice, CorrelationFigure, CorrelationFigures, QuestionCorrelation, ScorePair,
};
use serde_json::{Value, json};

/// Scores whose matrix fits on a screen.
const MOST_IN_MATRIX: usize = 12;

pub(crate) fn correlate_questions(args: &CorrelateQuestions) -> Result<()> {
    let session = open_or_read(&args.project)?;
    let choice =
        CorrelationChoice { questions: questions(&session, &args.questions)?, runs: args.run.clone() };
    let bar = Bar::new("steps");
    let ready = match args.run.is_empty() {
        true => session.encoding.ensure_encoded(&encoder_choice(&args.encoder), &bar),
        false => Ok(None),
    };
    let ready = ready.and_then(|switch| Ok((switch, session.analysis.correlate_questions(&choice, &bar)?)));
    drop(bar);
    let (switch, found) = ready?;
    tell_switch(switch);
    let notice = session.project.info()?.simulated_notice;
    if args.json {
        return output::json(&as_json(&found, notice.as_deref()));
    }
    if let Some(notice) = notice {
        output::line(&notice)?;
    }
    show(&found)
}

/// A name with a comma in it stands by itself.
fn questions(session: &Session, named: &[String]) -> Result<Vec<dissensus_domain::QuestionId>> {
    let mut found = Vec::new();
    for asked in named {
        match session.project.question(Some(asked)) {
            Ok(question) => found.push(question.id),
            Err(whole) if !asked.contains(',') => return Err(whole.into()),
            Err(_) => {
                for name in asked.split(',') {
                    found.push(session.project.question(Some(name.trim()))?.id);
                }
            }
        }
    }
    Ok(found)
}

fn as_json(found: &QuestionCorrelation, notice: Option<&str>) -> Value {
    let score = |score: &dissensus_workbench::view::ScoredQuestion| json!({"question": score.name, "score": score.score, "run": score.run, "learned_texts": score.learned});
    let pair = |pair: &ScorePair| {
        let (both, a, b, neither) = pair.learned;
        json!({
            "a": found.scores[pair.a as usize].name,
            "b": found.scores[pair.b as usize].name,
            "learned_texts": {"both": both, "a_only": a, "b_only": b, "neither": neither},
            "held_out": figures(&pair.held_out),
            "unlabelled": figures(&pair.unlabelled),
            "as_learned": figures(&pair.as_learned),
        })
    };
    json!({
        "scores": found.scores.iter().map(score).collect::<Vec<_>>(),
        "pairs": found.pairs.iter().map(pair).collect::<Vec<_>>(),
        "texts": found.texts,
        "copies": found.copies,
        "texts_that_taught_the_encoder": found.taught_encoder,
        "annotators": found.annotators,
        "folds": found.folds,
        "interval": "95 %, bootstrapped over texts (whole groups where there are some) on the scale of Fisher's z; the models are given",
        "notes": found.notes,
        "notice": notice,
    })
}

fn figures(of: &CorrelationFigures) -> Value {
    let figure = |of: Option<CorrelationFigure>| {
        of.map(|of| json!({"value": of.value, "low": of.interval.map(|i| i.0), "high": of.interval.map(|i| i.1)}))
    };
    json!({"texts": of.texts, "pearson": figure(of.pearson), "spearman": figure(of.spearman)})
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
    if found.scores.len() > 2 && found.scores.len() <= MOST_IN_MATRIX {
        output::line("\nSpearman's correlation, held out")?;
        output::line(&matrix(found))?;
    }
    // Of runs a text without labels is one whose labels taught neither: it may have some, that were held out of both.
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
