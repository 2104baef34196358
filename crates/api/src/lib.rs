//! What the window and `--json` see: plain data, no behaviour.
//!
//! The window generates its TypeScript types from these. Times are milliseconds since 1970-01-01 UTC as `f64`
//! (JavaScript's number), levels are indices on the question's scale, probabilities run over its levels.

use serde::{Deserialize, Serialize};

/// Defines view types with the derives that all of them share, so that no type can lack the part that the
/// window's bindings or `--json` need.
macro_rules! view {
    ($($(#[$doc:meta])* $vis:vis $what:ident $name:ident $body:tt)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[cfg_attr(feature = "specta", derive(specta::Type))]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[serde(rename_all = "snake_case")]
            $vis $what $name $body
        )*
    };
}

mod annotators;
mod application;
mod backups;
mod care;
mod consent;
mod copy;
mod disagreement;
mod encoders;
mod estimation;
mod explain;
mod exporting;
mod group_comparison;
mod guideline;
mod history;
mod importing;
mod job;
mod labelling;
mod links;
pub mod masks;
mod options_together;
mod overview;
mod page;
mod panels;
mod paper;
mod plan;
mod practice;
mod project;
mod question_correlation;
mod removal;
mod repeats;
mod runs;
mod slips;
mod study;
mod texts;
mod updates;
mod who_differs;
mod word_heat;

pub use annotators::{AnnotatorFlag, AnnotatorReport, AnnotatorRow, Traces, Withdrawn};
pub use application::{AppInfo, AppSettings, EncoderFile, EncoderOffer, RecentProject, Theme};
pub use backups::{BackupAnswers, BackupChanges, BackupInfo, BackupList, RestoredBackup};
pub use care::{CareInfo, HarmfulFrom, OwnCare, StudyCare, TextGroup};
pub use consent::{ConsentState, ConsentText};
pub use copy::CopyReport;
pub use disagreement::{
    AnnotatorPrediction, Border, DisagreementMeasure, DisagreementQuery, DisagreementRow, DisagreementScores,
    GroupChoice, GroupDifference, GroupPrediction, LabelWeight, LabelsAbove, PersonOnSide, Ranking,
    SeverityDifference, SideOfBorder, TextDetail,
};
pub use dissensus_domain::WorkState;
pub use encoders::{EncoderHere, EncoderTrial, EncoderTrials};
pub use estimation::Estimation;
pub use explain::{
    ExplainQuery, ExplainedAnnotator, ExplainedOdds, ExplainedWords, Explanation, InfluentialLabel, NearText,
    PartDifference, ScorePart, ScorePartKind, WordEffect,
};
pub use exporting::{
    ExportContents, ExportFormat, ExportLoss, ExportRequest, PredictionsWritten, SummaryOf, SummaryRequest,
    SummaryWritten,
};
pub use group_comparison::{
    ComparedGroup, Figure, GroupAgreement, GroupComparison, GroupTextGap, GroupsChoice, PeopleChoice,
};
pub use guideline::{
    GuidelineAgreement, GuidelineFigures, GuidelineInfo, GuidelineWritten, NewGuideline, PictureData,
    WordingInfo, WordingLevel,
};
pub use history::{HistoryEntry, HistoryPage, HistoryRequest};
pub use importing::{
    AnswerColumn, AttributeConflicts, BadRow, ColumnChoices, ColumnUse, DroppedRows, ExampleAnswer,
    ExampleText, ExportReport, ImportAccount, ImportChanges, ImportChoices, ImportFormat, ImportNotice,
    ImportPerson, ImportPlace, ImportPreview, ImportQuestion, ImportReading, ImportReport, JoinChoice,
    PastedRows, QuestionScale,
};
pub use job::JobInfo;
pub use labelling::{
    LabelDetails, LabelReceipt, LabelTask, NewLabel, NoteInfo, NoteQuery, PersonSpans, Progress, TextOrder,
    TextPredictions, Undone,
};
pub use links::{LinkKind, LinkTarget};
pub use masks::{
    MaskFound, MaskPreview, MaskQuery, MaskRuleCount, MaskSettings, NameCandidate, NameCandidates,
};
pub use options_together::distances_together;
pub use options_together::{
    options_of_run_together, options_together, sets_of_run_together, whole_sets_together,
};
pub use overview::{
    ContestedText, NextStep, NextStepKind, Overview, OverviewAgreement, OverviewContested, OverviewPerson,
    OverviewQuestion,
};
pub use page::{
    JoinPage, PageAssignment, PageContent, PagePractice, PagePracticeAnswer, PagePracticeText, PageTarget,
    PageText,
};
pub use panels::{
    PanelComparison, PanelInfo, PanelOrder, PanelOthers, PanelRequest, PanelText, PanelVerdict,
    PanelVerdicts, SavedPanelInfo,
};
pub use paper::{InstitutionPapers, PaperRequest, PaperWritten};
pub use plan::{OpenText, PlanReport, PlanRequest, PlannedNumber, VarianceShares};
pub use practice::{
    CheckRuleInfo, NewPracticeAnswer, NewPracticeRule, NewPracticeText, PracticeFeedback, PracticeItem,
    PracticePerson, PracticeResult, PracticeRoundInfo, PracticeSetup, PracticeState, PracticeStep,
    PracticeTask, PracticeTextInfo,
};
pub use project::{
    ActiveModel, AnnotatorInfo, AttributeInfo, DiskEncryption, DiskInfo, EncodingState, LevelUseInfo,
    PacketInfo, ProjectChoices, ProjectInfo, QuestionDraft, QuestionEditInfo, QuestionEdits, QuestionInfo,
    QuestionPart,
};
pub use question_correlation::{
    CorrelationChoice, CorrelationFigure, CorrelationFigures, CorrelationPoints, QuestionCorrelation,
    ScorePair, ScoredQuestion,
};
pub use removal::{Removal, RemovalCounts, RemovalPreview, Removed};
pub use repeats::{ReannotationReport, ReannotationsOfAnnotator, SelfAgreementShare};
pub use runs::{
    AnnotatorPair, AuxiliaryCandidate, AuxiliaryQuestion, EpochInfo, GradientNorm, HeldHead, JointQuestion,
    MetricPair, RunAnnotator, RunAuxiliary, RunBaseline, RunBin, RunClass, RunComparison, RunDetail, RunInfo,
    RunMetric, RunScores, RunSizes, RunWords, TrainChoices, TrainOptions, TrainSetting, Tuning,
    training_settings,
};
pub use slips::{SlipKind, SlipReport, SlipRow};
pub use study::{
    AttentionCheckInfo, CollectedFiles, DecisionInfo, EarlierPacket, GivenAnswerInfo, InviteJoin,
    InviteRequest, MergeAnswer, MergeAnswersOf, MergeChange, MergeChangeKind, MergeConsent,
    MergeContradiction, MergeEffectInfo, MergeProblem, MergeQuestion, MergeReport, MergeSplit, MergedFile,
    MergedKind, NewAttentionCheck, NewDecision, OpenPacket, PacketFormat, PacketText, ServedLink,
    ServingInfo, StudyDraft, StudyFigure, StudyPerson, StudyReport, StudyRequest, StudyShare, SubmissionInfo,
    TextTalk,
};
pub use texts::{FoundTexts, LongTextsInfo, TextCounts, TextFilter, TextQuery, TextRow, TextSort};
pub use updates::{CheckedDownload, NewVersion, UpdateState};
pub use who_differs::{AttributeDifference, DifferenceShares, PersonDifference, WhoDiffers};
pub use word_heat::{FittedOn, WordFigure, WordHeat, WordModelReport, WordNeeds, WordTypeReport};

view! {
    /// A problem, as shown in the window.
    pub struct Problem {
        /// Stable, kebab-case: `project-newer`, `project-locked`, `encoder-missing`, ...
        pub code: String,
        /// What is wrong, in one sentence.
        pub message: String,
        /// Where the problem was and what to do, if there is more to report.
        pub detail: Option<String>,
    }
}
