//! What a file cannot represent: why, and how much.

/// Why something is not in a file. Losses are reported in this order.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum LossReason {
    /// Answers to another question than the one of the file.
    OtherQuestions,
    /// Answers that are spans.
    Spans,
    /// Answers without a span.
    EmptySpans,
    /// Answers that are sets of options.
    Sets,
    /// Answers that are sets without an option.
    EmptySets,
    /// "Cannot say" answers.
    CannotSay,
    /// Re-annotations (answers of second and later annotation rounds).
    LaterAnswers,
    /// Skipped texts.
    Skips,
    /// Flagged texts.
    Flags,
    /// Notes.
    Notes,
    /// Reasons.
    Reasons,
    /// Confidence of annotators.
    Confidence,
    /// When answers were given.
    Times,
    /// How long answers took.
    Durations,
    /// With which version of the guideline answers were given.
    GuidelineVersions,
    /// That the annotator had been shown others' answers or predictions.
    Shown,
    /// That answers are simulated.
    Simulated,
    /// Names of questions.
    QuestionNames,
    /// Kinds of scales, and the order of levels.
    ScaleKinds,
    /// Levels without an answer.
    UnusedLevels,
    /// The texts themselves.
    Bodies,
    /// Parts of an official split.
    Splits,
    /// Documents or threads.
    Groups,
    /// Metadata of texts.
    Metadata,
    /// Attributes of annotators.
    Attributes,
    /// Ids of annotators.
    PersonNames,
}

impl LossReason {
    /// The name in JSON: kebab-case.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether answers themselves are lost, and not just their other data.
    pub fn is_of_answers(self) -> bool {
        self <= Self::LaterAnswers
    }

    /// What is lost, in the plural, and why or how it is treated.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::OtherQuestions => (
                "Answers to other questions",
                "A file has one question; choose another one for a file with them",
            ),
            Self::Spans => ("Answers that are spans", "The format has one label for an answer"),
            Self::EmptySpans => {
                ("Answers without a span", "The format does not tell them from texts that nobody looked at")
            }
            Self::Sets => ("Answers that are sets of options", "The format has one label for an answer"),
            Self::EmptySets => (
                "Answers without an option",
                "The format does not tell them from texts that nobody looked at",
            ),
            Self::CannotSay => ("Answers that say \"cannot say\"", "A tool would take it for one more level"),
            Self::LaterAnswers => (
                "Answers of second and later annotation rounds",
                "The format has no place for them, or would not tell which came first",
            ),
            Self::Skips => ("Skipped texts", "The format has no place for them"),
            Self::Flags => ("Flags", "The format has no place for them"),
            Self::Notes => ("Notes", "The format has no place for them"),
            Self::Reasons => ("Answers with reasons", "The format has no place for the reasons"),
            Self::Confidence => ("Answers with a confidence", "The format has no place for it"),
            Self::Times => ("Times of answers", "The format has no place for them"),
            Self::Durations => ("Times that answers took", "The format has no place for them"),
            Self::GuidelineVersions => {
                ("Answers given with a version of the guideline", "The format has no place for it")
            }
            Self::Shown => {
                ("Answers given after something of others was shown", "The format has no place to say so")
            }
            Self::Simulated => ("Simulated answers", "The format has no place to say so"),
            Self::QuestionNames => ("Names of questions", "The format has none"),
            Self::ScaleKinds => {
                ("Questions whose kind, or order of levels, the file does not tell", "Say it when it is read")
            }
            Self::UnusedLevels => {
                ("Levels that nobody chose", "The format names only levels that somebody chose")
            }
            Self::Bodies => ("Texts themselves", "The format has ids alone"),
            Self::Splits => ("Parts of the official split", "The format has no place for them"),
            Self::Groups => ("Documents or threads of texts", "The format has no place for them"),
            Self::Metadata => (
                "Values that came with texts",
                "The format has no place for them, or uses a key of that name for something else",
            ),
            Self::Attributes => ("Values of people's attributes", "The format has no place for them"),
            Self::PersonNames => {
                ("Ids of people that the format cannot have", "Written with other characters in their place")
            }
        }
    }
}

/// How much is lost for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The reason.
    pub reason: LossReason,
    /// The number of lost items.
    pub count: u64,
}

impl Loss {
    /// The message for users: what is lost, how much, and why; without a full stop.
    pub fn message(&self) -> String {
        let (what, why) = self.reason.words();
        format!("{what}: {}. {why}", self.count)
    }
}
