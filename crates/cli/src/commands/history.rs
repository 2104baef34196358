//! `project history`: the log of changes.

use super::{note, open_or_read, open_to_read};
use crate::args::History;
use crate::output::{self, cut};
use anyhow::Result;
use dissensus_api::{HistoryEntry, HistoryPage, HistoryRequest};
use dissensus_editing::annotators;
use dissensus_editing::history;
use dissensus_editing::questions;
use dissensus_editing::texts;

/// Number of entries read at a time.
const PAGE: u32 = 1_000;
/// Maximum number of characters of a written text in the table.
const WORDS: usize = 60;

pub(crate) fn history(args: &History) -> Result<()> {
    // Newly assigned pseudonyms are stored in the project.
    let session =
        if args.hide_names { open_or_read(&args.project.path)? } else { open_to_read(&args.project.path)? };
    let project = &session.project;
    let mut request = HistoryRequest {
        kinds: args.kind.clone(),
        annotator: args
            .annotator
            .as_deref()
            .map(|name| annotators::find(project, name))
            .transpose()?
            .map(|a| a.id),
        text: args.text_id.as_deref().map(|id| texts::find(project, id)).transpose()?.map(|(id, _)| id),
        question: args
            .question
            .as_deref()
            .map(|name| questions::find(project, Some(name)))
            .transpose()?
            .map(|q| q.id),
        since: args.since,
        until: args.until,
        words: args.search.clone(),
        hide_names: args.hide_names,
        reader: None,
        after: None,
        limit: PAGE.min(args.limit),
    };
    let mut found = HistoryPage { entries: Vec::new(), more: true };
    while found.more && found.entries.len() < args.limit as usize {
        request.after = found.entries.last().map(|last| last.place.clone());
        request.limit = PAGE.min(args.limit - found.entries.len() as u32);
        let page = history::read(project, &request)?;
        found.more = page.more;
        found.entries.extend(page.entries);
    }
    if args.output.json {
        return output::json(&found);
    }
    if found.entries.is_empty() {
        return output::line("Nothing of that kind was done");
    }
    let header = ["time", "who", "what", "question", "text", "note", "copy"];
    output::line(&output::table(&header, found.entries.iter().map(row).collect(), &[]))?;
    if found.more {
        note(&format!("these are the newest {}; --limit shows more", found.entries.len()));
    }
    Ok(())
}

fn row(entry: &HistoryEntry) -> Vec<String> {
    let known = |words: &Option<String>| words.clone().unwrap_or_default();
    vec![
        entry.time.clone(),
        entry.who.clone(),
        entry.what.clone(),
        known(&entry.question),
        known(&entry.text_id),
        entry.note.as_deref().map_or_else(String::new, |note| cut(note, WORDS)),
        known(&entry.copy),
    ]
}
