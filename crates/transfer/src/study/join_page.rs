//! One page for everybody without a server: each person who opens it gets one of the parts that were drawn
//! for it.
//!
//! Nobody knows who opens it, so people are added when their submissions are merged. A person's part, the id
//! of their packet and the key that signs their submissions follow from the key of the page and the id of the
//! person: HMAC-SHA-256 (RFC 2104) of `part`, `packet` or `key`, a line feed and the id.

use super::Study;
use super::draft::{self, Draw, DrawnPerson};
use super::hand_in::is_submission;
use super::join::{ATTRIBUTE_PARAMETERS, ID_PARAMETERS, MAX_PARAMETER, unused_name};
use super::lacking::PLANNED;
use super::page::{self, JoinParts, PageSettings};
use super::submission::{self, JoinedPerson};
use crate::study::error::StudyError;
use dissensus_api::{StudyDraft, StudyRequest};
use dissensus_domain::{AnnotatorId, Assignment, Packet, PacketId, QuestionId, TextId, not_allowed_in_names};
use dissensus_editing::annotators;
use dissensus_files::{AtomicFile, PrivateFolder};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::names::project_name;
use dissensus_project::sync::lock;
use dissensus_store::{NewAnnotator, PacketKey, StoreError};
use hmac::Mac as _;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use uuid::Uuid;

/// The setting with the pages.
const PAGES: &str = "join-pages";

/// A page, as the project knows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KnownPage {
    key: [u8; 32],
    seed: u32,
    questions: Vec<QuestionId>,
    pub(super) parts: Vec<Vec<KnownAssignment>>,
}

/// A text of a part, its annotation round, and whether everybody gets it.
pub(super) type KnownAssignment = (TextId, u16, bool);

/// Draws the texts of as many people as `request` has, and writes them into one page for everybody. Nobody is
/// added to the project yet.
///
/// # Errors
/// The same as [`hand_out`](super::hand_out()).
pub fn write_join_page(
    cx: &Study,
    request: &StudyRequest,
    file: &Path,
    settings: &PageSettings,
) -> Result<StudyDraft, ProjectError> {
    cx.context.store.must_write()?;
    page::check(settings)?;
    if std::fs::symlink_metadata(file).is_ok() {
        return Err(StudyError::Exists(file.to_owned()).into());
    }
    let _planning = lock(&cx.planning);
    let drawn = draft::drawn(cx, request, Draw::Plan)?;
    let mut reported = draft::summarise(cx, &drawn)?;
    let part = |person: &DrawnPerson| {
        let items = person.items.iter();
        items.map(|item| (drawn.texts[item.text], item.occasion, item.anchor)).collect::<Vec<_>>()
    };
    let parts: Vec<_> = drawn.people.iter().map(part).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(StudyError::NothingNew.into());
    }
    let known = KnownPage {
        key: rand::random(),
        seed: request.seed,
        questions: drawn.questions.iter().map(|question| question.id).collect(),
        parts,
    };
    let id = Uuid::now_v7();
    let written = content(cx, id, &known, settings)?;
    // In the project first: submissions of a page that it does not know are lost.
    let (stored, per_text) = (known, request.per_text);
    cx.context.store.write(move |tx| -> Result<(), StoreError> {
        let mut pages: BTreeMap<Uuid, KnownPage> = tx.setting(PAGES)?.unwrap_or_default();
        pages.insert(id, stored);
        tx.set_setting(PAGES, &pages)?;
        tx.set_setting(PLANNED, &per_text)
    })?;
    cx.context.flush_to_file();
    let failed = |source| ProjectError::Io { path: file.to_owned(), doing: "writing", source };
    std::fs::create_dir_all(dissensus_files::folder_of(file)).map_err(failed)?;
    let mut target = AtomicFile::create(file).map_err(failed)?;
    target.write_all(written.as_bytes()).map_err(failed)?;
    target.finish_new().map_err(|source| match source.kind() {
        std::io::ErrorKind::AlreadyExists => StudyError::Exists(file.to_owned()).into(),
        _ => failed(source),
    })?;
    for share in &mut reported.people {
        share.file = Some(file.to_string_lossy().into_owned());
    }
    Ok(reported)
}

/// The page as HTML.
fn content(cx: &Study, id: Uuid, known: &KnownPage, settings: &PageSettings) -> Result<String, ProjectError> {
    let all: BTreeSet<TextId> = known.parts.iter().flatten().map(|(text, ..)| *text).collect();
    let packet = Packet {
        id: PacketId(id),
        annotator: AnnotatorId(0),
        made_at_ms: now_ms(),
        seed: known.seed,
        questions: known.questions.clone(),
        assignments: all.into_iter().map(|text| Assignment { text, occasion: 1, anchor: false }).collect(),
    };
    let failed = |source| ProjectError::Io { path: std::env::temp_dir(), doing: "writing to", source };
    let inside = PrivateFolder::create_in(&std::env::temp_dir()).map_err(failed)?;
    let file = inside.path().join("packet.dissensus");
    let texts: Vec<TextId> = packet.assignments.iter().map(|item| item.text).collect();
    cx.context.store.write_packet_for_anybody(packet, &file)?;
    let parts = JoinParts { id, key: &known.key, texts: &texts, parts: &known.parts };
    page::join_page(&file, &project_name(cx.context.store.path()), &parts, settings)
}

/// Adds the person who joined by a page for everybody and made this submission, and their packet, if they are
/// new. Does nothing for other files: what is wrong with them is found when they are merged.
///
/// # Errors
/// This copy of the project does not know the page, the submission was changed, or the person cannot be
/// added.
pub(super) fn add_person(cx: &Study, path: &Path) -> Result<(), ProjectError> {
    let Ok(mut file) = File::open(path) else { return Ok(()) };
    if !is_submission(&mut file).unwrap_or(false) {
        return Ok(());
    }
    let Ok(header) = submission::header(&mut file) else { return Ok(()) };
    let Some(joined) = &header.joined else { return Ok(()) };
    let store = &cx.context.store;
    let packet = PacketId(header.packet);
    if store.project_id()?.0 != header.project
        || store.packet(packet)?.is_some()
        || store.is_withdrawn_packet(packet)?
    {
        return Ok(());
    }
    let pages: BTreeMap<Uuid, KnownPage> = store.setting(PAGES)?.unwrap_or_default();
    let page = pages.get(&joined.page).ok_or(StudyError::UnknownPacket)?;
    check(joined)?;
    let part = &page.parts[part_of(&page.key, &joined.id, page.parts.len())];
    if packet_of(&page.key, &joined.id) != packet {
        return Err(StudyError::Tampered.into());
    }
    let key = key_of(&page.key, &joined.id);
    submission::read(&mut file, &header, &key)?;
    let mut assignments = Vec::with_capacity(part.len());
    for (text, occasion, anchor) in part {
        // It may have been removed since.
        if store.text(*text)?.is_some() {
            assignments.push(Assignment { text: *text, occasion: *occasion, anchor: *anchor });
        }
    }
    let name = unused_name(cx)?;
    let new = NewAnnotator {
        external_id: name.clone(),
        name,
        attributes: joined.attributes.clone(),
        ..NewAnnotator::default()
    };
    let (seed, questions, made_at_ms) = (page.seed, page.questions.clone(), header.at_ms.min(now_ms()));
    store.write(move |tx| -> Result<(), StoreError> {
        let annotator = tx.add_annotator(&new)?;
        tx.add_packet(&Packet { id: packet, annotator, made_at_ms, seed, questions, assignments }, &key)
    })?;
    annotators::announce(&cx.project);
    cx.context.listeners.send(&Event::Project);
    Ok(())
}

/// Refuses ids and attributes that no page sends.
fn check(joined: &JoinedPerson) -> Result<(), ProjectError> {
    let fits = |value: &str| {
        !value.is_empty() && value.chars().count() <= MAX_PARAMETER && not_allowed_in_names(value).is_none()
    };
    let named = |name: &String| [&ID_PARAMETERS[..], &ATTRIBUTE_PARAMETERS].concat().contains(&name.as_str());
    let known = joined.attributes.iter().all(|(name, value)| named(name) && fits(value));
    match known && fits(&joined.id) {
        true => Ok(()),
        false => Err(StudyError::Tampered.into()),
    }
}

/// The part of a person on a page with this key.
fn part_of(page: &[u8; 32], id: &str, parts: usize) -> usize {
    let [a, b, c, d, ..] = derived(page, "part", id);
    u32::from_be_bytes([a, b, c, d]) as usize % parts.max(1)
}

/// The packet of a person on a page with this key.
fn packet_of(page: &[u8; 32], id: &str) -> PacketId {
    let code = derived(page, "packet", id);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&code[..16]);
    PacketId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

/// The key of that packet.
fn key_of(page: &[u8; 32], id: &str) -> PacketKey {
    PacketKey(derived(page, "key", id))
}

fn derived(page: &[u8; 32], what: &str, id: &str) -> [u8; 32] {
    let mut mac = submission::code(&PacketKey(*page));
    mac.update(format!("{what}\n{id}").as_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_and_keys_follow_from_the_id_as_in_another_implementation() {
        // Python: hmac.new(bytes([7] * 32), b"packet\nana", "sha256").digest(), and so on
        assert_eq!(packet_of(&[7; 32], "ana").to_string(), "d3c8e129-779c-847f-8da0-08727bb1826c");
        let key: String = key_of(&[7; 32], "ana").0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(part_of(&[7; 32], "ana", 40), 14);
        assert_eq!(key, "841412f02c4b76068371c738103e163662b847679b6dec605d3fe31a69bf7bb1");
    }
}
