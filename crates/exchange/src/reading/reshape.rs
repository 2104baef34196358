//! A reading resolved against its table: the columns of the rows that it makes, and where their values come
//! from.

use super::table_reading::{AnswerColumn, TableReading};
use super::value_rules::{Rules, Treatment};
use crate::annotations::Hint;
use crate::table_file::TableFile;
use crate::{ColumnRoles, ExchangeError};
use dissensus_domain::{Attributes, ScaleKind};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// The source of a value in a column of the made rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A cell of the table.
    Cell(usize),
    /// The current entry of a list, or a field of it: by the index of the list.
    Entry(usize, Option<String>),
    /// Several cells with a slash between them.
    Joined(Vec<usize>),
    /// From the current column of answers: the answer, its annotator, the text, the question, the annotation
    /// round, an attribute.
    Answer,
    Annotator,
    Text,
    Question,
    Occasion,
    Attribute(String),
}

/// A column of the made rows.
#[derive(Clone, Debug)]
pub(crate) struct MadeColumn {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) treatment: Treatment,
}

/// The annotator of a column of answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// The annotator of the row.
    OfRow,
    Column(usize),
    Named(String),
}

/// The position of an answer: a column, or a field of the objects in its lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AnswerPosition {
    pub(crate) column: usize,
    pub(crate) field: Option<String>,
}

/// An answer of one annotator to one question in each row.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Its positions: one, or several with the option that each marks.
    pub(crate) places: Vec<(AnswerPosition, Option<String>)>,
    pub(crate) who: Who,
    /// The text of the answer, if it is not the one of the row.
    pub(crate) text: Option<String>,
    pub(crate) question: Option<String>,
    pub(crate) occasion: Option<u16>,
    pub(crate) attributes: Attributes,
}

/// A table with its reading.
#[derive(Clone, Debug)]
pub(crate) struct Reshape {
    pub(crate) path: PathBuf,
    pub(crate) table: Box<TableFile>,
    /// The other table, with the texts or with the answers to the texts of this one, and its columns for the
    /// made columns.
    pub(crate) joined: Option<Joined>,
    pub(crate) columns: Vec<MadeColumn>,
    pub(crate) names: Vec<String>,
    pub(crate) roles: ColumnRoles,
    pub(crate) slots: Vec<Slot>,
    /// The columns with lists.
    pub(crate) lists: Vec<usize>,
    pub(crate) separator: Option<String>,
    /// The columns of answers that are parsed as words for yes and no.
    pub(crate) truths: HashSet<usize>,
    pub(crate) rules: Rules,
    pub(crate) reading: TableReading,
}

/// The table with the texts.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    pub(crate) table: Box<TableFile>,
    /// For each made column the column of that table.
    pub(crate) places: Vec<Option<usize>>,
}

impl Reshape {
    /// Fits a reading to its table; `other` is the table that it is joined with.
    ///
    /// # Errors
    /// A column that is not there or is used twice, or a reading that contradicts itself.
    pub(crate) fn new(
        given: &TableFile,
        other: Option<&TableFile>,
        reading: &TableReading,
    ) -> Result<Self, ExchangeError> {
        let table = given;
        // The texts come first, so that the answers find them.
        let (table, texts, on) = match (other, &reading.join) {
            (Some(other), Some(join)) => {
                let there = join.other.as_ref().unwrap_or(&join.on);
                match !has_answers(table.columns(), reading) && has_answers(other.columns(), reading) {
                    true => (other, Some(table), Some((there.clone(), join.on.clone()))),
                    false => (table, Some(other), Some((join.on.clone(), there.clone()))),
                }
            }
            _ => (table, None, None),
        };
        let fitted = Fitting { table, texts, reading, names: HashMap::new(), columns: Vec::new() }.fit(on)?;
        Ok(Self { path: given.path().to_owned(), ..fitted })
    }

    /// The options of sets that have a column each.
    pub(crate) fn hints(&self) -> Vec<Hint> {
        let mut hints: Vec<Hint> = Vec::new();
        for slot in &self.slots {
            let name = slot.question.clone().unwrap_or_default();
            for option in slot.places.iter().filter_map(|(_, option)| option.as_ref()) {
                match hints.iter_mut().find(|hint| hint.name == name) {
                    Some(hint) if hint.levels.contains(option) => {}
                    Some(hint) => hint.levels.push(option.clone()),
                    None => hints.push(Hint {
                        name: name.clone(),
                        kind: ScaleKind::MultiLabel,
                        levels: vec![option.clone()],
                    }),
                }
            }
        }
        hints
    }

    /// The column of the table that a column of the made rows is about, for messages.
    pub(crate) fn shown_column<'a>(&'a self, made: &'a str, slot: Option<usize>) -> &'a str {
        let about = self.columns.iter().find(|column| column.name == made).map(|column| &column.origin);
        let column = |index: usize| self.table.columns().get(index).map_or(made, String::as_str);
        match (about, slot.and_then(|slot| self.slots.get(slot))) {
            (Some(Origin::Answer), Some(slot)) => {
                slot.places.first().map_or(made, |(place, _)| column(place.column))
            }
            (Some(Origin::Annotator), Some(Slot { who: Who::Column(index), .. })) => column(*index),
            (Some(Origin::Annotator | Origin::Text), Some(slot)) => {
                slot.places.first().map_or(made, |(place, _)| column(place.column))
            }
            _ => made,
        }
    }
}

/// Whether a table has the columns with the answers of a reading.
pub fn has_answers(columns: &[String], reading: &TableReading) -> bool {
    let roles = &reading.roles;
    let answers = reading.answers.first().map(|answer| &answer.column).or(roles.label.as_ref());
    // A field of entries is named after its list.
    let column =
        answers.map(|name| if columns.contains(name) { name } else { reading.lists.first().unwrap_or(name) });
    let column = column.or(roles.span_start.as_ref());
    column.is_some_and(|column| columns.contains(column))
}

/// The state while a reading is resolved.
struct Fitting<'a> {
    table: &'a TableFile,
    texts: Option<&'a TableFile>,
    reading: &'a TableReading,
    /// The names that made columns have so far.
    names: HashMap<String, usize>,
    columns: Vec<MadeColumn>,
}

impl Fitting<'_> {
    fn fit(mut self, on: Option<(String, String)>) -> Result<Reshape, ExchangeError> {
        let reading = self.reading;
        if !reading.answers.is_empty() && reading.roles.label.is_some() {
            return refuse(
                "it has a column with the label and several columns of answers: name one or the others",
            );
        }
        let lists = self.all(&reading.lists)?;
        let ignored: HashSet<usize> = self.all_anywhere(&reading.ignored)?;
        let slots = self.slots()?;
        let left_out = |at: &usize| ignored.contains(at);
        if let Some(at) = lists
            .iter()
            .chain(slots.iter().flat_map(|slot| slot.places.iter().map(|(place, _)| &place.column)))
            .find(|at| left_out(at))
        {
            let name = &self.table.columns()[*at];
            return refuse(&format!(
                "the column \"{name}\" holds answers, and is left out too: which is meant?"
            ));
        }
        // In lists of objects, the fields that have a role are columns in addition to those that hold
        // answers.
        let whole = |(place, _): &(AnswerPosition, _)| place.field.is_none().then_some(place.column);
        let mut taken: HashSet<usize> =
            slots.iter().flat_map(|slot| slot.places.iter().filter_map(whole)).collect();
        taken.extend(
            slots.iter().filter_map(|slot| if let Who::Column(at) = slot.who { Some(at) } else { None }),
        );
        taken.extend(&ignored);
        let mut roles = reading.roles.clone();
        if let Some((here, _)) = &on {
            roles.text_id = Some(here.clone());
        }
        let table = self.table;
        // If the texts come from another table, the other columns of a row belong to its answer, not to the
        // text.
        let in_use =
            |name: &String| self.texts.is_none() || roles.named().iter().any(|(_, used)| used == name);
        let kept: Vec<bool> = table.columns().iter().map(in_use).collect();
        let free = table.columns().iter().enumerate().filter(|(at, _)| kept[*at] && !taken.contains(at));
        for (at, name) in free {
            match lists.iter().position(|list| *list == at) {
                Some(list) => self.add_entries(name, list),
                // A column that is called like a field of a list is renamed.
                None if self.is_field(name) => drop(self.add_free(&format!("{name}_"), Origin::Cell(at))),
                None => self.add(name, Origin::Cell(at)),
            }
        }
        // Columns of the other table, about the texts.
        let there = on.as_ref().map(|(_, there)| there.as_str());
        let mut of_texts: Vec<String> = Vec::new();
        if let Some(texts) = self.texts {
            for name in texts.columns().iter().filter(|name| Some(name.as_str()) != there) {
                if !reading.ignored.contains(name) {
                    of_texts.push(name.clone());
                }
            }
        }
        roles.text_id = self.text_id(roles.text_id.take())?;
        if !slots.is_empty() {
            roles.label = Some(self.add_free("label", Origin::Answer));
            if slots.iter().any(|slot| slot.who != Who::OfRow) {
                if slots.iter().any(|slot| slot.who == Who::OfRow) {
                    return refuse(
                        "some columns of answers name who gave them, and others leave that to the annotator of the row",
                    );
                }
                roles.annotator = Some(self.add_free("annotator", Origin::Annotator));
            }
            if slots.iter().any(|slot| slot.text.is_some()) {
                if roles.text.is_some() || roles.text_id.is_some() || self.texts.is_some() {
                    return refuse(
                        "its texts are columns, and another column holds or names texts: which is meant?",
                    );
                }
                if slots.iter().any(|slot| slot.text.as_ref().is_none_or(|text| text.trim().is_empty())) {
                    return refuse(
                        "some columns of answers name the text that was answered, and others do not",
                    );
                }
                roles.text = Some(self.add_free("text", Origin::Text));
            }
            if slots.iter().any(|slot| slot.question.is_some()) {
                if slots.iter().any(|slot| slot.question.is_none()) {
                    return refuse("some columns of answers name a question, and others do not");
                }
                roles.question = Some(self.add_free("question", Origin::Question));
            }
            if slots.iter().any(|slot| slot.occasion.is_some()) {
                roles.occasion = Some(self.add_free("occasion", Origin::Occasion));
            }
            let mut named: Vec<&String> = slots.iter().flat_map(|slot| slot.attributes.keys()).collect();
            named.sort();
            named.dedup();
            for name in named {
                if self.names.contains_key(name) {
                    return refuse(&format!(
                        "\"{name}\" is a column, and an attribute of some columns of answers: call the attribute otherwise"
                    ));
                }
                self.add(name, Origin::Attribute(name.clone()));
                roles.attributes.push(name.clone());
            }
        }
        self.rename_fields(&mut roles);
        let joined = match self.texts {
            Some(texts) => {
                let place = |name: &str| texts.columns().iter().position(|column| column == name);
                // A column of the texts whose name the answers' table uses is added under another name.
                let mut renamed: HashMap<String, String> = HashMap::new();
                for name in of_texts {
                    match self.names.contains_key(&name) {
                        // Blank in the rows of the table itself.
                        false => self.add(&name, Origin::Joined(Vec::new())),
                        true if is_of_text(&name, &roles) => {}
                        true => {
                            let free =
                                self.add_free(&format!("{name} of the text"), Origin::Joined(Vec::new()));
                            renamed.insert(free, name);
                        }
                    }
                }
                let id = roles.text_id.clone();
                let places =
                    self.columns.iter().map(|column| match id.as_deref() == Some(column.name.as_str()) {
                        true => there.and_then(place),
                        false if renamed.contains_key(&column.name) => place(&renamed[&column.name]),
                        false => place(&column.name).filter(|_| is_of_text(&column.name, &roles)),
                    });
                let places: Vec<Option<usize>> = places.collect();
                if !places.iter().any(Option::is_some) || there.and_then(place).is_none() {
                    let there = there.unwrap_or_default();
                    return refuse(&format!(
                        "{} has no column \"{there}\": name the one with the id as COLUMN=OTHER",
                        texts.path().display()
                    ));
                }
                Some(Joined { table: Box::new(texts.clone()), places })
            }
            None => None,
        };
        self.treat(&roles);
        let names = self.columns.iter().map(|column| column.name.clone()).collect();
        Ok(Reshape {
            path: table.path().to_owned(),
            table: Box::new(table.clone()),
            joined,
            columns: self.columns,
            names,
            roles,
            slots,
            lists,
            separator: reading.separator.clone(),
            truths: HashSet::new(),
            rules: Rules::new(&reading.values)?,
            reading: reading.clone(),
        })
    }

    fn column(&self, name: &str) -> Result<usize, ExchangeError> {
        let columns = self.table.columns();
        columns.iter().position(|column| column == name.trim()).ok_or_else(|| ExchangeError::MissingColumn {
            path: self.table.path().to_owned(),
            role: "answers",
            name: name.to_owned(),
            nearest: None,
            columns: columns.to_vec(),
        })
    }

    fn all(&self, names: &[String]) -> Result<Vec<usize>, ExchangeError> {
        names.iter().map(|name| self.column(name)).collect()
    }

    /// Returns the columns of these names, which may also be those of the other table.
    fn all_anywhere(&self, names: &[String]) -> Result<HashSet<usize>, ExchangeError> {
        let of_texts = |name: &String| self.texts.is_some_and(|texts| texts.columns().contains(name));
        let own: Vec<String> = names
            .iter()
            .filter(|name| self.table.columns().contains(name) || !of_texts(name))
            .cloned()
            .collect();
        Ok(self.all(&own)?.into_iter().collect())
    }

    fn slots(&self) -> Result<Vec<Slot>, ExchangeError> {
        let mut slots: Vec<Slot> = Vec::new();
        let mut used = HashSet::new();
        for answer in &self.reading.answers {
            let place = self.place(&answer.column)?;
            if !used.insert(place.clone()) {
                return refuse(&format!("the column \"{}\" is named twice as one of answers", answer.column));
            }
            let slot = self.slot(answer, place)?;
            // Options of one set are one answer.
            let same = |known: &&mut Slot| {
                known.who == slot.who
                    && known.text == slot.text
                    && known.question == slot.question
                    && known.occasion == slot.occasion
                    && known.attributes == slot.attributes
                    && known.places.iter().all(|(_, option)| option.is_some())
            };
            match slots.iter_mut().find(same).filter(|_| answer.option.is_some()) {
                Some(known) => known.places.extend(slot.places),
                None => slots.push(slot),
            }
        }
        Ok(slots)
    }

    /// A column, or a field of the objects in one of the lists.
    fn place(&self, name: &str) -> Result<AnswerPosition, ExchangeError> {
        for list in &self.reading.lists {
            let field = name.trim().strip_prefix(list.as_str()).and_then(|rest| rest.strip_prefix('.'));
            if let Some(field) = field {
                return Ok(AnswerPosition { column: self.column(list)?, field: Some(field.to_owned()) });
            }
        }
        Ok(AnswerPosition { column: self.column(name)?, field: None })
    }

    /// Whether the reading has a field of a list with this name.
    fn is_field(&self, name: &str) -> bool {
        let reading = self.reading;
        let of_list =
            |list: &String| name.strip_prefix(list.as_str()).is_some_and(|rest| rest.starts_with('.'));
        let answers = reading.answers.iter().map(|answer| answer.column.as_str());
        reading.lists.iter().any(of_list)
            && reading.roles.named().into_iter().map(|(_, used)| used).chain(answers).any(|used| used == name)
    }

    fn slot(&self, answer: &AnswerColumn, place: AnswerPosition) -> Result<Slot, ExchangeError> {
        let who = match answer.annotator.as_deref() {
            None => Who::OfRow,
            Some(name) => match name.strip_prefix('=') {
                Some(name) => Who::Named(name.trim().to_owned()),
                None => Who::Column(self.column(name)?),
            },
        };
        Ok(Slot {
            places: vec![(place, answer.option.clone())],
            who,
            text: answer.text.clone(),
            question: answer.question.clone(),
            occasion: answer.occasion,
            attributes: answer.attributes.clone(),
        })
    }

    fn add(&mut self, name: &str, origin: Origin) {
        self.names.insert(name.to_owned(), self.columns.len());
        self.columns.push(MadeColumn { name: name.to_owned(), origin, treatment: Treatment::Kept });
    }

    /// Adds a column under a name that no other one has.
    fn add_free(&mut self, name: &str, origin: Origin) -> String {
        let mut free = name.to_owned();
        while self.names.contains_key(&free) || self.table.columns().contains(&free) {
            free.push('_');
        }
        self.add(&free, origin);
        free
    }

    /// Adds the columns for those fields of a list's entries that have a role; other fields are dropped.
    fn add_entries(&mut self, name: &str, list: usize) {
        let reading = self.reading;
        let named: Vec<String> =
            reading.roles.named().into_iter().map(|(_, column)| column.to_owned()).collect();
        if named.iter().any(|column| column == name) {
            self.add(name, Origin::Entry(list, None));
        }
        let prefix = format!("{name}.");
        for column in named {
            if let Some(field) = column.strip_prefix(&prefix)
                && !self.names.contains_key(&column)
            {
                self.add(&column, Origin::Entry(list, Some(field.to_owned())));
            }
        }
    }

    /// Names attributes from entries after their field, if the name is free.
    fn rename_fields(&mut self, roles: &mut ColumnRoles) {
        for attribute in &mut roles.attributes {
            let Some(at) = self.names.get(attribute.as_str()).copied() else { continue };
            if let Origin::Entry(_, Some(field)) = &self.columns[at].origin
                && !self.names.contains_key(field)
            {
                let field = field.clone();
                self.names.remove(attribute.as_str());
                self.names.insert(field.clone(), at);
                self.columns[at].name.clone_from(&field);
                *attribute = field;
            }
        }
    }

    /// The column of ids: one that is there, or several that are joined by `+`.
    fn text_id(&mut self, name: Option<String>) -> Result<Option<String>, ExchangeError> {
        let Some(name) = name else { return Ok(None) };
        if self.names.contains_key(&name) || !name.contains('+') {
            return Ok(Some(name));
        }
        let parts: Vec<String> = name.split('+').map(|part| part.trim().to_owned()).collect();
        let joined = self.all(&parts)?;
        Ok(Some(self.add_free(&name, Origin::Joined(joined))))
    }

    /// Sets which rules about values apply to each column.
    fn treat(&mut self, roles: &ColumnRoles) {
        for column in &mut self.columns {
            let is = |role: &Option<String>| role.as_deref() == Some(column.name.as_str());
            column.treatment = if is(&roles.label) {
                Treatment::Answer
            } else if is(&roles.time) {
                Treatment::Time
            } else if is(&roles.duration) {
                Treatment::Number
            } else if roles.attributes.contains(&column.name) {
                Treatment::Attribute
            } else {
                Treatment::Kept
            };
        }
    }
}

/// Whether a column describes a text, and not an answer.
fn is_of_text(name: &str, roles: &ColumnRoles) -> bool {
    let texts = [&roles.text, &roles.split, &roles.group, &roles.text_id];
    texts.iter().any(|role| role.as_deref() == Some(name))
        || roles.named().iter().all(|(_, used)| *used != name)
}

fn refuse<T>(why: &str) -> Result<T, ExchangeError> {
    Err(ExchangeError::BadReading { why: why.to_owned() })
}
