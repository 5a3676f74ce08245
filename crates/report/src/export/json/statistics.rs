//! Groups and families: statistics of like with like.

use nccl_report_analyze::facts::{Distribution, Family, FamilyOperation, Group};
use nccl_report_analyze::units::{BusBandwidth, ExecTime};
use serde::Serialize;

use crate::export::summary::quantiles_exact;

#[derive(Serialize)]
pub(super) struct Bandwidths {
    min: f64,
    p5: f64,
    p25: f64,
    p50: f64,
    mean: f64,
    p75: f64,
    p95: f64,
    max: f64,
}

impl Bandwidths {
    fn of(of: &Distribution<BusBandwidth>) -> Self {
        Self {
            min: of.min.as_gb_per_s(),
            p5: of.p5.as_gb_per_s(),
            p25: of.p25.as_gb_per_s(),
            p50: of.p50.as_gb_per_s(),
            mean: of.mean.as_gb_per_s(),
            p75: of.p75.as_gb_per_s(),
            p95: of.p95.as_gb_per_s(),
            max: of.max.as_gb_per_s(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Times {
    min: f64,
    p5: f64,
    p25: f64,
    p50: f64,
    mean: f64,
    p75: f64,
    p95: f64,
    p99: f64,
    max: f64,
}

impl Times {
    pub(super) fn of(of: &Distribution<ExecTime>) -> Self {
        Self {
            min: of.min.as_micros(),
            p5: of.p5.as_micros(),
            p25: of.p25.as_micros(),
            p50: of.p50.as_micros(),
            mean: of.mean.as_micros(),
            p75: of.p75.as_micros(),
            p95: of.p95.as_micros(),
            p99: of.p99.as_micros(),
            max: of.max.as_micros(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct GroupOut<'a> {
    comm_type: &'static str,
    coll: &'a str,
    coll_msg_size_bytes: u64,
    n_ranks: u32,
    nnodes: u32,
    p2p: bool,
    communicators: u64,
    collectives: u64,
    records: u64,
    busbw_gbs: Bandwidths,
    exec_time_us: Times,
    /// From the shortest time of each collective; `null` for Send and Recv.
    link_busbw_gbs: Option<Bandwidths>,
    /// From the mean time of each collective; `null` for Send and Recv.
    felt_busbw_gbs: Option<Bandwidths>,
    time_us: f64,
    share_of_time: f64,
    latency_bound: bool,
    /// `false` when a quantile comes from a sketch (relative error below 0.5 %).
    quantiles_exact: bool,
}

impl<'a> GroupOut<'a> {
    pub(super) fn of(of: &'a Group) -> Self {
        Self {
            comm_type: of.key.class.as_str(),
            coll: &of.key.operation,
            coll_msg_size_bytes: of.key.size.as_bytes(),
            n_ranks: of.key.n_ranks,
            nnodes: of.key.nnodes,
            p2p: of.p2p,
            communicators: of.communicators,
            collectives: of.collectives,
            records: of.records,
            busbw_gbs: Bandwidths::of(&of.busbw),
            exec_time_us: Times::of(&of.exec_time),
            link_busbw_gbs: of.link_busbw.as_ref().map(Bandwidths::of),
            felt_busbw_gbs: of.felt_busbw.as_ref().map(Bandwidths::of),
            time_us: of.time.as_micros(),
            share_of_time: of.share_of_time,
            latency_bound: of.latency_bound,
            quantiles_exact: quantiles_exact(of),
        }
    }
}

#[derive(Serialize)]
struct OperationOut<'a> {
    operation: &'a str,
    msg_size_bytes: u64,
    operations: u64,
    records: u64,
    link_busbw_gbs: Option<Bandwidths>,
    felt_busbw_gbs: Option<Bandwidths>,
    shortest_us: Option<Times>,
    spread_us: Option<Times>,
    time_us: f64,
    share_of_time: f64,
    /// Medians, in the order of the family's `communicators`.
    link_busbw_gbs_by_communicator: Vec<Option<f64>>,
}

impl<'a> OperationOut<'a> {
    fn of(of: &'a FamilyOperation) -> Self {
        Self {
            operation: &of.operation,
            msg_size_bytes: of.size.as_bytes(),
            operations: of.operations,
            records: of.records,
            link_busbw_gbs: of.link_busbw.as_ref().map(Bandwidths::of),
            felt_busbw_gbs: of.felt_busbw.as_ref().map(Bandwidths::of),
            shortest_us: of.shortest.as_ref().map(Times::of),
            spread_us: of.spread.as_ref().map(Times::of),
            time_us: of.time.as_micros(),
            share_of_time: of.share_of_time,
            link_busbw_gbs_by_communicator: of
                .link_busbw_by_communicator
                .iter()
                .map(|median| median.map(|b| b.as_gb_per_s()))
                .collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct FamilyOut<'a> {
    label: &'a str,
    comm_type: &'static str,
    n_ranks: u32,
    nnodes: u32,
    share_of_time: f64,
    /// Indices in `communicators` of the document.
    communicators: &'a [u32],
    operations: Vec<OperationOut<'a>>,
}

impl<'a> FamilyOut<'a> {
    pub(super) fn of(of: &'a Family) -> Self {
        Self {
            label: &of.label,
            comm_type: of.class.as_str(),
            n_ranks: of.n_ranks,
            nnodes: of.nnodes,
            share_of_time: of.share_of_time,
            communicators: &of.communicators,
            operations: of.operations.iter().map(OperationOut::of).collect(),
        }
    }
}
