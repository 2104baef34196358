//! Columns that differ from the guess are remembered for the next file with the same columns, and for no
//! other.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::TestFolder;
use dissensus_api::{ColumnChoices, ImportChoices};
use dissensus_transfer::exchange;

const FIRST: &str = "text_id,text,annotator_id,label,town\nt1,so good,ana,1,york\nt2,well,ben,2,hull\n";
/// The same columns in another order.
const SECOND: &str = "town,text,label,annotator_id,text_id\nhull,no way,2,ana,t3\nyork,maybe,1,ben,t4\n";

/// With the town as the group of a text, which is not the guess.
fn by_town(guess: &ColumnChoices) -> ImportChoices {
    let attributes = guess.attributes.iter().filter(|name| *name != "town").cloned().collect();
    let columns = ColumnChoices { group: Some("town".into()), attributes, ..guess.clone() };
    ImportChoices { columns: Some(columns), ..ImportChoices::default() }
}

#[test]
fn last_column_choices_are_offered_for_equal_columns() {
    let place = TestFolder::new();
    let session = place.project("p");
    let (first, second) = (place.file("a.csv", FIRST), place.file("b.csv", SECOND));
    let guess = exchange::preview_as_last_time(&session.exchange, &first).unwrap();
    assert!(!guess.as_last_time);
    exchange::import(&session.exchange, &first, &ImportChoices::default(), None).unwrap();
    assert!(!place.path("home/columns.json").exists(), "a guess is not stored");
    exchange::import(&session.exchange, &first, &by_town(&guess.columns), None).unwrap();

    // In another project too; the command and imports without choices still use the guess.
    drop(session);
    let session = place.project("q");
    let shown = exchange::preview_as_last_time(&session.exchange, &second).unwrap();
    assert!(shown.as_last_time);
    assert_eq!((shown.columns.group.as_deref(), shown.new_labels), (Some("town"), 2), "{shown:?}");
    let plain = exchange::preview(&session.exchange, &second, &ImportChoices::default()).unwrap();
    assert_eq!((plain.as_last_time, plain.columns.group), (false, None));
    let other = place.file("c.csv", "text_id,text,annotator_id,label,city\nt1,so good,ana,1,york\n");
    assert!(
        !exchange::preview_as_last_time(&session.exchange, &other).unwrap().as_last_time,
        "another column"
    );
    let tabs = place.file("c.tsv", &FIRST.replace(',', "\t"));
    assert!(
        !exchange::preview_as_last_time(&session.exchange, &tabs).unwrap().as_last_time,
        "another format"
    );

    exchange::import(&session.exchange, &second, &ImportChoices::default(), None).unwrap();
    assert!(!exchange::preview_as_last_time(&session.exchange, &first).unwrap().as_last_time);
}

#[test]
fn stored_columns_hold_no_personal_data() {
    let place = TestFolder::new();
    let session = place.project("p");
    let file = place.file("a.csv", "text_id,text,label,town\nt1,so good,1,york\nt2,well,2,hull\n");
    let guess = exchange::preview_as_last_time(&session.exchange, &file).unwrap().columns;
    let mut choices = by_town(&guess);
    choices.columns.as_mut().unwrap().annotator = Some("=Wilhelmina".into());
    exchange::import(&session.exchange, &file, &choices, None).unwrap();
    let kept = std::fs::read_to_string(place.path("home/columns.json")).unwrap();
    assert!(kept.contains("town") && !kept.contains("Wilhelmina") && !kept.contains("york"), "{kept}");
    let shown = exchange::preview_as_last_time(&session.exchange, &file).unwrap();
    assert!(shown.as_last_time && shown.columns.annotator.is_none());

    for damaged in ["{", "[1, {\"shape\": 7}]", "null"] {
        std::fs::write(place.path("home/columns.json"), damaged).unwrap();
        assert!(!exchange::preview_as_last_time(&session.exchange, &file).unwrap().as_last_time, "{damaged}");
        exchange::import(&session.exchange, &file, &choices, None).unwrap();
        assert!(exchange::preview_as_last_time(&session.exchange, &file).unwrap().as_last_time, "{damaged}");
    }
}

#[test]
fn at_most_fifty_column_choices_are_stored() {
    let place = TestFolder::new();
    let session = place.project("p");
    let mut files = Vec::new();
    for nth in 0..52 {
        let content = format!("text_id,text,town,x{nth}\nt1,so good,york,1\nt2,well,hull,2\n");
        let file = place.file(&format!("f{nth}.csv"), &content);
        let guess = exchange::preview_as_last_time(&session.exchange, &file).unwrap().columns;
        exchange::import(&session.exchange, &file, &by_town(&guess), None).unwrap();
        files.push(file);
    }
    let kept =
        |nth: usize| exchange::preview_as_last_time(&session.exchange, &files[nth]).unwrap().as_last_time;
    assert_eq!([kept(0), kept(1), kept(2), kept(51)], [false, false, true, true]);
}
