//! `analyse who-differs`.

use super::{count, open_or_read};
use crate::args::WhoDiffers;
use crate::language::translate_word;
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::who_differs;
use dissensus_api::{AttributeDifference, DifferenceShares, Figure, PersonDifference, WhoDiffers as Found};
use dissensus_editing::info;
use dissensus_editing::questions;

pub(crate) fn who_differs(args: &WhoDiffers) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let bar = Bar::new("steps");
    let found = who_differs::find(&session.analysis, question.id, &bar);
    drop(bar);
    let found = found?;
    if args.output.json {
        return output::json(&found);
    }
    let equal = found.equal.map_or_else(String::new, |equal| {
        format!("; two people give the same answer to a text {} of the time", percent(equal))
    });
    let (labels, people) = (count(found.labels.into(), "label"), count(found.people.into(), "annotator"));
    output::line(&format!("{}: {labels} by {people}{equal}\n", question.name))?;
    show(&found, args.top)?;
    if let Some(notice) = info::read(&session.project)?.simulated_notice {
        output::line(&format!("\n{notice}"))?;
    }
    Ok(())
}

fn show(found: &Found, top: usize) -> Result<()> {
    output::line(&found.shares_words)?;
    if let Some(shares) = &found.shares {
        output::line(&shares_table(shares))?;
    }
    output::line(&format!("\n{}", found.attributes_words))?;
    if found.attributes.iter().any(|one| one.p.is_some()) {
        let header = ["attribute", "values", "people", "explains", "at most", "p", "shown", "what"];
        let rows = found.attributes.iter().map(attribute).collect();
        output::line(&output::table(&header, rows, &[1, 2, 3, 4, 5]))?;
    }
    output::line(&format!("\n{}", found.severities_words))?;
    let ends = |people: &mut dyn Iterator<Item = &PersonDifference>| {
        people.take(top).map(person).collect::<Vec<_>>().join(", ")
    };
    if !found.severities.is_empty() && top > 0 {
        output::line(&format!("  lowest levels: {}", ends(&mut found.severities.iter())))?;
        output::line(&format!("  highest levels: {}", ends(&mut found.severities.iter().rev())))?;
    }
    Ok(())
}

fn shares_table(shares: &DifferenceShares) -> String {
    let row = |name: &str, figure: Figure| {
        let ends = figure
            .interval
            .map_or_else(|| "–".to_owned(), |(low, high)| format!("{} to {}", percent(low), percent(high)));
        vec![name.to_owned(), percent(figure.value), ends]
    };
    let rows = vec![
        row("the text", shares.text),
        row("the person", shares.person),
        row(&translate_word("neither"), shares.neither),
    ];
    output::table(&["why", "share", "95 %"], rows, &[1])
}

fn attribute(one: &AttributeDifference) -> Vec<String> {
    let share = |of: Option<f64>| of.map_or_else(|| "–".to_owned(), |of| format!("{:.1} %", 100.0 * of));
    vec![
        one.attribute.clone(),
        one.values.to_string(),
        one.people.to_string(),
        share(one.share),
        share(one.most),
        one.p.map_or_else(|| "–".to_owned(), |p| format!("{p:.3}")),
        if one.shown { "yes" } else { "no" }.to_owned(),
        one.words.clone(),
    ]
}

/// Formats an annotator's difference: "ana −1.20", with a star if it is significant.
fn person(one: &PersonDifference) -> String {
    let star = if one.shown { "*" } else { "" };
    format!("{} {}{star}", one.name, dissensus_project::words::signed(one.severity, 2))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
