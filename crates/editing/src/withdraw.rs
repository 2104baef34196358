//! Withdrawal of a person: everything of theirs is erased, in the file and next to it.

use super::choices::KEY as CHOICES;
use super::{Project, backups};
use dissensus_api::{ProjectChoices, Traces, Withdrawn};
use dissensus_domain::{AnnotatorId, PacketId, QuestionId, composed};
use dissensus_files::{folder_of, with_suffix};
use dissensus_project::care_file::CareFile;
use dissensus_project::clock::now_ms;
use dissensus_project::drafts_file::DraftsFile;
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;
use dissensus_project::names::look_alikes;
use dissensus_project::pseudonyms::Pseudonyms;
use dissensus_store::StoreError;
use dissensus_training::saved_runs::{encoder_name, remove_folder_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// What is erased if a person withdraws, and what the program cannot reach.
///
/// # Errors
/// There is no such annotator, the open project is a task packet, or the file cannot be read.
pub fn traces(cx: &Project, annotator: AnnotatorId) -> Result<Traces, ProjectError> {
    cx.context.whole_project()?;
    let store = &cx.context.store;
    let unknown = || StoreError::Unknown { what: "annotator", name: annotator.0.to_string() };
    let person = store.annotator(annotator)?.ok_or_else(unknown)?;
    let found = store.traces_of(annotator)?;
    let others = store.annotators()?;
    let mut alike: Vec<String> = [&person.external_id, &person.name]
        .into_iter()
        .flat_map(|name| look_alikes(others.iter().filter(|other| other.id != annotator), name))
        .chain(others.iter().filter(|other| {
            other.id != annotator && composed(&other.external_id) == composed(&person.external_id)
        }))
        .map(|other| other.external_id.clone())
        .collect();
    alike.sort();
    alike.dedup();
    Ok(Traces {
        annotator,
        look_alikes: alike,
        external_id: person.external_id,
        name: person.name,
        answers: found.answers,
        packets: found.packets,
        texts: texts_given_to(cx, annotator)?,
        nameless: found.nameless,
        runs: found.runs,
        copies: copies_next_to(cx),
    })
}

/// Number of different texts in a person's packets.
fn texts_given_to(cx: &Project, annotator: AnnotatorId) -> Result<u32, ProjectError> {
    let packets = cx.context.store.packets()?;
    let own = packets.iter().filter(|(packet, _)| packet.annotator == annotator);
    let texts: BTreeSet<_> = own.flat_map(|(packet, _)| packet.assignments.iter().map(|a| a.text)).collect();
    Ok(texts.len() as u32)
}

/// Erases a person who withdraws: answers, notes, skips and flags, attributes, names, packets, models
/// in use, and every training run from their time in the project, with its files. The withdrawal itself
/// is recorded, without a name. Where a window is open on the project, it has to be reopened for this,
/// so that nothing in memory refers to them.
///
/// # Errors
/// There is no such annotator; the open project is a task packet or read-only, or a window is open on
/// it; an I/O error. Nothing was erased then. A failure to clean up the file afterwards is no error but
/// reported: it is tried again whenever the project is opened.
pub fn withdraw(cx: &Project, annotator: AnnotatorId) -> Result<Withdrawn, ProjectError> {
    cx.context.whole_project()?;
    if cx.context.works_in_background() {
        return Err(ProjectError::Internal("somebody is erased while a window follows them".to_owned()));
    }
    let encoder_before = cx.encoding.chosen()?;
    let index = cx.context.index();
    let row = index.annotator_row(annotator).and_then(|row| index.annotators().get(row as usize));
    let person = row.map(|person| person.external_id.clone());
    let texts = texts_given_to(cx, annotator)?;
    let erased = cx.context.store.withdraw(annotator, now_ms())?;
    // They are gone: from here on nothing may report it as failed.
    cx.context.reload();
    if let Some(person) = person {
        forget_on_this_computer(cx, &person);
    }
    let cleaned = go_on("cleaning up after somebody was erased", finish_erasing(cx)).unwrap_or(false);
    let encoder_after = go_on("looking which encoder is in use", cx.encoding.chosen()).flatten();
    let mut copies = copies_next_to(cx);
    copies.extend(backups::with_withdrawn(&cx.context));
    Ok(Withdrawn {
        answers: erased.answers,
        packets: erased.packets,
        texts,
        nameless: erased.nameless,
        runs: erased.runs,
        encoder_changed: encoder_before != encoder_after,
        cleaned,
        copies,
    })
}

/// Deletes what this computer stored about a person outside of the project: choices of care, and what was
/// typed and not given.
pub fn forget_on_this_computer(cx: &Project, person: &str) {
    let Ok(project) = cx.context.store.project_id() else { return };
    let care = CareFile::new(&cx.context.home, project, person);
    go_on("removing what this computer stored about a person", care.forget());
    let drafts = DraftsFile::new(&cx.context.home, project, person);
    go_on("forgetting what somebody typed and did not give", drafts.forget());
}

/// Finishes erasing a person, here or after an interrupted earlier session: folders of runs, references
/// to them, backups on this computer, and free pages of the file. Returns true where nothing is left to do.
///
/// # Errors
/// An I/O error; it is then tried again when the project is opened.
pub fn finish_erasing(cx: &Project) -> Result<bool, ProjectError> {
    let store = &cx.context.store;
    let Some(runs) = store.to_clean()? else { return Ok(true) };
    for run in runs {
        remove_folder_of(&with_suffix(store.file(), ".runs"), run)?;
    }
    remove_received(cx)?;
    cx.encoding.stop_using_deleted_runs(&run_encoders(cx)?)?;
    forget_choices(cx)?;
    Pseudonyms::forget_removed(&cx.context)?;
    let emptied = store.write_without_erased();
    // The last, so that a backup that cannot be rewritten prevents nothing else.
    backups::erase_withdrawn(&cx.context)?;
    let emptied = emptied?;
    if emptied {
        store.mark_cleaned()?;
    }
    Ok(emptied)
}

/// The folder of what a server has received and not merged, next to the project's file.
pub fn received_folder(file: &Path) -> PathBuf {
    with_suffix(file, ".received")
}

/// Removes what a server has received of packets of people who withdrew. Names of these files begin with the
/// packet.
fn remove_received(cx: &Project) -> Result<(), ProjectError> {
    let store = &cx.context.store;
    let folder = received_folder(store.file());
    let Ok(files) = std::fs::read_dir(&folder) else { return Ok(()) };
    for path in files.flatten().map(|file| file.path()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let packet = name.split('.').next().and_then(|begin| begin.parse::<Uuid>().ok()).map(PacketId);
        if let Some(packet) = packet
            && store.is_withdrawn_packet(packet)?
        {
            let failed = |source| ProjectError::Io { path: path.clone(), doing: "deleting", source };
            std::fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(())
}

/// Numbers of the existing runs and names of their encoders.
fn run_encoders(cx: &Project) -> Result<Vec<(u32, String)>, ProjectError> {
    let uids: Vec<(u32, Uuid)> = cx.context.store.runs()?.iter().map(|run| (run.id.0, run.uid)).collect();
    Ok(uids.into_iter().map(|(number, uid)| (number, encoder_name(uid))).collect())
}

/// Removes people and questions that no longer exist from the window's last choices.
pub(super) fn forget_choices(cx: &Project) -> Result<(), ProjectError> {
    let known: Option<ProjectChoices> = cx.context.store.setting(CHOICES)?;
    let Some(known) = known else { return Ok(()) };
    let index = cx.context.index();
    let annotator = known.annotator.filter(|id| index.annotator_row(*id).is_some());
    let asked: Vec<QuestionId> = cx.context.store.questions()?.iter().map(|question| question.id).collect();
    let is_asked = |id: &QuestionId| asked.contains(&id.row());
    let question = known.question.filter(is_asked);
    let screen = known.screen.iter().copied().filter(is_asked).collect();
    let kept = ProjectChoices { annotator, question, screen, compared: None, ..known };
    Ok(cx.context.store.set_setting(CHOICES, &kept)?)
}

/// Copies that the program made next to the project before an upgrade or a merge, and journals of other
/// files that it moved aside: they contain everyone of their time.
fn copies_next_to(cx: &Project) -> Vec<String> {
    let file = cx.context.store.file();
    let Some(name) = file.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Vec::new();
    };
    let Ok(folder) = std::fs::read_dir(folder_of(file)) else { return Vec::new() };
    let files = folder.filter_map(|entry| Some(entry.ok()?.path()));
    let is_copy = |path: &std::path::PathBuf| {
        let other = path.file_name().map(|other| other.to_string_lossy().into_owned());
        other.as_deref().and_then(|other| other.strip_prefix(&name)).is_some_and(|ending| {
            [".before-", "-wal.of-another-file-", "-journal.of-another-file-"]
                .iter()
                .any(|kind| ending.starts_with(kind))
        })
    };
    let mut found: Vec<String> =
        files.filter(is_copy).map(|path| path.to_string_lossy().into_owned()).collect();
    found.sort();
    found
}
