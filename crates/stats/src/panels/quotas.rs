//! Quotas: the number of a panel's members with each value of an attribute.

/// The share of a panel that has a value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    pub attribute: String,
    pub value: String,
    /// Share of the panel, from 0 to 1.
    pub share: f64,
}

dissensus_domain::errors! {
    /// Why no panel can be drawn.
    #[derive(Clone, Debug, PartialEq)]
    pub enum QuotaError {
        Nobody => "a panel needs one member or more: ask for a size of 1 or more";
        TooFewPeople { size: usize, people: usize } =>
            "a panel of {size} cannot be drawn from {people} people: ask for at most {people}";
        Share { attribute: String, value: String, share: f64 } =>
            "{share} is no share of {attribute}={value}: give a number from 0 to 1";
        Twice { attribute: String, value: String } => "{attribute}={value} is asked for twice: give it one share";
        AboveOne { attribute: String, sum: f64 } =>
            "the shares of {attribute} add up to {sum:.3}: they may be 1 at most";
        TooFew { size: usize, people: usize, what: String, needed: usize, found: usize } =>
            "a panel of {size} needs {needed} with {what}, and of the {people} people to draw from {found} are: lower its share or the size";
        NotTogether { size: usize, all: String } =>
            "no panel of {size} has all of {all} together, though each alone can be met: too few people are several of these at once; leave one out or lower a share";
        TooManyWays { size: usize } =>
            "there are too many ways to put a panel of {size} together from so many attributes and values: ask for fewer of them, or for a smaller panel";
    }
}

/// One attribute's part of a panel: the number of members with each named value; the last number is for all
/// other values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seats {
    pub(super) attribute: String,
    pub(super) values: Vec<String>,
    pub(super) members: Vec<usize>,
}

impl Seats {
    /// Seats by largest remainder (Hamilton's method): each value gets the integer part of share x size, and
    /// those with the largest remainders one more; the first in case of ties.
    pub(super) fn new(quotas: &[Quota], size: usize) -> Result<Vec<Self>, QuotaError> {
        let mut all: Vec<(Self, Vec<f64>)> = Vec::new();
        for Quota { attribute, value, share } in quotas {
            if !(0.0..=1.0).contains(share) {
                return Err(QuotaError::Share {
                    attribute: attribute.clone(),
                    value: value.clone(),
                    share: *share,
                });
            }
            let at = all.iter().position(|(seats, _)| seats.attribute == *attribute).unwrap_or_else(|| {
                let seats = Self { attribute: attribute.clone(), values: Vec::new(), members: Vec::new() };
                all.push((seats, Vec::new()));
                all.len() - 1
            });
            let (seats, shares) = &mut all[at];
            if seats.values.contains(value) {
                return Err(QuotaError::Twice { attribute: attribute.clone(), value: value.clone() });
            }
            seats.values.push(value.clone());
            shares.push(*share);
        }
        let seated = all.into_iter().map(|(seats, mut shares)| {
            let sum: f64 = shares.iter().sum();
            if sum > 1.0 + 1e-9 {
                return Err(QuotaError::AboveOne { attribute: seats.attribute, sum });
            }
            shares.push((1.0 - sum).max(0.0));
            Ok(Self { members: largest_remainder(&shares, size), ..seats })
        });
        seated.collect()
    }

    /// The index of a value among the seats: that of all others where it was not named.
    pub(super) fn place(&self, value: Option<&str>) -> usize {
        let named = value.and_then(|value| self.values.iter().position(|own| own == value));
        named.unwrap_or(self.values.len())
    }

    /// Description of the value at an index.
    pub(super) fn name(&self, place: usize) -> String {
        match self.values.get(place) {
            Some(value) => format!("{}={value}", self.attribute),
            None => format!("another {} than {}", self.attribute, self.values.join(", ")),
        }
    }
}

fn largest_remainder(shares: &[f64], size: usize) -> Vec<usize> {
    // Rounding must not reduce a share such as 0.7 times 10 to below 7.
    let exact: Vec<f64> = shares.iter().map(|share| share * size as f64 + 1e-9).collect();
    let mut seats: Vec<usize> = exact.iter().map(|e| e.floor() as usize).collect();
    let left = size.saturating_sub(seats.iter().sum());
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()).then(a.cmp(b)));
    order.into_iter().take(left).for_each(|at| seats[at] += 1);
    seats
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(attribute: &str, value: &str, share: f64) -> Quota {
        Quota { attribute: attribute.into(), value: value.into(), share }
    }

    #[test]
    fn seats_use_the_largest_remainder() {
        assert_eq!(largest_remainder(&[0.5, 0.5], 12), [6, 6]);
        assert_eq!(largest_remainder(&[0.5, 0.5], 7), [4, 3]);
        assert_eq!(largest_remainder(&[0.7, 0.3], 10), [7, 3]);
        // Hamilton's own: 0.47, 0.16, 0.158, 0.12, 0.061, 0.031 of 10 seats.
        assert_eq!(largest_remainder(&[0.47, 0.16, 0.158, 0.12, 0.061, 0.031], 10), [5, 2, 1, 1, 1, 0]);
    }

    #[test]
    fn unnamed_values_are_others() {
        let seats = Seats::new(&[quota("gender", "Woman", 0.5), quota("age", "18-24", 0.25)], 8).unwrap();
        assert_eq!((&seats[0].members[..], &seats[1].members[..]), (&[4, 4][..], &[2, 6][..]));
        assert_eq!(
            (seats[0].place(Some("Woman")), seats[0].place(Some("Man")), seats[0].place(None)),
            (0, 1, 1)
        );
        assert_eq!(seats[1].name(1), "another age than 18-24");
    }

    #[test]
    fn invalid_shares_are_refused() {
        let refused = |quotas: &[Quota]| Seats::new(quotas, 8).unwrap_err().to_string();
        let above = refused(&[quota("g", "W", 0.7), quota("g", "M", 0.6)]);
        assert!(above.starts_with("the shares of g add up to 1.3"), "{above}");
        assert!(refused(&[quota("g", "W", f64::NAN)]).contains("g=W"));
        assert!(refused(&[quota("g", "W", -0.1)]).contains("from 0 to 1"));
        assert!(refused(&[quota("g", "W", 0.1), quota("g", "W", 0.1)]).contains("twice"));
    }
}
