//! The application: its version, recent projects, settings, and the encoder that it offers.

use super::Problem;
use dissensus_domain::Language;
use serde::{Deserialize, Serialize};

view! {
    /// The application itself.
    pub struct AppInfo {
        /// Version of the application.
        pub version: String,
        /// The encoder that would be used, if one was found.
        pub encoder: Option<String>,
        /// Why there is none, and what to do.
        pub encoder_problem: Option<Problem>,
        /// `cpu`, `cuda` or `metal`.
        pub device: String,
        /// Why this device was chosen, in a few words.
        pub device_reason: String,
        /// What of the settings could not be read, and what was done about it.
        pub settings_notice: Option<String>,
    }

    /// A project opened before.
    pub struct RecentProject {
        /// Where the file is.
        pub path: String,
        /// File name without its extension.
        pub name: String,
        /// When it was last open.
        pub opened_at: f64,
        /// False if the file does not exist any more.
        pub exists: bool,
        /// True for the sample project.
        pub sample: bool,
    }

    /// Settings of the application, shared by all projects.
    pub struct AppSettings {
        /// Colour theme.
        pub theme: Theme,
        /// Language of the window; that of the system if absent.
        #[serde(default)]
        pub language: Option<Language>,
        /// Hide each text until a key is held.
        pub blur: bool,
        /// Shows texts and pictures without colour; absent in files of older versions.
        #[serde(default)]
        pub greyscale: bool,
        /// Minutes after which a break is suggested; 0 for never.
        pub break_minutes: u32,
        /// Share (0 to 1) of random texts in the orders that choose texts.
        pub random_share: f32,
        /// Size of the text being labelled, in pixels.
        pub text_size: u32,
        /// Whether single letters are commands; absent in files of older versions.
        #[serde(default = "yes")]
        pub letter_keys: bool,
        /// Whether marks in a text snap to whole words; absent in files of older versions.
        #[serde(default = "yes")]
        pub snap_to_words: bool,
        /// Whether the window looks for a newer version once a week; absent in files of older versions.
        #[serde(default)]
        pub check_updates: bool,
        /// Whether projects are backed up automatically; absent in files of older versions.
        #[serde(default = "yes")]
        pub backups: bool,
    }

    /// Colour themes.
    pub enum Theme {
        /// Follows the setting of the operating system.
        System,
        /// Dark on light.
        Light,
        /// Light on dark.
        Dark,
    }

    /// An encoder that can be downloaded.
    pub struct EncoderOffer {
        /// Its name in the catalogue.
        pub name: String,
        /// One sentence about it.
        pub about: String,
        /// SPDX id of the weights' licence.
        pub licence: String,
        /// Size of the download.
        pub bytes: f64,
        /// Its files, with what each must hash to.
        pub files: Vec<EncoderFile>,
        /// Where it is downloaded from.
        pub source: String,
        /// Target folder.
        pub folder: String,
        /// Whether it is on this computer.
        pub installed: bool,
    }

    /// A file of an encoder.
    pub struct EncoderFile {
        /// Its name.
        pub path: String,
        /// Its size.
        pub bytes: f64,
        /// Its SHA-256, in hexadecimal.
        pub sha256: String,
    }
}

fn yes() -> bool {
    true
}

impl Default for AppSettings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            language: None,
            blur: false,
            greyscale: false,
            break_minutes: 0,
            random_share: 0.2,
            text_size: 22,
            letter_keys: true,
            snap_to_words: true,
            check_updates: false,
            backups: true,
        }
    }
}
