//! Rules for masking texts that are handed out, and a preview of what they find.

use super::Study;
use crate::study::error::StudyError;
use dissensus_api::{MaskFound, MaskPreview, MaskQuery, MaskRuleCount, MaskSettings};
use dissensus_domain::{Finding, JobKind, MaskRule, MaskRules, Masker, Text};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Follow, Silent};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Characters that are shown before and after a finding.
const CONTEXT: usize = 40;
/// The longest finding that is shown whole, in characters.
const LONGEST_FOUND: usize = 300;
/// Maximum number of texts that are named because everything in them is masked.
const NAMED: usize = 5;
/// Texts between two reports of progress.
const STEP: u64 = 500;
/// From this number of texts on, looking through them is a job.
const MANY: usize = 20_000;

/// What is masked in texts that are handed out.
///
/// # Errors
/// The file cannot be read.
pub fn mask_settings(cx: &Study) -> Result<MaskSettings, ProjectError> {
    let store = &cx.context.store;
    let (packets, masked) = (store.packets()?, store.masked_packets()?);
    Ok(MaskSettings {
        rules: store.mask_rules()?,
        versions: store.mask_versions()?,
        packets: packets.len() as u32,
        masked_packets: packets.iter().filter(|(packet, _)| masked.contains_key(&packet.id)).count() as u32,
        columns: store.snapshot(|s| s.metadata_keys())?,
    })
}

/// Sets what is masked in texts that are handed out from now on. Packets that were handed out before stay as
/// they are, also if they are written again.
///
/// # Errors
/// The rules are invalid, or the open project is a task packet or read-only.
pub fn set_masks(cx: &Study, rules: &MaskRules) -> Result<MaskSettings, ProjectError> {
    cx.whole_project()?;
    cx.context.store.must_write()?;
    prepared(rules)?;
    let (rules, at_ms) = (rules.clone(), now_ms());
    cx.context.store.write(move |tx| tx.set_mask_rules(&rules, at_ms))?;
    cx.context.flush_to_file();
    cx.context.listeners.send(&Event::Project);
    mask_settings(cx)
}

fn prepared(rules: &MaskRules) -> Result<Masker, ProjectError> {
    Masker::new(rules).map_err(|source| StudyError::Masks { source }.into())
}

/// The different values of a column of the texts' data, for a list of words.
///
/// # Errors
/// No text has such a column, or the file cannot be read.
pub fn words_of_column(cx: &Study, column: &str) -> Result<Vec<String>, ProjectError> {
    let mut words = BTreeSet::new();
    let mut known = false;
    cx.context.store.for_each_text(|text| {
        if let Some(value) = text.metadata.get(column) {
            known = true;
            words.insert(value.trim().to_owned());
        }
        Ok::<(), ProjectError>(())
    })?;
    if !known {
        let known = cx.context.store.snapshot(|s| s.metadata_keys())?;
        return Err(StudyError::MaskColumn { column: column.to_owned(), known: known.join(", ") }.into());
    }
    words.remove("");
    Ok(words.into_iter().collect())
}

/// Looking through many texts is a job, with its progress; through a few it is done before one could see it.
pub fn follow_masks(cx: &Study) -> Follow<'static> {
    match cx.context.index().texts().len() < MANY {
        true => Follow::Caller(&Silent),
        false => Follow::Job,
    }
}

/// What the rules find in the texts of the project; nothing is changed.
///
/// # Errors
/// The rules are invalid, the file cannot be read, or it was cancelled.
pub fn preview_masks<'a>(
    cx: &Study,
    query: &MaskQuery,
    follow: impl Into<Follow<'a>>,
) -> Result<MaskPreview, ProjectError> {
    let rules = match &query.rules {
        Some(rules) => rules.clone().tidied(),
        None => cx.context.store.mask_rules()?,
    };
    let masker = prepared(&rules)?;
    cx.context.run(follow, JobKind::Mask, "", |progress| {
        let mut seen =
            Seen { rules: rules.on.iter().map(|rule| (*rule, (0, 0))).collect(), ..Seen::default() };
        let all = u64::from(cx.context.store.counts()?.texts);
        cx.context.store.for_each_text(|text| {
            let done = u64::from(seen.texts);
            if done.is_multiple_of(STEP) {
                progress.report(done, Some(all), "texts");
                if progress.cancelled() {
                    return Err(ProjectError::Cancelled);
                }
            }
            seen.add(&masker, &text);
            Ok::<(), ProjectError>(())
        })?;
        Ok(seen.listed(query))
    })
}

/// What was found so far.
#[derive(Default)]
struct Seen {
    texts: u32,
    masked_texts: u32,
    whole_texts: u32,
    whole_text_ids: Vec<String>,
    masked: u32,
    excepted: u32,
    /// Places and texts of each rule.
    rules: BTreeMap<MaskRule, (u32, u32)>,
    found: HashMap<(MaskRule, String), MaskFound>,
}

impl Seen {
    fn add(&mut self, masker: &Masker, text: &Text) {
        self.texts += 1;
        let findings = masker.find(&text.external_id, &text.body);
        if findings.is_empty() {
            return;
        }
        let mut rules = HashSet::new();
        for Finding { rule, at, excepted } in findings {
            let (before, found, after) = around(&text.body, at);
            let cut = found.chars().nth(LONGEST_FOUND).is_some();
            let found: String = found.chars().take(LONGEST_FOUND).collect();
            self.masked += u32::from(!excepted);
            self.excepted += u32::from(excepted);
            let count = self.rules.entry(rule).or_default();
            count.0 += 1;
            count.1 += u32::from(rules.insert(rule));
            let known = self.found.entry((rule, found.clone())).or_insert_with(|| MaskFound {
                rule,
                found,
                cut,
                places: 0,
                excepted: 0,
                text: text.external_id.clone(),
                before,
                after,
            });
            known.places += 1;
            known.excepted += u32::from(excepted);
        }
        let Some(masked) = masker.mask(&text.external_id, &text.body) else { return };
        self.masked_texts += 1;
        let left = masked.chars().zip(text.body.chars()).any(|(a, b)| a == b && b.is_alphanumeric());
        if !left {
            self.whole_texts += 1;
            if self.whole_text_ids.len() < NAMED {
                self.whole_text_ids.push(text.external_id.clone());
            }
        }
    }

    fn listed(self, query: &MaskQuery) -> MaskPreview {
        let wanted = query.search.to_lowercase();
        let mut found: Vec<MaskFound> = (self.found.into_values())
            .filter(|one| query.rule.is_none_or(|rule| rule == one.rule))
            .filter(|one| wanted.is_empty() || one.found.to_lowercase().contains(&wanted))
            .collect();
        found.sort_by(|a, b| (b.places, a.rule, &a.found).cmp(&(a.places, b.rule, &b.found)));
        let left_off = found.len().saturating_sub(query.most as usize) as u32;
        found.truncate(query.most as usize);
        let count = |(rule, (places, texts))| MaskRuleCount { rule, places, texts };
        MaskPreview {
            texts: self.texts,
            masked_texts: self.masked_texts,
            whole_texts: self.whole_texts,
            whole_text_ids: self.whole_text_ids,
            masked: self.masked,
            excepted: self.excepted,
            rules: self.rules.into_iter().map(count).collect(),
            found,
            left_off,
        }
    }
}

/// A place in a text, with a few characters before and after it.
pub(super) fn around(body: &str, at: std::ops::Range<usize>) -> (String, String, String) {
    let (before, found, after) = (&body[..at.start], &body[at.clone()], &body[at.end..]);
    let begin = before.char_indices().rev().nth(CONTEXT - 1).map_or(0, |(at, _)| at);
    (before[begin..].to_owned(), found.to_owned(), after.chars().take(CONTEXT).collect())
}
