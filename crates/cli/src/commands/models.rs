//! `encode`, `train` and `evaluate`.

use super::{count, encoder_choice, open, open_or_read, tell_switch};
use crate::args::{Encode, Evaluate, ModelArg, Train};
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_workbench::{EvaluateChoices, Evaluation, ModelKind};

pub(crate) fn encode(args: &Encode) -> Result<()> {
    let session = open(&args.project)?;
    let bar = Bar::new("texts");
    let encoded = session.encode(&encoder_choice(&args.encoder), &bar);
    drop(bar);
    let encoded = encoded?;
    if args.json {
        return output::json(&encoded);
    }
    if let Some(note) = &encoded.note {
        output::line(note)?;
    }
    let kept = if encoded.kept > 0 { format!(", {} had one already", encoded.kept) } else { String::new() };
    let cut = if encoded.cut > 0 {
        format!(", {} cut at the encoder's longest input", encoded.cut)
    } else {
        String::new()
    };
    output::line(&format!(
        "Encoded {} with {} on {} in {:.1} s{kept}{cut}",
        count(encoded.texts, "text"),
        encoded.encoder,
        encoded.device,
        encoded.seconds
    ))
}

pub(crate) fn train(args: &Train) -> Result<()> {
    if let Some(split) = args.split {
        let choices = EvaluateChoices {
            question: args.question.clone(),
            models: vec![ModelKind::Multilevel],
            split,
            seed: args.seed,
            at_least: None,
        };
        return scored(&args.project, &choices, &args.encoder, args.json);
    }
    let session = open(&args.project)?;
    let bar = Bar::new("steps");
    let trained = session
        .ensure_encoded(&encoder_choice(&args.encoder), &bar)
        .and_then(|switch| Ok((switch, session.train(args.question.as_deref(), &bar)?)));
    drop(bar);
    let (switch, trained) = trained?;
    tell_switch(switch);
    if args.json {
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
    let choices = EvaluateChoices {
        question: args.question.clone(),
        models: kinds(&args.models),
        split: args.split,
        seed: args.seed,
        at_least: args.at_least.clone(),
    };
    scored(&args.project, &choices, &args.encoder, args.json)
}

fn scored(
    project: &std::path::Path,
    choices: &EvaluateChoices,
    encoder: &crate::args::EncoderArgs,
    json: bool,
) -> Result<()> {
    let session = open_or_read(project)?;
    let bar = Bar::new("steps");
    let evaluation = session
        .ensure_encoded(&encoder_choice(encoder), &bar)
        .and_then(|switch| Ok((switch, session.evaluate(choices, &bar)?)));
    drop(bar);
    let (switch, evaluation) = evaluation?;
    tell_switch(switch);
    if json { output::json(&evaluation) } else { show(&evaluation) }
}

/// The models asked for, each once, in the order of the ladder.
fn kinds(asked: &[ModelArg]) -> Vec<ModelKind> {
    let wants = |model| asked.contains(&ModelArg::All) || asked.contains(&model);
    let ladder = [
        (ModelArg::Majority, ModelKind::Majority),
        (ModelArg::Shared, ModelKind::Shared),
        (ModelArg::SepHeads, ModelKind::SepHeads),
        (ModelArg::Multilevel, ModelKind::Multilevel),
    ];
    ladder.into_iter().filter(|(model, _)| wants(*model)).map(|(_, kind)| kind).collect()
}

fn show(evaluation: &Evaluation) -> Result<()> {
    let split = &evaluation.split;
    let at_least =
        evaluation.at_least.as_ref().map_or_else(String::new, |level| format!(", {level} or higher"));
    output::line(&format!(
        "{}{at_least}: fitted on {} of {}, scored on {} of {}, seed {}",
        evaluation.question,
        count(split.train_labels as u64, "label"),
        count(split.train_texts as u64, "text"),
        count(split.test_labels as u64, "label"),
        count(split.test_texts as u64, "text"),
        evaluation.seed
    ))?;
    let ordinal = evaluation.models.iter().any(|model| model.scores.mae.is_some());
    let mut header = vec![
        "model",
        "accuracy",
        "macro F1",
        "annotator accuracy",
        "annotator F1",
        "worst tenth",
        "log loss",
        "Brier",
        "ECE",
        "soft CE",
        "AUROC",
    ];
    if ordinal {
        header.extend(["MAE", "RPS", "kappa"]);
    }
    let row = |model: &dissensus_workbench::ModelScores| {
        let s = &model.scores;
        let mut figures = vec![
            s.accuracy,
            s.macro_f1,
            s.annotator_accuracy,
            s.annotator_macro_f1,
            s.worst_tenth_accuracy,
            s.log_loss,
            s.brier,
            s.ece,
            s.soft_cross_entropy,
            s.disagreement_auroc,
        ];
        if ordinal {
            figures.extend([s.mae, s.ranked_probability_score, s.quadratic_kappa]);
        }
        std::iter::once(model.model.clone()).chain(figures.into_iter().map(three)).collect()
    };
    let rows: Vec<Vec<String>> = evaluation.models.iter().map(row).collect();
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, rows, &numbers))
}
