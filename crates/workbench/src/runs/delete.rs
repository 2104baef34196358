//! Deleting a run.

use super::Runs;
use super::data::started_on;
use crate::error::WorkbenchError;
use crate::saved_runs::encoder_name;
use dissensus_store::RunId;

impl Runs {
    /// Deletes a run and its files; files that are not its own stay. One whose encoder is in use is put out of use first.
    ///
    /// # Errors
    /// There is no such run, it is at work, its encoder is in use or an unfinished run started on it, or its files cannot be
    /// removed.
    pub fn delete(&self, id: u32) -> Result<(), WorkbenchError> {
        let context = &self.context;
        let kept = self.kept.get(id)?;
        if self.at_work.state(id).is_some() {
            return Err(WorkbenchError::Busy("training"));
        }
        let encoder = encoder_name(kept.run.uid);
        if let Some(unfinished) = self.unfinished_on(&encoder)? {
            return Err(WorkbenchError::EncoderNeeded { run: id, unfinished });
        }
        if self.encoding.run_in_use()? == Some(id) {
            self.use_run(None)?;
        }
        if !self.encoding.forget_encoder(&encoder)? {
            return Err(WorkbenchError::EncoderInUse(id));
        }
        self.kept.remove_folder(&kept)?;
        context.store.write(move |tx| tx.delete_run(RunId(id)))?;
        Ok(())
    }

    /// A run at work, or one that can be resumed, that started on the encoder of this name.
    fn unfinished_on(&self, encoder: &str) -> Result<Option<u32>, WorkbenchError> {
        for kept in self.kept.all()? {
            let started_on_it = started_on(&kept).is_some_and(|chosen| chosen.encoder == encoder);
            let goes_on = || -> Result<bool, WorkbenchError> {
                Ok(self.at_work.state(kept.run.id.0).is_some() || self.cannot_resume(&kept)?.is_none())
            };
            if started_on_it && goes_on()? {
                return Ok(Some(kept.run.id.0));
            }
        }
        Ok(None)
    }
}
