//! SQLite databases, known by their first bytes whatever they are called, and the files that SQLite keeps beside them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use xxhash_rust::xxh3::Xxh3;

use super::open::{Fingerprint, fingerprint};

/// What every SQLite database begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A file that ends within these is a cut database from so many of them on: no dump and no text begins so and ends there.
const OWN_NAME: usize = 6;

/// Bytes read to get at the first ones of a gzipped file.
const BLOCK: u64 = 4096;

/// What SQLite appends to the name of a database for the files beside it.
pub(super) const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What the first bytes of a file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Database {
    /// A database, as it is.
    Plain,
    /// A gzipped database.
    Gzip,
}

/// Whether a file is a database. One that can't be read is none.
pub(crate) fn database(path: &Path) -> Option<Database> {
    let mut block = Vec::new();
    File::open(path)
        .ok()?
        .take(BLOCK)
        .read_to_end(&mut block)
        .ok()?;
    let begun = block.len() >= OWN_NAME && MAGIC.starts_with(&block);
    if block.starts_with(MAGIC) || begun {
        return Some(Database::Plain);
    }
    if block.is_empty() {
        // An agent that has just begun: all it wrote lies in the log.
        return log(path, "-wal").map(|_| Database::Plain);
    }
    let mut head = Vec::new();
    if block.starts_with(&[0x1f, 0x8b]) {
        // The block ends in the middle of the stream; its beginning is there all the same.
        let _ = MultiGzDecoder::new(block.as_slice())
            .take(MAGIC.len() as u64)
            .read_to_end(&mut head);
    }
    let begun = head.len() >= OWN_NAME && MAGIC.starts_with(&head);
    begun.then_some(Database::Gzip)
}

/// The file beside a database that SQLite calls so, if there is one that isn't empty.
pub(crate) fn log(path: &Path, suffix: &str) -> Option<PathBuf> {
    let mut name = OsString::from(path);
    name.push(suffix);
    let log = PathBuf::from(name);
    fs::metadata(&log)
        .is_ok_and(|m| m.is_file() && m.len() > 0)
        .then_some(log)
}

/// The fingerprint of a file's content and its bytes on disk; of a database with what lies in the log beside it.
///
/// # Errors
/// When it can't be read.
pub(crate) fn content(path: &Path) -> io::Result<(Fingerprint, u64)> {
    let (own, bytes) = fingerprint(path)?;
    if database(path).is_none() {
        return Ok((own, bytes));
    }
    let mut hash = Xxh3::new();
    let mut logs = 0;
    for suffix in ["-wal", "-journal"] {
        if let Some(log) = log(path, suffix) {
            hash.update(fingerprint(&log)?.0.to_string().as_bytes());
            logs += 1;
        }
    }
    if logs == 0 {
        return Ok((own, bytes));
    }
    hash.update(own.to_string().as_bytes());
    Ok((Fingerprint::from(hash.digest128()), bytes))
}
