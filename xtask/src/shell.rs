//! Runs other programs, and prints which step is running and which command failed.

use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

/// Runs `work` with its name printed before, and the time it took after it.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("==> {name}");
    let start = Instant::now();
    let result = work().with_context(|| format!("step `{name}` failed"));
    if result.is_ok() {
        println!("    {name}: done in {:.1} s", start.elapsed().as_secs_f64());
    }
    result
}

/// Prints a line within a step.
pub(crate) fn say(line: impl AsRef<str>) {
    println!("    {}", line.as_ref());
}

/// A program to run.
pub(crate) struct Program {
    command: Command,
}

impl Program {
    /// The program of this name or path, without the secrets of a release in its environment: most programs
    /// run code of others, such as build scripts.
    pub(crate) fn new(name: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(name);
        for (name, _) in secrets() {
            command.env_remove(name);
        }
        Self { command }
    }

    /// The cargo that runs this program, without the variables that it set for that: some build scripts run
    /// again if one of them differs, and most of the workspace would be compiled again whenever `cargo` and
    /// `cargo xtask` take turns.
    pub(crate) fn cargo() -> Self {
        let mut cargo = Self::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        for (name, _) in std::env::vars_os() {
            let of_package = name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_"));
            if of_package || name == "CARGO_MANIFEST_DIR" || name == "CARGO_MANIFEST_PATH" {
                cargo.command.env_remove(name);
            }
        }
        cargo
    }

    /// npm, under the name it has on this system.
    pub(crate) fn npm() -> Self {
        Self::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
    }

    /// Python 3, under the name it has on this system.
    pub(crate) fn python() -> Self {
        Self::new(if cfg!(windows) { "python" } else { "python3" })
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// With the secrets of a release. Those that a repository lacks are empty variables in a workflow, which
    /// some programs would use.
    pub(crate) fn with_secrets(mut self) -> Self {
        self.command.envs(secrets().filter(|(_, value)| !value.is_empty()));
        self
    }

    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs it in this terminal; fails if it fails.
    pub(crate) fn run(mut self) -> Result<()> {
        let status = self.command.status().with_context(|| self.cannot_start())?;
        self.check(status)
    }

    /// Runs it and returns its output; its errors go to this terminal.
    pub(crate) fn output(mut self) -> Result<String> {
        let output = self.command.stderr(Stdio::inherit()).output().with_context(|| self.cannot_start())?;
        self.check(output.status)?;
        String::from_utf8(output.stdout).with_context(|| format!("`{}` printed no UTF-8", self.line()))
    }

    /// Runs it, passes each line of its output to `see` and prints it too. Returns how it ended.
    pub(crate) fn lines(mut self, mut see: impl FnMut(&str)) -> Result<ExitStatus> {
        let mut child = self.command.stdout(Stdio::piped()).spawn().with_context(|| self.cannot_start())?;
        let out = child.stdout.take().context("the program has no output")?;
        let mut out = BufReader::new(out);
        let mut line = Vec::new();
        // By bytes, because a program under test may print anything.
        while out.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            print!("{text}");
            see(text.trim_end());
            line.clear();
        }
        Ok(child.wait()?)
    }

    /// Starts it with standard output and errors merged into one stream, in their order.
    pub(crate) fn spawn_with_one_output(mut self) -> Result<(Child, PipeReader)> {
        let (out, into) = std::io::pipe()?;
        self.command.stdin(Stdio::null()).stdout(into.try_clone()?).stderr(into);
        // `self` is dropped on return, and with it this side of the stream, which would never end otherwise.
        let child = self.command.spawn().with_context(|| self.cannot_start())?;
        Ok((child, out))
    }

    /// Runs it silently; returns whether it could be started and succeeded.
    pub(crate) fn succeeds(mut self) -> bool {
        let quiet = self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    }

    /// The command as a user would type it.
    pub(crate) fn line(&self) -> String {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    fn cannot_start(&self) -> String {
        format!("cannot start `{}`", self.line())
    }

    fn check(&self, status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        bail!("`{}` failed ({status})", self.line())
    }
}

/// Whether the secrets to sign with are set.
pub(crate) fn has_secrets() -> bool {
    secrets().any(|(_, value)| !value.is_empty())
}

fn secrets() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_secret))
}

/// Whether a variable is one of the secrets in `.github/workflows/release.yml`.
fn is_secret(name: &str) -> bool {
    name.starts_with("APPLE_") || name == "UPDATE_KEY"
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@+%\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

/// The program's path, if it is on the PATH.
pub(crate) fn which(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_command_is_named_in_full() {
        let error = Program::cargo().args(["no-such-command", "a b"]).run().unwrap_err();
        assert!(format!("{error:#}").contains("no-such-command 'a b'` failed"), "{error:#}");
        let error = Program::new("no-such-program-anywhere").run().unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot start `no-such-program-anywhere`"), "{error:#}");
    }

    #[test]
    fn secrets_of_a_release_are_those_of_its_workflow() {
        let workflow = include_str!("../../.github/workflows/release.yml");
        let named = workflow.split("secrets.").skip(1);
        let named: Vec<&str> = named
            .filter_map(|rest| rest.split(|c: char| !c.is_ascii_uppercase() && c != '_').next())
            .collect();
        assert!(named.len() > 6, "{named:?}");
        assert!(named.iter().all(|name| is_secret(name)), "{named:?}");
        assert!(!is_secret("PATH") && !is_secret("REPOSITORY_ADDRESS"));
    }

    #[test]
    fn failing_step_is_named() {
        let error = step("fmt", || -> Result<()> { bail!("broken") }).unwrap_err();
        assert_eq!(format!("{error:#}"), "step `fmt` failed: broken");
    }

    #[test]
    fn finds_programs_on_the_path() {
        assert!(which("cargo").is_some());
        assert_eq!(which("no-such-program-anywhere"), None);
    }
}
