//! Selecting an encoder for a project, and locating it.

use dissensus_encoder::hub::{self, HubConfig, HubName};
use dissensus_encoder::{
    Catalogue, DeviceChoice, Encoder, EncoderError, EncoderOptions, EncoderVersion, LongTexts, Pooling,
    Precision, PrecisionChoice, Prompt, locate,
};
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use dissensus_project::jobs::Progress;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The user's choice of an encoder. If none is named: the project's encoder, otherwise the default.
#[derive(Clone, Debug, Default)]
pub struct EncoderChoice {
    /// A name, a folder, or a repository on the model hub as `owner/name`.
    pub encoder: Option<String>,
    /// How token vectors are combined into one.
    pub pooling: Option<Pooling>,
    /// The device of the computation.
    pub device: DeviceChoice,
    /// The precision of the computation.
    pub precision: Option<PrecisionChoice>,
    /// How texts are treated that are longer than the encoder reads at once.
    pub long_texts: Option<LongTexts>,
    /// The prompt that is put in front of every text.
    pub prompt: Option<Prompt>,
}

/// The encoder whose embeddings a project uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelectedEncoder {
    /// Key of the encoder version.
    pub key: String,
    /// The name, folder or repository that it was opened by.
    pub encoder: String,
    /// How token vectors are combined into one.
    pub(crate) pooling: Pooling,
    /// The precision of the computation; absent in projects from before it could be chosen.
    #[serde(default)]
    pub(crate) precision: Precision,
    /// How long texts are treated; projects from before it could be chosen cut them.
    #[serde(default = "cut")]
    pub(crate) long_texts: LongTexts,
    /// The prompt that is put in front of every text.
    #[serde(default)]
    pub(crate) prompt: Option<String>,
}

fn cut() -> LongTexts {
    LongTexts::Truncate
}

impl SelectedEncoder {
    /// An encoder opened under this name.
    pub(crate) fn new(encoder: String, version: &EncoderVersion) -> Self {
        Self {
            key: version.key(),
            encoder,
            pooling: version.pooling,
            precision: version.precision,
            long_texts: version.long_texts,
            prompt: version.prompt.clone(),
        }
    }

    /// The options with which opening its folder gives the same version again.
    pub(crate) fn options(&self) -> EncoderOptions {
        EncoderOptions {
            pooling: Some(self.pooling),
            precision: PrecisionChoice::Exactly(self.precision),
            long_texts: self.long_texts,
            prompt: Prompt::Text(self.prompt.clone().unwrap_or_default()),
            ..EncoderOptions::default()
        }
    }
}

/// A folder that appears to hold an encoder.
pub struct EncoderLocation {
    pub name: String,
    pub(crate) dir: PathBuf,
}

/// The default encoder's folder.
pub fn find_default(home: &Home) -> Result<EncoderLocation, ProjectError> {
    let catalogue = Catalogue::embedded()?;
    let name = catalogue.default_encoder().map_or("all-MiniLM-L6-v2", |encoder| encoder.name.as_str());
    Ok(EncoderLocation { dir: locate(name, home.models())?, name: name.to_owned() })
}

/// Finds the folder of the requested encoder, of the project's encoder, or of the default, in this order.
/// Makes no network request: a repository of the model hub is only found in the local cache.
pub(crate) fn find(
    home: &Home,
    asked: Option<&str>,
    chosen: Option<&SelectedEncoder>,
) -> Result<EncoderLocation, ProjectError> {
    let Some(name) = asked.or(chosen.map(|chosen| chosen.encoder.as_str())) else {
        return find_default(home);
    };
    if let Some(found) = find_folder(name) {
        return Ok(found);
    }
    if let Ok(repository) = name.parse::<HubName>() {
        return find_cached(&repository, &HubConfig::from_env());
    }
    if Path::new(name).is_file() {
        return Err(EncoderError::NotAFolder(name.into()).into());
    }
    let looks_like_a_path = Path::new(name).components().count() > 1;
    if looks_like_a_path {
        return Err(EncoderError::NoFolder(name.into()).into());
    }
    Ok(EncoderLocation { dir: locate(name, home.models())?, name: name.to_owned() })
}

/// Finds an encoder as [`find`] does, and downloads a repository of the model hub if the user names one.
pub(crate) fn find_or_fetch(
    home: &Home,
    asked: Option<&str>,
    chosen: Option<&SelectedEncoder>,
    progress: &dyn Progress,
) -> Result<EncoderLocation, ProjectError> {
    match asked.filter(|name| find_folder(name).is_none()).map(|name| (name, name.parse::<HubName>())) {
        Some((name, Ok(repository))) => fetch(name, &repository, &HubConfig::from_env(), progress),
        _ => find(home, asked, chosen),
    }
}

/// The folder of the encoder of this name (or of the default one), downloaded if it is a repository of the
/// model hub that is not cached yet.
///
/// # Errors
/// There is none of that name, it cannot be downloaded, or cancellation.
pub fn encoder_folder(
    home: &Home,
    name: Option<&str>,
    progress: &dyn Progress,
) -> Result<PathBuf, ProjectError> {
    Ok(find_or_fetch(home, name, None, progress)?.dir)
}

fn find_folder(name: &str) -> Option<EncoderLocation> {
    let folder = Path::new(name);
    let is_gguf = folder.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"));
    (folder.is_dir() || (is_gguf && folder.is_file())).then(|| {
        // An absolute path, so that a project that is opened from another folder still finds it. The name of
        // a file is not resolved: a model hub's cache has links to files that are named by their hash.
        let found = if is_gguf { std::path::absolute(folder) } else { folder.canonicalize() };
        let dir = found.unwrap_or_else(|_| folder.to_owned());
        EncoderLocation { name: dir.to_string_lossy().into_owned(), dir }
    })
}

fn find_cached(repository: &HubName, config: &HubConfig) -> Result<EncoderLocation, ProjectError> {
    let name = repository.to_string();
    match hub::cached(repository, config) {
        Some(dir) => Ok(EncoderLocation { name, dir }),
        None => Err(EncoderError::Missing {
            advice: format!("fetch it with `dissensus models encode PROJECT --encoder {name}`"),
            name,
            searched: vec![config.cache.clone()],
        }
        .into()),
    }
}

fn fetch(
    name: &str,
    repository: &HubName,
    config: &HubConfig,
    progress: &dyn Progress,
) -> Result<EncoderLocation, ProjectError> {
    let owner = Path::new(name).parent().filter(|_| !name.contains('@'));
    if owner.is_some_and(Path::is_dir) {
        // More likely a typo in a path than a repository; the name is not sent to the hub.
        return Err(EncoderError::NoFolder(name.into()).into());
    }
    let reported = &mut |at: hub::Fetched| {
        progress.report(0, None, &fetching(&at));
        progress.flow()
    };
    match hub::fetch(repository, config, reported) {
        Ok(dir) => Ok(EncoderLocation { name: repository.to_string(), dir }),
        Err(problem @ (EncoderError::HubNotFound { .. } | EncoderError::HubClosed { .. })) => {
            let (name, problem) = (name.to_owned(), Box::new(problem));
            Err(EncoderError::NeitherFolderNorHub { name, problem }.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// For example `fetching model.safetensors, 12.4 of 90.9 MB`.
fn fetching(at: &hub::Fetched) -> String {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let file = if at.file.is_empty() { "the list of files" } else { &at.file };
    format!("fetching {file}, {:.1} of {:.1} MB", megabytes(at.bytes), megabytes(at.total))
}

/// Opens the encoder for a choice; unset options fall back to the project's if the encoder is the project's.
pub(crate) fn open(
    home: &Home,
    choice: &EncoderChoice,
    chosen: Option<&SelectedEncoder>,
    progress: &dyn Progress,
) -> Result<(Encoder, SelectedEncoder, PathBuf), ProjectError> {
    let found = find_or_fetch(home, choice.encoder.as_deref(), chosen, progress)?;
    open_found(found, choice, chosen)
}

/// Opens an encoder that was already found, with the options of [`open`].
pub(crate) fn open_found(
    found: EncoderLocation,
    choice: &EncoderChoice,
    chosen: Option<&SelectedEncoder>,
) -> Result<(Encoder, SelectedEncoder, PathBuf), ProjectError> {
    let same = chosen.filter(|chosen| chosen.encoder == found.name);
    let kept = same.map(SelectedEncoder::options).unwrap_or_default();
    let options = EncoderOptions {
        pooling: choice.pooling.or(kept.pooling),
        precision: choice.precision.unwrap_or(kept.precision),
        long_texts: choice.long_texts.unwrap_or(kept.long_texts),
        prompt: choice.prompt.clone().unwrap_or(kept.prompt),
        device: choice.device,
        ..EncoderOptions::default()
    };
    let encoder = Encoder::open(&found.dir, &options)?;
    let chosen = SelectedEncoder::new(found.name, encoder.version());
    Ok((encoder, chosen, found.dir))
}

/// The options for opening a run's tuned encoder, by the key of its embeddings; `None` for a run without
/// any.
pub(crate) fn tuned_options(key: Option<&str>) -> EncoderOptions {
    EncoderOptions { long_texts: key.map(LongTexts::of_key).unwrap_or_default(), ..EncoderOptions::default() }
}

/// The device that `auto` chooses on this machine, and the reason.
pub fn device() -> (String, String) {
    (dissensus_encoder::auto_device().to_owned(), dissensus_encoder::auto_device_reason())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_project::jobs::Silent;
    use dissensus_test_support::local_hub::{LocalHub, NAME, Trouble};
    use std::sync::Mutex;
    use std::time::Duration;

    /// Records the notes, and stops when cancelled.
    #[derive(Default)]
    struct RecordedProgress {
        notes: Mutex<Vec<String>>,
        stop: bool,
    }

    impl Progress for RecordedProgress {
        fn report(&self, _: u64, _: Option<u64>, doing: &str) {
            self.notes.lock().unwrap().push(doing.to_owned());
        }

        fn cancelled(&self) -> bool {
            self.stop
        }
    }

    fn setting() -> (LocalHub, HubConfig, tempfile::TempDir) {
        let hub =
            LocalHub::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/fixtures/tiny"));
        let keep = tempfile::tempdir().unwrap();
        let config = HubConfig {
            endpoint: hub.endpoint(),
            cache: keep.path().to_owned(),
            token: None,
            offline: false,
            patience: Duration::from_secs(20),
        };
        (hub, config, keep)
    }

    #[test]
    fn named_repository_is_fetched_once() {
        let (hub, config, _keep) = setting();
        let repository: HubName = NAME.parse().unwrap();
        assert_eq!(find_cached(&repository, &config).err().unwrap().code(), "encoder-missing");
        assert!(hub.asked().is_empty(), "finding makes no request");

        let watch = RecordedProgress::default();
        let found = fetch(NAME, &repository, &config, &watch).unwrap();
        assert_eq!(found.name, NAME);
        let notes = watch.notes.lock().unwrap();
        assert!(
            notes.iter().any(|note| note.starts_with("fetching model.safetensors, 0.1 of 0.1 MB")),
            "{notes:?}"
        );

        hub.asked();
        let again = find_cached(&repository, &config).unwrap();
        assert_eq!((again.name, again.dir), (found.name, found.dir));
        assert!(hub.asked().is_empty());
    }

    #[test]
    fn fetch_can_be_cancelled() {
        let (hub, config, _keep) = setting();
        let watch = RecordedProgress { stop: true, ..RecordedProgress::default() };
        hub.make(Trouble::Silent);
        let stopped = fetch(NAME, &NAME.parse().unwrap(), &config, &watch).err().unwrap();
        assert_eq!(stopped.code(), "cancelled");
    }

    #[test]
    fn unknown_name_is_neither_folder_nor_repository() {
        let (_hub, config, _keep) = setting();
        let error = fetch("some/other", &"some/other".parse().unwrap(), &config, &Silent).err().unwrap();
        let text = error.to_string();
        assert!(text.contains("no folder some/other here") && text.contains("model hub has no"), "{text}");
        assert_eq!(error.code(), "encoder-hub-not-found");
    }

    #[test]
    fn mistyped_path_sends_no_request() {
        let (hub, config, _keep) = setting();
        // Tests run in the crate's folder, which has a folder src.
        let error = fetch("src/tiny", &"src/tiny".parse().unwrap(), &config, &Silent).err().unwrap();
        assert_eq!(error.code(), "encoder-no-folder");
        assert!(error.to_string().contains("owner/name@main"), "{error}");
        assert!(hub.asked().is_empty());
    }
}
