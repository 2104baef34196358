//! Labels that were decided to be slips: what their authors did not mean.

use super::Context;
use crate::error::WorkbenchError;
use dissensus_domain::{Answer, Outcome, QuestionId, TextId};
use dissensus_store::QuestionSnapshot;
use std::collections::HashMap;

impl Context {
    /// Labels and texts of a question, of one moment; where it is asked for, without labels that were decided to be slips. On a text that
    /// holds a slip these are the labels that are not the decided answer; where no answer was decided on, nobody knows which label
    /// it is, and all stay.
    pub(super) fn snapshot_of(
        &self,
        question: QuestionId,
        without_slips: bool,
    ) -> Result<QuestionSnapshot, WorkbenchError> {
        let mut snapshot = self.store.question_snapshot(question)?;
        if without_slips {
            let mut decided: HashMap<TextId, Option<Answer>> = HashMap::new();
            for decision in self.store.decisions(question)? {
                // They come by text, the one that holds last.
                let meant = decision.answer.filter(|_| decision.outcome == Outcome::Slip);
                let meant = meant.map(|answer| answer.to(question));
                decided.insert(decision.text, meant);
            }
            let slip = |text: TextId, answer: &Answer| {
                decided.get(&text).and_then(Option::as_ref).is_some_and(|meant| meant != answer)
            };
            snapshot.labels.retain(|label| !slip(label.text, &label.answer));
        }
        Ok(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use crate::view::{ImportChoices, NewDecision};
    use crate::{Home, Session};
    use dissensus_domain::{Answer, Outcome, Progress, Silent};
    use std::sync::Arc;

    #[test]
    fn slips_are_left_out_where_an_answer_was_decided_on_and_holds() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::inside(&folder.path().join("home"), Vec::new());
        let session = Session::create(&folder.path().join("p.dissensus"), &home).unwrap();
        let rows: String = (1..=4)
            .flat_map(|text| ["ana", "ben"].map(|who| format!("t{text},Body {text},{who},{text}\n")))
            .collect();
        let file = folder.path().join("labels.csv");
        std::fs::write(&file, format!("text_id,text,annotator_id,label\n{rows}t1,Body 1,cleo,3\n")).unwrap();
        let silent: Arc<dyn Progress> = Arc::new(Silent);
        session.exchange.import(&file, &ImportChoices::default(), &silent).unwrap();
        let question = session.project.question(None).unwrap();
        let decide = |id: &str, outcome, level: Option<u16>| {
            let text = session.project.text_named(id).unwrap().0;
            let (answer, comment, by) = (level.map(Answer::Level), String::new(), String::new());
            let new = NewDecision { question: question.id, text, outcome, answer, comment, by };
            session.study.decide(&new).unwrap();
        };
        let labels = |without_slips| {
            session.context.question_data_of(&question, without_slips).unwrap().observations.len()
        };
        decide("t1", Outcome::Slip, Some(2));
        decide("t2", Outcome::Slip, None);
        decide("t3", Outcome::RealDifference, Some(0));
        assert_eq!((labels(false), labels(true)), (9, 7), "on t1 what is not 3");
        let all = session.context.learned_data_of(&question, true).unwrap();
        assert_eq!(all[0].observations.len(), 7);
        // Whoever mends a label has no slip any more, and a decision that holds no more leaves nothing out.
        session.labelling.label_by_name("ben", "t1", "3", None).unwrap();
        assert_eq!(labels(true), 8);
        decide("t1", Outcome::Reopened, None);
        assert_eq!(labels(true), 9);
    }
}
