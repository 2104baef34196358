//! The manifest of a Flatpak, which packs the archives of the release.

use super::{Release, yaml};
use anyhow::Result;
use serde_json::{Value, json};

/// The runtime with WebKit, on which the window runs.
const RUNTIME: (&str, &str) = ("org.gnome.Platform", "48");

/// The manifest for `flatpak-builder`, with an archive for each processor.
pub(super) fn manifest(release: &Release) -> Result<(String, String)> {
    let about = &release.about;
    let id = &about.identifier;
    let source = |processor: &str, ending: &str| -> Result<Value> {
        let file = release.file(ending)?;
        Ok(json!({
            "type": "archive",
            "url": release.url(file),
            "sha256": file.sha256,
            "only-arches": [processor],
        }))
    };
    let sources = [source("x86_64", "_amd64.tar.gz")?, source("aarch64", "_arm64.tar.gz")?];
    let (runtime, version) = RUNTIME;
    let text = yaml::document(&json!({
        "id": id,
        "runtime": runtime,
        "runtime-version": version,
        "sdk": runtime.replace("Platform", "Sdk"),
        "command": about.main_binary_name,
        // Names that start with the identifier are shown to the desktop, others are not.
        "rename-desktop-file": format!("{}.desktop", about.product_name),
        "rename-icon": about.main_binary_name,
        "finish-args": [
            "--share=ipc",
            "--socket=wayland",
            "--socket=fallback-x11",
            "--device=dri",
            // A study on phones, and the downloads that somebody asks for.
            "--share=network",
            // A project has files next to it, which access to single files does not include.
            "--filesystem=home",
        ],
        "modules": [{
            "name": about.product_name.to_lowercase(),
            "buildsystem": "simple",
            "build-commands": [
                "cp -r usr/. /app/",
                format!("mv /app/share/mime/packages/dissensus.xml /app/share/mime/packages/{id}.xml"),
            ],
            "sources": sources,
        }],
    }));
    Ok((format!("flatpak/{id}.yml"), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::tests::release;
    use std::path::Path;

    #[test]
    fn manifest_packs_the_archive_of_each_processor() {
        let (path, text) = manifest(&release()).unwrap();
        assert_eq!(path, "flatpak/org.dissensus.window.yml");
        for (processor, archive) in [("x86_64", "amd64"), ("aarch64", "arm64")] {
            let source = text.split("- only-arches:").find(|part| part.contains(processor)).unwrap();
            assert!(source.contains(&format!("_{archive}.tar.gz\"")), "{source}");
        }
        assert!(text.contains("command: \"dissensus-window\"\n"), "{text}");
    }

    #[test]
    fn renamed_files_exist() {
        let linux = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("src-tauri/linux");
        assert!(linux.join("dissensus.xml").is_file());
        let id = release().about.identifier;
        assert!(linux.join(format!("{id}.metainfo.xml")).is_file());
    }
}
