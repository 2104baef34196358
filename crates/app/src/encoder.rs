//! The default encoder: offered, and downloaded.

use super::Workbench;
use dissensus_api::EncoderOffer;
use dissensus_encoder::hub::HubConfig;
use dissensus_project::error::WorkbenchError;
use dissensus_project::jobs::Progress;
use dissensus_training::encoding::download::{default_encoder, download, offer};
use std::path::PathBuf;

impl Workbench {
    /// The default encoder: what it is, how large, where it comes from, and whether it is here.
    ///
    /// # Errors
    /// The catalogue that was built in is broken.
    pub fn encoder_offer(&self) -> Result<EncoderOffer, WorkbenchError> {
        let known = default_encoder()?;
        Ok(offer(&known, self.home(), &HubConfig::from_env()))
    }

    /// Downloads the default encoder into the user's folder of encoders and returns its folder. What was downloaded before
    /// a cancel or a broken connection is kept, and the next try goes on from there.
    ///
    /// # Errors
    /// No connection, a full disk, a cancel, or a file with another SHA-256 than the catalogue's; then nothing is there
    /// under the encoder's name.
    pub fn download_encoder(&self, progress: &dyn Progress) -> Result<PathBuf, WorkbenchError> {
        download(&default_encoder()?, self.home(), &HubConfig::from_env(), progress)
    }
}
