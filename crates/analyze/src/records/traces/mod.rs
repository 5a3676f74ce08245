//! Reads the tables that eBPF traces left: calls, retransmits and events, row by row, names as they stand in the file.

use std::fs::File;
use std::path::Path;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::Error;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 32_768;

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
    /// Start and stop of this channel, µs since the epoch.
    pub(crate) ran: (i64, i64),
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
                ran: (from, to),
            });
        }
        Ok(())
    })
}

fn batches(
    path: &Path,
    columns: &[&str],
    mut visit: impl FnMut(&Batch<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let parquet = |source| Error::Parquet {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    let reader = builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(parquet)?;
    for columns in reader {
        let columns = columns.map_err(|e| parquet(e.into()))?;
        visit(&Batch {
            path,
            columns: &columns,
        })?;
    }
    Ok(())
}

/// Some rows of a file. A missing or mistyped column means that the file isn't ours.
struct Batch<'a> {
    path: &'a Path,
    columns: &'a RecordBatch,
}

struct Texts<'a> {
    keys: &'a arrow::array::Int32Array,
    values: &'a arrow::array::StringArray,
}

impl<'a> Texts<'a> {
    fn at(&self, row: usize) -> Option<&'a str> {
        if self.keys.is_null(row) {
            return None;
        }
        let key = usize::try_from(self.keys.value(row)).ok()?;
        (key < self.values.len()).then(|| self.values.value(key))
    }
}

/// A column of whole numbers, of either width.
enum Numbers<'a> {
    Long(&'a arrow::array::Int64Array),
    Short(&'a arrow::array::Int32Array),
}

impl Numbers<'_> {
    fn at(&self, row: usize) -> Option<i64> {
        match self {
            Self::Long(array) => (!array.is_null(row)).then(|| array.value(row)),
            Self::Short(array) => (!array.is_null(row)).then(|| i64::from(array.value(row))),
        }
    }
}

impl<'a> Batch<'a> {
    fn rows(&self) -> usize {
        self.columns.num_rows()
    }

    fn foreign(&self, column: &str) -> Error {
        Error::NotOurs {
            path: self.path.to_owned(),
            column: column.to_owned(),
        }
    }

    fn column(&self, name: &str) -> Result<&'a dyn Array, Error> {
        self.columns
            .column_by_name(name)
            .map(AsRef::as_ref)
            .ok_or_else(|| self.foreign(name))
    }

    fn texts(&self, name: &str) -> Result<Texts<'a>, Error> {
        let dictionary = self
            .column(name)?
            .as_dictionary_opt::<Int32Type>()
            .ok_or_else(|| self.foreign(name))?;
        let values = dictionary
            .values()
            .as_string_opt::<i32>()
            .ok_or_else(|| self.foreign(name))?;
        Ok(Texts {
            keys: dictionary.keys(),
            values,
        })
    }

    fn numbers(&self, name: &str) -> Result<Numbers<'a>, Error> {
        self.column(name)?
            .as_primitive_opt::<Int64Type>()
            .map(Numbers::Long)
            .ok_or_else(|| self.foreign(name))
    }

    fn small_numbers(&self, name: &str) -> Result<Numbers<'a>, Error> {
        self.column(name)?
            .as_primitive_opt::<Int32Type>()
            .map(Numbers::Short)
            .ok_or_else(|| self.foreign(name))
    }
}
