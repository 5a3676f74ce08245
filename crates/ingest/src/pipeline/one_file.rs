//! One input, from its bytes to its tables.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Options;
use super::one_database::read_database;
use super::plan::Step;
use super::slices::{SLICE, read_slices};
use crate::dataset::{Census, Entry, FileTables, Joined, Place};
use crate::inspector::read_dump;
use crate::source::{Bytes, Opened, ReadAhead, database, is_named_like_a_database};
use crate::{Error, Progress, SkippedFile, TableFile};

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
        Err(error) => return Ok(unreadable(step, progress, &error)),
    };
    let place = Place {
        root: &options.dataset,
        stem: &step.stem,
        compression_level: options.compression_level,
        apart: ahead,
    };
    let ratio = if opened.is_gzip() { GZIP_RATIO } else { 1 };
    let text_about = ratio.saturating_mul(step.candidate.bytes);
    let slicing = ahead && text_about >= WORTH_SLICING;
    let mut input = Watched::new(opened, ahead && !slicing, progress, cancel);
    let mut on_progress = |records| progress.advanced(0, records);
    let mut sliced = None;
    if slicing {
        let threads = (SLICE, rayon::current_num_threads());
        sliced = read_slices(&mut input, name, place, threads, &mut on_progress)?;
        if sliced.is_none() && !cancel.load(Ordering::Relaxed) {
            input = match Opened::open(&step.candidate.path) {
                Ok(opened) => input.again(opened),
                Err(error) => return Ok(unreadable(step, progress, &error)),
            };
        }
    }
    let (mut tally, tables) = match sliced {
        Some(sliced) => (sliced.tally, Tables::Joined(Box::new(sliced.tables))),
        None => {
            let mut tables = FileTables::new(place, name);
            let tally = read_dump(&mut input, name, &mut tables, &mut on_progress)?;
            (tally, Tables::Streamed(Box::new(tables)))
        }
    };
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

fn unreadable(step: &Step, progress: &dyn Progress, error: &io::Error) -> Outcome {
    progress.advanced(step.candidate.bytes, 0);
    progress.file_done();
    Outcome::Unreadable(SkippedFile {
        path: step.candidate.name.clone(),
        reason: format!("can't be opened: {error}"),
    })
}

/// A text of fewer bytes is read from its beginning to its end.
const WORTH_SLICING: u64 = 2 * SLICE as u64;

/// How many times as long as its gzip a dump is, about.
const GZIP_RATIO: u64 = 10;

/// Tables of a file that was read from its beginning to its end, or in slices.
enum Tables<'a> {
    Streamed(Box<FileTables<'a>>),
    Joined(Box<Joined<'a>>),
}

impl Tables<'_> {
    fn finish(
        self,
        before_change: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(Vec<TableFile>, Census), Error> {
        match self {
            Self::Streamed(tables) => tables.finish(before_change),
            Self::Joined(tables) => tables.finish(before_change),
        }
    }
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

impl<'a> Watched<'a> {
    fn new(
        opened: Opened,
        ahead: bool,
        progress: &'a dyn Progress,
        cancel: &'a AtomicBool,
    ) -> Self {
        Self {
            on_disk: opened.bytes_on_disk(),
            inner: match ahead {
                true => Input::Ahead(ReadAhead::new(opened)),
                false => Input::Direct(Box::new(opened)),
            },
            reported: 0,
            io_failed: false,
            progress,
            cancel,
        }
    }

    /// The same file from its beginning; what was reported isn't again.
    fn again(self, opened: Opened) -> Self {
        Self {
            reported: self.reported,
            ..Self::new(opened, true, self.progress, self.cancel)
        }
    }
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
