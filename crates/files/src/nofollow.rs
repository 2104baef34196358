//! Opens files under a fixed name without following links that someone else may have planted.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens the regular file `path` for reading and writing without truncating it, or creates an empty
/// one.
///
/// A project folder may come from an untrusted archive that contains links. A link under a name
/// that we write to would redirect the writes to any other file of the person who opens the
/// project.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if `path` is a symbolic link, has several hard links or is not a
/// regular file; or an I/O error.
pub fn open_or_create_regular(path: &Path) -> io::Result<File> {
    let refused = |what: &str| {
        let words = format!("{} is {what}, so it is not written to; remove it", path.display());
        io::Error::new(io::ErrorKind::InvalidInput, words)
    };
    match std::fs::symlink_metadata(path) {
        Ok(about) if about.is_symlink() => return Err(refused("a link to another file")),
        Ok(about) if !about.is_file() => return Err(refused("no regular file")),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // If a link takes the name between the check and the opening, the system refuses to open it.
    never_through_a_link(&mut options);
    let file = options.open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(refused("no regular file"));
    }
    if has_other_names(&about) {
        return Err(refused("a second name of another file"));
    }
    Ok(file)
}

#[cfg(unix)]
fn never_through_a_link(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    // Avoids blocking if a pipe has taken the name.
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
}

#[cfg(windows)]
fn never_through_a_link(options: &mut OpenOptions) {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}

#[cfg(not(any(unix, windows)))]
fn never_through_a_link(_options: &mut OpenOptions) {}

#[cfg(unix)]
fn has_other_names(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_about: &std::fs::Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_folders_and_hard_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("victim"), "precious").unwrap();
        symlink(at("victim"), at("link")).unwrap();
        symlink(at("made"), at("dangling")).unwrap();
        std::fs::hard_link(at("victim"), at("second")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        for name in ["link", "dangling", "second", "folder"] {
            let error = open_or_create_regular(&at(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}: {error}");
        }
        assert!(!at("made").exists());
        assert_eq!(std::fs::read_to_string(at("victim")).unwrap(), "precious");
        open_or_create_regular(&at("new")).unwrap();
        std::fs::write(at("new"), "kept").unwrap();
        open_or_create_regular(&at("new")).unwrap();
        assert_eq!(std::fs::read_to_string(at("new")).unwrap(), "kept");
    }
}
