//! Units of offsets into a text, and their conversion to characters.

use serde::{Deserialize, Serialize};

/// The unit in which a file counts offsets.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum OffsetUnit {
    /// Unicode scalar values, as Python counts.
    #[default]
    Characters,
    /// UTF-16 code units, as JavaScript and Java count.
    #[serde(rename = "utf-16")]
    #[strum(to_string = "utf-16")]
    Utf16,
    /// Bytes of UTF-8, as Rust and Go count.
    Bytes,
}

crate::errors! {
    /// Why an offset is invalid.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OffsetError {
        Beyond { offset: u32, length: usize, unit: OffsetUnit } =>
            "the offset {offset} is beyond the text, which has {length} {}" (unit.counted());
        Inside { offset: u32, character: char, unit: OffsetUnit } =>
            "the offset {offset}, counted in {}, falls inside the character \"{character}\": {}" (unit.counted(), unit.inside());
    }
}

impl OffsetUnit {
    /// The unit in words.
    pub fn counted(self) -> &'static str {
        match self {
            Self::Characters => "characters (Unicode code points)",
            Self::Utf16 => "UTF-16 code units",
            Self::Bytes => "bytes of UTF-8",
        }
    }

    fn inside(self) -> &'static str {
        match self {
            Self::Utf16 => "it is half of a surrogate pair; do the offsets count characters, or bytes?",
            Self::Bytes | Self::Characters => "do the offsets count characters, or UTF-16 code units?",
        }
    }

    fn length_of(self, character: char) -> usize {
        match self {
            Self::Characters => 1,
            Self::Utf16 => character.len_utf16(),
            Self::Bytes => character.len_utf8(),
        }
    }

    /// Converts `offset` to Unicode scalar values. The end of the text is a valid offset.
    ///
    /// # Errors
    /// The offset is after the end of the text or inside a character.
    pub fn to_characters(self, text: &str, offset: u32) -> Result<u32, OffsetError> {
        let wanted = offset as usize;
        let mut passed = 0;
        for (nth, character) in text.chars().enumerate() {
            if passed == wanted {
                return Ok(nth as u32);
            }
            passed += self.length_of(character);
            if passed > wanted {
                return Err(OffsetError::Inside { offset, character, unit: self });
            }
        }
        match passed == wanted {
            true => Ok(text.chars().count() as u32),
            false => Err(OffsetError::Beyond { offset, length: passed, unit: self }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_convert_in_every_unit() {
        let text = "aß😀b"; // 4 characters, 5 UTF-16 code units, 8 bytes
        let places = |unit: OffsetUnit, to: u32| {
            (0..=to).map(|at| unit.to_characters(text, at).ok()).collect::<Vec<_>>()
        };
        let some = |at: u32| Some(at);
        assert_eq!(places(OffsetUnit::Characters, 5), [some(0), some(1), some(2), some(3), some(4), None]);
        assert_eq!(places(OffsetUnit::Utf16, 6), [some(0), some(1), some(2), None, some(3), some(4), None]);
        let bytes = [some(0), some(1), None, some(2), None, None, None, some(3), some(4), None];
        assert_eq!(places(OffsetUnit::Bytes, 9), bytes);
        assert_eq!(OffsetUnit::Bytes.to_characters("", 0), Ok(0));
    }

    #[test]
    fn offset_errors_are_specific() {
        let message_of = |unit: OffsetUnit, at| unit.to_characters("a😀", at).unwrap_err().to_string();
        assert!(message_of(OffsetUnit::Utf16, 2).contains("half of a surrogate pair"));
        assert!(message_of(OffsetUnit::Bytes, 3).contains("falls inside the character \"😀\""));
        assert!(message_of(OffsetUnit::Utf16, 9).contains("which has 3 UTF-16 code units"));
        assert_eq!(serde_json::to_string(&OffsetUnit::Utf16).unwrap(), "\"utf-16\"");
    }
}
