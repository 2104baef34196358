//! The project's practice settings and answers, and the resulting state of each person.

use super::checks::CheckState;
use dissensus_api::{PracticeResult, PracticeStep};
use dissensus_domain::{
    AfterFailing, AnnotatorId, Answer, CheckRule, FactKind, PassStatus, PracticeRound, PracticeRounds,
    PracticeRule, PracticeText, QuestionId, Scale, TextId, is_right,
};
use dissensus_project::context::{Context, Index};
use dissensus_project::error::ProjectError;
use dissensus_project::mix::mix;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The project's practice settings and answers.
pub struct PracticeBook {
    pub rule: PracticeRule,
    /// The pass mark of attention checks, if any.
    pub check_rule: Option<CheckRule>,
    /// Practice texts, in the order of the first round.
    pub texts: Vec<PracticeText>,
    /// Texts that are not asked as real ones: practice texts, and former ones whose right answer people
    /// have seen.
    kept_apart: HashSet<TextId>,
    rounds: BTreeMap<AnnotatorId, PracticeRounds>,
    /// The round that a person has to finish before anything else.
    again: BTreeMap<AnnotatorId, u32>,
    scales: HashMap<QuestionId, Scale>,
    in_packet: bool,
}

/// What a person may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    pub step: PracticeStep,
    /// Whether attention checks are the reason.
    pub by_checks: bool,
    /// The current round, from 1.
    pub round: u32,
}

/// Texts whose right answer is in packets that were handed out: those that were practised on while there was
/// a packet, and that no packet asks as real ones. The owner of the packet may have seen the answer, even if
/// nothing has been submitted. Texts that are excluded anyway are not considered: packets are read, which
/// takes time where there are hundreds, only where a practice text was removed.
fn shown_in_packets(context: &Context, apart: &HashSet<TextId>) -> Result<HashSet<TextId>, ProjectError> {
    let mut shown = HashSet::new();
    let mut facts = context.store.all_facts(FactKind::PracticeText)?;
    facts.retain(|fact| fact.text.is_some_and(|text| !apart.contains(&text)));
    if facts.is_empty() {
        return Ok(shown);
    }
    let packets = context.store.packets()?;
    let pages = context.store.join_pages()?;
    let index = context.index();
    for of_text in facts.chunk_by(|a, b| (a.question, a.text) == (b.question, b.text)) {
        for (at, fact) in of_text.iter().enumerate().filter(|(_, fact)| !fact.value.is_null()) {
            let (Some(question), Some(text)) = (fact.question, fact.text) else { continue };
            // A packet can be written again as long as the answer is valid.
            let until = of_text.get(at + 1).map_or(i64::MAX, |next| next.at_ms);
            let has_it =
                packets.iter().any(|(one, _)| one.made_at_ms < until && one.questions.contains(&question));
            let name = index.question(question).map(|question| question.name.clone());
            let on_page = pages.iter().any(|(_, page)| {
                page.made_at_ms < until && name.as_ref().is_some_and(|name| page.questions.contains(name))
            });
            shown.extend((has_it || on_page).then_some(text));
        }
    }
    for (packet, _) in &packets {
        for item in &packet.assignments {
            shown.remove(&item.text);
        }
    }
    Ok(shown)
}

impl PracticeBook {
    pub(crate) fn read(context: &Context, index: &Index) -> Result<Self, ProjectError> {
        let facts = context.store.practice()?;
        let scales: HashMap<QuestionId, Scale> =
            index.questions().iter().map(|question| (question.id, question.scale.clone())).collect();
        let place = |question: QuestionId| index.questions().iter().position(|asked| asked.id == question);
        // Texts of a packet are real ones there, whatever their state in the project.
        let assigned: HashSet<TextId> = (context.packet.iter())
            .flat_map(|packet| packet.assignments.iter().map(|item| item.text))
            .collect();
        // Levels may have changed since.
        let on_scale = |question: &QuestionId, answer: &Answer| {
            scales.get(question).is_some_and(|scale| answer.check(scale).is_ok())
        };
        let mut texts = facts.texts;
        texts.retain(|one| !assigned.contains(&one.text) && on_scale(&one.question, &one.answer));
        texts.sort_by_key(|one| (index.text_row(one.text), place(one.question)));
        let mut answers = facts.answers;
        answers.retain(|one| on_scale(&one.question, &one.answer));
        answers.sort_by_key(|one| one.annotator);
        let practised = texts.iter().map(|one| one.text).chain(answers.iter().map(|one| one.text));
        let mut kept_apart: HashSet<TextId> = practised.filter(|text| !assigned.contains(text)).collect();
        if context.packet.is_none() {
            kept_apart.extend(shown_in_packets(context, &kept_apart)?);
        }
        let mut rounds = BTreeMap::new();
        for of_person in answers.chunk_by(|a, b| a.annotator == b.annotator) {
            let Some(first) = of_person.first() else { continue };
            let finished =
                facts.finished.iter().filter(|(who, _)| *who == first.annotator).map(|(_, round)| *round);
            rounds.insert(first.annotator, PracticeRounds::new(of_person.iter().cloned(), finished));
        }
        Ok(Self {
            rule: facts.rule.unwrap_or_default(),
            check_rule: facts.check_rule,
            kept_apart,
            in_packet: context.packet.is_some(),
            texts,
            rounds,
            again: facts.again,
            scales,
        })
    }

    /// Whether there is practice, or was any.
    pub fn is_there(&self) -> bool {
        !self.texts.is_empty() || !self.rounds.is_empty()
    }

    /// Whether a text is a practice text and not asked as a real one.
    pub fn is_practice(&self, text: TextId) -> bool {
        self.kept_apart.contains(&text)
    }

    /// Filters these texts to real ones.
    pub fn real(&self, texts: &[TextId]) -> Vec<TextId> {
        texts.iter().copied().filter(|text| !self.is_practice(*text)).collect()
    }

    /// Everyone who has begun, with their rounds.
    pub fn people(&self) -> impl Iterator<Item = (AnnotatorId, &PracticeRounds)> {
        self.rounds.iter().map(|(who, rounds)| (*who, rounds))
    }

    /// The practice text of this question.
    pub(crate) fn text(&self, question: QuestionId, text: TextId) -> Option<&PracticeText> {
        self.texts.iter().find(|one| (one.question, one.text) == (question, text))
    }

    /// Whether an answer counts as right.
    pub fn is_right(&self, one: &PracticeText, given: &Answer) -> bool {
        let scale = self.scales.get(&one.question);
        scale.is_some_and(|scale| is_right(scale, &one.answer, given, self.rule.within))
    }

    /// The round of this number, if it was begun.
    pub(crate) fn round(&self, annotator: AnnotatorId, number: u32) -> Option<&PracticeRound> {
        self.rounds.get(&annotator)?.0.iter().find(|round| round.number == number)
    }

    fn is_finished(&self, round: &PracticeRound) -> bool {
        // A round in which none of these texts was answered, for example because all were replaced since,
        // does not decide anything.
        round.left(&self.texts).next().is_none() && (self.texts.is_empty() || self.score(round).1 > 0)
    }

    fn status_of(&self, round: &PracticeRound) -> PassStatus {
        round.status(&self.texts, self.rule.pass, |one, given| self.is_right(one, given))
    }

    /// Number of right answers in a round, and of answers.
    pub fn score(&self, round: &PracticeRound) -> (u32, u32) {
        round.score(&self.texts, |one, given| self.is_right(one, given))
    }

    /// A person's result, by the last finished round; `None` where there is no practice and never was.
    pub fn result(&self, annotator: AnnotatorId) -> Option<PracticeResult> {
        if !self.is_there() {
            return None;
        }
        let rounds: &[PracticeRound] = self.rounds.get(&annotator).map_or(&[], |rounds| &rounds.0);
        let finished = rounds.iter().rev().find(|round| self.is_finished(round));
        let (right, of) = finished.or(rounds.last()).map_or((0, 0), |round| self.score(round));
        Some(PracticeResult {
            status: finished.map_or(PassStatus::Unfinished, |round| self.status_of(round)),
            rounds_begun: rounds.len() as u32,
            right,
            of,
        })
    }

    /// The remaining texts of a round: in the first round in file order, in every later one in an order of
    /// its own.
    pub(crate) fn left(&self, annotator: AnnotatorId, number: u32) -> Vec<&PracticeText> {
        let order = self.in_order(annotator, number);
        match self.round(annotator, number) {
            None => order,
            Some(round) if round.finished => Vec::new(),
            Some(round) => {
                let given = |one: &&PracticeText| round.answers.contains_key(&(one.text, one.question));
                order.into_iter().filter(|one| !given(one)).collect()
            }
        }
    }

    /// The texts of a round, in its order.
    pub(crate) fn in_order(&self, annotator: AnnotatorId, number: u32) -> Vec<&PracticeText> {
        let mut order: Vec<&PracticeText> = self.texts.iter().collect();
        if number > 1 {
            // Questions about one text stay together: the sort is stable.
            let seed = mix(annotator.0, number) as u32;
            order.sort_by_key(|one| mix(seed, one.text.0));
        }
        order
    }

    /// What a person may do now, given the result of attention checks where it matters.
    pub(crate) fn gate(&self, annotator: AnnotatorId, checks: Option<&CheckState>) -> Gate {
        let rounds: &[PracticeRound] = self.rounds.get(&annotator).map_or(&[], |rounds| &rounds.0);
        let last = rounds.last();
        let at_hand =
            last.map_or(1, |round| round.number + u32::from(round.finished && !self.is_finished(round)));
        let step = |step, by_checks, round| Gate { step, by_checks, round };
        let failed = checks.filter(|checks| checks.status == PassStatus::Failed);
        let after_checks = self.check_rule.filter(|_| failed.is_some()).map(|rule| rule.then);
        if after_checks == Some(AfterFailing::Stop) {
            return step(PracticeStep::Stopped, true, at_hand);
        }
        if self.texts.is_empty() {
            return step(PracticeStep::Label, false, at_hand);
        }
        let finished = rounds.iter().rev().find(|round| self.is_finished(round));
        let Some(finished) = finished else { return step(PracticeStep::Practise, false, at_hand) };
        let next = finished.number + 1;
        // A packet does not know the current state of the checks; the project knows whether they are still
        // failed.
        let asked_again = self.in_packet || after_checks == Some(AfterFailing::Practise);
        if asked_again && self.again.get(&annotator).is_some_and(|wanted| *wanted > finished.number) {
            return step(PracticeStep::Practise, true, next);
        }
        // Labels are retained, so missed checks remain missed: what counts is whether the person practised
        // since.
        let missed = failed.and_then(|checks| checks.missed_at_ms);
        if after_checks == Some(AfterFailing::Practise) && missed.is_some_and(|at_ms| at_ms >= finished.at_ms)
        {
            return step(PracticeStep::Practise, true, next);
        }
        match (self.status_of(finished), self.rule.then) {
            (PassStatus::Failed, AfterFailing::Practise) => step(PracticeStep::Practise, false, next),
            (PassStatus::Failed, AfterFailing::Stop) => step(PracticeStep::Stopped, false, finished.number),
            _ => step(PracticeStep::Label, false, finished.number),
        }
    }
}
