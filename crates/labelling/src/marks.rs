//! Skips and flags.

use super::Labelling;
use dissensus_api::Progress;
use dissensus_domain::{AnnotatorId, LabelSource, MarkKind, QuestionId, Remark, TextId};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_store::NewMark;

impl Labelling {
    /// Skips those of these questions that are asked about a text and unanswered, all of them or none: the
    /// text comes again when all others are done.
    ///
    /// # Errors
    /// No such text, question or annotator, an annotator who has to practise first or is blocked, or an I/O
    /// error.
    pub fn skip(
        &self,
        annotator: AnnotatorId,
        questions: impl AsRef<[QuestionId]>,
        text: TextId,
    ) -> Result<Progress, ProjectError> {
        self.practice.may_label(annotator)?;
        self.practice.is_asked(text)?;
        let sheet = self.sheet(annotator, questions.as_ref())?;
        let open = sheet.read().open(text);
        self.mark(annotator, &open, text, MarkKind::Skip)?;
        Ok(self.progress_on(&self.newest_sheet(sheet, annotator, questions.as_ref())))
    }

    /// Flags a text, or removes the flag.
    pub fn flag(
        &self,
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        on: bool,
    ) -> Result<Progress, ProjectError> {
        self.practice.may_label(annotator)?;
        self.practice.is_asked(text)?;
        let sheet = self.sheet(annotator, &[question])?;
        self.mark(annotator, &[question], text, if on { MarkKind::Flag } else { MarkKind::Unflag })?;
        Ok(self.progress_on(&self.newest_sheet(sheet, annotator, &[question])))
    }

    fn mark(
        &self,
        annotator: AnnotatorId,
        questions: &[QuestionId],
        text: TextId,
        kind: MarkKind,
    ) -> Result<(), ProjectError> {
        let (at_ms, source) = (now_ms(), LabelSource::Window);
        let mark = |question: &QuestionId| NewMark {
            annotator,
            question: *question,
            text,
            kind,
            at_ms,
            source,
            remark: Remark::default(),
            guideline: None,
        };
        let marks: Vec<NewMark> = questions.iter().map(mark).collect();
        self.context.store.write(move |tx| marks.iter().try_for_each(|new| tx.add_mark(new).map(drop)))?;
        if self.follow_events().is_err() {
            self.annotations.clear(); // the marks are on disk, and are read at the next request
        }
        Ok(())
    }
}
