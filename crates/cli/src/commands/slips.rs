//! `analyse slips`: labels that are likely mistakes.

use super::{count, encoder_choice, open_or_read, print_switch};
use crate::args::Slips;
use crate::output::{self, cut};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::SlipChoices;
use dissensus_analysis::slips;
use dissensus_api::{SlipKind, SlipRow};
use dissensus_editing::annotators;
use dissensus_editing::info;
use dissensus_editing::questions;

/// Maximum number of characters of a text in the table.
const TEXT_WIDTH: usize = 60;

pub(crate) fn slips(args: &Slips) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let annotator =
        args.annotator.as_deref().map(|name| annotators::find(&session.project, name)).transpose()?;
    let bar = Bar::new("labels");
    let ready = session
        .encoding
        .ensure_encoded(&encoder_choice(&args.encoder), &bar)
        .and_then(|switch| session.live.fit(question.id, &bar).map(|()| switch));
    let choices =
        SlipChoices { annotator: annotator.map(|annotator| annotator.id), below: args.below, top: args.top };
    let found =
        ready.and_then(|switch| Ok((switch, slips::find(&session.analysis, question.id, choices, &bar)?)));
    drop(bar);
    let (switch, report) = found?;
    print_switch(switch);
    if args.output.json {
        return output::json(&report);
    }
    if let Some(needs) = &report.needs {
        output::line(needs)?;
    } else {
        output::line(&format!("{}, {}", question.name, count(report.judged.into(), "label")))?;
        output::line(&report.slips_words)?;
        let beyond = report.slips.len().min(report.slips_beyond_chance as usize);
        show(if args.all { &report.slips } else { &report.slips[..beyond] })?;
        output::line(&format!("\n{}", report.contested_words))?;
        let contested = f64::from(report.contested_in_all) > report.contested_expected;
        show(if args.all || contested { &report.contested } else { &[] })?;
        let hidden =
            !args.all && (report.slips.len() > beyond || !(contested || report.contested.is_empty()));
        if hidden {
            output::line("\n--all lists the unusual labels that chance explains as well")?;
        }
    }
    if let Some(remark) = &report.remark {
        output::line(&format!("\n{remark}"))?;
    }
    if let Some(notice) = info::read(&session.project)?.simulated_notice {
        output::line(&format!("\n{notice}"))?;
    }
    Ok(())
}

fn show(rows: &[SlipRow]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let contested = rows.iter().any(|row| row.kind != SlipKind::Slip);
    let mut header = vec!["text_id", "annotator", "given", "usual", "own", "others", "same", "by chance"];
    header.push(if contested { "contested because" } else { "text" });
    let row = |r: &SlipRow| {
        vec![
            r.text_id.clone(),
            r.name.clone(),
            r.level_name.clone(),
            r.usual_name.clone(),
            percent(r.own),
            percent(r.others),
            format!("{} of {}", r.same_labels, r.others_labels),
            format!("{:.1}", r.expected),
            match r.kind {
                SlipKind::Slip => cut(&r.body, TEXT_WIDTH),
                SlipKind::OwnView => "it fits this person alone".to_owned(),
                SlipKind::Divided => "others would give it too".to_owned(),
            },
        ]
    };
    output::line(&output::table(&header, rows.iter().map(row).collect(), &[4, 5, 6, 7]))
}

/// Formats a probability as a percentage, with a decimal if it is small.
fn percent(chance: f64) -> String {
    if chance < 0.001 { "< 0.1 %".to_owned() } else { format!("{:.1} %", 100.0 * chance) }
}
