//! `report`: a folder of tables and figures for a paper.

use super::{count, encoder_choice, note, open_or_read, print_switch};
use crate::args::Report;
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_api::PaperRequest;

pub(crate) fn report(args: &Report) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    if args.institution {
        let bar = Bar::new("steps");
        let written = session.paper.write_for_institution(&args.dir, args.force, &bar);
        drop(bar);
        let written = written?;
        if args.output.json {
            return output::json(&written);
        }
        return output::line(&format!(
            "Wrote {}: {}, with {} to fill in; begin with README.md or papers.html",
            written.folder,
            count(written.files.len() as u64, "file"),
            count(written.open.into(), "place")
        ));
    }
    let request = PaperRequest {
        evaluate: args.evaluate,
        quote_texts: args.quote_texts,
        with_ids: args.with_ids,
        replace: args.force,
    };
    let bar = Bar::new("steps");
    let written = session.paper.write(request, &args.dir, &encoder_choice(&args.encoder), &bar);
    drop(bar);
    let (written, switch) = written?;
    print_switch(switch);
    written.left_blank.iter().for_each(|line| note(&format!("in labels.csv, {line}")));
    if written.identifiable > 0 {
        note(&format!(
            "by their attributes taken together, {} could still be identified in labels.csv",
            if written.identifiable == 1 {
                "1 person".to_owned()
            } else {
                format!("{} people", written.identifiable)
            }
        ));
    }
    if args.output.json {
        return output::json(&written);
    }
    output::line(&format!(
        "Wrote {} ({:.1} MB): {}, {} and {} on {}; open report.html in it",
        written.folder,
        written.bytes / 1e6,
        count(written.figures.into(), "figure"),
        count(written.tables.into(), "table"),
        count(written.labels.into(), "label"),
        count(written.questions.len() as u64, "question")
    ))?;
    written.notes.iter().try_for_each(|words| output::line(&format!("  {words}")))
}
