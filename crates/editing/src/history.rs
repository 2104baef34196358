//! The project's log in words: who did what, when, and in which copy.

use super::Project;
use dissensus_api::{HistoryEntry, HistoryPage, HistoryRequest};
use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, EventKind, FIRST_OCCASION, FactKind, JobKind, LabelSource, LevelId,
    Levels, MarkKind, MaskRules, Note, PacketId, Question, QuestionId, WordingId, WorkState,
};
use dissensus_project::clock::local_moment;
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_project::pseudonyms::Pseudonyms;
use dissensus_project::words::counted;
use dissensus_store::{CopyOrigin, Done, HistoryEntry as Row, HistoryFilter, HistoryPlace, Store};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Number of characters of a text in an entry.
const SNIPPET: usize = 100;
/// Maximum number of entries in a page.
const MAX_ENTRIES: u32 = 1_000;

/// A page of the log, newest first. Nothing older than the page is read into memory.
///
/// # Errors
/// The file cannot be read, `after` is not a cursor of the log, or this is a task packet: its log could
/// reveal right answers before they are asked for.
pub fn read(cx: &Project, request: &HistoryRequest) -> Result<HistoryPage, ProjectError> {
    cx.context.whole_project()?;
    let (store, index) = (&cx.context.store, cx.context.index());
    let after = request.after.as_deref().map(place_from).transpose()?;
    let limit = request.limit.clamp(1, MAX_ENTRIES);
    let words = Some(request.words.trim()).filter(|words| !words.is_empty());
    let people = match words {
        Some(words) if !request.hide_names => named_like(&index, words),
        _ => Vec::new(),
    };
    let filter = HistoryFilter {
        kinds: request.kinds.clone(),
        annotator: request.annotator,
        text: request.text,
        question: request.question,
        since_ms: request.since.map(|at| at as i64),
        until_ms: request.until.map(|at| at as i64),
        words: words.map(str::to_owned),
        people,
        signed: !request.hide_names,
        reader: request.reader,
    };
    let mut rows = store.log(&filter, after, limit + 1)?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let teller = Describer::new(cx, index, request)?;
    let entries = rows.into_iter().map(|row| teller.entry(row)).collect::<Result<_, _>>()?;
    Ok(HistoryPage { entries, more })
}

/// People whose name or id contains these words.
fn named_like(index: &Index, words: &str) -> Vec<AnnotatorId> {
    let words = words.to_lowercase();
    let holds = |name: &str| name.to_lowercase().contains(&words);
    index.annotators().iter().filter(|a| holds(&a.name) || holds(&a.external_id)).map(|a| a.id).collect()
}

fn place_from(written: &str) -> Result<HistoryPlace, ProjectError> {
    let read = || -> Option<HistoryPlace> {
        let [at_ms, source, row]: [&str; 3] = written.split(':').collect::<Vec<_>>().try_into().ok()?;
        Some(HistoryPlace {
            at_ms: at_ms.parse().ok()?,
            source: source.parse().ok()?,
            row: row.parse().ok()?,
        })
    };
    read().ok_or_else(|| ProjectError::Internal(format!("\"{written}\" is no place of the log")))
}

fn place(of: HistoryPlace) -> String {
    format!("{}:{}:{}", of.at_ms, of.source, of.row)
}

/// Converts rows into words.
struct Describer<'a> {
    store: &'a Store,
    index: Arc<Index>,
    /// Pseudonyms, if names are hidden.
    pseudonyms: Option<Pseudonyms>,
    origins: BTreeMap<CopyId, CopyOrigin>,
    /// The owners of packets.
    packets: HashMap<PacketId, AnnotatorId>,
    reader: Option<AnnotatorId>,
    wordings: HashMap<WordingId, u32>,
}

impl<'a> Describer<'a> {
    fn new(project: &'a Project, index: Arc<Index>, request: &HistoryRequest) -> Result<Self, ProjectError> {
        let store = &project.context.store;
        Ok(Self {
            store,
            pseudonyms: request.hide_names.then(|| Pseudonyms::new(&project.context)).transpose()?,
            origins: store.copy_origins()?,
            packets: store.packet_holders()?.into_iter().collect(),
            reader: request.reader,
            wordings: store.wording_numbers()?,
            index,
        })
    }

    fn entry(&self, row: Row) -> Result<HistoryEntry, ProjectError> {
        let withheld = self.is_withheld(&row)?;
        let question = row.question.and_then(|id| self.index.question(id));
        let text = row.text.map(|id| self.store.text(id)).transpose()?.flatten();
        let (what, note) = self.words(&row.what, question, withheld);
        let (at, at_ms) = (row.place.at_ms as f64, row.place.at_ms);
        Ok(HistoryEntry {
            place: place(row.place),
            at,
            time: if at_ms == 0 { "not known".to_owned() } else { local_moment(at) },
            kind: row.kind,
            who: row.annotator.map_or_else(|| self.signed(&row.by), |id| self.name(id)),
            annotator: row.annotator.filter(|_| self.pseudonyms.is_none()),
            question: question.map(|question| question.name.clone()),
            text: row.text,
            text_id: text.as_ref().map(|text| text.external_id.clone()),
            snippet: text.map(|text| snippet(&text.body)),
            what,
            note: note.filter(|note| !note.is_empty()),
            copy: row.copy.map(|copy| self.copy(copy)),
            wording: match &row.what {
                Done::Event { event, .. } => event.wording,
                _ => None,
            }
            .and_then(|id| self.wordings.get(&id).copied()),
            withheld,
        })
    }

    /// Whether it reveals another person's view of a text that the reader has not answered.
    fn is_withheld(&self, row: &Row) -> Result<bool, ProjectError> {
        let (Some(reader), Some(question), Some(text)) = (self.reader, row.question, row.text) else {
            return Ok(false);
        };
        if row.annotator == Some(reader) {
            return Ok(false);
        }
        let labels = self.store.current_labels_on(text, question)?;
        Ok(!labels.iter().any(|label| label.annotator == reader))
    }

    fn name(&self, id: AnnotatorId) -> String {
        match &self.pseudonyms {
            Some(pseudonyms) => {
                pseudonyms.number(id).map_or_else(|_| "somebody".to_owned(), Pseudonyms::name)
            }
            None => {
                let row = self.index.annotator_row(id).map(|row| &self.index.annotators()[row as usize]);
                row.map_or_else(String::new, |person| person.name.clone())
            }
        }
    }

    /// The displayed name of an author.
    fn signed(&self, name: &str) -> String {
        match (&self.pseudonyms, name) {
            (_, "") => String::new(),
            (None, name) => name.to_owned(),
            (Some(_), name) => {
                self.index.annotator_named(name).map_or_else(|| "somebody".to_owned(), |a| self.name(a.id))
            }
        }
    }

    fn copy(&self, copy: CopyId) -> String {
        match self.origins.get(&copy) {
            None | Some(CopyOrigin::Here) => "this copy".to_owned(),
            Some(CopyOrigin::Elsewhere) => {
                let id = copy.0.simple().to_string();
                format!("another copy ({})", &id[id.len() - 4..])
            }
            Some(CopyOrigin::Packet(packet)) => match self.packets.get(packet) {
                Some(person) => format!("copy of {}", self.name(*person)),
                None => "copy of a packet".to_owned(),
            },
        }
    }

    /// What was done, and the text written with it.
    fn words(&self, done: &Done, question: Option<&Question>, withheld: bool) -> (String, Option<String>) {
        let name = |answer: &Answer| answer_name(question, answer, withheld);
        let written = |words: &str| Some(words.to_owned()).filter(|_| !withheld);
        match done {
            Done::Event { event, before } => event_words(event, before.as_ref(), &name, withheld),
            // The outcome would reveal that people differ, or that a label was a slip.
            Done::Decision { .. } if withheld => ("decided about it".to_owned(), None),
            Done::Decision { outcome, answer, comment } => {
                let decided = answer.as_ref().map(|a| format!(": {}", name(a))).unwrap_or_default();
                (format!("decided: {}{decided}", outcome.replace('-', " ")), written(comment))
            }
            Done::Guideline { change } => {
                ("wrote a version of the guideline".to_owned(), Some(change.clone()))
            }
            Done::LevelNames { names } => (format!("named its levels {}", names.join(", ")), None),
            Done::Condition { other, levels } => (self.condition(*other, levels), None),
            Done::RemarkForm { reasons, confidence } => (form_words(reasons, *confidence), None),
            Done::Person { attribute, value } => (self.person(attribute.as_deref(), value), None),
            Done::HandedOut { texts } => {
                (format!("was handed out a packet of {}", counted((*texts).into(), "text")), None)
            }
            Done::HandedIn { answers } => {
                (format!("handed in {}", counted((*answers).into(), "answer")), None)
            }
            Done::Check { answer: Some(answer), reason } => {
                (format!("is an attention check: {}", name(answer)), written(reason))
            }
            Done::Check { answer: None, .. } => ("is no attention check any more".to_owned(), None),
            Done::Panel { name, kept: true } => (format!("saved the panel {name}"), None),
            Done::Panel { name, kept: false } => (format!("deleted the saved panel {name}"), None),
            Done::Job { kind, title, state, note } => match self.pseudonyms {
                // Its subject, and the reason of a failure, may contain names.
                Some(_) => (format!("{}: {state}", job_words(kind, "")), None),
                // For finished work the note is only the last step that it reported.
                None => {
                    let why = note.clone().filter(|_| state == WorkState::Failed.name());
                    (format!("{}: {state}", job_words(kind, title)), why)
                }
            },
            Done::Run { number, state } => (format!("training run {number}: {state}"), None),
            Done::Evaluation { kind, state } => (format!("{kind}: {state}"), None),
            Done::Fact { name: kind, value } => (self.fact(kind, value, question, withheld, &name), None),
            Done::Withdrawal => ("somebody withdrew, and everything of theirs was erased".to_owned(), None),
        }
    }

    fn condition(&self, other: QuestionId, levels: &[LevelId]) -> String {
        let Some(other) = self.index.question(other) else {
            return "is asked under another condition".to_owned();
        };
        if levels.is_empty() {
            return "is always asked".to_owned();
        }
        let mut levels = levels.to_vec();
        levels.sort_by_key(|level| other.scale.index_of_id(*level).unwrap_or(u16::MAX));
        let name = |level: &LevelId| other.scale.name_of(*level).unwrap_or("?").to_owned();
        let names: Vec<String> = levels.iter().map(name).collect();
        format!("is asked where {} is {}", other.name, names.join(" or "))
    }

    /// Describes a fact. Values and notes may contain names.
    fn fact(
        &self,
        name: &str,
        value: &serde_json::Value,
        question: Option<&Question>,
        withheld: bool,
        answer: &dyn Fn(&Answer) -> String,
    ) -> String {
        if let (Ok(FactKind::Levels), Ok(levels)) =
            (name.parse(), serde_json::from_value::<Levels>(value.clone()))
        {
            let names: Vec<String> = levels.levels.into_iter().map(|level| level.name).collect();
            return format!("has the levels {}", names.join(", "));
        }
        if let (Ok(FactKind::Harmful), Some(question), Some(level)) =
            (name.parse(), question, value.as_u64().and_then(|level| u16::try_from(level).ok()))
        {
            return format!(
                "harmful: {}",
                question.scale.name_of(LevelId(level)).unwrap_or("a removed level")
            );
        }
        if let (Ok(FactKind::MaskRules), Ok(rules)) =
            (name.parse(), serde_json::from_value::<MaskRules>(value.clone()))
        {
            let on = counted(rules.on.len() as u64, "rule");
            return format!("texts that are handed out are masked by {on}");
        }
        let name = name.parse().map_or_else(|_| name.replace('-', " "), |kind| fact_words(kind).to_owned());
        match value {
            serde_json::Value::Null => format!("{name}: no longer"),
            _ if withheld || self.pseudonyms.is_some() => name,
            serde_json::Value::String(words) => format!("{name}: {}", snippet(words)),
            value => format!("{name}: {}", snippet(&value_words(value, answer))),
        }
    }

    fn person(&self, attribute: Option<&str>, value: &str) -> String {
        let hidden = self.pseudonyms.is_some();
        match (attribute, value) {
            (None, _) if hidden => "has another name".to_owned(),
            (None, name) => format!("is called {name}"),
            (Some(attribute), "") => format!("{attribute} is not known any more"),
            (Some(attribute), _) if hidden => format!("{attribute} was set"),
            (Some(attribute), value) => format!("{attribute} is {value}"),
        }
    }
}

/// The name of a kind of fact in words.
fn fact_words(kind: FactKind) -> &'static str {
    match kind {
        FactKind::Reveal => "reveal",
        FactKind::Language => "language",
        FactKind::Shown => "shown",
        FactKind::AttributeForm => "attribute form",
        FactKind::FormAnswers => "form answers",
        FactKind::PracticeText => "practice text",
        FactKind::PracticeRule => "practice rule",
        FactKind::PracticeAnswer => "practice answer",
        FactKind::PracticeAgain => "practice again",
        FactKind::CheckRule => "check rule",
        FactKind::Prompt => "prompt",
        FactKind::Help => "help",
        FactKind::Levels => "levels",
        FactKind::Consent => "consent text",
        FactKind::ConsentGiven => "agreement to the consent text",
        FactKind::Care => "care",
        FactKind::Harmful => "harmful",
        FactKind::LeftOut => "left out",
        FactKind::CannotSay => "cannot say",
        FactKind::LevelNames => "level names",
        FactKind::Condition => "condition",
        FactKind::RemarkForm => "note form",
        FactKind::AnnotatorName => "annotator name",
        FactKind::AnnotatorAttribute => "annotator attribute",
        FactKind::Decision => "decision",
        FactKind::AttentionCheck => "attention check",
        FactKind::Panel => "panel",
        FactKind::JoinPage => "join page",
        FactKind::MaskRules => "mask rules",
        FactKind::PacketMasks => "packet masks",
        FactKind::HandIn => "hand in",
        FactKind::Withdrawal => "withdrawal",
        FactKind::WithdrawnName => "withdrawn name",
        FactKind::WithdrawnPacket => "withdrawn packet",
    }
}

/// Describes a job of this kind and title. A kind that only a later version knows is described by its name.
fn job_words(kind: &str, title: &str) -> String {
    let Ok(known) = kind.parse() else { return format!("{kind} {title}").trim().to_owned() };
    let (doing, titled) = match known {
        JobKind::Compare => ("comparing two groups of people", None),
        JobKind::Copy => ("copying the project", Some(format!("copying the project to {title}"))),
        JobKind::Correlate => ("comparing questions", None),
        JobKind::Encode => ("encoding the texts", Some(format!("encoding the texts with {title}"))),
        JobKind::Encoders => ("comparing encoders", Some(format!("comparing encoders: {title}"))),
        JobKind::Evaluate => ("measuring", Some(format!("measuring {title}"))),
        JobKind::Export => ("exporting", Some(format!("exporting to {title}"))),
        JobKind::HandOut => ("handing out", Some(format!("handing out {title}"))),
        JobKind::Import => ("importing", Some(format!("importing {title}"))),
        JobKind::LongTexts => ("measuring how long texts are", None),
        JobKind::Merge => ("merging", Some(format!("merging {title}"))),
        JobKind::Panel => ("asking a panel", None),
        JobKind::Plan => ("planning the study", None),
        JobKind::Mask => ("looking for what to mask", None),
        JobKind::Remove => ("removing", Some(format!("removing {title}"))),
        JobKind::Report => ("writing a report", Some(format!("writing a report to {title}"))),
        JobKind::Train => ("training", Some(format!("training {title}"))),
        JobKind::WhoDiffers => ("working out who differs", None),
        JobKind::WordModel => ("reading the words", Some(format!("reading the words of {title}"))),
        JobKind::Words => ("leaving out words of a text", None),
    };
    titled.filter(|_| !title.is_empty()).unwrap_or_else(|| doing.to_owned())
}

fn answer_name(question: Option<&Question>, answer: &Answer, withheld: bool) -> String {
    if withheld {
        return "(shown once you have answered)".to_owned();
    }
    let named = question.and_then(|question| question.scale.name_of_answer(answer));
    named.map_or_else(|| "?".to_owned(), std::borrow::Cow::into_owned)
}

fn event_words(
    event: &Event,
    before: Option<&Answer>,
    name: &dyn Fn(&Answer) -> String,
    withheld: bool,
) -> (String, Option<String>) {
    let again = event.occasion > FIRST_OCCASION;
    let did = match (&event.kind, before) {
        (EventKind::Answer { answer, .. }, _) if again => {
            format!("answered again ({}): {}", nth(event.occasion), name(answer))
        }
        (EventKind::Retraction { .. }, Some(before)) if again => {
            format!("took back the {} answer: {}", nth(event.occasion), name(before))
        }
        (EventKind::Mark(MarkKind::Note), _) if again => {
            format!("wrote a note on the {} answer", nth(event.occasion))
        }
        (EventKind::Answer { .. }, _) if withheld => "answered".to_owned(),
        (EventKind::Answer { answer, .. }, None) => format!("answered {}", name(answer)),
        (EventKind::Answer { answer, .. }, Some(before)) => {
            format!("changed {} to {}", name(before), name(answer))
        }
        (EventKind::Retraction { .. }, Some(before)) if !withheld => format!("took back {}", name(before)),
        (EventKind::Retraction { .. }, _) => "took an answer back".to_owned(),
        (EventKind::Mark(mark), _) => mark_words(*mark).to_owned(),
    };
    let did = match event.source {
        LabelSource::Import => format!("{did} (from a file)"),
        LabelSource::Simulated => format!("{did} (simulated)"),
        LabelSource::Window | LabelSource::Command => did,
    };
    if withheld {
        return (did, None);
    }
    let Note { note, reasons, confidence } = &event.note;
    let mut details: Vec<String> = note.iter().cloned().collect();
    if !reasons.is_empty() {
        details.push(format!("reasons: {}", reasons.join("; ")));
    }
    details.extend(confidence.map(|sure| format!("sure: {sure} of 5")));
    (did, Some(details.join(" · ")))
}

/// Formats a value for reading, rather than as it is stored.
fn value_words(value: &Value, answer: &dyn Fn(&Answer) -> String) -> String {
    if let Ok(given) = serde_json::from_value::<Answer>(value.clone())
        && value.is_object()
    {
        return answer(&given);
    }
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(words) => words.is_empty(),
        Value::Array(all) => all.is_empty(),
        _ => false,
    };
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(words) => words.clone(),
        Value::Array(all) => all.iter().map(|one| value_words(one, answer)).collect::<Vec<_>>().join(", "),
        Value::Object(parts) if parts.values().all(empty) => "nothing".to_owned(),
        Value::Object(parts) => {
            let part = |(name, value): (&String, &Value)| {
                format!("{} {}", name.replace(['_', '-'], " "), value_words(value, answer))
            };
            let filled = parts.iter().filter(|(_, value)| !empty(value));
            filled.map(part).collect::<Vec<_>>().join("; ")
        }
    }
}

fn mark_words(mark: MarkKind) -> &'static str {
    match mark {
        MarkKind::Skip => "skipped",
        MarkKind::Unskip => "took the skip off",
        MarkKind::Flag => "flagged",
        MarkKind::Unflag => "took the flag off",
        MarkKind::Note => "wrote a note on the answer",
    }
}

fn form_words(reasons: &[String], confidence: bool) -> String {
    let named = reasons.join("; ");
    match (reasons.is_empty(), confidence) {
        (true, false) => "offers no reasons".to_owned(),
        (true, true) => "offers no reasons, and asks how sure people are".to_owned(),
        (false, false) => format!("offers the reasons {named}"),
        (false, true) => format!("offers the reasons {named}, and asks how sure people are"),
    }
}

/// Ordinal of an annotation round.
fn nth(occasion: u16) -> String {
    match occasion {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        n => format!("{n}th"),
    }
}

fn snippet(body: &str) -> String {
    let mut characters = body.chars();
    let mut found: String =
        characters.by_ref().take(SNIPPET).map(|c| if c == '\n' { ' ' } else { c }).collect();
    if characters.next().is_some() {
        found.push('…');
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use strum::VariantArray;

    #[test]
    fn jobs_are_described() {
        for kind in JobKind::VARIANTS {
            let (short, titled) = (job_words(kind.name(), ""), job_words(kind.name(), "study.csv"));
            assert!(titled.starts_with(&short) && short.contains("ing"), "{short} {titled}");
            for words in [&short, &titled] {
                assert!(!words.contains("  ") && words.trim() == words && !words.contains('_'), "{words:?}");
            }
        }
        assert_eq!(job_words("plan", ""), "planning the study");
        assert_eq!(job_words("who", "who differs"), "working out who differs");
        assert_eq!(job_words("import", "a.csv"), "importing a.csv");
        assert_eq!(job_words("of a later version", ""), "of a later version");
    }

    #[test]
    fn stored_values_are_described() {
        let answer = |answer: &Answer| format!("the answer {}", answer.level().map_or(99, |level| level.0));
        let words = |value: Value| value_words(&value, &answer);
        assert_eq!(
            words(json!({ "text": "Judge the words.", "low": "mild", "high": "" })),
            "low mild; text Judge the words."
        );
        assert_eq!(words(json!({ "text": "", "low": "" })), "nothing");
        assert_eq!(words(json!(true)), "yes");
        assert_eq!(
            words(json!({ "pass": 0.8, "within": 1, "then": "go-on" })),
            "pass 0.8; then go-on; within 1"
        );
        let right = serde_json::to_value(Answer::from_level(2)).unwrap();
        assert_eq!(words(json!({ "answer": right, "reason": "" })), "answer the answer 2");
    }
}
