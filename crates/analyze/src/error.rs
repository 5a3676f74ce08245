//! Why a dataset can't be analysed.

use std::path::PathBuf;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the dataset can't be opened.
    #[error("failed to read {path}: {source}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the dataset can't be decoded.
    #[error("failed to decode the Parquet file {path}: {source}", path = path.display())]
    Parquet {
        /// Which.
        path: PathBuf,
        /// Why.
        source: parquet::errors::ParquetError,
    },
    /// A file of the dataset lacks a column.
    #[error("{path} wasn't written by this program: no usable column {column:?}", path = path.display())]
    NotOurs {
        /// Which file.
        path: PathBuf,
        /// Which column.
        column: String,
    },
    /// A trace that was named by hand can't be followed.
    #[error("failed to use {file} as a trace of host {host}: {why}", file = file.display())]
    Trace {
        /// Of which host it is said to be.
        host: String,
        /// As it was named.
        file: PathBuf,
        /// What stands against it.
        why: String,
    },
    /// Records that memory doesn't hold can't be kept on disk.
    #[error("failed to keep records in a temporary file in {folder}: {source}", folder = folder.display())]
    Spill {
        /// Where.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The roll-up failed, which is a bug.
    #[error("failed to roll up statistics: {0}")]
    RollUp(String),
    /// The caller asked to stop.
    #[error("interrupted")]
    Cancelled,
}
