//! What a link can have about the person who opens it.

/// Parameters of a link with the id of a person, as Prolific, Mechanical Turk, SONA and others name it.
pub const ID_PARAMETERS: [&str; 5] = ["PROLIFIC_PID", "workerId", "participantId", "sona_id", "id"];
/// Parameters of a link that become attributes of the person.
pub const ATTRIBUTE_PARAMETERS: [&str; 4] = ["STUDY_ID", "SESSION_ID", "assignmentId", "hitId"];
/// The most characters of such a parameter.
pub const MAX_PARAMETER: usize = 100;
