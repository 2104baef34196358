//! One page for everybody without a server, and pages that open with a passphrase.
#![allow(clippy::unwrap_used)] // a helper of tests fails the test as the test itself would

use dissensus_tests::command::Bench;
use dissensus_tests::files;
use dissensus_tests::served::{Page, content_of};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn study(bench: &Bench) {
    bench.file("texts.csv", files::texts(8));
    bench.ok(["project", "new", "S.dissensus"]);
    bench.ok(["data", "import", "S.dissensus", "texts.csv"]);
    bench.ok(["data", "question", "S.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
}

/// A page for so many people.
fn join_page(bench: &Bench, people: &str, more: &[&str]) -> PathBuf {
    study(bench);
    let assign =
        ["study", "assign", "S.dissensus", "--to-come", people, "--per-text", "1", "--as", "join-page"];
    bench.ok(assign.iter().chain(&["--out", "site"]).chain(more));
    bench.path("site").join("join.html")
}

/// Everything that a person would hand in who answers all texts with one level.
fn handed_in(bench: &Bench, page: &Path, id: &str, level: usize) -> PathBuf {
    let mut page = Page::joined(page, id).unwrap();
    for _ in 0..page.texts() {
        page.answer(level);
    }
    bench.file(&format!("{id}.handin"), page.submission())
}

fn merge(bench: &Bench, file: &Path) {
    bench.ok(["study", "merge", "S.dissensus", &file.to_string_lossy()]);
}

fn refused(bench: &Bench, file: &Path) -> String {
    let merged = bench.run(["study", "merge", "S.dissensus", &file.to_string_lossy(), "--json"]);
    let report: Value = serde_json::from_str(&merged.out).unwrap();
    let code = &report["files"][0]["problems"][0]["problem"]["code"];
    code.as_str().unwrap_or_default().to_owned()
}

/// Labels of each person, by the id with which they joined.
fn labels(bench: &Bench) -> BTreeMap<String, BTreeSet<(String, String)>> {
    bench.ok(["data", "export", "S.dissensus", "all.csv", "--force"]);
    let mut all: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for row in csv::Reader::from_path(bench.path("all.csv")).unwrap().into_deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let id = row["PROLIFIC_PID"].clone();
        assert!(all.entry(id).or_default().insert((row["text_id"].clone(), row["label"].clone())), "twice");
    }
    all
}

/// The name of the person who joined with an id.
fn person_of(bench: &Bench, id: &str) -> String {
    bench.ok(["data", "export", "S.dissensus", "of.csv", "--force"]);
    let mut rows = csv::Reader::from_path(bench.path("of.csv")).unwrap();
    let mut rows = rows.deserialize().map(|row| row.unwrap());
    let row = rows.find(|row: &BTreeMap<String, String>| row["PROLIFIC_PID"] == id).unwrap();
    row["annotator_id"].clone()
}

fn people(bench: &Bench) -> u64 {
    bench.json(["project", "info", "S.dissensus"])["annotators"].as_u64().unwrap()
}

#[test]
fn people_are_added_when_they_hand_in() {
    let bench = Bench::without_encoder();
    let page = join_page(&bench, "3", &[]);
    assert_eq!(people(&bench), 0, "nobody has joined");
    let ids: Vec<String> = (0..12).map(|n| format!("p{n}")).collect();
    let files: Vec<PathBuf> = ids.iter().map(|id| handed_in(&bench, &page, id, 1)).collect();
    files.iter().for_each(|file| merge(&bench, file));
    // More people than parts: several have one part, and each is somebody else.
    assert_eq!(people(&bench), 12);
    let parts: BTreeSet<BTreeSet<(String, String)>> = labels(&bench).into_values().collect();
    assert_eq!(parts.len(), 3, "every part was somebody's");
    assert_eq!(parts.iter().flatten().count(), 8, "together they have every text once");

    // Again, and with other answers: the same people.
    files.iter().for_each(|file| merge(&bench, file));
    let before = labels(&bench);
    assert_eq!((people(&bench), before.len()), (12, 12));
    let changed = handed_in(&bench, &page, "p3", 2);
    merge(&bench, &changed);
    let after = labels(&bench);
    assert_eq!(people(&bench), 12);
    assert!(after["p3"].iter().all(|(_, label)| label == "3"), "{:?}", after["p3"]);
    assert!(before.iter().all(|(id, labels)| id == "p3" || after[id] == *labels));
}

#[test]
fn nobody_is_added_by_what_was_not_made_in_the_page() {
    let bench = Bench::without_encoder();
    let page = join_page(&bench, "2", &[]);
    let made = std::fs::read_to_string(handed_in(&bench, &page, "ana", 1)).unwrap();
    let mut other = Page::joined(&page, "ben").unwrap();
    other.answer(0);
    let mut wrong = BTreeMap::new();
    wrong.insert("changed", made.replacen("\"value\":1", "\"value\":2", 1));
    wrong.insert("renamed", made.replacen("\"id\":\"ana\"", "\"id\":\"eve\"", 1));
    // Signed with the right key of another person.
    other.content["joined"]["id"] = "ana".into();
    wrong.insert("forged", String::from_utf8(other.submission()).unwrap());
    other.content["joined"]["id"] = "ben".into();
    other.content["joined"]["attributes"] = serde_json::json!({"gender": "x"});
    wrong.insert("attribute", String::from_utf8(other.submission()).unwrap());
    for (name, content) in wrong {
        let file = bench.file(&format!("{name}.handin"), content);
        assert_eq!(refused(&bench, &file), "merge-tampered", "{name}");
    }
    // Answers about texts of another part.
    let mut greedy = Page::joined(&page, "greedy").unwrap();
    let parts = content_of(&std::fs::read_to_string(&page).unwrap()).unwrap()["parts"].clone();
    let theirs =
        parts.as_array().unwrap().iter().find(|part| **part != greedy.content["assignments"]).unwrap();
    greedy.content["assignments"] = theirs.clone();
    greedy.answer(0);
    let file = bench.file("greedy.handin", greedy.submission());
    assert_eq!(refused(&bench, &file), "merge-not-as-handed-out");
    assert!(labels(&bench).is_empty());
    assert_eq!(people(&bench), 0, "nobody was added");

    // A page of another study.
    let elsewhere = Bench::without_encoder();
    let theirs = join_page(&elsewhere, "2", &[]);
    let file = handed_in(&elsewhere, &theirs, "ana", 1);
    assert_eq!(refused(&bench, &file), "merge-other-project");
    merge(&elsewhere, &file);
}

#[test]
fn person_who_has_withdrawn_stays_away() {
    let bench = Bench::without_encoder();
    let page = join_page(&bench, "1", &[]);
    let [ana, ben] = ["ana", "ben"].map(|id| handed_in(&bench, &page, id, 0));
    merge(&bench, &ana);
    bench.ok(["people", "withdraw", "S.dissensus", "--annotator", &person_of(&bench, "ana"), "--yes"]);
    assert_eq!(refused(&bench, &ana), "merge-withdrawn");
    // Somebody else who got the same texts.
    merge(&bench, &ben);
    assert_eq!(labels(&bench).into_keys().collect::<Vec<_>>(), ["ben"]);
    let file = std::fs::read(bench.path("S.dissensus")).unwrap();
    assert!(!file.windows(3).any(|bytes| bytes == b"ana"), "the id is gone");
}

#[test]
fn address_is_checked_before_anything_is_assigned() {
    let bench = Bench::without_encoder();
    study(&bench);
    for url in ["http://example.org/x", "ftp://x", "https://", "https://a b", "javascript:1", "https://x\"y"]
    {
        for format in ["page", "join-page"] {
            let assign =
                ["study", "assign", "S.dissensus", "--to-come", "2", "--per-text", "1", "--as", format];
            let why = bench.refused(assign.iter().chain(&["--out", "out", "--send-to", url]));
            assert!(why.contains("https://"), "{why}");
        }
    }
    assert_eq!(people(&bench), 0);
    assert!(!bench.path("out/join.html").exists());
    // The policy of the page names the origin, and no other.
    let page = join_page_to(&bench, "https://example.org:8443/in?experiment=a");
    assert!(page.contains("connect-src https://example.org:8443;"), "{}", &page[..1000]);
    let content = content_of(&page).unwrap();
    assert_eq!(content["content"]["target"]["url"], "https://example.org:8443/in?experiment=a");
    assert_eq!(content["content"]["target"]["fields"]["experimentID"], "abc");
}

fn join_page_to(bench: &Bench, url: &str) -> String {
    let assign = ["study", "assign", "S.dissensus", "--to-come", "2", "--per-text", "1", "--as", "join-page"];
    bench.ok(assign.iter().chain(&["--out", "site", "--send-to", url, "--send-with", "experimentID=abc"]));
    std::fs::read_to_string(bench.path("site/join.html")).unwrap()
}

#[test]
fn locked_pages_have_no_text_in_them_and_keep_their_passphrases() {
    let bench = Bench::without_encoder();
    study(&bench);
    let assign = ["study", "assign", "S.dissensus", "--as", "locked-page", "--out"];
    bench.ok(assign.iter().chain(&["a", "--annotators", "ada,ben", "--per-text", "1"]));
    let list = |folder: &str| std::fs::read_to_string(bench.path(folder).join("passphrases.csv")).unwrap();
    let passphrases: Vec<String> =
        list("a").lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1.to_owned()).collect();
    assert_eq!(passphrases.len(), 2);
    assert_ne!(passphrases[0], passphrases[1]);
    for name in ["ada", "ben"] {
        let page = std::fs::read_to_string(bench.path("a").join(format!("{name}.html"))).unwrap();
        assert!(!page.contains("number 1") && !page.contains("rude"), "{name}: a text can be read");
        assert!(content_of(&page).unwrap()["locked"]["data"].is_string());
    }
    bench.ok(assign.iter().chain(&["b", "--write-again"]));
    assert_eq!(list("a"), list("b"));
    // A file of somebody else is not replaced.
    let other = bench.path("c");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("passphrases.csv"), "mine").unwrap();
    bench.refused(assign.iter().chain(&["c", "--write-again"]));
    assert_eq!(list("c"), "mine");
    assert!(!other.join("ada.html").exists());
}

#[test]
fn language_of_the_study_is_in_its_pages() {
    let bench = Bench::without_encoder();
    let page = join_page(&bench, "1", &[]);
    let language =
        |page: &Path| content_of(&std::fs::read_to_string(page).unwrap()).unwrap()["language"].clone();
    assert_eq!(language(&page), Value::Null);
    bench.ok(["people", "language", "S.dissensus", "ar"]);
    let assign = ["study", "assign", "S.dissensus", "--annotators", "ada", "--per-text", "2", "--as"];
    bench.ok(assign.iter().chain(&["locked-page", "--out", "locked"]));
    assert_eq!(language(&bench.path("locked/ada.html")), "ar");
    bench.ok(["study", "assign", "S.dissensus", "--write-again", "--as", "page", "--out", "pages"]);
    assert_eq!(language(&bench.path("pages/ada.html")), "ar");
    bench.ok(["people", "language", "S.dissensus", "auto"]);
    assert_eq!(bench.json(["people", "language", "S.dissensus"])["language"], Value::Null);
}

#[test]
fn copies_that_add_people_apart_agree() {
    let bench = Bench::without_encoder();
    let page = join_page(&bench, "1", &[]);
    bench.ok(["project", "copy", "S.dissensus", "copy.dissensus"]);
    let [ana, ben] = ["ana", "ben"].map(|id| handed_in(&bench, &page, id, if id == "ana" { 0 } else { 2 }));
    // In another order in each copy, and with an earlier submission in one of them.
    let mut early = Page::joined(&page, "ana").unwrap();
    early.answer(0);
    let early = bench.file("early.handin", early.submission());
    for file in [&ana, &ben] {
        merge(&bench, file);
    }
    for file in [&ben, &early] {
        bench.ok(["study", "merge", "copy.dissensus", &file.to_string_lossy()]);
    }
    let before = labels(&bench);
    bench.ok(["study", "merge", "S.dissensus", "copy.dissensus", "--whole-copy", "--yes"]);
    assert_eq!((people(&bench), before.len()), (2, 2));
    let after = labels(&bench);
    assert_eq!(after["ben"], before["ben"]);
    assert_eq!(after["ana"].len(), 8);
    // A copy that only knows the page from this one takes submissions too.
    bench.ok(["study", "merge", "copy.dissensus", &ana.to_string_lossy()]);
}

#[test]
fn what_a_page_asks_about_stays() {
    let bench = Bench::without_encoder();
    let page = join_page(&bench, "1", &[]);
    for what in [["--text", "t1"], ["--question", "rude"]] {
        let why = bench.ok(["project", "remove", "S.dissensus"].into_iter().chain(what));
        assert!(why.contains("packet"), "{why}");
    }
    merge(&bench, &handed_in(&bench, &page, "ana", 1));
}

#[test]
fn parts_of_a_page_are_planned_like_packets() {
    let bench = Bench::without_encoder();
    let first = join_page(&bench, "2", &[]);
    let status = || bench.ok(["study", "status", "S.dissensus"]);
    let shown = status();
    assert!(shown.contains("has 2 shares; nobody has joined yet") && shown.lines().count() == 1, "{shown}");
    // The same page once more, and a packet for somebody: nothing is left.
    let another = |out: &str, more: &[&str]| {
        let fixed = ["study", "assign", "S.dissensus", "--as", "join-page", "--to-come", "2", "--out", out];
        bench.run(fixed.iter().chain(more)).err
    };
    assert!(another("again", &["--per-text", "1"]).contains("nothing is left"));
    let plan = ["study", "assign", "S.dissensus", "--annotators", "ada", "--per-text", "1", "--dry-run"];
    assert_eq!(bench.json(plan)["people"][0]["texts"], 0);
    // A person who joins has one of the two parts, and each part counts once. The other one is nobody's.
    merge(&bench, &handed_in(&bench, &first, "ana", 1));
    let shown = status();
    assert!(shown.contains("1 person has joined; 1 share has nobody yet"), "{shown}");
    assert!(another("again", &["--per-text", "1"]).contains("nothing is left"));
    let left = 8 - Page::joined(&first, "ana").unwrap().texts();
    assert!(shown.contains(&format!("{left} texts handed out to fewer than 1 person")), "{shown}");
    assert!(shown.contains("--without-pages"), "{shown}");
    // It may stay empty: then others have its texts.
    let others = bench.json(plan.iter().chain(&["--without-pages"]));
    assert_eq!(others["people"][0]["texts"], left);
    // A later page has first what nobody was planned for.
    bench.file("more.csv", "text_id,text\nnew1,one more\nnew2,and another\n");
    bench.ok(["data", "import", "S.dissensus", "more.csv"]);
    let parts = |out: &str, more: &[&str]| -> Vec<BTreeSet<String>> {
        assert_eq!(another(out, more), "");
        parts_of(&bench.path(out).join("join.html"))
    };
    let new = parts("new", &["--per-text", "1"]);
    assert_eq!(new.iter().flatten().collect::<BTreeSet<_>>().len(), 2, "{new:?}");
    // With the same seed, and the same number of people, the texts come together differently.
    let second = parts("second", &["--per-text", "2"]);
    assert_eq!(second.iter().map(BTreeSet::len).sum::<usize>(), 10);
    let begin: Vec<BTreeSet<String>> = parts_of(&first);
    assert!(begin.iter().all(|part| !second.iter().any(|other| part.is_subset(other))), "{second:?}");
    assert!(another("again", &["--per-text", "2"]).contains("nothing is left"));
    assert_eq!(status().matches("The page for everybody of").count(), 3);
}

/// People of all parts of a page, each with a part of their own, in the order of the parts.
fn person_of_each_part(page: &Path) -> Vec<String> {
    let parts = content_of(&std::fs::read_to_string(page).unwrap()).unwrap()["parts"].clone();
    let parts = parts.as_array().unwrap().len();
    let mut people: BTreeMap<u64, String> = BTreeMap::new();
    for id in (0..1000).map(|n| format!("p{n}")) {
        let page = Page::joined(page, &id).unwrap();
        people.entry(page.content["part"].as_u64().unwrap()).or_insert(id);
        if people.len() == parts {
            break;
        }
    }
    people.into_values().collect()
}

#[test]
fn share_of_somebody_who_withdrew_is_not_planned_again() {
    let bench = Bench::without_encoder();
    let page = join_page(&bench, "2", &[]);
    let [ana, ben] = person_of_each_part(&page).try_into().unwrap();
    let plan = ["study", "assign", "S.dissensus", "--annotators", "zoe", "--per-text", "1", "--dry-run"];
    let left = |file: &str| {
        let plan = plan.map(|word| if word == "S.dissensus" { file } else { word });
        bench.json(plan)["people"][0]["texts"].as_u64().unwrap()
    };
    for id in [&ana, &ben] {
        merge(&bench, &handed_in(&bench, &page, id, 0));
    }
    assert_eq!(left("S.dissensus"), 0);
    bench.ok(["project", "copy", "S.dissensus", "copy.dissensus"]);
    bench.ok(["people", "withdraw", "S.dissensus", "--annotator", &person_of(&bench, &ana), "--yes"]);
    let theirs = Page::joined(&page, &ana).unwrap().texts() as u64;
    let status = |file: &str| bench.ok(["study", "status", file]);
    let shown = status("S.dissensus");
    let short = format!("{theirs} texts handed out to fewer than 1 person");
    assert!(shown.contains(&short) && !shown.contains("--without-pages"), "{shown}");
    assert_eq!(left("S.dissensus"), theirs);
    // The same in a copy that learns of it.
    bench.ok(["study", "merge", "copy.dissensus", "S.dissensus", "--whole-copy", "--yes"]);
    assert_eq!(left("copy.dissensus"), theirs);
    assert!(status("copy.dissensus").contains(&short));
    // And without anybody.
    bench.ok(["people", "withdraw", "S.dissensus", "--annotator", &person_of(&bench, &ben), "--yes"]);
    let shown = status("S.dissensus");
    assert!(shown.contains("all who joined have withdrawn"), "{shown}");
    assert!(shown.contains("8 texts handed out to fewer than 1 person"), "{shown}");
    assert_eq!(left("S.dissensus"), 8);
}

#[test]
fn equal_shares_are_used_up_one_by_one() {
    let bench = Bench::without_encoder();
    bench.file("texts.csv", files::texts(1));
    bench.ok(["project", "new", "S.dissensus"]);
    bench.ok(["data", "import", "S.dissensus", "texts.csv"]);
    bench.ok(["data", "question", "S.dissensus", "rude", "--scale", "ordinal", "--levels", "1,2,3"]);
    let assign = ["study", "assign", "S.dissensus", "--to-come", "3", "--per-text", "3", "--as", "join-page"];
    bench.ok(assign.iter().chain(&["--out", "site"]));
    let page = bench.path("site/join.html");
    let left = |per_text: &str| {
        let plan = ["study", "assign", "S.dissensus", "--annotators", "zoe", "--dry-run", "--per-text"];
        bench.json(plan.iter().chain(&[per_text]))["people"][0]["texts"].as_u64().unwrap()
    };
    for (at, id) in person_of_each_part(&page).iter().enumerate() {
        merge(&bench, &handed_in(&bench, &page, id, 0));
        let shown = bench.ok(["study", "status", "S.dissensus"]);
        assert!(
            shown.contains(["; 2 shares have", "; 1 share has", "3 people have joined\n"][at]),
            "{shown}"
        );
        assert_eq!((left("3"), left("4")), (0, 1), "people and open shares are three");
    }
}

/// The ids of the texts of each part of a page.
fn parts_of(page: &Path) -> Vec<BTreeSet<String>> {
    let page = content_of(&std::fs::read_to_string(page).unwrap()).unwrap();
    let texts = page["content"]["texts"].as_array().unwrap();
    let name = |item: &Value| {
        let text = texts.iter().find(|text| text["text"] == item["text"]).unwrap();
        text["external_id"].as_str().unwrap().to_owned()
    };
    let parts = page["parts"].as_array().unwrap().iter();
    parts.map(|part| part.as_array().unwrap().iter().map(name).collect()).collect()
}

#[test]
fn preview_of_a_new_person_changes_nothing() {
    let bench = Bench::without_encoder();
    let page = join_page(&bench, "1", &[]);
    let file = handed_in(&bench, &page, "ana", 1);
    let report = bench.json(["study", "merge", "S.dissensus", &file.to_string_lossy(), "--dry-run"]);
    assert_eq!((&report["files"][0]["refused"], &report["files"][0]["new"]), (&false.into(), &8.into()));
    assert_eq!(people(&bench), 0);
}
