//! Finding an encoder's folder by name.

use std::path::{Path, PathBuf};

use crate::catalogue::{Catalogue, KnownEncoder};
use crate::error::EncoderError;

/// Finds the folder of the encoder `name`: the first `PLACE/NAME` that is a folder.
///
/// # Errors
/// [`EncoderError::Missing`], whose message explains how to fetch it.
pub fn locate(name: &str, search: &[PathBuf]) -> Result<PathBuf, EncoderError> {
    let plain = Path::new(name).components().count() == 1 && !matches!(name, "." | "..");
    let found =
        if plain { search.iter().map(|place| place.join(name)).find(|dir| dir.is_dir()) } else { None };
    match found {
        Some(dir) => Ok(dir),
        None => Err(EncoderError::Missing {
            name: name.to_owned(),
            searched: search.to_vec(),
            advice: advice(name)?,
        }),
    }
}

fn advice(name: &str) -> Result<String, EncoderError> {
    let catalogue = Catalogue::embedded()?;
    let hub = |known: &KnownEncoder| {
        let hub = known.hub.as_ref();
        let named = hub.map(|hub| {
            format!(
                "use it under its name on the model hub (`dissensus models encode PROJECT --encoder {}`), or ",
                hub.repository
            )
        });
        named.unwrap_or_else(|| {
            "use another one of the model hub (`dissensus models encode PROJECT --encoder OWNER/NAME`) or the path of a folder, or ".to_owned()
        })
    };
    Ok(match catalogue.get(name) {
        Some(known) if known.embedded => format!(
            "download it in the window (Settings, Encoder), {}place a folder {name} in one of these",
            hub(known)
        ),
        Some(known) => format!("{}place a folder {name} in one of these", hub(known)),
        None => {
            let names: Vec<&str> = catalogue.encoders.iter().map(|e| e.name.as_str()).collect();
            format!(
                "it is not in the catalogue either ({}); place a folder {name} in one of these, or give the path of a folder",
                names.join(", ")
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_search_folder_wins() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(b.path().join("mine")).unwrap();
        let search = [a.path().to_owned(), b.path().to_owned()];
        assert_eq!(locate("mine", &search).unwrap(), b.path().join("mine"));
    }

    #[test]
    fn missing_encoder_error_suggests_a_command() {
        for known in Catalogue::embedded().unwrap().encoders {
            let error = locate(&known.name, &[PathBuf::from("models")]).unwrap_err();
            assert_eq!(error.code(), "encoder-missing");
            let message = error.to_string();
            assert!(
                message.contains("`dissensus models encode PROJECT --encoder ") && !message.contains("cargo"),
                "{message}"
            );
            assert_eq!(message.contains("Settings, Encoder"), known.embedded, "{message}");
        }
    }

    #[test]
    fn encoder_name_cannot_leave_the_search_folders() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("inner")).unwrap();
        assert!(locate("..", &[place.path().join("inner")]).is_err());
        assert!(locate("inner/../inner", &[place.path().to_owned()]).is_err());
    }
}
