//! Recognises folders that are on another computer, where locks and the shared memory of SQLite can fail.

use std::path::Path;

/// Whether the folder of this file is on another computer, or shared with one as the folder of a virtual
/// machine is.
pub(crate) fn is_remote(file: &Path) -> bool {
    // What a link leads to counts, and on Windows the network path of a drive letter.
    let real = std::fs::canonicalize(file).or_else(|_| std::path::absolute(file));
    real.is_ok_and(|real| is_remote_file(&real))
}

#[cfg(target_os = "linux")]
fn is_remote_file(real: &Path) -> bool {
    std::fs::read_to_string("/proc/self/mountinfo")
        .ok()
        .and_then(|mounts| linux::file_system_of(&mounts, real))
        .is_some_and(|kind| linux::REMOTE.contains(&kind.as_str()))
}

#[cfg(windows)]
fn is_remote_file(real: &Path) -> bool {
    use std::path::{Component, Prefix};
    matches!(
        real.components().next(),
        Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..))
    )
}

#[cfg(target_vendor = "apple")]
fn is_remote_file(real: &Path) -> bool {
    /// `MNT_LOCAL` of `sys/mount.h`: the file system is stored on this computer.
    const LOCAL: u32 = 0x1000;
    rustix::fs::statfs(real).is_ok_and(|about| about.f_flags & LOCAL == 0)
}

#[cfg(not(any(target_os = "linux", windows, target_vendor = "apple")))]
fn is_remote_file(_: &Path) -> bool {
    false
}

#[cfg(any(target_os = "linux", test))]
mod linux {
    use std::path::{Path, PathBuf};

    /// File systems of other computers, and of the computer around a virtual machine.
    pub(super) const REMOTE: [&str; 24] = [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse.davfs2",
        "fuse.glusterfs",
        "fuse.gvfsd-fuse",
        "fuse.prl_fsd",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
        "gpfs",
        "lustre",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
    ];

    /// The kind of the file system that has the file, from what the kernel lists of mounts (`proc(5)`): one a
    /// line, with the folder in the fifth field and the kind after a field that is only a hyphen.
    pub(super) fn file_system_of(mounts: &str, file: &Path) -> Option<String> {
        let mount = |line: &str| {
            let (before, after) = line.split_once(" - ")?;
            let folder = unescaped(before.split(' ').nth(4)?);
            Some((folder, after.split(' ').next()?.to_owned()))
        };
        mounts
            .lines()
            .filter_map(mount)
            .filter(|(folder, _)| file.starts_with(folder))
            // The last of several at one folder hides the others.
            .max_by_key(|(folder, _)| folder.as_os_str().len())
            .map(|(_, kind)| kind)
    }

    /// Spaces and backslashes are octal numbers of three digits.
    fn unescaped(folder: &str) -> PathBuf {
        let mut parts = folder.split('\\');
        let mut path = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
            match code {
                Some(code) => {
                    path.push(char::from(code));
                    path.push_str(&part[3..]);
                }
                None => {
                    path.push('\\');
                    path.push_str(part);
                }
            }
        }
        path.into()
    }
}

#[cfg(test)]
mod tests {
    use super::linux::{REMOTE, file_system_of};
    use super::*;

    const MOUNTS: &str = "\
22 28 0:21 / /proc rw,nosuid shared:14 - proc proc rw
28 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
90 28 0:50 / /home rw,relatime shared:50 - nfs4 server:/home rw,vers=4.2
91 90 8:3 / /home/ana/disk rw - ext4 /dev/sda3 rw
92 28 0:51 / /mnt/group\\040share rw - cifs //server/group rw
93 28 0:52 / /media/a rw - fuse.ntfs-3g /dev/sdb1 rw
94 28 0:53 / /media/b rw - fuse.sshfs ana@server: rw
95 28 0:54 / /work rw - ext4 /dev/sdc1 rw
96 28 0:55 / /work rw - nfs server:/work rw
a line that is cut off";

    #[test]
    fn file_system_is_that_of_the_innermost_mount() {
        let cases = [
            ("/srv/p.dissensus", "ext4", false),
            ("/home/ana/p.dissensus", "nfs4", true),
            ("/home/ana/disk/p.dissensus", "ext4", false),
            ("/home/ana/disks/p.dissensus", "nfs4", true),
            ("/homes/p.dissensus", "ext4", false),
            ("/mnt/group share/p.dissensus", "cifs", true),
            ("/media/a/p.dissensus", "fuse.ntfs-3g", false),
            ("/media/b/p.dissensus", "fuse.sshfs", true),
            ("/work/p.dissensus", "nfs", true),
        ];
        for (file, kind, remote) in cases {
            let found = file_system_of(MOUNTS, Path::new(file));
            assert_eq!(found.as_deref(), Some(kind), "{file}");
            assert_eq!(REMOTE.contains(&kind), remote, "{file}");
        }
        assert_eq!(file_system_of("", Path::new("/a")), None);
        assert_eq!(file_system_of("rubbish \\777 - \u{0}\n\n", Path::new("/a")), None);
    }

    #[test]
    fn missing_file_is_on_no_other_computer() {
        assert!(!is_remote(Path::new("/dev/null/p.dissensus")));
    }
}
