//! The JSON document of `project info`.

use dissensus_api::{DiskInfo, Estimation, ProjectInfo, QuestionInfo};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// A project, with the model estimates of each question and the encryption of its disk.
pub(super) struct ProjectDocument {
    /// The project without its questions.
    project: ProjectInfo,
    questions: Vec<EstimatedQuestion>,
    disk: DiskInfo,
}

/// A question with its model estimates.
#[derive(Serialize, JsonSchema)]
struct EstimatedQuestion {
    #[serde(flatten)]
    question: QuestionInfo,
    /// The model estimates; null if no model is fitted.
    estimation: Option<Estimation>,
}

/// The key of the questions in the JSON of a project.
const QUESTIONS: &str = "questions";
/// The key of the disk.
const DISK: &str = "disk";

impl ProjectDocument {
    /// Builds the document; `estimated` has one item per question of `project`.
    pub(super) fn new(mut project: ProjectInfo, estimated: Vec<Option<Estimation>>, disk: DiskInfo) -> Self {
        let questions = std::mem::take(&mut project.questions).into_iter().zip(estimated);
        let questions =
            questions.map(|(question, estimation)| EstimatedQuestion { question, estimation }).collect();
        Self { project, questions, disk }
    }
}

impl Serialize for ProjectDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = serde_json::to_value(&self.project).map_err(S::Error::custom)?;
        document[QUESTIONS] = serde_json::to_value(&self.questions).map_err(S::Error::custom)?;
        document[DISK] = serde_json::to_value(&self.disk).map_err(S::Error::custom)?;
        document.serialize(serializer)
    }
}

impl JsonSchema for ProjectDocument {
    fn schema_name() -> Cow<'static, str> {
        "Project".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = ProjectInfo::json_schema(generator);
        let questions = generator.subschema_for::<Vec<EstimatedQuestion>>();
        if let Some(known) = schema.pointer_mut("/properties/questions/items") {
            *known = questions.get("items").cloned().unwrap_or_default();
        }
        let disk = generator.subschema_for::<DiskInfo>();
        if let Some(properties) = schema.pointer_mut("/properties").and_then(Value::as_object_mut) {
            properties.insert(DISK.to_owned(), disk.into());
        }
        if let Some(required) = schema.pointer_mut("/required").and_then(Value::as_array_mut) {
            required.push(DISK.into());
        }
        schema
    }
}
