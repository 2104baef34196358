//! The names of commands: scripts of tests use the grouped ones, and this table has those that the built command knows.

/// A grouped name, and the name of the same command in the program. A name that is missing here is the same in both.
const NAMES: &[(&str, &str)] = &[
    ("project new", "new"),
    ("project sample", "sample"),
    ("project info", "info"),
    ("project overview", "overview"),
    ("project copy", "copy"),
    ("project history", "history"),
    ("project remove", "remove"),
    ("data import", "import"),
    ("data export", "export"),
    ("data texts", "texts"),
    ("data question", "question"),
    ("data guideline", "guideline"),
    ("people show", "annotator"),
    ("people form", "attribute-form"),
    ("people withdraw", "withdraw"),
    ("people care", "care"),
    ("people reveal", "reveal"),
    ("label record", "label"),
    ("label undo", "undo"),
    ("label practice", "practice"),
    ("label checks", "checks"),
    ("label notes", "remarks"),
    ("label decide", "decide"),
    ("label decisions", "decisions"),
    ("study plan", "plan"),
    ("study assign", "assign"),
    ("study hand-in", "hand-in"),
    ("study merge", "merge"),
    ("study status", "study"),
    ("models encode", "encode"),
    ("models embed", "embed"),
    ("models train", "train"),
    ("models evaluate", "evaluate"),
    ("models runs", "runs"),
    ("models predict", "predict"),
    ("models predictions", "predictions"),
    ("models bundle", "bundle"),
    ("analyse disagreement", "disagreement"),
    ("analyse agreement", "agreement"),
    ("analyse annotators", "annotators"),
    ("analyse explain", "explain"),
    ("analyse who-differs", "who-differs"),
    ("analyse compare-groups", "compare-groups"),
    ("analyse panel", "panel"),
    ("analyse words", "words"),
    ("analyse correlate-questions", "correlate-questions"),
    ("analyse repeats", "repeats"),
    ("analyse slips", "slips"),
    ("analyse aggregate", "aggregate"),
];

/// Replaces the grouped name at the start of `words` by the program's.
pub fn of_program(words: &[String]) -> Vec<String> {
    let [group, command, rest @ ..] = words else { return words.to_vec() };
    let name = format!("{group} {command}");
    match NAMES.iter().find(|(grouped, _)| *grouped == name) {
        Some((_, flat)) => std::iter::once((*flat).to_owned()).chain(rest.iter().cloned()).collect(),
        None => words.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_is_replaced() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of_program(&words("models runs list P")), words("runs list P"));
        assert_eq!(of_program(&words("report P folder")), words("report P folder"));
    }
}
