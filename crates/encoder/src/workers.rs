//! Threads that compute batches in parallel and hand them over one at a time.
//!
//! Every worker computes a whole batch: on the small matrices of a sentence encoder no core then waits for
//! another between two products, as it would if each product were shared by all cores.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder, Yield};

use crate::error::EncoderError;

/// The worker threads of one encoder.
pub(crate) struct Workers {
    /// One single-threaded pool per worker, so that the tensor library's own parallel loops stay on that
    /// thread.
    alone: Vec<ThreadPool>,
    /// All threads together, for tokenizing.
    together: ThreadPool,
}

impl Workers {
    /// Starts the threads. `threads`: `None` for `RAYON_NUM_THREADS`, or else the number of cores. Where
    /// another device computes (`on_cpu` is false) one worker feeds it, and all threads tokenize.
    pub(crate) fn start(on_cpu: bool, threads: Option<usize>) -> Result<Self, EncoderError> {
        let threads = threads
            .or_else(|| asked_for(std::env::var("RAYON_NUM_THREADS").ok().as_deref()))
            .unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
            .max(1);
        let workers = if on_cpu { threads } else { 1 };
        let pool = |size: usize| {
            ThreadPoolBuilder::new()
                .num_threads(size)
                .thread_name(|i| format!("encoder-{i}"))
                .build()
                .map_err(|e| EncoderError::Threads { threads, reason: e.to_string() })
        };
        Ok(Self { alone: (0..workers).map(|_| pool(1)).collect::<Result<_, _>>()?, together: pool(threads)? })
    }

    /// Number of workers.
    pub(crate) fn count(&self) -> usize {
        self.alone.len()
    }

    pub(crate) fn tokenize<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.together.install(work)
    }

    /// Computes `work` for every item, and passes each result to `on_done` on this thread as it arrives. A
    /// break or an error stops the workers after their current item.
    pub(crate) fn run<B: Sync, R: Send>(
        &self,
        items: &[B],
        work: impl Fn(&B) -> Result<R, EncoderError> + Sync,
        mut on_done: impl FnMut(&B, R) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncoderError> {
        if let [only] = items {
            // With a single item only its own products can run in parallel.
            return Ok(on_done(only, self.all_awake(|| work(only))?));
        }
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let (sender, results) = sync_channel(self.alone.len());
        let take = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if stop.load(Ordering::Relaxed) { None } else { items.get(index).map(|item| (index, item)) }
        };
        thread::scope(|scope| {
            for pool in self.alone.iter().take(items.len()) {
                let (sender, take, work) = (sender.clone(), &take, &work);
                scope.spawn(move || {
                    while let Some((index, item)) = take() {
                        let result = pool.install(|| work(item));
                        if sender.send((index, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let outcome = results.iter().find_map(|(index, result)| match result {
                Err(error) => Some(Err(error)),
                Ok(done) => on_done(&items[index], done).is_break().then_some(Ok(ControlFlow::Break(()))),
            });
            stop.store(true, Ordering::Relaxed);
            // A worker may be waiting for room in the channel: without a receiver it continues and sees the
            // stop.
            drop(results);
            outcome.unwrap_or(Ok(ControlFlow::Continue(())))
        })
    }
}

impl Workers {
    /// Runs `work` on one thread of the full pool, while the others spin for parts of it without sleeping:
    /// one text is computed in dozens of steps of a tenth of a millisecond, and waking a thread takes as
    /// long as such a step.
    fn all_awake<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let done = AtomicBool::new(false);
        self.together.scope(|scope| {
            let (own, done) = (rayon::current_thread_index(), &done);
            for _ in 1..self.alone.len() {
                scope.spawn(move |_| {
                    // On the thread that runs the work, this would wait for itself. On another thread it
                    // can end up between the thread and what it waits for only while other parts of the
                    // same work still move: threads take the oldest task first, so all of these are taken
                    // before any part of the work is.
                    while rayon::current_thread_index() != own && !done.load(Ordering::Acquire) {
                        if rayon::yield_now() != Some(Yield::Executed) {
                            std::hint::spin_loop();
                        }
                    }
                });
            }
            let end = SetAtEnd(done);
            let result = work();
            drop(end);
            result
        })
    }
}

/// The number of threads that a variable requests, parsed as rayon does: 0 and non-numbers request nothing.
fn asked_for(variable: Option<&str>) -> Option<usize> {
    variable?.parse().ok().filter(|threads| *threads > 0)
}

/// Sets a flag when dropped, also when the work panics, so that no thread waits for ever.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_processed_once() {
        let workers = Workers::start(true, Some(3)).unwrap();
        let items: Vec<usize> = (0..100).collect();
        let mut seen = Vec::new();
        let flow = workers.run(
            &items,
            |i| Ok(i * 2),
            |i, double| {
                assert_eq!(double, i * 2);
                seen.push(*i);
                ControlFlow::Continue(())
            },
        );
        assert!(flow.unwrap().is_continue());
        seen.sort_unstable();
        assert_eq!(seen, items);
    }

    #[test]
    fn all_threads_tokenize_for_another_device() {
        let workers = Workers::start(false, Some(3)).unwrap();
        assert_eq!((workers.count(), workers.tokenize(rayon::current_num_threads)), (1, 3));
        assert_eq!(Workers::start(true, Some(3)).unwrap().count(), 3);
    }

    #[test]
    fn thread_variable_is_parsed_like_rayons() {
        let asked =
            [None, Some(""), Some("0"), Some("two"), Some("-1"), Some("1"), Some("12")].map(asked_for);
        assert_eq!(asked, [None, None, None, None, None, Some(1), Some(12)]);
    }

    #[test]
    fn all_threads_share_one_item() {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        for threads in 1..5 {
            let workers = Workers::start(true, Some(threads)).unwrap();
            for _ in 0..50 {
                let sum = |_: &()| Ok((0..1000_u64).into_par_iter().map(|i| i * i).sum::<u64>());
                let mut found = 0;
                let flow = workers.run(&[()], sum, |(), sum| {
                    found = sum;
                    ControlFlow::Continue(())
                });
                assert!(flow.unwrap().is_continue());
                assert_eq!(found, 332_833_500);
            }
            let panics = || workers.all_awake(|| panic!("as a test"));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        }
    }

    #[test]
    fn break_stops_remaining_items() {
        let workers = Workers::start(true, Some(2)).unwrap();
        let items: Vec<usize> = (0..1000).collect();
        let computed = AtomicUsize::new(0);
        let flow = workers.run(
            &items,
            |_| {
                computed.fetch_add(1, Ordering::Relaxed);
                Ok(())
            },
            |_, ()| ControlFlow::Break(()),
        );
        assert!(flow.unwrap().is_break());
        assert!(computed.load(Ordering::Relaxed) < 20);
    }

    #[test]
    fn error_stops_remaining_items() {
        let workers = Workers::start(true, Some(2)).unwrap();
        let items: Vec<usize> = (0..10).collect();
        let work = |i: &usize| if *i == 3 { Err(EncoderError::NoTokens { index: 3 }) } else { Ok(()) };
        let outcome = workers.run(&items, work, |_, ()| ControlFlow::Continue(()));
        assert!(matches!(outcome, Err(EncoderError::NoTokens { index: 3 })));
    }
}
