//! Files that tests import, generated here so that a test shows all of its input.

use std::fmt::Write as _;

/// Labels of `annotators` people on `texts` texts, on a scale of 1 to 5, in columns that import detects.
///
/// Arithmetic decides who is strict and which text is rude, so that models have something to find and every
/// run has the same file.
pub fn labels(texts: usize, annotators: usize) -> String {
    let mut csv = String::from("text_id,text,annotator_id,label,gender\n");
    for text in 0..texts {
        let rude = text * 7 % 5;
        for annotator in 0..annotators {
            let strict = annotator % 3;
            let level = (rude + strict + (text + annotator) % 2).clamp(1, 5);
            let gender = if annotator % 2 == 0 { "woman" } else { "man" };
            // Writing into a string cannot fail.
            let _ = writeln!(csv, "t{text},{},a{annotator},{level},{gender}", body(text));
        }
    }
    csv
}

/// `texts` texts without labels.
pub fn texts(texts: usize) -> String {
    let mut csv = String::from("text_id,text\n");
    for text in 0..texts {
        let _ = writeln!(csv, "t{text},{}", body(text));
    }
    csv
}

/// The body of a text: short and unique.
fn body(text: usize) -> String {
    const OPENINGS: [&str; 5] =
        ["Thank you for", "I do not mind", "I am tired of", "How stupid is", "To hell with"];
    const THINGS: [&str; 7] =
        ["the bus", "this soup", "your team", "the patch", "our meeting", "that dog", "the film"];
    format!("{} {} number {text}", OPENINGS[text * 7 % 5], THINGS[text % 7])
}
