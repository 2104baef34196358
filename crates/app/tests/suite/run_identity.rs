//! A run is identified by its id: project and folder can be moved, renamed, linked and restored, and files
//! of different runs are never confused.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{offensiveness, open, tiny};
use dissensus_api::{ImportChoices, RunDetail, TrainChoices};
use dissensus_app::session::Session;
use dissensus_domain::AnnotatorId;
use dissensus_encoder::DeviceChoice;
use dissensus_project::jobs::Silent;
use dissensus_project::sample;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_training::runs::TextToPredict;
use dissensus_transfer::exchange;
use std::fs;
use std::path::{Path, PathBuf};

const TEXT: &str = "You call that a recipe?";

/// The sample under this name, encoded by a tiny encoder.
fn sample_at(path: &Path) -> Session {
    sample::create(path).unwrap();
    let session = open(path);
    session.encoding.encode(&tiny(), &Silent).unwrap();
    session
}

fn train(session: &Session, model: ModelKind, tuning: &str, seed: u32) -> RunDetail {
    let choices = runs::choices_for(&session.runs, offensiveness(session), model, tuning).unwrap();
    let choices = TrainChoices { epochs: 1, seed, ..choices };
    runs::train(&session.runs, &choices, DeviceChoice::Cpu, &Silent).unwrap()
}

fn predicted(session: &Session, run: u32) -> Result<Vec<f32>, String> {
    runs::predict(&session.runs, &[run], AnnotatorId(2), TextToPredict::New(TEXT), &Silent)
        .map(|mut found| found.swap_remove(0).probabilities)
        .map_err(|error| error.code().to_owned())
}

/// The folder of the only run of a project.
fn only_run(project: &Path) -> PathBuf {
    let mut name = project.as_os_str().to_owned();
    name.push(".runs");
    let runs: Vec<PathBuf> = fs::read_dir(name).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

#[test]
fn projects_with_other_extensions_do_not_share_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (sample_at(&folder.path().join("two.a")), sample_at(&folder.path().join("two.b")));
    let of_a = train(&a, ModelKind::SepHeads, "frozen", 0).info;
    let a_says = predicted(&a, of_a.id).unwrap();
    let net_a = train(&a, ModelKind::ShareRecFfn, "frozen", 0).info;
    let net_b = train(&b, ModelKind::ShareRecFfn, "frozen", 1).info;
    let another_b = train(&b, ModelKind::ShareRecFfn, "frozen", 2).info;
    assert_eq!((net_a.id, another_b.id, net_b.id), (2, 2, 1));
    let (of_two_a, of_two_b) = (predicted(&a, 2).unwrap(), predicted(&b, 2).unwrap());
    assert_ne!(of_two_a, of_two_b, "other seeds, other networks");
    assert_eq!(predicted(&a, of_a.id).unwrap(), a_says);
    a.close();
    b.close();
    assert_eq!(predicted(&open(&folder.path().join("two.a")), 2).unwrap(), of_two_a);
}

#[test]
fn unusual_extensions_get_their_own_run_folders() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["z.runs", "plain", "a.b.dissensus"] {
        let path = folder.path().join(name);
        let session = sample_at(&path);
        let run = train(&session, ModelKind::ShareRecFfn, "frozen", 0).info;
        assert_eq!(only_run(&path).file_name().unwrap().to_str().unwrap(), run.uid, "{name}");
        assert!(predicted(&session, run.id).is_ok(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn project_whose_name_is_not_utf_8_uses_its_tuned_encoder() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.dissensus"));
    let session = sample_at(&path);
    let run = train(&session, ModelKind::Multilevel, "last-1", 0).info;
    runs::use_run(&session.runs, Some(run.id)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    assert!(runs::detail(&session.runs, run.id).unwrap().info.predicts);
}

#[cfg(unix)]
#[test]
fn link_to_a_project_finds_the_runs_of_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.dissensus");
    sample_at(&path).close();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let link = folder.path().join("sub/g.dissensus");
    std::os::unix::fs::symlink("../f.dissensus", &link).unwrap();
    let session = open(&link);
    let run = train(&session, ModelKind::ShareRecFfn, "frozen", 0).info.id;
    let before = predicted(&session, run).unwrap();
    session.close();
    assert!(!folder.path().join("sub/g.dissensus.runs").exists());
    only_run(&path);
    assert_eq!(predicted(&open(&path), run).unwrap(), before);
}

#[test]
fn project_and_folder_can_be_moved_and_renamed_together() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    fs::create_dir(&before).unwrap();
    fs::create_dir(&after).unwrap();
    let path = before.join("p.dissensus");
    let session = sample_at(&path);
    let run = train(&session, ModelKind::Multilevel, "last-1", 0).info.id;
    runs::use_run(&session.runs, Some(run)).unwrap();
    session.encoding.ensure_encoded(&EncoderChoice::default(), &Silent).unwrap();
    let version = session.encoding.state().unwrap().version;
    session.close();
    let moved = after.join("q.dissensus");
    fs::rename(&path, &moved).unwrap();
    let session = open(&moved);
    assert_eq!(predicted(&session, run).unwrap_err(), "run-files-missing");
    let error = runs::use_run(&session.runs, Some(run)).unwrap_err();
    assert!(error.to_string().contains("q.dissensus.runs"), "{error}");
    session.close();
    fs::rename(before.join("p.dissensus.runs"), after.join("q.dissensus.runs")).unwrap();
    fs::remove_dir(&before).unwrap_or_default();
    let session = open(&moved);
    predicted(&session, run).unwrap();
    // New texts are encoded with the tuned encoder in its new location.
    let file = after.join("more.csv");
    fs::write(&file, "text_id,text\nnew1,One more text\n").unwrap();
    let silent: std::sync::Arc<dyn dissensus_project::jobs::Progress> = std::sync::Arc::new(Silent);
    exchange::import(&session.exchange, &file, &ImportChoices::default(), Some(&silent)).unwrap();
    let encoded = session.encoding.encode(&EncoderChoice::default(), &Silent).unwrap();
    assert_eq!((encoded.texts, session.encoding.state().unwrap().version), (1, version));
}

#[test]
fn restored_project_ignores_runs_of_the_lost_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.dissensus");
    let backup = folder.path().join("backup");
    sample_at(&path).close();
    fs::copy(&path, &backup).unwrap();
    let session = open(&path);
    let lost = train(&session, ModelKind::ShareRecFfn, "frozen", 0).info;
    session.close();
    fs::copy(&backup, &path).unwrap();
    let session = open(&path);
    let run = train(&session, ModelKind::ShareRecFfn, "frozen", 1).info;
    assert_eq!(run.id, lost.id, "the backup knows nothing of the lost run");
    assert_ne!(run.uid, lost.uid);
    predicted(&session, run.id).unwrap();
    assert!(folder.path().join("j.dissensus.runs").join(lost.uid).join("network.json").exists());
}

#[test]
fn files_of_other_runs_are_neither_used_nor_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let session = sample_at(&path);
    let run = train(&session, ModelKind::ShareRecFfn, "frozen", 0).info;
    let own = folder.path().join("p.dissensus.runs").join(&run.uid);
    let other = train(&session, ModelKind::ShareRecFfn, "frozen", 1).info;
    let others = folder.path().join("p.dissensus.runs").join(&other.uid);

    // The files of the other run under the name of the first.
    fs::rename(&own, folder.path().join("aside")).unwrap();
    fs::rename(&others, &own).unwrap();
    assert_eq!(predicted(&session, run.id).unwrap_err(), "run-files-foreign");
    let detail = runs::detail(&session.runs, run.id).unwrap();
    assert!(detail.notes.iter().any(|note| note.contains(&other.uid)), "{:?}", detail.notes);
    assert_eq!(predicted(&session, other.id).unwrap_err(), "run-files-missing");
    fs::rename(&own, &others).unwrap();
    fs::rename(folder.path().join("aside"), &own).unwrap();
    predicted(&session, run.id).unwrap();

    // Half deleted, or half copied.
    fs::remove_file(own.join("run.json")).unwrap();
    assert_eq!(predicted(&session, run.id).unwrap_err(), "run-files-foreign");
    fs::write(own.join("run.json"), "{\"id\":").unwrap();
    assert_eq!(predicted(&session, run.id).unwrap_err(), "run-files-foreign");
    runs::delete(&session.runs, run.id).unwrap();
    assert!(own.join("network.json").exists(), "not known to be its own, so it stays");

    // A file, and a dangling link, in place of the folder.
    fs::remove_dir_all(&others).unwrap();
    fs::write(&others, "in the way").unwrap();
    assert_eq!(predicted(&session, other.id).unwrap_err(), "run-files-foreign");
    #[cfg(unix)]
    {
        fs::remove_file(&others).unwrap();
        std::os::unix::fs::symlink("nowhere", &others).unwrap();
        assert_eq!(predicted(&session, other.id).unwrap_err(), "run-files-foreign");
    }
    runs::delete(&session.runs, other.id).unwrap();
    assert!(fs::symlink_metadata(&others).is_ok());
    let next = train(&session, ModelKind::Shared, "frozen", 0).info;
    assert_eq!(next.id, other.id + 1, "the number of a deleted run is not used again");
}

#[test]
fn deleting_a_run_deletes_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let session = sample_at(&path);
    let run = train(&session, ModelKind::ShareRecFfn, "frozen", 0).info;
    runs::delete(&session.runs, run.id).unwrap();
    assert!(!folder.path().join("p.dissensus.runs").exists());
}
