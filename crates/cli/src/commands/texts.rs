//! `data texts`.

use super::open_to_read;
use crate::args::{TextFilterArg, Texts};
use crate::output;
use crate::progress::Bar;
use anyhow::Result;
use dissensus_api::{TextCounts, TextFilter, TextQuery, TextRow};
use dissensus_editing::annotators;
use dissensus_editing::questions;

pub(crate) fn texts(args: &Texts) -> Result<()> {
    let session = open_to_read(&args.project.path)?;
    let project = &session.project;
    let questions = args.question.as_deref().map(|name| questions::find(project, Some(name))).transpose()?;
    let query = TextQuery {
        annotator: args
            .annotator
            .as_deref()
            .map(|name| annotators::find(project, name))
            .transpose()?
            .map(|a| a.id),
        questions: questions.into_iter().map(|question| question.id).collect(),
        search: args.search.clone(),
        filter: args.filter.into(),
        sort: args.sort.into(),
        bare: false,
    };
    if args.filter == TextFilterArg::Long {
        let bar = Bar::new("texts");
        let measured = session.texts.measure_long(&bar);
        drop(bar);
        let measured = measured?;
        let rest = if measured.in_parts { "the others are read in parts" } else { "the rest is not read" };
        super::note(&format!("{} reads {} tokens at once; {rest}", measured.encoder, measured.tokens));
    }
    let mut found = session.texts.find(&query, args.offset, args.top, None)?;
    // A page has at most 500 rows.
    while !found.rows.is_empty() && (found.rows.len() as u32) < args.top {
        let more = args.offset + found.rows.len() as u32;
        let part = session.texts.find(&query, more, args.top - found.rows.len() as u32, None)?;
        if part.rows.is_empty() {
            break;
        }
        found.rows.extend(part.rows);
    }
    if args.output.json {
        return output::json(&found);
    }
    output::line(&counts(&found.counts))?;
    if found.rows.is_empty() {
        return output::line("No text fits");
    }
    let rows = found.rows.iter().map(row).collect();
    output::line(&output::table(&["row", "id", "text", "answers", "marks"], rows, &[0]))?;
    let shown = args.offset + found.rows.len() as u32;
    match found.total - shown.min(found.total) {
        0 => Ok(()),
        more => output::line(&format!("{more} more: --top and --offset show them")),
    }
}

/// Formats the counts: "160 texts: 12 answered, 148 not yet, 3 skipped, 1 flagged, 0 noted, 9 contested".
fn counts(counts: &TextCounts) -> String {
    let of = |count: u32, filter: TextFilter| format!("{count} {}", filter.name().replace('-', " "));
    let mut all = vec![
        of(counts.answered, TextFilter::Answered),
        of(counts.not_yet, TextFilter::NotYet),
        of(counts.skipped, TextFilter::Skipped),
        of(counts.flagged, TextFilter::Flagged),
        of(counts.noted, TextFilter::Noted),
    ];
    all.extend(counts.contested.map(|count| of(count, TextFilter::Contested)));
    all.extend(counts.long.map(|count| of(count, TextFilter::Long)));
    format!("{}: {}", super::count(u64::from(counts.all), "text"), all.join(", "))
}

fn row(text: &TextRow) -> Vec<String> {
    let answers: Vec<&str> = text.answers.iter().map(|answer| answer.as_deref().unwrap_or("–")).collect();
    let mut marks: Vec<String> = Vec::new();
    marks.extend(text.skipped.then(|| "skipped".to_owned()));
    marks.extend(text.flagged.then(|| "flagged".to_owned()));
    marks.extend(text.noted.then(|| "noted".to_owned()));
    marks.extend(text.long.then(|| "long".to_owned()));
    marks.extend(text.contested.filter(|value| *value > 0.0).map(|value| format!("contested {value:.2}")));
    vec![
        text.row.to_string(),
        if text.named { text.external_id.clone() } else { String::new() },
        output::cut(&text.snippet, 60),
        answers.join(", "),
        marks.join(", "),
    ]
}
