//! The live models of a session: one for each question, learning label by label, fitted anew in the background.

use crate::clock::now_ms;
use crate::core::Core;
use crate::error::WorkbenchError;
use crate::event::Event;
use crate::jobs::{Activity, Observer, Unwatched, caught};
use crate::levels::level_of;
use crate::log::go_on;
use crate::project::Index;
use crate::session::Session;
use crate::sync::{lock, lock_or_reset};
use crate::view::{ActiveModel, DisagreementMeasure, Problem, Reveal};
use dissensus_domain::{AnnotatorId, Attributes, QuestionId, TextId};
use dissensus_perspectives::{
    AnnotatorModel, Disagreement, Embeddings, FitOptions, LabelChange, LiveModel, Measure, Observation,
    Progress, Target, TrainingData,
};
use dissensus_store::NewHead;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// The model that a head in the project belongs to.
const MODEL: &str = "multilevel";
/// A refit is due after so many changes, or after a twentieth of the labels it stands on, whichever is more.
const REFIT_AFTER: usize = 20;

type Slot = Arc<Mutex<Option<Fitted>>>;
type EmbeddingCache = Mutex<Option<(Arc<Embeddings>, Option<String>)>>;

/// Models, the embeddings they stand on, and a count of how often predictions changed.
#[derive(Default)]
pub(crate) struct LiveModels {
    slots: Mutex<HashMap<QuestionId, Slot>>,
    fitting: Mutex<HashMap<QuestionId, Arc<Mutex<()>>>>,
    revision: AtomicU32,
    pub(crate) embeddings: EmbeddingCache,
    pub(crate) encoding_problem: Mutex<Option<Problem>>,
    /// Held-out figures, and a gate for each question: one measurement at a time, and whoever waited finds it done.
    pub(crate) measured: Mutex<HashMap<QuestionId, crate::analysis::Measured>>,
    pub(crate) measuring: Mutex<HashMap<QuestionId, Arc<Mutex<()>>>>,
    /// The revision at which a question could not be fitted: it is not tried again before some more labels.
    failed: Mutex<HashMap<QuestionId, u32>>,
}

/// A model that is live.
pub(crate) struct Fitted {
    pub(crate) model: LiveModel,
    /// The encoder version it stands on.
    pub(crate) version: Option<String>,
    /// Labels at its last fit, and changes since.
    pub(crate) labels: usize,
    changes: usize,
    /// Changes since it was fitted, whether or not a fit is due.
    pub(crate) learned: u32,
    /// When it was fitted, or kept in the project.
    pub(crate) fitted_at_ms: i64,
    /// Measures over some annotators only, until a prediction changes.
    filtered: Option<(Attributes, Arc<Vec<Disagreement>>)>,
}

impl LiveModels {
    fn slot(&self, question: QuestionId) -> Slot {
        Arc::clone(lock(&self.slots).entry(question).or_default())
    }

    /// What `read` makes of the live model of a question; `None` while there is none.
    pub(crate) fn with<T>(&self, question: QuestionId, read: impl FnOnce(&mut Fitted) -> T) -> Option<T> {
        let slot = self.slot(question);
        // A model that was being updated when a thread panicked is dropped, and fitted again when it is next wanted.
        let mut slot = lock_or_reset(&slot);
        slot.as_mut().map(read)
    }

    /// A measure of every text over all annotators.
    pub(crate) fn scores(&self, question: QuestionId, by: &DisagreementMeasure) -> Option<Vec<f32>> {
        let measure = measure(by);
        self.with(question, |fitted| fitted.model.disagreements().iter().map(|d| measure.of(d)).collect())
    }

    /// Grows whenever a prediction of any question changes.
    pub(crate) fn revision(&self) -> u32 {
        self.revision.load(Ordering::Relaxed)
    }

    fn bump(&self) -> u32 {
        self.revision.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Makes room for people who were added; they start as the average person.
    pub(crate) fn welcome(&self, annotators: usize) {
        let slots: Vec<Slot> = lock(&self.slots).values().cloned().collect();
        for slot in slots {
            if let Some(fitted) = lock_or_reset(&slot).as_mut() {
                fitted.filtered = None;
                while fitted.model.annotators() < annotators {
                    fitted.model.add_annotator();
                }
            }
        }
        self.bump();
    }

    /// Texts or annotators have changed: every model is fitted anew when it is next wanted.
    pub(crate) fn forget_all(&self) {
        lock(&self.slots).clear();
        lock(&self.measured).clear();
        lock(&self.failed).clear();
        self.forget_embeddings();
        self.bump();
    }

    /// Embeddings have changed; models stay until they are fitted anew.
    pub(crate) fn forget_embeddings(&self) {
        *lock(&self.embeddings) = None;
    }
}

impl Fitted {
    /// What the models say of a text: the others' mean, and this annotator's own.
    pub(crate) fn reveal(&self, text: u32, annotator: u32) -> Option<Reveal> {
        if text as usize >= self.model.texts() {
            return None;
        }
        let everyone = self.model.annotators();
        let mut mine = vec![0.0; self.model.levels()];
        self.model.predict(text, annotator, &mut mine);
        let mean = self.model.mean_distribution(text);
        let among = (annotator as usize) < everyone;
        let others = if among { everyone.saturating_sub(1) } else { everyone };
        let mean_of_others = match (among, others) {
            (_, 0) => mean,
            (false, _) => mean,
            (true, n) => {
                let other = |(m, own): (&f32, &f32)| (m * everyone as f32 - own).max(0.0) / n as f32;
                mean.iter().zip(&mine).map(other).collect()
            }
        };
        Some(Reveal {
            others: mean_of_others,
            mine,
            annotators: others as u32,
            observed: None,
            pairwise: self.model.disagreement(text).pairwise,
        })
    }

    /// How much each text would teach this annotator's model; `None` for an annotator whom the model does not know yet.
    pub(crate) fn bald(&self, annotator: u32) -> Option<Vec<f32>> {
        ((annotator as usize) < self.model.annotators()).then(|| self.model.bald(annotator))
    }

    /// Measures over the annotators of `mask`, computed once for as long as predictions stay.
    pub(crate) fn filtered(&mut self, attributes: &Attributes, mask: &[bool]) -> Arc<Vec<Disagreement>> {
        if let Some((kept, measures)) = &self.filtered
            && kept == attributes
        {
            return Arc::clone(measures);
        }
        let measures = Arc::new(self.model.disagreements_of(mask));
        self.filtered = Some((attributes.clone(), Arc::clone(&measures)));
        measures
    }

    fn change(&mut self, change: LabelChange) -> bool {
        self.filtered = None;
        self.changes += 1;
        self.learned += 1;
        (change.text as usize) < self.model.texts() && self.model.apply_changes(&[change]).is_ok()
    }

    fn is_due(&self) -> bool {
        self.changes >= REFIT_AFTER.max(self.labels / 20)
    }
}

impl Session {
    /// Makes sure that the model of a question is live: kept from the last time and brought up to date, or fitted.
    ///
    /// # Errors
    /// The file cannot be read, or a cancel.
    pub fn fit(&self, question: QuestionId, observer: &dyn Observer) -> Result<(), WorkbenchError> {
        self.core.fit(question, false, observer)
    }

    /// Fits the model of a question on all labels, whatever there was, and keeps it in the project.
    ///
    /// # Errors
    /// As [`Session::fit`].
    pub fn fit_anew(&self, question: QuestionId, observer: &dyn Observer) -> Result<(), WorkbenchError> {
        self.core.fit(question, true, observer)
    }

    pub(crate) fn fit_in_background(&self) {
        // Without a thread there is no live model; labelling goes on, and views say what is missing.
        go_on("starting a fit", self.spawn("fit", |core| core.fit_all()));
    }

    /// Starts a refit where enough has changed since the last one, and a fit where an open window has no model.
    pub(crate) fn refit_when_due(&self, question: QuestionId) {
        let due = self.core.live.with(question, |fitted| {
            let due = fitted.is_due();
            if due {
                // Once: the counter starts again with the fit that this begins.
                fitted.changes = 0;
            }
            due
        });
        match due {
            Some(true) => drop(go_on("starting a fit", self.spawn("fit", move |core| core.refit(question)))),
            None => self.fit_where_wanted(question),
            Some(false) => {}
        }
    }

    /// Fits a question that has no live model, if this session works in the background and is not at it already.
    pub(crate) fn fit_where_wanted(&self, question: QuestionId) {
        if !self.core.in_background.load(Ordering::Relaxed) {
            return;
        }
        let live = &self.core.live;
        let failed = lock(&live.failed).get(&question).copied();
        if failed.is_some_and(|at| live.revision().wrapping_sub(at) < REFIT_AFTER as u32) {
            return;
        }
        let Ok(reserved) = self.core.reservations.reserve(Activity::Fit(question)) else { return };
        // Without a thread there is no live model; labelling goes on, and views say what is missing.
        let started = self.spawn("fit", move |core| {
            let _reserved = reserved;
            core.fit_quietly(question, false);
        });
        go_on("starting a fit", started);
    }
}

impl Session {
    /// What predicts for a question: which encoder, which model, fitted on what.
    ///
    /// # Errors
    /// No such question, or the file cannot be read.
    pub fn active_model(&self, question: QuestionId) -> Result<ActiveModel, WorkbenchError> {
        let core = &self.core;
        core.index().question(question).ok_or(WorkbenchError::NoQuestion)?;
        let active = core.active_encoder()?;
        let fitted = core.live.with(question, |fitted| {
            (fitted.labels, fitted.learned, fitted.fitted_at_ms, fitted.version.clone())
        });
        // A model on the embeddings of before is about to be fitted again, and is not what is asked for.
        let fitted = fitted.filter(|(.., version)| version.as_deref() == active.key());
        let current = active.current.as_ref();
        Ok(ActiveModel {
            question,
            encoder: active.key().map(str::to_owned),
            pooling: current.map(|encoder| encoder.pooling.to_string()),
            precision: current.map(|encoder| encoder.precision.to_string()),
            run: active.run,
            tuned: active.is_tuned(),
            model: MODEL.to_owned(),
            fitted_on: fitted.as_ref().map(|(labels, ..)| *labels as u32),
            learned_since: fitted.as_ref().map_or(0, |(_, learned, ..)| *learned),
            fitted_at: fitted.as_ref().map(|(.., at, _)| *at as f64),
            labels: core.observations(question)?.len() as u32,
        })
    }
}

impl Core {
    /// Fits every question that has no live model on the embeddings in use.
    pub(crate) fn fit_all(&self) {
        let questions: Vec<QuestionId> = self.index().questions().iter().map(|q| q.id).collect();
        for question in questions {
            if self.closing.is_set() {
                return;
            }
            self.fit_quietly(question, false);
        }
    }

    fn refit(&self, question: QuestionId) {
        self.fit_quietly(question, true);
    }

    /// Fits in the background. A question that cannot be fitted shows as one without predictions; its labels are safe.
    fn fit_quietly(&self, question: QuestionId, anew: bool) {
        let result = caught("fitting the model", || {
            self.fail_here("fit");
            self.fit(question, anew, &Closing(self))
        });
        match go_on("fitting a live model", result) {
            None => drop(lock(&self.live.failed).insert(question, self.live.revision())),
            Some(()) => drop(lock(&self.live.failed).remove(&question)),
        }
    }

    /// Lets the live model learn one change. Returns the revision of the predictions.
    pub(crate) fn learn(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
        level: Option<u16>,
    ) -> u32 {
        let rows = {
            let index = self.index();
            index.text_row(text).zip(index.annotator_row(annotator))
        };
        let slot = self.live.slot(question);
        let mut slot = lock_or_reset(&slot);
        if let (Some(fitted), Some((text, annotator))) = (slot.as_mut(), rows)
            && !fitted.change(LabelChange { text, annotator, level })
        {
            // A model that cannot follow is worse than none; it is fitted anew from the labels when next wanted.
            *slot = None;
        }
        self.live.bump()
    }

    /// Makes the model live: the one in memory, the one kept in the project, or a new fit.
    fn fit(&self, question: QuestionId, anew: bool, observer: &dyn Observer) -> Result<(), WorkbenchError> {
        // One fit of a question at a time; whoever waited finds it done.
        let gate = Arc::clone(lock(&self.live.fitting).entry(question).or_default());
        let _gate = lock(&gate);
        let (embeddings, version) = self.embeddings()?;
        let live =
            |fitted: &mut Fitted| fitted.version == version && fitted.model.texts() == embeddings.texts;
        if !anew && self.live.with(question, live) == Some(true) {
            return Ok(());
        }
        let target = {
            let index = self.index();
            let scale = &index.question(question).ok_or(WorkbenchError::NoQuestion)?.scale;
            Target { kind: scale.kind(), levels: scale.len() }
        };
        let kept =
            if anew { None } else { self.kept(question, version.as_deref(), target, embeddings.texts)? };
        let (mut model, fitted_at_ms, fresh) = match kept {
            Some((model, made_at_ms)) => (model, made_at_ms, false),
            None => (self.fitted(question, target, &embeddings, observer)?, now_ms(), true),
        };
        // With the slot locked no label is learned: what came while this was fitted is read from the project.
        let slot = self.live.slot(question);
        let mut slot = lock_or_reset(&slot);
        let index = self.index();
        while model.annotators() < index.annotators().len() {
            model.add_annotator();
        }
        let labels = self.observations_in(&index, model.texts(), question)?;
        let before = model.observations();
        let changes = differences(&before, &labels);
        let (fitted_on, learned) = (before.len(), changes.len() as u32);
        model.apply_changes(&changes)?;
        *slot = Some(Fitted {
            model,
            version,
            labels: fitted_on,
            changes: 0,
            learned,
            fitted_at_ms,
            filtered: None,
        });
        drop(slot);
        if fresh {
            self.keep_head(question);
        }
        self.listeners.send(&Event::Model { question, revision: self.live.bump() });
        Ok(())
    }

    /// The model kept in the project, if it fits and most of the labels are in it.
    fn kept(
        &self,
        question: QuestionId,
        version: Option<&str>,
        target: Target,
        texts: usize,
    ) -> Result<Option<(LiveModel, i64)>, WorkbenchError> {
        let Some(head) = self.store.head(question, version, MODEL)? else { return Ok(None) };
        // Bytes that cannot be read any more are no loss: the model is fitted from the labels.
        let Ok(model) = LiveModel::from_bytes(&head.weights) else { return Ok(None) };
        if model.texts() != texts
            || model.target() != target
            || model.annotators() > self.index().annotators().len()
        {
            return Ok(None);
        }
        let labels = self.observations_in(&self.index(), texts, question)?;
        let changes = differences(&model.observations(), &labels).len();
        Ok((changes <= REFIT_AFTER.max(labels.len() / 20)).then_some((model, head.made_at_ms)))
    }

    fn fitted(
        &self,
        question: QuestionId,
        target: Target,
        embeddings: &Embeddings,
        observer: &dyn Observer,
    ) -> Result<LiveModel, WorkbenchError> {
        let index = self.index();
        let observations = self.observations_in(&index, embeddings.texts, question)?;
        let annotators = index.annotators().len();
        let data =
            TrainingData { embeddings, observations: &observations, annotators, target, attributes: &[] };
        LiveModel::fit(&data, &FitOptions::default(), &mut Steps(observer)).map_err(cancelled)
    }

    /// The current labels as rows of the model's arrays.
    pub(crate) fn observations(&self, question: QuestionId) -> Result<Vec<Observation>, WorkbenchError> {
        let index = self.index();
        self.observations_in(&index, index.texts().len(), question)
    }

    /// As [`Core::observations`], of the first `texts` texts of one snapshot of the project: what is imported meanwhile stays
    /// out, so that labels, embeddings and annotators are of one moment.
    pub(crate) fn observations_in(
        &self,
        index: &Index,
        texts: usize,
        question: QuestionId,
    ) -> Result<Vec<Observation>, WorkbenchError> {
        let labels = self.store.current_labels(question)?;
        let row = |label: &dissensus_domain::CurrentLabel| {
            let (text, annotator) = (index.text_row(label.text)?, index.annotator_row(label.annotator)?);
            let level = level_of(&label.answer)?;
            ((text as usize) < texts).then_some(Observation { text, annotator, level })
        };
        Ok(labels.iter().filter_map(row).collect())
    }

    /// Keeps every live model that has learned since it was kept.
    pub(crate) fn keep_heads(&self) {
        let questions: Vec<QuestionId> = lock(&self.live.slots).keys().copied().collect();
        for question in questions {
            if self.live.with(question, |fitted| fitted.changes > 0) == Some(true) {
                self.keep_head(question);
            }
        }
    }

    fn keep_head(&self, question: QuestionId) {
        if self.store.is_reader() {
            return;
        }
        let head =
            self.live.with(question, |fitted| Some((fitted.model.to_bytes().ok()?, fitted.version.clone())));
        let Some(Some((weights, version))) = head else { return };
        // A head is derived: where it cannot be kept, the next session fits it again.
        let kept = self.store.put_head(NewHead {
            question,
            version,
            model: MODEL.to_owned(),
            made_at_ms: now_ms(),
            weights,
        });
        go_on("keeping a live model", kept);
    }
}

/// What turns the first labels into the second.
fn differences(from: &[Observation], to: &[Observation]) -> Vec<LabelChange> {
    let key = |o: &Observation| (o.text, o.annotator);
    let before: BTreeMap<(u32, u32), u16> = from.iter().map(|o| (key(o), o.level)).collect();
    let after: BTreeMap<(u32, u32), u16> = to.iter().map(|o| (key(o), o.level)).collect();
    let change =
        |(&(text, annotator), level): (&(u32, u32), Option<u16>)| LabelChange { text, annotator, level };
    let gone = before.keys().filter(|key| !after.contains_key(key)).map(|key| change((key, None)));
    let new = after.iter().filter(|(key, level)| before.get(key) != Some(level));
    gone.chain(new.map(|(key, level)| change((key, Some(*level))))).collect()
}

/// The measure of the models for the measure of the view.
pub(crate) fn measure(by: &DisagreementMeasure) -> Measure {
    match by {
        DisagreementMeasure::Pairwise => Measure::Pairwise,
        DisagreementMeasure::Divergence => Measure::Divergence,
        DisagreementMeasure::Uncertainty => Measure::Uncertainty,
    }
}

/// The error of a model as that of the use case, where `?` does not convert it.
pub(crate) fn cancelled(error: dissensus_perspectives::PerspectivesError) -> WorkbenchError {
    error.into()
}

/// Steps of a fit as steps of long work: in hundredths.
pub(crate) struct Steps<'a>(pub(crate) &'a dyn Observer);

impl Progress for Steps<'_> {
    fn report(&mut self, step: &str, done: f32) {
        self.0.step((done.clamp(0.0, 1.0) * 100.0) as u64, Some(100), step);
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Background work that ends with the session.
struct Closing<'a>(&'a Core);

impl Observer for Closing<'_> {
    fn step(&self, done: u64, total: Option<u64>, note: &str) {
        Unwatched.step(done, total, note);
    }

    fn cancelled(&self) -> bool {
        self.0.closing.is_set()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn o(text: u32, annotator: u32, level: u16) -> Observation {
        Observation { text, annotator, level }
    }

    #[test]
    fn differences_say_what_was_added_changed_and_taken_back() {
        let changes =
            differences(&[o(0, 0, 1), o(1, 0, 1), o(2, 0, 1)], &[o(0, 0, 1), o(1, 0, 2), o(3, 1, 0)]);
        let expected = [(2, 0, None), (1, 0, Some(2)), (3, 1, Some(0))];
        let expected = expected.map(|(text, annotator, level)| LabelChange { text, annotator, level });
        assert_eq!(changes, expected);
    }
}
