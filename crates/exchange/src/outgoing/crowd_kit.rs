//! `task,worker,label`, the input of crowd-kit and most programs for aggregation.

use super::labels::ToolLabels;
use super::{LossReason, Writer, report_progress};
use crate::error::io_reason;
use crate::formats::crowd_kit::{LABEL, TASK, WORKER};
use dissensus_domain::{AnswerForm, Progress};
use std::io::{self, Write};

#[derive(Debug)]
pub(super) struct CrowdKit;

impl Writer for CrowdKit {
    fn title(&self) -> &'static str {
        "CSV with task, worker and label"
    }

    fn ending(&self) -> &'static str {
        "csv"
    }

    fn holds(&self) -> &'static [LossReason] {
        &[]
    }

    fn question(&self, _form: AnswerForm) -> Option<&'static str> {
        Some(LABEL)
    }

    fn write(&self, kept: &ToolLabels, out: &mut dyn Write, progress: &dyn Progress) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record([TASK, WORKER, LABEL]).map_err(io_reason)?;
        for (nth, (text, answers)) in kept.texts.iter().zip(kept.by_text()).enumerate() {
            report_progress(progress, nth, kept.texts.len())?;
            for answer in answers {
                let label = kept.level(answer).unwrap_or_default();
                table.write_record([&text.id, &kept.people[answer.person].id, label]).map_err(io_reason)?;
            }
        }
        table.flush()
    }
}
