//! The training loop: epochs of steps, evaluations between them, and the best weights.

use super::history::EpochRecord;
use super::inputs::Trainer;
use super::stream::Window;
use super::trained::{StopReason, Trained};
use super::training::Training;
use dissensus_stats::data::progress::Progress;
use dissensus_stats::data::{ModelError, ModelKind};

impl Trainer<'_> {
    /// Trains to the end, or until the validation labels stop it early.
    ///
    /// # Errors
    /// [`ModelError::Cancelled`] with a checkpoint to resume from; [`ModelError::LossNotFinite`];
    /// [`ModelError::CheckpointMismatch`]; an I/O error, the encoder or the device.
    pub fn run(
        self,
        progress: &dyn Progress,
        mut evaluated: impl FnMut(&EpochRecord),
    ) -> Result<Trained, ModelError> {
        let mut training = Training::new(&self)?;
        training.resume_from_checkpoint()?;
        let ended = training.epochs(progress, &mut evaluated)?;
        training.finish(ended)
    }
}

impl Training<'_, '_> {
    fn epochs(
        &mut self,
        progress: &dyn Progress,
        evaluated: &mut dyn FnMut(&EpochRecord),
    ) -> Result<StopReason, ModelError> {
        if self.state.step == 0 {
            self.refit_and_score(false, progress)?;
        }
        if self.is_evaluation_due()
            && let Some(ended) = self.evaluate_and_checkpoint(progress, evaluated)?
        {
            return Ok(ended);
        }
        while self.state.step < self.last {
            let order = self.order();
            if self.state.step_in_epoch == 0
                && let Err(error) = self.refit_auxiliary(&order, progress)
            {
                if error == ModelError::Cancelled {
                    self.write_checkpoint()?;
                }
                return Err(error);
            }
            for window in order.iter().skip(self.state.step_in_epoch as usize) {
                if progress.cancelled() {
                    self.write_checkpoint()?;
                    return Err(ModelError::Cancelled);
                }
                self.step(window)?;
                progress.report(u64::from(self.state.step), Some(u64::from(self.last)), "training");
                if self.state.step_in_epoch == self.steps_in_epoch || self.state.step == self.last {
                    self.state.epoch += 1;
                    self.state.step_in_epoch = 0;
                }
                if self.is_evaluation_due()
                    && let Some(ended) = self.evaluate_and_checkpoint(progress, evaluated)?
                {
                    return Ok(ended);
                }
                if self.state.step == self.last {
                    break;
                }
            }
        }
        Ok(StopReason::AllSteps)
    }

    /// Whether the last step ended an epoch, or the interval that is evaluated instead of epochs, and has
    /// not been evaluated yet.
    fn is_evaluation_due(&self) -> bool {
        let step = self.state.step;
        let at_end = match self.config.eval_steps {
            None => self.state.step_in_epoch == 0,
            Some(n) => step.is_multiple_of(n),
        };
        step > 0
            && (at_end || step == self.last)
            && self.state.history.last().is_none_or(|record| record.step != step)
    }

    /// Evaluates and writes a checkpoint; returns why training stops, if it does. When interrupted, the
    /// evaluation is done on resumption.
    fn evaluate_and_checkpoint(
        &mut self,
        progress: &dyn Progress,
        evaluated: &mut dyn FnMut(&EpochRecord),
    ) -> Result<Option<StopReason>, ModelError> {
        match self.evaluate(progress) {
            Ok(record) => evaluated(record),
            Err(ModelError::Cancelled) => {
                self.write_checkpoint()?;
                return Err(ModelError::Cancelled);
            }
            Err(error) => return Err(error),
        }
        self.write_checkpoint()?;
        Ok(self.is_out_of_patience().then_some(StopReason::EarlyStopping))
    }

    /// Refits the heads of auxiliary questions on the texts of this epoch, where the model's head is fitted
    /// that way: their next steps start from there.
    fn refit_auxiliary(&mut self, order: &[Window], progress: &dyn Progress) -> Result<(), ModelError> {
        if self.config.network.model != ModelKind::Multilevel {
            return Ok(());
        }
        for at in 1..self.streams.len() {
            let (done, all) = (self.state.step.into(), self.last.into());
            progress.report(done, Some(all), "encoding texts of auxiliary questions");
            let of_stream = order.iter().filter(|window| window.stream == at);
            let places: Vec<usize> = of_stream.flat_map(|window| window.places.iter().copied()).collect();
            let [task] = &mut self.streams[at].tasks[..] else { continue };
            task.refit_on(places, &self.embedder, self.config.seeds.weights, progress)?;
            self.optimizer.forget(task.network.variables().iter().map(|(_, var)| var));
        }
        Ok(())
    }

    fn is_out_of_patience(&self) -> bool {
        let since = self.state.history.iter().rev().take_while(|record| !record.best).count();
        self.config.patience > 0 && since >= self.config.patience as usize
    }
}
