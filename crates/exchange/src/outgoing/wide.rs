//! One row a text, one column an annotator, the input of programs for reliability.

use super::labels::ToolLabels;
use super::{LossReason, Writer, report_progress};
use crate::error::io_reason;
use crate::formats::wide::{LABEL, TEXT, TEXT_ID};
use csv::QuoteStyle;
use dissensus_domain::{AnswerForm, Progress};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

#[derive(Debug)]
pub(super) struct Wide;

impl Writer for Wide {
    fn title(&self) -> &'static str {
        "CSV with a column for each person"
    }

    fn ending(&self) -> &'static str {
        "csv"
    }

    fn holds(&self) -> &'static [LossReason] {
        &[LossReason::Bodies]
    }

    fn question(&self, _form: AnswerForm) -> Option<&'static str> {
        Some(LABEL)
    }

    fn person<'a>(&self, id: &'a str) -> Cow<'a, str> {
        if [TEXT_ID, TEXT].contains(&id) { format!("{id}_").into() } else { id.into() }
    }

    fn write(&self, kept: &ToolLabels, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()> {
        // Names are quoted: the separator is guessed from the characters outside quotes.
        let mut table = csv::WriterBuilder::new().quote_style(QuoteStyle::NonNumeric).from_writer(out);
        let people = kept.people.iter().map(|person| person.id.as_str());
        table.write_record([TEXT_ID, TEXT].into_iter().chain(people)).map_err(io_reason)?;
        for (nth, (text, answers)) in kept.texts.iter().zip(kept.by_text()).enumerate() {
            report_progress(progress, nth, kept.texts.len())?;
            let given: HashMap<usize, &str> =
                answers.into_iter().filter_map(|one| Some((one.person, kept.level(one)?))).collect();
            let cells = (0..kept.people.len()).map(|person| given.get(&person).copied().unwrap_or_default());
            let row = [text.id.as_str(), &text.body].into_iter().chain(cells);
            table.write_record(row).map_err(io_reason)?;
        }
        table.flush()
    }
}
