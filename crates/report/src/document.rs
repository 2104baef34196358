//! The report as a document: sections of sentences, tables and figures; each table and figure is also a
//! file.

use dissensus_render::escape::{html, prose, slug};
use dissensus_render::page;
use dissensus_render::table::{Cell, Column, Table};
use std::fmt::Write;

/// The whole report.
pub(super) struct Document {
    pub(super) title: String,
    pub(super) sections: Vec<Section>,
}

/// The blocks under one heading.
pub(super) struct Section {
    pub(super) title: String,
    /// Heading of a question that is followed by sections of its own.
    pub(super) is_part: bool,
    pub(super) blocks: Vec<Block>,
}

/// A block of a section.
pub(super) enum Block {
    Text(String),
    /// What is unavailable, and why.
    Needs(String),
    /// A command that produces what is missing.
    Command(String),
    Table(Table),
    Figure(Figure),
}

pub(super) struct Figure {
    /// Name of its file without the extension.
    pub(super) stem: String,
    /// What it shows, and the data it is based on.
    pub(super) caption: String,
    pub(super) svg: String,
}

/// Unique names of the files of a question's tables and figures.
#[derive(Clone, Debug)]
pub(super) struct Stems {
    prefix: String,
}

impl Stems {
    /// Names for the question with index `place` (from 0) of `all`.
    pub(super) fn new(question: &str, place: usize, all: usize) -> Self {
        let prefix = match (all, slug(question)) {
            (0 | 1, _) => String::new(),
            (_, name) if name.is_empty() => format!("q{}-", place + 1),
            (_, name) => format!("q{}-{name}-", place + 1),
        };
        Self { prefix }
    }

    /// The name for `what`.
    pub(super) fn name(&self, what: &str) -> String {
        format!("{}{what}", self.prefix)
    }

    pub(super) fn table(
        &self,
        what: &str,
        caption: impl Into<String>,
        columns: Vec<Column>,
        rows: Vec<Vec<Cell>>,
    ) -> Block {
        Block::Table(Table { stem: self.name(what), caption: caption.into(), columns, rows })
    }

    /// A figure, if there is something to draw.
    pub(super) fn figure(
        &self,
        what: &str,
        caption: impl Into<String>,
        svg: Option<String>,
    ) -> Option<Block> {
        Some(Block::Figure(Figure { stem: self.name(what), caption: caption.into(), svg: svg? }))
    }
}

impl Document {
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    pub(super) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.blocks().filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        })
    }

    /// Every sentence about something unavailable, with the title of its section.
    pub(super) fn needs(&self) -> Vec<String> {
        let of = |section: &Section| {
            let needs = section.blocks.iter().filter_map(|block| match block {
                Block::Needs(words) => Some(format!("{}: {words}", section.title)),
                _ => None,
            });
            needs.collect::<Vec<_>>()
        };
        self.sections.iter().flat_map(of).collect()
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.sections.iter().flat_map(|section| &section.blocks)
    }

    pub(super) fn html(&self) -> String {
        let mut out = page::begin(&self.title);
        out.push_str("<nav><ul>\n");
        for (at, section) in self.sections.iter().enumerate() {
            let _ = writeln!(out, "<li><a href=\"#s{at}\">{}</a></li>", html(&section.title));
        }
        out.push_str("</ul></nav>\n");
        for (at, section) in self.sections.iter().enumerate() {
            let level = if section.is_part { 2 } else { 3 };
            let _ = writeln!(out, "<h{level} id=\"s{at}\">{}</h{level}>", html(&section.title));
            // Consecutive figures are placed side by side.
            let mut in_plots = false;
            for block in &section.blocks {
                let is_figure = matches!(block, Block::Figure(_));
                match (in_plots, is_figure) {
                    (false, true) => out.push_str("<div class=\"plots\">"),
                    (true, false) => out.push_str("</div>\n"),
                    _ => {}
                }
                in_plots = is_figure;
                match block {
                    Block::Text(text) => {
                        let _ = writeln!(out, "<p>{}</p>", html(text));
                    }
                    Block::Needs(text) => {
                        let _ = writeln!(out, "<p><small>{}</small></p>", html(text));
                    }
                    Block::Command(command) => {
                        let _ = writeln!(out, "<p><code>{}</code></p>", html(command));
                    }
                    Block::Table(table) => table.html(&mut out),
                    Block::Figure(figure) => page::figure(&mut out, &figure.svg, &figure.caption),
                }
            }
            if in_plots {
                out.push_str("</div>\n");
            }
        }
        out.push_str(page::END);
        out
    }

    /// The document as Markdown, without figures.
    pub(super) fn markdown(&self) -> String {
        let mut out = format!("# {}\n", prose(&self.title));
        for section in &self.sections {
            let _ = write!(out, "\n## {}\n", prose(&section.title));
            for block in &section.blocks {
                out.push('\n');
                match block {
                    Block::Text(text) | Block::Needs(text) => {
                        let _ = writeln!(out, "{}", prose(text));
                    }
                    Block::Command(command) => {
                        let _ = writeln!(out, "    {command}");
                    }
                    Block::Table(table) => table.markdown(&mut out),
                    Block::Figure(_) => {}
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_one_name_get_separate_files() {
        let first = Stems::new("../Wie grob?", 0, 2);
        assert_eq!(first.name("agreement"), "q1-wie-grob-agreement");
        assert_eq!(Stems::new("Wie grob!", 1, 2).name("agreement"), "q2-wie-grob-agreement");
        assert_eq!(Stems::new("笑", 1, 2).name("x"), "q2-x");
        assert_eq!(Stems::new("offensiveness", 0, 1).name("x"), "x");
        let document = Document {
            title: "<b>".to_owned(),
            sections: vec![Section {
                title: "<i>".to_owned(),
                is_part: true,
                blocks: vec![
                    Block::Needs("<script>".to_owned()),
                    first.table("t", "<u>", vec![Column::text("a")], vec![vec![Cell::text("</table>")]]),
                    first.figure("f", "\"<", Some("<svg width=\"1\"></svg>".to_owned())).unwrap(),
                ],
            }],
        };
        let page = document.html();
        for tag in ["<b>", "<i>", "<script>", "<u>", "</table></td>"] {
            assert!(!page.contains(tag), "{tag}: {page}");
        }
        assert!(page.contains(
            "<div class=\"plots\"><figure><svg role=\"img\" aria-label=\"&quot;&lt;\" width=\"1\">"
        ));
        assert_eq!(document.needs(), ["<i>: <script>"]);
        assert_eq!((document.tables().count(), document.figures().count()), (1, 1));
    }
}
