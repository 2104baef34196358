//! The preview of an import, before anything is written.

use super::account::{account_of, asked_of, examples_of, people_of, uses_of};
use super::notices::{import_changes, import_notices, near_annotators, notices_of_findings};
use super::plan::{Plan, answer_column, prompt_for, scan_file};
use super::reading::{FileReading, choices_of};
use super::reading_notices::reading_notices;
use dissensus_api::{
    BadRow, ColumnChoices, ImportAccount, ImportChanges, ImportChoices, ImportFormat, ImportPreview,
};
use dissensus_exchange::{Checker, ColumnRoles, FileKind, RowError, Source};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Silent;
use dissensus_project::words::counted;

/// Maximum number of bad rows in a preview.
const SHOWN_BAD_ROWS: usize = 100;

pub(super) fn preview_of(plan: &Plan) -> ImportPreview {
    let overall = &plan.scan;
    let first = plan.parts.first();
    let asked = plan
        .asked(|number| overall.questions.get(number).map(|found| found.changes.clone()).unwrap_or_default());
    ImportPreview {
        path: plan.source.path().to_string_lossy().into_owned(),
        format: format_of(&plan.source),
        header: plan.read.plain.columns().to_vec(),
        rows: overall.sample.clone(),
        columns: choices_of(&plan.read.reading),
        readings: plan.read.listed(),
        undecided: plan.read.undecided,
        shown: plan.read.shown(),
        asked: asked_of(plan),
        people: people_of(overall),
        examples: examples_of(plan),
        account: account_of(overall),
        uses: uses_of(&plan.read),
        encoding: plan.source.encoding().map(str::to_owned),
        sheet: plan.source.sheets().map(|(sheet, _)| sheet.to_owned()),
        sheets: plan.source.sheets().map_or_else(Vec::new, |(_, all)| all.to_vec()),
        as_last_time: false,
        question: first.map_or_else(String::new, |part| part.name.clone()),
        questions: plan.parts.iter().map(|part| part.name.clone()).collect(),
        prompt: first.map_or_else(String::new, |part| part.prompt.clone()),
        scale: first.map(|part| part.scale.clone()),
        question_exists: first.is_some_and(|part| part.existing.is_some()),
        total_rows: overall.rows as u32,
        new_texts: overall.new_texts as u32,
        new_annotators: overall.new_annotators as u32,
        new_labels: plan.parts.iter().map(|part| part.labels).sum::<u64>() as u32,
        repeated_rows: match plan.kind {
            FileKind::Labels => plan.parts.iter().map(|part| part.repeated).sum::<u64>() as u32,
            FileKind::Texts | FileKind::Annotators => overall.repeated as u32,
        },
        repeats: overall.again as u32,
        empty_labels: overall.empty_labels as u32,
        level_counts: first.map_or_else(Vec::new, |part| part.level_counts.clone()),
        bad_rows: plan.scan.problems.iter().take(SHOWN_BAD_ROWS).map(bad_row).collect(),
        bad_row_count: plan.scan.problem_count as u32,
        remarks: remarks(plan),
        changes: import_changes(&asked),
        notices: notices_of_findings(&plan.source)
            .into_iter()
            .chain(reading_notices(plan))
            .chain(import_notices(&asked, &plan.read))
            .chain(near_annotators(&overall.annotator_ids))
            .collect(),
        problem: None,
    }
}

/// The recognised format of a file.
pub(super) fn format_of(source: &Source) -> ImportFormat {
    let format = source.format();
    ImportFormat {
        name: format.name.to_owned(),
        title: format.title.to_owned(),
        of_tool: source.is_of_tool(),
    }
}

/// Returns a preview of a file whose columns or labels do not fit the choices.
pub(super) fn preview_with_problem(
    read: &FileReading,
    columns: ColumnChoices,
    choices: &ImportChoices,
    error: &ProjectError,
) -> Result<ImportPreview, ProjectError> {
    let source = &read.plain;
    // Every column as plain metadata of a text: the rows can be shown whatever the roles are.
    let first = source.columns().first().cloned();
    let plain = ColumnRoles { text: first, ..ColumnRoles::default() };
    let seen = scan_file(source, &plain, Checker::new(None), &Silent)?;
    let question = choices.question.clone().unwrap_or_else(|| answer_column(&read.reading));
    let (bad_rows, bad_row_count) = match error {
        ProjectError::BadRows { problems, count, .. } => {
            (problems.iter().take(SHOWN_BAD_ROWS).map(bad_row).collect(), *count as u32)
        }
        _ => (Vec::new(), 0),
    };
    Ok(ImportPreview {
        path: source.path().to_string_lossy().into_owned(),
        format: format_of(source),
        header: source.columns().to_vec(),
        rows: seen.sample,
        columns,
        readings: read.listed(),
        undecided: read.undecided,
        shown: read.shown(),
        asked: Vec::new(),
        people: Vec::new(),
        examples: Vec::new(),
        account: ImportAccount { rows: seen.rows as u32, dropped: bad_row_count, ..ImportAccount::default() },
        uses: uses_of(read),
        encoding: source.encoding().map(str::to_owned),
        sheet: source.sheets().map(|(sheet, _)| sheet.to_owned()),
        sheets: source.sheets().map_or_else(Vec::new, |(_, all)| all.to_vec()),
        as_last_time: false,
        prompt: prompt_for(choices, &question),
        questions: vec![question.clone()],
        question,
        scale: None,
        question_exists: false,
        total_rows: seen.rows as u32,
        new_texts: 0,
        new_annotators: 0,
        new_labels: 0,
        repeated_rows: 0,
        repeats: 0,
        empty_labels: 0,
        level_counts: Vec::new(),
        bad_rows,
        bad_row_count,
        remarks: Vec::new(),
        changes: ImportChanges::default(),
        notices: notices_of_findings(source),
        problem: Some(error.problem()),
    })
}

/// Returns notices about a file in addition to its counts, a sentence each.
pub(super) fn remarks(plan: &Plan) -> Vec<String> {
    let mut remarks = Vec::new();
    if plan.parts.len() > 1 {
        let names: Vec<&str> = plan.parts.iter().map(|part| part.name.as_str()).collect();
        remarks.push(format!(
            "The file answers {} questions: {}. All are imported.",
            names.len(),
            names.join(", ")
        ));
    }
    if plan.scan.rows == 0 {
        remarks.push("The file has a header and no rows.".to_owned());
        return remarks;
    }
    if plan.kind == FileKind::Texts {
        remarks.push("The file has texts and no labels.".to_owned());
    }
    if plan.kind == FileKind::Annotators {
        let known = plan.roles.attributes.join(", ");
        remarks.push(format!(
            "The file describes annotators; it has no texts. Its columns become attributes: {known}."
        ));
    }
    remarks.extend(unread_rounds(plan));
    if plan.scan.begun_inside > 0 {
        remarks.push(format!(
            "{} in the file begin with I- (or E-) and not with B-: each is read as beginning there, as in IOB1.",
            counted(plan.scan.begun_inside, "span")
        ));
    }
    if plan.roles.text_id.is_none() && plan.kind != FileKind::Annotators {
        remarks.push(
            "No column names the texts: each gets an id made from its body, so equal texts become one."
                .to_owned(),
        );
    }
    remarks
}

/// Warns about a column named `occasion` that is read as something else: second answers would replace first
/// ones.
fn unread_rounds(plan: &Plan) -> Option<String> {
    let named = plan.roles.named();
    let unread = |column: &&String| {
        column.trim().eq_ignore_ascii_case("occasion")
            && named.iter().all(|(role, used)| used != column || *role == "attribute")
    };
    plan.source.columns().iter().find(unread).filter(|_| plan.kind == FileKind::Labels)?;
    Some(
        "The column \"occasion\" is not read as annotation rounds: its values look like something else, or nobody answers a text twice in \
         the file. If it holds the annotation round of each answer, choose it (`--occasion occasion`), or those answers \
         replace the first ones."
            .to_owned(),
    )
}

fn bad_row(error: &RowError) -> BadRow {
    BadRow {
        row: error.row as u32,
        line: error.line as u32,
        column: error.column.clone(),
        message: match &error.place {
            Some(place) => format!("{place}: {}", error.kind),
            None => error.kind.to_string(),
        },
    }
}
