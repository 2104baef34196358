//! Converts a request for a panel to members and a rule.

use super::Panels;
use crate::panels::error::PanelError;
use dissensus_api::{PanelInfo, PanelRequest};
use dissensus_domain::{PanelRule, Question};
use dissensus_models::live::LiveModel;
use dissensus_project::context::Index;
use dissensus_project::error::ProjectError;
use dissensus_stats::data::{AnnotatorModel as _, ModelError, Target};
use dissensus_stats::metrics::CONFIDENCE_LEVEL;
use dissensus_stats::panels::{Candidate, DrawPanels, Quota, Verdict, VerdictRule, Verdicts};
use std::collections::BTreeSet;

/// Maximum number of members of a panel.
const MAX_MEMBERS: u32 = 1_000;
/// Maximum number of panels drawn.
const MAX_DRAWS: u32 = 10_000;

/// Panels of one composition, ready for use.
pub(super) struct Composition {
    pub(super) verdicts: Verdicts,
    /// Rows of all members of the panels.
    pub(super) people: Vec<u32>,
    /// Each panel's members, as indices of `people`; the first is the panel that is shown.
    pub(super) panels: Vec<Vec<usize>>,
    pub(super) info: PanelInfo,
}

impl Panels {
    /// Checks that a panel can be used, before a model is fitted: its rule, and its members by name.
    ///
    /// # Errors
    /// A question without levels, a rule that does not fit it, or people who do not exist.
    pub fn check(&self, request: &PanelRequest) -> Result<(), ProjectError> {
        self.whole_project()?;
        let index = self.context.index();
        let question = index.with_levels(request.question)?;
        check_ranges(request)?;
        let rule = rule_of(&request.rule)?;
        let size = match request.members.len() {
            0 => request.size as usize,
            n => n,
        };
        verdicts_of(&rule, question, size)?;
        named(&index, &request.members).map(drop)
    }

    /// Members and rule; members are drawn from people with labels in `model`, whose columns are the levels
    /// of `question`.
    pub(super) fn compose(
        &self,
        request: &PanelRequest,
        question: &Question,
        model: &LiveModel,
    ) -> Result<Composition, ProjectError> {
        self.check(request)?;
        let index = self.context.index();
        let rule = rule_of(&request.rule)?;
        let (rows, pool) = match request.members.is_empty() {
            false => (vec![named(&index, &request.members)?], None),
            true => {
                let pool: Vec<u32> =
                    (0..model.annotators() as u32).filter(|row| model.labels_of(*row) > 0).collect();
                (drawn(&index, request, &pool)?, Some(pool.len() as u32))
            }
        };
        let first = &rows[0];
        let verdicts = verdicts_of(&rule, question, first.len())?;
        let name = |row: &u32| index.annotators()[*row as usize].external_id.clone();
        let info = PanelInfo {
            question: question.name.clone(),
            rule: rule.to_string(),
            outcomes: verdicts.outcomes().into_iter().map(|v| outcome_name(v, question)).collect(),
            members: first.iter().map(name).collect(),
            strangers: first.iter().filter(|row| model.labels_of(**row) == 0).count() as u32,
            pool,
            draws: requested_draws(request),
            level: CONFIDENCE_LEVEL,
            exact: verdicts.is_exact(),
        };
        let people: Vec<u32> = rows.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        // All people are included, so that the index is found by the row.
        let place = |row: &u32| people.partition_point(|known| known < row);
        let panels = rows.iter().map(|panel| panel.iter().map(place).collect()).collect();
        Ok(Composition { verdicts, people, panels, info })
    }
}

/// Number of panels that are drawn in addition to the first; none for named people, for whom there is only
/// one panel.
fn requested_draws(request: &PanelRequest) -> u32 {
    if request.members.is_empty() { request.draws } else { 0 }
}

fn check_ranges(request: &PanelRequest) -> Result<(), PanelError> {
    let range =
        |what, value: u32, allowed| Err(PanelError::Range { what, value: value.to_string(), allowed });
    match request.members.len() {
        0 if request.size == 0 => Err(PanelError::Nobody),
        0 if request.size > MAX_MEMBERS => range("the size of a panel", request.size, "1 to 1,000 members"),
        n if n > MAX_MEMBERS as usize => range("the size of a panel", n as u32, "1 to 1,000 members"),
        _ if request.draws > MAX_DRAWS => range("the number of panels", request.draws, "10,000 at most"),
        _ => Ok(()),
    }
}

fn named(index: &Index, members: &[String]) -> Result<Vec<u32>, ProjectError> {
    let mut rows: Vec<u32> = Vec::with_capacity(members.len());
    for name in members {
        let found = index.find_annotator(name)?;
        let row = index.annotator_row(found.id).unwrap_or(u32::MAX);
        if rows.contains(&row) {
            return Err(PanelError::Twice(name.clone()).into());
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The first panel of a recipe, and as many more as requested, as rows of the pool.
fn drawn(index: &Index, request: &PanelRequest, pool: &[u32]) -> Result<Vec<Vec<u32>>, ProjectError> {
    let attributes = |row: &u32| &index.annotators()[*row as usize].attributes;
    for share in &request.shares {
        let values: BTreeSet<&str> =
            pool.iter().filter_map(|row| attributes(row).get(&share.attribute).map(String::as_str)).collect();
        if !values.contains(share.value.as_str()) {
            let (attribute, value) = (share.attribute.clone(), share.value.clone());
            let known = values.into_iter().collect::<Vec<_>>().join(", ");
            return Err(PanelError::Unknown { attribute, value, known }.into());
        }
    }
    let candidate = |row: &u32| Candidate {
        name: index.annotators()[*row as usize].external_id.clone(),
        attributes: attributes(row).iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
    };
    let people: Vec<Candidate> = pool.iter().map(candidate).collect();
    let quotas: Vec<Quota> = (request.shares.iter())
        .map(|s| Quota { attribute: s.attribute.clone(), value: s.value.clone(), share: s.share })
        .collect();
    let recipe = DrawPanels::new(&people, request.size as usize, &quotas).map_err(PanelError::from)?;
    let panels = recipe.draw(1 + request.draws as usize, u64::from(request.seed));
    Ok(panels.into_iter().map(|panel| panel.into_iter().map(|at| pool[at]).collect()).collect())
}

fn rule_of(written: &str) -> Result<PanelRule, PanelError> {
    Ok(written.parse()?)
}

fn verdicts_of(rule: &PanelRule, question: &Question, size: usize) -> Result<Verdicts, PanelError> {
    let scale = &question.scale;
    let target = Target::from_scale(scale);
    let level = |name: &Option<String>| match name {
        Some(name) => scale.index_of(name).ok_or_else(|| PanelError::Level {
            rule: rule.to_string(),
            question: question.name.clone(),
            level: name.clone(),
            known: scale.levels().join(", "),
        }),
        None if scale.is_ordered() => Ok(scale.len() as u16 - 1),
        None => Err(PanelError::Rule {
            rule: rule.to_string(),
            why: format!(
                "levels without an order have no top level: name one of {}",
                scale.levels().join(", ")
            ),
        }),
    };
    let known = match rule {
        PanelRule::Majority => VerdictRule::Majority,
        PanelRule::Mean => VerdictRule::Mean,
        PanelRule::Median => VerdictRule::Median,
        PanelRule::Veto(name) => VerdictRule::Veto { level: level(name)? },
        PanelRule::Quorum(needed, name) => {
            VerdictRule::Quorum { members: needed.of(size), level: level(name)? }
        }
    };
    Verdicts::new(known, target, size).map_err(|error| {
        let why = match error {
            ModelError::PanelRule(why) => why,
            other => other.to_string(),
        };
        PanelError::Rule { rule: rule.to_string(), why }
    })
}

fn outcome_name(verdict: Verdict, question: &Question) -> String {
    match verdict {
        Verdict::Level(level) => question.scale.name_at(level).unwrap_or("?").to_owned(),
        Verdict::NoMajority => "no majority".to_owned(),
        Verdict::Passed => "passed".to_owned(),
        Verdict::Vetoed => "vetoed".to_owned(),
        Verdict::NotReached => "not reached".to_owned(),
        Verdict::Reached => "reached".to_owned(),
    }
}
