//! Facts for a data statement that the project itself contains: counts of texts, people, labels,
//! instructions, packets, checks and times.

use super::people::{Group, LeftOut, People};
use super::work::{ReportQuestion, Work};
use dissensus_api::{ConsentState, GuidelineInfo, PracticeSetup, StudyCare, StudyReport};
use dissensus_domain::{
    AfterFailing, AnnotatorId, AttributeForm, CheckRule, EventId, LabelSource, PassStatus,
};
use dissensus_editing::info;
use dissensus_editing::{attribute_form, consent};
use dissensus_project::clock::local_time;
use dissensus_project::error::ProjectError;
use dissensus_render::escape::markdown;
use dissensus_render::table::Cell;
use dissensus_stats::math::median::median;
use dissensus_transfer::study;
use std::collections::{BTreeSet, HashSet};

pub(super) struct Facts<'a> {
    pub(super) people: &'a People,
    pub(super) asked: &'a [ReportQuestion],
    pub(super) name: String,
    pub(super) texts: usize,
    pub(super) lengths: Vec<f64>,
    pub(super) text_groups: usize,
    /// People with a label of any question.
    pub(super) who: HashSet<AnnotatorId>,
    pub(super) simulated: usize,
    pub(super) imported: usize,
    pub(super) withdrawn: u32,
    pub(super) groups: Vec<Group>,
    /// Attribute values that are hidden because too few people have them.
    pub(super) left_out: LeftOut,
    /// Names of attributes that at least one person has.
    pub(super) attributes: BTreeSet<String>,
    pub(super) form: AttributeForm,
    pub(super) guidelines: Vec<GuidelineInfo>,
    pub(super) consent: ConsentState,
    pub(super) practice: PracticeSetup,
    pub(super) check_rule: Option<CheckRule>,
    pub(super) study: StudyReport,
    pub(super) submissions: usize,
    pub(super) care: StudyCare,
    pub(super) reveals: bool,
    pub(super) decisions: usize,
    /// Seconds of each label with a known time.
    pub(super) seconds: Vec<f64>,
    pub(super) timed: usize,
    /// The first and the last moment of the current labels that were given in the program, and of the
    /// imported ones.
    pub(super) given: Option<(i64, i64)>,
    pub(super) read: Option<(i64, i64)>,
    pub(super) repeats: usize,
    pub(super) simulated_notice: Option<String>,
}

impl<'a> Facts<'a> {
    /// Reads the facts from the project.
    pub(super) fn new(work: &Work<'a>, asked: &'a [ReportQuestion]) -> Result<Self, ProjectError> {
        let paper = work.of;
        let (store, people) = (&paper.context.store, work.people);
        let info = info::read(&paper.project)?;
        let who: HashSet<AnnotatorId> = asked.iter().flat_map(ReportQuestion::labelled_people).collect();
        let (groups, left_out) = people.groups(&who);
        let of_them = || people.everyone().iter().filter(|one| who.contains(&one.id));
        let imported = paper.context.imported_people()?;
        let [given, read] = moments(work, asked)?;
        let (mut seconds, mut repeats) = (Vec::new(), 0);
        for one in asked {
            let timed = store.timed_answers(one.question.id)?;
            seconds.extend(timed.iter().map(|answer| f64::from(answer.duration_ms) / 1000.0));
            repeats += store.repeats(one.question.id)?.len();
        }
        Ok(Self {
            people,
            asked,
            name: info.name,
            texts: paper.context.index().texts().len(),
            lengths: store.text_lengths()?.into_iter().map(|(_, n)| f64::from(n)).collect(),
            text_groups: store.text_groups(u32::MAX)?.len(),
            simulated: of_them().filter(|one| one.simulated).count(),
            imported: of_them().filter(|one| imported.contains(&one.id)).count(),
            withdrawn: store.people_withdrawn()?,
            attributes: of_them().flat_map(|one| one.attributes.keys().cloned()).collect(),
            form: attribute_form::form(&paper.project)?,
            guidelines: paper.guideline.versions()?,
            consent: consent::read(&paper.project)?,
            practice: study::practice(&paper.study)?,
            check_rule: study::check_rule(&paper.study)?.rule,
            study: study::report(&paper.study)?,
            submissions: store.submissions()?.len(),
            care: info.care,
            reveals: info.reveals,
            decisions: study::all_decisions(&paper.study)?.iter().filter(|one| one.holds).count(),
            timed: seconds.len(),
            seconds,
            given,
            read,
            repeats,
            simulated_notice: info.simulated_notice,
            groups,
            left_out,
            who,
        })
    }

    pub(super) fn labels(&self) -> usize {
        self.asked.iter().map(|one| one.labels.len()).sum()
    }

    /// Formats the number of people out of `all` for whom something is true.
    pub(super) fn count(&self, n: usize, all: usize) -> String {
        self.people.count(n, all).shown()
    }

    /// Median and range of some numbers, in words.
    pub(super) fn middle(values: &[f64], unit: &str, decimals: usize) -> String {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        match median(values.to_vec()) {
            Some(middle) => {
                format!("median {middle:.decimals$} {unit} (from {low:.decimals$} to {high:.decimals$})")
            }
            None => "not known".to_owned(),
        }
    }

    /// When labels were given, in days only: a time of day could reveal who worked when.
    pub(super) fn days(&self) -> String {
        let day = |ms: i64| local_time(ms as f64).chars().take(10).collect::<String>();
        let days = |(first, last): (i64, i64)| match day(first) == day(last) {
            true => format!("on {}", day(first)),
            false => format!("from {} to {}", day(first), day(last)),
        };
        let given = self.given.map(|moments| format!("Labels were given in Dissensus {}.", days(moments)));
        let read = self.read.map(|moments| {
            format!(
                "Imported labels have times {}: those of their files, and the time of the import where a file has none.",
                days(moments)
            )
        });
        match (given, read) {
            (None, None) => "When labels were given is not known.".to_owned(),
            (given, read) => given.into_iter().chain(read).collect::<Vec<_>>().join(" "),
        }
    }

    /// A table of people with labels by their attributes.
    pub(super) fn groups_table(&self) -> String {
        if self.attributes.is_empty() {
            return "Nothing is known of the people but their labels.\n".to_owned();
        }
        let mut out = String::new();
        if !self.groups.is_empty() {
            let all = self.who.len();
            out = format!(
                "Of {all} people with labels:\n\n| attribute | value | people |\n| --- | --- | ---: |\n"
            );
        }
        for group in &self.groups {
            // Values shown are of at least five people, and so are the people without them.
            let n = Cell::Count(group.people.len() as u64).shown();
            out.push_str(&format!("| {} | {} | {n} |\n", markdown(&group.attribute), markdown(&group.value)));
        }
        let LeftOut { values, attributes } = &self.left_out;
        if *values > 0 {
            out.push_str(&format!(
                "\n{values} value(s) of attributes are not shown: fewer than five people have them, or lack the attribute where the others have it."
            ));
            if !attributes.is_empty() {
                let names: Vec<String> = attributes.iter().map(|name| markdown(name)).collect();
                out.push_str(&format!(" No value of {} is shown.", names.join(", ")));
            }
            out.push('\n');
        }
        out.trim_start().to_owned()
    }

    /// Results of people in practice: begun, passed, failed.
    pub(super) fn practised(&self) -> [usize; 3] {
        let of = |status: PassStatus| {
            self.practice.people.iter().filter(|one| one.result.status == status).count()
        };
        [self.practice.people.len(), of(PassStatus::Passed), of(PassStatus::Failed)]
    }

    /// Results of people in attention checks: with a result, passed, failed.
    pub(super) fn attended(&self) -> [usize; 3] {
        let all: Vec<PassStatus> = self.study.people.iter().filter_map(|one| one.attention_status).collect();
        let of = |status: PassStatus| all.iter().filter(|one| **one == status).count();
        [all.len(), of(PassStatus::Passed), of(PassStatus::Failed)]
    }
}

/// What happens to a person below a pass mark.
pub(super) fn after(then: AfterFailing) -> &'static str {
    match then {
        AfterFailing::GoOn => "the person goes on, and the labels are stored and marked",
        AfterFailing::Practise => "the person practises again",
        AfterFailing::Stop => "the person is asked no more",
    }
}

/// The first and the last moment of current labels: of those given in the program, and of those read from
/// files. Simulated ones count as neither.
fn moments(work: &Work<'_>, asked: &[ReportQuestion]) -> Result<[Option<(i64, i64)>; 2], ProjectError> {
    const PAGE: u32 = 20_000;
    let store = &work.of.context.store;
    let current: HashSet<EventId> = asked.iter().flat_map(|one| &one.labels).map(|label| label.id).collect();
    let (mut found, mut cursor) = ([None; 2], EventId(0));
    loop {
        let page = store.events_since(cursor, PAGE)?;
        let Some(last) = page.last() else { return Ok(found) };
        cursor = last.id;
        for event in page.iter().filter(|event| current.contains(&event.id)) {
            let place = match event.source {
                LabelSource::Window | LabelSource::Command => 0,
                LabelSource::Import => 1,
                LabelSource::Simulated => continue,
            };
            let (low, high) = found[place].unwrap_or((event.at_ms, event.at_ms));
            found[place] = Some((event.at_ms.min(low), event.at_ms.max(high)));
        }
    }
}
