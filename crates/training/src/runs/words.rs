//! Words that a training learns in addition to labels of whole texts, for a question with spans all of whose
//! types are learned on an encoder that is tuned.
//!
//! The marked words are read at the same moment as the labels of the types, divided in the same way, and
//! stored with the checkpoints until the run has finished. The learned heads are stored next to the tuned
//! encoder of every run of the training.

use super::Runs;
use super::member::Member;
use crate::error::TrainingError;
use crate::learned_words::{LearnedWords, form_print};
use crate::runs::data;
use crate::saved_runs::{SavedRun, TrainedWordScores, WORDS_TO_LEARN, io, run_of_encoder};
use dissensus_api::Tuning;
use dissensus_domain::{AnnotatorId, Question, QuestionId};
use dissensus_encoder::{Encoder, WordStates};
use dissensus_files::write_atomically;
use dissensus_models::mixed::MIN_CALIBRATION_TEXTS;
use dissensus_models::spans::{
    SpanAnswer, SpanModel, SpanPredictions, SpanTexts, SpanTraining, TypeHead, WordFeatures, WordFrequency,
};
use dissensus_neural::trainer::{WordHead, WordQuestion};
use dissensus_project::context::{QuestionData, SpanLabel};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::text_words::{Forms, columns, marks, words};
use dissensus_selection::evaluation::DataSplit;
use dissensus_stats::data::{ModelKind, Observation};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

/// File name of the learned words.
const LEARNED: &str = "words.json";
/// Texts whose words are read together.
const BATCH_TEXTS: usize = 64;

/// The answers to a question with spans for training and test.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WordLabels {
    /// Number of the question in the project.
    question: u32,
    types: u16,
    annotators: usize,
    train: Vec<StoredSpans>,
    validation: Vec<StoredSpans>,
    test: Vec<StoredSpans>,
}

/// One answer, by rows.
#[derive(Debug, Serialize, Deserialize)]
struct StoredSpans {
    text: u32,
    annotator: u32,
    /// Start, end and the position of the type on the scale.
    spans: Vec<(u32, u32, u16)>,
}

/// Whether a training with these choices learns words if it can.
pub(super) fn learns_words(kept: &SavedRun) -> bool {
    let tunes = !matches!(kept.choices.tuning, Tuning::Frozen | Tuning::Prompt);
    tunes && matches!(kept.choices.model, ModelKind::Shared | ModelKind::Multilevel)
}

/// The questions with spans all of whose types are learned, as indices among the runs of a training.
fn whole_questions<'a>(questions: &'a [Question], runs: &[QuestionId]) -> Vec<(&'a Question, Vec<usize>)> {
    let place = |option: &Question| runs.iter().position(|run| *run == option.id);
    questions
        .iter()
        .filter(|question| question.scale.form().marks_words())
        .filter_map(|question| {
            let places: Option<Vec<usize>> = question.options().iter().map(place).collect();
            Some((question, places?))
        })
        .collect()
}

impl WordLabels {
    fn new(question: &Question, data: &QuestionData, labels: &[SpanLabel], division: &DataSplit) -> Self {
        let part = |of: &[Observation]| -> Vec<StoredSpans> {
            let pairs: HashSet<(u32, u32)> = of.iter().map(|o| (o.text, o.annotator)).collect();
            labels
                .iter()
                .filter(|label| pairs.contains(&(label.text, label.annotator)))
                .map(|label| StoredSpans {
                    text: label.text,
                    annotator: label.annotator,
                    spans: columns(&label.spans, &question.scale),
                })
                .collect()
        };
        Self {
            question: question.id.row().0,
            types: question.scale.len() as u16,
            annotators: data.annotators.len(),
            train: part(&division.train),
            validation: part(&division.validation),
            test: part(division.test.observations()),
        }
    }
}

/// Stores the marked words that a training which is about to start learns, in the folder of its first
/// run; returns the number of questions. `spans` has the answers to questions with spans.
pub(super) fn save_words_to_learn(
    cx: &Runs,
    together: &[SavedRun],
    data: &[QuestionData],
    divisions: &[DataSplit],
    spans: &HashMap<u32, Vec<SpanLabel>>,
) -> Result<u32, ProjectError> {
    let Some(first) = together.first().filter(|first| learns_words(first)) else { return Ok(0) };
    let runs: Vec<QuestionId> = together.iter().map(|kept| kept.choices.question).collect();
    let questions = cx.context.index().questions().to_vec();
    let mut all = Vec::new();
    for (question, places) in whole_questions(&questions, &runs) {
        let (Some(at), Some(labels)) = (places.first(), spans.get(&question.id.row().0)) else { continue };
        all.push(WordLabels::new(question, &data[*at], labels, &divisions[*at]));
    }
    if all.is_empty() {
        return Ok(0);
    }
    let path = cx.kept.make_folder(first)?.join(WORDS_TO_LEARN);
    let bytes = serde_json::to_vec(&all).map_err(|e| ProjectError::internal(&e))?;
    write_atomically(&path, &bytes).map_err(|e| io(&path, "writing", e))?;
    Ok(all.len() as u32)
}

/// The marked words that a training learns, in the form that it uses; `bodies` are those of the
/// training's texts.
pub(super) fn words_to_learn(
    members: &[Member],
    folder: &Path,
    bodies: &[&str],
) -> Result<Vec<WordsAtWork>, ProjectError> {
    let Some(first) = members.first().filter(|member| member.data.learns_words > 0) else {
        return Ok(Vec::new());
    };
    let path = folder.join(WORDS_TO_LEARN);
    let run = first.kept.run.id.0;
    let unreadable =
        |reason: String| ProjectError::from(TrainingError::WordLabels { run, path: path.clone(), reason });
    let bytes = std::fs::read(&path).map_err(|e| unreadable(e.to_string()))?;
    let all: Vec<WordLabels> = serde_json::from_slice(&bytes).map_err(|e| unreadable(e.to_string()))?;
    if all.len() as u32 != first.data.learns_words {
        return Err(unreadable("it is of another run".to_owned()));
    }
    let runs: Vec<QuestionId> = members.iter().map(|member| member.kept.choices.question).collect();
    all.into_iter()
        .map(|labels| {
            let of_question =
                |(_, run): &(usize, &QuestionId)| run.row().0 == labels.question && run.option().is_some();
            let places: Vec<usize> =
                runs.iter().enumerate().filter(of_question).map(|(place, _)| place).collect();
            WordsAtWork::new(labels, places, bodies).map_err(&unreadable)
        })
        .collect()
}

/// Whether the marked words that a training learns are still stored; true if it learns none.
pub(super) fn words_exist(learns_words: u32, folder: &Path) -> bool {
    learns_words == 0 || folder.join(WORDS_TO_LEARN).is_file()
}

/// The marked words of a question during a training.
pub(super) struct WordsAtWork {
    labels: WordLabels,
    /// Indices of its types among the runs of the training.
    pub(super) members: Vec<usize>,
    /// For each text of the training, empty for those without answers.
    words: Vec<Vec<(u32, u32)>>,
    forms: Vec<Vec<u32>>,
    counts: Vec<Vec<f32>>,
    prints: Vec<u64>,
    train: Vec<SpanAnswer>,
    validation: Vec<SpanAnswer>,
    test: Vec<SpanAnswer>,
}

impl WordsAtWork {
    fn new(labels: WordLabels, members: Vec<usize>, bodies: &[&str]) -> Result<Self, String> {
        if members.len() != usize::from(labels.types) {
            return Err("it is of a question with other types".to_owned());
        }
        let mut at_work = Self {
            members,
            words: vec![Vec::new(); bodies.len()],
            forms: vec![Vec::new(); bodies.len()],
            counts: vec![Vec::new(); bodies.len()],
            prints: Vec::new(),
            train: Vec::new(),
            validation: Vec::new(),
            test: Vec::new(),
            labels,
        };
        let mut forms = Forms::default();
        let all = [&at_work.labels.train, &at_work.labels.validation, &at_work.labels.test];
        // Training texts first: ids of forms that were learned are the first ones.
        for part in &all {
            for text in part.iter().map(|answer| answer.text as usize).collect::<BTreeSet<_>>() {
                let body = bodies.get(text).ok_or("it names a text that is not there")?;
                at_work.words[text] = words(body);
                at_work.forms[text] = forms.add(body);
                let mut times: HashMap<u32, u32> = HashMap::new();
                at_work.forms[text].iter().for_each(|form| *times.entry(*form).or_insert(0) += 1);
                at_work.counts[text] =
                    at_work.forms[text].iter().map(|form| 1.0 / times[form] as f32).collect();
            }
            if at_work.prints.is_empty() {
                at_work.prints = forms.in_order().into_iter().map(form_print).collect();
            }
        }
        let read = |of: &[StoredSpans]| -> Result<Vec<SpanAnswer>, String> {
            of.iter()
                .map(|kept| {
                    let marks = marks(&at_work.words[kept.text as usize], &kept.spans);
                    Ok(SpanAnswer { text: kept.text, annotator: kept.annotator, marks })
                })
                .collect()
        };
        let labels = &at_work.labels;
        let (train, validation, test) =
            (read(&labels.train)?, read(&labels.validation)?, read(&labels.test)?);
        (at_work.train, at_work.validation, at_work.test) = (train, validation, test);
        Ok(at_work)
    }

    /// In the form that the trainer uses.
    pub(super) fn asked(&self, weight: f64) -> WordQuestion<'_> {
        WordQuestion {
            words: &self.words,
            counts: &self.counts,
            answers: &self.train,
            validation: &self.validation,
            annotators: self.labels.annotators,
            types: usize::from(self.labels.types),
            weight,
        }
    }

    /// The calibrated model of a learned head, and its scores on the test answers. `taught` marks the texts
    /// that its encoder, or one from which that was tuned, learned, or of which it learned a copy: they are
    /// not used for calibration.
    pub(super) fn finished(
        &self,
        head: &WordHead,
        encoder: &Encoder,
        bodies: &[&str],
        taught: &[bool],
        progress: &dyn Progress,
    ) -> Result<(LearnedWords, TrainedWordScores), ProjectError> {
        let answers = [&self.train[..], &self.validation, &self.test].concat();
        let rows: Vec<u32> =
            answers.iter().map(|answer| answer.text).collect::<BTreeSet<_>>().into_iter().collect();
        let texts = self.read(&rows, head, encoder, bodies, progress)?;
        let place = |text: u32| rows.binary_search(&text).unwrap_or_default() as u32;
        let answers: Vec<SpanAnswer> =
            answers.into_iter().map(|answer| SpanAnswer { text: place(answer.text), ..answer }).collect();
        let (train, rest) = (self.train.len(), self.train.len() + self.validation.len());
        let learned: Vec<usize> = (0..train).collect();
        let mut held_out: Vec<usize> =
            (train..rest).filter(|at| !taught[rows[answers[*at].text as usize] as usize]).collect();
        let calibrated: BTreeSet<u32> = held_out.iter().map(|at| answers[*at].text).collect();
        if calibrated.len() < MIN_CALIBRATION_TEXTS {
            held_out.clear();
        }
        let copies: Vec<u32> = (0..texts.len() as u32).collect();
        let of = SpanTraining {
            texts: &texts,
            answers: &answers,
            train: &learned,
            annotators: self.labels.annotators,
            types: usize::from(self.labels.types),
            copies: &copies,
            tuned_on: &[],
        };
        // Scores are used in place of hidden states, which take memory: each type's head is its own score.
        let types = of.types;
        let own: Vec<f32> =
            (0..types * types).map(|at| if at / types == at % types { 1.0 } else { 0.0 }).collect();
        let model = SpanModel::of_tuned(&of, &held_out, &own, &head.constants, head.with_readiness)?;
        let test: Vec<&SpanAnswer> = answers[rest..].iter().collect();
        let scores = |predictions: SpanPredictions| predictions.evaluation(&texts, &test, |_| true);
        // The baselines learn from the same answers as the model.
        let both: Vec<usize> = (0..rest).collect();
        let frequency = WordFrequency::fit(&texts, &answers, &both, of.annotators, of.types);
        let baselines = SpanPredictions::of_baselines(&frequency, &texts, &test, of.types);
        let (forms, heads) = self.stored_heads(model.type_heads(), head);
        let answers_learned = (train + held_out.len()) as u32;
        let learned = LearnedWords { question: self.labels.question, answers: answers_learned, forms, heads };
        let scores = TrainedWordScores {
            model: scores(SpanPredictions::of(&model, &texts, &test)),
            baselines: baselines.into_iter().map(scores).collect(),
            answers: [train as u32, held_out.len() as u32, test.len() as u32],
        };
        Ok((learned, scores))
    }

    /// Converts heads on scores to heads on hidden states, and returns them with the fingerprints of the
    /// forms that have an effect, ascending.
    fn stored_heads(&self, of_scores: Vec<TypeHead>, head: &WordHead) -> (Vec<u64>, Vec<TypeHead>) {
        let hidden = head.weights.len() / of_scores.len().max(1);
        let has_effect = |id: &usize| {
            of_scores.iter().any(|head| head.forms.get(*id).is_some_and(|effect| effect.abs() > 1e-6))
        };
        // Forms of test texts come last, and have none.
        let mut ids: Vec<usize> = (0..self.prints.len()).filter(has_effect).collect();
        ids.sort_unstable_by_key(|id| self.prints[*id]);
        let forms = ids.iter().map(|id| self.prints[*id]).collect();
        let on_states = |(of_type, scored): (usize, TypeHead)| {
            let slope = scored.states[of_type];
            let weights = &head.weights[of_type * hidden..(of_type + 1) * hidden];
            TypeHead {
                states: weights.iter().map(|weight| slope * weight).collect(),
                forms: ids.iter().map(|id| scored.forms.get(*id).copied().unwrap_or_default()).collect(),
                ..scored
            }
        };
        let heads = of_scores.clone().into_iter().enumerate().map(on_states).collect();
        (forms, heads)
    }

    /// Reads the words of these texts, each with its scores by the head (without constants) instead of
    /// hidden states.
    fn read(
        &self,
        rows: &[u32],
        head: &WordHead,
        encoder: &Encoder,
        bodies: &[&str],
        progress: &dyn Progress,
    ) -> Result<SpanTexts, ProjectError> {
        let alone = WordHead { constants: vec![0.0; head.constants.len()], ..head.clone() };
        let mut texts = SpanTexts::new(head.constants.len());
        for chunk in rows.chunks(BATCH_TEXTS) {
            progress.report(texts.len() as u64, Some(rows.len() as u64), "reading words");
            let borrowed: Vec<&str> = chunk.iter().map(|row| bodies[*row as usize]).collect();
            let places: Vec<Vec<(u32, u32)>> =
                chunk.iter().map(|row| self.words[*row as usize].clone()).collect();
            let mut scores: Vec<Vec<f32>> = vec![Vec::new(); chunk.len()];
            let whole = encoder.word_states(&borrowed, &places, WordStates::Last, |text, own| {
                scores[text] = alone.scores(&own).into_iter().map(|score| score as f32).collect();
                progress.flow()
            })?;
            if !whole {
                return Err(ProjectError::Cancelled);
            }
            for (states, row) in scores.iter().zip(chunk) {
                texts.push(WordFeatures { states, forms: &self.forms[*row as usize] })?;
            }
        }
        Ok(texts)
    }
}

/// Stores the learned words next to the tuned encoder in each of these folders.
pub(super) fn save_learned_words(
    learned: &[LearnedWords],
    folders: &[std::path::PathBuf],
) -> Result<(), ProjectError> {
    if learned.is_empty() {
        return Ok(());
    }
    let bytes = serde_json::to_vec(learned).map_err(|e| ProjectError::internal(&e))?;
    for folder in folders {
        let path = folder.join(LEARNED);
        write_atomically(&path, &bytes).map_err(|e| io(&path, "writing", e))?;
    }
    Ok(())
}

/// What the run whose encoder is named `encoder` has learned of the words of a question, also if another
/// run on that encoder predicts; none if it has learned none, or types were added, removed or moved since.
/// The name is that of the encoder that was opened, because the project may use another one by now.
pub fn learned_words(
    cx: &Runs,
    question: QuestionId,
    encoder: &str,
) -> Result<Option<(u32, LearnedWords)>, ProjectError> {
    let Some(uid) = run_of_encoder(encoder) else { return Ok(None) };
    let Some(run) = cx.context.store.run_by_uid(uid)?.map(|run| run.id.0) else { return Ok(None) };
    let kept = cx.kept.get(run)?;
    let learned = words_of_run(cx, &kept, question)?;
    Ok(match learned {
        Some(learned) if has_same_types(cx, &kept, question)? => Some((run, learned)),
        _ => None,
    })
}

/// What a run, or its training, has learned of the words of a question; none if it learned none.
///
/// # Errors
/// Its learned words cannot be read.
fn words_of_run(
    cx: &Runs,
    kept: &SavedRun,
    question: QuestionId,
) -> Result<Option<LearnedWords>, ProjectError> {
    let path = cx.kept.folder(kept)?.join(LEARNED);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(&path).map_err(|e| io(&path, "reading", e))?;
    let all: Vec<LearnedWords> = serde_json::from_slice(&bytes).map_err(|e| {
        ProjectError::from(TrainingError::WordLabels { run: kept.run.id.0, path, reason: e.to_string() })
    })?;
    Ok(all.into_iter().find(|learned| learned.question == question.row().0))
}

/// Whether a question with spans has the types, in that order, that the training of a run learned: learned
/// words name types by their positions. The run itself may be of another question of the training.
fn has_same_types(cx: &Runs, kept: &SavedRun, question: QuestionId) -> Result<bool, ProjectError> {
    for number in cx.kept.joint_numbers(kept)? {
        let of_training = cx.kept.get(number)?;
        if of_training.choices.question.row() == question.row() {
            return cx.kept.has_same_scale(&of_training);
        }
    }
    // Its runs were deleted, so that it is known only of a question that never changed.
    let versions = cx.context.store.question_versions(question)?;
    Ok(!versions.iter().any(|version| version.rearranged))
}

/// What a run has learned of the words of a question, and the annotators that it knows.
///
/// # Errors
/// There is no such run; its learned words are missing or cannot be read; types of the question were added,
/// removed or moved since.
pub fn words_with_people(
    cx: &Runs,
    run: u32,
    question: QuestionId,
) -> Result<(LearnedWords, Vec<AnnotatorId>), ProjectError> {
    let kept = cx.kept.get(run)?;
    let Some(learned) = words_of_run(cx, &kept, question)? else {
        let path = cx.kept.folder(&kept)?.join(LEARNED);
        return Err(TrainingError::WordLabels { run, path, reason: "it is not there".to_owned() }.into());
    };
    if !has_same_types(cx, &kept, question)? {
        return Err(ProjectError::OtherLevels(run));
    }
    Ok((learned, data::run_data(cx, &kept)?.annotators))
}
