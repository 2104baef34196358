//! Determines current answers and marks from events alone, so that all copies of a project with the
//! same events agree, in whatever order they received them.

use crate::{Event, EventId, EventKind, MarkKind, Note};
use std::collections::{HashMap, HashSet};

/// The answers that are not retracted, among the events of *one* annotator, question, text and
/// annotation round.
pub fn unretracted_answers(events: &[Event]) -> Vec<&Event> {
    let retracted: HashSet<EventId> = events.iter().filter_map(Event::retracts).collect();
    events.iter().filter(|e| e.answer().is_some() && !retracted.contains(&e.id)).collect()
}

/// The current answer among the events of *one* annotator, question, text and annotation round.
///
/// An answer that is not retracted supersedes those that it replaces, directly or through other
/// answers, retracted or not. Among the remaining answers the one with the latest time is current;
/// ties are broken by the greater copy id, then by the greater sequence number. A wrong clock
/// therefore cannot undo a change made by an annotator who saw the previous answer; it only decides
/// between answers given independently of each other.
pub fn current_answer(events: &[Event]) -> Option<&Event> {
    unsuperseded_answers(events).into_iter().max_by_key(|e| e.order())
}

/// The answers among the events of *one* annotator, question, text and annotation round that are
/// neither retracted nor superseded. There are several if they were given independently in different
/// copies. See [`current_answer`].
pub fn unsuperseded_answers(events: &[Event]) -> Vec<&Event> {
    let unretracted = unretracted_answers(events);
    if unretracted.len() < 2 {
        return unretracted;
    }
    let replaced: HashMap<EventId, EventId> =
        events.iter().filter_map(|e| e.replaces().map(|old| (e.id, old))).collect();
    let mut superseded = HashSet::new();
    for event in &unretracted {
        let mut at = event.id;
        // The chain below an answer already in the set has been followed before.
        while let Some(&old) = replaced.get(&at)
            && superseded.insert(old)
        {
            at = old;
        }
    }
    unretracted.into_iter().filter(|e| !superseded.contains(&e.id)).collect()
}

/// The answers of one annotator that undo may retract: those not retracted and given in the window
/// or by the command. They are in the order in which they were given: by [`Event::order`], except
/// that an answer never precedes an earlier one of the same copy, even if that copy's clock was set
/// back.
pub fn given_answers(events: &[Event]) -> Vec<&Event> {
    let mut given = unretracted_answers(events);
    given.retain(|e| e.source.is_given());
    given.sort_by_key(|e| e.key);
    let mut latest: Option<&Event> = None;
    let mut placed: Vec<(_, &Event)> = Vec::with_capacity(given.len());
    for event in given {
        let before = latest.filter(|known| known.key.copy == event.key.copy && known.order() > event.order());
        latest = before.or(Some(event));
        let after = before.unwrap_or(event);
        placed.push(((after.order(), event.key.sequence), event));
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, event)| event).collect()
}

/// The marks of one annotator on a text, for one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub skipped: bool,
    pub flagged: bool,
    pub note: Note,
}

/// Computes the marks from the events of *one* annotator, question, text and annotation round: the
/// latest of skip and unskip, the latest of flag and unflag, and the note given by [`current_note`].
pub fn marks(events: &[Event]) -> Marks {
    let newest = |wanted: fn(&Event) -> bool| events.iter().filter(|e| wanted(e)).max_by_key(|e| e.order());
    let is = |event: Option<&Event>, kind| event.is_some_and(|e| e.kind == EventKind::Mark(kind));
    let skip = newest(|e| matches!(e.kind, EventKind::Mark(MarkKind::Skip | MarkKind::Unskip)));
    let flag = newest(|e| matches!(e.kind, EventKind::Mark(MarkKind::Flag | MarkKind::Unflag)));
    Marks {
        skipped: is(skip, MarkKind::Skip),
        flagged: is(flag, MarkKind::Flag),
        note: current_note(events).cloned().unwrap_or_default(),
    }
}

/// The note in effect after the events of *one* annotator, question, text and annotation round: the
/// later of the one given with the current answer and the one given with a mark. An empty note clears
/// the previous one; an answer or another mark without a note leaves it unchanged. A note given with an
/// answer that is no longer current has no effect, and neither has a note cleared with an answer that was
/// retracted.
pub fn current_note(events: &[Event]) -> Option<&Note> {
    let current = current_answer(events).map(|e| e.id);
    let says = |e: &&Event| match e.kind {
        EventKind::Mark(MarkKind::Note) => !was_cleared_with_a_retracted_answer(e, events),
        EventKind::Mark(_) => !e.note.is_empty(),
        EventKind::Answer { .. } => Some(e.id) == current && !e.note.is_empty(),
        EventKind::Retraction { .. } => false,
    };
    events.iter().filter(says).max_by_key(|e| e.order()).map(|e| &e.note)
}

/// Whether a mark clears the note as part of giving an answer that was retracted since. Such a mark is the
/// next event of the answer's copy, one millisecond later.
fn was_cleared_with_a_retracted_answer(mark: &Event, events: &[Event]) -> bool {
    let given_with = |e: &&Event| {
        e.answer().is_some()
            && e.key.copy == mark.key.copy
            && e.key.sequence.checked_add(1) == Some(mark.key.sequence)
            && e.at_ms.checked_add(1) == Some(mark.at_ms)
    };
    mark.note.is_empty()
        && events.iter().find(given_with).is_some_and(|e| events.iter().any(|r| r.retracts() == Some(e.id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnnotatorId, Answer, CopyId, EventKey, LabelSource, QuestionId, TextId};
    use proptest::prelude::*;
    use uuid::Uuid;

    fn event(id: u32, copy: u128, at_ms: i64, kind: EventKind) -> Event {
        Event {
            id: EventId(id),
            key: EventKey { copy: CopyId(Uuid::from_u128(copy)), sequence: id },
            question: QuestionId(1),
            text: TextId(1),
            annotator: AnnotatorId(1),
            occasion: 1,
            at_ms,
            source: LabelSource::Window,
            kind,
            note: Note::default(),
            guideline: None,
            wording: None,
        }
    }

    fn answer(id: u32, copy: u128, at_ms: i64, replaces: Option<u32>) -> Event {
        let answer = Answer::from_level(id as u16);
        event(
            id,
            copy,
            at_ms,
            EventKind::Answer { answer, duration_ms: None, replaces: replaces.map(EventId) },
        )
    }

    fn retraction(id: u32, of: u32) -> Event {
        event(id, 1, 0, EventKind::Retraction { of: EventId(of) })
    }

    fn current(events: &[Event]) -> Option<u32> {
        current_answer(events).map(|e| e.id.0)
    }

    #[test]
    fn undo_restores_the_previous_answer() {
        let mut events = vec![answer(1, 1, 100, None), answer(2, 1, 200, Some(1))];
        assert_eq!(current(&events), Some(2));
        events.push(retraction(3, 2));
        assert_eq!(current(&events), Some(1));
        events.push(retraction(4, 1));
        assert_eq!(current(&events), None);
    }

    #[test]
    fn replacement_is_current_despite_a_wrong_clock() {
        assert_eq!(current(&[answer(1, 1, 900, None), answer(2, 2, 100, Some(1))]), Some(2));
        // Also through a retracted answer in between.
        let events = [
            answer(1, 1, 900, None),
            answer(2, 1, 100, Some(1)),
            answer(3, 1, 50, Some(2)),
            retraction(4, 2),
        ];
        assert_eq!(current(&events), Some(3));
    }

    #[test]
    fn concurrent_answers_are_ordered_by_time_copy_sequence() {
        assert_eq!(current(&[answer(1, 9, 100, None), answer(2, 1, 200, None)]), Some(2));
        assert_eq!(current(&[answer(1, 9, 100, None), answer(2, 1, 100, None)]), Some(1));
        assert_eq!(current(&[answer(1, 1, 100, None), answer(2, 1, 100, None)]), Some(2));
    }

    #[test]
    fn retracted_answer_replaces_nothing() {
        let events = [answer(1, 1, 100, None), answer(2, 2, 900, Some(1)), retraction(3, 2)];
        assert_eq!(current(&events), Some(1));
    }

    #[test]
    fn circular_replacements_terminate() {
        assert_eq!(current(&[answer(1, 1, 1, Some(2)), answer(2, 1, 2, Some(1))]), None);
    }

    #[test]
    fn imported_answers_are_not_undone() {
        let mut imported = answer(3, 1, 1, None);
        imported.source = LabelSource::Import;
        let events = [answer(1, 1, 5, None), answer(2, 1, 3, None), imported, retraction(4, 2)];
        let given: Vec<u32> = given_answers(&events).iter().map(|e| e.id.0).collect();
        assert_eq!(given, [1]);
    }

    #[test]
    fn given_answers_are_ordered_by_time_and_sequence() {
        let given = |events: &[Event]| -> Vec<u32> { given_answers(events).iter().map(|e| e.id.0).collect() };
        // Merged after an answer that was given later.
        assert_eq!(given(&[answer(1, 1, 200, None), answer(2, 2, 100, None)]), [2, 1]);
        // The clock was set back between the two answers of copy 1.
        let events = [answer(1, 1, 200, None), answer(2, 1, 50, None), answer(3, 2, 100, None)];
        assert_eq!(given(&events), [3, 1, 2]);
    }

    #[test]
    fn later_mark_is_current() {
        let mark = |id, at_ms, kind| event(id, 1, at_ms, EventKind::Mark(kind));
        let mut flag = mark(2, 5, MarkKind::Flag);
        flag.note = noted("sarcasm?");
        let events = [mark(1, 9, MarkKind::Unskip), flag, mark(3, 7, MarkKind::Skip)];
        let expected = Marks { skipped: false, flagged: true, note: noted("sarcasm?") };
        assert_eq!(marks(&events), expected);
        assert_eq!(marks(&[]), Marks::default());
    }

    fn noted(note: &str) -> Note {
        Note { note: Some(note.to_owned()), ..Note::default() }
    }

    #[test]
    fn note_is_current_until_replaced() {
        let with = |event: Event, words: &str| Event { note: noted(words), ..event };
        let note = |id, at_ms, words: Note| Event {
            note: words,
            ..event(id, 1, at_ms, EventKind::Mark(MarkKind::Note))
        };
        let now = |events: &[Event]| current_note(events).and_then(|event| event.note.clone());
        let mut events = vec![with(answer(1, 1, 10, None), "first")];
        assert_eq!(now(&events).as_deref(), Some("first"));
        // Another answer without a note: the note of the previous answer no longer applies.
        events.push(answer(2, 1, 20, Some(1)));
        assert_eq!(now(&events), None);
        events.push(note(3, 30, noted("after")));
        assert_eq!(now(&events).as_deref(), Some("after"));
        // A later note stays when the answer is corrected without one, until a new note replaces or
        // clears it.
        events.push(answer(4, 1, 40, Some(2)));
        assert_eq!(now(&events).as_deref(), Some("after"));
        events.push(with(answer(5, 1, 50, Some(4)), "with it"));
        assert_eq!(now(&events).as_deref(), Some("with it"));
        events.push(retraction(6, 5));
        assert_eq!(now(&events).as_deref(), Some("after"));
        events.push(note(7, 60, Note::default()));
        assert_eq!(now(&events), None);
    }

    #[test]
    fn note_cleared_with_an_answer_comes_back_with_the_answer_before() {
        let note =
            |id, at_ms, note: Note| Event { note, ..event(id, 1, at_ms, EventKind::Mark(MarkKind::Note)) };
        let now = |events: &[Event]| current_note(events).and_then(|event| event.note.clone());
        let mut events = vec![answer(1, 1, 10, None), note(2, 20, noted("irony")), answer(3, 1, 30, Some(1))];
        events.push(note(4, 31, Note::default()));
        assert_eq!(now(&events), None);
        events.push(retraction(5, 3));
        assert_eq!(now(&events).as_deref(), Some("irony"));
        // Cleared afterwards, and not with the answer.
        events[3].at_ms = 32;
        assert_eq!(now(&events), None);
    }

    /// Reference implementation: compares every pair of answers along every chain.
    fn by_definition(events: &[Event]) -> Option<u32> {
        let find = |id: EventId| events.iter().find(|e| e.id == id);
        let is_unretracted =
            |e: &&Event| e.answer().is_some() && events.iter().all(|r| r.retracts() != Some(e.id));
        let names = |newer: &Event, older: &Event| {
            let mut at = newer.replaces();
            while let Some(id) = at {
                if id == older.id {
                    return true;
                }
                at = find(id).and_then(Event::replaces);
            }
            false
        };
        let unretracted: Vec<&Event> = events.iter().filter(is_unretracted).collect();
        let free = unretracted.iter().filter(|e| !unretracted.iter().any(|newer| names(newer, e)));
        free.max_by_key(|e| e.order()).map(|e| e.id.0)
    }

    fn history() -> impl Strategy<Value = Vec<Event>> {
        let step = (0_u8..4, 0_usize..12, 0_u128..3, 0_i64..6);
        proptest::collection::vec(step, 0..12).prop_map(|steps| {
            let mut events: Vec<Event> = Vec::new();
            for (id, (what, target, copy, at_ms)) in (1_u32..).zip(steps) {
                let target = events.get(target).filter(|e| e.answer().is_some()).map(|e| e.id.0);
                events.push(match (what, target) {
                    (0, Some(of)) => retraction(id, of),
                    (1, _) => answer(id, copy, at_ms, None),
                    (_, target) => answer(id, copy, at_ms, target),
                });
            }
            events
        })
    }

    proptest! {
        #[test]
        fn current_answer_matches_the_definition(events in history()) {
            prop_assert_eq!(current(&events), by_definition(&events));
        }

        #[test]
        fn current_answer_is_independent_of_event_order(events in history(), seed in any::<u64>()) {
            let mut shuffled = events.clone();
            let mut state = seed;
            for at in (1..shuffled.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                shuffled.swap(at, (state >> 33) as usize % (at + 1));
            }
            prop_assert_eq!(current(&shuffled), current(&events));
            prop_assert_eq!(marks(&shuffled), marks(&events));
        }

        #[test]
        fn replacement_of_the_current_answer_is_current(
            events in history(), at_ms in -9_i64..9,
        ) {
            // As the store appends it: never earlier than what its copy has seen.
            let seen = events.iter().map(|e| e.at_ms + 1).max().unwrap_or(at_ms);
            let replaces = current(&events);
            let id = events.len() as u32 + 1;
            let mut events = events;
            events.push(answer(id, 1, at_ms.max(seen), replaces));
            prop_assert_eq!(current(&events), Some(id));
        }
    }
}
