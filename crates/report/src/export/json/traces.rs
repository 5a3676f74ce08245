//! The section `traces`: what eBPF traces of the hosts say.

use nccl_report_analyze::facts::{
    Coincidence, HostCause, RetransmitsOverTime, SlowCall, SlowLimit, Traces,
};
use serde::Serialize;

/// Slow collectives of each operation that this file lists; `slow_collectives.csv` has all.
const LISTED: usize = 20;
/// Connections and addresses that it lists; `retransmits.csv` has all.
const MOST: usize = 200;

#[derive(Serialize)]
pub(super) struct TracesOut<'a> {
    files: Vec<FileOut<'a>>,
    hosts: Vec<HostOut<'a>>,
    slow_collectives: SlowOut<'a>,
    retransmits: CoincidencesOut<'a>,
    host_causes: Vec<CauseOut<'a>>,
    retransmits_over_time: Option<OverTimeOut<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct FileOut<'a> {
    path: &'a str,
    hosts: &'a [String],
    known_by: &'static str,
    start_us: Option<i64>,
    end_us: Option<i64>,
    rows: u64,
}

#[derive(Serialize)]
struct HostOut<'a> {
    host: &'a str,
    in_dumps: bool,
    events: u64,
    events_counted: Option<u64>,
    nccl_calls: u64,
    retransmits: u64,
    clock_ahead_of_dumps_us: Option<f64>,
}

#[derive(Serialize)]
struct SlowOut<'a> {
    limit_ms: Option<f64>,
    limit_times_median: Option<f64>,
    windows_from: &'static str,
    calls: u64,
    slow: u64,
    omitted: u64,
    rows: Vec<SlowRow<'a>>,
}

#[derive(Serialize)]
struct SlowRow<'a> {
    op: &'a str,
    rank: Option<i64>,
    ms: f64,
    retransmits_in_window: u64,
    host: &'a str,
    timestamp_ns: Option<i64>,
    duration_ns: i64,
    source_file: &'a str,
}

#[derive(Serialize)]
struct CoincidencesOut<'a> {
    by_host: Vec<CoincidenceOut<'a>>,
    by_connection: Vec<CoincidenceOut<'a>>,
    by_address: Vec<CoincidenceOut<'a>>,
}

#[derive(Serialize)]
struct CoincidenceOut<'a> {
    host: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    retransmits: u64,
    in_slow_collectives: u64,
    slow_collectives_with_one: u64,
}

#[derive(Serialize)]
struct CauseOut<'a> {
    finding: &'a str,
    cause: &'a str,
    host: &'a str,
    pid: Option<i64>,
    named: bool,
    late_times_us: f64,
    late_times_are_coarse: bool,
    inside_us: Option<f64>,
    events_inside: u64,
    events: u64,
    rate_inside: f64,
    rate_outside: Option<f64>,
    rate_of_the_median_peer: Option<f64>,
    part_of_the_lateness: Option<f64>,
    chance_of_coincidence: Option<f64>,
}

#[derive(Serialize)]
struct OverTimeOut<'a> {
    edges_us: Vec<i64>,
    hosts: Vec<OverTimeHost<'a>>,
    slow_collectives: &'a [u64],
}

#[derive(Serialize)]
struct OverTimeHost<'a> {
    host: &'a str,
    counts: &'a [u64],
}

impl<'a> TracesOut<'a> {
    pub(super) fn of(traces: &'a Traces) -> Self {
        let slow = &traces.slow;
        let (limit_ms, limit_times_median) = match slow.limit {
            SlowLimit::Milliseconds(ms) => (Some(ms), None),
            SlowLimit::TimesMedian(times) => (None, Some(times)),
        };
        Self {
            files: traces
                .files
                .iter()
                .map(|file| FileOut {
                    path: &file.path,
                    hosts: &file.hosts,
                    known_by: file.known_by.as_str(),
                    start_us: file.span.map(|s| s.0.as_unix_micros()),
                    end_us: file.span.map(|s| s.1.as_unix_micros()),
                    rows: file.rows,
                })
                .collect(),
            hosts: traces
                .hosts
                .iter()
                .map(|host| HostOut {
                    host: &host.host,
                    in_dumps: host.in_dumps,
                    events: host.events,
                    events_counted: host.events_counted,
                    nccl_calls: host.calls,
                    retransmits: host.retransmits,
                    clock_ahead_of_dumps_us: host.clock_ahead.map(|t| t.as_micros()),
                })
                .collect(),
            slow_collectives: SlowOut {
                limit_ms,
                limit_times_median,
                windows_from: slow.windows.as_str(),
                calls: slow.calls,
                slow: slow.slow,
                omitted: slow.omitted,
                rows: listed(&slow.rows),
            },
            retransmits: CoincidencesOut {
                by_host: coincidences(&slow.by_host),
                by_connection: coincidences(&slow.by_connection),
                by_address: coincidences(&slow.by_address),
            },
            host_causes: traces.causes.iter().map(cause).collect(),
            retransmits_over_time: traces.over_time.as_ref().map(over_time),
            notes: &traces.notes,
        }
    }
}

/// The longest of each operation, in the order of all.
fn listed(rows: &[SlowCall]) -> Vec<SlowRow<'_>> {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    rows.iter()
        .filter(|row| {
            let n = counts.entry(&row.op).or_default();
            *n += 1;
            *n <= LISTED
        })
        .map(|row| SlowRow {
            op: &row.op,
            rank: row.rank,
            ms: row.duration_ns as f64 / 1e6,
            retransmits_in_window: row.retransmits_in_window,
            host: &row.host,
            timestamp_ns: row.timestamp_ns,
            duration_ns: row.duration_ns,
            source_file: &row.source_file,
        })
        .collect()
}

fn coincidences(list: &[Coincidence]) -> Vec<CoincidenceOut<'_>> {
    list.iter()
        .take(MOST)
        .map(|row| CoincidenceOut {
            host: &row.host,
            name: (!row.what.is_empty()).then_some(row.what.as_str()),
            retransmits: row.retransmits,
            in_slow_collectives: row.inside,
            slow_collectives_with_one: row.slow_calls,
        })
        .collect()
}

fn cause(of: &HostCause) -> CauseOut<'_> {
    CauseOut {
        finding: &of.finding,
        cause: &of.cause,
        host: &of.host,
        pid: of.pid,
        named: of.named,
        late_times_us: of.windows.as_micros(),
        late_times_are_coarse: of.coarse,
        inside_us: of.inside.map(|t| t.as_micros()),
        events_inside: of.events_inside,
        events: of.events,
        rate_inside: of.share_inside,
        rate_outside: of.share_outside,
        rate_of_the_median_peer: of.share_of_peers,
        part_of_the_lateness: of.explains,
        chance_of_coincidence: of.chance,
    }
}

fn over_time(of: &RetransmitsOverTime) -> OverTimeOut<'_> {
    let stretches = of.slow.len().max(1);
    OverTimeOut {
        edges_us: of.edges.iter().map(|t| t.as_unix_micros()).collect(),
        hosts: of
            .hosts
            .iter()
            .zip(of.counts.chunks(stretches))
            .map(|(host, counts)| OverTimeHost { host, counts })
            .collect(),
        slow_collectives: &of.slow,
    }
}
