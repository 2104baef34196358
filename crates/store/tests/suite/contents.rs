//! Everything that a project says through the public methods of the store, as lines: two formats of a file
//! hold the same if these lines are equal.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use dissensus_domain::{FactKind, PacketId};
use dissensus_store::{Done, HistoryFilter, Removable, Store};
use std::fmt::Debug;

/// The lines, with a heading for each method. The order of entries of the log that have the same time is
/// not compared.
pub(crate) fn contents(store: &Store) -> String {
    let mut said = Vec::new();
    let questions = store.questions().unwrap();
    list(&mut said, "questions", &questions);
    for question in &questions {
        let id = question.id;
        list(&mut said, "versions", &store.question_versions(id).unwrap());
        list(&mut said, "keys", &store.level_keys(id).unwrap());
        list(
            &mut said,
            "uses",
            &store.level_uses(id).unwrap().into_iter().map(|(_, used)| used).collect::<Vec<_>>(),
        );
        list(&mut said, "labels", &store.current_labels(id).unwrap());
        list(&mut said, "repeats", &store.repeats(id).unwrap());
        list(&mut said, "decisions", &store.decisions(id).unwrap());
        list(&mut said, "standing", &[store.dependents_of(Removable::Question(id)).unwrap()]);
    }
    let people = store.annotators().unwrap();
    list(&mut said, "annotators", &people);
    for person in &people {
        list(&mut said, "traces", &[store.traces_of(person.id).unwrap()]);
        list(&mut said, "standing", &[store.dependents_of(Removable::Annotator(person.id)).unwrap()]);
        list(
            &mut said,
            "form answers",
            &store.form_answers(person.id).unwrap().0.into_iter().collect::<Vec<_>>(),
        );
    }
    for text in store.text_ids().unwrap() {
        list(&mut said, "standing", &[store.dependents_of(Removable::Text(text)).unwrap()]);
    }
    list(&mut said, "attention checks", &store.attention_checks().unwrap());
    list(&mut said, "panels", &store.panels().unwrap());
    list(&mut said, "practice", &[store.practice().unwrap()]);
    list(&mut said, "harmful", &store.harmful_levels().unwrap());
    list(&mut said, "limits", &[store.study_limits().unwrap()]);
    list(&mut said, "guidelines", &store.guidelines().unwrap());
    list(&mut said, "packets", &store.packets().unwrap());
    list(&mut said, "hand-ins", &store.submissions().unwrap());
    list(&mut said, "withdrawals", &store.withdrawals().unwrap());
    list(&mut said, "withdrawn", &["Dora", "dora", "eve"].map(|name| store.looks_withdrawn(name).unwrap()));
    list(&mut said, "withdrawn packets", &[1, 2, 3].map(|n| store.is_withdrawn_packet(packet(n)).unwrap()));
    list(&mut said, "wordings", &store.wordings().unwrap());
    list(&mut said, "work", &[store.work_rows().unwrap()]);
    list(&mut said, "last import", &[store.last_import().unwrap()]);
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
    said.push("# log".to_owned());
    said.extend(lines);
    for question in &questions {
        let of = HistoryFilter {
            question: Some(question.id),
            signed: true,
            words: Some("a".into()),
            ..Default::default()
        };
        said.push(format!("{} entries with an a", store.log(&of, None, 100_000).unwrap().len()));
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
        list(&mut said, kind.name(), &facts.collect::<Vec<_>>());
    }
    said.join("\n") + "\n"
}

pub(crate) fn packet(number: u128) -> PacketId {
    PacketId(uuid::Uuid::from_u128(number))
}

fn list(said: &mut Vec<String>, heading: &str, all: &[impl Debug]) {
    said.push(format!("# {heading}"));
    said.extend(all.iter().map(|one| format!("{one:?}")));
}
