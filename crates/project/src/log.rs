//! The log: a file in the application's folder that is replaced every day, and standard error where
//! requested.
//!
//! It records what was done, for how long, and with which error code. It never contains a text, a label or
//! a name: events have codes, counts and ids, never messages of errors (which quote their subject) and
//! never the message of a panic (which can quote a text). New events must follow this rule; `tests/log.rs`
//! searches for texts, labels and names after a session.

use crate::error::ProjectError;
use crate::home::Home;
use std::backtrace::Backtrace;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

const PREFIX: &str = "dissensus";
const SUFFIX: &str = "log";
/// Number of days that are retained.
const DAYS: usize = 7;
/// Filter of the file: the program's own actions, and warnings of all crates.
const FILE_FILTER: &str = "warn,dissensus=info";

/// Starts the log of this process, and logs panics with their location and backtrace. `level` (`error`,
/// `warn`, `info`, `debug`, `trace`, or a filter such as `dissensus_store=debug`) is for standard error;
/// without it `RUST_LOG` applies. A folder that cannot be written means no file, but does not prevent the
/// start. Only the first call has an effect.
///
/// # Errors
/// [`ProjectError::Setting`] where `level` is no filter.
pub fn start_log(home: &Home, level: Option<&str>) -> Result<(), ProjectError> {
    let asked = match level {
        Some(level) => Some(EnvFilter::try_new(level).map_err(|_| ProjectError::Setting {
            name: "log",
            value: level.to_owned(),
            allowed: "error, warn, info, debug, trace, or a filter such as dissensus_store=debug".into(),
        })?),
        // A filter that was set for another program is no error here.
        None => EnvFilter::try_from_default_env().ok(),
    };
    let to_stderr = asked.map(|filter| {
        fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(true).with_filter(filter)
    });
    let to_file = file(&home.logs())
        .map(|file| fmt::layer().with_writer(file).with_ansi(false).with_filter(EnvFilter::new(FILE_FILTER)));
    let first = tracing_subscriber::registry().with(to_stderr).with(to_file).try_init().is_ok();
    if first {
        log_panics();
        tracing::info!(version = env!("CARGO_PKG_VERSION"), os = std::env::consts::OS, "started");
    }
    Ok(())
}

fn file(folder: &Path) -> Option<RollingFileAppender> {
    crate::home::make_private_folder(folder).ok()?;
    RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(PREFIX)
        .filename_suffix(SUFFIX)
        .max_log_files(DAYS)
        .build(folder)
        .ok()
}

/// Logs location and backtrace of panics, then calls the previous hook, which prints them to standard
/// error.
fn log_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let thread = std::thread::current();
        tracing::error!(
            place,
            thread = thread.name().unwrap_or("unnamed"),
            backtrace = %Backtrace::force_capture(),
            "panic"
        );
        before(panic);
    }));
}

/// The last `lines` lines of the newest log, oldest first; none without a log.
pub fn last_lines(home: &Home, lines: usize) -> Vec<String> {
    let Some(newest) = newest(&home.logs()) else { return Vec::new() };
    let Ok(file) = std::fs::File::open(newest) else { return Vec::new() };
    let mut last = VecDeque::with_capacity(lines + 1);
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        last.push_back(line);
        if last.len() > lines {
            last.pop_front();
        }
    }
    last.into()
}

fn newest(folder: &Path) -> Option<PathBuf> {
    let is_ours = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == SUFFIX)
            && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
    };
    // Their names contain the date, so the last by name is the newest.
    std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).filter(is_ours).max()
}

/// Ignores an error, with a warning in the log.
pub fn go_on<T>(doing: &'static str, result: Result<T, impl Into<ProjectError>>) -> Option<T> {
    result
        .map_err(|error| tracing::warn!(code = error.into().code(), "{doing} failed; going on without"))
        .ok()
}
