//! The account of one file.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::check::{Reason, Rejection};
use super::repair::Repair;
use crate::inputs::{LineCounts, LineExample, add_counts};

/// Lines shown of each reason.
const EXAMPLES: usize = 3;

/// Unknown kinds told apart; the keys come from the input and could be as many as its lines.
const UNKNOWN_KINDS: usize = 32;

/// Characters kept of a key that names an unknown kind.
const KIND_LENGTH: usize = 64;

/// The account of one file: lines = records of all kinds + rejected.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileTally {
    /// Why the file counts as no dump at all: `empty`, `no Inspector record`, … All counts are zero then.
    pub skipped: Option<String>,
    /// Lines that aren't blank. A record spread over many lines is one; each element of a list is one.
    pub lines: u64,
    /// Records by kind: `collective`, `p2p`, `dump_stats`, `proxy`, `other`.
    pub records: BTreeMap<String, u64>,
    /// Kinds nobody has heard of, by the key that names them.
    pub unknown_kinds: BTreeMap<String, u64>,
    /// Lines that gave no record.
    pub rejected: LineCounts,
    /// Broken lines whose record could be saved; they count as records.
    pub repaired: LineCounts,
    /// Markers (v4.3 and later) that promised more records than came.
    pub truncated_dumps: u64,
    /// Why the file ends before its end: a cut gzip member, an input/output error. What lies before it counts.
    pub damage: Option<String>,
    /// Lines that weren't in the plugin's usual spelling and had to be parsed as any JSON, which takes several times as long.
    pub lines_parsed: u64,
    /// Bytes of text, after inflating.
    pub bytes_inflated: u64,
}

impl FileTally {
    /// Records of all kinds.
    #[must_use]
    pub fn records_total(&self) -> u64 {
        self.records.values().sum()
    }

    /// Adds the account of the lines that follow.
    pub(crate) fn append(&mut self, next: Self) {
        self.lines += next.lines;
        add_counts(&mut self.records, &next.records);
        for (kind, count) in next.unknown_kinds {
            add_kind(&mut self.unknown_kinds, kind, count);
        }
        self.rejected.append(next.rejected);
        self.repaired.append(next.repaired);
        self.truncated_dumps += next.truncated_dumps;
        self.lines_parsed += next.lines_parsed;
        self.bytes_inflated += next.bytes_inflated;
    }
}

impl LineCounts {
    /// Adds those of the lines that follow, and of their examples as many as there is room for.
    fn append(&mut self, next: Self) {
        self.lines += next.lines;
        for example in next.examples {
            let same = |known: &&LineExample| known.reason == example.reason;
            if self.examples.iter().filter(same).count() < EXAMPLES {
                self.examples.push(example);
            }
        }
        add_counts(&mut self.by_reason, &next.by_reason);
    }
}

/// Counts an unknown kind; those beyond the limit as one.
fn add_kind(kinds: &mut BTreeMap<String, u64>, kind: String, count: u64) {
    if kinds.contains_key(&kind) || kinds.len() < UNKNOWN_KINDS {
        *kinds.entry(kind).or_default() += count;
    } else {
        *kinds.entry("…".to_owned()).or_default() += count;
    }
}

/// What a record counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    Collective,
    PointToPoint,
    DumpStats,
    Proxy,
    Other,
}

const NAMES: [&str; 5] = ["collective", "p2p", "dump_stats", "proxy", "other"];

/// Counts while a file is read.
#[derive(Debug)]
pub(super) struct Tally {
    name: String,
    lines: u64,
    parsed: u64,
    records: [u64; NAMES.len()],
    unknown_kinds: BTreeMap<String, u64>,
    rejected: [u64; Reason::ALL.len()],
    repaired: [u64; Repair::ALL.len()],
    rejected_examples: Vec<LineExample>,
    repaired_examples: Vec<LineExample>,
}

impl Tally {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            lines: 0,
            parsed: 0,
            records: [0; NAMES.len()],
            unknown_kinds: BTreeMap::new(),
            rejected: [0; Reason::ALL.len()],
            repaired: [0; Repair::ALL.len()],
            rejected_examples: Vec::new(),
            repaired_examples: Vec::new(),
        }
    }

    /// A line that isn't blank; a record or a rejection follows for each.
    pub(super) fn line(&mut self) {
        self.lines += 1;
    }

    /// The line was read by the parser.
    pub(super) fn parsed(&mut self) {
        self.parsed += 1;
    }

    pub(super) fn records(&self) -> u64 {
        self.records.iter().sum()
    }

    pub(super) fn record(&mut self, kind: Counted, line: u64, repair: Option<Repair>) {
        self.records[kind as usize] += 1;
        if let Some(repair) = repair {
            self.repaired[repair as usize] += 1;
            if self.repaired[repair as usize] <= EXAMPLES as u64 {
                self.repaired_examples.push(LineExample {
                    path: self.name.clone(),
                    line,
                    reason: repair.name().to_owned(),
                    detail: repair.words().to_owned(),
                });
            }
        }
    }

    pub(super) fn unknown_kind(&mut self, key: &str) {
        let key: String = key.chars().take(KIND_LENGTH).collect();
        add_kind(&mut self.unknown_kinds, key, 1);
    }

    /// Words are asked for only where they are shown.
    pub(super) fn reject<D: fmt::Display>(
        &mut self,
        reason: Reason,
        line: u64,
        detail: impl FnOnce() -> D,
    ) {
        self.rejected[reason as usize] += 1;
        if self.rejected[reason as usize] <= EXAMPLES as u64 {
            self.rejected_examples.push(LineExample {
                path: self.name.clone(),
                line,
                reason: reason.name().to_owned(),
                detail: detail().to_string(),
            });
        }
    }

    /// A refused line costs nothing but itself, hence no error.
    pub(super) fn refuse<E>(&mut self, rejection: &Rejection, line: u64) -> Result<(), E> {
        self.reject(rejection.reason, line, || &rejection.detail);
        Ok(())
    }

    pub(super) fn finish(self, truncated_dumps: u64) -> FileTally {
        FileTally {
            skipped: None,
            lines: self.lines,
            records: NAMES
                .into_iter()
                .zip(self.records)
                .filter(|&(_, n)| n > 0)
                .map(|(name, n)| (name.to_owned(), n))
                .collect(),
            unknown_kinds: self.unknown_kinds,
            rejected: counts(
                Reason::ALL.map(Reason::name).into_iter().zip(self.rejected),
                self.rejected_examples,
            ),
            repaired: counts(
                Repair::ALL.map(Repair::name).into_iter().zip(self.repaired),
                self.repaired_examples,
            ),
            truncated_dumps,
            damage: None,
            lines_parsed: self.parsed,
            bytes_inflated: 0,
        }
    }
}

fn counts(
    by_reason: impl Iterator<Item = (&'static str, u64)>,
    examples: Vec<LineExample>,
) -> LineCounts {
    let by_reason: BTreeMap<String, u64> = by_reason
        .filter(|&(_, n)| n > 0)
        .map(|(name, n)| (name.to_owned(), n))
        .collect();
    LineCounts {
        lines: by_reason.values().sum(),
        by_reason,
        examples,
    }
}
