//! Divides labels into what a format can represent and what is lost.

use super::labels::{ToolAnswer, ToolLabels, ToolPerson, ToolQuestion};
use super::losses::{Loss, LossReason};
use super::occasions::tellable;
use super::scales::{UsedNames, is_inferred};
use super::{ToolFormat, Writer, people};
use dissensus_domain::{Answer, AnswerForm};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What will be in a file, and what will be lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Divided {
    /// The labels that are written, identical to what reading the file returns: annotators and questions have
    /// their names in the file.
    pub kept: ToolLabels,
    /// The losses, in the order of reasons.
    pub losses: Vec<Loss>,
}

impl Divided {
    /// Returns how much is lost for a reason.
    pub fn lost(&self, reason: LossReason) -> u64 {
        self.losses.iter().find(|loss| loss.reason == reason).map_or(0, |loss| loss.count)
    }
}

/// Divides labels into what a file of `format` can represent and what it cannot. Nothing is left out without
/// being counted; the note, time and marks of a lost answer are counted with it, and not again.
///
/// Texts, annotators and questions without a remaining answer are dropped, and not counted.
pub fn divide(labels: ToolLabels, format: ToolFormat) -> Divided {
    let mut division = Division { writer: format.writer(), labels, losses: BTreeMap::new() };
    division.answers();
    division.occasions();
    division.spans_without_types();
    division.skips();
    division.with_answers();
    division.without_what_is_not_answered();
    division.texts();
    division.people();
    division.questions();
    let losses = division.losses.into_iter().filter(|(_, count)| *count > 0);
    let losses = losses.map(|(reason, count)| Loss { reason, count }).collect();
    Divided { kept: division.labels, losses }
}

struct Division {
    writer: &'static dyn Writer,
    labels: ToolLabels,
    losses: BTreeMap<LossReason, u64>,
}

impl Division {
    fn holds(&self, reason: LossReason) -> bool {
        self.writer.holds().contains(&reason)
    }

    fn lose(&mut self, reason: LossReason, count: usize) {
        *self.losses.entry(reason).or_default() += count as u64;
    }

    /// Returns the question of a file that has only one: the first whose answers the format can represent,
    /// else the first that has answers.
    fn only_question(&self) -> Option<usize> {
        if self.holds(LossReason::OtherQuestions) {
            return None;
        }
        let answered: HashSet<usize> = self.labels.answers.iter().map(|answer| answer.question).collect();
        let held = |nth: &usize| match self.labels.questions[*nth].scale.form() {
            AnswerForm::Spans => self.holds(LossReason::Spans),
            AnswerForm::Options => self.holds(LossReason::Sets),
            AnswerForm::Level => true,
        };
        let mut all = (0..self.labels.questions.len()).filter(|nth| answered.contains(nth));
        all.clone().find(held).or_else(|| all.next())
    }

    /// Removes answers that the format cannot represent, and marks of texts without an answer.
    fn answers(&mut self) {
        let only = self.only_question();
        let mut kept = Vec::with_capacity(self.labels.answers.len());
        for mut answer in std::mem::take(&mut self.labels.answers) {
            match self.why_not(&answer, only) {
                Some(reason) => self.lose(reason, 1),
                None if answer.answer.is_none() && !answer.skipped => self.strip(&mut answer, true),
                None => kept.push(answer),
            }
        }
        self.labels.answers = kept;
    }

    /// Removes the other data of the remaining answers that the format cannot represent.
    fn with_answers(&mut self) {
        let mut answers = std::mem::take(&mut self.labels.answers);
        answers.iter_mut().for_each(|answer| self.strip(answer, false));
        self.labels.answers = answers;
    }

    /// The time that is written.
    fn time(&self, answer: &ToolAnswer) -> Option<i64> {
        answer.at_ms.filter(|at_ms| self.holds(LossReason::Times) && self.writer.holds_time(*at_ms))
    }

    /// Returns why an answer, or a skipped text, is left out.
    fn why_not(&self, answer: &ToolAnswer, only: Option<usize>) -> Option<LossReason> {
        let lost = |reason| (!self.holds(reason)).then_some(reason);
        let other = only.is_some_and(|only| only != answer.question);
        let later = || (answer.occasion > 1).then(|| lost(LossReason::LaterAnswers)).flatten();
        match &answer.answer {
            None if answer.skipped && other => Some(LossReason::Skips),
            None if answer.skipped => lost(LossReason::Skips),
            None => None,
            Some(_) if other => Some(LossReason::OtherQuestions),
            Some(Answer::Spans(spans)) => lost(LossReason::Spans)
                .or_else(|| spans.as_slice().is_empty().then(|| lost(LossReason::EmptySpans)).flatten())
                .or_else(later),
            Some(Answer::Options(set)) => lost(LossReason::Sets)
                .or_else(|| set.is_empty().then(|| lost(LossReason::EmptySets)).flatten())
                .or_else(later),
            Some(Answer::CannotSay) => lost(LossReason::CannotSay).or_else(later),
            Some(Answer::Level(_)) => later(),
        }
    }

    /// Removes and counts the data of an answer that the format cannot represent; all of it if there is no
    /// answer.
    fn strip(&mut self, answer: &mut ToolAnswer, all: bool) {
        let note = std::mem::take(&mut answer.note);
        let time = self.time(answer);
        let there = [
            (LossReason::Flags, answer.flagged),
            (LossReason::Notes, note.note.is_some()),
            (LossReason::Reasons, !note.reasons.is_empty()),
            (LossReason::Confidence, note.confidence.is_some()),
            (LossReason::Durations, answer.duration_ms.is_some()),
            (LossReason::GuidelineVersions, answer.guideline),
            (LossReason::Shown, answer.shown),
            (LossReason::Simulated, answer.simulated),
        ];
        for (reason, there) in there {
            if there && (all || !self.holds(reason)) {
                self.lose(reason, 1);
            }
        }
        if time != answer.at_ms && !all {
            self.lose(LossReason::Times, 1);
        }
        answer.at_ms = time;
        answer.flagged &= self.holds(LossReason::Flags);
        answer.duration_ms = answer.duration_ms.filter(|_| self.holds(LossReason::Durations));
        answer.note.note = note.note.filter(|_| self.holds(LossReason::Notes));
        (answer.guideline, answer.shown, answer.simulated) = (false, false, false);
    }

    /// A question none of whose answers has a span has no types of spans in the file, and no answers.
    fn spans_without_types(&mut self) {
        let marked: HashSet<usize> = (self.labels.answers.iter())
            .filter(
                |answer| matches!(&answer.answer, Some(Answer::Spans(spans)) if !spans.as_slice().is_empty()),
            )
            .map(|answer| answer.question)
            .collect();
        let reported = |answer: &ToolAnswer| {
            !matches!(answer.answer, Some(Answer::Spans(_))) || marked.contains(&answer.question)
        };
        self.retain(LossReason::EmptySpans, reported);
    }

    /// Removes what does not fit, and counts it.
    fn retain(&mut self, reason: LossReason, fits: impl Fn(&ToolAnswer) -> bool) {
        let before = self.labels.answers.len();
        self.labels.answers.retain(fits);
        self.lose(reason, before - self.labels.answers.len());
    }

    /// Removes re-annotations whose first answer is left out, or which a reader could not distinguish from
    /// it.
    fn occasions(&mut self) {
        let mut tellable = tellable(&self.labels.answers, |answer| self.time(answer)).into_iter();
        let before = self.labels.answers.len();
        self.labels.answers.retain(|_| tellable.next().unwrap_or_default());
        self.lose(LossReason::LaterAnswers, before - self.labels.answers.len());
    }

    /// Removes skips of texts that were answered for another question, if the format skips whole texts.
    fn skips(&mut self) {
        if self.writer.holds_skips_of_answered() {
            return;
        }
        let answered: HashSet<(usize, usize)> = (self.labels.answers.iter())
            .filter(|answer| answer.answer.is_some())
            .map(|answer| (answer.text, answer.person))
            .collect();
        self.retain(LossReason::Skips, |answer| {
            answer.answer.is_some() || !answered.contains(&(answer.text, answer.person))
        });
    }

    /// Retains the texts, annotators and questions with answers, in their order.
    fn without_what_is_not_answered(&mut self) {
        let ToolLabels { texts, people, questions, answers } = &mut self.labels;
        let text = only(texts, answers.iter().map(|answer| answer.text));
        let person = only(people, answers.iter().map(|answer| answer.person));
        let question = only(questions, answers.iter().map(|answer| answer.question));
        for answer in answers {
            answer.text = text[&answer.text];
            answer.person = person[&answer.person];
            answer.question = question[&answer.question];
        }
    }

    /// Removes and counts the data of texts that the format cannot represent.
    fn texts(&mut self) {
        let mut of_text: Vec<Vec<usize>> = vec![Vec::new(); self.labels.texts.len()];
        for answer in &self.labels.answers {
            of_text[answer.text].push(answer.person);
        }
        let mut texts = std::mem::take(&mut self.labels.texts);
        for (text, people) in texts.iter_mut().zip(of_text) {
            let people: Vec<&str> =
                people.iter().map(|person| self.labels.people[*person].id.as_str()).collect();
            let before = text.metadata.len();
            let holds = self.holds(LossReason::Metadata);
            text.metadata
                .retain(|key, value| holds && is_plain(key, value) && self.writer.can_hold_key(key, &people));
            self.lose(LossReason::Metadata, before - text.metadata.len());
            if !self.holds(LossReason::Splits) {
                self.lose(LossReason::Splits, text.split.take().map_or(0, |_| 1));
            }
            self.lose(LossReason::Groups, text.group.take().map_or(0, |_| 1));
            if !self.holds(LossReason::Bodies) {
                text.body.clear();
                self.lose(LossReason::Bodies, 1);
            }
        }
        self.labels.texts = texts;
    }

    /// Sets the names of annotators in the file.
    fn people(&mut self) {
        let mut people: Vec<ToolPerson> = std::mem::take(&mut self.labels.people);
        let ids: Vec<&str> = people.iter().map(|person| person.id.as_str()).collect();
        let files = self.writer.people_are_files();
        let folded = |name: &str| if files { crate::file_names::without_case(name) } else { name.to_owned() };
        let names = people::unique(&ids, |id| self.writer.person(id).into_owned(), folded);
        for (person, name) in people.iter_mut().zip(names) {
            self.lose(LossReason::PersonNames, usize::from(person.id != name));
            self.lose(LossReason::Attributes, person.attributes.len());
            person.id = name;
            person.attributes.clear();
        }
        self.labels.people = people;
    }

    /// Sets the scales that the file implies, and the names of questions in it.
    fn questions(&mut self) {
        let mut questions: Vec<ToolQuestion> = self.labels.questions.clone();
        for (nth, question) in questions.iter_mut().enumerate() {
            let answers = self.labels.answers.iter().filter(|answer| answer.question == nth);
            let used = UsedNames::new(&self.labels, answers);
            let scale = &question.scale;
            let reported = self.writer.derived_scale(scale, &used);
            let levels = reported
                .as_ref()
                .map_or_else(|| used.names.iter().cloned().collect(), |(_, levels)| levels.clone());
            let unused = scale.levels().iter().filter(|level| !levels.contains(level)).count();
            self.lose(LossReason::ScaleKinds, usize::from(!is_inferred(scale, reported.as_ref())));
            self.lose(LossReason::UnusedLevels, unused);
            if let Some(name) = self.writer.question(scale.form()) {
                self.lose(LossReason::QuestionNames, usize::from(question.name != name));
                question.name = name.to_owned();
            }
        }
        self.labels.questions = questions;
    }
}

/// Whether every reader reads this metadata value back unchanged.
fn is_plain(key: &str, value: &str) -> bool {
    let blank = key.trim().is_empty() || value.trim().is_empty();
    // `text` is read as the body, and an object under `metadata` as a table of very many keys.
    let taken = key.eq_ignore_ascii_case("text") || (key == "metadata" && value.starts_with('{'));
    !blank && !taken
}

/// Retains those of `things` whose index is in `used`, and returns the new index by the old one.
fn only<T>(things: &mut Vec<T>, used: impl Iterator<Item = usize>) -> HashMap<usize, usize> {
    let used: HashSet<usize> = used.collect();
    let mut order: Vec<usize> = used.into_iter().collect();
    order.sort_unstable();
    let map: HashMap<usize, usize> = order.into_iter().zip(0..).collect();
    let mut nth = 0..;
    things.retain(|_| nth.next().is_some_and(|nth: usize| map.contains_key(&nth)));
    map
}
