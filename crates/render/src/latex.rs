//! Tables in the style of booktabs.

/// Maximum number of rows of a table on one page; longer ones are a `longtable`.
const ONE_PAGE: usize = 40;

/// Formats a table: alignment of the columns (`l` or `r` each), titles, and rows of cells. Everything is
/// escaped already.
pub fn booktabs(
    columns: &str,
    header: &[String],
    rows: impl ExactSizeIterator<Item = Vec<String>>,
) -> String {
    let long = rows.len() > ONE_PAGE;
    let (packages, name) = if long { ("booktabs,longtable", "longtable") } else { ("booktabs", "tabular") };
    let mut out = format!("% Needs \\usepackage{{{packages}}}\n\\begin{{{name}}}{{{columns}}}\n\\toprule\n");
    out.push_str(&header.join(" & "));
    out.push_str(" \\\\\n\\midrule\n");
    if long {
        out.push_str("\\endhead\n\\bottomrule\n\\endfoot\n");
    }
    for row in rows {
        out.push_str(&row.join(" & "));
        out.push_str(" \\\\\n");
    }
    if !long {
        out.push_str("\\bottomrule\n");
    }
    out.push_str(&format!("\\end{{{name}}}\n"));
    out
}
