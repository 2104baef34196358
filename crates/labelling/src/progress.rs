//! Progress of annotators.

use super::Labelling;
use super::annotations::SharedAnnotations;
use super::sheet::Sheet;
use dissensus_api::Progress;
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_project::clock::today_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;

impl Labelling {
    /// An annotator's progress on a question, or on several on one screen.
    pub fn progress(
        &self,
        annotator: AnnotatorId,
        questions: impl AsRef<[QuestionId]>,
    ) -> Result<Progress, ProjectError> {
        Ok(self.progress_on(&self.sheet(annotator, questions.as_ref())?))
    }

    /// The progress according to a sheet.
    pub(super) fn progress_on(&self, sheet: &Sheet) -> Progress {
        // If the excluded texts cannot be read, only the number is off.
        let left_out = go_on("reading which texts are left out", self.left_out(sheet.annotator));
        let left_out = left_out.unwrap_or_default();
        let answers = sheet.read();
        // If the file cannot be read, practice texts are counted with the others until it can.
        let book = go_on("reading the practice", self.practice.book());
        let index = self.context.index();
        let real = book.map_or_else(|| index.texts().to_vec(), |book| book.real(index.texts()));
        let mut first = answers.progress(today_ms(), &real, index.texts().len());
        if !left_out.is_empty() {
            let open = real.iter().filter(|text| left_out.contains(**text));
            first.left_out = open.filter(|text| answers.left(**text).is_some()).count() as u32;
            first.total = first.total.saturating_sub(first.left_out);
        }
        match self.context.packet.as_ref().filter(|packet| packet.annotator == sheet.annotator) {
            None => first,
            Some(packet) => self.with_again(first, packet, &answers, &left_out, sheet.shown()),
        }
    }

    /// A sheet that includes the latest events: a concurrent import may have made the current one stale.
    /// Falls back to the current one where the project cannot be read, since what was appended is on disk.
    pub(super) fn newest_sheet(
        &self,
        at_hand: Sheet,
        annotator: AnnotatorId,
        questions: &[QuestionId],
    ) -> Sheet {
        self.sheet(annotator, questions).unwrap_or(at_hand)
    }

    /// The annotations of an annotator on a question of the project: its options are answered together.
    pub fn annotations_of(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
    ) -> Result<SharedAnnotations, ProjectError> {
        self.context.index().whole(question)?;
        self.annotations.get(&self.context.store, annotator, question)
    }
}
