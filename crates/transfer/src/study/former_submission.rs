//! Submissions of the former format, which are read and no longer written: the packet's project file.
//!
//! The file has a line that identifies it, a line of JSON about the packet, a code of 32 bytes, and the
//! packet's project file. The code is the HMAC-SHA-256 (RFC 2104) of everything else under the packet's key.

use crate::study::error::StudyError;
use crate::study::submission::code;
use dissensus_project::error::ProjectError;
use dissensus_store::PacketKey;
use hmac::Mac;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use uuid::Uuid;

/// The first line, with the version of the format.
pub(super) const FIRST_LINE: &str = "dissensus hand-in ";
const VERSION: u32 = 1;
/// Longer lines are invalid.
const LONGEST_LINE: u64 = 4096;
const CODE: usize = 32;

/// The header of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) project: Uuid,
    pub(super) packet: Uuid,
    pub(super) at_ms: i64,
    pub(super) bytes: u64,
}

fn lines(header: &Header) -> std::io::Result<String> {
    Ok(format!("{FIRST_LINE}{VERSION}\n{}\n", serde_json::to_string(header)?))
}

fn copy(from: &mut impl Read, to: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to(&buffer[..count])?,
        }
    }
}

/// Whether a file begins like a submission of this format.
pub(super) fn is_one(file: &mut File) -> Result<bool, ProjectError> {
    let mut first = vec![0; FIRST_LINE.len()];
    let found = file.read_exact(&mut first).is_ok() && first == FIRST_LINE.as_bytes();
    file.seek(SeekFrom::Start(0)).map_err(|_| StudyError::Tampered)?;
    Ok(found)
}

/// Reads the header of a submission.
pub(super) fn header(file: &mut File) -> Result<Header, ProjectError> {
    let mut reader = BufReader::new(file).take(2 * LONGEST_LINE);
    let mut line = || -> Result<String, ProjectError> {
        let mut line = String::new();
        reader.read_line(&mut line).map_err(|_| StudyError::Tampered)?;
        Ok(line
            .strip_suffix('\n')
            .ok_or(StudyError::CutOff { there: line.len() as u64, bytes: LONGEST_LINE })?
            .to_owned())
    };
    let version = line()?;
    let version = version.strip_prefix(FIRST_LINE).ok_or(StudyError::NotOurs)?;
    match version.parse::<u32>() {
        Ok(VERSION) => {}
        Ok(later) if later > VERSION => return Err(StudyError::Newer.into()),
        _ => return Err(StudyError::NotOurs.into()),
    }
    Ok(serde_json::from_str(&line()?).map_err(|_| StudyError::Tampered)?)
}

/// Writes the packet of a submission to `target`, if it was signed with the key of that packet.
pub(super) fn unpack(
    file: &mut File,
    header: &Header,
    key: &PacketKey,
    target: &mut impl Write,
) -> Result<(), ProjectError> {
    let cannot_read = |_| StudyError::Tampered;
    let lines = lines(header).map_err(cannot_read)?;
    let all = file.metadata().map_err(cannot_read)?.len();
    let bytes = (lines.len() + CODE) as u64 + header.bytes;
    if all < bytes {
        return Err(StudyError::CutOff { there: all, bytes }.into());
    }
    let mut signed = vec![0; lines.len() + CODE];
    file.seek(SeekFrom::Start(0)).and_then(|_| file.read_exact(&mut signed)).map_err(cannot_read)?;
    // A header with any other content is not what was signed.
    if signed[..lines.len()] != *lines.as_bytes() || all > bytes {
        return Err(StudyError::Tampered.into());
    }
    let mut mac = code(key);
    mac.update(lines.as_bytes());
    copy(file, &mut |part| {
        mac.update(part);
        target.write_all(part)
    })
    .map_err(cannot_read)?;
    mac.verify_slice(&signed[lines.len()..]).map_err(|_| StudyError::Tampered)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Writes a submission of the project file `packet`.
    fn write(
        header: &Header,
        key: &PacketKey,
        packet: &mut File,
        target: &mut impl Write,
    ) -> std::io::Result<()> {
        let lines = lines(header)?;
        let mut mac = code(key);
        mac.update(lines.as_bytes());
        copy(packet, &mut |part| {
            mac.update(part);
            Ok(())
        })?;
        target.write_all(lines.as_bytes())?;
        target.write_all(&mac.finalize().into_bytes())?;
        packet.seek(SeekFrom::Start(0))?;
        copy(packet, &mut |part| target.write_all(part))
    }

    const KEY: PacketKey = PacketKey([7; 32]);

    /// Writes a submission with these bytes.
    fn submission_of(folder: &Path, content: &[u8]) -> (std::path::PathBuf, Header) {
        let (source, path) = (folder.join("source"), folder.join("handed-in"));
        std::fs::write(&source, content).unwrap();
        let header = Header {
            project: Uuid::from_u128(1),
            packet: Uuid::from_u128(2),
            at_ms: 3,
            bytes: content.len() as u64,
        };
        let mut target = File::create(&path).unwrap();
        write(&header, &KEY, &mut File::open(&source).unwrap(), &mut target).unwrap();
        (path, header)
    }

    fn read(path: &Path) -> Result<Vec<u8>, ProjectError> {
        let mut file = File::open(path).unwrap();
        let header = header(&mut file)?;
        let mut content = Vec::new();
        unpack(&mut file, &header, &KEY, &mut content)?;
        Ok(content)
    }

    #[test]
    fn authentication_code_matches_another_implementation() {
        let folder = tempfile::tempdir().unwrap();
        let (path, _) = submission_of(folder.path(), b"content");
        let bytes = std::fs::read(path).unwrap();
        // Python: hmac.new(bytes([7] * 32), lines + b"content", "sha256").hexdigest()
        let lines = "dissensus hand-in 1\n{\"project\":\"00000000-0000-0000-0000-000000000001\",\"packet\":\
                     \"00000000-0000-0000-0000-000000000002\",\"at_ms\":3,\"bytes\":7}\n";
        assert!(bytes.starts_with(lines.as_bytes()));
        let code = bytes[lines.len()..lines.len() + CODE].iter().map(|byte| format!("{byte:02x}"));
        assert_eq!(
            code.collect::<String>(),
            "6f18d479e2c1cc0f0d716f51d937780a84eef74ce9fd5e1b51b23182be1fedf9"
        );
        assert_eq!(bytes[lines.len() + CODE..], *b"content");
    }

    #[test]
    fn every_changed_or_missing_byte_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let (path, header) = submission_of(folder.path(), &[5; 300]);
        assert_eq!(read(&path).unwrap(), [5; 300]);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            assert!(read(&path).is_err(), "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(read(&path).is_err(), "cut at {at}");
        }
        std::fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(read(&path).unwrap_err().code(), "merge-tampered");
        std::fs::write(&path, &whole[..whole.len() - 10]).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.code(), "merge-cut-off");
        assert!(error.to_string().contains(&whole.len().to_string()), "{error}");
        let later = String::from_utf8_lossy(&whole).replacen("hand-in 1", "hand-in 2", 1);
        std::fs::write(&path, later.as_bytes()).unwrap();
        assert_eq!(read(&path).unwrap_err().code(), "merge-newer");
        assert_eq!(header.bytes, 300);
    }
}
