//! Hands out task packets: adds them to the project first, then writes a file for each.

use super::Study;
use super::draft::{Draw, DrawnPerson, DrawnPlan, StudyPlan};
use super::joined::{JOINED, Joined};
use super::lacking::PLANNED;
use crate::study::draft;
use crate::study::error::StudyError;
use crate::study::page::{self, PageSettings};
use crate::study::passphrase;
use dissensus_api::{PacketFormat, StudyDraft, StudyRequest};
use dissensus_domain::{AnnotatorId, Assignment, Attributes, JobKind, Packet, PacketId};
use dissensus_editing::annotators;
use dissensus_files::{AtomicFile, PrivateFolder};
use dissensus_project::clock::now_ms;
use dissensus_project::encryption::{Existing, Passphrase, encrypt_file, private_folder_by};
use dissensus_project::error::ProjectError;
use dissensus_project::event::Event;
use dissensus_project::jobs::{Follow, Progress, Silent};
use dissensus_project::names::project_name;
use dissensus_project::sync::lock;
use dissensus_project::words::counted;
use dissensus_store::{NewAnnotator, PacketKey, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The setting with the packets that are in the project and have no file yet, because the program was stopped
/// or killed.
const UNWRITTEN: &str = "packets-unwritten";

/// The list of passphrases in the folder of packets that have their own.
const PASSPHRASES: &str = "passphrases.csv";

/// Where packets are written, and as what.
#[derive(Clone, Copy, Debug)]
pub struct PacketFolder<'a> {
    pub folder: &'a Path,
    pub format: PacketFormat,
    /// Of pages.
    pub settings: &'a PageSettings,
    /// Of encrypted files: one for all; each has its own without it.
    pub passphrase: Option<&'a Passphrase>,
}

impl PacketFolder<'_> {
    /// Checks that packets can be written as this, before any is assigned.
    fn check(&self, cx: &Study) -> Result<(), ProjectError> {
        if self.is_page() {
            page::check(self.settings)?;
        }
        match self.has_list() {
            true => passphrase::check_list(&passphrases(cx)?, &self.folder.join(PASSPHRASES)),
            false => Ok(()),
        }
    }

    fn is_page(&self) -> bool {
        matches!(self.format, PacketFormat::Page | PacketFormat::LockedPage)
    }

    /// Whether each packet has a passphrase of its own, of which the folder has a list.
    fn has_list(&self) -> bool {
        match self.format {
            PacketFormat::LockedPage => true,
            PacketFormat::LockedFile => self.passphrase.is_none(),
            PacketFormat::File | PacketFormat::Page => false,
        }
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for PacketFolder<'a> {
    fn from(folder: &'a P) -> Self {
        static USUAL: PageSettings = PageSettings { target: None, completion: None };
        Self { folder: folder.as_ref(), format: PacketFormat::default(), settings: &USUAL, passphrase: None }
    }
}

/// A packet that is in the project and has no file yet.
struct Unwritten {
    packet: PacketId,
    file: PathBuf,
}

/// Rejects a new annotator whose name looks like that of another one.
fn names_differ(drawn: &DrawnPlan) -> Result<(), ProjectError> {
    for DrawnPerson { name, near, .. } in &drawn.people {
        if let Some(known) = &near.person {
            return Err(ProjectError::NearName { name: name.clone(), known: known.clone() });
        }
        if near.withdrawn {
            return Err(ProjectError::NearWithdrawn(name.clone()));
        }
    }
    Ok(())
}

/// Draws the new assignments of each annotator, adds them to the project together with new annotators,
/// and writes a task packet for each into `folder`. Existing assignments do not change.
///
/// # Errors
/// The same as [`draft::draft`](crate::study::draft::draft); a new name looks like that of another
/// annotator and the request does not confirm that it is another person ([`ProjectError::NearName`]);
/// nothing is left to hand out, or a file is in the way: nothing is changed then. If a file cannot be
/// written, the packets are in the project all the same and [`write_again`] writes them.
pub fn hand_out<'a>(
    cx: &Study,
    plan: impl Into<StudyPlan<'a>>,
    to: impl Into<PacketFolder<'a>>,
    follow: impl Into<Follow<'a>>,
) -> Result<StudyDraft, ProjectError> {
    let (plan, to) = (plan.into(), to.into());
    let title = counted(plan.request.people.len() as u64, "packet");
    cx.context.run(follow, JobKind::HandOut, &title, |progress| draw_and_write(cx, plan, to, progress))
}

fn draw_and_write(
    cx: &Study,
    plan: StudyPlan<'_>,
    to: PacketFolder<'_>,
    progress: &dyn Progress,
) -> Result<StudyDraft, ProjectError> {
    let request = plan.request;
    cx.context.store.must_write()?;
    to.check(cx)?;
    all_written(cx)?;
    let planning = lock(&cx.planning);
    let drawn = draft::drawn(cx, plan, Draw::Plan)?;
    if !request.new_people {
        names_differ(&drawn)?;
    }
    let mut reported = draft::summarise(cx, &drawn)?;
    if drawn.people.iter().all(|person| person.items.is_empty()) {
        return Err(StudyError::NothingNew.into());
    }
    for person in drawn.people.iter().filter(|_| to.is_page()) {
        page::check_texts(&person.name, person.items.len())?;
    }
    let files = file_names(&drawn, to)?;
    let packets = add(cx, &drawn, request, &Attributes::new(), Written::Later)?;
    drop(planning);
    let unwritten: Vec<Unwritten> = (packets.into_iter())
        .filter_map(|(person, packet)| Some(Unwritten { packet, file: files.get(person)?.clone()? }))
        .collect();
    write(cx, &unwritten, to, progress).map_err(|error| match error {
        ProjectError::Cancelled => StudyError::Unwritten("it was stopped".to_owned()).into(),
        other => ProjectError::from(StudyError::Unwritten(other.to_string())),
    })?;
    for (share, file) in reported.people.iter_mut().zip(files) {
        share.file = file.map(|file| file.to_string_lossy().into_owned());
    }
    Ok(reported)
}

/// Writes the packets of some annotators, or of all without names, again into `folder`, for packets that
/// were lost. It is the packet that was handed out, without answers; answers given in both are merged.
/// Returns the files.
///
/// # Errors
/// Nothing was handed out to one of them, or a file is in the way or cannot be written.
pub fn write_again<'a>(
    cx: &Study,
    people: &[String],
    to: impl Into<PacketFolder<'a>>,
    follow: impl Into<Follow<'a>>,
) -> Result<Vec<String>, ProjectError> {
    let to = to.into();
    let title = counted(people.len() as u64, "packet");
    cx.context.run(follow, JobKind::HandOut, &title, |progress| write_theirs(cx, people, to, progress))
}

fn write_theirs(
    cx: &Study,
    people: &[String],
    to: PacketFolder<'_>,
    progress: &dyn Progress,
) -> Result<Vec<String>, ProjectError> {
    cx.whole_project()?;
    to.check(cx)?;
    let index = cx.context.index();
    let packets = cx.context.store.packets()?;
    let mut wanted: Vec<AnnotatorId> = Vec::new();
    for name in people {
        let person = index.find_annotator(name)?;
        if packets.iter().all(|(packet, _)| packet.annotator != person.id) {
            return Err(StudyError::NoPacket(person.external_id.clone()).into());
        }
        wanted.push(person.id);
    }
    let mut again = Vec::new();
    for (at, (packet, _)) in packets.iter().enumerate() {
        let row = index.annotator_row(packet.annotator);
        let Some(person) = row.map(|row| &index.annotators()[row as usize]) else { continue };
        if !people.is_empty() && !wanted.contains(&person.id) {
            continue;
        }
        if to.is_page() {
            page::check_texts(&person.external_id, packet.assignments.len())?;
        }
        again.push((at, packet, person));
    }
    let mut names = FileNames::new(to)?;
    let mut unwritten = Vec::new();
    for (at, packet, person) in again {
        let before = packets[..at].iter().filter(|(other, _)| other.annotator == packet.annotator).count();
        unwritten.push(Unwritten { packet: packet.id, file: names.of(&person.external_id, before as u32)? });
    }
    write(cx, &unwritten, to, progress)?;
    Ok(unwritten.iter().map(|one| one.file.to_string_lossy().into_owned()).collect())
}

/// Refuses to draw more while packets of an earlier run have no file.
fn all_written(cx: &Study) -> Result<(), ProjectError> {
    let store = &cx.context.store;
    let unwritten: Vec<Uuid> = store.setting(UNWRITTEN)?.unwrap_or_default();
    if unwritten.is_empty() {
        return Ok(());
    }
    let mut people = Vec::new();
    for (packet, _) in store.packets()?.into_iter().filter(|(packet, _)| unwritten.contains(&packet.id.0)) {
        people.extend(store.annotator(packet.annotator)?.map(|person| person.external_id));
    }
    match people.as_slice() {
        // They belong to annotators who withdrew meanwhile.
        [] => Ok(()),
        people => {
            let whose = people.join(",");
            Err(StudyError::Stranded { packets: counted(people.len() as u64, "packet"), people: whose }
                .into())
        }
    }
}

/// Records that a packet has its file.
fn written(cx: &Study, packet: PacketId) -> Result<(), ProjectError> {
    let store = &cx.context.store;
    let unwritten: Vec<Uuid> = store.setting(UNWRITTEN)?.unwrap_or_default();
    // A read-only project can write packets again all the same.
    if !unwritten.contains(&packet.0) || store.must_write().is_err() {
        return Ok(());
    }
    let noted = store.write(move |tx| -> Result<(), StoreError> {
        let mut unwritten: Vec<Uuid> = tx.setting(UNWRITTEN)?.unwrap_or_default();
        unwritten.retain(|one| *one != packet.0);
        tx.set_setting(UNWRITTEN, &unwritten)
    });
    Ok(noted?)
}

/// Returns the path of each annotator's packet; `None` for those without new assignments.
fn file_names(drawn: &DrawnPlan, to: PacketFolder<'_>) -> Result<Vec<Option<PathBuf>>, ProjectError> {
    let mut names = FileNames::new(to)?;
    let file = |person: &DrawnPerson| match person.items.is_empty() {
        true => Ok(None),
        false => names.of(&person.name, person.packets).map(Some),
    };
    drawn.people.iter().map(file).collect()
}

/// Whether packets are written to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// After they are in the project.
    Later,
    /// They are reached by their links, by somebody who joined with this id.
    Never { id: Option<String> },
}

/// Adds annotators with these attributes, and packets, to the project, in one transaction. Returns each
/// packet with the index of its annotator.
pub(super) fn add(
    cx: &Study,
    drawn: &DrawnPlan,
    request: &StudyRequest,
    attributes: &Attributes,
    written: Written,
) -> Result<Vec<(usize, PacketId)>, ProjectError> {
    let made_at_ms = now_ms();
    let mut new: Vec<(usize, String, Option<AnnotatorId>, Packet, PacketKey)> = Vec::new();
    for (place, person) in drawn.people.iter().enumerate().filter(|(_, person)| !person.items.is_empty()) {
        let assignments = person.items.iter().map(|item| Assignment {
            text: drawn.texts[item.text],
            occasion: item.occasion,
            anchor: item.anchor,
        });
        let packet = Packet {
            id: PacketId(Uuid::now_v7()),
            annotator: AnnotatorId(0),
            made_at_ms,
            seed: request.seed,
            questions: drawn.questions.iter().map(|question| question.id).collect(),
            assignments: assignments.collect(),
        };
        new.push((place, person.name.clone(), person.id, packet, PacketKey(rand::random())));
    }
    let (again, per_text, attributes) = (drawn.again.clone(), request.per_text, attributes.clone());
    let added = cx.context.store.write(move |tx| -> Result<Vec<_>, StoreError> {
        // A packet does not contain right answers of checks: that its annotator has to practise again is
        // added to it.
        for (annotator, round) in again {
            tx.ask_to_practise_again(annotator, round, made_at_ms)?;
        }
        tx.set_setting(PLANNED, &per_text)?;
        let mut added = Vec::with_capacity(new.len());
        for (place, name, id, packet, key) in new {
            let annotator = match id {
                Some(id) => id,
                None => tx.add_annotator(&NewAnnotator {
                    external_id: name.clone(),
                    name,
                    attributes: attributes.clone(),
                    ..NewAnnotator::default()
                })?,
            };
            tx.add_packet(&Packet { annotator, ..packet.clone() }, &key)?;
            tx.mask_packet(packet.id, made_at_ms)?;
            added.push((place, packet.id));
        }
        let packets = added.iter().map(|(_, packet)| packet.0);
        match written {
            Written::Later => {
                let mut unwritten: Vec<Uuid> = tx.setting(UNWRITTEN)?.unwrap_or_default();
                unwritten.extend(packets);
                tx.set_setting(UNWRITTEN, &unwritten)?;
            }
            Written::Never { id } => {
                let mut joined: Joined = tx.setting(JOINED)?.unwrap_or_default();
                joined.extend(packets.map(|packet| (packet, id.clone())));
                tx.set_setting(JOINED, &joined)?;
            }
        }
        Ok(added)
    })?;
    // They are in the project: later errors must not make this fail.
    cx.context.flush_to_file();
    annotators::announce(&cx.project);
    cx.context.listeners.send(&Event::Project);
    Ok(added)
}

/// Writes the files of packets, each whole or not at all.
fn write(
    cx: &Study,
    unwritten: &[Unwritten],
    to: PacketFolder<'_>,
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    let all = unwritten.len() as u64;
    // First: a packet without its passphrase is lost.
    if to.has_list()
        && let Some(one) = unwritten.first()
    {
        let list = dissensus_files::folder_of(&one.file).join(PASSPHRASES);
        passphrase::write_list(&passphrases(cx)?, &list)?;
    }
    for (done, Unwritten { packet, file }) in (0..).zip(unwritten) {
        progress.report(done, Some(all), "packets");
        if progress.cancelled() {
            return Err(ProjectError::Cancelled);
        }
        write_file(cx, *packet, file, to)?;
        written(cx, *packet)?;
    }
    progress.report(all, Some(all), "packets");
    Ok(())
}

/// Writes the file of a packet.
fn write_file(cx: &Study, packet: PacketId, file: &Path, to: PacketFolder<'_>) -> Result<(), ProjectError> {
    let failed = |source| ProjectError::Io { path: file.to_owned(), doing: "writing the packet", source };
    let unless_there = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => StudyError::Exists(file.to_owned()).into(),
        _ => failed(error),
    };
    let locked = to.format == PacketFormat::LockedFile;
    let inside = match locked {
        true => private_folder_by(cx.context.store.path())?,
        false => PrivateFolder::create_in(dissensus_files::folder_of(file)).map_err(failed)?,
    };
    let made = inside.path().join("packet.dissensus");
    cx.context.store.write_packet(packet, &made)?;
    if locked {
        let own = || passphrase_of(cx, packet).map(Passphrase::from_random);
        let passphrase = to.passphrase.cloned().map_or_else(own, Ok)?;
        return encrypt_file(&made, file, Existing::Refuse, &passphrase, &Silent).map_err(
            |error| match error {
                ProjectError::Io { source, .. } => unless_there(source),
                other => other,
            },
        );
    }
    // It contains the key that signs answers.
    let mut target = AtomicFile::create_private(file).map_err(failed)?;
    if to.is_page() {
        let locked = (to.format == PacketFormat::LockedPage).then(|| passphrase_of(cx, packet));
        let locked = locked.transpose()?;
        let delivery = page::Delivery::File { passphrase: locked.as_deref(), settings: to.settings };
        let page = page::page(&made, &project_name(cx.context.store.path()), delivery)?;
        target.write_all(page.as_bytes()).map_err(failed)?;
    } else {
        let mut made = std::fs::File::open(&made).map_err(failed)?;
        std::io::copy(&mut made, &mut target).map_err(failed)?;
    }
    target.finish_new().map_err(unless_there)
}

fn passphrase_of(cx: &Study, packet: PacketId) -> Result<String, ProjectError> {
    let (_, key) = cx.context.store.packet(packet)?.ok_or(StudyError::UnknownPacket)?;
    Ok(passphrase::passphrase(&key))
}

/// The passphrases of all packets, in the order in which they were handed out.
fn passphrases(cx: &Study) -> Result<Vec<passphrase::Row>, ProjectError> {
    let index = cx.context.index();
    let mut numbers: BTreeMap<AnnotatorId, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for (packet, key) in cx.context.store.packets()? {
        let Some(row) = index.annotator_row(packet.annotator) else { continue };
        let number = numbers.entry(packet.annotator).or_default();
        *number += 1;
        let person = index.annotators()[row as usize].external_id.clone();
        rows.push((person, *number, passphrase::passphrase(&key)));
    }
    Ok(rows)
}

/// Unused names of files in one folder.
struct FileNames<'a> {
    to: PacketFolder<'a>,
    taken: BTreeSet<String>,
}

impl<'a> FileNames<'a> {
    /// Creates the folder if it is missing.
    fn new(to: PacketFolder<'a>) -> Result<Self, ProjectError> {
        let PacketFolder { folder, .. } = to;
        std::fs::create_dir_all(folder).map_err(|source| ProjectError::Io {
            path: folder.to_owned(),
            doing: "making the folder",
            source,
        })?;
        // Nothing is drawn for a folder that cannot be written.
        PrivateFolder::create_in(folder).map_err(|source| ProjectError::Io {
            path: folder.to_owned(),
            doing: "writing into",
            source,
        })?;
        Ok(Self { to, taken: BTreeSet::new() })
    }

    /// Returns the file of an annotator who already has so many packets: `NAME.dissensus`,
    /// `NAME-2.dissensus`, ... or as pages `NAME.html`, ...
    fn of(&mut self, person: &str, packets: u32) -> Result<PathBuf, ProjectError> {
        let plain = |c: char| if c.is_alphanumeric() || "-_.@ ".contains(c) { c } else { '_' };
        // A name has at most 255 bytes on most systems.
        let name: String = person.chars().map(plain).take(50).collect();
        let name = name.trim_matches([' ', '.']);
        let name = dissensus_exchange::file_stem(if name.is_empty() { "packet" } else { name });
        let next = if packets == 0 { String::new() } else { format!("-{}", packets + 1) };
        let ending = match self.to.format {
            PacketFormat::File => "dissensus",
            PacketFormat::LockedFile => "dissensus.age",
            PacketFormat::Page | PacketFormat::LockedPage => "html",
        };
        // Two annotators whose names differ only in characters that file names cannot have, or in case, which
        // some systems ignore.
        let numbered = |n: u32| match n {
            1 => format!("{name}{next}.{ending}"),
            n => format!("{name}{next} ({n}).{ending}"),
        };
        let file =
            (1..).map(numbered).find(|file| !self.taken.contains(&dissensus_exchange::without_case(file)));
        let file = file.unwrap_or_default();
        self.taken.insert(dissensus_exchange::without_case(&file));
        let path = self.to.folder.join(file);
        match std::fs::symlink_metadata(&path) {
            Ok(_) => Err(StudyError::Exists(path).into()),
            Err(_) => Ok(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_file_names_are_safe_and_unique() {
        let folder = tempfile::tempdir().unwrap();
        let mut names = FileNames::new(folder.path().into()).unwrap();
        let mut of = |person, packets| {
            let path: PathBuf = names.of(person, packets).unwrap();
            path.file_name().unwrap().to_string_lossy().into_owned()
        };
        assert_eq!(of("ada", 0), "ada.dissensus");
        assert_eq!(of("Ada", 0), "Ada (2).dissensus");
        assert_eq!(of("ada", 1), "ada-2.dissensus");
        assert_eq!(of("../x", 0), "_x.dissensus");
        assert_eq!(of("a:b", 0), "a_b.dissensus");
        assert_eq!(of("a/b", 0), "a_b (2).dissensus");
        assert_eq!(of("...", 0), "packet.dissensus");
        assert_eq!(of("CON", 0), "_CON.dissensus");
        assert_eq!(of("nul.x", 0), "_nul.x.dissensus");
        assert_eq!(of("STRASSE", 0), "STRASSE.dissensus");
        assert_eq!(of("straße", 0), "straße (2).dissensus");
        assert_eq!(of("Åse Ødegård", 0), "Åse Ødegård.dissensus");
        std::fs::write(folder.path().join("bob.dissensus"), "").unwrap();
        assert!(FileNames::new(folder.path().into()).unwrap().of("bob", 0).is_err());
    }
}
