//! Deleting a run.

use super::Runs;
use crate::error::WorkbenchError;
use crate::kept_runs::encoder_name;
use dissensus_store::RunId;

impl Runs {
    /// Deletes a run and its files; files that are not its own stay. One whose encoder is in use is put out of use first.
    ///
    /// # Errors
    /// There is no such run, it is at work, or its files cannot be removed.
    pub fn delete(&self, id: u32) -> Result<(), WorkbenchError> {
        let context = &self.context;
        let kept = self.kept.get(id)?;
        if self.at_work.state(id).is_some() {
            return Err(WorkbenchError::Busy("training"));
        }
        if self.encoding.run_in_use()? == Some(id) {
            self.use_run(None)?;
        }
        if !self.encoding.forget_encoder(&encoder_name(kept.run.uid))? {
            return Err(WorkbenchError::EncoderInUse(id));
        }
        self.kept.remove_folder(&kept)?;
        context.store.write(move |tx| tx.delete_run(RunId(id)))?;
        Ok(())
    }
}
