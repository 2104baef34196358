//! The plan of an import: everything that is determined before anything is written.

use super::reading::FileReading;
use super::seed::{Seeds, seeded};
use super::{Exchange, notices};
use crate::error::TransferError;
use dissensus_api::ImportChoices;
use dissensus_domain::{AnswerForm, Question, QuestionId, Scale, ScaleKind, TargetKind};
use dissensus_exchange::{
    Changes, Checker, ColumnRoles, FileKind, Hint, QuestionScan, RowError, RowErrorKind, Scan, Source,
    TableReading, ordered_scale, scan_while,
};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::names::checked_name;

/// Maximum number of bad rows in an error.
const LISTED_BAD_ROWS: usize = 10;

/// Everything that is determined before anything is written.
pub(super) struct Plan {
    /// How the file is read.
    pub(super) read: FileReading,
    /// The rows that its reading makes.
    pub(super) source: Source,
    pub(super) roles: ColumnRoles,
    pub(super) kind: FileKind,
    /// The first pass over the file. The writing pass follows the same rules and must reach the same counts.
    pub(super) scan: Scan,
    /// The question of the project that the labels answer, if they do not name one themselves.
    known: Option<String>,
    /// The questions that the labels answer, by name.
    pub(super) parts: Vec<Part>,
    /// Contains the state of the project and no row of the file yet: for the writing pass.
    pub(super) checker: Checker,
    pub(super) seeds: Seeds,
}

/// Names of columns of labels that do not describe the question.
const GENERAL: [&str; 7] = ["label", "labels", "value", "rating", "score", "annotation", "answer"];

/// Possible names of a question without a name: the column of its labels, and the file.
#[derive(Clone, Copy)]
struct Unnamed<'a> {
    column: &'a str,
    /// Without its extension; empty if the name was generated.
    file: &'a str,
}

impl<'a> Unnamed<'a> {
    fn is_general(&self) -> bool {
        GENERAL.contains(&self.column.to_lowercase().as_str())
    }

    /// The name of the column, or of the file where that of the column is general.
    fn name(&self) -> &'a str {
        let usable = |name: &&str| checked_name("question", name).is_ok();
        Some(self.file).filter(|_| self.is_general()).filter(usable).unwrap_or(self.column)
    }
}

/// The labels of one question in a file.
#[derive(Clone)]
pub(super) struct Part {
    /// The checker's number of the question.
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) prompt: String,
    pub(super) existing: Option<QuestionId>,
    pub(super) scale: Scale,
    /// The scale was guessed from the labels.
    pub(super) guessed: bool,
    pub(super) labels: u64,
    pub(super) repeated: u64,
    pub(super) level_counts: Vec<u32>,
}

/// A question that labels answer, before they are read.
struct ImportQuestion {
    name: String,
    existing: Option<Question>,
    scale: Option<Scale>,
    /// Every row is a span.
    spans: bool,
    /// Its kind, if the file specifies that and not its levels.
    kind: Option<ScaleKind>,
}

/// Adds the names of the sheets to an error, if one was chosen among several.
fn in_sheet(source: &Source, error: ProjectError) -> ProjectError {
    match source.sheets() {
        Some((sheet, all)) if all.len() > 1 => ProjectError::InSheet {
            sheet: sheet.to_owned(),
            others: all.iter().filter(|name| *name != sheet).cloned().collect(),
            source: Box::new(error),
        },
        _ => error,
    }
}

/// Whether a table has aggregated labels, as `Summaries` writes them: it would be recognised as texts or
/// annotators with many columns of metadata.
fn is_summary(columns: &[String]) -> bool {
    let has = |name: &str| columns.iter().any(|column| column == name);
    let begins = |start: &str| columns.iter().any(|column| column.starts_with(start));
    let both = ["labels", "cannot_say", "mean"].into_iter().all(has);
    both && begins("count_") && begins("share_") && !has("label")
}

/// Reads the whole file and determines what importing it would change. Nothing is written.
pub(super) fn plan(
    cx: &Exchange,
    read: FileReading,
    choices: &ImportChoices,
    progress: &dyn Progress,
) -> Result<Plan, ProjectError> {
    let (source, roles) = (read.source.clone(), read.roles());
    if is_summary(read.plain.columns()) {
        return Err(TransferError::IsSummary(source.path().to_owned()).into());
    }
    let kind = roles.kind(&source).map_err(|error| in_sheet(&source, error.into()))?;
    let labels = kind == FileKind::Labels;
    let column = answer_column(&read.reading);
    let file = match source.path().parent() == Some(cx.context.home.pasted().as_path()) {
        true => String::new(),
        false => {
            source.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
        }
    };
    let unnamed = Unnamed { column: &column, file: &file };
    let spans = roles.every_row_is_a_span();
    let now_ms = now_ms();
    let mut several = source.questions();
    several.extend(read.reading.questions().into_iter().map(str::to_owned));
    if choices.question.is_some() && several.len() > 1 {
        return Err(TransferError::SeveralQuestions { path: source.path().to_owned(), names: several }.into());
    }
    let hints = source.hints();
    // If the file does not name its questions, all labels answer one question.
    let one = match labels && (roles.question.is_none() || choices.question.is_some()) {
        true => Some(ask(cx, choices.question.as_deref(), unnamed, spans, hints.first(), choices)?),
        false => None,
    };
    let mut questions = Vec::new();
    let mut checker = match &one {
        Some(asked) => {
            questions.extend(asked.existing.iter().map(|question| (0, question.id)));
            Checker::new(asked.scale.clone())
        }
        None if labels => {
            let mut checker = Checker::by_question(new_scale(choices, spans)?);
            for question in cx.context.index().questions() {
                let number = checker.add_question(&question.name, Some(question.scale.clone()));
                questions.push((number, question.id));
            }
            for hint in &hints {
                let asked = ask(cx, Some(&hint.name), unnamed, spans, Some(hint), choices)?;
                if asked.existing.is_none() && asked.scale.is_some() {
                    checker.add_question(&hint.name, asked.scale);
                }
            }
            checker
        }
        None => Checker::new(None),
    }
    .at(now_ms)
    .finding_by_body(roles.text_id.is_none())
    .folding_case(read.reading.values.fold_case);
    let seeds = seeded(&cx.context.store, &mut checker, &questions)?;
    let scan = scan_file(&source, &roles, checker.clone(), progress)?;
    let known = one.as_ref().and_then(|asked| asked.existing.as_ref()).map(|q| q.name.clone());
    let mut plan = Plan { read, source, roles, kind, scan, known, parts: Vec::new(), checker, seeds };
    if !labels {
        return Ok(plan);
    }
    let parts = match one {
        Some(asked) => {
            let found = plan.scan.questions.first().map(|found| part(0, asked, found, choices, &column));
            found.into_iter().collect()
        }
        None => named_parts(cx, &plan.scan, choices, unnamed, spans, &hints)?,
    };
    for part in parts {
        // Without a scale, rejected or missing rows are the likelier cause, and are reported first.
        let part = part.map_err(|error| match (plan.scan.rows, plan.scan.problem_count) {
            (0, _) => ProjectError::from(TransferError::NoRows(plan.source.path().to_owned())),
            (_, 0) => error,
            _ => plan.bad_rows(Some(error)),
        })?;
        if part.existing.is_none() {
            cx.context.index().check_options(&part.name, &part.scale)?;
        }
        plan.parts.push(part);
    }
    plan.fix_scales(progress)?;
    Ok(plan)
}

/// The questions that the rows of a file name, by name.
fn named_parts(
    cx: &Exchange,
    scan: &Scan,
    choices: &ImportChoices,
    unnamed: Unnamed<'_>,
    spans: bool,
    hints: &[Hint],
) -> Result<Vec<Result<Part, ProjectError>>, ProjectError> {
    let mut parts = Vec::new();
    let any = scan.questions.iter().any(|found| !found.names.is_empty());
    for (number, found) in scan.questions.iter().enumerate().filter(|(_, found)| found.rows > 0) {
        let Some(name) = &found.name else { continue };
        let hint = hints.iter().find(|hint| hint.name == *name);
        let asked = ask(cx, Some(name), unnamed, spans, hint, choices)?;
        // No label answers it: marks and notes on its texts cannot be stored, and the writing reports
        // them.
        if any && found.names.is_empty() && asked.existing.is_none() {
            continue;
        }
        parts.push((name.clone(), part(number, asked, found, choices, unnamed.column)));
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// Returns the question that labels answer, and its scale if that is known before the labels are read.
/// With `spans` every row is a span; `hint` is what the file specifies about the question.
fn ask(
    cx: &Exchange,
    name: Option<&str>,
    unnamed: Unnamed<'_>,
    spans: bool,
    hint: Option<&Hint>,
    choices: &ImportChoices,
) -> Result<ImportQuestion, ProjectError> {
    let kind = match hint {
        _ if spans => Some(ScaleKind::Spans),
        // Options that have a column each.
        Some(hint) if hint.name.is_empty() => Some(hint.kind),
        _ => None,
    };
    let (name, existing) = question_for(cx, name, unnamed, kind)?;
    let mut scale = match choices.scales.iter().find(|of| of.question == name).filter(|_| existing.is_none())
    {
        Some(of) => {
            for level in &of.levels {
                checked_name("level", level)?;
            }
            Some(Scale::new(of.kind, &of.levels)?)
        }
        None => existing_scale(existing.as_ref(), spans, choices)?,
    };
    let hint = hint.filter(|_| scale.is_none() && choices.scale.is_none());
    if let Some(reported) = hint.and_then(Hint::scale) {
        let no_scale = |source| ProjectError::from(TransferError::NoScale { column: name.clone(), source });
        scale = Some(reported.map_err(no_scale)?);
    }
    Ok(ImportQuestion { name, existing, scale, spans, kind: hint.map(|hint| hint.kind) })
}

/// Returns the name of the question and, if it exists, the question. A column with a general name, such
/// as `label`, answers the only question of a project, or one that is named like the column or the file;
/// labels of a known `kind`, such as spans that have a row each, answer the only one of that kind.
fn question_for(
    cx: &Exchange,
    asked: Option<&str>,
    unnamed: Unnamed<'_>,
    kind: Option<ScaleKind>,
) -> Result<(String, Option<Question>), ProjectError> {
    let index = cx.context.index();
    let fits = |question: &&Question| kind.is_none_or(|kind| question.scale.kind() == kind);
    let spans = kind.is_some_and(|kind| kind.rules().form().marks_words());
    let fitting: Vec<&Question> = index.questions().iter().filter(fits).collect();
    let find = |name: &str| index.questions().iter().find(|q| q.name == name).cloned();
    let named = asked.or_else(|| find(unnamed.column).map(|_| unnamed.column));
    match (named, fitting.as_slice()) {
        (None, [only]) if spans || unnamed.is_general() => Ok((only.name.clone(), Some((*only).clone()))),
        (named, _) => match find(named.unwrap_or_else(|| unnamed.name())) {
            Some(existing) => Ok((existing.name.clone(), Some(existing))),
            None => {
                let name = checked_name("question", named.unwrap_or_else(|| unnamed.name()))?;
                // Labels answer a question as a whole, and no other question has the name of an option.
                if let Some(option) = index.option_named(&name) {
                    index.whole(option.id)?;
                }
                let existing = find(&name);
                Ok((name, existing))
            }
        },
    }
}

impl Plan {
    /// Sets the scale of every question for the writing pass. If a label is not on the scale that was guessed
    /// from the labels, the file is read again, so that the rows which do not fit are known before anything
    /// is written.
    fn fix_scales(&mut self, progress: &dyn Progress) -> Result<(), ProjectError> {
        for (number, found) in self.scan.questions.iter().enumerate() {
            let scale = self.parts.iter().find(|part| part.number == number).map(|part| part.scale.clone());
            if let Some(name) = &found.name {
                // In the order of the scan, so that they have the same numbers.
                self.checker.add_question(name, scale.clone());
            }
            if let Some(scale) = scale {
                self.checker.set_scale(number, scale);
            }
        }
        let off_scale = |part: &&Part| {
            self.scan
                .questions
                .get(part.number)
                // Without a scale the same set in another order is another answer.
                .is_some_and(|found| {
                    found.without_scale && part.scale.has_options()
                        || found.off_scale(&part.scale).next().is_some()
                })
        };
        if self.parts.iter().find(off_scale).is_none() {
            return Ok(());
        }
        self.scan = scan_file(&self.source, &self.roles, self.checker.clone(), progress)?;
        for part in &mut self.parts {
            let Some(found) = self.scan.questions.get(part.number) else { continue };
            (part.labels, part.repeated) = (found.labels, found.repeated);
            part.level_counts = level_counts(&part.scale, found);
        }
        Ok(())
    }

    /// Returns the labels by question, for notices; `changes` returns the changes by those of a question, by
    /// the checker's number.
    pub(super) fn asked(&self, changes: impl Fn(usize) -> Changes) -> Vec<notices::QuestionLabels<'_>> {
        let mut asked = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            asked.push(notices::QuestionLabels {
                question: &part.name,
                scale: &part.scale,
                guessed: part.guessed,
                levels: self.scan.questions.get(part.number).map_or(&[], |found| &found.levels),
                changes: changes(part.number),
            });
        }
        asked
    }

    /// Returns the bad rows as an error; `rest` is why the other rows cannot be imported without them.
    pub(super) fn bad_rows(&self, rest: Option<ProjectError>) -> ProjectError {
        let problems = &self.scan.problems;
        let mut listed: Vec<String> =
            problems.iter().take(LISTED_BAD_ROWS).map(ToString::to_string).collect();
        let more = self.scan.problem_count.saturating_sub(listed.len() as u64);
        if more > 0 {
            listed.push(format!("and {more} more"));
        }
        let off_scale = |error: &RowError| {
            matches!(
                error.kind,
                RowErrorKind::UnknownLevel { .. }
                    | RowErrorKind::BadSpans(_)
                    | RowErrorKind::UnknownSpanType { .. }
                    | RowErrorKind::TakesNoSpans { .. }
            )
        };
        if let Some(question) = self.known.as_deref().filter(|_| problems.iter().any(off_scale)) {
            listed.push(format!(
                "These labels are read as answers to \"{question}\", which is in the project; for another question, name it with --question."
            ));
        }
        ProjectError::BadRows {
            count: self.scan.problem_count,
            rows: self.scan.rows,
            listed: listed.join("\n"),
            rest: rest.map(Box::new),
            problems: self.scan.problems.clone(),
        }
    }
}

/// Returns the column with the answers, after which a new question is named; `spans` if every span has a row.
/// Several columns of answers have a general name.
pub(super) fn answer_column(reading: &TableReading) -> String {
    let roles = &reading.roles;
    let of_list = || roles.label.as_ref().and_then(|label| label.rsplit('.').next().map(str::to_owned));
    match roles.rows_are_spans() {
        true => ScaleKind::Spans.name().to_owned(),
        false if !reading.answers.is_empty() => GENERAL[0].to_owned(),
        false if !reading.lists.is_empty() => of_list().unwrap_or_default(),
        false => roles.label.clone().unwrap_or_default(),
    }
}

/// Runs the first pass over a file, which changes nothing.
pub(super) fn scan_file(
    source: &Source,
    roles: &ColumnRoles,
    checker: Checker,
    progress: &dyn Progress,
) -> Result<Scan, ProjectError> {
    Ok(scan_while(source, roles, checker, |done| {
        progress.report(done, Some(source.bytes()), "checking the file");
        progress.flow()
    })?)
}

pub(super) fn prompt_for(choices: &ImportChoices, name: &str) -> String {
    let asked = choices.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
    asked.unwrap_or(name).to_owned()
}

/// Returns the labels of one question, with their scale.
fn part(
    number: usize,
    asked: ImportQuestion,
    found: &QuestionScan,
    choices: &ImportChoices,
    column: &str,
) -> Result<Part, ProjectError> {
    let ImportQuestion { name, existing, scale, spans, kind } = asked;
    // A scale in the file applies if the user asks for no other kind.
    let wanted = choices.scale.or(spans.then_some(ScaleKind::Spans));
    let given = found.given_scale.clone().filter(|scale| wanted.is_none_or(|kind| kind == scale.kind()));
    let scale = scale.or(given);
    let guessed = scale.is_none();
    let scale = match (scale, wanted.or(kind)) {
        (Some(scale), _) => Ok(scale),
        (None, Some(kind)) => {
            let seen =
                names_of(kind, found).iter().filter(|(_, count)| *count > 0).map(|(name, _)| name.as_str());
            let rules = kind.rules();
            match (rules.form(), rules.target()) {
                (AnswerForm::Options | AnswerForm::Spans, _) => Scale::new(kind, seen),
                (AnswerForm::Level, TargetKind::Ordinal) => {
                    let seen: Vec<&str> = seen.collect();
                    ordered_scale(&seen).map_or_else(|| Scale::of_kind(kind, &seen), Ok)
                }
                (AnswerForm::Level, TargetKind::Binary | TargetKind::Nominal) => Scale::of_kind(kind, seen),
            }
        }
        (None, None) => found.scale.clone(),
    };
    let column = found.name.clone().unwrap_or_else(|| column.to_owned());
    let scale = scale.map_err(|source| TransferError::NoScale { column, source })?;
    Ok(Part {
        number,
        prompt: existing.as_ref().map_or_else(|| prompt_for(choices, &name), |q| q.prompt.clone()),
        level_counts: level_counts(&scale, found),
        existing: existing.map(|q| q.id),
        labels: found.labels,
        repeated: found.repeated,
        name,
        scale,
        guessed,
    })
}

/// Returns the names of levels of a scale of this kind in the file, with the number of labels of each.
fn names_of(kind: ScaleKind, found: &QuestionScan) -> &[(String, u64)] {
    match kind.rules().form() {
        AnswerForm::Options => &found.options,
        AnswerForm::Spans => &found.types,
        AnswerForm::Level => &found.names,
    }
}

fn level_counts(scale: &Scale, found: &QuestionScan) -> Vec<u32> {
    let mut counts = vec![0; scale.len()];
    for (level, count) in
        names_of(scale.kind(), found).iter().filter_map(|(name, n)| Some((scale.index_of(name)?, n)))
    {
        counts[usize::from(level)] += *count as u32;
    }
    counts
}

/// Returns the scale of a question that the project does not have, if its levels were named.
fn new_scale(choices: &ImportChoices, spans: bool) -> Result<Option<Scale>, ProjectError> {
    let Some(levels) = &choices.levels else { return Ok(None) };
    for level in levels {
        checked_name("level", level)?;
    }
    let kind = match choices.scale {
        Some(kind) => kind,
        None if spans => ScaleKind::Spans,
        None => Scale::guess(levels)?.kind(),
    };
    Ok(Some(Scale::new(kind, levels)?))
}

/// Returns the scale of an existing question, or the one whose levels were named; `None` if it has to be
/// guessed from the labels.
fn existing_scale(
    existing: Option<&Question>,
    spans: bool,
    choices: &ImportChoices,
) -> Result<Option<Scale>, ProjectError> {
    let Some(question) = existing else { return new_scale(choices, spans) };
    let other_kind = choices.scale.is_some_and(|kind| kind != question.scale.kind());
    let same = |levels: &Vec<String>| {
        Scale::new(question.scale.kind(), levels).is_ok_and(|scale| scale.reads_like(&question.scale))
    };
    let other_levels = choices.levels.as_ref().is_some_and(|levels| !same(levels));
    if other_kind || other_levels {
        let has = format!("{} ({})", question.scale.kind(), question.scale.levels().join(", "));
        return Err(TransferError::OtherScale { question: question.name.clone(), has }.into());
    }
    Ok(Some(question.scale.clone()))
}
