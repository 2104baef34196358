//! Calls every public use case of a session randomly from eight threads: no deadlock, no panic, no lost
//! label.
//!
//! `DISSENSUS_STRESS_SEED` repeats a run; the seed is printed. The long versions run with
//! `cargo xtask test --only stress`.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests too
#![allow(clippy::print_stderr)] // seeds and what hangs must be seen

#[path = "suite/support.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod support;

use dissensus_analysis::EvaluateChoices;
use dissensus_analysis::agreement;
use dissensus_analysis::annotators;
use dissensus_analysis::evaluation;
use dissensus_analysis::ranking;
use dissensus_analysis::text_detail;
use dissensus_api::{
    DisagreementMeasure, DisagreementQuery, ImportChoices, ProjectChoices, TextOrder, TrainChoices, WorkState,
};
use dissensus_app::session::Session;
use dissensus_domain::{AnnotatorId, LabelSource, QuestionId, Scale, ScaleKind};
use dissensus_editing::choices;
use dissensus_editing::info;
use dissensus_editing::jobs;
use dissensus_editing::questions;
use dissensus_editing::questions::AddQuestion;
use dissensus_encoder::{DeviceChoice, Pooling};
use dissensus_labelling::LabelByName;
use dissensus_labelling::by_name;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::progress;
use dissensus_labelling::undo;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Follow;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::ExportChoices;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::{home, import_csv, tiny};

/// Errors that a worker got, and how often each call was made and failed.
type Worked = (BTreeSet<String>, BTreeMap<&'static str, (u32, u32)>);

const THREADS: usize = 8;

/// SplitMix64: small, and the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }
}

fn seed() -> u64 {
    let asked = std::env::var("DISSENSUS_STRESS_SEED").ok().and_then(|seed| seed.parse().ok());
    let now =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = asked.unwrap_or_else(now);
    eprintln!("DISSENSUS_STRESS_SEED={seed}");
    seed
}

/// The current call of each thread.
type Pending = Arc<Mutex<BTreeMap<usize, (&'static str, Instant)>>>;

/// Ends the whole process when a call takes too long: threads in a deadlock cannot be ended otherwise.
fn watch(pending: Pending, limit: Duration, stop: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(200));
            let pending = pending.lock().unwrap();
            if pending.values().any(|(_, since)| since.elapsed() > limit) {
                let mut dump = format!("not done after {limit:?}, a deadlock:\n");
                for (thread, (what, since)) in pending.iter() {
                    let _ = writeln!(
                        dump,
                        "  thread {thread}: {what} for {:.1} s",
                        since.elapsed().as_secs_f64()
                    );
                }
                eprintln!("{dump}");
                std::process::abort();
            }
        }
    })
}

struct Target {
    folder: PathBuf,
    question: QuestionId,
    question_name: String,
    values: Vec<String>,
}

/// One thread: the labels of its own annotator are counted, everything else only puts load on the session.
struct Worker<'a> {
    number: usize,
    session: &'a Session,
    place: &'a Target,
    dice: Dice,
    pending: Pending,
    labelled: BTreeSet<String>,
    done: BTreeMap<&'static str, (u32, u32)>,
}

/// Faults of the program; all other errors are valid answers.
const FAULTS: [&str; 3] = ["panic", "internal", "project-damaged"];

impl Worker<'_> {
    fn call<T>(
        &mut self,
        what: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, ProjectError>,
    ) -> Option<T> {
        self.pending.lock().unwrap().insert(self.number, (what, Instant::now()));
        let result = work(self);
        self.pending.lock().unwrap().remove(&self.number);
        let (ok, refused) = self.done.entry(what).or_default();
        match result {
            Ok(value) => {
                *ok += 1;
                Some(value)
            }
            Err(error) => {
                assert!(!FAULTS.contains(&error.code()), "{what}: {error}");
                *refused += 1;
                None
            }
        }
    }

    fn name(&self) -> String {
        format!("stress-{}", self.number)
    }

    fn anybody(&mut self) -> Result<AnnotatorId, ProjectError> {
        let all = dissensus_editing::annotators::list(&self.session.project)?;
        Ok(all[self.dice.below(all.len())].id)
    }

    fn step(&mut self) {
        let (session, question) = (self.session, self.place.question);
        let query = DisagreementQuery {
            question,
            by: DisagreementMeasure::Split,
            cut: None,
            groups: None,
            search: None,
            attributes: Default::default(),
            labelled_only: false,
        };
        match self.dice.below(34) {
            0..=6 => self.label(),
            7 => drop(self.call("undo", |w| {
                undo::undo(&session.labelling, w.anybody()?, question, LabelSource::Window)
            })),
            8 => {
                let name = format!("new {}", self.dice.roll());
                self.call("add annotator", |_| {
                    dissensus_editing::annotators::add(&session.project, &name, &Default::default())
                });
            }
            9 if info::read(&session.project).is_ok_and(|info| info.questions.len() < 5) => {
                let name = format!("question {}", self.dice.roll());
                let scale = Scale::new(ScaleKind::Binary, &["no".to_owned(), "yes".to_owned()]).unwrap();
                self.call("add question", |_| {
                    questions::add(&session.project, AddQuestion::new(&name, "", scale))
                });
            }
            10 | 11 => self.import(),
            12 => {
                let out = self.place.folder.join(format!("out-{}.csv", self.number));
                self.call("export", |_| {
                    exchange::export(
                        &session.exchange,
                        &out,
                        &ExportChoices { replace: true, ..ExportChoices::default() },
                        Follow::Job,
                    )
                });
            }
            13 => self.encode(),
            14 => drop(
                self.call("start encoding", |_| session.background.start_encoding(EncoderChoice::default())),
            ),
            15 | 16 => self.start_run(),
            17 => {
                let jobs = self.call("jobs", |_| jobs::list(&session.project)).unwrap_or_default();
                for job in jobs.iter().filter(|job| job.state == WorkState::Running) {
                    jobs::cancel(&session.project, job.id);
                }
            }
            18 | 19 => drop(self.call("info", |_| info::read(&session.project))),
            20 | 21 => {
                let ranking = self.call("ranking", |_| ranking::rank(&session.analysis, &query));
                let texts: Vec<_> = ranking.into_iter().flat_map(|r| r.texts).take(5).collect();
                self.call("rows", |_| ranking::read_rows(&session.analysis, &query, &texts));
                if let Some(text) = texts.first() {
                    self.call("detail", |_| {
                        text_detail::read(&session.analysis, &query, *text, None, None, false)
                    });
                }
            }
            22 => drop(self.call("annotator report", |_| annotators::measure(&session.analysis, question))),
            23 => drop(self.call("agreement", |_| agreement::measure_target(&session.analysis, question))),
            24 => {
                let choices = EvaluateChoices {
                    question: Some(self.place.question_name.clone()),
                    models: vec![ModelKind::Majority],
                    split: SplitSpec::ByText(0.7),
                    seed: 1,
                    at_least: None,
                    tuning: "frozen".into(),
                    encoder: EncoderChoice { device: DeviceChoice::Cpu, ..EncoderChoice::default() },
                    prediction_sets: false,
                    without_slips: false,
                };
                self.call("evaluate", |_| evaluation::evaluate(&session.analysis, &choices, &Silent));
            }
            25 => {
                let choices = ProjectChoices { question: Some(question), ..ProjectChoices::default() };
                self.call("save choices", |_| choices::save(&session.project, &choices));
            }
            26 => drop(self.call("fit", |_| session.live.fit(question, &Silent))),
            27 => session.background.start(),
            28 => {
                self.call("active model", |_| session.live.active_model(question));
                self.call("encoding state", |_| session.encoding.state());
            }
            29 => {
                let runs = self.call("runs", |_| runs::list(&session.runs)).unwrap_or_default();
                if let Some(run) = runs.get(self.dice.below(runs.len().max(1))) {
                    match self.dice.below(3) {
                        0 => drop(self.call("use run", |_| runs::use_run(&session.runs, Some(run.id)))),
                        1 => drop(self.call("delete run", |_| runs::delete(&session.runs, run.id))),
                        _ => drop(self.call("run detail", |_| runs::detail(&session.runs, run.id))),
                    }
                }
            }
            30 => drop(self.call("stop using", |_| runs::use_run(&session.runs, None))),
            31 => {
                self.call("skip and flag", |w| {
                    let who = w.anybody()?;
                    let Some(task) =
                        next_text::choose(&session.labelling, who, question, TextOrder::Informative, None)?
                    else {
                        return Ok(());
                    };
                    marks::skip(&session.labelling, who, question, task.text)?;
                    marks::flag(&session.labelling, who, question, task.text, true)?;
                    next_text::neighbour(&session.labelling, who, question, task.text, 1)?;
                    progress::count(&session.labelling, who, question).map(drop)
                });
            }
            32 => {
                let file = self.file(2);
                self.call("preview", |_| {
                    exchange::preview(&session.exchange, &file, &ImportChoices::default())
                });
            }
            _ => session.subscribe(|_| {}),
        }
    }

    fn label(&mut self) {
        let (session, place) = (self.session, self.place);
        let orders = [TextOrder::File, TextOrder::Random, TextOrder::Informative, TextOrder::Disagreement];
        let order = orders[self.dice.below(4)].clone();
        let value = place.values[self.dice.below(place.values.len())].clone();
        let name = self.name();
        let labelled = self.call("label", |_| {
            let who = match dissensus_editing::annotators::find(&session.project, &name) {
                Ok(who) => who.id,
                Err(_) => {
                    dissensus_editing::annotators::add(&session.project, &name, &Default::default())?.id
                }
            };
            let Some(task) = next_text::choose(&session.labelling, who, place.question, order, None)? else {
                return Ok(None);
            };
            by_name::record(
                &session.labelling,
                &LabelByName::new(&name, &task.external_id, &value, Some(&place.question_name)),
            )?;
            Ok(Some(task.external_id))
        });
        self.labelled.extend(labelled.flatten());
    }

    fn file(&mut self, rows: usize) -> PathBuf {
        let n = self.dice.roll();
        let path = self.place.folder.join(format!("in-{}.csv", self.number));
        let mut text = "text_id,text,annotator_id,label\n".to_owned();
        for row in 0..rows {
            let value = &self.place.values[self.dice.below(self.place.values.len())];
            let _ = writeln!(text, "t{n}-{row},a new text {n} {row},reader {},{value}", self.dice.below(5));
        }
        std::fs::write(&path, text).unwrap();
        path
    }

    fn import(&mut self) {
        let file = self.file(3);
        let choices =
            ImportChoices { question: Some(self.place.question_name.clone()), ..ImportChoices::default() };
        let session = self.session;
        if self.dice.below(2) == 0 {
            self.call("import job", |_| exchange::import(&session.exchange, &file, &choices, None));
        } else {
            let silent: Arc<dyn Progress> = Arc::new(Silent);
            self.call("import", |_| exchange::import(&session.exchange, &file, &choices, Some(&silent)));
        }
    }

    fn encode(&mut self) {
        let pooling = [Pooling::Mean, Pooling::Cls, Pooling::Max][self.dice.below(3)];
        let choice = EncoderChoice { pooling: Some(pooling), ..tiny() };
        let session = self.session;
        self.call("encode", |_| session.encoding.encode(&choice, &Silent));
    }

    fn start_run(&mut self) {
        let (session, question) = (self.session, self.place.question);
        let kind = [ModelKind::Majority, ModelKind::Shared, ModelKind::SepHeads, ModelKind::Multilevel]
            [self.dice.below(4)];
        let tuning = ["frozen", "last-1"][self.dice.below(2)];
        self.call("start run", |_| {
            let asked = runs::choices_for(&session.runs, question, kind, tuning)?;
            runs::start(&session.runs, &TrainChoices { epochs: 1, ..asked })
        });
    }
}

/// Calls everything for `length`, closes the session meanwhile, and looks for every confirmed label.
fn stress(path: &Path, folder: &Path, question: &str, length: Duration, limit: Duration) {
    let seed = seed();
    let home = home(folder);
    let session = Session::open(path, &home).unwrap();
    let found = questions::find(&session.project, Some(question)).unwrap();
    let place = Target {
        folder: folder.to_owned(),
        question: found.id,
        question_name: found.name.clone(),
        values: found.scale.levels().to_vec(),
    };
    let (stop, pending) = (Arc::new(AtomicBool::new(false)), Pending::default());
    let watchdog = watch(Arc::clone(&pending), limit, Arc::clone(&stop));
    let began = Instant::now();
    let workers: Vec<Worked> = std::thread::scope(|scope| {
        let (session, place, pending) = (&session, &place, &pending);
        let work = |number: usize| {
            move || {
                let mut worker = Worker {
                    number,
                    session,
                    place,
                    dice: Dice(seed ^ (number as u64) << 32),
                    pending: Arc::clone(pending),
                    labelled: BTreeSet::new(),
                    done: BTreeMap::new(),
                };
                while began.elapsed() < length {
                    worker.step();
                }
                (worker.labelled, worker.done)
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(work(number))).collect();
        // Closed while all threads are busy.
        std::thread::sleep(length.saturating_sub(Duration::from_millis(500)));
        session.close();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    stop.store(true, Ordering::Relaxed);
    watchdog.join().unwrap();
    drop(session);

    let mut calls: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (what, (ok, refused)) in workers.iter().flat_map(|(_, done)| done) {
        let sum = calls.entry(what).or_default();
        *sum = (sum.0 + ok, sum.1 + refused);
    }
    eprintln!("calls (done, refused): {calls:?}");
    assert!(calls["label"].0 > 0 && calls["info"].0 > 0, "{calls:?}");
    let again = Session::open(path, &home).unwrap();
    for (number, (labelled, _)) in
        workers.iter().enumerate().filter(|(_, (labelled, _))| !labelled.is_empty())
    {
        let who = dissensus_editing::annotators::find(&again.project, &format!("stress-{number}")).unwrap();
        // `undo` on other threads may have taken some back; no current one may be missing.
        let done = progress::count(&again.labelling, who.id, place.question).unwrap().done as usize;
        assert!(
            done <= labelled.len() && done + calls.get("undo").map_or(0, |c| c.0 as usize) >= labelled.len()
        );
    }
}

fn encoded(folder: &Path) -> PathBuf {
    support::encoded_sample(folder).close();
    folder.join("sample.dissensus")
}

#[test]
fn eight_threads_run_for_some_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let path = encoded(folder.path());
    stress(&path, folder.path(), "offensiveness", Duration::from_secs(8), Duration::from_secs(180));
}

#[test]
#[ignore = "takes a minute: cargo xtask test --only stress"]
fn eight_threads_for_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let path = encoded(folder.path());
    stress(&path, folder.path(), "offensiveness", Duration::from_secs(60), Duration::from_secs(180));
}

#[test]
#[ignore = "takes minutes: cargo xtask test --only stress"]
fn eight_threads_on_fifty_thousand_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.dissensus");
    let home = home(folder.path());
    let session = Session::create(&path, &home).unwrap();
    let mut csv = "text_id,text,annotator_id,label\n".to_owned();
    for text in 0..5_000 {
        for nth in 0..10 {
            let (who, level) = ((text * 7 + nth * 31) % 200, (text + nth) % 3 + 1);
            let _ = writeln!(csv, "t{text},text number {text},a{who},{level}");
        }
    }
    let choices = ImportChoices {
        question: Some("q".into()),
        scale: Some(ScaleKind::Ordinal),
        ..ImportChoices::default()
    };
    import_csv(&session, &csv, &choices);
    drop(session);
    stress(&path, folder.path(), "q", Duration::from_secs(60), Duration::from_secs(900));
}
