//! Locates an encoder: one of the catalogue, a folder, a repository of the model hub, or one that a run of
//! this or of another project has tuned.

use super::Encoding;
use super::encoders::{self, EncoderChoice, EncoderLocation, SelectedEncoder};
use super::of_project;
use crate::saved_runs::{SavedRun, run_of_encoder};
use dissensus_encoder::Encoder;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use std::path::{Path, PathBuf};

impl Encoding {
    /// The folder of an encoder, see [`encoders::find`]; that of a run is looked up next to the project at
    /// its current location.
    pub(crate) fn find_encoder(
        &self,
        asked: Option<&str>,
        chosen: Option<&SelectedEncoder>,
    ) -> Result<EncoderLocation, ProjectError> {
        let Some(name) = asked.or(chosen.map(|chosen| chosen.encoder.as_str())) else {
            return encoders::find(&self.context.home, None, None);
        };
        if let Some(uid) = run_of_encoder(name) {
            return Ok(EncoderLocation { name: name.to_owned(), dir: self.saved_runs.encoder_folder(uid)? });
        }
        if let Some(kept) = self.run_of_old_path(name)? {
            return Ok(EncoderLocation {
                name: name.to_owned(),
                dir: self.saved_runs.folder(&kept)?.join("encoder"),
            });
        }
        match of_project::find(&self.context.home, self.context.store.file(), name)? {
            Some(found) => Ok(found),
            None => encoders::find(&self.context.home, asked, chosen),
        }
    }

    /// Opens the encoder for a choice, see [`encoders::open`]; that of a run is located by
    /// [`Encoding::find_encoder`].
    pub fn open_encoder(
        &self,
        choice: &EncoderChoice,
        chosen: Option<&SelectedEncoder>,
        progress: &dyn Progress,
    ) -> Result<(Encoder, SelectedEncoder, PathBuf), ProjectError> {
        let name = choice.encoder.as_deref().or(chosen.map(|chosen| chosen.encoder.as_str()));
        let of_a_run = match name {
            Some(name) => run_of_encoder(name).is_some() || self.run_of_old_path(name)?.is_some(),
            None => false,
        };
        if !of_a_run {
            let own = self.context.store.file();
            let of_another = name.map(|name| of_project::find(&self.context.home, own, name)).transpose()?;
            return match of_another.flatten() {
                Some(found) => encoders::open_found(found, choice, chosen),
                None => encoders::open(&self.context.home, choice, chosen, progress),
            };
        }
        let found = self.find_encoder(choice.encoder.as_deref(), chosen)?;
        encoders::open_found(found, choice, chosen)
    }

    /// The run of an encoder that format 2 stored as a path ending in `.runs/NUMBER/encoder`. The project
    /// may have been moved since.
    fn run_of_old_path(&self, name: &str) -> Result<Option<SavedRun>, ProjectError> {
        let path = Path::new(name);
        let Some(run) = self.run_in_use()? else { return Ok(None) };
        let is_its = path.ends_with(Path::new(&run.to_string()).join("encoder"));
        let of_a_run = path.ancestors().nth(2).and_then(Path::extension).is_some_and(|e| e == "runs");
        if !is_its || !of_a_run {
            return Ok(None);
        }
        let kept = self.saved_runs.get(run)?;
        Ok((kept.run.uid.get_version_num() == 8).then_some(kept))
    }
}
