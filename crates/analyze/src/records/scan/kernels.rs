//! When the operations of verbose dumps ran.

use std::path::Path;

use super::columns::open;
use crate::Error;

const COLUMNS: [&str; 7] = [
    "id",
    "hostname",
    "function",
    "msg_size_bytes",
    "kernel_start_ts_us",
    "kernel_stop_ts_us",
    "source_line",
];

/// An operation of a verbose dump, by the clock of its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Host.
    pub(crate) host: String,
    /// Communicator's id, function and message size: what is alike.
    pub(crate) kind: (String, String, i64),
    /// First channel's start and last channel's stop, µs since the epoch.
    pub(crate) ran: (i64, i64),
}

/// Reads when operations ran from one Parquet file of the channels table, whose rows of one record are neighbours.
pub(crate) fn kernels(path: &Path) -> Result<Vec<Kernel>, Error> {
    let mut out: Vec<Kernel> = Vec::new();
    let mut last_line = -1;
    for columns in open(path, COLUMNS)? {
        let columns = columns?;
        let (id, host, function) = (
            columns.texts("id")?,
            columns.texts("hostname")?,
            columns.texts("function")?,
        );
        let (size, line) = (
            columns.longs("msg_size_bytes")?,
            columns.longs("source_line")?,
        );
        let (start, stop) = (
            columns.longs("kernel_start_ts_us")?,
            columns.longs("kernel_stop_ts_us")?,
        );
        for i in 0..columns.rows() {
            if start[i] <= 0 || stop[i] < start[i] {
                continue;
            }
            if let Some(k) = out.last_mut().filter(|_| line[i] == last_line) {
                k.ran = (k.ran.0.min(start[i]), k.ran.1.max(stop[i]));
                continue;
            }
            last_line = line[i];
            out.push(Kernel {
                host: host.text(i).to_owned(),
                kind: (id.text(i).to_owned(), function.text(i).to_owned(), size[i]),
                ran: (start[i], stop[i]),
            });
        }
    }
    Ok(out)
}
