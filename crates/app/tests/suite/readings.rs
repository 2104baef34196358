//! Tables of several shapes, imported: previewed, accounted for afterwards, and as safe as any import.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{TestFolder, import_as_guessed, try_import};
use dissensus_api::{
    AttributeConflicts, ImportAccount, ImportChoices, ImportPreview, ImportReport, JoinChoice, QuestionScale,
};
use dissensus_app::session::Session;
use dissensus_domain::ScaleKind;
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

struct Opened {
    folder: TestFolder,
    session: Session,
}

impl Opened {
    fn new() -> Self {
        let folder = TestFolder::new();
        let session = folder.project("p");
        Self { folder, session }
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        self.folder.file(name, content)
    }

    fn preview(&self, file: &Path, choices: &ImportChoices) -> ImportPreview {
        exchange::preview(&self.session.exchange, file, choices).unwrap()
    }

    fn import(&self, file: &Path, choices: &ImportChoices) -> Result<ImportReport, ProjectError> {
        try_import(&self.session, file, choices)
    }

    fn guessed(&self, file: &Path) -> ImportReport {
        import_as_guessed(&self.session, file)
    }

    fn texts(&self) -> u32 {
        info::read(&self.session.project).unwrap().texts
    }
}

/// The choices of a suggested reading.
fn following(preview: &ImportPreview, nth: usize) -> ImportChoices {
    ImportChoices { columns: Some(preview.readings[nth].columns.clone()), ..ImportChoices::default() }
}

fn questions() -> String {
    let mut table = "item_id,context,rater_id,rater_gender,Q1_harm,Q2_bias\n".to_owned();
    for t in 0..6 {
        for p in 0..3 {
            let answer = |q: usize| ["Yes", "No", "Unsure"][(t * 2 + p + q * (t + 1)) % 3];
            let gender = ["Woman", "Man"][p % 2];
            writeln!(table, "c{t},Something was said {t},r{p},{gender},{},{}", answer(0), answer(1)).unwrap();
        }
    }
    table
}

fn wide() -> String {
    let mut table = "id,sentence,rater_1,rater_2,rater_3\n".to_owned();
    for t in 0..8 {
        let last = if t % 2 == 0 { String::new() } else { (t % 3).to_string() };
        writeln!(table, "s{t},A sentence with words {t},{},{},{last}", t % 3, (t + 1) % 3).unwrap();
    }
    table
}

#[test]
fn every_question_of_a_row_is_shown_and_imported() {
    let place = Opened::new();
    let file = place.file("ratings.csv", &questions());
    let preview = place.preview(&file, &ImportChoices::default());
    assert!(!preview.undecided && preview.problem.is_none(), "{preview:?}");
    assert_eq!((preview.shown, preview.total_rows, preview.new_labels), (Some(0), 18, 36));
    let names: Vec<&str> = preview.asked.iter().map(|asked| asked.name.as_str()).collect();
    assert_eq!(names, ["Q1_harm", "Q2_bias"]);
    assert_eq!(preview.examples.len(), 3);
    assert_eq!(preview.examples[0].answers.len(), 6, "{:?}", preview.examples[0]);
    let used: Vec<&str> = preview.uses.iter().map(|of| of.used_as.as_str()).collect();
    assert_eq!(used[2..5], ["annotator", "attribute of the annotator", "answers to \"Q1_harm\""]);
    let ordered = QuestionScale {
        question: "Q1_harm".to_owned(),
        kind: ScaleKind::Ordinal,
        levels: ["No", "Unsure", "Yes"].map(str::to_owned).to_vec(),
    };
    let report =
        place.import(&file, &ImportChoices { scales: vec![ordered], ..ImportChoices::default() }).unwrap();
    assert_eq!((report.texts, report.annotators, report.labels), (6, 3, 36));
    assert_eq!(report.asked[0].scale.kind(), ScaleKind::Ordinal);
    assert_eq!(report.asked.iter().flat_map(|asked| &asked.level_counts).sum::<u32>(), 36);
    assert!(report.people.iter().all(|person| person.labels == 12));
    let read = ImportAccount { rows: 18, read: 18, ..ImportAccount::default() };
    assert_eq!((report.account, preview.account), (read.clone(), read));
    assert_eq!(annotators::find(&place.session.project, "r0").unwrap().attributes["rater_gender"], "Woman");
    // Again: nothing is new.
    let again = place.guessed(&file);
    assert_eq!((again.labels, again.repeated_rows), (0, 36));
    assert_eq!(again.account, ImportAccount { rows: 18, repeated: 18, ..ImportAccount::default() });
}

#[test]
fn ambiguous_guess_is_not_imported() {
    let place = Opened::new();
    let mut table = "text_id,text,annotator_id,label,date\n".to_owned();
    for t in 0..4 {
        writeln!(table, "t{t},Text number {t},a,{},0{}/0{}/2024", t % 2, t + 1, t + 2).unwrap();
    }
    let file = place.file("dates.csv", &table);
    let preview = place.preview(&file, &ImportChoices::default());
    assert!(preview.undecided && preview.readings.len() > 1);
    let error = place.import(&file, &ImportChoices::default()).unwrap_err();
    assert_eq!(error.code(), "several-readings");
    let detail = error.detail().unwrap();
    assert!(
        detail.contains("--time-format month-first") && detail.contains("--time-format day-first"),
        "{detail}"
    );
    assert_eq!(place.texts(), 0);
    for (nth, reading) in preview.readings.iter().enumerate() {
        let shown = place.preview(&file, &following(&preview, nth));
        assert_eq!((shown.undecided, shown.shown), (false, Some(nth as u32)));
        assert_eq!(shown.columns, reading.columns);
    }
    assert_eq!(place.import(&file, &following(&preview, 1)).unwrap().labels, 4);
}

#[test]
fn stored_reading_gives_the_same_import() {
    for (name, content) in [("a.csv", questions()), ("b.csv", wide())] {
        let place = Opened::new();
        let file = place.file(name, &content);
        let preview = place.preview(&file, &ImportChoices::default());
        let written = serde_json::to_string(&preview.columns).unwrap();
        let columns = Some(serde_json::from_str(&written).unwrap());
        let again = place.preview(&file, &ImportChoices { columns, ..ImportChoices::default() });
        assert_eq!(ImportPreview { shown: preview.shown, ..again.clone() }, ImportPreview { ..preview });
        assert_eq!(again.shown, Some(0));
    }
}

#[test]
fn set_has_all_options_and_accepts_later_files() {
    let place = Opened::new();
    let table = |chosen: &dyn Fn(usize, usize, usize) -> bool| {
        let mut table = "id,text,rater_id,joy,anger,fear,neutral\n".to_owned();
        for t in 0..6 {
            for p in 0..2 {
                let marks = [0, 1, 2, 3].map(|o| usize::from(chosen(t, p, o)).to_string());
                writeln!(table, "c{t},A comment {t},r{p},{}", marks.join(",")).unwrap();
            }
        }
        table
    };
    // No one chooses fear.
    let file = place.file("emotions.csv", &table(&|t, p, o| o != 2 && (t + p) % 3 == o.min(2)));
    let report = place.guessed(&file);
    let scale = report.scale.clone().unwrap();
    assert_eq!(scale.kind(), ScaleKind::MultiLabel);
    assert_eq!(scale.levels(), ["joy", "anger", "fear", "neutral"]);
    assert_eq!((report.labels, report.question.as_deref()), (12, Some("emotions")));
    // Later one annotator chooses it.
    let other = place.file("later.csv", &table(&|t, p, o| o == 2 && t == 0 && p == 0 || o == 3 && t > 0));
    let preview = place.preview(&other, &ImportChoices::default());
    assert_eq!(preview.problem, None);
    let named = ImportChoices { question: Some("emotions".to_owned()), ..ImportChoices::default() };
    let later = place.import(&other, &named).unwrap();
    assert!(later.labels > 0 && later.rejected_rows == 0, "{later:?}");
}

#[test]
fn labels_given_since_the_import_stay() {
    let place = Opened::new();
    let file = place.file("wide.csv", &wide());
    assert_eq!(place.guessed(&file).labels, 20);
    by_name::record(&place.session.labelling, &LabelByName::new("rater_1", "s0", "2", None)).unwrap();
    let again = place.guessed(&file);
    assert_eq!((again.labels, again.changes.outdated_rows), (0, 1));
    let out = place.folder.path("out.csv");
    exchange::export(&place.session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
    let mut rows = csv::Reader::from_path(&out).unwrap();
    let current = rows.deserialize::<std::collections::BTreeMap<String, String>>().map(Result::unwrap);
    let current = current.filter(|row| row["annotator_id"] == "rater_1" && row["text_id"] == "s0");
    assert_eq!(current.map(|row| row["label"].clone()).collect::<Vec<_>>(), ["2"]);
}

/// Cancels once the writing has begun.
struct Cancelling(AtomicU32);

impl Progress for Cancelling {
    fn report(&self, _: u64, _: Option<u64>, step: &str) {
        if step == "writing" {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

#[test]
fn cancelled_import_adds_nothing() {
    let place = Opened::new();
    let mut table = "id,text,rater_1,rater_2,rater_3\n".to_owned();
    for t in 0..3000 {
        writeln!(table, "s{t},A sentence {t},{},{},{}", t % 3, (t + 1) % 3, t % 2).unwrap();
    }
    let file = place.file("large.csv", &table);
    let progress: Arc<dyn Progress> = Arc::new(Cancelling(AtomicU32::new(0)));
    let error = exchange::import(&place.session.exchange, &file, &ImportChoices::default(), Some(&progress))
        .unwrap_err();
    assert_eq!(error.code(), "cancelled");
    let info = info::read(&place.session.project).unwrap();
    assert_eq!((info.texts, info.annotators, info.questions.len()), (0, 0, 0));
    assert_eq!(place.guessed(&file).labels, 9000);
}

#[test]
fn concurrent_imports_of_one_file_add_it_once() {
    let place = Opened::new();
    let file = place.file("wide.csv", &wide());
    let place = &place;
    // The second one finds the question of the first, or everything.
    let added = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| place.import(&file, &ImportChoices::default())));
        let reports = both.into_iter().map(|one| one.join().unwrap());
        reports.filter_map(Result::ok).map(|report| report.labels).sum::<u32>()
    });
    assert_eq!(added, 20);
    assert_eq!(info::read(&place.session.project).unwrap().labels, 20);
}

#[test]
fn joined_files_import_as_one() {
    let place = Opened::new();
    let texts = place.file(
        "comments.tsv",
        "rev_id\tcomment\tyear\n1\tThis is a comment\t2002\n2\tanother one here\t2003\n",
    );
    let labels =
        place.file("annotations.tsv", "rev_id\tworker_id\ttoxicity\n1\t7\t0\n1\t8\t1\n2\t7\t0\n2\t8\t0\n");
    // On its own it reports what is missing, before and after.
    let alone = place.preview(&labels, &ImportChoices::default());
    assert_eq!((alone.bad_row_count, alone.bad_rows.len()), (4, 4));
    assert!(alone.bad_rows[0].message.contains("import the texts first"), "{:?}", alone.bad_rows[0]);
    for (main, other) in [(&labels, &texts), (&texts, &labels)] {
        let place = Opened::new();
        let join = JoinChoice { path: other.to_string_lossy().into_owned(), ..JoinChoice::default() };
        let columns =
            exchange::join_columns(&place.session.exchange, main, &ImportChoices::default(), &join).unwrap();
        let choices = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
        let report = place.import(main, &choices).unwrap();
        assert_eq!((report.texts, report.annotators, report.labels, report.empty_labels), (2, 2, 4, 0));
        assert_eq!(report.account, ImportAccount { rows: 6, read: 6, ..ImportAccount::default() });
        assert_eq!(report.question.as_deref(), Some("toxicity"));
    }
    // With the texts first, the ids are found in the project.
    assert_eq!(place.guessed(&texts).texts, 2);
    assert_eq!(place.guessed(&labels).labels, 4);
    let join = JoinChoice { path: texts.to_string_lossy().into_owned(), ..JoinChoice::default() };
    let columns =
        exchange::join_columns(&place.session.exchange, &labels, &ImportChoices::default(), &join).unwrap();
    std::fs::remove_file(&texts).unwrap();
    let choices = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
    let error = place.import(&labels, &choices).unwrap_err().to_string();
    assert!(error.contains("comments.tsv"), "{error}");
}

#[test]
fn row_with_several_bad_answers_is_rejected_once() {
    let place = Opened::new();
    let first = place.file("wide.csv", &wide());
    place.guessed(&first);
    let bad = "id,sentence,rater_1,rater_2,rater_3\nn1,New sentence one,9,8,0\nn2,New sentence two,1,1,1\n";
    let file = place.file("more.csv", bad);
    let named =
        ImportChoices { question: Some("wide".to_owned()), skip_bad: true, ..ImportChoices::default() };
    let preview = place.preview(&file, &named);
    assert_eq!((preview.bad_row_count, preview.bad_rows.len(), preview.total_rows), (1, 2, 2), "{preview:?}");
    assert_eq!(preview.bad_rows[0].column.as_deref(), Some("rater_1"));
    let report = place.import(&file, &named).unwrap();
    assert_eq!((report.rejected_rows, report.labels), (1, 4));
    assert_eq!((report.account.read, report.account.dropped), (1, 1));
    assert_eq!(report.account.reasons.iter().map(|dropped| dropped.rows).sum::<u32>(), 1);
    let rejected = std::fs::read_to_string(report.rejected_file.unwrap()).unwrap();
    assert_eq!(rejected.matches("n1,New sentence one").count(), 1, "{rejected}");
}

#[test]
fn notices_offer_a_working_fix() {
    let place = Opened::new();
    let mut table = "text_id,text,annotator_id,gender,label\n".to_owned();
    for (nth, label) in ["Yes", "yes", "NO", "no", "NA", "Yes", "no", "No"].iter().enumerate() {
        let gender = ["Woman", "woman"][nth / 2 % 2];
        writeln!(table, "t{},Text number {},{},{gender},{label}", nth / 2, nth / 2, ["a", "b"][nth % 2])
            .unwrap();
    }
    let file = place.file("answers.csv", &table);
    let mut choices = ImportChoices::default();
    for code in ["attribute-conflicts", "missing-value-level", "level-spellings"] {
        let preview = place.preview(&file, &choices);
        let notice = preview.notices.iter().find(|notice| notice.code == code);
        let Some(notice) = notice else { panic!("{code}: {:?} {:?}", preview.notices, preview.problem) };
        assert!(notice.fix_label.is_some(), "{notice:?}");
        choices.columns = notice.fix.clone();
        assert!(choices.columns.is_some());
    }
    let columns = choices.columns.clone().unwrap();
    assert_eq!(columns.attribute_conflicts, AttributeConflicts::MostFrequent);
    assert!(columns.fold_case && columns.missing == ["NA"]);
    let report = place.import(&file, &choices).unwrap();
    assert_eq!(report.scale.unwrap().levels(), ["no", "yes"]);
    assert_eq!((report.labels, report.empty_labels, report.rejected_rows), (7, 1, 0));
    // A question that has its levels in other spellings retains them.
    let more = "text_id,text,annotator_id,label\nt9,Text number 9,a,TRUE\nt9,Text number 9,b,No \n";
    let mut later = choices.clone();
    later.question = Some("answers".to_owned());
    let columns = later.columns.as_mut().unwrap();
    columns.attributes.clear();
    let report = place.import(&place.file("more.csv", more), &later).unwrap();
    assert_eq!((report.labels, report.rejected_rows), (2, 0));
}

#[test]
fn attribute_rule_keeps_the_projects_value() {
    let place = Opened::new();
    let table = |age: [u32; 4]| {
        let row = |(nth, age): (usize, &u32)| format!("t{nth},Text number {nth},a,{age},{}\n", nth % 2);
        format!(
            "text_id,text,annotator_id,age,label\n{}",
            age.iter().enumerate().map(row).collect::<String>()
        )
    };
    place.guessed(&place.file("first.csv", &table([30; 4])));
    let file = place.file("later.csv", &table([31, 31, 32, 31]));
    let preview = place.preview(&file, &ImportChoices::default());
    let mut columns = preview.columns.clone();
    columns.attributes = vec!["age".to_owned()];
    columns.attribute_conflicts = AttributeConflicts::Last;
    place.import(&file, &ImportChoices { columns: Some(columns), ..ImportChoices::default() }).unwrap();
    assert_eq!(annotators::find(&place.session.project, "a").unwrap().attributes["age"], "30");
}

#[test]
fn texts_with_other_metadata_are_counted() {
    let place = Opened::new();
    let table =
        "id,text,source_name\n1,one text here,a\n2,two texts here,b\n1,one text here,c\n2,two texts here,b\n";
    let report = place.guessed(&place.file("texts.csv", table));
    let account = ImportAccount { rows: 4, read: 2, repeated: 1, changed: 1, ..ImportAccount::default() };
    assert_eq!(report.account, account);
    assert!(report.notices.iter().any(|notice| notice.code == "other-metadata"), "{:?}", report.notices);
}

#[test]
fn one_name_cannot_name_several_questions() {
    let place = Opened::new();
    let file = place.file("ratings.csv", &questions());
    let named = ImportChoices { question: Some("overall".to_owned()), ..ImportChoices::default() };
    assert_eq!(place.import(&file, &named).unwrap_err().code(), "several-questions");
    assert_eq!(place.texts(), 0);
}

#[test]
fn files_are_joined_by_text_id_not_row_number() {
    let place = Opened::new();
    let (mut texts, mut labels) = ("id,text\n".to_owned(), "id,comment_id,annotator,label\n".to_owned());
    for t in 1..=60 {
        writeln!(texts, "{t},Comment number {t}").unwrap();
        let who = if t % 2 == 0 { "b" } else { "a" };
        writeln!(labels, "{t},{},{who},{}", (t + 1) / 2, t % 3).unwrap();
    }
    let (texts, labels) = (place.file("texts.csv", &texts), place.file("labels.csv", &labels));
    for (main, other) in [(&labels, &texts), (&texts, &labels)] {
        let place = Opened::new();
        let join = JoinChoice { path: other.to_string_lossy().into_owned(), ..JoinChoice::default() };
        let columns =
            exchange::join_columns(&place.session.exchange, main, &ImportChoices::default(), &join).unwrap();
        let report =
            place.import(main, &ImportChoices { columns: Some(columns), ..ImportChoices::default() });
        let report = report.unwrap();
        assert_eq!((report.texts, report.labels, report.annotators), (60, 60, 2));
        let out = place.folder.path("out.csv");
        exchange::export(&place.session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
        let exported = std::fs::read_to_string(out).unwrap();
        // Both have answered the first comment, and neither the last one.
        assert_eq!(exported.lines().filter(|line| line.starts_with("1,")).count(), 2, "{exported}");
        assert!(!exported.lines().any(|line| line.starts_with("60,")), "{exported}");
    }
}

#[test]
fn ignored_column_adds_nothing() {
    let place = Opened::new();
    let file = place.file("wide.csv", &wide());
    let left_out = dissensus_api::ColumnChoices { ignored: vec!["rater_3".to_owned()], ..Default::default() };
    let asked = ImportChoices { columns: Some(left_out), ..ImportChoices::default() };
    let (readings, decided) = exchange::readings(&place.session.exchange, &file, &asked).unwrap();
    assert!(decided);
    let columns = Some(readings[0].columns.clone());
    let report = place.import(&file, &ImportChoices { columns, ..ImportChoices::default() }).unwrap();
    assert_eq!((report.labels, report.annotators), (16, 2));
    assert!(report.uses.iter().any(|of| of.column == "rater_3" && of.used_as == "left out"));
    // A reading that uses it nevertheless is refused.
    let mut both = place.preview(&file, &ImportChoices::default()).columns;
    both.ignored = vec!["rater_3".to_owned()];
    let error =
        place.import(&file, &ImportChoices { columns: Some(both), ..ImportChoices::default() }).unwrap_err();
    assert!(error.to_string().contains("rater_3"), "{error}");
}

#[test]
fn folding_case_merges_only_spellings() {
    let place = Opened::new();
    let table = |labels: &[&str]| {
        let row = |(nth, label): (usize, &&str)| format!("t{nth},Text number {nth},a,{label}\n");
        format!("text_id,text,annotator_id,label\n{}", labels.iter().enumerate().map(row).collect::<String>())
    };
    let scale = |labels: &[&str], name: &str| {
        let file = place.file(name, &table(labels));
        let mut columns = place.preview(&file, &ImportChoices::default()).columns;
        columns.fold_case = true;
        let preview =
            place.preview(&file, &ImportChoices { columns: Some(columns), ..ImportChoices::default() });
        preview.scale.unwrap().levels().to_vec()
    };
    assert_eq!(scale(&["0", "1", "2", "3"], "numbers.csv"), ["0", "1", "2", "3"]);
    assert_eq!(scale(&["F", "f", "N", "A"], "letters.csv"), ["a", "f", "n"]);
    assert_eq!(scale(&["TRUE", "false", "no", "1", "Yes"], "truths.csv"), ["no", "yes"]);
}

#[test]
fn set_cannot_answer_another_kind_of_question() {
    let place = Opened::new();
    place.guessed(&place.file("wide.csv", &wide()));
    let mut table = "id,text,rater_id,joy,anger,fear,neutral\n".to_owned();
    for t in 0..8 {
        let marks = [0, 1, 2, 3].map(|o| usize::from((t + o) % 3 == 0).to_string());
        writeln!(table, "c{t},A comment {t},r{},{}", t % 2, marks.join(",")).unwrap();
    }
    let file = place.file("emotions.csv", &table);
    let preview = place.preview(&file, &ImportChoices::default());
    assert_eq!(
        (preview.question.as_str(), preview.question_exists, preview.bad_row_count),
        ("emotions", false, 0)
    );
    assert_eq!(place.guessed(&file).labels, 8);
}

/// Surveys, lists of objects with several answers and sets in a cell, each with its labels.
fn new_shapes() -> [(&'static str, String, u32); 3] {
    let mut survey = "participant,age,How rude? [You again and again],How rude? [Thanks for all of it],How rude? [It is what it is]\n".to_owned();
    let mut lists = String::new();
    let mut sets = "id,text,annotator,annotation\n".to_owned();
    for n in 0..12_usize {
        writeln!(survey, "p{n},{},{},{},{}", 20 + n, n % 5 + 1, (n * 3) % 5 + 1, (n * 2) % 5 + 1).unwrap();
        let answer = |p: usize| {
            format!("{{\"worker_id\":\"w{p}\",\"toxic\":{},\"threat\":{}}}", (n + p) % 4, (n * p) % 2 == 1)
        };
        writeln!(
            lists,
            "{{\"id\":{n},\"text\":\"This is text {n}\",\"ratings\":[{},{},{}]}}",
            answer(n % 4),
            answer(4),
            answer(5)
        )
        .unwrap();
        for p in 0..3 {
            let options =
                ["anger", "fear,anger", "joy,fear", "anger,joy,fear", "joy"][(n * 2 + p * n + p) % 5];
            writeln!(sets, "{n},This is text {n},w{p},\"{options}\"").unwrap();
        }
    }
    [("survey.csv", survey, 36), ("lists.jsonl", lists, 72), ("sets.csv", sets, 36)]
}

#[test]
fn readings_of_every_shape_round_trip() {
    for (name, content, labels) in new_shapes() {
        let place = Opened::new();
        let file = place.file(name, &content);
        let preview = place.preview(&file, &ImportChoices::default());
        for reading in &preview.readings {
            let json = serde_json::to_value(&reading.columns).unwrap();
            let back = dissensus_api::ColumnChoices::from_json(json).unwrap();
            assert_eq!(back, reading.columns, "{name}");
        }
        let report = place.import(&file, &following(&preview, 0)).unwrap();
        assert_eq!((report.labels, report.rejected_rows), (labels, 0), "{name}");
        // Again it adds nothing, with the same reading.
        let again = place.import(&file, &following(&preview, 0)).unwrap();
        assert_eq!((again.labels, again.texts, again.annotators), (0, 0, 0), "{name}");
    }
}

#[test]
fn unnamed_people_are_never_guessed() {
    let place = Opened::new();
    let lines: String = (0..12)
        .map(|n| {
            format!("{{\"id\":{n},\"text\":\"This is text {n}\",\"ratings\":[{},{},2]}}\n", n % 3, n % 2)
        })
        .collect();
    let file = place.file("a.jsonl", &lines);
    let preview = place.preview(&file, &ImportChoices::default());
    let error = place.import(&file, &ImportChoices::default()).unwrap_err();
    assert_eq!((error.code(), place.texts()), ("several-readings", 0), "{error}");
    let texts = preview.readings.iter().position(|reading| reading.title == "Texts").unwrap();
    assert_eq!(place.import(&file, &following(&preview, texts)).unwrap().labels, 0);
    let report = place.import(&file, &following(&preview, 1 - texts)).unwrap();
    assert_eq!((report.labels, report.annotators, report.texts), (36, 3, 0));
}

#[test]
fn differing_attributes_are_counted() {
    let place = Opened::new();
    place.guessed(&place.file("a.csv", "text_id,text,annotator_id,label,gender\n1,a b,x,1,f\n2,c d,y,2,m\n"));
    let file = place.file("b.csv", "text_id,text,annotator_id,label,gender\n3,e f,x,1,m\n4,g h,x,2,d\n");
    let preview = place.preview(&file, &ImportChoices::default());
    let mut columns = preview.columns.clone();
    columns.attribute_conflicts = AttributeConflicts::Last;
    columns.attributes = vec!["gender".to_owned()];
    let choices = ImportChoices { columns: Some(columns), ..ImportChoices::default() };
    let notices = place.preview(&file, &choices).notices;
    let counts: Vec<(&str, u32)> =
        notices.iter().map(|notice| (notice.code.as_str(), notice.count)).collect();
    assert!(counts.contains(&("kept-attributes", 1)), "{notices:?}");
}
