//! Settings of every earlier version, of a newer one, damaged, and where nothing can be written.

use crate::Application;
use dissensus_api::{AppSettings, Theme};
use dissensus_domain::Language;
use dissensus_project::home::Home;
use rstest::rstest;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn application(folder: &Path) -> Application {
    Application::new(Home::inside(folder, Vec::new()))
}

fn stored(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("settings.json")).unwrap()).unwrap()
}

/// The settings that the kept files have, as far as their version knew them.
fn kept() -> AppSettings {
    AppSettings {
        theme: Theme::Dark,
        blur: true,
        break_minutes: 45,
        random_share: 0.35,
        text_size: 28,
        ..AppSettings::default()
    }
}

/// Files as versions of the program wrote them, from the first; each added fields.
#[rstest]
#[case::first("1-first", kept())]
#[case::letter_keys("2-letter-keys", AppSettings { letter_keys: false, ..kept() })]
#[case::snap("3-snap", AppSettings { letter_keys: false, snap_to_words: false, ..kept() })]
#[case::greyscale("4-greyscale", AppSettings {
    letter_keys: false, snap_to_words: false, greyscale: true, ..kept()
})]
#[case::language("5-language", AppSettings {
    letter_keys: false, greyscale: true, snap_to_words: false, language: Some(Language::De), ..kept()
})]
#[case::updates("6-updates-and-backups", AppSettings {
    letter_keys: false, greyscale: true, snap_to_words: false, language: Some(Language::De),
    check_updates: true, backups: false, ..kept()
})]
fn settings_of_every_version_are_read(#[case] name: &str, #[case] expected: AppSettings) {
    let folder = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/kept_settings/{name}.json"));
    fs::copy(file, folder.path().join("settings.json")).unwrap();
    let app = application(folder.path());
    assert_eq!(app.settings(), expected);
    assert_eq!(app.app_info().settings_notice, None);
}

#[test]
fn settings_that_are_written_are_the_last_kept_file() {
    let folder = tempfile::tempdir().unwrap();
    let all = AppSettings {
        letter_keys: false,
        greyscale: true,
        snap_to_words: false,
        language: Some(Language::De),
        check_updates: true,
        backups: false,
        ..kept()
    };
    application(folder.path()).save_settings(&all).unwrap();
    let newest: Value =
        serde_json::from_str(include_str!("kept_settings/6-updates-and-backups.json")).unwrap();
    // A new field needs a new kept file.
    assert_eq!(stored(folder.path()), newest);
}

#[test]
fn what_a_newer_version_wrote_survives() {
    let folder = tempfile::tempdir().unwrap();
    let newer = json!({
        "theme": "sepia", "language": "tlh", "blur": true, "break_minutes": 30, "random_share": 0.1,
        "text_size": 20, "voice": {"speed": 2}, "check_updates": "daily"
    });
    fs::write(folder.path().join("settings.json"), newer.to_string()).unwrap();
    let app = application(folder.path());
    let read = app.settings();
    let expected =
        AppSettings { blur: true, break_minutes: 30, random_share: 0.1, text_size: 20, ..Default::default() };
    assert_eq!(read, expected);
    let notice = app.app_info().settings_notice.unwrap();
    assert!(notice.contains("check_updates, language, theme"), "{notice}");
    app.save_settings(&AppSettings { text_size: 24, theme: Theme::Light, ..read }).unwrap();
    let written = stored(folder.path());
    assert_eq!(written["voice"], json!({"speed": 2}));
    assert_eq!((&written["language"], &written["check_updates"]), (&json!("tlh"), &json!("daily")));
    assert_eq!((&written["text_size"], &written["theme"]), (&json!(24), &json!("light")));
    // Fields that the newer version did not write are added.
    assert_eq!(written["snap_to_words"], json!(true));
}

#[rstest]
#[case::cut_off(b"{\"theme\": \"dark\", \"bl")]
#[case::empty(b"")]
#[case::list(b"[1, 2]")]
#[case::null(b"null")]
#[case::not_text(b"\xff\xfe\x00{")]
#[case::zeros(&[0; 512])]
fn damaged_file_is_renamed(#[case] content: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("settings.json"), content).unwrap();
    let app = application(folder.path());
    assert_eq!(app.settings(), AppSettings::default());
    assert_eq!(fs::read(folder.path().join("settings.json.unreadable")).unwrap(), content);
    // The notice stays, although the file is not met again.
    assert_eq!(app.settings(), AppSettings::default());
    let notice = app.app_info().settings_notice.unwrap();
    assert!(notice.contains("settings.json.unreadable"), "{notice}");
    app.save_settings(&kept()).unwrap();
    let next = application(folder.path());
    assert_eq!((next.settings(), next.app_info().settings_notice), (kept(), None));
}

#[rstest]
#[case::type_of_number(r#"{"text_size": "big", "blur": true}"#, "text_size")]
#[case::negative(r#"{"break_minutes": -5, "blur": true}"#, "break_minutes")]
#[case::far_too_large(r#"{"text_size": 9999, "blur": true}"#, "text_size")]
#[case::share(r#"{"random_share": 7, "blur": true}"#, "random_share")]
#[case::nested(r#"{"theme": {"a": [[[]]]}, "blur": true}"#, "theme")]
fn one_damaged_setting_costs_no_other(#[case] content: &str, #[case] name: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("settings.json"), content).unwrap();
    let app = application(folder.path());
    assert_eq!(app.settings(), AppSettings { blur: true, ..AppSettings::default() });
    let notice = app.app_info().settings_notice.unwrap();
    assert!(notice.ends_with(name), "{notice}");
}

#[test]
fn byte_order_mark_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("settings.json"), "\u{feff}{\"blur\": true}").unwrap();
    let app = application(folder.path());
    assert!(app.settings().blur);
    assert_eq!(app.app_info().settings_notice, None);
}

#[test]
fn settings_apply_where_they_cannot_be_stored() {
    let folder = tempfile::tempdir().unwrap();
    // A file in place of the folder: as unwritable as a read-only disk, also for root.
    let home = folder.path().join("home");
    fs::write(&home, "").unwrap();
    let app = application(&home);
    assert_eq!(app.settings(), AppSettings::default());
    let error = app.save_settings(&kept()).unwrap_err();
    assert_eq!(error.code(), "settings-not-stored");
    assert!(error.to_string().contains("settings.json"), "{error}");
    assert_eq!(app.settings(), kept());
    let path = folder.path().join("Study.dissensus");
    app.new_project(&path.to_string_lossy()).unwrap();
    app.close_project();
    // Once there is room again, they are stored.
    fs::remove_file(&home).unwrap();
    app.save_settings(&kept()).unwrap();
    assert_eq!(application(&home).settings(), kept());
}

#[cfg(unix)]
#[test]
fn file_that_cannot_be_read_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.json");
    // A link to itself: it can be replaced and not be read, also by root.
    std::os::unix::fs::symlink(&file, &file).unwrap();
    let app = application(folder.path());
    assert_eq!(app.settings(), AppSettings::default());
    let notice = app.app_info().settings_notice.unwrap();
    assert!(notice.contains("cannot be read"), "{notice}");
    assert_eq!(app.save_settings(&kept()).unwrap_err().code(), "settings-not-stored");
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink(), "the file stays as it was");
    assert_eq!(app.settings(), kept());
    // Once it can be read again, everything in it survives.
    fs::remove_file(&file).unwrap();
    fs::write(&file, r#"{"blur": false, "of_later": 1}"#).unwrap();
    app.save_settings(&kept()).unwrap();
    assert_eq!(stored(folder.path())["of_later"], json!(1));
    assert_eq!(application(folder.path()).settings(), kept());
}

#[test]
fn value_out_of_range_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let app = application(folder.path());
    assert_eq!(app.save_settings(&AppSettings { text_size: 5, ..kept() }).unwrap_err().code(), "setting");
    assert_eq!(app.settings(), AppSettings::default());
    assert!(!folder.path().join("settings.json").exists());
}
