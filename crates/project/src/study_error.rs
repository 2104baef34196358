//! Errors of studies with several people.

use std::path::PathBuf;

/// Why a plan is impossible, or a file cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The plan requires more than there is.
    #[error("this plan cannot be: {0}")]
    Plan(#[from] ImpossiblePlan),
    /// A number of the plan is outside its range.
    #[error("{what} cannot be {value}: it takes {allowed}")]
    Range {
        what: &'static str,
        /// The given value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// No annotators.
    #[error("name the people to ask")]
    Nobody,
    /// A person was named twice.
    #[error("\"{0}\" is named twice")]
    Twice(String),
    /// There are no texts to ask about.
    #[error("this project has no texts: import them first")]
    NoTexts,
    /// A question whose condition depends on an excluded one.
    #[error("\"{question}\" is asked only after \"{other}\": hand both out")]
    Condition {
        question: String,
        /// The question that it depends on.
        other: String,
    },
    /// An attribute that no annotator has.
    #[error("nobody has an attribute \"{attribute}\" to balance by{}", if .known.is_empty() { String::new() } else { format!("; there is {known}") })]
    Balance {
        /// The requested attribute.
        attribute: String,
        /// Existing attributes.
        known: String,
    },
    /// Nothing is left to assign.
    #[error("everybody has what this plan wants already: nothing is left to hand out")]
    NothingNew,
    /// A person has no packet.
    #[error("nothing was handed out to \"{0}\" yet")]
    NoPacket(String),
    /// The project is itself a task packet.
    #[error("this is a packet for one person: plan and merge in the project that handed it out")]
    IsPacket,
    /// An operation that only a whole project supports.
    #[error(
        "this is the packet of one person, who alone answers in it: what it does not have cannot be added here"
    )]
    InPacket,
    /// An answer in another person's packet.
    #[error("this packet is for \"{0}\": answer under that name, or ask for a packet of your own")]
    OtherPerson(String),
    /// An answer that the packet does not ask for.
    #[error(
        "this packet does not ask about \"{text}\" on occasion {occasion}: `dissensus study status PACKET --texts` lists what it asks"
    )]
    NotAsked {
        text: String,
        /// The annotation round.
        occasion: u16,
    },
    /// The packets are in the project, but not all of their files were written.
    #[error(
        "what was drawn is in the project, but not every packet was written: {0}. Write them with `study assign --write-again` (in the window: Write again)"
    )]
    Unwritten(String),
    /// Packets of an interrupted earlier assignment have no file.
    #[error(
        "an earlier run was stopped before it had written {packets} that it had drawn: they are in the project. Write them with `assign \
         --write-again --annotators \"{people}\"` (in the window: Write again), and draw more then"
    )]
    Stranded {
        packets: String,
        /// Their owners.
        people: String,
    },
    /// The project is not a task packet.
    #[error(
        "this is a whole project, not a packet: packets are handed in, and a project takes them in with `study merge`"
    )]
    NotPacket,
    /// An existing file is in the way.
    #[error("{} exists already: choose another name or folder, or move it away (with --force only what was handed in before is replaced)", .0.display())]
    Exists(PathBuf),
    /// Neither a submission nor a project.
    #[error("this is neither what was handed in nor a packet nor a copy of the project")]
    NotOurs,
    /// A submission of a later version.
    #[error("a later version of Dissensus wrote this: update Dissensus to take it in")]
    Newer,
    /// A truncated submission.
    #[error(
        "this was cut off: it has {there} of {bytes} bytes; ask for it again, as a file or in an archive"
    )]
    CutOff {
        /// The actual size.
        there: u64,
        /// The size stated in the file.
        bytes: u64,
    },
    /// A submission whose bytes differ from those that were signed.
    #[error("this was changed after it was handed in: its code does not fit; ask for it again")]
    Tampered,
    /// A packet without the key that it was assigned with.
    #[error(
        "this says that it is the packet of \"{0}\" and does not have the key that this packet was handed out with: somebody may have made \
         it from what was handed in. Ask \"{0}\" for what they hand in (`dissensus study hand-in`), or for the packet itself"
    )]
    NoKey(String),
    /// It belongs to another project.
    #[error("this belongs to another project")]
    OtherProject,
    /// A packet that is unknown here.
    #[error(
        "this packet was not made by this copy of the project: take in the copy that made it first, or ask who handed it out"
    )]
    UnknownPacket,
    /// From a person who withdrew.
    #[error(
        "this is of somebody who has withdrawn from the project: it is not taken in; delete it, and the packet that it came from"
    )]
    Withdrawn,
    /// People of this copy withdrew, for which the project must be reopened.
    #[error(
        "this copy knows of somebody who has withdrawn: close the project, open it again and take the copy in then"
    )]
    Erases,
    /// A file without evidence that it is a copy of the project.
    #[error(
        "nothing in this file shows that it was copied from this project, and packets were handed out: it may be a packet that was changed. \
         Ask for the packet or for what was handed in of it; labels of another origin can be exported there and imported here"
    )]
    NoCopy,
    /// A whole copy that was never merged before.
    #[error(
        "this is a whole copy of the project that is not known here (it was never taken in, or only as a file of an earlier version in which \
         nothing was done since): everything that anybody did in it would come in. If you know who \
         worked in it, take it in with --whole-copy (in the window: the question that is asked)"
    )]
    NewCopy,
    /// Merging would change or erase existing data.
    #[error(
        "this changes what is here: look at it with --dry-run, and agree with --yes (in the window: the question that is asked). A backup of \
         the project is made first"
    )]
    Changes,
    /// Merging would differ from what was previewed.
    #[error(
        "this file or the project was changed after it was shown what taking it in does: look at it again"
    )]
    ChangedSince,
    /// The packet's file has another order, other texts or other questions than were assigned.
    #[error("{0}")]
    NotAsHandedOut(String),
    /// The project's own file.
    #[error("this is the project itself")]
    Itself,
    /// An invalid file of right answers.
    #[error("{}{}: {why}", .file.display(), .row.map_or_else(String::new, |(row, line)| format!(", row {row} (line {line})")))]
    CheckFile {
        file: PathBuf,
        /// The row after the header and its line, both from 1, if a single one is at fault.
        row: Option<(u64, u64)>,
        /// What is wrong.
        why: String,
    },
    /// A real text before the practice is done.
    #[error(
        "practise first: {left} of the practice texts {} left. Answer {} with `label record --practice` (in the window: Label)",
        if *left == 1 { "is" } else { "are" },
        if *left == 1 { "it" } else { "them" }
    )]
    PracticeFirst {
        /// Number of texts left in the round.
        left: usize,
    },
    /// The annotator failed the practice and is blocked.
    #[error(
        "the practice was not passed, and the study's author decided that no more texts are asked then: what was answered is kept, and can be handed in"
    )]
    StoppedByPractice,
    /// The annotator failed attention checks and is blocked.
    #[error(
        "too few attention checks were answered right, and the study's author decided that no more texts are asked then: what was answered is kept, and can be handed in"
    )]
    StoppedByChecks,
    /// A practice text where a real one is needed.
    #[error(
        "\"{0}\" is a text to practise on, which has no labels: answer it with `label record --practice`"
    )]
    PracticeText(String),
    /// A text that is not a practice text.
    #[error("\"{0}\" is not practised on with this question: `dissensus label practice` lists what is")]
    NotPractice(String),
    /// Practice is not due.
    #[error("the practice is done: nothing is to be practised now")]
    NoPractice,
    /// A practice text that was answered in this round.
    #[error("\"{0}\" was answered in this round of practice: its first answer counts")]
    Practised(String),
    /// A text that cannot be a practice text.
    #[error("\"{text}\" cannot be practised on: {why}")]
    CannotPractise {
        text: String,
        /// Why, and what to do.
        why: String,
    },
    /// A check on a practice text.
    #[error("\"{0}\" is practised on: a check is hidden among the real texts, so choose another text")]
    CheckInPractice(String),
    /// People who are blocked.
    #[error(
        "{0} fell short of a pass mark, and nothing more is asked then: leave them out of the plan, or change what happens with `dissensus label practice --then` and `dissensus label checks --then`"
    )]
    Stopped(String),
    /// An invalid note.
    #[error("{0}")]
    Remark(String),
}

impl StudyError {
    /// A stable code in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Plan(_) => "plan-impossible",
            Self::Range { .. } => "plan-range",
            Self::Nobody => "plan-nobody",
            Self::Twice(_) => "plan-twice",
            Self::NoTexts => "plan-no-texts",
            Self::Condition { .. } => "plan-condition",
            Self::Balance { .. } => "plan-balance",
            Self::NothingNew => "plan-nothing-new",
            Self::NoPacket(_) => "no-packet",
            Self::IsPacket => "is-packet",
            Self::InPacket => "in-packet",
            Self::OtherPerson(_) => "packet-of-other",
            Self::NotAsked { .. } => "packet-not-asked",
            Self::Unwritten(_) | Self::Stranded { .. } => "packets-unwritten",
            Self::NotPacket => "not-packet",
            Self::Exists(_) => "packet-exists",
            Self::NotOurs => "merge-not-ours",
            Self::Newer => "merge-newer",
            Self::CutOff { .. } => "merge-cut-off",
            Self::Tampered => "merge-tampered",
            Self::NoKey(_) => "merge-no-key",
            Self::OtherProject => "merge-other-project",
            Self::UnknownPacket => "merge-unknown-packet",
            Self::Withdrawn => "merge-withdrawn",
            Self::Erases => "merge-erases",
            Self::NoCopy => "merge-no-copy",
            Self::NewCopy => "merge-new-copy",
            Self::Changes => "merge-changes",
            Self::ChangedSince => "merge-changed-since",
            Self::NotAsHandedOut(_) => "merge-not-as-handed-out",
            Self::Itself => "merge-itself",
            Self::CheckFile { .. } => "check-file",
            Self::PracticeFirst { .. } => "practice-first",
            Self::StoppedByPractice | Self::StoppedByChecks => "practice-stopped",
            Self::PracticeText(_) => "practice-text",
            Self::NotPractice(_) => "practice-not-there",
            Self::NoPractice => "practice-done",
            Self::Practised(_) => "practice-answered",
            Self::CannotPractise { .. } => "practice-cannot",
            Self::CheckInPractice(_) => "check-in-practice",
            Self::Stopped(_) => "plan-stopped",
            Self::Remark(_) => "merge-remark",
        }
    }
}

/// Why a plan is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImpossiblePlan {
    /// More annotators per text than there are.
    #[error(
        "{per_text} people are wanted for each text and {people} are there: name more people, or ask for fewer labels a text"
    )]
    TooFewPeople {
        /// Requested annotators per text.
        per_text: usize,
        /// Number of available people.
        people: usize,
    },
    /// More answers than people can give.
    #[error(
        "{wanted} answers are wanted and these people can give {possible} of at most {per_person} texts each: name more people, more texts a person, or fewer labels a text"
    )]
    TooFewPlaces {
        /// Requested answers.
        wanted: usize,
        /// Possible answers.
        possible: usize,
        /// Maximum number of texts per person.
        per_person: usize,
    },
    /// More anchors than texts.
    #[error("{anchors} anchor texts are wanted and there are {texts} texts: ask for fewer")]
    TooManyAnchors {
        /// Requested anchors.
        anchors: usize,
        /// Number of texts.
        texts: usize,
    },
    /// Too few texts for re-annotation with the requested gap.
    #[error(
        "{name} is asked about {texts} texts, too few to ask {wanted} of them again after {gap} others (possible: {possible}): ask fewer again, or again after fewer others"
    )]
    TooShort {
        /// The person's name.
        name: String,
        /// Number of texts of this person.
        texts: usize,
        /// Number of texts to re-annotate.
        wanted: usize,
        /// Number of other texts in between.
        gap: usize,
        /// Number of texts that can be re-annotated.
        possible: usize,
    },
}
