//! `data export --rows`: summaries by text or by annotator.

use super::count;
use super::export_words::{note_on_names, print_left_blank};
use super::live_model::make_live;
use crate::args::{Export, RowsArg};
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_api::{SummaryOf, SummaryRequest};
use dissensus_app::session::Session;
use std::path::Path;

pub(super) fn export(session: &Session, args: &Export, of: SummaryOf, file: &Path) -> Result<()> {
    let request = SummaryRequest {
        of,
        question: args.question.clone(),
        predicted: args.predicted,
        aggregate: args.aggregate.clone(),
        pseudonyms: args.pseudonyms,
    };
    let asked = session.summaries.check(&request, file, args.force)?;
    if let Some(question) = asked.predicted() {
        make_live(session, question, &args.encoder)?;
    }
    let bar = Bar::new("rows");
    let written = session.summaries.write(&asked, &bar);
    drop(bar);
    let written = written?;
    note_on_names(u64::from(written.identifiable));
    if args.output.json {
        return output::json(&written);
    }
    let rows = match of {
        SummaryOf::Texts => count(u64::from(written.rows), "text"),
        SummaryOf::People => count(u64::from(written.rows), "annotator"),
    };
    let labels = count(u64::from(written.labels), "label");
    if request.pseudonyms {
        let left_out = match of {
            SummaryOf::Texts => "no groups of texts, which may name people".to_owned(),
            SummaryOf::People => "no ids, names or times".to_owned(),
        };
        output::line(&format!("For others: {left_out}"))?;
        print_left_blank(&written.left_blank)?;
    }
    if !written.not_converged.is_empty() {
        output::line(&format!("Aggregation not converged for {}", written.not_converged.join(", ")))?;
    }
    output::line(&format!("Wrote {rows} with {labels} for \"{}\" to {}", written.question, file.display()))
}

/// What a row summarizes; `None` if each row is a label.
pub(super) fn summed_up(rows: RowsArg) -> Option<SummaryOf> {
    match rows {
        RowsArg::Labels => None,
        RowsArg::Texts => Some(SummaryOf::Texts),
        RowsArg::People => Some(SummaryOf::People),
    }
}
