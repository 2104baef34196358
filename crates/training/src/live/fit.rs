//! Fitting a live model: from the state stored in the project, or from the labels.

use super::LiveModels;
use super::fitted::{Fitted, MODEL, add_annotators, refit_after};
use super::measured::MeasureCache;
use crate::encoding::Basis;
use dissensus_domain::{AnnotatorId, EventId, LevelId, QuestionId, TextId};
use dissensus_models::batch::PreparedTexts;
use dissensus_models::live::{LabelChange, LiveModel};
use dissensus_project::clock::now_ms;
use dissensus_project::context::attributes;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::jobs::Progress;
use dissensus_project::sync::{lock, lock_or_reset};
use dissensus_stats::data::{AnnotatorModel as _, Embeddings, FitOptions, Observation, Target, TrainingData};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

/// More events at once than this were not recorded by hand.
const EVENTS_AT_ONCE: u32 = 2_000;
/// How often a model that was just fitted catches up before it blocks new labels. Each round has less to
/// learn.
const ROUNDS_BEFORE_THE_LOCK: usize = 5;

impl LiveModels {
    /// Makes sure that the model of a question is live: loaded and brought up to date, or fitted.
    pub fn fit(&self, question: QuestionId, progress: &dyn Progress) -> Result<(), ProjectError> {
        self.make_all_live(question, false, progress)
    }

    /// Fits the model of a question on all labels, regardless of any earlier model, and stores it in the
    /// project.
    pub fn refit(&self, question: QuestionId, progress: &dyn Progress) -> Result<(), ProjectError> {
        self.make_all_live(question, true, progress)
    }

    /// Makes the model of a question live, or those of its options, as many at once as there are threads.
    pub(super) fn make_all_live(
        &self,
        question: QuestionId,
        anew: bool,
        progress: &dyn Progress,
    ) -> Result<(), ProjectError> {
        loop {
            let learned = self.context.index().learned(question);
            let result = match learned.as_slice() {
                [] => return Err(ProjectError::NoQuestion),
                [one] => self.make_live(*one, anew, None, progress),
                options => self.make_options_live(options, anew, progress),
            };
            // Options may have been added or removed meanwhile.
            if self.context.index().learned(question) == learned {
                return result;
            }
        }
    }

    fn make_options_live(
        &self,
        options: &[QuestionId],
        anew: bool,
        progress: &dyn Progress,
    ) -> Result<(), ProjectError> {
        let shared = OnceLock::new();
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let fit_next = || -> Result<(), ProjectError> {
            // Separate threads, not rayon's: the fit of an option waits for its gate, and distributes its
            // work over rayon.
            while let Some(option) = options.get(next.fetch_add(1, Ordering::Relaxed)) {
                let one = OneOfMany { progress, done: &done, all: options.len() as u64 };
                self.make_live(*option, anew, Some(&shared), &one)?;
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                progress.report(done, Some(options.len() as u64), "options");
            }
            Ok(())
        };
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(options.len());
        let ended = std::thread::scope(|scope| {
            let at_work: Vec<_> = (0..threads).map(|_| scope.spawn(fit_next)).collect();
            let ended = at_work.into_iter().map(ScopedJoinHandle::join);
            ended.map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic))).collect::<Vec<_>>()
        });
        ended.into_iter().collect()
    }

    /// Makes the model live: the one in memory, the one stored in the project, or a new fit.
    pub(super) fn make_live(
        &self,
        question: QuestionId,
        anew: bool,
        shared: Option<&SharedTexts>,
        progress: &dyn Progress,
    ) -> Result<(), ProjectError> {
        // One fit per question at a time; a caller that waited finds it done.
        let gate = self.models.gate(question);
        let _gate = lock(&gate);
        loop {
            let levels = self.levels(question)?;
            let result = self.make_live_on(question, &levels, anew, shared, progress);
            // If levels were added, removed or moved meanwhile, the columns of the new model may stand for
            // others.
            match result {
                Ok(false) => {}
                Err(_) if self.levels(question)? != levels => {}
                result => return result.map(drop),
            }
        }
    }

    /// The levels of a question, in the order of a model's columns.
    fn levels(&self, question: QuestionId) -> Result<Vec<LevelId>, ProjectError> {
        Ok(self.context.index().with_levels(question)?.scale.ids().to_vec())
    }

    /// Like [`LiveModels::make_live`], for columns that stand for `levels`. Returns whether these are still
    /// the levels of the question; otherwise the model was dropped.
    fn make_live_on(
        &self,
        question: QuestionId,
        levels: &[LevelId],
        anew: bool,
        shared: Option<&SharedTexts>,
        progress: &dyn Progress,
    ) -> Result<bool, ProjectError> {
        let generation = self.models.generation();
        let (embeddings, basis) = self.encoding.embeddings()?;
        let live = |fitted: &mut Fitted| {
            fitted.basis == basis && fitted.model.texts() == embeddings.texts && fitted.levels == levels
        };
        if !anew && self.models.with(question, live) == Some(true) {
            return Ok(true);
        }
        let target = {
            let index = self.context.index();
            let scale = &index.with_levels(question)?.scale;
            Target::from_scale(scale)
        };
        let kept = if anew { None } else { self.stored_model(question, &basis, target, embeddings.texts)? };
        let (fit, fresh) = match kept {
            Some(kept) => (kept, false),
            None => {
                let texts = shared.map(|shared| prepared(shared, &embeddings, &basis));
                (self.fitted(question, target, &embeddings, texts, progress)?, true)
            }
        };
        let Fit { mut model, labels, at_ms: fitted_at_ms, seen, learned } = fit;
        let mut known = LabelState { generation, seen };
        let mut caught_up = 0;
        // Labels wait for the lock of the slot, so nearly all that arrived during the fit are learned before
        // it is taken.
        for _ in 0..ROUNDS_BEFORE_THE_LOCK {
            match self.catch_up(question, &mut model, &mut known)? {
                0 => break,
                changes => caught_up += changes,
            }
        }
        // While the slot is locked no other thread learns labels.
        let slot = self.models.slot(question);
        let mut slot = lock_or_reset(&slot);
        caught_up += self.catch_up(question, &mut model, &mut known)?;
        if self.levels(question)? != levels {
            return Ok(false);
        }
        let learned = learned + caught_up;
        let mut fitted = Fitted {
            model,
            levels: levels.to_vec(),
            basis,
            labels,
            changes: caught_up as usize,
            learned,
            fitted_at_ms,
            kept: MeasureCache::default(),
        };
        // An import may have changed so much that a refit is due: labels, or people's attributes.
        fitted.follow_attributes(self.context.index().annotators());
        *slot = Some(fitted);
        drop(slot);
        if fresh {
            self.save_head(question);
        }
        self.context.listeners.send(&Event::Model { question, revision: self.models.next_revision() });
        Ok(true)
    }

    /// The model stored in the project, if it matches and has learned most of the labels.
    fn stored_model(
        &self,
        question: QuestionId,
        basis: &Basis,
        target: Target,
        texts: usize,
    ) -> Result<Option<Fit>, ProjectError> {
        // The stored model is based on the embeddings of all texts.
        if !basis.is_complete() {
            return Ok(None);
        }
        let version = basis.version.as_deref();
        let Some(head) = self.context.store.head(question, version, MODEL)? else { return Ok(None) };
        // A stored model that cannot be read is no loss: the model is fitted from the labels.
        let Ok(mut model) = LiveModel::from_bytes(&head.weights) else { return Ok(None) };
        // Read before the index, so that the author of every answer up to this event is in the index, unless
        // an import is just ending.
        let seen = self.context.store.last_event()?;
        let index = self.context.index();
        if model.texts() != texts || model.target() != target || model.annotators() > index.annotators().len()
        {
            return Ok(None);
        }
        let labels = self.context.observations_in(&index, texts, question)?;
        let changes = differences(model.observations(), labels.clone());
        let some = refit_after(labels.len());
        if changes.len() > some || !model.knows_attributes(&attributes(index.annotators()), some) {
            return Ok(None);
        }
        let fitted_on = model.labels();
        // People's groups are set before their labels are learned.
        add_annotators(&mut model, index.annotators());
        model.apply_changes(&changes)?;
        let learned = changes.len() as u32;
        Ok(Some(Fit { model, labels: fitted_on, at_ms: head.made_at_ms, seen, learned }))
    }

    fn fitted(
        &self,
        question: QuestionId,
        target: Target,
        embeddings: &Embeddings,
        texts: Option<PreparedTexts>,
        progress: &dyn Progress,
    ) -> Result<Fit, ProjectError> {
        // In this order, see `stored_model`.
        let seen = self.context.store.last_event()?;
        let index = self.context.index();
        let observations = self.context.observations_in(&index, embeddings.texts, question)?;
        let annotators = index.annotators().len();
        let attributes = attributes(index.annotators());
        let data = TrainingData {
            embeddings,
            observations: &observations,
            annotators,
            target,
            attributes: &attributes,
        };
        let options = options();
        let model = match texts {
            Some(texts) => LiveModel::fit_on(&texts, &data, &options, progress)?,
            None => LiveModel::fit(&data, &options, progress)?,
        };
        let end = model.estimation();
        tracing::info!(
            rounds = end.rounds,
            change = end.change,
            converged = end.converged,
            "variances estimated"
        );
        Ok(Fit { model, labels: observations.len(), at_ms: now_ms(), seen, learned: 0 })
    }

    /// Lets a model that is not live yet learn the events after `known`. Returns how many labels it learned.
    ///
    /// Current labels are read from the project, so it does not matter whether the model has seen an event
    /// already. Between an import's commit and the following update of the index, the project contains
    /// labels whose annotators or texts have no row yet. Their events stay unseen; when the index has been
    /// updated, everything is dropped and read completely here.
    pub fn catch_up(
        &self,
        question: QuestionId,
        model: &mut LiveModel,
        known: &mut LabelState,
    ) -> Result<u32, ProjectError> {
        let context = &self.context;
        let generation = self.models.generation();
        let events = context.store.events_since(known.seen, EVENTS_AT_ONCE)?;
        let whole = (generation != known.generation || events.len() == EVENTS_AT_ONCE as usize)
            .then(|| context.store.last_event())
            .transpose()?;
        // After the events, see `stored_model`.
        let index = context.index();
        let scale = &index.with_levels(question)?.scale;
        if whole.is_some() || model.annotators() < index.annotators().len() {
            add_annotators(model, index.annotators());
        }
        let changes = if let Some(seen) = whole {
            *known = LabelState { generation, seen };
            let labels = context.observations_in(&index, model.texts(), question)?;
            differences(model.observations(), labels)
        } else {
            let has_rows = |e: &&dissensus_domain::Event| {
                index.text_row(e.text).is_some() && index.annotator_row(e.annotator).is_some()
            };
            if let Some(last) = events.iter().take_while(has_rows).last() {
                known.seen = last.id;
            }
            let keys: BTreeSet<(TextId, AnnotatorId)> = events
                .iter()
                .filter(|e| e.question == question.row())
                .map(|e| (e.text, e.annotator))
                .collect();
            let mut changes = Vec::with_capacity(keys.len());
            for (text, annotator) in keys {
                let label = context.store.current_label(question, text, annotator)?;
                let level = label.and_then(|label| scale.index_of_answer(&label.answer));
                if let (Some(text), Some(annotator)) = (index.text_row(text), index.annotator_row(annotator))
                    && (text as usize) < model.texts()
                    && model.label(text, annotator) != level
                {
                    changes.push(LabelChange { text, annotator, level });
                }
            }
            changes
        };
        model.apply_changes(&changes)?;
        Ok(changes.len() as u32)
    }
}

/// What the options of a question share, with the embeddings on which it is based.
type SharedTexts = OnceLock<(Basis, PreparedTexts)>;

/// How live models are fitted.
fn options() -> FitOptions {
    FitOptions { severities_by_attributes: false, ..FitOptions::default() }
}

/// Returns the shared data, prepared by the first caller that needs it, and anew if the embeddings have
/// changed since.
fn prepared(shared: &SharedTexts, embeddings: &Embeddings, basis: &Basis) -> PreparedTexts {
    let make = || PreparedTexts::new(embeddings, &options());
    let (of, texts) = shared.get_or_init(|| (basis.clone(), make()));
    if of == basis && texts.texts() == embeddings.texts { texts.clone() } else { make() }
}

/// The fit of one option among others, whose own progress is not reported.
struct OneOfMany<'a> {
    progress: &'a dyn Progress,
    done: &'a AtomicU64,
    all: u64,
}

impl Progress for OneOfMany<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        self.progress.report(self.done.load(Ordering::Relaxed), Some(self.all), "options");
    }

    fn cancelled(&self) -> bool {
        self.progress.cancelled()
    }
}

/// The state of labels that a model knows.
pub struct LabelState {
    /// How often everything had been dropped, see [`super::Models::generation`].
    pub generation: u32,
    /// Events up to this one are included, and perhaps some later ones.
    pub seen: EventId,
}

/// A model that is about to become live.
struct Fit {
    model: LiveModel,
    /// Labels that it was fitted on.
    labels: usize,
    /// When it was fitted, or stored in the project.
    at_ms: i64,
    /// Events up to this one are included, and perhaps some later ones.
    seen: EventId,
    /// Labels learned since it was fitted.
    learned: u32,
}

/// The changes from the first labels to the second.
fn differences(mut from: Vec<Observation>, mut to: Vec<Observation>) -> Vec<LabelChange> {
    let key = |o: &Observation| (o.text, o.annotator);
    from.sort_unstable_by_key(key);
    to.sort_unstable_by_key(key);
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    let mut before = from.iter().peekable();
    for after in &to {
        while let Some(lost) = before.next_if(|before| key(before) < key(after)) {
            gone.push(LabelChange { text: lost.text, annotator: lost.annotator, level: None });
        }
        let same = before.next_if(|before| key(before) == key(after));
        if same.map(|before| before.level) != Some(after.level) {
            new.push(LabelChange { text: after.text, annotator: after.annotator, level: Some(after.level) });
        }
    }
    gone.extend(before.map(|lost| LabelChange { text: lost.text, annotator: lost.annotator, level: None }));
    gone.extend(new);
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn o(text: u32, annotator: u32, level: u16) -> Observation {
        Observation { text, annotator, level }
    }

    #[test]
    fn differences_list_added_changed_and_retracted() {
        let changes =
            differences(vec![o(0, 0, 1), o(1, 0, 1), o(2, 0, 1)], vec![o(3, 1, 0), o(0, 0, 1), o(1, 0, 2)]);
        let expected = [(2, 0, None), (1, 0, Some(2)), (3, 1, Some(0))];
        let expected = expected.map(|(text, annotator, level)| LabelChange { text, annotator, level });
        assert_eq!(changes, expected);
    }
}
