//! The core vocabulary of Dissensus as plain types and rules. No I/O, no SQL, no tensors.
//!
//! ```
//! use dissensus_domain::{Scale, ScaleKind};
//!
//! let scale = Scale::guess(["3", "1", "5", "4", "2"]).unwrap();
//! assert_eq!(scale.kind(), ScaleKind::Ordinal);
//! assert_eq!(scale.index_of("4"), Some(3));
//! ```

mod answer;
mod attribute_form;
mod care;
mod check;
mod condition;
mod current;
mod decision;
mod entities;
mod errors;
mod event;
mod fact;
mod guideline;
mod history;
mod ids;
mod join_page;
mod kind;
mod label;
mod language;
mod masking;
mod masks;
mod names;
mod note;
mod offsets;
mod packet;
mod panel;
mod panics;
mod practice;
mod progress;
mod question_help;
mod scale;
mod shown;
mod spans_text;
mod templates;
mod word_list;
mod wording;
mod work;

pub use answer::{Answer, AnswerError, OptionSet, Span, SpanSet};
pub use attribute_form::{
    AttributeForm, FormAnswers, FormAttribute, FormError, MAX_FORM_ATTRIBUTES, PREFER_NOT_TO_SAY,
};
pub use care::{StudyLimits, is_harmful, is_predicted_harmful};
pub use check::AttentionCheck;
pub use condition::{Condition, is_asked};
pub use current::{
    Marks, current_answer, current_note, given_answers, marks, unretracted_answers, unsuperseded_answers,
};
pub use decision::{Decision, Outcome};
pub use entities::{Annotator, Attributes, MAX_TEXT_BYTES, Question, Split, Text};
pub use event::{CopyId, Event, EventKey, EventKind, FIRST_OCCASION, MarkKind, ProjectId};
pub use fact::{Fact, FactKind};
pub use guideline::{Guideline, GuidelineId, Picture};
pub use history::HistoryKind;
pub use ids::{AnnotatorId, EventId, LevelId, QuestionId, TextId};
pub use join_page::JoinPage;
pub use kind::{AnswerForm, QuestionKind, ScaleKind, TargetKind, contradicts_itself, option_names};
pub use label::{CurrentLabel, LabelSource};
pub use language::Language;
pub use masking::{Finding, Masker};
pub use masks::{MaskError, MaskException, MaskRule, MaskRules};
pub use names::{composed, look_alike, not_allowed_in_names};
pub use note::{MAX_NOTE, MAX_REASONS, Note, NoteError, NoteForm};
pub use offsets::{OffsetError, OffsetUnit};
pub use packet::{Assignment, Packet, PacketId};
pub use panel::{Needed, Panel, PanelMembers, PanelRule, PanelRuleError, PanelShare, SavedPanel};
pub use panics::catch_panic;
pub use practice::{
    AfterFailing, CheckRule, PassStatus, PracticeAnswer, PracticeRound, PracticeRounds, PracticeRule,
    PracticeText, is_right,
};
pub use progress::{Progress, Silent};
pub use question_help::{Level, LevelEdit, Levels, QuestionHelp, WordingError};
pub use scale::{CANNOT_SAY, Scale, ScaleError};
pub use shown::Shown;
pub use spans_text::{NamedSpan, SpansError, list_of_spans, reads_as_spans, spans_named};
pub use templates::ScaleTemplate;
pub use wording::{Wording, WordingId};
pub use work::{JobKind, WorkState};
