//! Tables for readers, as HTML, LaTeX and CSV.

use super::escape;
use super::latex::booktabs;
use crate::RenderError;
use std::fmt::Write;

/// Number of rows above which a table is collapsed on a page.
const FOLDED_FROM: usize = 25;

pub struct Table {
    /// Name of its files without extensions.
    pub stem: String,
    /// What it shows, and the data it is based on.
    pub caption: String,
    pub columns: Vec<Column>,
    /// A cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

pub struct Column {
    title: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    /// A figure with its interval: three columns of a CSV file.
    Estimate,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text, unescaped.
    Text(String),
    /// A count.
    Count(u64),
    /// A number, with this many decimals on the page; in full precision in CSV.
    Number(f64, usize),
    /// A figure with its interval, to three decimals.
    Estimate(f64, Option<(f64, f64)>),
    /// Too few people to be shown.
    Few,
    /// Nothing: undefined, or too little data.
    Nothing,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number with three decimals, or nothing.
    pub fn three(value: Option<f64>) -> Self {
        value.filter(|value| value.is_finite()).map_or(Self::Nothing, |value| Self::Number(value, 3))
    }

    /// A share as a percentage with one decimal, or nothing.
    pub fn percent(share: Option<f64>) -> Self {
        share.filter(|share| share.is_finite()).map_or(Self::Nothing, |share| Self::Number(100.0 * share, 1))
    }

    /// A figure with its interval, or nothing. An interval that does not contain its figure is dropped.
    pub fn estimate(value: Option<f64>, interval: Option<(f64, f64)>) -> Self {
        let Some(value) = value.filter(|value| value.is_finite()) else { return Self::Nothing };
        let holds = |(low, high): &(f64, f64)| *low <= value && value <= *high;
        Self::Estimate(value, interval.filter(holds))
    }

    /// Formats the cell for readers.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) => n.to_string(),
            Self::Number(value, decimals) => fixed(*value, *decimals),
            Self::Estimate(value, None) => fixed(*value, 3),
            Self::Estimate(value, Some((low, high))) => {
                format!("{} [{}, {}]", fixed(*value, 3), fixed(*low, 3), fixed(*high, 3))
            }
            Self::Few => "fewer than 5".to_owned(),
            Self::Nothing => "–".to_owned(),
        }
    }
}

/// Formats a number with fixed decimals, and 0 without a sign.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

impl Column {
    /// A column of text.
    pub fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), kind: Kind::Text }
    }

    /// A column of numbers.
    pub fn number(title: impl Into<String>) -> Self {
        Self { title: title.into(), kind: Kind::Number }
    }

    /// A column of figures with their intervals.
    pub fn estimate(title: impl Into<String>) -> Self {
        Self { title: title.into(), kind: Kind::Estimate }
    }
}

impl Table {
    /// Writes the table as HTML.
    pub fn html(&self, out: &mut String) {
        let caption = escape::html(&self.caption);
        let folded = self.rows.len() > FOLDED_FROM && !caption.is_empty();
        if folded {
            let _ = write!(out, "<details><summary>{caption}</summary>");
        }
        out.push_str("<div class=\"scroll\"><table>");
        if !folded && !caption.is_empty() {
            let _ = write!(out, "<caption>{caption}</caption>");
        }
        out.push_str("<thead><tr>");
        let class = |kind: Kind| if kind == Kind::Text { " class=\"text\"" } else { "" };
        for column in &self.columns {
            let _ = write!(out, "<th{}>{}</th>", class(column.kind), escape::html(&column.title));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (cell, column) in row.iter().zip(&self.columns) {
                let _ = write!(out, "<td{}>{}</td>", class(column.kind), escape::html(&cell.shown()));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>");
        out.push_str(if folded { "</details>\n" } else { "\n" });
    }

    /// Writes the table as Markdown, without its caption.
    pub fn markdown(&self, out: &mut String) {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        out.push_str(&line(self.columns.iter().map(|column| escape::prose(&column.title)).collect()));
        let rule = |column: &Column| if column.kind == Kind::Text { "---" } else { "---:" }.to_owned();
        out.push_str(&line(self.columns.iter().map(rule).collect()));
        for row in &self.rows {
            out.push_str(&line(row.iter().map(|cell| escape::prose(&cell.shown())).collect()));
        }
    }

    /// Writes the table as LaTeX, its caption as a comment.
    pub fn latex(&self) -> String {
        let stand: String =
            self.columns.iter().map(|column| if column.kind == Kind::Text { 'l' } else { 'r' }).collect();
        let header: Vec<String> = self.columns.iter().map(|column| escape::latex(&column.title)).collect();
        let cell = |cell: &Cell| match cell {
            Cell::Nothing => "--".to_owned(),
            Cell::Text(text) => escape::latex(text),
            number => number.shown().replace('-', "$-$"),
        };
        let rows = self.rows.iter().map(|row| row.iter().map(cell).collect());
        format!("% {}\n{}", escape::plain(&self.caption), booktabs(&stand, &header, rows))
    }

    /// Writes the table as CSV: a figure with its interval takes three columns.
    pub fn csv(&self) -> Result<Vec<u8>, RenderError> {
        let failed = |e: csv::Error| RenderError::from_display(&e);
        let mut out = csv::Writer::from_writer(Vec::new());
        let header = self.columns.iter().flat_map(|column| {
            let ends = ["low", "high"].map(|end| format!("{} {end}", column.title));
            let ends = if column.kind == Kind::Estimate { ends.to_vec() } else { Vec::new() };
            std::iter::once(column.title.clone()).chain(ends)
        });
        out.write_record(header.map(|title| escape::cell(&title))).map_err(failed)?;
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns).flat_map(|(cell, column)| {
                let (value, ends) = written(cell);
                std::iter::once(value).chain(match column.kind {
                    Kind::Estimate => ends.to_vec(),
                    Kind::Text | Kind::Number => Vec::new(),
                })
            });
            out.write_record(cells).map_err(failed)?;
        }
        out.into_inner().map_err(|e| RenderError::from_display(&e))
    }
}

/// Formats a cell in CSV, and the ends of its interval.
fn written(cell: &Cell) -> (String, [String; 2]) {
    let none = || [String::new(), String::new()];
    match cell {
        Cell::Text(text) => (escape::cell(text), none()),
        Cell::Count(n) => (n.to_string(), none()),
        Cell::Number(value, _) | Cell::Estimate(value, None) => (value.to_string(), none()),
        Cell::Estimate(value, Some((low, high))) => (value.to_string(), [low.to_string(), high.to_string()]),
        Cell::Few => ("fewer than 5".to_owned(), none()),
        Cell::Nothing => (String::new(), none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: Vec<Vec<Cell>>) -> Table {
        let columns = vec![Column::text("who, what"), Column::number("n"), Column::estimate("alpha")];
        Table { stem: "x".to_owned(), caption: "Of <5> texts\n\\end".to_owned(), columns, rows }
    }

    #[test]
    fn table_has_the_same_content_in_every_format() {
        let found = table(vec![
            vec![Cell::text("=cmd & <b>"), Cell::Count(7), Cell::estimate(Some(-0.25), Some((-0.5, 0.0)))],
            vec![Cell::text("b"), Cell::Few, Cell::Nothing],
        ]);
        let mut page = String::new();
        found.html(&mut page);
        assert!(page.contains("<caption>Of &lt;5&gt; texts \\end</caption>"), "{page}");
        assert!(page.contains(
            "<td class=\"text\">=cmd &amp; &lt;b&gt;</td><td>7</td><td>-0.250 [-0.500, 0.000]</td>"
        ));
        assert_eq!(
            found.latex(),
            "% Of <5> texts \\end\n% Needs \\usepackage{booktabs}\n\\begin{tabular}{lrr}\n\\toprule\nwho, what & n & alpha \\\\\n\\midrule\n\
             =cmd \\& \\textless{}b\\textgreater{} & 7 & $-$0.250 [$-$0.500, 0.000] \\\\\nb & fewer than 5 & -- \\\\\n\\bottomrule\n\\end{tabular}\n"
        );
        let csv = String::from_utf8(found.csv().unwrap()).unwrap();
        assert_eq!(
            csv,
            "\"who, what\",n,alpha,alpha low,alpha high\n'=cmd & <b>,7,-0.25,-0.5,0\nb,fewer than 5,,,\n"
        );
    }

    #[test]
    fn interval_needs_its_figure_and_zero_has_no_sign() {
        assert_eq!(Cell::estimate(Some(0.9), Some((0.1, 0.5))).shown(), "0.900");
        assert_eq!(Cell::estimate(Some(f64::NAN), None), Cell::Nothing);
        assert_eq!(Cell::Number(-0.0001, 3).shown(), "0.000");
        let long = table((0..50).map(|n| vec![Cell::text("p"), Cell::Count(n), Cell::Nothing]).collect());
        assert!(long.latex().contains("\\begin{longtable}{lrr}") && long.latex().contains("\\endhead"));
        let mut page = String::new();
        long.html(&mut page);
        assert!(page.starts_with("<details><summary>"));
    }
}
