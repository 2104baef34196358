//! Downloads an encoder of the catalogue into the user's folder of encoders; each file is checked before it
//! is used.

use dissensus_api::{EncoderFile, EncoderOffer};
use dissensus_encoder::hub::{self, HubConfig, HubName};
use dissensus_encoder::{Catalogue, EncoderError, KnownEncoder, Source, locate};
use dissensus_files::AtomicFolder;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::Progress;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The encoder that is downloaded by default.
pub fn default_encoder() -> Result<KnownEncoder, ProjectError> {
    let catalogue = Catalogue::embedded()?;
    let known = catalogue.default_encoder().cloned();
    known.ok_or_else(|| EncoderError::Catalogue("no encoder is marked `embedded`".to_owned()).into())
}

/// Describes a download before it starts.
pub fn offer(known: &KnownEncoder, home: &Home, config: &HubConfig) -> EncoderOffer {
    let bytes: u64 = from_hub(known).map(|file| file.bytes).sum();
    let repository = known.hub.as_ref().map_or("", |hub| hub.repository.as_str());
    EncoderOffer {
        name: known.name.clone(),
        about: known.about.clone(),
        licence: known.licence.clone(),
        bytes: bytes as f64,
        files: from_hub(known)
            .map(|file| EncoderFile {
                path: file.path.clone(),
                bytes: file.bytes as f64,
                sha256: file.sha256.clone(),
            })
            .collect(),
        source: format!("{}/{}", config.endpoint.trim_end_matches('/'), repository),
        folder: home.own_models().join(&known.name).to_string_lossy().into_owned(),
        installed: locate(&known.name, home.models()).is_ok(),
    }
}

/// The files that come from the hub.
fn from_hub(known: &KnownEncoder) -> impl Iterator<Item = &dissensus_encoder::KnownFile> {
    known.files.iter().filter(|file| file.only != Some(Source::Python))
}

/// Downloads an encoder into the user's folder of encoders.
pub fn download(
    known: &KnownEncoder,
    home: &Home,
    config: &HubConfig,
    progress: &dyn Progress,
) -> Result<PathBuf, ProjectError> {
    // By its commit, so that the files are those whose checksums are in the catalogue.
    let not_there = || EncoderError::Catalogue(format!("the model hub does not have \"{}\"", known.name));
    let at = known.hub.as_ref().ok_or_else(not_there)?;
    let repository: HubName = format!("{}@{}", at.repository, at.revision).parse()?;
    let reported = &mut |at: hub::Fetched| {
        progress.report(at.bytes, Some(at.total).filter(|total| *total > 0), &at.file);
        progress.flow()
    };
    let snapshot = hub::fetch(&repository, config, reported)?;
    let models = home.own_models();
    let fail = |path: &Path, doing| {
        let path = path.to_owned();
        move |source| ProjectError::Io { path, doing, source }
    };
    std::fs::create_dir_all(&models).map_err(fail(&models, "making the folder"))?;
    let target = models.join(&known.name);
    let part = AtomicFolder::create(&target).map_err(fail(&models, "making a folder in"))?;
    for file in from_hub(known) {
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        let (from, to) = (snapshot.join(&file.path), part.path().join(&file.path));
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(fail(folder, "making the folder"))?;
        }
        let found = copy(&from, &to).map_err(fail(&to, "writing"))?;
        if found != file.sha256 {
            // The damaged download must not be used the next time.
            let _ = std::fs::remove_file(from.canonicalize().unwrap_or(from));
            let (name, expected) = (known.name.clone(), file.sha256.clone());
            return Err(EncoderError::Checksum { name, path: to, expected, found }.into());
        }
    }
    if target.exists() {
        // The existing folder does not open, otherwise no download would have been requested. It is deleted
        // when this is dropped.
        let aside = tempfile::tempdir_in(&models).map_err(fail(&models, "making a folder in"))?;
        std::fs::rename(&target, aside.path().join("replaced")).map_err(fail(&target, "replacing"))?;
    }
    part.finish_new().map_err(fail(&target, "writing"))?;
    Ok(target)
}

/// Copies a file and returns its SHA-256 in lower-case hexadecimal.
fn copy(from: &Path, to: &Path) -> std::io::Result<String> {
    let (mut source, mut target) = (File::open(from)?, File::create_new(to)?);
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
        target.write_all(&buffer[..read])?;
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_encoder::{Encoder, EncoderOptions, HubSource, KnownFile, PythonSource};
    use dissensus_project::jobs::Silent;
    use dissensus_test_support::local_hub::{COMMIT, LocalHub, NAME, Trouble};
    use std::time::Duration;

    struct Setting {
        hub: LocalHub,
        config: HubConfig,
        home: Home,
        known: KnownEncoder,
        _folder: tempfile::TempDir,
    }

    fn setting() -> Setting {
        let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny");
        let hub = LocalHub::new(&tiny);
        let folder = tempfile::tempdir().unwrap();
        let config = HubConfig {
            endpoint: hub.endpoint(),
            cache: folder.path().join("cache"),
            token: None,
            offline: false,
            patience: Duration::from_secs(20),
        };
        let files = ["config.json", "tokenizer.json", "model.safetensors"].map(|path| {
            let bytes = std::fs::read(tiny.join(path)).unwrap();
            let sum = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            KnownFile { path: path.to_owned(), bytes: bytes.len() as u64, sha256: sum, only: None }
        });
        let known = KnownEncoder {
            name: "tiny".to_owned(),
            family: "bert".to_owned(),
            dim: 32,
            max_tokens: 64,
            licence: "MIT".to_owned(),
            embedded: true,
            fast: false,
            about: "For tests.".to_owned(),
            hub: Some(HubSource { repository: NAME.to_owned(), revision: COMMIT.to_owned() }),
            python: PythonSource {
                requirements: Vec::new(),
                folder: String::new(),
                platform: None,
                zip: None,
                packed: None,
            },
            files: files.to_vec(),
        };
        let home = Home::inside(folder.path(), vec![folder.path().join("models")]);
        Setting { hub, config, home, known, _folder: folder }
    }

    fn left_over(home: &Home) -> Vec<PathBuf> {
        let models = std::fs::read_dir(home.own_models());
        models.map_or_else(|_| Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
    }

    #[test]
    fn downloaded_encoder_is_found_by_its_name_and_opens() {
        let Setting { hub: _hub, config, home, known, .. } = setting();
        let offered = offer(&known, &home, &config);
        assert!(!offered.installed);
        let sums: Vec<_> = offered.files.iter().map(|file| &file.sha256).collect();
        assert_eq!(sums, known.files.iter().map(|file| &file.sha256).collect::<Vec<_>>());
        let folder = download(&known, &home, &config, &Silent).unwrap();
        assert_eq!(locate("tiny", home.models()).unwrap(), folder);
        assert!(offer(&known, &home, &config).installed);
        Encoder::open(&folder, &EncoderOptions::default()).unwrap();
        assert_eq!(left_over(&home), std::slice::from_ref(&folder), "nothing else is left");
        // Once more over one that is there, as after a damage.
        std::fs::write(folder.join("config.json"), "damaged").unwrap();
        download(&known, &home, &config, &Silent).unwrap();
        Encoder::open(&folder, &EncoderOptions::default()).unwrap();
        assert_eq!(left_over(&home), [folder]);
    }

    #[test]
    fn file_with_another_checksum_is_refused() {
        let Setting { hub: _hub, config, home, mut known, .. } = setting();
        known.files[2].sha256 = "0".repeat(64);
        let error = download(&known, &home, &config, &Silent).unwrap_err();
        assert!(error.to_string().contains("model.safetensors"), "{error}");
        assert!(left_over(&home).is_empty(), "{:?}", left_over(&home));
    }

    #[test]
    fn cancelled_download_can_be_resumed() {
        struct Stop;
        impl Progress for Stop {
            fn report(&self, _: u64, _: Option<u64>, _: &str) {}
            fn cancelled(&self) -> bool {
                true
            }
        }
        let Setting { hub, config, home, known, .. } = setting();
        hub.make(Trouble::Silent);
        assert_eq!(download(&known, &home, &config, &Stop).unwrap_err().code(), "cancelled");
        assert!(left_over(&home).is_empty());
        hub.make(Trouble::None);
        download(&known, &home, &config, &Silent).unwrap();
    }

    #[test]
    fn missing_connection_error_suggests_an_action() {
        let Setting { mut config, home, known, .. } = setting();
        config.endpoint = "http://127.0.0.1:9".to_owned();
        let error = download(&known, &home, &config, &Silent).unwrap_err();
        assert!(error.to_string().contains("127.0.0.1:9"), "{error}");
        assert!(left_over(&home).is_empty());
    }
}
