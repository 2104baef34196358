//! The largest values that measures of two people's answers can have: draws without replacement, so that few
//! people reach larger values than many.

/// Largest mean squared distance, in levels, of two different ones of `people` on a scale of `levels`: half
/// of them at each end, `2 floor(n/2) ceil(n/2) / (n (n - 1)) (levels - 1)^2`. It decreases from
/// `(levels - 1)^2` for two people to half of that for many. 1 where nothing can differ, to avoid a division
/// by 0.
pub fn squared_distance(people: usize, levels: usize) -> f64 {
    let steps = levels.saturating_sub(1).max(1) as f64;
    differ(people, 2) * steps * steps
}

/// Largest probability that two different ones of `people` give different ones of `levels`: all levels
/// equally frequent (Turán 1941: the most edges of a graph without a clique of `levels + 1`). `1 - 1/levels`
/// for many people, 1 for no more people than levels.
pub fn differ(people: usize, levels: usize) -> f64 {
    if people < 2 || levels < 2 {
        return 1.0;
    }
    let (each, rest) = ((people / levels) as f64, (people % levels) as f64);
    let same = rest * (each + 1.0) * each + (levels as f64 - rest) * each * (each - 1.0);
    let n = people as f64;
    1.0 - same / (n * (n - 1.0))
}

/// Largest probability that two different ones of `people` are two levels apart or more: people distributed
/// over every second level.
pub fn far_apart(people: usize, levels: usize) -> f64 {
    differ(people, levels.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest mean of `of` over pairs, by enumerating all possible answers of `people`.
    fn brute_force(people: usize, levels: usize, of: &dyn Fn(usize, usize) -> f64) -> f64 {
        fn go(left: usize, counts: &mut Vec<usize>, levels: usize, of: &dyn Fn(usize, usize) -> f64) -> f64 {
            if counts.len() + 1 == levels {
                counts.push(left);
                let n = counts.iter().sum::<usize>() as f64;
                let mut total = 0.0;
                for (c, a) in counts.iter().enumerate() {
                    for (d, b) in counts.iter().enumerate() {
                        let pairs = a * if c == d { b.saturating_sub(1) } else { *b };
                        total += pairs as f64 * of(c, d);
                    }
                }
                counts.pop();
                return total / (n * (n - 1.0));
            }
            let mut most: f64 = 0.0;
            for here in 0..=left {
                counts.push(here);
                most = most.max(go(left - here, counts, levels, of));
                counts.pop();
            }
            most
        }
        go(people, &mut Vec::new(), levels, of)
    }

    #[test]
    fn no_answers_exceed_the_maximum() {
        for levels in 2..=5 {
            for people in 2..=9 {
                let square = brute_force(people, levels, &|c, d| (c as f64 - d as f64).powi(2));
                assert!((squared_distance(people, levels) - square).abs() < 1e-12, "{people} on {levels}");
                let unequal = brute_force(people, levels, &|c, d| f64::from(u8::from(c != d)));
                assert!((differ(people, levels) - unequal).abs() < 1e-12, "{people} on {levels}");
                if levels > 2 {
                    let far = brute_force(people, levels, &|c, d| f64::from(u8::from(c.abs_diff(d) > 1)));
                    assert!((far_apart(people, levels) - far).abs() < 1e-12, "{people} on {levels}");
                }
            }
        }
    }

    #[test]
    fn many_people_reach_the_maximum() {
        assert!((squared_distance(1_000_000, 5) - 8.0).abs() < 1e-4);
        assert!((differ(1_000_000, 4) - 0.75).abs() < 1e-5);
        assert_eq!((squared_distance(2, 5), squared_distance(1, 1)), (16.0, 1.0));
    }
}
