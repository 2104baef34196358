//! Finds out whether the system encrypts the disk of the project.
//!
//! It answers what the system says and guesses nothing: where it says nothing, neither do we. No question
//! needs an administrator, and programs that are asked have a time limit.

use super::Project;
use dissensus_api::{DiskEncryption, DiskInfo};
use std::path::Path;

/// Whether the disk of the project is encrypted, as it was when this was first asked after opening. On
/// Windows and macOS the first answer can take seconds.
pub fn of(cx: &Project) -> DiskInfo {
    let ask = || std::fs::canonicalize(cx.path()).map_or(DiskEncryption::Unknown, |real| ask(&real));
    let encryption = *cx.place.encryption.get_or_init(ask);
    DiskInfo { encryption, sentence: sentence(encryption).to_owned() }
}

fn sentence(encryption: DiskEncryption) -> &'static str {
    match encryption {
        DiskEncryption::Encrypted => "The disk of this project is encrypted.",
        DiskEncryption::NotEncrypted => {
            "The system does not encrypt the disk of this project: anyone who has the disk can read it. Use an encrypted disk (LUKS, FileVault, BitLocker), unless the drive itself or another program encrypts this one."
        }
        DiskEncryption::Unknown => "The system does not say whether the disk of this project is encrypted.",
    }
}

#[cfg(target_os = "linux")]
fn ask(real: &Path) -> DiskEncryption {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
    match linux::encryption_of(Path::new("/"), real) {
        // The file system can encrypt a folder on a disk that is not (fscrypt).
        DiskEncryption::NotEncrypted => match statx(CWD, real, AtFlags::empty(), StatxFlags::empty()) {
            Ok(about) if about.stx_attributes.contains(StatxAttributes::ENCRYPTED) => {
                DiskEncryption::Encrypted
            }
            Ok(_) => DiskEncryption::NotEncrypted,
            Err(_) => DiskEncryption::Unknown,
        },
        other => other,
    }
}

#[cfg(target_os = "macos")]
fn ask(real: &Path) -> DiskEncryption {
    use std::os::unix::fs::MetadataExt as _;
    /// Where the startup disk has the files of users: now, and before macOS 10.15.
    const STARTUP: [&str; 2] = ["/System/Volumes/Data", "/"];
    let device = |path: &Path| std::fs::metadata(path).map(|about| about.dev()).ok();
    let of_file = device(real);
    // FileVault encrypts the startup disk only.
    if of_file.is_none() || STARTUP.iter().all(|disk| device(Path::new(disk)) != of_file) {
        return DiskEncryption::Unknown;
    }
    answer_to(std::process::Command::new("/usr/bin/fdesetup").arg("isactive"), "true", "false")
}

#[cfg(windows)]
fn ask(real: &Path) -> DiskEncryption {
    use std::os::windows::process::CommandExt as _;
    use std::path::{Component, Prefix};
    /// `CREATE_NO_WINDOW`: no console appears.
    const NO_WINDOW: u32 = 0x0800_0000;
    let Some(Component::Prefix(prefix)) = real.components().next() else { return DiskEncryption::Unknown };
    let (Prefix::Disk(letter) | Prefix::VerbatimDisk(letter)) = prefix.kind() else {
        return DiskEncryption::Unknown;
    };
    let Some(system) = std::env::var_os("SystemRoot") else { return DiskEncryption::Unknown };
    let shell = Path::new(&system).join(r"System32\WindowsPowerShell\v1.0\powershell.exe");
    // The property with which Explorer draws the lock on a drive.
    let question = format!(
        "(New-Object -ComObject Shell.Application).NameSpace('{}:').Self.ExtendedProperty('System.Volume.BitLockerProtection')",
        char::from(letter)
    );
    let mut command = std::process::Command::new(shell);
    command.args(["-NoProfile", "-NonInteractive", "-Command", &question]).creation_flags(NO_WINDOW);
    // Other numbers are states between the two.
    answer_to(&mut command, "1", "2")
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn ask(_: &Path) -> DiskEncryption {
    DiskEncryption::Unknown
}

/// What a program says that is asked; it is ended if it has not answered in time.
#[cfg(any(target_os = "macos", windows, all(test, unix)))]
fn answer_to(command: &mut std::process::Command, yes: &str, no: &str) -> DiskEncryption {
    match answer_of(command, std::time::Duration::from_secs(5)).as_deref().map(str::trim) {
        Some(answer) if answer == yes => DiskEncryption::Encrypted,
        Some(answer) if answer == no => DiskEncryption::NotEncrypted,
        _ => DiskEncryption::Unknown,
    }
}

/// What a program prints within `limit`, whatever its exit status: that of `fdesetup` is part of its answer.
#[cfg(any(target_os = "macos", windows, all(test, unix)))]
fn answer_of(command: &mut std::process::Command, limit: std::time::Duration) -> Option<String> {
    use std::io::Read as _;
    use std::process::Stdio;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut out = child.stdout.take()?;
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut answer = String::new();
        let _ = send.send(out.read_to_string(&mut answer).ok().map(|_| answer));
    });
    let answer = receive.recv_timeout(limit).ok().flatten();
    // One that has ended already is only waited for.
    let _ = child.kill();
    let _ = child.wait();
    answer
}

#[cfg(any(target_os = "linux", all(test, unix)))]
mod linux {
    use crate::mounts::{Mount, mount_of};
    use dissensus_api::DiskEncryption;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// File systems that encrypt every file.
    const ENCRYPTING: [&str; 4] = ["ecryptfs", "fuse.cryfs", "fuse.encfs", "fuse.gocryptfs"];
    /// File systems of disks whose own encryption, if any, is no secret: that of ZFS and bcachefs is.
    const OF_DISKS: [&str; 13] = [
        "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fuseblk", "jfs", "ntfs", "ntfs3", "reiserfs",
        "vfat", "xfs",
    ];
    /// How names of drives begin; others, as those of images in files, lead elsewhere.
    const DRIVES: [&str; 6] = ["hd", "mmcblk", "nvme", "sd", "vd", "xvd"];
    /// How ids of mapped devices begin that are encrypted (`cryptsetup`).
    const CIPHERS: [&str; 7] = [
        "CRYPT-BITLK-",
        "CRYPT-FVAULT2-",
        "CRYPT-LOOPAES-",
        "CRYPT-LUKS1-",
        "CRYPT-LUKS2-",
        "CRYPT-PLAIN-",
        "CRYPT-TCRYPT-",
    ];
    /// How ids of mapped devices begin that change nothing in the data.
    const CLEAR: [&str; 7] =
        ["CRYPT-INTEGRITY-", "CRYPT-SUBDEV-", "CRYPT-VERITY-", "DMRAID-", "LVM-", "mpath-", "part"];
    /// Layers of devices below each other, so that a circle ends.
    const DEEPEST: usize = 16;

    /// Whether a file is encrypted below its file system. `root` has `proc` and `sys` of the system.
    pub(super) fn encryption_of(root: &Path, real: &Path) -> DiskEncryption {
        let mounts = fs::read_to_string(root.join("proc/self/mountinfo"));
        let Some(mount) = mounts.ok().and_then(|mounts| mount_of(&mounts, real)) else {
            return DiskEncryption::Unknown;
        };
        match mount.kind.as_str() {
            kind if ENCRYPTING.contains(&kind) => DiskEncryption::Encrypted,
            "btrfs" => of_all(&devices_of_btrfs(root, &mount), DEEPEST),
            kind if OF_DISKS.contains(&kind) => {
                of_device(&root.join("sys/dev/block").join(&mount.device), DEEPEST)
            }
            _ => DiskEncryption::Unknown,
        }
    }

    /// All devices of a file system that can have several; none where that is not known.
    fn devices_of_btrfs(root: &Path, mount: &Mount) -> Vec<PathBuf> {
        let Some(name) = name_of_device(root, &mount.source) else { return Vec::new() };
        let systems = entries(&root.join("sys/fs/btrfs")).into_iter().map(|system| system.join("devices"));
        systems.filter(|devices| devices.join(&name).exists()).flat_map(|devices| entries(&devices)).collect()
    }

    /// The kernel's name of `/dev/sda2`, or of `/dev/mapper/home`.
    fn name_of_device(root: &Path, source: &Path) -> Option<PathBuf> {
        let in_dev = source.strip_prefix("/dev").ok()?;
        let Ok(mapped) = in_dev.strip_prefix("mapper") else { return Some(in_dev.to_owned()) };
        let mapped = mapped.to_str()?;
        let is_it = |device: &PathBuf| line(&device.join("dm/name")).is_some_and(|name| name == mapped);
        let device = entries(&root.join("sys/block")).into_iter().find(is_it)?;
        device.file_name().map(PathBuf::from)
    }

    fn of_device(device: &Path, deepest: usize) -> DiskEncryption {
        let Ok(device) = fs::canonicalize(device) else { return DiskEncryption::Unknown };
        let Some(deepest) = deepest.checked_sub(1) else { return DiskEncryption::Unknown };
        let begins_as = |name: &str, known: &[&str]| known.iter().any(|begin| name.starts_with(begin));
        let below = entries(&device.join("slaves"));
        if let Some(id) = line(&device.join("dm/uuid")) {
            return match of_all(&below, deepest) {
                _ if begins_as(&id, &CIPHERS) => DiskEncryption::Encrypted,
                // VeraCrypt maps its disks without an id.
                DiskEncryption::NotEncrypted if !begins_as(&id, &CLEAR) => DiskEncryption::Unknown,
                of_parts => of_parts,
            };
        }
        if device.join("partition").exists() {
            return device.parent().map_or(DiskEncryption::Unknown, |whole| of_device(whole, deepest));
        }
        let name = device.file_name().unwrap_or_default().to_string_lossy();
        if below.is_empty() && begins_as(&name, &DRIVES) {
            return DiskEncryption::NotEncrypted;
        }
        of_all(&below, deepest)
    }

    /// Encrypted if each device is; one that is not is enough for the data not to be.
    fn of_all(devices: &[PathBuf], deepest: usize) -> DiskEncryption {
        let found: Vec<_> = devices.iter().map(|device| of_device(device, deepest)).collect();
        let are = |encryption| found.contains(&encryption);
        if are(DiskEncryption::NotEncrypted) {
            DiskEncryption::NotEncrypted
        } else if found.is_empty() || are(DiskEncryption::Unknown) {
            DiskEncryption::Unknown
        } else {
            DiskEncryption::Encrypted
        }
    }

    fn entries(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }

    /// The text of a file of one line.
    fn line(file: &Path) -> Option<String> {
        fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;
    use std::time::{Duration, Instant};

    /// The folders `proc` and `sys` of a system.
    struct System(tempfile::TempDir);

    impl System {
        /// A system with this file system at `/home`, given as device, kind and source.
        fn with(mount: &str) -> Self {
            let (device, rest) = mount.split_once(' ').unwrap();
            let mounts = format!("28 1 0:2 / / rw - rootfs none rw\n90 28 {device} / /home rw - {rest} rw\n");
            let system = Self(tempfile::tempdir().unwrap());
            system.write("proc/self/mountinfo", &mounts);
            system
        }

        fn write(&self, file: &str, text: &str) {
            let file = self.0.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }

        fn link(&self, from: &str, to: &str) {
            let from = self.0.path().join(from);
            fs::create_dir_all(from.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(self.0.path().join("sys/devices").join(to), from).unwrap();
        }

        /// A drive, or a partition of one.
        fn drive(self, numbers: &str, path: &str) -> Self {
            self.write(&format!("sys/devices/{path}/dev"), numbers);
            if path.contains('/') {
                self.write(&format!("sys/devices/{path}/partition"), "2\n");
            }
            self.link(&format!("sys/dev/block/{numbers}"), path);
            self
        }

        /// A mapped device, or with an empty `id` another one that is on top of `below`.
        fn on_top(self, name: &str, id: &str, below: &[&str]) -> Self {
            if !id.is_empty() {
                self.write(&format!("sys/devices/{name}/dm/uuid"), &format!("{id}\n"));
                self.write(&format!("sys/devices/{name}/dm/name"), &format!("map-{name}\n"));
            }
            for below in below {
                let file_name = below.rsplit('/').next().unwrap();
                self.link(&format!("sys/devices/{name}/slaves/{file_name}"), below);
            }
            self.link(&format!("sys/block/{name}"), name);
            self.link(&format!("sys/dev/block/253:{}", &name[name.len() - 1..]), name);
            self
        }

        fn btrfs(self, devices: &[&str]) -> Self {
            for device in devices {
                let name = device.rsplit('/').next().unwrap();
                self.link(&format!("sys/fs/btrfs/7d0c/devices/{name}"), device);
            }
            self.write("sys/fs/btrfs/features/raid1c34", "1\n");
            self
        }

        fn answer(&self) -> DiskEncryption {
            linux::encryption_of(self.0.path(), Path::new("/home/ana/p.dissensus"))
        }
    }

    use DiskEncryption::{Encrypted, NotEncrypted, Unknown};

    #[test]
    fn plain_partition_and_whole_drive_are_not_encrypted() {
        let disk = System::with("8:2 ext4 /dev/sda2").drive("8:0", "sda").drive("8:2", "sda/sda2");
        assert_eq!(disk.answer(), NotEncrypted);
        assert_eq!(System::with("259:0 xfs /dev/root").drive("259:0", "nvme0n1").answer(), NotEncrypted);
    }

    #[test]
    fn disk_is_encrypted_where_every_way_down_is() {
        let disk = |below: &str| {
            System::with(&format!("{below} ext4 /dev/mapper/home"))
                .drive("8:0", "sda")
                .drive("8:2", "sda/sda2")
                .drive("8:16", "sdb")
        };
        let luks = "CRYPT-LUKS2-0123-luks";
        assert_eq!(disk("253:0").on_top("dm-0", luks, &["sda/sda2"]).answer(), Encrypted);
        let on_luks = || disk("253:1").on_top("dm-0", luks, &["sda/sda2"]);
        assert_eq!(on_luks().on_top("dm-1", "LVM-abcd", &["dm-0"]).answer(), Encrypted);
        assert_eq!(on_luks().on_top("dm-1", "LVM-abcd", &["dm-0", "sdb"]).answer(), NotEncrypted);
        assert_eq!(disk("253:1").on_top("dm-1", "LVM-abcd", &["sdb"]).answer(), NotEncrypted);
        // A mirror of drives, and one of which a drive is missing.
        assert_eq!(disk("253:0").on_top("md0", "", &["sda/sda2", "sdb"]).answer(), NotEncrypted);
        assert_eq!(disk("253:0").on_top("md0", "", &["sda/sda2", "sdc"]).answer(), NotEncrypted);
        assert_eq!(on_luks().on_top("md1", "", &["dm-0", "sdc"]).answer(), Unknown);
    }

    #[test]
    fn mapped_device_that_only_checks_is_no_cipher_and_an_unknown_one_may_be() {
        for (id, encryption) in [
            ("CRYPT-PLAIN-home", Encrypted),
            ("CRYPT-TCRYPT-7-home", Encrypted),
            ("CRYPT-VERITY-7-home", NotEncrypted),
            ("CRYPT-INTEGRITY-home", NotEncrypted),
            ("part1-mpath-7", NotEncrypted),
            ("veracrypt", Unknown),
            ("\n", Unknown),
        ] {
            let disk = System::with("253:0 ext4 /dev/mapper/home").drive("8:0", "sda");
            assert_eq!(disk.on_top("dm-0", id, &["sda"]).answer(), encryption, "{id}");
        }
    }

    #[test]
    fn every_device_of_a_btrfs_counts() {
        let disk = |source: &str| {
            System::with(&format!("0:35 btrfs {source}")).drive("8:0", "sda").drive("8:2", "sda/sda2").on_top(
                "dm-0",
                "CRYPT-LUKS1-0123-root",
                &["sda/sda2"],
            )
        };
        let mapped = "/dev/mapper/map-dm-0";
        assert_eq!(disk(mapped).btrfs(&["dm-0"]).answer(), Encrypted);
        assert_eq!(disk("/dev/dm-0").btrfs(&["dm-0"]).answer(), Encrypted);
        assert_eq!(disk(mapped).btrfs(&["dm-0", "sda/sda2"]).answer(), NotEncrypted);
        assert_eq!(disk("/dev/sda2").btrfs(&["sda/sda2"]).answer(), NotEncrypted);
        assert_eq!(disk("/dev/mapper/other").btrfs(&["dm-0"]).answer(), Unknown);
        assert_eq!(disk(mapped).answer(), Unknown);
    }

    #[test]
    fn file_system_that_encrypts_is_enough() {
        assert_eq!(System::with("0:60 ecryptfs /home/.ecryptfs/ana/.Private").answer(), Encrypted);
        assert_eq!(System::with("0:61 fuse.gocryptfs /srv/cipher").answer(), Encrypted);
    }

    #[test]
    fn other_systems_have_no_answer() {
        for mount in [
            "0:30 overlay overlay",
            "0:31 tmpfs tmpfs",
            "0:32 zfs tank/home",
            "0:33 nfs4 server:/home",
            "7:0 ext4 /dev/loop0",
            "8:0 new-kind /dev/sda",
        ] {
            let disk = System::with(mount).drive("8:0", "sda").drive("7:0", "loop0");
            assert_eq!(disk.answer(), Unknown, "{mount}");
        }
        // A sandbox without `sys`, and a system without `proc`.
        assert_eq!(System::with("8:2 ext4 /dev/sda2").answer(), Unknown);
        assert_eq!(linux::encryption_of(Path::new("/dev/null"), Path::new("/home/a")), Unknown);
        // Devices that are below each other.
        let circle = System::with("253:0 ext4 /dev/mapper/a");
        let circle = circle.on_top("dm-0", "LVM-a", &["dm-1"]).on_top("dm-1", "LVM-b", &["dm-0"]);
        assert_eq!(circle.answer(), Unknown);
    }

    #[test]
    fn program_is_believed_only_where_it_is_clear_and_in_time() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        assert_eq!(answer_to(&mut shell("echo true"), "true", "false"), Encrypted);
        assert_eq!(answer_to(&mut shell("echo false; exit 1"), "true", "false"), NotEncrypted);
        assert_eq!(answer_to(&mut shell("echo maybe"), "true", "false"), Unknown);
        assert_eq!(answer_to(&mut Command::new("/missing/fdesetup"), "true", "false"), Unknown);
        let began = Instant::now();
        assert_eq!(answer_of(&mut shell("echo 1; exec sleep 60"), Duration::from_millis(200)), None);
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
