//! The rules between rows, and between a file and the existing data of the project.

use crate::answers::{Answers, KnownLabel};
use crate::changes::Changes;
use crate::known::{KnownItems, Mention};
use crate::misfit::{About, Misfit};
use crate::row::Row;
use crate::row_error::RowErrorKind;
use crate::verdict::{LabelVerdict, Verdict};
use dissensus_domain::{Attributes, Scale, ScaleError};
use std::collections::BTreeMap;

/// Maximum number of questions in one file.
pub const MAX_QUESTIONS: usize = 100;

/// The state of the project and of the rows so far, against which the next row is checked. Preview and import
/// use the same rules: seed one `Checker` from the project, clone it for the preview, and give the other to
/// the import.
///
/// Texts and annotators are checked once for the whole file, labels question by question. A checker needs
/// about 24 bytes a text (64-bit hashes of id and body, keyed anew in every process), about 50 bytes a label,
/// and the annotators with their attributes. The probability that any two of a million texts share a hash is
/// about 3 in 10^8; a row would then be rejected by mistake.
#[derive(Clone, Debug)]
pub struct Checker {
    known: KnownItems,
    asking: Asking,
    questions: Vec<Answers>,
    /// Number of labels read from each annotator, by the annotator's number.
    taken: Vec<u64>,
    fold_case: bool,
    now_ms: i64,
}

/// Which question a row answers.
#[derive(Clone, Debug)]
enum Asking {
    /// All rows answer the same one.
    One,
    /// Each row names its own. A new question gets this scale, or none.
    Named { numbers: BTreeMap<String, usize>, scale: Option<Scale> },
}

impl Checker {
    /// Creates a checker for rows that all answer one question, number 0, whatever they name. Without a scale
    /// every label is accepted and its levels are collected.
    pub fn new(scale: Option<Scale>) -> Self {
        let questions = vec![Answers::new(scale)];
        Self {
            known: KnownItems::default(),
            asking: Asking::One,
            questions,
            taken: Vec::new(),
            fold_case: false,
            now_ms: 0,
        }
    }

    /// Creates a checker for rows that name the question they answer. Questions that were not added get
    /// `scale`, or none, with the first good row that names them.
    pub fn by_question(scale: Option<Scale>) -> Self {
        let asking = Asking::Named { numbers: BTreeMap::new(), scale };
        let (questions, taken) = (Vec::new(), Vec::new());
        Self { known: KnownItems::default(), asking, questions, taken, fold_case: false, now_ms: 0 }
    }

    /// Sets the time of rows without one, in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn at(mut self, now_ms: i64) -> Self {
        self.now_ms = now_ms;
        self
    }

    /// Accepts labels that differ from a level only in case, or are another word for yes or no, as that
    /// level.
    #[must_use]
    pub fn folding_case(mut self, fold_case: bool) -> Self {
        self.fold_case = fold_case;
        self
    }

    /// Finds texts of the project by their bodies, for a file without ids of texts: a row is about the only
    /// text of the project with its body, whatever the id of that text. Before any text is seeded.
    #[must_use]
    pub fn finding_by_body(mut self, by_body: bool) -> Self {
        if by_body {
            self.known.find_by_body();
        }
        self
    }

    /// Adds a question that rows may name and returns its number. For use with [`Checker::by_question`].
    pub fn add_question(&mut self, name: &str, scale: Option<Scale>) -> usize {
        let next = self.questions.len();
        if let Asking::Named { numbers, .. } = &mut self.asking {
            if let Some(number) = numbers.get(name) {
                return *number;
            }
            numbers.insert(name.to_owned(), next);
        }
        self.questions.push(Answers::new(scale));
        next
    }

    /// Sets the scale of a question, once it is known. None of its labels may have been read yet.
    pub fn set_scale(&mut self, question: usize, scale: Scale) {
        if let Some(answers) = self.questions.get_mut(question) {
            answers.set_scale(scale);
        }
    }

    /// Adds a text of the project. Returns its number, from 0 in the order of seeding.
    pub fn seed_text(&mut self, text_id: &str, body: &str) -> u32 {
        self.known.seed_text(text_id, body)
    }

    /// The number of annotators in the project and the rows so far.
    pub(crate) fn annotators(&self) -> usize {
        self.known.annotators()
    }

    /// Splits the annotators, in the order in which they were added, at `number`.
    pub(crate) fn annotators_split_at(&self, number: usize) -> (Vec<String>, Vec<String>) {
        self.known.annotators_split_at(number)
    }

    /// Adds an annotator of the project. Returns its number, from 0 in the order of seeding.
    pub fn seed_annotator(&mut self, annotator: &str, attributes: &Attributes) -> u32 {
        self.known.seed_annotator(annotator, attributes)
    }

    /// Adds a label of the project. Seed every label in the order in which they were appended, including
    /// those that a later label replaced: otherwise reading the same file again would append an old label as
    /// the newest. Leave out only retracted labels, so that the same row restores them.
    pub fn seed_label(&mut self, question: usize, label: &KnownLabel) {
        if let Some(answers) = self.questions.get_mut(question) {
            answers.seed(label);
        }
    }

    /// Removes the seeded labels of an annotator for a text, so that their present state can be seeded;
    /// returns whether there were any. Only before the first row.
    pub fn forget_labels(&mut self, question: usize, text: u32, annotator: u32) -> bool {
        self.questions.get_mut(question).is_some_and(|answers| answers.forget(text, annotator))
    }

    /// Marks the labels that are seeded from here on as given since the import began: rows without a time do
    /// not overrule them.
    pub fn go_on_seeding(&mut self) {
        self.questions.iter_mut().for_each(Answers::go_on_seeding);
    }

    /// The changes to existing labels by the labels so far.
    pub fn changes(&self, question: usize) -> Changes {
        self.questions.get(question).map(|answers| answers.changes.clone()).unwrap_or_default()
    }

    /// The number of labels in the file by annotator id.
    pub fn labels_of_annotators(&self) -> BTreeMap<String, u64> {
        let of = |(number, name): (u32, &String)| {
            let taken = self.taken.get(number as usize).copied().filter(|taken| *taken > 0)?;
            Some((name.clone(), taken))
        };
        self.known.annotator_numbers().filter_map(of).collect()
    }

    /// The questions by their numbers; empty if the checker is for one question without a name.
    pub fn question_names(&self) -> Vec<String> {
        let Asking::Named { numbers, .. } = &self.asking else { return Vec::new() };
        let mut names: Vec<(usize, &String)> = numbers.iter().map(|(name, number)| (*number, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name.clone()).collect()
    }

    /// The answers by question.
    pub(crate) fn answers(&self) -> &[Answers] {
        &self.questions
    }

    /// The levels of the labels of question 0 so far, with their counts. Without a scale, at most
    /// [`Scale::MAX_LEVELS`] + 1 names are collected; labels of further names are accepted and not counted
    /// here.
    pub fn levels(&self) -> BTreeMap<String, u64> {
        self.questions.first().map(|answers| answers.levels().clone()).unwrap_or_default()
    }

    /// Returns the scale given for question 0, or else the one that its labels so far most likely have.
    ///
    /// # Errors
    /// The same as [`Scale::guess`].
    pub fn scale(&self) -> Result<Scale, ScaleError> {
        self.questions.first().map_or(Err(ScaleError::TooFew(0)), Answers::scale)
    }

    /// Returns the id of the text that a row of a file without ids is about, if the project has given it one.
    pub(crate) fn id_by_body(&self, row: &Row) -> Option<String> {
        self.known.id_by_body(row).cloned()
    }

    /// Checks `row` and records it; returns what it adds, or why it does not fit. A row that does not fit
    /// changes nothing but the scale that it may give a question.
    ///
    /// # Errors
    /// A text id with another body, a label on an unknown text, another value of an annotator's attribute, a
    /// label that is not on the scale of its question, or a label without a question in a file that names
    /// them.
    pub(crate) fn check(&mut self, row: &Row) -> Result<Verdict, Misfit> {
        let asked = self.asked_by(row)?;
        if let (Some(RowQuestion::Known(number)), Some(scale)) = (&asked, &row.scale) {
            self.questions[*number].use_scale(scale);
        }
        self.known.check_text(row)?;
        self.known.check_attributes(row)?;
        let judged = match (&row.label, &asked) {
            (None, _) | (_, None) => None,
            (Some(label), Some(RowQuestion::Known(number))) => {
                Some(self.questions[*number].judge(label, self.fold_case))
            }
            (Some(label), Some(RowQuestion::New(_, scale))) => {
                Some(Answers::new(scale.clone()).judge(label, self.fold_case))
            }
        };
        let judged = judged.transpose().map_err(|kind| Misfit { about: About::Label, kind })?;
        if let Some(end) = judged.as_ref().and_then(|judged| judged.end) {
            self.known.check_end(row, end)?;
        }
        // The row fits. From here on it is recorded.
        let question = asked.map(|asked| match asked {
            RowQuestion::Known(number) => number,
            RowQuestion::New(name, scale) => {
                let number = self.add_question(&name, scale);
                if let Some(given) = &row.scale {
                    self.questions[number].use_scale(given);
                }
                number
            }
        });
        let text = self.known.remember_text(row);
        let annotator = self.known.remember_annotator(row);
        let mut label = if row.continues { LabelVerdict::Continues } else { LabelVerdict::None };
        if let Some(answers) = question.and_then(|number| self.questions.get_mut(number)) {
            answers.rows += 1;
            if let (Some(judged), Some(_)) = (judged.clone(), row.occasion) {
                let about = text.zip(annotator).map(|(text, annotator)| (text.number, annotator.number));
                label = answers.ask_again(about, row, judged);
            } else if let (Some(judged), Some(text), Some(annotator)) = (judged, text, annotator) {
                label = answers.remember(text.number, annotator.number, row, judged, self.now_ms);
            }
        }
        if let (LabelVerdict::Added { .. } | LabelVerdict::Repeat { .. }, Some(annotator)) =
            (&label, annotator)
        {
            let number = annotator.number as usize;
            if self.taken.len() <= number {
                self.taken.resize(number + 1, 0);
            }
            self.taken[number] += 1;
        }
        let (about_text, about_annotator) = (text.unwrap_or_default(), annotator.unwrap_or_default());
        let number = |mention: Mention| mention.number;
        Ok(Verdict {
            text: text.map(number),
            new_text: about_text.new,
            first_of_text: about_text.first,
            by_body: false,
            same_body: about_text.same_body,
            annotator: annotator.map(number),
            new_annotator: about_annotator.new,
            first_of_annotator: about_annotator.first,
            new_attributes: about_annotator.new_attributes,
            other_metadata: about_text.other_metadata,
            kept_attributes: about_annotator.kept_attributes,
            question,
            label,
        })
    }

    fn asked_by(&self, row: &Row) -> Result<Option<RowQuestion>, Misfit> {
        let Asking::Named { numbers, scale } = &self.asking else { return Ok(Some(RowQuestion::Known(0))) };
        let blame = |kind| Misfit { about: About::Question, kind };
        match &row.question {
            None if row.label.is_some() => Err(blame(RowErrorKind::Missing { what: "question" })),
            // Without a label the row adds only its text and its annotator, whatever the question would be.
            None => Ok(None),
            // The scale that a row gives a question applies if neither the project nor the user has one.
            Some(name) => match numbers.get(name) {
                Some(number) => Ok(Some(RowQuestion::Known(*number))),
                None if numbers.len() >= MAX_QUESTIONS => {
                    Err(blame(RowErrorKind::TooManyQuestions { limit: MAX_QUESTIONS }))
                }
                None => Ok(Some(RowQuestion::New(name.clone(), scale.clone().or_else(|| row.scale.clone())))),
            },
        }
    }
}

/// The question of a row.
enum RowQuestion {
    Known(usize),
    New(String, Option<Scale>),
}
