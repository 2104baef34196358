//! The file of the application's settings: also one of another version, with rubbish, or on a disk that
//! cannot be written.

use dissensus_api::AppSettings;
use dissensus_project::error::ProjectError;
use dissensus_project::home::Home;
use serde_json::{Map, Value};
use std::io::ErrorKind;
use std::path::Path;

const NAME: &str = "settings.json";
/// Ending of a file that is no JSON object, in place of `.json`.
const ASIDE: &str = "json.unreadable";
/// A file with more bytes is none of ours.
const MAX_BYTES: u64 = 1 << 20;

type Fields = Map<String, Value>;

dissensus_domain::errors! {
    /// What of the settings could not be read or stored.
    #[derive(Debug)]
    pub enum SettingsError {
        NotRead { path: String, reason: String } => "settings-not-read",
            "the settings in {path} cannot be read ({reason}), so this session begins with the default settings; make the file readable";
        Unreadable { path: String, aside: String } => "settings-unreadable",
            "the settings in {path} are damaged, so the default settings are used; the damaged file was renamed to {aside}";
        UnreadableStays { path: String, reason: String } => "settings-unreadable",
            "the settings in {path} are damaged, so the default settings are used; the file could not be renamed ({reason}): remove it";
        Fields { path: String, names: Vec<String> } => "settings-fields",
            "these settings in {path} are damaged or from another version, so their default values are used: {}" (names.join(", "));
        NotStored { path: String, reason: String } => "settings-not-stored",
            "the settings cannot be stored in {path} ({reason}): they apply until Dissensus is closed; make that folder writable to keep them";
    }
}

impl From<SettingsError> for ProjectError {
    fn from(error: SettingsError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}

/// The settings that could be read.
pub(crate) struct ReadSettings {
    pub(crate) settings: AppSettings,
    /// Everything in the file, with fields of other versions.
    fields: Fields,
    pub(crate) problem: Option<SettingsError>,
}

/// Reads the settings. What cannot be read has its default value; a file that is no JSON object is renamed.
pub(crate) fn read(home: &Home) -> ReadSettings {
    let path = home.config_file(NAME);
    let defaults =
        |problem| ReadSettings { settings: AppSettings::default(), fields: Fields::new(), problem };
    let bytes = match bytes_of(&path) {
        Ok(bytes) => bytes,
        // `NotADirectory`: a file has the name of the folder.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return defaults(None);
        }
        Err(error) => {
            return defaults(Some(SettingsError::NotRead { path: shown(&path), reason: error.to_string() }));
        }
    };
    // An editor of Windows may have added a byte order mark.
    let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let Ok(Value::Object(fields)) = serde_json::from_slice(json) else {
        tracing::warn!(file = NAME, "cannot be read: moved aside, defaults are used");
        let aside = path.with_extension(ASIDE);
        return defaults(Some(match std::fs::rename(&path, &aside) {
            Ok(()) => SettingsError::Unreadable { path: shown(&path), aside: shown(&aside) },
            Err(error) => SettingsError::UnreadableStays { path: shown(&path), reason: error.to_string() },
        }));
    };
    let (settings, names) = from_fields(&fields);
    let problem = (!names.is_empty()).then(|| SettingsError::Fields { path: shown(&path), names });
    ReadSettings { settings, fields, problem }
}

/// Writes the settings. Fields that this version does not know, and values that it could not read and nobody
/// changed, stay as they are in the file: it may be of a newer version. A file that cannot be read now is not
/// replaced, since nobody knows what is in it.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn write(home: &Home, settings: &AppSettings) -> Result<(), SettingsError> {
    let before = read(home);
    if let Some(SettingsError::NotRead { path, reason }) = before.problem {
        return Err(SettingsError::NotStored { path, reason });
    }
    let (old, mut fields) = (to_fields(&before.settings), before.fields);
    for (name, value) in to_fields(settings) {
        if !fields.contains_key(&name) || old.get(&name) != Some(&value) {
            fields.insert(name, value);
        }
    }
    home.write_json(NAME, &fields).map_err(|error| SettingsError::NotStored {
        path: shown(&home.config_file(NAME)),
        reason: match error {
            ProjectError::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        },
    })
}

/// Checks that values are in their range.
///
/// # Errors
/// A share outside 0..1 or a text size outside 12..64.
pub(crate) fn check(settings: &AppSettings) -> Result<(), ProjectError> {
    if !(0.0..=1.0).contains(&settings.random_share) {
        return Err(ProjectError::Setting {
            name: "random_share",
            value: settings.random_share.to_string(),
            allowed: "a share from 0 to 1".into(),
        });
    }
    if !(12..=64).contains(&settings.text_size) {
        return Err(ProjectError::Setting {
            name: "text_size",
            value: settings.text_size.to_string(),
            allowed: "12 to 64 pixels".into(),
        });
    }
    Ok(())
}

/// The settings in these fields, and the names of those that cannot be read.
fn from_fields(fields: &Fields) -> (AppSettings, Vec<String>) {
    let mut settings = AppSettings::default();
    let mut names = Vec::new();
    for name in to_fields(&settings).keys() {
        let Some(value) = fields.get(name) else { continue };
        let mut tried = to_fields(&settings);
        tried.insert(name.clone(), value.clone());
        match serde_json::from_value(Value::Object(tried)) {
            Ok(read) if check(&read).is_ok() => settings = read,
            _ => names.push(name.clone()),
        }
    }
    (settings, names)
}

/// As they are written to the file: through text, since a number of 32 bits has more digits as one of 64.
fn to_fields(settings: &AppSettings) -> Fields {
    let json = serde_json::to_string(settings);
    json.and_then(|json| serde_json::from_str(&json)).unwrap_or_default()
}

fn bytes_of(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
