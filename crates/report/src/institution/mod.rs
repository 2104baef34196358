//! The papers that an institution asks for before a study: components and licences of the program, data
//! flow, storage, and sheets for data protection and ethics, filled in from the project. They hold counts and
//! names of questions and attributes, but no text, label or person.

mod consent;
mod data_flow;
mod ethics;
mod protection;
mod special;
mod storage;

use super::PaperReports;
use super::document::{Block, Document, Section};
use super::facts::Facts;
use super::files::{self, Files};
use super::people::People;
use super::sums::{FileSum, Listing};
use super::work::{Steps, Work};
use dissensus_api::{InstitutionPapers, PaperRequest};
use dissensus_domain::JobKind;
use dissensus_editing::disk_encryption;
use dissensus_files::AtomicFolder;
use dissensus_project::clock::today;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Follow, Progress};
use dissensus_render::table::{Cell, Column, Table};
use serde::Serialize;
use std::path::Path;

/// A folder with this file, and no other files than those listed in it, holds papers of ours.
const LISTING: Listing = Listing { file: "papers.json", kind: "dissensus-institution" };
/// The components of the program, made by `cargo xtask sbom`.
const SBOM: &str = include_str!("sbom.cdx.json");
/// Licences of the components, made with it.
const LICENCES: &str = include_str!("licences.txt");
/// Number of steps.
const STEPS: u64 = 3;

/// A sheet and the name of its file.
struct Sheet {
    file: &'static str,
    document: Document,
}

/// Content of the listing.
#[derive(Serialize)]
struct Papers {
    kind: &'static str,
    format: u32,
    program: &'static str,
    version: &'static str,
    made_on: String,
    files: Vec<FileSum>,
}

impl PaperReports {
    /// Writes the papers into the folder `dir`, which appears complete or not at all. An empty folder of
    /// that name is replaced; existing papers only with `replace` and if none was filled in, and anything
    /// else never.
    ///
    /// # Errors
    /// The folder is not allowed ([`ProjectError::ExportExists`],
    /// [`NotAReport`](crate::error::ReportError::NotAReport),
    /// [`ReportChanged`](crate::error::ReportError::ReportChanged)); a task packet is open; the file cannot
    /// be read, the disk is full, cancellation, or another export that runs as a job. Nothing is written
    /// then.
    pub fn write_for_institution<'a>(
        &self,
        dir: &Path,
        replace: bool,
        follow: impl Into<Follow<'a>>,
    ) -> Result<InstitutionPapers, ProjectError> {
        let title = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        self.context.run_alone(Activity::Export, follow, JobKind::Report, &title, |progress| {
            self.context.whole_project()?;
            files::check_place(dir, LISTING, replace)?;
            self.write_papers(dir, replace, progress).map_err(ProjectError::all_or_nothing)
        })
    }

    fn write_papers(
        &self,
        dir: &Path,
        replace: bool,
        progress: &dyn Progress,
    ) -> Result<InstitutionPapers, ProjectError> {
        let people = People::new(&self.context, false)?;
        let steps = Steps::new(progress, STEPS);
        steps.next("reading the project")?;
        let asked = self.asked()?;
        let work = Work { of: self, people: &people, request: PaperRequest::default(), steps: &steps };
        let facts = Facts::new(&work, &asked)?;
        steps.next("writing files")?;
        let sheets = [
            data_flow::sheet(),
            storage::sheet(&disk_encryption::of(&self.project)),
            protection::sheet(&facts),
            ethics::sheet(&facts),
            consent::sheet(&facts),
        ];
        let open = sheets.iter().map(|sheet| sheet.document.needs().len() as u32).sum();
        let place = AtomicFolder::create(dir).map_err(|e| files::failed(dir, "making", e))?;
        let mut files = Files::new(place.path());
        files.write("README.md", contents(&facts, &sheets).markdown().as_bytes())?;
        for sheet in &sheets {
            files.write(&format!("{}.md", sheet.file), sheet.document.markdown().as_bytes())?;
        }
        files.write("papers.html", together(&facts, sheets).html().as_bytes())?;
        files.write("sbom.cdx.json", SBOM.as_bytes())?;
        files.write("licences.txt", LICENCES.as_bytes())?;
        steps.next("finishing")?;
        let papers = Papers {
            kind: LISTING.kind,
            format: 1,
            program: "dissensus",
            version: env!("CARGO_PKG_VERSION"),
            made_on: today(),
            files: files.sums(),
        };
        let (names, bytes) = files.end(LISTING, &papers)?;
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        files::finish(place, dir, LISTING, replace)?;
        Ok(InstitutionPapers { folder: dir.display().to_string(), files: names, bytes: bytes as f64, open })
    }
}

fn title(facts: &Facts<'_>) -> String {
    format!("Papers for an institution: {}", facts.name)
}

/// The page that lists the files.
fn contents(facts: &Facts<'_>, sheets: &[Sheet]) -> Document {
    let sheet = |one: &Sheet| [format!("{}.md", one.file), one.document.title.clone()];
    let other = [
        ["papers.html", "All sheets on one page, to be read and printed"],
        ["sbom.cdx.json", "Components of the program, an SBOM in the format CycloneDX 1.5"],
        ["licences.txt", "Licence of each component, with its text"],
        ["papers.json", "Version of the program and checksums of these files"],
    ];
    let rows = sheets.iter().map(sheet).chain(other.map(|row| row.map(str::to_owned)));
    Document {
        title: title(facts),
        sections: vec![section(
            "Contents",
            vec![
                made_by(facts),
                text(
                    "The sheets are filled in from the project; where it says [to fill in], only you know the answer. They are no legal advice: your institution's own forms and its data protection officer come first. Papers that were filled in are not replaced when they are made again.",
                ),
                table(["file", "content"], rows),
                text(
                    "How far the window and the annotators' pages meet WCAG 2.2 and EN 301 549 is the page docs/accessibility.md of the source code.",
                ),
            ],
        )],
    }
}

/// All sheets as one document.
fn together(facts: &Facts<'_>, sheets: impl IntoIterator<Item = Sheet>) -> Document {
    let mut sections = vec![section("About these papers", vec![made_by(facts)])];
    for Sheet { document, .. } in sheets {
        sections.push(Section { title: document.title, is_part: true, blocks: Vec::new() });
        sections.extend(document.sections);
    }
    Document { title: title(facts), sections }
}

fn made_by(facts: &Facts<'_>) -> Block {
    Block::Text(format!(
        "Made by dissensus {} on {} from the project {}: {} texts, {} people, {} questions.",
        env!("CARGO_PKG_VERSION"),
        today(),
        facts.name,
        facts.texts,
        facts.people.everyone().len(),
        facts.asked.len()
    ))
}

fn section(title: &str, blocks: Vec<Block>) -> Section {
    Section { title: title.to_owned(), is_part: false, blocks }
}

fn text(words: &str) -> Block {
    Block::Text(words.to_owned())
}

/// A place for what the project does not know.
fn to_fill_in(what: &str) -> Block {
    Block::Needs(format!("[to fill in] {what}"))
}

fn table<const N: usize, S: Into<String>>(
    columns: [&str; N],
    rows: impl IntoIterator<Item = [S; N]>,
) -> Block {
    Block::Table(Table {
        stem: String::new(),
        caption: String::new(),
        columns: columns.map(Column::text).into(),
        rows: rows.into_iter().map(|row| row.map(Cell::text).into()).collect(),
    })
}
