//! The main task without a display, through the `dissensus` command: label, and see how disagreement changes.

use crate::fetch;
use crate::project::Project;
use crate::setup::apt;
use crate::shell::{Program, say, step, which};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// The question of the sample that the tour labels.
const QUESTION: &str = "offensiveness";
/// Ten comments of the sample without labels, and the answers of a strict new annotator to them.
const LABELS: [(&str, &str); 10] = [
    ("c131", "4"),
    ("c132", "5"),
    ("c133", "4"),
    ("c134", "5"),
    ("c135", "5"),
    ("c136", "4"),
    ("c137", "5"),
    ("c138", "4"),
    ("c139", "5"),
    ("c140", "5"),
];

/// Prints the disagreement table of the sample before and after a new annotator labels ten texts; for a
/// user's own project only the table.
///
/// # Errors
/// A step failed; the error names the step and the command.
pub(crate) fn run(project: &Project, path: Option<&Path>) -> Result<()> {
    println!(
        "==> There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can be opened."
    );
    println!("    The same job is done through the `dissensus` command instead.");
    step("C compiler", compiler)?;
    fetch::default_encoders(project)?;
    step("command: build", || {
        Program::cargo().args(["build", "--package", "dissensus-cli"]).in_folder(&project.root).run()
    })?;
    let command = Dissensus { binary: project.binary("debug", "dissensus") };
    match path {
        Some(path) => command.disagreement(path, None),
        None => tour(project, &command),
    }
}

fn tour(project: &Project, command: &Dissensus) -> Result<()> {
    let path = project.stamps().join("tour.dissensus");
    step("sample project", || {
        fs::create_dir_all(project.stamps())?;
        if path.exists() {
            fs::remove_file(&path).with_context(|| format!("removing the last tour's {}", path.display()))?;
        }
        command.run(["project", "sample"], &path, &[])
    })?;
    step("encode its texts", || command.run(["models", "encode"], &path, &[]))?;
    println!("==> disagreement before: the eight simulated annotators of the sample");
    command.disagreement(&path, Some(QUESTION))?;
    step("label ten texts as a new annotator, `newcomer`, who is strict", || {
        LABELS.iter().try_for_each(|(text, value)| {
            let arguments =
                ["--question", QUESTION, "--annotator", "newcomer", "--text-id", text, "--value", value];
            command.run(["label", "record"], &path, &arguments)
        })
    })?;
    println!("==> disagreement after: the newcomer is the ninth annotator");
    command.disagreement(&path, Some(QUESTION))?;
    say(format!("The project is {}; `{}` works on it.", path.display(), command.binary.display()));
    Ok(())
}

/// Without a window nothing but a C compiler is needed, for SQLite.
fn compiler() -> Result<()> {
    if cfg!(windows) || which("cc").is_some() {
        say("all there");
        return Ok(());
    }
    if which("apt-get").is_some() {
        return apt::install(&["build-essential"]);
    }
    bail!("there is no C compiler (`cc`): install gcc or clang")
}

struct Dissensus {
    binary: PathBuf,
}

impl Dissensus {
    fn run(&self, command: [&str; 2], project: &Path, arguments: &[&str]) -> Result<()> {
        Program::new(&self.binary).args(command).arg(project).args(arguments).run()
    }

    fn disagreement(&self, project: &Path, question: Option<&str>) -> Result<()> {
        let mut arguments = vec!["--top", "10"];
        arguments.extend(question.iter().flat_map(|question| ["--question", question]));
        self.run(["analyse", "disagreement"], project, &arguments)
    }
}
