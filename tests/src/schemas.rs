//! Checks what the command prints with `--json` against its schema.

use crate::programs;
use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use tempfile::TempDir;

/// Checks that a document which the command printed with `arguments` matches `dissensus schema`.
///
/// # Panics
/// It does not match, or the command has no schema.
pub fn check(arguments: &[OsString], document: &Value) {
    let Some((command, schema)) = schema_of(arguments) else {
        panic!("`dissensus schema` prints nothing for {arguments:?}");
    };
    let mut known = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = known.entry(command).or_insert_with(|| match jsonschema::validator_for(schema) {
        Ok(validator) => validator,
        Err(error) => panic!("what `dissensus schema {command}` prints is no schema: {error}"),
    });
    let wrong: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{} at \"{}\"", error, error.instance_path()))
        .collect();
    assert!(
        wrong.is_empty(),
        "dissensus {arguments:?} prints what `dissensus schema {command}` does not allow:\n{}",
        wrong.join("\n")
    );
}

/// Every command with a schema in `dissensus schema`.
pub fn commands() -> impl Iterator<Item = &'static str> {
    schemas().keys().map(String::as_str)
}

/// Compiled schemas, by command.
static VALIDATORS: Mutex<BTreeMap<&str, Validator>> = Mutex::new(BTreeMap::new());

/// The command that these arguments run, and its schema.
fn schema_of(arguments: &[OsString]) -> Option<(&'static str, &'static Value)> {
    let words: Vec<&str> = arguments.iter().map(|argument| argument.to_str().unwrap_or_default()).collect();
    let pairs = words.windows(2).map(|pair| pair.join(" "));
    let known = |name: &str| schemas().get_key_value(name).map(|(name, schema)| (name.as_str(), schema));
    pairs.zip(&words).find_map(|(pair, word)| known(&pair).or_else(|| known(word)))
}

/// All schemas, by command.
fn schemas() -> &'static BTreeMap<String, Value> {
    static SCHEMAS: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    SCHEMAS.get_or_init(|| match read() {
        Ok(schemas) => schemas,
        Err(error) => panic!("cannot read schemas: {error:#}"),
    })
}

fn read() -> anyhow::Result<BTreeMap<String, Value>> {
    let home = TempDir::new()?;
    let mut command = Command::new(programs::command());
    let output = command.arg("schema").env("DISSENSUS_HOME", home.path()).output()?;
    anyhow::ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}
