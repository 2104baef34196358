//! The sample project: our own comments and eight simulated annotators. See `sample/SIMULATION.md` for how
//! it was made.

use crate::clock::now_ms;
use crate::error::ProjectError;
use dissensus_domain::{Attributes, LabelSource, Scale, ScaleKind};
use dissensus_store::{NewAnnotator, NewLabel, NewQuestion, NewText, Store, WriteTx};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const COMMENTS: &str = include_str!("../../../sample/comments.csv");
const ANNOTATORS: &str = include_str!("../../../sample/annotators.csv");
const LABELS: &str = include_str!("../../../sample/labels.csv");
/// Notice that is shown wherever the sample's labels are.
pub const NOTICE: &str = "The eight annotators that come with this sample are simulated: a stated formula computed their labels, and no person judged these comments.";
/// Key of the project setting with the notice.
pub const NOTICE_KEY: &str = "simulated_notice";
const ATTRIBUTES: [&str; 5] = ["age_band", "gender", "moderating", "region", "tendency"];
const QUESTIONS: [(&str, &str, ScaleKind, &[&str]); 2] = [
    ("offensiveness", "How offensive is this comment?", ScaleKind::Ordinal, &["1", "2", "3", "4", "5"]),
    ("remove", "Would you remove this comment?", ScaleKind::Binary, &["no", "yes"]),
];

/// Creates the sample project at `path`.
///
/// # Errors
/// The file exists or cannot be written; then nothing is left behind.
pub fn create(path: &Path) -> Result<(), ProjectError> {
    let store = Store::create(path)?;
    // The sample demonstrates what a study can enable.
    let filled = store.write(fill).and_then(|()| {
        store.write(|tx| tx.set_reveal(true, now_ms()))?;
        Ok(store.set_setting(NOTICE_KEY, NOTICE)?)
    });
    if filled.is_err() {
        drop(store);
        let _ = std::fs::remove_file(path);
    }
    filled
}

fn fill(tx: &mut WriteTx<'_>) -> Result<(), ProjectError> {
    let mut texts = HashMap::new();
    for row in rows(COMMENTS)? {
        let id = tx.add_text(&NewText {
            external_id: row["text_id"].clone(),
            body: row["text"].clone(),
            group: Some(row["thread"].clone()),
            split: None,
            metadata: BTreeMap::from([("topic".to_owned(), row["topic"].clone())]),
        })?;
        texts.insert(row["text_id"].clone(), id);
    }
    let mut annotators = HashMap::new();
    for row in rows(ANNOTATORS)? {
        let attributes: Attributes =
            ATTRIBUTES.iter().map(|name| ((*name).to_owned(), row[*name].clone())).collect();
        let id = tx.add_annotator(&NewAnnotator {
            external_id: row["annotator_id"].clone(),
            name: row["name"].clone(),
            attributes,
            simulated: true,
        })?;
        annotators.insert(row["annotator_id"].clone(), id);
    }
    let at_ms = now_ms();
    let labels = rows(LABELS)?;
    for (name, prompt, kind, levels) in QUESTIONS {
        let scale = Scale::new(kind, levels)?;
        let question = tx.add_question(&NewQuestion {
            name: name.to_owned(),
            prompt: prompt.to_owned(),
            scale: scale.clone(),
        })?;
        for row in &labels {
            let answer = scale.answer_named(&row[name]).ok_or(ProjectError::Sample("labels.csv"))?;
            let (text, annotator) = (texts.get(&row["text_id"]), annotators.get(&row["annotator_id"]));
            let (Some(&text), Some(&annotator)) = (text, annotator) else {
                return Err(ProjectError::Sample("labels.csv"));
            };
            tx.add_label(&NewLabel {
                question,
                text,
                annotator,
                answer,
                at_ms,
                duration_ms: None,
                source: LabelSource::Simulated,
            })?;
        }
    }
    Ok(())
}

/// Only the sample's comments.
pub fn comments() -> Result<Vec<String>, ProjectError> {
    Ok(rows(COMMENTS)?.into_iter().filter_map(|mut row| row.remove("text")).collect())
}

type Row = HashMap<String, String>;

fn rows(csv: &str) -> Result<Vec<Row>, ProjectError> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.deserialize().collect::<Result<_, csv::Error>>().map_err(|_| ProjectError::Sample("a table"))
}
