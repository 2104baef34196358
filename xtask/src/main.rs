//! `cargo xtask`: the tasks of a developer of the project. `cargo xtask help` lists them.
//!
//! Depends on no other crate of the workspace, so that it builds in seconds on a fresh machine.
#![allow(clippy::print_stdout, clippy::print_stderr)] // talking to the terminal is this program's work

mod book;
mod fetch;
mod manifests;
mod packages;
mod project;
mod setup;
mod shell;
mod stamp;
mod tasks;

use anyhow::{Result, bail};
use project::Project;
use std::process::ExitCode;

const HELP: &str = "\
Dissensus: set up, run, test, measure and pack.

Usage: cargo xtask COMMAND

Commands:
  run [PROJECT]        install what is missing, build, and open the application on the sample project
                       (or on PROJECT); without a display, do the same job through the command
  test [--only STEP]   install what is missing, then every check and every test; where CI is not set, test programs
                       and checks of `ui` that passed within a week, and have not changed since with all that they
                       read, are not run again
  models [NAME]        fetch the default encoder, or the one called NAME, and check its files
  bench [NAME ...]     run every benchmark with a release build, or the one called NAME with its arguments
                       (`cargo xtask bench --help` lists them); writes no file
  benchmarks [--check] write BENCHMARKS.md from benches/results, or compare it with them
  sentences [--check]  collect the sentences of Rust code that the window shows, for translators, or check that
                       ui/src/messages/program/en.json has them
  sbom [--check]       list the components of the program and their licences for crates/report, or check the lists
  vpat [--check]       write docs/vpat.md, the accessibility conformance report, from docs/vpat, or compare them
  book                 build the documentation as web pages
  dist                 make installers and a Python wheel for this system
  cuda                 make an archive of the command for NVIDIA GPUs (x86-64 Linux)
  release              check the files of all systems, and write their checksums, the notes of the release and
                       the manifests of package collections
  update-key FOLDER    make the key that releases are signed with, once: the secret one in FOLDER
  check-cuda           compile the `cuda` feature, kernels included, without a GPU (about 20 minutes, 3 GB of disk)
  check-exchange       read files that `dissensus data export` writes with the tools' own readers (a step of `test` too)

`cargo xtask test --only list` names the steps of `test`.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<()> {
    if let [tasks::passed::COMMAND, arguments @ ..] = arguments {
        return tasks::passed::run(arguments);
    }
    let project = Project::find()?;
    match arguments {
        ["run"] => tasks::run::run(&project, None),
        ["run", path] if !path.starts_with('-') => tasks::run::run(&project, Some(path.as_ref())),
        ["test"] => tasks::test::run(&project, None),
        ["test", "--only", step] => tasks::test::run(&project, Some(step)),
        ["models"] => fetch::default_encoders(&project),
        ["models", name] if !name.starts_with('-') => fetch::encoder(&project, name),
        ["bench"] => tasks::bench::all(&project),
        ["bench", arguments @ ..] => tasks::bench::one(&project, arguments),
        ["benchmarks"] => tasks::benchmarks::write(&project),
        ["benchmarks", "--check"] => tasks::benchmarks::check(&project),
        ["vpat"] => tasks::vpat::write(&project),
        ["vpat", "--check"] => tasks::vpat::check(&project),
        ["sentences"] => tasks::sentences::write(&project),
        ["sentences", "--check"] => tasks::sentences::check(&project),
        ["sbom"] => tasks::sbom::write(&project),
        ["sbom", "--check"] => tasks::sbom::check(&project),
        ["book"] => tasks::book::run(&project),
        ["dist"] => tasks::dist::run(&project),
        ["cuda"] => tasks::check_cuda::archive(&project),
        ["release"] => tasks::release::run(&project),
        ["update-key", folder] => tasks::release::updates::make_key(&project, folder.as_ref()),
        ["check-cuda"] => tasks::check_cuda::run(&project),
        ["check-exchange"] => tasks::check_exchange::run(&project),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("`{}` is not understood\n\n{HELP}", other.join(" ")),
    }
}
