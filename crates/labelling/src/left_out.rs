//! Texts that a person does not want to see, by words and groups that are stored only on this computer.
//! They are not offered; the project records how many they are, but not which.

use super::Labelling;
use super::care_file::care_file;
use super::left_out_texts::LeftOut;
use crate::question_set;
use crate::topics::Topics;
use dissensus_domain::{AnnotatorId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;
use dissensus_project::sync::lock;
use dissensus_store::StoreError;
use std::collections::HashSet;
use std::sync::Arc;

/// The texts that a person excludes, searched again if the choice or the texts have changed.
pub(super) fn left_out(cx: &Labelling, annotator: AnnotatorId) -> Result<Arc<LeftOut>, ProjectError> {
    let own = care_file(cx, annotator)?.read().own;
    let among = cx.context.index().texts().len();
    let known = lock(&cx.left_out).get(&annotator).cloned();
    if let Some(known) = known
        && (&known.words, &known.groups, known.among) == (&own.words, &own.groups, among)
    {
        return Ok(known);
    }
    let topics = Topics::new(&own.words);
    let mut texts = HashSet::new();
    if !topics.is_empty() || !own.groups.is_empty() {
        cx.context.store.for_each_text(|text| {
            let grouped = text.group.as_ref().is_some_and(|group| own.groups.contains(group));
            if grouped || topics.are_in(&text.body) {
                texts.insert(text.id);
            }
            Ok::<(), StoreError>(())
        })?;
    }
    let open = open_of(cx, annotator, &texts)?;
    let found = Arc::new(LeftOut { words: own.words, groups: own.groups, among, texts });
    // The number is only informative for the study: failing to write it must not stop anyone from
    // labelling.
    go_on("recording how many texts are left out", record_left_out(cx, annotator, open));
    lock(&cx.left_out).insert(annotator, Arc::clone(&found));
    Ok(found)
}

/// Number of excluded texts that a person is asked about and has not answered at all.
pub(super) fn count_open(cx: &Labelling, annotator: AnnotatorId) -> Result<u32, ProjectError> {
    open_of(cx, annotator, &left_out(cx, annotator)?.texts)
}

/// Number of these texts that a person is asked about and has not answered at all.
fn open_of(cx: &Labelling, annotator: AnnotatorId, texts: &HashSet<TextId>) -> Result<u32, ProjectError> {
    let mut open = texts.clone();
    if let Some(packet) = cx.context.packet.as_ref().filter(|packet| packet.annotator == annotator) {
        open.retain(|text| packet.assignments.iter().any(|item| item.text == *text));
    }
    if open.is_empty() {
        return Ok(0);
    }
    for question in cx.context.index().questions() {
        let annotations = question_set::annotations(cx, annotator, question.id)?;
        let annotations = lock(&annotations);
        open.retain(|text| !annotations.answers.contains_key(text));
    }
    Ok(open.len() as u32)
}

fn record_left_out(cx: &Labelling, annotator: AnnotatorId, texts: u32) -> Result<(), ProjectError> {
    if cx.context.is_reader() || cx.context.store.left_out(annotator)? == texts {
        return Ok(());
    }
    let now_ms = dissensus_project::clock::now_ms();
    Ok(cx.context.store.write(move |tx| tx.set_left_out(annotator, texts, now_ms))?)
}
