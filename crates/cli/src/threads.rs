//! How many threads work.

use std::num::NonZeroUsize;

use crate::failure::Failure;

/// The analysis engine sizes its pool by this variable, once, when it is first used.
const ENGINE_THREADS: &str = "POLARS_MAX_THREADS";

/// Bounds the threads that read and those that analyse.
///
/// To be called before anything else starts a thread.
pub fn limit(threads: NonZeroUsize) -> Result<(), Failure> {
    #[expect(
        unsafe_code,
        reason = "the engine can't be told otherwise how many threads to use"
    )]
    // SAFETY: no other thread runs yet that could read the environment at the same time.
    unsafe {
        std::env::set_var(ENGINE_THREADS, threads.to_string());
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.get())
        .build_global()?;
    Ok(())
}
