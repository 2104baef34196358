//! One annotator's answers to the questions on a screen, and to those that their conditions depend on.

use super::Labelling;
use super::annotations::{Annotations, SharedAnnotations};
use dissensus_api::Progress;
use dissensus_domain::{AnnotatorId, Answer, Condition, QuestionId, TextId, is_asked};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::MutexGuard;

/// The questions on a screen, in their order, and the state of each of them and of those that they depend
/// on.
pub struct QuestionSet {
    pub(super) annotator: AnnotatorId,
    shown: Vec<QuestionId>,
    of: BTreeMap<QuestionId, (Option<Condition>, SharedAnnotations)>,
}

/// A consistent view of a [`QuestionSet`] for as long as this is held.
pub struct Answers<'a> {
    shown: &'a [QuestionId],
    of: BTreeMap<QuestionId, (Option<&'a Condition>, MutexGuard<'a, Annotations>)>,
}

/// Unanswered questions about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// At least one that was not skipped.
    Open,
    /// Only skipped ones.
    Skipped,
}

/// The sheet of an annotator for these questions.
pub fn open(
    cx: &Labelling,
    annotator: AnnotatorId,
    questions: &[QuestionId],
) -> Result<QuestionSet, ProjectError> {
    if questions.is_empty() {
        return Err(ProjectError::NoQuestion);
    }
    let index = cx.context.index();
    let mut of = BTreeMap::new();
    let mut wanted = questions.to_vec();
    while let Some(id) = wanted.pop() {
        if of.contains_key(&id) {
            continue;
        }
        let only_if = index.whole(id)?.only_if.clone();
        wanted.extend(only_if.as_ref().map(|only_if| only_if.question));
        of.insert(id, (only_if, annotations(cx, annotator, id)?));
    }
    let mut shown = Vec::with_capacity(questions.len());
    for question in questions {
        if !shown.contains(question) {
            shown.push(*question);
        }
    }
    Ok(QuestionSet { annotator, shown, of })
}

/// The annotations of an annotator on a question of the project: its options are answered together.
pub fn annotations(
    cx: &Labelling,
    annotator: AnnotatorId,
    question: QuestionId,
) -> Result<SharedAnnotations, ProjectError> {
    cx.context.index().whole(question)?;
    cx.annotations.get(&cx.context.store, annotator, question)
}

impl QuestionSet {
    /// The questions on the screen.
    pub(super) fn shown(&self) -> &[QuestionId] {
        &self.shown
    }

    /// Locks the answers for reading.
    pub fn read(&self) -> Answers<'_> {
        // Locked in the order of questions, which prevents deadlocks.
        let of =
            self.of.iter().map(|(id, (only_if, annotations))| (*id, (only_if.as_ref(), lock(annotations))));
        Answers { shown: &self.shown, of: of.collect() }
    }

    /// Records an answer that is on disk.
    pub(super) fn note_answer(&self, question: QuestionId, text: TextId, answer: &Answer, at_ms: i64) {
        if let Some((_, annotations)) = self.of.get(&question) {
            lock(annotations).note_answer(text, answer, at_ms);
        }
    }
}

impl Answers<'_> {
    /// The annotations of one of the questions.
    pub fn annotations(&self, question: QuestionId) -> Option<&Annotations> {
        self.of.get(&question).map(|(_, annotations)| &**annotations)
    }

    /// Whether a question is asked about a text, given its answers.
    pub(super) fn asks(&self, question: QuestionId, text: TextId) -> bool {
        let condition = |id| self.of.get(&id).and_then(|(only_if, _)| *only_if);
        is_asked(question, condition, |id| self.annotations(id)?.answers.get(&text))
    }

    fn asked(&self, text: TextId) -> impl Iterator<Item = (QuestionId, &Annotations)> {
        let asked = self.shown.iter().filter(move |id| self.asks(**id, text));
        asked.filter_map(|id| Some((*id, self.annotations(*id)?)))
    }

    /// The unanswered questions that are asked about a text, in their order.
    pub(super) fn open(&self, text: TextId) -> Vec<QuestionId> {
        let open = self.asked(text).filter(|(_, annotations)| !annotations.answers.contains_key(&text));
        open.map(|(id, _)| id).collect()
    }

    /// When a text was last answered in the window or with the command.
    pub fn given_at(&self, text: TextId) -> Option<i64> {
        self.shown.iter().filter_map(|id| self.annotations(*id)?.given_at(text)).max()
    }

    /// Number of texts that were last answered after this time.
    pub(super) fn given_after(&self, at_ms: i64) -> usize {
        let of = |id: &QuestionId| self.annotations(*id).map(|annotations| annotations.given_after(at_ms));
        let texts: BTreeSet<TextId> = self.shown.iter().filter_map(of).flatten().collect();
        texts.len()
    }

    /// Whether the annotator skipped the text, regardless of later answers.
    pub(super) fn is_put_off(&self, text: TextId) -> bool {
        self.shown.iter().any(|id| self.annotations(*id).is_some_and(|a| a.skipped.contains(&text)))
    }

    /// Whether a question that is asked about a text is unanswered, and then whether each of those was
    /// skipped. Called for every text at a click.
    pub fn left(&self, text: TextId) -> Option<Unanswered> {
        let mut open = self.asked(text).filter(|(_, a)| !a.answers.contains_key(&text)).peekable();
        open.peek()?;
        Some(if open.all(|(_, a)| a.skipped.contains(&text)) {
            Unanswered::Skipped
        } else {
            Unanswered::Open
        })
    }

    /// The progress: a text is done when every question that is asked about it is answered, and a text
    /// without any question to ask does not count.
    ///
    /// `texts` are the real (non-practice) texts, out of `all` in the project.
    pub(super) fn progress(&self, today_ms: i64, texts: &[TextId], all: usize) -> Progress {
        if let ([only], 1) = (self.shown, self.of.len())
            && texts.len() == all
            && let Some(annotations) = self.annotations(*only)
        {
            return annotations.progress(today_ms, texts.len());
        }
        let mut progress = Progress::default();
        for &text in texts {
            let mut asked = self.asked(text).peekable();
            if asked.peek().is_none() {
                continue;
            }
            let last = asked.filter_map(|(_, annotations)| annotations.given_at(text)).max();
            let left = self.left(text);
            progress.total += 1;
            progress.done += u32::from(left.is_none());
            progress.today += u32::from(left.is_none() && last.is_some_and(|at_ms| at_ms >= today_ms));
            progress.skipped += u32::from(left == Some(Unanswered::Skipped));
            let flagged = |id: &QuestionId| self.annotations(*id).is_some_and(|a| a.flagged.contains(&text));
            progress.flagged += u32::from(self.shown.iter().any(flagged));
        }
        progress
    }
}
