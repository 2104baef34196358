//! Results of people in attention checks, compared with the pass mark.

use super::Practice;
use dissensus_domain::{
    AnnotatorId, AttentionCheck, Event, Packet, PassStatus, Scale, current_answer, is_right,
};
use dissensus_project::error::ProjectError;
use std::collections::BTreeMap;

/// A person's result in attention checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckState {
    pub status: PassStatus,
    /// When the last wrong answer was given.
    pub(crate) missed_at_ms: Option<i64>,
}

/// Counted checks of one person.
#[derive(Default)]
struct CheckCounts {
    right: u32,
    answered: u32,
    all: u32,
    missed_at_ms: Option<i64>,
}

impl Practice {
    /// One person's result; `None` without a pass mark or without checks.
    pub(crate) fn checks_of(&self, annotator: AnnotatorId) -> Result<Option<CheckState>, ProjectError> {
        Ok(self.checks_of_all(&[annotator])?.remove(&annotator))
    }

    /// The results of these people; empty without a pass mark or without checks.
    pub fn checks_of_all(
        &self,
        people: &[AnnotatorId],
    ) -> Result<BTreeMap<AnnotatorId, CheckState>, ProjectError> {
        let Some(rule) = self.book()?.check_rule else { return Ok(BTreeMap::new()) };
        let store = &self.context.store;
        let checks = store.attention_checks()?;
        if checks.is_empty() {
            return Ok(BTreeMap::new());
        }
        let packets: Vec<Packet> = store.packets()?.into_iter().map(|(packet, _)| packet).collect();
        let index = self.context.index();
        // A question that another program has just added is not asked here yet.
        let checks: Vec<(&AttentionCheck, &Scale)> =
            checks.iter().filter_map(|check| Some((check, &index.question(check.question)?.scale))).collect();
        let mut found = BTreeMap::new();
        for annotator in people {
            let own: Vec<&Packet> = packets.iter().filter(|packet| packet.annotator == *annotator).collect();
            let mut counted = CheckCounts::default();
            for (check, scale) in &checks {
                let events = store.events(check.question, check.text, *annotator)?;
                counted.add(check, (scale, rule.within), &events, &own);
            }
            let CheckCounts { right, answered, all, missed_at_ms } = counted;
            let status = PassStatus::new(rule.pass, right, answered, all);
            if all > 0 {
                found.insert(*annotator, CheckState { status, missed_at_ms });
            }
        }
        Ok(found)
    }
}

impl CheckCounts {
    /// A person with packets is asked what is in them, everyone else all checks.
    fn add(
        &mut self,
        check: &AttentionCheck,
        (scale, within): (&Scale, u16),
        events: &[Event],
        packets: &[&Packet],
    ) {
        let current = current_answer(events);
        let has = |packet: &&Packet| {
            packet.questions.contains(&check.question)
                && packet.assignments.iter().any(|item| item.text == check.text)
        };
        let asked = packets.is_empty() || packets.iter().any(has);
        let right = current.map(|event| match (&check.answer, event.answer()) {
            (Some(right), Some(given)) => is_right(scale, right, given, within),
            (right, given) => right.as_ref() == given,
        });
        self.all += u32::from(asked || current.is_some());
        self.answered += u32::from(current.is_some());
        self.right += u32::from(right == Some(true));
        if right == Some(false) {
            self.missed_at_ms = self.missed_at_ms.max(current.map(|event| event.at_ms));
        }
    }
}
