//! Why a report could not be written.

use std::path::PathBuf;

/// Errors of this crate. Whatever the facts say can be rendered, so nearly all of them are about files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder that the report goes to can't be made.
    #[error("failed to create the folder {path}: {source}", path = path.display())]
    CreateFolder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the report can't be written.
    #[error("failed to write {path}: {source}", path = path.display())]
    Write {
        /// Which; what stood there before is untouched.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A plot of an earlier report can't be removed.
    #[error("failed to remove {path}, a plot of an earlier report: {source}", path = path.display())]
    RemoveStale {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A page can't be rendered: a defect of this program.
    #[error("failed to render {page}: {source}")]
    Render {
        /// Which.
        page: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
