//! Row identities in one project. They mean nothing outside their file.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "specta", derive(specta::Type))]
        #[serde(transparent)]
        pub struct $name(pub u32);
    };
}

id!(
    /// A text in this project.
    TextId
);
id!(
    /// An annotator in this project.
    AnnotatorId
);
id!(
    /// A question in this project.
    QuestionId
);
id!(
    /// One event in this file; later ones have larger ids.
    EventId
);
