//! Telling the caller how far the reading is.

/// Calls come from many threads.
pub trait Progress: Sync {
    /// How many files were found, and their bytes on disk.
    fn discovered(&self, _files: u64, _bytes: u64) {}
    /// So many more bytes of the input (as they lie on disk) and records were read.
    fn advanced(&self, _bytes: u64, _records: u64) {}
    /// One more file is done.
    fn file_done(&self) {}
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}
