//! Writes a submission: the work on a task packet as one file that is small enough for an e-mail.

use super::Study;
use super::{former_submission, submission};
use crate::study::error::StudyError;
use dissensus_api::{OpenPacket, SubmissionInfo};
use dissensus_files::AtomicFile;
use dissensus_labelling::practice_answers;
use dissensus_labelling::progress;
use dissensus_project::clock::now_ms;
use dissensus_project::encryption::{Passphrase, encrypt_content, is_encrypted};
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::log::go_on;
use dissensus_store::Submission;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// How the name of an encrypted submission ends.
const ENCRYPTED: &str = ".handin.age";

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

/// How a submission is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubmissionChoices<'a> {
    /// Whether an earlier submission is replaced.
    pub replace: bool,
    /// Encrypts it.
    pub passphrase: Option<&'a Passphrase>,
}

impl From<bool> for SubmissionChoices<'_> {
    fn from(replace: bool) -> Self {
        Self { replace, passphrase: None }
    }
}

/// Writes all work on the open packet to one file. This can be repeated: data that is in several
/// submissions is merged once.
///
/// # Errors
/// The open project is not a packet, or the file cannot be written; without `replace`, a file of that
/// name exists.
pub fn hand_in<'a>(
    cx: &Study,
    file: &Path,
    choices: impl Into<SubmissionChoices<'a>>,
) -> Result<SubmissionInfo, ProjectError> {
    let SubmissionChoices { replace, passphrase } = choices.into();
    let context = &cx.context;
    let Some(packet) = &context.packet else { return Err(StudyError::NotPacket.into()) };
    // The packet records that it was submitted.
    context.store.must_write()?;
    let failed = |source| ProjectError::Io { path: file.to_owned(), doing: "writing", source };
    if std::fs::symlink_metadata(file).is_ok() && (!replace || !may_be_replaced(file).map_err(failed)?) {
        return Err(StudyError::InTheWay(file.to_owned()).into());
    }
    let progress = progress::count(&cx.labelling, packet.annotator, &packet.questions)?;
    let key = context.store.own_packet_key()?.ok_or(StudyError::NotPacket)?;
    // Counted before: what is recorded from now on may not be in the file.
    let rows = context.store.work_rows()?;
    let work = context.store.packet_work()?;
    let noted = Submission { packet: packet.id, at_ms: now_ms(), answers: progress.done };
    let content = submission::write(context.store.project_id()?, &noted, &work, &key).map_err(failed)?;
    let mut target = AtomicFile::create_private(file).map_err(failed)?;
    match passphrase {
        None => target.write_all(&content).map_err(failed)?,
        Some(passphrase) => encrypt_content(&content, &mut target, passphrase).map_err(failed)?,
    }
    match replace {
        true => target.finish().map_err(failed)?,
        false => target.finish_new().map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => StudyError::InTheWay(file.to_owned()).into(),
            _ => failed(source),
        })?,
    }
    // The file exists: failing to record it in the packet must not fail the submission.
    go_on("noting what was handed in", context.store.write(move |tx| tx.add_submission(&noted)));
    go_on("noting what was handed in", context.store.set_submitted_rows(rows));
    context.listeners.send(&Event::Project);
    Ok(SubmissionInfo {
        file: file.to_string_lossy().into_owned(),
        bytes: content.len() as f64,
        given: progress.done,
        wanted: progress.total,
    })
}

/// Whether a file is a submission: only those are replaced, never a project, and above all not the packet
/// itself.
fn may_be_replaced(file: &Path) -> std::io::Result<bool> {
    let about = std::fs::metadata(file)?;
    Ok(about.is_file()
        && (about.len() == 0 || is_submission(&mut File::open(file)?)? || is_encrypted_submission(file)))
}

/// Whether a file is encrypted, and named as a submission.
pub(super) fn is_encrypted_submission(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.ends_with(ENCRYPTED) && is_encrypted(file)
}

/// Whether a file begins like a submission of any format.
pub(super) fn is_submission(file: &mut File) -> std::io::Result<bool> {
    let mut first = Vec::new();
    let longest = submission::FIRST.len().max(former_submission::FIRST_LINE.len()) as u64;
    (&mut *file).take(longest).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(0))?;
    Ok([submission::FIRST, former_submission::FIRST_LINE]
        .iter()
        .any(|known| first.starts_with(known.as_bytes())))
}
