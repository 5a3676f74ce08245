//! Operations: the collectives and the p2p table, their names replaced by small numbers.

use std::path::Path;

use nccl_report_ingest::Table;

use super::columns::{Columns, open};
use crate::Error;
use crate::facts::TimingSource;
use crate::records::registry::{EndpointKey, Registry};

/// Names met in one Parquet file, by the numbers that batches use.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Endpoints.
    pub(crate) endpoints: Registry<EndpointKey>,
    /// Functions: `AllReduce`, `Send`, …
    pub(crate) functions: Registry<String>,
    /// Whether any record has a communicator name, be it "unknown": the first writers of v4.0 give none.
    pub(crate) named: bool,
    /// Format version and `git_rev`.
    pub(crate) dialects: Registry<(Option<String>, Option<String>)>,
}

/// Operations, column by column. All columns have one length.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Number of the endpoint in [`Names`].
    pub(crate) endpoint: Vec<u32>,
    /// Number of the function in [`Names`].
    pub(crate) function: Vec<u32>,
    /// Number of the dialect in [`Names`].
    pub(crate) dialect: Vec<u32>,
    /// `coll_sn` or `p2p_sn`.
    pub(crate) sequence_number: Vec<i64>,
    /// Peer rank of a Send or Recv; -1 for collectives.
    pub(crate) peer: Vec<i32>,
    /// Message size, bytes.
    pub(crate) size: Vec<u64>,
    /// Kernel time, µs.
    pub(crate) micros: Vec<f64>,
    /// Where the time comes from.
    pub(crate) timing: Vec<TimingSource>,
    /// Bus bandwidth as written, GB/s.
    pub(crate) busbw: Vec<f64>,
    /// When the line was written, µs since the epoch.
    pub(crate) dumped: Vec<i64>,
}

impl Batch {
    /// How many operations.
    pub(crate) fn len(&self) -> usize {
        self.endpoint.len()
    }
}

/// Columns of both tables.
const COLUMNS: [&str; 10] = [
    "id",
    "comm_name",
    "rank",
    "n_ranks",
    "nnodes",
    "hostname",
    "pid",
    "dump_timestamp_us",
    "inspector_output_format_version",
    "git_rev",
];

/// The other columns, as the two tables call them.
struct Own {
    function: &'static str,
    sequence_number: &'static str,
    size: &'static str,
    micros: &'static str,
    fraction: &'static str,
    timing: &'static str,
    busbw: &'static str,
    peer: Option<&'static str>,
}

const COLLECTIVE: Own = Own {
    function: "coll",
    sequence_number: "coll_sn",
    size: "coll_msg_size_bytes",
    micros: "coll_exec_time_us",
    fraction: "coll_exec_time_fraction_us",
    timing: "coll_timing_source",
    busbw: "coll_busbw_gbs",
    peer: None,
};

const POINT_TO_POINT: Own = Own {
    function: "p2p",
    sequence_number: "p2p_sn",
    size: "p2p_msg_size_bytes",
    micros: "p2p_exec_time_us",
    fraction: "p2p_exec_time_fraction_us",
    timing: "p2p_timing_source",
    busbw: "p2p_busbw_gbs",
    peer: Some("p2p_peer"),
};

/// Reads the operations of one Parquet file of the collectives or the p2p table; returns all names met.
pub(crate) fn operations(
    path: &Path,
    table: Table,
    visit: impl FnMut(&Names, &Batch) -> Result<(), Error>,
) -> Result<Names, Error> {
    let mut names = Names::default();
    more_operations(path, table, &mut names, visit)?;
    Ok(names)
}

/// As [`operations`], after other files whose names are known: the same names keep their numbers.
pub(crate) fn more_operations(
    path: &Path,
    table: Table,
    names: &mut Names,
    mut visit: impl FnMut(&Names, &Batch) -> Result<(), Error>,
) -> Result<(), Error> {
    let own = if table == Table::P2p {
        &POINT_TO_POINT
    } else {
        &COLLECTIVE
    };
    let wanted = COLUMNS
        .into_iter()
        .chain([
            own.function,
            own.sequence_number,
            own.size,
            own.micros,
            own.fraction,
            own.timing,
            own.busbw,
        ])
        .chain(own.peer);
    let mut batch = Batch::default();
    for columns in open(path, wanted)? {
        decode(&columns?, own, names, &mut batch)?;
        visit(names, &batch)?;
    }
    Ok(())
}

fn decode(
    columns: &Columns<'_>,
    own: &Own,
    names: &mut Names,
    out: &mut Batch,
) -> Result<(), Error> {
    columns.endpoints(&mut names.endpoints, &mut out.endpoint)?;
    names.named |= columns.texts("comm_name")?.keys.iter().any(|&k| k >= 0);

    let functions = columns.texts(own.function)?;
    let intern = |f: &&str| names.functions.intern(&(*f).to_owned());
    let numbers: Vec<u32> = functions.values.iter().map(intern).collect();
    let unnamed = names.functions.intern(&String::new());
    replace(&mut out.function, &functions.keys, &numbers, unnamed);
    let timings = columns.texts(own.timing)?;
    let sources: Vec<_> = timings.values.iter().map(|t| timing_source(t)).collect();
    replace(
        &mut out.timing,
        &timings.keys,
        &sources,
        TimingSource::Unknown,
    );

    let version = columns.texts("inspector_output_format_version")?;
    let revision = columns.texts("git_rev")?;
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let mut last: Option<((i32, i32), u32)> = None;
    out.dialect.clear();
    for (&v, &r) in version.keys.iter().zip(revision.keys.iter()) {
        let dialect = match last {
            Some((k, d)) if k == (v, r) => d,
            _ => names
                .dialects
                .intern(&(owned(version.get(v)), owned(revision.get(r)))),
        };
        last = Some(((v, r), dialect));
        out.dialect.push(dialect);
    }

    copy(
        &mut out.sequence_number,
        &columns.longs(own.sequence_number)?,
    );
    copy(&mut out.dumped, &columns.longs("dump_timestamp_us")?);
    out.size.clear();
    let size = columns.longs(own.size)?;
    out.size.extend(size.iter().map(|&s| s.unsigned_abs()));
    out.micros.clear();
    let micros = columns.longs(own.micros)?;
    out.micros.extend(micros.iter().map(|&t| t as f64));
    if let Some(fractions) = columns.floats_if_any(own.fraction)? {
        for (t, f) in out.micros.iter_mut().zip(fractions.iter()) {
            *t += f;
        }
    }
    copy(&mut out.busbw, &columns.floats(own.busbw, f64::NAN)?);
    match own.peer {
        Some(peer) => copy(&mut out.peer, &columns.ints(peer)?),
        None => {
            out.peer.clear();
            out.peer.resize(columns.rows(), -1);
        }
    }
    Ok(())
}

/// Fills a column with what stands for each key, `none` for null.
fn replace<T: Copy>(out: &mut Vec<T>, keys: &[i32], stands: &[T], none: T) {
    let of = |k: i32| usize::try_from(k).ok().and_then(|k| stands.get(k).copied());
    out.clear();
    out.extend(keys.iter().map(|&k| of(k).unwrap_or(none)));
}

fn copy<T: Copy>(out: &mut Vec<T>, values: &[T]) {
    out.clear();
    out.extend_from_slice(values);
}

fn timing_source(text: &str) -> TimingSource {
    match text {
        "kernel_gpu" => TimingSource::KernelGpu,
        "" => TimingSource::Unknown,
        _ => TimingSource::Cpu,
    }
}
