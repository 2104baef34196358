//! The values of one record, column by column.

/// One record's values, stored in one string so that a pass over a file does not allocate for each value.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// All values, one after the other.
    pub(crate) text: String,
    /// Where each value ends in `text`.
    pub(crate) ends: Vec<usize>,
    /// Columns whose value was a JSON list or object (their text is its JSON).
    pub(crate) nested: Vec<(usize, &'static str)>,
    /// These lists and objects, parsed, so that their entries need not be parsed again (JSON Lines only).
    pub(crate) parsed: Vec<(usize, serde_json::Value)>,
    /// Values of keys that are not columns (JSON Lines only).
    pub(crate) extra: Vec<(String, String)>,
    /// Spans that do not begin with a tag for a beginning (CoNLL only).
    pub(crate) begun_inside: u32,
}

impl Cells {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.nested.clear();
        self.parsed.clear();
        self.extra.clear();
        self.begun_inside = 0;
    }

    /// Ends the value whose characters were pushed onto `text`.
    pub(crate) fn end_value(&mut self) {
        self.ends.push(self.text.len());
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The value of the column at `index`; empty if there is none.
    pub(crate) fn get(&self, index: usize) -> &str {
        let Some(&end) = self.ends.get(index) else { return "" };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..end]
    }

    /// All values of columns in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }
}
