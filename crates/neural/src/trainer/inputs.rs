//! Inputs of training: labels, configuration, and the encoder to tune.

use super::config::TrainConfig;
use super::word_question::WordQuestion;
use crate::networks::{Network, NetworkModel};
use dissensus_encoder::{EncoderOptions, FreezePolicy};
use dissensus_stats::data::ModelError;
use dissensus_stats::data::{Attribute, Embeddings, ModelKind, Observation, Target, TrainingData};
use std::path::{Path, PathBuf};

/// An encoder to tune, and its texts.
#[derive(Clone, Copy, Debug)]
pub struct EncoderToTune<'a> {
    pub dir: &'a Path,
    /// Pooling, longest input, and device.
    pub options: &'a EncoderOptions,
    /// One text body for each row of the embeddings.
    pub texts: &'a [&'a str],
}

/// Labels of another question that the encoder learns from in addition to the project's own. They are not
/// used for scoring.
#[derive(Clone, Copy, Debug)]
pub struct AuxiliaryTask<'a> {
    /// One text body for each text of its labels.
    pub texts: &'a [&'a str],
    /// Its labels in any order, at most one per (text, annotator).
    pub observations: &'a [Observation],
    /// Number of annotators, who are different from those of the project's own question.
    pub annotators: usize,
    pub target: Target,
    /// The annotators' attributes.
    pub attributes: &'a [Attribute],
}

/// A further question on the training's own texts, which is learned together with the first one on the same
/// encoder, validated and scored.
#[derive(Clone, Copy, Debug)]
pub struct JointQuestion<'a> {
    /// Its labels, annotators and scale; the texts (rows of the embeddings) are those of the training.
    pub data: TrainingData<'a>,
    /// Labels that choose the best checkpoint, together with those of the other questions.
    pub validation: &'a [Observation],
    /// Weight of its mean loss relative to the others; more than 0.
    pub weight: f64,
}

/// One of the training's own questions, validated.
#[derive(Clone, Debug)]
pub(super) struct OwnQuestion<'a> {
    pub(super) data: TrainingData<'a>,
    pub(super) observations: Vec<Observation>,
    pub(super) validation: Vec<Observation>,
    pub(super) weight: f64,
    /// The network of an earlier training run, if it is frozen.
    pub(super) held: Option<Network>,
}

impl<'a> OwnQuestion<'a> {
    fn new(data: TrainingData<'a>, validation: &[Observation], weight: f64) -> Result<Self, ModelError> {
        let observations = data.sorted()?;
        let validation = TrainingData { observations: validation, ..data }.sorted()?;
        if observations.is_empty() {
            return Err(ModelError::EmptySplit { split: "training".into(), side: "train" });
        }
        Ok(Self { data, observations, validation, weight, held: None })
    }

    fn labels(&self) -> Labels<'_> {
        let (observations, held) = (&self.observations, self.held.as_ref());
        Labels { data: self.data, observations, weight: self.weight, first_row: 0, held }
    }
}

/// An auxiliary question, validated.
#[derive(Clone, Debug)]
pub(super) struct Auxiliary<'a> {
    pub(super) task: AuxiliaryTask<'a>,
    /// Empty embeddings with the number of texts.
    embeddings: Embeddings,
    pub(super) observations: Vec<Observation>,
}

impl Auxiliary<'_> {
    pub(super) fn data(&self) -> TrainingData<'_> {
        let AuxiliaryTask { observations, annotators, target, attributes, .. } = self.task;
        TrainingData { embeddings: &self.embeddings, observations, annotators, target, attributes }
    }
}

/// The labels of one of the questions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels<'a> {
    pub(super) data: TrainingData<'a>,
    pub(super) observations: &'a [Observation],
    /// Weight of its mean loss relative to other questions in the same steps.
    pub(super) weight: f64,
    /// Row of its first text among the bodies of all questions.
    first_row: u32,
    /// Its network, if it is frozen.
    pub(super) held: Option<&'a Network>,
}

impl Labels<'_> {
    /// Rows of these texts among the bodies of all questions.
    pub(super) fn rows(&self, texts: &[u32]) -> Vec<u32> {
        texts.iter().map(|text| self.first_row + text).collect()
    }
}

/// Questions whose steps use the same texts: the training's own, or one auxiliary question.
#[derive(Clone, Debug)]
pub(super) struct Together<'a> {
    pub(super) labels: Vec<Labels<'a>>,
    /// Texts with a label of any of them, ascending.
    pub(super) texts: Vec<u32>,
    /// Number of these texts in an epoch.
    pub(super) texts_in_epoch: usize,
    /// Words that are learned in the same steps.
    pub(super) words: Vec<WordQuestion<'a>>,
}

impl<'a> Together<'a> {
    fn new(labels: Vec<Labels<'a>>, words: &[WordQuestion<'a>]) -> Self {
        let mut texts: Vec<u32> = labels.iter().flat_map(|of| of.observations).map(|o| o.text).collect();
        texts.extend(words.iter().flat_map(|of| of.answers).map(|answer| answer.text));
        texts.sort_unstable();
        texts.dedup();
        Self { texts_in_epoch: texts.len(), labels, texts, words: words.to_vec() }
    }
}

/// A training run that has not begun.
#[derive(Clone, Debug)]
pub struct Trainer<'a> {
    /// Its own questions, the first of which provides the embeddings and the number of texts.
    pub(super) own: Vec<OwnQuestion<'a>>,
    /// Words that are learned on the same texts.
    pub(super) words: Vec<WordQuestion<'a>>,
    pub(super) encoder: Option<EncoderToTune<'a>>,
    pub(super) auxiliary: Vec<Auxiliary<'a>>,
    pub(super) config: TrainConfig,
    pub(super) folder: Option<PathBuf>,
    /// Step after which it ends, regardless of the plan.
    pub(super) ends_at: Option<u32>,
}

impl<'a> Trainer<'a> {
    /// Prepares training on the labels of `data`; `validation` are labels on other texts that choose the
    /// best checkpoint. With [`FreezePolicy::Frozen`] training uses the embeddings of `data`, else
    /// `encoder` must be given.
    ///
    /// # Errors
    /// What is wrong with the labels or the choices; [`ModelError::EmptySplit`] without labels.
    pub fn new(
        data: TrainingData<'a>,
        validation: &[Observation],
        encoder: Option<EncoderToTune<'a>>,
        config: TrainConfig,
    ) -> Result<Self, ModelError> {
        config.check()?;
        let own = OwnQuestion::new(data, validation, 1.0)?;
        let encoder = if config.policy == FreezePolicy::Frozen { None } else { encoder };
        if encoder.is_none() && (config.policy != FreezePolicy::Frozen || data.embeddings.dim == 0) {
            return Err(ModelError::Choice {
                field: "tuning",
                value: config.policy.to_string(),
                allowed: "a network learns on embeddings: encode the texts first",
            });
        }
        if let Some(encoder) = encoder
            && encoder.texts.len() != data.embeddings.texts
        {
            let (expected, found) = (data.embeddings.texts, encoder.texts.len());
            return Err(ModelError::Length { what: "the list of texts", expected, found });
        }
        Ok(Self {
            own: vec![own],
            words: Vec::new(),
            encoder,
            auxiliary: Vec::new(),
            config,
            folder: None,
            ends_at: None,
        })
    }

    /// Adds questions to learn together with the first one, each with a network of its own on the same
    /// encoder (multi-task learning with hard parameter sharing: Caruana 1997, doi
    /// 10.1023/A:1007379606734). A batch contains texts with a label of any of them, and each text is
    /// encoded once for all. Over an epoch the loss is the mean of the questions' mean losses over their
    /// labels, weighted by `weight` for the first and by [`JointQuestion::weight`] for the others: a
    /// question with many labels does not dominate the others. The best weights are those with the best
    /// weighted mean of the questions' validation scores. The learned heads are in
    /// [`Trained::into_heads`](super::Trained::into_heads), in this order.
    ///
    /// # Errors
    /// What is wrong with the labels; [`ModelError::Choice`] for a weight that is not positive;
    /// [`ModelError::Length`] where the texts differ; [`ModelError::EmptySplit`] without labels.
    pub fn with_questions(
        mut self,
        weight: f64,
        questions: &[JointQuestion<'a>],
    ) -> Result<Self, ModelError> {
        let weights = std::iter::once(weight).chain(questions.iter().map(|question| question.weight));
        if let Some(bad) = weights.into_iter().find(|weight| !weight.is_finite() || *weight <= 0.0) {
            let allowed = "the weight of a question is more than 0";
            return Err(ModelError::Choice { field: "weights", value: bad.to_string(), allowed });
        }
        self.own[0].weight = weight;
        let expected = self.own[0].data.embeddings.texts;
        for question in questions {
            let found = question.data.embeddings.texts;
            if found != expected {
                return Err(ModelError::Length { what: "the texts of a question", expected, found });
            }
            self.own.push(OwnQuestion::new(question.data, question.validation, question.weight)?);
        }
        Ok(self)
    }

    /// Freezes the network of its own question `nth` as an earlier training run left it: its weights get no
    /// updates, while its labels continue to train the encoder below it.
    ///
    /// # Errors
    /// [`ModelError::Choice`] where no encoder learns, for another model than that of the training run, or
    /// for `multilevel`, which is refitted; [`ModelError::Held`] where the network has other levels or
    /// annotators, or has no head for an annotator with training labels.
    pub fn holding(mut self, nth: usize, head: &NetworkModel) -> Result<Self, ModelError> {
        let model = self.config.network.model;
        let refused = |value: String, allowed: &'static str| {
            Err(ModelError::Choice { field: "freeze", value, allowed })
        };
        if self.encoder.is_none() {
            return refused(
                "a question".to_owned(),
                "an encoder must learn: what is held under one that stays is the run itself",
            );
        }
        let network = head.network();
        if model == ModelKind::Multilevel || network.spec.model != model {
            let allowed = "a head is held in a training of the same model, and not of multilevel, whose head is fitted anew";
            return refused(network.spec.model.name().to_owned(), allowed);
        }
        let Some(own) = self.own.get_mut(nth) else {
            return refused(format!("question {nth}"), "a question of the training");
        };
        let held = |reason: &'static str| Err(ModelError::Held(reason));
        if network.shape.target != own.data.target {
            return held("it has learned other levels");
        }
        if network.shape.annotators != own.data.annotators {
            return held("it has learned from other people than there are now");
        }
        let unknown = own.observations.iter().any(|o| !network.knows(o.annotator));
        if model == ModelKind::SepHeads && unknown {
            return held("it has no head for some of those whose labels are to be learned");
        }
        own.held = Some(network.clone());
        Ok(self)
    }

    /// Also trains the encoder on the words that annotators mark, by a linear head on the last hidden
    /// states of each question's words. It shares the steps of the training's own questions: a text is
    /// encoded once for all of them. The learned heads are in
    /// [`Trained::word_heads`](super::Trained::word_heads), in this order.
    ///
    /// # Errors
    /// [`ModelError::Choice`] where no encoder learns, where a soft prompt does, or for a weight that is
    /// not positive; [`ModelError::NotOverWords`] for a model other than `shared` and `multilevel`;
    /// [`ModelError::Length`] where texts, words or marks do not match; [`ModelError::EmptySplit`] without
    /// answers.
    pub fn with_words(mut self, questions: &[WordQuestion<'a>]) -> Result<Self, ModelError> {
        let prompt = matches!(self.config.policy, FreezePolicy::Prompt(_));
        if !questions.is_empty() && (self.encoder.is_none() || prompt) {
            return Err(ModelError::Choice {
                field: "tuning",
                value: self.config.policy.to_string(),
                allowed: "words are learned by an encoder that learns: tune it with last-K, lora or full",
            });
        }
        for question in questions {
            question.check(self.own[0].data.embeddings.texts)?;
            if !matches!(self.config.network.model, ModelKind::Shared | ModelKind::Multilevel) {
                return Err(ModelError::NotOverWords(self.config.network.model.name()));
            }
            self.words.push(*question);
        }
        Ok(self)
    }

    /// Also trains the encoder on these auxiliary questions, each with a network of its own. An epoch uses
    /// every text of the training data and, for each auxiliary question with more texts, as many as the
    /// geometric mean of both numbers of texts: it is sampled in proportion to the square root of its size
    /// (temperature 2; Raffel et al. 2020, arXiv 1910.10683, section 3.5.2). For one with fewer texts it
    /// uses every text once. Every step is on texts of one question, in an order drawn from the seed.
    /// Validation, the choice of the best weights and the predicting model consider only the training's own
    /// question.
    ///
    /// # Errors
    /// What is wrong with the labels; [`ModelError::Choice`] where no encoder learns;
    /// [`ModelError::EmptySplit`] without labels.
    pub fn with_auxiliary(mut self, tasks: &[AuxiliaryTask<'a>]) -> Result<Self, ModelError> {
        if self.encoder.is_none() && !tasks.is_empty() {
            return Err(ModelError::Choice {
                field: "tuning",
                value: self.config.policy.to_string(),
                allowed: "auxiliary questions teach an encoder: tune it with last-K, lora, prompt-N or full",
            });
        }
        for task in tasks {
            let embeddings = Embeddings::none(task.texts.len());
            let mut task = Auxiliary { task: *task, embeddings, observations: Vec::new() };
            task.observations = task.data().sorted()?;
            if task.observations.is_empty() {
                return Err(ModelError::EmptySplit { split: "auxiliary".into(), side: "train" });
            }
            self.auxiliary.push(task);
        }
        Ok(self)
    }

    /// Groups the labels of questions that share texts: the training's own first, then each auxiliary one.
    pub(super) fn labels(&self) -> Vec<Together<'_>> {
        let own = Together::new(self.own.iter().map(OwnQuestion::labels).collect(), &self.words);
        let texts = own.texts.len();
        let mut labels = vec![own];
        let mut first_row = self.own[0].data.embeddings.texts as u32;
        for other in &self.auxiliary {
            let (data, observations) = (other.data(), &other.observations);
            let own = Labels { data, observations, weight: 1.0, first_row, held: None };
            let mut stream = Together::new(vec![own], &[]);
            let all = stream.texts.len();
            let mean = (texts as f64 * all as f64).sqrt().round() as usize;
            stream.texts_in_epoch = mean.clamp(1, all);
            labels.push(stream);
            first_row += other.task.texts.len() as u32;
        }
        labels
    }

    /// The bodies of every question, those of the training's own first; empty with a frozen encoder.
    pub(super) fn bodies(&self) -> Vec<&'a str> {
        let own = self.encoder.iter().flat_map(|encoder| encoder.texts);
        own.chain(self.auxiliary.iter().flat_map(|other| other.task.texts)).copied().collect()
    }

    /// Number of steps in an epoch, over all questions.
    pub(super) fn steps_in_epoch(&self) -> u32 {
        let together = self.config.batch_size * self.config.gradient_accumulation_steps;
        let steps = |labels: &Together<'_>| labels.texts_in_epoch.div_ceil(together) as u32;
        self.labels().iter().map(steps).sum()
    }

    /// Stores checkpoints in `folder`, and resumes from the newest one there.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Ends after this step of the plan, with the learning rates of the whole plan until then: used to
    /// repeat a training run whose best step is known on more labels.
    #[must_use]
    pub(crate) fn ending_at(mut self, step: u32) -> Self {
        self.ends_at = Some(step);
        self
    }

    /// Number of planned steps, which the schedule of learning rates covers.
    pub(crate) fn planned_steps(&self) -> u32 {
        let planned = self.steps_in_epoch().saturating_mul(self.config.epochs);
        self.config.max_steps.map_or(planned, |most| most.min(planned))
    }
}
