//! Concurrent use cases: no deadlock, and nothing is lost.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::sample_in;
use dissensus_editing::annotators;
use dissensus_editing::info;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Fails the test if `work` is not done in time: a deadlock would otherwise block it for ever.
fn within(limit: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, waiting) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    match waiting.recv_timeout(limit) {
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => worker.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("not done after {limit:?}: a deadlock"),
    }
}

#[test]
fn figures_are_read_while_annotators_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let session = Arc::new(sample_in(&folder));
    within(Duration::from_secs(120), move || {
        let stop = Arc::new(AtomicBool::new(false));
        let reader = {
            let (session, stop) = (Arc::clone(&session), Arc::clone(&stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let info = info::read(&session.project).unwrap();
                    assert!(info.annotators >= 8);
                }
            })
        };
        for n in 0..60 {
            annotators::add(&session.project, &format!("new {n}"), &Default::default()).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        assert_eq!(info::read(&session.project).unwrap().annotators, 68);
    });
}

#[test]
fn listener_may_call_the_session_and_add_listeners() {
    let folder = tempfile::tempdir().unwrap();
    let session = Arc::new(sample_in(&folder));
    let inner = Arc::downgrade(&session);
    session.subscribe(move |_| {
        if let Some(session) = inner.upgrade() {
            info::read(&session.project).unwrap();
            session.subscribe(|_| {});
        }
    });
    within(Duration::from_secs(60), move || {
        annotators::add(&session.project, "Ana", &Default::default()).unwrap();
    });
}
