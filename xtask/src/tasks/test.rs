//! `cargo xtask test`: every check and every test, in an order that fails early.
//!
//! All steps use one profile and one set of features for the whole workspace, so that nothing is compiled
//! twice. Independent steps run in parallel: many wait for a window,
//! a disk or one last thread half of the time.

use super::{passed, side_by_side};
use crate::fetch;
use crate::packages::{self, Profile};
use crate::project::Project;
use crate::setup::{Need, geckodriver, node, room, system};
use crate::shell::{Program, say, step, which};
use anyhow::{Context, Result, bail};

/// One step: its name and its work.
type Step = (&'static str, fn(&Project) -> Result<()>);

/// The stages run one after the other; the rows of a stage two at a time, in their order; the steps of a row
/// one after the other. In the last stage each step is a row, the short ones last, so that neither worker
/// waits long at the end.
const STAGES: [&[&[Step]]; 3] = [
    &[&[
        ("room", room::ensure),
        ("system", |_| system::ensure(Need::Tests)),
        ("node", |_| node::ensure()),
        ("fmt", |project| cargo(project, &["fmt", "--all", "--check"]).run()),
        ("crates", super::crates::check),
        ("modules", super::modules::check),
        ("comments", super::comments::check),
        ("messages", super::messages::check),
        ("sentences", super::sentences::check),
        ("identifiers", super::identifiers::check),
        ("kinds", super::kinds::check),
        ("systems", super::systems::check),
        ("methods", super::methods::check),
        ("documents", super::documents::check),
        ("benchmarks", super::benchmarks::check),
        ("vpat", super::vpat::check),
        ("ui-packages", node::packages),
        ("sbom", super::sbom::check),
        ("ui-build", node::build),
        ("encoder", fetch::default_encoders),
    ]],
    &[
        &[("build", build)],
        &[
            ("ui-check", |project| node::check(project, "check")),
            ("ui-lint", |project| node::check(project, "lint")),
            ("ui-test", |project| node::check(project, "test")),
            ("geckodriver", geckodriver::ensure),
        ],
    ],
    &[
        &[("test", |project| test(project, &["--test", "*"]))],
        &[("data", data)],
        &[("unit-test", |project| test(project, &["--lib", "--bins"]))],
        &[("stress", stress)],
        &[("python", super::python::test)],
        &[("package", package)],
        &[("exchange", super::check_exchange::test)],
        &[("doc-test", |project| test(project, &["--doc"]))],
    ],
];

/// Parts of the step `test` that can run on their own: `INSTA_UPDATE=always cargo xtask test --only contract`
/// updates the snapshots of all printed output.
const PARTS: &[Step] = &[
    ("contract", |project| end_to_end(project, "contract")),
    ("book", |project| end_to_end(project, "book")),
    ("offline", |project| end_to_end(project, "offline")),
];

fn steps() -> impl Iterator<Item = Step> {
    let of_stages = STAGES.into_iter().flat_map(|stage| stage.iter().copied()).flatten().copied();
    of_stages.chain(PARTS.iter().copied())
}

/// Runs all steps, or the one called `only` (whose name may be `list`).
///
/// # Errors
/// The steps that fail, by name.
pub(crate) fn run(project: &Project, only: Option<&str>) -> Result<()> {
    let names: Vec<&str> = steps().map(|(name, _)| name).collect();
    match only {
        Some("list") => {
            println!("{}", names.join("\n"));
            Ok(())
        }
        Some(only) => match steps().find(|(name, _)| *name == only) {
            Some((name, work)) => step(name, || work(project)),
            None => bail!("there is no step `{only}`; the steps are {}", names.join(", ")),
        },
        None => all(project),
    }
}

fn all(project: &Project) -> Result<()> {
    passed::clean(project);
    // Read now: once the build has replaced this program's file, the system no longer knows its name.
    let program = std::env::current_exe().context("asking where this program is")?;
    for stage in STAGES {
        if let [row] = stage {
            row.iter().try_for_each(|(name, work)| step(name, || work(project)))?;
            continue;
        }
        let one = |name: &&'static str| {
            let program = Program::new(&program).args(["test", "--only", *name]).in_folder(&project.root);
            (*name, program)
        };
        let names: Vec<Vec<&str>> =
            stage.iter().map(|row| row.iter().map(|(name, _)| *name).collect()).collect();
        let rows = names.iter().map(|row| row.iter().map(one).collect()).collect();
        side_by_side::run(rows)?;
    }
    Ok(())
}

/// cargo in the checkout.
fn cargo(project: &Project, arguments: &[&str]) -> Program {
    Program::cargo().args(arguments).in_folder(&project.root)
}

/// `cargo build` or `cargo test` on the whole workspace, with Clippy as the compiler of its crates and
/// warnings as errors. As a step of its own, Clippy would read all dependencies again: about five minutes
/// from clean caches. The variables are those that `cargo clippy -- -D warnings` sets.
fn linted(project: &Project, arguments: &[&str]) -> Program {
    cargo(project, arguments)
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        .env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__")
}

/// Runs `cargo test` with the programs of the step `build`: tests without them build their own,
/// with other features.
fn cargo_test(project: &Project, arguments: &[&str]) -> Program {
    linted(project, &["test"])
        .args(arguments)
        .args(whole_workspace())
        .env("DISSENSUS_BIN", project.binary("debug", "dissensus"))
        .env("DISSENSUS_WINDOW_BIN", project.binary("debug", "dissensus-window"))
        .env("DISSENSUS_TOOLS", geckodriver::tools(project))
}

/// Arguments shared by build and test, so that they share compiled code. On a CI machine the lock
/// file must not change, because nobody would notice.
fn whole_workspace() -> Vec<&'static str> {
    let mut arguments =
        vec!["--workspace", "--features", "dissensus-window/custom-protocol,dissensus-window/test-hooks"];
    if std::env::var_os("CI").is_some() {
        arguments.push("--locked");
    }
    arguments
}

/// Runs before the tests, because the end-to-end tests start the built programs. Fails where Clippy warns.
fn build(project: &Project) -> Result<()> {
    linted(project, &["build", "--all-targets"]).args(whole_workspace()).run()
}

/// The tests of these targets: together the three steps run all that `cargo test` would.
fn test(project: &Project, targets: &[&str]) -> Result<()> {
    if !cfg!(target_os = "linux") && targets.contains(&"--test") {
        say(
            "the tests of the window itself need WebKitWebDriver and run on Linux only: here they are left out",
        );
    }
    let tally = run_tests(project, targets, &[])?;
    println!("\n{} failed, {} passed{}", tally.failed, tally.passed, tally.notes());
    Ok(())
}

/// Builds the command as the tests run it: with a test, so that their features are on, and nothing is
/// compiled twice.
///
/// # Errors
/// It cannot be built.
pub(crate) fn build_command(project: &Project) -> Result<()> {
    linted(project, &["build", "--bin", "dissensus", "--test", "contract"]).args(whole_workspace()).run()
}

/// Runs one program of end-to-end tests, after building the programs that it starts.
fn end_to_end(project: &Project, program: &str) -> Result<()> {
    build_command(project)?;
    // Its tests wait for the disk most of the time.
    let tally = run_tests(project, &["--test", program], &["--test-threads", "8"])?;
    println!("\n{} passed{}", tally.passed, tally.notes());
    Ok(())
}

/// Tests that need files from outside the project, by their module, and the paths of these files.
const NEEDING_DATA: [(&str, &[&str]); 4] = [
    ("exchange_files::", &["../exchange/prodigy/pydata-ams-2023.jsonl", "../exchange/lewidi/CSC_dev.json"]),
    (
        "real_data::",
        &[
            "popquorn_offensiveness.csv",
            "md_agreement.csv",
            "csc.csv",
            "emotions_ec.csv",
            "vicomtech_hate.csv",
        ],
    ),
    ("mpnet::", &["all-mpnet-base-v2/model.safetensors"]),
    ("smollm2::", &["SmolLM2-135M-Instruct-q4/SmolLM2-135M-Instruct.Q4_1.gguf"]),
];
/// The module that is also a program of its own in some crates.
const REAL_DATA: &str = "real_data";

/// Runs the tests on published data sets and on encoders that are fetched on request, which the step `test`
/// ignores. Tests without their files are reported as not run.
fn data(project: &Project) -> Result<()> {
    let (mut ready, mut missing) = (Vec::new(), Vec::new());
    for (module, files) in NEEDING_DATA {
        let of_encoder = ["mpnet::", "smollm2::"].contains(&module);
        let folder = if of_encoder { project.models() } else { project.data_folder() };
        match files.iter().map(|file| folder.join(file)).find(|path| !path.is_file()) {
            None => ready.push(module),
            Some(path) => {
                missing.push(format!("NOT RUN: tests of `{module}`: {} is not there", path.display()))
            }
        }
    }
    let mut tally = Tally::default();
    if !ready.is_empty() {
        let options: Vec<&str> = std::iter::once("--ignored").chain(ready.iter().copied()).collect();
        run_and_add(project, &["--test", "suite"], &options, &mut tally)?;
    }
    if ready.contains(&"real_data::") {
        run_and_add(project, &["--test", REAL_DATA], &["--ignored"], &mut tally)?;
    }
    println!("\n{} passed on data that is not part of the project{}", tally.passed, tally.notes());
    missing.iter().for_each(say);
    Ok(())
}

/// Runs tests of the workspace and adds them up; fails if one of them does, or none ran.
fn run_tests(project: &Project, programs: &[&str], options: &[&str]) -> Result<Tally> {
    let mut tally = Tally::default();
    run_and_add(project, programs, options, &mut tally)?;
    Ok(tally)
}

fn run_and_add(project: &Project, programs: &[&str], options: &[&str], tally: &mut Tally) -> Result<()> {
    let before = tally.passed;
    // Programs of doc tests have no lasting name by which they could be remembered.
    let remembered = if programs == ["--doc"] { Vec::new() } else { passed::cargo_arguments(project)? };
    let success = cargo_test(project, &["--no-fail-fast"])
        .args(remembered)
        .args(programs)
        .arg("--")
        .args(options)
        .lines(|line| tally.read(line))?
        .success();
    if !success {
        bail!("`cargo test` failed{}", tally.names());
    }
    if tally.passed == before {
        bail!("no test ran");
    }
    Ok(())
}

/// Packs the programs that the tests ran and tests the package, as a desktop would install and start it. The
/// same code makes the packages of `cargo xtask dist`; only the packed programs are not optimised here, which
/// would take many minutes.
fn package(project: &Project) -> Result<()> {
    if which("dpkg").is_none() {
        say(
            "this system has no dpkg: the Debian package is tested on Debian and Ubuntu only, here it is left out",
        );
        return Ok(());
    }
    let made = packages::pack(project, Profile::Debug, "deb")?;
    let [package] = made.as_slice() else { bail!("expected one package, and there are {made:?}") };
    let archive = step("archive that needs no installation", || packages::portable(package))?;
    let mut tally = Tally::default();
    let success = cargo_test(project, &[])
        .args(["--test", "package", "--", "--ignored"])
        .env("DISSENSUS_DEB", package)
        .env("DISSENSUS_ARCHIVE", archive)
        .lines(|line| tally.read(line))?
        .success();
    if !success {
        bail!("the package failed its tests{}", tally.names());
    }
    if tally.passed == 0 {
        bail!("no test of the package ran");
    }
    Ok(())
}

/// The long tests that `cargo test` leaves out: minutes in which every use case runs in parallel with every
/// other; merging histories of copies: 500, or the number in `DISSENSUS_HISTORIES` (10,000 take some ten
/// minutes of one core); and simulations of more data sets than the step `test` has time for, whose names
/// begin with `stress_`.
fn stress(project: &Project) -> Result<()> {
    let programs = |targets: &[&str], names: &[&str]| {
        cargo_test(project, targets).args(["--", "--ignored", "--nocapture"]).args(names)
    };
    // Never remembered: each run draws another order of actions.
    programs(&["--test", "stress"], &["--test-threads", "1"]).run()?;
    let remembered = passed::cargo_arguments(project)?;
    let remembered: Vec<&str> = remembered.iter().map(String::as_str).collect();
    let histories = std::env::var("DISSENSUS_HISTORIES").unwrap_or_else(|_| "500".to_owned());
    let all = [["--test", "histories"].as_slice(), &remembered].concat();
    programs(&all, &[]).env("DISSENSUS_HISTORIES", histories).run()?;
    let simulations = [["--lib", "--test", "suite"].as_slice(), &remembered].concat();
    programs(&simulations, &["stress_"]).run()
}

/// What all test programs together reported.
#[derive(Default)]
struct Tally {
    passed: u64,
    /// Those of `passed` that passed in an earlier run, and have not changed since.
    earlier: u64,
    failed: u64,
    ignored: u64,
    failures: Vec<String>,
}

impl Tally {
    fn read(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix(passed::EARLIER) {
            self.earlier += self.add(result);
        } else if let Some(result) = line.strip_prefix(passed::RESULT) {
            self.add(result);
        } else if let Some(test) = line.strip_prefix("test ")
            && let Some(name) = test.strip_suffix(" ... FAILED")
        {
            self.failures.push(name.to_owned());
        }
    }

    /// Adds a result such as `ok. 3 passed; 0 failed`, and returns how many passed.
    fn add(&mut self, result: &str) -> u64 {
        let (mut passed, mut before) = (0, "");
        for word in result.split(|c: char| c.is_whitespace() || c == ';' || c == '.') {
            let count = before.parse().unwrap_or(0);
            match word {
                "passed" => passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
            before = word;
        }
        self.passed += passed;
        passed
    }

    /// How many tests did not run now.
    fn notes(&self) -> String {
        let mut notes = Vec::new();
        if self.earlier > 0 {
            notes.push(format!("{} of them earlier, unchanged since", self.earlier));
        }
        if self.ignored > 0 {
            notes.push(format!("{} ignored", self.ignored));
        }
        if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) }
    }

    fn names(&self) -> String {
        if self.failures.is_empty() {
            return String::new();
        }
        format!(":\n    {}", self.failures.join("\n    "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_results_are_summed() {
        let mut tally = Tally::default();
        let lines = [
            "running 3 tests",
            "test rules::a ... ok",
            "test rules::b ... FAILED",
            "test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.10s",
            "test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured; 5 filtered out; finished in 1.00s",
        ];
        lines.iter().for_each(|line| tally.read(line));
        assert_eq!((tally.passed, tally.failed, tally.ignored), (42, 1, 2));
        assert_eq!(tally.names(), ":\n    rules::b");
        assert_eq!(tally.notes(), " (2 ignored)");
        tally.read("earlier test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        assert_eq!((tally.passed, tally.earlier), (47, 5));
        assert_eq!(tally.notes(), " (5 of them earlier, unchanged since; 3 ignored)");
    }

    #[test]
    fn every_step_has_a_unique_name() {
        let mut names: Vec<&str> = steps().map(|(name, _)| name).collect();
        let many = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), many);
    }
}
