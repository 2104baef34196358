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
    std::fs::read_to_string("/proc/self/mountinfo").is_ok_and(|mounts| is_on_share(&mounts, real))
}

#[cfg(any(target_os = "linux", test))]
fn is_on_share(mounts: &str, real: &Path) -> bool {
    crate::mounts::mount_of(mounts, real).is_some_and(|mount| REMOTE.contains(&mount.kind.as_str()))
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

/// File systems of other computers, and of the computer around a virtual machine.
#[cfg(any(target_os = "linux", test))]
const REMOTE: [&str; 24] = [
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_file_is_on_no_other_computer() {
        assert!(!is_remote(Path::new("/dev/null/p.dissensus")));
    }

    #[test]
    fn shares_are_remote_and_disks_are_not() {
        for (kind, remote) in [("nfs4", true), ("cifs", true), ("fuse.sshfs", true), ("ext4", false)] {
            let mounts = format!("90 28 0:50 / /home rw - {kind} source rw");
            assert_eq!(is_on_share(&mounts, Path::new("/home/ana/p.dissensus")), remote, "{kind}");
            assert!(!is_on_share(&mounts, Path::new("/srv/p.dissensus")), "{kind}");
        }
    }
}
