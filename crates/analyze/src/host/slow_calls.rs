//! The question that traces are asked first: which collectives were slow, and how many retransmits fell into each.
//!
//! The rows are those of `GROUP BY rank, duration_ns, timestamp_ns` over the calls joined with the retransmits between entry and return,
//! both included, as SQLite gives them: a null is a value of its own among ranks, never longer than a limit, and in no window.

use std::collections::BTreeMap;
use std::path::Path;

use nccl_report_ingest::Table;

use super::slow_spans::{HostWindows, SlowSpan, is_slow};
use super::store::{HostTraces, Retransmit, Trace};
use super::stretches::Gathering;
use crate::Error;
use crate::facts::{Coincidence, SlowCall, SlowCalls, SlowLimit, WindowSource};
use crate::records::registry::Registry;
use crate::records::traces::{self, CallRow};
use crate::statistics::Sample;

/// Rows kept; a table of more isn't read by anyone.
const MOST_ROWS: usize = 100_000;

/// Slow calls, and the windows that they make of each host.
pub(crate) struct Found {
    pub(crate) slow: SlowCalls,
    /// Slow by the limit that was asked for: host, start, end of each.
    pub(crate) asked: BTreeMap<String, Vec<(i64, i64)>>,
    /// Slow by the measure of their kind, for the search for causes.
    pub(crate) windows: BTreeMap<String, HostWindows>,
    /// Time in all calls, µs.
    pub(crate) call_micros: f64,
}

/// Reads the calls of every trace, twice, and holds of them the lengths that differ, and those that are slow.
pub(crate) fn slow_calls(all: &HostTraces, limit: SlowLimit) -> Result<Found, Error> {
    let mut found = Found {
        slow: SlowCalls {
            limit,
            ..SlowCalls::default()
        },
        asked: BTreeMap::new(),
        windows: BTreeMap::new(),
        call_micros: 0.0,
    };
    for trace in &all.files {
        if let Some(path) = trace.table(Table::NcclCalls) {
            of_trace(all, trace, path, limit, &mut found)?;
        }
    }
    if found.slow.calls > 0 {
        found.slow.windows = WindowSource::Calls;
    }
    // Longest first; what SQLite's sorter leaves equal stays in the order of the groups: by rank, length, start, nulls first.
    found.slow.rows.sort_by(|a, b| {
        b.duration_ns.cmp(&a.duration_ns).then_with(|| {
            (a.rank, a.timestamp_ns, &a.op, &a.source_file).cmp(&(
                b.rank,
                b.timestamp_ns,
                &b.op,
                &b.source_file,
            ))
        })
    });
    found.slow.omitted = found.slow.rows.len().saturating_sub(MOST_ROWS) as u64;
    found.slow.rows.truncate(MOST_ROWS);
    Ok(found)
}

/// Operation, communicator and count make calls alike. Names are met as texts and kept as numbers.
#[derive(Default)]
struct Kinds {
    ops: Registry<String>,
    comms: Registry<String>,
    kinds: Registry<(u32, u32, Option<i64>)>,
}

impl Kinds {
    fn kind(&mut self, call: &CallRow<'_>) -> (u32, u32) {
        let op = number(&mut self.ops, call.op.unwrap_or_default());
        let comm = number(&mut self.comms, call.comm.unwrap_or_default());
        (op, self.kinds.intern(&(op, comm, call.count)))
    }
}

fn number(names: &mut Registry<String>, name: &str) -> u32 {
    names
        .find(name)
        .unwrap_or_else(|| names.intern(&name.to_owned()))
}

fn of_trace(
    all: &HostTraces,
    trace: &Trace,
    path: &Path,
    limit: SlowLimit,
    found: &mut Found,
) -> Result<(), Error> {
    let mut kinds = Kinds::default();
    let mut lengths: Vec<Sample> = Vec::new();
    let mut spans: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    traces::calls(path, |call| {
        if !is_operation(call.op) {
            return;
        }
        found.slow.calls += u64::from(is_collective(call.op));
        let (_, kind) = kinds.kind(&call);
        let Some(length) = call.length else {
            return;
        };
        lengths.resize_with(lengths.len().max(kind as usize + 1), Sample::default);
        lengths[kind as usize].push(length as f64);
        found.call_micros += length.max(0) as f64 / 1e3;
        if let (Some(start), Some(host)) = (call.start, trace.whose.host(call.host)) {
            let end = start.saturating_add(length);
            match spans.get_mut(host) {
                Some(span) => *span = (span.0.min(start), span.1.max(end)),
                None => {
                    spans.insert(host.to_owned(), (start, end));
                }
            }
        }
    })?;
    let medians: Vec<Option<f64>> = lengths
        .into_iter()
        .map(|mut of_kind| of_kind.quantiles(&[0.5]).first().copied())
        .collect();
    let median_of = |kind: u32| medians.get(kind as usize).copied().flatten();

    let mut groups: BTreeMap<Group, (u64, String)> = BTreeMap::new();
    let mut slow: BTreeMap<String, Vec<SlowSpan>> = BTreeMap::new();
    let mut operating: BTreeMap<String, Gathering> = BTreeMap::new();
    traces::calls(path, |call| {
        let Some(length) = call.length.filter(|_| is_operation(call.op)) else {
            return;
        };
        let (op, kind) = kinds.kind(&call);
        let host = trace.whose.host(call.host);
        let median = median_of(kind).unwrap_or(f64::INFINITY);
        if let (Some(start), Some(host)) = (call.start, host) {
            let window = (start, start.saturating_add(length));
            match operating.get_mut(host) {
                Some(list) => list.push(window),
                None => operating.entry(host.to_owned()).or_default().push(window),
            }
            if is_slow(length as f64, median) {
                slow.entry(host.to_owned()).or_default().push(SlowSpan {
                    window,
                    micros: length as f64 / 1e3,
                    usual: median / 1e3,
                    ranks: 1.0,
                    pair: !is_collective(call.op),
                });
            }
        }
        let asked = match limit {
            SlowLimit::Milliseconds(ms) => length as f64 > ms * 1e6,
            SlowLimit::TimesMedian(times) => length as f64 > times * median,
        };
        if asked && is_collective(call.op) {
            found.slow.slow += 1;
            let group = Group {
                op,
                rank: call.rank,
                length,
                start: call.start,
            };
            let calls = groups
                .entry(group)
                .or_insert_with(|| (0, host.unwrap_or_default().to_owned()));
            calls.0 += 1;
        }
    })?;
    for (group, (calls, host)) in groups {
        // The file's own retransmits, as a join within it takes; another trace of the host stands in where it has none.
        let own: usize = trace.retransmits.values().map(Vec::len).sum();
        let window = group.start.map(|s| (s, s.saturating_add(group.length)));
        let in_window = match window {
            None => 0,
            Some(window) if own > 0 => trace
                .retransmits
                .values()
                .map(|list| within(list, window).len())
                .sum(),
            Some(window) => within(all.retransmits(&host), window).len(),
        };
        if let Some(window) = window {
            let list = found.asked.entry(host.clone()).or_default();
            list.extend(std::iter::repeat_n(
                window,
                usize::try_from(calls).unwrap_or(1),
            ));
        }
        found.slow.rows.push(SlowCall {
            host,
            source_file: trace.whose.path.clone(),
            op: kinds.ops.items()[group.op as usize].clone(),
            rank: group.rank,
            timestamp_ns: group.start,
            duration_ns: group.length,
            retransmits_in_window: in_window as u64 * calls,
        });
    }
    for (host, span) in spans {
        let slow = slow.remove(&host).unwrap_or_default();
        let operating = operating.remove(&host).unwrap_or_default().finish();
        found
            .windows
            .entry(host)
            .or_insert_with(|| HostWindows::of(WindowSource::Calls))
            .add(span, slow, operating);
    }
    Ok(())
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    op: u32,
    rank: Option<i64>,
    length: i64,
    start: Option<i64>,
}

/// Retransmits of a sorted list from start to end, both included.
pub(crate) fn within(list: &[Retransmit], window: (i64, i64)) -> &[Retransmit] {
    let first = list.partition_point(|r| r.at < window.0);
    let last = list.partition_point(|r| r.at <= window.1);
    list.get(first..last).unwrap_or(&[])
}

/// Retransmits against slow windows, by host, by connection, by the address that sent.
pub(crate) fn coincidences(
    all: &HostTraces,
    asked: &BTreeMap<String, Vec<(i64, i64)>>,
    slow: &mut SlowCalls,
) {
    for host in all.hosts() {
        let list = all.retransmits(host);
        if list.is_empty() {
            continue;
        }
        let nothing = Vec::new();
        let windows = asked.get(host).unwrap_or(&nothing);
        let union = super::stretches::Stretches::of(windows.clone());
        let count = |what: String, takes: &dyn Fn(u32) -> bool| {
            let mine: Vec<Retransmit> = list
                .iter()
                .copied()
                .filter(|r| takes(r.connection))
                .collect();
            Coincidence {
                host: host.to_owned(),
                what,
                retransmits: mine.len() as u64,
                inside: mine.iter().filter(|r| union.holds(r.at)).count() as u64,
                slow_calls: windows
                    .iter()
                    .filter(|w| !within(&mine, **w).is_empty())
                    .count() as u64,
            }
        };
        slow.by_host.push(count(String::new(), &|_| true));
        let mut connections: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut addresses: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let used: std::collections::BTreeSet<u32> = list.iter().map(|r| r.connection).collect();
        for number in used {
            if let Some(name) = all.connection(number) {
                connections.entry(name).or_default().push(number);
            }
            if let Some(address) = all.source(number) {
                addresses
                    .entry(address.to_owned())
                    .or_default()
                    .push(number);
            }
        }
        let of = |named: BTreeMap<String, Vec<u32>>| -> Vec<Coincidence> {
            named
                .into_iter()
                .map(|(name, numbers)| count(name, &|c| numbers.contains(&c)))
                .collect()
        };
        slow.by_connection.extend(of(connections));
        slow.by_address.extend(of(addresses));
    }
    for list in [
        &mut slow.by_host,
        &mut slow.by_connection,
        &mut slow.by_address,
    ] {
        list.sort_by(|a, b| {
            (b.inside, b.retransmits)
                .cmp(&(a.inside, a.retransmits))
                .then_with(|| (&a.host, &a.what).cmp(&(&b.host, &b.what)))
        });
    }
}

/// Whether a call moves data; setting up and tearing down communicators takes long for its own reasons.
fn is_operation(op: Option<&str>) -> bool {
    op.is_some_and(|op| {
        let op = op.to_ascii_uppercase();
        !["COMM_", "GROUP_", "MEM_", "REDOP_", "GET_", "COMMINIT"]
            .iter()
            .any(|prefix| op.starts_with(prefix))
    })
}

/// Whether a call is a collective.
fn is_collective(op: Option<&str>) -> bool {
    is_operation(op)
        && !op.is_some_and(|op| op.eq_ignore_ascii_case("SEND") || op.eq_ignore_ascii_case("RECV"))
}

#[cfg(test)]
#[path = "slow_calls_tests.rs"]
mod tests;
