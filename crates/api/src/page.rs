//! A task packet as the content of a web page.

use crate::{AnnotatorInfo, ConsentText, GuidelineInfo, PictureData, QuestionInfo, StudyCare};
use dissensus_domain::{Answer, AttributeForm, Language, PracticeRule, QuestionId, TextId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

view! {
    /// Everything that one annotator needs to answer a task packet in a browser. Rows are the packet's.
    pub struct PageContent {
        /// The version of this form.
        pub version: u32,
        /// UUID of the project.
        pub project: String,
        /// UUID of the packet.
        pub packet: String,
        /// The key that signs submissions, in hexadecimal digits.
        pub key: String,
        /// Name of the study.
        pub name: String,
        pub annotator: AnnotatorInfo,
        /// The questions, in the order of the screen.
        pub questions: Vec<QuestionInfo>,
        /// For each question, the initial names of all levels that it ever had, by id.
        pub levels: Vec<Vec<String>>,
        /// All texts, in the order of the packet; those of practice come last.
        pub texts: Vec<PageText>,
        /// The texts to label, in their order, including those that come again.
        pub assignments: Vec<PageAssignment>,
        pub practice: PagePractice,
        /// Questions about the person that are not answered.
        pub form: AttributeForm,
        pub care: StudyCare,
        /// The consent text that the person has not agreed to yet.
        pub consent: Option<ConsentText>,
        /// The language of the desk; none leaves it to the browser.
        pub language: Option<Language>,
        pub guideline: Option<GuidelineInfo>,
        /// The pictures of the guideline.
        pub pictures: Vec<PictureData>,
        /// Whether the page came from a server, to which it sends what is done in it.
        pub online: bool,
        /// A code, or the address of a page, that is shown once everything is answered and sent.
        pub completion: Option<String>,
        /// Where *Hand in* sends answers; none downloads a file.
        pub target: Option<PageTarget>,
    }

    /// An address that takes submissions.
    pub struct PageTarget {
        pub url: String,
        /// Members of the request besides `filename` and `data`.
        pub fields: BTreeMap<String, String>,
    }

    /// One page for everybody: who opens it gets one of its parts.
    pub struct JoinPage {
        /// The version of this form.
        pub version: u32,
        /// UUID of the page.
        pub join: String,
        /// The key from which those of packets follow, in hexadecimal digits.
        pub key: String,
        /// Parameters of the address with the id of a person, the first that is there.
        pub ids: Vec<String>,
        /// Parameters that become attributes of the person.
        pub attributes: Vec<String>,
        /// The texts of each part, in their order.
        pub parts: Vec<Vec<PageAssignment>>,
        /// The language of the desk; none leaves it to the browser.
        pub language: Option<Language>,
        /// What all parts share: the texts of all of them, and a person without a name.
        pub content: PageContent,
    }

    /// A text of a packet.
    pub struct PageText {
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// What is judged. Plain text: never to be rendered as HTML.
        pub body: String,
    }

    /// A text to label in a round.
    pub struct PageAssignment {
        pub text: TextId,
        /// 1, or a later annotation round.
        pub occasion: u16,
    }

    /// Practice before the first text.
    pub struct PagePractice {
        pub rule: PracticeRule,
        pub texts: Vec<PagePracticeText>,
        /// Answers that were given before this packet, in their order.
        pub answers: Vec<PagePracticeAnswer>,
        /// Rounds that were finished before this packet.
        pub finished: Vec<u32>,
        /// The round that has to be finished before anything else.
        pub again: Option<u32>,
        /// When the last of these was recorded: new answers come later, whatever the clock shows.
        pub after_ms: f64,
    }

    /// A text with its right answer, which is shown after the annotator's own.
    pub struct PagePracticeText {
        pub question: QuestionId,
        pub text: TextId,
        pub answer: Answer,
        /// Why it is the right one.
        pub reason: String,
    }

    /// An answer in practice.
    pub struct PagePracticeAnswer {
        pub question: QuestionId,
        pub text: TextId,
        pub round: u32,
        pub answer: Answer,
    }
}
