//! Pasted rows are imported like a file of them, and leave nothing behind.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too

use crate::support::home;
use dissensus_api::ImportChoices;
use dissensus_app::Application;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_transfer::exchange;
use std::path::Path;

#[test]
fn table_and_lines_are_imported_and_their_files_removed() {
    let folder = tempfile::tempdir().unwrap();
    let workbench = Application::new(home(folder.path()));
    workbench.new_project(&folder.path().join("p.dissensus").to_string_lossy()).unwrap();
    let session = workbench.open_session().unwrap();
    let table = "text\tannotator\tlabel\r\n\"two\nlines, \"\"so\"\"\"\tana\t1\r\nwell\tben\t2\r\n";
    let pasted = exchange::paste(&session.exchange, table, None).unwrap();
    assert!(pasted.header);
    let path = Path::new(&pasted.path);
    let report = exchange::import(&session.exchange, path, &ImportChoices::default(), None).unwrap();
    assert_eq!((report.texts, report.annotators, report.labels), (2, 2, 2), "{report:?}");
    let found = by_name::record(&session.labelling, &LabelByName::new("ana", "two", "1", None));
    assert!(found.is_err(), "ids are made from bodies");

    let lines = exchange::paste(&session.exchange, "One, with a comma.\n\n\"Two\" she said\n", None).unwrap();
    assert!(!lines.header && lines.path != pasted.path);
    let shown =
        exchange::preview(&session.exchange, Path::new(&lines.path), &ImportChoices::default()).unwrap();
    assert_eq!((shown.header.as_slice(), shown.new_texts), (["text".to_owned()].as_slice(), 2));
    let named = exchange::paste(&session.exchange, "Remark of today\nOne\n", Some(true)).unwrap();
    let shown =
        exchange::preview(&session.exchange, Path::new(&named.path), &ImportChoices::default()).unwrap();
    assert_eq!((shown.header.as_slice(), shown.new_texts), (["text".to_owned()].as_slice(), 1));
    let forced = exchange::paste(&session.exchange, "a\tb\nc\td\n", Some(true)).unwrap();
    let shown =
        exchange::preview(&session.exchange, Path::new(&forced.path), &ImportChoices::default()).unwrap();
    assert_eq!((shown.header, shown.total_rows), (vec!["a".to_owned(), "b".to_owned()], 1));
    let unnamed = exchange::paste(&session.exchange, "a\tsome words\nc\td\te\n", Some(false)).unwrap();
    let shown =
        exchange::preview(&session.exchange, Path::new(&unnamed.path), &ImportChoices::default()).unwrap();
    assert_eq!(
        (shown.header, shown.total_rows),
        (["column_1", "text", "column_3"].map(str::to_owned).to_vec(), 2)
    );

    // Only our own files are ever removed.
    let (project, other_file) = (folder.path().join("p.dissensus"), path.with_file_name("mine.csv"));
    std::fs::write(&other_file, "x").unwrap();
    for other in [project.as_path(), other_file.as_path(), &path.with_file_name("../settings.json")] {
        workbench.forget_pasted(other).unwrap();
    }
    assert!(project.exists() && other_file.exists());
    for one in [&pasted.path, &lines.path, &named.path, &forced.path, &unnamed.path, &pasted.path] {
        workbench.forget_pasted(Path::new(one)).unwrap();
    }
    let left: Vec<_> =
        std::fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(left, [other_file]);
    assert_eq!(exchange::paste(&session.exchange, " \n\t\n", None).unwrap_err().code(), "no-rows");
}

#[cfg(unix)]
#[test]
fn pasted_files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let workbench = Application::new(home(folder.path()));
    workbench.new_project(&folder.path().join("p.dissensus").to_string_lossy()).unwrap();
    let pasted = exchange::paste(&workbench.open_session().unwrap().exchange, "one\ntwo\n", None).unwrap();
    let mode = std::fs::metadata(&pasted.path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}
