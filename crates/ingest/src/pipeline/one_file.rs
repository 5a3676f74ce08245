//! One input, from its bytes to its tables.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Options;
use super::one_database::read_database;
use super::plan::Step;
use crate::dataset::{Entry, FileTables, Place};
use crate::inspector::read_dump;
use crate::source::{Bytes, Opened, ReadAhead, database, is_named_like_a_database};
use crate::{Error, Progress, SkippedFile};

/// What became of an input.
pub(super) enum Outcome {
    /// It was read, as far as it goes.
    Read(Box<Entry>),
    /// It couldn't be opened.
    Unreadable(SkippedFile),
}

/// Reads an input and writes its tables, with `ahead` on threads more than this one; calls `before_change` before it puts a file in its place.
///
/// # Errors
/// When a table can't be written, or when cancelled; nothing of the input stays then. An input that can't be read is no error.
pub(super) fn read_one(
    options: &Options,
    step: &Step,
    ahead: bool,
    progress: &dyn Progress,
    before_change: impl FnOnce() -> Result<(), Error>,
) -> Result<Outcome, Error> {
    let name = step.candidate.name.as_str();
    let cancel = &*options.cancel;
    if let Some(kind) = database(&step.candidate.path) {
        return read_database(options, step, kind, progress, before_change);
    }
    let opened = match Opened::open(&step.candidate.path) {
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
        apart: ahead,
    };
    let mut tables = FileTables::new(place, name);
    let mut input = Watched {
        on_disk: opened.bytes_on_disk(),
        inner: match ahead {
            true => Input::Ahead(ReadAhead::new(opened)),
            false => Input::Direct(Box::new(opened)),
        },
        reported: 0,
        io_failed: false,
        progress,
        cancel,
    };
    let mut tally = read_dump(&mut input, name, &mut tables, &mut |records| {
        progress.advanced(0, records);
    })?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    if is_named_like_a_database(name)
        && tally.records_total() == 0
        && let Some(reason) = &mut tally.skipped
    {
        *reason = format!("named like a database, but not SQLite's: {reason}");
    }
    let (tables, census) = tables.finish(before_change)?;
    // A file of another format isn't read to its end.
    progress.advanced(step.candidate.bytes.saturating_sub(input.reported), 0);
    progress.file_done();
    let io_failed = input.io_failed;
    // What couldn't be read this time may be readable the next, so it has no fingerprint to be known again by.
    let bytes = input.inner.finish().ok().filter(|_| !io_failed);
    Ok(Outcome::Read(Box::new(Entry {
        name: name.to_owned(),
        stem: step.stem.clone(),
        bytes: bytes.map_or(step.candidate.bytes, |bytes| bytes.on_disk_len),
        raw: bytes.map(|bytes| bytes.on_disk),
        text: bytes.map(|bytes| bytes.text),
        tally,
        census,
        trace: None,
        tables,
    })))
}

/// Bytes, from this thread or another.
enum Input {
    Direct(Box<Opened>),
    Ahead(ReadAhead),
}

impl Input {
    fn finish(self) -> io::Result<Bytes> {
        match self {
            Self::Direct(opened) => opened.finish(),
            Self::Ahead(ahead) => ahead.finish(),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Direct(opened) => opened.read(buffer),
            Self::Ahead(ahead) => ahead.read(buffer),
        }
    }
}

/// An input that reports how far it was read, and ends with an error when the run is to stop: a file without records never
/// reaches the place where records are counted.
struct Watched<'a> {
    inner: Input,
    on_disk: Arc<AtomicU64>,
    reported: u64,
    /// Whether the disk failed, rather than gzip.
    io_failed: bool,
    progress: &'a dyn Progress,
    cancel: &'a AtomicBool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        let result = self.inner.read(buffer);
        if let Err(error) = &result {
            use io::ErrorKind::{Interrupted, InvalidData, InvalidInput, UnexpectedEof};
            let of_the_content = [Interrupted, InvalidData, InvalidInput, UnexpectedEof];
            self.io_failed |= !of_the_content.contains(&error.kind());
        }
        let bytes = self.on_disk.load(Ordering::Relaxed);
        if bytes > self.reported {
            self.progress.advanced(bytes - self.reported, 0);
            self.reported = bytes;
        }
        result
    }
}
