//! Auxiliary questions of other projects that train a run's encoder together with its own: read once, when
//! the run starts.
//!
//! The data is stored in the run's folder until it has finished, so that a resumed run learns the same,
//! whatever happens to the other project. None of it is scored, and nothing that is scored is in it: labels
//! of texts whose body is among the run's validation or test texts are left out, and, for another question
//! of the same project, those of held-out people.

use super::Runs;
use crate::encoding::OtherTrainingData;
use crate::error::TrainingError;
use crate::saved_runs::{AUXILIARY, SavedRun, io};
use dissensus_api::{AuxiliaryCandidate, AuxiliaryQuestion, RunAuxiliary};
use dissensus_domain::{AnnotatorId, Question, QuestionId, Split, TextId};
use dissensus_files::write_atomically;
use dissensus_neural::trainer::{AuxiliaryTask, TrainConfig};
use dissensus_project::context::{Context, QuestionData};
use dissensus_project::error::ProjectError;
use dissensus_selection::evaluation::{DataSplit, SplitSpec};
use dissensus_stats::data::{Attribute, Observation, Target};
use dissensus_store::{Store, body_hash};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Labels of an auxiliary question as a run learns them, with only the texts and annotators that have a
/// label.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AuxiliaryLabels {
    about: RunAuxiliary,
    target: Target,
    bodies: Vec<String>,
    observations: Vec<Observation>,
    annotators: usize,
    attributes: Vec<Attribute>,
    /// For the record of what the encoder was trained on.
    pub(super) taught: OtherTrainingData,
}

impl AuxiliaryLabels {
    pub(super) fn bodies(&self) -> Vec<&str> {
        self.bodies.iter().map(String::as_str).collect()
    }

    /// In the form that the trainer uses; `texts` are [`AuxiliaryLabels::bodies`].
    pub(super) fn task<'a>(&'a self, texts: &'a [&'a str]) -> AuxiliaryTask<'a> {
        AuxiliaryTask {
            texts,
            observations: &self.observations,
            annotators: self.annotators,
            target: self.target,
            attributes: &self.attributes,
        }
    }
}

/// A question of a project that is open for reading.
struct Source {
    path: PathBuf,
    context: Context,
    project: Uuid,
    question: Question,
}

/// Opens a project for reading, without a lock, because it may be open in a window.
fn open_to_read(path: &Path, own: &Context) -> Result<Context, ProjectError> {
    let store = Store::open_reader_recorded(path, &own.home.check_records())?;
    Context::open(store, &own.home)
}

impl Source {
    fn open(asked: &AuxiliaryQuestion, own: &Context) -> Result<Self, ProjectError> {
        let path = PathBuf::from(&asked.project);
        let context = open_to_read(&path, own)?;
        let refused =
            |reason: String| ProjectError::from(TrainingError::Auxiliary { path: path.clone(), reason });
        let index = context.index();
        let found = index.find_question(asked.question.as_deref());
        let found = found.and_then(|found| index.with_levels(found.id)).cloned();
        let question = found.map_err(|error| match error {
            ProjectError::WhichQuestion(names) => refused(format!(
                "has several questions: name one of {names} behind its path (FILE.dissensus#QUESTION)"
            )),
            ProjectError::NoSuchQuestion { name, known } => {
                refused(format!("has no question \"{name}\": it has {known}"))
            }
            ProjectError::NoQuestion => refused("asks nothing: choose one with labels".to_owned()),
            other => other,
        })?;
        let project = context.store.project_id()?.0;
        Ok(Self { path, context, project, question })
    }

    fn refused(&self, reason: &str) -> ProjectError {
        ProjectError::from(TrainingError::Auxiliary { path: self.path.clone(), reason: reason.to_owned() })
    }

    fn no_labels(&self) -> ProjectError {
        self.refused(&format!(
            "has no label of \"{}\" that can teach this run: choose another question",
            self.question.name
        ))
    }
}

/// The scored part of a run, which must not train it through another question.
struct HeldOut {
    project: Uuid,
    bodies: HashSet<[u8; 32]>,
    /// Held-out people, by external id.
    annotators: HashSet<String>,
    /// Texts of the run's project, by body.
    own_texts: HashMap<[u8; 32], Vec<TextId>>,
}

/// Questions of a project file that have labels and can train the encoder of a run on `question`: all
/// but this one.
///
/// # Errors
/// The file is no project, or cannot be read; there is no such question here.
pub fn auxiliary_candidates(
    cx: &Runs,
    question: QuestionId,
    project: &Path,
) -> Result<Vec<AuxiliaryCandidate>, ProjectError> {
    let own = cx.context.index().with_levels(question)?.clone();
    let context = open_to_read(project, &cx.context)?;
    let is_own = context.store.project_id()? == cx.context.store.project_id()?;
    let mut found = Vec::new();
    for other in context.index().all_with_levels().filter(|other| !is_own || other.name != own.name) {
        let labels = context.observations(other.id)?.len() as u32;
        if labels > 0 {
            let (project, file) = (project.to_string_lossy().into_owned(), file_name(project));
            found.push(AuxiliaryCandidate { project, file, question: other.name.clone(), labels });
        }
    }
    Ok(found)
}

/// Checks that these questions can train the encoder of a run on `question`.
pub(super) fn check_auxiliary(
    cx: &Runs,
    question: &Question,
    config: &TrainConfig,
    asked: &[AuxiliaryQuestion],
) -> Result<(), ProjectError> {
    let project = cx.context.store.project_id()?.0;
    let mut known = vec![(project, question.name.clone())];
    for asked in asked {
        let source = Source::open(asked, &cx.context)?;
        if config.policy == dissensus_encoder::FreezePolicy::Frozen {
            return Err(source.refused(
                "teaches nothing where the encoder is frozen: tune it (last-K, lora, prompt-N or full)",
            ));
        }
        let name = (source.project, source.question.name.clone());
        if name == known[0] {
            return Err(source.refused(
                "with this question is what the run itself learns and is scored on: choose another one",
            ));
        }
        if known.contains(&name) {
            return Err(source.refused("is named twice with the same question: name it once"));
        }
        if source.context.observations(source.question.id)?.is_empty() {
            return Err(source.no_labels());
        }
        known.push(name);
    }
    Ok(())
}

/// Reads the auxiliary data for the encoder of a run that is about to start, stores it in the run's
/// folder, and returns its description.
pub(super) fn read_auxiliary(
    cx: &Runs,
    kept: &SavedRun,
    own: &QuestionData,
    division: &DataSplit,
) -> Result<Vec<RunAuxiliary>, ProjectError> {
    if kept.choices.auxiliary.is_empty() {
        return Ok(Vec::new());
    }
    let held_out = held_out(cx, own, division, kept.choices.split)?;
    let read = |asked: &AuxiliaryQuestion| labels_of(&Source::open(asked, &cx.context)?, &held_out);
    let all: Vec<AuxiliaryLabels> = kept.choices.auxiliary.iter().map(read).collect::<Result<_, _>>()?;
    let path = cx.kept.make_folder(kept)?.join(AUXILIARY);
    let bytes = serde_json::to_vec(&all).map_err(|e| ProjectError::internal(&e))?;
    write_atomically(&path, &bytes).map_err(|e| io(&path, "writing", e))?;
    Ok(all.into_iter().map(|labels| labels.about).collect())
}

/// The stored auxiliary data, for a run that starts or is resumed.
pub(super) fn stored_auxiliary(kept: &SavedRun, folder: &Path) -> Result<Vec<AuxiliaryLabels>, ProjectError> {
    let expected = auxiliary_of(kept);
    if expected.is_empty() {
        return Ok(Vec::new());
    }
    let path = folder.join(AUXILIARY);
    let unreadable = |reason: String| {
        ProjectError::from(TrainingError::AuxiliaryLabels { run: kept.run.id.0, path: path.clone(), reason })
    };
    let bytes = std::fs::read(&path).map_err(|e| unreadable(e.to_string()))?;
    let found: Vec<AuxiliaryLabels> =
        serde_json::from_slice(&bytes).map_err(|e| unreadable(e.to_string()))?;
    if !found.iter().map(|labels| &labels.about).eq(&expected) {
        return Err(unreadable("it is of another run".to_owned()));
    }
    Ok(found)
}

fn held_out(
    cx: &Runs,
    own: &QuestionData,
    division: &DataSplit,
    split: SplitSpec,
) -> Result<HeldOut, ProjectError> {
    let mut own_texts: HashMap<[u8; 32], Vec<TextId>> = HashMap::new();
    let hashes: Vec<Option<[u8; 32]>> = cx.context.bodies()?.iter().map(|body| body_hash(body)).collect();
    for (text, hash) in own.texts.iter().zip(&hashes) {
        hash.iter().for_each(|hash| own_texts.entry(*hash).or_default().push(*text));
    }
    let scored = division.validation.iter().chain(division.test.observations());
    let mut rows: BTreeSet<usize> = scored.clone().map(|o| o.text as usize).collect();
    let groups: BTreeSet<u32> = rows.iter().filter_map(|row| own.groups[*row]).collect();
    let held = |row: &usize| match split {
        // Including texts whose labels are withheld by others, as in a shared task.
        SplitSpec::Column => own.parts[*row].is_some_and(|part| part != Split::Train),
        SplitSpec::Grouped(_) => own.groups[*row].is_some_and(|group| groups.contains(&group)),
        _ => false,
    };
    rows.extend((0..own.texts.len()).filter(held));
    let training: HashSet<u32> = division.train.iter().map(|o| o.annotator).collect();
    let held: HashSet<AnnotatorId> = scored
        .filter(|o| !training.contains(&o.annotator))
        .map(|o| own.annotators[o.annotator as usize])
        .collect();
    let index = cx.context.index();
    let held = index.annotators().iter().filter(|annotator| held.contains(&annotator.id));
    Ok(HeldOut {
        project: cx.context.store.project_id()?.0,
        bodies: rows.into_iter().filter_map(|row| hashes[row]).collect(),
        annotators: held.map(|annotator| annotator.external_id.clone()).collect(),
        own_texts,
    })
}

/// The labels of a question without those that the run scores and those of people whom it holds out.
fn labels_of(source: &Source, held_out: &HeldOut) -> Result<AuxiliaryLabels, ProjectError> {
    let Source { path, context, project, question } = source;
    let data = match context.question_data(question) {
        Err(ProjectError::NoLabels(_)) => return Err(source.no_labels()),
        data => data?,
    };
    let bodies = context.bodies()?;
    let names: BTreeMap<TextId, String> = context.store.all_text_ids_and_externals()?.into_iter().collect();
    let people: HashMap<AnnotatorId, String> =
        context.store.annotators()?.into_iter().map(|a| (a.id, a.external_id)).collect();
    let hashes: Vec<Option<[u8; 32]>> = bodies.iter().map(|body| body_hash(body)).collect();
    let is_scored = |text: u32| hashes[text as usize].is_some_and(|hash| held_out.bodies.contains(&hash));
    let is_held_out = |annotator: u32| {
        *project == held_out.project
            && people
                .get(&data.annotators[annotator as usize])
                .is_some_and(|name| held_out.annotators.contains(name))
    };
    let of_people: Vec<&Observation> =
        data.observations.iter().filter(|o| !is_held_out(o.annotator)).collect();
    let (scored, used): (Vec<&Observation>, Vec<&Observation>) =
        of_people.into_iter().partition(|o| is_scored(o.text));
    if used.is_empty() {
        return Err(source.no_labels());
    }
    let texts: Vec<u32> = used.iter().map(|o| o.text).collect::<BTreeSet<_>>().into_iter().collect();
    let annotators: Vec<u32> =
        used.iter().map(|o| o.annotator).collect::<BTreeSet<_>>().into_iter().collect();
    let place = |of: &[u32], row: u32| of.binary_search(&row).unwrap_or_default() as u32;
    let observations: Vec<Observation> = used
        .iter()
        .map(|o| Observation {
            text: place(&texts, o.text),
            annotator: place(&annotators, o.annotator),
            level: o.level,
        })
        .collect();
    let attributes = data.attributes.iter().map(|attribute| Attribute {
        of: annotators.iter().map(|row| attribute.of[*row as usize]).collect(),
        ..attribute.clone()
    });
    let same_bodies = texts
        .iter()
        .filter_map(|text| held_out.own_texts.get(&hashes[*text as usize]?))
        .flatten()
        .copied()
        .collect();
    let text_names = texts.iter().filter_map(|row| names.get(&data.texts[*row as usize]));
    let annotator_names = annotators.iter().filter_map(|row| people.get(&data.annotators[*row as usize]));
    Ok(AuxiliaryLabels {
        about: RunAuxiliary {
            project: project.to_string(),
            file: file_name(path),
            question: question.name.clone(),
            texts: texts.len() as u32,
            labels: observations.len() as u32,
            annotators: annotators.len() as u32,
            left_out_texts: scored.iter().map(|o| o.text).collect::<BTreeSet<_>>().len() as u32,
        },
        target: data.target(),
        bodies: texts.iter().map(|text| bodies[*text as usize].clone()).collect(),
        observations,
        annotators: annotators.len(),
        attributes: attributes.collect(),
        taught: OtherTrainingData::new(
            *project,
            text_names.map(String::as_str),
            texts.iter().map(|row| bodies[*row as usize].as_str()),
            annotator_names.map(String::as_str),
            same_bodies,
        ),
    })
}

/// What trains the encoder of a run in addition to its question; empty if it has not started.
pub(super) fn auxiliary_of(kept: &SavedRun) -> Vec<RunAuxiliary> {
    let of = kept.run.start.as_ref().and_then(|start| start.get("auxiliary").cloned());
    of.and_then(|of| serde_json::from_value(of).ok()).unwrap_or_default()
}

/// A project file's name without its folder.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
