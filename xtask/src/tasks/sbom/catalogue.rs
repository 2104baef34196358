//! What is shipped besides packages: encoders, and what mdBook puts into the packed documentation.

use super::component::{Component, Kind};
use crate::book::MDBOOK;
use crate::project::Project;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;

/// What pages of the documentation contain: name and licence. Their version is that of mdBook.
const OF_PAGES: [(&str, &str); 4] = [
    ("highlight.js", "BSD-3-Clause"),
    ("mdbook", "MPL-2.0"),
    ("open-sans", "Apache-2.0"),
    ("source-code-pro", "OFL-1.1"),
];

#[derive(Deserialize)]
struct Catalogue {
    encoder: Vec<Encoder>,
}

#[derive(Deserialize)]
struct Encoder {
    name: String,
    licence: String,
    embedded: bool,
    hub: Option<Hub>,
    files: Vec<File>,
}

#[derive(Deserialize)]
struct Hub {
    repository: String,
    revision: String,
}

#[derive(Deserialize)]
struct File {
    path: String,
    sha256: String,
}

/// Reads the encoders from models/encoders.toml.
pub(super) fn read(project: &Project) -> Result<Vec<Component>> {
    let text = fs::read_to_string(project.root.join("models/encoders.toml"))
        .context("reading models/encoders.toml")?;
    let catalogue: Catalogue = toml::from_str(&text).context("reading models/encoders.toml")?;
    let mut components = Vec::new();
    for encoder in catalogue.encoder {
        let is_weights = |file: &&File| file.path.ends_with(".safetensors") || file.path.ends_with(".gguf");
        let weights = encoder.files.iter().find(is_weights);
        let weights = weights.with_context(|| format!("{} has no weights", encoder.name))?;
        let purl =
            encoder.hub.as_ref().map(|hub| format!("pkg:huggingface/{}@{}", hub.repository, hub.revision));
        components.push(Component {
            reference: format!("encoder/{}", encoder.name),
            kind: Kind::Model,
            version: encoder.hub.map_or_else(|| weights.sha256[..12].to_owned(), |hub| hub.revision),
            name: encoder.name,
            purl,
            licence: encoder.licence,
            hash: Some(("SHA-256", weights.sha256.clone())),
            is_optional: !encoder.embedded,
            ..Component::default()
        });
    }
    components.extend(OF_PAGES.map(|(name, licence)| Component {
        reference: format!("documentation/{name}"),
        kind: Kind::File,
        name: name.to_owned(),
        version: format!("as in mdBook {MDBOOK}"),
        licence: licence.to_owned(),
        ..Component::default()
    }));
    Ok(components)
}
