//! Draws the texts of each annotator, and their order.

use crate::study::error::ImpossiblePlan;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The parameters of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawParameters {
    /// Number of annotators for each text.
    pub(super) per_text: usize,
    /// Maximum number of texts for an annotator, including anchors and excluding repeats.
    pub(super) per_person: Option<usize>,
    /// Number of texts that all annotators are asked about.
    pub(super) anchors: usize,
    /// Share of an annotator's new texts that is repeated.
    pub(super) repeat: f64,
    /// Minimum number of other texts between the two times.
    pub(super) gap: usize,
    /// Seed for drawing texts and orders.
    pub(super) seed: u32,
}

/// The existing assignments and answers. Texts are rows from 0.
#[derive(Clone, Debug)]
pub(super) struct ExistingWork {
    /// Number of texts in all.
    pub(super) texts: usize,
    /// How many annotators have each text, including those who are not asked this time.
    pub(super) count: Vec<usize>,
    /// The anchors so far.
    pub(super) anchors: BTreeSet<usize>,
    /// Texts with a known right answer: all annotators get them, hidden among the others.
    pub(super) checks: BTreeSet<usize>,
    /// Practice texts: nobody is asked about them.
    pub(super) practice: BTreeSet<usize>,
    /// The annotators to ask.
    pub(super) people: Vec<Person>,
}

impl ExistingWork {
    /// Texts that annotators can be asked about.
    fn asked(&self) -> impl Iterator<Item = usize> {
        (0..self.texts).filter(|text| !self.practice.contains(text))
    }
}

/// An annotator to ask.
#[derive(Clone, Debug, Default)]
pub(super) struct Person {
    /// Seeds this annotator's order, which does not depend on the other annotators.
    pub(super) name: String,
    /// The texts that this annotator was assigned or answered before.
    pub(super) has: HashSet<usize>,
    /// Group over which the annotators of a text are balanced, if it is known.
    pub(super) group: Option<usize>,
}

/// A text in an annotator's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Row of the text.
    pub(super) text: usize,
    /// 1, or 2 for a repeat.
    pub(super) occasion: u16,
    /// Whether all annotators are asked about it.
    pub(super) anchor: bool,
}

/// Draws the new texts of each annotator, in the order in which they are asked.
///
/// Each text is assigned to the annotators who have fewest so far, among these to the group that the text has
/// least, then at random: so the numbers of texts differ by at most one between annotators who began alike.
pub(super) fn draw(wanted: &DrawParameters, known: &ExistingWork) -> Result<Vec<Vec<Item>>, ImpossiblePlan> {
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(wanted.seed));
    let anchors = anchors(wanted, known, &mut rng)?;
    let everybody: BTreeSet<usize> = anchors.union(&known.checks).copied().collect();
    let mut given: Vec<Vec<Item>> = vec![Vec::new(); known.people.len()];
    for (person, items) in known.people.iter().zip(&mut given) {
        let new = everybody.iter().filter(|text| !person.has.contains(text));
        items.extend(new.map(|text| Item { text: *text, occasion: 1, anchor: anchors.contains(text) }));
    }
    others(wanted, known, &everybody, &mut given, &mut rng)?;
    for (person, items) in known.people.iter().zip(&mut given) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed_of(wanted.seed, &person.name));
        // Sorted by row first, so that an annotator's order depends only on the texts.
        items.sort_by_key(|item| item.text);
        items.shuffle(&mut rng);
        *items = with_repeats(wanted, person, items, &mut rng)?;
    }
    Ok(given)
}

/// Draws the texts of people who come one after the other: each gets those that fewest have, as long as they
/// lack people, up to so many as a person can have. Nothing but anchors is left where no text lacks anybody.
pub(super) fn draw_next(
    wanted: &DrawParameters,
    known: &ExistingWork,
) -> Result<Vec<Vec<Item>>, ImpossiblePlan> {
    let mut count = known.count.clone();
    let mut given = Vec::with_capacity(known.people.len());
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(wanted.seed));
    let anchors = anchors(wanted, known, &mut rng)?;
    let everybody: BTreeSet<usize> = anchors.union(&known.checks).copied().collect();
    for person in &known.people {
        let mut rng = ChaCha8Rng::seed_from_u64(seed_of(wanted.seed, &person.name));
        let new = |text: &usize| !person.has.contains(text);
        let mut items: Vec<Item> = everybody
            .iter()
            .filter(|text| new(text))
            .map(|text| Item { text: *text, occasion: 1, anchor: anchors.contains(text) })
            .collect();
        let lacks = |text: &usize| count[*text] < wanted.per_text && !everybody.contains(text);
        let mut others: Vec<usize> = known.asked().filter(|text| new(text) && lacks(text)).collect();
        let most = wanted.per_person.unwrap_or(usize::MAX).saturating_sub(person.has.len() + items.len());
        // Anchors alone are no reason to ask somebody.
        if others.is_empty() || most == 0 {
            given.push(Vec::new());
            continue;
        }
        others.shuffle(&mut rng);
        others.sort_by_key(|text| count[*text]);
        for text in others.into_iter().take(most) {
            count[text] += 1;
            items.push(Item { text, occasion: 1, anchor: false });
        }
        items.shuffle(&mut rng);
        given.push(with_repeats(wanted, person, &items, &mut rng)?);
    }
    Ok(given)
}

/// Returns the existing anchors and as many new ones as are missing.
fn anchors(
    wanted: &DrawParameters,
    known: &ExistingWork,
    rng: &mut ChaCha8Rng,
) -> Result<BTreeSet<usize>, ImpossiblePlan> {
    let mut anchors = known.anchors.clone();
    // Annotators agree on checks because these have a right answer: they do not show the agreement on other
    // texts.
    let free = |text: &usize| !anchors.contains(text) && !known.checks.contains(text);
    let mut others: Vec<usize> = known.asked().filter(free).collect();
    let texts = anchors.len() + others.len();
    if wanted.anchors > texts {
        return Err(ImpossiblePlan::TooManyAnchors { anchors: wanted.anchors, texts });
    }
    others.shuffle(rng);
    anchors.extend(others.into_iter().take(wanted.anchors.saturating_sub(known.anchors.len())));
    Ok(anchors)
}

/// Assigns every other text to as many annotators as it lacks.
fn others(
    wanted: &DrawParameters,
    known: &ExistingWork,
    everybody: &BTreeSet<usize>,
    given: &mut [Vec<Item>],
    rng: &mut ChaCha8Rng,
) -> Result<(), ImpossiblePlan> {
    let people = &known.people;
    let mut load: Vec<usize> =
        people.iter().zip(given.iter()).map(|(person, items)| person.has.len() + items.len()).collect();
    let most = wanted.per_person.unwrap_or(usize::MAX);
    let mut texts: Vec<usize> = known.asked().filter(|text| !everybody.contains(text)).collect();
    texts.shuffle(rng);
    // Texts that fewest annotators can still be asked about come first, so that none remains at the end.
    let free = |text: usize| people.iter().filter(|person| !person.has.contains(&text)).count();
    texts.sort_by_key(|text| free(*text));
    let lack = |text: usize| wanted.per_text.saturating_sub(known.count[text]);
    let short = |load: &[usize]| {
        let places: usize = load.iter().map(|load| most.saturating_sub(*load)).sum();
        let missing: usize = texts.iter().map(|text| lack(*text)).sum();
        ImpossiblePlan::TooFewPlaces { wanted: missing, possible: places, per_person: most }
    };
    if wanted.per_person.is_some() {
        let reported = short(&load);
        if let ImpossiblePlan::TooFewPlaces { wanted, possible, .. } = reported
            && wanted > possible
        {
            return Err(reported);
        }
    }
    let before = load.clone();
    for &text in &texts {
        let mut groups: HashMap<usize, usize> = HashMap::new();
        for group in people.iter().filter(|p| p.has.contains(&text)).filter_map(|p| p.group) {
            *groups.entry(group).or_default() += 1;
        }
        let mut chosen: HashSet<usize> = HashSet::new();
        for _ in 0..lack(text) {
            let can = |p: &usize| !people[*p].has.contains(&text) && !chosen.contains(p);
            let free: Vec<usize> = (0..people.len()).filter(can).collect();
            if free.is_empty() {
                let there = chosen.len() + known.count[text];
                return Err(ImpossiblePlan::TooFewPeople { per_text: wanted.per_text, people: there });
            }
            let here = |p: usize| people[p].group.map_or(0, |g| groups.get(&g).copied().unwrap_or(0));
            let best = free.into_iter().filter(|p| load[*p] < most);
            let best = best.min_by_key(|p| (load[*p], here(*p), rng.random::<u32>()));
            let person = best.ok_or_else(|| short(&before))?;
            chosen.insert(person);
            load[person] += 1;
            if let Some(group) = people[person].group {
                *groups.entry(group).or_default() += 1;
            }
            given[person].push(Item { text, occasion: 1, anchor: false });
        }
    }
    Ok(())
}

/// Inserts the repeats at random positions, after at least so many other texts.
fn with_repeats(
    wanted: &DrawParameters,
    person: &Person,
    items: &[Item],
    rng: &mut ChaCha8Rng,
) -> Result<Vec<Item>, ImpossiblePlan> {
    let count = match items.is_empty() || wanted.repeat <= 0.0 {
        true => 0,
        false => ((items.len() as f64 * wanted.repeat).round() as usize).max(1),
    };
    // An item at `place` is repeated before place `place + gap + 1` at the earliest, and after the last one
    // at the latest.
    let possible = items.len().saturating_sub(wanted.gap);
    if count > possible {
        return Err(ImpossiblePlan::TooShort {
            name: person.name.clone(),
            texts: items.len(),
            wanted: count,
            gap: wanted.gap,
            possible,
        });
    }
    let mut places: Vec<usize> = (0..possible).collect();
    places.shuffle(rng);
    let mut again: Vec<(usize, u32, Item)> = places
        .into_iter()
        .take(count)
        .map(|place| {
            let before = rng.random_range(place + wanted.gap + 1..=items.len());
            (before, rng.random(), Item { occasion: 2, ..items[place] })
        })
        .collect();
    again.sort_by_key(|(before, order, _)| (*before, *order));
    let mut all = Vec::with_capacity(items.len() + count);
    let mut again = again.into_iter().peekable();
    for place in 0..=items.len() {
        while let Some((.., item)) = again.next_if(|(before, ..)| *before == place) {
            all.push(item);
        }
        all.extend(items.get(place));
    }
    Ok(all)
}

/// Returns the seed of one annotator's order (FNV-1a over the name, mixed with the plan's seed).
fn seed_of(seed: u32, name: &str) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash ^ (u64::from(seed) << 32 | u64::from(seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: DrawParameters =
        DrawParameters { per_text: 3, per_person: None, anchors: 12, repeat: 0.05, gap: 20, seed: 7 };

    fn fresh(texts: usize, people: usize) -> ExistingWork {
        let person = |n| Person { name: format!("p{n}"), group: Some(n % 2), ..Person::default() };
        ExistingWork {
            texts,
            count: vec![0; texts],
            anchors: BTreeSet::new(),
            checks: BTreeSet::new(),
            practice: BTreeSet::new(),
            people: (0..people).map(person).collect(),
        }
    }

    /// Updates what is known with a drawn plan.
    fn after(known: &ExistingWork, drawn: &[Vec<Item>]) -> ExistingWork {
        let mut next = known.clone();
        for (person, items) in next.people.iter_mut().zip(drawn) {
            for item in items.iter().filter(|item| item.occasion == 1) {
                next.count[item.text] += usize::from(person.has.insert(item.text));
                next.anchors.extend(item.anchor.then_some(item.text));
            }
        }
        next
    }

    fn check(wanted: &DrawParameters, known: &ExistingWork, drawn: &[Vec<Item>]) {
        let next = after(known, drawn);
        for text in 0..known.texts {
            let expected = if next.anchors.contains(&text) { known.people.len() } else { wanted.per_text };
            assert_eq!(next.count[text], expected.max(known.count[text]), "text {text}");
        }
        assert!(next.anchors.len() >= wanted.anchors);
        for (person, items) in known.people.iter().zip(drawn) {
            let first: Vec<usize> = items.iter().filter(|i| i.occasion == 1).map(|i| i.text).collect();
            assert_eq!(first.iter().collect::<HashSet<_>>().len(), first.len());
            assert!(first.iter().all(|text| !person.has.contains(text)));
            let again = items.len() - first.len();
            let share = (first.len() as f64 * wanted.repeat).round() as usize;
            assert_eq!(again, if first.is_empty() || wanted.repeat == 0.0 { 0 } else { share.max(1) });
            for (place, item) in items.iter().enumerate().filter(|(_, item)| item.occasion == 2) {
                let before = items.iter().position(|i| (i.text, i.occasion) == (item.text, 1)).unwrap();
                assert!(place > before + wanted.gap, "asked again after {} others", place - before - 1);
            }
        }
    }

    #[test]
    fn attention_checks_are_hidden_in_every_assignment() {
        let checks: BTreeSet<usize> = [3, 50, 51, 299].into();
        let known = ExistingWork { checks: checks.clone(), ..fresh(300, 12) };
        let items = draw(&WANTED, &known).unwrap();
        let mut places = Vec::new();
        for (person, items) in items.iter().enumerate() {
            let own = items
                .iter()
                .enumerate()
                .filter(|(_, item)| item.occasion == 1 && checks.contains(&item.text));
            let own: Vec<_> = own.collect();
            assert_eq!(own.len(), checks.len(), "person {person}");
            assert!(own.iter().all(|(_, item)| !item.anchor));
            places.extend(own.iter().map(|(place, _)| *place));
        }
        places.sort_unstable();
        assert!(places[places.len() / 2] > 10 && places.last() > places.first(), "{places:?}");
        let all: HashSet<usize> =
            items.iter().flatten().filter(|item| item.anchor).map(|item| item.text).collect();
        assert_eq!(all.len(), WANTED.anchors, "as many anchors as were wanted, in addition to the checks");
        // If nearly all texts are checks, no more can be anchors than there are others.
        let few = ExistingWork { texts: 5, count: vec![0; 5], checks: (0..4).collect(), ..known.clone() };
        let wanted = DrawParameters { anchors: 2, repeat: 0.0, per_text: 1, ..WANTED };
        assert_eq!(draw(&wanted, &few).unwrap_err(), ImpossiblePlan::TooManyAnchors { anchors: 2, texts: 1 });
    }

    #[test]
    fn practice_texts_are_not_assigned() {
        let practice: BTreeSet<usize> = [0, 7, 299].into();
        let known = ExistingWork { practice: practice.clone(), ..fresh(300, 12) };
        let drawn = draw(&WANTED, &known).unwrap();
        assert!(drawn.iter().flatten().all(|item| !practice.contains(&item.text)));
        let given: BTreeSet<usize> = drawn.iter().flatten().map(|item| item.text).collect();
        assert_eq!(given.len(), 297, "and everybody else's text is");
        let few = ExistingWork { texts: 5, count: vec![0; 5], practice: (0..4).collect(), ..fresh(5, 12) };
        let wanted = DrawParameters { anchors: 2, repeat: 0.0, per_text: 1, ..WANTED };
        assert_eq!(draw(&wanted, &few).unwrap_err(), ImpossiblePlan::TooManyAnchors { anchors: 2, texts: 1 });
    }

    #[test]
    fn plan_assigns_people_anchors_and_reannotations() {
        let known = fresh(300, 12);
        let drawn = draw(&WANTED, &known).unwrap();
        check(&WANTED, &known, &drawn);
        let sizes: Vec<usize> =
            drawn.iter().map(|items| items.iter().filter(|i| i.occasion == 1).count()).collect();
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), 288 * 3 + 12 * 12);
    }

    #[test]
    fn feasible_plans_are_drawn_and_extended() {
        for seed in 0..60 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed.into());
            let people = rng.random_range(1..9);
            let mut known = fresh(rng.random_range(1..40), people);
            let wanted = DrawParameters {
                per_text: rng.random_range(1..=people),
                per_person: None,
                anchors: rng.random_range(0..=known.texts),
                repeat: 0.0,
                gap: 0,
                seed,
            };
            let drawn = draw(&wanted, &known).unwrap();
            check(&wanted, &known, &drawn);
            // Two more annotators, and one more label a text.
            known = after(&known, &drawn);
            known.people.extend((0..2).map(|n| Person { name: format!("new{n}"), ..Person::default() }));
            let more = DrawParameters { per_text: wanted.per_text + 1, repeat: 0.2, ..wanted };
            let drawn = draw(&more, &known).unwrap();
            check(&more, &known, &drawn);
            assert_eq!(draw(&more, &known).unwrap(), drawn, "the same seed draws the same");
        }
    }

    #[test]
    fn people_of_a_text_come_from_different_groups() {
        let wanted = DrawParameters { per_text: 2, anchors: 0, repeat: 0.0, ..WANTED };
        let known = fresh(400, 12);
        let drawn = draw(&wanted, &known).unwrap();
        let group_of = |person: usize| known.people[person].group.unwrap();
        let mixed = (0..400).filter(|text| {
            let of = (0..12).filter(|p| drawn[*p].iter().any(|item| item.text == *text));
            of.map(group_of).collect::<HashSet<_>>().len() == 2
        });
        let mixed = mixed.count();
        assert!(mixed > 340, "two groups on {mixed} of 400 texts; at random 218");
    }

    #[test]
    fn orders_differ_by_person_only() {
        let wanted = DrawParameters { per_text: 1, anchors: 30, repeat: 0.0, ..WANTED };
        let drawn = draw(&wanted, &fresh(30, 3)).unwrap();
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2]);
        assert_eq!(draw(&wanted, &fresh(30, 5)).unwrap()[..3], drawn[..]);
    }

    #[test]
    fn impossible_plan_error_has_the_numbers() {
        let reported =
            |wanted: DrawParameters, texts, people| draw(&wanted, &fresh(texts, people)).unwrap_err();
        assert_eq!(
            reported(DrawParameters { anchors: 0, ..WANTED }, 300, 2),
            ImpossiblePlan::TooFewPeople { per_text: 3, people: 2 }
        );
        assert_eq!(
            reported(DrawParameters { per_person: Some(50), anchors: 0, ..WANTED }, 300, 12),
            ImpossiblePlan::TooFewPlaces { wanted: 900, possible: 600, per_person: 50 }
        );
        assert_eq!(reported(WANTED, 10, 12), ImpossiblePlan::TooManyAnchors { anchors: 12, texts: 10 });
        let short = reported(DrawParameters { anchors: 0, per_text: 1, ..WANTED }, 40, 2);
        assert!(
            matches!(short, ImpossiblePlan::TooShort { texts: 20, wanted: 1, possible: 0, .. }),
            "{short}"
        );
        let exact = DrawParameters { per_person: Some(75), anchors: 0, ..WANTED };
        check(&exact, &fresh(300, 12), &draw(&exact, &fresh(300, 12)).unwrap());
    }

    #[test]
    fn people_who_come_one_by_one_fill_every_text_evenly() {
        for seed in 0..20 {
            let wanted =
                DrawParameters { per_text: 3, per_person: Some(7), anchors: 2, repeat: 0.0, gap: 1, seed };
            let mut known = fresh(20, 0);
            let (mut people, mut asked) = (0, 0);
            loop {
                known.people = vec![Person { name: format!("p{people}"), ..Person::default() }];
                let drawn = draw_next(&wanted, &known).unwrap();
                if drawn[0].is_empty() {
                    break;
                }
                let texts: HashSet<usize> = drawn[0].iter().map(|item| item.text).collect();
                assert_eq!(texts.len(), drawn[0].len(), "nobody gets a text twice");
                assert!(texts.len() <= 7);
                known = after(&known, &drawn);
                // All have the anchors; the others differ by one person at most while people come.
                let others: Vec<usize> = (0..20)
                    .filter(|text| !known.anchors.contains(text))
                    .map(|text| known.count[text])
                    .collect();
                let (most, least) = (others.iter().max().unwrap(), others.iter().min().unwrap());
                assert!(most - least <= 1 && *most <= 3, "{others:?}");
                people += 1;
                asked += texts.len();
            }
            // 18 texts by three people each, five a person next to the two anchors.
            assert_eq!((people, asked), (11, 54 + 11 * 2));
        }
    }

    #[test]
    fn attention_checks_and_anchors_are_given_to_everybody_who_comes() {
        let wanted =
            DrawParameters { per_text: 2, per_person: Some(9), anchors: 3, repeat: 0.0, gap: 1, seed: 5 };
        let mut known = ExistingWork { checks: [4, 17].into(), ..fresh(30, 0) };
        for person in 0..4 {
            known.people = vec![Person { name: format!("p{person}"), ..Person::default() }];
            let drawn = draw_next(&wanted, &known).unwrap();
            let texts: BTreeSet<usize> = drawn[0].iter().map(|item| item.text).collect();
            assert!(texts.len() == 9 && texts.is_superset(&known.checks), "{texts:?}");
            // Checks are not marked: nothing distinguishes them from other texts.
            assert!(drawn[0].iter().all(|item| !item.anchor || !known.checks.contains(&item.text)));
            assert!(person == 0 || texts.is_superset(&known.anchors), "the same anchors as of the others");
            known = after(&known, &drawn);
            assert_eq!(known.anchors.len(), 3);
        }
        // Four people with four others each: every other text has at most one more than another.
        let others = (0..30).filter(|text| !known.checks.contains(text) && !known.anchors.contains(text));
        assert_eq!(others.map(|text| known.count[text]).sum::<usize>(), 16);
    }

    #[test]
    fn text_of_somebody_who_left_goes_to_the_next_person() {
        let wanted =
            DrawParameters { per_text: 1, per_person: None, anchors: 0, repeat: 0.0, gap: 1, seed: 1 };
        let mut known = fresh(5, 0);
        known.people = vec![Person { name: "next".to_owned(), ..Person::default() }];
        // Of the five texts, three are answered or reserved.
        known.count = vec![1, 0, 1, 0, 1];
        let drawn = draw_next(&wanted, &known).unwrap();
        let texts: BTreeSet<usize> = drawn[0].iter().map(|item| item.text).collect();
        assert_eq!(texts, [1, 3].into());
    }
}
