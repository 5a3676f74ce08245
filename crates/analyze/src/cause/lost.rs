//! Records that are missing: how many, and, as far as the numbers tell, why.
//!
//! A ring that is overwritten between two dumps loses runs of records, and the plugin counts them (v4.1 and later). Single
//! records go missing otherwise: lines that were cut, files copied in part. Advice follows the cause.

use serde_json::json;

use super::data_quality::finding;
use super::words;
use crate::facts::{Finding, FindingKind, Severity};
use crate::measured::Measured;

/// Under this share of records lost, whoever reads the report needn't care.
const LOSS: f64 = 0.01;

/// A ring that is overwritten loses whole runs of numbers. Filtered messages (a scalar loss, a barrier) leave gaps of a few.
const RUN: u64 = 16;

/// What is missing of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Missing {
    /// Records of collectives that were read.
    records: u64,
    /// Records that ranks which appear lack of collectives that others recorded.
    unmatched: u64,
    /// Lines that gave no record: so many records are not the plugin's loss.
    rejected: u64,
    /// By the plugin's own count; `None` where no dump has one.
    dropped: Option<u64>,
    /// Sequence numbers between the first and the last that no rank recorded.
    unseen: u64,
    /// Of these, numbers in runs of [`RUN`] and more.
    unseen_in_runs: u64,
    /// The longest such run.
    longest: u64,
    /// Sends and Receives that only one side recorded.
    one_sided: u64,
}

impl Missing {
    fn of(m: &Measured, rejected: u64) -> Self {
        let gaps: Vec<u64> = m.facts.iter().flat_map(|f| f.gap_lengths()).collect();
        let sum =
            |gaps: &mut dyn Iterator<Item = &u64>| gaps.fold(0_u64, |a, g| a.saturating_add(*g));
        let pairs = m.pairs.iter().flat_map(|p| p.values());
        Self {
            records: m
                .facts
                .iter()
                .flat_map(|f| f.cells.values())
                .map(|c| c.records)
                .sum(),
            unmatched: m.facts.iter().map(|f| f.unmatched).sum(),
            rejected,
            dropped: m
                .dropped
                .iter()
                .any(Option::is_some)
                .then(|| m.dropped.iter().flatten().sum()),
            unseen: sum(&mut gaps.iter()),
            unseen_in_runs: sum(&mut gaps.iter().filter(|g| **g >= RUN)),
            longest: gaps.iter().copied().max().unwrap_or(0),
            one_sided: pairs
                .map(|p| p.sends.count().abs_diff(p.recvs.count()))
                .sum(),
        }
    }

    /// Records lost before the files were read.
    fn lost(self) -> u64 {
        let unmatched = self.unmatched.saturating_sub(self.rejected);
        self.dropped.unwrap_or(0).max(unmatched)
    }

    fn share(self) -> f64 {
        self.lost() as f64 / self.records.saturating_add(self.lost()).max(1) as f64
    }

    /// Whether a ring was overwritten: the plugin says so, or most of the gaps are runs.
    fn of_a_ring(self) -> bool {
        self.dropped.is_some_and(|d| d > 0) || 2 * self.unseen_in_runs > self.unseen
    }

    /// Which rings to make larger.
    fn rings(self) -> &'static str {
        const COLLECTIVES: &str = "NCCL_INSPECTOR_DUMP_COLL_RING_SIZE";
        const PAIRS: &str = "NCCL_INSPECTOR_DUMP_P2P_RING_SIZE";
        let collectives = self.unmatched > self.rejected || self.unseen_in_runs > 0;
        match (collectives, self.one_sided > self.rejected) {
            (true, false) => COLLECTIVES,
            (false, true) => PAIRS,
            _ => "NCCL_INSPECTOR_DUMP_COLL_RING_SIZE and NCCL_INSPECTOR_DUMP_P2P_RING_SIZE",
        }
    }

    fn summary(self) -> String {
        let how = match self.dropped {
            Some(d) if d > 0 && d >= self.unmatched.saturating_sub(self.rejected) => {
                " by the plugin's own count"
            }
            _ => " of collectives that other ranks recorded",
        };
        let unseen = if self.unseen > 0 {
            format!(
                "; besides, {} seen on no rank (small messages and CUDA graphs leave such gaps, too)",
                words::counted(self.unseen, "sequence number was", "sequence numbers were")
            )
        } else {
            String::new()
        };
        format!(
            "{} of the records are missing: {} lost{how}, {} read{unseen}. Findings rest on what is left.",
            words::percent(self.share()),
            words::count(self.lost()),
            words::count(self.records),
        )
    }

    fn advice(self) -> String {
        if self.of_a_ring() {
            return format!(
                "Shorten NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS or raise {} (1024 by default): more operations ran between two dumps than the plugin keeps.",
                self.rings()
            );
        }
        "It doesn't look like a ring that was overwritten: the plugin counts no drops, and records are missing one by one. Look for files that were cut or copied in part, a full disk, and ranks that stopped before the others.".to_owned()
    }
}

/// The finding, where enough is missing.
pub(super) fn lost_records(m: &Measured, rejected: u64) -> Option<Finding> {
    let missing = Missing::of(m, rejected);
    (missing.share() >= LOSS).then(|| {
        finding(
            FindingKind::LostRecords,
            Severity::Info,
            "",
            missing.summary(),
            &missing.advice(),
            vec![
                ("records", json!(missing.records)),
                ("lost", json!(missing.lost())),
                ("dropped_by_the_plugin", json!(missing.dropped)),
                ("missing_from_collectives_seen", json!(missing.unmatched)),
                ("rejected_lines", json!(missing.rejected)),
                ("sequence_numbers_seen_on_no_rank", json!(missing.unseen)),
                ("longest_run_of_such_numbers", json!(missing.longest)),
            ],
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_lines_are_not_the_plugins_loss() {
        let missing = Missing {
            records: 900,
            unmatched: 100,
            rejected: 98,
            ..Missing::default()
        };
        assert_eq!(missing.lost(), 2);
        assert!(missing.share() < LOSS);
    }

    #[test]
    fn the_ring_is_blamed_only_where_it_shows() {
        let scattered = Missing {
            records: 900,
            unmatched: 100,
            unseen: 30,
            unseen_in_runs: 0,
            ..Missing::default()
        };
        assert!(!scattered.advice().contains("RING_SIZE"));
        assert!(scattered.summary().contains("10 % of the records"));
        assert!(
            scattered
                .summary()
                .contains("30 sequence numbers were seen on no rank")
        );
        let runs = Missing {
            unseen_in_runs: 20,
            ..scattered
        };
        assert!(
            runs.advice()
                .contains("NCCL_INSPECTOR_DUMP_COLL_RING_SIZE (1024")
        );
        let counted = Missing {
            dropped: Some(500),
            unmatched: 0,
            one_sided: 40,
            ..scattered
        };
        assert_eq!(counted.lost(), 500);
        assert!(counted.summary().contains("by the plugin's own count"));
        assert!(
            counted
                .advice()
                .contains("NCCL_INSPECTOR_DUMP_P2P_RING_SIZE (1024")
        );
    }
}
