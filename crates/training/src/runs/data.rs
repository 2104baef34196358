//! The input of a run: stored when it starts, and read again when it is resumed.
//!
//! Labels, annotators, texts and the encoder of a project continue to change while a run trains. A resumed
//! run must not be affected: it gets the input it started with, so that it reproduces the numbers of an
//! uninterrupted run. New runs read what they have just stored, so that there is only one code path.

use super::Runs;
use super::together;
use crate::encoding::encoders::SelectedEncoder;
use crate::encoding::first_texts;
use crate::error::TrainingError;
use crate::runs::auxiliary;
use crate::runs::held;
use crate::runs::words;
use crate::saved_runs::SavedRun;
use dissensus_api::{RunAuxiliary, Tuning};
use dissensus_domain::{AnnotatorId, QuestionId, Split, TextId};
use dissensus_neural::trainer::TrainConfig;
use dissensus_project::context::{QuestionData, SpanLabel};
use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use dissensus_selection::evaluation::{CopiesAcross, DataSplit, SplitColumns, SplitSpec, TestSet};
use dissensus_stats::data::{Attribute, Embeddings, ModelKind, Observation, Target, TrainingData};
use dissensus_store::{RunLabel, RunPart, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Reason for runs of format 2, which have no record of their input.
pub(super) const OLD_AND_CHANGED: &str =
    "it was started by an older version of Dissensus, and labels have changed since";

/// Marked spans, by the number of the question.
pub(super) type MarkedSpans = HashMap<u32, Vec<SpanLabel>>;

/// Stored with the run, in addition to its labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunStart {
    /// How many texts the project had; texts are only ever appended.
    texts: u32,
    last_text: u32,
    /// Annotators in the order of the model's rows.
    annotators: Vec<AnnotatorId>,
    /// Their attributes as they were.
    attributes: Vec<Attribute>,
    /// The encoder of the embeddings, or the one that is tuned.
    pub(super) encoder: Option<SelectedEncoder>,
    /// Texts left out of the test because that encoder was trained on them.
    left_out: usize,
    /// Whether its model learns from n-grams; runs from before n-grams do not.
    #[serde(default)]
    ngrams: bool,
    /// Test texts whose body is also in training or validation, and texts left out of the test because of
    /// that.
    #[serde(default)]
    copies_scored: usize,
    #[serde(default)]
    copies_left_out: usize,
    /// Whether the validation labels were drawn from the training labels, as they are if the official split
    /// names no validation texts. Unknown for older runs.
    #[serde(default)]
    drawn_validation: bool,
    /// What trains the encoder in addition to the question. Its labels are stored with the checkpoints until
    /// the run has finished.
    #[serde(default)]
    auxiliary: Vec<RunAuxiliary>,
    /// How many questions with spans also train the encoder by their words. The marked words are stored with
    /// the checkpoints until the run has finished.
    #[serde(default, skip_serializing_if = "is_zero")]
    learns_words: u32,
    /// Rows of the training texts of questions that were learned together with this one on one encoder,
    /// without this one's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    taught_by_others: Vec<u32>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How many questions with spans train the encoder of a run by their words; 0 if it has not started.
pub(super) fn learns_words(kept: &SavedRun) -> u32 {
    let start = kept.run.start.as_ref();
    start.and_then(|start| start.get("learns_words")?.as_u64()).map_or(0, |questions| questions as u32)
}

/// The labels of a division as stored with a run.
fn parts(data: &QuestionData, division: &DataSplit) -> Vec<(RunPart, Vec<RunLabel>)> {
    let ids = |labels: &[Observation]| -> Vec<RunLabel> {
        let label = |o: &Observation| RunLabel {
            text: data.texts[o.text as usize],
            annotator: data.annotators[o.annotator as usize],
            level: o.level,
        };
        labels.iter().map(label).collect()
    };
    vec![
        (RunPart::Train, ids(&division.train)),
        (RunPart::Validation, ids(&division.validation)),
        (RunPart::Test, ids(division.test.observations())),
    ]
}

/// The encoder that a run started with; none if it has not started, or without an encoder.
pub(super) fn started_on(kept: &SavedRun) -> Option<SelectedEncoder> {
    let start: RunStart = serde_json::from_value(kept.run.start.clone()?).ok()?;
    start.encoder
}

/// Test texts that a run left out because its encoder was trained on them. Reads only this field, because
/// the record may be large and the list needs nothing else.
pub(super) fn left_out_texts(kept: &SavedRun) -> u32 {
    let start = kept.run.start.as_ref();
    start.and_then(|start| start.get("left_out")?.as_u64()).map_or(0, |texts| texts as u32)
}

/// Whether a run is known to have drawn its validation labels from the training labels.
pub(super) fn drawn_validation(kept: &SavedRun) -> bool {
    let start = kept.run.start.as_ref();
    start.and_then(|start| start.get("drawn_validation")?.as_bool()) == Some(true)
}

/// The data of a run, as rows of arrays.
pub struct RunData {
    pub(super) target: Target,
    pub(super) texts: usize,
    pub(super) annotators: Vec<AnnotatorId>,
    attributes: Vec<Attribute>,
    pub(super) division: DataSplit,
    pub(super) encoder: Option<SelectedEncoder>,
    pub(super) left_out: usize,
    pub(super) ngrams: bool,
    copies_scored: usize,
    copies_left_out: usize,
    pub(super) taught_by_others: Vec<u32>,
    /// How many questions with spans train the encoder by their words.
    pub(super) learns_words: u32,
}

impl RunData {
    /// The training labels, over `embeddings` of the run's texts.
    pub(super) fn training<'a>(&'a self, embeddings: &'a Embeddings) -> TrainingData<'a> {
        TrainingData {
            embeddings,
            observations: &self.division.train,
            annotators: self.annotators.len(),
            target: self.target,
            attributes: &self.attributes,
        }
    }

    /// Notes on texts whose body occurs twice.
    pub(super) fn notes_of_copies(&self) -> Vec<String> {
        let texts = |count: usize| counted(count as u64, "text");
        let scored = (self.copies_scored > 0).then(|| {
            format!(
                "The body of {} of the test also occurs in training: the official split is used unchanged.",
                texts(self.copies_scored)
            )
        });
        let left_out = (self.copies_left_out > 0).then(|| {
            format!("{} left out of the test: the body also occurs in training.", texts(self.copies_left_out))
        });
        scored.into_iter().chain(left_out).collect()
    }

    /// The row of an annotator; a number beyond all rows for annotators who were added later and whom the
    /// model does not know.
    pub(super) fn row_of(&self, annotator: AnnotatorId) -> u32 {
        self.annotators.iter().position(|id| *id == annotator).map_or(u32::MAX, |row| row as u32)
    }
}

/// Divides the current labels and stores the input with the run, or with those that are trained as one.
/// Done only once for a run.
pub(super) fn start_on(
    cx: &Runs,
    together: &[SavedRun],
    config: &TrainConfig,
    split: SplitSpec,
) -> Result<(), ProjectError> {
    let [first, ..] = together else { return Err(ProjectError::NoQuestion) };
    let (of, spans) = data_of(cx, together)?;
    of[0].check_split(split)?;
    let texts = of[0].texts.len();
    if cx.context.index().texts().len() < texts {
        // An import has just ended and the index is about to follow it.
        return Err(ProjectError::Busy("import"));
    }
    // Convex models have no epochs to choose from, so all labels that are not scored are used for
    // training.
    let validation = if config.is_convex() { 0.0 } else { first.choices.validation };
    let seed = u64::from(first.choices.seed);
    let encoder = encoder_to_start_on(cx, first, texts)?;
    // For a run on frozen embeddings that is their encoder, for a run that tunes an encoder the one from
    // which it starts.
    let seen =
        cx.encoding.seen_by(encoder.as_ref().map(|encoder| encoder.key.as_str()), &cx.context.index())?;
    let seen = held::seen_before_with_frozen_heads(cx, &seen, &first.choices)?;
    let divisions = match &of[..] {
        [alone] => {
            let columns = SplitColumns { seen: seen.rows(), ..alone.columns() };
            // A run of format 2 was divided when copies of a text were not yet assigned to the same
            // part.
            let own: Vec<u32> = (0..texts as u32).collect();
            let columns = match is_divided(cx, first)? {
                true => SplitColumns { copies: &own, ..columns },
                false => columns,
            };
            vec![split.divide(&alone.data(&Embeddings::none(texts)), columns, seed, validation)?]
        }
        several => together::divide(split, several, seen.rows(), seed, validation)?,
    };
    let ngrams = if first.choices.tuning == Tuning::Frozen {
        cx.encoding.embeddings()?.0.ngrams.is_some()
    } else {
        config.network.model == ModelKind::Multilevel && cx.encoding.gives_ngrams(texts)?
    };
    let taught: BTreeSet<u32> =
        divisions.iter().flat_map(|division| &division.train).map(|o| o.text).collect();
    let learns_words = words::save_words_to_learn(cx, together, &of, &divisions, &spans)?;
    let mut starts = Vec::new();
    for ((kept, data), division) in together.iter().zip(&of).zip(&divisions) {
        seen.rows().check(&split.name(), division.test.texts())?;
        let parts = parts(data, division);
        check_old_division(cx, kept, &parts)?;
        let own: BTreeSet<u32> = division.train.iter().map(|o| o.text).collect();
        let start = RunStart {
            texts: texts as u32,
            last_text: data.texts.last().map_or(0, |id| id.0),
            annotators: data.annotators.clone(),
            attributes: data.attributes.clone(),
            encoder: encoder.clone(),
            left_out: division.test.left_out(),
            ngrams,
            copies_scored: division.copies.scored.len(),
            copies_left_out: division.copies.left_out,
            drawn_validation: split != SplitSpec::Column
                || division
                    .validation
                    .iter()
                    .any(|o| data.parts.get(o.text as usize) != Some(&Some(Split::Validation))),
            auxiliary: auxiliary::read_auxiliary(cx, kept, data, division)?,
            taught_by_others: taught.difference(&own).copied().collect(),
            learns_words,
        };
        let start = serde_json::to_value(start).map_err(|e| ProjectError::internal(&e))?;
        starts.push((kept.run.id, start, parts));
    }
    let kept = cx.context.store.write(move |tx| -> Result<(), StoreError> {
        starts.iter().try_for_each(|(run, start, parts)| tx.set_run_start(*run, start, parts))
    });
    Ok(kept?)
}

/// The labels of these runs, in their order, those of the options of one question as of one moment; and
/// for questions with spans, by their numbers, what was marked at that moment.
fn data_of(cx: &Runs, together: &[SavedRun]) -> Result<(Vec<QuestionData>, MarkedSpans), ProjectError> {
    let mut known: HashMap<QuestionId, QuestionData> = HashMap::new();
    let mut spans = HashMap::new();
    let mut of = Vec::new();
    for kept in together {
        let id = kept.choices.question;
        let without_slips = kept.choices.without_slips;
        cx.context.index().with_levels(id)?;
        if !known.contains_key(&id) {
            let row = id.row();
            let question = cx.context.index().question(row).cloned().ok_or(ProjectError::NoQuestion)?;
            let all = if question.scale.form().marks_words() {
                let (types, labels) = cx.context.span_data_of(&question, without_slips)?;
                spans.insert(row.0, labels);
                types
            } else {
                cx.context.learned_data_of(&question, without_slips)?
            };
            known.extend(all.into_iter().map(|data| (data.question.id, data)));
        }
        of.push(known.remove(&id).ok_or(ProjectError::NoQuestion)?);
    }
    Ok((of, spans))
}

/// The encoder that a run starts with: if it is frozen, all texts are encoded with it; if it is tuned,
/// its training data is known.
fn encoder_to_start_on(
    cx: &Runs,
    kept: &SavedRun,
    texts: usize,
) -> Result<Option<SelectedEncoder>, ProjectError> {
    let encoder = match held::encoder_of_held(cx, &kept.choices)? {
        None => cx.encoding.chosen()?,
        under_held => under_held,
    };
    let Some(chosen) = &encoder else { return Ok(None) };
    if kept.choices.tuning != Tuning::Frozen {
        cx.encoding.import_before_tuning(chosen)?;
    } else if (cx.context.store.embedding_count(&chosen.key)? as usize) < texts {
        // Another encoder was activated, or texts were imported, after the run was requested.
        return Err(TrainingError::NotEncoded(cx.context.store.path().to_owned()).into());
    }
    Ok(encoder)
}

/// Whether labels were already divided for this run, as for those of format 2.
fn is_divided(cx: &Runs, kept: &SavedRun) -> Result<bool, ProjectError> {
    Ok(!cx.context.store.run_labels(kept.run.id, RunPart::Train)?.labels.is_empty())
}

/// Checks that the labels of an interrupted run of format 2 are still divided as they were, so that it
/// can be resumed.
fn check_old_division(
    cx: &Runs,
    kept: &SavedRun,
    parts: &[(RunPart, Vec<RunLabel>)],
) -> Result<(), ProjectError> {
    for (part, labels) in parts.iter().filter(|(part, _)| *part != RunPart::Test) {
        let before = cx.context.store.run_labels(kept.run.id, *part)?.labels;
        if part == &RunPart::Train && before.is_empty() {
            return Ok(()); // a new run
        }
        if before != *labels {
            return Err(TrainingError::NotResumable { run: kept.run.id.0, reason: OLD_AND_CHANGED }.into());
        }
    }
    Ok(())
}

/// The input of a run.
pub fn run_data(cx: &Runs, kept: &SavedRun) -> Result<RunData, ProjectError> {
    cx.kept.has_same_levels(kept)?;
    let damaged = || ProjectError::from(TrainingError::DamagedRun(kept.run.id.0));
    let start: RunStart =
        kept.run.start.clone().and_then(|start| serde_json::from_value(start).ok()).ok_or_else(damaged)?;
    let index = cx.context.index();
    let question = index.with_levels(kept.choices.question)?;
    let texts = index.texts().get(..start.texts as usize).ok_or_else(damaged)?;
    if texts.last().map_or(0, |id| id.0) != start.last_text {
        return Err(damaged());
    }
    let text_rows: HashMap<TextId, u32> =
        texts.iter().enumerate().map(|(row, id)| (*id, row as u32)).collect();
    let annotator_rows: HashMap<AnnotatorId, u32> =
        start.annotators.iter().enumerate().map(|(row, id)| (*id, row as u32)).collect();
    let observations = |part: RunPart| -> Result<Vec<Observation>, ProjectError> {
        let labels = cx.context.store.run_labels(kept.run.id, part)?.labels;
        let row = |label: &RunLabel| {
            Some(Observation {
                text: *text_rows.get(&label.text)?,
                annotator: *annotator_rows.get(&label.annotator)?,
                level: label.level,
            })
        };
        labels.iter().map(row).collect::<Option<_>>().ok_or_else(damaged)
    };
    let division = DataSplit {
        train: observations(RunPart::Train)?,
        validation: observations(RunPart::Validation)?,
        test: TestSet::new(observations(RunPart::Test)?),
        copies: CopiesAcross::default(),
    };
    if start.attributes.iter().any(|attribute| attribute.of.len() != start.annotators.len())
        || start.taught_by_others.iter().any(|text| *text >= start.texts)
    {
        return Err(damaged());
    }
    Ok(RunData {
        target: Target::from_scale(&question.scale),
        texts: start.texts as usize,
        annotators: start.annotators,
        attributes: start.attributes,
        division,
        encoder: start.encoder,
        left_out: start.left_out,
        ngrams: start.ngrams,
        copies_scored: start.copies_scored,
        copies_left_out: start.copies_left_out,
        taught_by_others: start.taught_by_others,
        learns_words: start.learns_words,
    })
}

/// Embeddings of the run's texts by the encoder that it started with, regardless of the project's
/// current encoder.
pub(super) fn run_embeddings(cx: &Runs, data: &RunData) -> Result<Arc<Embeddings>, ProjectError> {
    let Some(encoder) = &data.encoder else { return Ok(Arc::new(Embeddings::none(data.texts))) };
    let all = match cx.encoding.embeddings()? {
        (all, basis) if basis.version.as_ref() == Some(&encoder.key) => all,
        _ if cx.context.store.embedding_count(&encoder.key)? == 0 => {
            return Ok(Arc::new(Embeddings::none(data.texts)));
        }
        _ => Arc::new(cx.encoding.embeddings_of(&encoder.key)?),
    };
    cx.encoding.with_ngrams_of_run(first_texts(&all, data.texts)?, data.ngrams)
}
