//! `dissensus schema`: what every command prints with `--json`.

use super::hold;
use dissensus_tests::command::Bench;
use serde_json::{Map, Value};

/// Each definition once, in a file of its own kind, so that one changed type is one change.
#[test]
fn schemas_of_all_commands() {
    let all: Map<String, Value> = serde_json::from_str(&Bench::without_encoder().ok(["schema"])).unwrap();
    let mut definitions = Map::new();
    let mut commands = Map::new();
    for (command, mut schema) in all {
        let fields = schema.as_object_mut().unwrap();
        fields.remove("$schema");
        if let Some(Value::Object(own)) = fields.remove("$defs") {
            for (name, definition) in own {
                let known = definitions.entry(name.clone()).or_insert_with(|| definition.clone());
                assert_eq!(
                    *known, definition,
                    "`{name}` of `{command}` is another one than that of other commands"
                );
            }
        }
        commands.insert(command, schema);
    }
    definitions.sort_keys();
    hold("schema-of-commands", &serde_json::to_string_pretty(&commands).unwrap());
    hold("schema-definitions", &serde_json::to_string_pretty(&definitions).unwrap());
}
