//! One pass over a file that changes nothing: the preview of an import.

use crate::answers::Answers;
use crate::changes::Changes;
use crate::rows::Rows;
use crate::{
    Checker, ColumnRoles, ExchangeError, FileKind, LabelVerdict, Row, RowError, RowErrorKind, Source,
    Verdict, read_rows_while,
};
use dissensus_domain::{Scale, ScaleError};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// How many rows a [`Scan`] shows.
pub const SAMPLE_ROWS: usize = 20;
/// How many bad rows a [`Scan`] stores; all are counted.
pub const MAX_PROBLEMS: usize = 100;
/// How many characters of a value a [`Scan`] shows.
pub const SHOWN_CHARACTERS: usize = 500;
/// How many texts a [`Scan`] shows with their answers, and at most how many answers of each.
const EXAMPLES: usize = 3;
const EXAMPLE_ANSWERS: usize = 60;
/// Interval between progress reports, in rows.
const REPORT_EVERY: u64 = 256;

/// The result of a scan: what importing a file would change.
#[derive(Clone, Debug)]
pub struct Scan {
    pub kind: FileKind,
    /// Rows of the file, good and bad.
    pub rows: u64,
    /// The rows by outcome.
    pub account: Account,
    /// Good rows whose metadata of a text differ from those of the first row about it.
    pub other_metadata: u64,
    /// Attributes of annotators with several values, if a rule settles them.
    pub settled_conflicts: u64,
    /// Attributes of annotators for which the project retains another value than the one a rule chose.
    pub kept_attributes: u64,
    /// Bad rows that contradict an earlier row about an annotator.
    pub conflicts: u64,
    /// Number of labels that would be appended, and of re-annotations, for each annotator id.
    pub of_annotators: BTreeMap<String, u64>,
    /// Three texts with everybody's answers.
    pub examples: Vec<ExampleOfText>,
    /// Different texts in good rows.
    pub texts: u64,
    /// Those of them that the project does not have.
    pub new_texts: u64,
    /// Texts of the project with ids of their own that a file without ids is about.
    pub texts_by_body: u64,
    /// New texts whose body the project has under another id, see [`Verdict::same_body`].
    pub same_bodies: u64,
    /// Different annotators in good rows.
    pub annotators: u64,
    /// Those of them that the project does not have.
    pub new_annotators: u64,
    /// The annotators of the project, and those that only the file has, by id.
    pub annotator_ids: (Vec<String>, Vec<String>),
    /// Labels that would be appended.
    pub labels: u64,
    /// Labels that already exist, in the project or in an earlier row; in a file of texts or of annotators,
    /// rows whose text or annotator occurred in an earlier row.
    pub repeated: u64,
    /// Re-annotations in the file; the project may have them already.
    pub again: u64,
    /// Good rows without a label, in a file of labels.
    pub empty_labels: u64,
    /// Spans in good rows of a CoNLL file that begin with a tag for the inside of one.
    pub begun_inside: u64,
    /// The questions by the checker's numbers: one question, or those that rows name or that were added.
    pub questions: Vec<QuestionScan>,
    /// The unprocessed values of the first [`SAMPLE_ROWS`] rows, in the order of [`Source::columns`], cut to
    /// [`SHOWN_CHARACTERS`].
    pub sample: Vec<Vec<String>>,
    /// The first [`MAX_PROBLEMS`] bad rows.
    pub problems: Vec<RowError>,
    /// All bad rows; each is counted once, whatever number of answers it has.
    pub problem_count: u64,
}

/// The rows of a file by outcome; each is in one of the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// They add an answer, a text or an annotator.
    pub read: u64,
    /// All of their contents exist already.
    pub repeated: u64,
    /// Their text exists with other metadata, which are retained.
    pub changed: u64,
    /// They have an annotator and no answer.
    pub without_label: u64,
    /// They are bad.
    pub dropped: u64,
    /// Why, the most frequent first.
    pub reasons: Vec<DroppedFor>,
}

/// Rows that are bad for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedFor {
    /// The kind of reason, with the first row's values.
    pub reason: String,
    pub rows: u64,
    /// The first of them, from 1.
    pub first_row: u64,
}

/// A text and the answers to it in the first rows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleOfText {
    pub text_id: String,
    /// The body, cut to [`SHOWN_CHARACTERS`]; empty if the project has it.
    pub text: String,
    /// In order of rows.
    pub answers: Vec<ExampleOfAnswer>,
}

/// An answer to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleOfAnswer {
    pub annotator: Option<String>,
    /// The question, where rows name one.
    pub question: Option<String>,
    /// The answer as it is imported.
    pub answer: String,
    /// The annotation round, from 2; `None` for the first.
    pub occasion: Option<u16>,
}

/// The labels of one question in a file.
#[derive(Clone, Debug)]
pub struct QuestionScan {
    /// Its name, where rows name it.
    pub name: Option<String>,
    /// Good rows that answer it, with a label or without.
    pub rows: u64,
    /// Labels that would be appended.
    pub labels: u64,
    /// Labels that are there already, in the project or in a row before.
    pub repeated: u64,
    /// Number of labels to be appended and of re-annotations for each level or option: in the order of the
    /// scale, then those that are not on it by name.
    pub levels: Vec<(String, u64)>,
    /// The same by the names in the file, at most some more than a scale may have.
    pub names: Vec<(String, u64)>,
    /// The same by type, read as spans; as `options`.
    pub types: Vec<(String, u64)>,
    /// The same by option, for labels that are sets of options: empty with a scale of another kind, without
    /// one at most twice as many as a scale may have.
    pub options: Vec<(String, u64)>,
    /// The scale given to the checker, or else the most likely one; the error is the reason why there is
    /// none.
    pub scale: Result<Scale, ScaleError>,
    /// The first scale that a row gives the question, in a file with a column of scales.
    pub given_scale: Option<Scale>,
    /// The first scale of a row that is another one, and how many rows have such a one.
    pub other_scale: Option<(Scale, u64)>,
    /// The labels were read without a scale: what is the same answer on it was not known.
    pub without_scale: bool,
    /// How these labels change existing ones.
    pub changes: Changes,
}

/// Reads all of `source` and returns what importing it would change. `checker` is one that was seeded from
/// the project, or a new one.
///
/// # Errors
/// Roles that do not fit, or a file that cannot be read to its end. Bad rows are not errors here.
pub fn scan(source: &Source, roles: &ColumnRoles, checker: Checker) -> Result<Scan, ExchangeError> {
    scan_while(source, roles, checker, |_| ControlFlow::Continue(()))
}

/// Runs [`scan`], passing to `progress` now and then how many bytes of [`Source::bytes`] are done; it may
/// stop the scan.
///
/// # Errors
/// The same as [`scan`], and [`ExchangeError::Cancelled`] when `progress` breaks.
pub fn scan_while(
    source: &Source,
    roles: &ColumnRoles,
    mut checker: Checker,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Scan, ExchangeError> {
    let mut rows = read_rows_while(source, roles, &mut progress)?;
    let mut scan = Scan::empty(rows.kind());
    let known = checker.annotators();
    let mut at_hand = Outcome::default();
    let mut reasons = Reasons::default();
    while let Some(read) = rows.next_checked(&mut checker) {
        if rows.record() != at_hand.record {
            scan.settle(&at_hand);
            at_hand = Outcome { record: rows.record(), ..Outcome::default() };
            scan.rows += 1;
            scan.sample(&rows);
        }
        match read {
            Ok((row, verdict)) => {
                scan.begun_inside += u64::from(rows.begun_inside());
                scan.kept_attributes += u64::from(verdict.kept_attributes);
                scan.count(&verdict, source.is_of_tool());
                scan.show(&row);
                at_hand.take(&row, &verdict);
            }
            Err(error) => {
                if !at_hand.bad {
                    reasons.add(&error);
                }
                scan.complain(source, error, at_hand.bad)?;
                at_hand.bad = true;
            }
        }
        if scan.rows.is_multiple_of(REPORT_EVERY) && progress(rows.position()).is_break() {
            return Err(ExchangeError::Cancelled { path: source.path().to_owned() });
        }
    }
    scan.settle(&at_hand);
    scan.account.reasons = reasons.listed();
    scan.settled_conflicts = rows.settled_conflicts();
    let names = checker.question_names();
    scan.annotator_ids = checker.annotators_split_at(known);
    scan.of_annotators = checker.labels_of_annotators();
    scan.questions =
        checker.answers().iter().enumerate().map(|(n, a)| QuestionScan::new(a, names.get(n))).collect();
    Ok(scan)
}

impl Scan {
    fn empty(kind: FileKind) -> Self {
        Self {
            kind,
            rows: 0,
            account: Account::default(),
            other_metadata: 0,
            settled_conflicts: 0,
            kept_attributes: 0,
            conflicts: 0,
            of_annotators: BTreeMap::new(),
            examples: Vec::new(),
            texts: 0,
            new_texts: 0,
            texts_by_body: 0,
            same_bodies: 0,
            annotators: 0,
            new_annotators: 0,
            annotator_ids: (Vec::new(), Vec::new()),
            labels: 0,
            repeated: 0,
            again: 0,
            empty_labels: 0,
            begun_inside: 0,
            questions: Vec::new(),
            sample: Vec::new(),
            problems: Vec::new(),
            problem_count: 0,
        }
    }

    fn sample(&mut self, rows: &Rows) {
        if self.sample.len() < SAMPLE_ROWS && rows.is_of_given_file() {
            self.sample.push(rows.cells().map(shown).collect());
        }
    }

    fn count(&mut self, verdict: &Verdict, of_tool: bool) {
        self.texts += u64::from(verdict.first_of_text);
        self.new_texts += u64::from(verdict.new_text);
        self.texts_by_body += u64::from(verdict.first_of_text && verdict.by_body);
        self.same_bodies += u64::from(verdict.same_body);
        self.annotators += u64::from(verdict.first_of_annotator);
        self.new_annotators += u64::from(verdict.new_annotator);
        match verdict.label {
            LabelVerdict::Added { .. } => self.labels += 1,
            LabelVerdict::Repeated { .. } => self.repeated += 1,
            LabelVerdict::Repeat { .. } => self.again += 1,
            LabelVerdict::Continues => {}
            LabelVerdict::None => match self.kind {
                // In a table, a text without an annotator is one that no annotator was asked about.
                FileKind::Labels => self.empty_labels += u64::from(of_tool || verdict.annotator.is_some()),
                FileKind::Texts => self.repeated += u64::from(!verdict.first_of_text),
                FileKind::Annotators => self.repeated += u64::from(!verdict.first_of_annotator),
            },
        }
    }

    /// Puts a row into the account.
    fn settle(&mut self, row: &Outcome) {
        if row.record == 0 {
            return;
        }
        let account = &mut self.account;
        let count = match row {
            Outcome { bad: true, .. } => &mut account.dropped,
            Outcome { new: true, .. } => &mut account.read,
            Outcome { blank: true, .. } => &mut account.without_label,
            Outcome { other_metadata: true, .. } => &mut account.changed,
            _ => &mut account.repeated,
        };
        *count += 1;
        self.other_metadata += u64::from(row.other_metadata && !row.bad);
    }

    /// Adds an answer to the examples if it is about one of the first texts.
    fn show(&mut self, row: &Row) {
        let (Some(text_id), Some(answer)) = (&row.text_id, &row.label) else { return };
        let at = self.examples.iter().position(|example| example.text_id == *text_id);
        let at = match at {
            Some(at) => at,
            None if self.examples.len() < EXAMPLES => {
                let text = row.text.as_deref().map(shown).unwrap_or_default();
                self.examples.push(ExampleOfText { text_id: text_id.clone(), text, answers: Vec::new() });
                self.examples.len() - 1
            }
            None => return,
        };
        let answers = &mut self.examples[at].answers;
        if answers.len() < EXAMPLE_ANSWERS {
            answers.push(ExampleOfAnswer {
                annotator: row.annotator.clone(),
                question: row.question.clone(),
                answer: shown(answer),
                occasion: row.occasion,
            });
        }
    }

    /// Counts a bad row, unless another answer in it is also bad.
    fn complain(&mut self, source: &Source, error: RowError, again: bool) -> Result<(), ExchangeError> {
        if let RowErrorKind::Unreadable { message } = error.kind {
            return Err(ExchangeError::reading(source.path(), std::io::Error::other(message)));
        }
        self.conflicts += u64::from(matches!(error.kind, RowErrorKind::OtherAttribute { .. }));
        self.problem_count += u64::from(!again);
        // An error in the text of a row is repeated for all of its answers.
        let same = self.problems.last().is_some_and(|last| again && *last == error);
        if self.problems.len() < MAX_PROBLEMS && !same {
            self.problems.push(error);
        }
        Ok(())
    }
}

/// The combined outcome of the rows that were made of one record.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    /// Number of the record; 0 before the first.
    record: u64,
    bad: bool,
    new: bool,
    blank: bool,
    other_metadata: bool,
}

impl Outcome {
    fn take(&mut self, row: &Row, verdict: &Verdict) {
        let brings = match verdict.label {
            LabelVerdict::Added { .. } | LabelVerdict::Repeat { .. } | LabelVerdict::Continues => true,
            LabelVerdict::Repeated { .. } => false,
            LabelVerdict::None if row.annotator.is_some() && row.text_id.is_some() => {
                self.blank = true;
                false
            }
            LabelVerdict::None => verdict.new_text || verdict.new_annotator || verdict.new_attributes,
        };
        self.new |= brings;
        self.other_metadata |= verdict.other_metadata;
    }
}

/// The reasons for which rows are bad, by kind.
#[derive(Debug, Default)]
struct Reasons(Vec<(std::mem::Discriminant<RowErrorKind>, Option<String>, DroppedFor)>);

impl Reasons {
    fn add(&mut self, error: &RowError) {
        let kind = std::mem::discriminant(&error.kind);
        let full = self.0.len() >= MAX_PROBLEMS;
        match self.0.iter_mut().find(|(known, column, _)| *known == kind && *column == error.column) {
            Some((.., dropped)) => dropped.rows += 1,
            None if !full => {
                let reason = match &error.column {
                    Some(column) => format!("column \"{column}\": {}", error.kind),
                    None => error.kind.to_string(),
                };
                self.0.push((
                    kind,
                    error.column.clone(),
                    DroppedFor { reason, rows: 1, first_row: error.row },
                ));
            }
            None => {}
        }
    }

    fn listed(self) -> Vec<DroppedFor> {
        let mut listed: Vec<DroppedFor> = self.0.into_iter().map(|(.., dropped)| dropped).collect();
        listed.sort_by_key(|dropped| (std::cmp::Reverse(dropped.rows), dropped.first_row));
        listed
    }
}

impl QuestionScan {
    fn new(answers: &Answers, name: Option<&String>) -> Self {
        let scale = answers.scale();
        let counts = match &scale {
            Ok(scale) if scale.form().is_set() => answers.options(),
            Ok(scale) if scale.form().marks_words() => answers.types(),
            _ => answers.levels(),
        };
        let levels = match &scale {
            Ok(scale) => {
                let mut of_level = vec![0; scale.len()];
                for (level, count) in
                    counts.iter().filter_map(|(name, count)| Some((scale.index_of(name)?, count)))
                {
                    of_level[usize::from(level)] += count;
                }
                let off = answers.levels().iter().filter(|(name, _)| scale.answer_named(name).is_none());
                let off = off.map(|(name, count)| (name.clone(), *count));
                scale.levels().iter().cloned().zip(of_level).chain(off).collect()
            }
            Err(_) => counts.iter().map(|(name, count)| (name.clone(), *count)).collect(),
        };
        Self {
            name: name.cloned(),
            rows: answers.rows,
            labels: answers.added,
            repeated: answers.repeated,
            levels,
            names: answers.levels().iter().map(|(name, count)| (name.clone(), *count)).collect(),
            types: answers.types().iter().map(|(name, count)| (name.clone(), *count)).collect(),
            options: answers.options().iter().map(|(name, count)| (name.clone(), *count)).collect(),
            scale,
            given_scale: answers.given_scale().cloned(),
            other_scale: answers.other_scale().cloned(),
            without_scale: answers.is_without_scale(),
            changes: answers.changes.clone(),
        }
    }

    /// The names of the labels that would be appended and that `scale` does not have.
    pub fn off_scale<'a>(&'a self, scale: &'a Scale) -> impl Iterator<Item = &'a str> {
        self.names.iter().map(|(name, _)| name.as_str()).filter(|name| scale.answer_named(name).is_none())
    }
}

fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}\u{2026}", &value[..end]),
        None => value.to_owned(),
    }
}
