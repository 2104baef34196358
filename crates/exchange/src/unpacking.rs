//! Limits on unpacking: a small file must not fill the memory or the disk.

/// What any file may unpack to, in bytes.
const ALWAYS: u64 = 64 << 20;
/// How many bytes each compressed byte may unpack to beyond that. Tables of labels compress to a tenth or a
/// fiftieth; gzip reaches about 1,000 at most.
const RATIO: u64 = 200;
/// The most that is unpacked of any file, in bytes.
const MAX_BYTES: u64 = 16 << 30;

/// Returns the maximum number of bytes (or values, each of at least one byte) that a file of `packed` bytes
/// may unpack to.
pub(crate) fn unpacking_limit(packed: u64) -> u64 {
    packed.saturating_mul(RATIO).clamp(ALWAYS, MAX_BYTES)
}

/// Returns the reason why a file with more than `limit` bytes or values is not read.
pub(crate) fn beyond_limit(limit: u64) -> String {
    match limit {
        MAX_BYTES => format!("it is longer than {} GiB unpacked: divide it", MAX_BYTES >> 30),
        _ => format!(
            "it unpacks to more than {} MiB, which is over {RATIO} times its own size, so it is damaged or made to fill the memory: if \
             it is sound, save it as CSV without compression and import that",
            limit >> 20
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_limit_scales_within_bounds() {
        assert_eq!(unpacking_limit(0), ALWAYS);
        assert_eq!(unpacking_limit(8_000), ALWAYS);
        assert_eq!(unpacking_limit(1 << 20), 200 << 20);
        assert_eq!(unpacking_limit(u64::MAX), MAX_BYTES);
        assert!(beyond_limit(ALWAYS).contains("64 MiB"));
        assert!(beyond_limit(MAX_BYTES).contains("16 GiB"));
    }
}
