//! Which encoder a project uses, and where it is.

use crate::error::WorkbenchError;
use crate::home::Home;
use dissensus_encoder::{Catalogue, DeviceChoice, Encoder, EncoderError, EncoderOptions, Pooling, locate};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The setting of a project that holds its [`Chosen`] encoder.
pub(crate) const ENCODER_KEY: &str = "encoder";

/// What a person asked for. Nothing named: the project's encoder, else the default.
#[derive(Clone, Debug, Default)]
pub struct EncoderChoice {
    /// A name, or a folder.
    pub encoder: Option<String>,
    /// How token vectors become one.
    pub pooling: Option<Pooling>,
    /// Where to compute.
    pub device: DeviceChoice,
}

/// The encoder whose embeddings a project uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    /// Key of the encoder version.
    pub(crate) key: String,
    /// The name or folder it was opened by.
    pub(crate) encoder: String,
    /// How token vectors become one.
    pub(crate) pooling: Pooling,
}

/// A folder that holds an encoder, by the look of it.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
}

/// The default encoder's folder.
pub(crate) fn find_default(home: &Home) -> Result<Found, WorkbenchError> {
    let catalogue = Catalogue::embedded()?;
    let name = catalogue.default_encoder().map_or("all-MiniLM-L6-v2", |encoder| encoder.name.as_str());
    Ok(Found { dir: locate(name, home.models())?, name: name.to_owned() })
}

/// The folder of what was asked for, of what the project uses, or of the default, in this order.
pub(crate) fn find(
    home: &Home,
    asked: Option<&str>,
    chosen: Option<&Chosen>,
) -> Result<Found, WorkbenchError> {
    let Some(name) = asked.or(chosen.map(|chosen| chosen.encoder.as_str())) else {
        return find_default(home);
    };
    let folder = Path::new(name);
    if folder.is_dir() {
        // A project that is opened from another folder must still find it.
        let dir = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        return Ok(Found { name: dir.to_string_lossy().into_owned(), dir });
    }
    let looks_like_a_path = folder.components().count() > 1;
    if looks_like_a_path {
        return Err(EncoderError::NoFolder(folder.to_owned()).into());
    }
    Ok(Found { dir: locate(name, home.models())?, name: name.to_owned() })
}

/// Opens the encoder for a choice; pooling falls back to the project's when the encoder is the project's.
pub(crate) fn open(
    home: &Home,
    choice: &EncoderChoice,
    chosen: Option<&Chosen>,
) -> Result<(Encoder, Chosen, PathBuf), WorkbenchError> {
    let found = find(home, choice.encoder.as_deref(), chosen)?;
    let same = chosen.filter(|chosen| chosen.encoder == found.name);
    let pooling = choice.pooling.or(same.map(|chosen| chosen.pooling));
    let options = EncoderOptions { pooling, device: choice.device, ..EncoderOptions::default() };
    let encoder = Encoder::open(&found.dir, &options)?;
    let version = encoder.version();
    let chosen = Chosen { key: version.key(), encoder: found.name, pooling: version.pooling };
    Ok((encoder, chosen, found.dir))
}

/// Where `auto` computes in this build.
pub(crate) fn device_name() -> String {
    dissensus_encoder::auto_device().to_owned()
}
