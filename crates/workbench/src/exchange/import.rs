//! Import: looked at in one pass that changes nothing, then written in one transaction.

use crate::clock::now_ms;
use crate::core::Core;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::jobs::{Activity, Observer};
use crate::levels::answer_at;
use crate::session::{Session, checked_name};
use crate::view::{BadRow, ColumnChoices, ImportChoices, ImportPreview, ImportReport};
use dissensus_domain::{AnnotatorId, LabelSource, Question, QuestionId, Scale, TextId};
use dissensus_exchange::{
    Checker, ColumnRoles, FileKind, LabelVerdict, RejectWriter, Row, RowError, RowErrorKind, Rows, Scan,
    Source, Verdict, guess_roles, read_rows, scan_while,
};
use dissensus_store::{
    ExportScope, LabelAppender, NewAnnotator, NewLabel, NewQuestion, NewText, StoreError, WriteTx,
};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// Bad rows a preview shows and an error lists.
const SHOWN_BAD_ROWS: usize = 100;
const LISTED_BAD_ROWS: usize = 10;
/// Ids remembered while writing; more are looked up in the project.
const REMEMBERED_IDS: usize = 200_000;
/// Rows (or bytes of them) that go from the reading to the writing thread at once, and how many such batches may wait.
const BATCH_ROWS: usize = 512;
const BATCH_BYTES: usize = 1 << 20;
const BATCHES_AHEAD: usize = 4;

/// Everything known of a file before anything is written.
struct Plan {
    source: Source,
    roles: ColumnRoles,
    kind: FileKind,
    /// One pass over the file as if it asked one question.
    overall: Scan,
    /// The question of the project that the labels are read as answers to.
    known: Option<String>,
    parts: Vec<Part>,
    bad: BTreeMap<u64, RowError>,
    bad_count: u64,
}

/// The labels of one question in a file.
#[derive(Clone)]
struct Part {
    name: String,
    prompt: String,
    existing: Option<QuestionId>,
    scale: Scale,
    labels: u64,
    repeated: u64,
    level_counts: Vec<u32>,
}

/// A question that labels answer, before they are read.
struct Asked {
    name: String,
    existing: Option<Question>,
    scale: Option<Scale>,
}

impl Session {
    /// The roles that the columns of a file most likely have.
    ///
    /// # Errors
    /// The file cannot be read as a table.
    pub fn guess_columns(&self, path: &Path) -> Result<ColumnChoices, WorkbenchError> {
        let source = Source::open(path)?;
        Ok(choices_of(&guess_roles(&source)?))
    }

    /// What importing a file would do. Nothing is written.
    ///
    /// # Errors
    /// The file cannot be read at all. Columns that do not fit and labels that make no scale are told in
    /// [`ImportPreview::problem`], so that they can be chosen differently.
    pub fn import_preview(
        &self,
        path: &Path,
        choices: &ImportChoices,
    ) -> Result<ImportPreview, WorkbenchError> {
        let source = Source::open(path)?;
        let roles = roles_for(&source, choices.columns.as_ref())?;
        match self.core.plan(source.clone(), roles.clone(), choices, &crate::jobs::Unwatched) {
            Ok(plan) => Ok(preview_of(&plan)),
            Err(error @ WorkbenchError::Store(_)) => Err(error),
            Err(error) => self.core.preview_with_problem(&source, &roles, choices, &error),
        }
    }

    /// Imports a file: all of it or, with `skip_bad`, its good rows; or nothing where there is an error.
    ///
    /// # Errors
    /// The file or its columns, bad rows without `skip_bad`, a full disk, or a cancel. Nothing was imported then.
    pub fn import_file(
        &self,
        path: &Path,
        choices: &ImportChoices,
        observer: &Arc<dyn Observer>,
    ) -> Result<ImportReport, WorkbenchError> {
        let core = &self.core;
        let source = Source::open(path)?;
        let roles = roles_for(&source, choices.columns.as_ref())?;
        let plan = core.plan(source, roles, choices, observer.as_ref())?;
        if plan.bad_count > 0 && !choices.skip_bad {
            return Err(bad_rows(&plan, None));
        }
        let report = core.import(plan, observer)?;
        core.reload()?;
        core.skip_events()?;
        core.listeners.send(&Event::Project);
        Ok(report)
    }

    /// As [`Session::import_file`], as a job with progress and cancel; then encodes and fits in the background.
    ///
    /// # Errors
    /// As there, or an import is under way.
    pub fn import_as_job(
        &self,
        path: &Path,
        choices: &ImportChoices,
    ) -> Result<ImportReport, WorkbenchError> {
        let core = &self.core;
        let _reserved = core.reservations.reserve(Activity::Import)?;
        let title = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let result = core.as_job("import", &title, |job| {
            let observer: Arc<dyn Observer> = Arc::clone(job) as Arc<dyn Observer>;
            self.import_file(path, choices, &observer)
        });
        if result.is_ok() {
            self.start_background_work();
        }
        result
    }
}

impl Core {
    fn plan(
        &self,
        source: Source,
        roles: ColumnRoles,
        choices: &ImportChoices,
        observer: &dyn Observer,
    ) -> Result<Plan, WorkbenchError> {
        let kind = roles.kind(&source)?;
        let labels = kind == FileKind::Labels;
        let column = roles.label.clone().unwrap_or_default();
        // Where the file does not say what its labels answer, one pass with what is known of that question tells all.
        let one = match labels && (roles.question.is_none() || choices.question.is_some()) {
            true => Some(self.asked(choices.question.as_deref(), &column, choices)?),
            false => None,
        };
        let (scale, existing) = one.as_ref().map_or((None, None), |a| (a.scale.clone(), a.existing.as_ref()));
        let known = existing.map(|question| question.name.clone());
        let overall = self.scan(&source, &roles, self.checker(scale, existing)?, observer)?;
        let mut plan = Plan {
            overall,
            known,
            source,
            roles,
            kind,
            parts: Vec::new(),
            bad: BTreeMap::new(),
            bad_count: 0,
        };
        let (problems, count) = (std::mem::take(&mut plan.overall.problems), plan.overall.problem_count);
        plan.note_bad(problems, count);
        if let Some(asked) = one {
            // Without a scale, rows that were refused or are not there are the likelier cause, and are told first.
            let part = part(asked, &plan.overall, choices, &column);
            let part = part.map_err(|error| match (plan.overall.rows, plan.bad_count) {
                (0, _) => WorkbenchError::NoRows(plan.source.path().to_owned()),
                (_, 0) => error,
                _ => bad_rows(&plan, Some(error)),
            })?;
            plan.parts.push(part);
        } else if labels {
            let names: Vec<String> = plan.overall.questions.keys().cloned().collect();
            for name in names {
                let asked = self.asked(Some(&name), &column, choices)?;
                let checker = self.checker(asked.scale.clone(), asked.existing.as_ref())?.for_question(&name);
                let mut scan = self.scan(&plan.source, &plan.roles, checker, observer)?;
                plan.parts.push(part(asked, &scan, choices, &column)?);
                plan.note_bad(std::mem::take(&mut scan.problems), scan.problem_count);
            }
        }
        Ok(plan)
    }

    /// The question that labels answer, and its scale where that is known before the labels are read.
    fn asked(
        &self,
        name: Option<&str>,
        column: &str,
        choices: &ImportChoices,
    ) -> Result<Asked, WorkbenchError> {
        let (name, existing) = self.question_for(name, column)?;
        let scale = known_scale(existing.as_ref(), choices)?;
        Ok(Asked { name, existing, scale })
    }

    /// The name of the question and, where it exists, the question. A column with a general name, such as `label`, answers
    /// the only question of a project.
    fn question_for(
        &self,
        asked: Option<&str>,
        column: &str,
    ) -> Result<(String, Option<Question>), WorkbenchError> {
        let index = self.index();
        let find = |name: &str| index.questions().iter().find(|q| q.name == name).cloned();
        let general = ["label", "value", "rating", "score", "annotation", "answer"]
            .contains(&column.to_lowercase().as_str());
        match (asked, index.questions()) {
            (Some(name), _) => {
                let name = checked_name("question", name)?;
                let existing = find(&name);
                Ok((name, existing))
            }
            (None, [only]) if general && find(column).is_none() => {
                Ok((only.name.clone(), Some(only.clone())))
            }
            (None, _) => Ok((column.to_owned(), find(column))),
        }
    }

    /// A checker that knows what the project has.
    fn checker(&self, scale: Option<Scale>, question: Option<&Question>) -> Result<Checker, WorkbenchError> {
        let mut checker = Checker::new(scale);
        self.store.for_each_text(|text| {
            checker.seed_text(&text.external_id, &text.body);
            Ok::<(), StoreError>(())
        })?;
        for annotator in self.index().annotators() {
            checker.seed_annotator(&annotator.external_id, &annotator.attributes);
        }
        if let Some(question) = question {
            let mut taken_back = HashSet::new();
            self.store.for_each_label(question.id, ExportScope::History, |row| {
                taken_back.extend(row.event.retracts());
                Ok::<(), StoreError>(())
            })?;
            // Replaced labels count as known too: else the older of two rows would come in again and become current.
            self.store.for_each_label(question.id, ExportScope::History, |row| {
                if let Some(level) = row.level.filter(|_| !taken_back.contains(&row.event.id)) {
                    checker.seed_label(
                        &row.text.external_id,
                        &row.annotator.external_id,
                        level,
                        row.event.at_ms,
                    );
                }
                Ok::<(), StoreError>(())
            })?;
        }
        Ok(checker)
    }

    fn scan(
        &self,
        source: &Source,
        roles: &ColumnRoles,
        checker: Checker,
        observer: &dyn Observer,
    ) -> Result<Scan, WorkbenchError> {
        let scan = scan_while(source, roles, checker, |done| {
            observer.step(done, Some(source.bytes()), "checking the file");
            if observer.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        scan.map_err(|error| if observer.cancelled() { WorkbenchError::Cancelled } else { error.into() })
    }

    fn import(&self, plan: Plan, observer: &Arc<dyn Observer>) -> Result<ImportReport, WorkbenchError> {
        let rejected_file = (plan.bad_count > 0).then(|| free_name(plan.source.path()));
        let rejects = rejected_file.as_deref().map(RejectWriter::create).transpose()?;
        let mut checkers = Vec::new();
        for part in &plan.parts {
            let existing = part.existing.and_then(|id| self.index().question(id).cloned());
            let checker = self.checker(Some(part.scale.clone()), existing.as_ref())?;
            checkers.push(if plan.parts.len() > 1 { checker.for_question(&part.name) } else { checker });
        }
        if checkers.is_empty() {
            checkers.push(self.checker(None, None)?);
        }
        let writing = Writing {
            plan,
            rejects,
            report: ImportReport {
                texts: 0,
                annotators: 0,
                labels: 0,
                repeated_rows: 0,
                empty_labels: 0,
                rejected_rows: 0,
                rejected_file: rejected_file.map(|path| path.to_string_lossy().into_owned()),
                question: None,
                scale: None,
                remarks: Vec::new(),
            },
            refused: BTreeSet::new(),
            texts: HashMap::default(),
            annotators: HashMap::default(),
            now: now_ms(),
        };
        let observer = Arc::clone(observer);
        self.store.write(move |tx| writing.run(tx, checkers, observer.as_ref()))
    }

    /// What can be shown of a file whose columns or labels do not fit as chosen.
    fn preview_with_problem(
        &self,
        source: &Source,
        roles: &ColumnRoles,
        choices: &ImportChoices,
        error: &WorkbenchError,
    ) -> Result<ImportPreview, WorkbenchError> {
        // Every column as plain metadata of a text: whatever the roles are, the rows can be shown.
        let first = source.columns().first().cloned();
        let plain = ColumnRoles { text: first, ..ColumnRoles::default() };
        let seen = self.scan(source, &plain, Checker::new(None), &crate::jobs::Unwatched)?;
        let label = roles.label.clone().unwrap_or_default();
        let question = choices.question.clone().unwrap_or(label);
        Ok(ImportPreview {
            path: source.path().to_string_lossy().into_owned(),
            header: source.columns().to_vec(),
            rows: seen.sample,
            columns: choices_of(roles),
            prompt: prompt_for(choices, &question),
            question,
            scale: None,
            question_exists: false,
            total_rows: seen.rows as u32,
            new_texts: 0,
            new_annotators: 0,
            new_labels: 0,
            repeated_rows: 0,
            empty_labels: 0,
            level_counts: Vec::new(),
            bad_rows: Vec::new(),
            bad_row_count: 0,
            remarks: Vec::new(),
            problem: Some(error.problem()),
        })
    }
}

impl Plan {
    /// Adds bad rows. Several passes meet the same broken rows, so a row counts once.
    fn note_bad(&mut self, problems: Vec<RowError>, count: u64) {
        self.bad.extend(problems.into_iter().map(|problem| (problem.row, problem)));
        self.bad_count = self.bad_count.max(count).max(self.bad.len() as u64);
    }
}

/// The write of a plan, on the writing thread.
struct Writing {
    plan: Plan,
    rejects: Option<RejectWriter>,
    report: ImportReport,
    refused: BTreeSet<u64>,
    texts: HashMap<String, TextId, RandomState>,
    annotators: HashMap<String, AnnotatorId, RandomState>,
    now: i64,
}

impl Writing {
    fn run(
        mut self,
        tx: &mut WriteTx<'_>,
        checkers: Vec<Checker>,
        observer: &dyn Observer,
    ) -> Result<ImportReport, WorkbenchError> {
        let parts = self.plan.parts.clone();
        for (nth, mut checker) in checkers.into_iter().enumerate() {
            let asked = |part: &Part| question_row(tx, part).map(|id| (id, part.scale.clone()));
            let question = parts.get(nth).map(asked).transpose()?;
            self.pass(tx, &mut checker, question.as_ref(), nth == 0, observer)?;
        }
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        self.report.question = (!names.is_empty()).then(|| names.join(", "));
        self.report.scale = parts.first().map(|part| part.scale.clone());
        self.report.remarks = remarks(&self.plan);
        if let Some(rejects) = self.rejects.take() {
            rejects.finish()?;
        }
        Ok(self.report)
    }

    fn pass(
        &mut self,
        tx: &mut WriteTx<'_>,
        checker: &mut Checker,
        question: Option<&(QuestionId, Scale)>,
        first: bool,
        observer: &dyn Observer,
    ) -> Result<(), WorkbenchError> {
        let bytes = self.plan.source.bytes();
        let rows = read_rows(&self.plan.source, &self.plan.roles)?;
        let mut labels = tx.label_appender()?;
        // Reading and checking takes about as long as writing, so one thread does each; few batches are under way at once.
        std::thread::scope(|scope| {
            let (send, batches) = std::sync::mpsc::sync_channel::<Batch>(BATCHES_AHEAD);
            std::thread::Builder::new()
                .spawn_scoped(scope, move || read_batches(rows, checker, &send))
                .map_err(|_| WorkbenchError::NoThread)?;
            for batch in batches {
                observer.step(batch.position, Some(bytes), "writing");
                if observer.cancelled() {
                    return Err(WorkbenchError::Cancelled);
                }
                for item in batch.items {
                    match item {
                        Item::Good(row, verdict) => {
                            let mine = first || row.question.is_some();
                            if mine && verdict.label != LabelVerdict::OtherQuestion {
                                self.row(tx, &mut labels, &row, &verdict, question)?;
                            }
                        }
                        Item::Bad(error, raw) => self.refuse(&error, &raw)?,
                    }
                }
            }
            Ok(())
        })
    }

    fn row(
        &mut self,
        tx: &mut WriteTx<'_>,
        labels: &mut LabelAppender<'_>,
        row: &Row,
        verdict: &Verdict,
        question: Option<&(QuestionId, Scale)>,
    ) -> Result<(), WorkbenchError> {
        let text = row.text_id.as_deref().map(|id| self.text(tx, id, row)).transpose()?;
        let annotator = match row.annotator.as_deref() {
            Some(id) => Some(self.annotator(tx, id, row, verdict.new_attributes)?),
            None => None,
        };
        match (&verdict.label, question, text, annotator) {
            (
                LabelVerdict::Added { level: Some(level), .. },
                Some((question, scale)),
                Some(text),
                Some(annotator),
            ) => {
                let answer = answer_at(scale, *level).ok_or(WorkbenchError::NoQuestion)?;
                labels.append(&NewLabel {
                    question: *question,
                    text,
                    annotator,
                    answer,
                    at_ms: row.at_ms.unwrap_or(self.now),
                    duration_ms: row.duration_ms,
                    source: row.source.unwrap_or(LabelSource::Import),
                })?;
                self.report.labels += 1;
            }
            (LabelVerdict::Repeated { .. }, ..) => self.report.repeated_rows += 1,
            (LabelVerdict::None, Some(_), ..) => self.report.empty_labels += 1,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, tx: &mut WriteTx<'_>, external: &str, row: &Row) -> Result<TextId, WorkbenchError> {
        if let Some(id) = self.texts.get(external) {
            return Ok(*id);
        }
        let id = match (tx.text_by_external(external)?, &row.text) {
            (Some(id), _) => id,
            (None, None) => return Err(WorkbenchError::NoSuchText(external.to_owned())),
            (None, Some(body)) => {
                self.report.texts += 1;
                tx.add_text(&NewText {
                    external_id: external.to_owned(),
                    body: body.clone(),
                    group: row.group.clone(),
                    split: row.split.clone(),
                    metadata: row.metadata.clone(),
                })?
            }
        };
        if self.texts.len() < REMEMBERED_IDS {
            self.texts.insert(external.to_owned(), id);
        }
        Ok(id)
    }

    fn annotator(
        &mut self,
        tx: &mut WriteTx<'_>,
        external: &str,
        row: &Row,
        new_attributes: bool,
    ) -> Result<AnnotatorId, WorkbenchError> {
        let known = match self.annotators.get(external) {
            Some(id) => Some(*id),
            None => tx.annotator_by_external(external)?,
        };
        let id = match known {
            Some(id) => {
                if new_attributes {
                    let mut attributes = tx.attributes(id)?;
                    attributes.extend(row.attributes.clone());
                    tx.set_attributes(id, &attributes)?;
                }
                id
            }
            None => {
                self.report.annotators += 1;
                tx.add_annotator(&NewAnnotator {
                    external_id: external.to_owned(),
                    name: external.to_owned(),
                    attributes: row.attributes.clone(),
                    simulated: row.source == Some(LabelSource::Simulated),
                })?
            }
        };
        if self.annotators.len() < REMEMBERED_IDS {
            self.annotators.insert(external.to_owned(), id);
        }
        Ok(id)
    }

    fn refuse(&mut self, error: &RowError, raw: &[u8]) -> Result<(), WorkbenchError> {
        // The file was read whole a moment ago; what changed since then is not imported half.
        let Some(rejects) = self.rejects.as_mut().filter(|_| !error.is_fatal()) else {
            return Err(WorkbenchError::BadRows {
                count: 1,
                rows: error.row,
                listed: error.to_string(),
                rest: None,
            });
        };
        if self.refused.insert(error.row) {
            rejects.write(error, raw)?;
            self.report.rejected_rows += 1;
        }
        Ok(())
    }
}

/// Rows that were read and checked, and how far in the file they end.
struct Batch {
    items: Vec<Item>,
    position: u64,
}

enum Item {
    Good(Row, Verdict),
    Bad(RowError, Vec<u8>),
}

/// Reads until the end of the file, or until nobody takes the batches any more.
fn read_batches(mut rows: Rows, checker: &mut Checker, send: &SyncSender<Batch>) {
    loop {
        let mut items = Vec::with_capacity(BATCH_ROWS);
        let mut held = 0;
        while items.len() < BATCH_ROWS && held < BATCH_BYTES {
            let Some(read) = rows.next_checked(checker) else { break };
            held += rows.raw().len();
            items.push(match read {
                Ok((mut row, verdict)) => {
                    // Written with the row that brought it: the others need not carry it to the other thread.
                    if !verdict.new_text {
                        (row.text, row.group, row.split) = (None, None, None);
                        row.metadata.clear();
                    }
                    Item::Good(row, verdict)
                }
                Err(error) => Item::Bad(error, rows.raw().to_vec()),
            });
        }
        let ended = items.is_empty();
        if ended || send.send(Batch { items, position: rows.position() }).is_err() {
            return;
        }
    }
}

fn question_row(tx: &mut WriteTx<'_>, part: &Part) -> Result<QuestionId, WorkbenchError> {
    match part.existing {
        Some(id) => Ok(id),
        None => Ok(tx.add_question(&NewQuestion {
            name: part.name.clone(),
            prompt: part.prompt.clone(),
            scale: part.scale.clone(),
        })?),
    }
}

fn prompt_for(choices: &ImportChoices, name: &str) -> String {
    let asked = choices.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
    asked.unwrap_or(name).to_owned()
}

/// A part of a file whose labels were scanned.
fn part(asked: Asked, scan: &Scan, choices: &ImportChoices, column: &str) -> Result<Part, WorkbenchError> {
    let Asked { name, existing, scale } = asked;
    let scale = match (scale, choices.scale) {
        (Some(scale), _) => Ok(scale),
        (None, Some(kind)) => {
            let seen = scan.levels.iter().filter(|(_, count)| *count > 0).map(|(name, _)| name.as_str());
            Scale::of_kind(kind, seen)
        }
        (None, None) => scan.scale.clone(),
    };
    let scale = scale.map_err(|source| WorkbenchError::NoScale { column: column.to_owned(), source })?;
    let mut level_counts = vec![0; scale.len()];
    for (level, count) in scan.levels.iter().filter_map(|(name, count)| Some((scale.index_of(name)?, count)))
    {
        level_counts[usize::from(level)] += *count as u32;
    }
    Ok(Part {
        prompt: existing.as_ref().map_or_else(|| prompt_for(choices, &name), |q| q.prompt.clone()),
        level_counts,
        existing: existing.map(|q| q.id),
        labels: scan.labels,
        repeated: scan.repeated,
        name,
        scale,
    })
}

/// The scale of an existing question, or the one whose levels were named; `None` where the labels must tell.
fn known_scale(
    existing: Option<&Question>,
    choices: &ImportChoices,
) -> Result<Option<Scale>, WorkbenchError> {
    let Some(question) = existing else {
        let Some(levels) = &choices.levels else { return Ok(None) };
        let kind = match choices.scale {
            Some(kind) => kind,
            None => Scale::guess(levels)?.kind(),
        };
        return Ok(Some(Scale::new(kind, levels)?));
    };
    let other_kind = choices.scale.is_some_and(|kind| kind != question.scale.kind());
    let same =
        |levels: &Vec<String>| Scale::new(question.scale.kind(), levels).as_ref() == Ok(&question.scale);
    let other_levels = choices.levels.as_ref().is_some_and(|levels| !same(levels));
    if other_kind || other_levels {
        let has = format!("{} ({})", question.scale.kind(), question.scale.options().join(", "));
        return Err(WorkbenchError::OtherScale { question: question.name.clone(), has });
    }
    Ok(Some(question.scale.clone()))
}

/// The roles to read a file with: those chosen, else those guessed. What an export writes beyond the choices (question,
/// duration, source) is recognised unless its column was chosen for something else.
fn roles_for(source: &Source, chosen: Option<&ColumnChoices>) -> Result<ColumnRoles, WorkbenchError> {
    let guessed = guess_roles(source)?;
    let Some(chosen) = chosen.cloned() else { return Ok(guessed) };
    let named = ColumnRoles {
        text_id: chosen.text_id,
        text: chosen.text,
        annotator: chosen.annotator,
        label: chosen.label,
        split: chosen.split,
        group: chosen.group,
        time: chosen.time,
        attributes: chosen.attributes,
        ..ColumnRoles::default()
    };
    let taken: Vec<String> = named.named().into_iter().map(|(_, column)| column.to_owned()).collect();
    let free = |column: Option<String>| column.filter(|column| !taken.contains(column));
    Ok(ColumnRoles {
        question: free(guessed.question),
        duration: free(guessed.duration),
        source: free(guessed.source),
        ..named
    })
}

fn choices_of(roles: &ColumnRoles) -> ColumnChoices {
    ColumnChoices {
        text_id: roles.text_id.clone(),
        text: roles.text.clone(),
        annotator: roles.annotator.clone(),
        label: roles.label.clone(),
        split: roles.split.clone(),
        group: roles.group.clone(),
        time: roles.time.clone(),
        attributes: roles.attributes.clone(),
    }
}

/// What to know of a file beside its counts, a sentence each.
fn remarks(plan: &Plan) -> Vec<String> {
    let mut remarks = Vec::new();
    if plan.parts.len() > 1 {
        let names: Vec<&str> = plan.parts.iter().map(|part| part.name.as_str()).collect();
        remarks.push(format!(
            "The file answers {} questions: {}. All are imported.",
            names.len(),
            names.join(", ")
        ));
    }
    if plan.overall.rows == 0 {
        remarks.push("The file has a header and no rows.".to_owned());
        return remarks;
    }
    if plan.kind == FileKind::Texts {
        remarks.push("The file has texts and no labels.".to_owned());
    }
    if plan.kind == FileKind::Annotators {
        remarks.push("The file describes annotators; it has no texts.".to_owned());
    }
    if plan.roles.text_id.is_none() && plan.kind != FileKind::Annotators {
        remarks.push(
            "No column names the texts: each gets an id made from its body, so equal texts become one."
                .to_owned(),
        );
    }
    remarks
}

fn preview_of(plan: &Plan) -> ImportPreview {
    let overall = &plan.overall;
    let first = plan.parts.first();
    ImportPreview {
        path: plan.source.path().to_string_lossy().into_owned(),
        header: plan.source.columns().to_vec(),
        rows: overall.sample.clone(),
        columns: choices_of(&plan.roles),
        question: first.map_or_else(String::new, |part| part.name.clone()),
        prompt: first.map_or_else(String::new, |part| part.prompt.clone()),
        scale: first.map(|part| part.scale.clone()),
        question_exists: first.is_some_and(|part| part.existing.is_some()),
        total_rows: overall.rows as u32,
        new_texts: overall.new_texts as u32,
        new_annotators: overall.new_annotators as u32,
        new_labels: plan.parts.iter().map(|part| part.labels).sum::<u64>() as u32,
        repeated_rows: plan.parts.iter().map(|part| part.repeated).sum::<u64>() as u32,
        empty_labels: overall.empty_labels as u32,
        level_counts: first.map_or_else(Vec::new, |part| part.level_counts.clone()),
        bad_rows: plan.bad.values().take(SHOWN_BAD_ROWS).map(bad_row).collect(),
        bad_row_count: plan.bad_count as u32,
        remarks: remarks(plan),
        problem: None,
    }
}

fn bad_row(error: &RowError) -> BadRow {
    BadRow {
        row: error.row as u32,
        line: error.line as u32,
        column: error.column.clone(),
        message: error.kind.to_string(),
    }
}

fn bad_rows(plan: &Plan, rest: Option<WorkbenchError>) -> WorkbenchError {
    let mut listed: Vec<String> = plan.bad.values().take(LISTED_BAD_ROWS).map(ToString::to_string).collect();
    let more = plan.bad_count.saturating_sub(listed.len() as u64);
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    let off_scale = |error: &&RowError| matches!(error.kind, RowErrorKind::UnknownLevel { .. });
    let known = plan.known.as_deref().filter(|_| plan.bad.values().any(|error| off_scale(&error)));
    if let Some(question) = known {
        listed.push(format!(
            "These labels are read as answers to \"{question}\", which is in the project; for another question, name it with --question."
        ));
    }
    WorkbenchError::BadRows {
        count: plan.bad_count,
        rows: plan.overall.rows,
        listed: listed.join("\n"),
        rest: rest.map(Box::new),
    }
}

/// `labels.rejected.csv` beside `labels.csv`, or the first free `labels.rejected-2.csv`.
fn free_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = |nth: u32| match nth {
        1 => path.with_file_name(format!("{stem}.rejected.csv")),
        nth => path.with_file_name(format!("{stem}.rejected-{nth}.csv")),
    };
    (1..).map(name).find(|name| !name.exists()).unwrap_or_else(|| name(1))
}
