//! The contents of a paper's appendix, as a folder: a report with figures and tables, a data statement,
//! forms, labels for sharing, and instructions to reproduce it.

mod agreement;
mod disagreement;
mod document;
pub mod error;
mod evaluated;
mod facts;
mod files;
mod forms;
mod groups;
mod institution;
mod labels;
mod models;
mod parts;
mod people;
mod reproduce;
mod severity;
mod soft_labels;
mod sums;
mod work;

pub use parts::{PaperReports, Parts};

use dissensus_api::{PaperRequest, PaperWritten};
use dissensus_domain::JobKind;
use dissensus_editing::info;
use dissensus_files::AtomicFolder;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Follow, Progress};
use dissensus_project::names::project_name as name_of;
use dissensus_training::encoding::{EncoderChoice, EncoderSwitch};
use dissensus_transfer::exchange;
use dissensus_transfer::exchange::{ExportChoices, Exported, Pseudonymised};
use document::{Block, Document, Section, Stems};
use facts::Facts;
use files::Files;
use people::People;
use reproduce::Reproduce;
use std::path::Path;
use work::{ReportQuestion, Steps, Work};

/// Number of steps for each question, and for the whole report.
const OF_QUESTION: u64 = 8;
const OF_REPORT: u64 = 4;

/// Builds the blocks of one section of a question.
type Builder = fn(&Work<'_>, &ReportQuestion) -> Result<Vec<Block>, ProjectError>;

/// Sections of a question, in their order.
const SECTIONS: [(&str, Builder); 8] = [
    ("Labels", labels::blocks),
    ("Agreement", agreement::agreement),
    ("Agreement with oneself", agreement::self_agreement),
    ("Where labels differ", agreement::variance),
    ("People", severity::blocks),
    ("Disagreement", disagreement::blocks),
    ("Models", models::blocks),
    ("Groups of people", groups::blocks),
];

impl PaperReports {
    /// Writes the report into the folder `dir`, which appears complete or not at all. An empty folder of
    /// that name is replaced; an existing report only with `replace`, and anything else never.
    ///
    /// # Errors
    /// The folder is not allowed ([`ProjectError::ExportExists`],
    /// [`NotAReport`](crate::error::ReportError::NotAReport)); a task packet is open; no encoder where
    /// models are to be evaluated; the file cannot be read, the disk is full, cancellation, or another export
    /// that runs as a job. Nothing is written then.
    pub fn write<'a>(
        &self,
        request: PaperRequest,
        dir: &Path,
        encoder: &EncoderChoice,
        follow: impl Into<Follow<'a>>,
    ) -> Result<(PaperWritten, Option<EncoderSwitch>), ProjectError> {
        let title = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        self.context.run_alone(Activity::Export, follow, JobKind::Report, &title, |progress| {
            self.context.whole_project()?;
            files::check_place(dir, reproduce::LISTING, request.replace)?;
            self.write_checked(request, dir, encoder, progress).map_err(ProjectError::all_or_nothing)
        })
    }

    fn write_checked(
        &self,
        request: PaperRequest,
        dir: &Path,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<(PaperWritten, Option<EncoderSwitch>), ProjectError> {
        let people = People::new(&self.context, request.with_ids)?;
        let asked = self.asked()?;
        let steps = Steps::new(progress, OF_REPORT + OF_QUESTION * asked.len() as u64);
        steps.next("reading the project")?;
        let switch = match request.evaluate {
            true => self.encoding.ensure_encoded(encoder, &steps)?,
            false => None,
        };
        let work = Work { of: self, people: &people, request, steps: &steps };
        let mut document = self.document(&work, &asked)?;
        steps.next("filling in forms")?;
        let facts = Facts::new(&work, &asked)?;
        steps.next("writing files")?;
        let place = AtomicFolder::create(dir).map_err(|e| files::failed(dir, "making", e))?;
        let mut files = Files::new(place.path());
        let exported = self.labels(&work, &mut files)?;
        if self.asked()?.iter().map(|one| &one.labels).ne(asked.iter().map(|one| &one.labels)) {
            document.sections[0].blocks.push(Block::Needs(
                "Labels were given or changed while this report was made, so that its parts may be of different labels: make it again.".to_owned(),
            ));
        }
        let (figures, tables) = write_document(&mut files, &document)?;
        files.write("data-statement.md", forms::data_statement(&facts).as_bytes())?;
        files.write("crowdworksheets.md", forms::crowdworksheets(&facts).as_bytes())?;
        for one in &asked {
            let name = format!("{}.csv", one.stems.name("soft-labels"));
            files.write(&name, &soft_labels::csv(&self.context, one)?)?;
        }
        steps.next("finishing")?;
        let reproduce = Reproduce::new(&work, &asked, files.sums())?;
        let (names, bytes) = files.end(reproduce::LISTING, &reproduce)?;
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        files::finish(place, dir, reproduce::LISTING, request.replace)?;
        let written = PaperWritten {
            folder: dir.display().to_string(),
            files: names,
            bytes: bytes as f64,
            figures,
            tables,
            questions: asked.iter().map(|one| one.question.name.clone()).collect(),
            labels: exported.answers as u32,
            suppressed: exported.suppressed as u32,
            left_blank: exported.left_blank,
            identifiable: exported.identifiable as u32,
            notes: document.needs(),
        };
        Ok((written, switch))
    }

    /// All questions with their current labels.
    fn asked(&self) -> Result<Vec<ReportQuestion>, ProjectError> {
        let index = self.context.index();
        let all = index.questions();
        let one = |(place, question): (usize, &dissensus_domain::Question)| {
            Ok(ReportQuestion {
                question: question.clone(),
                stems: Stems::new(&question.name, place, all.len()),
                labels: self.context.store.current_labels(question.id)?,
            })
        };
        all.iter().enumerate().map(one).collect()
    }

    fn document(&self, work: &Work<'_>, asked: &[ReportQuestion]) -> Result<Document, ProjectError> {
        let name = name_of(self.context.store.path());
        let mut sections = vec![Section {
            title: "About this report".to_owned(),
            is_part: true,
            blocks: about(work, asked, info::read(&self.project)?.simulated_notice),
        }];
        for one in asked {
            sections.push(Section {
                title: format!("Question: {}", one.question.name),
                is_part: true,
                blocks: Vec::new(),
            });
            for (title, build) in SECTIONS {
                work.steps.next(&format!("{}: {}", one.question.name, title.to_lowercase()))?;
                // Without labels, only the first section is written, which mentions it.
                if one.labels.is_empty() && title != SECTIONS[0].0 {
                    continue;
                }
                let blocks = build(work, one)?;
                sections.push(Section { title: title.to_owned(), is_part: false, blocks });
            }
        }
        Ok(Document { title: format!("Report on {name}"), sections })
    }

    /// Writes everyone's own labels, for sharing.
    fn labels(&self, work: &Work<'_>, files: &mut Files<'_>) -> Result<Exported, ProjectError> {
        const NAME: &str = "labels.csv";
        let pseudonyms = (!work.request.with_ids).then(Pseudonymised::default);
        let choices = ExportChoices { pseudonyms, ..ExportChoices::default() };
        let exported = exchange::export(&self.exchange, &files.path(NAME), &choices, work.steps)?;
        files.written(NAME)?;
        Ok(exported)
    }
}

fn about(work: &Work<'_>, asked: &[ReportQuestion], simulated: Option<String>) -> Vec<Block> {
    let mut blocks = vec![Block::Text(format!(
        "Made by dissensus {} on {}. Every figure and table is also a file: figures as SVG in figures/, tables as LaTeX and CSV in tables/.",
        env!("CARGO_PKG_VERSION"),
        dissensus_project::clock::today()
    ))];
    blocks.push(Block::Text(match work.request.with_ids {
        true => "People are named by their ids, and groups of any size are shown.".to_owned(),
        false => {
            "People have pseudonyms. Values of attributes that fewer than five people share are left out, and the next rarest where fewer than five would then be without one."
                .to_owned()
        }
    }));
    // Shown wherever labels of simulated annotators are.
    blocks.extend(simulated.map(Block::Text));
    if asked.is_empty() {
        blocks.push(Block::Needs("The project asks no question yet: there is nothing to report.".to_owned()));
    }
    blocks
}

/// Writes the page, its figures and its tables; returns their numbers.
fn write_document(files: &mut Files<'_>, document: &Document) -> Result<(u32, u32), ProjectError> {
    files.write("report.html", document.html().as_bytes())?;
    let (mut figures, mut tables) = (0, 0);
    for figure in document.figures() {
        files.write(&format!("figures/{}.svg", figure.stem), figure.svg.as_bytes())?;
        figures += 1;
    }
    for table in document.tables() {
        files.write(&format!("tables/{}.tex", table.stem), table.latex().as_bytes())?;
        files.write(&format!("tables/{}.csv", table.stem), &table.csv()?)?;
        tables += 1;
    }
    Ok((figures, tables))
}
