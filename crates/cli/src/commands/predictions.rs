//! `predict`, `predictions` and `disagreement`.

use super::{annotators, count, encoder_choice, open_or_read, tell_switch};
use crate::args::{Disagreement, MeasureArg, Predict, Predictions, PredictionsFormat};
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::{Context as _, Result};
use dissensus_domain::{AnnotatorId, QuestionId, ScaleKind};
use dissensus_workbench::view::{DisagreementMeasure, DisagreementQuery, DisagreementRow, Ranking};
use dissensus_workbench::{RunPrediction, Session, SubmissionChoices, Target};
use serde_json::json;

/// Characters of a text in the table.
const TEXT_WIDTH: usize = 60;

pub(crate) fn predict(args: &Predict) -> Result<()> {
    let session = open_or_read(&args.project)?;
    let question = session.project.question(args.question.as_deref())?;
    let annotator = session.project.annotator(&args.annotator)?;
    let (p, by) = match args.run {
        Some(run) => by_run(&session, run, annotator.id, args)?,
        None => (live(&session, question.id, annotator.id, args)?, None),
    };
    let levels = question.scale.levels();
    let best = usize::from(Target { kind: question.scale.kind(), levels: p.len() }.answer(&p));
    if args.json {
        let probabilities: serde_json::Map<String, serde_json::Value> =
            levels.iter().zip(&p).map(|(level, p)| (level.clone(), json!(p))).collect();
        return output::json(&json!({
            "annotator": annotator.external_id,
            "question": question.name,
            "text_id": args.what.text_id,
            "text": args.what.text,
            "prediction": levels[best],
            "probabilities": probabilities,
            "run": by.as_ref().map(|by| by.run),
            "knows_annotator": by.as_ref().map(|by| by.knows_annotator),
        }));
    }
    let how = if question.scale.kind() == ScaleKind::Ordinal { "answer about" } else { "most likely answer" };
    let what = if question.scale.kind() == ScaleKind::Ordinal { " (the median)" } else { "" };
    output::line(&format!("{} would {how} {}{what}", annotator.name, levels[best]))?;
    if let Some(by) = by.filter(|by| !by.knows_annotator) {
        output::line(&format!(
            "Run {} learned nothing from {}: this is what it says of a stranger",
            by.run, annotator.name
        ))?;
    }
    let rows =
        levels.iter().zip(&p).map(|(level, p)| vec![level.clone(), format!("{p:.3}"), bar_of(*p)]).collect();
    output::line(&output::table(&[question.name.as_str(), "probability", ""], rows, &[1]))
}

pub(crate) fn predictions(args: &Predictions) -> Result<()> {
    let PredictionsFormat::LewidiSubmission = args.format;
    let choices = SubmissionChoices {
        question: args.question.clone(),
        set: args.set.clone(),
        run: args.run,
        seed: args.seed,
        replace: args.force,
    };
    let session = open_or_read(&args.project)?;
    let bar = Bar::new("steps");
    let ready = match args.run {
        Some(_) => None,
        None => Some(session.encoding.ensure_encoded(&encoder_choice(&args.encoder), &bar)?),
    };
    std::fs::create_dir_all(&args.folder).with_context(|| format!("making {}", args.folder.display()))?;
    let written = session.analysis.lewidi_submission(&choices, &args.folder, &bar);
    drop(bar);
    let written = written?;
    if let Some(switch) = ready {
        tell_switch(switch);
    }
    if args.json {
        return output::json(&written);
    }
    let [soft, answers] = &written.files;
    output::line(&format!(
        "Wrote {} to {} and {} to {}, predicted by {}; soft labels have the smallest expected {} distance",
        count(written.texts as u64, "text"),
        soft.display(),
        count(written.answers as u64, "answer"),
        answers.display(),
        written.run.map_or_else(|| written.model.clone(), |run| format!("run {run} ({})", written.model)),
        if written.soft_labels == "wasserstein" { "Wasserstein" } else { "Manhattan" },
    ))
}

/// By the live model.
fn live(session: &Session, question: QuestionId, annotator: AnnotatorId, args: &Predict) -> Result<Vec<f32>> {
    let choice = encoder_choice(&args.encoder);
    let bar = Bar::new("texts");
    let ready = session
        .encoding
        .ensure_encoded(&choice, &bar)
        .and_then(|switch| session.live.fit(question, &bar).map(|_| switch));
    drop(bar);
    tell_switch(ready?);
    Ok(match (&args.what.text_id, &args.what.text) {
        (Some(id), _) => session.analysis.predict_text(question, annotator, id)?,
        (None, text) => {
            let embedding = session.encoding.embed(text.as_deref().unwrap_or_default(), &choice)?;
            session.analysis.predict_embedding(question, annotator, &embedding)?
        }
    })
}

/// By the model of a run.
fn by_run(
    session: &Session,
    run: u32,
    annotator: AnnotatorId,
    args: &Predict,
) -> Result<(Vec<f32>, Option<RunPrediction>)> {
    let body = match (&args.what.text_id, &args.what.text) {
        (Some(id), _) => session.project.body(id)?,
        (None, text) => text.clone().unwrap_or_default(),
    };
    let bar = Bar::new("steps");
    let found = session.runs.predict(run, annotator, &body, &bar);
    drop(bar);
    let found = found?;
    Ok((found.probabilities.clone(), Some(found)))
}

fn bar_of(p: f32) -> String {
    "█".repeat((p * 30.0).round() as usize)
}

pub(crate) fn disagreement(args: &Disagreement) -> Result<()> {
    let session = open_or_read(&args.project)?;
    let question = session.project.question(args.question.as_deref())?;
    let bar = Bar::new("texts");
    let ready = session
        .encoding
        .ensure_encoded(&encoder_choice(&args.encoder), &bar)
        .and_then(|switch| session.live.fit(question.id, &bar).map(|_| switch));
    drop(bar);
    tell_switch(ready?);
    let query = DisagreementQuery {
        question: question.id,
        by: match args.by {
            MeasureArg::Pairwise => DisagreementMeasure::Pairwise,
            MeasureArg::Divergence => DisagreementMeasure::Divergence,
            MeasureArg::Uncertainty => DisagreementMeasure::Uncertainty,
        },
        search: args.search.clone(),
        attributes: args.attributes.iter().cloned().collect(),
        labelled_only: args.labelled,
    };
    let ranking = session.analysis.ranking(&query)?;
    let shown = ranking.texts.len().min(args.top);
    let rows = session.analysis.rows(&query, &ranking.texts[..shown])?;
    if args.json {
        return output::json(&json!({
            "question": question.name,
            "levels": question.scale.levels(),
            "by": query.by,
            "annotators": ranking.annotators,
            "annotators_without_labels": ranking.annotators_without_labels,
            "texts_in_all": ranking.texts.len(),
            "remark": ranking.remark,
            "estimation": ranking.estimation,
            "notice": session.project.info()?.simulated_notice,
            "texts": rows.iter().enumerate().map(|(at, row)| as_json(at, row)).collect::<Vec<_>>(),
        }));
    }
    show(&session, &rows, &ranking)
}

fn as_json(at: usize, row: &DisagreementRow) -> serde_json::Value {
    json!({
        "rank": at + 1,
        "text_id": row.external_id,
        "text": row.snippet,
        "pairwise": row.scores.pairwise,
        "pairwise_interval": row.scores.pairwise_interval,
        "divergence": row.scores.divergence,
        "uncertainty": row.scores.uncertainty,
        "level_variance": row.scores.level_variance,
        "distribution": row.distribution,
        "observed": row.observed,
        "observed_pairwise": row.observed_pairwise,
    })
}

fn show(session: &Session, rows: &[DisagreementRow], ranking: &Ranking) -> Result<()> {
    if let Some(notice) = session.project.info()?.simulated_notice {
        output::line(&notice)?;
    }
    if let Some(remark) = &ranking.remark {
        output::line(remark)?;
    }
    output::line(&format!(
        "Predicted disagreement among {} on {}",
        annotators(ranking.annotators, ranking.annotators_without_labels),
        count(ranking.texts.len() as u64, "text")
    ))?;
    let line = |(at, row): (usize, &DisagreementRow)| {
        let (low, high) = row.scores.pairwise_interval;
        let labels: u32 = row.observed.iter().sum();
        vec![
            (at + 1).to_string(),
            row.external_id.clone(),
            format!("{:.3}", row.scores.pairwise),
            format!("{low:.2}–{high:.2}"),
            format!("{:.3}", row.scores.divergence),
            format!("{:.3}", row.scores.uncertainty),
            three(row.observed_pairwise.map(f64::from)),
            labels.to_string(),
            output::cut(&row.snippet, TEXT_WIDTH),
        ]
    };
    let header =
        ["", "text id", "pairwise", "90 %", "divergence", "uncertainty", "observed", "labels", "text"];
    let lines = rows.iter().enumerate().map(line).collect();
    output::line(&output::table(&header, lines, &[0, 2, 4, 5, 6, 7]))
}
