//! "Cannot say" is separate from the scale: an answer that counts as given but is excluded from all
//! figures.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{create, import_as_guessed};
use dissensus_analysis::agreement;
use dissensus_analysis::annotators;
use dissensus_api::TextOrder;
use dissensus_app::session::Session;
use dissensus_domain::{CANNOT_SAY, Condition, LabelSource, Scale, ScaleKind, TextId};
use dissensus_editing::QuestionChange;
use dissensus_editing::info;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::next_text;
use dissensus_labelling::progress;
use dissensus_labelling::task;
use dissensus_labelling::undo;
use dissensus_project::jobs::Silent;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;

const FILE: &str = "text_id,text,annotator_id,label\n\
    t1,first,ana,1\nt1,first,ben,3\nt2,second,ana,[cannot say]\nt2,second,ben,2\nt3,third,ana,3\nt3,third,ben,[cannot say]\n\
    t4,fourth,ana,2\nt4,fourth,ben,2\n";

fn offer(session: &Session, cannot_say: bool) {
    let question = questions::find(&session.project, None).unwrap().id;
    let change = QuestionChange { cannot_say: Some(cannot_say), ..QuestionChange::default() };
    questions::edit(&session.project, question, &change).unwrap();
}

/// Number of labels and of "cannot say" answers, and the levels.
fn counts_of(session: &Session) -> (u32, u32, Vec<String>) {
    let question = info::read(&session.project).unwrap().questions.remove(0);
    (question.labels, question.cannot_say_answers, question.scale.levels().to_vec())
}

#[test]
fn cannot_say_is_imported_and_exported_but_no_level() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.csv");
    std::fs::write(&file, FILE).unwrap();
    let session = create(&folder.path().join("a.dissensus"));
    assert_eq!(import_as_guessed(&session, &file).labels, 8);
    let levels = ["1", "2", "3"].map(String::from).to_vec();
    assert_eq!(counts_of(&session), (6, 2, levels.clone()));
    // Imported again it is known, not new.
    let again = import_as_guessed(&session, &file);
    assert_eq!((again.labels, again.repeated_rows), (0, 8));
    let out = folder.path().join("out.csv");
    exchange::export(&session.exchange, &out, &ExportChoices::default(), &Silent).unwrap();
    assert_eq!(std::fs::read_to_string(&out).unwrap().matches(CANNOT_SAY).count(), 2);
    let copy = create(&folder.path().join("b.dissensus"));
    import_as_guessed(&copy, &out);
    assert_eq!(counts_of(&copy), (6, 2, levels));
    // A scale of options has it too, and none of its brackets is a set.
    let sets = folder.path().join("sets.csv");
    let rows = FILE.replace(",1\n", ",a; b\n").replace(",2\n", ",b\n").replace(",3\n", ",a\n");
    std::fs::write(&sets, rows).unwrap();
    let of_sets = create(&folder.path().join("c.dissensus"));
    import_as_guessed(&of_sets, &sets);
    assert_eq!(counts_of(&of_sets), (6, 2, ["a", "b"].map(String::from).to_vec()));
}

#[test]
fn cannot_say_counts_as_answered_but_in_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.csv");
    std::fs::write(&file, FILE).unwrap();
    let session = create(&folder.path().join("a.dissensus"));
    import_as_guessed(&session, &file);
    let question = questions::find(&session.project, None).unwrap();
    let without = create(&folder.path().join("b.dissensus"));
    let rows: Vec<&str> = FILE.lines().filter(|line| !line.contains(CANNOT_SAY)).collect();
    std::fs::write(&file, rows.join("\n")).unwrap();
    import_as_guessed(&without, &file);
    let same = questions::find(&without.project, None).unwrap();
    let found = agreement::measure_target(&session.analysis, question.id).unwrap();
    assert_eq!(
        format!("{found:?}"),
        format!("{:?}", agreement::measure_target(&without.analysis, same.id).unwrap())
    );
    let report = annotators::report_known(&session.analysis, question.id).unwrap();
    let counted: Vec<(u32, u32)> = report.annotators.iter().map(|one| (one.labels, one.cannot_say)).collect();
    assert_eq!(counted, [(3, 1), (3, 1)]);
    let ana = report.annotators[0].id;
    let far = progress::count(&session.labelling, ana, [question.id]).unwrap();
    assert_eq!((far.done, far.total), (4, 4), "a text of which one cannot say is answered");
    let next = next_text::choose(&session.labelling, ana, [question.id], TextOrder::File, None);
    assert!(next.unwrap().is_none(), "it does not come again");
}

#[test]
fn cannot_say_is_recorded_only_where_offered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.csv");
    std::fs::write(&file, FILE).unwrap();
    let session = create(&folder.path().join("a.dissensus"));
    import_as_guessed(&session, &file);
    let rude = questions::find(&session.project, None).unwrap();
    let labelling = &session.labelling;
    let error = by_name::record(labelling, &LabelByName::new("ana", "t1", CANNOT_SAY, None)).unwrap_err();
    assert_eq!(error.code(), "cannot-say-not-offered");
    offer(&session, true);
    let yes_no = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let only_if = Some(Condition::new(rude.id, [0, 1, 2]));
    let why =
        questions::add(&session.project, AddQuestion { only_if, ..AddQuestion::new("sure", "", yes_no) })
            .unwrap()
            .id;
    let ana = dissensus_editing::annotators::list(&session.project).unwrap()[0].id;
    let asked = || task::read(labelling, ana, why, TextId(1), 1).unwrap().asked;
    assert!(asked());
    by_name::record(labelling, &LabelByName::new("ana", "t1", CANNOT_SAY, Some(&rude.name))).unwrap();
    assert_eq!((counts_of(&session).0, counts_of(&session).1, asked()), (5, 3, false));
    by_name::record(labelling, &LabelByName::new("ana", "t1", "2", Some(&rude.name))).unwrap();
    assert_eq!((counts_of(&session).0, counts_of(&session).1, asked()), (6, 2, true));
    undo::undo(labelling, ana, [rude.id], LabelSource::Window).unwrap();
    assert_eq!((counts_of(&session).0, counts_of(&session).1), (5, 3));
    undo::undo(labelling, ana, [rude.id], LabelSource::Window).unwrap();
    assert_eq!((counts_of(&session).0, counts_of(&session).1), (6, 2));
    // From here on no level may have this name.
    let scale = Scale::new(ScaleKind::Choice, ["yes", CANNOT_SAY]).unwrap();
    assert_eq!(
        questions::add(&session.project, AddQuestion::new("odd", "", scale)).unwrap_err().code(),
        "name"
    );
}
