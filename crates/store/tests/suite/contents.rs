//! Everything that a project says through the public methods of the store, as lines: two formats of a file
//! hold the same if these lines are equal.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use dissensus_domain::{FactKind, PacketId};
use dissensus_store::{Done, HistoryFilter, Removable, Store};
use std::fmt::Debug;

/// The lines, with a heading for each method. The order of entries of the log that have the same time is
/// not compared.
pub(crate) fn contents(store: &Store) -> String {
    let mut lines_written = Vec::new();
    let questions = store.questions().unwrap();
    list(&mut lines_written, "questions", &questions);
    for question in &questions {
        let id = question.id;
        list(&mut lines_written, "versions", &store.question_versions(id).unwrap());
        list(&mut lines_written, "keys", &store.level_keys(id).unwrap());
        list(
            &mut lines_written,
            "uses",
            &store.level_uses(id).unwrap().into_iter().map(|(_, used)| used).collect::<Vec<_>>(),
        );
        list(&mut lines_written, "labels", &store.current_labels(id).unwrap());
        list(&mut lines_written, "repeats", &store.repeats(id).unwrap());
        list(&mut lines_written, "decisions", &store.decisions(id).unwrap());
        list(&mut lines_written, "standing", &[store.dependents_of(Removable::Question(id)).unwrap()]);
    }
    let people = store.annotators().unwrap();
    list(&mut lines_written, "annotators", &people);
    for person in &people {
        list(&mut lines_written, "traces", &[store.traces_of(person.id).unwrap()]);
        list(
            &mut lines_written,
            "standing",
            &[store.dependents_of(Removable::Annotator(person.id)).unwrap()],
        );
        list(
            &mut lines_written,
            "form answers",
            &store.form_answers(person.id).unwrap().0.into_iter().collect::<Vec<_>>(),
        );
    }
    for text in store.text_ids().unwrap() {
        list(&mut lines_written, "standing", &[store.dependents_of(Removable::Text(text)).unwrap()]);
    }
    list(&mut lines_written, "attention checks", &store.attention_checks().unwrap());
    list(&mut lines_written, "panels", &store.panels().unwrap());
    list(&mut lines_written, "practice", &[store.practice().unwrap()]);
    list(&mut lines_written, "harmful", &store.harmful_levels().unwrap());
    list(&mut lines_written, "limits", &[store.study_limits().unwrap()]);
    list(&mut lines_written, "guidelines", &store.guidelines().unwrap());
    list(&mut lines_written, "packets", &store.packets().unwrap());
    list(&mut lines_written, "hand-ins", &store.submissions().unwrap());
    list(&mut lines_written, "withdrawals", &store.withdrawals().unwrap());
    list(
        &mut lines_written,
        "withdrawn",
        &["Dora", "dora", "eve"].map(|name| store.looks_withdrawn(name).unwrap()),
    );
    list(
        &mut lines_written,
        "withdrawn packets",
        &[1, 2, 3].map(|n| store.is_withdrawn_packet(packet(n)).unwrap()),
    );
    list(&mut lines_written, "wordings", &store.wordings().unwrap());
    list(&mut lines_written, "work", &[store.work_rows().unwrap()]);
    list(&mut lines_written, "last import", &[store.last_import().unwrap()]);
    let mut log = store.log(&HistoryFilter::default(), None, 100_000).unwrap();
    assert!(log.is_sorted_by_key(|entry| std::cmp::Reverse(entry.place.at_ms)));
    log.retain(|entry| !matches!(entry.what, Done::Run { .. }));
    for entry in &mut log {
        if let Done::Condition { levels, .. } = &mut entry.what {
            levels.sort_unstable();
        }
    }
    let mut lines: Vec<String> = log
        .iter()
        .map(|entry| {
            let at_ms = entry.place.at_ms;
            let about = (entry.kind, entry.annotator, entry.question, entry.text, entry.copy, &entry.by);
            // Until format 18, events were of the first round.
            format!("{at_ms} {about:?} {:?}", entry.what).replace(" occasion: 1,", "")
        })
        .collect();
    lines.sort();
    lines_written.push("# log".to_owned());
    lines_written.extend(lines);
    for question in &questions {
        let of = HistoryFilter {
            question: Some(question.id),
            signed: true,
            words: Some("a".into()),
            ..Default::default()
        };
        lines_written.push(format!("{} entries with an a", store.log(&of, None, 100_000).unwrap().len()));
    }
    let noted = [
        FactKind::Shown,
        FactKind::FormAnswers,
        FactKind::PracticeAnswer,
        FactKind::LeftOut,
        FactKind::Prompt,
        FactKind::Help,
        FactKind::Levels,
        FactKind::CannotSay,
    ];
    for kind in noted {
        let facts = store.all_facts(kind).unwrap();
        let facts =
            facts.iter().map(|fact| (fact.question, fact.text, fact.annotator, fact.at_ms, &fact.value));
        list(&mut lines_written, kind.name(), &facts.collect::<Vec<_>>());
    }
    lines_written.join("\n") + "\n"
}

pub(crate) fn packet(number: u128) -> PacketId {
    PacketId(uuid::Uuid::from_u128(number))
}

fn list(lines_written: &mut Vec<String>, heading: &str, all: &[impl Debug]) {
    lines_written.push(format!("# {heading}"));
    lines_written.extend(all.iter().map(|one| format!("{one:?}")));
}
