//! Where the time goes: slices, pairs, shares, and the budget.

use nccl_report_analyze::facts::{
    BudgetPart, Job, PairSlice, Share, Slice, SliceOf, TimeBudget, TimeCause,
};
use serde::Serialize;

use super::statistics::Times;

/// `of` says which of the keys after it are there.
#[derive(Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
enum Axis<'a> {
    Communicator {
        communicator: u32,
        communicator_id: Option<&'a str>,
    },
    Host {
        host: &'a str,
    },
    Rank {
        process: u32,
    },
    Time {
        start_us: i64,
        end_us: i64,
    },
}

#[derive(Serialize)]
pub(super) struct SliceOut<'a> {
    #[serde(flatten)]
    of: Axis<'a>,
    operation: &'a str,
    records: u64,
    bytes: u64,
    time_us: f64,
    /// `null` for Send and Recv.
    wait_us: Option<f64>,
    busbw_gbs: f64,
    share_of_time: f64,
}

impl<'a> SliceOut<'a> {
    pub(super) fn of(of: &'a Slice, job: &'a Job) -> Self {
        Self {
            of: match &of.of {
                SliceOf::Communicator { communicator } => Axis::Communicator {
                    communicator: *communicator,
                    communicator_id: communicator_id(job, *communicator),
                },
                SliceOf::Host { host } => Axis::Host { host },
                SliceOf::Rank { process } => Axis::Rank { process: process.0 },
                SliceOf::Time { start, end } => Axis::Time {
                    start_us: start.as_unix_micros(),
                    end_us: end.as_unix_micros(),
                },
            },
            operation: &of.operation,
            records: of.records,
            bytes: of.bytes,
            time_us: of.time.as_micros(),
            wait_us: of.wait.map(|t| t.as_micros()),
            busbw_gbs: of.busbw.as_gb_per_s(),
            share_of_time: of.share_of_time,
        }
    }
}

fn communicator_id(job: &Job, index: u32) -> Option<&str> {
    let found = job.communicators.get(index as usize)?;
    Some(&found.id)
}

#[derive(Serialize)]
pub(super) struct PairOut<'a> {
    communicator: u32,
    communicator_id: Option<&'a str>,
    source_rank: u32,
    destination_rank: u32,
    /// Index in `processes`; `null` when the rank left no records.
    source_process: Option<u32>,
    destination_process: Option<u32>,
    crosses_network: Option<bool>,
    msg_size_bytes: u64,
    sends: u64,
    recvs: u64,
    bytes: u64,
    link_bandwidth_gbs: f64,
    send_time_us: Option<Times>,
    recv_time_us: Option<Times>,
}

impl<'a> PairOut<'a> {
    pub(super) fn of(of: &'a PairSlice, job: &'a Job) -> Self {
        Self {
            communicator: of.communicator,
            communicator_id: communicator_id(job, of.communicator),
            source_rank: of.source_rank,
            destination_rank: of.destination_rank,
            source_process: of.source.map(|p| p.0),
            destination_process: of.destination.map(|p| p.0),
            crosses_network: of.crosses_network,
            msg_size_bytes: of.size.as_bytes(),
            sends: of.sends,
            recvs: of.recvs,
            bytes: of.bytes,
            link_bandwidth_gbs: of.link_bandwidth.as_gb_per_s(),
            send_time_us: of.send_time.as_ref().map(Times::of),
            recv_time_us: of.recv_time.as_ref().map(Times::of),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ShareOut<'a> {
    /// Index in `families`.
    family: u32,
    family_label: Option<&'a str>,
    operation: &'a str,
    msg_size_bytes: u64,
    records: u64,
    bytes: u64,
    time_us: f64,
    share_of_time: f64,
}

impl<'a> ShareOut<'a> {
    pub(super) fn of(of: &'a Share, job: &'a Job) -> Self {
        Self {
            family: of.family,
            family_label: job
                .families
                .get(of.family as usize)
                .map(|f| f.label.as_str()),
            operation: &of.operation,
            msg_size_bytes: of.size.as_bytes(),
            records: of.records,
            bytes: of.bytes,
            time_us: of.time.as_micros(),
            share_of_time: of.share_of_time,
        }
    }
}

/// The parts add up to the total.
#[derive(Serialize)]
pub(super) struct BudgetOut<'a> {
    total_us: f64,
    /// Waiting of ranks for each other, for whatever reason.
    waiting_us: f64,
    parts: Vec<BudgetPartOut<'a>>,
}

#[derive(Serialize)]
struct BudgetPartOut<'a> {
    cause: TimeCause,
    /// The `id` of a finding.
    finding: Option<&'a str>,
    time_us: f64,
}

impl<'a> BudgetOut<'a> {
    pub(super) fn of(of: &'a TimeBudget) -> Self {
        let part = |p: &'a BudgetPart| BudgetPartOut {
            cause: p.cause,
            finding: p.finding.as_deref(),
            time_us: p.time.as_micros(),
        };
        Self {
            total_us: of.total.as_micros(),
            waiting_us: of.waiting.as_micros(),
            parts: of.parts.iter().map(part).collect(),
        }
    }
}
