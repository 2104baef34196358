//! Files that are encrypted with a passphrase: which ones are, and their decryption.

use super::off_main;
use crate::state::WindowState;
use dissensus_api::Problem;
use dissensus_project::encryption::{decrypt_file as decrypt, decrypted_name, typed_passphrase};
use dissensus_project::jobs::Silent;
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager as _};

/// The encrypted ones among files.
#[tauri::command]
#[specta::specta]
pub(crate) async fn encrypted_files(app: AppHandle, files: Vec<String>) -> Result<Vec<String>, Problem> {
    off_main(move || {
        let encrypted = |file: &String| app.state::<WindowState>().is_encrypted(Path::new(file));
        Ok(files.into_iter().filter(encrypted).collect())
    })
    .await
}

/// Where the decrypted file of an encrypted one goes, unless another place is chosen: a free name next to it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn decrypted_path(file: String) -> Result<String, Problem> {
    off_main(move || Ok(shown(&decrypted_name(Path::new(&file))))).await
}

/// Decrypts a file to a new one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn decrypt_file(file: String, target: String, passphrase: String) -> Result<(), Problem> {
    off_main(move || {
        let passphrase = typed_passphrase(&passphrase)?;
        Ok(decrypt(Path::new(&file), Path::new(&target), &passphrase, &Silent)?)
    })
    .await
}

/// Decrypts the encrypted ones among files to temporary files that only this user can read, and returns all
/// files that can be read now, in the same order. They are there until [`lock_files`], or the end of the
/// program.
#[tauri::command]
#[specta::specta]
pub(crate) async fn unlock_files(
    app: AppHandle,
    files: Vec<String>,
    passphrase: String,
) -> Result<Vec<String>, Problem> {
    off_main(move || {
        let passphrase = typed_passphrase(&passphrase)?;
        let files: Vec<PathBuf> = files.into_iter().map(PathBuf::from).collect();
        let readable = app.state::<WindowState>().unlock(&files, &passphrase)?;
        Ok(readable.iter().map(|file| shown(file)).collect())
    })
    .await
}

/// Removes the temporary files of [`unlock_files`].
#[tauri::command]
#[specta::specta]
pub(crate) async fn lock_files(app: AppHandle) -> Result<(), Problem> {
    off_main(move || {
        app.state::<WindowState>().forget_unlocked();
        Ok(())
    })
    .await
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
