//! The desk of Label.

use dissensus_api::{
    LabelDetails, LabelReceipt, LabelTask, NewLabel, NoteInfo, NoteQuery, Progress, TextOrder, Undone,
};
use dissensus_domain::{AnnotatorId, LabelSource, Note, QuestionId, TextId};
use dissensus_labelling::drafts;
use dissensus_labelling::marks;
use dissensus_labelling::next_text;
use dissensus_labelling::notes;
use dissensus_labelling::progress;
use dissensus_labelling::reannotation;
use dissensus_labelling::record;
use dissensus_labelling::record::RecordLabel;
use dissensus_labelling::task;
use dissensus_labelling::undo;

session_commands! {
    /// The next text to label in an order, other than `after`, for the first of the questions.
    fn next_text(
        annotator: AnnotatorId,
        questions: Vec<QuestionId>,
        order: TextOrder,
        after: Option<TextId>,
    ) -> Option<LabelTask> =
        |session| next_text::choose(&session.labelling, annotator, questions, order, after);

    /// One text as this annotator sees it in an annotation round: 1, or a later one where a task packet asks
    /// it again.
    fn label_task(annotator: AnnotatorId, question: QuestionId, text: TextId, occasion: u16) -> LabelTask =
        |session| task::read(&session.labelling, annotator, question, text, occasion);

    /// The text this many positions after (or before) in file order.
    fn neighbour_text(
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        step: i32,
    ) -> Option<LabelTask> =
        |session| next_text::neighbour(&session.labelling, annotator, question, text, step);

    /// An annotator's progress on the questions on the screen.
    fn progress(annotator: AnnotatorId, questions: Vec<QuestionId>) -> Progress =
        |session| progress::count(&session.labelling, annotator, questions);

    /// Records a label; it is on disk when this returns.
    fn record_label(label: NewLabel, details: LabelDetails) -> LabelReceipt = |session| {
        let request = RecordLabel { label, details, source: LabelSource::Window };
        record::record_label(&session.labelling, request).map(|recorded| recorded.receipt)
    };

    /// Records a re-annotation of a text in a task packet; it is on disk when this returns.
    fn record_again(label: NewLabel, details: LabelDetails, occasion: u16) -> LabelReceipt =
        |session| {
        let request = RecordLabel { label, details, source: LabelSource::Window };
        reannotation::record(&session.labelling, &request, occasion)
    };

    /// Records only a note on a text, in place of an earlier one.
    fn save_note(annotator: AnnotatorId, question: QuestionId, text: TextId, details: LabelDetails) -> () =
        |session| notes::write(&session.labelling, annotator, question, text, &details, LabelSource::Window);

    /// Stores a note on this computer that was typed but not submitted; `None` deletes it.
    fn save_draft(
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        occasion: u16,
        typed: Option<Note>,
    ) -> () = |session| {
        drafts::save(&session.labelling, annotator, question, text, occasion, typed.as_ref())
    };

    /// People's notes and flags.
    fn remarks(query: NoteQuery) -> Vec<NoteInfo> = |session| dissensus_editing::notes::list(&session.project, &query);

    /// Takes back the annotator's last label of these questions, if any.
    fn undo_label(annotator: AnnotatorId, questions: Vec<QuestionId>) -> Option<Undone> =
        |session| undo::undo(&session.labelling, annotator, questions, LabelSource::Window);

    /// Skips the unanswered questions about a text.
    fn skip_text(annotator: AnnotatorId, questions: Vec<QuestionId>, text: TextId) -> Progress =
        |session| marks::skip(&session.labelling, annotator, questions, text);

    /// Flags a text for a second look, or removes the flag.
    fn flag_text(annotator: AnnotatorId, question: QuestionId, text: TextId, on: bool) -> Progress =
        |session| marks::flag(&session.labelling, annotator, question, text, on);
}
