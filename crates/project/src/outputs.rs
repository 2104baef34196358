//! Checks of output files: never an input file, and no existing file unless requested.

use crate::error::ProjectError;
use dissensus_exchange::ExchangeError;
use dissensus_files::{folder_of, real_path};
use dissensus_store::side_file_of;
use std::io;
use std::path::Path;

/// Checks before any work whether files can be written under these names.
///
/// # Errors
/// One is one of `inputs` under any name, exists already (without `replace`), is a folder, or is in a
/// folder that does not exist.
pub fn check_outputs(outputs: &[&Path], inputs: &[&Path], replace: bool) -> Result<(), ProjectError> {
    let inputs: Vec<_> = inputs.iter().filter_map(|path| real_path(path).ok()).collect();
    for out in outputs {
        if real_path(out).is_ok_and(|out| inputs.contains(&out)) {
            return Err(ProjectError::SameFile((*out).to_owned()));
        }
        let path = || (*out).to_owned();
        if let Some(of) = side_file_of(out).filter(|of| of.exists()) {
            let why = format!("a file of this name is used next to {} while that is open", of.display());
            let source = io::Error::new(io::ErrorKind::InvalidInput, why);
            return Err(ExchangeError::Unwritable { path: path(), source }.into());
        }
        if out.is_dir() {
            return Err(ExchangeError::Directory { path: path() }.into());
        }
        if !replace && std::fs::symlink_metadata(out).is_ok() {
            return Err(ProjectError::ExportExists(path()));
        }
        if !folder_of(out).is_dir() {
            let source = io::Error::new(io::ErrorKind::NotFound, "its folder is not there");
            return Err(ExchangeError::Unwritable { path: path(), source }.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_never_overwritten_and_outputs_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("in.txt"), "x").unwrap();
        std::fs::write(at("there"), "y").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        let code = |out: &Path, replace| {
            let (good, input, project) = (at("new"), at("in.txt"), at("project"));
            check_outputs(&[&good, out], &[&input, &project], replace).err().map_or("", |e| e.code())
        };
        assert_eq!(
            (code(&at("sub/../in.txt"), true), code(&at("in.txt"), false)),
            ("same-file", "same-file")
        );
        assert_eq!((code(&at("there"), false), code(&at("there"), true)), ("export-exists", ""));
        std::fs::write(at("in.txt.lock"), "").unwrap();
        assert_eq!(code(&at("in.txt.lock"), true), "file-unwritable");
        assert_eq!(code(&at("none.lock"), true), "");
        assert_eq!((code(&at("sub"), true), code(&at("no/x"), true)), ("file-kind", "file-unwritable"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("in.txt"), at("link")).unwrap();
            std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
            assert_eq!(
                (code(&at("link"), true), code(&at("dangling"), false)),
                ("same-file", "export-exists")
            );
        }
    }
}
