//! Guesses the role of each column from its name and, where names are not conclusive, from its values.

use super::survey::Survey;
use crate::annotations::{self, Facts};
use crate::records::Records;
use crate::roles::simplified;
use crate::study_cells::STUDY_COLUMNS;
use crate::time::{parse_duration_ms, parse_ms};
use crate::vocabulary::vocabulary;
use crate::{ColumnRoles, ExchangeError, Source};
use dissensus_domain::{LabelSource, OffsetUnit, Split};
use std::collections::HashSet;

/// How many rows of a file are inspected: enough for a few hundred annotators, few enough for a preview.
const SAMPLED_ROWS: u64 = 5_000;
const SAMPLED_BYTES: u64 = 32 << 20;
/// Numbers before this moment (in the year 2000) are not times.
const FIRST_MS: i64 = 946_684_800_000;
/// Durations that are all below this number may not be milliseconds.
const SECONDS: f64 = 300.0;
/// The same for files of very many columns.
const SAMPLED_VALUES: u64 = 500_000;

/// Guesses the role of every column of `source`, from its name and from its first 5,000 rows (fewer if there
/// are more than 100 columns).
///
/// The columns of an annotation tool's file have fixed roles and are not guessed.
///
/// By value: a column that is the same in all rows of each annotator and differs between annotators is an
/// attribute, unless it belongs to the text (the same in all rows of each text). A column that is guessed to
/// be a time, a duration, a source or a split must parse as one in every row of the sample; an annotation
/// round in one of them. All other columns are metadata.
///
/// In a file that this program wrote, names decide, and the values only which columns are attributes.
pub fn guess_roles(source: &Source) -> Result<ColumnRoles, ExchangeError> {
    guess_roles_in(source, None)
}

/// Guesses roles like [`guess_roles`], given the column of the labels: columns for their annotator and time
/// are then accepted that would otherwise be considered the author and time of the texts.
pub fn guess_roles_in(source: &Source, label: Option<&str>) -> Result<ColumnRoles, ExchangeError> {
    let named = ColumnRoles { label: label.map(str::to_owned), ..ColumnRoles::default() };
    guess_the_rest(source, &named, &HashSet::new(), &[])
}

/// Guesses the remaining roles like [`guess_roles`], given those of some columns: text, its id, annotator,
/// label, time. The columns in `left_out` get no role.
pub(crate) fn guess_roles_around(
    source: &Source,
    named: &ColumnRoles,
    left_out: &[String],
) -> Result<ColumnRoles, ExchangeError> {
    guess_the_rest(source, named, &HashSet::new(), left_out)
}

/// Guesses the remaining roles of the columns that do not hold answers.
pub(crate) fn guess_the_rest(
    source: &Source,
    named: &ColumnRoles,
    answers: &HashSet<usize>,
    left_out: &[String],
) -> Result<ColumnRoles, ExchangeError> {
    if let Some(facts) = source.facts() {
        return Ok(of_tool(facts));
    }
    let mut guess = Guess::by_name(source.columns(), named, answers, left_out);
    let survey = guess.survey(source)?;
    guess.doubt(&survey);
    guess.by_value(&survey);
    Ok(guess.roles())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    TextId,
    Text,
    Annotator,
    Label,
    SpanStart,
    SpanEnd,
    SpanType,
    Split,
    Group,
    Question,
    Time,
    Duration,
    Occasion,
    Note,
    Reasons,
    Confidence,
    Marks,
    Guideline,
    Scale,
    Study,
    Shown,
    Source,
    Attribute,
    /// One of several columns of answers.
    Answer,
}

/// The role of each column so far.
struct Guess<'a> {
    columns: &'a [String],
    roles: Vec<Option<Role>>,
    /// There are other columns with answers.
    answered: bool,
    /// The column of the text was named by the user.
    text_named: bool,
    /// The file was written by this program.
    ours: bool,
}

/// Columns of every file of labels that this program writes.
const OURS: [&str; 6] = ["text_id", "annotator_id", "question", "created_at", DURATION, SOURCE];
const DURATION: &str = "duration_ms";
const SOURCE: &str = "source";

impl<'a> Guess<'a> {
    fn by_name(
        columns: &'a [String],
        named: &ColumnRoles,
        answers: &HashSet<usize>,
        left_out: &[String],
    ) -> Self {
        let mut guess = Self {
            columns,
            roles: vec![None; columns.len()],
            answered: !answers.is_empty(),
            text_named: named.text.is_some(),
            ours: OURS.iter().all(|name| columns.iter().any(|column| column == name)),
        };
        for answer in answers {
            guess.roles[*answer] = Some(Role::Answer);
        }
        for column in left_out.iter().filter_map(|name| columns.iter().position(|column| column == name)) {
            guess.roles[column] = Some(Role::Answer);
        }
        for (role, name) in [
            (Role::Label, &named.label),
            (Role::Annotator, &named.annotator),
            (Role::Text, &named.text),
            (Role::TextId, &named.text_id),
            (Role::Time, &named.time),
        ] {
            let name = name.as_deref();
            if let Some(index) = name.and_then(|name| columns.iter().position(|column| column == name)) {
                guess.roles[index] = Some(role);
            }
        }
        // These words are common in other files, so they are accepted only in files written by this program.
        let ours =
            ["annotator_id", "created_at", "source", "note", "reasons", "confidence", "marks", "guideline"];
        if ours.iter().all(|name| columns.iter().any(|column| column == name)) {
            for (role, name) in [
                (Role::Note, "note"),
                (Role::Reasons, "reasons"),
                (Role::Confidence, "confidence"),
                (Role::Marks, "marks"),
                (Role::Guideline, "guideline"),
                // Only files of projects in which something was shown have it.
                (Role::Shown, "shown"),
            ] {
                if let Some(index) = columns.iter().position(|column| column == name) {
                    guess.roles[index] = Some(role);
                }
            }
            // Only files of studies have these.
            for name in STUDY_COLUMNS {
                if let Some(index) = columns.iter().position(|column| column == name) {
                    guess.roles[index] = Some(Role::Study);
                }
            }
        }
        // Only files of questions whose labels do not imply their scale have it.
        if let Some(index) = columns.iter().position(|column| column == "scale").filter(|_| guess.ours) {
            guess.roles[index] = Some(Role::Scale);
        }
        let names = &vocabulary().columns;
        let lists = [
            (Role::TextId, &names.text_id),
            (Role::Annotator, &names.annotator),
            (Role::Text, &names.text),
            (Role::Label, &names.label),
            (Role::SpanStart, &names.span_start),
            (Role::SpanEnd, &names.span_end),
            (Role::SpanType, &names.span_type),
            (Role::Split, &names.split),
            (Role::Group, &names.group),
            (Role::Question, &names.question),
            (Role::Time, &names.time),
            (Role::Duration, &names.duration),
            (Role::Occasion, &names.occasion),
            (Role::Source, &names.source),
        ];
        for (role, names) in lists {
            let labelled = guess.answered || guess.column(Role::Label).is_some();
            let taken = guess.column(role).is_some();
            if !taken && (role != Role::Label || !labelled) {
                guess.claim_by_name(role, names);
            }
        }
        guess
    }

    fn claim_by_name(&mut self, role: Role, names: &[String]) {
        let plain: Vec<String> = self.columns.iter().map(|c| simplified(c)).collect();
        let free = |index: &usize| self.roles[*index].is_none();
        let found = names.iter().find_map(|name| (0..plain.len()).filter(free).find(|i| plain[*i] == *name));
        if let Some(index) = found {
            self.roles[index] = Some(role);
        }
    }

    fn column(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|r| *r == Some(role))
    }

    fn release(&mut self, role: Role) {
        if let Some(index) = self.column(role) {
            self.roles[index] = None;
        }
    }

    fn survey(&self, source: &Source) -> Result<Survey, ExchangeError> {
        let reading = |e| ExchangeError::reading(source.path(), e);
        let mut records = Records::open(source)?;
        let text = self.column(Role::TextId).or(self.column(Role::Text));
        let mut survey = Survey::new(self.columns.len(), text, self.column(Role::Annotator));
        let rows = SAMPLED_ROWS.min(SAMPLED_VALUES / self.columns.len().max(1) as u64).max(20);
        while records.row() < rows && records.position() < SAMPLED_BYTES {
            match records.advance() {
                Ok(true) => survey.take(records.cells()),
                Ok(false) => break,
                Err(e) if e.is_fatal() => return Err(reading(std::io::Error::other(e.to_string()))),
                Err(_) => {} // bad rows are reported by the scan; they teach nothing here
            }
        }
        Ok(survey)
    }

    /// Revokes roles that the values contradict, and roles that make no valid sort of file.
    fn doubt(&mut self, survey: &Survey) {
        self.doubt_text(survey);
        // Labels of our files may have no time at first, and many questions, of some texts each.
        if !self.ours || self.column(Role::Time).is_some_and(|column| !survey.is_blank(column)) {
            // A small number is a duration.
            self.believe(Role::Time, survey, |v| {
                parse_ms(v).is_some_and(|at| v.contains(['-', '/', ':']) || at >= FIRST_MS)
            });
        }
        self.believe(Role::Duration, survey, |v| parse_duration_ms(v).is_some());
        self.doubt_unit(survey);
        if !self.ours {
            self.doubt_what_is_of_texts(survey);
            self.doubt_round(survey);
        }
        self.believe(Role::Source, survey, |v| LabelSource::from_name(v).is_some());
        self.doubt_spans(survey);
        let spans = self.column(Role::SpanStart).is_some();
        let weak = |c: usize| vocabulary().columns.weak_label.contains(&simplified(&self.columns[c]));
        if self.column(Role::Annotator).is_none() && self.column(Role::Label).is_some_and(weak) {
            self.release(Role::Label);
        }
        let has_text = self.column(Role::Text).is_some();
        let has_label = self.answered || self.column(Role::Label).is_some() || spans;
        // If a file has only texts, an author is not an annotator, and the time of a text is not the time of
        // a label.
        if has_text && !has_label && !self.label_by_value(survey) {
            for role in
                [Role::Annotator, Role::Time, Role::Duration, Role::Occasion, Role::Source, Role::Question]
            {
                self.release(role);
            }
        }
        if !has_text && !has_label {
            self.doubt_text_id();
        }
    }

    /// Revokes the time and the question where the values are those of texts.
    fn doubt_what_is_of_texts(&mut self, survey: &Survey) {
        // A time that is the same for all annotators of a text is the text's own, not that of a label.
        if self.column(Role::Time).is_some_and(|column| survey.belongs_to_text(column)) {
            self.release(Role::Time);
        }
        // A column that describes a text is not the question about it.
        if self.column(Role::Question).is_some_and(|c| !survey.is_few(c) || survey.belongs_to_text(c)) {
            self.release(Role::Question);
        }
    }

    /// Decimal or consistently small numbers may as well be seconds, unless the name of the column has a
    /// unit.
    fn doubt_unit(&mut self, survey: &Survey) {
        let Some(column) = self.column(Role::Duration) else { return };
        let name = simplified(&self.columns[column]);
        let says =
            ["ms", "millis", "msec", "milliseconds", "millisecond"].iter().any(|unit| name.ends_with(unit));
        let milliseconds = |value: &str| value.parse::<f64>().is_ok_and(|x| x >= SECONDS);
        if !says
            && (survey.any_read(column, |v| v.contains('.') && !v.ends_with(".0"))
                || !survey.any_read(column, milliseconds))
        {
            self.release(Role::Duration);
        }
    }

    /// Numbers are not texts, whatever their column is called, if texts have ids.
    fn doubt_text(&mut self, survey: &Survey) {
        let numbers = |column: usize| survey.all_read(column, |value| value.trim().parse::<f64>().is_ok());
        if self.text_named || self.column(Role::TextId).is_none() {
            return;
        }
        let Some(text) = self.column(Role::Text).filter(|text| numbers(*text)) else { return };
        // Blocks this column for the next attempt, so that the next name is tried.
        self.roles[text] = Some(Role::Answer);
        self.claim_by_name(Role::Text, &vocabulary().columns.text);
        self.doubt_text(survey);
        self.roles[text] = None;
    }

    /// Checks the columns of spans. Spans need an annotator, and a blank row has no span; values that are not
    /// offsets are bad rows and no reason to doubt columns of such names. Without a column of types the
    /// labels are the types, but only if all values are offsets, an annotator has several rows for one text,
    /// and a text has several rows: otherwise these may be times in a recording. A label in every row is the
    /// answer itself.
    fn doubt_spans(&mut self, survey: &Survey) {
        let columns =
            (self.column(Role::SpanStart), self.column(Role::SpanEnd), self.column(Role::Annotator));
        let (kind, label) = (self.column(Role::SpanType), self.column(Role::Label));
        let offset = |value: &str| value.strip_suffix(".0").unwrap_or(value).parse::<u32>().is_ok();
        let any = |column: usize| survey.is_blank(column) || survey.any_read(column, offset);
        let all = |column: usize| survey.all_read(column, offset);
        let believed = match (columns, kind, label) {
            ((Some(start), Some(end), Some(_)), Some(kind), label) => {
                // Labels of another question may come first, and fill the whole sample.
                let not_yet = [start, end, kind].iter().all(|column| survey.is_blank(*column));
                any(start) && any(end) && label.is_none_or(|label| not_yet || survey.has_blank(label))
            }
            ((Some(start), Some(end), Some(_)), None, Some(_)) => {
                all(start) && all(end) && survey.answers_twice() && survey.varies_within_text(start)
            }
            _ => false,
        };
        if !believed {
            for role in [Role::SpanStart, Role::SpanEnd, Role::SpanType] {
                self.release(role);
            }
        } else if let (None, Some(label)) = (kind, label) {
            self.roles[label] = Some(Role::SpanType);
        }
    }

    /// Checks the column of annotation rounds. A round that is missed would let second answers replace first
    /// ones, so a few values that do not parse are bad rows and no reason to doubt the column; a sample of
    /// blank values is inconclusive, because later rounds are at the end of files. But if nobody answers a
    /// text twice, different numbers are something other than rounds.
    fn doubt_round(&mut self, survey: &Survey) {
        let Some(column) = self.column(Role::Occasion) else { return };
        let number = |value: &str| value.parse::<f64>().is_ok();
        let later = |value: &str| value.parse::<f64>().is_ok_and(|number| number > 1.0);
        let words = !survey.is_blank(column) && !survey.any_read(column, number);
        // A file with one later round only is a file of that round.
        let several = survey.any_read(column, later) && !survey.is_one(column);
        let about_people =
            [Role::Text, Role::TextId, Role::Label].iter().all(|role| self.column(*role).is_none());
        if words || about_people || (several && !survey.answers_twice()) {
            self.release(Role::Occasion);
        }
    }

    /// Without texts and labels an id is an annotator's, not a text's, if there is anything about annotators.
    fn doubt_text_id(&mut self) {
        let about_people =
            self.columns.iter().any(|c| vocabulary().columns.attribute.contains(&about_annotator(c)));
        let id = self.column(Role::TextId);
        if self.column(Role::Annotator).is_some() {
            self.release(Role::TextId);
        } else if let Some(id) = id.filter(|id| about_people && simplified(&self.columns[*id]) == "id") {
            self.roles[id] = Some(Role::Annotator);
        }
    }

    /// Revokes `role` unless every value of the sample parses as one.
    fn believe(&mut self, role: Role, survey: &Survey, reads: impl Fn(&str) -> bool) {
        if self.column(role).is_some_and(|column| !survey.all_read(column, reads)) {
            self.release(role);
        }
    }

    /// Finds the label by value: the only column of few values that varies within texts and within
    /// annotators. If there are several, and a column is clearly called an annotator, none is guessed, but
    /// the file does not count as one of texts only: the user has to choose the label.
    fn label_by_value(&mut self, survey: &Survey) -> bool {
        let free = |i: &usize| self.roles[*i].is_none() && survey.looks_like_label(*i);
        let mut candidates = (0..self.columns.len()).filter(free);
        match (candidates.next(), candidates.next(), self.column(Role::Annotator)) {
            (Some(index), None, Some(_)) => {
                self.roles[index] = Some(Role::Label);
                true
            }
            (Some(_), Some(_), Some(annotator)) => {
                let name = simplified(&self.columns[annotator]);
                ["annotator", "worker", "rater", "coder"].iter().any(|who| name.starts_with(who))
            }
            _ => false,
        }
    }

    fn by_value(&mut self, survey: &Survey) {
        let only_annotators = self.column(Role::Annotator).is_some()
            && !self.answered
            && [Role::Text, Role::TextId, Role::Label].iter().all(|r| self.column(*r).is_none());
        if self.column(Role::Split).is_none() && !only_annotators {
            let names_splits = |v: &str| Split::from_name(v).is_some();
            let free = |i: &usize| self.roles[*i].is_none() && survey.all_read(*i, names_splits);
            if let Some(index) = (0..self.columns.len()).find(free) {
                self.roles[index] = Some(Role::Split);
            }
        }
        if self.column(Role::Annotator).is_none() {
            return;
        }
        if self.ours {
            self.take_our_attributes(survey);
        }
        for index in 0..self.columns.len() {
            let usual = vocabulary().columns.attribute.contains(&about_annotator(&self.columns[index]));
            let takes = only_annotators || survey.looks_like_attribute(index, usual);
            if self.roles[index].is_none() && takes {
                self.roles[index] = Some(Role::Attribute);
            }
        }
    }

    /// Finds attributes in a file that this program wrote. They come before metadata, or before the column of
    /// sources if their values may not distinguish them. An attribute has one value for each annotator and
    /// metadata one for each text, blank ones included.
    fn take_our_attributes(&mut self, survey: &Survey) {
        let place = |name: &str| self.columns.iter().position(|column| column == name);
        let free = |i: &usize| self.roles[*i].is_none();
        let before_sources = place(DURATION).zip(place(SOURCE)).map_or(0..0, |(a, b)| a + 1..b);
        let found: Vec<usize> = match !before_sources.is_empty() && before_sources.clone().all(|i| free(&i)) {
            true => before_sources.collect(),
            false => {
                let of_people = |i: &usize| free(i) && survey.is_constant_within_annotators(*i);
                let last = (0..self.columns.len())
                    .rfind(|i| of_people(i) && !survey.is_constant_within_texts(*i))
                    .map_or(0, |last| last + 1);
                let own = |i: &usize| *i < last || survey.differs_between_annotators(*i);
                (0..self.columns.len()).filter(of_people).filter(own).collect()
            }
        };
        for index in found {
            self.roles[index] = Some(Role::Attribute);
        }
    }

    fn all_of(&self, role: Role) -> Vec<String> {
        let has = |i: &usize| self.roles[*i] == Some(role);
        (0..self.columns.len()).filter(has).map(|i| self.columns[i].clone()).collect()
    }

    fn roles(&self) -> ColumnRoles {
        let name = |role| self.column(role).map(|i| self.columns[i].clone());
        ColumnRoles {
            text_id: name(Role::TextId),
            text: name(Role::Text),
            annotator: name(Role::Annotator),
            label: name(Role::Label),
            span_start: name(Role::SpanStart),
            span_end: name(Role::SpanEnd),
            span_type: name(Role::SpanType),
            offsets: OffsetUnit::Characters,
            split: name(Role::Split),
            group: name(Role::Group),
            question: name(Role::Question),
            scale: name(Role::Scale),
            time: name(Role::Time),
            duration: name(Role::Duration),
            occasion: name(Role::Occasion),
            note: name(Role::Note),
            reasons: name(Role::Reasons),
            confidence: name(Role::Confidence),
            marks: name(Role::Marks),
            guideline: name(Role::Guideline),
            shown: name(Role::Shown),
            source: name(Role::Source),
            study: self.all_of(Role::Study),
            attributes: self.all_of(Role::Attribute),
        }
    }
}

/// The roles of the columns that rows of an annotation tool's file have.
fn of_tool(facts: &Facts) -> ColumnRoles {
    let columns = facts.columns();
    let column = |name: &str| columns.iter().any(|column| column == name).then(|| name.to_owned());
    let label = column(annotations::LABEL);
    ColumnRoles {
        text_id: column(annotations::TEXT_ID),
        text: facts.body(),
        // An author of texts without answers is not an annotator.
        annotator: column(annotations::ANNOTATOR).filter(|_| label.is_some() || facts.is_of_people()),
        label,
        split: column(annotations::SPLIT),
        question: column(annotations::QUESTION),
        time: column(annotations::TIME),
        duration: column(annotations::DURATION),
        occasion: column(annotations::OCCASION),
        note: column(annotations::NOTE),
        marks: column(annotations::MARKS),
        attributes: facts.attributes(),
        ..ColumnRoles::default()
    }
}

/// `annotator_gender` and `Worker Gender` have the same meaning as `gender`.
fn about_annotator(column: &str) -> String {
    let plain = simplified(column);
    let prefixes = ["annotator", "worker", "rater", "coder", "participant", "user"];
    prefixes.iter().find_map(|p| plain.strip_prefix(p).map(str::to_owned)).unwrap_or(plain)
}
