//! Updates live models with one label, and returns their predictions for one text.

use super::LiveModels;
use super::fitted::Fitted;
use dissensus_api::TextPredictions;
use dissensus_domain::{AnnotatorId, Answer, Question, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock_or_reset;
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_stats::disagreement::Measure;
use std::num::NonZero;

/// Options per thread: starting a thread costs about as much as learning a label for so many options.
const OPTIONS_A_THREAD: usize = 4;

impl LiveModels {
    /// Updates the live models with one change: for a multi-label question those of all its options. Returns
    /// the revision of the predictions.
    pub fn learn(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
        answer: Option<&Answer>,
    ) -> u32 {
        let (rows, learned) = {
            let index = self.context.index();
            (index.text_row(text).zip(index.annotator_row(annotator)), index.learned(question))
        };
        let learn_some = &|some: &[QuestionId]| {
            for &one in some {
                let level = answer.and_then(|answer| answer.clone().to(one).level());
                let slot = self.models.slot(one);
                let mut slot = lock_or_reset(&slot);
                if let (Some(fitted), Some((text, annotator))) = (slot.as_mut(), rows)
                    && !fitted.learn(text, annotator, level)
                {
                    // A model that cannot follow is worse than none; it is fitted anew from the labels when
                    // next needed.
                    *slot = None;
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let share = learned.len().div_ceil(threads).max(OPTIONS_A_THREAD);
        // Separate threads, as for fits: a thread that waits for a slot must not block rayon for those who
        // hold it.
        std::thread::scope(|scope| {
            let mut shares = learned.chunks(share);
            let first = shares.next();
            shares.for_each(|some| drop(scope.spawn(move || learn_some(some))));
            first.into_iter().for_each(learn_some);
        });
        self.models.labels_of_all_changed(&learned)
    }

    /// The models' predictions for a text before this annotator's answer is learned. `None` while no model
    /// is live.
    pub fn predictions_on(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Option<TextPredictions> {
        let index = self.context.index();
        let (row, who) = (index.text_row(text)?, index.annotator_row(annotator)?);
        let asked = index.question(question)?;
        if asked.scale.form().marks_words() {
            // Others' marks are shown instead of the probability that they mark anything.
            return None;
        }
        let all = self.of_all(asked, |fitted| fitted.predictions_on(row, who)).ok()??;
        let mut predictions = match all.as_slice() {
            [one] => one.clone(),
            options => of_options(options)?,
        };
        let labels = self.context.store.current_labels_on(text, question).ok()?;
        let mut counts = vec![0.0_f32; predictions.others.len()];
        let mut all = 0.0;
        for label in labels.iter().filter(|label| label.annotator != annotator) {
            if matches!(label.answer, Answer::Spans(_) | Answer::CannotSay) {
                continue;
            }
            all += 1.0;
            let chosen = asked.scale.ids().iter().map(|level| label.answer.includes(*level));
            counts.iter_mut().zip(chosen).filter(|(_, chosen)| *chosen).for_each(|(count, _)| *count += 1.0);
        }
        predictions.observed = (all > 0.0).then(|| counts.iter().map(|count| count / all).collect());
        Some(predictions)
    }

    /// The prediction for this annotator: a probability per level, or for each option that it is chosen.
    /// `None` while no model is live, and for a question with spans.
    pub fn own_prediction(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Option<Vec<f32>> {
        let index = self.context.index();
        let (row, who) = (index.text_row(text)?, index.annotator_row(annotator)?);
        let asked = index.question(question)?;
        if asked.scale.form().marks_words() {
            return None;
        }
        let all = self.of_all(asked, |fitted| fitted.predictions_on(row, who)).ok()??;
        match all.as_slice() {
            [one] => Some(one.mine.clone()),
            options => Some(of_options(options)?.mine),
        }
    }

    /// How informative each text would be for the models of an annotator: for a multi-label question the sum
    /// over its options.
    pub fn bald(&self, question: QuestionId, annotator: AnnotatorId) -> Option<Vec<f32>> {
        let who = self.context.index().annotator_row(annotator)?;
        self.summed(question, |fitted| fitted.bald(who))
    }

    /// How split each text is over all annotators; for a multi-label question summed over its options.
    pub fn split(&self, question: QuestionId) -> Option<Vec<f32>> {
        self.summed(question, |fitted| Some(fitted.model.measure(Measure::Split, None)))
    }

    /// The sum over a question's options of the values of their models for each text, or the values of its
    /// only model; `None` unless all are live.
    fn summed(&self, question: QuestionId, of: impl Fn(&mut Fitted) -> Option<Vec<f32>>) -> Option<Vec<f32>> {
        let index = self.context.index();
        let all = self.of_all(index.question(question)?, of).ok()??;
        all.into_iter().reduce(|mut sums, values| {
            sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value);
            sums
        })
    }

    /// The results of `of` for the models of a question's options, or for its only model; `None` unless all
    /// are live, on the same embeddings of the same texts: during a refit some are still based on the
    /// earlier ones.
    ///
    /// # Errors
    /// Those of [`LiveModels::with`]; an option of `question` was removed meanwhile.
    pub fn of_all<T>(
        &self,
        question: &Question,
        of: impl Fn(&mut Fitted) -> Option<T>,
    ) -> Result<Option<Vec<T>>, ProjectError> {
        let mut all = Vec::new();
        let mut first = None;
        let options = question.options();
        let learned = if options.is_empty() { std::slice::from_ref(question) } else { &options };
        for one in learned {
            let result = self.with(one, |fitted| {
                let on = (fitted.basis.clone(), fitted.model.texts());
                of(fitted).map(|result| (on, result))
            });
            let Some((on, result)) = result?.flatten() else { return Ok(None) };
            if *first.get_or_insert_with(|| on.clone()) != on {
                return Ok(None);
            }
            all.push(result);
        }
        Ok(Some(all))
    }
}

/// Combines the predictions of yes/no models of options into those of their question.
fn of_options(options: &[TextPredictions]) -> Option<TextPredictions> {
    let yes = |of: fn(&TextPredictions) -> &Vec<f32>| -> Option<Vec<f32>> {
        options.iter().map(|option| of(option).get(1).copied()).collect()
    };
    Some(TextPredictions {
        others: yes(|option| &option.others)?,
        mine: yes(|option| &option.mine)?,
        annotators: options.first()?.annotators,
        observed: None,
        pairwise: options.iter().map(|option| option.pairwise).sum::<f32>() / options.len() as f32,
    })
}
