//! `models encode`, `models train` and `models evaluate`.

use super::{
    count, encoder_choice, evaluation, note, open, open_or_read, open_to_read, option_evaluation,
    print_switch, span_evaluation,
};
use crate::args::{Encode, Evaluate, ModelArg, Train};
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::encoder_comparison;
use dissensus_analysis::learning_curve;
use dissensus_analysis::pooling;
use dissensus_analysis::train;
use dissensus_analysis::{
    EncoderComparison, EncoderLoss, EvaluateChoices, PoolingChoice, PoolingLoss, QuestionEvaluation,
};
use dissensus_editing::questions;
use dissensus_stats::data::ModelKind;
use dissensus_transfer::study;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) fn encode(args: &Encode) -> Result<()> {
    let session = open(&args.project.path)?;
    let bar = Bar::new("texts");
    if args.choose_pooling {
        let (question, choice) = (args.question.as_deref(), encoder_choice(&args.encoder));
        let tried = pooling::choose(&session.analysis, question, args.split, 0, &choice, &bar);
        drop(bar);
        return poolings(&tried?, args.output.json);
    }
    if !args.choose_encoder.is_empty() {
        let (question, choice) = (args.question.as_deref(), encoder_choice(&args.encoder));
        let names = &args.choose_encoder;
        let tried =
            encoder_comparison::choose(&session.analysis, names, question, args.split, 0, &choice, &bar);
        drop(bar);
        return encoders(&tried?, args.output.json);
    }
    let encoded = session.encoding.encode(&encoder_choice(&args.encoder), &bar);
    drop(bar);
    let encoded = encoded?;
    if args.output.json {
        return output::json(&encoded);
    }
    if let Some(note) = &encoded.note {
        output::line(note)?;
    }
    let kept = if encoded.kept > 0 { format!(", {} had one already", encoded.kept) } else { String::new() };
    let long = if encoded.cut > 0 {
        format!(", {} cut at the encoder's longest input", encoded.cut)
    } else if encoded.averaged > 0 {
        let windows = count(encoded.windows, "window");
        format!(", {} longer than the encoder reads at once: averaged over {windows}", encoded.averaged)
    } else {
        String::new()
    };
    output::line(&format!(
        "Encoded {} with {} on {} in {:.1} s{kept}{long}",
        count(encoded.texts, "text"),
        encoded.encoder,
        encoded.device,
        encoded.seconds
    ))
}

/// Prints every encoder that was tried, best first.
fn encoders(found: &EncoderComparison, json: bool) -> Result<()> {
    if json {
        return output::json(found);
    }
    let row = |tried: &EncoderLoss| vec![tried.encoder.clone(), three(Some(tried.log_loss))];
    let rows = found.tried.iter().map(row).collect();
    output::line(&output::table(&["encoder", "log loss on five folds"], rows, &[1]))?;
    let why = if found.chosen == found.incumbent {
        "from which no other differs for the better by more than a standard error".to_owned()
    } else {
        format!("better than {} by more than a standard error", found.incumbent)
    };
    output::line(&format!("\nThe project now uses {}, {why}", found.chosen))
}

/// Prints every pooling that was tried, best first.
fn poolings(found: &PoolingChoice, json: bool) -> Result<()> {
    if json {
        return output::json(found);
    }
    let row = |tried: &PoolingLoss| vec![tried.pooling.clone(), three(Some(tried.log_loss))];
    let rows = found.tried.iter().map(row).collect();
    output::line(&output::table(&["pooling", "log loss on ten folds"], rows, &[1]))?;
    let why = if found.chosen == found.own {
        "the encoder's own: no other is better by more than a standard error"
    } else {
        "better than the encoder's own by more than a standard error"
    };
    output::line(&format!("\nThe project now uses {}, {why}", found.chosen))
}

pub(crate) fn train(args: &Train) -> Result<()> {
    if args.asks_for_a_run() {
        return super::runs::train(args);
    }
    let session = open(&args.project.path)?;
    let bar = Bar::new("steps");
    let trained = session.encoding.ensure_encoded(&encoder_choice(&args.encoder), &bar).and_then(|switch| {
        Ok((switch, train::train(&session.analysis, args.question.name.as_deref(), &bar)?))
    });
    drop(bar);
    let (switch, trained) = trained?;
    print_switch(switch);
    if args.output.json {
        return output::json(&trained);
    }
    output::line(&format!(
        "Fitted {} for {} on {} of {} in {:.1} s",
        trained.model,
        trained.question,
        count(trained.labels as u64, "label"),
        count(trained.annotators as u64, "annotator"),
        trained.seconds
    ))
}

pub(crate) fn evaluate(args: &Evaluate) -> Result<()> {
    let split = match args.split {
        Some(split) => split,
        None => dissensus_analysis::evaluation::usual_split(
            &open_to_read(&args.project.path)?.analysis,
            args.question.name.as_deref(),
        )?,
    };
    let choices = EvaluateChoices {
        question: args.question.name.clone(),
        models: kinds(&args.models),
        split,
        seed: args.seed,
        at_least: args.at_least.clone(),
        tuning: args.tuning.clone(),
        encoder: encoder_choice(&args.encoder),
        prediction_sets: args.prediction_sets,
        without_slips: args.without_slips,
    };
    if !args.new_annotators.is_empty() {
        return curve(args, &choices);
    }
    let session = open_or_read(&args.project.path)?;
    let bar = Bar::new("steps");
    let found = session.encoding.ensure_encoded(&choices.encoder, &bar).and_then(|switch| {
        Ok((switch, dissensus_analysis::evaluation::evaluate(&session.analysis, &choices, &bar)?))
    });
    drop(bar);
    let (switch, found) = found?;
    print_switch(switch);
    match &found {
        QuestionEvaluation::Levels(found) => print(args, &**found, evaluation::show),
        QuestionEvaluation::Options(found) => {
            if args.without_slips {
                let question = questions::find(&session.project, args.question.name.as_deref())?;
                note(&study::slips_note(&session.study, question.id)?);
            }
            print(args, &**found, option_evaluation::show)
        }
        QuestionEvaluation::Spans(found) => print(args, &**found, span_evaluation::show),
    }
}

fn curve(args: &Evaluate, choices: &EvaluateChoices) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let bar = Bar::new("steps");
    let found = session.encoding.ensure_encoded(&encoder_choice(&args.encoder), &bar).and_then(|switch| {
        Ok((
            switch,
            learning_curve::measure(&session.analysis, choices, &args.new_annotators, args.new_texts, &bar)?,
        ))
    });
    drop(bar);
    let (switch, found) = found?;
    print_switch(switch);
    if args.output.json {
        return output::json(&found);
    }
    output::line(&format!(
        "{} held out, scored on {} of {} after so many labels of each: log loss (accuracy)",
        count(found.annotators as u64, "annotator"),
        count(found.n_labels as u64, "label"),
        count(found.n_texts as u64, "text")
    ))?;
    let mut numbers: Vec<usize> = found.points.iter().map(|point| point.labels).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let titles: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let header: Vec<&str> = std::iter::once("model").chain(titles.iter().map(String::as_str)).collect();
    let rows = found.points.chunk_by(|a, b| a.model == b.model).map(|points| {
        let cell = |point: &dissensus_selection::evaluation::CurvePoint| {
            format!("{:.3} ({:.3})", point.log_loss, point.accuracy)
        };
        std::iter::once(points[0].model.clone()).chain(points.iter().map(cell)).collect()
    });
    let columns: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, rows.collect(), &columns))
}

/// Prints an evaluation, as JSON or by `show`.
fn print<T: Serialize + JsonSchema>(
    args: &Evaluate,
    found: &T,
    show: impl Fn(&T) -> Result<()>,
) -> Result<()> {
    if args.output.json { output::json(found) } else { show(found) }
}

/// The requested models without duplicates, in the order of the model ladder.
fn kinds(asked: &[ModelArg]) -> Vec<ModelKind> {
    let wants = |model| asked.contains(&ModelArg::All) || asked.contains(&model);
    let ladder = [
        (ModelArg::Majority, ModelKind::Majority),
        (ModelArg::Shared, ModelKind::Shared),
        (ModelArg::SepHeads, ModelKind::SepHeads),
        (ModelArg::ShareRecFfn, ModelKind::ShareRecFfn),
        (ModelArg::ShareRecDcn, ModelKind::ShareRecDcn),
        (ModelArg::Multilevel, ModelKind::Multilevel),
    ];
    ladder.into_iter().filter(|(model, _)| wants(*model)).map(|(_, kind)| kind).collect()
}
