//! The texts of the server's own pages, in the languages of the desk.

use crate::state::State;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use dissensus_domain::Language;
use dissensus_transfer::study;
use serde::Deserialize;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock};

/// The texts in one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Messages {
    pub(crate) front_title: String,
    pub(crate) front_text: String,
    pub(crate) unknown_title: String,
    pub(crate) unknown_text: String,
    pub(crate) too_many_title: String,
    pub(crate) too_many_text: String,
    pub(crate) full_title: String,
    pub(crate) full_text: String,
    pub(crate) no_entry_title: String,
    pub(crate) no_entry_text: String,
    pub(crate) failed_title: String,
    pub(crate) failed_text: String,
    pub(crate) invitation: String,
    pub(crate) take_part: String,
    pub(crate) begun: String,
    #[serde(rename = "continue")]
    pub(crate) go_on: String,
    pub(crate) other_person: String,
}

/// The language of a request, and its texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spoken {
    pub(crate) language: Language,
    pub(crate) texts: &'static Messages,
}

impl Spoken {
    fn in_language(language: Language) -> Self {
        static ALL: LazyLock<HashMap<&str, Messages>> = LazyLock::new(|| {
            let read = |(tag, json)| serde_json::from_str(json).ok().map(|messages| (tag, messages));
            FILES.into_iter().filter_map(read).collect()
        });
        // A test reads every file.
        match ALL.get(language.name()) {
            Some(texts) => Self { language, texts },
            None => Self { language: Language::En, texts: &ALL["en"] },
        }
    }
}

const FILES: [(&str, &str); 12] = [
    ("en", include_str!("../messages/en.json")),
    ("de", include_str!("../messages/de.json")),
    ("fr", include_str!("../messages/fr.json")),
    ("es", include_str!("../messages/es.json")),
    ("it", include_str!("../messages/it.json")),
    ("pt", include_str!("../messages/pt.json")),
    ("nl", include_str!("../messages/nl.json")),
    ("pl", include_str!("../messages/pl.json")),
    ("tr", include_str!("../messages/tr.json")),
    ("ar", include_str!("../messages/ar.json")),
    ("zh", include_str!("../messages/zh.json")),
    ("ja", include_str!("../messages/ja.json")),
];

/// The study's language, else the first of the browser's that there is, else English.
impl FromRequestParts<Arc<State>> for Spoken {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, Infallible> {
        let accepted = parts.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let chosen = study::language(&state.study).ok().flatten();
        let language = chosen.or_else(|| first_of(accepted.unwrap_or_default()));
        Ok(Self::in_language(language.unwrap_or(Language::En)))
    }
}

/// The language that `Accept-Language` (RFC 9110, 12.5.4) wants most, among those there are.
fn first_of(accepted: &str) -> Option<Language> {
    let wanted = accepted.split(',').filter_map(|one| {
        let mut parts = one.split(';').map(str::trim);
        let primary = parts.next()?.split('-').next()?.to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        let weight: f32 = weight.map_or(Some(1.0), |weight| weight.parse().ok())?;
        Some((weight, primary.parse().ok()?))
    });
    let mut wanted: Vec<(f32, Language)> = wanted.collect();
    // Stable: equals stay in the order in which they were named.
    wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
    wanted.first().filter(|(weight, _)| *weight > 0.0).map(|(_, language)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray as _;

    #[test]
    fn every_language_has_every_text() {
        for language in Language::VARIANTS {
            let spoken = Spoken::in_language(*language);
            assert_eq!(spoken.language, *language, "its file has other texts");
            assert!(!spoken.texts.take_part.is_empty());
        }
    }

    #[test]
    fn language_is_the_most_wanted_one_there_is() {
        for (accepted, language) in [
            ("de-AT,de;q=0.9,en;q=0.8", Some(Language::De)),
            ("en;q=0.5, pt-BR", Some(Language::Pt)),
            ("sv, da;q=0.9, FR-ca;q=0.1", Some(Language::Fr)),
            ("zh-Hans-CN", Some(Language::Zh)),
            ("sv", None),
            ("*", None),
            ("de;q=0", None),
            ("de;q=x", None),
            ("", None),
        ] {
            assert_eq!(first_of(accepted), language, "{accepted}");
        }
    }
}
