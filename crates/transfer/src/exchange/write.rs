//! Writes an import: a second pass over the file, in one transaction.

use super::account::{account_of, asked_of, people_of, uses_of};
use super::notices::{
    import_changes, import_notices, near_annotators, notices_of_findings, outdated_repeats,
};
use super::plan::{Part, Plan};
use super::preview::{format_of, remarks};
use super::reading_notices::reading_notices;
use super::seed::catch_up;
use crate::error::TransferError;
use dissensus_api::{ImportChanges, ImportReport};
use dissensus_domain::{
    AnnotatorId, Answer, EventId, EventKind, LabelSource, MarkKind, Note, QuestionId, Scale, TextId,
    composed, current_answer, marks,
};
use dissensus_exchange::{
    Checker, FileKind, LabelVerdict, RejectWriter, Row, RowError, Rows, Verdict, read_rows_while,
};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_store::{
    AnswerDetails, LabelAppender, NewAnnotator, NewLabel, NewMark, NewQuestion, NewText, Repeat, RepeatAdded,
    WriteTx,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

/// Maximum number of rows (or bytes of them) in a batch from the reading to the writing thread, and of
/// batches in the queue.
const BATCH_ROWS: usize = 512;
const BATCH_BYTES: usize = 1 << 20;
const BATCHES_AHEAD: usize = 4;

/// The state of the write, on the writing thread.
pub(super) struct Writing {
    plan: Plan,
    rejects: Option<RejectWriter>,
    /// The number of the last rejected record.
    rejected: Option<u64>,
    report: ImportReport,
    /// Rows of the project by the checker's numbers.
    questions: Vec<Option<(QuestionId, Scale)>>,
    /// The newest event of the project before this import.
    before: EventId,
    begun_ms: i64,
    /// Number of labels that, according to the file, were given in the window or by the command.
    claimed: u64,
    /// Number of new notes, skips and flags.
    remarks: u64,
    /// Number of skipped texts, in the file and now in the project.
    put_off: (u64, u64),
    /// Number of rows with notes or marks for questions without an answer in the file or the project.
    unasked: u64,
    /// Re-annotations whose last row is an existing answer that does not count.
    outdated: HashSet<(QuestionId, TextId, AnnotatorId, u16)>,
}

impl Writing {
    /// Prepares the write. The file of bad rows, if there are any, gets the first free name next to the
    /// imported file.
    pub(super) fn new(plan: Plan) -> Result<Self, ProjectError> {
        let rejected_file = (plan.scan.problem_count > 0).then(|| free_name(plan.source.path()));
        let rejects = rejected_file.as_deref().map(RejectWriter::create).transpose()?;
        let report = ImportReport {
            format: format_of(&plan.source),
            repeats: 0,
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
            changes: ImportChanges::default(),
            notices: Vec::new(),
            asked: Vec::new(),
            people: people_of(&plan.scan),
            account: account_of(&plan.scan),
            uses: uses_of(&plan.read),
        };
        Ok(Self {
            plan,
            rejects,
            rejected: None,
            report,
            questions: Vec::new(),
            before: EventId(0),
            begun_ms: now_ms(),
            claimed: 0,
            remarks: 0,
            put_off: (0, 0),
            unasked: 0,
            outdated: HashSet::new(),
        })
    }

    /// Writes everything or, with an error, nothing.
    pub(super) fn run(
        mut self,
        tx: &mut WriteTx<'_>,
        progress: &dyn Progress,
    ) -> Result<ImportReport, ProjectError> {
        self.before = tx.last_event()?;
        let name = self.plan.source.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let begun = tx.begin_import(&name, self.begun_ms)?;
        let parts = std::mem::take(&mut self.plan.parts);
        for part in &parts {
            let id = question_row(tx, part, self.begun_ms)?;
            if self.questions.len() <= part.number {
                self.questions.resize(part.number + 1, None);
            }
            self.questions[part.number] = Some((id, part.scale.clone()));
        }
        let questions: Vec<(usize, QuestionId)> =
            self.questions.iter().enumerate().filter_map(|(n, asked)| Some((n, asked.as_ref()?.0))).collect();
        catch_up(tx, &mut self.plan.checker, &self.plan.seeds, &questions)?;
        self.rows(tx, progress)?;
        // The check and the write of a file follow the same rules. If they differed, a row would be lost, or
        // imported differently from the check: then nothing is imported.
        let (counted, found) = (self.plan.scan.problem_count, u64::from(self.report.rejected_rows));
        if counted != found {
            let path = self.plan.source.path().to_owned();
            return Err(TransferError::FileChanged { path, counted, found }.into());
        }
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        self.report.question = (!names.is_empty()).then(|| names.join(", "));
        self.report.scale = parts.first().map(|part| part.scale.clone());
        self.plan.parts = parts;
        self.report.remarks = remarks(&self.plan);
        self.report.asked = asked_of(&self.plan);
        let asked = self.plan.asked(|number| self.plan.checker.changes(number));
        let notices = notices_of_findings(&self.plan.source)
            .into_iter()
            .chain(reading_notices(&self.plan))
            .chain(import_notices(&asked, &self.plan.read))
            .collect();
        (self.report.changes, self.report.notices) = (import_changes(&asked), notices);
        self.report.notices.extend(outdated_repeats(self.outdated.len()));
        self.report.notices.extend(near_annotators(&self.plan.scan.annotator_ids));
        if self.claimed > 0 {
            self.report.remarks.push(format!(
                "According to the file, {} of these labels were given in the window or by the command. They were given \
                 elsewhere, so they are stored as imported labels, which undo does not take back.",
                self.claimed
            ));
        }
        if self.remarks > 0 {
            self.report.remarks.push(format!(
                "{}: notes, reasons and confidence of answers, texts that were skipped or flagged.",
                dissensus_project::words::counted(self.remarks, "mark")
            ));
        }
        if self.put_off.0 > 0 && self.plan.source.is_of_tool() {
            let (reported, kept) = self.put_off;
            self.report.remarks.push(format!(
                "{} skipped in the file: {kept} stored as skipped now. For the others, the same person has an answer, or they were known.",
                dissensus_project::words::counted(reported, "text")
            ));
        }
        if self.unasked > 0 {
            self.report.remarks.push(format!(
                "{} left out: to a question that the project does not have and that nobody answers in the file. Add the question, and import again.",
                dissensus_project::words::counted(self.unasked, "mark")
            ));
        }
        tx.end_import(begun)?;
        if let Some(rejects) = self.rejects.take() {
            rejects.finish()?;
        }
        Ok(self.report)
    }

    fn rows(&mut self, tx: &mut WriteTx<'_>, progress: &dyn Progress) -> Result<(), ProjectError> {
        let bytes = self.plan.source.bytes();
        let rows = read_rows_while(&self.plan.source, &self.plan.roles, |done| {
            progress.report(done, Some(bytes), "reading the spans");
            progress.flow()
        })?;
        let mut checker = std::mem::replace(&mut self.plan.checker, Checker::new(None));
        let mut labels = tx.label_appender()?;
        // Reading and checking takes about as long as writing, so one thread does each; few batches are in
        // flight at once.
        let reading = &mut checker;
        std::thread::scope(|scope| {
            let (send, batches) = std::sync::mpsc::sync_channel::<Batch>(BATCHES_AHEAD);
            std::thread::Builder::new()
                .spawn_scoped(scope, move || read_batches(rows, reading, &send))
                .map_err(|_| ProjectError::NoThread)?;
            for batch in batches {
                progress.report(batch.position, Some(bytes), "writing");
                if progress.cancelled() {
                    return Err(ProjectError::Cancelled);
                }
                for item in batch.items {
                    match item {
                        Item::Good(good) => self.row(tx, &mut labels, good.0, &good.1)?,
                        Item::Bad(record, error, raw) => self.refuse(record, &error, &raw)?,
                    }
                }
            }
            Ok::<(), ProjectError>(())
        })?;
        self.plan.checker = checker;
        Ok(())
    }

    fn row(
        &mut self,
        tx: &mut WriteTx<'_>,
        labels: &mut LabelAppender<'_>,
        mut row: Row,
        verdict: &Verdict,
    ) -> Result<(), ProjectError> {
        let text = verdict.text.map(|number| self.text(tx, number, &mut row)).transpose()?;
        let annotator =
            verdict.annotator.map(|number| self.annotator(tx, number, &row, verdict)).transpose()?;
        match (&verdict.label, text, annotator) {
            (
                LabelVerdict::Added { answer: Some(answer), at_ms, follows_row, .. },
                Some(text),
                Some(annotator),
            ) => {
                let source = self.source(&row);
                let asked = verdict.question.and_then(|number| self.questions.get(number)?.as_ref());
                let Some((question, _)) = asked else { return Err(without_question(&row)) };
                let new = NewLabel {
                    question: *question,
                    text,
                    annotator,
                    answer: answer.clone(),
                    at_ms: *at_ms,
                    duration_ms: row.duration_ms,
                    source,
                };
                let details = AnswerDetails { note: row.note.clone(), ..AnswerDetails::default() };
                if *follows_row {
                    labels.append_following(&new, &details, self.before)?
                } else {
                    labels.append_with(&new, &details)?
                };
                self.report.labels += 1;
                self.remarks += u64::from(!row.note.is_empty());
                tx.add_shown_before(*question, text, annotator, row.shown, *at_ms)?;
            }
            (LabelVerdict::Repeat { answer: Some(answer), at_ms, .. }, Some(text), Some(annotator)) => {
                self.repeat(tx, &row, verdict, (answer.clone(), *at_ms), (text, annotator))?;
            }
            (LabelVerdict::Added { .. } | LabelVerdict::Repeat { .. }, ..) => {
                return Err(without_question(&row));
            }
            (LabelVerdict::Repeated { .. }, text, annotator) => {
                self.report.repeated_rows += 1;
                let asked = verdict.question.and_then(|number| self.questions.get(number)?.as_ref());
                if let (Some((question, _)), Some(text), Some(annotator), Some(at_ms)) =
                    (asked, text, annotator, row.at_ms)
                {
                    tx.add_shown_before(*question, text, annotator, row.shown, at_ms)?;
                }
            }
            (LabelVerdict::Continues, ..) => {}
            (LabelVerdict::None, ..) => {
                let asked = verdict.annotator.is_some() || self.plan.source.is_of_tool();
                self.report.empty_labels += u32::from(self.plan.kind == FileKind::Labels && asked);
            }
        }
        if let (Some(text), Some(annotator), None) = (text, annotator, row.occasion) {
            self.marks(tx, &row, verdict, text, annotator)?;
        }
        Ok(())
    }

    /// Adds the marks and the note of a row, on an existing answer or without one, unless they are there
    /// already. Those of the project have priority.
    fn marks(
        &mut self,
        tx: &mut WriteTx<'_>,
        row: &Row,
        verdict: &Verdict,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<(), ProjectError> {
        if row.note.is_empty() && !row.skipped && !row.flagged {
            return Ok(());
        }
        self.put_off.0 += u64::from(row.skipped);
        let asked = verdict.question.and_then(|number| self.questions.get(number)?.as_ref());
        let Some((question, scale)) = asked else {
            self.unasked += 1;
            return Ok(());
        };
        let question = *question;
        let events = tx.events_on(question, text, annotator)?;
        let current = current_answer(&events).and_then(|event| event.answer());
        // A note belongs to the answer of its row only; a new answer already has it.
        let belongs_here = match &verdict.label {
            LabelVerdict::Added { .. } | LabelVerdict::Continues => false,
            LabelVerdict::Repeated { name } => {
                current.and_then(|answer| scale.name_of_answer(answer)).is_some_and(|now| now == *name)
            }
            LabelVerdict::None | LabelVerdict::Repeat { .. } => true,
        };
        // The state in the project has priority, even if a note or mark was removed there.
        let never = |kinds: &[MarkKind]| {
            !events.iter().any(|event| matches!(event.kind, EventKind::Mark(kind) if kinds.contains(&kind)))
        };
        let adds_note = belongs_here
            && !row.note.is_empty()
            && never(&[MarkKind::Note])
            && marks(&events).note.is_empty();
        let skipped = row.skipped && current.is_none() && never(&[MarkKind::Skip, MarkKind::Unskip]);
        let wanted = [
            (adds_note, MarkKind::Note),
            (skipped, MarkKind::Skip),
            (row.flagged && never(&[MarkKind::Flag, MarkKind::Unflag]), MarkKind::Flag),
        ];
        let at_ms = row.at_ms.unwrap_or_else(now_ms);
        let source = match row.source {
            Some(LabelSource::Simulated) => LabelSource::Simulated,
            _ => LabelSource::Import,
        };
        for (_, kind) in wanted.into_iter().filter(|(wanted, _)| *wanted) {
            let note = if kind == MarkKind::Note { row.note.clone() } else { Note::default() };
            tx.add_mark(&NewMark { annotator, question, text, kind, at_ms, source, note, guideline: None })?;
            self.remarks += 1;
            self.put_off.1 += u64::from(kind == MarkKind::Skip);
        }
        Ok(())
    }

    /// Adds a re-annotation, which changes no label.
    fn repeat(
        &mut self,
        tx: &mut WriteTx<'_>,
        row: &Row,
        verdict: &Verdict,
        (answer, at_ms): (Answer, Option<i64>),
        (text, annotator): (TextId, AnnotatorId),
    ) -> Result<(), ProjectError> {
        let source = self.source(row);
        let asked = verdict.question.and_then(|number| self.questions.get(number)?.as_ref());
        let (Some((question, _)), Some(occasion)) = (asked, row.occasion) else {
            return Err(without_question(row));
        };
        let at_ms = at_ms.unwrap_or_else(now_ms);
        let question = *question;
        let new = Repeat {
            question,
            text,
            annotator,
            occasion,
            answer,
            at_ms,
            source,
            details: AnswerDetails { note: row.note.clone(), ..AnswerDetails::default() },
            wording: None,
        };
        let added = tx.add_repeat(&new, row.at_ms.is_some())?;
        tx.add_shown_before(question, text, annotator, row.shown, at_ms)?;
        match added {
            RepeatAdded::New => self.report.repeats += 1,
            RepeatAdded::Known | RepeatAdded::Outdated => self.report.repeated_rows += 1,
        }
        let occasion = (question, text, annotator, occasion);
        match added {
            RepeatAdded::Outdated => self.outdated.insert(occasion),
            RepeatAdded::New | RepeatAdded::Known => self.outdated.remove(&occasion),
        };
        Ok(())
    }

    /// Labels of a file were not given in this window, whatever the file claims: only simulated ones are
    /// still marked as such.
    fn source(&mut self, row: &Row) -> LabelSource {
        match row.source {
            Some(LabelSource::Simulated) => LabelSource::Simulated,
            Some(LabelSource::Window | LabelSource::Command) => {
                self.claimed += 1;
                LabelSource::Import
            }
            Some(LabelSource::Import) | None => LabelSource::Import,
        }
    }

    fn text(&mut self, tx: &mut WriteTx<'_>, number: u32, row: &mut Row) -> Result<TextId, ProjectError> {
        if let Some(id) = self.plan.seeds.texts.get(number as usize) {
            return Ok(*id);
        }
        let external_id = row.text_id.take().unwrap_or_default();
        let Some(body) = row.text.take() else { return Err(ProjectError::NoSuchText(external_id)) };
        let new = NewText {
            external_id,
            body,
            group: row.group.take(),
            split: row.split.take(),
            metadata: std::mem::take(&mut row.metadata),
        };
        let id = tx.add_text_at(&new, self.begun_ms)?;
        self.report.texts += 1;
        self.plan.seeds.texts.push(id);
        Ok(id)
    }

    fn annotator(
        &mut self,
        tx: &mut WriteTx<'_>,
        number: u32,
        row: &Row,
        verdict: &Verdict,
    ) -> Result<AnnotatorId, ProjectError> {
        let external_id = row.annotator.as_deref().unwrap_or_default();
        let typed = composed(external_id);
        let known = match self.plan.seeds.annotators.get(number as usize) {
            Some(id) => Some((*id, verdict.new_attributes)),
            // The annotator may have been added in the window since the file was checked.
            None => {
                let known = match tx.annotator_by_external(external_id)? {
                    None => tx.annotator_by_external(&typed)?,
                    known => known,
                };
                known.map(|id| (id, !row.attributes.is_empty()))
            }
        };
        let id = match known {
            Some((id, new_attributes)) => {
                if new_attributes {
                    let mut attributes = tx.attributes(id)?;
                    for (name, value) in &row.attributes {
                        // The value in the project has priority.
                        attributes.entry(name.clone()).or_insert_with(|| value.clone());
                    }
                    tx.set_attributes(id, &attributes, now_ms())?;
                }
                id
            }
            None => {
                self.report.annotators += 1;
                tx.add_annotator(&NewAnnotator {
                    external_id: typed.clone(),
                    name: typed,
                    attributes: row.attributes.clone(),
                    simulated: row.source == Some(LabelSource::Simulated),
                })?
            }
        };
        if self.plan.seeds.annotators.len() == number as usize {
            self.plan.seeds.annotators.push(id);
        }
        Ok(id)
    }

    fn refuse(&mut self, record: u64, error: &RowError, raw: &[u8]) -> Result<(), ProjectError> {
        // The file was read completely a moment ago; if it has changed since, it is not imported in part.
        let Some(rejects) = self.rejects.as_mut().filter(|_| !error.is_fatal()) else {
            return Err(ProjectError::BadRows {
                count: 1,
                rows: error.row,
                listed: error.to_string(),
                rest: None,
                problems: vec![error.clone()],
            });
        };
        // A record is rejected once, however many of its answers are bad.
        if self.rejected != Some(record) {
            self.rejected = Some(record);
            rejects.write(error, raw)?;
            self.report.rejected_rows += 1;
        }
        Ok(())
    }
}

/// Rows that were read and checked, and the position in the file where they end.
struct Batch {
    items: Vec<Item>,
    position: u64,
}

enum Item {
    Good(Box<(Row, Verdict)>),
    /// With the number of its record.
    Bad(u64, RowError, Vec<u8>),
}

/// Reads until the end of the file, or until the receiver is gone.
fn read_batches(mut rows: Rows, checker: &mut Checker, send: &SyncSender<Batch>) {
    loop {
        let mut items = Vec::with_capacity(BATCH_ROWS);
        let mut held = 0;
        while items.len() < BATCH_ROWS && held < BATCH_BYTES {
            let Some(read) = rows.next_checked(checker) else { break };
            held += rows.raw().len();
            items.push(match read {
                Ok((mut row, verdict)) => {
                    // Written with the row that introduced it: the others need not carry it to the other
                    // thread.
                    if !verdict.new_text {
                        (row.text, row.group, row.split) = (None, None, None);
                        row.metadata.clear();
                    }
                    Item::Good(Box::new((row, verdict)))
                }
                Err(error) => Item::Bad(rows.record(), error, rows.raw().to_vec()),
            });
        }
        let ended = items.is_empty();
        if ended || send.send(Batch { items, position: rows.position() }).is_err() {
            return;
        }
    }
}

fn without_question(row: &Row) -> ProjectError {
    ProjectError::internal(&format!("row {} has a label and no question to put it to", row.row))
}

fn question_row(tx: &mut WriteTx<'_>, part: &Part, at_ms: i64) -> Result<QuestionId, ProjectError> {
    let new = |part: &Part| NewQuestion {
        name: part.name.clone(),
        prompt: part.prompt.clone(),
        scale: part.scale.clone(),
    };
    Ok(part.existing.map_or_else(|| tx.add_question_at(&new(part), at_ms), Ok)?)
}

/// Returns `labels.rejected.csv` in the folder of `labels.csv` (or `labels.csv.gz`), or the first free
/// `labels.rejected-2.csv`.
fn free_name(path: &Path) -> PathBuf {
    let is_packed = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let unpacked = if is_packed { path.with_extension("") } else { path.to_owned() };
    let stem = unpacked.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = |nth: u32| match nth {
        1 => path.with_file_name(format!("{stem}.rejected.csv")),
        nth => path.with_file_name(format!("{stem}.rejected-{nth}.csv")),
    };
    (1..).map(name).find(|name| !name.exists()).unwrap_or_else(|| name(1))
}
