//! A known set of labels, written in every shape and read back: the same labels, whatever the shape, the
//! order of columns, the separator, the quotes, the encoding and the gaps.

use super::{file, recognised};
use dissensus_exchange::{ColumnRoles, RankedReading, Source, read_rows};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The label of an annotator for a text and a question, in an annotation round.
type Labels = BTreeMap<(String, String, usize, u16), String>;

#[derive(Clone, Copy, Debug)]
enum Shape {
    Long,
    Questions,
    Options,
    Wide,
    Lists,
    Objects,
    Rounds,
    Pairs,
}

const SHAPES: [Shape; 8] = [
    Shape::Long,
    Shape::Questions,
    Shape::Options,
    Shape::Wide,
    Shape::Lists,
    Shape::Objects,
    Shape::Rounds,
    Shape::Pairs,
];
const OPTIONS: [&str; 4] = ["admiration", "anger", "joy", "neutral"];
const BODIES: [&str; 4] =
    ["a plain text", "with, comma; and \"quotes\"", "zwei Zeilen\nund Ümläute", "tab\there and more"];

/// How a table is written.
#[derive(Clone, Debug)]
struct Style {
    separator: u8,
    quoted: bool,
    bom: bool,
    utf16: bool,
    reversed: bool,
    who: &'static str,
    id: &'static str,
    text: &'static str,
}

fn styles() -> impl Strategy<Value = Style> {
    let who = prop::sample::select(
        &["worker", "rater_id", "Coder", "user_id", "annotateur", "Kodierer", "participant"][..],
    );
    let id = prop::sample::select(&["item_id", "id", "comment_id", "Sentence ID"][..]);
    let text = prop::sample::select(&["text", "comment", "sentence", "Kommentar", "texto"][..]);
    let separator = prop::sample::select(&[b',', b';', b'\t'][..]);
    (separator, any::<[bool; 4]>(), who, id, text).prop_map(
        |(separator, [quoted, bom, utf16, reversed], who, id, text)| Style {
            separator,
            quoted,
            bom,
            utf16,
            reversed,
            who,
            id,
            text,
        },
    )
}

/// Labels of 3 to 5 annotators for 8 to 14 texts with gaps: levels 0 to 3, or sets of options as bits.
fn known() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    (8_usize..14, 3_usize..6).prop_flat_map(|(texts, people)| {
        let cells = prop::collection::vec(0_u8..20, texts * people * 3);
        (Just(texts), Just(people), cells)
    })
}

fn body(text: usize) -> String {
    format!("{} {text}", BODIES[text % BODIES.len()])
}

/// The cells of a table and its labels.
fn written(
    shape: Shape,
    style: &Style,
    texts: usize,
    people: usize,
    cells: &[u8],
) -> (Vec<Vec<String>>, Labels) {
    let value = |t: usize, p: usize, q: usize| {
        let cell = cells[(t * people + p) * 3 + q];
        // One of five is a gap; each annotator has a first row.
        (cell >= 4 || t < 2).then_some(cell % 4)
    };
    let (id, who) = (|t: usize| format!("t{t}"), |p: usize| format!("p{p}"));
    let mut labels = Labels::new();
    let mut add = |t: usize, who: String, q: usize, occasion: u16, label: String| {
        labels.insert((id(t), who, q, occasion), label);
    };
    let word = |v: Option<u8>| v.map(|v| v.to_string()).unwrap_or_default();
    let mut header = vec![style.id.to_owned(), style.text.to_owned()];
    let mut rows: Vec<Vec<String>> = Vec::new();
    match shape {
        Shape::Long | Shape::Questions | Shape::Options | Shape::Rounds => {
            header.push(style.who.to_owned());
            let names: Vec<String> = match shape {
                Shape::Long => vec!["label".to_owned()],
                Shape::Questions => ["Q1_harm", "Q2_bias", "Q_overall"].map(str::to_owned).to_vec(),
                Shape::Rounds => ["label1", "label2"].map(str::to_owned).to_vec(),
                _ => OPTIONS.map(str::to_owned).to_vec(),
            };
            header.extend(names.iter().cloned());
            for t in 0..texts {
                for p in 0..people {
                    let mut row = vec![id(t), body(t), who(p)];
                    match shape {
                        Shape::Options => {
                            let bits = cells[(t * people + p) * 3] % 16;
                            row.extend((0..4).map(|o| (bits >> o & 1).to_string()));
                            let chosen: Vec<&str> =
                                (0..4).filter(|o| bits >> o & 1 == 1).map(|o| OPTIONS[o]).collect();
                            add(t, who(p), 0, 1, serde_json::Value::from(chosen).to_string());
                        }
                        _ => {
                            for (q, _) in names.iter().enumerate() {
                                let v = value(t, p, q);
                                row.push(word(v));
                                if let Some(v) = v {
                                    let (question, occasion) = if matches!(shape, Shape::Rounds) {
                                        (0, q as u16 + 1)
                                    } else {
                                        (q, 1)
                                    };
                                    add(t, who(p), question, occasion, v.to_string());
                                }
                            }
                        }
                    }
                    rows.push(row);
                }
            }
        }
        Shape::Wide => {
            header.extend((0..people).map(|p| format!("rater_{p}")));
            for t in 0..texts {
                let mut row = vec![id(t), body(t)];
                for p in 0..people {
                    let v = value(t, p, 0);
                    row.push(word(v));
                    if let Some(v) = v {
                        add(t, format!("rater_{p}"), 0, 1, v.to_string());
                    }
                }
                rows.push(row);
            }
        }
        Shape::Pairs => {
            header.extend((1..=people).flat_map(|p| [format!("worker_{p}"), format!("score_{p}")]));
            for t in 0..texts {
                let mut row = vec![id(t), body(t)];
                for p in 0..people {
                    let v = value(t, p, 0);
                    row.push(v.map(|_| who((p + t) % people)).unwrap_or_default());
                    row.push(word(v));
                    if let Some(v) = v {
                        add(t, who((p + t) % people), 0, 1, v.to_string());
                    }
                }
                rows.push(row);
            }
        }
        Shape::Lists | Shape::Objects => {
            match shape {
                Shape::Lists => header.extend(["annotators".to_owned(), "labels".to_owned()]),
                _ => header.push("annotations".to_owned()),
            }
            for t in 0..texts {
                let given: Vec<(String, u8)> =
                    (0..people).filter_map(|p| Some((who(p), value(t, p, 0)?))).collect();
                for (who, v) in &given {
                    add(t, who.clone(), 0, 1, v.to_string());
                }
                let mut row = vec![id(t), body(t)];
                match shape {
                    Shape::Lists => {
                        let (who, what): (Vec<String>, Vec<u8>) = given.into_iter().unzip();
                        row.extend([serde_json::json!(who).to_string(), serde_json::json!(what).to_string()]);
                    }
                    _ => {
                        let objects =
                            given.iter().map(|(who, v)| serde_json::json!({"annotator": who, "label": v}));
                        row.push(serde_json::Value::from(objects.collect::<Vec<_>>()).to_string());
                    }
                }
                rows.push(row);
            }
        }
    }
    rows.insert(0, header);
    if style.reversed {
        rows.iter_mut().for_each(|row| row.reverse());
    }
    (rows, labels)
}

/// The bytes of a table in a style.
fn bytes(rows: &[Vec<String>], style: &Style) -> Vec<u8> {
    let quotes = if style.quoted { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
    let mut out =
        csv::WriterBuilder::new().delimiter(style.separator).quote_style(quotes).from_writer(Vec::new());
    rows.iter().for_each(|row| out.write_record(row).unwrap());
    let text = String::from_utf8(out.into_inner().unwrap()).unwrap();
    match (style.utf16, style.bom) {
        (true, _) => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        (false, true) => format!("\u{feff}{text}").into_bytes(),
        (false, false) => text.into_bytes(),
    }
}

/// The labels of a reading, with questions by their order.
fn labels_of(source: &Source, ranked: &RankedReading) -> Labels {
    let made = source.with_reading(&ranked.reading, None).unwrap();
    let roles: ColumnRoles = made.roles().cloned().unwrap_or_else(|| ranked.reading.roles.clone());
    let questions = ranked.reading.questions();
    let mut labels = Labels::new();
    for row in read_rows(&made, &roles).unwrap() {
        let row = row.unwrap();
        let Some(label) = row.label else { continue };
        let question =
            row.question.and_then(|name| questions.iter().position(|known| *known == name)).unwrap_or(0);
        let key = (row.text_id.unwrap(), row.annotator.unwrap(), question, row.occasion.unwrap_or(1));
        assert!(labels.insert(key.clone(), label).is_none(), "{key:?} twice");
    }
    labels
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_shape_round_trips_its_labels((texts, people, cells) in known(), style in styles()) {
        let folder = tempfile::tempdir().unwrap();
        for shape in SHAPES {
            let (rows, mut expected) = written(shape, &style, texts, people, &cells);
            let ending = if style.separator == b'\t' { "tsv" } else { "csv" };
            let path = file(&folder, &format!("table.{ending}"), "");
            std::fs::write(&path, bytes(&rows, &style)).unwrap();
            let (source, found) = recognised(&path);
            let best = &found.readings[0];
            let mut found_labels = labels_of(&source, best);
            if matches!(shape, Shape::Questions) && style.reversed {
                // Questions are numbered in the order of their columns.
                found_labels = found_labels.into_iter().map(|((t, w, q, o), l)| ((t, w, 2 - q, o), l)).collect();
            }
            if matches!(shape, Shape::Options) {
                let sorted = |label: String| {
                    let mut options: Vec<String> = serde_json::from_str(&label).unwrap();
                    options.sort();
                    options.join("+")
                };
                expected = expected.into_iter().map(|(key, label)| (key, sorted(label))).collect();
                found_labels = found_labels.into_iter().map(|(key, label)| (key, sorted(label))).collect();
            }
            prop_assert_eq!(&found_labels, &expected, "{:?} {:?} {:?}", shape, style, best.title);
            // A saved reading reproduces the same rows.
            let json = serde_json::to_string(&best.reading).unwrap();
            let again = RankedReading { reading: serde_json::from_str(&json).unwrap(), ..best.clone() };
            prop_assert_eq!(&again.reading, &best.reading);
            prop_assert_eq!(recognised(&path).1, found);
        }
    }
}
