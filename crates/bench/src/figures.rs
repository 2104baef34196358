//! Numbers of a measurement: quantiles, the machine's cores, memory.

use std::time::Duration;

/// The machine's cores: the threads of every engine where none are named.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The value below which `share` (0 to 1) of the times lie, in milliseconds (nearest rank); sorts them. Zero for none.
pub(crate) fn quantile_ms(times: &mut [Duration], share: f64) -> f64 {
    times.sort_unstable();
    let rank = (share * times.len() as f64).ceil() as usize;
    let at = rank.clamp(1, times.len().max(1)) - 1;
    times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// The value in the middle, the upper one of two; none where there is none.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The highest resident memory of this process, in MiB, where the system tells (Linux).
pub(crate) fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

/// The highest resident memory since a moment of this process.
pub(crate) struct Peak {
    known: bool,
}

impl Peak {
    /// From now on.
    pub(crate) fn reset() -> Self {
        Self { known: std::fs::write("/proc/self/clear_refs", "5").is_ok() }
    }

    /// The highest since then, in MiB; none where the system does not tell.
    pub(crate) fn read(&self) -> Option<f64> {
        if self.known { peak_mib() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut times: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(quantile_ms(&mut times, 0.5), 50.0);
        assert_eq!(quantile_ms(&mut times, 0.99), 99.0);
        assert_eq!(quantile_ms(&mut times[..1], 0.99), 1.0);
        assert_eq!(quantile_ms(&mut [], 0.5), 0.0);
    }

    #[test]
    fn the_median_of_an_even_number_is_the_upper_one() {
        assert_eq!(median(&[3.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }
}
