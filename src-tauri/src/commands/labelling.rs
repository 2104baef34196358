//! The desk of Label.

use dissensus_api::{
    Beside, LabelReceipt, LabelTask, NewLabel, Progress, RemarkInfo, RemarkQuery, TextOrder, Undone,
};
use dissensus_domain::{AnnotatorId, LabelSource, QuestionId, Remark, TextId};

session_commands! {
    /// The next text to label in an order, other than `after`, as the first of the questions sees it.
    fn next_text(
        annotator: AnnotatorId,
        questions: Vec<QuestionId>,
        order: TextOrder,
        after: Option<TextId>,
    ) -> Option<LabelTask> =
        |session| session.labelling.next_text(annotator, questions, order, after);

    /// One text as this annotator sees it on an occasion: 1, or a later one where a packet asks it again.
    fn label_task(annotator: AnnotatorId, question: QuestionId, text: TextId, occasion: u16) -> LabelTask =
        |session| session.labelling.task_on(annotator, question, text, occasion);

    /// The text so many steps on (or back) in the order of the file.
    fn neighbour_text(
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        step: i32,
    ) -> Option<LabelTask> =
        |session| session.labelling.neighbour_text(annotator, question, text, step);

    /// How far an annotator is with the questions on the screen.
    fn progress(annotator: AnnotatorId, questions: Vec<QuestionId>) -> Progress =
        |session| session.labelling.progress(annotator, questions);

    /// Records a label; it is on disk when this answers.
    fn record_label(label: NewLabel, beside: Beside) -> LabelReceipt = |session| {
        session.labelling.record_with(&label, &beside, LabelSource::Window).map(|recorded| recorded.receipt)
    };

    /// Records an answer to a text that a packet asks again; it is on disk when this answers.
    fn record_again(label: NewLabel, beside: Beside, occasion: u16) -> LabelReceipt =
        |session| session.labelling.record_again_with(&label, &beside, occasion, LabelSource::Window);

    /// Says something about a text and nothing else, in place of what was said before.
    fn remark_text(annotator: AnnotatorId, question: QuestionId, text: TextId, beside: Beside) -> () =
        |session| session.labelling.remark(annotator, question, text, &beside, LabelSource::Window);

    /// Keeps what was typed beside an answer and is not given, on this computer; none forgets it.
    fn keep_draft(
        annotator: AnnotatorId,
        question: QuestionId,
        text: TextId,
        occasion: u16,
        typed: Option<Remark>,
    ) -> () = |session| {
        session.labelling.keep_draft(annotator, question, text, occasion, typed.as_ref())
    };

    /// What people said beside their answers, and what they flagged.
    fn remarks(query: RemarkQuery) -> Vec<RemarkInfo> = |session| session.project.remarks(&query);

    /// Takes back the annotator's last label of these questions, if there is one.
    fn undo_label(annotator: AnnotatorId, questions: Vec<QuestionId>) -> Option<Undone> =
        |session| session.labelling.undo(annotator, questions, LabelSource::Window);

    /// Puts off what is asked about a text and not answered.
    fn skip_text(annotator: AnnotatorId, questions: Vec<QuestionId>, text: TextId) -> Progress =
        |session| session.labelling.skip(annotator, questions, text);

    /// Marks a text for a second look, or takes the mark off.
    fn flag_text(annotator: AnnotatorId, question: QuestionId, text: TextId, on: bool) -> Progress =
        |session| session.labelling.flag(annotator, question, text, on);
}
