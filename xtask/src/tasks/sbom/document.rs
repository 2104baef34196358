//! The SBOM as JSON, in the format CycloneDX 1.5 (ECMA-424).

use super::component::Component;
use super::licences;
use anyhow::Result;
use serde_json::{Value, json};

/// The SBOM: a line for each component, so that changes can be read.
pub(super) fn sbom(all: &[Component], roots: &[String]) -> Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    let head = json!({"component": {
        "type": "application", "bom-ref": "dissensus", "name": "dissensus", "version": version,
        "licenses": [{"expression": "MIT OR Apache-2.0"}],
    }});
    // Everything that no crate uses is a part of the program itself.
    let mut own: Vec<&str> = roots.iter().map(String::as_str).collect();
    own.extend(
        all.iter()
            .filter(|one| one.purl.as_ref().is_none_or(|purl| !purl.starts_with("pkg:cargo/")))
            .filter(|one| !all.iter().any(|other| other.uses.contains(&one.reference)))
            .map(|one| one.reference.as_str())
            .filter(|reference| !roots.iter().any(|root| root == reference)),
    );
    let own = json!({"ref": "dissensus", "dependsOn": own});
    let uses = |one: &Component| json!({"ref": one.reference, "dependsOn": one.uses});
    let dependencies = std::iter::once(own).chain(all.iter().map(uses));
    let components = all.iter().map(component).collect::<Result<Vec<_>>>()?;
    Ok(format!(
        "{{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"version\":1,\n\"metadata\":{head},\n\"components\":[\n{}\n],\n\"dependencies\":[\n{}\n]}}\n",
        lines(components),
        lines(dependencies)
    ))
}

fn component(one: &Component) -> Result<Value> {
    let mut value = json!({
        "type": one.kind.name(),
        "bom-ref": one.reference,
        "name": one.name,
        "version": one.version,
        "scope": if one.is_optional { "optional" } else { "required" },
        "licenses": [{"expression": licences::expression(one)?.to_string()}],
    });
    if let Some(purl) = &one.purl {
        value["purl"] = json!(purl);
    }
    if let Some((algorithm, sum)) = &one.hash {
        value["hashes"] = json!([{"alg": algorithm, "content": sum}]);
    }
    Ok(value)
}

fn lines(values: impl IntoIterator<Item = Value>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",\n")
}

#[cfg(test)]
mod tests {
    use cyclonedx_bom::prelude::*;

    /// The committed file is read and checked by the library of the CycloneDX project.
    #[test]
    fn sbom_is_valid() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/report/src/institution/sbom.cdx.json");
        let text = std::fs::read_to_string(path).unwrap();
        let bom = Bom::parse_from_json_v1_5(text.as_bytes()).unwrap();
        let result = bom.validate_version(SpecVersion::V1_5);
        assert!(result.passed(), "{result:?}");
        let components = bom.components.unwrap().0;
        let named = |name: &str| components.iter().filter(|one| one.name.to_string() == name).count();
        for name in ["serde", "svelte", "sqlite", "all-MiniLM-L6-v2", "dissensus-store"] {
            assert_eq!(named(name), 1, "{name}");
        }
        // Nothing of tests and building.
        for name in ["rstest", "insta", "vitest", "typescript", "serde_derive", "xtask"] {
            assert_eq!(named(name), 0, "{name}");
        }
        let references: std::collections::BTreeSet<String> =
            components.iter().filter_map(|one| one.bom_ref.clone()).collect();
        assert_eq!(references.len(), components.len());
        for used in bom.dependencies.unwrap().0.iter().flat_map(|one| &one.dependencies) {
            assert!(references.contains(used), "{used}");
        }
    }

    #[test]
    fn invalid_sbom_is_noticed() {
        let text = r#"{"bomFormat":"CycloneDX","specVersion":"1.5","version":1,"components":[
            {"type":"libary","name":"a","version":"1","licenses":[{"expression":"MIT OR nonsense"}]}]}"#;
        let bom = Bom::parse_from_json_v1_5(text.as_bytes());
        assert!(bom.is_err() || !bom.unwrap().validate_version(SpecVersion::V1_5).passed());
    }
}
