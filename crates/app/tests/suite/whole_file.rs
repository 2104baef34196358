//! The one file is the complete project at any moment, and a copy of it is saved completely.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use crate::support::{Stopped, TestFolder, import_csv};
use dissensus_api::ImportChoices;
use dissensus_app::session::Session;
use dissensus_domain::{Attributes, Scale, ScaleKind};
use dissensus_editing::CopyChoices;
use dissensus_editing::annotators;
use dissensus_editing::copy;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_project::jobs::Silent;
use dissensus_store::Store;
use std::path::Path;
use std::time::Duration;

struct Project {
    folder: TestFolder,
    session: Session,
}

fn project() -> Project {
    let folder = TestFolder::new();
    let session = folder.project("p");
    Project { folder, session }
}

impl Project {
    fn import(&self) {
        let csv = "text_id,text,annotator_id,label\nt1,one,ada,1\nt2,two,ada,2\nt2,two,ben,1\n";
        import_csv(&self.session, csv, &ImportChoices::default());
    }

    /// Opens a copy of only the main file, made this moment.
    fn file_alone(&self) -> Store {
        let copy = self.folder.path("alone");
        std::fs::copy(self.session.project.path(), &copy).unwrap();
        Store::open_reader(&copy).unwrap()
    }
}

#[test]
fn file_is_complete_after_import_and_within_two_seconds_of_a_label() {
    let project = project();
    project.import();
    let counts = project.file_alone().counts().unwrap();
    assert_eq!((counts.texts, counts.annotators, counts.labels), (2, 2, 3));
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"]).unwrap();
    questions::add(&project.session.project, AddQuestion::new("funny", "Funny?", scale)).unwrap();
    assert_eq!(project.file_alone().questions().unwrap().len(), 2);
    annotators::add(&project.session.project, "cleo", &Attributes::new()).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(project.file_alone().annotators().unwrap().len(), 3);
    by_name::record(&project.session.labelling, &LabelByName::new("cleo", "t1", "yes", Some("funny")))
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(project.file_alone().counts().unwrap().labels, 4);
}

#[test]
fn open_project_is_copied_with_runs_on_request() {
    let project = project();
    project.import();
    let at = |name: &str| project.folder.path(name);
    let runs = at("p.dissensus.runs");
    std::fs::create_dir_all(runs.join("1/encoder")).unwrap();
    std::fs::write(runs.join("1/encoder/model.safetensors"), "weights").unwrap();
    std::fs::write(runs.join("1/.dissensus-x.part"), "half").unwrap();

    let without =
        copy::save_copy(&project.session.project, &at("q"), CopyChoices::default(), &Silent).unwrap();
    assert!(without.runs.is_none() && without.runs_left.unwrap().ends_with("p.dissensus.runs"));
    assert!(!at("q.runs").exists());
    assert_eq!(Store::open_reader(at("q")).unwrap().counts().unwrap().labels, 3);

    let choices = CopyChoices { runs: true, ..CopyChoices::default() };
    let with = copy::save_copy(&project.session.project, &at("r"), choices, &Silent).unwrap();
    assert!(with.runs_left.is_none() && with.runs.unwrap().ends_with("r.runs"));
    let copied = std::fs::read_to_string(at("r.runs/1/encoder/model.safetensors")).unwrap();
    assert_eq!(copied, "weights");
    assert!(!at("r.runs/1/.dissensus-x.part").exists());

    // Neither a file nor a folder of runs is replaced without a request.
    let error =
        copy::save_copy(&project.session.project, &at("q"), CopyChoices::default(), &Silent).unwrap_err();
    assert_eq!(error.code(), "project-exists", "{error}");
    let replace = CopyChoices { runs: true, replace: true, ..CopyChoices::default() };
    let error = copy::save_copy(&project.session.project, &at("r"), replace, &Silent).unwrap_err();
    assert_eq!(error.code(), "export-exists", "{error}");
}

#[test]
fn cancelled_copy_leaves_nothing() {
    let project = project();
    project.import();
    let at = |name: &str| project.folder.path(name);
    std::fs::create_dir(at("p.dissensus.runs")).unwrap();
    std::fs::write(at("p.dissensus.runs/big"), "weights").unwrap();
    let count = |path: &Path| std::fs::read_dir(path).unwrap().count();
    let before = count(project.folder.as_ref());
    for runs in [false, true] {
        let choices = CopyChoices { runs, ..CopyChoices::default() };
        let error = copy::save_copy(&project.session.project, &at("q"), choices, &Stopped).unwrap_err();
        assert_eq!(error.code(), "cancelled", "{error}");
        assert_eq!(count(project.folder.as_ref()), before);
    }
}
