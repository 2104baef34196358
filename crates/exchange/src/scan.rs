//! One pass over a file that changes nothing: the preview of an import.

use crate::row::Rows;
use crate::{
    Checker, ColumnRoles, ExchangeError, FileKind, LabelVerdict, RowError, RowErrorKind, Source, Verdict,
    read_rows,
};
use dissensus_domain::{Scale, ScaleError};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// How many rows a [`Scan`] shows.
pub const SAMPLE_ROWS: usize = 20;
/// How many bad rows a [`Scan`] keeps; all are counted.
pub const KEPT_PROBLEMS: usize = 100;
/// How many characters of a value a [`Scan`] shows.
pub const SHOWN_CHARACTERS: usize = 500;
/// How many different questions a [`Scan`] counts.
const COUNTED_QUESTIONS: usize = 100;
/// How often the caller hears of progress, in rows.
const REPORT_EVERY: u64 = 256;

/// What importing a file would bring.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The sort of file.
    pub kind: FileKind,
    /// Rows, good and bad.
    pub rows: u64,
    /// Different texts in good rows.
    pub texts: u64,
    /// Those of them that the project does not have.
    pub new_texts: u64,
    /// Different annotators in good rows.
    pub annotators: u64,
    /// Those of them that the project does not have.
    pub new_annotators: u64,
    /// Labels that would be appended.
    pub labels: u64,
    /// Labels that are there already, in the project or in a row before; in a file of texts or of annotators, rows
    /// whose text or annotator stood in a row before.
    pub repeated: u64,
    /// Good rows without a label, in a file of labels.
    pub empty_labels: u64,
    /// Rows that answer another question, and are left alone.
    pub other_question: u64,
    /// Rows a question, where the file names questions; the first 100 names.
    pub questions: BTreeMap<String, u64>,
    /// Labels to be appended a level: in the order of the scale, else of the names.
    pub levels: Vec<(String, u64)>,
    /// The scale given to the checker, or the one the labels most likely have; the error says why they have none.
    pub scale: Result<Scale, ScaleError>,
    /// The values of the first [`SAMPLE_ROWS`] rows as they stand, in the order of [`Source::columns`], cut to
    /// [`SHOWN_CHARACTERS`].
    pub sample: Vec<Vec<String>>,
    /// The first [`KEPT_PROBLEMS`] bad rows.
    pub problems: Vec<RowError>,
    /// All bad rows.
    pub problem_count: u64,
}

/// Reads all of `source` and says what importing it would bring. `checker` is one that was seeded from the project,
/// or a new one.
///
/// # Errors
/// Roles that do not fit, or a file that cannot be read to its end. Bad rows are no error here.
pub fn scan(source: &Source, roles: &ColumnRoles, checker: Checker) -> Result<Scan, ExchangeError> {
    scan_while(source, roles, checker, |_| ControlFlow::Continue(()))
}

/// As [`scan`], telling `progress` now and then how many bytes of [`Source::bytes`] are done; it may stop the scan.
///
/// # Errors
/// As [`scan`], and [`ExchangeError::Cancelled`] when `progress` breaks.
pub fn scan_while(
    source: &Source,
    roles: &ColumnRoles,
    mut checker: Checker,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Scan, ExchangeError> {
    let mut rows = read_rows(source, roles)?;
    let mut scan = Scan::empty(rows.kind());
    while let Some(read) = rows.next_checked(&mut checker) {
        scan.rows += 1;
        scan.sample(&rows);
        match read {
            Ok((row, verdict)) => {
                scan.count_question(row.question);
                scan.count(&verdict);
            }
            Err(error) => scan.complain(source, error)?,
        }
        if scan.rows.is_multiple_of(REPORT_EVERY) && progress(rows.position()).is_break() {
            return Err(ExchangeError::Cancelled { path: source.path().to_owned() });
        }
    }
    Ok(scan.with_levels(&checker))
}

impl Scan {
    fn empty(kind: FileKind) -> Self {
        Self {
            kind,
            rows: 0,
            texts: 0,
            new_texts: 0,
            annotators: 0,
            new_annotators: 0,
            labels: 0,
            repeated: 0,
            empty_labels: 0,
            other_question: 0,
            questions: BTreeMap::new(),
            levels: Vec::new(),
            scale: Err(ScaleError::TooFew(0)),
            sample: Vec::new(),
            problems: Vec::new(),
            problem_count: 0,
        }
    }

    fn sample(&mut self, rows: &Rows) {
        if self.sample.len() < SAMPLE_ROWS {
            self.sample.push(rows.cells().map(shown).collect());
        }
    }

    fn count_question(&mut self, question: Option<String>) {
        let Some(question) = question else { return };
        if self.questions.len() < COUNTED_QUESTIONS || self.questions.contains_key(&question) {
            *self.questions.entry(question).or_default() += 1;
        }
    }

    fn count(&mut self, verdict: &Verdict) {
        self.texts += u64::from(verdict.first_of_text);
        self.new_texts += u64::from(verdict.new_text);
        self.annotators += u64::from(verdict.first_of_annotator);
        self.new_annotators += u64::from(verdict.new_annotator);
        match verdict.label {
            LabelVerdict::Added { .. } => self.labels += 1,
            LabelVerdict::Repeated { .. } => self.repeated += 1,
            LabelVerdict::OtherQuestion => self.other_question += 1,
            LabelVerdict::None => match self.kind {
                FileKind::Labels => self.empty_labels += 1,
                FileKind::Texts => self.repeated += u64::from(!verdict.first_of_text),
                FileKind::Annotators => self.repeated += u64::from(!verdict.first_of_annotator),
            },
        }
    }

    fn complain(&mut self, source: &Source, error: RowError) -> Result<(), ExchangeError> {
        if let RowErrorKind::Unreadable { message } = error.kind {
            return Err(ExchangeError::reading(source.path(), std::io::Error::other(message)));
        }
        self.problem_count += 1;
        if self.problems.len() < KEPT_PROBLEMS {
            self.problems.push(error);
        }
        Ok(())
    }

    fn with_levels(mut self, checker: &Checker) -> Self {
        self.scale = checker.scale();
        let counts = checker.levels();
        self.levels = match &self.scale {
            Ok(scale) => {
                let mut of_level = vec![0; scale.len()];
                for (level, count) in
                    counts.iter().filter_map(|(name, count)| Some((scale.index_of(name)?, count)))
                {
                    of_level[usize::from(level)] += count;
                }
                scale.levels().iter().cloned().zip(of_level).collect()
            }
            Err(_) => counts.iter().map(|(name, count)| (name.clone(), *count)).collect(),
        };
        self
    }
}

fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}\u{2026}", &value[..end]),
        None => value.to_owned(),
    }
}
