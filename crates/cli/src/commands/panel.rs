//! `analyse panel`: predicted verdicts of a panel of annotators.

use super::live_model::make_live;
use super::prediction_tables::print_left_out_and_strangers;
use super::{count, encoder_choice, open, open_or_read, open_to_read};
use crate::args::{Panel, PanelBy};
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::panels::{PanelFile, PanelFileChoices};
use dissensus_api::{PanelInfo, PanelOrder, PanelRequest, PanelText, PanelVerdicts, SavedPanelInfo};
use dissensus_app::session::Session;
use dissensus_editing::questions;
use dissensus_editing::texts;
use dissensus_training::encoding::TextFileChoices;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// What `panel --list --json` and `panel --forget --json` print.
#[derive(Serialize, JsonSchema)]
pub(super) struct SavedPanels<'a> {
    /// Saved panels.
    panels: &'a [SavedPanelInfo],
}

/// Maximum number of characters of a text in the table.
const TEXT_WIDTH: usize = 50;

pub(crate) fn panel(args: &Panel) -> Result<()> {
    if args.list {
        return list(&open_to_read(&args.project.path)?.panels.list()?, args.output.json);
    }
    if let Some(name) = &args.forget {
        return list(&open(&args.project.path)?.panels.forget(name)?, args.output.json);
    }
    let session =
        if args.name.is_some() { open(&args.project.path)? } else { open_or_read(&args.project.path)? };
    let request = request(&session, args)?;
    session.panels.check(&request)?;
    let compared =
        args.compare.as_deref().map(|name| session.panels.request(name, args.draws)).transpose()?;
    match (&args.file.texts, &args.file.out) {
        (Some(texts), Some(out)) => file(&session, args, &request, compared.as_ref(), texts, out)?,
        _ => project(&session, args, &request, compared.as_ref())?,
    }
    // After everything that can fail, so that only panels that were drawn and predicted are saved.
    if let Some(name) = &args.name {
        session.panels.save(name, &request)?;
        super::note(&format!("saved as \"{}\"", name.trim()));
    }
    Ok(())
}

fn request(session: &Session, args: &Panel) -> Result<PanelRequest> {
    let mut request = match &args.saved {
        Some(name) => session.panels.request(name, args.draws)?,
        None => PanelRequest {
            question: questions::find(&session.project, args.question.as_deref())?.id,
            members: args.members.clone(),
            size: args.size.unwrap_or_default(),
            shares: args.shares.clone(),
            seed: args.seed,
            rule: "majority".to_owned(),
            draws: args.draws,
        },
    };
    if let Some(rule) = &args.rule {
        request.rule = rule.to_string();
    }
    if let Some(question) = &args.question {
        request.question = questions::find(&session.project, Some(question))?.id;
    }
    Ok(request)
}

fn project(
    session: &Session,
    args: &Panel,
    request: &PanelRequest,
    compared: Option<&PanelRequest>,
) -> Result<()> {
    let text = args.text_id.as_deref().map(|id| texts::find(&session.project, id)).transpose()?;
    make_live(session, request.question, &args.encoder)?;
    let found = match text {
        Some((text, _)) => session.panels.ask_about(request, compared, text)?,
        None => {
            let bar = Bar::new("texts");
            let order = match args.by {
                PanelBy::Unsure => PanelOrder::Unsure,
                PanelBy::Members => PanelOrder::Members,
                PanelBy::Apart => PanelOrder::Apart,
            };
            let found = session.panels.ask(request, compared, order, args.top, &bar);
            drop(bar);
            found?
        }
    };
    if args.output.json { output::json(&found) } else { print_verdicts(&found) }
}

fn file(
    session: &Session,
    args: &Panel,
    request: &PanelRequest,
    compared: Option<&PanelRequest>,
    texts: &Path,
    out: &Path,
) -> Result<()> {
    let choices = PanelFileChoices {
        texts: TextFileChoices {
            path: texts.to_owned(),
            text: args.file.text_column.clone(),
            text_id: args.file.text_id_column.clone(),
            skip_bad: args.file.skip_bad,
            keep: None,
        },
        out: out.to_owned(),
        replace: args.file.force,
    };
    let bar = Bar::new("bytes");
    let asked = session.panels.check_file(request, &choices, &bar);
    drop(bar);
    let asked = asked?;
    make_live(session, request.question, &args.encoder)?;
    let bar = Bar::new("texts");
    let written = session.panels.ask_file(request, compared, &asked, &encoder_choice(&args.encoder), &bar);
    drop(bar);
    print_written(&written?, args.output.json)
}

fn print_written(written: &PanelFile, json: bool) -> Result<()> {
    if json {
        return output::json(written);
    }
    print_left_out_and_strangers(written.bad_rows, written.panel.strangers as usize);
    output::line(&format!(
        "Wrote the verdicts of {} on {} to {}, {} observed",
        describe_panel(&written.panel),
        count(written.texts, "text"),
        written.file.display(),
        written.observed
    ))
}

/// Describes a panel: "a panel of 12 (first of 201 drawn from 262 people)".
fn describe_panel(panel: &PanelInfo) -> String {
    let drawn = panel.pool.map_or_else(String::new, |pool| {
        let from = format!("drawn from {} people", pool);
        if panel.draws == 0 {
            format!(" ({from})")
        } else {
            format!(" (the first of {} {from})", panel.draws + 1)
        }
    });
    format!("a panel of {}{drawn}", panel.members.len())
}

fn print_verdicts(found: &PanelVerdicts) -> Result<()> {
    let panel = &found.panel;
    print_left_out_and_strangers(0, panel.strangers as usize);
    output::line(&format!("{}, {}: {}", panel.question, panel.rule, describe_panel(panel)))?;
    output::line(&format!("Members: {}", panel.members.join(", ")))?;
    if let Some(compared) = &found.compared {
        output::line(&format!(
            "Compared with: {}: {}",
            describe_panel(compared),
            compared.members.join(", ")
        ))?;
    }
    if !panel.exact {
        super::note(
            "majorities of so large a panel on so many levels are drawn by chance: probabilities have a standard error below 0.01",
        );
    }
    let outcomes = &panel.outcomes;
    let likely = |p: &[f64]| {
        let mut at: Vec<usize> = (0..p.len()).filter(|at| p[*at] >= 0.005).collect();
        at.sort_by(|a, b| p[*b].total_cmp(&p[*a]));
        at.iter().map(|at| format!("{} {:.2}", outcomes[*at], p[*at])).collect::<Vec<_>>().join(", ")
    };
    let row = |text: &PanelText| {
        let of = &text.verdict;
        let range = match of.too_little {
            true => "too little to tell".to_owned(),
            false => format!("{:.2} to {:.2}", of.range.0, of.range.1),
        };
        let mean = of
            .mean
            .map_or_else(String::new, |(mean, low, high)| format!("{mean:.1} ({low:.1} to {high:.1})"));
        let others =
            text.others.as_ref().map_or_else(String::new, |o| format!("{:.0} %", 100.0 * o.otherwise));
        let comparison = text.comparison.as_ref().map_or_else(String::new, |b| {
            format!("{} (apart {:.2})", outcomes[b.verdict.likeliest as usize], b.apart)
        });
        vec![
            text.text_id.clone(),
            outcomes[of.likeliest as usize].clone(),
            format!("{:.2}", of.sure),
            range,
            likely(&of.probabilities),
            mean,
            others,
            comparison,
            text.answered.to_string(),
            text.snippet.chars().take(TEXT_WIDTH).collect(),
        ]
    };
    let mean_header = format!("mean ({:.0} %)", 100.0 * panel.level);
    let header = [
        "text",
        "verdict",
        "sure",
        "range",
        "probabilities",
        mean_header.as_str(),
        "otherwise",
        "compared",
        "answered",
        "",
    ];
    let mut rows: Vec<Vec<String>> = found.texts.iter().map(row).collect();
    // Omits columns that are empty in every row.
    let kept: Vec<usize> = (0..header.len())
        .filter(|at| !(5..8).contains(at) || rows.iter().any(|row| !row[*at].is_empty()))
        .collect();
    rows.iter_mut().for_each(|row| *row = kept.iter().map(|at| std::mem::take(&mut row[*at])).collect());
    let header: Vec<&str> = kept.iter().map(|at| header[*at]).collect();
    output::line(&output::table(&header, rows, &[2]))?;
    let shown = found.texts.len() as u32;
    match found.texts_in_all > shown {
        true => output::line(&format!("{shown} of {}", count(found.texts_in_all.into(), "text"))),
        false => Ok(()),
    }
}

fn list(panels: &[SavedPanelInfo], as_json: bool) -> Result<()> {
    if as_json {
        return output::json(&SavedPanels { panels });
    }
    if panels.is_empty() {
        return output::line(
            "No panel is saved: `dissensus analyse panel P --size 12 --name NAME` saves one",
        );
    }
    let row = |panel: &SavedPanelInfo| {
        let members = match panel.members.is_empty() {
            false => panel.members.join(", "),
            true => {
                let shares =
                    panel.shares.iter().map(|s| format!(", {}={}: {}", s.attribute, s.value, s.share));
                format!("{} drawn with seed {}{}", panel.size, panel.seed, shares.collect::<String>())
            }
        };
        vec![panel.name.clone(), panel.question.clone().unwrap_or_default(), panel.rule.clone(), members]
    };
    let rows = panels.iter().map(row).collect();
    output::line(&output::table(&["panel", "question", "rule", "members"], rows, &[]))
}
