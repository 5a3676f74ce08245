//! One input, from its bytes to its tables.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Options;
use super::plan::Step;
use crate::dataset::{Entry, FileTables, Fingerprint, Place};
use crate::inspector::read_dump;
use crate::source::{Opened, open};
use crate::{Error, Progress, SkippedFile};

/// What became of an input.
pub(super) enum Outcome {
    /// It was read, as far as it goes.
    Read(Box<Entry>),
    /// It couldn't be opened.
    Unreadable(SkippedFile),
}

/// Reads an input and writes its tables.
///
/// # Errors
/// When a table can't be written, or when cancelled; nothing of the input stays then. An input that can't be read is no error.
pub(super) fn read_one(
    options: &Options,
    step: &Step,
    progress: &dyn Progress,
) -> Result<Outcome, Error> {
    let name = step.candidate.name.as_str();
    let cancel = &*options.cancel;
    let opened = match open(&step.candidate.path) {
        Ok(opened) => opened,
        Err(error) => {
            progress.advanced(step.candidate.bytes, 0);
            progress.file_done();
            return Ok(Outcome::Unreadable(SkippedFile {
                path: name.to_owned(),
                reason: format!("can't be opened: {error}"),
            }));
        }
    };
    let place = Place {
        root: &options.dataset,
        stem: &step.stem,
        compression_level: options.compression_level,
    };
    let mut tables = FileTables::new(place, name, progress, cancel);
    let mut input = Watched {
        inner: opened,
        reported: 0,
        progress,
        cancel,
    };
    let tally = read_dump(&mut input, name, &mut tables, &mut |_| {})?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    let opened = input.inner;
    let (tables, census) = tables.finish()?;
    progress.file_done();
    let raw = opened.raw_xxh3().map(|xxh3| Fingerprint {
        bytes: opened.raw_bytes(),
        xxh3,
    });
    Ok(Outcome::Read(Box::new(Entry {
        name: name.to_owned(),
        stem: step.stem.clone(),
        bytes: raw.map_or(step.candidate.bytes, |raw| raw.bytes),
        raw,
        inflated: tally.damage.is_none().then(|| Fingerprint {
            bytes: tally.bytes_inflated,
            xxh3: opened.inflated_xxh3(),
        }),
        tally,
        census,
        tables,
    })))
}

/// An input that reports how far it was read, and ends with an error when the run is to stop: a file without records never
/// reaches the place where records are counted.
struct Watched<'a> {
    inner: Opened,
    reported: u64,
    progress: &'a dyn Progress,
    cancel: &'a AtomicBool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        let result = self.inner.read(buffer);
        let bytes = self.inner.raw_bytes();
        self.progress.advanced(bytes - self.reported, 0);
        self.reported = bytes;
        result
    }
}
