//! Files without ids of texts: a body finds the text of the project that has it.

use super::sample::sample;
use dissensus_exchange::{Checker, Scan, scan, text_id_of};
use proptest::prelude::*;

const BODIES: [&str; 7] = ["Hello you", "hello you", "Hello you ", "Grüße", "x", "a b", "A longer one"];

/// Scans these bodies, with the ids that are given, against a project with these texts.
fn scanned(project: &[(String, &str)], rows: &[(Option<String>, &str)]) -> Scan {
    let with_ids = rows.iter().any(|(id, _)| id.is_some());
    let mut content =
        if with_ids { "text_id,text,annotator_id,label\n" } else { "text,annotator_id,label\n" }.to_owned();
    for (id, body) in rows {
        let id = id.as_ref().map_or_else(String::new, |id| format!("{id},"));
        content += &format!("{id}\"{body}\",ada,1\n");
    }
    let file = sample("a.csv", content);
    let roles = file.roles();
    assert_eq!(roles.text_id.is_some(), with_ids);
    let mut checker = Checker::new(None).finding_by_body(!with_ids);
    for (nth, (id, body)) in project.iter().enumerate() {
        assert_eq!(checker.seed_text(id, body), nth as u32);
    }
    scan(&file.source, &roles, checker).unwrap()
}

proptest! {
    /// Whatever ids the project's texts have, a file of their bodies adds only those that are not there
    /// exactly once.
    #[test]
    fn body_finds_the_only_text_with_it(
        project in prop::collection::vec((0..BODIES.len(), any::<bool>()), 0..9),
        file in prop::collection::vec(0..BODIES.len(), 1..9),
    ) {
        let mut texts: Vec<(String, &str)> = Vec::new();
        for (nth, (body, made)) in project.into_iter().enumerate() {
            let id = if made { text_id_of(BODIES[body]) } else { format!("c{nth}") };
            if texts.iter().all(|(known, _)| *known != id) {
                texts.push((id, BODIES[body]));
            }
        }
        let rows: Vec<(Option<String>, &str)> = file.iter().map(|body| (None, BODIES[*body])).collect();
        let found = scanned(&texts, &rows);
        let (mut new, mut several, mut by_body) = (0, 0, 0);
        let different: std::collections::BTreeSet<usize> = file.into_iter().collect();
        for body in &different {
            let same: Vec<&String> = texts.iter().filter(|(_, b)| *b == BODIES[*body]).map(|(id, _)| id).collect();
            match same.as_slice() {
                ids if ids.contains(&&text_id_of(BODIES[*body])) => {}
                [_] => by_body += 1,
                ids => {
                    new += 1;
                    several += u64::from(!ids.is_empty());
                }
            }
        }
        prop_assert_eq!(found.problem_count, 0);
        prop_assert_eq!(found.texts, different.len() as u64);
        prop_assert_eq!((found.new_texts, found.same_bodies, found.texts_by_body), (new, several, by_body));
    }

    /// Ids in a file name texts of their own; those whose body the project has without an id are counted.
    #[test]
    fn id_names_a_text_of_its_own(
        project in prop::collection::btree_set(0..BODIES.len(), 0..6),
        file in prop::collection::btree_set(0..BODIES.len(), 1..6),
    ) {
        let texts: Vec<(String, &str)> =
            project.iter().map(|body| (text_id_of(BODIES[*body]), BODIES[*body])).collect();
        let rows: Vec<(Option<String>, &str)> =
            file.iter().map(|body| (Some(format!("c{body}")), BODIES[*body])).collect();
        let found = scanned(&texts, &rows);
        prop_assert_eq!((found.new_texts, found.texts_by_body), (file.len() as u64, 0));
        prop_assert_eq!(found.same_bodies, file.intersection(&project).count() as u64);
    }
}
