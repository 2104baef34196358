//! Measures the project file at realistic sizes on this disk: `cargo run --release -p
//! dissensus-store --example load -- [FOLDER [import|million|large]]`.

#![allow(clippy::print_stdout, reason = "a measuring program talks to its caller")]

use anyhow::Result;
use dissensus_domain::{AnnotatorId, Answer, EventId, LabelSource, QuestionId, Scale, ScaleKind, TextId};
use dissensus_store::{
    EncoderVersion, ExportScope, NewAnnotator, NewLabel, NewQuestion, NewText, Store, StoreError, WriteTx,
};
use std::path::Path;
use std::time::{Duration, Instant};

type Measure = fn(&Path) -> Result<()>;

fn main() -> Result<()> {
    let folder = match std::env::args().nth(1) {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let only = std::env::args().nth(2);
    let measured: [(&str, Measure); 3] = [
        ("import", import_like_md_agreement),
        ("million", a_million_labels),
        ("large", opening_a_large_file),
    ];
    for (name, measure) in measured {
        if only.as_deref().is_none_or(|o| o == name) {
            measure(&folder.path().join(name))?;
        }
    }
    Ok(())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn new_text(n: u32) -> NewText {
    NewText {
        external_id: format!("text-{n}"),
        body: format!("Comment {n}: {}", "words that somebody wrote in haste ".repeat(4)),
        split: Some("train".to_owned()),
        ..NewText::default()
    }
}

/// What an import does for each row: find or add the text, the annotator and the label.
fn import_row(tx: &mut WriteTx<'_>, question: QuestionId, t: u32, a: u32) -> Result<(), StoreError> {
    let external = format!("text-{t}");
    let text = match tx.text_by_external(&external)? {
        Some(id) => id,
        None => tx.add_text(&new_text(t))?,
    };
    let person = format!("person-{a}");
    let annotator = match tx.annotator_by_external(&person)? {
        Some(id) => id,
        None => tx.add_annotator(&NewAnnotator { external_id: person, ..NewAnnotator::default() })?,
    };
    let answer = Answer::from_level(((t + a) % 2) as u16);
    if tx.current_label(question, text, annotator)?.is_none_or(|l| l.answer != answer) {
        let source = LabelSource::Import;
        let at_ms = i64::from(t);
        tx.add_label(&NewLabel { question, text, annotator, answer, at_ms, duration_ms: None, source })?;
    }
    Ok(())
}

fn add_question(tx: &mut WriteTx<'_>) -> Result<QuestionId, StoreError> {
    let scale = Scale::new(ScaleKind::Binary, ["no", "yes"])
        .map_err(|e| StoreError::Invalid { what: "scale".into(), why: e.to_string() })?;
    tx.add_question(&NewQuestion { name: "offensive".into(), prompt: "Offensive?".into(), scale })
}

fn import_like_md_agreement(path: &Path) -> Result<()> {
    let store = Store::create(path)?;
    let start = Instant::now();
    let writer = store.clone();
    let import = std::thread::spawn(move || {
        writer.write(|tx| -> Result<(), StoreError> {
            let question = add_question(tx)?;
            (0..53_765).try_for_each(|n| import_row(tx, question, n / 5, (n / 5 * 7 + n % 5) % 819))
        })
    });
    std::thread::sleep(Duration::from_millis(5));
    let (question, text, annotator) = (QuestionId(1), TextId(1), AnnotatorId(1));
    let (source, at_ms) = (LabelSource::Window, 0);
    let label = NewLabel {
        question,
        text,
        annotator,
        answer: Answer::from_level(1),
        at_ms,
        duration_ms: None,
        source,
    };
    let waited = store.append_label(&label);
    import.join().map_err(|_| anyhow::anyhow!("the import panicked"))??;
    println!("import of 53,765 labels: {:.0} ms", ms(start.elapsed()));
    println!("a label meanwhile waited {:.0} ms", ms(waited?.total));
    let start = Instant::now();
    let mut rows = 0;
    store.for_each_label(question, ExportScope::Current, |_| -> Result<(), StoreError> {
        rows += 1;
        Ok(())
    })?;
    println!("walk of {rows} labels for export: {:.0} ms", ms(start.elapsed()));
    let start = Instant::now();
    let found = store.search_texts("COMMENT 77")?.len();
    println!("search of 10,753 texts ({found} found): {:.0} ms", ms(start.elapsed()));
    Ok(store.close()?)
}

fn a_million_labels(path: &Path) -> Result<()> {
    let store = Store::create(path)?;
    let start = Instant::now();
    let question = store.write(|tx| -> Result<QuestionId, StoreError> {
        let question = add_question(tx)?;
        for t in 0..10_000 {
            tx.add_text(&new_text(t))?;
        }
        for a in 0..500 {
            let external_id = format!("person-{a}");
            tx.add_annotator(&NewAnnotator { external_id, ..NewAnnotator::default() })?;
        }
        let mut labels = tx.label_appender()?;
        for n in 0..1_000_000_u32 {
            let (text, annotator) = (TextId(n % 10_000 + 1), AnnotatorId(n / 10_000 * 5 + n % 5 + 1));
            let (at_ms, source) = (i64::from(n), LabelSource::Import);
            let answer = Answer::from_level((n % 2) as u16);
            labels.append(&NewLabel {
                question,
                text,
                annotator,
                answer,
                at_ms,
                duration_ms: None,
                source,
            })?;
        }
        Ok(question)
    })?;
    println!("a million labels: {:.0} ms", ms(start.elapsed()));
    measure("current labels of everyone", || Ok(store.current_labels(question)?.len()))?;
    measure("counts", || Ok(store.counts()?.labels as usize))?;
    let ada = AnnotatorId(1);
    measure("current labels of one", || Ok(store.current_labels_of(ada, question)?.len()))?;
    measure("newest given", || Ok(store.newest_given(question, ada)?.map_or(0, |l| l.id.0 as usize)))?;
    measure("history, 20", || Ok(store.history(question, ada, 20)?.len()))?;
    measure("events of one", || Ok(store.events_of(ada, question)?.len()))?;
    measure("events of everyone", || Ok(store.events_since(EventId(0), u32::MAX)?.len()))?;
    let (mut total, mut sync): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for n in 0..1000_u32 {
        let (text, source) = (TextId(n + 1), LabelSource::Window);
        let label = NewLabel {
            question,
            text,
            annotator: ada,
            answer: Answer::from_level(0),
            at_ms: 0,
            duration_ms: Some(1),
            source,
        };
        let appended = store.append_label(&label)?;
        total.push(ms(appended.total));
        sync.push(ms(appended.sync));
    }
    total.sort_by(f64::total_cmp);
    sync.sort_by(f64::total_cmp);
    println!(
        "append: median {:.2} ms ({:.2} of it the disk), 99th percentile {:.2} ms ({:.2})",
        total[500], sync[500], total[990], sync[990]
    );
    measure("close", || store.close().map(|()| 0).map_err(Into::into))?;
    println!("file: {} MB", std::fs::metadata(path)?.len() >> 20);
    measure("open", || Store::open(path).map(|_| 0).map_err(Into::into))?;
    merging(path)
}

/// Merges a copy with nothing new, and with one label, while labels are given.
fn merging(path: &Path) -> Result<()> {
    let copy = path.with_file_name("copy");
    std::fs::copy(path, &copy)?;
    let (ours, theirs) = (Store::open(path)?, Store::open(&copy)?);
    measure("merge with nothing new", || Ok(ours.merge_from(&theirs)?.events as usize))?;
    let (question, text, annotator, source) = (QuestionId(1), TextId(1), AnnotatorId(2), LabelSource::Window);
    let answer = Answer::from_level(1);
    let new = NewLabel { question, text, annotator, answer, at_ms: 2_000_000, duration_ms: None, source };
    theirs.append_label(&new)?;
    let worst = std::thread::scope(|scope| -> Result<Duration> {
        let merge = scope.spawn(|| ours.merge_from(&theirs));
        let mut worst = Duration::ZERO;
        while !merge.is_finished() {
            worst =
                worst.max(ours.append_label(&NewLabel { annotator: AnnotatorId(1), ..new.clone() })?.total);
        }
        merge.join().map_err(|_| anyhow::anyhow!("the merge panicked"))??;
        Ok(worst)
    })?;
    println!("a label waits meanwhile: {:.0} ms at most", ms(worst));
    theirs.append_label(&NewLabel { answer: Answer::from_level(0), at_ms: 2_000_001, ..new })?;
    measure("merge with one new label", || Ok(ours.merge_from(&theirs)?.events as usize))?;
    theirs.close()?;
    Ok(ours.close()?)
}

fn opening_a_large_file(path: &Path) -> Result<()> {
    let store = Store::create(path)?;
    let key = "made-up/0/mean/256";
    let (name, pooling, precision) = ("made-up".to_owned(), "mean".to_owned(), "fp32".to_owned());
    let weights_sha256 = "0".repeat(64);
    let version = EncoderVersion {
        key: key.to_owned(),
        name,
        weights_sha256,
        pooling,
        max_tokens: 256,
        dim: 384,
        precision,
    };
    store.add_encoder_version(&version)?;
    let start = Instant::now();
    for batch in 0..50 {
        store.write(move |tx| -> Result<(), StoreError> {
            for n in batch * 1000..(batch + 1) * 1000 {
                let text = tx.add_text(&new_text(n))?;
                tx.put_embedding(key, text, &vec![n as f32; 384])?;
            }
            Ok(())
        })?;
    }
    println!("50,000 texts with embeddings: {:.0} ms", ms(start.elapsed()));
    measure("read all embeddings", || Ok(store.embeddings(key)?.values.len()))?;
    store.close()?;
    println!("file: {} MB", std::fs::metadata(path)?.len() >> 20);
    measure("open, every page walked", || Store::open(path).map(|_| 0).map_err(Into::into))
}

fn measure(what: &str, f: impl FnOnce() -> Result<usize>) -> Result<()> {
    let start = Instant::now();
    let n = f()?;
    println!("{what}: {:.1} ms ({n})", ms(start.elapsed()));
    Ok(())
}
