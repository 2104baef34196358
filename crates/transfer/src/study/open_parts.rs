//! Parts of pages for everybody: those that nobody had yet are planned like packets.

use super::Study;
use dissensus_domain::{Assignment, JoinPage, QuestionId};
use dissensus_project::error::ProjectError;
use std::collections::BTreeSet;
use uuid::Uuid;

/// A page for everybody that was written, and who has joined by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPage {
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub made_at_ms: i64,
    /// For how many people it has texts.
    pub parts: u32,
    /// Of these parts, those that nobody had yet.
    pub open: u32,
    /// How many people of the project have joined by it: several can have one part.
    pub people: u32,
}

/// What is asked in a part of a page.
pub(super) struct PagePart {
    pub(super) questions: Vec<QuestionId>,
    pub(super) assignments: Vec<Assignment>,
    /// Whether nobody had it yet. The part of somebody who has withdrawn does not open again: nobody else is
    /// likelier to get it than before.
    pub(super) open: bool,
}

/// The pages for everybody, in the order in which they were written.
///
/// # Errors
/// The project cannot be read.
pub fn written_pages(cx: &Study) -> Result<Vec<WrittenPage>, ProjectError> {
    let store = &cx.context.store;
    let (packets, used) = (store.packets()?, store.used_parts()?);
    let page = |(id, page): &(Uuid, JoinPage)| {
        // A packet of the page has its time and seed.
        let of_page = |made_at_ms, seed| (made_at_ms, seed) == (page.made_at_ms, page.seed);
        let people = packets.iter().filter(|(packet, _)| of_page(packet.made_at_ms, packet.seed)).count();
        let open = (0..page.parts.len()).filter(|part| is_open(&used, *id, *part)).count();
        WrittenPage {
            made_at_ms: page.made_at_ms,
            parts: page.parts.len() as u32,
            open: open as u32,
            people: people as u32,
        }
    };
    let mut written: Vec<WrittenPage> = store.join_pages()?.iter().map(page).collect();
    written.sort_by_key(|page| page.made_at_ms);
    Ok(written)
}

/// The parts of all pages, as far as their texts are here.
pub(super) fn page_parts(cx: &Study) -> Result<Vec<PagePart>, ProjectError> {
    let store = &cx.context.store;
    let (index, used) = (cx.context.index(), store.used_parts()?);
    let mut parts = Vec::new();
    for (id, page) in store.join_pages()? {
        let named = |name: &String| index.questions().iter().find(|question| question.name == *name);
        let questions: Vec<QuestionId> = page.questions.iter().filter_map(named).map(|one| one.id).collect();
        let mut texts = Vec::with_capacity(page.texts.len());
        for name in &page.texts {
            texts.push(store.text_by_external(name)?.map(|text| text.id));
        }
        let item = |(at, occasion, anchor): &(u32, u16, bool)| {
            let text = texts.get(*at as usize).copied().flatten()?;
            Some(Assignment { text, occasion: *occasion, anchor: *anchor })
        };
        parts.extend(page.parts.iter().enumerate().map(|(at, part)| PagePart {
            questions: questions.clone(),
            assignments: part.iter().filter_map(item).collect(),
            open: is_open(&used, id, at),
        }));
    }
    Ok(parts)
}

/// Whether nobody had a part of a page yet.
fn is_open(used: &BTreeSet<(Uuid, u32)>, page: Uuid, part: usize) -> bool {
    u32::try_from(part).is_ok_and(|part| !used.contains(&(page, part)))
}
