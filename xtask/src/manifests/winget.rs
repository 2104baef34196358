//! The three manifests of winget, which is part of Windows.

use super::{Release, yaml};
use anyhow::Result;
use serde_json::{Value, json};

/// The version of winget's schemas that the manifests follow.
const SCHEMA: &str = "1.6.0";
const LANGUAGE: &str = "en-US";

/// The version, the installers and the texts, in one file each.
pub(super) fn manifests(release: &Release) -> Result<Vec<(String, String)>> {
    let about = &release.about;
    let identifier = format!("{0}.{0}", about.product_name);
    let version = json!({ "DefaultLocale": LANGUAGE });
    let installer = |ending: &str, kind: &str, scope: &str| -> Result<Value> {
        let file = release.file(ending)?;
        Ok(json!({
            "Architecture": "x64",
            "InstallerType": kind,
            "Scope": scope,
            "InstallerUrl": release.url(file),
            "InstallerSha256": file.sha256.to_uppercase(),
        }))
    };
    let installers = json!({
        "FileExtensions": ["dissensus"],
        "InstallModes": ["interactive", "silent"],
        "UpgradeBehavior": "install",
        // The first needs no administrator.
        "Installers": [
            installer("_x64-setup.exe", "nullsoft", "user")?,
            installer("_x64_en-US.msi", "wix", "machine")?,
        ],
    });
    let texts = json!({
        "PackageLocale": LANGUAGE,
        "Publisher": about.product_name,
        "PackageName": about.product_name,
        "PackageUrl": release.address,
        "License": about.bundle.license,
        "ShortDescription": about.bundle.short_description,
        "Description": about.bundle.long_description,
        "ReleaseNotesUrl": format!("{}/releases/tag/v{}", release.address, release.version),
        "Tags": ["annotation", "labelling", "agreement", "nlp"],
    });
    let files = [
        (String::new(), "version", version),
        (".installer".to_owned(), "installer", installers),
        (format!(".locale.{LANGUAGE}"), "defaultLocale", texts),
    ];
    let file = |(suffix, kind, mut fields): (String, &str, Value)| {
        fields["PackageIdentifier"] = json!(identifier);
        fields["PackageVersion"] = json!(release.version);
        fields["ManifestType"] = json!(kind);
        fields["ManifestVersion"] = json!(SCHEMA);
        (format!("winget/{identifier}{suffix}.yaml"), yaml::document(&fields))
    };
    Ok(files.map(file).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::tests::release;

    #[test]
    fn manifests_have_the_fields_that_the_schemas_require() {
        let files = manifests(&release()).unwrap();
        let required = [
            ("Dissensus.Dissensus.yaml", vec!["DefaultLocale"]),
            ("Dissensus.Dissensus.installer.yaml", vec!["Installers"]),
            (
                "Dissensus.Dissensus.locale.en-US.yaml",
                vec!["PackageLocale", "Publisher", "PackageName", "License", "ShortDescription"],
            ),
        ];
        assert_eq!(files.len(), required.len());
        for ((path, text), (name, fields)) in files.iter().zip(required) {
            assert_eq!(path, &format!("winget/{name}"));
            let all = ["PackageIdentifier", "PackageVersion", "ManifestType", "ManifestVersion"];
            for field in all.into_iter().chain(fields) {
                let lines = text.lines().filter(|line| line.starts_with(&format!("{field}:")));
                assert_eq!(lines.count(), 1, "{name}: {field}\n{text}");
            }
        }
        let short = &release().about.bundle.short_description;
        assert!((3..=256).contains(&short.len()), "winget takes 3 to 256 characters: {short}");
    }
}
