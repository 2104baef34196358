//! The columns of a source that roles name, and what sort of file that makes.

use crate::roles::{ColumnRoles, FileKind, SPAN_END, SPAN_START, SPAN_TYPE, simplified};
use crate::{ExchangeError, Source};
use dissensus_domain::{OffsetUnit, not_allowed_in_names};

impl ColumnRoles {
    /// The sort of file these roles make of `source`.
    ///
    /// # Errors
    /// A missing column (with the nearest name), a column named twice, or roles that make no sort of file.
    pub fn kind(&self, source: &Source) -> Result<FileKind, ExchangeError> {
        Plan::new(source, self).map(|plan| plan.kind)
    }
}

/// The columns of a file with one row a span.
#[derive(Clone, Debug)]
pub(crate) struct SpanColumns {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Pick,
}

/// The source of a role's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    Column(usize),
    Constant(String),
}

/// Roles resolved to positions.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) kind: FileKind,
    pub(crate) columns: Vec<String>,
    /// Rows may introduce a text without an answer, among rows with answers.
    pub(crate) texts_alone: bool,
    /// The texts are in another table than their answers.
    pub(crate) texts_apart: bool,
    pub(crate) text_id: Option<usize>,
    pub(crate) text: Option<usize>,
    pub(crate) annotator: Option<Pick>,
    pub(crate) label: Option<usize>,
    pub(crate) span: Option<SpanColumns>,
    pub(crate) offsets: OffsetUnit,
    pub(crate) split: Option<Pick>,
    pub(crate) group: Option<Pick>,
    pub(crate) question: Option<Pick>,
    pub(crate) scale: Option<usize>,
    pub(crate) time: Option<usize>,
    pub(crate) duration: Option<usize>,
    pub(crate) source: Option<usize>,
    pub(crate) occasion: Option<usize>,
    pub(crate) note: Option<usize>,
    pub(crate) reasons: Option<usize>,
    pub(crate) confidence: Option<usize>,
    pub(crate) marks: Option<usize>,
    pub(crate) shown: Option<usize>,
    pub(crate) attributes: Vec<usize>,
    pub(crate) metadata: Vec<usize>,
}

impl Plan {
    pub(crate) fn new(source: &Source, roles: &ColumnRoles) -> Result<Self, ExchangeError> {
        let kind = kind_of(source, roles)?;
        let mut claims = Claims { source, taken: vec![None; source.columns().len()] };
        let mut plan = Self {
            kind,
            columns: source.columns().to_vec(),
            texts_alone: source.is_of_tool() || source.unfolds(),
            texts_apart: source.is_joined(),
            text_id: claims.column("text id", &roles.text_id)?,
            text: claims.column("text", &roles.text)?,
            annotator: claims.pick("annotator", &roles.annotator)?,
            label: claims.column("label", &roles.label)?,
            span: None,
            offsets: roles.offsets,
            split: claims.pick("split", &roles.split)?,
            group: claims.pick("group", &roles.group)?,
            question: claims.pick("question", &roles.question)?,
            scale: claims.column("scale", &roles.scale)?,
            time: claims.column("time", &roles.time)?,
            duration: claims.column("duration", &roles.duration)?,
            source: claims.column("source", &roles.source)?,
            occasion: claims.column("occasion", &roles.occasion)?,
            note: claims.column("note", &roles.note)?,
            reasons: claims.column("reasons", &roles.reasons)?,
            confidence: claims.column("confidence", &roles.confidence)?,
            marks: claims.column("marks", &roles.marks)?,
            shown: claims.column("shown", &roles.shown)?,
            attributes: Vec::new(),
            metadata: Vec::new(),
        };
        plan.span = claims.span(roles)?;
        if plan.span.is_some() && roles.span_type.is_none() {
            // What the label is in a file with one row a span.
            plan.label = None;
        }
        claims.column("guideline", &roles.guideline)?;
        for name in &roles.study {
            claims.claim("study", name)?;
        }
        for name in &roles.attributes {
            plan.attributes.push(claims.claim("attribute", name)?);
            checked("attribute", name)?;
        }
        plan.metadata = (0..claims.taken.len()).filter(|i| claims.taken[*i].is_none()).collect();
        Ok(plan)
    }
}

/// The columns that already have a role.
struct Claims<'a> {
    source: &'a Source,
    taken: Vec<Option<&'static str>>,
}

impl Claims<'_> {
    fn claim(&mut self, role: &'static str, name: &str) -> Result<usize, ExchangeError> {
        let columns = self.source.columns();
        let Some(index) = columns.iter().position(|c| c == name.trim()) else {
            if name.starts_with('=') {
                return Err(ExchangeError::ConstantNotAllowed { role, value: name.to_owned() });
            }
            return Err(ExchangeError::MissingColumn {
                path: self.source.path().to_owned(),
                role,
                name: name.to_owned(),
                nearest: nearest(name, columns),
                columns: columns.to_vec(),
            });
        };
        match self.taken[index].replace(role) {
            Some(first) => {
                Err(ExchangeError::ColumnTwice { name: columns[index].clone(), first, second: role })
            }
            None => Ok(index),
        }
    }

    fn column(&mut self, role: &'static str, name: &Option<String>) -> Result<Option<usize>, ExchangeError> {
        name.as_ref().map(|name| self.claim(role, name)).transpose()
    }

    /// The columns of spans; the label is their type where no other column is.
    fn span(&mut self, roles: &ColumnRoles) -> Result<Option<SpanColumns>, ExchangeError> {
        let (Some(start), Some(end)) = (&roles.span_start, &roles.span_end) else { return Ok(None) };
        let (start, end) = (self.claim(SPAN_START, start)?, self.claim(SPAN_END, end)?);
        let label = roles
            .label
            .as_ref()
            .and_then(|label| self.source.columns().iter().position(|column| column == label.trim()));
        let kind = self.pick(SPAN_TYPE, &roles.span_type)?.or(label.map(Pick::Column));
        Ok(kind.map(|kind| SpanColumns { start, end, kind }))
    }

    fn pick(&mut self, role: &'static str, name: &Option<String>) -> Result<Option<Pick>, ExchangeError> {
        let Some(name) = name else { return Ok(None) };
        match name.strip_prefix('=') {
            Some(constant) if !self.source.columns().iter().any(|c| c == name) => match constant.trim() {
                "" => Err(ExchangeError::EmptyConstant { role }),
                constant => checked(role, constant).map(|()| Some(Pick::Constant(constant.to_owned()))),
            },
            _ => self.claim(role, name).map(|index| Some(Pick::Column(index))),
        }
    }
}

/// Rejects an invalid name in the roles.
fn checked(role: &'static str, name: &str) -> Result<(), ExchangeError> {
    match not_allowed_in_names(name.trim()) {
        Some(c) => Err(ExchangeError::NameCharacter { role, name: name.to_owned(), code: c.into() }),
        None => Ok(()),
    }
}

/// Returns the sort of file, or what is missing for one.
fn kind_of(source: &Source, roles: &ColumnRoles) -> Result<FileKind, ExchangeError> {
    let refuse = |message: &str| {
        let (path, columns) = (source.path().to_owned(), source.columns().to_vec());
        Err(ExchangeError::RolesDoNotFit { path, message: message.to_owned(), columns })
    };
    let has_text = roles.text.is_some() || roles.text_id.is_some();
    let spans = roles.rows_are_spans();
    if spans && (roles.span_start.is_none() || roles.span_end.is_none()) {
        return refuse("a row a span needs a column with its start and one with its end: name both");
    }
    if spans && roles.span_type.is_none() && roles.label.is_none() {
        return refuse(
            "no column holds the types of the spans: name it, or give them all one type with \"=NAME\"",
        );
    }
    if roles.offsets != OffsetUnit::Characters && roles.text.is_none() {
        return refuse(
            "offsets that do not count characters are read together with the text: name the column that holds it",
        );
    }
    let label = roles.label.as_ref().or(roles.span_type.as_ref());
    match (has_text, roles.annotator.is_some(), &label) {
        (true, true, Some(_)) => Ok(FileKind::Labels),
        (true, false, Some(_)) if source.without_annotator().is_some() => {
            let why = source.without_annotator().unwrap_or_default().to_owned();
            let (path, format) = (source.path().to_owned(), source.format().title.to_owned());
            Err(ExchangeError::ToolWithoutAnnotator { path, format, why })
        }
        (true, false, Some(label)) => Err(ExchangeError::LabelWithoutAnnotator {
            path: source.path().to_owned(),
            label: (*label).clone(),
            columns: source.columns().to_vec(),
        }),
        (false, _, Some(_)) => refuse(
            "there are labels but no texts: name the column that holds the text, or the one with its id",
        ),
        (true, true, None) => refuse(
            "there are texts and annotators but no labels: name the label column, or import the texts without an \
             annotator column",
        ),
        (true, false, None) if !roles.attributes.is_empty() => {
            refuse("there are attributes but no annotator they belong to: name the annotator column")
        }
        (true, false, None) if roles.text.is_none() => {
            refuse("there are ids of texts but no texts: name the column that holds the text")
        }
        (true, false, None) => Ok(FileKind::Texts),
        (false, true, None) if roles.annotator.as_ref().is_some_and(|a| a.starts_with('=')) => {
            refuse("one fixed annotator makes no list of annotators: name the column of their ids")
        }
        (false, true, None) => Ok(FileKind::Annotators),
        (false, false, None) => refuse(
            "no column was recognised or named: name the one that holds the text (and, for labels, annotator and \
             label)",
        ),
    }
}

/// Returns the column whose name is most similar to `name`, if any is similar.
fn nearest(name: &str, columns: &[String]) -> Option<String> {
    let wanted = simplified(name);
    let scored = columns.iter().map(|c| (distance(&wanted, &simplified(c)), c));
    let (distance, column) = scored.min_by_key(|(d, _)| *d)?;
    (distance <= (wanted.chars().count() / 3).max(1)).then(|| column.clone())
}

/// Edits (insert, delete, replace) from one name to the other. Names are short, but a header may not be.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found() {
        let columns: Vec<String> = ["text_id", "comment", "worker"].map(str::to_owned).to_vec();
        assert_eq!(nearest("Text-ID", &columns).as_deref(), Some("text_id"));
        assert_eq!(nearest("coment", &columns).as_deref(), Some("comment"));
        assert_eq!(nearest("zebra", &columns), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
