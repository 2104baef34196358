//! Using the encoder that a run has tuned.

use super::folder::{encoder_name, run_of_encoder};
use super::kept::Kept;
use crate::core::Core;
use crate::encoding::encoders::{self, Chosen, EncoderChoice, Found, tuned_options};
use crate::error::WorkbenchError;
use crate::jobs::Observer;
use crate::session::Session;
use crate::view::Tuning;
use dissensus_encoder::Encoder;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

impl Core {
    /// Live predictions come from `multilevel`, on the frozen encoder or on one that a run has tuned: the other models are not
    /// updated label by label.
    pub(super) fn can_be_used(&self, kept: &Kept) -> bool {
        let has_encoder = |folder: &Path| folder.join("encoder").join("config.json").is_file();
        kept.choices.model == "multilevel"
            && (kept.choices.tuning == Tuning::Frozen
                || self.find_run_folder(kept).own().is_some_and(has_encoder))
    }

    /// The frozen encoder of a run's embeddings, whichever the project uses now. Runs of format 2 do not say how to open it: it is the
    /// project's, or the one that was in use before a tuned one.
    pub(super) fn frozen_of(&self, kept: &Kept) -> Result<Option<Chosen>, WorkbenchError> {
        if kept.run.start.is_some() {
            return Ok(self.run_data(kept)?.encoder);
        }
        let active = self.active_encoder()?;
        let is_its = |chosen: &Chosen| kept.outcome.encoder.as_ref() == Some(&chosen.key);
        Ok(active.previous.filter(is_its).or(active.current))
    }

    /// The folder of an encoder, see [`encoders::find`]; that of a run is looked up beside the project as it is now.
    pub(crate) fn find_encoder(
        &self,
        asked: Option<&str>,
        chosen: Option<&Chosen>,
    ) -> Result<Found, WorkbenchError> {
        let Some(name) = asked.or(chosen.map(|chosen| chosen.encoder.as_str())) else {
            return encoders::find(&self.home, None, None);
        };
        if let Some(uid) = run_of_encoder(name) {
            return Ok(Found { name: name.to_owned(), dir: self.run_encoder_folder(uid)? });
        }
        if let Some(kept) = self.run_of_old_path(name)? {
            return Ok(Found { name: name.to_owned(), dir: self.run_folder(&kept)?.join("encoder") });
        }
        encoders::find(&self.home, asked, chosen)
    }

    /// Opens the encoder for a choice, see [`encoders::open`]; that of a run is looked up as in [`Core::find_encoder`].
    pub(crate) fn open_encoder(
        &self,
        choice: &EncoderChoice,
        chosen: Option<&Chosen>,
        observer: &dyn Observer,
    ) -> Result<(Encoder, Chosen, PathBuf), WorkbenchError> {
        let name = choice.encoder.as_deref().or(chosen.map(|chosen| chosen.encoder.as_str()));
        let of_a_run = match name {
            Some(name) => run_of_encoder(name).is_some() || self.run_of_old_path(name)?.is_some(),
            None => false,
        };
        if !of_a_run {
            return encoders::open(&self.home, choice, chosen, observer);
        }
        let found = self.find_encoder(choice.encoder.as_deref(), chosen)?;
        encoders::open_found(found, choice, chosen)
    }

    /// Format 2 kept a run's encoder as a path that ends in `.runs/NUMBER/encoder`. The project may have been moved since.
    fn run_of_old_path(&self, name: &str) -> Result<Option<Kept>, WorkbenchError> {
        let path = Path::new(name);
        let Some(run) = self.run_in_use()? else { return Ok(None) };
        let is_its = path.ends_with(Path::new(&run.to_string()).join("encoder"));
        let of_a_run = path.ancestors().nth(2).and_then(Path::extension).is_some_and(|e| e == "runs");
        if !is_its || !of_a_run {
            return Ok(None);
        }
        let kept = self.kept_run(run)?;
        Ok((kept.run.uid.get_version_num() == 8).then_some(kept))
    }
}

impl Session {
    /// Whose encoder the project uses: the tuned encoder of this run becomes the project's, what is not encoded with it is
    /// encoded in the background, and the live model is fitted on it. `None` goes back to the encoder that was in use before.
    ///
    /// # Errors
    /// There is no such run, it is not finished, its files are gone, or its model is not updated label by label.
    pub fn use_run(&self, id: Option<u32>) -> Result<(), WorkbenchError> {
        let core = &self.core;
        match id {
            None => core.stop_using_run()?,
            Some(id) => {
                let kept = core.kept_run(id)?;
                if kept.choices.tuning != Tuning::Frozen && kept.outcome.report.is_some() {
                    core.run_folder(&kept)?;
                }
                if kept.outcome.report.is_none() || !core.can_be_used(&kept) {
                    return Err(WorkbenchError::CannotPredict(id));
                }
                if kept.choices.tuning != Tuning::Frozen {
                    // Runs of format 2 did not keep it when they ended.
                    let folder = core.run_folder(&kept)?;
                    let parent = kept.outcome.encoder.as_deref();
                    core.keep_encoder_training_data(kept.run.id, &folder.join("encoder"), parent)?;
                    core.use_tuned_encoder(id, tuned(core, &kept)?)?;
                } else if !core.use_frozen_run(id, kept.outcome.encoder.clone())? {
                    let encoder = kept.outcome.encoder.unwrap_or_else(|| "no encoder".to_owned());
                    return Err(WorkbenchError::OtherEncoder { run: id, encoder });
                }
            }
        }
        if core.in_background.load(Ordering::Relaxed) {
            self.start_background_work();
        }
        Ok(())
    }
}

fn tuned(core: &Core, kept: &Kept) -> Result<Chosen, WorkbenchError> {
    let dir = core.run_folder(kept)?.join("encoder");
    let encoder = Encoder::open(&dir, &tuned_options(kept.outcome.encoder.as_deref()))?;
    // Before it is used: what trained it is found through its version, also while nothing is encoded with it.
    core.add_version(&encoder)?;
    // Not its path: project and folder can be moved.
    Ok(Chosen::new(encoder_name(kept.run.uid), encoder.version()))
}
