//! Training runs: `models train` with options, and `models runs`.

use super::{count, encoder_choice, note, open, open_or_read, open_to_read, print_switch};
use super::{option_evaluation, span_evaluation};
use crate::args::{Cli, OneRun, RunsCommand, Train};
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::{Context, Result, bail};
use clap::CommandFactory as _;
use clap::error::ErrorKind;
use dissensus_api::{
    EpochInfo, HeldHead, JointQuestion, RunBaseline, RunComparison, RunDetail, RunInfo, TrainOptions,
    WorkState,
};
use dissensus_app::session::Session;
use dissensus_domain::QuestionId;
use dissensus_editing::questions;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::ModelKind;
use dissensus_training::runs;
use dissensus_training::runs::{TrainedSets, TrainedWords};
use dissensus_transfer::study;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What `runs delete --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunDeleted {
    /// Number of the run.
    run: u32,
    /// Whether it was in use.
    was_in_use: bool,
    /// Other runs that were trained jointly with it, had not finished and were deleted as well.
    with: Vec<u32>,
}

/// Result of a joint training run on one encoder.
#[derive(Serialize, JsonSchema)]
pub(super) struct TrainedTogether {
    /// One run per question or option, by number.
    runs: Vec<RunDetail>,
    /// Scores of whole multi-label questions.
    sets: Vec<TrainedSets>,
    /// Span questions whose words were trained.
    words: Vec<TrainedWords>,
}

pub(crate) fn run(what: RunsCommand) -> Result<()> {
    match what {
        RunsCommand::List(args) => {
            let runs = runs::list(&open_to_read(&args.project.path)?.runs)?;
            if args.output.json { output::json(&runs) } else { list(&runs) }
        }
        RunsCommand::Show(args) => show(&open_to_read(&args.project.path)?, &args),
        RunsCommand::Compare(args) => {
            let found = runs::compare_runs(&open_to_read(&args.project.path)?.runs, args.a, args.b)?;
            if args.output.json { output::json(&found) } else { compared(&found) }
        }
        RunsCommand::Resume(args) => resume(&args),
        RunsCommand::Use(args) => use_run(&args),
        RunsCommand::StopUsing(args) => {
            let session = open(&args.project.path)?;
            let used = runs::in_use(&session.runs)?;
            // A run that this version cannot read is in no list.
            let question = runs::list(&session.runs)?
                .into_iter()
                .find(|run| Some(run.id) == used)
                .map(|run| run.question);
            runs::use_run(&session.runs, None)?;
            let now = question.map(|question| what_predicts(&session, question)).transpose()?;
            output::line(&match used {
                Some(run) => format!("Run {run} is no longer in use. {}", now.unwrap_or_default()),
                None => "No run was in use".to_owned(),
            })
        }
        RunsCommand::Delete(args) => {
            let session = open(&args.project.path)?;
            let used = runs::list(&session.runs)?.into_iter().find(|run| run.predicts && run.id == args.run);
            let deleted = runs::delete(&session.runs, args.run)?;
            let others: Vec<u32> = deleted.into_iter().filter(|run| *run != args.run).collect();
            let was_used = used.as_ref().map(|run| what_predicts(&session, run.question)).transpose()?;
            if args.output.json {
                let was_in_use = was_used.is_some();
                return output::json(&RunDeleted { run: args.run, was_in_use, with: others });
            }
            let was_used = was_used.map_or_else(String::new, |now| format!(". It was in use. {now}"));
            let others = match &others[..] {
                [] => String::new(),
                others => {
                    let numbers: Vec<String> = others.iter().map(u32::to_string).collect();
                    format!(
                        " with {}, which were trained as one with it and had not finished",
                        numbers.join(", ")
                    )
                }
            };
            output::line(&format!("Run {} was deleted{others}{was_used}", args.run))
        }
        RunsCommand::Report(args) => report(&args.project.path, &args.target, args.ids, args.force),
    }
}

fn use_run(args: &OneRun) -> Result<()> {
    let session = open(&args.project.path)?;
    runs::use_run(&session.runs, Some(args.run))?;
    let bar = Bar::new("texts");
    session.encoding.ensure_encoded(&dissensus_training::encoding::EncoderChoice::default(), &bar)?;
    drop(bar);
    let question = runs::detail(&session.runs, args.run)?.info.question;
    let active = session.live.active_model(question)?;
    if args.output.json {
        return output::json(&active);
    }
    let how = match active.tuned {
        true => "the project uses the encoder that it tuned",
        false => "it was trained on the embeddings of an encoder that it left unchanged",
    };
    output::line(&format!("Run {} is in use: {how}. {}", args.run, what_predicts(&session, question)?))
}

/// Describes the model that predicts: whichever run is in use, it is the one that learns label by label.
fn what_predicts(session: &Session, question: QuestionId) -> Result<String> {
    let active = session.live.active_model(question)?;
    let encoder = active.encoder.unwrap_or_else(|| "no encoder yet".to_owned());
    let labels = count(active.labels.into(), "label");
    Ok(format!("What predicts is {} on {encoder}, fitted on all {labels}", active.model))
}

/// Trains one model as a run and prints its figures.
pub(crate) fn train(args: &Train) -> Result<()> {
    let session = open(&args.project.path)?;
    let held = held(&session, args)?;
    let joint = asked_together(&session, args)?;
    let question = match joint.first() {
        Some(first) => first.question,
        None => questions::find(&session.project, args.question.name.as_deref())?.id,
    };
    let model = args.model.unwrap_or(ModelKind::Multilevel);
    let mut choices =
        runs::choices_for(&session.runs, question, model, args.tuning.as_deref().unwrap_or("frozen"))?;
    choices.joint = joint;
    choices.held = held;
    choices.seed = args.seed.unwrap_or(0);
    if let Some(split) = args.split {
        choices.split = split;
    }
    args.options.apply(&mut choices);
    choices.auxiliary.clone_from(&args.auxiliary);
    if choices.without_slips {
        note(&study::slips_note(&session.study, question)?);
    }
    let bar = Bar::new("steps");
    let encoder = encoder_choice(&args.encoder);
    let done = session
        .encoding
        .ensure_encoded(&encoder, &bar)
        .and_then(|switch| Ok((switch, runs::train(&session.runs, &choices, encoder.device, &bar)?)));
    drop(bar);
    if done.is_err()
        && let Some(run) = runs::list(&session.runs)?.into_iter().next().filter(|run| run.resumable)
    {
        note(&format!(
            "run {0} can be resumed: dissensus models runs resume {1} {0}",
            run.id,
            args.project.path.display()
        ));
    }
    let (switch, detail) = done?;
    print_switch(switch);
    trained(&session, detail, args.output.json)
}

/// The questions of `--questions`, with their weights.
fn asked_together(session: &Session, args: &Train) -> Result<Vec<JointQuestion>> {
    let mut found = Vec::new();
    for asked in &args.questions {
        match questions::find(&session.project, Some(asked)) {
            Ok(question) => found.push(question.id),
            Err(_) => {
                for name in asked.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                    found.push(questions::find(&session.project, Some(name))?.id);
                }
            }
        }
    }
    let (questions, weights) = (found.len(), args.weights.len());
    if weights > 0 && weights != questions {
        bail!(
            "--weights has {}, and --questions names {questions}: give one weight for each",
            count(weights as u64, "number")
        );
    }
    let weight = |nth: usize| args.weights.get(nth).copied().unwrap_or(1.0);
    let question = |(nth, question): (usize, QuestionId)| JointQuestion { question, weight: weight(nth) };
    Ok(found.into_iter().enumerate().map(question).collect())
}

/// The heads of `--freeze QUESTION=RUN`.
fn held(session: &Session, args: &Train) -> Result<Vec<HeldHead>> {
    let named = args.freeze.iter().filter_map(|what| what.rsplit_once('='));
    let found: Vec<HeldHead> = named
        .map(|(name, run)| {
            let question = questions::find(&session.project, Some(name.trim()))?.id;
            Ok(HeldHead { question, run: run.trim().parse()? })
        })
        .collect::<Result<_>>()?;
    if !args.freeze.iter().any(|what| what == "encoder") {
        return Ok(found);
    }
    if !found.is_empty() {
        conflict("--freeze encoder leaves nothing to train around a fixed head: use one of the two");
    }
    if args.tuning.is_some() {
        conflict("--freeze encoder is the same as --tuning frozen: use one of the two");
    }
    Ok(found)
}

/// Exits with a usage error of `models train`.
fn conflict(message: &str) -> ! {
    let mut cli = Cli::command();
    cli.build();
    let train = cli.find_subcommand_mut("models").and_then(|models| models.find_subcommand_mut("train"));
    let error = match train {
        Some(train) => train.error(ErrorKind::ArgumentConflict, message),
        None => cli.error(ErrorKind::ArgumentConflict, message),
    };
    error.exit()
}

/// Prints what was trained: one run, or all runs of a joint training.
fn trained(session: &Session, first: RunDetail, json: bool) -> Result<()> {
    if first.info.joint == 0 {
        return if json { output::json(&first) } else { details(&first, &[]) };
    }
    let others = first.info.trained_with.clone();
    let mut runs = vec![first];
    for run in others {
        runs.push(runs::detail(&session.runs, run)?);
    }
    runs.sort_by_key(|run| run.info.id);
    let sets = runs::trained_sets(&session.runs, runs[0].info.id)?;
    let words = runs::trained_words(&session.runs, runs[0].info.id)?;
    if json {
        return output::json(&TrainedTogether { runs, sets, words });
    }
    let infos: Vec<RunInfo> = runs.iter().map(|run| run.info.clone()).collect();
    list(&infos)?;
    sets.iter().try_for_each(option_evaluation::show_trained)?;
    words.iter().try_for_each(span_evaluation::show_trained)?;
    let together = runs[0].notes.iter().find(|note| note.starts_with("Learned together"));
    if let Some(note) = together {
        output::line(&format!("note: {note}"))?;
    }
    output::line("Each has its figures under its number: dissensus models runs show PROJECT RUN")
}

impl Train {
    /// Whether any option requires a run; otherwise the live model is fitted on all labels.
    pub(crate) fn asks_for_a_run(&self) -> bool {
        self.model.is_some()
            || self.tuning.is_some()
            || self.split.is_some()
            || self.seed.is_some()
            || !self.auxiliary.is_empty()
            || !self.questions.is_empty()
            || !self.freeze.is_empty()
            || self.options != TrainOptions::default()
    }
}

fn resume(args: &OneRun) -> Result<()> {
    let session = open(&args.project.path)?;
    let bar = Bar::new("steps");
    let done = runs::resume_here(&session.runs, args.run, &bar);
    drop(bar);
    trained(&session, done?, args.output.json)
}

fn show(session: &Session, args: &OneRun) -> Result<()> {
    let detail = runs::detail(&session.runs, args.run)?;
    if args.output.json {
        return output::json(&detail);
    }
    let sets = runs::trained_sets(&session.runs, args.run)?;
    let own: Vec<TrainedSets> = sets.into_iter().filter(|sets| sets.runs.contains(&args.run)).collect();
    details(&detail, &own)?;
    let words = runs::trained_words(&session.runs, args.run)?;
    words.iter().filter(|words| words.runs.contains(&args.run)).try_for_each(span_evaluation::show_trained)
}

/// Writes the report of runs; `target` is the file, or the runs and the file.
fn report(project: &Path, target: &[PathBuf], ids: bool, force: bool) -> Result<()> {
    let (file, runs) = match target {
        [file] => (file, None),
        [runs, file] => (file, Some(run_numbers(runs)?)),
        _ => bail!("a report is of one file: `dissensus models runs report PROJECT [RUN] FILE`"),
    };
    // Newly assigned pseudonyms are stored in the project.
    let session = if ids { open_to_read(project)? } else { open_or_read(project)? };
    let runs = match runs {
        Some(runs) => runs,
        None => runs::list(&session.runs)?
            .into_iter()
            .filter(|run| run.scores.is_some())
            .map(|run| run.id)
            .collect(),
    };
    if file.exists() && !force {
        return Err(ProjectError::ExportExists(file.to_owned()).into());
    }
    runs::export(&session.runs, &runs, file, ids)?;
    output::line(&format!("Wrote {} on {}", file.display(), count(runs.len() as u64, "run")))
}

fn run_numbers(runs: &Path) -> Result<Vec<u32>> {
    let name = runs.to_string_lossy();
    let numbers: Option<Vec<u32>> = name.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers.with_context(|| {
        format!("{name} is no number of a run: `dissensus models runs report PROJECT 1,2 FILE`; `dissensus models runs list` shows them")
    })
}

fn figure(run: &RunInfo, key: &str) -> String {
    let metric = run.scores.as_ref().and_then(|scores| scores.metrics.iter().find(|m| m.key == key));
    three(metric.map(|metric| metric.value))
}

fn state(run: &RunInfo) -> &'static str {
    match run.state {
        WorkState::Finished if run.predicts => "in use",
        state => state.name(),
    }
}

fn tuning(run: &RunInfo) -> String {
    dissensus_training::saved_runs::run_tuning(run)
}

fn list(runs: &[RunInfo]) -> Result<()> {
    if runs.is_empty() {
        return output::line("No run yet: `dissensus models train PROJECT --model sep-heads` makes one");
    }
    let header = [
        "run",
        "question",
        "model",
        "encoder",
        "split",
        "seed",
        "state",
        "accuracy",
        "log loss",
        "AUROC of disagreement",
        "seconds",
    ];
    let row = |run: &RunInfo| {
        vec![
            run.id.to_string(),
            run.question_name.clone(),
            run.model.name().to_owned(),
            tuning(run),
            run.split.name(),
            run.seed.to_string(),
            state(run).to_owned(),
            figure(run, "accuracy"),
            figure(run, "log_loss"),
            figure(run, "disagreement_auroc"),
            format!("{:.0}", run.seconds),
        ]
    };
    output::line(&output::table(&header, runs.iter().map(row).collect(), &[0, 5, 7, 8, 9, 10]))
}

/// Prints a run; `sets` are the whole questions that the run predicts an option of.
fn details(run: &RunDetail, sets: &[TrainedSets]) -> Result<()> {
    let info = &run.info;
    output::line(&format!(
        "Run {}: {}, {}, {}, seed {}: {} in {:.0} s on {}",
        info.id,
        info.model,
        tuning(info),
        info.split.name(),
        info.seed,
        state(info),
        info.seconds,
        info.device
    ))?;
    let sizes = &run.sizes;
    let validation = if sizes.validation_labels > 0 {
        format!(
            ", validated on {} of {}",
            count(sizes.validation_labels.into(), "label"),
            count(sizes.validation_texts.into(), "text")
        )
    } else {
        String::new()
    };
    if sizes.train_labels > 0 {
        output::line(&format!(
            "Trained on {} of {}{validation}, tested on {} of {}",
            count(sizes.train_labels.into(), "label"),
            count(sizes.train_texts.into(), "text"),
            count(sizes.test_labels.into(), "label"),
            count(sizes.test_texts.into(), "text"),
        ))?;
    }
    if info.resumable {
        output::line(&format!("It can be resumed: dissensus models runs resume PROJECT {}", info.id))?;
    }
    if !info.epochs.is_empty() {
        let row = |e: &EpochInfo| {
            vec![
                format!("{:.2}{}", e.epoch, if e.best { " *" } else { "" }),
                three(e.train_loss),
                three(e.validation_loss),
                three(e.validation_accuracy),
                format!("{:.0}", e.seconds),
            ]
        };
        let header = ["epoch", "training loss", "validation loss", "validation accuracy", "seconds"];
        output::line(&output::table(&header, info.epochs.iter().map(row).collect(), &[0, 1, 2, 3, 4]))?;
        output::line("* the best so far\n")?;
    }
    if let Some(scores) = &info.scores {
        let interval = |m: &dissensus_api::RunMetric| match (m.low, m.high) {
            (Some(low), Some(high)) => format!("{low:.3} to {high:.3}"),
            _ => String::new(),
        };
        let row = |m: &dissensus_api::RunMetric| {
            let mut cells = vec![m.key.clone(), three(Some(m.value)), interval(m)];
            cells.extend(of_baselines(&run.baselines, &m.key));
            cells
        };
        let rows = scores.metrics.iter().map(row).collect();
        let header = with_baselines(vec!["metric", "value", "95 % over texts"], &run.baselines);
        let numbers: Vec<usize> = (1..header.len()).collect();
        output::line(&output::table(&header, rows, &numbers))?;
        for (what, classes) in [("option", &run.options), ("level", &run.classes)] {
            if classes.is_empty() {
                continue;
            }
            let row = |c: &dissensus_api::RunClass| {
                vec![c.name.clone(), three(c.precision), three(c.recall), three(c.f1), c.support.to_string()]
            };
            let rows = classes.iter().map(row).collect();
            output::line("")?;
            output::line(&output::table(
                &[what, "precision", "recall", "F1", "labels"],
                rows,
                &[1, 2, 3, 4],
            ))?;
        }
    }
    sets.iter().try_for_each(option_evaluation::show_trained)?;
    for note in &run.notes {
        output::line(&format!("note: {note}"))?;
    }
    if let Some(problem) = &info.problem {
        output::line(&format!("failed: {}", problem.message))?;
    }
    Ok(())
}

fn compared(found: &RunComparison) -> Result<()> {
    output::line(&format!("Runs {} and {} on {}", found.a, found.b, count(found.labels.into(), "label")))?;
    let row = |m: &dissensus_api::MetricPair| {
        let interval = match (m.low, m.high) {
            (Some(low), Some(high)) => format!("{low:+.3} to {high:+.3}"),
            _ => String::new(),
        };
        let p = m.p.map_or_else(String::new, |p| if p < 0.001 { "<0.001".into() } else { format!("{p:.3}") });
        let mut cells = vec![
            m.key.clone(),
            three(Some(m.a)),
            three(Some(m.b)),
            format!("{:+.3}", m.b - m.a),
            interval,
            p,
        ];
        cells.extend(of_baselines(&found.baselines, &m.key));
        cells
    };
    let (a, b) = (format!("run {}", found.a), format!("run {}", found.b));
    let header =
        with_baselines(vec!["metric", &a, &b, "difference", "95 % over texts", "p"], &found.baselines);
    let numbers: Vec<usize> = (1..header.len()).collect();
    output::line(&output::table(&header, found.metrics.iter().map(row).collect(), &numbers))
}

/// Adds a column for each baseline.
fn with_baselines<'a>(mut header: Vec<&'a str>, baselines: &'a [RunBaseline]) -> Vec<&'a str> {
    header.extend(baselines.iter().map(|baseline| baseline.name.as_str()));
    header
}

/// The value of each baseline, empty if it has none.
fn of_baselines(baselines: &[RunBaseline], key: &str) -> Vec<String> {
    let figure = |baseline: &RunBaseline| {
        let found = baseline.metrics.iter().find(|metric| metric.key == key);
        found.map_or_else(String::new, |metric| three(Some(metric.value)))
    };
    baselines.iter().map(figure).collect()
}
