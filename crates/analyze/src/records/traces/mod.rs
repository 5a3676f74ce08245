//! Reads the tables that eBPF traces left: calls, retransmits and events, row by row, names as they stand in the file.

mod columns;
mod kernels;

use std::path::Path;

use columns::batches;
pub(crate) use kernels::{KernelRow, channels};

use crate::Error;

/// A call into NCCL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CallRow<'a> {
    pub(crate) host: Option<&'a str>,
    /// Entry, ns since the epoch by the host's clock.
    pub(crate) start: Option<i64>,
    /// Entry to return, ns.
    pub(crate) length: Option<i64>,
    pub(crate) pid: Option<i64>,
    pub(crate) op: Option<&'a str>,
    pub(crate) rank: Option<i64>,
    pub(crate) n_ranks: Option<i64>,
    pub(crate) comm: Option<&'a str>,
    pub(crate) count: Option<i64>,
}

/// A segment that was sent again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RetransmitRow<'a> {
    pub(crate) host: Option<&'a str>,
    /// When, ns since the epoch by the host's clock.
    pub(crate) at: Option<i64>,
    pub(crate) source: Option<&'a str>,
    pub(crate) destination: Option<&'a str>,
}

/// Something that happened on a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EventRow<'a> {
    pub(crate) host: Option<&'a str>,
    /// Its stamp, ns since the epoch by the host's clock.
    pub(crate) at: i64,
    pub(crate) length: i64,
    pub(crate) pid: Option<i64>,
    pub(crate) tid: Option<i64>,
    pub(crate) source: Option<&'a str>,
    pub(crate) op: Option<&'a str>,
    pub(crate) arg0: Option<i64>,
    pub(crate) arg1: Option<i64>,
}

/// What an agent counted in a minute without keeping all of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AggregateRow<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) op: Option<&'a str>,
    pub(crate) count: i64,
    pub(crate) stored: i64,
}

/// Visits the calls of one Parquet file.
pub(crate) fn calls(path: &Path, mut visit: impl FnMut(CallRow<'_>)) -> Result<(), Error> {
    let columns = [
        "host",
        "timestamp_ns",
        "duration_ns",
        "pid",
        "op",
        "rank",
        "n_ranks",
        "comm_id_hash",
        "count",
    ];
    batches(path, &columns, |b| {
        let (host, op, comm) = (b.texts("host")?, b.texts("op")?, b.texts("comm_id_hash")?);
        let number = |c| b.numbers(c);
        let (start, length, pid) = (
            number("timestamp_ns")?,
            number("duration_ns")?,
            number("pid")?,
        );
        let (rank, n_ranks, count) = (number("rank")?, number("n_ranks")?, number("count")?);
        for i in 0..b.rows() {
            visit(CallRow {
                host: host.at(i),
                start: start.at(i),
                length: length.at(i),
                pid: pid.at(i),
                op: op.at(i),
                rank: rank.at(i),
                n_ranks: n_ranks.at(i),
                comm: comm.at(i),
                count: count.at(i),
            });
        }
        Ok(())
    })
}

/// Visits the retransmits of one Parquet file.
pub(crate) fn retransmits(
    path: &Path,
    mut visit: impl FnMut(RetransmitRow<'_>),
) -> Result<(), Error> {
    let columns = [
        "host",
        "timestamp_ns",
        "source_address",
        "destination_address",
    ];
    batches(path, &columns, |b| {
        let host = b.texts("host")?;
        let (source, destination) = (b.texts("source_address")?, b.texts("destination_address")?);
        let at = b.numbers("timestamp_ns")?;
        for i in 0..b.rows() {
            visit(RetransmitRow {
                host: host.at(i),
                at: at.at(i),
                source: source.at(i),
                destination: destination.at(i),
            });
        }
        Ok(())
    })
}

/// Visits the events of one Parquet file.
pub(crate) fn events(path: &Path, mut visit: impl FnMut(EventRow<'_>)) -> Result<(), Error> {
    let columns = [
        "host",
        "timestamp_ns",
        "duration_ns",
        "pid",
        "tid",
        "source",
        "op",
        "arg0",
        "arg1",
    ];
    batches(path, &columns, |b| {
        let (host, source, op) = (b.texts("host")?, b.texts("source")?, b.texts("op")?);
        let number = |c| b.numbers(c);
        let (at, length) = (number("timestamp_ns")?, number("duration_ns")?);
        let (pid, tid) = (number("pid")?, number("tid")?);
        let (arg0, arg1) = (number("arg0")?, number("arg1")?);
        for i in 0..b.rows() {
            let Some(stamp) = at.at(i) else {
                continue;
            };
            visit(EventRow {
                host: host.at(i),
                at: stamp,
                length: length.at(i).unwrap_or(0).max(0),
                pid: pid.at(i),
                tid: tid.at(i),
                source: source.at(i),
                op: op.at(i),
                arg0: arg0.at(i),
                arg1: arg1.at(i),
            });
        }
        Ok(())
    })
}

/// Visits the aggregates of one Parquet file.
pub(crate) fn aggregates(
    path: &Path,
    mut visit: impl FnMut(AggregateRow<'_>),
) -> Result<(), Error> {
    let columns = ["host", "op", "count", "stored"];
    batches(path, &columns, |b| {
        let (host, op) = (b.texts("host")?, b.texts("op")?);
        let (count, stored) = (b.numbers("count")?, b.numbers("stored")?);
        for i in 0..b.rows() {
            visit(AggregateRow {
                host: host.at(i),
                op: op.at(i),
                count: count.at(i).unwrap_or(0),
                stored: stored.at(i).unwrap_or(0),
            });
        }
        Ok(())
    })
}

/// Visits the sessions of one Parquet file: host, start, stop (ns; `None` while the agent still ran).
pub(crate) fn sessions(
    path: &Path,
    mut visit: impl FnMut(Option<&str>, i64, Option<i64>),
) -> Result<(), Error> {
    batches(path, &["host", "started_at_ns", "stopped_at_ns"], |b| {
        let host = b.texts("host")?;
        let (start, stop) = (b.numbers("started_at_ns")?, b.numbers("stopped_at_ns")?);
        for i in 0..b.rows() {
            if let Some(started) = start.at(i) {
                visit(host.at(i), started, stop.at(i));
            }
        }
        Ok(())
    })
}

/// Visits the names of processes of one Parquet file: host, process, name.
pub(crate) fn process_names(
    path: &Path,
    mut visit: impl FnMut(Option<&str>, i64, Option<&str>),
) -> Result<(), Error> {
    batches(path, &["host", "pid", "name"], |b| {
        let (host, name) = (b.texts("host")?, b.texts("name")?);
        let pid = b.numbers("pid")?;
        for i in 0..b.rows() {
            if let Some(pid) = pid.at(i) {
                visit(host.at(i), pid, name.at(i));
            }
        }
        Ok(())
    })
}
