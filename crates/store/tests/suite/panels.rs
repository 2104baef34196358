//! Panels are saved under names, are merged into every copy, and are never included in a task
//! packet.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::common::small;
use dissensus_domain::{Panel, PanelMembers, PanelRule, PanelShare, SavedPanel};
use dissensus_store::{LARGEST_FACT, Store};

fn named(name: &str, saved_at_ms: i64, people: &[&str]) -> SavedPanel {
    let panel = Panel {
        question: None,
        members: PanelMembers::Named(people.iter().map(|p| (*p).to_owned()).collect()),
        rule: PanelRule::Majority,
    };
    SavedPanel { name: name.to_owned(), saved_at_ms, panel: Some(panel) }
}

fn drawn(name: &str, size: u32) -> SavedPanel {
    let shares = vec![PanelShare { attribute: "gender".into(), value: "Woman".into(), share: 0.5 }];
    let members = PanelMembers::Drawn { size, shares, seed: 3 };
    let rule = "quorum:0.5@2".parse().unwrap();
    SavedPanel {
        name: name.to_owned(),
        saved_at_ms: 5,
        panel: Some(Panel { question: Some("q".into()), members, rule }),
    }
}

#[test]
fn latest_panel_of_a_name_is_current() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    let store = small(&path, 2, 2);
    let save = |panel: SavedPanel| store.write(move |tx| tx.save_panel(&panel));
    save(named("few", 100, &["a1"])).unwrap();
    // A clock that was set back.
    save(named("few", 50, &["a1", "a2"])).unwrap();
    save(drawn("board", 12)).unwrap();
    let kept = store.panels().unwrap();
    assert_eq!(kept.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["board", "few"]);
    assert_eq!(
        (&kept[0].panel, &kept[1].panel),
        (&drawn("board", 12).panel, &named("few", 0, &["a1", "a2"]).panel)
    );
    save(SavedPanel { panel: None, ..named("few", 1, &[]) }).unwrap();
    assert_eq!(store.panels().unwrap().len(), 1);
    for name in ["", "  ", &"x".repeat(201)] {
        assert!(save(named(name, 1, &["a1"])).is_err(), "{name}");
    }
    store.close().unwrap();
    let again = Store::open(&path).unwrap();
    assert_eq!(again.panels().unwrap()[0].panel, drawn("board", 12).panel);
}

#[test]
fn saved_panels_merge() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.dissensus"), folder.path().join("b.dissensus"));
    small(&a, 2, 2).close().unwrap();
    std::fs::copy(&a, &b).unwrap();
    let (a, b) = (Store::open(&a).unwrap(), Store::open(&b).unwrap());
    let save = |store: &Store, panel: SavedPanel| store.write(move |tx| tx.save_panel(&panel)).unwrap();
    save(&a, named("few", 100, &["a1"]));
    save(&a, drawn("board", 12));
    save(&b, named("few", 100, &["a2"]));
    save(&b, drawn("board", 9));
    assert_eq!(a.merge_from(&b).unwrap().panels, 2);
    assert_eq!(b.merge_from(&a).unwrap().panels, 2);
    assert_eq!(a.merge_from(&b).unwrap().panels, 0);
    assert_eq!(a.panels().unwrap(), b.panels().unwrap());
    assert_eq!(a.panels().unwrap().len(), 2);
}

#[test]
fn withdrawal_removes_a_person_from_panels() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.dissensus"), folder.path().join("b.dissensus"));
    small(&a, 2, 2).close().unwrap();
    std::fs::copy(&a, &b).unwrap();
    let (a, b) = (Store::open(&a).unwrap(), Store::open(&b).unwrap());
    let people = a.annotators().unwrap();
    let (first, second) = (people[0].external_id.as_str(), people[1].external_id.as_str());
    let save = |store: &Store, panel: SavedPanel| store.write(move |tx| tx.save_panel(&panel)).unwrap();
    save(&a, named("both", 1, &[first, second]));
    save(&a, named("one", 1, &[first]));
    save(&b, named("apart", 1, &[second, first]));
    a.withdraw(people[0].id, 5).unwrap();
    let members = |store: &Store| -> Vec<(String, PanelMembers)> {
        store.panels().unwrap().into_iter().map(|p| (p.name, p.panel.unwrap().members)).collect()
    };
    let left = |name: &str| (name.to_owned(), PanelMembers::Named(vec![second.to_owned()]));
    assert_eq!(members(&a), [left("both")]);
    a.merge_from(&b).unwrap();
    b.merge_from(&a).unwrap();
    assert_eq!(members(&a), [left("apart"), left("both")]);
    assert_eq!(members(&b), members(&a));
    // Their names are nowhere, not even in earlier versions.
    save(&b, named("again", 9, &[first, second]));
    assert_eq!(members(&b)[0], left("again"));
    assert_eq!(a.merge_from(&b).unwrap().panels, 1);
    assert_eq!(b.merge_from(&a).unwrap().panels, 0);
}

#[test]
fn oversized_old_panel_does_not_stop_a_merge() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dissensus");
    small(&path, 2, 2).close().unwrap();
    let people: Vec<String> = (0..100_000).map(|n| format!("person {n}")).collect();
    let people: Vec<&str> = people.iter().map(String::as_str).collect();
    let large = named("all", 5, &people);
    let value = serde_json::to_value(&large.panel).unwrap().to_string();
    assert!(value.len() > LARGEST_FACT);
    let conn = rusqlite::Connection::open(&path).unwrap();
    let sql = "INSERT INTO facts (kind, key, at_ms, value) VALUES ('panel', 'all', 5, ?1)";
    conn.execute(sql, [value]).unwrap();
    drop(conn);
    let other = crate::common::copied(&path, "other.dissensus");
    assert_eq!(crate::common::merge_from(&path, &other).panels, 0);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.panels().unwrap(), std::slice::from_ref(&large));
    let saved = SavedPanel { name: "again".to_owned(), ..large };
    let refused = store.write(move |tx| tx.save_panel(&saved)).unwrap_err();
    assert!(refused.to_string().contains("panel again"), "{refused}");
}
