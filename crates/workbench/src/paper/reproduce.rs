//! What it takes to make a report again: versions, seeds, hashes and commands.

use super::work::{Asked, Work, quoted};
use crate::clock::local_moment;
use crate::error::WorkbenchError;
use dissensus_domain::EventId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Name of the file. A folder that has one, and nothing that it does not name, is a report of ours.
pub(super) const NAME: &str = "reproduce.json";
/// The format of a report.
const FORMAT: u32 = 1;
/// Events that are read at once.
const PAGE: u32 = 20_000;

/// What is written.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reproduce {
    /// What this file is.
    kind: String,
    /// Its format.
    format: u32,
    program: String,
    version: String,
    made_at: String,
    options: Options,
    project: ProjectState,
    /// None without embeddings.
    encoder: Option<EncoderState>,
    seeds: Seeds,
    commands: Vec<String>,
    /// Every other file of the report.
    files: Vec<FileSum>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Options {
    evaluate: bool,
    quote_texts: bool,
    with_ids: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct ProjectState {
    file: String,
    /// Shared by all copies of the project.
    id: String,
    texts: u32,
    people: u32,
    labels: u32,
    events: u32,
    /// SHA-256 over the identities of all events in their order, which copies with the same work share.
    events_sha256: String,
    questions: Vec<QuestionState>,
}

#[derive(Debug, Serialize, Deserialize)]
struct QuestionState {
    name: String,
    labels: usize,
    /// SHA-256 of the current labels by their rows in this file, as runs record it.
    labels_sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct EncoderState {
    version: String,
    name: String,
    weights_sha256: String,
    pooling: String,
    precision: String,
    max_tokens: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Seeds {
    bootstrap: u64,
    bootstrap_resamples: u64,
    evaluation: u64,
    plan: String,
}

/// A file of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FileSum {
    /// Its path in the folder, with `/`.
    pub(super) name: String,
    pub(super) sha256: String,
}

impl Reproduce {
    /// Of the report that has these files.
    ///
    /// # Errors
    /// The project cannot be read.
    pub(super) fn of(work: &Work<'_>, asked: &[Asked], files: Vec<FileSum>) -> Result<Self, WorkbenchError> {
        let (context, wish) = (&work.of.context, work.wish);
        let store = &context.store;
        let counts = store.counts()?;
        let mut questions = Vec::new();
        for one in asked {
            questions.push(QuestionState {
                name: one.question.name.clone(),
                labels: one.labels.len(),
                labels_sha256: work.of.runs.labels_sha256(one.question.id)?,
            });
        }
        let file =
            store.path().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self {
            kind: "dissensus-report".to_owned(),
            format: FORMAT,
            program: "dissensus".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            made_at: local_moment(crate::clock::now_ms() as f64),
            options: Options {
                evaluate: wish.evaluate,
                quote_texts: wish.quote_texts,
                with_ids: wish.with_ids,
            },
            commands: commands(&file, work, asked),
            project: ProjectState {
                file,
                id: store.project_id()?.to_string(),
                texts: counts.texts,
                people: counts.annotators,
                labels: counts.labels,
                events: counts.events,
                events_sha256: events_sha256(work)?,
                questions,
            },
            encoder: encoder(work)?,
            seeds: Seeds {
                bootstrap: 0,
                bootstrap_resamples: 1000,
                evaluation: 0,
                plan: "0 and up, one for each simulated pilot".to_owned(),
            },
            files,
        })
    }

    /// Whether this folder is a report that an earlier call wrote, with nothing else in it.
    pub(super) fn is_whole_folder(dir: &Path) -> bool {
        let Ok(bytes) = std::fs::read(dir.join(NAME)) else { return false };
        let Ok(found) = serde_json::from_slice::<Self>(&bytes) else { return false };
        let known = |name: &str| name == NAME || found.files.iter().any(|file| file.name == name);
        found.kind == "dissensus-report"
            && super::files::names_in(dir).is_ok_and(|all| all.iter().all(|name| known(name)))
    }
}

fn events_sha256(work: &Work<'_>) -> Result<String, WorkbenchError> {
    let store = &work.of.context.store;
    let mut keys = Vec::new();
    let mut cursor = EventId(0);
    loop {
        let page = store.events_since(cursor, PAGE)?;
        let Some(last) = page.last() else { break };
        cursor = last.id;
        keys.extend(page.iter().map(|event| event.key));
    }
    // Rows are of this file; identities are those of every copy.
    keys.sort_unstable();
    let mut sum = Sha256::new();
    for key in keys {
        sum.update(format!("{}/{}\n", key.copy, key.sequence));
    }
    Ok(hex(&sum.finalize()))
}

fn encoder(work: &Work<'_>) -> Result<Option<EncoderState>, WorkbenchError> {
    let Some(version) = work.of.encoding.state()?.version else { return Ok(None) };
    let all = work.of.context.store.encoder_versions()?;
    let found = all.into_iter().find(|one| one.key == version);
    Ok(found.map(|one| EncoderState {
        version: without_folder(&one.key),
        name: without_folder(&one.name),
        weights_sha256: one.weights_sha256,
        pooling: one.pooling,
        precision: one.precision,
        max_tokens: one.max_tokens,
    }))
}

/// An encoder may be named by a folder of somebody's computer, which is nobody else's.
fn without_folder(name: &str) -> String {
    match Path::new(name).is_absolute() {
        true => name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
        false => name.to_owned(),
    }
}

fn commands(file: &str, work: &Work<'_>, asked: &[Asked]) -> Vec<String> {
    let project = quoted(file);
    let wish = work.wish;
    let flags = [
        (wish.evaluate, " --evaluate"),
        (wish.quote_texts, " --quote-texts"),
        (wish.with_ids, " --with-ids"),
    ];
    let flags: String = flags.iter().filter(|(on, _)| *on).map(|(_, flag)| *flag).collect();
    let mut commands = vec![format!("dissensus report {project} REPORT{flags}")];
    for one in asked {
        let question = one.quoted();
        commands.push(format!("dissensus agreement {project} --question {question} --json"));
        commands.push(format!("dissensus evaluate {project} --question {question} --seed 0 --json"));
    }
    commands
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
