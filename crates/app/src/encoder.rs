//! The default encoder: offer and download.

use super::Application;
use dissensus_api::EncoderOffer;
use dissensus_encoder::hub::HubConfig;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_training::encoding::download::{default_encoder, download, offer};
use std::path::PathBuf;

impl Application {
    /// The default encoder: name, size, source, and whether it is installed.
    ///
    /// # Errors
    /// The built-in catalogue is broken.
    pub fn encoder_offer(&self) -> Result<EncoderOffer, ProjectError> {
        let known = default_encoder()?;
        Ok(offer(&known, self.home(), &HubConfig::from_env()))
    }

    /// Downloads the default encoder into the user's folder of encoders and returns its folder. A download
    /// interrupted by cancellation or a broken connection is resumed at the next attempt.
    ///
    /// # Errors
    /// No connection, a full disk, cancellation, or a file whose SHA-256 differs from the catalogue's; then
    /// there is no folder under the encoder's name.
    pub fn download_encoder(&self, progress: &dyn Progress) -> Result<PathBuf, ProjectError> {
        download(&default_encoder()?, self.home(), &HubConfig::from_env(), progress)
    }
}
