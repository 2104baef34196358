//! Energy of the processor's packages, if the system counts it (Intel's and AMD's RAPL on Linux).

use std::path::{Path, PathBuf};

/// Counters at one moment.
pub(crate) struct Energy(Vec<(PathBuf, u64)>);

impl Energy {
    /// Reads the counters; none if the system has none or does not allow reading them.
    pub(crate) fn now() -> Self {
        Self::under(Path::new("/sys/class/powercap"))
    }

    fn under(folder: &Path) -> Self {
        let Ok(entries) = std::fs::read_dir(folder) else { return Self(Vec::new()) };
        let packages = entries.flatten().filter(|entry| {
            // `intel-rapl:0` is a package, `intel-rapl:0:1` a part whose energy is included in the package.
            entry.file_name().to_string_lossy().matches(':').count() == 1
        });
        Self(packages.filter_map(|e| Some((e.path(), number(&e.path().join("energy_uj"))?))).collect())
    }

    /// Joules since then.
    pub(crate) fn joules_since(&self) -> Option<f64> {
        if self.0.is_empty() {
            return None;
        }
        let spent = self.0.iter().map(|(path, before)| {
            let now = number(&path.join("energy_uj"))?;
            // A counter that has reached its maximum restarts at 0.
            let range = number(&path.join("max_energy_range_uj")).unwrap_or(0);
            Some(if now >= *before { now - before } else { now + range.saturating_sub(*before) })
        });
        Some(spent.collect::<Option<Vec<u64>>>()?.into_iter().sum::<u64>() as f64 / 1e6)
    }
}

fn number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_counters_are_summed_across_resets() {
        let folder = tempfile::tempdir().unwrap();
        let put = |package: &str, file: &str, value: u64| {
            std::fs::create_dir_all(folder.path().join(package)).unwrap();
            std::fs::write(folder.path().join(package).join(file), format!("{value}\n")).unwrap();
        };
        for (package, at) in [("intel-rapl:0", 1_000_000), ("intel-rapl:1", 9_000_000), ("intel-rapl:0:0", 5)]
        {
            put(package, "energy_uj", at);
            put(package, "max_energy_range_uj", 10_000_000);
        }
        let before = Energy::under(folder.path());
        put("intel-rapl:0", "energy_uj", 3_000_000);
        put("intel-rapl:1", "energy_uj", 500_000);
        assert_eq!(before.joules_since(), Some(3.5));
        assert_eq!(Energy::under(Path::new("/no/such/folder")).joules_since(), None);
    }
}
