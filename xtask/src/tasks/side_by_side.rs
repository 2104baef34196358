//! Rows of programs, two rows at a time, each row one program after the other, with separate outputs.

use crate::shell::{Program, say};
use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// Time to wait for the end of the output after the program has ended.
const LEFT_BEHIND: Duration = Duration::from_secs(5);

/// A row: the programs, each with its name.
type Row = Vec<(&'static str, Program)>;

/// Rows that run at the same time: each program uses several threads, and waits for some of its time.
const WORKERS: usize = 2;

/// Runs the rows in their order, [`WORKERS`] at a time: a worker that has finished a row takes the next one.
/// The output of the first worker is printed line by line as it arrives; that of the other in one block when
/// its program has ended. After a failure no other program starts, and running ones are waited for.
///
/// # Errors
/// The programs that failed, by name.
pub(crate) fn run(rows: Vec<Row>) -> Result<()> {
    let (failed, stop) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let rows = Mutex::new(VecDeque::from(rows));
    let next = || lock(&rows).pop_front();
    let work = |worker: usize, first: Row| {
        for (name, program) in std::iter::once(first).chain(std::iter::from_fn(next)).flatten() {
            if stop.load(Ordering::Relaxed) {
                say(format!("NOT RUN: `{name}`, because a parallel step has failed"));
                continue;
            }
            if worker > 0 {
                say(format!("{name}: runs in parallel; its output comes when it has ended"));
            }
            if let Err(error) = one(program, worker == 0) {
                stop.store(true, Ordering::Relaxed);
                println!("    {error:#}");
                lock(&failed).push(name);
            }
        }
    };
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            // Taken here, so that the first row is that of the first worker.
            let (work, Some(first)) = (&work, next()) else { break };
            scope.spawn(move || work(worker, first));
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner).as_slice() {
        [] => Ok(()),
        [name] => bail!("step `{name}` failed"),
        names => bail!("steps `{}` failed", names.join("`, `")),
    }
}

/// Runs one program and prints its output, at once or when it has ended; fails if it fails.
fn one(program: Program, at_once: bool) -> Result<()> {
    let line = program.line();
    let (mut child, out) = program.spawn_with_one_output()?;
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (ended, end) = mpsc::channel();
    let into = Arc::clone(&kept);
    std::thread::spawn(move || {
        let (mut out, mut line) = (BufReader::new(out), Vec::new());
        // By bytes, because a program under test may print anything.
        while out.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if at_once {
                print(&line);
            } else {
                lock(&into).extend_from_slice(&line);
            }
            line.clear();
        }
        // The receiver is gone if this took too long.
        let _ = ended.send(());
    });
    let status = child.wait().with_context(|| format!("waiting for `{line}`"))?;
    // A program that a test left running holds the output open: do not wait for it.
    let _ = end.recv_timeout(LEFT_BEHIND);
    print(&lock(&kept));
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a block without output of another row in between.
fn print(block: &[u8]) {
    let mut terminal = std::io::stdout().lock();
    // If nothing reads the terminal any more, the exit code still reports the result.
    let _ = terminal.write_all(block).and_then(|()| terminal.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cargo(arguments: &[&str]) -> Program {
        Program::cargo().args(arguments)
    }

    #[test]
    fn successful_rows_return_ok() {
        run(vec![vec![("a", cargo(&["--version"])), ("b", cargo(&["--version"]))], vec![]]).unwrap();
    }

    #[test]
    fn every_row_runs_when_there_are_more_rows_than_workers() {
        let folder = std::env::temp_dir().join(format!("dissensus-xtask-rows-{}", std::process::id()));
        let paths: Vec<_> = (0..2 * WORKERS + 1).map(|at| folder.join(format!("row{at}"))).collect();
        let make =
            |path: &std::path::PathBuf| vec![("new", cargo(&["new", "--quiet", "--vcs", "none"]).arg(path))];
        run(paths.iter().map(make).collect()).unwrap();
        let made = paths.iter().filter(|path| path.join("Cargo.toml").is_file()).count();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(made, paths.len());
    }

    #[test]
    fn all_failed_steps_are_named() {
        let folder = std::env::temp_dir().join(format!("dissensus-xtask-{}", std::process::id()));
        let made = folder.join("made");
        let rows = vec![
            vec![("first", cargo(&["--version"])), ("broken", cargo(&["no-such-command"])), {
                let path = made.to_string_lossy().into_owned();
                ("after", cargo(&["new", "--vcs", "none", &path]))
            }],
            vec![("other", cargo(&["--version"]))],
        ];
        assert_eq!(run(rows).unwrap_err().to_string(), "step `broken` failed");
        assert!(!made.exists());
        let rows =
            vec![vec![("a", cargo(&["no-such-command"]))], vec![("b", Program::new("no-such-program"))]];
        let error = run(rows).unwrap_err().to_string();
        // Either failure may have prevented the other program from starting.
        assert!(error.starts_with("step"), "{error}");
    }
}
