//! Statistics about the values of each column in a sample of rows; values are hashed.

use crate::cells::Cells;
use foldhash::quality::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

/// More different values than this in a column, and it is neither a label nor a category.
const CATEGORIES: usize = 200;
/// More different values than this in a column, and it is no label.
const LEVELS: usize = 20;
/// The longest value of a category, in bytes.
const CATEGORY_BYTES: usize = 120;

/// A running summary of a sample. Blank values count as missing.
#[derive(Debug)]
pub(crate) struct Survey {
    keys: RandomState,
    text: Option<usize>,
    annotator: Option<usize>,
    columns: Vec<Column>,
    /// The texts of each annotator, and the annotators of each text: one, or several.
    annotators: HashMap<u64, OneOrSeveral>,
    texts: HashMap<u64, OneOrSeveral>,
    /// Pairs of text and annotator, until one occurs a second time.
    pairs: HashSet<(u64, u64)>,
    twice: bool,
}

#[derive(Debug, Default)]
struct Column {
    /// Different values, up to one more than [`CATEGORIES`].
    values: HashSet<String>,
    long: bool,
    /// A value is blank.
    blank: bool,
    by_annotator: HashMap<u64, OneOrSeveral>,
    /// The first value of each annotator, and the annotators with a conflicting one (not just another
    /// spelling).
    first: HashMap<u64, String>,
    contradicted: HashSet<u64>,
    by_text: HashMap<u64, OneOrSeveral>,
    /// The annotators and the texts with several values, of which blank may be one.
    blank_by_annotator: HashMap<u64, OneOrSeveral>,
    blank_by_text: HashMap<u64, OneOrSeveral>,
}

/// One value, or several.
#[derive(Clone, Copy, Debug)]
enum OneOrSeveral {
    One(u64),
    Several,
}

fn see(seen: &mut HashMap<u64, OneOrSeveral>, key: u64, value: u64) {
    let entry = seen.entry(key).or_insert(OneOrSeveral::One(value));
    if !matches!(entry, OneOrSeveral::One(known) if *known == value) {
        *entry = OneOrSeveral::Several;
    }
}

/// Whether two values of an attribute may mean the same: they differ only in case, or by a year of age.
fn is_nearly(one: &str, other: &str) -> bool {
    let years = |value: &str| value.parse::<f64>().ok();
    let close = years(one).zip(years(other)).is_some_and(|(a, b)| (a - b).abs() <= 1.0 && a > 1.0 && b > 1.0);
    close || one.to_lowercase() == other.to_lowercase()
}

fn several(seen: &HashMap<u64, OneOrSeveral>) -> usize {
    seen.values().filter(|s| matches!(s, OneOrSeveral::Several)).count()
}

impl Survey {
    pub(crate) fn new(columns: usize, text: Option<usize>, annotator: Option<usize>) -> Self {
        Self {
            keys: RandomState::default(),
            text,
            annotator,
            columns: std::iter::repeat_with(Column::default).take(columns).collect(),
            annotators: HashMap::new(),
            texts: HashMap::new(),
            pairs: HashSet::new(),
            twice: false,
        }
    }

    /// Adds one row.
    pub(crate) fn take(&mut self, cells: &Cells) {
        let key = |column: Option<usize>| column.map(|c| self.keys.hash_one(cells.get(c).trim()));
        let (text, annotator) = (key(self.text), key(self.annotator));
        if let (Some(text), Some(annotator)) = (text, annotator) {
            see(&mut self.annotators, annotator, text);
            see(&mut self.texts, text, annotator);
            self.twice = self.twice || !self.pairs.insert((text, annotator));
        }
        for (index, column) in self.columns.iter_mut().enumerate() {
            let value = cells.get(index).trim();
            column.blank |= value.is_empty();
            if Some(index) == self.text || Some(index) == self.annotator {
                continue;
            }
            let hash = self.keys.hash_one(value);
            for (seen, key) in
                [(&mut column.blank_by_annotator, annotator), (&mut column.blank_by_text, text)]
            {
                key.into_iter().for_each(|key| see(seen, key, hash));
            }
            if value.is_empty() {
                continue;
            }
            column.long |= value.len() > CATEGORY_BYTES;
            if column.values.len() <= CATEGORIES && !column.long && !column.values.contains(value) {
                column.values.insert(value.to_owned());
            }
            if let Some(annotator) = annotator {
                see(&mut column.by_annotator, annotator, hash);
                let first = column.first.entry(annotator).or_insert_with(|| value.to_owned());
                if first != value && !is_nearly(first, value) {
                    column.contradicted.insert(annotator);
                }
            }
            if let Some(text) = text {
                see(&mut column.by_text, text, hash);
            }
        }
    }

    /// Whether `reads` accepts every value that is not blank, and there is one. A column of very many values
    /// is judged by the first of them.
    pub(crate) fn all_read(&self, column: usize, reads: impl Fn(&str) -> bool) -> bool {
        let column = &self.columns[column];
        !column.long && !column.values.is_empty() && column.values.iter().all(|v| reads(v))
    }

    /// Whether `reads` accepts a value.
    pub(crate) fn any_read(&self, column: usize, reads: impl Fn(&str) -> bool) -> bool {
        self.columns[column].values.iter().any(|v| reads(v))
    }

    /// Whether every value is blank.
    pub(crate) fn is_blank(&self, column: usize) -> bool {
        !self.columns[column].long && self.columns[column].values.is_empty()
    }

    /// Whether a value is blank.
    pub(crate) fn has_blank(&self, column: usize) -> bool {
        self.columns[column].blank
    }

    /// Whether every row has the same value.
    pub(crate) fn is_one(&self, column: usize) -> bool {
        let column = &self.columns[column];
        !column.long && !column.blank && column.values.len() == 1
    }

    /// Whether an annotator occurs twice with the same text.
    pub(crate) fn answers_twice(&self) -> bool {
        self.twice
    }

    /// Whether a text has several values.
    pub(crate) fn varies_within_text(&self, column: usize) -> bool {
        several(&self.columns[column].by_text) > 0
    }

    /// Whether each text with several annotators has one value, and not all texts the same one.
    pub(crate) fn belongs_to_text(&self, column: usize) -> bool {
        let about = &self.columns[column];
        let answered_by_several = several(&self.texts) >= 3;
        answered_by_several && about.values.len() > 1 && several(&about.by_text) == 0
    }

    /// Whether each annotator has one value, or none, in all rows.
    pub(crate) fn is_constant_within_annotators(&self, column: usize) -> bool {
        !self.is_blank(column) && several(&self.columns[column].blank_by_annotator) == 0
    }

    /// Whether each text has one value, or none, in all rows.
    pub(crate) fn is_constant_within_texts(&self, column: usize) -> bool {
        several(&self.columns[column].blank_by_text) == 0
    }

    /// Whether annotators with several texts have different values, which are not those of texts with several
    /// annotators.
    pub(crate) fn differs_between_annotators(&self, column: usize) -> bool {
        let of_texts = several(&self.texts) > 0 && self.is_constant_within_texts(column);
        self.columns[column].values.len() > 1 && several(&self.annotators) >= 2 && !of_texts
    }

    fn is_category(&self, column: usize) -> bool {
        let column = &self.columns[column];
        !column.long && (2..=CATEGORIES).contains(&column.values.len())
    }

    /// At most twenty short values: names of levels or of questions, not sentences of many kinds.
    pub(crate) fn is_few(&self, column: usize) -> bool {
        !self.columns[column].long && self.columns[column].values.len() <= LEVELS
    }

    /// Few values, and the same text and the same annotator have different ones.
    pub(crate) fn looks_like_label(&self, column: usize) -> bool {
        let about = &self.columns[column];
        self.is_category(column)
            && self.is_few(column)
            && several(&about.by_annotator) > 0
            && several(&about.by_text) > 0
    }

    /// Whether the column describes annotators: constant within each, different between them, and not simply
    /// a property of the text. Columns with `usual` names of attributes are accepted unless one annotator in
    /// ten contradicts.
    pub(crate) fn looks_like_attribute(&self, column: usize, usual: bool) -> bool {
        let about = &self.columns[column];
        let contradictions = several(&about.by_annotator);
        if usual {
            return !about.long && about.contradicted.len() * 10 <= about.by_annotator.len();
        }
        let repeated_annotators = several(&self.annotators) >= 2;
        let belongs_to_text = several(&self.texts) > 0 && several(&about.by_text) == 0;
        // An own value for each annotator is a name, unless there are only a few of them.
        let shared_values = about.values.len() < about.by_annotator.len() || about.values.len() <= 12;
        self.is_category(column)
            && repeated_annotators
            && contradictions == 0
            && !belongs_to_text
            && shared_values
    }
}
