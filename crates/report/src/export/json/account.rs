//! What job this is, and what was read.

use std::collections::BTreeMap;

use nccl_report_analyze::facts::{Dialect, Job, Run};
use nccl_report_ingest::{LineCounts, SkippedFile};
use serde::Serialize;

use crate::names::timing;

#[derive(Serialize)]
pub(super) struct OverviewOut<'a> {
    title: &'a str,
    hosts: &'a [String],
    ranks: u64,
    ranks_expected: Option<u64>,
    first_dump_us: Option<i64>,
    last_dump_us: Option<i64>,
    dialects: &'a [Dialect],
    timing: &'static str,
    records_other_timing: u64,
    dump_interval_us: Option<f64>,
    sampled: bool,
    time_us: f64,
    bytes: u64,
    complete: Option<f64>,
    bandwidth_mismatches: u64,
}

impl<'a> OverviewOut<'a> {
    pub(super) fn of(job: &'a Job) -> Self {
        let of = &job.overview;
        Self {
            title: &of.title,
            hosts: &of.hosts,
            ranks: of.ranks,
            ranks_expected: of.ranks_expected,
            first_dump_us: of.span.map(|(first, _)| first.as_unix_micros()),
            last_dump_us: of.span.map(|(_, last)| last.as_unix_micros()),
            dialects: &of.dialects,
            timing: timing(of.timing),
            records_other_timing: of.records_other_timing,
            dump_interval_us: of.dump_interval.map(|t| t.as_micros()),
            sampled: of.sampled,
            time_us: of.time.as_micros(),
            bytes: of.bytes,
            complete: of.complete,
            bandwidth_mismatches: of.bandwidth_mismatches,
        }
    }
}

#[derive(Serialize)]
pub(super) struct InputsOut<'a> {
    files: u64,
    bytes: u64,
    /// Lines that aren't blank: records of all kinds + rejected.
    lines: u64,
    records: &'a BTreeMap<String, u64>,
    unknown_kinds: &'a BTreeMap<String, u64>,
    rejected: &'a LineCounts,
    repaired: &'a LineCounts,
    files_skipped: &'a [SkippedFile],
    files_damaged: &'a [SkippedFile],
    truncated_dumps: u64,
    /// The timing that `groups` and every other statistic are about.
    timing: &'static str,
}

impl<'a> InputsOut<'a> {
    pub(super) fn of(job: &'a Job) -> Self {
        let of = &job.inputs;
        Self {
            files: of.files,
            bytes: of.bytes,
            lines: of.lines,
            records: &of.records,
            unknown_kinds: &of.unknown_kinds,
            rejected: &of.rejected,
            repaired: &of.repaired,
            files_skipped: &of.files_skipped,
            files_damaged: &of.files_damaged,
            truncated_dumps: of.truncated_dumps,
            timing: timing(job.overview.timing),
        }
    }
}

#[derive(Serialize)]
pub(super) struct RunOut<'a> {
    start_us: i64,
    end_us: i64,
    ranks: u64,
    hosts: &'a [String],
}

impl<'a> RunOut<'a> {
    pub(super) fn of(of: &'a Run) -> Self {
        Self {
            start_us: of.start.as_unix_micros(),
            end_us: of.end.as_unix_micros(),
            ranks: of.ranks,
            hosts: &of.hosts,
        }
    }
}
