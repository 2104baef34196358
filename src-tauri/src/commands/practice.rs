//! Practice: the round of one person in Label, and what its author sets in Project.

use dissensus_api::{
    CheckRuleInfo, NewPracticeAnswer, NewPracticeRule, NewPracticeText, PracticeFeedback, PracticeSetup,
    PracticeState, PracticeTask,
};
use dissensus_domain::{AnnotatorId, Answer, CheckRule, QuestionId};
use dissensus_editing::texts;
use dissensus_labelling::practice_answers;
use dissensus_transfer::study;

session_commands! {
    /// A person's progress in practice, and the allowed next step; `None` without practice.
    fn practice_state(annotator: AnnotatorId) -> Option<PracticeState> =
        |session| practice_answers::state_of(&session.labelling, annotator);

    /// The next text to practise on.
    fn next_practice(annotator: AnnotatorId) -> Option<PracticeTask> =
        |session| practice_answers::next(&session.labelling, annotator);

    /// Records an answer in practice, and returns whether it was right; it is on disk then.
    fn record_practice(answer: NewPracticeAnswer) -> PracticeFeedback =
        |session| practice_answers::record(&session.labelling, &answer);

    /// The practice texts, the pass mark, and people's results.
    fn practice_setup() -> PracticeSetup = |session| study::practice(&session.study);

    /// Sets the right answer of a practice text, or removes it. The text is named by its id in files.
    fn set_practice_text(
        question: QuestionId,
        text_id: String,
        answer: Option<Answer>,
        reason: String,
    ) -> PracticeSetup = |session| {
        let (text, _) = texts::find(&session.project, &text_id)?;
        study::set_practice(&session.study, &[NewPracticeText { question, text, answer, reason }])?;
        study::practice(&session.study)
    };

    /// Sets the pass mark of practice, or what happens below it; missing values are unchanged.
    fn set_practice_rule(rule: NewPracticeRule) -> PracticeSetup = |session| {
        study::set_practice_rule(&session.study, &rule)?;
        study::practice(&session.study)
    };

    /// The pass mark of attention checks.
    fn check_rule() -> CheckRuleInfo = |session| study::check_rule(&session.study);

    /// Sets the pass mark of attention checks, or removes it.
    fn set_check_rule(rule: Option<CheckRule>) -> CheckRuleInfo =
        |session| study::set_check_rule(&session.study, rule);
}
