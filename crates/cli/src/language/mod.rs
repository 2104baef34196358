//! Messages of the command in the language of the user: errors, notes, progress and results for people.
//!
//! Errors and notes are in all languages of the window, results in those whose catalogue of the command is
//! whole (`ui/src/messages/command`). Help texts, the usage errors of the argument parser and everything with
//! `--json` are English in every language, so that scripts and documents can rely on them.

mod numbers;
mod sentences;
#[cfg(test)]
mod tests;

use dissensus_domain::Language;
use flate2::read::ZlibDecoder;
use numbers::Numbers;
use sentences::{Sentences, Translation};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The variable that chooses the language of all commands.
const VARIABLE: &str = "DISSENSUS_LANGUAGE";

/// The catalogues, compressed; `build.rs` makes them from those of the window.
const CATALOGUES: [(Language, &[u8]); 11] = [
    (Language::Ar, include_bytes!(concat!(env!("OUT_DIR"), "/ar"))),
    (Language::De, include_bytes!(concat!(env!("OUT_DIR"), "/de"))),
    (Language::Es, include_bytes!(concat!(env!("OUT_DIR"), "/es"))),
    (Language::Fr, include_bytes!(concat!(env!("OUT_DIR"), "/fr"))),
    (Language::It, include_bytes!(concat!(env!("OUT_DIR"), "/it"))),
    (Language::Ja, include_bytes!(concat!(env!("OUT_DIR"), "/ja"))),
    (Language::Nl, include_bytes!(concat!(env!("OUT_DIR"), "/nl"))),
    (Language::Pl, include_bytes!(concat!(env!("OUT_DIR"), "/pl"))),
    (Language::Pt, include_bytes!(concat!(env!("OUT_DIR"), "/pt"))),
    (Language::Tr, include_bytes!(concat!(env!("OUT_DIR"), "/tr"))),
    (Language::Zh, include_bytes!(concat!(env!("OUT_DIR"), "/zh"))),
];

/// English in other letters.
const PSEUDO: &[u8] =
    if cfg!(debug_assertions) { include_bytes!(concat!(env!("OUT_DIR"), "/pseudo")) } else { &[] };

static CHOSEN: OnceLock<Language> = OnceLock::new();
static MESSAGES: OnceLock<Option<Mutex<Messages>>> = OnceLock::new();

/// The catalogue of one language, as `build.rs` writes it.
#[derive(Deserialize)]
struct Catalogue {
    /// Sentences and their translations, in the order of the catalogue.
    sentences: Vec<(String, Translation)>,
    /// Words above columns and next to bars, which are names elsewhere.
    words: HashMap<String, String>,
}

/// The messages of one language.
struct Messages {
    sentences: Sentences,
    words: HashMap<String, String>,
}

impl Messages {
    /// The messages of a language; `None` for English.
    fn of(language: Language) -> Option<Self> {
        let (_, compressed) = CATALOGUES.iter().find(|(known, _)| *known == language)?;
        Self::read(compressed, language)
    }

    fn read(compressed: &[u8], language: Language) -> Option<Self> {
        let mut json = String::new();
        ZlibDecoder::new(compressed).read_to_string(&mut json).ok()?;
        let catalogue: Catalogue = serde_json::from_str(&json).ok()?;
        let numbers = Numbers::new(language.into())?;
        Some(Self { sentences: Sentences::new(catalogue.sentences, numbers), words: catalogue.words })
    }
}

/// Chooses the language of all messages from now on: this one, the one of the environment, or the system's.
pub(crate) fn choose(language: Option<Language>) {
    let wanted = || std::env::var(VARIABLE).ok().or_else(sys_locale::get_locale);
    let language = language.unwrap_or_else(|| of_tag(&wanted().unwrap_or_default()));
    // The first choice counts; `main` makes it.
    let _ = CHOSEN.set(language);
}

/// The language of a tag such as `pt-BR`; English if there are no messages in it.
fn of_tag(tag: &str) -> Language {
    let primary = tag.split(['-', '_', '.']).next().unwrap_or_default().to_lowercase();
    primary.parse().unwrap_or(Language::En)
}

fn messages() -> Option<&'static Mutex<Messages>> {
    let read = || match is_pseudo() {
        true => Messages::read(PSEUDO, Language::En),
        false => Messages::of(*CHOSEN.get().unwrap_or(&Language::En)),
    };
    MESSAGES.get_or_init(|| read().map(Mutex::new)).as_ref()
}

/// Whether a test asks for the language of tests, in which text without a translation can be seen. Builds for
/// users have it not.
fn is_pseudo() -> bool {
    cfg!(debug_assertions) && std::env::var_os(VARIABLE).is_some_and(|value| value == "pseudo")
}

/// A message of the program in the chosen language; names and texts in it stay as they are.
pub(crate) fn translate(english: &str) -> Cow<'_, str> {
    match messages() {
        Some(messages) => {
            let messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
            Cow::Owned(messages.sentences.translate(english))
        }
        None => Cow::Borrowed(english),
    }
}

/// The text of a cell if it is a message of several words and has no values; else it is a name, and stays.
pub(crate) fn translate_cell(text: &str) -> Cow<'_, str> {
    let known = text.contains(' ').then(messages).flatten().and_then(|messages| {
        messages.lock().unwrap_or_else(PoisonError::into_inner).sentences.without_values(text)
    });
    known.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// A word of the program, such as the name of a column, in the chosen language.
pub(crate) fn translate_word(english: &str) -> Cow<'_, str> {
    let known = messages().and_then(|messages| {
        messages.lock().unwrap_or_else(PoisonError::into_inner).words.get(english).cloned()
    });
    known.map_or_else(|| if english.contains(' ') { translate(english) } else { english.into() }, Cow::Owned)
}
