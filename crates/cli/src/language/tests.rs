//! The command translates as the window does, and finds every sentence of every language.

use super::numbers::Numbers;
use super::sentences::{Sentences, Translation};
use super::{CATALOGUES, Messages, of_tag};
use dissensus_domain::Language;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The cases that the window passes too (`sentences.test.ts`).
#[derive(Deserialize)]
struct Cases {
    language: String,
    catalogue: BTreeMap<String, Translation>,
    cases: Vec<(String, String)>,
}

#[test]
fn command_passes_the_cases_of_the_window() {
    let text = include_str!("../../../../ui/src/messages/program/cases/german.json");
    let Cases { language, catalogue, cases } = serde_json::from_str(text).unwrap();
    let sentences = Sentences::new(catalogue.into_iter().collect(), Numbers::new(&language).unwrap());
    for (english, wanted) in cases {
        assert_eq!(sentences.translate(&english), wanted, "{english}");
    }
}

#[test]
fn every_language_translates_errors_and_notes() {
    for (language, _) in CATALOGUES {
        let messages = Messages::of(language).unwrap();
        for english in [
            "there is no text \"t\" in this project",
            "this project has several questions: name one of rude, fair (--question NAME)",
            "1 text",
            "3 texts",
        ] {
            let translated = messages.sentences.translate(english);
            assert_ne!(translated, english, "{language:?}");
        }
        for word in ["error:", "note:"] {
            assert!(messages.words.contains_key(word), "{language:?}: {word}");
        }
    }
    assert!(Messages::of(Language::En).is_none());
}

#[test]
fn names_stay_in_every_language() {
    for (language, _) in CATALOGUES {
        let messages = Messages::of(language).unwrap();
        let translated =
            messages.sentences.translate("there is no text \"nobody knows; 3 texts\" in this project");
        assert!(translated.contains("nobody knows; 3 texts"), "{language:?}: {translated}");
    }
}

#[test]
fn plural_forms_numbers_and_lists_follow_the_language() {
    let arabic = Numbers::new("ar").unwrap();
    assert_eq!(
        ["0", "1", "2", "3", "11", "100"].map(|n| arabic.plural(n)),
        ["zero", "one", "two", "few", "many", "other"]
    );
    let polish = Numbers::new("pl").unwrap();
    assert_eq!(["1", "2", "5", "1.50"].map(|n| polish.plural(n)), ["one", "few", "many", "other"]);
    let german = Numbers::new("de").unwrap();
    assert_eq!(german.of("0.25").as_deref(), Some("0,25"));
    assert_eq!(german.of("−0.10 to 12.5 %").as_deref(), Some("−0,10 – 12,5 %"));
    assert_eq!(german.of("c109"), None);
    assert_eq!(german.list(&["a".to_owned(), "b".to_owned(), "c".to_owned()]), "a, b und c");
    assert_eq!(arabic.of("0.25").as_deref(), Some("0.25"));
}

#[test]
fn language_follows_the_tag_of_the_system() {
    for (tag, wanted) in [
        ("de_DE.UTF-8", Language::De),
        ("pt-BR", Language::Pt),
        ("C", Language::En),
        ("C.UTF-8", Language::En),
        ("POSIX", Language::En),
        ("sv-SE", Language::En),
        ("", Language::En),
    ] {
        assert_eq!(of_tag(tag), wanted, "{tag}");
    }
}
