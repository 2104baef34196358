//! Heads that a training leaves unchanged from earlier runs, while the encoder and other heads learn.
//!
//! A head is only meaningful on the encoder that it was learned on. So a training that holds one starts from
//! the encoder of its run: the one that the run tuned, or the frozen one that it used. What the run learned
//! about a text is in its head, so that such texts are not scored under any question of the training.

use super::Runs;
use crate::encoding::SeenRows;
use crate::encoding::encoders::SelectedEncoder;
use crate::error::TrainingError;
use crate::runs::data;
use crate::runs::predict;
use crate::runs::text_scores;
use crate::runs::use_run;
use crate::saved_runs::{SavedRun, choices};
use dissensus_api::{TrainChoices, Tuning};
use dissensus_domain::Question;
use dissensus_encoder::FreezePolicy;
use dissensus_neural::networks::NetworkModel;
use dissensus_neural::trainer::TrainConfig;
use dissensus_project::error::ProjectError;
use dissensus_selection::evaluation::SeenByEncoder;
use dissensus_stats::data::{AnnotatorModel as _, Embeddings, ModelKind};
use std::sync::Arc;

/// Texts and annotators that cannot test a training: those that trained the encoder from which it starts, or
/// a head that it holds.
pub(super) struct Taught {
    texts: Vec<bool>,
    annotators: Vec<bool>,
}

impl Taught {
    pub(super) fn rows(&self) -> SeenByEncoder<'_> {
        SeenByEncoder { texts: &self.texts, annotators: &self.annotators }
    }
}

/// Checks that the requested heads can be held.
///
/// # Errors
/// [`TrainingError::Freeze`] with the reason.
pub(super) fn check_held(
    cx: &Runs,
    learned: &[(Question, f64)],
    choices: &TrainChoices,
    config: &TrainConfig,
) -> Result<(), ProjectError> {
    let refused = |why: String| Err(TrainingError::Freeze(why).into());
    let mut encoder: Option<(u32, SelectedEncoder)> = None;
    for (nth, held) in choices.held.iter().enumerate() {
        let Some((question, _)) = learned.iter().find(|(question, _)| question.id == held.question) else {
            return refused(format!(
                "run {} would be held for a question that this training does not learn: name one that it learns, an option by its own name",
                held.run
            ));
        };
        if config.policy == FreezePolicy::Frozen {
            return refused(format!(
                "under an encoder that stays as it is nothing else would change for \"{}\": run {} is that model already. Give --tuning last-K, lora, prompt-N or full",
                question.name, held.run
            ));
        }
        if choices.held[..nth].iter().any(|before| before.question == held.question) {
            return refused(format!("\"{}\" is named twice", question.name));
        }
        let encoder_of_run = check_held_run(cx, question, held.run, config)?;
        match &encoder {
            Some((run, first)) if first.key != encoder_of_run.key => {
                return refused(format!(
                    "runs {run} and {} use different encoders, and a training begins with one",
                    held.run
                ));
            }
            _ => encoder = Some((held.run, encoder_of_run)),
        }
    }
    Ok(())
}

/// Checks the run of a held head and returns the encoder that the head depends on.
fn check_held_run(
    cx: &Runs,
    question: &Question,
    run: u32,
    config: &TrainConfig,
) -> Result<SelectedEncoder, ProjectError> {
    let refused = |why: String| Err(TrainingError::Freeze(format!("run {run} {why}")).into());
    let kept = cx.kept.get(run)?;
    if kept.choices.question != question.id {
        return refused(format!("is not of \"{}\"", question.name));
    }
    if kept.outcome.report.is_none() || kept.run.start.is_none() {
        return refused("has not finished, or is of an early version".to_owned());
    }
    let (model, of_run) = (config.network.model, kept.choices.model);
    if model == ModelKind::Multilevel || of_run == ModelKind::Multilevel {
        return refused(format!(
            "cannot be held: the head of multilevel is fitted anew on every encoder, so it is never as it was. Use --model {}",
            ModelKind::Shared.name()
        ));
    }
    if model != of_run {
        return refused(format!(
            "is of {}, and this training of {}: heads are held in a training of their own model",
            of_run.name(),
            model.name()
        ));
    }
    if choices::config(&kept.choices)?.0.is_convex() {
        return refused(
                "was solved on embeddings, which leaves no network to hold: hold one that was trained in steps (with --tuning other than frozen, or --hidden)".to_owned(),
            );
    }
    let head = held_head(cx, &kept)?;
    if head.levels() != question.scale.len() {
        return refused(format!("has learned other levels than \"{}\" has now", question.name));
    }
    let now: Vec<_> = cx.context.index().annotators().iter().map(|a| a.id).collect();
    if data::run_data(cx, &kept)?.annotators != now {
        return refused(
            "was trained before some people were added, of whom its head knows nothing: train it again"
                .to_owned(),
        );
    }
    encoder_under(cx, &kept)?.map_or_else(|| refused("has no encoder".to_owned()), Ok)
}

/// The encoder that a run's head depends on: the one it tuned, or the frozen one.
fn encoder_under(cx: &Runs, kept: &SavedRun) -> Result<Option<SelectedEncoder>, ProjectError> {
    match kept.choices.tuning {
        Tuning::Frozen => use_run::frozen_of(cx, kept),
        _ => use_run::tuned(cx, kept).map(Some),
    }
}

/// The encoder from which a training starts because it holds heads; none if it holds none.
pub(super) fn encoder_of_held(
    cx: &Runs,
    choices: &TrainChoices,
) -> Result<Option<SelectedEncoder>, ProjectError> {
    let Some(held) = choices.held.first() else { return Ok(None) };
    encoder_under(cx, &cx.kept.get(held.run)?)
}

/// The stored head of a run, over no texts.
fn held_head(cx: &Runs, kept: &SavedRun) -> Result<NetworkModel, ProjectError> {
    let (config, _) = choices::config(&kept.choices)?;
    let dim = predict::encoder_of(cx, kept, &config)?.0.version().dim;
    let nothing = Embeddings { dim, ..Embeddings::none(0) };
    Ok(NetworkModel::load(&cx.kept.folder(kept)?, Arc::new(nothing))?)
}

/// The head that a training holds for the question of this member.
pub(super) fn head_held_for(cx: &Runs, member: &SavedRun) -> Result<Option<NetworkModel>, ProjectError> {
    let choices = &member.choices;
    let held = choices.held.iter().find(|held| held.question == choices.question);
    held.map(|held| held_head(cx, &cx.kept.get(held.run)?)).transpose()
}

/// `seen`, extended by the texts and people that trained the held heads.
pub(super) fn seen_before_with_frozen_heads(
    cx: &Runs,
    seen: &SeenRows,
    choices: &TrainChoices,
) -> Result<Taught, ProjectError> {
    let seen = seen.rows();
    let mut taught = Taught { texts: seen.texts.to_vec(), annotators: seen.annotators.to_vec() };
    for held in &choices.held {
        let kept = cx.kept.get(held.run)?;
        let texts = text_scores::texts_that_trained(cx, &kept)?;
        mark(&mut taught.texts, texts.iter().enumerate().filter(|(_, t)| **t).map(|(row, _)| row));
        let data = data::run_data(cx, &kept)?;
        let people = data.training_and_validation();
        mark(&mut taught.annotators, people.iter().map(|o| o.annotator as usize));
    }
    Ok(taught)
}

fn mark(all: &mut Vec<bool>, rows: impl Iterator<Item = usize>) {
    for row in rows {
        if row >= all.len() {
            all.resize(row + 1, false);
        }
        all[row] = true;
    }
}

/// A note for a run whose head, or that of another question of its training, was held.
pub(super) fn held_note(member: &SavedRun, name: &str, left_out: usize) -> Vec<String> {
    let choices = &member.choices;
    let held = choices.held.iter().find(|held| held.question == choices.question);
    let own = held.map(|held| {
        format!("The head of \"{name}\" was held as run {} left it: the encoder learned under it.", held.run)
    });
    let texts = match (choices.held.is_empty(), left_out) {
        (true, _) => SeenRows::note(left_out),
        (false, 0) => None,
        (false, texts) => Some(format!(
            "{} left out of the test: what was held, or the encoder under it, has learned their labels.",
            if texts == 1 { "1 text is".to_owned() } else { format!("{texts} texts are") }
        )),
    };
    texts.into_iter().chain(own).collect()
}
