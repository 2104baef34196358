//! Exports every current label with its text and annotator, to a file that imports again to the same labels.

use super::Exchange;
use super::choices::{ExportChoices, Exported};
use super::mask::{Mask, MaskedRow};
use super::study::StudyColumns;
use crate::error::TransferError;
use crate::exchange::study;
use dissensus_domain::{
    Annotator, AnnotatorId, AnswerForm, Attributes, Event, GuidelineId, JobKind, Note, Question, QuestionId,
    Scale, Shown, TextId, WordingId, option_names, spans_named,
};
use dissensus_exchange::{
    ConllWriter, DatasetQuestion, DatasetWriter, ExchangeError, LabelLayout, LabelRow, LabelWriter,
    OutputFormat, SpanLayout, level_name,
};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Follow, Progress};
use dissensus_store::{Consents, ExportRow, ExportScope, Marked, Order, Repeat, ShownFacts, Snapshot};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Writes all current labels (of one question, or of all) to a CSV, TSV, JSONL or CoNLL file, by its
/// extension, as of one moment: labels given meanwhile are not included. The file appears whole or
/// not at all.
///
/// # Errors
/// An unsupported extension, a file that exists (without `replace`), a label without a name because the
/// project is damaged, a full disk, cancellation, or another export that runs as a job. One row a span in
/// JSON Lines, or without a question that is answered with spans; a CoNLL file of other questions, or with
/// answers that it cannot represent and that shall not be left out.
pub fn export<'a>(
    cx: &Exchange,
    path: &Path,
    choices: &ExportChoices,
    follow: impl Into<Follow<'a>>,
) -> Result<Exported, ProjectError> {
    let title = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    cx.context.run_alone(Activity::Export, follow, JobKind::Export, &title, |progress| {
        write_file(cx, path, choices, progress)
    })
}

fn write_file(
    cx: &Exchange,
    path: &Path,
    choices: &ExportChoices,
    progress: &dyn Progress,
) -> Result<Exported, ProjectError> {
    if path.exists() && !choices.replace {
        return Err(ProjectError::ExportExists(path.to_owned()));
    }
    let format = if choices.dataset { OutputFormat::Parquet } else { OutputFormat::of_path(path)? };
    if format == OutputFormat::Conll && choices.decisions.is_some() {
        return Err(TransferError::DecisionsInConll.into());
    }
    if choices.span_rows && matches!(format, OutputFormat::Jsonl | OutputFormat::Conll) {
        return Err(TransferError::SpanRowsInJson.into());
    }
    let only = choices.question.as_deref().map(|name| asked_for_whole(cx, name)).transpose()?;
    let mask = match choices.pseudonyms {
        Some(request) => Some(Mask::new(&cx.context, only.as_ref().map(|question| question.id), request)?),
        None => None,
    };
    let study = study::study_columns(cx, choices)?;
    let file = File {
        path,
        format,
        dataset: choices.dataset,
        replace: choices.replace,
        span_rows: choices.span_rows,
        leave_out: choices.leave_out_overlaps,
        mask: mask.as_ref(),
        study: &study,
    };
    cx.context.store.snapshot(|snapshot| write_labels(snapshot, &file, only.as_ref(), progress))
}

/// Returns the question of this name; options have no labels of their own to write.
pub(super) fn asked_for_whole(cx: &Exchange, name: &str) -> Result<Question, ProjectError> {
    let index = cx.context.index();
    Ok(index.whole(index.find_question(Some(name))?.id)?.clone())
}

/// The file to write.
struct File<'a> {
    path: &'a Path,
    format: OutputFormat,
    dataset: bool,
    replace: bool,
    span_rows: bool,
    leave_out: bool,
    mask: Option<&'a Mask>,
    study: &'a StudyColumns,
}

/// A file being written, and its progress.
struct Writing<'a> {
    sink: Sink,
    /// The name of the folder of a dataset.
    title: String,
    mask: Option<&'a Mask>,
    /// Rows of one text, buffered to be written in the order of pseudonyms.
    waiting: Vec<MaskedRow>,
    done: Exported,
    /// The first answer that the file cannot represent.
    first_left_out: Option<String>,
}

enum Sink {
    Table(LabelWriter),
    Conll(ConllWriter),
    Dataset(DatasetWriter, Vec<DatasetQuestion>),
}

impl Writing<'_> {
    /// Writes an answer; with a mask, once all of its text are buffered.
    fn write(&mut self, row: &LabelRow<'_>) -> Result<(), ExchangeError> {
        match self.mask {
            None => self.put(row),
            Some(mask) => self.wait(mask.row(row, true)),
        }
    }

    /// Writes a row that is not an answer and is not counted as one.
    fn write_unanswered(&mut self, row: &LabelRow<'_>) -> Result<(), ExchangeError> {
        match self.mask {
            None => self.put_unanswered(row),
            Some(mask) => self.wait(mask.row(row, false)),
        }
    }

    fn wait(&mut self, row: MaskedRow) -> Result<(), ExchangeError> {
        if self.waiting.last().is_some_and(|last| !last.is_next_to(&row)) {
            self.write_waiting()?;
        }
        self.waiting.push(row);
        Ok(())
    }

    /// Writes the buffered rows of a text in the order of pseudonyms: the order in which annotators were
    /// added would identify them.
    fn write_waiting(&mut self) -> Result<(), ExchangeError> {
        let mut rows = std::mem::take(&mut self.waiting);
        rows.sort_by_key(|row| row.number);
        for row in rows {
            match row.answered {
                true => self.put(&row.as_row())?,
                false => self.put_unanswered(&row.as_row())?,
            }
        }
        Ok(())
    }

    fn put(&mut self, row: &LabelRow<'_>) -> Result<(), ExchangeError> {
        let held = match &mut self.sink {
            Sink::Table(writer) => writer.write(row).map(|()| true)?,
            Sink::Conll(writer) => writer.write(row)?,
            Sink::Dataset(writer, _) => writer.write(row).map(|()| true)?,
        };
        if held {
            self.done.answers += 1;
        } else {
            self.done.left_out += 1;
            self.first_left_out.get_or_insert_with(|| format!("{} on {}", row.annotator, row.text_id));
        }
        Ok(())
    }

    fn put_unanswered(&mut self, row: &LabelRow<'_>) -> Result<(), ExchangeError> {
        match &mut self.sink {
            Sink::Table(writer) => writer.write(row)?,
            Sink::Dataset(writer, _) => writer.write(row)?,
            Sink::Conll(_) => return Ok(()),
        }
        self.done.unanswered += 1;
        Ok(())
    }

    /// Moves the file to its path, unless it lacks an answer that must not be left out.
    fn finish(mut self, leave_out: bool) -> Result<Exported, ProjectError> {
        self.write_waiting()?;
        if let Some(first) = self.first_left_out.filter(|_| !leave_out) {
            let Exported { answers, left_out, .. } = self.done;
            return Err(TransferError::NotInConll { count: left_out, all: answers + left_out, first }.into());
        }
        match self.sink {
            Sink::Table(writer) => writer.finish()?,
            Sink::Conll(writer) => writer.finish()?,
            Sink::Dataset(writer, questions) => writer.finish(&self.title, &questions)?,
        }
        Ok(self.done)
    }
}

/// Returns how spans are written to a file of these questions.
fn span_layout(questions: &[Question], rows: bool) -> Result<SpanLayout, ProjectError> {
    let spans = questions.iter().filter(|question| question.scale.form().marks_words()).count();
    match (rows, spans) {
        (false, _) => Ok(SpanLayout::Lists),
        (true, 0) => Err(TransferError::NoSpansToExport.into()),
        (true, all) if all == questions.len() => Ok(SpanLayout::Rows),
        (true, _) => Ok(SpanLayout::RowsAndLabels),
    }
}

/// How many different answers to a question are used to determine which scale an import would guess.
const KEPT_ANSWERS: usize = 2_000;

/// Returns the scales that an import would not guess from the labels, with the names of the questions.
fn scales_not_guessed<'a>(
    snapshot: &Snapshot<'_>,
    questions: &'a [Question],
) -> Result<Vec<(&'a str, &'a Scale)>, ProjectError> {
    let mut untold = Vec::new();
    for question in questions {
        let scale = &question.scale;
        // Some answers, and the options (or types) of all of them.
        let (mut some, mut options) = (BTreeSet::new(), BTreeSet::new());
        snapshot.for_each_label(question.id, ExportScope::Current, |row| {
            let Some(level) = row.level else { return Ok(()) };
            if some.len() < KEPT_ANSWERS && !some.contains(level) {
                some.insert(level.to_owned());
            }
            match scale.form() {
                AnswerForm::Options => options.extend(option_names(level).into_iter().map(str::to_owned)),
                AnswerForm::Spans => {
                    options.extend(spans_named(level).unwrap_or_default().into_iter().map(|span| span.label));
                }
                AnswerForm::Level => {}
            }
            Ok::<(), ProjectError>(())
        })?;
        // An import reads `1.0` as `1`, unless the scale has it as a name.
        let plain = scale.levels().iter().all(|name| level_name(name) == name);
        let reported = match Scale::guess(&some) {
            Ok(_) if !plain => false,
            Ok(guessed) if scale.has_options() => {
                guessed.kind() == scale.kind() && options.iter().eq(scale.levels())
            }
            Ok(guessed) => guessed.reads_like(scale),
            Err(_) => some.is_empty(),
        };
        if !reported {
            untold.push((question.name.as_str(), scale));
        }
    }
    Ok(untold)
}

fn dataset_question(question: &Question) -> DatasetQuestion {
    let Question { name, prompt, scale, .. } = question;
    DatasetQuestion { name: name.clone(), prompt: prompt.clone(), scale: scale.clone() }
}

fn write_labels(
    snapshot: &Snapshot<'_>,
    file: &File<'_>,
    only: Option<&Question>,
    progress: &dyn Progress,
) -> Result<Exported, ProjectError> {
    let questions: Vec<Question> =
        snapshot.questions()?.into_iter().filter(|q| only.is_none_or(|only| only.id == q.id)).collect();
    let mut total = 0;
    for question in &questions {
        total += u64::from(snapshot.label_count(question.id)?);
    }
    let people = snapshot.annotators()?;
    let attributes: BTreeSet<String> = match file.mask {
        Some(mask) => mask.attributes(),
        None => people.iter().flat_map(|one| one.attributes.keys().cloned()).collect(),
    };
    let is_shared = |name: &String| {
        let mut values = people.iter().filter_map(|one| one.attributes.get(name));
        values.next().is_some_and(|first| values.all(|value| value == first))
    };
    let attributes_before_source = attributes.iter().any(is_shared);
    let order = snapshot.order()?;
    let mut repeats = Vec::new();
    for question in &questions {
        repeats.extend(snapshot.repeats(question.id)?);
    }
    repeats.sort_by_key(|one| order.of(one.question, one.text, one.annotator));
    // A column of an imported file may contain anything, including names.
    let metadata = if file.mask.is_some() { Vec::new() } else { snapshot.metadata_keys()? };
    let (notes_and_marks, study) = (NotesAndMarks::new(snapshot, &questions)?, file.study);
    let occasions = !repeats.is_empty();
    let sink = match file.format {
        OutputFormat::Conll if questions.iter().any(|question| !question.scale.form().marks_words()) => {
            return Err(TransferError::NoConll.into());
        }
        OutputFormat::Conll => Sink::Conll(ConllWriter::create(file.path, occasions, attributes)?),
        format => {
            let spans = match span_layout(&questions, file.span_rows)? {
                // Without a column of labels, a row without a span means that there is none.
                SpanLayout::Rows if notes_and_marks.unanswered().next().is_some() => {
                    SpanLayout::RowsAndLabels
                }
                spans => spans,
            };
            let scales = scales_not_guessed(snapshot, &questions)?;
            let layout = LabelLayout {
                occasions,
                scales: !scales.is_empty(),
                spans,
                study: study.layout(),
                attributes_before_source,
                ..notes_and_marks.layout(&repeats)
            };
            if file.dataset {
                let about = questions.iter().map(dataset_question).collect();
                let writer = DatasetWriter::create(file.path, file.replace, layout, attributes, metadata)?;
                Sink::Dataset(writer.with_scales(scales), about)
            } else {
                let writer = LabelWriter::create(file.path, format, layout, attributes, metadata)?;
                Sink::Table(writer.with_scales(scales))
            }
        }
    };
    let done = file.mask.map_or_else(Exported::default, Mask::done);
    let title = file.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut writer =
        Writing { sink, title, mask: file.mask, waiting: Vec::new(), done, first_left_out: None };
    if study.only_decisions() {
        write_decisions(snapshot, &mut writer, &questions, study, &order)?;
        return writer.finish(file.leave_out);
    }
    let mut rows = 0_u64;
    let wordings = if study.layout().wordings { snapshot.wording_numbers()? } else { HashMap::new() };
    for question in &questions {
        snapshot.for_each_label(question.id, ExportScope::Current, |row| {
            if study.leaves_out(row.event.annotator) {
                writer.done.left_out_failed += 1;
                return Ok(());
            }
            let (note, flagged) = notes_and_marks.note_and_flag(&row);
            writer.write(&LabelRow {
                text_id: &row.text.external_id,
                text: &row.text.body,
                annotator: &row.annotator.external_id,
                label: row.level,
                spans: row.question.scale.form().marks_words(),
                question: Some(&row.question.name),
                split: row.text.split.as_deref(),
                group: row.text.group.as_deref(),
                at_ms: Some(row.event.at_ms),
                duration_ms: row.event.duration_ms(),
                source: Some(row.event.source),
                occasion: 1,
                note,
                skipped: false,
                flagged,
                guideline: row.event.guideline.and_then(|id| notes_and_marks.versions.get(&id).copied()),
                study: &study
                    .cells(row.question, row.event.text, Some(row.event.annotator))
                    .with_wording(row.event.wording.and_then(|id| wordings.get(&id).copied()))
                    .with_consent(notes_and_marks.consents.number_of(row.event)),
                shown: notes_and_marks.shown_before(row.event),
                attributes: &row.annotator.attributes,
                metadata: &row.text.metadata,
            })?;
            rows += 1;
            if rows.is_multiple_of(512) {
                progress.report(rows, Some(total), "");
                if progress.cancelled() {
                    return Err(ProjectError::Cancelled);
                }
            }
            Ok::<(), ProjectError>(())
        })?;
    }
    write_marked(snapshot, &mut writer, &questions, &notes_and_marks, study, &order)?;
    write_repeats(snapshot, &mut writer, &questions, &repeats, &notes_and_marks, &wordings, study)?;
    writer.finish(file.leave_out)
}

/// Notes and marks on answers.
pub(super) struct NotesAndMarks {
    marked: HashMap<(QuestionId, TextId, AnnotatorId), Marked>,
    versions: HashMap<GuidelineId, u32>,
    consents: Consents,
    pub(super) shown: ShownFacts,
    /// Some label was given after the annotator had been shown something.
    any_shown: bool,
}

impl NotesAndMarks {
    pub(super) fn new(snapshot: &Snapshot<'_>, questions: &[Question]) -> Result<Self, ProjectError> {
        let mut marked = HashMap::new();
        for question in questions {
            for one in snapshot.all_marks(question.id)? {
                marked.insert((question.id, one.text, one.annotator), one);
            }
        }
        let (versions, consents) = (snapshot.guideline_numbers()?, snapshot.consents()?);
        let mut any_shown = false;
        for question in questions {
            any_shown |= snapshot.labels_after_shown(question.id)? > 0;
        }
        Ok(Self { marked, versions, consents, shown: snapshot.shown()?, any_shown })
    }

    /// Marks of texts without an answer.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = (&(QuestionId, TextId, AnnotatorId), &Marked)> {
        self.marked.iter().filter(|(_, one)| one.current.is_none())
    }

    /// The columns that are needed.
    fn layout(&self, repeats: &[Repeat]) -> LabelLayout {
        let notes = self.marked.values().any(|one| !one.marks.note.is_empty())
            || repeats.iter().any(|repeat| !repeat.details.note.is_empty());
        let marks =
            self.marked.values().any(|one| one.marks.flagged || (one.marks.skipped && one.current.is_none()));
        let before = |r: &Repeat| self.shown.before(r.question, r.text, r.annotator, r.at_ms).any();
        let shown = self.any_shown || repeats.iter().any(before);
        LabelLayout { notes: notes || marks || !self.versions.is_empty(), shown, ..LabelLayout::default() }
    }

    /// What the annotator had been shown before a label was given.
    pub(super) fn shown_before(&self, label: &Event) -> Shown {
        self.shown.before(label.question, label.text, label.annotator, label.at_ms)
    }

    /// Returns the note on a label, and whether its text is flagged.
    pub(super) fn note_and_flag<'a>(&'a self, row: &ExportRow<'_>) -> (Option<&'a Note>, bool) {
        let one = self.marked.get(&(row.event.question, row.event.text, row.event.annotator));
        (one.map(|one| &one.marks.note), one.is_some_and(|one| one.marks.flagged))
    }
}

/// Writes the decisions instead of labels: one row a text, without an annotator.
fn write_decisions(
    snapshot: &Snapshot<'_>,
    writer: &mut Writing<'_>,
    questions: &[Question],
    study: &StudyColumns,
    order: &Order,
) -> Result<(), ProjectError> {
    let (nobody, nothing) = (Attributes::default(), BTreeMap::new());
    let masked = writer.mask.is_some();
    let mut decisions: Vec<_> = study.decisions().collect();
    decisions.sort_by_key(|decision| (order.question(decision.question), order.text(decision.text)));
    for decision in decisions {
        let Some(question) = questions.iter().find(|question| question.id == decision.question) else {
            continue;
        };
        let Some(text) = snapshot.text(decision.text)? else {
            return Err(ProjectError::internal(&"a decision is about a text that is not there"));
        };
        let cells = study.cells(question, text.id, None);
        let cells = match writer.mask {
            Some(mask) => mask.study(cells),
            None => cells,
        };
        let label = decision.answer.as_ref().and_then(|answer| question.scale.name_of_answer(answer));
        writer.put(&LabelRow {
            text_id: &text.external_id,
            text: &text.body,
            annotator: "",
            label: label.as_deref(),
            spans: question.scale.form().marks_words(),
            question: Some(&question.name),
            split: text.split.as_deref(),
            group: text.group.as_deref().filter(|_| !masked),
            at_ms: None,
            duration_ms: None,
            source: None,
            occasion: 1,
            note: None,
            skipped: false,
            flagged: false,
            guideline: None,
            study: &cells,
            shown: Shown::default(),
            attributes: &nobody,
            metadata: if masked { &nothing } else { &text.metadata },
        })?;
    }
    Ok(())
}

/// Writes texts that an annotator marked or noted something on, and did not answer: rows without a label.
fn write_marked(
    snapshot: &Snapshot<'_>,
    writer: &mut Writing<'_>,
    questions: &[Question],
    notes_and_marks: &NotesAndMarks,
    study: &StudyColumns,
    order: &Order,
) -> Result<(), ProjectError> {
    // A CoNLL file has only answers.
    if matches!(writer.sink, Sink::Conll(_)) {
        return Ok(());
    }
    let annotators: HashMap<AnnotatorId, Annotator> =
        snapshot.annotators()?.into_iter().map(|annotator| (annotator.id, annotator)).collect();
    let mut rows: Vec<_> = notes_and_marks.unanswered().collect();
    rows.sort_unstable_by_key(|((question, text, annotator), _)| order.of(*question, *text, *annotator));
    for ((question, text, annotator), one) in rows {
        if study.leaves_out(*annotator) {
            continue;
        }
        let question = questions.iter().find(|asked| asked.id == *question);
        let (Some(text), Some(question), Some(annotator)) =
            (snapshot.text(*text)?, question, annotators.get(annotator))
        else {
            return Err(ProjectError::internal(&"a mark names something that is not there"));
        };
        writer.write_unanswered(&LabelRow {
            text_id: &text.external_id,
            text: &text.body,
            annotator: &annotator.external_id,
            label: None,
            spans: false,
            question: Some(&question.name),
            split: text.split.as_deref(),
            group: text.group.as_deref(),
            at_ms: Some(one.at_ms),
            duration_ms: None,
            source: None,
            occasion: 1,
            note: Some(&one.marks.note),
            skipped: one.marks.skipped,
            flagged: one.marks.flagged,
            guideline: None,
            study: &study.cells(question, text.id, Some(annotator.id)),
            shown: Shown::default(),
            attributes: &annotator.attributes,
            metadata: &text.metadata,
        })?;
    }
    Ok(())
}

/// Writes the re-annotations, after all labels.
fn write_repeats(
    snapshot: &Snapshot<'_>,
    writer: &mut Writing<'_>,
    questions: &[Question],
    repeats: &[Repeat],
    notes_and_marks: &NotesAndMarks,
    wordings: &HashMap<WordingId, u32>,
    study: &StudyColumns,
) -> Result<(), ProjectError> {
    let annotators: HashMap<AnnotatorId, Annotator> =
        snapshot.annotators()?.into_iter().map(|annotator| (annotator.id, annotator)).collect();
    for repeat in repeats {
        if study.leaves_out(repeat.annotator) {
            writer.done.left_out_failed += 1;
            continue;
        }
        let text = snapshot.text(repeat.text)?;
        let question = questions.iter().find(|question| question.id == repeat.question);
        let (Some(text), Some(question), Some(annotator)) =
            (text, question, annotators.get(&repeat.annotator))
        else {
            return Err(ProjectError::internal(&"a repeated answer names something that is not there"));
        };
        writer.write(&LabelRow {
            text_id: &text.external_id,
            text: &text.body,
            annotator: &annotator.external_id,
            label: question.scale.name_of_answer(&repeat.answer).as_deref(),
            spans: question.scale.form().marks_words(),
            question: Some(&question.name),
            split: text.split.as_deref(),
            group: text.group.as_deref(),
            at_ms: Some(repeat.at_ms),
            duration_ms: None,
            source: Some(repeat.source),
            occasion: repeat.occasion,
            note: Some(&repeat.details.note),
            skipped: false,
            flagged: false,
            guideline: repeat.details.guideline.and_then(|id| notes_and_marks.versions.get(&id).copied()),
            study: &study
                .cells(question, text.id, Some(annotator.id))
                .with_wording(repeat.wording.and_then(|id| wordings.get(&id).copied()))
                .with_consent(notes_and_marks.consents.number_at(
                    repeat.source,
                    repeat.annotator,
                    repeat.at_ms,
                )),
            shown: notes_and_marks.shown.before(repeat.question, repeat.text, repeat.annotator, repeat.at_ms),
            attributes: &annotator.attributes,
            metadata: &text.metadata,
        })?;
    }
    Ok(())
}
