//! Why nothing could be done at all.

use std::path::PathBuf;

/// Errors of this crate. Bad lines and bad files aren't errors: they are counted in [`crate::Inputs`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input doesn't exist or can't be looked at.
    #[error("failed to read {path}: {source}", path = path.display())]
    Input {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The dataset can't be written.
    #[error("failed to write {path}: {source}", path = path.display())]
    Write {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A Parquet file can't be written or read.
    #[error("failed to process the Parquet file {path}: {source}", path = path.display())]
    Parquet {
        /// Which.
        path: PathBuf,
        /// Why.
        source: parquet::errors::ParquetError,
    },
    /// The folder holds no dataset of this program, or a damaged one.
    #[error("{path} isn't a dataset of this program: {reason}", path = path.display())]
    NotADataset {
        /// Which folder.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// Datasets that were to make a whole don't.
    #[error("failed to merge: {reason}")]
    Parts {
        /// Which is missing, doubled or of another job.
        reason: String,
    },
    /// The caller asked to stop.
    #[error("interrupted; what was half-written is gone")]
    Cancelled,
}
