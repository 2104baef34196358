//! Recognises folders that a service copies to other computers.

use std::fs;
use std::path::Path;

/// Files and folders that a service's program makes in the folder that it synchronises.
const MARKERS: [(&str, &str); 7] = [
    // Not `.dropbox`, which is also its folder of settings in a home folder on Linux.
    (".dropbox.cache", "Dropbox"),
    (".owncloudsync.log", "ownCloud"),
    (".nextcloudsync.log", "Nextcloud"),
    (".stfolder", "Syncthing"),
    (".tmp.drivedownload", "Google Drive"),
    (".tmp.driveupload", "Google Drive"),
    (".SynologyWorkingDirectory", "Synology Drive"),
];
/// How names of these files begin and end: the database of Nextcloud's and ownCloud's program.
const DATABASE: [(&str, &str); 2] = [(".sync_", ".db"), ("._sync_", ".db")];
/// Where a system puts the folders of services, as the names of two folders below each other.
const PLACES: [(&str, &str); 2] = [("Library", "Mobile Documents"), ("Library", "CloudStorage")];
/// How the names of folders begin that have no markers.
const NAMES: [(&str, &str); 2] = [("OneDrive", "OneDrive"), ("iCloudDrive", "iCloud")];
/// Folders with more entries are hardly the top of what a service synchronises.
const MOST_ENTRIES: usize = 10_000;

/// The service that synchronises the folder of this file.
pub(crate) fn service_of(file: &Path) -> Option<&'static str> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    // Through links too: the service copies what is there.
    let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
    [file, real].iter().find_map(|file| file.ancestors().skip(1).find_map(service_in))
}

fn service_in(folder: &Path) -> Option<&'static str> {
    let name = folder.file_name()?.to_string_lossy();
    let above = folder.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    if let Some(place) =
        PLACES.iter().find(|(first, second)| above.as_deref() == Some(first) && name == *second)
    {
        return Some(if place.1 == "CloudStorage" { "a cloud service" } else { "iCloud" });
    }
    // Also "OneDrive - University".
    let named =
        |begin: &str| name.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with(" -"));
    if let Some((_, service)) = NAMES.iter().find(|(begin, _)| named(begin)) {
        return Some(service);
    }
    let marked = MARKERS.iter().find(|(marker, _)| fs::symlink_metadata(folder.join(marker)).is_ok());
    if let Some((_, service)) = marked {
        return Some(service);
    }
    let is_database =
        |name: &str| DATABASE.iter().any(|(begin, end)| name.starts_with(begin) && name.ends_with(end));
    let mut entries = fs::read_dir(folder).ok()?.flatten().take(MOST_ENTRIES);
    entries.any(|entry| is_database(&entry.file_name().to_string_lossy())).then_some("Nextcloud")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_recognised_by_their_files_and_places() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let cases: [(&str, Option<&str>, Option<&str>); 12] = [
            ("plain/study", None, None),
            ("box/study", Some("box/.dropbox.cache"), Some("Dropbox")),
            ("cloud/a/b/c", Some("cloud/.sync_4f1c.db"), Some("Nextcloud")),
            ("older/a", Some("older/._sync_4f1c.db"), Some("Nextcloud")),
            ("things/a", Some("things/.stfolder"), Some("Syncthing")),
            ("drive/a", Some("drive/.tmp.driveupload"), Some("Google Drive")),
            ("OneDrive/a", None, Some("OneDrive")),
            ("OneDrive - University/a", None, Some("OneDrive")),
            ("OneDriveless/a", None, None),
            ("Library/Mobile Documents/a", None, Some("iCloud")),
            ("Library/CloudStorage/Box-Box/a", None, Some("a cloud service")),
            // A service's folder next to that of the project is none of ours.
            ("neighbour", Some("other/.dropbox.cache"), None),
        ];
        for (at, marker, service) in cases {
            fs::create_dir_all(root.join(at)).unwrap();
            if let Some(marker) = marker {
                fs::create_dir_all(root.join(marker)).unwrap();
            }
            assert_eq!(service_of(&root.join(at).join("p.dissensus")), service, "{at}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("box"), root.join("plain/link")).unwrap();
            assert_eq!(service_of(&root.join("plain/link/study/p.dissensus")), Some("Dropbox"));
        }
    }
}
