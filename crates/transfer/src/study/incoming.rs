//! A file to merge: its kind, and whether a packet is as it was handed out.

use super::Study;
use super::hand_in::is_submission;
use super::{former_submission, submission};
use crate::study::error::StudyError;
use dissensus_api::MergedKind;
use dissensus_domain::{Packet, PacketId, ProjectId, Question, Text, TextId};
use dissensus_files::PrivateFolder;
use dissensus_project::error::ProjectError;
use dissensus_store::{PacketKey, Store, StoreError, Submission};
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use uuid::Uuid;

/// Maximum number of differences of one kind that are listed; further ones are counted.
const MAX_LISTED: usize = 5;

/// A file that can be merged.
pub(super) struct Incoming {
    pub(super) store: Store,
    pub(super) kind: MergedKind,
    /// The packet that the file is.
    pub(super) packet: Option<PacketId>,
    /// True if a packet's file pretends to be a full copy.
    pub(super) disguised: bool,
    /// Whether the packet's own holder can have made it: a submission whose code is valid, or a packet with
    /// its key.
    pub(super) genuine: bool,
    /// True if it is a full copy that continues one which was merged before.
    pub(super) known: bool,
    /// When a submission was made.
    pub(super) at_ms: Option<i64>,
    /// The temporary folder with the packet of a submission.
    _inside: Option<PrivateFolder>,
}

/// Opens a file: a task packet, a submission, or a full copy.
pub(super) fn identify(cx: &Study, path: &Path) -> Result<Incoming, ProjectError> {
    let failed = |source| ProjectError::Io { path: path.to_owned(), doing: "reading", source };
    let ours = cx.context.store.file();
    // Also under another name of the same file.
    if dissensus_store::is_same_file(path, ours) {
        return Err(StudyError::Itself.into());
    }
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(StudyError::NotOurs.into());
    }
    let mut file = File::open(path).map_err(failed)?;
    let incoming = match is_submission(&mut file).map_err(failed)? {
        true => read_submission(cx, &mut file)?,
        false => {
            drop(file);
            let (store, inside) = opened(cx, path)?;
            same_project(cx, store.project_id()?)?;
            let own = store.own_packet()?.map(|packet| packet.id);
            let packet = match own {
                Some(packet) => Some(packet),
                None => packet_of(cx, &store)?,
            };
            packet.map_or(Ok(()), |packet| not_withdrawn(cx, packet))?;
            let kind = if packet.is_some() { MergedKind::Packet } else { MergedKind::Copy };
            let known = packet.is_none() && cx.context.store.knows_copy(&store)?;
            let disguised = packet.is_some() && own.is_none();
            let genuine = packet.map_or(Ok(true), |packet| has_key_of(cx, packet, &store))?;
            Incoming { store, kind, packet, disguised, genuine, known, at_ms: None, _inside: inside }
        }
    };
    same_project(cx, incoming.store.project_id()?)?;
    Ok(incoming)
}

/// Returns the packet that a file is which pretends to be a full copy; `None` for a real full copy.
///
/// Every full copy has the project's secret, and no packet ever does. Files that diverged before there
/// was a secret are recognised by their common events, as long as they contain nothing from a packet.
fn packet_of(cx: &Study, store: &Store) -> Result<Option<PacketId>, ProjectError> {
    let ours = &cx.context.store;
    if ours.shares_secret(store)? {
        return Ok(None);
    }
    let inside = ours.packets_in(store)?;
    for packet in &inside {
        not_withdrawn(cx, *packet)?;
        if ours.packet(*packet)?.is_some() {
            return Ok(Some(*packet));
        }
    }
    if ours.has_history_of(store)? {
        return Ok(None);
    }
    match inside.is_empty() && !ours.has_had_packets()? {
        true => Ok(None),
        false => Err(StudyError::NoCopy.into()),
    }
}

/// Whether a packet's file has the key of that packet. A submission does not contain it, so a submission
/// cannot be turned into the packet by those who see it.
fn has_key_of(cx: &Study, packet: PacketId, store: &Store) -> Result<bool, ProjectError> {
    let Some((_, key)) = cx.context.store.packet(packet)? else { return Ok(true) };
    // A file that pretends to be a full copy has the key in the packet's row.
    let in_row = store.packet(packet)?.map(|(_, key)| key);
    Ok([store.own_packet_key()?, in_row].contains(&Some(key)))
}

/// Opens a project file to read; one of an earlier format as a copy that is migrated.
fn opened(cx: &Study, path: &Path) -> Result<(Store, Option<PrivateFolder>), ProjectError> {
    match Store::open_reader_recorded(path, &cx.context.home.check_records()) {
        Ok(store) => Ok((store, None)),
        Err(StoreError::NotSqlite(_) | StoreError::NotOurs(_)) => Err(StudyError::NotOurs.into()),
        Err(StoreError::Older { .. }) => {
            let failed = |source| ProjectError::Io { path: path.to_owned(), doing: "copying", source };
            let inside = PrivateFolder::create_in(&std::env::temp_dir()).map_err(failed)?;
            let copy = inside.path().join("copy.dissensus");
            Store::copy_of_earlier(path, &copy, &cx.context.home.check_records())?;
            Ok((Store::open(&copy)?, Some(inside)))
        }
        Err(error) => Err(error.into()),
    }
}

fn read_submission(cx: &Study, file: &mut File) -> Result<Incoming, ProjectError> {
    let failed = |source| ProjectError::Io { path: std::env::temp_dir(), doing: "writing to", source };
    let inside = PrivateFolder::create_in(&std::env::temp_dir()).map_err(failed)?;
    let path = inside.path().join("packet.dissensus");
    let (packet, at_ms) = match former_submission::is_one(file)? {
        true => {
            let header = former_submission::header(file)?;
            let key = key_of(cx, header.project, header.packet)?;
            let mut target = File::create_new(&path).map_err(failed)?;
            former_submission::unpack(file, &header, &key, &mut target)?;
            (header.packet, header.at_ms)
        }
        false => {
            let header = submission::header(&mut *file)?;
            let key = key_of(cx, header.project, header.packet)?;
            let work = submission::read(file, &header, &key)?;
            let (packet, at_ms, answers) = (PacketId(header.packet), header.at_ms, header.answers);
            // A page that sends each answer would be noted as often.
            let noted = (!header.partial).then_some(Submission { packet, at_ms, answers });
            let written = cx.context.store.write_packet_with(packet, work, noted, &path);
            written.map_err(|error| match error {
                StoreError::Unknown { .. } | StoreError::Invalid { .. } => {
                    ProjectError::from(StudyError::NotAsHandedOut(error.to_string()))
                }
                error => error.into(),
            })?;
            (header.packet, header.at_ms)
        }
    };
    // Opened to write, which migrates a submission of an earlier version: the file is a temporary copy.
    let store = Store::open(&path)?;
    let own = store.own_packet()?.filter(|own| own.id.0 == packet).ok_or(StudyError::Tampered)?;
    Ok(Incoming {
        store,
        kind: MergedKind::HandIn,
        packet: Some(own.id),
        disguised: false,
        genuine: true,
        known: false,
        at_ms: Some(at_ms),
        _inside: Some(inside),
    })
}

/// The key of a packet that was handed out, of an annotator who did not withdraw.
pub(super) fn key_of(cx: &Study, project: Uuid, packet: Uuid) -> Result<PacketKey, ProjectError> {
    same_project(cx, ProjectId(project))?;
    not_withdrawn(cx, PacketId(packet))?;
    let known = cx.context.store.packet(PacketId(packet))?;
    Ok(known.ok_or(StudyError::UnknownPacket)?.1)
}

/// Rejects a packet of an annotator who withdrew.
fn not_withdrawn(cx: &Study, packet: PacketId) -> Result<(), ProjectError> {
    match cx.context.store.is_withdrawn_packet(packet)? {
        true => Err(StudyError::Withdrawn.into()),
        false => Ok(()),
    }
}

/// Whether a file contains a withdrawal that is not known here. False if the file cannot be merged: the
/// merge reports that.
pub fn is_to_erase_for(cx: &Study, path: &Path) -> bool {
    let erases = |incoming: Incoming| cx.context.store.is_to_erase_for(&incoming.store);
    identify(cx, path).is_ok_and(|incoming| erases(incoming).unwrap_or(false))
}

fn same_project(cx: &Study, theirs: ProjectId) -> Result<(), ProjectError> {
    match cx.context.store.project_id()? == theirs {
        true => Ok(()),
        false => Err(StudyError::OtherProject.into()),
    }
}

/// Lists everything in a packet that was not handed out with it; if many are alike, the first few and
/// their number.
pub(super) fn unassigned_content(
    cx: &Study,
    packet: &Packet,
    store: &Store,
) -> Result<Vec<String>, ProjectError> {
    let index = cx.context.index();
    let ours = &cx.context.store;
    let mut all = Vec::new();
    let person = index.annotator_row(packet.annotator).map(|row| &index.annotators()[row as usize]);
    let name = person.map_or("?", |person| person.external_id.as_str());
    let others = store.annotators()?.into_iter().filter(|other| other.external_id != name);
    all.push(others.map(|other| format!("\"{}\" labelled in the packet of \"{name}\": label under the name that it was handed out to, or export these labels and import them", other.external_id)).collect());
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    let mut handed_out: HashSet<TextId> = packet.assignments.iter().map(|item| item.text).collect();
    handed_out.extend(ours.ever_practised_on(&packet.questions)?);
    let masker = ours.masker_of(packet.id)?;
    let as_handed_out = |text: &Text| {
        let masked = masker.as_ref().and_then(|masker| masker.mask(&text.external_id, &text.body));
        masked.unwrap_or_else(|| text.body.clone())
    };
    store.for_each_text(|text| {
        match ours.text_by_external(&text.external_id)? {
            Some(known) if as_handed_out(&known) != text.body => {
                changed.push(format!("text \"{}\" was changed in the packet", text.external_id));
            }
            Some(known) if handed_out.contains(&known.id) => {}
            _ => added.push(format!("text \"{}\" was added to the packet", text.external_id)),
        }
        Ok::<(), ProjectError>(())
    })?;
    all.extend([added, changed]);
    if let Some(copy) = ours.copy_of_others(store, packet.annotator)? {
        all.push(vec![format!(
            "what was done in the packet has the identity of what others did in copy {copy}"
        )]);
    }
    let theirs = store.questions()?;
    let asked: Vec<&Question> = packet.questions.iter().filter_map(|id| index.question(*id)).collect();
    let odd =
        theirs.iter().filter_map(|question| match asked.iter().find(|ours| ours.name == question.name) {
            None => Some(format!("question \"{}\" was added to the packet", question.name)),
            // Differences to the levels that it had when it was handed out are reported when they are
            // merged.
            Some(ours) if ours.scale.kind() != question.scale.kind() => {
                Some(format!("question \"{}\" has other levels in the packet", question.name))
            }
            Some(_) => None,
        });
    all.push(odd.collect());
    Ok(all.into_iter().flat_map(few).collect())
}

fn few(mut reported: Vec<String>) -> Vec<String> {
    let more = reported.len().saturating_sub(MAX_LISTED);
    reported.truncate(MAX_LISTED);
    reported.extend((more > 0).then(|| format!("and {more} more like these")));
    reported
}
