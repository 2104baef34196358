//! Figures of a measurement: quantiles, number of cores, memory.

use std::time::Duration;

/// Number of cores: the threads of every engine unless given.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Quantile of the times in milliseconds (nearest rank), with `share` from 0 to 1; sorts them. Zero if there
/// are none.
pub(crate) fn quantile_ms(times: &mut [Duration], share: f64) -> f64 {
    times.sort_unstable();
    let rank = (share * times.len() as f64).ceil() as usize;
    let at = rank.clamp(1, times.len().max(1)) - 1;
    times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// The median, or the upper of the two middle values; `None` if there are none.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// Peak resident memory of this process in MiB, where the system reports it (Linux).
pub(crate) fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

/// Peak resident memory of this process since a point in time.
pub(crate) struct Peak {
    known: bool,
}

impl Peak {
    /// Starts measuring now.
    pub(crate) fn reset() -> Self {
        Self { known: std::fs::write("/proc/self/clear_refs", "5").is_ok() }
    }

    /// Peak since the reset in MiB; `None` where the system does not report it.
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
    fn median_of_an_even_number_is_the_upper_one() {
        assert_eq!(median(&[3.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }
}
