//! Lists of texts and the overview: what they reveal about whom, while labels are added and removed, in
//! copies and in packets.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::{home, import_into, open_in};
use dissensus_analysis::aggregation;
use dissensus_analysis::overview;
use dissensus_api::{
    FoundTexts, LabelDetails, MergeConsent, NewLabel, NewPracticeText, NextStepKind, StudyRequest,
    TextFilter, TextQuery, TextSort,
};
use dissensus_app::session::Session;
use dissensus_domain::{
    AnnotatorId, Answer, AttributeForm, FormAnswers, FormAttribute, LabelSource, Note, QuestionId, Scale,
    ScaleKind, TextId,
};
use dissensus_editing::annotators;
use dissensus_editing::attribute_form;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_encoder::LongTexts;
use dissensus_labelling::marks;
use dissensus_labelling::notes;
use dissensus_labelling::progress;
use dissensus_labelling::record;
use dissensus_labelling::undo;
use dissensus_project::jobs::Silent;
use dissensus_training::encoding::EncoderChoice;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use dissensus_transfer::study;
use std::path::{Path, PathBuf};

const RUDE: QuestionId = QuestionId(1);

/// Thirty texts that two imported annotators answered, differing on every third, and a current annotator.
fn project(folder: &Path) -> (PathBuf, Session, AnnotatorId) {
    let path = folder.join("p.dissensus");
    let session = Session::create(&path, &home(folder)).unwrap();
    let row = |n: u32| {
        let other = if n.is_multiple_of(3) { 3 } else { 1 };
        format!("t{n},Body of text {n},old-1,1\nt{n},Body of text {n},old-2,{other}\n")
    };
    let scale = Scale::new(ScaleKind::Ordinal, ["1", "2", "3"]).unwrap();
    questions::add(&session.project, AddQuestion::new("rude", "How rude?", scale)).unwrap();
    import_into(
        &session,
        "rude",
        &format!("text_id,text,annotator_id,label\n{}", (1..=30).map(row).collect::<String>()),
    );
    let ana = annotators::add(&session.project, "ana", &Default::default()).unwrap().id;
    (path, session, ana)
}

fn give(session: &Session, annotator: AnnotatorId, text: u32, level: u16) {
    let answer = Answer::from_level(level);
    let new = NewLabel { question: RUDE, annotator, text: TextId(text), answer, duration_ms: Some(2_000) };
    record::record_label(&session.labelling, &new).unwrap();
}

fn of(annotator: Option<AnnotatorId>, filter: TextFilter) -> TextQuery {
    TextQuery { annotator, filter, ..TextQuery::default() }
}

fn find(session: &Session, query: &TextQuery) -> FoundTexts {
    session.texts.find(query, 0, 500, None).unwrap()
}

fn request() -> StudyRequest {
    StudyRequest {
        questions: Vec::new(),
        people: vec!["ana".to_owned(), "ben".to_owned()],
        per_text: 2,
        per_person: None,
        anchors: 0,
        repeat: 0.2,
        again_after: 3,
        new_people: false,
        balance: None,
        seed: 1,
    }
}

fn rows(found: &FoundTexts) -> Vec<u32> {
    found.rows.iter().map(|row| row.row).collect()
}

#[test]
fn filters_follow_the_persons_answers() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session, ana) = project(folder.path());
    let list = |filter| find(&session, &of(Some(ana), filter));
    assert_eq!(list(TextFilter::All).total, 30);
    assert_eq!((list(TextFilter::Answered).total, list(TextFilter::NotYet).total), (0, 30));

    give(&session, ana, 3, 2);
    give(&session, ana, 4, 0);
    marks::skip(&session.labelling, ana, [RUDE], TextId(7)).unwrap();
    marks::flag(&session.labelling, ana, RUDE, TextId(4), true).unwrap();
    let note = Note { note: Some("irony".to_owned()), ..Note::default() };
    let details = LabelDetails { note, guideline: None };
    notes::write(&session.labelling, ana, RUDE, TextId(9), &details, LabelSource::Window).unwrap();
    let counts = list(TextFilter::All).counts;
    let progress = progress::count(&session.labelling, ana, [RUDE]).unwrap();
    assert_eq!((counts.answered, counts.not_yet), (progress.done, progress.total - progress.done));
    assert_eq!((counts.skipped, counts.flagged, counts.noted), (progress.skipped, progress.flagged, 1));
    let answered = list(TextFilter::Answered);
    assert_eq!(rows(&answered), [3, 4]);
    assert_eq!(answered.rows[0].answers, [Some("3".to_owned())]);
    assert_eq!(rows(&list(TextFilter::Skipped)), [7]);
    assert_eq!(rows(&list(TextFilter::Flagged)), [4]);
    assert_eq!(list(TextFilter::Noted).rows[0].note.as_deref(), Some("irony"));
    // Everyone's figures differ from one annotator's.
    assert_eq!(find(&session, &of(None, TextFilter::Answered)).total, 30);
    assert_eq!(rows(&find(&session, &of(None, TextFilter::Skipped))), [7]);
    let newest = TextQuery { sort: TextSort::Newest, ..of(Some(ana), TextFilter::Answered) };
    assert_eq!(rows(&find(&session, &newest)), [4, 3]);

    undo::undo(&session.labelling, ana, [RUDE], LabelSource::Window).unwrap();
    assert_eq!(rows(&list(TextFilter::Answered)), [3], "labels changed since");
    give(&session, ana, 7, 1);
    assert_eq!(list(TextFilter::Skipped).total, 0, "what was put off and answered since");
    import_into(&session, "rude", "text_id,text,annotator_id,label\nt31,One more,old-1,1\n");
    assert_eq!(list(TextFilter::NotYet).total, 29);
}

#[test]
fn contested_filter_lists_only_answered_texts() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session, ana) = project(folder.path());
    let contested =
        |who| find(&session, &TextQuery { sort: TextSort::Contested, ..of(who, TextFilter::Contested) });
    assert_eq!(contested(None).total, 10);
    assert_eq!(contested(Some(ana)).total, 0);
    let all = find(&session, &of(Some(ana), TextFilter::All));
    assert!(all.rows.iter().all(|row| row.contested.is_none()), "nor is it seen in another list");
    give(&session, ana, 3, 1);
    give(&session, ana, 4, 0);
    let found = contested(Some(ana));
    assert_eq!((rows(&found), found.counts.contested), (vec![3], Some(1)));
    // Its order does not reveal it either.
    let ordered =
        find(&session, &TextQuery { sort: TextSort::Contested, ..of(Some(ana), TextFilter::NotYet) });
    assert!(rows(&ordered).is_sorted());
    // Each of two questions is revealed once it is answered itself.
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let odd = questions::add(&session.project, AddQuestion::new("odd", "Is it odd?", scale)).unwrap().id;
    let answer = |who: &str, text, level| {
        let annotator = annotators::find(&session.project, who).unwrap().id;
        let (answer, text) = (Answer::from_level(level), TextId(text));
        let new = NewLabel { question: odd, annotator, text, answer, duration_ms: None };
        record::record_label(&session.labelling, &new).unwrap();
    };
    answer("old-1", 4, 0);
    answer("old-2", 4, 1);
    assert_eq!(rows(&contested(Some(ana))), [3], "text 4 is contested in a question that is open for her");
    answer("ana", 4, 0);
    assert_eq!(rows(&contested(Some(ana))), [4, 3]);
    let overview = |who| overview::contested(&session.analysis, RUDE, who, 20).unwrap();
    assert_eq!(overview(None).observed.len(), 10);
    let own: Vec<u32> = overview(Some(ana)).observed.iter().map(|text| text.row).collect();
    assert_eq!((own, overview(Some(ana)).own_only), (vec![3], true));
}

#[test]
fn search_finds_bodies_and_ids_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session, ana) = project(folder.path());
    let search = |words: &str| TextQuery { search: words.to_owned(), ..of(Some(ana), TextFilter::All) };
    assert_eq!(rows(&find(&session, &search(" TEXT 12 "))), [12], "without white space around it");
    assert_eq!(find(&session, &search("text 1")).total, 11);
    assert_eq!(rows(&find(&session, &search("t30"))), [30]);
    let part = session.texts.find(&search("text"), 28, 10, Some(TextId(17))).unwrap();
    assert_eq!((rows(&part), part.total, part.place), (vec![29, 30], 30, Some(16)));
    assert_eq!(session.texts.find(&search("text"), 99, 10, None).unwrap().rows.len(), 0);
    let bare = TextQuery { bare: true, ..search("text 2") };
    let found = find(&session, &bare);
    assert_eq!((found.total, found.counts.answered), (11, 0));
    assert!(found.rows.iter().all(|row| row.answers.is_empty() && row.contested.is_none()));
    let wrong = TextQuery { annotator: Some(AnnotatorId(99)), ..TextQuery::default() };
    assert_eq!(session.texts.find(&wrong, 0, 1, None).unwrap_err().code(), "unknown");
    let wrong = TextQuery { questions: vec![QuestionId(9)], ..TextQuery::default() };
    assert_eq!(session.texts.find(&wrong, 0, 1, None).unwrap_err().code(), "no-question");
}

#[test]
fn text_without_an_id_is_named_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    import_into(&session, "rude", "text\nfirst\nsecond\n");
    let found = find(&session, &TextQuery::default());
    assert_eq!(
        found.rows.iter().map(|row| (row.named, row.row)).collect::<Vec<_>>(),
        [(false, 1), (false, 2)]
    );
    assert_eq!((found.counts.not_yet, found.counts.contested), (2, Some(0)), "without a question");
    let overview = session.overview(None).unwrap();
    assert_eq!(overview.steps[0].kind, NextStepKind::AskQuestion);
}

#[test]
fn concurrent_lists_and_labels_are_consistent() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session, ana) = project(folder.path());
    std::thread::scope(|threads| {
        let labels = threads.spawn(|| (1..=30).for_each(|text| give(&session, ana, text, 1)));
        while !labels.is_finished() {
            let found = find(&session, &of(Some(ana), TextFilter::Answered));
            assert_eq!(found.total, found.counts.answered);
            assert_eq!(found.counts.answered + found.counts.not_yet, 30);
            assert_eq!(found.rows.len() as u32, found.total);
        }
    });
    assert_eq!(find(&session, &of(Some(ana), TextFilter::Answered)).total, 30);
}

#[test]
fn copies_list_what_was_merged() {
    let folder = tempfile::tempdir().unwrap();
    let (path, session, ana) = project(folder.path());
    session.close();
    let other = folder.path().join("other.dissensus");
    std::fs::copy(&path, &other).unwrap();
    let there = open_in(folder.path(), &other);
    give(&there, ana, 6, 2);
    there.close();
    let session = open_in(folder.path(), &path);
    let ben = annotators::add(&session.project, "ben", &Default::default()).unwrap().id;
    give(&session, ben, 2, 1);
    let imported = |session: &Session| -> Vec<(String, bool)> {
        annotators::list(&session.project).unwrap().into_iter().map(|who| (who.name, who.imported)).collect()
    };
    let who = |names: &[(&str, bool)]| -> Vec<(String, bool)> {
        names.iter().map(|(name, imported)| ((*name).to_owned(), *imported)).collect()
    };
    assert_eq!(imported(&session), who(&[("old-1", true), ("old-2", true), ("ana", false), ("ben", false)]));
    assert_eq!(find(&session, &of(Some(ana), TextFilter::Answered)).total, 0);
    study::merge(&session.study, &[other], &MergeConsent::all(), &Silent).unwrap();
    assert_eq!(rows(&find(&session, &of(Some(ana), TextFilter::Answered))), [6]);
    // An imported annotator who labels here becomes a current one.
    let old = annotators::find(&session.project, "old-1").unwrap().id;
    give(&session, old, 1, 2);
    assert!(!imported(&session)[0].1);
    session.close();
    let reader = Session::open_to_read(&path, &home(folder.path())).unwrap();
    assert_eq!(rows(&find(&reader, &of(Some(ana), TextFilter::Answered))), [6]);
    assert!(!imported(&reader)[0].1 && imported(&reader)[1].1, "as it is read anew, so it was followed");
}

#[test]
fn packet_lists_only_the_persons_own_texts() {
    let folder = tempfile::tempdir().unwrap();
    let (path, session, _) = project(folder.path());
    session.close();
    let request = request();
    let session = open_in(folder.path(), &path);
    let out = study::hand_out(&session.study, &request, &folder.path().join("out"), &Silent).unwrap();
    let packet = PathBuf::from(out.people[0].file.clone().unwrap());
    let people = session.overview(None).unwrap().people;
    assert_eq!(people.iter().find(|who| who.name == "ben").map(|who| who.asked), Some(30));
    session.close();
    let session = open_in(folder.path(), &packet);
    let me = annotators::list(&session.project).unwrap()[0].id;
    give(&session, me, 2, 1);
    // In a packet the figures are always those of its owner.
    let found = find(&session, &of(None, TextFilter::Answered));
    assert_eq!((rows(&found), found.counts.contested, found.counts.long), (vec![2], None, None));
    assert_eq!(found.counts.all, 30, "a text that is asked again is there once");
    for filter in [TextFilter::Contested, TextFilter::Long] {
        assert_eq!(session.texts.find(&of(None, filter), 0, 9, None).unwrap_err().code(), "in-packet");
    }
    assert_eq!(session.texts.measure_long(&Silent).unwrap_err().code(), "in-packet");
}

#[test]
fn long_texts_are_listed_for_the_encoder_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let (_, session, _) = project(folder.path());
    let long = "word after word, and ".repeat(20);
    import_into(
        &session,
        "rude",
        &format!("text_id,text,annotator_id,label\nlong,\"{long}\",old-1,1\ns,no,old-1,1\n"),
    );
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
    let choice = |long_texts| EncoderChoice {
        encoder: Some(tiny.to_string_lossy().into_owned()),
        long_texts: Some(long_texts),
        ..EncoderChoice::default()
    };
    session.encoding.encode(&choice(LongTexts::Truncate), &Silent).unwrap();
    let found = || find(&session, &of(None, TextFilter::Long));
    assert_eq!((found().total, found().counts.long), (0, None), "nobody has measured them yet");
    let measured = session.texts.measure_long(&Silent).unwrap();
    assert!(measured.long > 0 && measured.long < 32 && !measured.in_parts, "{measured:?}");
    assert_eq!((found().total, found().counts.long), (measured.long, Some(measured.long)));
    let ids: Vec<String> = found().rows.into_iter().map(|row| row.external_id).collect();
    assert!(ids.contains(&"long".to_owned()) && !ids.contains(&"s".to_owned()), "{ids:?}");
    // The report equals what the encoding itself found.
    let encoded = session.encoding.encode(&choice(LongTexts::Average), &Silent).unwrap();
    assert_eq!(encoded.averaged as u32, measured.long);
    assert_eq!(found().counts.long, None, "another version of the encoder is in use");
    assert!(session.texts.measure_long(&Silent).unwrap().in_parts);
    import_into(&session, "rude", "text_id,text,annotator_id,label\nnew,no,old-1,1\n");
    assert_eq!(found().counts.long, None, "a text was added");
}

#[test]
fn overview_reports_progress_and_next_steps() {
    let folder = tempfile::tempdir().unwrap();
    let empty = Session::create(&folder.path().join("e.dissensus"), &home(folder.path())).unwrap();
    let next = |session: &Session, who| session.overview(who).unwrap().steps[0].clone();
    assert_eq!(next(&empty, None).kind, NextStepKind::Import);
    empty.close();

    let (_, session, ana) = project(folder.path());
    for text in 1..=10 {
        give(&session, ana, text, 0);
    }
    assert_eq!(
        (next(&session, Some(ana)).kind, next(&session, Some(ana)).count),
        (NextStepKind::Label, Some(20))
    );
    // A text is unfinished until every question about it is answered.
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    let odd = questions::add(&session.project, AddQuestion::new("odd", "Is it odd?", scale)).unwrap().id;
    assert_eq!(next(&session, Some(ana)).count, Some(30));
    // Practice texts are not asked as real ones.
    let practice = NewPracticeText {
        question: odd,
        text: TextId(30),
        answer: Some(Answer::from_level(0)),
        reason: String::new(),
    };
    study::set_practice(&session.study, &[practice]).unwrap();
    assert_eq!(next(&session, Some(ana)).count, Some(29));
    assert_eq!(find(&session, &of(Some(ana), TextFilter::NotYet)).total, 29);
    let overview = session.overview(None).unwrap();
    let kinds: Vec<NextStepKind> = overview.steps.iter().map(|step| step.kind).collect();
    assert!(
        kinds.contains(&NextStepKind::SeeDisagreement) && !kinds.contains(&NextStepKind::Plan),
        "{kinds:?}"
    );
    let first = &overview.people[0];
    assert_eq!((first.name.as_str(), first.imported, first.asked), ("ana", false, 29));
    assert_eq!((first.labels.as_slice(), first.seconds), ([10, 0].as_slice(), Some(2.0)));
    assert_eq!(overview.people[1].seconds, None, "no time came with a file");
    let rude = &overview.questions[0];
    assert_eq!((rude.labels, rude.people, rude.texts, rude.shared), (70, 3, 30, 30));
    assert_eq!(rude.counts, [60, 0, 10]);

    let agreement = overview::agreement(&session.analysis, RUDE).unwrap();
    let (alpha, low, high) = (agreement.alpha.unwrap(), agreement.low.unwrap(), agreement.high.unwrap());
    assert!(low < alpha && alpha < high, "{agreement:?}");
    let reliability = aggregation::estimate_reliability(&session.analysis, RUDE, &Silent).unwrap();
    assert_eq!(agreement.alpha, reliability.alpha_ordinal.value);
    assert_eq!(overview::contested(&session.analysis, RUDE, None, 20).unwrap().predicted.len(), 0);
}

#[test]
fn overview_reports_too_little_data() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::create(&folder.path().join("p.dissensus"), &home(folder.path())).unwrap();
    import_into(&session, "rude", "text_id,text,annotator_id,label\na,A,x,1\nb,B,x,2\nc,C,y,3\n");
    let agreement = overview::agreement(&session.analysis, RUDE).unwrap();
    assert_eq!((agreement.alpha, agreement.shared), (None, 0));
    assert!(agreement.needs.unwrap().contains("two people"));
    import_into(&session, "rude", "text_id,text,annotator_id,label\na,A,y,1\nb,B,y,2\n");
    let agreement = overview::agreement(&session.analysis, RUDE).unwrap();
    assert_eq!((agreement.alpha, agreement.shared), (None, 2));
    assert!(agreement.needs.unwrap().starts_with("20 texts"));
    let steps = session.overview(None).unwrap().steps;
    let plan = steps.iter().find(|step| step.kind == NextStepKind::Plan).unwrap();
    assert_eq!(plan.count, Some(2));
}

fn form() -> AttributeForm {
    let of = |name: &str, values: [&str; 2], optional| FormAttribute {
        name: name.to_owned(),
        prompt: String::new(),
        values: values.map(str::to_owned).to_vec(),
        optional,
    };
    AttributeForm {
        attributes: vec![of("gender", ["woman", "man"], false), of("age", ["18-29", "30+"], true)],
    }
}

fn form_answers(answers: &[(&str, Option<&str>)]) -> FormAnswers {
    FormAnswers(answers.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect())
}

fn known(session: &Session, id: AnnotatorId) -> String {
    let people = annotators::list(&session.project).unwrap();
    let of = people.into_iter().find(|who| who.id == id).unwrap().attributes;
    of.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn attribute_form_is_asked_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, session, ana) = project(folder.path());
    assert!(
        attribute_form::left_to_answer(&session.project, ana).unwrap().attributes.is_empty(),
        "nothing is asked at first"
    );
    attribute_form::set(&session.project, &form()).unwrap();
    assert_eq!(attribute_form::left_to_answer(&session.project, ana).unwrap(), form());
    let refused =
        |answers| attribute_form::answer(&session.project, ana, &form_answers(answers)).unwrap_err();
    assert_eq!(refused(&[("gender", Some("other"))]).code(), "form");
    assert!(refused(&[("age", Some("30+"))]).to_string().contains("\"gender\" is not answered"));
    assert_eq!(known(&session, ana), "", "nothing of it was noted");
    attribute_form::answer(&session.project, ana, &form_answers(&[("gender", Some("woman"))])).unwrap();
    assert_eq!(known(&session, ana), "gender=woman");
    assert!(
        attribute_form::left_to_answer(&session.project, ana).unwrap().attributes.is_empty(),
        "age was passed over"
    );

    // A correction by the study persists when something else is asked and answered.
    let set = [("gender".to_owned(), "Woman".to_owned())];
    annotators::change(&session.project, ana, None, &set, &[]).unwrap();
    let mut more = form();
    more.attributes.push(FormAttribute {
        name: "city".into(),
        values: vec!["yes".into(), "no".into()],
        ..Default::default()
    });
    attribute_form::set(&session.project, &more).unwrap();
    let left = attribute_form::left_to_answer(&session.project, ana).unwrap();
    assert_eq!(left.attributes.len(), 1, "of a form that grew what is new is asked");
    attribute_form::answer(&session.project, ana, &form_answers(&[("city", None)])).unwrap();
    assert_eq!(known(&session, ana), "gender=Woman");
    // An answer is withdrawn.
    attribute_form::answer(&session.project, ana, &form_answers(&[("gender", None)])).unwrap();
    assert_eq!(known(&session, ana), "");
    attribute_form::set(&session.project, &AttributeForm::default()).unwrap();
    let ben = annotators::add(&session.project, "ben", &Default::default()).unwrap().id;
    assert!(attribute_form::left_to_answer(&session.project, ben).unwrap().attributes.is_empty());
    session.close();
    let reader = Session::open_to_read(&path, &home(folder.path())).unwrap();
    assert_eq!(
        attribute_form::read_answers(&reader.project, ana).unwrap(),
        form_answers(&[("age", None), ("city", None), ("gender", None)])
    );
    assert!(
        attribute_form::answer(&reader.project, ben, &form_answers(&[])).is_err(),
        "who only reads answers nothing"
    );
}

#[test]
fn attribute_form_answers_merge_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let (path, session, ana) = project(folder.path());
    attribute_form::set(&session.project, &form()).unwrap();
    let set = [("gender".to_owned(), "man".to_owned())];
    let ben = annotators::add(&session.project, "ben", &Default::default()).unwrap().id;
    annotators::change(&session.project, ben, None, &set, &[]).unwrap();
    let people = vec!["ana".to_owned(), "ben".to_owned()];
    let request = StudyRequest { people, ..request() };
    let out = study::hand_out(&session.study, &request, &folder.path().join("out"), &Silent).unwrap();
    session.close();
    let copy = folder.path().join("copy.dissensus");
    std::fs::copy(&path, &copy).unwrap();

    let mut handed_in = Vec::new();
    for (share, gender) in out.people.iter().zip([Some("woman"), None]) {
        let packet = PathBuf::from(share.file.clone().unwrap());
        assert!(
            !std::fs::read(&packet).unwrap().windows(5).any(|bytes| bytes == b"old-1"),
            "nothing of others"
        );
        let session = open_in(folder.path(), &packet);
        let me = annotators::list(&session.project).unwrap()[0].id;
        assert_eq!(
            attribute_form::left_to_answer(&session.project, me).unwrap(),
            form(),
            "nobody gave it about themselves"
        );
        attribute_form::answer(
            &session.project,
            me,
            &form_answers(&[("gender", gender), ("age", Some("30+"))]),
        )
        .unwrap();
        let refused = attribute_form::set(&session.project, &AttributeForm::default()).unwrap_err();
        assert_eq!(refused.code(), "in-packet");
        let file = folder.path().join(format!("{}.handin", share.annotator));
        study::hand_in(&session.study, &file, false).unwrap();
        session.close();
        // A reopened packet knows what was answered.
        let session = open_in(folder.path(), &packet);
        assert!(attribute_form::left_to_answer(&session.project, me).unwrap().attributes.is_empty());
        handed_in.push(file);
    }
    // Meanwhile ana also answers in the study's own project.
    let there = open_in(folder.path(), &copy);
    attribute_form::answer(&there.project, ana, &form_answers(&[("gender", Some("man"))])).unwrap();
    there.close();
    let mut all = Vec::new();
    for (name, order) in [("one", [0, 1, 2]), ("two", [2, 1, 0])] {
        let mine = folder.path().join(format!("{name}.dissensus"));
        std::fs::copy(&path, &mine).unwrap();
        let session = open_in(folder.path(), &mine);
        let files = [handed_in[0].clone(), handed_in[1].clone(), copy.clone()];
        for at in order.into_iter().chain(order) {
            let reported =
                study::merge(&session.study, &[files[at].clone()], &MergeConsent::all(), &Silent).unwrap();
            assert!(reported.files.iter().all(|file| !file.refused), "{:?}", reported.files);
        }
        assert_eq!(known(&session, ben), "age=30+", "what a person does not say is not known of them");
        assert!(attribute_form::left_to_answer(&session.project, ana).unwrap().attributes.is_empty());
        all.push(known(&session, ana));
        session.close();
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], "gender=man", "the later answer holds, also of what was passed over in it");
}

#[test]
fn form_answers_are_withdrawn_with_their_person() {
    let folder = tempfile::tempdir().unwrap();
    let (path, session, ana) = project(folder.path());
    attribute_form::set(&session.project, &form()).unwrap();
    attribute_form::answer(
        &session.project,
        ana,
        &form_answers(&[("gender", Some("woman")), ("age", Some("18-29"))]),
    )
    .unwrap();
    let file = folder.path().join("export.csv");
    give(&session, ana, 1, 1);
    exchange::export(
        &session.exchange,
        &file,
        &ExportChoices { replace: true, ..ExportChoices::default() },
        &Silent,
    )
    .unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().contains("18-29"), "it is an attribute like any other");
    session.close();
    let has = |path: &Path| {
        let answer = b"\"value\":\"18-29\"";
        std::fs::read(path).unwrap().windows(answer.len()).any(|bytes| bytes == answer)
    };
    assert!(has(&path));
    let store = dissensus_store::Store::open(&path).unwrap();
    store.withdraw(ana, 1).unwrap();
    store.close().unwrap();
    open_in(folder.path(), &path).close();
    assert!(!has(&path), "the answer is still in the file");
    let session = open_in(folder.path(), &path);
    assert!(annotators::list(&session.project).unwrap().iter().all(|who| who.attributes.is_empty()));
}
