//! What is missing, counted and named.

use nccl_report_analyze::facts::{Communicator, Job};

use super::people;
use super::quantity::plural;

/// What is missing, in numbers.
pub(super) struct Account {
    pub(super) records: u64,
    pub(super) ranks_missing: u64,
    /// Communicators of which a rank left no record.
    pub(super) communicators_partial: u64,
    pub(super) collectives: u64,
    pub(super) collectives_complete: u64,
    pub(super) dropped: u64,
    /// Communicators whose dumps don't say whether records were dropped.
    pub(super) silent: usize,
    pub(super) unseen: u64,
    pub(super) unmatched: u64,
}

impl Account {
    pub(super) fn of(job: &Job) -> Self {
        let sum = |value: fn(&Communicator) -> u64| {
            job.communicators
                .iter()
                .map(value)
                .fold(0_u64, u64::saturating_add)
        };
        let expected = job.overview.ranks_expected;
        Self {
            records: ["collective", "p2p"]
                .iter()
                .filter_map(|kind| job.inputs.records.get(*kind))
                .fold(0, |sum: u64, n| sum.saturating_add(*n)),
            ranks_missing: expected.map_or(0, |of| of.saturating_sub(job.overview.ranks)),
            communicators_partial: job.communicators.iter().filter(|c| lacking(c) > 0).count()
                as u64,
            collectives: sum(|c| c.collectives),
            collectives_complete: sum(|c| c.collectives_complete),
            dropped: sum(|c| c.loss.dropped.unwrap_or(0)),
            silent: job
                .communicators
                .iter()
                .filter(|c| c.loss.dropped.is_none())
                .count(),
            unseen: sum(|c| c.loss.numbers_unseen),
            unmatched: sum(|c| c.loss.records_unmatched),
        }
    }
}

/// 1 of nothing is all of it.
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        f64::from(u8::from(part == 0))
    } else {
        part as f64 / whole as f64
    }
}

/// Ranks without a record.
fn lacking(of: &Communicator) -> usize {
    (of.n_ranks as usize).saturating_sub(of.members.len())
}

/// Which ranks the communicator that lacks most of them lacks.
pub(super) fn absent(communicators: &[Communicator]) -> String {
    let number = communicators.iter().filter(|c| lacking(c) > 0).count() as u64;
    let mut most: Option<&Communicator> = None;
    for candidate in communicators {
        if lacking(candidate) > most.map_or(0, lacking) {
            most = Some(candidate);
        }
    }
    most.map_or_else(String::new, |of| {
        format!(
            "; {} incomplete: {} lacks {}",
            plural(number, "communicator is", "communicators are"),
            people::communicator(of),
            ranges(of)
        )
    })
}

/// The ranks without records as ranges: "ranks 4–7, 12".
pub(super) fn ranges(of: &Communicator) -> String {
    const SHOWN: usize = 8;
    let mut ranges = Vec::new();
    let mut next = 0_u32;
    let present = of.members.iter().map(|m| m.rank).chain([of.n_ranks]);
    for rank in present {
        if rank > next {
            ranges.push(if rank - next == 1 {
                next.to_string()
            } else {
                format!("{next}–{}", rank - 1)
            });
        }
        next = next.max(rank.saturating_add(1));
    }
    let more = ranges.len().saturating_sub(SHOWN);
    ranges.truncate(SHOWN);
    let rest = if more > 0 { ", …" } else { "" };
    format!("ranks {}{rest}", ranges.join(", "))
}
