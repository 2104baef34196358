//! One page for everybody without a server: each person who opens it gets one of the parts that were drawn
//! for it.
//!
//! Nobody knows who opens it, so people are added when their submissions are merged. A person's part, the id
//! of their packet and the key that signs their submissions follow from the key of the page and the id of the
//! person: HMAC-SHA-256 (RFC 2104) of `part`, `packet` or `key`, a line feed and the id.

use super::Study;
use super::draft::{self, Draw, DrawnPerson, StudyPlan};
use super::drawing::Item;
use super::hand_in::is_submission;
use super::lacking::PLANNED;
use super::link_parameters::{ATTRIBUTE_PARAMETERS, ID_PARAMETERS, MAX_PARAMETER};
use super::page::{self, PageSettings};
use super::submission::{self, JoinedPerson};
use crate::study::error::StudyError;
use dissensus_api::{StudyDraft, StudyRequest};
use dissensus_domain::{
    AnnotatorId, Assignment, Attributes, JoinPage, Packet, PacketId, QuestionId, TextId, not_allowed_in_names,
};
use dissensus_editing::annotators;
use dissensus_files::{AtomicFile, PrivateFolder};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::names::project_name;
use dissensus_project::sync::lock;
use dissensus_store::{NewAnnotator, PacketKey, StoreError};
use hmac::Mac as _;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use uuid::Uuid;

/// Characters of the packet's id in the name of a person.
const NAME_DIGITS: usize = 10;

/// Draws the texts of as many people as `request` has, and writes them into one page for everybody. Nobody is
/// added to the project yet.
///
/// # Errors
/// The same as [`hand_out`](super::hand_out()).
pub fn write_join_page<'a>(
    cx: &Study,
    plan: impl Into<StudyPlan<'a>>,
    file: &Path,
    settings: &PageSettings,
) -> Result<StudyDraft, ProjectError> {
    let StudyPlan { request, without_pages } = plan.into();
    cx.context.store.must_write()?;
    page::check(settings)?;
    if std::fs::symlink_metadata(file).is_ok() {
        return Err(StudyError::Exists(file.to_owned()).into());
    }
    let _planning = lock(&cx.planning);
    let unlike = unlike_earlier(cx, request)?;
    let drawn = draft::drawn(cx, StudyPlan { request: &unlike, without_pages }, Draw::Plan)?;
    let mut reported = draft::summarise(cx, &drawn)?;
    let (mut texts, mut at): (Vec<TextId>, HashMap<usize, u32>) = Default::default();
    let mut part = |person: &DrawnPerson| {
        let position = |item: &Item| {
            *at.entry(item.text).or_insert_with(|| {
                texts.push(drawn.texts[item.text]);
                texts.len() as u32 - 1
            })
        };
        let mut position = position;
        person.items.iter().map(|item| (position(item), item.occasion, item.anchor)).collect::<Vec<_>>()
    };
    let parts: Vec<_> = drawn.people.iter().map(&mut part).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(StudyError::NothingNew.into());
    }
    page::check_all_texts(texts.len())?;
    let store = &cx.context.store;
    let mut names = Vec::with_capacity(texts.len());
    for text in &texts {
        names.push(store.text(*text)?.ok_or(StudyError::NoTexts)?.external_id);
    }
    let key: [u8; 32] = rand::random();
    let known = JoinPage {
        key: page::digits_of(&key),
        made_at_ms: now_ms(),
        seed: request.seed,
        questions: drawn.questions.iter().map(|question| question.name.clone()).collect(),
        texts: names,
        parts,
    };
    let id = Uuid::now_v7();
    let made_at_ms = known.made_at_ms;
    store.write(move |tx| tx.mask_packet(PacketId(id), made_at_ms))?;
    let questions = drawn.questions.iter().map(|question| question.id).collect();
    let written = content(cx, id, &known, questions, &texts, settings)?;
    // In the project first: submissions of a page that it does not know are lost.
    let per_text = request.per_text;
    store.write(move |tx| -> Result<(), StoreError> {
        tx.add_join_page(id, &known)?;
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

/// The request with a seed that gives a page other parts than earlier ones, whose people have the same names.
fn unlike_earlier(cx: &Study, request: &StudyRequest) -> Result<StudyRequest, ProjectError> {
    let earlier = cx.context.store.join_pages()?.len() as u32;
    // The golden ratio of 2^32: seeds that users count up do not meet each other.
    let seed = request.seed ^ earlier.wrapping_mul(0x9e37_79b9);
    Ok(StudyRequest { seed, ..request.clone() })
}

/// The page as HTML.
fn content(
    cx: &Study,
    id: Uuid,
    known: &JoinPage,
    questions: Vec<QuestionId>,
    texts: &[TextId],
    settings: &PageSettings,
) -> Result<String, ProjectError> {
    let first = |text: &TextId| Assignment { text: *text, occasion: 1, anchor: false };
    let packet = Packet {
        id: PacketId(id),
        annotator: AnnotatorId(0),
        made_at_ms: known.made_at_ms,
        seed: known.seed,
        questions,
        assignments: texts.iter().map(first).collect(),
    };
    let failed = |source| ProjectError::Io { path: std::env::temp_dir(), doing: "writing to", source };
    let inside = PrivateFolder::create_in(&std::env::temp_dir()).map_err(failed)?;
    let file = inside.path().join("packet.dissensus");
    cx.context.store.write_packet_for_anybody(packet, &file)?;
    page::join_page(&file, &project_name(cx.context.store.path()), id, known, settings)
}

/// A person who joined by a page for everybody, and is not in the project yet.
pub(super) struct NewPerson {
    packet: Packet,
    key: PacketKey,
    attributes: Attributes,
    /// The page, and which of its parts they have.
    part: (Uuid, u32),
    /// Number of answers, changes and marks in the submission.
    pub(super) new: u32,
    pub(super) at_ms: i64,
}

/// The person who made this submission on a page for everybody, if they are new here. `None` for other files:
/// what is wrong with them is found when they are merged.
///
/// # Errors
/// The project does not know the page, or the submission was changed or has answers about other texts.
pub(super) fn new_person(cx: &Study, path: &Path) -> Result<Option<NewPerson>, ProjectError> {
    let Ok(mut file) = File::open(path) else { return Ok(None) };
    if !is_submission(&mut file).unwrap_or(false) {
        return Ok(None);
    }
    let Ok(header) = submission::header(&mut file) else { return Ok(None) };
    let Some(joined) = &header.joined else { return Ok(None) };
    let store = &cx.context.store;
    let id = PacketId(header.packet);
    if store.project_id()?.0 != header.project
        || store.packet(id)?.is_some()
        || store.is_withdrawn_packet(id)?
    {
        return Ok(None);
    }
    let pages = store.join_pages()?;
    let (page_id, page) = pages.iter().find(|(id, _)| *id == joined.page).ok_or(StudyError::UnknownPacket)?;
    check(joined)?;
    let secret = secret_of(page).ok_or(StudyError::Tampered)?;
    if packet_of(&secret, &joined.id) != id {
        return Err(StudyError::Tampered.into());
    }
    let key = key_of(&secret, &joined.id);
    let work = submission::read(&mut file, &header, &key)?;
    let index = cx.context.index();
    let mut questions = Vec::with_capacity(page.questions.len());
    for name in &page.questions {
        let question = index.questions().iter().find(|question| question.name == *name);
        questions.push(question.ok_or_else(|| missing("question", name))?.id);
    }
    // The same in every copy of the project, whenever the person is added.
    let at = part_of(&secret, &joined.id, page.parts.len());
    let mut assignments = Vec::with_capacity(page.parts[at].len());
    let mut names = BTreeSet::new();
    for (text, occasion, anchor) in &page.parts[at] {
        let name = &page.texts[*text as usize];
        let text = store.text_by_external(name)?.ok_or_else(|| missing("text", name))?;
        names.insert(name.as_str());
        assignments.push(Assignment { text: text.id, occasion: *occasion, anchor: *anchor });
    }
    let practised = store.ever_practised_on(&questions)?;
    for (name, _) in &work.names.texts {
        let in_practice = || {
            Ok::<_, StoreError>(
                store.text_by_external(name)?.is_some_and(|text| practised.contains(&text.id)),
            )
        };
        if !names.contains(name.as_str()) && !in_practice()? {
            return Err(StudyError::NotAsHandedOut(format!("text \"{name}\" was added to the packet")).into());
        }
    }
    let packet = Packet {
        id,
        annotator: AnnotatorId(0),
        made_at_ms: page.made_at_ms,
        seed: page.seed,
        questions,
        assignments,
    };
    let new = work.records.len() as u32;
    let (attributes, part) = (joined.attributes.clone(), (*page_id, at as u32));
    Ok(Some(NewPerson { packet, key, attributes, part, new, at_ms: header.at_ms }))
}

fn missing(what: &str, name: &str) -> StudyError {
    StudyError::NotAsHandedOut(format!("{what} \"{name}\" of the page is not in this project"))
}

/// Adds the person who made this submission on a page for everybody, with their packet, if they are new here;
/// returns whether they are.
///
/// # Errors
/// The same as [`new_person`], or the project cannot be written.
pub(super) fn add_person(cx: &Study, path: &Path) -> Result<bool, ProjectError> {
    let Some(new) = new_person(cx, path)? else { return Ok(false) };
    let NewPerson { packet, key, attributes, part: (page, part), .. } = new;
    // It follows from the packet: people with one name are one person once copies are merged.
    let digits = packet.id.0.simple().to_string();
    let name = format!("join-{}", &digits[..NAME_DIGITS]);
    let new = NewAnnotator { external_id: name.clone(), name, attributes, ..NewAnnotator::default() };
    cx.context.store.write(move |tx| -> Result<(), StoreError> {
        let annotator = tx.add_annotator(&new)?;
        tx.use_part(page, part, packet.made_at_ms)?;
        tx.mask_packet_as(packet.id, PacketId(page), packet.made_at_ms)?;
        tx.add_packet(&Packet { annotator, ..packet }, &key)
    })?;
    annotators::announce(&cx.project);
    cx.context.listeners.send(&Event::Project);
    Ok(true)
}

/// The key of a page, as bytes.
fn secret_of(page: &JoinPage) -> Option<[u8; 32]> {
    submission::bytes_of(&page.key).try_into().ok()
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
