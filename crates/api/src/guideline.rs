//! Versions of the guideline.

use dissensus_domain::QuestionId;
use serde::{Deserialize, Serialize};

view! {
    /// A version of the guideline.
    pub struct GuidelineInfo {
        /// Its identity in all copies.
        pub id: String,
        /// Its number, from 1. Versions that were written in separate copies are numbered by time after a
        /// merge.
        pub number: u32,
        /// When it was written.
        pub at: f64,
        /// Markdown: never to be rendered as HTML. Pictures are named `picture:NAME`.
        pub body: String,
        /// What is new in it, in its author's words.
        pub change: String,
        /// Who wrote it.
        pub by: String,
    }

    /// A version to write.
    pub struct NewGuideline {
        /// Markdown.
        pub body: String,
        /// What is new in it.
        pub change: String,
        /// Who writes it.
        pub by: String,
        /// Files of pictures that the body names as `picture:NAME`.
        pub pictures: Vec<String>,
        /// The version on which it is based: if another one is current by now, nothing is written.
        pub after: Option<String>,
    }

    /// A version that was written.
    pub struct GuidelineWritten {
        /// The version.
        pub guideline: GuidelineInfo,
        /// Notes to its author on how it is displayed.
        pub notices: Vec<String>,
    }

    /// A picture of a guideline.
    pub struct PictureData {
        /// Its name after `picture:`.
        pub name: String,
        /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        pub media_type: String,
        /// Its bytes.
        pub base64: String,
    }

    /// The wording of a question while answers were given.
    pub struct WordingInfo {
        /// The question's name.
        pub question: String,
        /// Counted from 1 within the question, by the first answer under it.
        pub number: u32,
        /// Identity in every copy of the project.
        pub id: String,
        /// When the first answer under it was given, in milliseconds since 1970-01-01 UTC.
        pub since: f64,
        /// Answers that were given under it.
        pub answers: u32,
        /// The sentence that annotators read.
        pub prompt: String,
        /// The help text shown with it.
        pub help: String,
        /// Label of the low end of the scale.
        pub low: String,
        /// Label of the high end.
        pub high: String,
        /// The levels, in their order.
        pub levels: Vec<WordingLevel>,
    }

    /// A level with its name at that time.
    pub struct WordingLevel {
        pub name: String,
        /// When to choose it.
        pub definition: String,
    }

    /// Agreement on a question, or on an option or a type, under each version.
    pub struct GuidelineAgreement {
        pub question: QuestionId,
        pub name: String,
        /// By version; labels that were given without a version come first.
        pub figures: Vec<GuidelineFigures>,
    }

    /// Agreement under one version.
    pub struct GuidelineFigures {
        /// The version's number; none for labels that were given without one.
        pub number: Option<u32>,
        /// Current labels that were given under it.
        pub labels: u32,
        /// Texts with two of these labels or more.
        pub texts: u32,
        /// Krippendorff's alpha (ordinal differences for an ordinal scale, otherwise nominal); none if there
        /// is too little data.
        pub alpha: Option<f64>,
        /// Lower end of its 95 % interval for people and texts like these, or with fewer than five people
        /// for these people; none if there are no differences.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// True if that interval is for people like these.
        pub like_these: bool,
    }
}
