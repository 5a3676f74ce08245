//! STAND-IN, to be replaced by the reader's: which files there are.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::{Error, SkippedFile};

/// A file that may hold records.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// Relative to the named input.
    pub(crate) name: String,
    /// Length on disk.
    pub(crate) bytes: u64,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Files, sorted by name.
    pub(crate) files: Vec<Candidate>,
    /// What can't be looked at.
    pub(crate) skipped: Vec<SkippedFile>,
}

/// Finds files.
pub(crate) fn discover(inputs: &[PathBuf], exclude: &[PathBuf]) -> Result<Found, Error> {
    let mut found = Found::default();
    for input in inputs {
        let fail = |source| Error::Input {
            path: input.clone(),
            source,
        };
        let metadata = std::fs::metadata(input).map_err(fail)?;
        let base = if metadata.is_dir() {
            input.clone()
        } else {
            input.parent().unwrap_or(Path::new("")).to_owned()
        };
        let walk = WalkDir::new(input).sort_by_file_name().into_iter();
        for entry in walk.filter_entry(|entry| !exclude.iter().any(|out| entry.path() == out)) {
            let entry = entry.map_err(|error| fail(error.into()))?;
            if entry.file_type().is_file() {
                found.files.push(Candidate {
                    path: entry.path().to_owned(),
                    name: entry
                        .path()
                        .strip_prefix(&base)
                        .unwrap_or(entry.path())
                        .to_string_lossy()
                        .into_owned(),
                    bytes: entry.metadata().map_err(|error| fail(error.into()))?.len(),
                });
            }
        }
    }
    found.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
