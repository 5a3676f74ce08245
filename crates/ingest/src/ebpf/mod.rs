//! SQLite traces of an eBPF agent: what the host's network did, and the NCCL calls that it saw.
//!
//! Two shapes occur, told apart by their tables: `nccl_events` beside `tcp_events`, and `events` with `sources` and `ops` that name its
//! codes. A retransmit fires in whatever process was interrupted, so it belongs to the host and to no process.

mod read;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::SkippedFile;

/// What every SQLite database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Names that databases go by.
const EXTENSIONS: [&str; 3] = ["db", "sqlite", "sqlite3"];

/// What one database says of its host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostTrace {
    /// The file.
    pub path: PathBuf,
    /// The host as the agent names it; `None` where only the file's name tells.
    pub node: Option<String>,
    /// TCP retransmits, nanoseconds since the epoch by that host's clock, ascending.
    pub retransmits_ns: Vec<i64>,
    /// NCCL calls.
    pub calls: Vec<NcclCall>,
}

/// A call into NCCL, entry to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NcclCall {
    /// Start, nanoseconds since the epoch by that host's clock.
    pub start_ns: i64,
    /// How long.
    pub duration_ns: i64,
    /// Calls of one number are alike: operation, communicator, element count.
    pub kind: u32,
}

/// Reads every trace among the inputs; databases that can't be read are named.
#[must_use]
pub fn traces(inputs: &[PathBuf], exclude: &[PathBuf]) -> (Vec<HostTrace>, Vec<SkippedFile>) {
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    for path in candidates(inputs, exclude) {
        match read::read(&path) {
            Ok(Some(trace)) => found.push(trace),
            Ok(None) => skipped.push(skip(
                &path,
                "a SQLite database, but no trace of a kind that is known".into(),
            )),
            Err(e) => skipped.push(skip(
                &path,
                format!("a SQLite database that can't be read: {e}"),
            )),
        }
    }
    (found, skipped)
}

fn skip(path: &Path, reason: String) -> SkippedFile {
    SkippedFile {
        path: path.display().to_string(),
        reason,
    }
}

/// Databases by name and first bytes, sorted, each once.
fn candidates(inputs: &[PathBuf], exclude: &[PathBuf]) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = inputs
        .iter()
        .flat_map(|input| {
            WalkDir::new(input)
                .follow_links(true)
                .into_iter()
                .filter_entry(|e| !exclude.iter().any(|x| x == e.path()))
                .filter_map(Result::ok)
                .filter(|e| e.file_type().is_file())
                .map(walkdir::DirEntry::into_path)
        })
        .filter(|p| {
            p.extension()
                .and_then(|e| e.to_str())
                .is_some_and(|e| EXTENSIONS.contains(&e))
                && is_sqlite(p)
        })
        .collect();
    out.sort();
    out.dedup();
    out
}

fn is_sqlite(path: &Path) -> bool {
    let mut head = [0; 16];
    File::open(path)
        .and_then(|mut f| f.read_exact(&mut head))
        .is_ok()
        && head == MAGIC
}
