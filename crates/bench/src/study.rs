//! A study with many annotators: assigning, opening a packet, submitting and merging.

use crate::error::BenchError;
use crate::figures::{median, peak_mib};
use dissensus_api::{MergeConsent, StudyRequest, TextOrder};
use dissensus_app::session::Session;
use dissensus_domain::{Answer, LabelSource, Scale, ScaleKind, TextId};
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_labelling::next_text;
use dissensus_project::home::Home;
use dissensus_project::jobs::Silent;
use dissensus_store::{NewLabel, NewQuestion, NewText, Store, StoreError};
use dissensus_transfer::study;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Length of a text in characters, so that packets are as large as real ones.
const CHARACTERS: usize = 200;
const PER_TEXT: u32 = 5;

/// Size of the simulated study.
#[derive(Clone, Copy, Debug)]
pub struct StudySize {
    /// Number of annotators, each with a task packet.
    pub people: u32,
    /// Number of texts per annotator.
    pub texts: u32,
}

/// Figures of each step of a study.
#[derive(Clone, Debug, Serialize)]
pub struct StudyBench {
    pub people: u32,
    /// Number of texts per annotator.
    pub texts_each: u32,
    /// Number of texts in the project.
    pub texts: u32,
    /// Number of labels merged.
    pub labels: u32,
    /// Seconds to draw the plan and write all packets.
    pub hand_out_seconds: f64,
    /// Median seconds from opening a packet until its first text is ready.
    pub open_seconds: f64,
    /// Median seconds to write a submission.
    pub hand_in_seconds: f64,
    /// Median size of a submission, in bytes.
    pub hand_in_bytes: f64,
    /// Seconds to merge all submissions.
    pub merge_seconds: f64,
    /// Seconds to merge all of them again.
    pub merge_again_seconds: f64,
    /// Peak memory of the process over all steps, in MiB.
    pub peak_mib: Option<f64>,
}

/// Runs a simulated study through all of its steps.
pub fn study(size: StudySize, say: &dyn Fn(&str)) -> Result<StudyBench, BenchError> {
    let folder = tempfile::tempdir().map_err(BenchError::io("making a folder in", std::env::temp_dir()))?;
    let home = Home::inside(&folder.path().join("home"), Vec::new());
    let path = folder.path().join("study.dissensus");
    let texts = (size.people * size.texts).div_ceil(PER_TEXT);
    say("Making the project");
    make(&path, texts)?;

    say("Handing out");
    let start = Instant::now();
    let session = Session::open(&path, &home)?;
    let request = StudyRequest {
        questions: Vec::new(),
        people: (1..=size.people).map(|n| format!("p{n}")).collect(),
        per_text: PER_TEXT.min(size.people),
        per_person: None,
        anchors: 0,
        repeat: 0.0,
        again_after: 0,
        new_people: false,
        balance: None,
        seed: 1,
    };
    let draft = study::hand_out(&session.study, &request, &folder.path().join("packets"), &Silent)?;
    let hand_out_seconds = start.elapsed().as_secs_f64();
    session.close();
    let packets: Vec<PathBuf> =
        draft.people.into_iter().filter_map(|person| person.file).map(PathBuf::from).collect();

    say("Labelling and handing in");
    let (mut opened, mut handed, mut sizes, mut files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for packet in &packets {
        opened.push(open(packet, &home)?);
        label(packet)?;
        let file = packet.with_extension("handin");
        let session = Session::open(packet, &home)?;
        let start = Instant::now();
        let done = study::hand_in(&session.study, &file, false)?;
        handed.push(start.elapsed().as_secs_f64());
        sizes.push(done.bytes);
        files.push(file);
    }

    say("Taking in");
    let (merge_seconds, labels) = merge(&path, &home, &files)?;
    let (merge_again_seconds, _) = merge(&path, &home, &files)?;
    Ok(StudyBench {
        people: size.people,
        texts_each: size.texts,
        texts,
        labels,
        hand_out_seconds,
        open_seconds: median(&opened).unwrap_or(f64::NAN),
        hand_in_seconds: median(&handed).unwrap_or(f64::NAN),
        hand_in_bytes: median(&sizes).unwrap_or(f64::NAN),
        merge_seconds,
        merge_again_seconds,
        peak_mib: peak_mib(),
    })
}

fn make(path: &Path, texts: u32) -> Result<(), BenchError> {
    let store = Store::create(path)?;
    let scale = Scale::new(ScaleKind::Ordinal, ["1", "2", "3", "4", "5"])?;
    store.write(move |tx| -> Result<(), StoreError> {
        tx.add_question(&NewQuestion { name: "rude".into(), prompt: "How rude is this?".into(), scale })?;
        for n in 1..=texts {
            let body = format!("{n:0>CHARACTERS$}");
            tx.add_text(&NewText { external_id: format!("t{n}"), body, ..NewText::default() })?;
        }
        Ok(())
    })?;
    Ok(store.close()?)
}

/// Seconds until the first text of a packet is ready.
fn open(packet: &Path, home: &Home) -> Result<f64, BenchError> {
    let start = Instant::now();
    let session = Session::open(packet, home)?;
    let me = annotators::list(&session.project)?.first().map(|person| person.id);
    let questions: Vec<_> =
        info::read(&session.project)?.questions.iter().map(|question| question.id).collect();
    if let Some(me) = me {
        next_text::choose(&session.labelling, me, questions, TextOrder::File, None)?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Answers every text of a packet in one transaction: the time to label is measured elsewhere.
fn label(packet: &Path) -> Result<(), BenchError> {
    let store = Store::open(packet)?;
    let (questions, people) = (store.questions()?, store.annotators()?);
    let texts: Vec<TextId> = store.text_ids()?;
    if let (Some(question), Some(person)) = (questions.first(), people.first()) {
        let (question, annotator) = (question.id, person.id);
        store.write(move |tx| -> Result<(), StoreError> {
            for text in texts {
                tx.add_label(&NewLabel {
                    question,
                    text,
                    annotator,
                    answer: Answer::from_level((text.0 % 5) as u16),
                    at_ms: 1_000 + i64::from(text.0),
                    duration_ms: Some(4_000),
                    source: LabelSource::Window,
                })?;
            }
            Ok(())
        })?;
    }
    Ok(store.close()?)
}

/// Seconds to merge files into a project that is opened for it, and its number of labels afterwards.
fn merge(path: &Path, home: &Home, files: &[PathBuf]) -> Result<(f64, u32), BenchError> {
    let session = Session::open(path, home)?;
    let start = Instant::now();
    study::merge(&session.study, files, &MergeConsent::all(), &Silent)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((seconds, info::read(&session.project)?.labels))
}
