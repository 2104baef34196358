//! People who join a running study by one link for everybody: each gets a packet when they come.

use super::Study;
use super::draft::{self, Draw};
use super::hand_out::{Written, add};
use super::joined::{JOINED, Joined};
use super::link::{Link, link_of};
use crate::study::error::StudyError;
use dissensus_api::StudyRequest;
use dissensus_domain::{Attributes, Packet, QuestionId};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::time::Duration;

/// What everybody gets who joins.
#[derive(Clone, Debug)]
pub struct JoinRules {
    /// The questions about each text; all questions if there is none.
    pub questions: Vec<QuestionId>,
    /// Number of people per text.
    pub per_text: u32,
    /// Number of texts per person; there may be fewer left.
    pub per_person: u32,
    /// Number of texts that everybody gets, among these.
    pub anchors: u32,
    /// How long texts without an answer are reserved for the person who got them.
    pub give_back: Duration,
}

impl JoinRules {
    /// Checks that people who join get texts, and not all of them the same ones.
    ///
    /// # Errors
    /// The project has no text or no question; no person per text; as many texts for everybody as texts per
    /// person or texts of the project.
    pub fn check(&self, cx: &Study) -> Result<(), ProjectError> {
        let index = cx.context.index();
        if index.questions().is_empty() || index.texts().is_empty() {
            return Err(StudyError::NothingToJoin.into());
        }
        if self.per_text == 0 {
            let (what, value) = ("people per text", "0".to_owned());
            return Err(StudyError::Range { what, value, allowed: "1 or more" }.into());
        }
        if self.anchors >= self.per_person || self.anchors as usize >= index.texts().len() {
            return Err(StudyError::OnlyAnchors(self.anchors).into());
        }
        Ok(())
    }
}

/// Who joins.
#[derive(Clone, Debug, Default)]
pub struct Joining {
    /// The id of a person elsewhere, by which they come back to the same packet.
    pub id: Option<String>,
    /// What is known about a new person.
    pub attributes: Attributes,
}

/// Draws a packet for a person who joins and adds both to the project; returns the person's link. Somebody
/// who has a packet gets the link of the latest one again.
///
/// # Errors
/// No text lacks people ([`StudyError::Full`]); the id cannot be a name, or is that of a person who has
/// withdrawn; the project cannot be written.
pub fn join(cx: &Study, rules: &JoinRules, person: &Joining) -> Result<Link, ProjectError> {
    cx.whole_project()?;
    let store = &cx.context.store;
    store.must_write()?;
    let _planning = lock(&cx.planning);
    let index = cx.context.index();
    let joined: Joined = store.setting(JOINED)?.unwrap_or_default();
    if let Some(id) = &person.id {
        let mine = |packet: &Packet| joined.get(&packet.id.0).is_some_and(|known| known.as_ref() == Some(id));
        let packets = store.packets()?;
        if let Some((packet, key)) = packets.iter().rev().find(|(packet, _)| mine(packet)) {
            let row = index.annotator_row(packet.annotator).ok_or(StudyError::UnknownPacket)?;
            return Ok(link_of(packet, key, &index.annotators()[row as usize].external_id));
        }
        // Anybody can name an id: nobody becomes somebody who is here otherwise.
        if let Some(known) = index.annotator_named(id) {
            return Err(StudyError::TakenId(known.external_id.clone()).into());
        }
    }
    let name = match &person.id {
        Some(id) => id.clone(),
        None => unused_name(cx)?,
    };
    let request = StudyRequest {
        questions: rules.questions.clone(),
        people: vec![name],
        new_people: true,
        per_text: rules.per_text,
        per_person: Some(rules.per_person),
        anchors: rules.anchors,
        repeat: 0.0,
        again_after: 1,
        balance: None,
        seed: 0,
    };
    let since_ms = now_ms().saturating_sub(rules.give_back.as_millis().try_into().unwrap_or(i64::MAX));
    let drawn = draft::drawn(cx, &request, Draw::Next { since_ms, joined: &joined })?;
    if drawn.people.iter().all(|person| person.items.is_empty()) {
        return Err(StudyError::Full.into());
    }
    let added = add(cx, &drawn, &request, &person.attributes, Written::Never { id: person.id.clone() })?;
    let (_, id) = added.into_iter().next().ok_or(StudyError::Full)?;
    let (packet, key) = store.packet(id)?.ok_or(StudyError::UnknownPacket)?;
    Ok(link_of(&packet, &key, &drawn.people[0].name))
}

/// A name for somebody who has none: `person-1`, `person-2`, ...
fn unused_name(cx: &Study) -> Result<String, ProjectError> {
    let index = cx.context.index();
    let mut number = index.annotators().len();
    loop {
        number += 1;
        let name = format!("person-{number}");
        if index.annotator_named(&name).is_none() && !cx.context.store.has_withdrawn(&name)? {
            return Ok(name);
        }
    }
}
