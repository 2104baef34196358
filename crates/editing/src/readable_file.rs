//! Recognises projects that other users of this computer can read.

use std::path::Path;

/// Whether other users can read this file of the user: its mode lets them, and so does every folder of its
/// path. Lists of access are not read; on Windows there is nothing else, and so no file is reported there.
pub(crate) fn is_readable_by_others(file: &Path) -> bool {
    // What a link leads to counts.
    std::fs::canonicalize(file).is_ok_and(|real| modes::let_others_read(&real))
}

#[cfg(not(unix))]
mod modes {
    use std::path::Path;

    pub(super) fn let_others_read(_: &Path) -> bool {
        false
    }
}

#[cfg(unix)]
mod modes {
    use std::fs::{self, Metadata};
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    /// Bits of modes: the group reads, others read, others find what is in a folder.
    const GROUP_READS: u32 = 0o040;
    const OTHERS_READ: u32 = 0o004;
    const OTHERS_SEARCH: u32 = 0o001;

    pub(super) fn let_others_read(real: &Path) -> bool {
        this_user().is_some_and(|user| is_readable(real, Path::new("/"), user))
    }

    /// The user of this process, who is also the owner of what the system writes about it, or else of the
    /// home folder.
    pub(super) fn this_user() -> Option<u32> {
        let about = |path: &Path| fs::metadata(path).map(|about| about.uid()).ok();
        about(Path::new("/proc/self")).or_else(|| about(&std::env::home_dir()?))
    }

    /// Whether users other than the owner, `user`, can read a file. Only its owner can change that, so a file
    /// of another user is none. Folders above `top` are not looked at.
    pub(super) fn is_readable(real: &Path, top: &Path, user: u32) -> bool {
        let searchable =
            |folder: &Path| fs::metadata(folder).is_ok_and(|about| about.mode() & OTHERS_SEARCH != 0);
        let mut folders = real.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
        fs::metadata(real).is_ok_and(|about| about.uid() == user && lets_others(&about))
            && folders.all(searchable)
    }

    /// A group with the number of its user has no other users, as most systems create it.
    fn lets_others(file: &Metadata) -> bool {
        file.mode() & OTHERS_READ != 0 || file.mode() & GROUP_READS != 0 && file.gid() != file.uid()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn file_is_readable_where_its_mode_and_every_folder_let_others() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let (home, inside) = (top.join("home"), top.join("home/studies"));
        let file = inside.join("p.dissensus");
        fs::create_dir_all(&inside).unwrap();
        fs::write(&file, "").unwrap();
        let about = fs::metadata(&file).unwrap();
        let (user, own_group) = (about.uid(), about.gid() == about.uid());
        set_mode(&top, 0o755);
        for (home_mode, inside_mode, mode, readable) in [
            (0o755, 0o755, 0o644, true),
            (0o711, 0o755, 0o644, true),
            (0o755, 0o755, 0o604, true),
            (0o755, 0o755, 0o640, !own_group),
            (0o755, 0o755, 0o600, false),
            (0o700, 0o755, 0o644, false),
            (0o750, 0o755, 0o644, false),
            (0o755, 0o700, 0o644, false),
            (0o754, 0o755, 0o644, false),
        ] {
            set_mode(&file, mode);
            set_mode(&inside, inside_mode);
            set_mode(&home, home_mode);
            let found = modes::is_readable(&file, &top, user);
            assert_eq!(found, readable, "{home_mode:o} {inside_mode:o} {mode:o}");
        }
        set_mode(&home, 0o755);
        assert!(modes::is_readable(&file, &top, user));
        // The file of another user.
        assert!(!modes::is_readable(&file, &top, user + 1));
        assert!(!modes::is_readable(&inside.join("missing"), &top, user));
        assert_eq!(modes::this_user(), Some(user));
    }

    #[test]
    fn folder_that_others_cannot_enter_hides_a_file_also_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (hidden, link) = (folder.path().join("hidden"), folder.path().join("link.dissensus"));
        fs::create_dir(&hidden).unwrap();
        fs::write(hidden.join("p.dissensus"), "").unwrap();
        set_mode(&hidden.join("p.dissensus"), 0o644);
        symlink(hidden.join("p.dissensus"), &link).unwrap();
        set_mode(folder.path(), 0o755);
        set_mode(&hidden, 0o700);
        assert!(!is_readable_by_others(&link));
        assert!(!is_readable_by_others(&folder.path().join("missing")));
        // Where others can enter the folder of temporary files itself, only the mode of this one matters.
        set_mode(&hidden, 0o755);
        let real = fs::canonicalize(folder.path()).unwrap();
        let entered = real.ancestors().all(|one| fs::metadata(one).unwrap().mode() & 0o001 != 0);
        assert_eq!(is_readable_by_others(&link), entered);
    }
}
