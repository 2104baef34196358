//! A study of several people: its plan, what is handed out, what came back.

use super::{PracticeResult, PracticeState, Problem};
use dissensus_domain::{AnnotatorId, Answer, Outcome, QuestionId, Remark, Standing, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// What is wanted of a study.
    pub struct StudyWish {
        /// What is asked of each text; all questions where none is named.
        pub questions: Vec<QuestionId>,
        /// Whom to ask: names of people who are in the project or to come.
        pub people: Vec<String>,
        /// Confirms that people with look-alike names are different people; otherwise the assignment is
        /// refused.
        pub new_people: bool,
        /// People who are asked about each text.
        pub per_text: u32,
        /// Texts that a person is asked about at most, those asked again not counted.
        pub per_person: Option<u32>,
        /// Texts that everybody is asked about.
        pub anchors: u32,
        /// Share of each person's texts that is asked again, from 0 to 1.
        pub repeat: f64,
        /// Others that come at least between the two times.
        pub again_after: u32,
        /// The attribute by which the people of a text should differ, where it is known.
        pub balance: Option<String>,
        /// What draws texts and orders.
        pub seed: u32,
    }

    /// The outcome of a plan, before or after it is handed out.
    pub struct StudyDraft {
        /// What each person would be given.
        pub people: Vec<StudyShare>,
        /// Answers that would be added: texts of all people, those asked again included, times questions.
        pub answers: u32,
        /// Texts of the project, of which so many are anchors.
        pub texts: u32,
        /// Texts that everybody is asked about, earlier ones included.
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

    /// What one person is given.
    pub struct StudyShare {
        /// External id.
        pub annotator: String,
        /// False where the person is to be added.
        pub known: bool,
        /// External id of an existing person with a look-alike name, for a person who is to be added.
        pub looks_like: Option<String>,
        /// Whether the name looks like that of a person who has withdrawn, for a person who is to be added.
        pub looks_withdrawn: bool,
        /// Texts asked for the first time.
        pub texts: u32,
        /// Of these, texts that everybody is asked about.
        pub anchors: u32,
        /// Texts asked again.
        pub repeats: u32,
        /// Texts that the person was given or had answered before.
        pub before: u32,
        /// Where the packet was written; none before it is handed out, or without anything new.
        pub file: Option<String>,
    }

    /// How far a study is.
    pub struct StudyReport {
        /// Each person who was given something, in the order of the packets.
        pub people: Vec<StudyPerson>,
        /// Texts that were handed out.
        pub texts: u32,
        /// Of these, texts on which everybody who was asked has answered.
        pub texts_done: u32,
        /// Texts that everybody is asked about.
        pub anchors: u32,
        /// Answers wanted in all: texts of all people, those asked again included.
        pub wanted: u32,
        /// Of these, given.
        pub given: u32,
        /// How often two people who both answered an anchor gave the same answer to it; none without such
        /// pairs.
        pub anchor_agreement: Option<StudyFigure>,
        /// How often an answer was the same when it was asked again, over all people.
        pub self_agreement: Option<StudyFigure>,
        /// Attention checks: questions about texts whose right answer is known.
        pub checks: u32,
        /// Current labels of people to whom something of others had been shown about the text before.
        pub labels_after_shown: u32,
        /// Unfinished packets that were handed out before something in them was changed.
        pub earlier: Vec<EarlierPacket>,
        /// To how many people most texts that are not anchors were handed out; 0 without such texts.
        pub per_text: u32,
        /// Texts that were handed out to fewer people, for example because a person withdrew.
        pub short_texts: u32,
    }

    /// A packet that is out with what holds no longer.
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
        /// Texts, those asked again included.
        pub wanted: u32,
        /// Of these, answered.
        pub given: u32,
        /// Of those asked again, answered twice.
        pub repeated: u32,
        /// Texts that this person leaves out because of their own topics. Which ones, and why, is private.
        pub left_out: u32,
        /// When this person handed in last; none before the first time.
        pub handed_in: Option<f64>,
        /// Median seconds that a text took; none where it is not known.
        pub seconds: Option<f64>,
        /// How often the others who answered the same anchors gave the same answer.
        pub anchor_agreement: Option<StudyFigure>,
        /// How often the answer was the same when it was asked again.
        pub self_agreement: Option<StudyFigure>,
        /// How often attention checks were answered right.
        pub attention: Option<StudyFigure>,
        /// The person's result against the pass mark of attention checks; none without a mark.
        pub attention_standing: Option<Standing>,
        /// What came of the practice; none where there is none.
        pub practice: Option<PracticeResult>,
    }

    /// A right answer to be set.
    pub struct NewAttentionCheck {
        pub question: QuestionId,
        pub text: TextId,
        /// The right answer; none where the text is no check any more.
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

    /// A share with the interval that 95 % of such intervals hold it in.
    pub struct StudyFigure {
        /// The share, 0 to 1.
        pub share: f64,
        /// Lower end.
        pub low: f64,
        /// Upper end.
        pub high: f64,
        /// Of how many texts, or of agreement with oneself of how many answers that were asked again.
        pub of: u32,
    }

    /// What came of taking in files.
    pub struct MergeReport {
        /// Each file, in the order given.
        pub files: Vec<MergedFile>,
    }

    /// What came of taking in one file.
    pub struct MergedFile {
        /// Where it is.
        pub file: String,
        /// What it is; none if that could not be determined.
        pub kind: Option<MergedKind>,
        /// Whose packet it is.
        pub annotator: Option<String>,
        /// When it was handed in.
        pub handed_in: Option<f64>,
        pub events: u32,
        /// What is new here: answers, marks, answers to texts that were asked again, and for a whole copy
        /// also people, texts, questions, their changes, packets and decisions.
        pub new: u32,
        /// People who had withdrawn there: everything of theirs was erased here too.
        pub withdrawn: u32,
        /// Answers of one person to one question about one text that differ, because they were given in
        /// copies which did not know of each other, and of which one was merged now.
        pub contradicted: u32,
        /// The first 200 of these.
        pub contradictions: Vec<MergeContradiction>,
        /// Texts whose group, split or metadata are others here now, because the copy noted them later.
        pub texts_changed: u32,
        /// Of these, texts that are in another part of the split.
        pub splits_changed: u32,
        /// The first 200 of these.
        pub splits: Vec<MergeSplit>,
        /// What taking it in adds and changes; none of a packet and where it could not be computed.
        pub effect: Option<MergeEffectInfo>,
        /// What has to be confirmed before it is merged; none if it was merged or cannot be.
        pub asks: Option<MergeQuestion>,
        /// Where the project is as it was before, where something in it was changed.
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

    /// One of them.
    pub struct MergeAnswer {
        pub answer: String,
        /// When it was given, in milliseconds since 1970-01-01 UTC.
        pub at_ms: f64,
        /// The same where the user is.
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
        /// What erases or changes something that is here.
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

    /// What taking in a whole copy adds and changes.
    pub struct MergeEffectInfo {
        /// Whose answers come.
        pub answers: Vec<MergeAnswersOf>,
        /// People who are not here yet.
        pub new_people: Vec<String>,
        /// Texts that are not here yet.
        pub texts: u32,
        /// Questions that are not here yet.
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
        /// The first of them, where they have names.
        pub names: Vec<String>,
    }

    /// What can be erased or changed by another copy.
    #[derive(Copy)]
    pub enum MergeChangeKind {
        /// People who withdrew there: everything of theirs is erased here.
        Erased,
        /// People who withdrew there and are not here.
        Withdrawn,
        /// Names under which something was decided or written, and packets, that would count as those of a
        /// person who withdrew.
        WithdrawnTraces,
        /// Answers that count no more, because a later one or none does.
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
        /// What the study sets: practice, forms, limits, what is shown.
        StudySettings,
        /// Saved panels.
        Panels,
    }

    /// What can be merged.
    #[derive(Copy)]
    pub enum MergedKind {
        Packet,
        /// What was handed in of a packet.
        HandIn,
        /// A whole copy of the project.
        Copy,
    }

    /// A problem or note about a file that was merged or refused.
    pub struct MergeProblem {
        /// True where nothing of the file was taken for it.
        pub refused: bool,
        /// What it is and what to do.
        pub problem: Problem,
    }

    /// All answers and notes on a text, and what was decided.
    pub struct TextTalk {
        pub question: QuestionId,
        pub text: TextId,
        /// Everybody who answered, was asked again, flagged it or wrote a note.
        pub answers: Vec<GivenAnswerInfo>,
        /// What was decided, the decision that holds first.
        pub decisions: Vec<DecisionInfo>,
    }

    /// One person's answer and notes on a text.
    pub struct GivenAnswerInfo {
        pub annotator: AnnotatorId,
        /// Their name on screen.
        pub name: String,
        /// Their current answer.
        pub answer: Option<Answer>,
        /// Answers that they gave before and changed or took back, oldest first.
        pub before: Vec<Answer>,
        /// What they answered when they were asked again.
        pub again: Option<Answer>,
        /// Their note on the answer.
        #[serde(flatten)]
        pub remark: Remark,
        /// Their note when they were asked again.
        pub said_again: Remark,
        /// The number of the version of the guideline that they had on screen.
        pub guideline: Option<u32>,
        /// Whether they flagged it.
        pub flagged: bool,
    }

    /// What was decided about a text.
    pub struct DecisionInfo {
        pub question: QuestionId,
        pub question_name: String,
        pub text: TextId,
        /// Its name in files; none where the text is known already.
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
        /// False where a later decision holds in its place, or none does any more.
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

    /// The packet that is open.
    pub struct OpenPacket {
        /// External id of the person whom it is for.
        pub annotator: String,
        /// Texts, those asked again included.
        pub wanted: u32,
        /// Of these, answered.
        pub given: u32,
        /// When it was handed in last.
        pub handed_in: Option<f64>,
        /// Answers and changes since then.
        pub since: u32,
        /// How far the practice is; none where nothing is practised on.
        pub practice: Option<PracticeState>,
    }

    /// A text of a packet, in its order.
    pub struct PacketText {
        /// Its name in files.
        pub text_id: String,
        /// What is judged.
        pub text: String,
        /// 1, or 2 where it is asked again.
        pub occasion: u16,
        /// Whether the questions that are always asked are answered.
        pub done: bool,
    }

    /// What was handed in.
    pub struct HandedIn {
        /// Where the file is.
        pub file: String,
        /// Its size in bytes.
        pub bytes: f64,
        /// Texts that were answered, those asked again included.
        pub given: u32,
        /// Texts in all, those asked again included.
        pub wanted: u32,
    }
}

impl MergeConsent {
    /// Agrees to everything.
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
