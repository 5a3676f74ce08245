//! One database of an eBPF agent, to its tables.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;

use super::Options;
use super::one_file::Outcome;
use super::plan::Step;
use crate::dataset::{Census, Entry, Place, TEMPORARY_PREFIX, TraceTables};
use crate::ebpf::{Reading, read_trace};
use crate::source::{Database, Opened, content, log};
use crate::{Error, Progress, SkippedFile};

/// Reads a database and writes its tables; calls `before_change` before it puts a file in its place.
///
/// # Errors
/// When a table can't be written, or when cancelled; nothing of the input stays then. An input that can't be read is no error.
pub(super) fn read_database(
    options: &Options,
    step: &Step,
    kind: Database,
    progress: &dyn Progress,
    before_change: impl FnOnce() -> Result<(), Error>,
) -> Result<Outcome, Error> {
    let candidate = &step.candidate;
    let name = candidate.name.as_str();
    let done = || {
        progress.advanced(candidate.bytes, 0);
        progress.file_done();
    };
    // Before anything is read: what is written meanwhile makes it another content, and the next run reads again.
    let before = state(&candidate.path);
    let (raw, inflated) = match content(&candidate.path).and_then(|raw| {
        let inflated = match kind {
            Database::Plain => None,
            Database::Gzip => Some(inflate(&candidate.path, &options.dataset)?),
        };
        Ok((raw, inflated))
    }) {
        Ok(read) => read,
        Err(error) => {
            done();
            return Ok(Outcome::Unreadable(SkippedFile {
                path: name.to_owned(),
                reason: format!("can't be read: {error}"),
            }));
        }
    };
    let (path, cut) = match &inflated {
        None => (candidate.path.as_path(), None),
        Some((file, cut)) => (file.path(), cut.clone()),
    };
    let mut tables = TraceTables::new(Place {
        root: &options.dataset,
        stem: &step.stem,
        compression_level: options.compression_level,
        apart: false,
    });
    let reading = Reading {
        path,
        name,
        scratch: &options.dataset,
        cancel: &options.cancel,
        on_rows: &mut |rows| progress.advanced(0, rows),
    };
    let (mut tally, seen) = read_trace(reading, &mut tables)?;
    if let (Some(cut), None) = (cut, &tally.skipped) {
        tally.damage = Some(cut);
    }
    let tables = tables.finish(before_change)?;
    done();
    Ok(Outcome::Read(Box::new(Entry {
        name: name.to_owned(),
        stem: step.stem.clone(),
        bytes: raw.1,
        // What couldn't be read this time may be readable the next.
        raw: (tally.skipped.is_none() && state(&candidate.path) == before).then_some(raw.0),
        text: None,
        trace: tally.skipped.is_none().then_some(seen),
        tally,
        census: Census::default(),
        tables,
    })))
}

/// What changes when somebody writes: length and time of the file and of its log.
fn state(path: &Path) -> Vec<Option<(u64, Option<SystemTime>)>> {
    let of = |path: PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()))
    };
    let logs = ["-wal", "-journal"].map(|suffix| log(path, suffix).and_then(of));
    std::iter::once(of(path.to_owned())).chain(logs).collect()
}

/// Inflates a database into a temporary file in the dataset's folder. What comes before damage is used; then the damage is told.
fn inflate(path: &Path, folder: &Path) -> io::Result<(NamedTempFile, Option<String>)> {
    let mut builder = tempfile::Builder::new();
    let mut file = builder.prefix(TEMPORARY_PREFIX).tempfile_in(folder)?;
    let mut opened = Opened::open(path)?;
    let into: &mut File = file.as_file_mut();
    match io::copy(&mut opened, into) {
        Ok(_) => Ok((file, None)),
        Err(error) => match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                Ok((file, Some(error.to_string())))
            }
            _ => Err(error),
        },
    }
}
