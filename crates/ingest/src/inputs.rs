//! What was read, refused, repaired and passed over: the account of the input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The account of all input: blank lines aside, lines = records of all kinds + rejected.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inputs {
    /// Files that held records.
    pub files: u64,
    /// Bytes of those files, as they lie on disk.
    pub bytes: u64,
    /// Lines that aren't blank.
    pub lines: u64,
    /// Records by kind: `collective`, `p2p`, `dump_stats`, `proxy`, and `other` for kinds nobody has heard of.
    pub records: BTreeMap<String, u64>,
    /// Kinds nobody has heard of, by the key that names them.
    pub unknown_kinds: BTreeMap<String, u64>,
    /// Lines that gave no record.
    pub rejected: LineCounts,
    /// Broken lines whose record could be saved; they count as records.
    pub repaired: LineCounts,
    /// Files that gave nothing, each once.
    pub files_skipped: Vec<SkippedFile>,
    /// Files of which only a part could be read (cut gzip, input/output error in the middle): what is before the damage counts.
    pub files_damaged: Vec<SkippedFile>,
    /// Markers (v4.3 and later) that promised more records than came.
    pub truncated_dumps: u64,
}

/// Lines counted by reason, with the first few of each.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LineCounts {
    /// All of them.
    pub lines: u64,
    /// By reason.
    pub by_reason: BTreeMap<String, u64>,
    /// The first few of each reason.
    pub examples: Vec<LineExample>,
}

/// Where a line was rejected or repaired.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineExample {
    /// File, as it was named.
    pub path: String,
    /// Line, from 1.
    pub line: u64,
    /// The reason that it counts under.
    pub reason: String,
    /// What was wrong, in words.
    pub detail: String,
}

/// A file that was passed over, or damaged, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SkippedFile {
    /// File, as it was named.
    pub path: String,
    /// Why.
    pub reason: String,
}
