//! Speed on this machine: what `dissensus bench` measures. Peers run in the same call, in turns with us.

mod encode;
mod import;
mod live;
mod peers;
mod predict;
mod train;
mod worker;

pub use encode::{
    EncodeBench, EncodeChoices, EncodeMemory, EngineMemory, EngineSpeed, MissingEngine, encode,
};
pub use import::{ImportBench, import};
pub use live::{LiveBench, LiveSize, live};
pub use predict::{PredictBench, PredictTime, predict};
pub use train::{StepTime, TrainBench, TrainChoices, train};
pub use worker::serve;

use std::time::Duration;

/// The machine's cores: the threads of every engine where none are named.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The value below which `share` (0 to 1) of the sorted times lie, in milliseconds (nearest rank).
fn quantile_ms(sorted: &[Duration], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    let at = rank.clamp(1, sorted.len().max(1)) - 1;
    sorted.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let times: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        assert_eq!(quantile_ms(&times, 0.5), 50.0);
        assert_eq!(quantile_ms(&times, 0.99), 99.0);
        assert_eq!(quantile_ms(&times[..1], 0.99), 1.0);
        assert_eq!(quantile_ms(&[], 0.5), 0.0);
    }
}
