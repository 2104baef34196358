//! WebAnno TSV 3, one document of one annotator: a line a word, a column for each feature of each layer. A
//! feature of a layer of spans is a question; the document as a whole is the text.

use super::one_document::OneDocument;
use super::{Format, FormatInfo, Look, Reading};
use crate::annotations::{Division, GivenAnswer, Item, Items, SpanOf};
use dissensus_domain::OffsetUnit;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The prefix of a feature that links spans; the column after it has the target.
const ROLE: &str = "ROLE_";
const BEGIN: &str = "#FORMAT=WebAnno TSV 3";

#[derive(Debug)]
pub(super) struct WebannoTsv;

impl Format for WebannoTsv {
    fn info(&self) -> FormatInfo {
        FormatInfo { name: "webanno-tsv", title: "WebAnno TSV 3", endings: &["tsv"] }
    }

    fn recognise(&self, look: &Look) -> Option<Reading> {
        look.head
            .starts_with(BEGIN.as_bytes())
            .then(|| Reading::Annotations(Division::Whole, Arc::new(OneDocument { read: read_document })))
    }
}

/// A layer of the header.
struct Layer {
    /// The last word of its type.
    name: String,
    features: Vec<String>,
    spans: bool,
    /// The index of its first column, after the three of every line, and the number of its columns.
    first: usize,
    width: usize,
}

/// A span of a layer: its position in UTF-16 units, and the value of each feature.
struct Marked {
    start: u32,
    end: u32,
    values: Vec<Option<String>>,
}

/// Adds the contents of a document to `item`, and the item to `items`.
pub(super) fn read_document(file: &str, mut item: Item, items: &mut Items) {
    match parsed(file) {
        Err((line, why)) => items.fault(format!("{}, line {line}", item.place), None, why),
        Ok(document) => {
            let links =
                |layer: &&Layer| layer.spans && layer.features.iter().any(|name| name.starts_with(ROLE));
            for layer in document.layers.iter().filter(links) {
                items.met(
                    "not-read",
                    format!("Links between spans ({})", layer.name),
                    "Left out: no label can hold them",
                );
            }
            for layer in document.layers.iter().filter(|layer| !layer.spans) {
                items.met(
                    "not-read",
                    format!("Relations and chains ({})", layer.name),
                    "Left out: no label can hold them",
                );
            }
            match answers(&document) {
                Err(why) => return items.fault(item.place, None, why),
                Ok(answers) => {
                    for (question, spans) in answers {
                        item.answer(question, GivenAnswer::Spans(spans));
                    }
                }
            }
            item.data.insert(0, ("text".to_owned(), document.text));
            item.whole = true;
            items.push(item);
        }
    }
}

struct Parsed {
    layers: Vec<Layer>,
    text: String,
    /// By layer.
    marked: Vec<Vec<Marked>>,
}

/// A sentence: its text, and where its first word begins in UTF-16 units.
#[derive(Default)]
struct Sentence {
    text: String,
    first: Option<(u32, String)>,
}

fn parsed(file: &str) -> Result<Parsed, (usize, String)> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut sentences: Vec<Sentence> = Vec::new();
    let mut marked: Vec<Vec<Marked>> = Vec::new();
    let mut numbered: HashMap<(usize, String), usize> = HashMap::new();
    let mut in_text = false;
    for (number, line) in (1..).zip(file.lines()) {
        let bad = |why: String| (number, why);
        if let Some(header) = line.strip_prefix("#T_") {
            let (kind, rest) = header.split_once('=').ok_or_else(|| bad("a layer has no type".to_owned()))?;
            let first = layers.last().map_or(0, |layer| layer.first + layer.width);
            layers.push(layer(kind, rest, first));
            marked.push(Vec::new());
        } else if let Some(text) = line.strip_prefix("#Text=") {
            if in_text {
                // A line end in a sentence begins another such line.
                if let Some(sentence) = sentences.last_mut() {
                    sentence.text.push('\n');
                    sentence.text.push_str(&unescaped(text));
                }
            } else {
                sentences.push(Sentence { text: unescaped(text), first: None });
            }
            in_text = true;
        } else if line.is_empty() || (line.starts_with('#') && !line.contains('\t')) {
            in_text = false;
        } else {
            in_text = false;
            word(line, &layers, &mut sentences, &mut marked, &mut numbered).map_err(bad)?;
        }
    }
    let text = joined(&sentences).map_err(|why| (1, why))?;
    Ok(Parsed { layers, text, marked })
}

fn layer(kind: &str, header: &str, first: usize) -> Layer {
    let mut fields = header.split('|');
    let name = fields.next().unwrap_or_default().rsplit('.').next().unwrap_or_default().to_owned();
    let features: Vec<String> = fields.map(str::to_owned).collect();
    let width = features.len().max(1);
    Layer { name, features, spans: kind == "SP", first, width }
}

/// Reads a line with a word, or with a part of one.
fn word(
    line: &str,
    layers: &[Layer],
    sentences: &mut [Sentence],
    marked: &mut [Vec<Marked>],
    numbered: &mut HashMap<(usize, String), usize>,
) -> Result<(), String> {
    let mut fields = line.split('\t');
    let (Some(id), Some(place), Some(word)) = (fields.next(), fields.next(), fields.next()) else {
        return Err("a line has a number, a place and a word, between tabs".to_owned());
    };
    let (start, end) = place
        .split_once('-')
        .and_then(|(start, end)| Some((start.parse::<u32>().ok()?, end.parse::<u32>().ok()?)))
        .ok_or_else(|| format!("\"{place}\" is no place: two whole numbers with - between them"))?;
    let sentence = sentences.last_mut().ok_or("a word comes before the first text of a sentence")?;
    if sentence.first.is_none() && !id.contains('.') {
        sentence.first = Some((start, unescaped(word)));
    }
    let cells: Vec<&str> = fields.collect();
    for (nth, layer) in layers.iter().enumerate().filter(|(_, layer)| layer.spans) {
        let of_layer =
            (layer.first..layer.first + layer.width).map(|at| cells.get(at).copied().unwrap_or("_"));
        let columns: Vec<Vec<&str>> = of_layer.map(stacked).collect();
        let depth = columns.iter().map(Vec::len).max().unwrap_or_default();
        for level in 0..depth {
            let cells: Vec<(&str, Option<&str>)> =
                columns.iter().map(|stack| numbered_cell(stack.get(level).copied().unwrap_or("_"))).collect();
            if cells.iter().all(|(value, _)| *value == "_") {
                continue;
            }
            let known = cells.iter().find_map(|(_, number)| *number).map(|number| (nth, number.to_owned()));
            if let Some(at) = known.as_ref().and_then(|known| numbered.get(known)) {
                // The same span continues.
                let span = &mut marked[nth][*at];
                (span.start, span.end) = (span.start.min(start), span.end.max(end));
                continue;
            }
            let value = |(value, _): &(&str, Option<&str>)| match *value {
                "_" | "*" => None,
                value => Some(unescaped(value)),
            };
            let values =
                if layer.features.is_empty() { Vec::new() } else { cells.iter().map(value).collect() };
            if let Some(known) = known {
                numbered.insert(known, marked[nth].len());
            }
            marked[nth].push(Marked { start, end, values });
        }
    }
    Ok(())
}

/// Splits a cell with several annotations at `|`.
fn stacked(cell: &str) -> Vec<&str> {
    let (mut parts, mut from, mut escaped) = (Vec::new(), 0, false);
    for (at, byte) in cell.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'|' => {
                parts.push(&cell[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&cell[from..]);
    parts
}

/// Splits a cell into a value and the number after it, which identifies the words of one span.
fn numbered_cell(cell: &str) -> (&str, Option<&str>) {
    let number = cell.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match number {
        Some((value, number))
            if !value.ends_with('\\') && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            (value, Some(number))
        }
        _ => (cell, None),
    }
}

fn unescaped(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('t') => plain.push('\t'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some(other) => plain.push(other),
            None => plain.push('\\'),
        }
    }
    plain
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Reconstructs the document: its sentences at their positions. The characters between them are not in the
/// file: a space, or empty lines.
fn joined(sentences: &[Sentence]) -> Result<String, String> {
    let mut text = String::new();
    let mut length = 0;
    for sentence in sentences {
        let Some((at, word)) = &sentence.first else { continue };
        let before = sentence.text.find(word.as_str());
        let before =
            before.ok_or_else(|| format!("the word \"{word}\" is not in the text of its sentence"))?;
        let begin = (*at as usize).checked_sub(units(&sentence.text[..before]));
        let gap = begin.and_then(|begin| begin.checked_sub(length));
        let gap = gap.ok_or_else(|| {
            format!("the sentence with \"{word}\" at {at} begins before the one ahead of it ends")
        })?;
        if gap > (1 << 20) {
            return Err(format!(
                "between the sentences before {at} stand {gap} characters that the file does not have"
            ));
        }
        text.push_str(&if gap == 1 { " ".to_owned() } else { "\n".repeat(gap) });
        text.push_str(&sentence.text);
        length += gap + units(&sentence.text);
    }
    Ok(text)
}

/// Returns the spans of each question, in characters.
fn answers(document: &Parsed) -> Result<BTreeMap<String, Vec<SpanOf>>, String> {
    let mut found: BTreeMap<String, Vec<SpanOf>> = BTreeMap::new();
    let to_characters = |at| OffsetUnit::Utf16.to_characters(&document.text, at).map_err(|e| e.to_string());
    for (layer, marked) in document.layers.iter().zip(&document.marked) {
        for span in marked {
            let (start, end) = (to_characters(span.start)?, to_characters(span.end)?);
            if start >= end {
                continue; // a place between two characters, which no span can be
            }
            let mut values = span.values.iter().zip(&layer.features).enumerate();
            // A span without a value has the name of its layer.
            let mut add = |question: String, label: &str| {
                found.entry(question).or_default().push((start, end, label.to_owned()));
            };
            if layer.features.is_empty() {
                add(layer.name.clone(), &layer.name);
            }
            for (nth, (value, feature)) in values.by_ref() {
                let after_role = nth > 0 && layer.features[nth - 1].starts_with(ROLE);
                if feature.starts_with(ROLE) || after_role {
                    continue; // a link to another span
                }
                let question = format!("{}.{}", layer.name, short(feature));
                match value {
                    Some(value) => add(question, value),
                    None if nth == 0 => add(question, &layer.name),
                    None => {}
                }
            }
        }
    }
    Ok(found)
}

/// The last word of a feature's name: slots have their type in front.
fn short(feature: &str) -> &str {
    feature.rsplit(':').next().unwrap_or(feature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(file: &str) -> (String, BTreeMap<String, Vec<SpanOf>>) {
        let document = parsed(file).unwrap();
        let answers = answers(&document).unwrap();
        (document.text, answers)
    }

    const HEAD: &str =
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.b.Named|value|more\n#T_RL=a.b.Rel|kind|BT_a.b.Named\n\n\n";

    #[test]
    fn multi_word_and_overlapping_spans_are_read() {
        let file = format!(
            "{HEAD}#Text=Ann 😊 Lee ran .\n1-1\t0-3\tAnn\tPER[1]|GIVEN\tx[1]|_\t_\t_\t\n1-2\t4-6\t😊\tPER[1]\tx[1]\t_\t_\t\n\
             1-3\t7-10\tLee\tPER[1]\tx[1]\t_\t_\t\n1-4\t11-14\tran\t*\ty\t_\t_\t\n1-5\t15-16\t.\t_\t_\t_\t_\t\n\n\
             #Text=a\\|b\n2-1\t18-21\ta\\|b\tX\\_\\[1\\]\t_\t_\t_\t\n"
        );
        let (text, answers) = read(&file);
        assert_eq!(text, "Ann 😊 Lee ran .\n\na|b");
        let value: Vec<_> = answers["Named.value"].iter().map(|(s, e, k)| (*s, *e, k.as_str())).collect();
        // The emoji is two units and one character.
        assert_eq!(value, [(0, 9, "PER"), (0, 3, "GIVEN"), (10, 13, "Named"), (17, 20, "X_[1]")]);
        assert_eq!(answers["Named.more"], [(0, 9, "x".to_owned()), (10, 13, "y".to_owned())]);
        assert!(!answers.contains_key("Rel.kind"));
    }

    #[rstest]
    #[case::token_without_end("#Text=a\n1-1\t0\ta\n", 7, "no place")]
    #[case::token_without_text("1-1\t0-1\ta\n", 6, "before the first text")]
    #[case::row_without_token("#Text=b\n1-1\t0-1\n", 7, "between tabs")]
    #[case::token_of_another_text("#Text=b\n1-1\t0-1\ta\n", 1, "not in the text")]
    fn error_names_the_line(#[case] lines: &str, #[case] line: usize, #[case] says: &str) {
        let (at, why) = parsed(&format!("{HEAD}{lines}")).err().unwrap();
        assert!(at == line && why.contains(says), "{at} {why}");
    }
}
