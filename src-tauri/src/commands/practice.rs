//! Practice: the round of one person in Label, and what its author sets in Project.

use dissensus_api::{
    CheckRuleInfo, NewPracticeAnswer, NewPracticeRule, NewPracticeText, PracticeFeedback, PracticeSetup,
    PracticeState, PracticeTask,
};
use dissensus_domain::{AnnotatorId, Answer, CheckRule, QuestionId};

session_commands! {
    /// A person's progress in practice, and the allowed next step; `None` without practice.
    fn practice_state(annotator: AnnotatorId) -> Option<PracticeState> =
        |session| session.labelling.practice(annotator);

    /// The next text to practise on.
    fn next_practice(annotator: AnnotatorId) -> Option<PracticeTask> =
        |session| session.labelling.next_practice(annotator);

    /// Records an answer in practice, and returns whether it was right; it is on disk then.
    fn record_practice(answer: NewPracticeAnswer) -> PracticeFeedback =
        |session| session.labelling.record_practice(&answer);

    /// The practice texts, the pass mark, and people's results.
    fn practice_setup() -> PracticeSetup = |session| session.study.practice();

    /// Sets the right answer of a practice text, or removes it. The text is named by its id in files.
    fn set_practice_text(
        question: QuestionId,
        text_id: String,
        answer: Option<Answer>,
        reason: String,
    ) -> PracticeSetup = |session| {
        let (text, _) = session.project.text_named(&text_id)?;
        session.study.set_practice(&[NewPracticeText { question, text, answer, reason }])?;
        session.study.practice()
    };

    /// Sets the pass mark of practice, or what happens below it; missing values are unchanged.
    fn set_practice_rule(rule: NewPracticeRule) -> PracticeSetup = |session| {
        session.study.set_practice_rule(&rule)?;
        session.study.practice()
    };

    /// The pass mark of attention checks.
    fn check_rule() -> CheckRuleInfo = |session| session.study.check_rule();

    /// Sets the pass mark of attention checks, or removes it.
    fn set_check_rule(rule: Option<CheckRule>) -> CheckRuleInfo =
        |session| session.study.set_check_rule(rule);
}
