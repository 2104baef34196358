//! Writes a submission: the work on a task packet as one file that is small enough for an e-mail.
//!
//! The file has a line that identifies it, a line of JSON about the packet, a code of 32 bytes, and the
//! packet's project file. The code is the HMAC-SHA-256 (RFC 2104) of everything else under the packet's key,
//! which only the packet and the project have.

use super::Study;
use crate::study::error::StudyError;
use dissensus_api::{OpenPacket, SubmissionInfo};
use dissensus_files::{AtomicFile, PrivateFolder};
use dissensus_labelling::practice_answers;
use dissensus_labelling::progress;
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::log::go_on;
use dissensus_store::{CopyTarget, PacketKey, Store, StoreError, Submission};
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;
use uuid::Uuid;

/// The first line of every submission, with the version of its format.
const FIRST_LINE: &str = "dissensus hand-in ";
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

/// Returns the progress of the open packet; `None` if the open project is not a packet.
pub fn open_packet(cx: &Study) -> Result<Option<OpenPacket>, ProjectError> {
    let context = &cx.context;
    let Some(packet) = &context.packet else { return Ok(None) };
    let progress = progress::count(&cx.labelling, packet.annotator, &packet.questions)?;
    let index = context.index();
    let row = index.annotator_row(packet.annotator);
    let last = context.store.submissions()?.last().map(|one| one.at_ms);
    let rows = context.store.work_rows()?;
    let before = context.store.submitted_rows()?.unwrap_or_default();
    let since: u32 = rows.iter().zip(before).map(|(now, before)| now.saturating_sub(before)).sum();
    Ok(Some(OpenPacket {
        annotator: row.map_or_else(String::new, |row| index.annotators()[row as usize].external_id.clone()),
        wanted: progress.total,
        given: progress.done,
        handed_in: last.map(|at_ms| at_ms as f64),
        since,
        practice: practice_answers::state_of(&cx.labelling, packet.annotator)?,
    }))
}

/// Writes all work on the open packet to one file. This can be repeated: data that is in several
/// submissions is merged once.
///
/// # Errors
/// The open project is not a packet, or the file cannot be written; without `replace`, a file of that
/// name exists.
pub fn hand_in(cx: &Study, file: &Path, replace: bool) -> Result<SubmissionInfo, ProjectError> {
    let context = &cx.context;
    let Some(packet) = &context.packet else { return Err(StudyError::NotPacket.into()) };
    // The packet records that it was submitted.
    context.store.must_write()?;
    let failed = |source| ProjectError::Io { path: file.to_owned(), doing: "writing", source };
    if std::fs::symlink_metadata(file).is_ok() && (!replace || !may_be_replaced(file).map_err(failed)?) {
        return Err(StudyError::Exists(file.to_owned()).into());
    }
    let progress = progress::count(&cx.labelling, packet.annotator, &packet.questions)?;
    let key = context.store.own_packet_key()?.ok_or(StudyError::NotPacket)?;
    let at_ms = now_ms();
    let folder = dissensus_files::folder_of(file);
    let inside = PrivateFolder::create_in(folder).map_err(failed)?;
    let copy = inside.path().join("packet.dissensus");
    context.store.copy_to(&copy, CopyTarget::New, |_, _| ControlFlow::Continue(()))?;
    let noted = Submission { packet: packet.id, at_ms, answers: progress.done };
    let handed = Store::open(&copy)?;
    handed.write(move |tx| -> Result<(), StoreError> {
        tx.add_submission(&noted)?;
        tx.forget_packet_key()
    })?;
    let rows = handed.work_rows()?;
    handed.close()?;
    let bytes = std::fs::metadata(&copy).map_err(failed)?.len();
    let header = Header { project: context.store.project_id()?.0, packet: packet.id.0, at_ms, bytes };
    let mut target = AtomicFile::create_private(file).map_err(failed)?;
    write(&header, &key, &mut File::open(&copy).map_err(failed)?, &mut target).map_err(failed)?;
    match replace {
        true => target.finish().map_err(failed)?,
        false => target.finish_new().map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => StudyError::Exists(file.to_owned()).into(),
            _ => failed(source),
        })?,
    }
    // The file exists: failing to record it in the packet must not fail the submission.
    go_on("noting what was handed in", context.store.write(move |tx| tx.add_submission(&noted)));
    go_on("noting what was handed in", context.store.set_submitted_rows(rows));
    context.listeners.send(&Event::Project);
    let bytes = std::fs::metadata(file).map_or(bytes, |about| about.len());
    Ok(SubmissionInfo {
        file: file.to_string_lossy().into_owned(),
        bytes: bytes as f64,
        given: progress.done,
        wanted: progress.total,
    })
}

/// Whether a file is a submission: only those are replaced, never a project, and above all not the packet
/// itself.
fn may_be_replaced(file: &Path) -> std::io::Result<bool> {
    let about = std::fs::metadata(file)?;
    Ok(about.is_file() && (about.len() == 0 || is_submission(&mut File::open(file)?)?))
}

fn code(key: &PacketKey) -> Hmac<Sha256> {
    // An HMAC accepts a key of any length.
    Hmac::new_from_slice(&key.0).unwrap_or_else(|_| Hmac::new(&Default::default()))
}

fn lines(header: &Header) -> std::io::Result<String> {
    Ok(format!("{FIRST_LINE}{VERSION}\n{}\n", serde_json::to_string(header)?))
}

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

fn copy(from: &mut impl Read, to: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to(&buffer[..count])?,
        }
    }
}

/// Whether a file begins like a submission.
pub(super) fn is_submission(file: &mut File) -> std::io::Result<bool> {
    let mut first = vec![0; FIRST_LINE.len()];
    let mut read = 0;
    while read < first.len() {
        match file.read(&mut first[read..])? {
            0 => break,
            count => read += count,
        }
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(first[..read] == *FIRST_LINE.as_bytes())
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
