//! Snapshots of everything that other programs rely on: the schemas of `--json`, exports in every format,
//! merges, and the output of each command.
//!
//! `INSTA_UPDATE=always cargo xtask test --only contract` writes all snapshots again.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

mod exports;
mod merges;
mod printed;
mod schema;

use dissensus_tests::command::Bench;
use dissensus_tests::redact::Figures;
use dissensus_tests::transcript::Transcript;

/// Compares `text` with the snapshot `name`, one file for each case in one folder.
fn hold(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/contract");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Runs a script in a folder with `files`; the output of `before` is not part of the snapshot.
fn case(name: &str, files: &[(&str, &str)], before: &str, script: &str) {
    let bench = Bench::without_encoder();
    for (file, content) in files {
        bench.file(file, content);
    }
    let mut transcript = Transcript::new(bench, Figures::Exact);
    transcript.prepare(before);
    transcript.run(script);
    hold(name, &transcript.finish());
}
