//! The archive of an INCEpTION project: `annotation/DOCUMENT/USER.tsv` (or `.xmi`, `.json`), so that the name
//! of the folder is the text and the name of the file the annotator. Files that only INCEpTION itself can
//! read are listed and left out.

use super::{Format, FormatInfo, Look, Reading, cas_json, webanno_tsv, xmi};
use crate::annotations::{Division, Item, Items, Package, Part, Unfold};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Names of files that belong to no annotator.
const NOBODY: [&str; 2] = ["INITIAL_CAS", "CURATION_USER"];
/// How many of the files left out are listed by name.
const NAMED: usize = 3;

#[derive(Debug)]
pub(super) struct Inception;

impl Format for Inception {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "inception", title: "INCEpTION project archive", endings: &["zip"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_project = |name: &&String| name.starts_with("exportedproject") && name.ends_with(".json");
        let project = look.files.iter().find(is_project)?;
        let described = Package::open(&look.path).ok()?.read(project).ok()?;
        let archive = Archive::new(&look.files, &serde_json::from_slice(&described).unwrap_or_default());
        let mut entries = vec![project.clone()];
        entries.extend(archive.readable.keys().cloned());
        Some(Reading::Annotations(Division::Entries(entries), Arc::new(archive)))
    }
}

/// What a file of the archive is.
#[derive(Debug)]
enum Holds {
    Annotations {
        document: String,
        user: String,
    },
    /// Only the text, if none of its annotations can be read.
    Source {
        document: String,
    },
}

/// Which files of an archive are read, and which are left out.
#[derive(Debug, Default)]
struct Archive {
    readable: BTreeMap<String, Holds>,
    left_out: Vec<(&'static str, String, &'static str, usize)>,
}

impl Archive {
    fn new(files: &[String], project: &Value) -> Self {
        let mut archive = Self::default();
        let states = states(project);
        let (mut serialised, mut unfinished, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let (mut read, mut documents) = (BTreeSet::new(), BTreeSet::new());
        for name in files {
            let mut path = name.splitn(3, '/');
            let (Some("annotation"), Some(document), Some(file)) = (path.next(), path.next(), path.next())
            else {
                continue;
            };
            let (user, ending) = file.rsplit_once('.').unwrap_or((file, ""));
            if NOBODY.contains(&user) {
                continue;
            }
            let key = (document.to_owned(), user.to_owned());
            match states.get(&key).map(String::as_str) {
                None | Some("FINISHED") => {}
                Some(_) => {
                    unfinished.push(name.clone());
                    read.insert(key);
                    continue;
                }
            }
            if ["tsv", "xmi", "json"].contains(&ending) {
                let holds = Holds::Annotations { document: document.to_owned(), user: user.to_owned() };
                archive.readable.insert(name.clone(), holds);
                documents.insert(document.to_owned());
                read.insert(key);
            } else if ending != "txt" {
                others.push(name.clone());
                read.insert(key);
            }
        }
        for name in files {
            let mut path = name.splitn(3, '/');
            let (folder, document, file) = (path.next(), path.next().unwrap_or_default(), path.next());
            let user = file.and_then(|file| file.strip_suffix(".ser")).unwrap_or_default();
            let known = read.contains(&(document.to_owned(), user.to_owned()));
            match folder {
                Some("annotation_ser") if !known && !NOBODY.contains(&user) && !user.is_empty() => {
                    serialised.push(name.clone());
                }
                Some("source")
                    if !documents.contains(document) && document.ends_with(".txt") && file.is_none() =>
                {
                    archive.readable.insert(name.clone(), Holds::Source { document: document.to_owned() });
                }
                _ => {}
            }
        }
        let curated = files.iter().filter(|name| name.starts_with("curation/")).count();
        archive.leave_out(
            "serialised",
            "Annotations that are Java-serialised",
            &serialised,
            "Left out: only INCEpTION can read them; export the project again with the format UIMA CAS JSON, UIMA CAS XMI or WebAnno TSV 3",
        );
        archive.leave_out(
            "not-read",
            "Annotations in another format",
            &others,
            "Left out: export the project again with the format UIMA CAS JSON, UIMA CAS XMI or WebAnno TSV 3",
        );
        archive.leave_out(
            "drafts",
            "Documents that their annotator has not finished",
            &unfinished,
            "Left out: mark them as finished in INCEpTION, and export again",
        );
        if curated > 0 {
            let (what, became) = (
                "Curated documents",
                "Left out: they are what a curator decided, and no annotator's answers",
            );
            archive.left_out.push(("curated", what.to_owned(), became, curated));
        }
        archive
    }

    fn leave_out(&mut self, code: &'static str, what: &str, names: &[String], became: &'static str) {
        if !names.is_empty() {
            let more = if names.len() > NAMED { ", ..." } else { "" };
            let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            self.left_out.push((code, format!("{what} ({named}{more})"), became, names.len()));
        }
    }
}

/// Returns the state of each document for each annotator.
fn states(project: &Value) -> HashMap<(String, String), String> {
    let documents = project.get("annotation_documents").and_then(Value::as_array);
    let entry = |entry: &Value| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(((text("name")?, text("user")?), text("state")?))
    };
    documents.into_iter().flatten().filter_map(entry).collect()
}

impl Unfold for Archive {
    fn unfold(&self, part: &Part, items: &mut Items) {
        let Some(holds) = self.readable.get(&part.name) else {
            // The description of the project comes first, and reports what is left out.
            for (code, what, became, count) in &self.left_out {
                items.add_findings(*count, code, what.clone(), *became);
            }
            return;
        };
        let place = part.name.clone();
        match holds {
            Holds::Source { document } => items.push(Item {
                place,
                text_id: Some(document.clone()),
                data: vec![("text".to_owned(), part.text().to_owned())],
                ..Item::default()
            }),
            Holds::Annotations { document, user } => {
                let item = Item {
                    place,
                    text_id: Some(document.clone()),
                    annotator: Some(user.clone()),
                    ..Item::default()
                };
                let read = match part.name.rsplit_once('.') {
                    Some((_, "xmi")) => xmi::read_document,
                    Some((_, "json")) => cas_json::read_document,
                    _ => webanno_tsv::read_document,
                };
                read(part.text(), item, items);
            }
        }
    }

    fn without_annotator(&self) -> &'static str {
        "it has no annotations of anybody that can be read"
    }
}
