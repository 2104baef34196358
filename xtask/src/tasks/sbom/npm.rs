//! npm packages of which code or typefaces are in the window and in pages of packets.

use super::component::Component;
use crate::project::Project;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Packages that the lock file counts among the dependencies, of which nothing is in the window: a compiler
/// and types.
const ONLY_FOR_BUILDING: [&str; 2] = ["@types/estree", "typescript"];
/// Licences of packages that name none in package.json, as their file LICENSE has them.
const LICENCES: [(&str, &str); 1] = [("svelte-toolbelt", "MIT")];

#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, Locked>,
}

#[derive(Deserialize)]
struct Locked {
    #[serde(default)]
    version: String,
    license: Option<String>,
    integrity: Option<String>,
    #[serde(default)]
    dev: bool,
}

/// Reads the packages from package-lock.json; texts of licences are in the installed ones.
pub(super) fn read(project: &Project) -> Result<Vec<Component>> {
    let path = project.ui().join("package-lock.json");
    let lock = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let lock = serde_json::from_str(&lock).with_context(|| format!("reading {}", path.display()))?;
    packages(lock, &project.ui())
}

fn packages(lock: Lock, ui: &Path) -> Result<Vec<Component>> {
    let mut components = Vec::new();
    for (place, locked) in lock.packages {
        let Some((_, name)) = place.rsplit_once("node_modules/") else { continue };
        if locked.dev || ONLY_FOR_BUILDING.contains(&name) {
            continue;
        }
        let licence = locked.license.or_else(|| {
            LICENCES.iter().find(|(package, _)| *package == name).map(|(_, licence)| (*licence).to_owned())
        });
        let folder = ui.join(&place);
        if !folder.is_dir() {
            bail!("{} is missing: run `cargo xtask test --only ui-packages`", folder.display());
        }
        let purl = format!("pkg:npm/{}@{}", name.replacen('@', "%40", 1), locked.version);
        components.push(Component {
            reference: purl.clone(),
            name: name.to_owned(),
            version: locked.version,
            purl: Some(purl),
            licence: licence.unwrap_or_default(),
            hash: locked.integrity.as_deref().and_then(sum),
            folder: Some(folder),
            ..Component::default()
        });
    }
    Ok(components)
}

/// The checksum in an entry such as `sha512-BASE64`.
fn sum(integrity: &str) -> Option<(&'static str, String)> {
    let base64 = integrity.strip_prefix("sha512-")?.trim_end_matches('=');
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut hex) = (0_u32, 0, String::new());
    for digit in base64.bytes() {
        let value = DIGITS.iter().position(|one| *one == digit)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            hex += &format!("{:02x}", bits >> held & 0xff);
        }
    }
    Some(("SHA-512", hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_for_building_are_left_out() {
        let lock = serde_json::from_value(serde_json::json!({"packages": {
            "": {"version": "0.1.0"},
            "node_modules/a": {"version": "1.0.0", "license": "MIT", "integrity": "sha512-AP8Q"},
            "node_modules/a/node_modules/@b/c": {"version": "2.0.0", "license": "ISC"},
            "node_modules/typescript": {"version": "3.0.0", "license": "Apache-2.0"},
            "node_modules/vite": {"version": "4.0.0", "license": "MIT", "dev": true},
        }}))
        .unwrap();
        let ui = tempfile::tempdir().unwrap();
        fs::create_dir_all(ui.path().join("node_modules/a/node_modules/@b/c")).unwrap();
        let found = packages(lock, ui.path()).unwrap();
        let shown: Vec<_> = found.iter().map(|one| (one.reference.as_str(), one.hash.clone())).collect();
        let sum = Some(("SHA-512", "00ff10".to_owned()));
        assert_eq!(shown, [("pkg:npm/a@1.0.0", sum), ("pkg:npm/%40b/c@2.0.0", None)]);
        assert_eq!(sum_of_nothing(), None);
    }

    fn sum_of_nothing() -> Option<(&'static str, String)> {
        sum("sha1-AP8Q").or_else(|| sum("sha512-?"))
    }
}
