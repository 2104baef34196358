//! UIMA CAS JSON (0.4) as written by INCEpTION and dkpro-cassis: one document of one annotator.
//! <https://github.com/apache/uima-uimaj-io-jsoncas>

use super::cas::{self, Annotation, Cas};
use super::one_document::OneDocument;
use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, Item, Items};
use serde_json::{Map, Value};
use std::sync::Arc;

const STRUCTURES: &str = "%FEATURE_STRUCTURES";

#[derive(Debug)]
pub(super) struct CasJson;

impl Format for CasJson {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "uima-json", title: "UIMA CAS JSON", endings: &["json"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        let is_cas = look.members.iter().any(|(name, _)| name == STRUCTURES);
        is_cas.then(|| Reading::Annotations(Division::Whole, Arc::new(OneDocument { read: read_document })))
    }
}

/// Adds the contents of a document to `item`, and the item to `items`.
pub(super) fn read_document(file: &str, item: Item, items: &mut Items) {
    match parsed(file) {
        Ok(found) => cas::add(found, item, items),
        Err(why) => items.fault(item.place, None, why),
    }
}

/// The annotations of a file, and its text.
fn parsed(file: &str) -> Result<Cas, String> {
    let broken = |error: serde_json::Error| format!("this is no sound JSON: {error}");
    let whole: Map<String, Value> = serde_json::from_str(file).map_err(broken)?;
    let structures = match whole.get(STRUCTURES) {
        Some(Value::Array(list)) => list,
        _ => return Err(format!("it has no list \"{STRUCTURES}\"")),
    };
    let mut found = Cas::default();
    for (at, structure) in structures.iter().enumerate() {
        let Some(structure) = structure.as_object() else {
            return Err(format!("{STRUCTURES}[{at}] is no object"));
        };
        let name = structure.get("%TYPE").and_then(Value::as_str).unwrap_or_default();
        let kind = name.rsplit('.').next().unwrap_or_default();
        if name == "uima.cas.Sofa" {
            if found.text.is_none() {
                found.text = sofa(structure);
            }
        } else if Annotation::is_of_annotators(kind) {
            let annotation = annotation(kind, structure);
            found.annotations.extend(annotation.map_err(|why| format!("{STRUCTURES}[{at}] {why}"))?);
        }
    }
    Ok(found)
}

fn sofa(structure: &Map<String, Value>) -> Option<(String, String)> {
    let text = structure.get("sofaString")?.as_str()?;
    Some((structure.get("%ID")?.to_string(), text.to_owned()))
}

fn annotation(kind: &str, structure: &Map<String, Value>) -> Result<Option<Annotation>, String> {
    // A structure that belongs to no text is a list, or a part of another annotation.
    let Some(sofa) = structure.get("@sofa").map(ToString::to_string) else { return Ok(None) };
    let offset = |name: &str| {
        let at = structure.get(name);
        let number = |at: &Value| {
            let number = at.as_u64().and_then(|at| u32::try_from(at).ok());
            number.ok_or_else(|| format!("(\"{kind}\"): \"{name}\" is {at}, and no offset"))
        };
        at.map(number).transpose()
    };
    let place = offset("begin")?.zip(offset("end")?);
    let mut found =
        Annotation { kind: kind.to_owned(), sofa, place, features: Vec::new(), references: Vec::new() };
    for (name, value) in structure {
        if let Some(reference) = name.strip_prefix('@') {
            if reference != "sofa" && !value.is_null() {
                found.references.push(reference.to_owned());
            }
            continue;
        }
        // Names with a sign are not features, except for numbers that JSON cannot hold (`"#score": "NaN"`),
        // which are not answers.
        if name.starts_with(['%', '#', '^']) || ["begin", "end"].contains(&name.as_str()) {
            continue;
        }
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Null => continue,
            Value::Array(_) | Value::Object(_) => {
                found.references.push(name.clone());
                continue;
            }
        };
        if Annotation::is_feature(name, &value) {
            found.features.push((name.clone(), value));
        }
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_element() {
        let why = |file: &str| parsed(file).err().unwrap();
        assert!(why("{").contains("no sound JSON"));
        assert!(why("{}").contains(STRUCTURES));
        assert!(why("{\"%FEATURE_STRUCTURES\": [3]}").contains("[0] is no object"));
        let offset =
            "{\"%FEATURE_STRUCTURES\": [{\"%TYPE\": \"a.Tone\", \"@sofa\": 1, \"begin\": -1, \"end\": 2}]}";
        assert_eq!(why(offset), "%FEATURE_STRUCTURES[0] (\"Tone\"): \"begin\" is -1, and no offset");
    }

    #[test]
    fn features_exclude_references() {
        let file = "{\"%FEATURE_STRUCTURES\": [
            {\"%ID\": 1, \"%TYPE\": \"uima.cas.Sofa\", \"sofaString\": \"a\\u00e9\"},
            {\"%ID\": 2, \"%TYPE\": \"de.x.type.Token\", \"@sofa\": 1, \"begin\": 0, \"end\": 1},
            {\"%ID\": 3, \"%TYPE\": \"webanno.custom.Tone\", \"@sofa\": 1, \"begin\": 0, \"end\": 1, \"value\": \"W\", \"sure\": true, \"n\": 3,
             \"note\": null, \"#score\": \"NaN\", \"@of\": 2, \"empty\": \" \"}]}";
        let found = parsed(file).unwrap();
        assert_eq!(found.text, Some(("1".to_owned(), "aé".to_owned())));
        let [tone] = found.annotations.as_slice() else { panic!("{found:?}") };
        let features: Vec<(&str, &str)> =
            tone.features.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(features, [("n", "3"), ("sure", "true"), ("value", "W")]);
        assert_eq!((tone.place, tone.references.as_slice()), (Some((0, 1)), &["of".to_owned()][..]));
    }
}
