//! Fits in the background: if an open window has no model, and if enough has changed since the last fit.

use super::LiveModels;
use super::fitted::REFIT_AFTER;
use dissensus_domain::QuestionId;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Progress, caught};
use dissensus_project::log::go_on;

impl LiveModels {
    pub(crate) fn fit_in_background(&self) {
        // Without a thread there is no live model; labelling continues, and views report what is missing.
        go_on("starting a fit", self.fit_on_a_thread(Self::fit_all));
    }

    /// Starts a refit if enough has changed since the last one, and a fit if an open window has no model.
    pub fn refit_when_due(&self, question: QuestionId) {
        let learned = self.context.index().learned(question);
        let is_due = |one: &QuestionId| self.models.with(*one, |fitted| fitted.is_due());
        // All are read first: if one is missing, no other may lose its due refit.
        let due: Option<Vec<bool>> = learned.iter().map(is_due).collect();
        if let Some(due) = &due {
            for (one, _) in learned.iter().zip(due).filter(|(_, due)| **due) {
                // Only once: the counter restarts with the fit that begins here.
                self.models.with(*one, |fitted| fitted.changes = 0);
            }
        }
        match due.map(|due| due.contains(&true)) {
            Some(true) => drop(go_on(
                "starting a fit",
                self.fit_on_a_thread(move |live| live.fit_quietly(question, true)),
            )),
            None => self.fit_where_wanted(question),
            Some(false) => {}
        }
    }

    /// Fits a question that has no live model, if this session works in the background and is not already
    /// fitting it.
    pub fn fit_where_wanted(&self, question: QuestionId) {
        let wanted = self.context.works_in_background();
        if !wanted || self.models.failed_within(question, REFIT_AFTER as u32) {
            return;
        }
        let Ok(reserved) = self.context.reservations.reserve(Activity::Fit(question)) else { return };
        // Without a thread there is no live model; labelling continues, and views report what is missing.
        let started = self.fit_on_a_thread(move |live| {
            let _reserved = reserved;
            live.fit_quietly(question, false);
        });
        go_on("starting a fit", started);
    }

    /// Fits every question that has no live model on the embeddings in use.
    pub(crate) fn fit_all(&self) {
        let questions: Vec<QuestionId> = self.context.index().questions().iter().map(|q| q.id).collect();
        for question in questions {
            if self.context.threads.are_closing() {
                return;
            }
            self.fit_quietly(question, false);
        }
    }

    /// Fits in the background. A question that cannot be fitted is shown without predictions; its labels are
    /// safe.
    fn fit_quietly(&self, question: QuestionId, anew: bool) {
        let result = caught("fitting the model", || {
            self.context.fail_here("fit");
            self.make_all_live(question, anew, &Closing(self))
        });
        let fitted = go_on("fitting a live model", result).is_some();
        self.models.note_fit(question, fitted);
        if fitted && !self.context.threads.are_closing() {
            // Changes that were imported meanwhile.
            self.refit_when_due(question);
        }
    }

    /// Fits on a thread that the end of the session waits for.
    fn fit_on_a_thread(&self, fit: impl FnOnce(&Self) + Send + 'static) -> Result<(), ProjectError> {
        let live = self.clone();
        self.context.threads.spawn("fit", move || fit(&live))
    }
}

/// Background work that ends with the session.
struct Closing<'a>(&'a LiveModels);

impl Progress for Closing<'_> {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {}

    fn cancelled(&self) -> bool {
        self.0.context.threads.are_closing()
    }
}
