//! A self-contained HTML page about runs: no script, no request.

use super::people::ReportedPeople;
use super::tables::{COLUMNS, is_best, tuning, value};
use super::{ReportedRun, details, plots};
use dissensus_api::{RunClass, RunDetail};
use dissensus_project::error::ProjectError;
use dissensus_project::pseudonyms::MIN_PEOPLE;
use dissensus_project::words::counted;
use dissensus_render::escape::html as escaped;
use dissensus_render::page::{END, begin, figure};
use std::fmt::Write;

pub(super) fn page(reported: &[ReportedRun], project: &str) -> Result<String, ProjectError> {
    let mut out = begin(&format!("Annotator models of {project}"));
    let runs = &details(reported);
    overview(&mut out, runs);
    if let Some(svg) = plots::learning_curves(runs)? {
        figure(&mut out, &svg, "Log loss on the validation labels");
    }
    for run in reported {
        one(&mut out, &run.detail)?;
        people(&mut out, &run.detail, &run.people);
    }
    out.push_str(END);
    Ok(out)
}

fn overview(out: &mut String, runs: &[RunDetail]) {
    let columns: Vec<_> =
        COLUMNS.iter().filter(|(key, _)| runs.iter().any(|run| value(run, key).is_some())).collect();
    out.push_str("<div class=\"scroll\"><table><caption>Scores on held-out test labels; the best of each column is bold among runs on the same question, split and seed, with or without slips.</caption><thead><tr><th>run</th><th class=\"text\">question</th><th class=\"text\">encoder</th><th class=\"text\">split</th>");
    for (_, title) in &columns {
        let _ = write!(out, "<th>{title}</th>");
    }
    out.push_str("<th>seconds</th></tr></thead><tbody>\n");
    for run in runs {
        let info = &run.info;
        let _ = write!(
            out,
            "<tr><td>{} {}</td><td class=\"text\">{}</td><td class=\"text\">{}</td><td class=\"text\">{}, seed {}</td>",
            info.id,
            escaped(info.model.name()),
            escaped(&info.question_name),
            escaped(&tuning(info)),
            escaped(&info.split.name()),
            format_args!("{}{}", info.seed, if run.choices.without_slips { ", without slips" } else { "" })
        );
        for (key, _) in &columns {
            match value(run, key) {
                None => out.push_str("<td>–</td>"),
                Some(metric) => {
                    let number = format!("{:.3}", metric.value);
                    let number = if is_best(runs, run, metric) {
                        format!("<strong>{number}</strong>")
                    } else {
                        number
                    };
                    let range = match (metric.low, metric.high) {
                        (Some(low), Some(high)) => format!("<br><small>{low:.3}–{high:.3}</small>"),
                        _ => String::new(),
                    };
                    let _ = write!(out, "<td>{number}{range}</td>");
                }
            }
        }
        let _ = writeln!(out, "<td>{:.0}</td></tr>", info.seconds);
    }
    out.push_str(
        "</tbody></table></div>\n<p><small>Ranges are 95 % intervals by bootstrap over texts; those of figures about annotators over annotators.</small></p>\n",
    );
}

fn one(out: &mut String, run: &RunDetail) -> Result<(), ProjectError> {
    let (info, sizes) = (&run.info, &run.sizes);
    let _ = write!(out, "<h2>{}</h2>\n<p>", escaped(&plots::name(run)));
    let _ = write!(
        out,
        "Trained on {} of {}, validated on {}, tested on {} of {}; {:.0} s on {}.",
        counted(sizes.train_labels.into(), "label"),
        counted(sizes.train_texts.into(), "text"),
        counted(sizes.validation_labels.into(), "label"),
        counted(sizes.test_labels.into(), "label"),
        counted(sizes.test_texts.into(), "text"),
        info.seconds,
        escaped(&info.device)
    );
    out.push_str("</p>\n");
    for note in &run.notes {
        let _ = writeln!(out, "<p><small>{}</small></p>", escaped(note));
    }
    baseline_table(out, run);
    out.push_str("<div class=\"plots\">");
    if let Some(svg) = plots::calibration(run)? {
        figure(out, &svg, "Calibration");
    }
    if let Some(svg) = plots::annotators(run)? {
        figure(out, &svg, "Annotators, against their most frequent level");
    }
    out.push_str("</div>\n");
    if !run.options.is_empty() {
        class_table(out, "option", &run.options);
    }
    class_table(out, "level", &run.classes);
    out.push_str("<div class=\"scroll\"><table><caption>Labels by true (rows) and predicted level (columns)</caption><thead><tr><th></th>");
    for class in &run.classes {
        let _ = write!(out, "<th>{}</th>", escaped(&class.name));
    }
    out.push_str("</tr></thead><tbody>\n");
    for (class, row) in run.classes.iter().zip(&run.confusion) {
        let _ = write!(out, "<tr><td>{}</td>", escaped(&class.name));
        row.iter().for_each(|n| {
            let _ = write!(out, "<td>{n}</td>");
        });
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    Ok(())
}

/// The scored people, by groups and individually.
fn people(out: &mut String, run: &RunDetail, of: &ReportedPeople) {
    if run.annotators.is_empty() {
        return;
    }
    let head = "<th>accuracy</th><th>usual level</th><th>log loss</th></tr></thead><tbody>\n";
    if !of.groups.is_empty() {
        let _ = write!(
            out,
            "<div class=\"scroll\"><table><caption>People by their attributes: means over people</caption><thead><tr><th>attribute</th><th class=\"text\">value</th><th>people</th>{head}"
        );
        for group in &of.groups {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"text\">{}</td><td>{}</td><td>{:.3}</td><td>{:.3}</td><td>{:.3}</td></tr>",
                escaped(&group.attribute),
                escaped(&group.value),
                group.people,
                group.accuracy,
                group.baseline,
                group.log_loss
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
    if of.left_out > 0 {
        let _ = writeln!(
            out,
            "<p><small>{} of attributes not shown: fewer than {MIN_PEOPLE} people have them, or lack the attribute where the others have it.</small></p>",
            counted(of.left_out as u64, "value")
        );
    }
    let _ = write!(
        out,
        "<details><summary>{} one by one</summary><div class=\"scroll\"><table><thead><tr><th>person</th><th>labels</th>{head}",
        counted(run.annotators.len() as u64, "annotator")
    );
    for one in &run.annotators {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{:.3}</td><td>{:.3}</td><td>{:.3}</td></tr>",
            escaped(&one.name),
            one.labels,
            one.accuracy,
            one.baseline,
            one.log_loss
        );
    }
    out.push_str("</tbody></table></div></details>\n");
    if of.pseudonyms {
        out.push_str("<p><small>People have pseudonyms, the same in all reports, exports and bundles of this file. Who knows how many labels somebody gave may still know them.</small></p>\n");
    }
}

/// Compares the run with baselines that do not read the texts.
fn baseline_table(out: &mut String, run: &RunDetail) {
    if run.baselines.is_empty() || run.info.scores.is_none() {
        return;
    }
    let columns: Vec<_> = COLUMNS.iter().filter(|(key, _)| value(run, key).is_some()).collect();
    out.push_str("<div class=\"scroll\"><table><caption>Next to baselines that read no text, on the same labels</caption><thead><tr><th></th>");
    for (_, title) in &columns {
        let _ = write!(out, "<th>{title}</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
    let number = |v: Option<f64>| v.map_or_else(|| "–".to_owned(), |v| format!("{v:.3}"));
    let mut row = |name: &str, of: &dyn Fn(&str) -> Option<f64>| {
        let _ = write!(out, "<tr><td>{}</td>", escaped(name));
        for (key, _) in &columns {
            let _ = write!(out, "<td>{}</td>", number(of(key)));
        }
        out.push_str("</tr>\n");
    };
    row(run.info.model.name(), &|key| value(run, key).map(|metric| metric.value));
    for baseline in &run.baselines {
        row(&baseline.name, &|key| baseline.metrics.iter().find(|m| m.key == key).map(|m| m.value));
    }
    out.push_str("</tbody></table></div>\n");
}

fn class_table(out: &mut String, what: &str, classes: &[RunClass]) {
    let _ = writeln!(
        out,
        "<table><thead><tr><th>{what}</th><th>precision</th><th>recall</th><th>F1</th><th>labels</th></tr></thead><tbody>"
    );
    let number = |v: Option<f64>| v.map_or_else(|| "–".to_owned(), |v| format!("{v:.3}"));
    for class in classes {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&class.name),
            number(class.precision),
            number(class.recall),
            number(class.f1),
            class.support
        );
    }
    out.push_str("</tbody></table>\n");
}
