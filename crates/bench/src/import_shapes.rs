//! Import speed of the same labels in every shape of a table, compared with the long form.

use crate::error::BenchError;
use crate::figures::{Peak, median};
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use dissensus_api::{ColumnChoices, ImportChoices, JoinChoice};
use dissensus_app::session::Session;
use dissensus_project::home::Home;
use dissensus_project::jobs::{Progress, Silent};
use dissensus_transfer::exchange;
use parquet::arrow::ArrowWriter;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Labels per text, and the number of annotators they are drawn from: a wide table has gaps.
const LABELS_A_TEXT: usize = 5;
const PEOPLE: usize = 30;
/// Rows of Parquet that are written at a time.
const BATCH: usize = 4096;

/// Import times of all shapes.
#[derive(Clone, Debug, Serialize)]
pub struct ImportShapesBench {
    /// Number of labels in each file.
    pub labels: usize,
    /// Runs of each shape, in turns.
    pub runs: usize,
    /// The shapes, the long form first.
    pub shapes: Vec<ShapeTime>,
}

/// Import time of one shape.
#[derive(Clone, Debug, Serialize)]
pub struct ShapeTime {
    pub shape: String,
    /// Number of labels imported: all of them, or the benchmark fails.
    pub labels: u32,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Median seconds of an import into a new project: recognized, checked, written and on disk.
    pub seconds: f64,
    /// The time divided by that of the long form.
    pub ratio: f64,
    /// Peak memory of an import in MiB, where the system reports it.
    pub peak_mib: Option<f64>,
}

/// A shape: its name, its file, and the file that it is joined with, if any.
struct Shape {
    name: &'static str,
    file: PathBuf,
    join: Option<PathBuf>,
}

/// Imports `labels` synthetic labels in each shape `runs` times, each into a new project, in turns.
///
/// # Errors
/// Fails if a file cannot be written, or an import adds a different number of labels.
pub fn import_shapes(
    labels: usize,
    runs: usize,
    say: &dyn Fn(&str),
) -> Result<ImportShapesBench, BenchError> {
    let folder = tempfile::tempdir().map_err(BenchError::io("making a folder in", std::env::temp_dir()))?;
    let texts = labels.div_ceil(LABELS_A_TEXT).max(1);
    say("writing the files");
    let shapes = written(folder.path(), texts)?;
    let mut seconds: Vec<Vec<f64>> = vec![Vec::new(); shapes.len()];
    let mut peaks: Vec<Option<f64>> = vec![None; shapes.len()];
    let mut added = vec![0; shapes.len()];
    for run in 0..runs.max(1) {
        for (nth, shape) in shapes.iter().enumerate() {
            say(&format!("run {}: {}", run + 1, shape.name));
            let project = folder.path().join("project.dissensus");
            let peak = Peak::reset();
            let started = Instant::now();
            let session = Session::create(&project, &Home::inside(folder.path(), Vec::new()))?;
            let unwatched: Arc<dyn Progress> = Arc::new(Silent);
            let choices = ImportChoices { columns: columns(&session, shape)?, ..ImportChoices::default() };
            added[nth] = exchange::import(&session.exchange, &shape.file, &choices, Some(&unwatched))?.labels;
            session.close();
            seconds[nth].push(started.elapsed().as_secs_f64());
            let highest = [peak.read(), peaks[nth]].into_iter().flatten().reduce(f64::max);
            peaks[nth] = highest;
            std::fs::remove_file(&project).map_err(BenchError::io("removing", &project))?;
        }
    }
    let long = median(&seconds[0]).unwrap_or_default();
    let mut found = Vec::new();
    for (nth, shape) in shapes.iter().enumerate() {
        if added[nth] as usize != texts * LABELS_A_TEXT {
            let why = format!("{} labels of {} came in as {}", added[nth], texts * LABELS_A_TEXT, shape.name);
            return Err(BenchError::Peer { peer: "import", why });
        }
        let seconds = median(&seconds[nth]).unwrap_or_default();
        found.push(ShapeTime {
            shape: shape.name.to_owned(),
            labels: added[nth],
            bytes: std::fs::metadata(&shape.file).map_or(0, |about| about.len()),
            seconds,
            ratio: seconds / long,
            peak_mib: peaks[nth],
        });
    }
    Ok(ImportShapesBench { labels: texts * LABELS_A_TEXT, runs: runs.max(1), shapes: found })
}

/// Column choices of a shape that is joined with another file.
fn columns(session: &Session, shape: &Shape) -> Result<Option<ColumnChoices>, BenchError> {
    let Some(other) = &shape.join else { return Ok(None) };
    let join = JoinChoice { path: other.to_string_lossy().into_owned(), ..JoinChoice::default() };
    Ok(Some(exchange::join_columns(&session.exchange, &shape.file, &ImportChoices::default(), &join)?))
}

/// The answers to a text: annotator and level of each.
fn answers(text: usize) -> [(usize, usize); LABELS_A_TEXT] {
    std::array::from_fn(|nth| {
        let person = (text * 7 + nth * 6) % PEOPLE;
        (person, (text * 3 + person * 5 + text * person) % 5)
    })
}

fn body(text: usize) -> String {
    format!("\"{}{text}\"", "a comment, with a comma and some more words to read, ".repeat(2))
}

fn plain_body(text: usize) -> String {
    body(text).trim_matches('"').to_owned()
}

/// Writes the labels in every shape.
fn written(folder: &Path, texts: usize) -> Result<Vec<Shape>, BenchError> {
    let mut shapes = Vec::new();
    let mut table = |name: &'static str, ending: &str, header: &str, row: &dyn Fn(usize) -> String| {
        let path = folder.join(format!("{}.{ending}", name.replace(' ', "-")));
        let written = File::create(&path).and_then(|file| {
            let mut out = BufWriter::with_capacity(1 << 20, file);
            out.write_all(header.as_bytes())?;
            for text in 0..texts {
                out.write_all(row(text).as_bytes())?;
            }
            out.into_inner().map(drop).map_err(std::io::IntoInnerError::into_error)
        });
        written.map_err(BenchError::io("writing", &path))?;
        shapes.push(Shape { name, file: path.clone(), join: None });
        Ok::<PathBuf, BenchError>(path)
    };
    let rows = |text: usize, row: &dyn Fn(usize, usize) -> String| {
        answers(text).iter().map(|(person, level)| row(*person, *level)).collect::<String>()
    };
    table("long", "csv", "text_id,text,annotator_id,label\n", &|text| {
        let body = body(text);
        rows(text, &|person, level| format!("t{text},{body},p{person},{level}\n"))
    })?;
    let people: Vec<String> = (0..PEOPLE).map(|person| format!("rater_{person}")).collect();
    table("a column for each person", "csv", &format!("id,text,{}\n", people.join(",")), &|text| {
        let mut cells = vec![String::new(); PEOPLE];
        for (person, level) in answers(text) {
            cells[person] = level.to_string();
        }
        format!("t{text},{},{}\n", body(text), cells.join(","))
    })?;
    let questions = ["Q1_harm", "Q2_bias", "Q3_tone", "Q4_topic", "Q5_overall"];
    table(
        "five questions in a row",
        "csv",
        &format!("id,text,rater_id,{}\n", questions.join(",")),
        &|text| {
            let levels = answers(text).map(|(_, level)| level.to_string());
            format!("t{text},{},p{},{}\n", body(text), (text * 7 + text / PEOPLE) % PEOPLE, levels.join(","))
        },
    )?;
    table("options in columns", "csv", "id,text,rater_id,joy,anger,fear,neutral\n", &|text| {
        let body = body(text);
        rows(text, &|person, level| {
            let marks = [0, 1, 2, 3]
                .map(|option| usize::from((level >> (option % 3) & 1) == 1 || level == option).to_string());
            format!("t{text},{body},p{person},{}\n", marks.join(","))
        })
    })?;
    let pairs: Vec<String> = (1..=LABELS_A_TEXT).map(|nth| format!("worker_{nth},score_{nth}")).collect();
    table("pairs of columns", "csv", &format!("id,text,{}\n", pairs.join(",")), &|text| {
        let cells = answers(text).map(|(person, level)| format!("p{person},{level}"));
        format!("t{text},{},{}\n", body(text), cells.join(","))
    })?;
    table("lists in JSON Lines", "jsonl", "", &|text| {
        let (who, what): (Vec<String>, Vec<usize>) =
            answers(text).iter().map(|(person, level)| (format!("p{person}"), *level)).unzip();
        let line = serde_json::json!({"id": format!("t{text}"), "text": plain_body(text), "annotators": who, "labels": what});
        format!("{line}\n")
    })?;
    table("objects in JSON Lines", "jsonl", "", &|text| {
        let given = answers(text)
            .map(|(person, level)| serde_json::json!({"annotator": format!("p{person}"), "label": level}));
        let line =
            serde_json::json!({"id": format!("t{text}"), "text": plain_body(text), "annotations": given});
        format!("{line}\n")
    })?;
    let bodies = table("texts", "csv", "item_id,text\n", &|text| format!("t{text},{}\n", body(text)))?;
    table("two files", "csv", "item_id,worker,label\n", &|text| {
        rows(text, &|person, level| format!("t{text},p{person},{level}\n"))
    })?;
    shapes.retain(|shape| shape.file != bodies);
    if let Some(joined) = shapes.last_mut() {
        joined.join = Some(bodies);
    }
    let path = folder.join("lists.parquet");
    parquet_lists(&path, texts)
        .map_err(|error| BenchError::Peer { peer: "parquet", why: error.to_string() })?;
    shapes.push(Shape { name: "lists in Parquet", file: path, join: None });
    Ok(shapes)
}

/// Writes a Parquet file whose rows are lists of annotators and of their labels.
fn parquet_lists(path: &Path, texts: usize) -> Result<(), ArrowError> {
    let list = || DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    let text = |name| Field::new(name, DataType::Utf8, false);
    let fields = vec![
        text("id"),
        text("text"),
        Field::new("annotators", list(), true),
        Field::new("labels", list(), true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let mut out = ArrowWriter::try_new(File::create(path)?, Arc::clone(&schema), None)?;
    for first in (0..texts).step_by(BATCH) {
        let here = first..texts.min(first + BATCH);
        let ids: StringArray = here.clone().map(|text| Some(format!("t{text}"))).collect();
        let bodies: StringArray = here.clone().map(|text| Some(plain_body(text))).collect();
        let (mut who, mut what) =
            (ListBuilder::new(StringBuilder::new()), ListBuilder::new(StringBuilder::new()));
        for text in here {
            for (person, level) in answers(text) {
                who.values().append_value(format!("p{person}"));
                what.values().append_value(level.to_string());
            }
            who.append(true);
            what.append(true);
        }
        let columns: Vec<ArrayRef> =
            vec![Arc::new(ids), Arc::new(bodies), Arc::new(who.finish()), Arc::new(what.finish())];
        out.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    out.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_imports_the_same_labels() {
        let found = import_shapes(500, 1, &|_| {}).unwrap();
        assert_eq!(found.shapes.len(), 9);
        assert!(found.shapes.iter().all(|shape| shape.labels == 500));
    }
}
