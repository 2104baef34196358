//! Comparison of two groups of people over all texts.

use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use serde::{Deserialize, Serialize};

view! {
    /// A set of people: everyone who has one of the values of each named attribute, and everyone who is
    /// named.
    #[derive(Eq, Hash, Default)]
    pub struct PeopleChoice {
        /// Attribute and value. Several values of one attribute are alternatives; if several attributes are
        /// given, each must match.
        pub attributes: Vec<(String, String)>,
        /// People chosen individually.
        pub annotators: Vec<AnnotatorId>,
    }

    /// Two disjoint groups of people.
    #[derive(Eq, Hash, Default)]
    pub struct GroupsChoice {
        /// The first group.
        pub a: PeopleChoice,
        /// The second group.
        pub b: PeopleChoice,
    }

    /// A figure with its 95 % interval.
    #[derive(Copy)]
    pub struct Figure {
        /// The figure.
        pub value: f64,
        /// The interval, which contains the figure; `None` if nothing varies.
        pub interval: Option<(f64, f64)>,
        /// Two-sided p value of 0, if it is tested.
        pub p: Option<f64>,
    }

    pub struct ComparedGroup {
        /// A description of the group.
        pub words: String,
        /// Number of people chosen.
        pub people: u32,
        /// Number of them with labels for the question.
        pub with_labels: u32,
        pub labels: u32,
    }

    /// A figure of agreement within A, within B, and between A and B.
    #[derive(Copy)]
    pub struct GroupAgreement {
        /// Among A.
        pub within_a: Option<Figure>,
        /// Among B.
        pub within_b: Option<Figure>,
        /// Between A and B.
        pub between: Option<Figure>,
    }

    /// One text on which both groups have labels.
    pub struct GroupTextGap {
        /// Its row.
        pub text: TextId,
        /// Its name in files.
        pub external_id: String,
        /// The body, cut to 280 characters.
        pub snippet: String,
        /// How much higher A answers, in levels: the prediction for all people combined with what labels
        /// show beyond it.
        pub gap: f32,
        /// Its 95 % interval; `None` with fewer than ten texts that both labelled.
        pub interval: Option<(f32, f32)>,
        /// Mean label of A minus that of B, in levels: what the labels of this text alone show.
        pub observed: f32,
        /// Labels of A and of B.
        pub labels: (u32, u32),
        /// Two-sided p value of the part of the labels that is beyond each person's own severity.
        pub p: Option<f64>,
        /// Whether it is shown after correction for all texts that both labelled.
        pub significant: bool,
    }

    /// The result of a comparison of two groups.
    pub struct GroupComparison {
        pub question: QuestionId,
        /// The compared groups.
        pub groups: GroupsChoice,
        /// Revision of the predictions before its labels were read.
        pub revision: u32,
        /// Whether labels of this question have changed since.
        pub stale: bool,
        /// The first group.
        pub a: ComparedGroup,
        /// The second group.
        pub b: ComparedGroup,
        /// Texts of the project.
        pub texts: u32,
        /// Texts with labels of both.
        pub shared_texts: u32,
        /// How much higher A answers over all texts, in levels, for people like these; `None` for unordered
        /// levels or if there is too little data.
        pub gap: Option<Figure>,
        /// The same, corrected for all pairs of values of attributes from which these could have been
        /// picked; `None` if the groups are not of one attribute.
        pub gap_corrected: Option<Figure>,
        /// How much stricter A is, on the logit scale of the model (above 0: gives higher levels).
        pub severity: Option<Figure>,
        /// Share of pairs of labels on one text that are equal.
        pub equal: Option<GroupAgreement>,
        /// The share between A and B minus the mean of those within the groups.
        pub equal_beyond: Option<Figure>,
        /// Krippendorff's alpha, and between the groups cross-replication reliability.
        pub alpha: Option<GroupAgreement>,
        /// The difference function of alpha: `nominal` or `ordinal`.
        pub alpha_metric: String,
        /// Numbers of texts that are shown to differ: A higher, and B higher.
        pub differing: (u32, u32),
        /// Texts on which A is estimated to answer higher: those that are shown to differ first, then by the
        /// gap; last those whose own labels are higher in B.
        pub a_higher: Vec<GroupTextGap>,
        /// Texts on which B is estimated to answer higher, in the same order.
        pub b_higher: Vec<GroupTextGap>,
        /// The gap over all texts in a sentence.
        pub overall_words: String,
        /// Agreement in a sentence.
        pub agreement_words: Option<String>,
        /// Describes the texts that differ, in a sentence.
        pub texts_words: String,
        /// Describes for what the p values and intervals are corrected, and for what not.
        pub correction: String,
        /// What is missing for the figures.
        pub needs: Option<String>,
    }
}

impl Figure {
    /// Whether it is shown to differ from 0: its interval excludes 0. Where it was tested, `p` agrees,
    /// because it is derived from the same distribution.
    pub fn is_shown(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}
