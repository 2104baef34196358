//! A table of verdicts on the texts of a file: a row for each text.

use super::Panels;
use super::ask::{ComposedPanel, one_text};
use super::compose::Composition;
use crate::error::AnalysisError;
use crate::prediction_file;
use dissensus_api::{PanelInfo, PanelRequest, PanelText};
use dissensus_exchange::{ColumnKind, TypedColumn, TypedTable, Value};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::outputs::check_outputs;
use dissensus_store::body_hash;
use dissensus_training::encoding::{CheckedTexts, EncodedText, EncoderChoice, TextFileChoices};
use dissensus_training::prediction_tables::LabelledBodies;
use dissensus_training::requested_model::RequestedModel;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The texts and the table.
#[derive(Clone, Debug)]
pub struct PanelFileChoices {
    pub texts: TextFileChoices,
    /// The table to write; its extension determines the format.
    pub out: PathBuf,
    /// Overwrites an existing file.
    pub replace: bool,
}

/// The parameters of a table of verdicts, whose files and panel were checked.
pub struct CheckedPanel {
    texts: CheckedTexts,
    out: PathBuf,
    replace: bool,
}

/// Summary of a written table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PanelFile {
    pub file: PathBuf,
    pub panel: PanelInfo,
    /// The composition to compare with.
    pub compared: Option<PanelInfo>,
    /// Number of texts, one row each.
    pub texts: u64,
    /// Number of texts whose body a member has labelled, from which the model has learned.
    pub observed: u64,
    /// Bad rows of the file of texts that were left out.
    pub bad_rows: u64,
}

impl Panels {
    /// Checks that a table of verdicts can be written, before anything is encoded or fitted for it.
    ///
    /// # Errors
    /// Those of [`Panels::check`]; an output file that exists already (without `replace`), is the input file
    /// or has an unsupported format; a file of texts that cannot be read or has bad rows; cancellation.
    pub fn check_file(
        &self,
        request: &PanelRequest,
        choices: &PanelFileChoices,
        progress: &dyn Progress,
    ) -> Result<CheckedPanel, ProjectError> {
        self.check(request)?;
        let PanelFileChoices { texts, out, replace } = choices;
        TypedTable::check(out, false)?;
        check_outputs(&[out], &[&texts.path, self.context.store.path()], *replace)?;
        let texts = CheckedTexts::open(texts, progress).map_err(ProjectError::all_or_nothing)?;
        Ok(CheckedPanel { texts, out: out.clone(), replace: *replace })
    }

    /// Writes the expected verdict of a panel on every text of a file. A text is predicted only by its
    /// content; the column `observed` records whether a member of the panel labelled a text of the same
    /// body. Memory does not grow with the texts.
    ///
    /// # Errors
    /// Those of [`Panels::ask`]; the file has changed; the encoder is not available, or not the one of the
    /// live model; a full disk; cancellation.
    pub fn ask_file(
        &self,
        request: &PanelRequest,
        compared: Option<&PanelRequest>,
        asked: &CheckedPanel,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<PanelFile, ProjectError> {
        self.write_file(request, compared, asked, encoder, progress).map_err(ProjectError::all_or_nothing)
    }

    fn write_file(
        &self,
        request: &PanelRequest,
        compared: Option<&PanelRequest>,
        asked: &CheckedPanel,
        encoder: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<PanelFile, ProjectError> {
        let ComposedPanel { model, encoder: fitted_on, first, second } = self.composed(request, compared)?;
        let encoder = self.encoding.open_in_use(encoder)?.0;
        // Another program may have given the project another encoder since the model was fitted.
        if fitted_on != Some(encoder.version().key()) {
            return Err(AnalysisError::EncoderNotOfModel.into());
        }
        let labelled = prediction_file::labelled_bodies(&self.analysis, &model)?;
        let members: Vec<u32> = first.panels[0].iter().map(|place| first.people[*place]).collect();
        let mut model = RequestedModel::new(model, Vec::new(), true);
        let mut table = Table::begin(&first, second.as_ref(), &asked.out)?;
        let (mut texts, mut observed) = (0, 0);
        asked.texts.encode(&encoder, progress, |text, embedding| {
            let row = model.add(&EncodedText::new(&text.body, embedding)?)?;
            let found = one_text(model.model(), row, &first, second.as_ref())?;
            let known = is_observed(&labelled, &text.body, &members, &model);
            (texts, observed) = (texts + 1, observed + u64::from(known));
            table.write(&text.id, &found, known)
        })?;
        table.0.finish(asked.replace)?;
        let (panel, compared) = (first.info, second.map(|second| second.info));
        let (file, bad_rows) = (asked.out.clone(), asked.texts.bad());
        Ok(PanelFile { file, panel, compared, texts, observed, bad_rows })
    }
}

fn is_observed(labelled: &LabelledBodies, body: &str, members: &[u32], model: &RequestedModel) -> bool {
    let same = body_hash(body).and_then(|hash| labelled.get(&hash));
    let by_member = |text: &u32| members.iter().any(|who| model.model().label(*text, *who).is_some());
    same.is_some_and(|rows| rows.iter().any(by_member))
}

/// The table, with the names of the outcomes.
struct Table(TypedTable, Vec<String>);

impl Table {
    fn begin(first: &Composition, second: Option<&Composition>, out: &Path) -> Result<Self, ProjectError> {
        let outcomes = &first.info.outcomes;
        let number = |name: String| TypedColumn::new(name, ColumnKind::Number);
        let each =
            |prefix: &'static str| outcomes.iter().map(move |outcome| number(format!("{prefix}_{outcome}")));
        let mut columns =
            ["text_id", "verdict"].map(|name| TypedColumn::new(name, ColumnKind::Text)).to_vec();
        columns.extend(["sure", "sure_low", "sure_high"].map(|name| number(name.to_owned())));
        columns.extend(each("p"));
        columns.extend(["mean", "mean_low", "mean_high"].map(|name| number(name.to_owned())));
        columns.push(TypedColumn::new("observed", ColumnKind::Flag));
        if first.panels.len() > 1 {
            columns.extend(each("panels"));
            columns.push(number("panels_otherwise".to_owned()));
        }
        if second.is_some() {
            columns.push(TypedColumn::new("compared_verdict", ColumnKind::Text));
            columns.extend(each("compared_p"));
            columns.push(number("apart".to_owned()));
        }
        Ok(Self(TypedTable::create(out, columns)?, outcomes.clone()))
    }

    fn write(&mut self, id: &str, text: &PanelText, observed: bool) -> Result<(), ProjectError> {
        let number = |x: &f64| Value::Number(*x as f32);
        let Self(table, outcomes) = self;
        let name = |at: u32| Value::Text(&outcomes[at as usize]);
        let of = &text.verdict;
        let mut row = vec![
            Value::Text(id),
            name(of.likeliest),
            number(&of.sure),
            number(&of.range.0),
            number(&of.range.1),
        ];
        row.extend(of.probabilities.iter().map(number));
        let (mean, low, high) = of.mean.unwrap_or((f64::NAN, f64::NAN, f64::NAN));
        row.extend([mean, low, high].iter().map(number));
        row.push(Value::Flag(observed));
        if let Some(others) = &text.others {
            row.extend(others.shares.iter().map(number));
            row.push(number(&others.otherwise));
        }
        if let Some(comparison) = &text.comparison {
            row.push(name(comparison.verdict.likeliest));
            row.extend(comparison.probabilities.iter().map(number));
            row.push(number(&comparison.apart));
        }
        Ok(table.write(&row)?)
    }
}
