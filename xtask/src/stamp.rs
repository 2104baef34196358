//! What is up to date: stamp files in the target folder, with a digest of what a step depends on.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Folders that hold no sources, wherever they are.
const GENERATED: [&str; 5] = [".git", "node_modules", "dist", "dist-page", "__pycache__"];
/// Results of tests are valid for this long: the system around the checkout changes too.
pub(crate) const VALID: Duration = Duration::from_secs(7 * 24 * 3600);

/// Remembers the state of the sources for which a step was done.
pub(crate) struct Stamp {
    path: PathBuf,
    digest: String,
}

impl Stamp {
    pub(crate) fn new(folder: &Path, name: &str, digest: &[u8]) -> Self {
        Self { path: folder.join(name), digest: hex(digest) }
    }

    pub(crate) fn holds(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|was| was == self.digest)
    }

    /// Whether it holds and was set within [`VALID`].
    pub(crate) fn is_valid(&self) -> bool {
        self.holds() && is_recent(&self.path)
    }

    /// Called before the work, so that an interrupted one does not count as done.
    pub(crate) fn forget(&self) {
        // It may be missing.
        let _ = fs::remove_file(&self.path);
    }

    pub(crate) fn set(&self) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&self.path, &self.digest).with_context(|| format!("writing {}", self.path.display()))
    }
}

/// Whether the file was written within [`VALID`].
pub(crate) fn is_recent(path: &Path) -> bool {
    let written = fs::metadata(path).and_then(|state| state.modified());
    written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < VALID))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Adds one part of what a step depends on to a digest, with its length: parts cannot run into each other.
pub(crate) fn add(digest: &mut Sha256, part: &[u8]) {
    digest.update((part.len() as u64).to_le_bytes());
    digest.update(part);
}

/// A digest of the names and contents of the files in `folder`, without generated folders and without files
/// and folders for which `is_read` returns false. A link counts as the path that it holds.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn digest_of(folder: &Path, is_read: impl Fn(&Path) -> bool) -> Result<Vec<u8>> {
    let mut files = Vec::new();
    collect(folder, &is_read, &mut files)?;
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        let content = match fs::read_link(&file) {
            Ok(link) => link.into_os_string().into_encoded_bytes(),
            Err(_) => fs::read(&file).with_context(|| format!("reading {}", file.display()))?,
        };
        add(&mut digest, file.strip_prefix(folder).unwrap_or(&file).as_os_str().as_encoded_bytes());
        add(&mut digest, &content);
    }
    Ok(digest.finalize().to_vec())
}

fn collect(folder: &Path, is_read: &impl Fn(&Path) -> bool, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_generated = GENERATED.iter().any(|name| entry.file_name() == *name);
        if is_generated || !is_read(&path) {
            continue;
        }
        if kind.is_dir() {
            collect(&path, is_read, files)?;
        } else if kind.is_file() || kind.is_symlink() {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_changes_only_with_sources() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        let digest = || digest_of(folder.path(), |path| !path.ends_with("src/skipped")).unwrap();
        write("src/a.ts", "1");
        let mut seen = vec![digest()];
        for generated in ["dist/index.html", "node_modules/x/index.js", ".git/HEAD", "src/skipped/b.ts"] {
            write(generated, "made");
            assert_eq!(digest(), seen[0], "{generated}");
        }
        for source in ["src/a.ts", "src/models/a.ts", "src/target/a.ts", ".prettierrc"] {
            write(source, "2");
            let now = digest();
            assert!(!seen.contains(&now), "{source}");
            seen.push(now);
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
            assert!(!seen.contains(&digest()));
        }
    }

    #[test]
    fn stamp_holds_for_its_digest_until_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = Stamp::new(&folder.path().join("stamps"), "step", b"sources");
        assert!(!stamp.holds());
        stamp.set().unwrap();
        assert!(stamp.holds());
        assert!(!Stamp::new(&folder.path().join("stamps"), "step", b"changed").holds());
        stamp.forget();
        assert!(!stamp.holds());
    }
}
