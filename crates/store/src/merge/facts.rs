//! Merges facts: of questions, of annotators and withdrawals, and all others.

use super::questions::unknown_question;
use super::{Merger, conflict};
use crate::deleting::next_row;
use crate::log::{Submitted, check_given, kind, name_hash, names_of, near_hash};
use crate::{Result, Store, StoreError};
use dissensus_domain::{Annotator, AnnotatorId, EventId, Fact, FactKind, LevelId};

impl Merger<'_, '_> {
    /// Annotators who withdrew in the other copy are withdrawn here, and those who withdrew here
    /// are skipped.
    pub(super) fn withdrawals(&mut self, theirs: &[Fact]) -> Result<()> {
        // Other facts about withdrawals mean nothing without one.
        if let Some(one) = theirs.iter().find(|fact| fact.kind == FactKind::Withdrawal) {
            let (what, name) = (kind(one.kind).title)(one);
            self.refuse_unassigned(what, &name, false)?;
            self.report.withdrawn = self.tx.add_withdrawals(theirs)?;
        }
        let people = self.other.annotators()?;
        self.withdrawn = Store::withdrawn_among(self.tx, &people)?;
        self.withdrawn_names(&people)?;
        self.report.passed_over = u32::try_from(self.withdrawn.len()).unwrap_or(u32::MAX);
        let last = self.tx.first(&format!("SELECT {} - 1", next_row("events")), [], |r| r.get(0))?;
        self.last = EventId(last.unwrap_or(0));
        Ok(())
    }

    /// A copy may know an annotator who withdrew by names that were never known here.
    pub(super) fn withdrawn_names(&mut self, people: &[Annotator]) -> Result<()> {
        if self.withdrawn.is_empty() {
            return Ok(());
        }
        let project = self.tx.project_id()?;
        let mut new = false;
        for person in people {
            let Some(hash) = self.withdrawn.get(&person.id) else { continue };
            let mut names = self.other.read("reading names", |c| names_of(c, person.id))?;
            names.extend([person.external_id.clone(), person.name.clone()]);
            for name in names.iter().filter(|name| !name.is_empty()) {
                new |= self.tx.add_withdrawn_name(*hash, name_hash(project, name))?;
                self.tx.add_withdrawn_name(*hash, near_hash(project, name))?;
            }
        }
        // Something signed with such a name may have been merged before.
        if new {
            self.tx.erase(&[])?;
        }
        Ok(())
    }

    /// Merges a fact. Of a submission, only what its kind allows is merged, about its own annotator.
    /// Returns the annotator whom the fact is about, if it is new.
    pub(super) fn fact(&mut self, theirs: Fact) -> Result<Option<AnnotatorId>> {
        if theirs.annotator.is_some_and(|id| self.withdrawn.contains_key(&id)) {
            return Ok(None);
        }
        let kind = kind(theirs.kind);
        let (what, name) = (kind.title)(&theirs);
        let submitted = kind.submitted;
        if self.only.is_some() && submitted == Submitted::Ignored {
            return Ok(None);
        }
        self.refuse_unassigned(what, &name, submitted != Submitted::No)?;
        let ours = self.fact_here(&theirs)?;
        let own = theirs.kind.is_of_person() && ours.annotator.is_some();
        if let Some(only) = &self.only {
            self.in_time(kind.noun.unwrap_or(theirs.kind.name()), theirs.at_ms)?;
            if theirs.kind == FactKind::FormAnswers {
                // Only attributes and values that some version of the form offered.
                check_given(&theirs.value, &only.forms).map_err(|why| StoreError::Invalid {
                    what: "answers to a form in the packet".to_owned(),
                    why,
                })?;
            }
            let known = |version: &str| only.consents.iter().any(|known| known == version);
            if theirs.kind == FactKind::ConsentGiven && !theirs.value.as_str().is_some_and(known) {
                return Err(StoreError::Invalid {
                    what: "agreement in the packet".to_owned(),
                    why: "it is to a consent text that was never handed out: ask for the packet as it was handed out"
                        .to_owned(),
                });
            }
        }
        let added = self.tx.add_fact(&ours)?;
        self.refuse_unassigned(what, &name, own || !added || submitted == Submitted::Yes)?;
        *(kind.count)(&mut self.report) += u32::from(added);
        Ok(ours.annotator.filter(|_| added))
    }

    /// A fact of the other copy with the ids that its question, text, annotator and levels have here.
    pub(super) fn fact_here(&self, theirs: &Fact) -> Result<Fact> {
        let kind = kind(theirs.kind);
        let unknown = || match (kind.title)(theirs) {
            ("fact", name) => conflict(
                "fact",
                format!("{name} of {}", theirs.at_ms),
                "is about something that the other copy does not have",
            ),
            (what, name) => conflict(what, name, "is about a text that the other copy does not have"),
        };
        let question = theirs.question.map(|id| self.question_here(id)).transpose()?;
        let text = theirs.text.map(|id| self.texts.get(&id).copied().ok_or_else(unknown)).transpose()?;
        let annotator =
            theirs.annotator.map(|id| self.annotators.get(&id).copied().ok_or_else(unknown)).transpose()?;
        let rows = theirs.question.and_then(|id| self.rows.get(&id));
        let row =
            |level: LevelId| rows.and_then(|rows| rows.get(usize::from(level.0))).copied().unwrap_or(level);
        let value = (kind.with_levels)(theirs.value.clone(), &row);
        Ok(Fact { question, text, annotator, value, ..theirs.clone() })
    }

    /// Merges a fact that defines a question.
    pub(super) fn fact_of_question(&mut self, theirs: Fact) -> Result<()> {
        let ours = self.fact_here(&theirs)?;
        let Some(question) = ours.question else { return Ok(()) };
        let kind = kind(ours.kind);
        let (_, scale) = self.asked.get(&question).ok_or_else(|| unknown_question(question))?;
        (kind.sound)(self.tx, &ours, scale).map_err(|why| StoreError::Invalid {
            what: format!("{} of {} in the other copy", kind.noun.unwrap_or(ours.kind.name()), ours.at_ms),
            why,
        })?;
        let added = self.tx.add_fact(&ours)?;
        self.not_changed(question, added)?;
        *(kind.count)(&mut self.report) += u32::from(added);
        Ok(())
    }
}
