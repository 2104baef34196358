//! Pseudonymised labels: pseudonyms instead of ids, and nothing else that could identify an annotator.

use super::choices::{Exported, Pseudonymised};
use dissensus_domain::{Attributes, LabelSource, Note, QuestionId, Shown};
use dissensus_exchange::{LabelRow, StudyCells, ToolLabels, ToolPerson};
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::pseudonyms::{Pseudonyms, SharedAttributes};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The pseudonyms of a file.
pub(super) struct Mask {
    /// By external id: number, pseudonym and the attributes that are written.
    people: HashMap<String, MaskedAnnotator>,
    notes: bool,
    suppressed: u64,
    left_blank: Vec<String>,
    identifiable: u64,
}

struct MaskedAnnotator {
    number: u32,
    name: String,
    attributes: Attributes,
}

impl Mask {
    /// Creates pseudonyms for all annotators of the project; attributes are those of annotators with labels
    /// (of `question`), as far as enough of them share a value.
    pub(super) fn new(
        context: &Context,
        question: Option<QuestionId>,
        request: Pseudonymised,
    ) -> Result<Self, ProjectError> {
        let pseudonyms = Pseudonyms::new(context)?;
        let mut labelled = BTreeSet::new();
        for count in context.store.annotator_counts()? {
            if question.is_none_or(|question| question == count.question) && count.labels > 0 {
                labelled.insert(count.annotator);
            }
        }
        let everyone = context.store.annotators()?;
        let with_labels = everyone.iter().filter(|a| labelled.contains(&a.id));
        let shared = SharedAttributes::of(with_labels.map(|a| (a.id, &a.attributes)));
        let mut people = HashMap::with_capacity(everyone.len());
        for person in everyone {
            let number = pseudonyms.number(person.id)?;
            let (name, attributes) = (Pseudonyms::name(number), shared.person(person.id));
            people.insert(person.external_id, MaskedAnnotator { number, name, attributes });
        }
        let SharedAttributes { suppressed, left_blank, identifiable, .. } = shared;
        Ok(Self { people, notes: request.notes, suppressed, left_blank, identifiable })
    }

    /// Attributes that are written for at least one annotator.
    pub(super) fn attributes(&self) -> BTreeSet<String> {
        self.people.values().flat_map(|person| person.attributes.keys().cloned()).collect()
    }

    /// Removes the note, which is free text and may contain names, unless notes are asked for.
    fn mask_note(&self, note: &Note) -> Note {
        Note { note: note.note.clone().filter(|_| self.notes), ..note.clone() }
    }

    /// The study columns, without who decided.
    pub(super) fn study(&self, cells: StudyCells) -> StudyCells {
        cells.masked(self.notes)
    }

    /// The counts for the report about the file.
    pub(super) fn done(&self) -> Exported {
        Exported {
            suppressed: self.suppressed,
            left_blank: self.left_blank.clone(),
            identifiable: self.identifiable,
            ..Exported::default()
        }
    }

    /// Masks labels, and sorts them by pseudonym: no times, and no metadata of texts.
    pub(super) fn labels(&self, labels: &mut ToolLabels) {
        let mut people: Vec<(u32, usize, ToolPerson)> = Vec::with_capacity(labels.people.len());
        for (nth, person) in std::mem::take(&mut labels.people).into_iter().enumerate() {
            let masked = self.people.get(&person.id);
            // An annotator who was added between two reads of the project gets a placeholder rather than
            // their id.
            let id = masked.map_or_else(|| "A?".to_owned(), |masked| masked.name.clone());
            let attributes = masked.map_or_else(Attributes::new, |masked| masked.attributes.clone());
            people.push((
                masked.map_or(u32::MAX, |masked| masked.number),
                nth,
                ToolPerson { id, attributes },
            ));
        }
        people.sort_by_key(|(number, nth, _)| (*number, *nth));
        let place: HashMap<usize, usize> = people.iter().map(|(_, nth, _)| *nth).zip(0..).collect();
        labels.people = people.into_iter().map(|(.., person)| person).collect();
        for text in &mut labels.texts {
            text.group = None;
            text.metadata.clear();
        }
        for answer in &mut labels.answers {
            answer.person = place[&answer.person];
            (answer.at_ms, answer.duration_ms) = (None, None);
            answer.note = self.mask_note(&answer.note);
        }
    }

    /// Masks a row: no times, which reveal who worked when, and no metadata of the text.
    pub(super) fn row(&self, row: &LabelRow<'_>, answered: bool) -> MaskedRow {
        let person = self.people.get(row.annotator);
        let owned = |value: Option<&str>| value.map(str::to_owned);
        MaskedRow {
            number: person.map_or(u32::MAX, |person| person.number),
            answered,
            text_id: row.text_id.to_owned(),
            text: row.text.to_owned(),
            // An annotator who was added between two reads of the project gets a placeholder rather than
            // their id.
            annotator: person.map_or_else(|| "A?".to_owned(), |person| person.name.clone()),
            label: owned(row.label),
            spans: row.spans,
            question: owned(row.question),
            split: owned(row.split),
            // A thread or a document, which often reveals its author.
            group: None,
            source: row.source,
            occasion: row.occasion,
            note: row.note.map(|note| self.mask_note(note)),
            skipped: row.skipped,
            flagged: row.flagged,
            guideline: row.guideline,
            study: self.study(row.study.clone()),
            shown: row.shown,
            attributes: person.map_or_else(Attributes::new, |person| person.attributes.clone()),
            nothing: BTreeMap::new(),
        }
    }
}

/// A masked row, buffered until all rows of its text are complete.
pub(super) struct MaskedRow {
    pub(super) number: u32,
    pub(super) answered: bool,
    text_id: String,
    text: String,
    annotator: String,
    label: Option<String>,
    spans: bool,
    question: Option<String>,
    split: Option<String>,
    group: Option<String>,
    source: Option<LabelSource>,
    occasion: u16,
    note: Option<Note>,
    skipped: bool,
    flagged: bool,
    guideline: Option<u32>,
    study: StudyCells,
    shown: Shown,
    attributes: Attributes,
    nothing: BTreeMap<String, String>,
}

impl MaskedRow {
    /// Whether both rows have the same text and question, and are both answers or both not.
    pub(super) fn is_next_to(&self, other: &Self) -> bool {
        (&self.text_id, &self.question, self.answered) == (&other.text_id, &other.question, other.answered)
    }

    pub(super) fn as_row(&self) -> LabelRow<'_> {
        LabelRow {
            text_id: &self.text_id,
            text: &self.text,
            annotator: &self.annotator,
            label: self.label.as_deref(),
            spans: self.spans,
            question: self.question.as_deref(),
            split: self.split.as_deref(),
            group: self.group.as_deref(),
            at_ms: None,
            duration_ms: None,
            source: self.source,
            occasion: self.occasion,
            note: self.note.as_ref(),
            skipped: self.skipped,
            flagged: self.flagged,
            guideline: self.guideline,
            study: &self.study,
            shown: self.shown,
            attributes: &self.attributes,
            metadata: &self.nothing,
        }
    }
}
