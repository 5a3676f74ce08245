//! What was read, refused, repaired and passed over: the account of the input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::inspector::FileTally;

/// Examples kept of each reason, over all files.
const EXAMPLES: usize = 5;

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

/// How the reason of a copy ends.
pub(crate) const USED: &str = ", which is used";

impl SkippedFile {
    /// Whether its records were read from another file that it is a copy of.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.reason.ends_with(USED)
    }

    /// Whether it may hold records that nobody could look at: no permission, an error of the disk.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        ["can't be opened", "can't be read", "permission denied"]
            .iter()
            .any(|why| self.reason.starts_with(why))
    }
}

impl Inputs {
    /// Adds a file. One without records is listed among the skipped; if it is an Inspector's all the same, its rejected lines
    /// count.
    pub(crate) fn add(&mut self, name: &str, bytes: u64, tally: &FileTally) {
        let listed = |reason: &str| SkippedFile {
            path: name.to_owned(),
            reason: reason.to_owned(),
        };
        if let Some(reason) = why_skipped(tally) {
            self.files_skipped.push(listed(&reason));
        } else {
            self.files += 1;
            self.bytes += bytes;
            self.files_damaged
                .extend(tally.damage.as_deref().map(listed));
        }
        // The lines of a job's own output aren't refused records; the reader counts none there.
        self.lines += tally.lines;
        add_counts(&mut self.records, &tally.records);
        add_counts(&mut self.unknown_kinds, &tally.unknown_kinds);
        self.rejected.add(&tally.rejected);
        self.repaired.add(&tally.repaired);
        self.truncated_dumps += tally.truncated_dumps;
    }

    /// Puts the lists in order, once all files are added.
    pub(crate) fn sort(&mut self) {
        self.files_skipped.sort();
        self.files_damaged.sort();
        self.rejected.sort();
        self.repaired.sort();
    }
}

impl LineCounts {
    fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        add_counts(&mut self.by_reason, &other.by_reason);
        self.examples.extend_from_slice(&other.examples);
    }

    /// The first few examples of each reason, by reason, file and line.
    fn sort(&mut self) {
        self.examples
            .sort_by(|a, b| (&a.reason, &a.path, a.line).cmp(&(&b.reason, &b.path, b.line)));
        let mut kept: Vec<LineExample> = Vec::new();
        for example in self.examples.drain(..) {
            let same = kept.iter().rev();
            if same.take_while(|k| k.reason == example.reason).count() < EXAMPLES {
                kept.push(example);
            }
        }
        self.examples = kept;
    }
}

pub(crate) fn add_counts(sum: &mut BTreeMap<String, u64>, counts: &BTreeMap<String, u64>) {
    for (name, count) in counts {
        *sum.entry(name.clone()).or_default() += count;
    }
}

/// Why a file counts as skipped, in words; `None` where it gave records.
pub(crate) fn why_skipped(tally: &FileTally) -> Option<String> {
    if tally.skipped.is_some() {
        return tally.skipped.clone();
    }
    if tally.records.values().any(|&count| count > 0) {
        return None;
    }
    let lines = tally.rejected.lines;
    let damage = tally.damage.as_deref().map(|d| format!("; damaged: {d}"));
    Some(format!(
        "no record could be read: {lines} lines rejected{}",
        damage.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(path: &str, reason: &str, count: u64) -> LineCounts {
        LineCounts {
            lines: count,
            by_reason: BTreeMap::from([(reason.to_owned(), count)]),
            examples: (1..=count.min(9))
                .map(|line| LineExample {
                    path: path.to_owned(),
                    line,
                    reason: reason.to_owned(),
                    detail: String::new(),
                })
                .collect(),
        }
    }

    fn tally(records: u64, path: &str, reason: &str, bad: u64) -> FileTally {
        FileTally {
            lines: records + bad,
            records: BTreeMap::from([("collective".to_owned(), records)]),
            rejected: rejected(path, reason, bad),
            ..FileTally::default()
        }
    }

    #[test]
    fn lines_are_records_and_rejected() {
        let mut inputs = Inputs::default();
        inputs.add("b", 100, &tally(10, "b", "orphaned", 3));
        inputs.add("a", 50, &tally(1, "a", "invalid_json", 1));
        let no_dump = FileTally {
            skipped: Some("no Inspector record".into()),
            ..FileTally::default()
        };
        inputs.add("train.log", 7, &no_dump);
        inputs.add("grep.log", 9, &tally(0, "grep.log", "orphaned", 20));
        inputs.sort();
        assert_eq!((inputs.files, inputs.bytes, inputs.lines), (2, 150, 35));
        assert_eq!(
            inputs.records["collective"] + inputs.rejected.lines,
            inputs.lines
        );
        assert_eq!(inputs.rejected.by_reason["orphaned"], 23);
        assert_eq!(
            inputs.rejected.by_reason["invalid_json"], 1,
            "the job's own output isn't counted"
        );
        let skipped: Vec<_> = inputs
            .files_skipped
            .iter()
            .map(|f| f.path.as_str())
            .collect();
        assert_eq!(skipped, ["grep.log", "train.log"]);
    }

    #[test]
    fn examples_are_the_first_few_of_each_reason_whatever_the_order() {
        let files = [
            tally(1, "c", "orphaned", 9),
            tally(1, "a", "orphaned", 2),
            tally(1, "b", "truncated", 1),
            tally(1, "b", "orphaned", 4),
        ];
        let sum = |order: [usize; 4]| {
            let mut inputs = Inputs::default();
            for place in order {
                inputs.add("x", 1, &files[place]);
            }
            inputs.sort();
            inputs
        };
        let inputs = sum([0, 1, 2, 3]);
        assert_eq!(inputs, sum([3, 2, 1, 0]));
        assert_eq!(inputs, sum([1, 3, 0, 2]));
        let places: Vec<_> = inputs
            .rejected
            .examples
            .iter()
            .map(|e| format!("{}:{}", e.path, e.line))
            .collect();
        assert_eq!(places, ["a:1", "a:2", "b:1", "b:2", "b:3", "b:1"]);
    }
}
