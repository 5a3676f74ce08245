//! A large file on all threads: this one reads, inflates and cuts the text into slices, others take them apart and write their tables,
//! and this one puts the tables together in the order of the text.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use crate::Error;
use crate::dataset::{FileTables, Joined, Piece, Place};
use crate::inspector::{
    FileTally, Slice, SliceRead, account, foreign_format, last_start, read_slice,
};

/// Bytes of a slice, about: as large as a process's dump of an hour, so that its row groups are no smaller than those of such files.
pub(super) const SLICE: usize = 16 << 20;

/// A slice in which no record begins with a context of its own by then isn't a dump worth cutting.
const LONGEST: usize = 8 * SLICE;

/// What became of a file.
pub(super) struct Sliced<'a> {
    pub(super) tally: FileTally,
    pub(super) tables: Joined<'a>,
}

/// A slice to take apart.
struct Job {
    place: usize,
    /// A buffer, and how much of it is the slice.
    text: Vec<u8>,
    length: usize,
    first_line: u64,
    is_last: bool,
}

/// A slice that has been.
struct Done {
    place: usize,
    /// `None` where it can't be read apart from the others.
    read: Result<Option<(SliceRead, Piece)>, Error>,
    /// The buffer, to be filled again.
    text: Vec<u8>,
}

/// Reads a file in slices of about `size` bytes on `threads` threads beside this one. `None` where it can't be cut: then nothing is left of the
/// attempt, and it must be read from its beginning to its end.
///
/// # Errors
/// When a table can't be written.
pub(super) fn read_slices<'a>(
    input: &mut dyn Read,
    name: &str,
    place: Place<'a>,
    (size, threads): (usize, usize),
    on_progress: &mut dyn FnMut(u64),
) -> Result<Option<Sliced<'a>>, Error> {
    let (give, jobs) = sync_channel::<Job>(1);
    let (report, results) = channel::<Done>();
    let jobs = Mutex::new(jobs);
    let place = Place {
        apart: false,
        ..place
    };
    std::thread::scope(|scope| {
        let mut workers = 0;
        for _ in 0..threads.max(1) {
            let (jobs, report) = (&jobs, report.clone());
            let work = move || work(jobs, &report, name, place);
            let spawned = std::thread::Builder::new()
                .name("slice".to_owned())
                .spawn_scoped(scope, work);
            if spawned.is_err() {
                break;
            }
            workers += 1;
        }
        if workers == 0 {
            return Ok(None);
        }
        // The threads hold the others.
        drop(report);
        let mut cutter = Cutter::new(input, size);
        let mut gathered = Gathered {
            tables: Joined::new(place),
            tally: FileTally::default(),
            evident: false,
            pending: BTreeMap::new(),
            next: 0,
        };
        let mut spare: Vec<Vec<u8>> = Vec::new();
        let mut whole = true;
        while let Some(job) = cutter.next(spare.pop().unwrap_or_default()) {
            if give.send(job).is_err() {
                whole = false;
                break;
            }
            while let Ok(done) = results.try_recv() {
                spare.extend(gathered.take(done, &mut whole, on_progress)?);
            }
            if !whole {
                break;
            }
        }
        drop(give);
        for done in results {
            gathered.take(done, &mut whole, on_progress)?;
        }
        if !whole || cutter.gave_up {
            return Ok(None);
        }
        let damage = cutter.damage.map(|error| error.to_string());
        Ok(Some(Sliced {
            tally: account(gathered.tally, gathered.evident, damage, cutter.bytes),
            tables: gathered.tables,
        }))
    })
}

/// Takes slices apart until no more come.
fn work(jobs: &Mutex<Receiver<Job>>, report: &Sender<Done>, name: &str, place: Place<'_>) {
    loop {
        let next = match jobs.lock() {
            Ok(jobs) => jobs.recv(),
            Err(_) => return,
        };
        let Ok(job) = next else { return };
        let slice = Slice {
            text: &job.text[..job.length],
            first_line: job.first_line,
            is_last: job.is_last,
        };
        let mut tables = FileTables::new(place, name);
        let read = match read_slice(slice, name, &mut tables) {
            Ok(Some(read)) => Piece::of(tables).map(|piece| Some((read, piece))),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        let done = Done {
            place: job.place,
            read,
            text: job.text,
        };
        if report.send(done).is_err() {
            return;
        }
    }
}

/// What the slices gave so far, in the order of the text.
struct Gathered<'a> {
    tables: Joined<'a>,
    tally: FileTally,
    evident: bool,
    /// Slices that were done before one that comes before them.
    pending: BTreeMap<usize, (SliceRead, Piece)>,
    next: usize,
}

impl Gathered<'_> {
    /// Takes a slice; gives back its buffer.
    fn take(
        &mut self,
        done: Done,
        whole: &mut bool,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Vec<u8>>, Error> {
        match done.read? {
            Some(read) => {
                self.pending.insert(done.place, read);
            }
            None => *whole = false,
        }
        while let Some((read, piece)) = self.pending.remove(&self.next) {
            self.next += 1;
            on_progress(read.tally.records_total());
            self.evident |= read.evident;
            self.tally.append(read.tally);
            self.tables.add(piece)?;
        }
        Ok(Some(done.text))
    }
}

/// Cuts a stream where a record begins that has a context of its own.
struct Cutter<'r> {
    input: &'r mut dyn Read,
    size: usize,
    /// Text behind the last cut.
    carried: Vec<u8>,
    place: usize,
    line: u64,
    bytes: u64,
    ended: bool,
    /// Why the stream ended early, if it did.
    damage: Option<io::Error>,
    /// Whether it can't be cut.
    gave_up: bool,
}

impl<'r> Cutter<'r> {
    fn new(input: &'r mut dyn Read, size: usize) -> Self {
        Self {
            input,
            size,
            carried: Vec::new(),
            place: 0,
            line: 1,
            bytes: 0,
            ended: false,
            damage: None,
            gave_up: false,
        }
    }

    /// The next slice, in a buffer that is used again; `None` at the end, or where it can't be cut.
    fn next(&mut self, mut text: Vec<u8>) -> Option<Job> {
        let mut length = self.carried.len();
        if text.len() < length {
            text.resize(length, 0);
        }
        text[..length].copy_from_slice(&self.carried);
        self.carried.clear();
        let mut wanted = self.size;
        loop {
            self.fill(&mut text, &mut length, wanted);
            if self.place == 0 && foreign_format(&text[..length]).is_some() {
                self.gave_up = true;
                return None;
            }
            if self.ended {
                break;
            }
            if let Some(cut) = last_start(&text[..length]) {
                self.carried.extend_from_slice(&text[cut..length]);
                length = cut;
                break;
            }
            if wanted >= LONGEST.max(self.size) {
                self.gave_up = true;
                return None;
            }
            wanted *= 2;
        }
        if self.ended && length == 0 && self.place > 0 {
            return None;
        }
        let job = Job {
            place: self.place,
            first_line: self.line,
            is_last: self.ended,
            text,
            length,
        };
        self.place += 1;
        self.line += memchr::memchr_iter(b'\n', &job.text[..length]).count() as u64;
        Some(job)
    }

    /// Reads until there are so many bytes, or the stream ends.
    fn fill(&mut self, text: &mut Vec<u8>, length: &mut usize, wanted: usize) {
        if text.len() < wanted {
            text.resize(wanted, 0);
        }
        while *length < wanted && !self.ended {
            match self.input.read(&mut text[*length..wanted]) {
                Ok(0) => self.ended = true,
                Ok(n) => {
                    *length += n;
                    self.bytes += n as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.damage = Some(error);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "slices_tests.rs"]
mod tests;
