//! Errors of studies with several people.

use dissensus_domain::MaskError;
use dissensus_project::error::ProjectError;
use std::path::PathBuf;

dissensus_domain::errors! {
    /// Why a plan is impossible, or a file cannot be merged.
    #[derive(Debug)]
    pub enum StudyError {
        Plan(#[from] ImpossiblePlan) => "plan-impossible", "this plan is impossible: {0}";
        Range { what: &'static str, value: String, allowed: &'static str } => "plan-range",
            "{what} cannot be {value}: it takes {allowed}";
        Nobody => "plan-nobody", "name the people to ask";
        Twice(String) => "plan-twice", "\"{0}\" is named twice";
        NoTexts => "plan-no-texts", "this project has no texts: import them first";
        Condition { question: String, other: String } => "plan-condition",
            "\"{question}\" is asked only after \"{other}\": hand both out";
        Balance { attribute: String, known: String } => "plan-balance",
            "nobody has an attribute \"{attribute}\" to balance by{}" (if known.is_empty() { String::new() } else { format!("; there is {known}") });
        NothingNew => "plan-nothing-new", "everybody already has what this plan assigns: nothing is left to hand out";
        NoPacket(String) => "no-packet", "nothing was handed out to \"{0}\" yet";
        Target(String) => "page-target",
            "pages cannot send answers to {0}: give an address that begins with https:// (or http://localhost)";
        TargetField(&'static str) => "page-target",
            "pages send \"{0}\" themselves: give another name";
        NoPages => "no-pages",
            "this program was built without web pages: run `npm run build` in `ui`, then build the program again";
        Unwritten(String) => "packets-unwritten",
            "the assignment is in the project, but not every packet was written: {0}. Write them with `study assign --write-again` (in the window: Write again)";
        Stranded { packets: String, people: String } => "packets-unwritten",
            "an earlier assignment was interrupted before it had written {packets}: they are in the project. Write them with `dissensus study assign PROJECT --write-again --annotators \"{people}\" --out FOLDER` (in the window: Write again) before you assign more";
        NotPacket => "not-packet",
            "this is a whole project, not a packet: packets are handed in, and a project merges them with `study merge`";
        Exists(PathBuf) => "packet-exists", "{0} exists already: choose another folder, or move it away";
        InTheWay(PathBuf) => "packet-exists",
            "{0} exists already: choose another name or folder, or move it away (--force replaces only an earlier submission)";
        PageTooLarge { person: String, texts: usize, most: usize } => "page-too-large",
            "the page of \"{person}\" would have {texts} texts, and a page can have {most}: name more people with fewer texts each (--per-person), or write packets as files (--as file; in the window: Task packets)";
        JoinPageTooLarge { texts: usize, most: usize } => "page-too-large",
            "the page for everybody would have {texts} texts, and a page can have {most}: let people join at a server, where each gets a page of their own texts (`dissensus study serve --join`), or write packets as files (--as file)";
        IsPage(PathBuf) => "packet-page",
            "{0} is a page: open it in a browser, and merge the file that its Hand in makes";
        NotOurs => "merge-not-ours", "this is neither a submission nor a packet nor a copy of the project; of a web page, merge the file that its Hand in makes";
        Newer => "merge-newer", "a later version of Dissensus wrote this: update Dissensus to merge it";
        CutOff { there: u64, bytes: u64 } => "merge-cut-off",
            "this was cut off: it has {there} of {bytes} bytes; ask for it again, as a file or in an archive";
        Tampered => "merge-tampered",
            "this was changed after it was handed in: its code does not match; ask for it again";
        NoKey(String) => "merge-no-key",
            "this claims to be the packet of \"{0}\" and does not have the key that this packet was handed out with: somebody may have made it from a submission. Ask \"{0}\" for their submission (`dissensus study hand-in`), or for the packet itself";
        OtherProject => "merge-other-project", "this belongs to another project";
        Full => "join-full", "this study has all the answers that it needs: nobody else is asked at the moment";
        NothingToJoin => "join-nothing", "people can join a project with texts and a question: add them first";
        OnlyAnchors(u32) => "join-anchors",
            "{0} texts for everybody (--anchors): people need other texts too, so take fewer than texts per person (--per-person) and than all texts of the project";
        TakenId(String) => "join-taken", "\"{0}\" got a packet otherwise: its link is not given to others";
        OtherPacket => "received-other-packet", "this submission is of another packet than the link: open your own link again";
        TooManyPages => "received-too-many",
            "this link is open in too many pages at once: wait a minute, then try again in one of them";
        SetAside => "received-set-aside",
            "what was sent before could not be merged into the study: save your work as a file, and send it to the person who gave you the link";
        UnknownPacket => "merge-unknown-packet",
            "this packet was not made by this copy of the project: merge the copy that made it first, or ask who handed it out";
        Withdrawn => "merge-withdrawn",
            "this is from somebody who has withdrawn from the project: it is not merged; delete it, and the packet that it came from";
        Erases => "merge-erases",
            "this copy records that somebody has withdrawn: close the project, open it again, and merge the copy then";
        NoCopy => "merge-no-copy",
            "nothing in this file shows that it was copied from this project, and packets were handed out: it may be a packet that was changed. Ask for the packet or its submission; labels of another origin can be exported there and imported here";
        NewCopy => "merge-new-copy",
            "this is a whole copy of the project that is not known here (it was never merged, or only as a file of an earlier version in which nothing was done since): everything that anybody did in it would be merged. If you know who worked in it, merge it with --whole-copy (in the window: answer the question)";
        Changes => "merge-changes",
            "this changes data of this project: preview it with --dry-run, and agree with --yes (in the window: answer the question). A backup of the project is made first";
        ChangedSince => "merge-changed-since",
            "this file or the project was changed after the preview of the merge: look at it again";
        NotAsHandedOut(String) => "merge-not-as-handed-out", "{0}";
        Itself => "merge-itself", "this is the project itself";
        CheckFile { file: PathBuf, row: Option<(u64, u64)>, why: String } => "check-file",
            "{file}{}: {why}" (row.map_or_else(String::new, |(row, line)| format!(", row {row} (line {line})")));
        CannotPractise { text: String, why: String } => "practice-cannot", "\"{text}\" cannot be a practice text: {why}";
        CheckInPractice(String) => "check-in-practice",
            "\"{0}\" is a practice text: a check is hidden among the real texts, so choose another text";
        Stopped(String) => "plan-stopped",
            "{0} did not reach a pass mark, and no more texts are shown then: leave them out of the plan, or change what happens with `dissensus label practice --then` and `dissensus label checks --then`";
        Masks { source: MaskError } => [source], "{source}";
        MaskColumn { column: String, known: String } => "mask-column",
            "the texts have no column \"{column}\"{}" (if known.is_empty() { String::new() } else { format!("; there is {known}") });
        Remark(String) => "merge-remark", "{0}";
    }
}

dissensus_domain::errors! {
    /// Why a plan is impossible.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ImpossiblePlan {
        TooFewPeople { per_text: usize, people: usize } => "plan-impossible",
            "{per_text} people are needed for each text, and this plan has {people}: name more people, or ask for fewer labels a text";
        TooFewPlaces { wanted: usize, possible: usize, per_person: usize } => "plan-impossible",
            "{wanted} answers are needed, and these people can give {possible} with at most {per_person} texts each: name more people, more texts a person, or fewer labels a text";
        TooManyAnchors { anchors: usize, texts: usize } => "plan-impossible",
            "{anchors} anchor texts are requested, and the project has {texts}: ask for fewer";
        TooShort { name: String, texts: usize, wanted: usize, gap: usize, possible: usize } => "plan-impossible",
            "{name} is asked about {texts} texts, too few to ask {wanted} of them again after {gap} others (possible: {possible}): ask fewer again, or again after fewer others";
    }
}

impl From<StudyError> for ProjectError {
    fn from(error: StudyError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}
