//! A self-contained page: no script, no request, light and dark.

use super::escape::html;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1c1f26}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem;border-top:1px solid #d8dbe2;padding-top:1.2rem}h3{font-size:1rem;margin:1.6rem 0 .3rem}
table{border-collapse:collapse;margin:.8rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #e6e8ee}th{font-weight:600}
th:first-child,td:first-child,.text{text-align:left}caption{text-align:left;color:#5a6070;padding:.2rem 0}
.plots{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:.8rem 0}figcaption{color:#5a6070}small{color:#5a6070}
.scroll{overflow-x:auto}svg{max-width:100%;height:auto;background:#fff}code{font-size:.9em;background:#f0f1f5;padding:.1em .3em;border-radius:3px}
nav ul{columns:2;padding-left:1.2rem}a{color:#0b57a4}summary{cursor:pointer}p{max-width:46rem}
@media(prefers-color-scheme:dark){body{background:#16181d;color:#e6e8ee}th,td{border-color:#333843}h2{border-color:#333843}
small,caption,figcaption{color:#a2a9b8}svg{filter:invert(.92) hue-rotate(180deg)}code{background:#252932}a{color:#7db4ee}}
@media print{details>*{display:block}body{max-width:none}}";

/// The beginning of the page including its heading. Escapes `title`.
pub fn begin(title: &str) -> String {
    let title = html(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title><style>{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n"
    )
}

pub const END: &str = "</main></body></html>\n";

/// Adds a plot with its caption.
pub fn figure(out: &mut String, svg: &str, caption: &str) {
    let caption = html(caption);
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{caption}\" "), 1);
    let _ = writeln!(out, "<figure>{svg}<figcaption>{caption}</figcaption></figure>");
}
