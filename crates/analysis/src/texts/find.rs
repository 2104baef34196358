//! A part of a list of texts.

use super::Texts;
use super::states::Scope;
use dissensus_api::{FoundTexts, TextFilter, TextQuery};
use dissensus_domain::{QuestionId, TextId};
use dissensus_labelling::feed;
use dissensus_project::error::ProjectError;
use dissensus_store::StoreError;

/// Maximum number of rows that are returned at once.
const MAX_ROWS: u32 = 500;

impl Texts {
    /// Up to `limit` rows (500 at most) of a list of texts from position `offset` on, and the position of
    /// the text `look_for` in it. All bodies are read only for a new search; after that the cost is
    /// proportional to the rows.
    ///
    /// # Errors
    /// No such question or annotator, a filter that a packet does not have, or the file cannot be read.
    pub fn find(
        &self,
        query: &TextQuery,
        offset: u32,
        limit: u32,
        look_for: Option<TextId>,
    ) -> Result<FoundTexts, ProjectError> {
        let of = self.of_query(query)?;
        let list = self.list(&TextQuery { annotator: of.annotator, ..query.clone() }, &of)?;
        let from = (offset as usize).min(list.rows.len());
        let to = from.saturating_add(limit.min(MAX_ROWS) as usize).min(list.rows.len());
        let mut rows = Vec::with_capacity(to - from);
        for row in &list.rows[from..to] {
            rows.extend(self.row(*row, &list, &of, &query.search)?);
        }
        let place = look_for
            .and_then(|text| of.index.text_row(text))
            .and_then(|wanted| list.rows.iter().position(|row| *row == wanted));
        Ok(FoundTexts {
            total: list.rows.len() as u32,
            offset: from as u32,
            rows,
            counts: list.counts,
            place: place.map(|place| place as u32),
            revision: of.event.0,
        })
    }

    /// The scope of a query. In a packet the data of others is absent, and nothing of it is returned.
    fn of_query(&self, query: &TextQuery) -> Result<Scope, ProjectError> {
        // Events on disk have to be in memory first; otherwise a list without them would be cached under the
        // newest event.
        feed::follow(&self.labelling)?;
        // The last event is read first: later changes in the index and the annotations are requested again.
        let event = self.context.store.last_event()?;
        let index = self.context.index();
        if let Some(packet) = &self.context.packet {
            if matches!(query.filter, TextFilter::Contested | TextFilter::Long) {
                return Err(ProjectError::InPacket);
            }
            let (annotator, questions) = (Some(packet.annotator), packet.questions.clone());
            return Ok(Scope { index, annotator, questions, event });
        }
        let questions: Vec<QuestionId> = match query.questions.as_slice() {
            [] => index.questions().iter().map(|question| question.id).collect(),
            named => named.iter().map(|id| Ok(index.whole(*id)?.id)).collect::<Result<_, ProjectError>>()?,
        };
        if let Some(annotator) = query.annotator
            && index.annotator_row(annotator).is_none()
        {
            return Err(StoreError::Unknown { what: "annotator", name: annotator.0.to_string() }.into());
        }
        Ok(Scope { index, annotator: query.annotator, questions, event })
    }
}
