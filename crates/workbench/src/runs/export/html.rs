//! A page about runs that needs nothing beside itself: no script, no request.

use super::plots;
use super::tables::{COLUMNS, is_best, tuning, value};
use crate::error::WorkbenchError;
use crate::view::{RunClass, RunDetail};
use crate::words::counted;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1c1f26}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem;border-top:1px solid #d8dbe2;padding-top:1.2rem}
table{border-collapse:collapse;margin:.8rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #e6e8ee}th{font-weight:600}
th:first-child,td:first-child,.text{text-align:left}caption{text-align:left;color:#5a6070;padding:.2rem 0}
.plots{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0}figcaption{color:#5a6070}small{color:#5a6070}
.scroll{overflow-x:auto}svg{max-width:100%;height:auto;background:#fff}
@media(prefers-color-scheme:dark){body{background:#16181d;color:#e6e8ee}th,td{border-color:#333843}h2{border-color:#333843}
small,caption,figcaption{color:#a2a9b8}}";

/// The page.
pub(super) fn page(runs: &[RunDetail], project: &str) -> Result<String, WorkbenchError> {
    let mut out = String::new();
    let title = format!("Annotator models of {}", escaped(project));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
    );
    overview(&mut out, runs);
    if let Some(svg) = plots::learning_curves(runs)? {
        figure(&mut out, &svg, "Log loss on the validation labels");
    }
    for run in runs {
        one(&mut out, run)?;
    }
    out.push_str("</body></html>\n");
    Ok(out)
}

fn overview(out: &mut String, runs: &[RunDetail]) {
    let columns: Vec<_> =
        COLUMNS.iter().filter(|(key, _)| runs.iter().any(|run| value(run, key).is_some())).collect();
    out.push_str("<div class=\"scroll\"><table><caption>Scores on held-out test labels; the best of each column is bold among runs on the same question, split and seed.</caption><thead><tr><th>run</th><th class=\"text\">question</th><th class=\"text\">encoder</th><th class=\"text\">split</th>");
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
            info.seed
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

fn one(out: &mut String, run: &RunDetail) -> Result<(), WorkbenchError> {
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

/// The run beside what can be said without reading the texts.
fn baseline_table(out: &mut String, run: &RunDetail) {
    if run.baselines.is_empty() || run.info.scores.is_none() {
        return;
    }
    let columns: Vec<_> = COLUMNS.iter().filter(|(key, _)| value(run, key).is_some()).collect();
    out.push_str("<div class=\"scroll\"><table><caption>Beside baselines that read no text, on the same labels</caption><thead><tr><th></th>");
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

fn figure(out: &mut String, svg: &str, caption: &str) {
    let _ = writeln!(out, "<figure>{svg}<figcaption>{caption}</figcaption></figure>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
