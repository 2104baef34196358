//! Applies the rules of a reading to values: missing values, several spellings of one answer, numbers, times.

use super::table_reading::ValueRules;
use super::time_format::TimeFormat;
use crate::ExchangeError;
use crate::annotations::plain;
use crate::level_name::level_name;
use crate::time::format_ms;
use crate::truth::truth_value;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// The kind of a column's values, as far as the rules distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Unchanged.
    Kept,
    Answer,
    Attribute,
    Time,
    Number,
}

/// The rules in the form in which they are applied.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    missing: HashSet<String>,
    fold_case: bool,
    decimal_comma: bool,
    option_separator: Option<String>,
    time_format: Option<TimeFormat>,
}

impl Rules {
    /// # Errors
    /// An invalid format of times.
    pub(crate) fn new(rules: &ValueRules) -> Result<Self, ExchangeError> {
        let time_format = rules.time_format.as_deref().map(str::parse::<TimeFormat>).transpose();
        let time_format =
            time_format.map_err(|error| ExchangeError::BadReading { why: error.to_string() })?;
        Ok(Self {
            missing: rules.missing.iter().map(|value| value.trim().to_owned()).collect(),
            fold_case: rules.fold_case,
            decimal_comma: rules.decimal_comma,
            option_separator: rules.option_separator.clone().filter(|separator| !separator.is_empty()),
            time_format,
        })
    }

    /// Applies the rules to a value.
    pub(crate) fn apply<'a>(&self, treatment: Treatment, value: &'a str) -> Cow<'a, str> {
        match treatment {
            Treatment::Kept => Cow::Borrowed(value),
            Treatment::Number => self.number(value),
            Treatment::Attribute if self.is_missing(value) => Cow::Borrowed(""),
            Treatment::Attribute => self.number(value),
            Treatment::Answer => self.answer(value),
            Treatment::Time => self.time(value),
        }
    }

    /// Whether a value means that there is none.
    pub(crate) fn leaves_out(&self, value: &str) -> bool {
        self.is_missing(value)
    }

    fn is_missing(&self, value: &str) -> bool {
        !self.missing.is_empty()
            && (self.missing.contains(value.trim()) || self.missing.contains(level_name(value)))
    }

    fn answer<'a>(&self, value: &'a str) -> Cow<'a, str> {
        if self.is_missing(value) {
            return Cow::Borrowed("");
        }
        if let Some(separator) = &self.option_separator
            && !value.trim_start().starts_with(['[', '{'])
        {
            return Cow::Owned(self.set_of(value, separator));
        }
        if !self.fold_case {
            return self.number(value);
        }
        // Lists of options and of spans are not changed.
        match value.trim_start().starts_with(['[', '{']) {
            true => Cow::Borrowed(value),
            false => Cow::Owned(self.number(value).trim().to_lowercase()),
        }
    }

    /// Whether every answer is a list of options.
    pub(crate) fn makes_sets(&self) -> bool {
        self.option_separator.is_some()
    }

    /// Returns the options of an answer as a list; blank if there are none.
    fn set_of(&self, value: &str, separator: &str) -> String {
        let mut options: Vec<String> = Vec::new();
        for option in value.split(separator).map(str::trim) {
            if self.is_missing(option) {
                continue;
            }
            let option = if self.fold_case { option.to_lowercase() } else { option.to_owned() };
            if !option.is_empty() && !options.contains(&option) {
                options.push(option);
            }
        }
        if options.is_empty() { String::new() } else { Value::from(options).to_string() }
    }

    /// Applies [`Rules::apply`] to an answer, for a question whose answers are all words for yes or no.
    pub(crate) fn apply_to_truth<'a>(&self, value: &'a str) -> Cow<'a, str> {
        match truth_value(value).filter(|_| self.fold_case && !self.is_missing(value)) {
            Some(true) => Cow::Borrowed("yes"),
            Some(false) => Cow::Borrowed("no"),
            None => self.answer(value),
        }
    }

    /// The entries of a list of options that are not missing.
    pub(crate) fn options(&self, entries: &[Value]) -> Vec<Value> {
        entries.iter().filter(|entry| !self.is_missing(&plain(entry))).cloned().collect()
    }

    fn number<'a>(&self, value: &'a str) -> Cow<'a, str> {
        match self.decimal_comma && is_comma_number(value) {
            true => Cow::Owned(value.trim().replace(',', ".")),
            false => Cow::Borrowed(value),
        }
    }

    /// Converts a time; what cannot be parsed is left for the reading of rows to reject.
    fn time<'a>(&self, value: &'a str) -> Cow<'a, str> {
        let Some(format) = &self.time_format else { return self.number(value) };
        if self.is_missing(value) {
            return Cow::Borrowed("");
        }
        match format.parse(self.number(value).trim()) {
            Some(at_ms) => Cow::Owned(format_ms(at_ms)),
            // Without its format a value might be parsed as another moment.
            None if value.trim().is_empty() => Cow::Borrowed(value),
            None => Cow::Owned(format!("{} (not {format})", value.trim())),
        }
    }
}

/// Whether a value is a number with a comma before its decimals.
pub(crate) fn is_comma_number(value: &str) -> bool {
    let value = value.trim();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let unsigned = value.strip_prefix(['-', '+']).unwrap_or(value);
    unsigned.split_once(',').is_some_and(|(whole, decimals)| digits(whole) && digits(decimals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn rules(rules: ValueRules) -> Rules {
        Rules::new(&rules).unwrap()
    }

    fn folding() -> Rules {
        let missing = vec!["-1".to_owned(), "NA".to_owned()];
        rules(ValueRules { missing, fold_case: true, ..ValueRules::default() })
    }

    #[rstest]
    #[case::trimmed("Yes ", "yes")]
    #[case::capitals("TRUE", "true")]
    #[case::number("0", "0")]
    #[case::negation("NO", "no")]
    #[case::missing_number_with_decimals("-1.0", "")]
    #[case::list("[\"Joy\"]", "[\"Joy\"]")]
    #[case::one_capital("Maybe", "maybe")]
    #[case::missing_number("-1", "")]
    #[case::missing_word(" NA", "")]
    fn answers_are_folded(#[case] value: &str, #[case] read: &str) {
        assert_eq!(folding().apply(Treatment::Answer, value), read);
    }

    #[test]
    fn other_columns_are_not_folded() {
        let rules = folding();
        assert_eq!(rules.apply_to_truth("TRUE"), "yes");
        assert_eq!(rules.apply(Treatment::Attribute, "Woman"), "Woman");
        assert_eq!(rules.apply(Treatment::Attribute, "NA"), "");
        assert_eq!(rules.apply(Treatment::Kept, "NA"), "NA");
    }

    #[rstest]
    #[case::two("anger, fear", "[\"anger\",\"fear\"]")]
    #[case::one("anger", "[\"anger\"]")]
    #[case::twice_and_missing("fear,,fear,none", "[\"fear\"]")]
    #[case::missing("none", "")]
    #[case::blank(" , ", "")]
    #[case::list_already("[\"a,b\"]", "[\"a,b\"]")]
    fn options_are_split_and_missing_ones_dropped(#[case] value: &str, #[case] read: &str) {
        let rules = rules(ValueRules {
            option_separator: Some(",".to_owned()),
            missing: vec!["none".to_owned()],
            ..ValueRules::default()
        });
        assert_eq!(rules.apply(Treatment::Answer, value), read);
        assert_eq!(rules.apply(Treatment::Attribute, "a,b"), "a,b");
    }

    #[rstest]
    #[case::number("3,0", "3.0")]
    #[case::negative_number("-1,25", "-1.25")]
    #[case::words("a,b", "a,b")]
    #[case::list("1,2,3", "1,2,3")]
    #[case::no_digit_before(",5", ",5")]
    fn decimal_comma_applies_only_to_numbers(#[case] value: &str, #[case] read: &str) {
        let rules = rules(ValueRules { decimal_comma: true, ..ValueRules::default() });
        assert_eq!(rules.apply(Treatment::Answer, value), read);
    }

    #[test]
    fn times_are_read_by_their_format_only() {
        let format = Some("day-first".to_owned());
        let rules = rules(ValueRules { time_format: format, ..ValueRules::default() });
        assert_eq!(rules.apply(Treatment::Time, "31.12.2024 10:00"), "2024-12-31T10:00:00Z");
        assert_eq!(rules.apply(Treatment::Time, "12/31/2024"), "12/31/2024 (not day-first)");
        assert_eq!(rules.apply(Treatment::Time, ""), "");
        assert!(
            Rules::new(&ValueRules { time_format: Some("soon".into()), ..ValueRules::default() }).is_err()
        );
    }
}
