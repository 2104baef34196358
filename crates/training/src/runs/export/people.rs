//! The people of a run, as a report shows them: under pseudonyms, and in groups of five or more.

use dissensus_api::{RunAnnotator, RunDetail};
use dissensus_domain::{AnnotatorId, Attributes};
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_project::pseudonyms::{Pseudonyms, shared_values};

/// People by groups, without groups of fewer than five people.
pub(super) struct ReportedPeople {
    /// Whether people have pseudonyms.
    pub(super) pseudonyms: bool,
    /// Values of attributes, in their order.
    pub(super) groups: Vec<ReportedGroup>,
    /// Values that fewer than five people have, or that would reveal so small a group.
    pub(super) left_out: usize,
}

/// People who have one value of an attribute: means over them.
pub(super) struct ReportedGroup {
    pub(super) attribute: String,
    pub(super) value: String,
    pub(super) people: usize,
    pub(super) accuracy: f64,
    pub(super) baseline: f64,
    pub(super) log_loss: f64,
}

impl ReportedPeople {
    /// The people of a run. From here on the run has pseudonyms instead of names, or ids with `with_ids`.
    pub(super) fn new(context: &Context, run: &mut RunDetail, with_ids: bool) -> Result<Self, ProjectError> {
        let index = context.index();
        let known = |id| index.annotator_row(id).map(|row| &index.annotators()[row as usize]);
        let nothing = Attributes::new();
        let attributes: Vec<&Attributes> = run
            .annotators
            .iter()
            .map(|one| known(one.annotator).map_or(&nothing, |a| &a.attributes))
            .collect();
        let (groups, left_out) = groups(&run.annotators, &attributes);
        if with_ids {
            for one in &mut run.annotators {
                one.name = known(one.annotator).map_or_else(String::new, |a| a.external_id.clone());
            }
        } else {
            let pseudonyms = Pseudonyms::new(context)?;
            for one in &mut run.annotators {
                let number = pseudonyms.number(one.annotator)?;
                (one.annotator, one.name) = (AnnotatorId(number), Pseudonyms::name(number));
            }
            // The order in which people were added could identify them.
            run.annotators.sort_by_key(|one| one.annotator);
        }
        Ok(Self { pseudonyms: !with_ids, groups, left_out })
    }
}

fn groups(people: &[RunAnnotator], attributes: &[&Attributes]) -> (Vec<ReportedGroup>, usize) {
    let shown = shared_values(attributes);
    let all: std::collections::BTreeSet<(&String, &String)> =
        attributes.iter().flat_map(|known| known.iter()).collect();
    let left_out = all.len() - shown.len();
    let group = |(attribute, value): (String, String)| {
        let members: Vec<&RunAnnotator> = (people.iter().zip(attributes))
            .filter(|(_, known)| known.get(&attribute) == Some(&value))
            .map(|(one, _)| one)
            .collect();
        let mean = |of: fn(&RunAnnotator) -> f64| {
            members.iter().map(|one| of(one)).sum::<f64>() / members.len() as f64
        };
        ReportedGroup {
            people: members.len(),
            accuracy: mean(|one| one.accuracy),
            baseline: mean(|one| one.baseline),
            log_loss: mean(|one| one.log_loss),
            attribute,
            value,
        }
    };
    (shown.into_iter().map(group).collect(), left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(id: u32, accuracy: f64) -> RunAnnotator {
        let annotator = AnnotatorId(id);
        RunAnnotator { annotator, name: String::new(), labels: 3, accuracy, baseline: 0.5, log_loss: 1.0 }
    }

    fn known(values: &[(&str, &str)]) -> Attributes {
        values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn groups_below_five_are_suppressed() {
        let people: Vec<RunAnnotator> = (0..15).map(|n| person(n, f64::from(n % 2))).collect();
        // Ten and five; eleven and four, so that the rest would reveal the four; all the same, but for six
        // who have none.
        let attributes: Vec<Attributes> = (0..15)
            .map(|n| {
                let gender = if n < 10 { "woman" } else { "man" };
                let region = if n < 11 { "coast" } else { "inland" };
                let mut all = known(&[("gender", gender), ("region", region)]);
                if n < 9 {
                    all.insert("age".to_owned(), "18-29".to_owned());
                }
                all
            })
            .collect();
        let (groups, left_out) = groups(&people, &attributes.iter().collect::<Vec<_>>());
        let shown: Vec<(&str, &str, usize)> =
            groups.iter().map(|g| (g.attribute.as_str(), g.value.as_str(), g.people)).collect();
        assert_eq!(shown, [("age", "18-29", 9), ("gender", "man", 5), ("gender", "woman", 10)]);
        assert_eq!(left_out, 2);
        assert!((groups[2].accuracy - 0.5).abs() < 1e-12 && (groups[1].accuracy - 0.4).abs() < 1e-12);
        assert_eq!((groups[0].baseline, groups[0].log_loss), (0.5, 1.0));
    }
}
