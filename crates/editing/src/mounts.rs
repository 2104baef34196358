//! Which file system has a file, from what the kernel lists of mounts.

use std::path::{Path, PathBuf};

/// A mounted file system.
#[derive(Debug, PartialEq)]
pub(crate) struct Mount {
    /// Numbers of its device: `8:2`.
    pub(crate) device: String,
    /// Its kind: `ext4`.
    pub(crate) kind: String,
    /// What is mounted: `/dev/sda2`.
    pub(crate) source: PathBuf,
}

/// The file system that has the file, from the lines of `/proc/self/mountinfo` (`proc(5)`): the device is the
/// third field of a line and the folder the fifth; kind and source follow a field that is only a hyphen.
pub(crate) fn mount_of(mounts: &str, file: &Path) -> Option<Mount> {
    let mount = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let (mut before, mut after) = (before.split(' ').skip(2), after.split(' '));
        let device = before.next()?.to_owned();
        let folder = unescaped(before.nth(1)?);
        Some((folder, Mount { device, kind: after.next()?.to_owned(), source: unescaped(after.next()?) }))
    };
    mounts
        .lines()
        .filter_map(mount)
        .filter(|(folder, _)| file.starts_with(folder))
        // The last of several at one folder hides the others.
        .max_by_key(|(folder, _)| folder.as_os_str().len())
        .map(|(_, mount)| mount)
}

/// Spaces and backslashes are octal numbers of three digits.
fn unescaped(path: &str) -> PathBuf {
    let mut parts = path.split('\\');
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

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 28 0:21 / /proc rw,nosuid shared:14 - proc proc rw
28 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
90 28 0:50 / /home rw,relatime shared:50 - nfs4 server:/home rw,vers=4.2
91 90 8:3 / /home/ana/disk rw - ext4 /dev/sda3 rw
92 28 0:51 / /mnt/group\\040share rw - cifs //server/group\\040share rw
93 28 0:52 / /media/a rw - fuse.ntfs-3g /dev/sdb1 rw
94 28 0:53 / /media/b rw - fuse.sshfs ana@server: rw
95 28 0:54 / /work rw - ext4 /dev/sdc1 rw
96 28 0:55 / /work rw - nfs server:/work rw
a line that is cut off";

    #[test]
    fn file_system_is_that_of_the_innermost_mount() {
        let cases = [
            ("/srv/p.dissensus", "8:2", "ext4", "/dev/sda2"),
            ("/home/ana/p.dissensus", "0:50", "nfs4", "server:/home"),
            ("/home/ana/disk/p.dissensus", "8:3", "ext4", "/dev/sda3"),
            ("/home/ana/disks/p.dissensus", "0:50", "nfs4", "server:/home"),
            ("/homes/p.dissensus", "8:2", "ext4", "/dev/sda2"),
            ("/mnt/group share/p.dissensus", "0:51", "cifs", "//server/group share"),
            ("/media/a/p.dissensus", "0:52", "fuse.ntfs-3g", "/dev/sdb1"),
            ("/media/b/p.dissensus", "0:53", "fuse.sshfs", "ana@server:"),
            ("/work/p.dissensus", "0:55", "nfs", "server:/work"),
        ];
        for (file, device, kind, source) in cases {
            let mount = Mount { device: device.into(), kind: kind.into(), source: source.into() };
            assert_eq!(mount_of(MOUNTS, Path::new(file)), Some(mount), "{file}");
        }
        assert_eq!(mount_of("", Path::new("/a")), None);
        assert_eq!(mount_of("rubbish \\777 - \u{0}\n\n", Path::new("/a")), None);
    }
}
