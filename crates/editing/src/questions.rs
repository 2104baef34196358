//! The questions of the project.

use super::Project;
use super::question_info::question_info;
use crate::error::EditingError;
use dissensus_api::{
    LevelUseInfo, QuestionDraft, QuestionEditInfo, QuestionEdits, QuestionInfo, QuestionPart,
};
use dissensus_domain::{
    Answer, AnswerForm, Condition, FactKind, LevelEdit, LevelId, NoteForm, Question, QuestionHelp,
    QuestionId, Scale,
};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::names::checked_name;
use dissensus_store::{
    LevelUse, NewQuestion, QuestionEdit, QuestionEdited, QuestionVersion, StoreError, WriteTx,
};

/// A question to add.
#[derive(Clone, Debug, PartialEq)]
pub struct AddQuestion {
    pub name: String,
    /// The prompt shown to annotators.
    pub prompt: String,
    pub scale: Scale,
    /// The answer to another question on which this one depends.
    pub only_if: Option<Condition>,
    pub help: QuestionHelp,
    /// Definitions of the levels, in their order; there may be fewer of them.
    pub definitions: Vec<String>,
    pub note_form: NoteForm,
    /// Whether it allows "cannot say"; as usual for its kind if `None`.
    pub cannot_say: Option<bool>,
}

impl AddQuestion {
    /// Without a condition, a help text, definitions or reasons.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>, scale: Scale) -> Self {
        Self {
            name: name.into(),
            prompt: prompt.into(),
            scale,
            only_if: None,
            help: QuestionHelp::default(),
            definitions: Vec::new(),
            note_form: NoteForm::default(),
            cannot_say: None,
        }
    }
}

/// Changes to a question; fields that are `None` are unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionChange {
    /// The prompt shown to annotators.
    pub prompt: Option<String>,
    /// The help text of the question.
    pub help: Option<QuestionHelp>,
    /// All new levels, in their order.
    pub levels: Option<Vec<LevelEdit>>,
    /// The levels that `levels` is an edit of, with `from` being their ids. If the question has others by
    /// now, for example after a merge, the edit is refused.
    pub levels_before: Option<Vec<LevelEdit>>,
    /// Whether it allows "cannot say".
    pub cannot_say: Option<bool>,
    /// New condition; `Some(None)` removes it.
    pub only_if: Option<Option<Condition>>,
    /// The form for notes.
    pub note_form: Option<NoteForm>,
}

/// Parses an answer to a question: a level, options joined by `;`, or spans as a JSON list.
///
/// # Errors
/// There is no such answer to the question.
pub fn answer_named(question: &Question, value: &str) -> Result<Answer, ProjectError> {
    match question.scale.form() {
        AnswerForm::Spans => {
            Ok(Answer::Spans(question.scale.spans_named(value).map_err(EditingError::Spans)?))
        }
        AnswerForm::Level | AnswerForm::Options => {
            question.scale.answer_named(value).ok_or_else(|| ProjectError::off_scale(value, question))
        }
    }
}

/// Adds a question to be asked about every text. Without a prompt, its name is asked.
///
/// # Errors
/// The name is blank, too long or taken, the scale is invalid (one from JSON has not been validated yet), the
/// condition has an unknown question or level, or a text is too long. Nothing is added then.
pub fn add(cx: &Project, request: AddQuestion) -> Result<QuestionInfo, ProjectError> {
    let AddQuestion { name, prompt, scale, only_if, help, definitions, note_form, cannot_say } = request;
    cx.context.whole_project()?;
    let name = checked_name("question", &name)?;
    let form = checked_form(note_form)?;
    for level in scale.levels() {
        checked_name("level", level)?;
    }
    if cx.context.index().is_taken(&name) {
        return Err(ProjectError::Name { what: "question", name, why: "is taken: choose another" });
    }
    let scale = Scale::new(scale.kind(), scale.levels())?;
    cx.context.index().check_options(&name, &scale)?;
    let prompt = if prompt.trim().is_empty() { name.clone() } else { prompt.trim().to_owned() };
    let new = NewQuestion { name, prompt, scale };
    let (asked, kept, new_ids) = (only_if, new.scale.levels().to_vec(), new.scale.ids().to_vec());
    let levels = definitions.iter().any(|definition| !definition.trim().is_empty()).then(|| {
        let level = |(level, name): (usize, String)| LevelEdit {
            from: new_ids.get(level).copied(),
            name,
            definition: definitions.get(level).cloned().unwrap_or_default(),
        };
        kept.into_iter().enumerate().map(level).collect()
    });
    let edit = QuestionEdit { help: Some(help), levels, cannot_say, ..QuestionEdit::default() };
    let add = move |tx: &mut WriteTx<'_>| -> Result<Question, StoreError> {
        let id = tx.add_question_at(&new, now_ms())?;
        tx.edit_question(id, &edit, now_ms())?;
        tx.set_condition(id, asked.as_ref(), now_ms())?;
        if form != NoteForm::default() {
            tx.set_note_form(id, &form, now_ms())?;
        }
        let unknown = || StoreError::Unknown { what: "question", name: new.name.clone() };
        tx.question_by_name(&new.name)?.ok_or_else(unknown)
    };
    // A refused write may have reached the file, if the file was moved meanwhile.
    let added = cx.context.store.write(add).inspect_err(|_| cx.context.reload())?;
    // The question is on disk: from here on nothing may report it as failed.
    cx.context.flush_to_file();
    changed(cx);
    cx.live.fit_where_wanted(added.id);
    Ok(question_info(&added, (0, 0)))
}

/// Changes the given properties of a question, all or none: its text, help, levels, condition, and form
/// for notes. Labels are unaffected, each retains the level that it was given. If levels are added, removed
/// or moved, the models of the question are fitted again.
///
/// # Errors
/// There is no such question; a level to remove is in use; or a given property is invalid. Nothing is
/// changed then.
pub fn edit(
    cx: &Project,
    question: QuestionId,
    change: &QuestionChange,
) -> Result<QuestionEdited, ProjectError> {
    cx.context.whole_project()?;
    let QuestionChange { prompt, help, levels, levels_before, cannot_say, only_if, note_form } =
        change.clone();
    let form = note_form.map(checked_form).transpose()?;
    let levels = {
        let index = cx.context.index();
        let asked = index.whole(question)?;
        if let Some(Some(only_if)) = &only_if {
            index.whole(only_if.question)?;
        }
        let checked = |levels: Vec<LevelEdit>| -> Result<Vec<LevelEdit>, ProjectError> {
            let named = |level: LevelEdit| {
                level.check()?;
                Ok(LevelEdit { name: checked_name("level", &level.name)?, ..level })
            };
            let levels: Vec<LevelEdit> =
                levels.into_iter().map(named).collect::<Result<_, ProjectError>>()?;
            let names = levels.iter().map(|level| level.name.as_str());
            index.check_options(&asked.name, &Scale::new(asked.scale.kind(), names)?)?;
            Ok(levels)
        };
        levels.map(checked).transpose()?
    };
    let edit = QuestionEdit { prompt, help, levels, levels_before, cannot_say };
    let edited = cx.context.store.write(move |tx| -> Result<QuestionEdited, StoreError> {
        let edited = tx.edit_question(question, &edit, now_ms())?;
        if let Some(form) = &form {
            tx.set_note_form(question, form, now_ms())?;
        }
        if let Some(only_if) = &only_if {
            tx.set_condition(question, only_if.as_ref(), now_ms())?;
        }
        Ok(edited)
    })?;
    cx.context.reload();
    if edited.rearranged {
        cx.live.rearranged(question);
    }
    cx.context.listeners.send(&Event::Project);
    Ok(edited)
}

/// The form with trimmed reasons.
///
/// # Errors
/// The reasons are invalid.
fn checked_form(form: NoteForm) -> Result<NoteForm, ProjectError> {
    let reasons = form.reasons.iter().map(|reason| reason.trim().to_owned()).collect();
    let form = NoteForm { reasons, ..form };
    form.check()?;
    Ok(form)
}

/// Like [`edit`], for the whole question as edited in the window.
pub fn save(
    cx: &Project,
    question: QuestionId,
    draft: QuestionDraft,
) -> Result<QuestionEdited, ProjectError> {
    let QuestionDraft { prompt, help, levels, levels_before, cannot_say, only_if, note_form } = draft;
    let change = QuestionChange {
        prompt: Some(prompt),
        help: Some(help),
        levels,
        levels_before,
        cannot_say: Some(cannot_say),
        only_if: Some(only_if),
        note_form: Some(note_form),
    };
    edit(cx, question, &change)
}

/// What depends on each level of a question.
///
/// # Errors
/// There is no such question, this is a task packet, where right answers must not be revealed, or the
/// file cannot be read.
pub fn level_uses(cx: &Project, question: QuestionId) -> Result<Vec<LevelUseInfo>, ProjectError> {
    cx.context.whole_project()?;
    let uses = cx.context.store.level_uses(question)?;
    let info = |(level, used): (LevelId, Option<LevelUse>)| LevelUseInfo {
        level,
        answered: used.as_ref().is_some_and(LevelUse::is_answered),
        words: used.map(|used| used.to_string()),
    };
    Ok(uses.into_iter().map(info).collect())
}

/// The history of edits to a question.
pub(super) fn edits(cx: &Project, question: QuestionId) -> Result<QuestionEdits, ProjectError> {
    let store = &cx.context.store;
    let versions = store.question_versions(question)?;
    let Some(last) = versions.last() else { return Ok(QuestionEdits::default()) };
    let part = |version: &QuestionVersion| match version.what {
        FactKind::Prompt => QuestionPart::Text,
        FactKind::CannotSay => QuestionPart::CannotSay,
        FactKind::Levels if version.rearranged => QuestionPart::Levels,
        FactKind::Levels => QuestionPart::LevelNames,
        _ => QuestionPart::Help,
    };
    Ok(QuestionEdits {
        labels_before: store.labels_before(question, last.at_ms)?,
        edits: versions
            .chunk_by(|a, b| a.at_ms == b.at_ms)
            .filter_map(|edit| {
                let at = edit.first()?.at_ms as f64;
                Some(QuestionEditInfo { at, parts: edit.iter().map(part).collect() })
            })
            .collect(),
    })
}

/// Renames the levels, options or types of spans of a question: `names` are all of them, in their
/// order. Labels are unaffected.
///
/// # Errors
/// There is no such question, or the names are invalid or not as many as the levels. Nothing is changed
/// then.
pub fn rename_levels(cx: &Project, question: QuestionId, names: &[String]) -> Result<(), ProjectError> {
    cx.context.whole_project()?;
    let levels = {
        let index = cx.context.index();
        let asked = index.whole(question)?;
        if names.len() != asked.scale.len() {
            let why = format!(
                "it has {} levels, and these are {} names: name all of them",
                asked.scale.len(),
                names.len()
            );
            return Err(StoreError::Invalid { what: format!("question {}", asked.name), why }.into());
        }
        let level = |(level, name): (&LevelId, &String)| LevelEdit {
            from: Some(*level),
            name: name.clone(),
            definition: asked.definition(*level).to_owned(),
        };
        asked.scale.ids().iter().zip(names).map(level).collect()
    };
    let change = QuestionChange { levels: Some(levels), ..QuestionChange::default() };
    edit(cx, question, &change).map(drop)
}

fn changed(cx: &Project) {
    cx.context.reload();
    cx.context.listeners.send(&Event::Project);
}

/// Parses a condition `QUESTION=LEVEL,LEVEL`: for a multi-label question and for spans the answer must
/// contain one of these.
///
/// # Errors
/// There is no such question or level.
pub fn condition_named(cx: &Project, words: &str) -> Result<Condition, ProjectError> {
    let refused =
        |why| ProjectError::from(EditingError::Words { what: "a condition", given: words.to_owned(), why });
    let index = cx.context.index();
    let parts = halves(words).find_map(|(name, levels)| {
        Some((index.questions().iter().find(|question| question.name == name)?, levels))
    });
    let Some((question, levels)) = parts else {
        let known: Vec<&str> = index.questions().iter().map(|q| q.name.as_str()).collect();
        return Err(refused(format!("write QUESTION=LEVEL,LEVEL; the questions are {}", known.join(", "))));
    };
    let level = |name: &str| question.scale.id_named(name);
    // A name may contain a comma.
    let levels = level(levels).map(|level| vec![level]).or_else(|| levels.split(',').map(level).collect());
    let levels = levels
        .ok_or_else(|| refused(format!("{} has {}", question.name, question.scale.levels().join(", "))))?;
    Ok(Condition::new(question.id, levels))
}

/// All names of the levels of `question` after these changes, each as `OLD=NEW`, applied
/// simultaneously.
///
/// # Errors
/// There is no such level.
pub fn names_after(question: &Question, changes: &[String]) -> Result<Vec<String>, ProjectError> {
    let mut names = question.scale.levels().to_vec();
    for change in changes {
        let found = halves(change).find_map(|(old, new)| Some((question.scale.index_of(old)?, new)));
        let Some((level, new)) = found else {
            let why = format!("write OLD=NEW; {} has {}", question.name, question.scale.levels().join(", "));
            return Err(EditingError::Words { what: "a new name", given: change.clone(), why }.into());
        };
        new.clone_into(&mut names[usize::from(level)]);
    }
    Ok(names)
}

/// Levels with these names, in their order: existing levels retain their definitions, others are new.
pub fn levels_named(question: &Question, names: &[String]) -> Vec<LevelEdit> {
    let level = |name: &String| {
        let from = question.scale.id_named(name);
        let definition = from.map_or("", |level| question.definition(level)).to_owned();
        LevelEdit { from, name: name.clone(), definition }
    };
    names.iter().map(level).collect()
}

/// Finds the question with this name, or the only one.
///
/// # Errors
/// There is none of that name, none at all, or there are several and no name was given.
pub fn find(cx: &Project, name: Option<&str>) -> Result<Question, ProjectError> {
    cx.context.index().find_question(name).cloned()
}

/// Defines levels of the question of this name, each as `LEVEL=DEFINITION`; an empty definition removes it.
///
/// # Errors
/// There is no such level.
pub fn define_levels(
    question: &str,
    levels: &mut [LevelEdit],
    definitions: &[String],
) -> Result<(), ProjectError> {
    for words in definitions {
        let found = halves(words)
            .find_map(|(name, what)| Some((levels.iter().position(|level| level.name == name)?, what)));
        let Some((at, what)) = found else {
            let names: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
            let why = format!("write LEVEL=TEXT; {question} has {}", names.join(", "));
            return Err(EditingError::Words { what: "a definition", given: words.clone(), why }.into());
        };
        what.clone_into(&mut levels[at].definition);
    }
    Ok(())
}

/// The parts before and after each `=`: names may contain one too.
fn halves(words: &str) -> impl Iterator<Item = (&str, &str)> {
    words.match_indices('=').map(|(at, _)| (words[..at].trim(), words[at + 1..].trim()))
}
