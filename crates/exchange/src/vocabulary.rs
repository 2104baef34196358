//! The words that files use, read from `vocabulary.toml` and `likert.toml`.

use serde::Deserialize;
use std::sync::LazyLock;

const WORDS: &str = include_str!("vocabulary.toml");
const LIKERT: &str = include_str!("likert.toml");

/// The words of `vocabulary.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vocabulary {
    /// Names of columns.
    pub(crate) columns: ColumnNames,
    /// Codes for missing values.
    pub(crate) missing: MissingCodes,
    /// Words for no and yes, in this order.
    pub(crate) truth: Vec<[String; 2]>,
    /// Words that indicate the shape of a table.
    pub(crate) shapes: ShapeWords,
}

/// Names of columns for each role, as [`simplified`](crate::roles::simplified) returns them; earlier ones
/// have priority.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnNames {
    pub(crate) text_id: Vec<String>,
    pub(crate) text: Vec<String>,
    pub(crate) annotator: Vec<String>,
    pub(crate) label: Vec<String>,
    /// Labels that are as often properties of a text; all of them are in `label` too.
    pub(crate) weak_label: Vec<String>,
    pub(crate) split: Vec<String>,
    pub(crate) group: Vec<String>,
    pub(crate) time: Vec<String>,
    pub(crate) duration: Vec<String>,
    pub(crate) occasion: Vec<String>,
    pub(crate) span_start: Vec<String>,
    pub(crate) span_end: Vec<String>,
    pub(crate) span_type: Vec<String>,
    pub(crate) attribute: Vec<String>,
    pub(crate) question: Vec<String>,
    pub(crate) source: Vec<String>,
}

/// Words that indicate the shape of a table: whole names of columns, simplified, or single words of names.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShapeWords {
    /// Names of columns that hold values which are never answers on a scale.
    pub(crate) not_answers: Vec<String>,
    /// Names of columns that aggregate the answers of several annotators.
    pub(crate) aggregates: Vec<String>,
    /// Suffixes of columns with the average, or a finer version, of a label.
    pub(crate) derived: Vec<String>,
    /// First words of names of questions.
    pub(crate) questions: Vec<String>,
    /// Names of options that mean none of the others.
    pub(crate) none_of_them: Vec<String>,
    /// Words for annotators when a number follows.
    pub(crate) person_letters: Vec<String>,
    /// Words for the rounds of one question.
    pub(crate) rounds: Vec<String>,
    /// Suffixes of names of ids.
    pub(crate) id_ends: Vec<String>,
    /// Suffixes of columns whose annotators have this gender.
    pub(crate) genders: Vec<String>,
}

/// Codes that are written for missing values.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MissingCodes {
    /// Compared case-insensitively.
    pub(crate) words: Vec<String>,
    /// Whole numbers that may be answers as well.
    pub(crate) numbers: Vec<String>,
}

/// Answers that have an order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LikertFamily {
    /// What the answers measure, such as `agreement`.
    pub(crate) name: String,
    /// Two letters of ISO 639-1.
    pub(crate) language: String,
    /// Synonyms of each rank, lowest rank first.
    pub(crate) levels: Vec<Vec<String>>,
    /// Answers, lower one first, that are ordered if there are no others.
    #[serde(default)]
    pub(crate) pairs: Vec<[String; 2]>,
    /// Adjectives that replace `{}` in `levels`; each makes a family of its name.
    #[serde(default)]
    pub(crate) adjectives: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LikertFile {
    likert: Vec<LikertFamily>,
}

// Both files are compiled into the program, and a test parses them: the default is never used.
static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| toml::from_str(WORDS).unwrap_or_default());
static FAMILIES: LazyLock<Vec<LikertFamily>> = LazyLock::new(|| {
    let file: LikertFile = toml::from_str(LIKERT).unwrap_or_default();
    file.likert.iter().flat_map(LikertFamily::expand).collect()
});

/// Returns the words for columns, missing values, no and yes.
pub(crate) fn vocabulary() -> &'static Vocabulary {
    &VOCABULARY
}

/// Returns the ordered families of answers, one for each adjective where a family has adjectives.
pub(crate) fn likert_families() -> &'static [LikertFamily] {
    &FAMILIES
}

impl LikertFamily {
    fn expand(&self) -> Vec<Self> {
        if self.adjectives.is_empty() {
            return vec![self.clone()];
        }
        let fill = |words: &String, adjective: &str| words.replace("{}", adjective);
        let of_adjective = |adjective: &String| Self {
            name: adjective.clone(),
            language: self.language.clone(),
            levels: self
                .levels
                .iter()
                .map(|rank| rank.iter().map(|words| fill(words, adjective)).collect())
                .collect(),
            pairs: self
                .pairs
                .iter()
                .map(|pair| pair.each_ref().map(|words| fill(words, adjective)))
                .collect(),
            adjectives: Vec::new(),
        };
        self.adjectives.iter().map(of_adjective).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::simplified;
    use std::collections::{BTreeMap, BTreeSet};

    fn roles() -> [(&'static str, &'static [String]); 14] {
        let columns = &vocabulary().columns;
        [
            ("text_id", &columns.text_id),
            ("text", &columns.text),
            ("annotator", &columns.annotator),
            ("label", &columns.label),
            ("weak_label", &columns.weak_label),
            ("split", &columns.split),
            ("group", &columns.group),
            ("time", &columns.time),
            ("duration", &columns.duration),
            ("occasion", &columns.occasion),
            ("span_start", &columns.span_start),
            ("span_end", &columns.span_end),
            ("span_type", &columns.span_type),
            ("attribute", &columns.attribute),
        ]
    }

    #[test]
    fn vocabulary_files_are_valid() {
        assert_eq!(toml::from_str::<Vocabulary>(WORDS).err(), None);
        assert_eq!(toml::from_str::<LikertFile>(LIKERT).err(), None);
    }

    #[test]
    fn column_names_are_simplified_and_unique() {
        for (role, names) in roles() {
            assert!(!names.is_empty(), "{role}");
            let mut seen = BTreeSet::new();
            for name in names {
                assert_eq!(*name, simplified(name), "{role}");
                assert!(seen.insert(name), "{role} has {name} twice");
            }
        }
    }

    #[test]
    fn column_names_have_one_role() {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (role, names) in roles().into_iter().filter(|(role, _)| *role != "weak_label") {
            for name in names {
                found.entry(name).or_default().push(role);
            }
        }
        found.retain(|_, roles| roles.len() > 1);
        assert_eq!(found, BTreeMap::from([("docid", vec!["text_id", "group"])]));
        let columns = &vocabulary().columns;
        assert!(columns.weak_label.iter().all(|name| columns.label.contains(name)));
    }

    #[test]
    fn missing_value_codes_are_unique() {
        let missing = &vocabulary().missing;
        let words: BTreeSet<String> = missing.words.iter().map(|word| word.to_lowercase()).collect();
        let numbers: BTreeSet<i64> = missing.numbers.iter().map(|number| number.parse().unwrap()).collect();
        assert_eq!((words.len(), numbers.len()), (missing.words.len(), missing.numbers.len()));
    }

    #[test]
    fn every_family_has_three_ranks_in_a_known_language() {
        for family in likert_families() {
            assert!(family.levels.len() >= 3, "{family:?}");
            assert!(["en", "de", "fr", "es", "it", "nl", "pt"].contains(&family.language.as_str()));
            assert!(family.levels.iter().all(|rank| !rank.is_empty()), "{family:?}");
        }
    }

    #[test]
    fn adjectives_expand_to_families() {
        let found = likert_families().iter().find(|family| family.name == "offensive").unwrap();
        assert_eq!(found.levels[0][0], "not offensive");
        assert!(likert_families().iter().all(|family| family.name != "degree"));
    }
}
