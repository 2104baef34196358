//! The file of a submission: JSON lines that name everything by ids and names, so that any program can write
//! it.
//!
//! The first line is a [`Header`], the second [`WorkNames`], each further one an event or a fact
//! ([`WorkRecord`]), and the last one `{"hmac-sha256":"..."}`: the HMAC-SHA-256 (RFC 2104) of all lines
//! before it under the packet's key, which only the packet and the project have, in hexadecimal digits.

use crate::study::error::StudyError;
use dissensus_domain::{Attributes, ProjectId};
use dissensus_project::error::ProjectError;
use dissensus_store::{PacketKey, PacketWork, Submission, WorkNames, WorkRecord};
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use uuid::Uuid;

/// The first characters of the file.
pub(super) const FIRST: &str = "{\"dissensus-submission\":";
const VERSION: u32 = 2;
const CODE_BEGIN: &str = "{\"hmac-sha256\":\"";
const CODE_END: &str = "\"}\n";
/// The code of the refusal of a submission of which the end is missing.
pub(super) const CUT_OFF: &str = "merge-cut-off";
/// Bytes of the last line.
const CODE: u64 = (CODE_BEGIN.len() + 64 + CODE_END.len()) as u64;
/// A longer first line is invalid.
const LONGEST_LINE: u64 = 1 << 14;
/// Maximum bytes of all lines after the first: more than a million events.
const LARGEST: u64 = 1 << 28;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    #[serde(rename = "dissensus-submission")]
    pub(super) version: u32,
    pub(super) project: Uuid,
    pub(super) packet: Uuid,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub(super) at_ms: i64,
    /// Number of texts that are answered.
    pub(super) answers: u32,
    /// Bytes of the lines between this one and the last.
    pub(super) bytes: u64,
    /// Whether it was sent while its person still works: it is merged, and not noted as handed in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) partial: bool,
    /// Who joined by a page for everybody; none for the packet of a known person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) joined: Option<JoinedPerson>,
    /// Bytes of this line.
    #[serde(skip)]
    length: u64,
    /// Whether lines end with carriage return and line feed, as some mail programs send text files.
    #[serde(skip)]
    returns: bool,
}

/// A person who joined by a page for everybody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JoinedPerson {
    /// The page.
    pub(super) page: Uuid,
    /// The id of the person elsewhere, or a random one.
    pub(super) id: String,
    /// What the address of the page had about the person.
    #[serde(default)]
    pub(super) attributes: Attributes,
}

pub(super) fn code(key: &PacketKey) -> Hmac<Sha256> {
    // An HMAC accepts a key of any length.
    Hmac::new_from_slice(&key.0).unwrap_or_else(|_| Hmac::new(&Default::default()))
}

/// The file of a submission to `project`.
///
/// # Errors
/// It would be too large to be merged.
pub(super) fn write(
    project: ProjectId,
    noted: &Submission,
    work: &PacketWork,
    key: &PacketKey,
) -> std::io::Result<Vec<u8>> {
    let mut records = serde_json::to_string(&work.names)? + "\n";
    for record in &work.records {
        records += &serde_json::to_string(record)?;
        records.push('\n');
    }
    if records.len() as u64 > LARGEST {
        let why = format!("a submission can have {LARGEST} bytes, and this has {}", records.len());
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, why));
    }
    let header = Header {
        version: VERSION,
        project: project.0,
        packet: noted.packet.0,
        at_ms: noted.at_ms,
        answers: noted.answers,
        bytes: records.len() as u64,
        partial: false,
        joined: None,
        length: 0,
        returns: false,
    };
    let signed = serde_json::to_string(&header)? + "\n" + &records;
    let mut mac = code(key);
    mac.update(signed.as_bytes());
    let digits: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{signed}{CODE_BEGIN}{digits}{CODE_END}").into_bytes())
}

/// Reads the header of a submission.
pub(super) fn header(file: impl Read) -> Result<Header, ProjectError> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(file).take(LONGEST_LINE);
    reader.read_until(b'\n', &mut line).map_err(|_| StudyError::Tampered)?;
    if line.last() != Some(&b'\n') && (line.len() as u64) < LONGEST_LINE {
        return Err(StudyError::CutOff { there: line.len() as u64, bytes: line.len() as u64 + CODE }.into());
    }
    // Later versions may have other fields.
    let version: serde_json::Value = serde_json::from_slice(&line).map_err(|_| StudyError::Tampered)?;
    match version["dissensus-submission"].as_u64() {
        Some(version) if version == u64::from(VERSION) => {}
        Some(later) if later > u64::from(VERSION) => return Err(StudyError::Newer.into()),
        _ => return Err(StudyError::NotOurs.into()),
    }
    let header: Header = serde_json::from_value(version).map_err(|_| StudyError::Tampered)?;
    let returns = line.ends_with(b"\r\n");
    Ok(Header { length: line.len() as u64 - u64::from(returns), returns, ..header })
}

/// Whether the end of a submission is not there yet.
pub(super) fn is_cut_off(file: &mut File) -> bool {
    match header(&mut *file) {
        Ok(header) => {
            let length = length_of(file, &header).map(|there| check_length(there, &header));
            matches!(length, Ok(Err(StudyError::CutOff { .. })))
        }
        Err(error) => error.code() == CUT_OFF,
    }
}

/// Reads the work in a submission, if it was signed with the key of its packet.
pub(super) fn read(file: &mut File, header: &Header, key: &PacketKey) -> Result<PacketWork, ProjectError> {
    let tampered = |_| StudyError::Tampered;
    check_length(length_of(file, header).map_err(tampered)?, header)?;
    read_bytes(&content_of(file).map_err(tampered)?, header, key)
}

/// Bytes of a file as it was written. Its lines are counted only where their ends may have been changed.
fn length_of(file: &mut File, header: &Header) -> std::io::Result<u64> {
    if !header.returns {
        return Ok(file.metadata()?.len());
    }
    Ok(as_written(&content_of(file)?, header).len() as u64)
}

fn content_of(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    // With one carriage return for each line feed, it is at most twice as long.
    file.take(2 * (LARGEST + LONGEST_LINE + CODE)).read_to_end(&mut content)?;
    Ok(content)
}

/// The content with the ends of lines that it was signed with. JSON has no carriage return inside of a line.
fn as_written<'a>(content: &'a [u8], header: &Header) -> Cow<'a, [u8]> {
    match header.returns {
        true => Cow::Owned(content.iter().copied().filter(|byte| *byte != b'\r').collect()),
        false => Cow::Borrowed(content),
    }
}

/// Reads the work in the content of a submission, like [`read`].
pub(super) fn read_bytes(
    content: &[u8],
    header: &Header,
    key: &PacketKey,
) -> Result<PacketWork, ProjectError> {
    let content = as_written(content, header);
    check_length(content.len() as u64, header)?;
    let content = std::str::from_utf8(&content).map_err(|_| StudyError::Tampered)?;
    let (lines, last) =
        content.split_at_checked(signed_bytes(header) as usize).ok_or(StudyError::Tampered)?;
    let digits = last.strip_prefix(CODE_BEGIN).and_then(|last| last.strip_suffix(CODE_END));
    let mut mac = code(key);
    mac.update(lines.as_bytes());
    mac.verify_slice(&bytes_of(digits.unwrap_or_default())).map_err(|_| StudyError::Tampered)?;
    let mut lines = lines.lines();
    let signed: Option<Header> = lines.next().and_then(|line| serde_json::from_str(line).ok());
    // The file may have been replaced since its header was read.
    if signed
        .is_none_or(|signed| Header { length: header.length, returns: header.returns, ..signed } != *header)
    {
        return Err(StudyError::Tampered.into());
    }
    let names: WorkNames = parse(2, lines.next().unwrap_or_default())?;
    let records = (3..).zip(lines).map(|(number, line)| parse::<WorkRecord>(number, line));
    Ok(PacketWork { names, records: records.collect::<Result<_, StudyError>>()? })
}

/// Bytes of all lines but the last.
fn signed_bytes(header: &Header) -> u64 {
    header.length + header.bytes.min(LARGEST)
}

fn check_length(there: u64, header: &Header) -> Result<(), StudyError> {
    let bytes = signed_bytes(header) + CODE;
    match there.cmp(&bytes) {
        Ordering::Less => Err(StudyError::CutOff { there, bytes }),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(StudyError::Tampered),
    }
}

fn parse<T: for<'a> Deserialize<'a>>(line: u64, content: &str) -> Result<T, StudyError> {
    serde_json::from_str(content).map_err(|source| {
        StudyError::NotAsHandedOut(format!("line {line} of the submission cannot be read: {source}"))
    })
}

/// The bytes of hexadecimal digits; nothing if there are other characters.
pub(super) fn bytes_of(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::PacketId;
    use std::path::{Path, PathBuf};

    const KEY: PacketKey = PacketKey([7; 32]);

    /// Writes a submission with these questions.
    fn submission(folder: &Path, questions: usize) -> PathBuf {
        let name = |at: usize| dissensus_store::WorkQuestion { name: format!("q{at}"), levels: Vec::new() };
        let names = WorkNames { questions: (0..questions).map(name).collect(), ..WorkNames::default() };
        let (project, packet) = (ProjectId(Uuid::from_u128(1)), PacketId(Uuid::from_u128(2)));
        let noted = Submission { packet, at_ms: 3, answers: 4 };
        let work = PacketWork { names, records: Vec::new() };
        let path = folder.join("submission");
        std::fs::write(&path, write(project, &noted, &work, &KEY).unwrap()).unwrap();
        path
    }

    fn read_at(path: &Path) -> Result<PacketWork, ProjectError> {
        let mut file = File::open(path).unwrap();
        let header = header(&mut file)?;
        read(&mut file, &header, &KEY)
    }

    #[test]
    fn authentication_code_matches_another_implementation() {
        let folder = tempfile::tempdir().unwrap();
        let written = std::fs::read_to_string(submission(folder.path(), 0)).unwrap();
        // Python: hmac.new(bytes([7] * 32), lines, "sha256").hexdigest()
        let lines = "{\"dissensus-submission\":2,\"project\":\"00000000-0000-0000-0000-000000000001\",\
                     \"packet\":\"00000000-0000-0000-0000-000000000002\",\"at_ms\":3,\"answers\":4,\"bytes\":40}\n\
                     {\"questions\":[],\"texts\":[],\"copies\":[]}\n";
        let code = "fdab40aad60f88fdb5e6f2aea9238748ee2847b69bb9e0f4f23b12d1496c3c19";
        assert_eq!(written, format!("{lines}{{\"hmac-sha256\":\"{code}\"}}\n"));
    }

    #[test]
    fn submission_with_ends_of_lines_of_another_system_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = submission(folder.path(), 3);
        let written = read_at(&path).unwrap();
        let sent = std::fs::read_to_string(&path).unwrap().replace('\n', "\r\n");
        std::fs::write(&path, &sent).unwrap();
        assert_eq!(read_at(&path).unwrap(), written);
        assert!(!is_cut_off(&mut File::open(&path).unwrap()));
        for at in 0..sent.len() - 1 {
            std::fs::write(&path, &sent[..at]).unwrap();
            assert!(read_at(&path).is_err(), "cut at {at}");
            assert!(is_cut_off(&mut File::open(&path).unwrap()), "cut at {at}");
        }
        std::fs::write(&path, sent.replacen("question", "questiom", 1)).unwrap();
        assert_eq!(read_at(&path).unwrap_err().code(), "merge-tampered");
    }

    #[test]
    fn every_changed_or_missing_byte_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = submission(folder.path(), 3);
        assert_eq!(read_at(&path).unwrap().names.questions.len(), 3);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            assert!(read_at(&path).is_err(), "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(read_at(&path).is_err(), "cut at {at}");
        }
        std::fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(read_at(&path).unwrap_err().code(), "merge-tampered");
        std::fs::write(&path, &whole[..whole.len() - 10]).unwrap();
        let error = read_at(&path).unwrap_err();
        assert_eq!(error.code(), "merge-cut-off");
        assert!(error.to_string().contains(&whole.len().to_string()), "{error}");
        let later = String::from_utf8_lossy(&whole).replacen("submission\":2", "submission\":3", 1);
        std::fs::write(&path, later.as_bytes()).unwrap();
        assert_eq!(read_at(&path).unwrap_err().code(), "merge-newer");
    }
}
