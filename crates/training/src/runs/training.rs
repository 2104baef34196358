//! One training, from its choices to its scores, for one question or for several on one encoder.

use super::Runs;
use super::energy::Energy;
use super::held::held_note;
use super::member::Member;
use super::notes::{joint_note, notes, sizes, validated_by_others};
use super::steps::{FittedRun, Work};
use crate::runs::data;
use crate::runs::sets;
use crate::runs::tuned_data;
use crate::saved_runs::{Outcome, SavedRun, choices};
use dissensus_encoder::{DeviceChoice, FreezePolicy};
use dissensus_neural::trainer::TrainConfig;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::scored_by_folds;
use dissensus_selection::fit::fit;
use dissensus_stats::data::{Embeddings, FitOptions};
use dissensus_stats::metrics;
use dissensus_stats::metrics::{F1Rule, Scored};
use dissensus_store::RunId;
use std::sync::Arc;

/// The result of a run.
pub(super) struct RunEnd {
    pub(super) run: RunId,
    pub(super) outcome: Outcome,
    /// Predictions of its test labels; none if it was not scored.
    pub(super) probabilities: Option<Vec<f32>>,
    /// Labels that were predicted without learning them, by which answers were tuned.
    pub(super) held_out: Option<Scored>,
}

/// What all runs of a training share.
struct Common<'a> {
    config: &'a TrainConfig,
    embeddings: &'a Arc<Embeddings>,
    options: &'a FitOptions,
    progress: &'a dyn Progress,
}

/// Time and energy of a training.
#[derive(Clone, Copy)]
struct Spent {
    seconds: f64,
    joules: Option<f64>,
}

/// Trains, and scores each run once. Runs that tune an encoder are trained as one; on a frozen encoder
/// nothing is shared, and each is trained separately.
pub(super) fn train_runs(
    cx: &Runs,
    runs: &[RunId],
    device: DeviceChoice,
    progress: &dyn Progress,
) -> Result<Vec<RunEnd>, ProjectError> {
    let read = || runs.iter().map(|run| cx.kept.get(run.0)).collect::<Result<Vec<_>, _>>();
    let mut all = read()?;
    let Some(first) = all.first() else { return Err(ProjectError::NoQuestion) };
    let (config, split) = choices::config(&first.choices)?;
    if all.iter().any(|kept| kept.run.start.is_none()) {
        data::start_on(cx, &all, &config, split)?;
        all = read()?;
    }
    let member = |kept: SavedRun| -> Result<Member, ProjectError> {
        let question = cx.context.index().with_levels(kept.choices.question)?.clone();
        Ok(Member { data: data::run_data(cx, &kept)?, kept, question })
    };
    let mut members: Vec<Member> = all.into_iter().map(member).collect::<Result<_, _>>()?;
    let embeddings = if config.policy == FreezePolicy::Frozen {
        data::run_embeddings(cx, &members[0].data)?
    } else {
        Arc::new(tuned_data::before_tuning(cx, &members[0].data)?)
    };
    let alone = config.policy == FreezePolicy::Frozen;
    let together: Vec<Vec<String>> = (0..members.len())
        .map(|at| {
            let chosen_by_others = if alone { None } else { validated_by_others(&members, at) };
            chosen_by_others.into_iter().chain(joint_note(&members, at)).collect()
        })
        .collect();
    let options = FitOptions { seed: u64::from(members[0].kept.choices.seed), ..FitOptions::default() };
    let common = Common { config: &config, embeddings: &embeddings, options: &options, progress };
    let as_one = if alone { 1 } else { members.len() };
    let (mut ended, mut spent): (Vec<RunEnd>, Vec<Spent>) = (Vec::new(), Vec::new());
    for members in members.chunks_mut(as_one) {
        // A run that is trained separately has its own times.
        let (began, energy) = (std::time::Instant::now(), Energy::now());
        let mut before = 0.0;
        let work = Work { runs: cx, device, progress, options: &options };
        let mut score = |member: &mut Member, fitted: FittedRun| -> Result<(), ProjectError> {
            ended.push(score_one(cx, member, fitted, &common)?);
            Ok(())
        };
        if let ([member], true) = (&mut *members, config.is_convex()) {
            let training = member.data.training(&embeddings);
            let model = fit(config.network.model, &training, &options, progress)?;
            let device = "cpu".to_owned();
            score(member, FittedRun { model, device, notes: Vec::new(), held_out: None, words: None })?;
        } else {
            before = work.in_steps(members, &embeddings, &config, &mut score)?;
        }
        let of_these =
            Spent { seconds: before + began.elapsed().as_secs_f64(), joules: energy.joules_since() };
        spent.extend(std::iter::repeat_n(of_these, members.len()));
    }
    for ((of, together), spent) in ended.iter_mut().zip(together).zip(spent) {
        let outcome = &mut of.outcome;
        (outcome.seconds, outcome.energy_joules) = (spent.seconds, spent.joules);
        outcome.notes.extend(together);
    }
    let asked = members.iter().map(|member| member.kept.choices.question);
    let trained: Vec<_> = asked.zip(ended.iter().map(|of| of.held_out.as_ref())).collect();
    // Not fatal: the training is worth more than the correlations that are learned from it.
    match sets::correlate_options(cx, &trained, options.seed) {
        Ok(together) => {
            for ((of, together), member) in ended.iter_mut().zip(together).zip(&members) {
                // Options may have been moved meanwhile, and correlations name them by their positions.
                of.outcome.together =
                    together.filter(|_| cx.kept.has_same_scale(&member.kept).is_ok_and(|same| same));
            }
        }
        Err(error) => tracing::warn!(%error, "which options go together was not learned"),
    }
    // Where levels were added, removed or moved meanwhile, the run would name others than those learned.
    members.iter().try_for_each(|member| cx.kept.has_same_levels(&member.kept))?;
    Ok(ended)
}

/// Scores a run's model on its test labels, once.
fn score_one(
    cx: &Runs,
    member: &mut Member,
    fitted: FittedRun,
    common: &Common<'_>,
) -> Result<RunEnd, ProjectError> {
    let Common { config, embeddings, options, progress } = *common;
    let FittedRun { model, device, notes: added, held_out, words } = fitted;
    let Member { kept, data, question } = member;
    let kind = config.network.model;
    let mut notes = notes(kind, question, &data.division);
    notes.extend(held_note(kept, &question.name, data.left_out));
    notes.extend(data.notes_of_copies());
    notes.extend(cx.context.edited_note(question.id)?);
    notes.extend(added);
    let sizes = sizes(&data.division);
    progress.report(1, Some(1), "scoring");
    let held_out = match (held_out, data.division.validation.as_slice(), config.is_convex()) {
        (Some(held_out), ..) => held_out,
        (None, [], true) => {
            let key = data.encoder.as_ref().map(|encoder| encoder.key.as_str());
            let seen = cx.encoding.seen_by(key, &cx.context.index())?;
            scored_by_folds(kind, &data.training(embeddings), seen.rows(), options, progress)?
        }
        (None, validation, _) => metrics::score(model.as_ref(), validation),
    };
    let rule = F1Rule::choose(&held_out, &data.division.train);
    let scored = data.division.test.score(model.name(), model.as_ref())?.tuned_by(&rule);
    let ordinal = question.scale.target().has_distances();
    let report = metrics::Report::new(
        &scored,
        &data.division.train,
        ordinal,
        &metrics::ReportOptions::default(),
        progress,
    )?;
    let outcome = Outcome {
        report: Some(report),
        f1_rule: Some(rule),
        sizes,
        encoder: data.encoder.as_ref().map(|encoder| encoder.key.clone()),
        device,
        notes,
        calibrated: true,
        words,
        ..Outcome::default()
    };
    Ok(RunEnd {
        run: kept.run.id,
        outcome,
        probabilities: Some(scored.probabilities),
        held_out: Some(held_out),
    })
}
