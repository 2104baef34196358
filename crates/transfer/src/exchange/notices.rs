//! Notices about the labels of a file: which of them replace others, which do not count, and levels that look
//! like mistakes. The same before an import and after it.

use super::guessed_levels::guessed_levels;
use super::reading::FileReading;
use dissensus_api::{ImportChanges, ImportNotice, ImportPlace};
use dissensus_domain::Scale;
use dissensus_exchange::{ChangeKind, Changes, Findings, Source};
use dissensus_project::names::near_names;
use dissensus_project::words::counted;

/// Maximum number of examples in a notice.
const MAX_EXAMPLES: usize = 5;

/// The labels of one question, as notices need them.
pub(crate) struct QuestionLabels<'a> {
    pub(super) question: &'a str,
    pub(super) scale: &'a Scale,
    /// Whether the scale was guessed from the labels.
    pub(super) guessed: bool,
    /// Number of labels of each level in the file.
    pub(super) levels: &'a [(String, u64)],
    /// The changes by its labels.
    pub(super) changes: Changes,
}

/// Counts the labels of a file by kind of change.
pub(super) fn import_changes(asked: &[QuestionLabels<'_>]) -> ImportChanges {
    let count = |kind| asked.iter().map(|a| a.changes.count(kind)).sum::<u64>() as u32;
    let given = count(ChangeKind::ReplacedGiven);
    ImportChanges {
        replaced_in_file: count(ChangeKind::ReplacedInFile),
        replaced_labels: given + count(ChangeKind::ReplacedImported),
        replaced_given: given,
        older_labels: count(ChangeKind::Older),
        given_again: count(ChangeKind::GivenAgain),
        outdated_rows: count(ChangeKind::Outdated),
    }
}

/// Returns notices about the parts of an annotation tool's file that are not plain answers, and how they are
/// treated.
pub(super) fn notices_of_findings(source: &Source) -> Vec<ImportNotice> {
    let notice = |met: Findings| ImportNotice {
        code: met.code.to_owned(),
        count: u32::try_from(met.count).unwrap_or(u32::MAX),
        message: met.message,
        places: Vec::new(),
        fix: None,
        fix_label: None,
    };
    source.met().into_iter().map(notice).collect()
}

/// Returns a notice about new annotators whose ids look like those of others, in the project or in the file:
/// they may be one person.
pub(super) fn near_annotators((known, new): &(Vec<String>, Vec<String>)) -> Option<ImportNotice> {
    let near = near_names(known.iter().map(String::as_str), new.iter().map(String::as_str));
    let named =
        |(name, others): &(String, Vec<String>)| format!("\"{name}\" and \"{}\"", others.join("\", \""));
    let few: Vec<String> = near.iter().take(MAX_EXAMPLES).map(named).collect();
    let more = match near.len() - few.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!near.is_empty()).then(|| ImportNotice {
        code: "near-annotators".to_owned(),
        count: u32::try_from(near.len()).unwrap_or(u32::MAX),
        message: format!(
            "{} like another one but for case, accents, spaces or letters that look alike, and {} a person of its own: {}{more}",
            if near.len() == 1 { "1 new annotator is called".to_owned() } else { format!("{} new annotators are called", near.len()) },
            if near.len() == 1 { "is" } else { "each is" },
            few.join("; ")
        ),
        places: Vec::new(),
        fix: None,
        fix_label: None,
    })
}

/// Returns the notices, the most important first.
pub(super) fn import_notices(asked: &[QuestionLabels<'_>], read: &FileReading) -> Vec<ImportNotice> {
    let changes = import_changes(asked);
    let of_kind = |kind| asked.iter().map(|a| a.changes.count(kind)).sum::<u64>() as u32;
    let repeats_are_labels = of_kind(ChangeKind::RepeatIsLabel);
    let no_first_answer = of_kind(ChangeKind::NoFirstAnswer);
    let labels = |n: u32| counted(u64::from(n), "label");
    let given = match changes.replaced_given {
        0 => String::new(),
        n => format!(", of them {n} given in the window or by the command"),
    };
    let reported = [
        (
            "replaced-labels",
            changes.replaced_labels,
            format!(
                "Replaced in the project: {}{given}; undo does not bring them back",
                labels(changes.replaced_labels)
            ),
            // Labels given in this project come first.
            vec![ChangeKind::ReplacedGiven, ChangeKind::ReplacedImported],
        ),
        (
            "replaced-in-file",
            changes.replaced_in_file,
            format!(
                "Replaced within the file: {} (of several by one person for one text the later time counts, else the later row)",
                labels(changes.replaced_in_file)
            ),
            vec![ChangeKind::ReplacedInFile],
        ),
        (
            "outdated-rows",
            changes.outdated_rows,
            format!(
                "Known before and no longer current: {}. The current label stays; to change it, give the file a column \
                 with times, or label again",
                counted(u64::from(changes.outdated_rows), "row")
            ),
            vec![ChangeKind::Outdated],
        ),
        (
            "older-labels",
            changes.older_labels,
            format!(
                "Older than the current label: {}. The history has them now; the current label stays",
                labels(changes.older_labels)
            ),
            vec![ChangeKind::Older],
        ),
        (
            "given-again",
            changes.given_again,
            format!("The current label again, at another time: {}", labels(changes.given_again)),
            Vec::new(),
        ),
        (
            "repeats-are-labels",
            repeats_are_labels,
            format!(
                "Labels already: {} of a later annotation round, which the file or another one brought without its round. Self-agreement \
                 compares them with the labels before them; they stay current labels, too. To have the first answers as labels, \
                 import into a new project",
                counted(u64::from(repeats_are_labels), "answer")
            ),
            Vec::new(),
        ),
        (
            "no-first-answer",
            no_first_answer,
            format!(
                "Answers of a later annotation round without a first one in the file or in the project: {}. They are no labels; if the \
                 column does not say in which round somebody answered again, import it as something else",
                counted(u64::from(no_first_answer), "text of an annotator")
            ),
            Vec::new(),
        ),
    ];
    let notice = |(code, count, message, kinds): (&str, u32, String, Vec<ChangeKind>)| ImportNotice {
        code: code.to_owned(),
        count,
        message,
        places: places(asked, &kinds),
        fix: None,
        fix_label: None,
    };
    let reported = reported.into_iter().filter(|(_, count, ..)| *count > 0).map(notice);
    let guessed = asked.iter().filter(|asked| asked.guessed).flat_map(|of| {
        let mut notices = guessed_levels(of.scale, of.levels, &read.reading);
        if asked.len() > 1 {
            notices.iter_mut().for_each(|notice| name_question(notice, of.question));
        }
        notices
    });
    reported.chain(guessed).collect()
}

/// Returns a notice about re-annotations that were imported without a time and have since been replaced by
/// another one.
pub(super) fn outdated_repeats(count: usize) -> Option<ImportNotice> {
    let answers = counted(count as u64, "answer");
    (count > 0).then(|| ImportNotice {
        code: "outdated-repeats".to_owned(),
        count: count as u32,
        message: format!(
            "Known before and overruled since: {answers} of a later annotation round. The later one stays; to change it, give the file a \
             column with times"
        ),
        places: Vec::new(),
        fix: None,
        fix_label: None,
    })
}

/// Prefixes the message with the question, if a file answers several.
fn name_question(notice: &mut ImportNotice, question: &str) {
    let mut characters = notice.message.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_lowercase).collect();
    notice.message = format!("Question \"{question}\": {first}{}", characters.as_str());
}

/// The first places of these kinds, kind by kind, each by row.
fn places(asked: &[QuestionLabels<'_>], kinds: &[ChangeKind]) -> Vec<ImportPlace> {
    let mut shown = Vec::new();
    for kind in kinds {
        let mut of_kind: Vec<ImportPlace> = Vec::new();
        for asked in asked {
            of_kind.extend(asked.changes.first(*kind).into_iter().map(|change| ImportPlace {
                row: change.row as u32,
                annotator: change.annotator,
                text_id: change.text_id,
                question: asked.question.to_owned(),
                counts: change.counts,
                instead_of: change.instead_of,
            }));
        }
        of_kind.sort_by_key(|place| place.row);
        shown.extend(of_kind);
    }
    shown.truncate(MAX_EXAMPLES);
    shown
}
