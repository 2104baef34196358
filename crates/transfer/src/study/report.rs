//! The progress of a study: assignments, submissions, agreement.

use super::Study;
use super::answered::{always_assigned, count_answered};
use super::lacking::{PLANNED, people_per_text};
use super::open_parts::page_parts;
use crate::study::agreement;
use crate::study::checks;
use crate::study::earlier;
use crate::study::error::StudyError;
use dissensus_api::{PacketText, StudyPerson, StudyReport};
use dissensus_domain::{AnnotatorId, Packet, TextId};
use dissensus_editing::reveal;
use dissensus_project::error::ProjectError;
use dissensus_stats::math::median::median;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Returns the progress of the study.
pub fn report(cx: &Study) -> Result<StudyReport, ProjectError> {
    let store = &cx.context.store;
    let packets = store.packets()?;
    let index = cx.context.index();
    let answered =
        count_answered(cx, packets.iter().flat_map(|(packet, _)| packet.questions.iter().copied()))?;
    let always = always_assigned(cx);
    let submissions = store.submissions()?;
    let (anchors, own) =
        (agreement::anchor_agreement(cx, &packets)?, agreement::own_agreement(cx, &packets)?);
    let (seconds, attention) = (seconds(cx)?, checks::attention(cx)?);
    let asked: Vec<AnnotatorId> =
        packets.iter().map(|(packet, _)| packet.annotator).collect::<BTreeSet<_>>().into_iter().collect();
    let (book, marks) = (cx.practice.book()?, cx.practice.checks_of_all(&asked)?);
    let left_out = store.texts_left_out()?;
    let mut people: Vec<StudyPerson> = Vec::new();
    let mut places: HashMap<AnnotatorId, usize> = HashMap::new();
    let mut texts: BTreeMap<TextId, bool> = BTreeMap::new();
    let mut anchor_texts: HashSet<TextId> = HashSet::new();
    for (packet, _) in &packets {
        let place = *places.entry(packet.annotator).or_insert_with(|| {
            let row = index.annotator_row(packet.annotator);
            let found = row.map(|row| &index.annotators()[row as usize]);
            people.push(StudyPerson {
                annotator: found.map_or_else(String::new, |a| a.external_id.clone()),
                name: found.map_or_else(String::new, |a| a.name.clone()),
                left_out: left_out.get(&packet.annotator).copied().unwrap_or(0),
                packets: 0,
                wanted: 0,
                given: 0,
                repeated: 0,
                handed_in: None,
                seconds: seconds.get(&packet.annotator).copied(),
                anchor_agreement: anchors.people.get(&packet.annotator).cloned(),
                self_agreement: own.people.get(&packet.annotator).cloned(),
                attention: attention.get(&packet.annotator).cloned(),
                attention_status: marks.get(&packet.annotator).map(|checks| checks.status),
                practice: book.result(packet.annotator),
            });
            people.len() - 1
        });
        let person = &mut people[place];
        person.packets += 1;
        for item in &packet.assignments {
            let done = answered.done(packet, &always, item.text, item.occasion);
            person.wanted += 1;
            person.given += u32::from(done);
            person.repeated += u32::from(done && item.occasion > 1);
            if item.occasion == 1 {
                *texts.entry(item.text).or_insert(true) &= done;
            }
            anchor_texts.extend(item.anchor.then_some(item.text));
        }
        let last = submissions.iter().filter(|one| one.packet == packet.id).map(|one| one.at_ms as f64);
        person.handed_in = last.chain(person.handed_in).reduce(f64::max);
    }
    let (parts, planned) = (page_parts(cx)?, store.setting(PLANNED)?);
    let done = |packet: &Packet, text| answered.done(packet, &always, text, 1);
    let (per_text, short_texts) = people_per_text(&packets, &parts, planned, done);
    Ok(StudyReport {
        texts: texts.len() as u32,
        texts_done: texts.values().filter(|done| **done).count() as u32,
        anchors: anchor_texts.len() as u32,
        wanted: people.iter().map(|person| person.wanted).sum(),
        given: people.iter().map(|person| person.given).sum(),
        anchor_agreement: anchors.overall,
        self_agreement: own.overall,
        checks: cx.context.store.attention_checks()?.len() as u32,
        labels_after_shown: reveal::labels_after_shown(&cx.project)?,
        earlier: earlier::earlier(cx, &packets, &answered)?,
        per_text,
        short_texts,
        people,
    })
}

/// Returns the texts of the open packet, in order, and which of them are answered.
///
/// # Errors
/// The open project is not a packet, or the file cannot be read.
pub fn packet_texts(cx: &Study) -> Result<Vec<PacketText>, ProjectError> {
    let Some(packet) = &cx.context.packet else { return Err(StudyError::NotPacket.into()) };
    let answered = count_answered(cx, packet.questions.iter().copied())?;
    let always = always_assigned(cx);
    let mut texts = Vec::with_capacity(packet.assignments.len());
    for item in &packet.assignments {
        if let Some(text) = cx.context.store.text(item.text)? {
            texts.push(PacketText {
                text_id: text.external_id,
                text: text.body,
                occasion: item.occasion,
                done: answered.done(packet, &always, item.text, item.occasion),
            });
        }
    }
    Ok(texts)
}

/// Returns the median seconds that each annotator took for an answer.
fn seconds(cx: &Study) -> Result<HashMap<AnnotatorId, f64>, ProjectError> {
    let mut times: HashMap<AnnotatorId, Vec<f64>> = HashMap::new();
    for question in cx.context.index().questions() {
        for timed in cx.context.store.timed_answers(question.id)? {
            times.entry(timed.annotator).or_default().push(f64::from(timed.duration_ms) / 1000.0);
        }
    }
    Ok(times.into_iter().filter_map(|(who, times)| Some((who, median(times)?))).collect())
}
