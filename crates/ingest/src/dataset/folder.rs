//! The dataset's folder while a run has it: one run at a time, no leftovers, nothing of inputs that are gone.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use super::manifest::Manifest;
use super::naming::{self, TEMPORARY_PREFIX};
use super::properties::{FOOTER_KEY, footer_value};
use crate::{Error, Table};

/// Holds the lock; it stays in the folder, since removing it would let two runs hold two different files.
const LOCK_NAME: &str = ".nccl-report.lock";

/// A dataset's folder that no other run writes to.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder if need be, locks it and removes what a killed run left half-written.
    ///
    /// # Errors
    /// When the folder can't be written, or another run has it.
    pub(crate) fn lock(root: &Path) -> Result<Self, Error> {
        let fail = |path: &Path, source| Error::Write {
            path: path.to_owned(),
            source,
        };
        std::fs::create_dir_all(root).map_err(|source| fail(root, source))?;
        let path = root.join(LOCK_NAME);
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|source| fail(&path, source))?;
        let folder = Self {
            root: root.to_owned(),
            _lock: lock,
        };
        match folder._lock.try_lock() {
            Ok(()) => folder.remove_leftovers()?,
            Err(TryLockError::WouldBlock) => {
                let busy = io::Error::new(
                    io::ErrorKind::WouldBlock,
                    "another run is writing this dataset; wait for it, or give another folder",
                );
                return Err(fail(root, busy));
            }
            // Parallel file systems mounted without locks. Leftovers stay: they may be another run's work.
            Err(TryLockError::Error(_)) => {}
        }
        Ok(folder)
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn remove_leftovers(&self) -> Result<(), Error> {
        // Folders of copies of databases.
        for entry in std::fs::read_dir(&self.root)
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(TEMPORARY_PREFIX) && entry.path().is_dir() {
                // What can't be removed stays, and is in nobody's way.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let tables = Table::ALL.map(|table| self.root.join(table.folder()));
        for folder in std::iter::once(&self.root).chain(&tables) {
            for name in file_names(folder)? {
                if name.starts_with(TEMPORARY_PREFIX) {
                    remove(&folder.join(name))?;
                }
            }
        }
        Ok(())
    }

    /// Parquet files of inputs that are gone, or that this time gave no row of the table: what `earlier` or the footer says is of this
    /// program, and `now` doesn't list. Files of others stay.
    ///
    /// # Errors
    /// When a folder can't be listed.
    pub(crate) fn stale(
        &self,
        earlier: &BTreeSet<PathBuf>,
        now: &Manifest,
    ) -> Result<Vec<PathBuf>, Error> {
        let listed: BTreeSet<_> = now.tables().map(|file| file.path.as_path()).collect();
        let mut stale = Vec::new();
        for table in Table::ALL {
            for name in file_names(&self.root.join(table.folder()))? {
                if !naming::is_ours(&name) {
                    continue;
                }
                let relative = PathBuf::from(format!("{}/{name}", table.folder()));
                if listed.contains(relative.as_path()) {
                    continue;
                }
                let path = self.root.join(&relative);
                if earlier.contains(&relative) || has_our_footer(table, &path) {
                    stale.push(path);
                }
            }
        }
        Ok(stale)
    }
}

/// Removes a file; that it is already gone is no error.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::Write {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}

/// Names of the ordinary files in a folder, sorted; none where there is no such folder.
fn file_names(folder: &Path) -> Result<Vec<String>, Error> {
    let fail = |source| Error::Write {
        path: folder.to_owned(),
        source,
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(fail)?;
        // A name that isn't text is none that this program gives.
        if let (Ok(true), Ok(name)) = (
            entry.file_type().map(|kind| kind.is_file()),
            entry.file_name().into_string(),
        ) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn has_our_footer(table: Table, path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let Ok(reader) = SerializedFileReader::new(file) else {
        return false;
    };
    let pairs = reader.metadata().file_metadata().key_value_metadata();
    pairs.is_some_and(|pairs| {
        pairs.iter().any(|pair| {
            // Whatever the format's number: older ones are of this program too.
            pair.key == FOOTER_KEY
                && pair.value.as_deref().is_some_and(|value| {
                    value.starts_with(&format!("{FOOTER_KEY}/"))
                        && value.split(' ').nth(1) == footer_value(table).split(' ').nth(1)
                })
        })
    })
}
