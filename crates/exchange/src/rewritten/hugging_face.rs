//! Metadata that the library `datasets` adds to a table: the names of classes that the table holds as numbers
//! (features of the type `ClassLabel`).

use crate::annotations::Findings;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use serde_json::Value;
use std::sync::Arc;

/// The key of the schema's metadata.
pub(crate) const KEY: &str = "huggingface";

/// The names of classes by column.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ClassNames(Vec<(String, Vec<String>)>);

impl ClassNames {
    /// Reads them from a schema; empty if it has none.
    pub(super) fn new(schema: &Schema) -> Self {
        let about: Value =
            schema.metadata().get(KEY).and_then(|about| serde_json::from_str(about).ok()).unwrap_or_default();
        let features = about["info"]["features"].as_object();
        let names = |feature: &Value| {
            let names = feature["names"].as_array().filter(|_| feature["_type"] == "ClassLabel")?;
            names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        };
        let holds_numbers =
            |column: &str| schema.field_with_name(column).is_ok_and(|f| *f.data_type() == DataType::Int64);
        let found = features.into_iter().flatten().filter(|(column, _)| holds_numbers(column));
        Self(found.filter_map(|(column, feature)| Some((column.clone(), names(feature)?))).collect())
    }

    /// Replaces numbers by names; a number without a name, such as -1 for a withheld label, stays a number.
    pub(super) fn named(&self, batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
        if self.0.is_empty() {
            return Ok(batch);
        }
        let schema = batch.schema();
        let (mut fields, mut columns): (Vec<Arc<Field>>, Vec<ArrayRef>) =
            (schema.fields().iter().cloned().collect(), batch.columns().to_vec());
        for (column, names) in &self.0 {
            let Ok(index) = schema.index_of(column) else { continue };
            let numbers = columns[index].as_primitive::<Int64Type>();
            let name = |number: i64| {
                let known = usize::try_from(number).ok().and_then(|number| names.get(number));
                known.map_or_else(|| number.to_string(), String::clone)
            };
            let named: StringArray = numbers.iter().map(|number| number.map(name)).collect();
            fields[index] = Arc::new(Field::new(column, DataType::Utf8, true));
            columns[index] = Arc::new(named) as ArrayRef;
        }
        debug_assert!(columns.iter().all(|column| column.len() == batch.num_rows()));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    }

    pub(super) fn irregularities(&self) -> Vec<Findings> {
        let reported = |(column, names): &(String, Vec<String>)| Findings {
            code: "class-names",
            count: names.len() as u64,
            message: format!(
                "Column \"{column}\": its numbers are read as the names of classes that the file gives them"
            ),
        };
        self.0.iter().map(reported).collect()
    }
}
