//! Rules of the user's own: limits that a run must keep.
//!
//! [`Rules::parse`] reads a file, [`check`] holds a run against them. A rule that is broken becomes a finding, and so does one that
//! has nothing to look at: a limit that can't be exceeded because of a misspelt name would pass for ever.

mod check;
mod file;
#[cfg(test)]
mod file_tests;
mod limit;
mod spelling;
mod tails;
mod value;

pub(crate) use check::check;
pub use file::RuleError;
pub(crate) use tails::{RankTails, rank_tails};

use crate::facts::{CommClass, FindingKind, GroupKey, Severity};

/// The rules of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    pub(crate) rules: Vec<Rule>,
}

impl Rules {
    /// Reads the text of a rules file.
    ///
    /// # Errors
    /// When it isn't TOML, or has keys or values that aren't known: with the line, and what was meant where that can be guessed.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        file::parse(text)
    }

    /// Whether a rule asks for what single ranks take, which needs a further pass over the records.
    pub(crate) fn need_tails(&self) -> bool {
        self.rules
            .iter()
            .any(|r| matches!(r.check, Check::RankP99(_)))
    }
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) severity: Severity,
    pub(crate) check: Check,
    /// Line in the file.
    pub(crate) line: usize,
}

/// What a rule looks at, and its limit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Check {
    /// Bus bandwidth of a group must be at least so much.
    Bandwidth(Bandwidth),
    /// The 99th percentile of a rank's times in a group must be at most so much.
    RankP99(RankP99),
    /// At most this share of the communication time may be waiting for late ranks.
    Waiting {
        /// 0..1.
        max_share: f64,
    },
    /// No finding of these kinds.
    Finding {
        /// The kinds.
        kinds: Vec<FindingKind>,
        /// Findings that cost a smaller share of the communication time are allowed.
        min_share: f64,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bandwidth {
    pub(crate) groups: GroupFilter,
    pub(crate) of: BandwidthOf,
    pub(crate) statistic: Statistic,
    /// GB/s.
    pub(crate) min_gbs: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RankP99 {
    pub(crate) groups: GroupFilter,
    /// Times the 99th percentile of the same group in the baseline.
    pub(crate) max_times_baseline: Option<f64>,
    /// Times the median over the ranks of the group.
    pub(crate) max_times_peers: Option<f64>,
    /// µs.
    pub(crate) max_us: Option<f64>,
}

/// Which bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BandwidthOf {
    /// From the shortest time of each collective: what the links give.
    Link,
    /// From the mean time of each collective: what the job felt.
    Felt,
    /// Of the records, as written.
    Records,
}

/// Which number of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statistic {
    Min,
    P5,
    P25,
    P50,
    Mean,
    P75,
    P95,
    Max,
}

/// Which groups a rule is about; empty is any.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct GroupFilter {
    pub(crate) classes: Vec<CommClass>,
    pub(crate) operations: Vec<String>,
    pub(crate) min_size: Option<u64>,
    pub(crate) max_size: Option<u64>,
    pub(crate) n_ranks: Option<u32>,
    pub(crate) nnodes: Option<u32>,
}

impl GroupFilter {
    /// Whether a group is one of them.
    pub(crate) fn takes(&self, key: &GroupKey) -> bool {
        let size = key.size.as_bytes();
        (self.classes.is_empty() || self.classes.contains(&key.class))
            && (self.operations.is_empty() || self.operations.contains(&key.operation))
            && self.min_size.is_none_or(|least| size >= least)
            && self.max_size.is_none_or(|most| size <= most)
            && self.n_ranks.is_none_or(|n| n == key.n_ranks)
            && self.nnodes.is_none_or(|n| n == key.nnodes)
    }
}
