//! STAND-IN, to be replaced by the reader: a naive one for ordinary v4.0 lines, so that tables and datasets can be tested.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Body, Context, DumpStats, Operation, OperationKind, Record};
use crate::LineCounts;

/// Takes records.
pub trait Sink {
    /// Why no more can be taken.
    type Error;
    /// Takes one.
    ///
    /// # Errors
    /// When no more can be taken.
    fn record(&mut self, record: &Record<'_>, line: u64) -> Result<(), Self::Error>;
}

/// The account of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileTally {
    /// Why the file counts as no dump at all. All counts are zero then.
    pub skipped: Option<String>,
    /// Lines that aren't blank.
    pub lines: u64,
    /// Records by kind.
    pub records: BTreeMap<String, u64>,
    /// Kinds nobody has heard of.
    pub unknown_kinds: BTreeMap<String, u64>,
    /// Lines that gave no record.
    pub rejected: LineCounts,
    /// Broken lines whose record could be saved.
    pub repaired: LineCounts,
    /// Markers that promised more than came.
    pub truncated_dumps: u64,
    /// What cut the reading short.
    pub damage: Option<String>,
    /// Bytes after inflating.
    pub bytes_inflated: u64,
}

/// Reads lines into the sink.
///
/// # Errors
/// The sink's.
pub fn read_dump<S: Sink>(
    input: &mut dyn Read,
    name: &str,
    sink: &mut S,
    on_progress: &mut dyn FnMut(u64),
) -> Result<FileTally, S::Error> {
    let _ = name;
    let mut tally = FileTally::default();
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(read) => {
                tally.bytes_inflated += read as u64;
            }
            Err(error) => {
                tally.damage = Some(error.to_string());
                break;
            }
        }
        number += 1;
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        tally.lines += 1;
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        match record(&value) {
            Some((kind, record)) => {
                *tally.records.entry(kind.to_owned()).or_default() += 1;
                sink.record(&record, number)?;
                on_progress(1);
            }
            None => {
                tally.rejected.lines += 1;
                let orphan = value.get("coll_perf").is_some();
                let reason = if orphan { "orphaned" } else { "invalid_json" };
                *tally.rejected.by_reason.entry(reason.into()).or_default() += 1;
            }
        }
    }
    if tally.records.is_empty() && !tally.rejected.by_reason.contains_key("orphaned") {
        let empty = tally.lines == 0;
        tally = FileTally {
            skipped: Some(
                if empty {
                    "empty"
                } else {
                    "no Inspector record"
                }
                .into(),
            ),
            damage: tally.damage,
            bytes_inflated: tally.bytes_inflated,
            ..FileTally::default()
        };
    }
    Ok(tally)
}

fn record(value: &Value) -> Option<(&'static str, Record<'_>)> {
    let header = value.get("header")?;
    let metadata = value.get("metadata")?;
    let text = |v: &'_ Value, key: &str| v.get(key)?.as_str().map(|s| Cow::Owned(s.to_owned()));
    let context = Context {
        id: text(header, "id")?,
        comm_name: text(header, "comm_name"),
        rank: header.get("rank")?.as_u64()? as u32,
        n_ranks: header.get("n_ranks")?.as_u64()? as u32,
        nnodes: header.get("nnodes")?.as_u64()? as u32,
        format_version: text(metadata, "inspector_output_format_version"),
        git_rev: text(metadata, "git_rev"),
        rec_mechanism: text(metadata, "rec_mechanism"),
        dump_timestamp_us: metadata.get("dump_timestamp_us")?.as_i64()?,
        hostname: text(metadata, "hostname")?,
        pid: metadata.get("pid")?.as_i64()?,
        gpu_uuid: None,
        tags: None,
    };
    if let Some(stats) = value.get("dump_stats") {
        let stats = DumpStats {
            coll_records: stats.get("coll_records").and_then(Value::as_u64),
            ..DumpStats::default()
        };
        let body = Body::DumpStats(stats);
        return Some(("dump_stats", Record { context, body }));
    }
    let (name, kind, prefix, of) = if value.get("coll_perf").is_some() {
        ("collective", OperationKind::Collective, "coll", "coll_perf")
    } else {
        ("p2p", OperationKind::PointToPoint, "p2p", "p2p_perf")
    };
    let perf = value.get(of)?;
    let number = |key: &str| perf.get(format!("{prefix}_{key}"));
    let operation = Operation {
        kind,
        function: text(perf, prefix)?,
        sequence_number: number("sn")?.as_i64()?,
        peer: number("peer").and_then(Value::as_i64),
        size_bytes: number("msg_size_bytes")?.as_u64()?,
        exec_time_us: number("exec_time_us")?.as_u64()?,
        exec_time_fraction_us: 0.0,
        timing_source: text(perf, &format!("{prefix}_timing_source")),
        algobw_gbs: number("algobw_gbs")?.as_f64()?,
        busbw_gbs: number("busbw_gbs")?.as_f64()?,
        algo: text(perf, "coll_algo"),
        proto: text(perf, "coll_proto"),
        graph_captured: None,
        trace: None,
    };
    Some((
        name,
        Record {
            context,
            body: Body::Operation(operation),
        },
    ))
}
