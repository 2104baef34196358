//! Studies from assignment to submissions, and merged copies of a project: the output of `dissensus study
//! merge`, and the labels afterwards.

use super::case;

const TEXTS: &str = "text_id,text
t1,Thank you for the bus
t2,I do not mind this soup
t3,I am tired of your team
t4,How stupid is the patch
t5,To hell with our meeting
t6,Thank you for that dog
";

const LABELS: &str = "text_id,text,annotator_id,label,gender
t1,Thank you for the bus,ana,1,woman
t1,Thank you for the bus,ben,1,man
t2,I do not mind this soup,ana,2,woman
t3,I am tired of your team,ben,3,man
";

/// A study of ada and ben, each with a packet of all six texts.
const STUDY: &str = "
project new Study.dissensus
data import Study.dissensus texts.csv
data question Study.dissensus rude --scale ordinal --levels 1,2,3 --prompt 'How rude is it?'
data question Study.dissensus rude --reason slang --reason irony --confidence on --cannot-say on
study assign Study.dissensus --annotators ada,ben --per-text 2 --out packets
";

/// Ada answers two texts of her packet.
const ADA_ANSWERS: &str = "
label record packets/ada.dissensus --annotator ada --text-id t1 --value 1 --confidence 4
label record packets/ada.dissensus --annotator ada --text-id t4 --value 3 --reason slang --note 'quotes somebody'
study hand-in packets/ada.dissensus ada.handin
";

/// A project with labels, and a copy of it.
const APART: &str = "
project new A.dissensus
data import A.dissensus labels.csv --question rude --scale ordinal --levels 1,2,3 --attributes gender
project copy A.dissensus B.dissensus
";

fn study(name: &str, script: &str) {
    case(name, &[("texts.csv", TEXTS)], STUDY, script);
}

fn answered(name: &str, script: &str) {
    case(name, &[("texts.csv", TEXTS)], &format!("{STUDY}{ADA_ANSWERS}"), script);
}

fn copies(name: &str, script: &str) {
    let more = "text_id,text\nt7,A seventh text\n";
    let other = "text_id,text\nt7,Another seventh text\n";
    let rules = "# Rude\n\nWhat is meant counts.\n";
    let files = [
        ("labels.csv", LABELS),
        ("more.csv", more),
        ("other.csv", other),
        ("rules.md", rules),
        ("rules-too.md", "# Rude\n\nWhat is written counts.\n"),
        (
            "late.csv",
            "text_id,text,annotator_id,label,created_at\nt1,Thank you for the bus,ben,2,2099-01-01T00:00:00Z\n",
        ),
    ];
    case(name, &files, APART, script);
}

#[test]
fn answered_packets_are_submitted_and_merged() {
    study(
        "merge-packets",
        "
study status packets/ada.dissensus
study status packets/ada.dissensus --texts
label record packets/ada.dissensus --annotator ada --text-id t1 --value 1 --confidence 4
label record packets/ada.dissensus --annotator ada --text-id t4 --value 3 --reason slang --note 'quotes somebody'
label record packets/ben.dissensus --annotator ben --text-id t1 --value '[cannot say]'
study hand-in packets/ada.dissensus ada.handin
study hand-in packets/ben.dissensus ben.handin
study merge Study.dissensus ada.handin ben.handin
study status Study.dissensus
@labels Study.dissensus
",
    );
}

#[test]
fn newer_submission_before_an_older_one() {
    answered(
        "merge-newer-first",
        "
label record packets/ada.dissensus --annotator ada --text-id t1 --value 2
label record packets/ada.dissensus --annotator ada --text-id t5 --value 2
study hand-in packets/ada.dissensus newer.handin
study merge Study.dissensus newer.handin
study merge Study.dissensus ada.handin
study merge Study.dissensus newer.handin --json
@labels Study.dissensus
",
    );
}

#[test]
fn answer_retracted_after_submission() {
    answered(
        "merge-taken-back",
        "
study merge Study.dissensus ada.handin
label undo packets/ada.dissensus --annotator ada
study hand-in packets/ada.dissensus second.handin
study merge Study.dissensus second.handin --dry-run
study merge Study.dissensus second.handin
@labels Study.dissensus
",
    );
}

#[test]
fn changed_submission_is_refused() {
    answered(
        "merge-refused-changed",
        "
@flip ada.handin
study merge Study.dissensus ada.handin
study merge Study.dissensus ada.handin --json
@labels Study.dissensus
",
    );
}

#[test]
fn truncated_submission_is_refused() {
    answered(
        "merge-refused-cut-off",
        "
@cut ada.handin
study merge Study.dissensus ada.handin
@labels Study.dissensus
",
    );
}

#[test]
fn submission_of_another_study_is_refused() {
    answered(
        "merge-refused-foreign",
        "
project new Other.dissensus
data import Other.dissensus texts.csv
data question Other.dissensus rude --scale ordinal --levels 1,2,3
study merge Other.dissensus ada.handin
project copy Study.dissensus Whole.dissensus
study merge Other.dissensus Whole.dissensus
study merge Other.dissensus Whole.dissensus --whole-copy --yes
@labels Other.dissensus
",
    );
}

#[test]
fn packet_refuses_answers_of_others() {
    study(
        "merge-refused-answers-of-others",
        "
label record packets/ada.dissensus --annotator ben --text-id t1 --value 1
label record packets/ada.dissensus --annotator ada --text-id t9 --value 1
label record packets/ada.dissensus --annotator ada --text-id t1 --value 9
study hand-in packets/ada.dissensus empty.handin
study merge Study.dissensus empty.handin
",
    );
}

#[test]
fn other_files_are_refused_and_the_good_one_is_merged() {
    answered(
        "merge-refused-other-files",
        "
study merge Study.dissensus texts.csv missing.handin packets/ben.dissensus ada.handin Study.dissensus
study hand-in packets/ada.dissensus ada.handin
study hand-in Study.dissensus whole.handin
@labels Study.dissensus
",
    );
}

#[test]
fn packet_is_written_again() {
    answered(
        "merge-packet-written-again",
        "
study assign Study.dissensus --write-again --annotators ada --out again
label record again/ada.dissensus --annotator ada --text-id t1 --value 3
label record again/ada.dissensus --annotator ada --text-id t2 --value 3
study hand-in again/ada.dissensus again.handin
study merge Study.dissensus ada.handin again.handin
@labels Study.dissensus
",
    );
}

#[test]
fn rounds_conditions_practice_and_checks_in_packets() {
    let before = "
project new Study.dissensus
data import Study.dissensus texts.csv
data question Study.dissensus rude --levels 1,2,3
data question Study.dissensus target --scale multi-label --levels person,group --only-if rude=2,3
label practice Study.dissensus --question rude --text-id t6 --value 1 --reason 'plain thanks'
label checks Study.dissensus --question rude --text-id t4 --value 3 --reason 'plain insult'
";
    case(
        "merge-rounds-and-checks",
        &[("texts.csv", TEXTS)],
        before,
        "
study assign Study.dissensus --question rude --question target --annotators ada --per-text 1 --repeat 0.4 --again-after 1 --out packets
study status packets/ada.dissensus --texts
label record packets/ada.dissensus --question rude --annotator ada --text-id t6 --value 1 --practice
label record packets/ada.dissensus --question rude --annotator ada --text-id t4 --value 3
label record packets/ada.dissensus --question target --annotator ada --text-id t4 --value 'person;group'
label record packets/ada.dissensus --question rude --annotator ada --text-id t1 --value 1
label record packets/ada.dissensus --question rude --annotator ada --text-id t2 --value 2
label record packets/ada.dissensus --question rude --annotator ada --text-id t3 --value 2
label record packets/ada.dissensus --question rude --annotator ada --text-id t5 --value 2
label record packets/ada.dissensus --question rude --annotator ada --text-id t2 --value 3 --occasion 2
label practice packets/ada.dissensus
study hand-in packets/ada.dissensus ada.handin
study merge Study.dissensus ada.handin
label practice Study.dissensus --results
label checks Study.dissensus
study status Study.dissensus
@labels Study.dissensus
",
    );
}

#[test]
fn whole_copy_with_new_answers_merges() {
    copies(
        "merge-copy",
        "
label record B.dissensus --annotator cleo --text-id t1 --value 2
label record B.dissensus --annotator ana --text-id t3 --value 1
study merge A.dissensus B.dissensus
study merge A.dissensus B.dissensus --dry-run
study merge A.dissensus B.dissensus --whole-copy
study merge A.dissensus B.dissensus
@labels A.dissensus
",
    );
}

#[test]
fn answer_changed_on_both_sides() {
    copies(
        "merge-changed-on-both-sides",
        "
label record A.dissensus --annotator ana --text-id t2 --value 1
label record B.dissensus --annotator ana --text-id t2 --value 3
study merge A.dissensus B.dissensus --dry-run
study merge A.dissensus B.dissensus --whole-copy --yes
study merge B.dissensus A.dissensus --whole-copy --yes
@labels A.dissensus
@labels B.dissensus
",
    );
}

#[test]
fn answer_retracted_on_one_side_and_changed_on_the_other() {
    copies(
        "merge-taken-back-and-changed",
        "
label record A.dissensus --annotator ben --text-id t2 --value 1
project copy A.dissensus C.dissensus
label undo A.dissensus --annotator ben
label record C.dissensus --annotator ben --text-id t2 --value 3
study merge A.dissensus C.dissensus --whole-copy --yes
study merge C.dissensus A.dissensus --whole-copy --yes
@labels A.dissensus
@labels C.dissensus
",
    );
}

#[test]
fn notes_reasons_and_confidence_merge() {
    copies(
        "merge-notes",
        "
data question A.dissensus rude --reason slang --confidence on
study merge B.dissensus A.dissensus --whole-copy --yes
label record A.dissensus --annotator ana --text-id t1 --value 1 --note 'as a joke' --confidence 2
label record B.dissensus --annotator ana --text-id t1 --value 1 --reason slang
study merge A.dissensus B.dissensus --whole-copy --yes
label notes A.dissensus
@labels A.dissensus
",
    );
}

#[test]
fn guidelines_written_on_both_sides() {
    copies(
        "merge-guidelines",
        "
data guideline A.dissensus --from rules.md --what-changed first --by ana
data guideline B.dissensus --from rules-too.md --what-changed 'first, too' --by ben
study merge A.dissensus B.dissensus --whole-copy --yes
study merge B.dissensus A.dissensus --whole-copy --yes
data guideline A.dissensus --versions
data guideline A.dissensus
data guideline B.dissensus
",
    );
}

#[test]
fn level_renamed_on_one_side() {
    copies(
        "merge-level-renamed",
        "
data question A.dissensus rude --rename '3=very rude'
label record B.dissensus --annotator ana --text-id t3 --value 3
study merge A.dissensus B.dissensus --whole-copy --yes
study merge B.dissensus A.dissensus --whole-copy --yes
@labels A.dissensus
@labels B.dissensus
",
    );
}

#[test]
fn level_renamed_differently_on_both_sides() {
    copies(
        "merge-level-renamed-differently",
        "
data question A.dissensus rude --rename '3=very rude'
data question B.dissensus rude --rename '3=insulting' --prompt 'How insulting?'
study merge A.dissensus B.dissensus --whole-copy --yes
study merge B.dissensus A.dissensus --whole-copy --yes
project info A.dissensus
project info B.dissensus
",
    );
}

#[test]
fn level_removed_on_one_side_and_answered_on_the_other() {
    copies(
        "merge-level-removed-and-answered",
        "
data question A.dissensus rude --set-levels 1,2,3,4
project copy A.dissensus C.dissensus
data question A.dissensus rude --set-levels 1,2,3
label record C.dissensus --annotator ana --text-id t3 --value 4
study merge A.dissensus C.dissensus --whole-copy --yes
@labels A.dissensus
",
    );
}

#[test]
fn one_question_made_on_both_sides() {
    copies(
        "merge-question-on-both-sides",
        "
data question A.dissensus urgent --levels no,yes
data question B.dissensus urgent --levels no,perhaps,yes
label record A.dissensus --question urgent --annotator ana --text-id t1 --value no
label record B.dissensus --question urgent --annotator ben --text-id t1 --value perhaps
study merge A.dissensus B.dissensus --whole-copy --yes
project info A.dissensus
@labels A.dissensus
",
    );
}

#[test]
fn texts_imported_on_both_sides() {
    copies(
        "merge-texts-on-both-sides",
        "
data import A.dissensus more.csv
data import B.dissensus other.csv
label record B.dissensus --annotator ana --text-id t7 --value 2
study merge A.dissensus B.dissensus --whole-copy --yes
data texts A.dissensus
@labels A.dissensus
",
    );
}

#[test]
fn person_withdrawn_on_one_side() {
    copies(
        "merge-withdrawn",
        "
label record B.dissensus --annotator ben --text-id t2 --value 3
people withdraw A.dissensus --annotator ben --yes
study merge A.dissensus B.dissensus --whole-copy --yes
study merge B.dissensus A.dissensus --whole-copy
study merge B.dissensus A.dissensus --whole-copy --yes
@labels A.dissensus
@labels B.dissensus
",
    );
}

#[test]
fn attributes_changed_on_both_sides() {
    copies(
        "merge-attributes",
        "
people show A.dissensus --annotator ana --set gender=non-binary --set age=30
people show B.dissensus --annotator ana --unset gender --name 'Ana L.'
study merge A.dissensus B.dissensus --whole-copy --yes
study merge B.dissensus A.dissensus --whole-copy --yes
people show A.dissensus --annotator ana
people show B.dissensus --annotator ana
",
    );
}

#[test]
fn decisions_on_both_sides() {
    copies(
        "merge-decisions",
        "
label decide A.dissensus --text-id t1 --outcome ambiguous --comment both --by ana
label decide B.dissensus --text-id t1 --outcome slip --value 2 --by ben
study merge A.dissensus B.dissensus --whole-copy --yes
label decisions A.dissensus --all
",
    );
}

#[test]
fn import_removed_on_one_side() {
    copies(
        "merge-removed-import",
        "
data import A.dissensus more.csv
project copy A.dissensus C.dissensus
project remove A.dissensus --last-import --yes
label record C.dissensus --annotator ana --text-id t7 --value 2
study merge A.dissensus C.dissensus --whole-copy --yes
@labels A.dissensus
",
    );
}

#[test]
fn three_copies_merge_in_a_ring() {
    copies(
        "merge-ring",
        "
project copy A.dissensus C.dissensus
label record A.dissensus --annotator ana --text-id t3 --value 1
label record B.dissensus --annotator ben --text-id t2 --value 2
label record C.dissensus --annotator cleo --text-id t3 --value 3
study merge B.dissensus A.dissensus --whole-copy --yes
study merge C.dissensus B.dissensus --whole-copy --yes
study merge A.dissensus C.dissensus --whole-copy --yes
study merge A.dissensus B.dissensus --whole-copy --yes
@labels A.dissensus
project history A.dissensus --limit 5
",
    );
}

#[test]
fn answer_from_a_fast_clock() {
    copies(
        "merge-clock-ahead",
        "
data import B.dissensus late.csv --question rude
label record A.dissensus --annotator ben --text-id t1 --value 3
study merge A.dissensus B.dissensus --whole-copy --yes
@labels A.dissensus
",
    );
}
