//! The cask of Homebrew, which installs applications on macOS.

use super::Release;
use anyhow::Result;

/// The cask: it links the command that is inside the application.
pub(super) fn manifest(release: &Release) -> Result<(String, String)> {
    let about = &release.about;
    let (name, token) = (&about.product_name, about.product_name.to_lowercase());
    let file = release.file("_universal.dmg")?;
    // Homebrew wants the version written once.
    let url = release.url(file).replace(&release.version, "#{version}");
    let text = format!(
        r##"cask "{token}" do
  version "{version}"
  sha256 "{sha256}"

  url "{url}"
  name "{name}"
  desc "{summary}"
  homepage "{address}"

  app "{name}.app"
  binary "#{{appdir}}/{name}.app/Contents/MacOS/{token}"

  zap trash: [
    "~/Library/Caches/{token}",
    "~/Library/Caches/{identifier}",
    "~/Library/Preferences/{identifier}.plist",
    "~/Library/Saved Application State/{identifier}.savedState",
    "~/Library/WebKit/{identifier}",
  ]
end
"##,
        version = release.version,
        sha256 = file.sha256,
        summary = about.bundle.short_description,
        address = release.address,
        identifier = about.identifier,
    );
    Ok((format!("homebrew/{token}.rb"), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifests::tests::release;

    #[test]
    fn cask_names_the_disk_image_and_the_command() {
        let (path, text) = manifest(&release()).unwrap();
        assert_eq!(path, "homebrew/dissensus.rb");
        for line in [
            "cask \"dissensus\" do",
            "  version \"0.2.0\"",
            "  app \"Dissensus.app\"",
            "  binary \"#{appdir}/Dissensus.app/Contents/MacOS/dissensus\"",
            "  url \"https://forge.example.org/team/dissensus/releases/download/v#{version}/Dissensus_#{version}_universal.dmg\"",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
        // Projects, the sample and answers of people are nobody's to remove.
        assert!(!text.contains("Application Support"), "{text}");
        assert!(
            text.lines().filter(|line| *line == "end").count() == 1 && text.matches(" do\n").count() == 1
        );
    }

    #[test]
    fn summary_is_as_homebrew_wants_it() {
        let summary = release().about.bundle.short_description;
        assert!(summary.len() <= 80 && !summary.ends_with('.') && !summary.contains('"'), "{summary}");
    }
}
