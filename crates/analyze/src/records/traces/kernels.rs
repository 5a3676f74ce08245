//! The channels of verbose dumps, row by row.

use std::path::Path;

use super::columns::batches;
use crate::Error;

/// The operations of verbose dumps, by the clock of their host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KernelRow<'a> {
    pub(crate) id: &'a str,
    pub(crate) host: &'a str,
    pub(crate) pid: i64,
    pub(crate) rank: i64,
    pub(crate) function: &'a str,
    /// Whether it is a Send or a Recv, which each rank numbers by itself.
    pub(crate) p2p: bool,
    pub(crate) sequence_number: i64,
    /// Line of its record in the file that it came from: replays of a graph share a number.
    pub(crate) line: i64,
    /// Start and stop of this channel, µs since the epoch.
    pub(crate) ran: (i64, i64),
    /// How long the operation took by the GPU, µs.
    pub(crate) micros: i64,
    /// When its line was written, µs since the epoch by the same clock.
    pub(crate) dumped: i64,
}

/// Visits the channels of the operations in one Parquet file of that table.
pub(crate) fn channels(path: &Path, mut visit: impl FnMut(KernelRow<'_>)) -> Result<(), Error> {
    let columns = [
        "kind",
        "id",
        "hostname",
        "pid",
        "rank",
        "function",
        "sn",
        "kernel_start_ts_us",
        "kernel_stop_ts_us",
        "source_line",
        "exec_time_us",
        "dump_timestamp_us",
    ];
    batches(path, &columns, |b| {
        let (kind, id) = (b.texts("kind")?, b.texts("id")?);
        let (host, function) = (b.texts("hostname")?, b.texts("function")?);
        let (pid, rank, sn) = (
            b.numbers("pid")?,
            b.small_numbers("rank")?,
            b.numbers("sn")?,
        );
        let (start, stop) = (
            b.numbers("kernel_start_ts_us")?,
            b.numbers("kernel_stop_ts_us")?,
        );
        let line = b.numbers("source_line")?;
        let (micros, dumped) = (b.numbers("exec_time_us")?, b.numbers("dump_timestamp_us")?);
        for i in 0..b.rows() {
            let (Some(from), Some(to)) = (start.at(i), stop.at(i)) else {
                continue;
            };
            if from <= 0 || to < from {
                continue;
            }
            visit(KernelRow {
                id: id.at(i).unwrap_or_default(),
                host: host.at(i).unwrap_or_default(),
                pid: pid.at(i).unwrap_or(-1),
                rank: rank.at(i).unwrap_or(-1),
                function: function.at(i).unwrap_or_default(),
                p2p: kind.at(i) == Some("p2p"),
                sequence_number: sn.at(i).unwrap_or(-1),
                line: line.at(i).unwrap_or(-1),
                ran: (from, to),
                micros: micros.at(i).unwrap_or(-1),
                dumped: dumped.at(i).unwrap_or(0),
            });
        }
        Ok(())
    })
}
