//! Encoders are compared with each other, and the project's encoder does not change until another one is
//! chosen.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{sample_with_question, tiny_folder};
use dissensus_analysis::encoder_comparison;
use dissensus_analysis::encoder_trials;
use dissensus_project::jobs::{Follow, Progress, Silent};
use dissensus_training::encoding::EncoderChoice;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// The tiny encoder in a separate folder, with another maximum of tokens if `other`, which makes it another
/// version.
fn encoder(folder: &TempDir, name: &str, other: bool) -> String {
    let to = folder.path().join(name);
    std::fs::create_dir(&to).unwrap();
    for entry in std::fs::read_dir(tiny_folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    if other {
        // Other weights: the last number of the file is changed.
        let weights = to.join("model.safetensors");
        let mut bytes = std::fs::read(&weights).unwrap();
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&0.25_f32.to_le_bytes());
        std::fs::write(&weights, bytes).unwrap();
    }
    to.canonicalize().unwrap().to_string_lossy().into_owned()
}

#[test]
fn encoders_are_compared_on_the_same_labels_and_none_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    let (first, second) = (encoder(&folder, "first", false), encoder(&folder, "second", true));
    let choice = EncoderChoice { encoder: Some(first.clone()), ..EncoderChoice::default() };
    session.encoding.encode(&choice, &Silent).unwrap();
    let before = session.encoding.state().unwrap();
    let here = encoder_trials::encoders_here(&session.analysis).unwrap();
    assert_eq!(here.iter().filter(|one| one.in_use).map(|one| &one.name).collect::<Vec<_>>(), [&first]);
    let found =
        encoder_trials::compare(&session.analysis, question, &[second.clone(), first.clone()], Follow::Job)
            .unwrap();
    assert_eq!(found.against, first, "the project's, wherever it is in the list");
    assert!(found.trials.windows(2).all(|pair| pair[0].log_loss <= pair[1].log_loss));
    for trial in &found.trials {
        assert!(trial.log_loss > 0.0 && trial.standard_error > 0.0, "{trial:?}");
        assert_eq!(trial.in_use, trial.name == first);
        let own = trial.name == first;
        assert_eq!(own, (trial.difference, trial.difference_error) == (0.0, 0.0), "{trial:?}");
        assert!(!(own && trial.clearly_better));
    }
    let [a, b] = found.trials.as_slice() else { panic!("two encoders") };
    let apart = if a.name == first { b.difference } else { a.difference };
    assert!(((b.log_loss - a.log_loss) - apart.abs()).abs() < 1e-9);
    assert_eq!(session.encoding.state().unwrap().version, before.version, "nothing is chosen");
    // The same figures as those of the command, which also chooses.
    let chosen = encoder_comparison::choose(
        &session.analysis,
        &[second, first],
        Some("offensiveness"),
        None,
        0,
        &EncoderChoice::default(),
        &Silent,
    )
    .unwrap();
    let losses: Vec<f64> = chosen.tried.iter().map(|one| one.log_loss).collect();
    assert_eq!(losses, found.trials.iter().map(|one| one.log_loss).collect::<Vec<_>>());
}

struct StopLater(AtomicBool);

impl Progress for StopLater {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        self.0.store(true, Ordering::SeqCst);
    }
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn wrong_names_are_refused_and_a_stop_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (session, question) = sample_with_question(&folder);
    let (first, second) = (encoder(&folder, "first", false), encoder(&folder, "second", true));
    let code = |names: &[String]| {
        encoder_trials::compare(&session.analysis, question, names, Follow::Job)
            .unwrap_err()
            .code()
            .to_owned()
    };
    assert_eq!(code(&[]), "encoders-to-choose");
    assert_eq!(code(std::slice::from_ref(&first)), "encoders-to-choose");
    assert_eq!(code(&[first.clone(), first.clone()]), "encoders-to-choose");
    assert_ne!(code(&[first.clone(), "no such encoder".to_owned()]), "encoders-to-choose");
    let stop = StopLater(AtomicBool::new(false));
    let stopped =
        encoder_trials::compare(&session.analysis, question, &[first.clone(), second.clone()], &stop);
    assert_eq!(stopped.unwrap_err().code(), "cancelled");
    assert!(encoder_trials::encoders_here(&session.analysis).unwrap().iter().all(|one| !one.in_use));
    // The next one reuses the encoded texts.
    let found =
        encoder_trials::compare(&session.analysis, question, &[first.clone(), second], Follow::Job).unwrap();
    assert_eq!(found.against, first, "without an encoder of the project the first named");
}
