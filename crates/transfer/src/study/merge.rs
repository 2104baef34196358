//! Merges files: task packets, submissions, full copies of the project.

use super::Study;
use super::apart::fast_clock_notice;
use super::effect::{effect_digest, effect_info};
use super::hand_in::is_submission;
use super::incoming::Incoming;
use super::join_page::{add_person, new_person};
use super::submission;
use crate::study::apart;
use crate::study::error::StudyError;
use crate::study::incoming;
use dissensus_api::{MergeConsent, MergeProblem, MergeQuestion, MergeReport, MergedFile, MergedKind};
use dissensus_domain::{JobKind, Packet, PacketId};
use dissensus_editing::withdraw;
use dissensus_labelling::feed;
use dissensus_project::clock::{now_ms, today};
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Follow, Progress};
use dissensus_project::log::go_on;
use dissensus_project::sync::lock;
use dissensus_project::words::counted;
use dissensus_store::{MergeEffect, MergeOutcome, MergedCounts, Store, Submission};
use std::fs::File;
use std::path::{Path, PathBuf};

/// By how much a clock may be ahead of ours before it is reported: times are independent of time zones, so
/// only a wrong clock is ahead.
const AHEAD_MS: i64 = 24 * 60 * 60 * 1000;

/// How codes of problems begin that pass: the file is merged later. All others are the file's own.
const PASSING: [&str; 3] = ["io", "disk-", "project-"];

/// Whether a file that was refused with this code may be merged later as it is.
pub(super) fn passes(code: &str) -> bool {
    PASSING.iter().any(|begin| code.starts_with(begin))
}

/// Merges files in the order given: each as a whole, or not at all with the reason. The result does not
/// depend on the order, and merging a file again changes nothing. A full copy that is new here, or that
/// changes something here, is merged only with `consent`; otherwise the report describes what it would
/// do.
///
/// # Errors
/// The open project is a task packet or is read-only, the merge was cancelled between two files (the
/// earlier ones are merged), or the disk fails. Problems with a file are in the report.
pub fn merge<'a>(
    cx: &Study,
    files: &[PathBuf],
    consent: &MergeConsent,
    follow: impl Into<Follow<'a>>,
) -> Result<MergeReport, ProjectError> {
    let title = match files {
        [one] => title_of(cx, one)?,
        many => counted(many.len() as u64, "file"),
    };
    cx.context.run(follow, JobKind::Merge, &title, |progress| merge_each(cx, files, consent, progress))
}

/// What the history calls the merge of a file. A submission is named by its person, so that nothing stays
/// that a withdrawal does not find: the file may have any name, such as their id elsewhere.
fn title_of(cx: &Study, file: &Path) -> Result<String, ProjectError> {
    let mut opened = File::open(file).ok();
    if !opened.as_mut().is_some_and(|opened| is_submission(opened).unwrap_or(false)) {
        return Ok(file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()));
    }
    let store = &cx.context.store;
    let header = opened.and_then(|submission| submission::header(submission).ok());
    let packet = header.map(|header| store.packet(PacketId(header.packet))).transpose()?.flatten();
    let person = packet.map(|(packet, _)| store.annotator(packet.annotator)).transpose()?.flatten();
    Ok(person.map_or_else(|| counted(1, "file"), |person| person.external_id))
}

pub(super) fn merge_each(
    cx: &Study,
    files: &[PathBuf],
    consent: &MergeConsent,
    progress: &dyn Progress,
) -> Result<MergeReport, ProjectError> {
    cx.whole_project()?;
    cx.context.store.must_write()?;
    // A plan that is drawn meanwhile would not include the merged data.
    let _planning = lock(&cx.planning);
    let (mut report, mut taken) = (MergeReport { files: Vec::new() }, false);
    for (done, path) in (0..).zip(files) {
        progress.report(done, Some(files.len() as u64), "files");
        if progress.cancelled() {
            merged(cx, taken);
            return Err(ProjectError::Cancelled);
        }
        report.files.push(merge_file(cx, path, consent, &mut taken));
    }
    // The copy that created a packet may have been merged after it.
    let unknown =
        |file: &MergedFile| file.problems.iter().any(|one| one.problem.code == "merge-unknown-packet");
    if report.files.iter().any(|file| file.kind == Some(MergedKind::Copy) && !file.refused) {
        for (file, path) in report.files.iter_mut().zip(files).filter(|(file, _)| unknown(file)) {
            *file = merge_file(cx, path, consent, &mut taken);
        }
    }
    progress.report(files.len() as u64, Some(files.len() as u64), "files");
    merged(cx, taken);
    Ok(report)
}

/// Previews the merge of each of these files, each by itself; nothing is changed.
///
/// # Errors
/// The same as [`merge`].
pub fn preview_merge(cx: &Study, files: &[PathBuf]) -> Result<MergeReport, ProjectError> {
    cx.whole_project()?;
    cx.context.store.must_write()?;
    let preview = |path: &PathBuf| {
        let mut file = unread_file(path);
        if let Err(error) = preview_file(cx, path, &mut file) {
            refuse(&mut file, error);
        }
        file
    };
    Ok(MergeReport { files: files.iter().map(preview).collect() })
}

/// Notifies the other parts of the program that the project has changed, if anything was `taken`.
fn merged(cx: &Study, taken: bool) {
    if !taken {
        return;
    }
    go_on("cleaning up after somebody was erased", withdraw::finish_erasing(&cx.project));
    cx.context.flush_to_file();
    go_on("following the merge", feed::skip(&cx.labelling));
    cx.context.listeners.send(&Event::Project);
    cx.background.start_again();
}

/// Merges a file; `taken` becomes true once the project has changed, also if its report fails.
fn merge_file(cx: &Study, path: &Path, consent: &MergeConsent, taken: &mut bool) -> MergedFile {
    let mut file = unread_file(path);
    if let Err(error) = merge_one_file(cx, path, consent, taken, &mut file) {
        refuse(&mut file, error);
    }
    file
}

/// Merges a file if `allow` accepts the effect.
fn merge_if(
    cx: &Study,
    other: &Store,
    packet: Option<PacketId>,
    taken: &mut bool,
    allow: impl FnOnce(&MergeEffect) -> bool + Send + 'static,
) -> Result<MergeOutcome, ProjectError> {
    let before = cx.context.index();
    let outcome = cx.context.store.merge_if(other, packet, allow)?;
    if let MergeOutcome::Taken(_) = outcome {
        // Before the next file: what runs meanwhile reads answers by the levels in the index.
        cx.context.reload();
        let now = cx.context.index();
        let gone = before.annotators().iter().filter(|person| now.annotator_row(person.id).is_none());
        gone.for_each(|person| withdraw::forget_on_this_computer(&cx.project, &person.external_id));
        *taken = true;
    }
    Ok(outcome)
}

fn merge_one_file(
    cx: &Study,
    path: &Path,
    consent: &MergeConsent,
    taken: &mut bool,
    file: &mut MergedFile,
) -> Result<(), ProjectError> {
    *taken |= add_person(cx, path)?;
    let incoming = incoming::identify(cx, path)?;
    file.kind = Some(incoming.kind);
    match incoming.packet {
        Some(packet) => merge_one_packet(cx, packet, &incoming, Some(taken), file),
        None => merge_copy(cx, path, &incoming, consent, taken, file),
    }
}

fn preview_file(cx: &Study, path: &Path, file: &mut MergedFile) -> Result<(), ProjectError> {
    if let Some(person) = new_person(cx, path)? {
        file.kind = Some(MergedKind::HandIn);
        file.handed_in = Some(person.at_ms as f64);
        file.new = person.new;
        file.problems.push(notice("adds a person who joined by a page for everybody".to_owned()));
        return Ok(());
    }
    let incoming = incoming::identify(cx, path)?;
    file.kind = Some(incoming.kind);
    if let Some(packet) = incoming.packet {
        return merge_one_packet(cx, packet, &incoming, None, file);
    }
    match cx.context.store.merge_if(&incoming.store, None, |_| false)? {
        MergeOutcome::Left(effect) | MergeOutcome::Taken(effect) => {
            file.asks = question(path, &incoming, &effect);
            file.effect = Some(effect_info(&effect));
            file.new = news(&effect.taken);
        }
    }
    Ok(())
}

/// Merges what a packet's annotator may change, or previews it without `taken`.
fn merge_one_packet(
    cx: &Study,
    packet: PacketId,
    incoming: &Incoming,
    taken: Option<&mut bool>,
    file: &mut MergedFile,
) -> Result<(), ProjectError> {
    let ours = &cx.context.store;
    let packet = ours.packet(packet)?.ok_or(StudyError::UnknownPacket)?.0;
    file.annotator = ours.annotator(packet.annotator)?.map(|person| person.external_id);
    file.handed_in = incoming.at_ms.map(|at_ms| at_ms as f64);
    if !incoming.genuine {
        return Err(StudyError::NoKey(file.annotator.clone().unwrap_or_default()).into());
    }
    if incoming.disguised {
        let name = file.annotator.as_deref().unwrap_or("?");
        file.problems.push(notice(format!(
                "this file claims to be a whole copy of the project, and is the packet of \"{name}\" that was handed out: only what \
                 \"{name}\" may say is taken from it"
            )));
    }
    let odd = incoming::unassigned_content(cx, &packet, &incoming.store)?;
    if !odd.is_empty() {
        file.refused = true;
        let reported = odd.into_iter().map(|odd| StudyError::NotAsHandedOut(odd).into());
        let reported = reported.map(|e: ProjectError| MergeProblem { refused: true, problem: e.problem() });
        file.problems.extend(reported);
        return Ok(());
    }
    let before = ours.submissions()?;
    let outcome = match taken {
        Some(taken) => merge_if(cx, &incoming.store, Some(packet.id), taken, |_| true)?,
        None => ours.merge_if(&incoming.store, Some(packet.id), |_| false)?,
    };
    match outcome {
        MergeOutcome::Left(effect) => add_counts(&effect.taken, file),
        MergeOutcome::Taken(effect) => {
            let notices = packet_notices(cx, &packet, incoming, &effect.taken, &before)?;
            file.problems.extend(notices.into_iter().map(notice));
            apart::distinguish(cx, &effect.taken, file)?;
            add_counts(&effect.taken, file);
        }
    }
    Ok(())
}

/// Merges a full copy, as far as its effect was agreed to.
fn merge_copy(
    cx: &Study,
    path: &Path,
    incoming: &Incoming,
    consent: &MergeConsent,
    taken: &mut bool,
    file: &mut MergedFile,
) -> Result<(), ProjectError> {
    let ours = &cx.context.store;
    let known = incoming.known || consent.whole_copies;
    // An effect that only adds is agreed to with the copy itself; an effect that was shown before, or
    // that changes something, is computed first.
    let at_once = known && consent.seen.is_empty();
    let first = merge_if(cx, &incoming.store, None, taken, move |effect| {
        effect.is_empty() || (at_once && effect.only_adds())
    })?;
    let effect = match first {
        MergeOutcome::Taken(effect) => {
            return report_effect(cx, &effect, incoming, file);
        }
        MergeOutcome::Left(effect) => effect,
    };
    if let Some(asked) = question(path, incoming, &effect) {
        let agreed = (!asked.whole_copy || consent.whole_copies)
            && (!asked.changes || consent.changes)
            && (consent.seen.is_empty() || consent.seen.contains(&asked.seen));
        if !agreed {
            let error = match (consent.seen.is_empty(), asked.whole_copy && !consent.whole_copies) {
                (false, _) => StudyError::ChangedSince,
                (true, true) => StudyError::NewCopy,
                (true, false) => StudyError::Changes,
            };
            let whole_copy = asked.whole_copy && !consent.whole_copies;
            file.asks = Some(MergeQuestion { whole_copy, ..asked });
            file.effect = Some(effect_info(&effect));
            return Err(error.into());
        }
    }
    if cx.context.works_in_background() && ours.is_to_erase_for(&incoming.store)? {
        return Err(StudyError::Erases.into());
    }
    if !effect.only_adds() {
        let backup = ours.back_up(&format!("merge-{}", today()))?;
        file.backup = Some(backup.to_string_lossy().into_owned());
    }
    let shown = effect.clone();
    match merge_if(cx, &incoming.store, None, taken, move |effect| *effect == shown)? {
        MergeOutcome::Taken(effect) => report_effect(cx, &effect, incoming, file)?,
        MergeOutcome::Left(effect) => {
            // Nothing was changed: the backup that was made before is not needed.
            if let Some(unused) = file.backup.take() {
                let _ = std::fs::remove_file(unused);
            }
            file.asks = question(path, incoming, &effect);
            file.effect = Some(effect_info(&effect));
            return Err(StudyError::ChangedSince.into());
        }
    }
    Ok(())
}

/// Reports the effect of merging a full copy.
fn report_effect(
    cx: &Study,
    effect: &MergeEffect,
    incoming: &Incoming,
    file: &mut MergedFile,
) -> Result<(), ProjectError> {
    if effect.taken.events > 0 {
        file.problems.extend(fast_clock_notice(&incoming.store, now_ms())?);
    }
    apart::distinguish(cx, &effect.taken, file)?;
    add_counts(&effect.taken, file);
    file.withdrawn = effect.taken.withdrawn;
    file.effect = Some(effect_info(effect));
    Ok(())
}

/// Returns notices about a merged packet.
fn packet_notices(
    cx: &Study,
    packet: &Packet,
    incoming: &Incoming,
    taken: &MergedCounts,
    before: &[Submission],
) -> Result<Vec<String>, ProjectError> {
    let ours = &cx.context.store;
    let mut remarks = Vec::new();
    let (mine, theirs) = (ours.annotator(packet.annotator)?, incoming.store.annotators()?);
    if let Some((mine, theirs)) = mine.zip(theirs.into_iter().next())
        && mine.name != theirs.name
    {
        remarks.push(format!(
            "\"{}\" is called \"{}\" in the packet and \"{}\" here, which stays",
            mine.external_id, theirs.name, mine.name
        ));
    }
    let (ahead, _) = incoming.store.answers_after(now_ms().saturating_add(AHEAD_MS))?;
    if ahead > 0 {
        remarks.push(format!(
                "{} from a clock that is more than a day ahead: where somebody answered the same text apart in two copies, these \
                 count as the later ones",
                if ahead == 1 { "1 answer is".to_owned() } else { format!("{ahead} answers are") }
            ));
    }
    let newest = before.iter().filter(|one| one.packet == packet.id).map(|one| one.at_ms).max();
    if let Some((at_ms, newest)) = incoming.at_ms.zip(newest)
        && at_ms < newest
    {
        remarks.push(match taken.events + taken.repeats {
                0 => "a later one of this packet was merged before, which had all of it".to_owned(),
                _ => "a later one of this packet was merged before, and this one has answers that it had not: it comes \
                      from another copy of the packet"
                    .to_owned(),
            });
    }
    if taken.contradicted > 0 {
        remarks.push(format!(
                "{} given differently in this packet and elsewhere (in another copy of it, or in the project), and neither knew of the other: \
                 the later answer counts, and both are stored. If two people worked under one name, give the second a packet of their own",
                match taken.contradicted {
                    1 => "1 answer was".to_owned(),
                    answers => format!("{answers} answers were"),
                }
            ));
    }
    Ok(remarks)
}

/// A report on a file before it is read.
pub(super) fn unread_file(path: &Path) -> MergedFile {
    MergedFile {
        file: path.to_string_lossy().into_owned(),
        kind: None,
        annotator: None,
        handed_in: None,
        events: 0,
        new: 0,
        withdrawn: 0,
        contradicted: 0,
        contradictions: Vec::new(),
        texts_changed: 0,
        splits_changed: 0,
        splits: Vec::new(),
        effect: None,
        asks: None,
        backup: None,
        problems: Vec::new(),
        refused: false,
    }
}

pub(super) fn refuse(file: &mut MergedFile, error: ProjectError) {
    file.refused = true;
    file.problems.push(MergeProblem { refused: true, problem: error.problem() });
}

pub(super) fn notice(remark: String) -> MergeProblem {
    MergeProblem { refused: false, problem: ProjectError::from(StudyError::Remark(remark)).problem() }
}

/// Returns what has to be agreed to before this full copy is merged.
fn question(path: &Path, incoming: &Incoming, effect: &MergeEffect) -> Option<MergeQuestion> {
    if effect.is_empty() {
        return None;
    }
    let (whole_copy, changes) = (!incoming.known, !effect.only_adds());
    (whole_copy || changes).then(|| MergeQuestion { whole_copy, changes, seen: effect_digest(path, effect) })
}

fn add_counts(taken: &MergedCounts, file: &mut MergedFile) {
    file.problems.extend(levels_notice(taken));
    file.problems.extend((taken.passed_over > 0).then(|| passed_over(taken.passed_over)));
    file.events = taken.events + taken.known;
    file.new = news(taken);
}

/// Reports changes to the levels of questions.
fn levels_notice(taken: &MergedCounts) -> Option<MergeProblem> {
    let remark = match (taken.levels_back, taken.rearranged) {
        (0, 0) => return None,
        (0, questions) => format!(
            "the levels of {} were added, removed or put in another order there, and are so here now: models are fitted anew",
            counted(u64::from(questions), "question")
        ),
        (1, _) => "a level that was removed in one copy has come back, because something uses it in the other: look at the \
                   levels of the questions"
            .to_owned(),
        (levels, _) => format!(
            "{levels} levels that were removed in one copy have come back, because something uses them in the other: look \
             at the levels of the questions"
        ),
    };
    Some(self::notice(remark))
}

/// Reports that annotators who withdrew here are still in the merged copy.
fn passed_over(people: u32) -> MergeProblem {
    let remark = match people {
        1 => "1 person who has withdrawn from the project is still in this copy, and nothing of theirs was taken: take this project into that copy too, or delete it".to_owned(),
        people => format!(
            "{people} people who have withdrawn from the project are still in this copy, and nothing of theirs was taken: take this project into that copy too, or delete it"
        ),
    };
    self::notice(remark)
}

/// Counts everything that was merged: answers and marks, annotators, texts, changes and decisions. That a
/// packet was submitted is not counted.
fn news(taken: &MergedCounts) -> u32 {
    let MergedCounts { questions, texts, annotators, events, known: _, repeats, repeat_changes, .. } = *taken;
    let MergedCounts {
        question_changes,
        annotator_changes,
        packets,
        submissions: _,
        decisions,
        guidelines,
        attention_checks,
        panels,
        facts,
        ..
    } = *taken;
    questions
        + texts
        + annotators
        + events
        + repeats
        + repeat_changes
        + question_changes
        + annotator_changes
        + packets
        + decisions
        + guidelines
        + attention_checks
        + taken.withdrawn
        + panels
        + facts
        + taken.texts_changed
}
