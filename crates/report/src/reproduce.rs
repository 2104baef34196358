//! Reproducibility data of a report: versions, seeds, hashes and commands.

use super::sums::{FileSum, Listing, hex};
use super::work::{ReportQuestion, Work, quoted};
use dissensus_domain::EventId;
use dissensus_project::clock::local_moment;
use dissensus_project::error::ProjectError;
use dissensus_training::runs::sha256_of;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// A folder with this file, and no other files than those listed in it, is a report of ours.
pub(super) const LISTING: Listing = Listing { file: "reproduce.json", kind: "dissensus-report" };
/// The format of a report.
const FORMAT: u32 = 1;
/// Number of events that are read at once.
const PAGE: u32 = 20_000;

#[derive(Debug, Serialize)]
pub(super) struct Reproduce {
    /// Identifies the kind of file.
    kind: String,
    /// Version of the format.
    format: u32,
    program: String,
    version: String,
    made_at: String,
    options: Options,
    project: ProjectState,
    /// `None` without embeddings.
    encoder: Option<EncoderState>,
    seeds: Seeds,
    commands: Vec<String>,
    /// All other files of the report.
    files: Vec<FileSum>,
}

#[derive(Debug, Serialize)]
struct Options {
    evaluate: bool,
    quote_texts: bool,
    with_ids: bool,
}

#[derive(Debug, Serialize)]
struct ProjectState {
    file: String,
    /// Id shared by all copies of the project.
    id: String,
    texts: u32,
    people: u32,
    labels: u32,
    events: u32,
    /// SHA-256 over the identities of all events in their order, which is equal in copies with the same
    /// work.
    events_sha256: String,
    questions: Vec<QuestionState>,
}

#[derive(Debug, Serialize)]
struct QuestionState {
    name: String,
    labels: usize,
    /// SHA-256 of these labels by their rows in this file, as recorded by runs.
    labels_sha256: String,
}

#[derive(Debug, Serialize)]
struct EncoderState {
    version: String,
    name: String,
    weights_sha256: String,
    pooling: String,
    precision: String,
    max_tokens: u32,
}

#[derive(Debug, Serialize)]
struct Seeds {
    bootstrap: u64,
    bootstrap_resamples: u64,
    evaluation: u64,
    plan: String,
}

impl Reproduce {
    /// Describes the report with these files.
    pub(super) fn new(
        work: &Work<'_>,
        asked: &[ReportQuestion],
        files: Vec<FileSum>,
    ) -> Result<Self, ProjectError> {
        let (context, request) = (&work.of.context, work.request);
        let store = &context.store;
        let counts = store.counts()?;
        let mut questions = Vec::new();
        for one in asked {
            questions.push(QuestionState {
                name: one.question.name.clone(),
                labels: one.labels.len(),
                labels_sha256: sha256_of(one.labels.clone()),
            });
        }
        let file =
            store.path().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self {
            kind: LISTING.kind.to_owned(),
            format: FORMAT,
            program: "dissensus".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            made_at: local_moment(dissensus_project::clock::now_ms() as f64),
            options: Options {
                evaluate: request.evaluate,
                quote_texts: request.quote_texts,
                with_ids: request.with_ids,
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
}

fn events_sha256(work: &Work<'_>) -> Result<String, ProjectError> {
    let store = &work.of.context.store;
    let mut keys = Vec::new();
    let mut cursor = EventId(0);
    loop {
        let page = store.events_since(cursor, PAGE)?;
        let Some(last) = page.last() else { break };
        cursor = last.id;
        keys.extend(page.iter().map(|event| event.key));
    }
    // Rows are specific to this file; identities are common to all copies.
    keys.sort_unstable();
    let mut sum = Sha256::new();
    for key in keys {
        sum.update(format!("{}/{}\n", key.copy, key.sequence));
    }
    Ok(hex(&sum.finalize()))
}

fn encoder(work: &Work<'_>) -> Result<Option<EncoderState>, ProjectError> {
    let Some(version) = work.of.encoding.state()?.version else { return Ok(None) };
    let all = work.of.context.store.encoder_versions()?;
    let found = all.into_iter().find(|one| one.key == version);
    Ok(found.map(|one| EncoderState {
        version: without_folders(&one.key),
        name: without_folders(&one.name),
        weights_sha256: one.weights_sha256,
        pooling: one.pooling,
        precision: one.precision,
        max_tokens: one.max_tokens,
    }))
}

/// Name or version of an encoder without its folders, which belong to one computer and may contain a
/// person's name. In a version the name is followed by 12 digits of its weights' checksum, or by `adopted`.
pub(super) fn without_folders(key: &str) -> String {
    let is_drive = key.as_bytes().get(1) == Some(&b':');
    if !(key.starts_with(['/', '\\']) || is_drive) {
        return key.to_owned();
    }
    let parts: Vec<&str> = key.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let is_sum = |part: &str| part.len() == 12 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = parts.iter().rposition(|part| is_sum(part) || *part == "adopted").unwrap_or(parts.len());
    parts[version.saturating_sub(1)..].join("/")
}

fn commands(file: &str, work: &Work<'_>, asked: &[ReportQuestion]) -> Vec<String> {
    let project = quoted(file);
    let request = work.request;
    let flags = [
        (request.evaluate, " --evaluate"),
        (request.quote_texts, " --quote-texts"),
        (request.with_ids, " --with-ids"),
    ];
    let flags: String = flags.iter().filter(|(on, _)| *on).map(|(_, flag)| *flag).collect();
    let mut commands = vec![format!("dissensus report {project} REPORT{flags}")];
    for one in asked {
        let question = one.quoted();
        commands.push(format!("dissensus analyse agreement {project} --question {question} --json"));
        commands.push(format!("dissensus models evaluate {project} --question {question} --seed 0 --json"));
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::without_folders;

    #[test]
    fn encoder_is_named_without_local_folders() {
        for (key, shown) in [
            (
                "all-MiniLM-L6-v2/53aa51172d14/mean/256/windows",
                "all-MiniLM-L6-v2/53aa51172d14/mean/256/windows",
            ),
            ("org/model/53aa51172d14/mean/256", "org/model/53aa51172d14/mean/256"),
            ("/home/maria/enc/53aa51172d14/mean/256", "enc/53aa51172d14/mean/256"),
            ("C:\\Users\\maria\\enc/53aa51172d14/mean/256", "enc/53aa51172d14/mean/256"),
            ("/home/maria/enc/adopted/mean/384", "enc/adopted/mean/384"),
            ("/home/maria/enc", "enc"),
            ("org/model", "org/model"),
        ] {
            assert_eq!(without_folders(key), shown, "{key}");
        }
    }
}
