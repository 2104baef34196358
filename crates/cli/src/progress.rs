//! Progress of long work as a bar on standard error, and Ctrl-C, which stops it.

use crate::language::{translate, translate_word};
use crate::output::visible;
use dissensus_project::jobs::Progress;
use indicatif::{FormattedDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The exit code after Ctrl-C, as in shells: 128 plus the number of the signal.
pub(crate) const STOPPED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);
static BARS: AtomicUsize = AtomicUsize::new(0);
static QUIET: AtomicBool = AtomicBool::new(false);

/// Hides bars from now on; Ctrl-C still works.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::SeqCst);
}

/// A progress bar that appears once there is something to show; hidden if standard error is not a terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// The current part of the work.
    part: Mutex<Option<Part>>,
}

/// One part of the work, such as encoding or fitting.
#[derive(Clone, Copy)]
struct Part {
    total: u64,
    began: Instant,
    /// What was done before this part began.
    before: u64,
}

impl Bar {
    /// Creates a bar that counts `unit`. While a bar exists, Ctrl-C asks its work to stop, and a second
    /// Ctrl-C ends the process.
    pub(crate) fn new(unit: &str) -> Self {
        BARS.fetch_add(1, Ordering::SeqCst);
        let target = match QUIET.load(Ordering::SeqCst) {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(spinner(unit));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, part: Mutex::new(None) }
    }
}

impl Bar {
    /// Prints lines above the bar.
    pub(crate) fn above(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// The current part; a different total starts a new one.
    fn part(&self, total: u64, done: u64) -> Part {
        let mut part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        match *part {
            Some(part) if part.total == total => part,
            _ => {
                self.bar.set_length(total);
                self.bar.set_style(counted());
                *part.insert(Part { total, began: Instant::now(), before: done })
            }
        }
    }
}

impl Progress for Bar {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        let Some(total) = total else {
            self.bar.set_position(done);
            self.bar.set_message(visible(&translate(doing)).into_owned());
            return;
        };
        let Part { began, before, .. } = self.part(total, done);
        self.bar.set_position(done);
        let left = time_left(began.elapsed(), done.saturating_sub(before), total.saturating_sub(done));
        let left = left.map(|left| format!("time left {}", FormattedDuration(left)));
        let left = left.map_or_else(String::new, |left| format!("{}  ", translate(&left)));
        self.bar.set_message(format!("{left}{}", visible(&translate(doing))));
    }

    fn cancelled(&self) -> bool {
        STOP.load(Ordering::SeqCst)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        BARS.fetch_sub(1, Ordering::SeqCst);
        self.bar.finish_and_clear();
    }
}

/// A bar that is created with the first report, for work that most commands do not have: until then Ctrl-C
/// ends the process at once.
pub(crate) struct LateBar {
    unit: &'static str,
    bar: OnceLock<Bar>,
}

impl LateBar {
    pub(crate) fn new(unit: &'static str) -> Self {
        Self { unit, bar: OnceLock::new() }
    }
}

impl Progress for LateBar {
    fn report(&self, done: u64, total: Option<u64>, doing: &str) {
        self.bar.get_or_init(|| Bar::new(self.unit)).report(done, total, doing);
    }

    fn cancelled(&self) -> bool {
        STOP.load(Ordering::SeqCst)
    }
}

/// Remaining time at the speed so far, without what was done before this part began; `None` until there is a
/// speed.
fn time_left(elapsed: Duration, done: u64, remaining: u64) -> Option<Duration> {
    (done > 0).then(|| elapsed.mul_f64(remaining as f64 / done as f64))
}

/// Handles Ctrl-C, and where the system has them SIGTERM and SIGHUP: work with a bar is asked to stop, so
/// that it can be resumed later; everything else ends at once, after all writes are checkpointed into the
/// project's single file.
pub(crate) fn watch_for_signals() {
    let handler = || {
        let working = BARS.load(Ordering::SeqCst) > 0;
        if !working {
            dissensus_store::checkpoint_all();
        }
        if !working || STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(STOPPED));
        }
    };
    // Without a handler a signal ends the process at once; completed writes are on disk anyway.
    let _ = ctrlc::set_handler(handler);
}

fn spinner(unit: &str) -> ProgressStyle {
    ProgressStyle::with_template(&format!("{{spinner}} {{pos}} {} {{msg}}", translate_word(unit)))
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn counted() -> ProgressStyle {
    ProgressStyle::with_template("{bar:28} {pos}/{len}  {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_uses_only_current_work() {
        assert_eq!(time_left(Duration::from_secs(10), 100, 300), Some(Duration::from_secs(30)));
        assert_eq!(time_left(Duration::from_secs(10), 0, 300), None);
        assert_eq!(time_left(Duration::from_secs(10), 5, 0), Some(Duration::ZERO));
    }
}
