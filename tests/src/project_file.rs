//! Damages a project file on purpose, using SQLite's file header (sqlite.org/fileformat.html, 1.3).

use std::fs;
use std::io;
use std::path::Path;

/// Offset of `PRAGMA user_version` in the header, a big-endian number: our version of the project's layout.
const USER_VERSION: usize = 60;
/// Offset of the page size in the header, a big-endian number; 1 means 65,536.
const PAGE_SIZE: usize = 16;

/// Makes the file look as if a program that is `ahead` versions newer wrote it.
///
/// # Errors
/// The file cannot be read or written, or is too short to be a database.
pub fn make_newer(path: &Path, ahead: u32) -> io::Result<()> {
    let mut bytes = fs::read(path)?;
    let field = bytes.get_mut(USER_VERSION..USER_VERSION + 4).ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut number = [0; 4];
    number.copy_from_slice(field);
    field.copy_from_slice(&(u32::from_be_bytes(number) + ahead).to_be_bytes());
    fs::write(path, bytes)
}

/// Overwrites every page except the first `keep` with noise, as a failing disk might.
///
/// # Errors
/// The file cannot be read or written, or is too short to be a database.
pub fn damage_pages(path: &Path, keep: usize) -> io::Result<()> {
    let mut bytes = fs::read(path)?;
    let field = bytes.get(PAGE_SIZE..PAGE_SIZE + 2).ok_or(io::ErrorKind::UnexpectedEof)?;
    let size = match u16::from_be_bytes([field[0], field[1]]) {
        1 => 65_536,
        size => usize::from(size),
    };
    let start = size * keep;
    if start >= bytes.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    for (index, byte) in bytes[start..].iter_mut().enumerate() {
        *byte = (index * 31 % 251) as u8;
    }
    fs::write(path, bytes)
}
