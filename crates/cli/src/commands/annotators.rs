//! `analyse annotators`: comparison of annotators.

use super::{count, encoder_choice, open_or_read, print_switch};
use crate::args::Annotators;
use crate::output::{self, three};
use crate::progress::Bar;
use anyhow::Result;
use dissensus_analysis::annotators;
use dissensus_api::AnnotatorRow;
use dissensus_editing::questions;

pub(crate) fn annotators(args: &Annotators) -> Result<()> {
    let session = open_or_read(&args.project.path)?;
    let question = questions::find(&session.project, args.question.name.as_deref())?;
    let bar = Bar::new("texts");
    let ready = session
        .encoding
        .ensure_encoded(&encoder_choice(&args.encoder), &bar)
        .and_then(|switch| session.live.fit(question.id, &bar).map(|()| switch));
    drop(bar);
    print_switch(ready?);
    let report = annotators::measure(&session.analysis, question.id)?;
    if args.output.json {
        return output::json(&report);
    }
    output::line(&format!(
        "{}: {}; accuracy and levels off on held-out texts, next to those of the own and of everybody's usual level on the same labels",
        question.name,
        count(report.annotators.len() as u64, "annotator")
    ))?;
    if let Some(note) = &report.held_out_note {
        output::line(note)?;
    }
    let header = [
        "annotator",
        "labels",
        "seconds",
        "severity",
        "consistency",
        "agrees",
        "95 %",
        "accuracy",
        "own",
        "everybody's",
        "levels off",
        "own",
        "everybody's",
    ];
    let rows = report.annotators.iter().map(line).collect();
    output::line(&output::table(&header, rows, &[1, 2, 3, 4, 6, 7, 8, 9, 10, 11]))?;
    for person in &report.annotators {
        for flag in &person.flags {
            output::line(&format!("{}: {}", person.external_id, flag.words))?;
        }
    }
    Ok(())
}

fn line(person: &AnnotatorRow) -> Vec<String> {
    let of = |figure: Option<f32>| three(figure.map(f64::from));
    let agrees = person.agreement_with_others;
    let interval = agrees.and_then(|figure| figure.interval);
    vec![
        person.external_id.clone(),
        person.labels.to_string(),
        person.seconds_per_label.map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.1}")),
        of(person.severity),
        three(person.consistency.map(|figure| figure.value)),
        three(agrees.map(|figure| figure.value)),
        interval.map_or_else(|| "–".to_owned(), |(low, high)| format!("{low:.2} to {high:.2}")),
        of(person.held_out_accuracy),
        of(person.baseline_accuracy),
        of(person.common_accuracy),
        of(person.held_out_distance),
        of(person.baseline_distance),
        of(person.common_distance),
    ]
}
