//! The `dissensus` command: parses arguments, runs a command, reports errors.

mod args;
mod by_name;
mod commands;
mod language;
mod output;
mod progress;
mod reference;

use anyhow::Context as _;
use args::{
    AnalyseCommand, Cli, Command, DataCommand, LabelCommand, ModelsCommand, PeopleCommand, ProjectCommand,
    StudyCommand,
};
use clap::{CommandFactory, Parser};
use std::io::Write;
use std::process::ExitCode;

#[allow(unsafe_code, reason = "the environment is set before anything else runs")]
fn main() -> ExitCode {
    // SAFETY: nothing has started a thread yet.
    unsafe { dissensus_encoder::bind_tensors_to_threads() };
    let cli = Cli::parse_from(args::with_new_names(std::env::args_os()));
    language::choose(cli.language);
    if cli.quiet {
        progress::be_quiet();
    }
    progress::watch_for_signals();
    let started = start_log(cli.log.as_deref());
    match started.and_then(|()| run(cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            if commands::is_stopped(&error) { ExitCode::from(progress::STOPPED) } else { ExitCode::FAILURE }
        }
    }
}

/// Starts the log. A system without a home folder has none; commands report it where they need that folder.
fn start_log(level: Option<&str>) -> anyhow::Result<()> {
    match dissensus_project::home::Home::of_user(None) {
        Ok(home) => Ok(dissensus_project::log::start_log(&home, level)?),
        Err(_) => Ok(()),
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Project(command) => run_project(command),
        Command::Data(command) => run_data(command),
        Command::People(command) => run_people(command),
        Command::Label(command) => run_label(command),
        Command::Study(command) => run_study(command),
        Command::Models(command) => run_models(command),
        Command::Analyse(command) => run_analyse(command),
        Command::Report(args) => commands::report::report(&args),
        Command::CheckUpdate(args) => commands::updates::check_update(&args),
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

fn run_project(command: ProjectCommand) -> anyhow::Result<()> {
    match command {
        ProjectCommand::New(args) => commands::project::new(&args),
        ProjectCommand::Sample(args) => commands::project::sample(&args),
        ProjectCommand::Info(args) => commands::project::info(&args),
        ProjectCommand::Overview(args) => commands::overview::overview(&args),
        ProjectCommand::Copy(args) => commands::files::copy(&args),
        ProjectCommand::Backup(args) => commands::backups::backup(&args),
        ProjectCommand::Decrypt(args) => commands::encryption::decrypt(&args),
        ProjectCommand::History(args) => commands::history::history(&args),
        ProjectCommand::Remove(args) => commands::removal::remove(&args),
    }
}

fn run_data(command: DataCommand) -> anyhow::Result<()> {
    match command {
        DataCommand::Import(args) => commands::files::import(*args),
        DataCommand::Export(args) => commands::files::export(&args),
        DataCommand::Texts(args) => commands::texts::texts(&args),
        DataCommand::Question(args) => commands::project::question(args),
        DataCommand::Guideline(args) => commands::guideline::guideline(&args),
    }
}

fn run_people(command: PeopleCommand) -> anyhow::Result<()> {
    match command {
        PeopleCommand::Show(args) => commands::people::show(&args),
        PeopleCommand::Form(args) => commands::people::form(&args),
        PeopleCommand::Consent(args) => commands::consent::consent(&args),
        PeopleCommand::Withdraw(args) => commands::people::withdraw(&args),
        PeopleCommand::Care(args) => commands::care::care(&args),
        PeopleCommand::Reveal(args) => commands::care::reveal(&args),
        PeopleCommand::Language(args) => commands::language::language(&args),
    }
}

fn run_label(command: LabelCommand) -> anyhow::Result<()> {
    match command {
        LabelCommand::Record(args) => commands::labels::record(&args),
        LabelCommand::Undo(args) => commands::labels::undo(&args),
        LabelCommand::Practice(args) => commands::practice::practice(&args),
        LabelCommand::Checks(args) => commands::checks::checks(&args),
        LabelCommand::Notes(args) => commands::guideline::notes(&args),
        LabelCommand::Decide(args) => commands::discussion::decide(&args),
        LabelCommand::Decisions(args) => commands::discussion::decisions(&args),
    }
}

fn run_study(command: StudyCommand) -> anyhow::Result<()> {
    match command {
        StudyCommand::Plan(args) => commands::plan::plan(&args),
        StudyCommand::Assign(args) => commands::study::assign(&args),
        StudyCommand::Mask(args) => commands::mask::mask(&args),
        StudyCommand::HandIn(args) => commands::study::hand_in(&args),
        StudyCommand::Merge(args) => commands::study::merge(&args),
        StudyCommand::Collect(args) => commands::collect::collect(&args),
        StudyCommand::Serve(args) => commands::serve::serve(&args),
        StudyCommand::Status(args) => commands::study::status(&args),
    }
}

fn run_models(command: ModelsCommand) -> anyhow::Result<()> {
    match command {
        ModelsCommand::Encode(args) => commands::models::encode(&args),
        ModelsCommand::Embed(args) => commands::embed::embed(&args),
        ModelsCommand::Train(args) => commands::models::train(&args),
        ModelsCommand::Evaluate(args) => commands::models::evaluate(&args),
        ModelsCommand::Runs(args) => commands::runs::run(args.command),
        ModelsCommand::Predict(args) => commands::predictions::predict(&args),
        ModelsCommand::Predictions(args) => commands::predictions::predictions(&args),
        ModelsCommand::Bundle(args) => commands::bundle::bundle(&args),
    }
}

fn run_analyse(command: AnalyseCommand) -> anyhow::Result<()> {
    match command {
        AnalyseCommand::Disagreement(args) => commands::predictions::disagreement(&args),
        AnalyseCommand::Agreement(args) => commands::reliability::agreement(&args),
        AnalyseCommand::Annotators(args) => commands::annotators::annotators(&args),
        AnalyseCommand::Explain(args) => commands::explain::explain(&args),
        AnalyseCommand::WhoDiffers(args) => commands::who_differs::who_differs(&args),
        AnalyseCommand::CompareGroups(args) => commands::group_comparison::compare_groups(&args),
        AnalyseCommand::Panel(args) => commands::panel::panel(&args),
        AnalyseCommand::Words(args) => commands::words::words(&args),
        AnalyseCommand::CorrelateQuestions(args) => {
            commands::question_correlation::correlate_questions(&args)
        }
        AnalyseCommand::Repeats(args) => commands::repeats::repeats(&args),
        AnalyseCommand::Slips(args) => commands::slips::slips(&args),
        AnalyseCommand::Aggregate(args) => commands::reliability::aggregate(&args),
    }
}

/// Whether the error is a closed pipe, as in `dissensus ... | head`, which is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(closed)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|e| e.io_error_kind() == Some(std::io::ErrorKind::BrokenPipe))
    })
}
