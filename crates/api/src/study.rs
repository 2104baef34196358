//! A study with several annotators: its plan, task packets, and submissions.

use super::{PracticeResult, PracticeState, Problem};
use dissensus_domain::{AnnotatorId, Answer, Note, Outcome, PassStatus, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// What a task packet is written as.
    #[derive(Copy, Eq, Default)]
    pub enum PacketFormat {
        /// A project file for the desktop application.
        #[default]
        File,
        /// A web page that is opened in a browser, without a network.
        Page,
        /// A web page that is encrypted, and opened with a passphrase.
        LockedPage,
        /// A project file that is encrypted with a passphrase.
        LockedFile,
    }

    /// The parameters of a study plan.
    pub struct StudyRequest {
        /// The questions about each text; all questions if none is named.
        pub questions: Vec<QuestionId>,
        /// The annotators: names of people who are in the project or are to be added.
        pub people: Vec<String>,
        /// Confirms that people with look-alike names are different people; otherwise the assignment is
        /// refused.
        pub new_people: bool,
        /// Number of people per text.
        pub per_text: u32,
        /// Maximum number of texts per person, without those asked again.
        pub per_person: Option<u32>,
        /// Number of texts that everyone is asked about.
        pub anchors: u32,
        /// Share of each person's texts that is asked again, from 0 to 1.
        pub repeat: f64,
        /// Minimum number of other texts between the two times.
        pub again_after: u32,
        /// The attribute by which the annotators of a text should differ, if it is known.
        pub balance: Option<String>,
        /// Seed for drawing texts and orders.
        pub seed: u32,
    }

    /// The outcome of a plan, before or after it is handed out.
    pub struct StudyDraft {
        /// The assignment of each person.
        pub people: Vec<StudyShare>,
        /// Answers that would be added: texts of all people, those asked again included, times questions.
        pub answers: u32,
        /// Number of texts of the project that people can be asked about (without practice texts).
        pub texts: u32,
        /// Texts that everyone is asked about, including earlier ones.
        pub anchors: u32,
        /// Working time of all people in seconds, by how long answers took so far; none if fewer than 20
        /// answers to one of the questions have a time.
        pub seconds: Option<f64>,
        /// Worst-case precision of the share of pairs of people who differ, over the texts that two people
        /// have: half the width of a 95 % interval, in percentage points; none if there is no such text.
        pub margin: Option<f64>,
        /// The same for each person's agreement with their own first answers; none if no text is asked
        /// again.
        pub self_margin: Option<f64>,
    }

    /// The assignment of one person.
    pub struct StudyShare {
        /// External id.
        pub annotator: String,
        /// False if the person is to be added.
        pub known: bool,
        /// External id of an existing person with a look-alike name, for a person who is to be added.
        pub looks_like: Option<String>,
        /// Whether the name looks like that of a person who has withdrawn, for a person who is to be added.
        pub looks_withdrawn: bool,
        /// Texts asked for the first time.
        pub texts: u32,
        /// Of these, texts that everyone is asked about.
        pub anchors: u32,
        /// Texts asked again.
        pub repeats: u32,
        /// Texts that the person was assigned or had answered before.
        pub before: u32,
        /// Path of the packet; none before it is handed out, or without anything new.
        pub file: Option<String>,
    }

    /// The progress of a study.
    pub struct StudyReport {
        /// Each person with an assignment, in the order of the packets.
        pub people: Vec<StudyPerson>,
        /// Texts that were handed out.
        pub texts: u32,
        /// Of these, texts that were answered by all of their annotators.
        pub texts_done: u32,
        /// Texts that everyone is asked about.
        pub anchors: u32,
        /// Number of all requested answers: texts of all people, including those asked again.
        pub wanted: u32,
        /// Number of answers given.
        pub given: u32,
        /// How often two people who both answered an anchor gave the same answer to it; none without such
        /// pairs.
        pub anchor_agreement: Option<StudyFigure>,
        /// How often an answer was the same when it was asked again, over all people.
        pub self_agreement: Option<StudyFigure>,
        /// Attention checks: questions about texts whose right answer is known.
        pub checks: u32,
        /// Current labels of people to whom other people's data on the text had been revealed before.
        pub labels_after_shown: u32,
        /// Unfinished packets that were handed out before something in them was changed.
        pub earlier: Vec<EarlierPacket>,
        /// To how many people most texts that are not anchors were handed out; 0 without such texts.
        pub per_text: u32,
        /// Texts that were handed out to fewer people, for example because a person withdrew.
        pub short_texts: u32,
    }

    /// A handed-out packet whose content is outdated.
    pub struct EarlierPacket {
        /// External id of the person.
        pub annotator: String,
        /// Their name on screen.
        pub name: String,
        /// What was changed since it was handed out, in words: `the guideline`, `the question rude`,
        /// `attention checks`.
        pub changed: Vec<String>,
    }

    pub struct StudyPerson {
        /// External id.
        pub annotator: String,
        /// Name on screen.
        pub name: String,
        /// Packets that were handed out to this person.
        pub packets: u32,
        /// Number of texts, including those asked again.
        pub wanted: u32,
        /// Number of texts answered.
        pub given: u32,
        /// Of the texts asked again, those answered twice.
        pub repeated: u32,
        /// Texts that this person leaves out because of their own topics. Which ones, and why, is private.
        pub left_out: u32,
        /// Time of the last submission; none before the first.
        pub handed_in: Option<f64>,
        /// Median seconds per text; none if not known.
        pub seconds: Option<f64>,
        /// How often the others who answered the same anchors gave the same answer.
        pub anchor_agreement: Option<StudyFigure>,
        /// How often the answer was the same when it was asked again.
        pub self_agreement: Option<StudyFigure>,
        /// How often attention checks were answered correctly.
        pub attention: Option<StudyFigure>,
        /// The person's result against the pass mark of attention checks; none without a mark.
        pub attention_status: Option<PassStatus>,
        /// The result of practice; none without practice.
        pub practice: Option<PracticeResult>,
    }

    /// A right answer to set.
    pub struct NewAttentionCheck {
        pub question: QuestionId,
        pub text: TextId,
        /// The right answer; none to remove the check.
        pub answer: Option<Answer>,
        /// Why it is the right one.
        pub reason: String,
    }

    /// A text whose right answer is known.
    pub struct AttentionCheckInfo {
        pub question: QuestionId,
        pub question_name: String,
        pub text: TextId,
        /// Its name in files.
        pub text_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
        /// The right answer.
        pub answer: Answer,
        pub answer_name: String,
        /// Why it is the right one.
        pub reason: String,
        /// How many people have answered.
        pub given: u32,
        /// Of these, right.
        pub right: u32,
    }

    /// A share with its 95 % interval.
    pub struct StudyFigure {
        /// The share, 0 to 1.
        pub share: f64,
        /// Lower end.
        pub low: f64,
        /// Upper end.
        pub high: f64,
        /// Number of texts, or, for self-agreement, of answers that were asked again.
        pub of: u32,
    }

    /// The result of merging files.
    pub struct MergeReport {
        /// Each file, in the order given.
        pub files: Vec<MergedFile>,
    }

    /// What was found in a folder of submissions since it was read before.
    #[derive(Default)]
    pub struct CollectedFiles {
        /// Submissions that are new or changed, merged or refused.
        pub files: Vec<MergedFile>,
        /// Paths of all files that are not complete yet.
        pub waiting: Vec<String>,
    }

    /// The result of merging one file.
    pub struct MergedFile {
        /// Path of the file.
        pub file: String,
        /// What it is; none if that could not be determined.
        pub kind: Option<MergedKind>,
        /// The annotator of the packet.
        pub annotator: Option<String>,
        /// Time of the submission.
        pub handed_in: Option<f64>,
        pub events: u32,
        /// What is new here: answers, marks, answers to texts that were asked again, and for a whole copy
        /// also people, texts, questions, their changes, packets and decisions.
        pub new: u32,
        /// People who had withdrawn there, whose data was therefore erased here too.
        pub withdrawn: u32,
        /// Answers of one person to one question about one text that differ, because they were given in
        /// copies which did not know of each other, and of which one was merged now.
        pub contradicted: u32,
        /// The first 200 of these.
        pub contradictions: Vec<MergeContradiction>,
        /// Texts whose group, split or metadata changed here, because the copy recorded them later.
        pub texts_changed: u32,
        /// Of these, texts that are in another part of the split.
        pub splits_changed: u32,
        /// The first 200 of these.
        pub splits: Vec<MergeSplit>,
        /// What merging it adds and changes; none for a packet and if it could not be computed.
        pub effect: Option<MergeEffectInfo>,
        /// What has to be confirmed before it is merged; none if it was merged or cannot be.
        pub asks: Option<MergeQuestion>,
        /// Backup of the project from before the merge, if something in it was changed.
        pub backup: Option<String>,
        /// Why the file was refused, or notes on the merge.
        pub problems: Vec<MergeProblem>,
        /// True if nothing was merged from it.
        pub refused: bool,
    }

    /// Different answers of one person to one question about one text.
    pub struct MergeContradiction {
        /// The person's external id.
        pub annotator: String,
        /// The text's external id.
        pub text: String,
        /// The question's name.
        pub question: String,
        /// The answers, the earlier ones first.
        pub answers: Vec<MergeAnswer>,
    }

    /// One of the answers.
    pub struct MergeAnswer {
        pub answer: String,
        /// When it was given, in milliseconds since 1970-01-01 UTC.
        pub at_ms: f64,
        /// The same in the user's time zone.
        pub time: String,
        /// Whether it is the one that counts.
        pub current: bool,
    }

    /// A text that is in another part of the split.
    pub struct MergeSplit {
        /// The text's external id.
        pub text: String,
        /// The part before.
        pub was: Option<String>,
        /// The part now.
        pub now: Option<String>,
    }

    /// What the user confirms before files are merged.
    #[derive(Default)]
    pub struct MergeConsent {
        /// Whole copies that were never merged here.
        pub whole_copies: bool,
        /// Merges that erase or change something here.
        pub changes: bool,
        /// If not empty, only the merges identified by [`MergeQuestion::seen`] are confirmed.
        pub seen: Vec<String>,
    }

    /// What has to be confirmed before a file is merged.
    pub struct MergeQuestion {
        /// It is a whole copy that was never merged here.
        pub whole_copy: bool,
        /// It erases or changes something that is here.
        pub changes: bool,
        /// Identifies the file and the effect of merging it, as shown to the user.
        pub seen: String,
    }

    /// What merging a whole copy adds and changes.
    pub struct MergeEffectInfo {
        /// The people whose answers are added.
        pub answers: Vec<MergeAnswersOf>,
        /// People who are new here.
        pub new_people: Vec<String>,
        /// Number of texts that are new here.
        pub texts: u32,
        /// Questions that are new here.
        pub new_questions: Vec<String>,
        /// What is erased or changed here, in words, each with who or what it is about as long as the list
        /// is short.
        pub changes: Vec<MergeChange>,
    }

    /// Answers of one person.
    pub struct MergeAnswersOf {
        pub annotator: String,
        pub answers: u32,
    }

    /// Something that is erased or changed.
    pub struct MergeChange {
        pub kind: MergeChangeKind,
        pub count: u32,
        /// The first names, if the changed things have names.
        pub names: Vec<String>,
    }

    /// What can be erased or changed by another copy.
    #[derive(Copy)]
    pub enum MergeChangeKind {
        /// People who withdrew there: their data is erased here.
        Erased,
        /// People who withdrew there and do not exist here.
        Withdrawn,
        /// Names under which something was decided or written, and packets, that would count as those of a
        /// person who withdrew.
        WithdrawnTraces,
        /// Answers that do not count any more, because of a later one or a retraction.
        Answers,
        /// Answers of later annotation rounds that were taken back, counted again or commented on.
        RepeatedAnswers,
        /// Names and attributes of people.
        People,
        /// Texts, help, levels and conditions of questions.
        Questions,
        /// Group, split or metadata of texts, which the copy recorded later; named are those in another part
        /// of the split.
        Texts,
        /// Versions of the guideline.
        Guideline,
        /// Decisions about texts.
        Decisions,
        /// Right answers of attention checks.
        AttentionChecks,
        /// Settings of the study: practice, forms, limits, what is revealed.
        StudySettings,
        /// Saved panels.
        Panels,
    }

    /// What can be merged.
    #[derive(Copy)]
    pub enum MergedKind {
        Packet,
        /// The submission of a packet.
        HandIn,
        /// A whole copy of the project.
        Copy,
    }

    /// A problem or note about a file that was merged or refused.
    pub struct MergeProblem {
        /// True if nothing of the file was merged because of it.
        pub refused: bool,
        /// What it is and what to do.
        pub problem: Problem,
    }

    /// All answers and notes on a text, and what was decided.
    pub struct TextTalk {
        pub question: QuestionId,
        pub text: TextId,
        /// Everyone who answered, was asked again, flagged it or wrote a note.
        pub answers: Vec<GivenAnswerInfo>,
        /// The decisions, the current one first.
        pub decisions: Vec<DecisionInfo>,
    }

    /// One person's answer and notes on a text.
    pub struct GivenAnswerInfo {
        pub annotator: AnnotatorId,
        /// Their name on screen.
        pub name: String,
        /// Their current answer.
        pub answer: Option<Answer>,
        /// Answers that they gave before and changed or retracted, oldest first.
        pub before: Vec<Answer>,
        /// Their answer when they were asked again.
        pub again: Option<Answer>,
        /// Their note on the answer.
        #[serde(flatten)]
        pub note: Note,
        /// Their note when they were asked again.
        pub note_again: Note,
        /// The number of the version of the guideline that they had on screen.
        pub guideline: Option<u32>,
        /// The number of the consent text that they had agreed to when they answered.
        pub consent_version: Option<u32>,
        /// Whether they flagged it.
        pub flagged: bool,
        /// Whether a packet showed them the text with masks.
        pub masked: bool,
    }

    /// A decision about a text.
    pub struct DecisionInfo {
        pub question: QuestionId,
        pub question_name: String,
        pub text: TextId,
        /// Its name in files; none if the text is known from the context.
        pub text_id: Option<String>,
        /// The outcome of the decision.
        pub outcome: Outcome,
        /// The decided answer.
        pub answer: Option<Answer>,
        pub answer_name: Option<String>,
        pub comment: String,
        /// Who decided.
        pub by: String,
        pub at: f64,
        /// False if a later decision replaced it, or it was withdrawn.
        pub holds: bool,
    }

    /// A decision to add.
    pub struct NewDecision {
        pub question: QuestionId,
        pub text: TextId,
        /// The outcome of the decision.
        pub outcome: Outcome,
        /// The decided answer, if one was decided on.
        pub answer: Option<Answer>,
        pub comment: String,
        /// Who decides.
        pub by: String,
    }

    /// The open packet.
    pub struct OpenPacket {
        /// External id of the annotator.
        pub annotator: String,
        /// Number of texts, including those asked again.
        pub wanted: u32,
        /// Number of texts answered.
        pub given: u32,
        /// Time of the last submission.
        pub handed_in: Option<f64>,
        /// Number of answers and changes since then.
        pub since: u32,
        /// State of practice; none without practice texts.
        pub practice: Option<PracticeState>,
    }

    /// A text of a packet, in its order.
    pub struct PacketText {
        /// Its name in files.
        pub text_id: String,
        /// The body of the text.
        pub text: String,
        /// 1, or 2 if it is asked again.
        pub occasion: u16,
        /// Whether the questions that are always asked are answered.
        pub done: bool,
    }

    /// How people are invited to answer in their browsers, over a network.
    pub struct InviteRequest {
        /// Whether other computers of the network reach it; otherwise only this one.
        pub network: bool,
        /// The port on this computer; 0 for any that is free.
        pub port: u16,
        /// How people reach it, for their links; none for the address of this computer.
        pub address: Option<String>,
        /// Whether a reverse proxy passes requests on, and names their sender.
        pub behind_proxy: bool,
        /// What those get who join by one link for everybody; none without such a link.
        pub join: Option<InviteJoin>,
        /// A code, or the address of a page, for those who have answered everything.
        pub completion: Option<String>,
    }

    /// What everybody gets who joins by the link for everybody.
    pub struct InviteJoin {
        /// Number of people per text.
        pub per_text: u32,
        /// Number of texts per person.
        pub per_person: u32,
        /// Of these, texts that everybody gets.
        pub anchors: u32,
        /// After how many minutes others get the texts that are not answered.
        pub give_back_minutes: u32,
    }

    /// Over a network, people can answer, or could until it ended.
    pub struct ServingInfo {
        /// The address on this computer or in its network.
        pub address: String,
        /// The links of all packets.
        pub links: Vec<ServedLink>,
        /// The link by which anybody joins.
        pub join_link: Option<String>,
        /// Number of answers, changes and marks that were new since it began.
        pub received: u32,
        /// What could not be merged, and notes on what was merged: the last 20.
        pub problems: Vec<Problem>,
        /// Why it ended by itself; none while it runs.
        pub ended: Option<Problem>,
    }

    /// The link of a packet.
    pub struct ServedLink {
        /// External id of the person.
        pub annotator: String,
        /// Number of texts to label, including those that come again.
        pub texts: u32,
        pub link: String,
        /// Number of answers, changes and marks of this person that were new since it began.
        pub answered: u32,
    }

    /// A submission.
    pub struct SubmissionInfo {
        /// Path of the file.
        pub file: String,
        /// Its size in bytes.
        pub bytes: f64,
        /// Number of answered texts, including those asked again.
        pub given: u32,
        /// Number of all texts, including those asked again.
        pub wanted: u32,
    }
}

impl MergeConsent {
    /// Confirms everything.
    pub fn all() -> Self {
        Self { whole_copies: true, changes: true, seen: Vec::new() }
    }
}

impl MergedFile {
    /// Describes where the backup of the project is, how to restore it, and who is still in it; none if
    /// nothing was changed.
    pub fn backup_words(&self) -> Option<String> {
        let place = self.backup.as_ref()?;
        let back = format!(
            "the project as it was before is {place}: to go back, close the project and put a copy of that file in its place"
        );
        Some(match self.withdrawn {
            0 => back,
            _ => format!(
                "{back}. It still holds everything of those who withdrew: they were promised that nothing of theirs stays, so delete it as \
                 soon as you know that the withdrawal is genuine"
            ),
        })
    }
}
