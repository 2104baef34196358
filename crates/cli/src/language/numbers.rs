//! Numbers, plural forms and lists of a language, as in Unicode's CLDR.

use super::sentences::with_first;
use icu_decimal::DecimalFormatter;
use icu_decimal::input::Decimal;
use icu_list::ListFormatter;
use icu_list::options::ListFormatterOptions;
use icu_locale_core::Locale;
use icu_plurals::{PluralCategory, PluralRules, PluralRulesOptions};
use regex::Regex;
use std::sync::LazyLock;

/// The rules of one language.
pub(super) struct Numbers {
    language: String,
    decimal: DecimalFormatter,
    plural: PluralRules,
    list: ListFormatter,
    /// The sign between items.
    separator: String,
}

impl Numbers {
    /// The rules of a language of the catalogue; `None` if this build has no data for it.
    pub(super) fn new(language: &str) -> Option<Self> {
        // Arabic has two sets of digits; the data have the Latin ones.
        let tag = if language == "ar" { "ar-u-nu-latn" } else { language };
        let locale: Locale = tag.parse().ok()?;
        let options = ListFormatterOptions::default;
        let units = ListFormatter::try_new_unit((&locale).into(), options()).ok()?;
        let two = units.format_to_string(["a", "b"].iter());
        let separator = two.strip_prefix('a').and_then(|rest| rest.strip_suffix('b')).unwrap_or_default();
        Some(Self {
            language: language.to_owned(),
            decimal: DecimalFormatter::try_new((&locale).into(), Default::default()).ok()?,
            plural: PluralRules::try_new((&locale).into(), PluralRulesOptions::default()).ok()?,
            list: ListFormatter::try_new_and((&locale).into(), options()).ok()?,
            separator: if separator.trim().is_empty() { ", ".to_owned() } else { separator.to_owned() },
        })
    }

    pub(super) fn language(&self) -> &str {
        &self.language
    }

    pub(super) fn separator(&self) -> &str {
        &self.separator
    }

    /// "a, b and c".
    pub(super) fn list(&self, items: &[String]) -> String {
        self.list.format_to_string(items.iter())
    }

    /// The name of the plural form of a number, such as "few"; zeros at the end of its decimals do not count.
    pub(super) fn plural(&self, number: &str) -> &'static str {
        let trimmed = match number.contains('.') {
            true => number.trim_end_matches('0').trim_end_matches('.'),
            false => number,
        };
        let Ok(number) = trimmed.parse::<Decimal>() else { return "other" };
        match self.plural.category_for(&number) {
            PluralCategory::Zero => "zero",
            PluralCategory::One => "one",
            PluralCategory::Two => "two",
            PluralCategory::Few => "few",
            PluralCategory::Many => "many",
            PluralCategory::Other => "other",
        }
    }

    /// The text with a capital at its beginning.
    pub(super) fn capitalised(&self, text: &str) -> String {
        with_first(text, |first| match first {
            'i' if self.language == "tr" => "\u{130}".to_owned(),
            first => first.to_uppercase().collect(),
        })
    }

    /// A number, a share or an interval as it is written in this language; `None` for anything else.
    pub(super) fn of(&self, value: &str) -> Option<String> {
        if let Some(found) = INTERVAL.captures(value) {
            return Some([self.of(&found[1])?, self.of(&found[2])?].join(" – "));
        }
        let found = NUMBER.captures(value)?;
        let Some(decimals) = found.get(3) else { return Some(value.to_owned()) };
        let number: Decimal = format!("{}.{}", &found[2], decimals.as_str()).parse().ok()?;
        let unit = found.get(4).map_or("", |unit| unit.as_str());
        Some([&found[1], &self.decimal.format_to_string(&number), unit].concat())
    }
}

#[expect(clippy::expect_used, reason = "constant expressions, compiled in the tests")]
fn expression(text: &str) -> Regex {
    Regex::new(text).expect("a constant expression")
}

static INTERVAL: LazyLock<Regex> =
    LazyLock::new(|| expression(r"^([−+]?[0-9.]+(?: %)?) to ([−+]?[0-9.]+(?: %)?)$"));
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| expression(r"^([−+]?)([0-9]{1,15})(?:\.([0-9]{1,12}))?( %)?$"));
