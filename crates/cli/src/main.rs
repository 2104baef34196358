//! The `dissensus` command: parses, calls the workbench, prints.

mod args;
mod by_name;
mod commands;
mod output;
mod progress;
mod reference;

use anyhow::Context as _;
use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::io::Write;
use std::process::ExitCode;

#[allow(unsafe_code, reason = "the environment is set before anything else runs")]
fn main() -> ExitCode {
    // SAFETY: nothing has started a thread yet.
    unsafe { dissensus_workbench::keep_tensors_on_their_thread() };
    let cli = Cli::parse();
    if cli.quiet {
        progress::be_quiet();
    }
    progress::watch_for_signals();
    let started = start_log(cli.log.as_deref());
    match started.and_then(|()| run(cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            commands::report(&error);
            if commands::is_stopped(&error) { ExitCode::from(progress::STOPPED) } else { ExitCode::FAILURE }
        }
    }
}

/// A system without a home folder has no log; the command itself says so where it needs that folder.
fn start_log(level: Option<&str>) -> anyhow::Result<()> {
    match dissensus_workbench::Home::of_user(None) {
        Ok(home) => Ok(dissensus_workbench::start_log(&home, level)?),
        Err(_) => Ok(()),
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::New(args) => commands::project::new(&args),
        Command::Sample(args) => commands::project::sample(&args),
        Command::Info(args) => commands::project::info(&args),
        Command::Overview(args) => commands::overview::overview(&args),
        Command::Texts(args) => commands::texts::texts(&args),
        Command::Question(args) => commands::project::question(args),
        Command::Import(args) => commands::files::import(*args),
        Command::Export(args) => commands::files::export(&args),
        Command::Bundle(args) => commands::bundle::bundle(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Copy(args) => commands::files::copy(&args),
        Command::Embed(args) => commands::embed::embed(&args),
        Command::Encode(args) => commands::models::encode(&args),
        Command::Label(args) => commands::labels::label(&args),
        Command::Undo(args) => commands::labels::undo(&args),
        Command::Train(args) => commands::models::train(&args),
        Command::Evaluate(args) => commands::models::evaluate(&args),
        Command::Runs(args) => commands::runs::run(args.what),
        Command::Predict(args) => commands::predictions::predict(&args),
        Command::Explain(args) => commands::explain::explain(&args),
        Command::Predictions(args) => commands::predictions::predictions(&args),
        Command::Disagreement(args) => commands::predictions::disagreement(&args),
        Command::Annotators(args) => commands::annotators::annotators(&args),
        Command::Annotator(args) => commands::people::annotator(&args),
        Command::AttributeForm(args) => commands::people::attribute_form(&args),
        Command::Remove(args) => commands::removal::remove(&args),
        Command::Withdraw(args) => commands::people::withdraw(&args),
        Command::Panel(args) => commands::panel::panel(&args),
        Command::WhoDiffers(args) => commands::who_differs::who_differs(&args),
        Command::CompareGroups(args) => commands::group_comparison::compare_groups(&args),
        Command::CorrelateQuestions(args) => commands::question_correlation::correlate_questions(&args),
        Command::Words(args) => commands::words::words(&args),
        Command::Agreement(args) => commands::reliability::agreement(&args),
        Command::Plan(args) => commands::plan::plan(&args),
        Command::Assign(args) => commands::study::assign(&args),
        Command::HandIn(args) => commands::study::hand_in(&args),
        Command::Merge(args) => commands::study::merge(&args),
        Command::Study(args) => commands::study::study(&args),
        Command::Reveal(args) => commands::care::reveal(&args),
        Command::Care(args) => commands::care::care(&args),
        Command::Guideline(args) => commands::guideline::guideline(&args),
        Command::Remarks(args) => commands::guideline::remarks(&args),
        Command::History(args) => commands::history::history(&args),
        Command::Practice(args) => commands::practice::practice(&args),
        Command::Checks(args) => commands::checks::checks(&args),
        Command::Decide(args) => commands::talk::decide(&args),
        Command::Decisions(args) => commands::talk::decisions(&args),
        Command::Repeats(args) => commands::repeats::repeats(&args),
        Command::Slips(args) => commands::slips::slips(&args),
        Command::Aggregate(args) => commands::reliability::aggregate(&args),
        Command::Bench(args) => commands::bench::run(args.what),
        Command::Schema(args) => commands::schema::schema(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "dissensus", &mut script);
            std::io::stdout().lock().write_all(&script)?;
            Ok(())
        }
        Command::Man { folder } => {
            let pages = clap_mangen::generate_to(Cli::command(), &folder);
            pages.with_context(|| format!("writing manual pages into {}", folder.display()))
        }
        Command::Reference { folder } => reference::write(Cli::command(), &folder),
    }
}

/// `dissensus ... | head` is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(closed)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|e| e.io_error_kind() == Some(std::io::ErrorKind::BrokenPipe))
    })
}
