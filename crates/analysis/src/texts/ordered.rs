//! The order of a list of texts, cached as long as nothing changes, so that the cost of each further part is
//! proportional to its rows.

use super::Texts;
use super::states::{Scope, TextStates};
use dissensus_api::{TextCounts, TextFilter, TextQuery, TextSort};
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::sync::{Arc, Mutex};

/// A whole list.
pub(super) struct List {
    query: TextQuery,
    of: Scope,
    long: Option<Arc<Vec<bool>>>,
    pub(super) states: Arc<TextStates>,
    /// How far labels differ, if it may be shown; empty in a packet.
    pub(super) contested: Arc<Vec<f32>>,
    /// Rows of the index, in the order of the list.
    pub(super) rows: Vec<u32>,
    pub(super) counts: TextCounts,
}

/// The last list, and the last result of a search.
#[derive(Default)]
pub(super) struct Lists {
    list: Mutex<Option<Arc<List>>>,
    search: Mutex<Option<(String, OfIndex)>>,
    lengths: Mutex<Option<OfIndex>>,
}

/// Numbers that are valid for one index: rows that were found, or a length for each row.
#[derive(Clone)]
struct OfIndex {
    index: Arc<Index>,
    numbers: Arc<Vec<u32>>,
}

impl OfIndex {
    fn new(index: &Arc<Index>, numbers: Vec<u32>) -> Self {
        Self { index: Arc::clone(index), numbers: Arc::new(numbers) }
    }

    fn is_of(&self, index: &Arc<Index>) -> bool {
        Arc::ptr_eq(&self.index, index)
    }
}

impl List {
    /// Whether the states of its texts are left out.
    pub(super) fn lacks_states(&self) -> bool {
        self.query.bare
    }

    /// How far labels of a text differ, if it may be shown.
    pub(super) fn differs(&self, row: u32) -> Option<f32> {
        self.contested.get(row as usize).copied().filter(|value| !value.is_nan())
    }

    pub(super) fn is_long(&self, row: u32) -> bool {
        self.long.as_ref().is_some_and(|long| long.get(row as usize) == Some(&true))
    }
}

impl Texts {
    /// The current list for a query.
    pub(super) fn list(&self, query: &TextQuery, of: &Scope) -> Result<Arc<List>, ProjectError> {
        if query.bare && query.filter == TextFilter::All && query.sort == TextSort::File {
            return self.list_without_states(query, of);
        }
        let long = self.encoding.long_texts()?;
        let same_long = |a: &Option<Arc<Vec<bool>>>| match (a, &long) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let last = lock(&self.lists.list).clone().filter(|list| list.of == *of);
        if let Some(last) = last.as_ref().filter(|list| list.query == *query && same_long(&list.long)) {
            return Ok(Arc::clone(last));
        }
        let (states, contested) = match last {
            Some(last) => (Arc::clone(&last.states), Arc::clone(&last.contested)),
            None => {
                let states = Arc::new(self.text_states(of)?);
                let contested = Arc::new(self.visible_contested(of)?);
                (states, contested)
            }
        };
        let found = self.listed(&query.search, &of.index)?;
        let mut list = List {
            query: query.clone(),
            of: of.clone(),
            long,
            states,
            contested,
            rows: Vec::new(),
            counts: TextCounts::default(),
        };
        list.counts = self.counts(&list, &found);
        list.rows = found.iter().copied().filter(|row| is_in(&list, *row, query.filter)).collect();
        self.sort(&mut list)?;
        let list = Arc::new(list);
        *lock(&self.lists.list) = Some(Arc::clone(&list));
        Ok(list)
    }

    /// All texts that match the search, without their states.
    fn list_without_states(&self, query: &TextQuery, of: &Scope) -> Result<Arc<List>, ProjectError> {
        let found = self.listed(&query.search, &of.index)?;
        Ok(Arc::new(List {
            query: query.clone(),
            of: of.clone(),
            long: None,
            states: Arc::new(TextStates::unknown(of.index.texts().len())),
            contested: Arc::default(),
            rows: found.to_vec(),
            counts: TextCounts { all: found.len() as u32, ..TextCounts::default() },
        }))
    }

    /// How far labels differ, if it may be shown; nothing in a packet.
    fn visible_contested(&self, of: &Scope) -> Result<Vec<f32>, ProjectError> {
        if self.context.packet.is_some() {
            return Ok(Vec::new());
        }
        self.contested(of)
    }

    fn counts(&self, list: &List, found: &[u32]) -> TextCounts {
        let count = |filter| found.iter().filter(|row| is_in(list, **row, filter)).count() as u32;
        TextCounts {
            all: found.len() as u32,
            answered: count(TextFilter::Answered),
            not_yet: count(TextFilter::NotYet),
            skipped: count(TextFilter::Skipped),
            flagged: count(TextFilter::Flagged),
            noted: count(TextFilter::Noted),
            contested: self.context.packet.is_none().then(|| count(TextFilter::Contested)),
            long: list.long.as_ref().map(|_| count(TextFilter::Long)),
        }
    }

    fn sort(&self, list: &mut List) -> Result<(), ProjectError> {
        let mut rows = std::mem::take(&mut list.rows);
        match list.query.sort {
            TextSort::File => {}
            TextSort::Newest => {
                let given = |row: &u32| list.states.given_at.get(*row as usize).copied().flatten();
                rows.sort_by_key(|row| std::cmp::Reverse(given(row)));
            }
            TextSort::Longest => {
                let lengths = self.lengths(&list.of.index)?;
                rows.sort_by_key(|row| std::cmp::Reverse(lengths.get(*row as usize).copied()));
            }
            TextSort::Contested => {
                let value = |row: &u32| list.differs(*row).unwrap_or(-1.0);
                rows.sort_by(|a, b| value(b).total_cmp(&value(a)));
            }
        }
        list.rows = rows;
        Ok(())
    }

    /// Rows of the texts of a list that match the search: practice texts are not in that of a packet, where
    /// nobody can answer them.
    fn listed(&self, search: &str, index: &Arc<Index>) -> Result<Arc<Vec<u32>>, ProjectError> {
        let mut found = self.searched(search, index)?;
        if self.context.packet.is_some() {
            let book = self.practice.book()?;
            Arc::make_mut(&mut found).retain(|row| !book.is_practice(index.texts()[*row as usize]));
        }
        Ok(found)
    }

    /// Rows of the texts that match the search.
    fn searched(&self, search: &str, index: &Arc<Index>) -> Result<Arc<Vec<u32>>, ProjectError> {
        let wanted = search.trim();
        if let Some((last, found)) = lock(&self.lists.search).as_ref()
            && last == wanted
            && found.is_of(index)
        {
            return Ok(Arc::clone(&found.numbers));
        }
        let rows = match wanted {
            "" => (0..index.texts().len() as u32).collect(),
            _ => {
                let found = self.context.store.search_texts(wanted)?;
                found.into_iter().filter_map(|text| index.text_row(text)).collect()
            }
        };
        let found = OfIndex::new(index, rows);
        *lock(&self.lists.search) = Some((wanted.to_owned(), found.clone()));
        Ok(found.numbers)
    }

    /// Characters of every text.
    fn lengths(&self, index: &Arc<Index>) -> Result<Arc<Vec<u32>>, ProjectError> {
        if let Some(known) = lock(&self.lists.lengths).as_ref()
            && known.is_of(index)
        {
            return Ok(Arc::clone(&known.numbers));
        }
        let mut lengths = vec![0; index.texts().len()];
        for (text, characters) in self.context.store.text_lengths()? {
            if let Some(row) = index.text_row(text) {
                lengths[row as usize] = characters;
            }
        }
        let known = OfIndex::new(index, lengths);
        *lock(&self.lists.lengths) = Some(known.clone());
        Ok(known.numbers)
    }
}

fn is_in(list: &List, row: u32, filter: TextFilter) -> bool {
    match filter {
        TextFilter::Contested => list.differs(row).is_some_and(|value| value > 0.0),
        TextFilter::Long => list.is_long(row),
        _ => list.states.is_in(row, filter),
    }
}
