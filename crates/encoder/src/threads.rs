//! Disables the tensor library's own threads, which compete with ours.

/// Makes the tensor library's element-wise operations stay on the calling thread, unless the environment
/// variable `CANDLE_NUM_THREADS` is set. Encoders and training distribute batches over all cores
/// themselves; the library's threads, which spin while they wait, then only take cores away from them (a
/// training step takes a tenth to a third longer). Call it first in `main`; results are the same without
/// it.
///
/// # Safety
/// No other thread may run yet: the environment is changed, as with [`std::env::set_var`].
#[allow(unsafe_code, reason = "the library takes its number of threads from the environment only")]
pub unsafe fn bind_tensors_to_threads() {
    const THREADS: &str = "CANDLE_NUM_THREADS";
    if std::env::var_os(THREADS).is_none() {
        // SAFETY: the caller promises that no other thread runs.
        unsafe { std::env::set_var(THREADS, "1") };
    }
}
