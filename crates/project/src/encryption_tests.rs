//! Files that are encrypted and decrypted: nothing is replaced, and nothing half written stays.

use super::*;
use crate::jobs::Silent;
use std::sync::atomic::{AtomicU32, Ordering};

/// Little work, so that many cases are quick.
fn passphrase(words: &str) -> Passphrase {
    Passphrase::from_random(words.to_owned())
}

/// A file of several pieces, encrypted.
fn encrypted_in(folder: &Path) -> PathBuf {
    let (plain, file) = (folder.join("plain"), folder.join("copy.dissensus.age"));
    std::fs::write(&plain, content()).unwrap();
    encrypt_file(&plain, &file, Existing::Refuse, &passphrase("words"), &Silent).unwrap();
    std::fs::remove_file(plain).unwrap();
    file
}

fn content() -> Vec<u8> {
    (0..200_000_u32).map(|at| (at % 241) as u8).collect()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn decrypted_file_is_private_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = encrypted_in(folder.path());
    let target = decrypted_name(&file);
    assert_eq!(target.file_name().unwrap(), "copy.dissensus");
    decrypt_file(&file, &target, &passphrase("words"), &Silent).unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), content());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }
    std::fs::write(&target, "labelled since").unwrap();
    let error = decrypt_file(&file, &target, &passphrase("words"), &Silent).unwrap_err();
    assert_eq!(error.code(), "decrypted-exists");
    assert_eq!(std::fs::read(&target).unwrap(), b"labelled since");
    assert_eq!(decrypted_name(&file).file_name().unwrap(), "copy (2).dissensus");
}

#[test]
fn existing_file_is_replaced_only_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = encrypted_in(folder.path());
    let before = std::fs::read(&file).unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "other").unwrap();
    let again = |existing| encrypt_file(&plain, &file, existing, &passphrase("words"), &Silent);
    assert!(again(Existing::Refuse).is_err());
    assert_eq!(std::fs::read(&file).unwrap(), before);
    again(Existing::Replace).unwrap();
    let target = folder.path().join("opened");
    decrypt_file(&file, &target, &passphrase("words"), &Silent).unwrap();
    assert_eq!(std::fs::read(target).unwrap(), b"other");
}

#[test]
fn nothing_stays_of_a_file_that_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = encrypted_in(folder.path());
    let whole = std::fs::read(&file).unwrap();
    let target = folder.path().join("opened");
    let refused = |words| decrypt_file(&file, &target, &passphrase(words), &Silent).unwrap_err().code();
    assert_eq!(refused("other"), "passphrase-wrong");
    for part in 1..16 {
        std::fs::write(&file, &whole[..whole.len() * part / 16]).unwrap();
        assert_eq!(refused("words"), "encrypted-damaged", "{part} of 16");
    }
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    std::fs::write(&file, &changed).unwrap();
    assert_eq!(refused("words"), "encrypted-damaged");
    std::fs::write(&file, "age-encryption.org/v1\n-> X25519 abc\n").unwrap();
    assert_eq!(refused("words"), "encrypted-for-key");
    let line = format!("-> scrypt {} 30\n{}\n--- x\n", "A".repeat(22), "A".repeat(43));
    std::fs::write(&file, format!("age-encryption.org/v1\n{line}")).unwrap();
    assert_eq!(refused("words"), "encrypted-work");
    std::fs::write(&file, "text_id,text\n1,a\n").unwrap();
    assert_eq!(refused("words"), "not-encrypted");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(refused("words"), "io");
    assert!(names_in(folder.path()).is_empty(), "{:?}", names_in(folder.path()));
}

/// Is cancelled after so many reports.
struct After(u32, AtomicU32);

impl Progress for After {
    fn report(&self, _: u64, _: Option<u64>, _: &str) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

#[test]
fn nothing_stays_of_a_cancelled_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = encrypted_in(folder.path());
    let target = folder.path().join("opened");
    let stopped = decrypt_file(&file, &target, &passphrase("words"), &After(2, AtomicU32::new(0)));
    assert_eq!(stopped.unwrap_err().code(), "cancelled");
    let again = folder.path().join("again.age");
    let stopped =
        encrypt_file(&file, &again, Existing::Refuse, &passphrase("words"), &After(2, AtomicU32::new(0)));
    assert_eq!(stopped.unwrap_err().code(), "cancelled");
    assert_eq!(names_in(folder.path()), ["copy.dissensus.age"]);
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_an_error() {
    // Writing there fails as on a full disk.
    let full = Path::new("/dev/full");
    let mut target = File::options().write(true).open(full).unwrap();
    let written = age::encrypt(&mut &content()[..], &mut target, &passphrase("words"), &mut |_| true);
    let error = explain(written.unwrap_err(), Path::new("source"), full);
    assert!(
        matches!(error, ProjectError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull)
    );
}

#[test]
fn two_at_once_write_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = encrypted_in(folder.path());
    let target = folder.path().join("opened");
    let open = || decrypt_file(&file, &target, &passphrase("words"), &Silent);
    let done = std::thread::scope(|scope| {
        let both = [scope.spawn(open), scope.spawn(open)];
        both.map(|one| one.join().unwrap())
    });
    assert_eq!(done.iter().filter(|one| one.is_ok()).count(), 1);
    let refused = done.into_iter().find_map(Result::err).unwrap();
    assert_eq!(refused.code(), "decrypted-exists");
    assert_eq!(std::fs::read(&target).unwrap(), content());
    assert_eq!(names_in(folder.path()), ["copy.dissensus.age", "opened"]);
}

#[test]
fn encrypted_files_are_readable_as_long_as_they_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let file = encrypted_in(folder.path());
    let plain = folder.path().join("plain.csv");
    std::fs::write(&plain, "text\n").unwrap();
    let files = [plain.clone(), file.clone(), file.clone()];
    let error = ReadableFiles::of(&files, None, &Silent).unwrap_err();
    assert_eq!(error.code(), "encrypted");
    let words = passphrase("words");
    let readable = ReadableFiles::of(&files, Some(&words), &Silent).unwrap();
    let [same, first, second] = readable.paths() else { panic!("three files") };
    assert_eq!(same, &plain);
    assert_ne!(first, second);
    assert_eq!(first.file_name().unwrap(), "copy.dissensus");
    assert_eq!(std::fs::read(second).unwrap(), content());
    let first = first.clone();
    drop(readable);
    assert!(!first.exists());
    assert!(file.exists());
}

#[test]
fn passphrase_is_the_first_line_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("words.txt");
    for (content, words) in [
        ("four plain words", "four plain words"),
        ("four plain words\r\nand a note\n", "four plain words"),
        ("\u{feff} spaces count \n", " spaces count "),
    ] {
        std::fs::write(&file, content).unwrap();
        assert_eq!(passphrase_in(&file).unwrap(), Passphrase::new(words).unwrap(), "{content:?}");
    }
    for content in [&b""[..], b"\nwords", b"  \n", b"\xff\xfe\n", &[b'a'; 5000]] {
        std::fs::write(&file, content).unwrap();
        assert_eq!(passphrase_in(&file).unwrap_err().code(), "passphrase-file");
    }
    assert_eq!(passphrase_in(folder.path()).unwrap_err().code(), "io");
    assert_eq!(typed_passphrase(" ").unwrap_err().code(), "passphrase-empty");
}

#[test]
fn names_lose_the_ending_of_encrypted_files() {
    let name = |name: &str| decrypted_name(Path::new("/nowhere").join(name).as_path());
    assert_eq!(name("ada.dissensus.age"), Path::new("/nowhere/ada.dissensus"));
    assert_eq!(name("ADA.HANDIN.AGE"), Path::new("/nowhere/ADA.HANDIN"));
    assert_eq!(name("ada"), Path::new("/nowhere/ada.decrypted"));
    assert_eq!(name(".age"), Path::new("/nowhere/.age.decrypted"));
}

#[test]
fn only_what_may_not_be_written_next_to_a_project_is_written_elsewhere() {
    use std::io::ErrorKind;
    let folder = tempfile::tempdir().unwrap();
    let [missing, elsewhere] = ["missing", "elsewhere"].map(|name| folder.path().join(name));
    std::fs::create_dir(&elsewhere).unwrap();
    let made = private_folder_in(folder.path(), &elsewhere).unwrap();
    assert_eq!(made.path().parent(), Some(folder.path()));
    let error = private_folder_in(&missing, &elsewhere).unwrap_err();
    assert!(matches!(error, ProjectError::Io { path, .. } if path == missing));
    assert!(names_in(&elsewhere).is_empty());
    for (kind, elsewhere) in [
        (ErrorKind::PermissionDenied, true),
        (ErrorKind::ReadOnlyFilesystem, true),
        (ErrorKind::StorageFull, false),
        (ErrorKind::QuotaExceeded, false),
        (ErrorKind::Other, false),
    ] {
        assert_eq!(is_unwritable(kind), elsewhere, "{kind}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn private_folder_is_elsewhere_where_nobody_may_write() {
    let elsewhere = tempfile::tempdir().unwrap();
    // Nobody creates a folder there, not even root.
    let made = private_folder_in(Path::new("/sys"), elsewhere.path()).unwrap();
    assert_eq!(made.path().parent(), Some(elsewhere.path()));
}
