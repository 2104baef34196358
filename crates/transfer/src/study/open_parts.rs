//! Pages for everybody: their parts that nobody has handed in yet, which are planned like packets.

use super::Study;
use dissensus_domain::{Assignment, JoinPage, Packet, QuestionId};
use dissensus_project::error::ProjectError;
use dissensus_store::PacketKey;
use std::collections::BTreeSet;

/// A page for everybody that was written, and who has joined by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPage {
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub made_at_ms: i64,
    /// For how many people it has texts.
    pub parts: u32,
    /// Of these parts, those from which something was merged.
    pub begun: u32,
    /// How many people have joined: several can have one part.
    pub people: u32,
}

/// A part of a page from which nothing was merged yet.
pub(super) struct OpenPart {
    pub(super) questions: Vec<QuestionId>,
    pub(super) assignments: Vec<Assignment>,
}

/// The pages for everybody, in the order in which they were written.
///
/// # Errors
/// The project cannot be read.
pub fn written_pages(cx: &Study) -> Result<Vec<WrittenPage>, ProjectError> {
    let (pages, packets) = (cx.context.store.join_pages()?, cx.context.store.packets()?);
    let mut written = Vec::with_capacity(pages.len());
    for (_, page) in &pages {
        let parts = parts(cx, page)?;
        let (joined, of_people) = joined(page, &parts, &packets);
        written.push(WrittenPage {
            made_at_ms: page.made_at_ms,
            parts: parts.len() as u32,
            begun: joined.len() as u32,
            people: of_people,
        });
    }
    written.sort_by_key(|page| page.made_at_ms);
    Ok(written)
}

/// All open parts. A part of somebody who has joined is in their packet.
pub(super) fn open_parts(cx: &Study, packets: &[(Packet, PacketKey)]) -> Result<Vec<OpenPart>, ProjectError> {
    let mut open = Vec::new();
    for (_, page) in cx.context.store.join_pages()? {
        let index = cx.context.index();
        let named = |name: &String| index.questions().iter().find(|question| question.name == *name);
        let questions: Vec<QuestionId> = page.questions.iter().filter_map(named).map(|one| one.id).collect();
        let parts = parts(cx, &page)?;
        let (joined, _) = joined(&page, &parts, packets);
        let rest = parts.into_iter().enumerate().filter(|(at, _)| !joined.contains(at));
        open.extend(rest.map(|(_, assignments)| OpenPart { questions: questions.clone(), assignments }));
    }
    Ok(open)
}

/// What is asked in each part of a page, as far as its texts are here.
fn parts(cx: &Study, page: &JoinPage) -> Result<Vec<Vec<Assignment>>, ProjectError> {
    let mut texts = Vec::with_capacity(page.texts.len());
    for name in &page.texts {
        texts.push(cx.context.store.text_by_external(name)?.map(|text| text.id));
    }
    let item = |(at, occasion, anchor): &(u32, u16, bool)| {
        let text = texts.get(*at as usize).copied().flatten()?;
        Some(Assignment { text, occasion: *occasion, anchor: *anchor })
    };
    Ok(page.parts.iter().map(|part| part.iter().filter_map(item).collect()).collect())
}

/// The parts of a page that people have, and how many people have one.
fn joined(
    page: &JoinPage,
    parts: &[Vec<Assignment>],
    packets: &[(Packet, PacketKey)],
) -> (BTreeSet<usize>, u32) {
    // A packet of the page has its time and seed, and the texts of one part.
    let of_page = packets.iter().map(|(packet, _)| packet);
    let of_page = of_page.filter(|packet| (packet.made_at_ms, packet.seed) == (page.made_at_ms, page.seed));
    let part = |packet: &Packet| parts.iter().position(|part| *part == packet.assignments);
    let of_people: Vec<usize> = of_page.filter_map(part).collect();
    let people = of_people.len() as u32;
    (of_people.into_iter().collect(), people)
}
