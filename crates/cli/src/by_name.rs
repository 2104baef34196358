//! Figures keyed by the names of levels, options or types.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A JSON object whose keys are names in the project, in the project's order.
#[derive(Clone, Debug)]
pub(crate) struct ByName<T>(Vec<(String, T)>);

impl<T> FromIterator<(String, T)> for ByName<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(figures: I) -> Self {
        Self(figures.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, figure)| (name, figure)))
    }
}

impl<T: JsonSchema> JsonSchema for ByName<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        BTreeMap::<String, T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stay_in_their_order() {
        let by_level: ByName<f64> =
            [("never".to_owned(), 0.25), ("always".to_owned(), 0.75)].into_iter().collect();
        let json = serde_json::to_string(&by_level).unwrap();
        assert_eq!(json, r#"{"never":0.25,"always":0.75}"#);
    }
}
