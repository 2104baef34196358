//! A ZIP archive with a file of JSON Lines for each annotator, as doccano exports it. The name of a file
//! identifies the annotator of its lines.

use super::labels::{Named, ToolLabels};
use super::{LossReason, Writer, id_value, report_progress};
use crate::annotations::STANDARD;
use crate::formats::doccano::{ALL, KEYS, LABEL, SPANS};
use dissensus_domain::{AnswerForm, Progress};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{self, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

#[derive(Debug)]
pub(super) struct Doccano;

impl Writer for Doccano {
    fn title(&self) -> &'static str {
        "doccano ZIP"
    }

    fn ending(&self) -> &'static str {
        "zip"
    }

    fn holds(&self) -> &'static [LossReason] {
        use LossReason::{Bodies, Metadata, Notes, Sets, Spans};
        &[Spans, Sets, Notes, Bodies, Metadata]
    }

    fn question(&self, form: AnswerForm) -> Option<&'static str> {
        Some(if form.marks_words() { SPANS } else { LABEL })
    }

    fn person<'a>(&self, id: &'a str) -> Cow<'a, str> {
        // A file of that name contains the merged labels of a shared project.
        let stem = crate::file_names::file_stem(id);
        if crate::file_names::without_case(&stem) == ALL { format!("{stem}_").into() } else { stem.into() }
    }

    fn people_are_files(&self) -> bool {
        true
    }

    fn can_hold_key(&self, key: &str, _people: &[&str]) -> bool {
        !STANDARD.contains(&key) && !KEYS.contains(&key)
    }

    fn write(&self, kept: &ToolLabels, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()> {
        let mut archive = ZipWriter::new_stream(out);
        for (nth, (person, answers)) in kept.people.iter().zip(kept.by_person()).enumerate() {
            report_progress(progress, nth, kept.people.len())?;
            archive
                .start_file(format!("{}.jsonl", person.id), SimpleFileOptions::default().large_file(true))?;
            for answer in answers {
                let text = &kept.texts[answer.text];
                let mut example = json!({
                    "id": id_value(&text.id),
                    "text": text.body,
                    "label": match kept.named(answer) {
                        Some(Named::Level(level)) => json!([level]),
                        Some(Named::Options(options)) => json!(options),
                        Some(Named::Spans(spans)) => json!(spans),
                        None => Value::Array(Vec::new()),
                    },
                    "Comments": answer.note.note.iter().collect::<Vec<_>>(),
                });
                for (key, value) in &text.metadata {
                    example[key] = value.as_str().into();
                }
                serde_json::to_writer(&mut archive, &example)?;
                archive.write_all(b"\n")?;
            }
        }
        archive.finish()?;
        Ok(())
    }
}
