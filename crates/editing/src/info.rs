//! Summary of the project.

use super::question_info::question_info;
use super::{Project, backups, choices, network_folder, readable_file, sync_folder};
use crate::care;
use crate::questions;
use crate::reveal;
use dissensus_api::{AttributeInfo, PacketInfo, ProjectInfo, QuestionInfo};
use dissensus_domain::QuestionId;
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_project::names::project_name;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Summary of the project's contents.
pub fn read(cx: &Project) -> Result<ProjectInfo, ProjectError> {
    let store = &cx.context.store;
    let index = cx.context.index();
    // Number of labels of each question, and of annotators with labels.
    let mut cannot_say_counts: HashMap<QuestionId, u32> = HashMap::new();
    let mut counts: HashMap<QuestionId, (u32, u32)> = HashMap::new();
    let mut labelled = HashSet::new();
    for count in store.annotator_counts()? {
        *cannot_say_counts.entry(count.question).or_default() += count.cannot_say;
        if count.labels == 0 {
            continue;
        }
        let (labels, annotators) = counts.entry(count.question).or_default();
        (*labels, *annotators) = (*labels + count.labels, *annotators + 1);
        labelled.insert(count.annotator);
    }
    let without = index.annotators().iter().filter(|annotator| !labelled.contains(&annotator.id)).count();
    let questions = index.questions().iter().map(|q| {
        Ok(QuestionInfo {
            edits: questions::edits(cx, q.id)?,
            cannot_say_answers: cannot_say_counts.get(&q.id).copied().unwrap_or_default(),
            ..question_info(q, counts.get(&q.id).copied().unwrap_or_default())
        })
    });
    let questions: Vec<QuestionInfo> = questions.collect::<Result<_, ProjectError>>()?;
    Ok(ProjectInfo {
        path: store.path().to_string_lossy().into_owned(),
        name: project_name(store.path()),
        texts: index.texts().len() as u32,
        annotators: index.annotators().len() as u32,
        annotators_without_labels: without as u32,
        labels: counts.values().map(|(labels, _)| labels).sum(),
        questions,
        attributes: attributes_in_use(&index),
        reveals: cx.context.reveals()?,
        labels_after_shown: reveal::labels_after_shown(cx)?,
        care: care::read(cx)?,
        language: store.language()?,
        simulated_notice: store.setting(dissensus_project::sample::NOTICE_KEY)?,
        encoding: cx.encoding.state()?,
        choices: store.setting(choices::KEY)?.unwrap_or_default(),
        packet: cx
            .context
            .packet
            .as_ref()
            .map(|packet| PacketInfo { annotator: packet.annotator, questions: packet.questions.clone() }),
        read_only: cx.is_reader(),
        journal_notice: journal_notice(cx),
        sync_notice: sync_notice(cx),
        network_notice: network_notice(cx),
        readable_notice: readable_notice(cx),
        backup_notice: backups::notice(&cx.context),
    })
}

/// A notice if the journal of another file was found next to the project when it was opened, and moved
/// aside.
pub fn journal_notice(cx: &Project) -> Option<String> {
    cx.context.store.foreign_journal().map(|path| {
            format!(
                "The journal of another file was next to this project, as after restoring a backup. Nothing of it is used; it is stored as {}. Labels given after the backup was made may be in it.",
                path.display()
            )
        })
}

/// A notice if the project is in a folder that a service synchronises.
pub fn sync_notice(cx: &Project) -> Option<String> {
    let service = *cx.place.service.get_or_init(|| sync_folder::service_of(cx.path()));
    service.map(|service| {
        format!(
            "This project is in a folder that {service} synchronises: a copy that is made during a write can be damaged, and two computers can write apart. Close the project and move it, with its folder .runs, to another folder; hand out packets, or merge copies, to work on several computers."
        )
    })
}

/// A notice if the project is on another computer.
pub fn network_notice(cx: &Project) -> Option<String> {
    let is_remote = *cx.place.is_remote.get_or_init(|| network_folder::is_remote(cx.path()));
    is_remote.then(|| {
        "This project is on a network share: a connection that is lost during a write, or a second computer that opens it, can damage it. Work on a copy on this computer, and save copies to the share; hand out packets, or merge copies, to work on several computers.".to_owned()
    })
}

/// A notice if other users of this computer can read the project.
pub fn readable_notice(cx: &Project) -> Option<String> {
    let path = cx.path();
    let is_readable = || readable_file::is_readable_by_others(path);
    cx.place.is_readable_by_others.get_or_init(is_readable).then(|| {
        // As a shell reads it.
        let quoted = format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
        format!(
            "Other users of this computer can read this project: its file and the folders that it is in let them. To make it private, close it and run in a terminal: chmod go-rwx {quoted}"
        )
    })
}

fn attributes_in_use(index: &Index) -> Vec<AttributeInfo> {
    let mut values: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    for (name, value) in index.annotators().iter().flat_map(|a| &a.attributes) {
        *values.entry(name).or_default().entry(value).or_default() += 1;
    }
    let info = |(name, counts): (&str, BTreeMap<&str, u32>)| {
        let mut counts: Vec<(&str, u32)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        AttributeInfo {
            name: name.to_owned(),
            values: counts.into_iter().map(|(v, _)| v.to_owned()).collect(),
        }
    };
    values.into_iter().map(info).collect()
}
