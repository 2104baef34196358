//! Runs the `dissensus` command as a script would.

use crate::redact::{Figures, redacted};
use crate::{programs, schemas};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A folder for one test, which is also the home of the command: nothing of the user's is read or written.
pub struct Bench {
    folder: TempDir,
    models: PathBuf,
}

/// The result of a command.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// A folder whose projects nobody else can read, whatever the user's mask: a project that others can read
/// gives a notice.
fn private_folder() -> std::io::Result<TempDir> {
    let mut folder = tempfile::Builder::new();
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    folder.tempdir()
}

impl Bench {
    /// An empty folder, with the checkout's encoders.
    ///
    /// # Panics
    /// The system gives no temporary folder.
    #[expect(clippy::new_without_default, reason = "making a folder is no default")]
    pub fn new() -> Self {
        match private_folder() {
            Ok(folder) => Self { folder, models: programs::models() },
            Err(error) => panic!("no temporary folder: {error}"),
        }
    }

    /// Like [`Bench::new`], but on a machine without encoders.
    pub fn without_encoder() -> Self {
        let mut bench = Self::new();
        bench.models = bench.path("no-models");
        if let Err(error) = std::fs::create_dir(&bench.models) {
            panic!("cannot make {}: {error}", bench.models.display());
        }
        bench
    }

    /// The path of `name` in this folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of encoders.
    pub fn models(&self) -> &Path {
        &self.models
    }

    /// Writes a file and returns its path.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        if let Err(error) = std::fs::write(&path, content) {
            panic!("cannot write {}: {error}", path.display());
        }
        path
    }

    /// The command with these arguments, ready to start in this folder.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(programs::command());
        command
            .args(arguments)
            .current_dir(self.folder())
            .env("DISSENSUS_HOME", self.path("home"))
            .env("DISSENSUS_MODELS", &self.models)
            .env("NO_COLOR", "1")
            .env("DISSENSUS_LANGUAGE", "en")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null());
        command
    }

    /// Runs the command to its end, and checks its output with `--json` against its schema.
    ///
    /// # Panics
    /// It cannot be started, or its output is not UTF-8 or does not match `dissensus schema`.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Outcome {
        let arguments: Vec<_> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let mut command = self.command(&arguments);
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => panic!("cannot start {command:?}: {error}"),
        };
        let text = |bytes| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => panic!("{command:?} printed {error}"),
        };
        let out = text(output.stdout);
        if arguments.iter().any(|argument| argument == "--json")
            && let Ok(document) = serde_json::from_str(&out)
        {
            schemas::check(&arguments, &document);
        }
        Outcome { code: output.status.code(), out, err: text(output.stderr) }
    }

    /// Runs the command, which must succeed, and returns what it printed.
    ///
    /// # Panics
    /// It fails.
    pub fn ok<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let arguments: Vec<_> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let outcome = self.run(&arguments);
        assert_eq!(outcome.code, Some(0), "dissensus {arguments:?} failed:\n{}", outcome.err);
        outcome.out
    }

    /// Runs the command with `--json` and returns its one document.
    ///
    /// # Panics
    /// It fails, or prints anything but one JSON document.
    pub fn json<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Value {
        let mut arguments: Vec<_> = arguments.into_iter().map(|a| a.as_ref().to_owned()).collect();
        arguments.push("--json".into());
        let out = self.ok(&arguments);
        match serde_json::from_str(&out) {
            Ok(document) => document,
            Err(error) => panic!("dissensus {arguments:?} printed no JSON document ({error}):\n{out}"),
        }
    }

    /// Runs the command, which must fail with exit code 1 and print nothing on standard output, and returns
    /// its message with this folder's path replaced by `[FOLDER]`.
    ///
    /// # Panics
    /// It succeeds, panics, dies of a signal, or is refused as wrong usage.
    pub fn refused<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let arguments: Vec<_> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let outcome = self.run(&arguments);
        assert_eq!(outcome.code, Some(1), "dissensus {arguments:?}: {outcome:?}");
        assert_eq!(outcome.out, "", "a failing command prints nothing to be read by a script");
        assert!(!outcome.err.contains("panicked"), "{}", outcome.err);
        self.without_paths(&outcome.err)
    }

    /// `text` for a snapshot: without values that differ between runs and machines.
    pub fn shown(&self, text: &str) -> String {
        let folders = [(self.folder(), "[FOLDER]"), (self.models(), "[MODELS]")];
        redacted(text.trim_end(), &folders, Figures::OfModels)
    }

    /// `text` with this folder's path replaced by `[FOLDER]`.
    pub fn without_paths(&self, text: &str) -> String {
        text.replace(&*self.folder().to_string_lossy(), "[FOLDER]").trim_end().to_owned()
    }
}
