//! Random panels that satisfy the shares of every attribute.

use super::quotas::{Quota, QuotaError, Seats};
use crate::math::random::{fingerprint, unit};
use std::collections::{BTreeMap, HashMap};

/// Tags that separate the random numbers of people and of seats.
const PERSON: u64 = 1;
const SEATS: u64 = 2;
/// Largest number of states of remaining seats to process, which takes some seconds.
const MAX_WAYS: usize = 400_000;

/// A person who may be drawn for a panel.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// A unique name.
    pub name: String,
    /// Known attributes of the person; without a value of an attribute the person counts among its other
    /// values.
    pub attributes: BTreeMap<String, String>,
}

/// Draws panels from a list of people: every panel that satisfies all shares is drawn with the same
/// probability.
///
/// The drawn people are determined by seed, panel and each person's name: among people with the same values
/// those with the smallest hashes of these. A person who joins therefore only affects the person who is
/// displaced, and the numbers of values that the shares leave open.
#[derive(Clone, Debug)]
pub struct DrawPanels {
    size: usize,
    /// People with the same values: their seats in every attribute, and their indices.
    cells: Vec<Cell>,
    /// The logarithm of the number of ways to fill these seats from the cells from an index on.
    ways: HashMap<(usize, Vec<u16>), f64>,
    seats: Vec<u16>,
}

#[derive(Clone, Debug)]
struct Cell {
    /// One index in `seats` for each attribute.
    places: Vec<usize>,
    people: Vec<usize>,
    /// A hash for each of `people`, by name.
    names: Vec<u64>,
    /// A hash of the places.
    of_places: u64,
}

impl DrawPanels {
    /// Prepares drawing from these people.
    ///
    /// # Errors
    /// An invalid share, shares above 1, or the shares that these people cannot satisfy, by name.
    pub fn new(people: &[Candidate], size: usize, quotas: &[Quota]) -> Result<Self, QuotaError> {
        if size == 0 {
            return Err(QuotaError::Nobody);
        }
        let attributes = Seats::new(quotas, size)?;
        if size > people.len() {
            return Err(QuotaError::TooFewPeople { size, people: people.len() });
        }
        let mut cells: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (at, person) in people.iter().enumerate() {
            cells.entry(places(&attributes, &person.attributes)).or_default().push(at);
        }
        let cell = |(places, of_cell): (Vec<usize>, Vec<usize>)| Cell {
            names: of_cell.iter().map(|at| fingerprint(people[*at].name.as_bytes())).collect(),
            of_places: fingerprint(&places.iter().flat_map(|place| place.to_le_bytes()).collect::<Vec<u8>>()),
            places,
            people: of_cell,
        };
        let cells: Vec<Cell> = cells.into_iter().map(cell).collect();
        let mut seats: Vec<u16> =
            attributes.iter().flat_map(|a| a.members.iter().map(|n| *n as u16)).collect();
        if attributes.is_empty() {
            seats.push(size as u16);
        }
        each_alone(&attributes, &cells, (size, people.len()))?;
        let mut found = Self { size, cells, ways: HashMap::new(), seats };
        let mut counting = Counting {
            cells: &found.cells,
            left: left_of(&found.cells, found.seats.len()),
            ways: HashMap::new(),
        };
        let ways = counting.from(0, &found.seats).ok_or(QuotaError::TooManyWays { size })?;
        if ways == f64::NEG_INFINITY {
            let named = attributes.iter().flat_map(|a| {
                let named = a.members.iter().enumerate().filter(|(_, n)| **n > 0);
                named.map(|(place, n)| format!("{n} with {}", a.name(place))).collect::<Vec<_>>()
            });
            return Err(QuotaError::NotTogether { size, all: named.collect::<Vec<_>>().join(", ") });
        }
        found.ways = counting.ways;
        Ok(found)
    }

    /// Number of members of a panel.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Draws this many panels, each without replacement: indices of the people, ascending. The first panels
    /// of a seed do not depend on their number.
    pub fn draw(&self, panels: usize, seed: u64) -> Vec<Vec<usize>> {
        (0..panels as u64).map(|panel| self.one([seed, panel])).collect()
    }

    fn one(&self, which: [u64; 2]) -> Vec<usize> {
        let mut seats = self.seats.clone();
        let mut panel = Vec::with_capacity(self.size);
        for (at, cell) in self.cells.iter().enumerate() {
            let options: Vec<(u16, f64)> = (0..=most(cell, &seats))
                .filter_map(|n| {
                    let ways = self.ways.get(&(at + 1, without(&seats, cell, n)))?;
                    Some((n, ln_choose(cell.people.len(), n) + ways))
                })
                .collect();
            let n = pick(&options, unit(&[which[0], which[1], SEATS, cell.of_places]));
            seats = without(&seats, cell, n);
            let number = |name: u64| unit(&[which[0], which[1], PERSON, name]);
            let mut drawn: Vec<(f64, usize)> =
                cell.names.iter().zip(&cell.people).map(|(name, at)| (number(*name), *at)).collect();
            drawn.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            panel.extend(drawn.iter().take(usize::from(n)).map(|(_, at)| *at));
        }
        panel.sort_unstable();
        panel
    }
}

/// The index of a person among all seats, for each attribute; a single index without attributes.
fn places(attributes: &[Seats], person: &BTreeMap<String, String>) -> Vec<usize> {
    let mut from = 0;
    let mut places: Vec<usize> = Vec::with_capacity(attributes.len().max(1));
    for seats in attributes {
        places.push(from + seats.place(person.get(&seats.attribute).map(String::as_str)));
        from += seats.members.len();
    }
    if places.is_empty() {
        places.push(0);
    }
    places
}

/// Returns the first share that the people cannot satisfy even by itself.
fn each_alone(
    attributes: &[Seats],
    cells: &[Cell],
    (size, people): (usize, usize),
) -> Result<(), QuotaError> {
    let mut from = 0;
    for seats in attributes {
        for (place, needed) in seats.members.iter().enumerate() {
            let of_place = cells.iter().filter(|cell| cell.places.contains(&(from + place)));
            let found: usize = of_place.map(|cell| cell.people.len()).sum();
            if found < *needed {
                let (what, needed) = (seats.name(place), *needed);
                return Err(QuotaError::TooFew { size, people, what, needed, found });
            }
        }
        from += seats.members.len();
    }
    Ok(())
}

/// Number of people of each place in the cells from an index on.
fn left_of(cells: &[Cell], places: usize) -> Vec<Vec<usize>> {
    let mut left = vec![vec![0; places]];
    for cell in cells.iter().rev() {
        let mut more = left.last().cloned().unwrap_or_default();
        cell.places.iter().for_each(|place| more[*place] += cell.people.len());
        left.push(more);
    }
    left.reverse();
    left
}

fn most(cell: &Cell, seats: &[u16]) -> u16 {
    let free = cell.places.iter().map(|place| seats[*place]).min().unwrap_or(0);
    free.min(u16::try_from(cell.people.len()).unwrap_or(u16::MAX))
}

fn without(seats: &[u16], cell: &Cell, n: u16) -> Vec<u16> {
    let mut left = seats.to_vec();
    cell.places.iter().for_each(|place| left[*place] -= n);
    left
}

/// Counts panels by the remaining seats.
struct Counting<'a> {
    cells: &'a [Cell],
    left: Vec<Vec<usize>>,
    ways: HashMap<(usize, Vec<u16>), f64>,
}

impl Counting<'_> {
    /// The logarithm of the number of ways to fill `seats` from the cells from `at` on; `None` where the
    /// search is too large.
    fn from(&mut self, at: usize, seats: &[u16]) -> Option<f64> {
        let key = (at, seats.to_vec());
        if let Some(known) = self.ways.get(&key) {
            return Some(*known);
        }
        let enough = seats.iter().zip(&self.left[at]).all(|(needed, left)| usize::from(*needed) <= *left);
        let found = match self.cells.get(at) {
            _ if !enough => f64::NEG_INFINITY,
            None => 0.0,
            Some(cell) => {
                let mut logs = Vec::new();
                for n in 0..=most(cell, seats) {
                    let rest = self.from(at + 1, &without(seats, cell, n))?;
                    logs.push(rest + ln_choose(cell.people.len(), n));
                }
                log_sum(&logs)
            }
        };
        if self.ways.len() >= MAX_WAYS {
            return None;
        }
        self.ways.insert(key, found);
        Some(found)
    }
}

fn log_sum(logs: &[f64]) -> f64 {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln()
}

fn ln_choose(n: usize, k: u16) -> f64 {
    let (n, k) = (n as f64, f64::from(k));
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}

/// Picks one option by the logarithms of the weights and a number from 0 to 1.
fn pick(options: &[(u16, f64)], number: f64) -> u16 {
    let all = log_sum(&options.iter().map(|(_, log)| *log).collect::<Vec<_>>());
    let mut left = number;
    for (n, log) in options {
        left -= (log - all).exp();
        if left < 0.0 {
            return *n;
        }
    }
    // Fallback for rounding.
    options.iter().rev().find(|(_, log)| *log > f64::NEG_INFINITY).map_or(0, |(n, _)| *n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(values: &[(&str, &str)]) -> BTreeMap<String, String> {
        values.iter().map(|(a, v)| ((*a).to_owned(), (*v).to_owned())).collect()
    }

    fn named(people: Vec<BTreeMap<String, String>>) -> Vec<Candidate> {
        let one = |(at, attributes)| Candidate { name: format!("person {at}"), attributes };
        people.into_iter().enumerate().map(one).collect()
    }

    fn quota(attribute: &str, value: &str, share: f64) -> Quota {
        Quota { attribute: attribute.into(), value: value.into(), share }
    }

    /// 2 young and 4 old women, 5 young men and 1 old one.
    fn people() -> Vec<Candidate> {
        let of = |gender, age, n| vec![person(&[("gender", gender), ("age", age)]); n];
        named([of("W", "young", 2), of("W", "old", 4), of("M", "young", 5), of("M", "old", 1)].concat())
    }

    #[test]
    fn panels_meet_shares_and_are_uniform() {
        let people = people();
        let quotas = [quota("gender", "W", 0.5), quota("age", "young", 0.5)];
        let drawing = DrawPanels::new(&people, 4, &quotas).unwrap();
        let mut counts: HashMap<Vec<usize>, usize> = HashMap::new();
        let panels = drawing.draw(20_000, 7);
        for panel in &panels {
            let has = |a: &str, v: &str| panel.iter().filter(|p| people[**p].attributes[a] == v).count();
            assert_eq!((panel.len(), has("gender", "W"), has("age", "young")), (4, 2, 2));
            assert!(panel.windows(2).all(|pair| pair[0] < pair[1]));
            *counts.entry(panel.clone()).or_default() += 1;
        }
        // 2 young women with 2 old men (impossible: there is one), 1 and 1 each, or 2 old women with 2 young
        // men.
        let ways = 2 * 4 * 5 + 6 * 10;
        assert_eq!(counts.len(), ways);
        let expected = 20_000.0 / ways as f64;
        let chi: f64 = counts.values().map(|n| (*n as f64 - expected).powi(2) / expected).sum();
        assert!(chi < 148.0, "{chi}: the 99.9 % quantile of 99 degrees of freedom is 148.2");
        assert_eq!(drawing.draw(3, 7), panels[..3]);
        assert_ne!(drawing.draw(3, 8), panels[..3]);
    }

    #[test]
    fn without_shares_drawing_is_uniform() {
        let people = named(vec![BTreeMap::new(); 9]);
        let panels = DrawPanels::new(&people, 3, &[]).unwrap().draw(9000, 1);
        for person in 0..9 {
            let n = panels.iter().filter(|panel| panel.contains(&person)).count();
            assert!((2800..3200).contains(&n), "{person}: {n}");
        }
    }

    /// Without shares a person who joins displaces at most one member, regardless of the position in the
    /// list; with shares most panels do not change either.
    #[test]
    fn new_candidate_changes_panels_minimally() {
        let before = people();
        let mut after = before.clone();
        after.insert(
            3,
            Candidate { name: "new".to_owned(), attributes: person(&[("gender", "W"), ("age", "old")]) },
        );
        let names = |people: &[Candidate], panel: &[usize]| -> Vec<String> {
            panel.iter().map(|at| people[*at].name.clone()).collect()
        };
        let changes = |size: usize, quotas: &[Quota]| -> Vec<usize> {
            let draw = |people: &[Candidate]| -> Vec<Vec<String>> {
                let recipe = DrawPanels::new(people, size, quotas).unwrap();
                recipe.draw(2000, 5).iter().map(|panel| names(people, panel)).collect()
            };
            let gone = |(old, new): (&Vec<String>, &Vec<String>)| {
                old.iter().filter(|name| !new.contains(name)).count()
            };
            draw(&before).iter().zip(&draw(&after)).map(gone).collect()
        };
        let free = changes(5, &[]);
        assert!(free.iter().all(|gone| *gone <= 1), "{free:?}");
        let mean = free.iter().sum::<usize>() as f64 / 2000.0;
        assert!((mean - 5.0 / 13.0).abs() < 0.03, "the new person sits on 5 of 13 panels: {mean}");
        let shared = changes(4, &[quota("gender", "W", 0.5), quota("age", "young", 0.5)]);
        let kept = shared.iter().filter(|gone| **gone == 0).count();
        assert!(kept > 1000, "{kept} of 2000");
        // A share that the new person does not match is unaffected.
        let men = changes(3, &[quota("gender", "M", 1.0)]);
        assert!(men.iter().all(|gone| *gone == 0));
    }

    #[test]
    fn impossible_shares_are_refused() {
        let people = people();
        let refused =
            |size, quotas: &[Quota]| DrawPanels::new(&people, size, quotas).unwrap_err().to_string();
        assert!(refused(0, &[]).contains("one member"));
        assert!(refused(13, &[]).contains("at most 12"));
        let few = refused(8, &[quota("gender", "W", 0.9)]);
        assert!(few.contains("needs 7 with gender=W") && few.contains("6 are"), "{few}");
        let others = refused(10, &[quota("gender", "W", 0.2)]);
        assert!(others.contains("needs 8 with another gender than W"), "{others}");
        // Four old men: there is one.
        let together = refused(4, &[quota("gender", "M", 1.0), quota("age", "old", 1.0)]);
        assert!(together.contains("4 with gender=M, 4 with age=old"), "{together}");
    }

    #[test]
    fn missing_value_counts_as_other() {
        let mut people = people();
        people.push(Candidate { name: "nobody".to_owned(), attributes: BTreeMap::new() });
        let none = [quota("gender", "W", 0.0), quota("gender", "M", 0.0)];
        assert_eq!(DrawPanels::new(&people, 1, &none).unwrap().draw(1, 1), [[12]]);
    }

    #[test]
    fn drawing_from_many_people_meets_all_shares() {
        let values = |i: usize| {
            person(&[
                ("a", ["1", "2", "3"][i % 3]),
                ("b", ["1", "2"][i / 3 % 2]),
                ("c", ["1", "2", "3", "4"][i / 6 % 4]),
            ])
        };
        let people = named((0..5000).map(values).collect());
        let quotas = [quota("a", "1", 0.5), quota("a", "2", 0.3), quota("b", "1", 0.7), quota("c", "1", 0.4)];
        let panel = DrawPanels::new(&people, 50, &quotas).unwrap().draw(1, 3).remove(0);
        let has = |a: &str, v: &str| panel.iter().filter(|p| people[**p].attributes[a] == v).count();
        assert_eq!((has("a", "1"), has("a", "2"), has("b", "1"), has("c", "1")), (25, 15, 35, 20));
    }
}
