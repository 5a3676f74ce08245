//! A small job for tests.

use std::collections::BTreeMap;

use nccl_report_analyze::facts::{
    BudgetPart, CommClass, Communicator, Dialect, Distribution, Finding, FindingKind, Group,
    GroupKey, Impact, Job, KnownBy, Loss, Member, Overview, ProcessId, Run, Severity, SlowCalls,
    TimeBudget, TimeCause, TimingSource, TraceFile, TraceHost, Traces,
};
use nccl_report_ingest::Inputs;
use nccl_report_ingest::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};

/// Traces of two hosts, and no dump.
pub fn traces_alone() -> Job {
    let job = job();
    let host = |name: &str, calls, retransmits| TraceHost {
        host: name.to_owned(),
        in_dumps: false,
        events: 0,
        events_counted: None,
        calls,
        retransmits,
        clock_ahead: None,
    };
    let file = |name: &str| TraceFile {
        path: format!("{name}.db"),
        hosts: vec![name.to_owned()],
        known_by: KnownBy::Name,
        span: job.overview.span,
        rows: 620,
    };
    Job {
        inputs: Inputs {
            files: 2,
            bytes: 3 << 20,
            records: BTreeMap::from([
                ("nccl_call".to_owned(), 1_200),
                ("tcp_retransmit".to_owned(), 41),
            ]),
            ..Inputs::default()
        },
        overview: Overview {
            hosts: Vec::new(),
            ranks: 0,
            ranks_expected: None,
            span: None,
            dialects: Vec::new(),
            complete: None,
            ..job.overview.clone()
        },
        traces: Some(Traces {
            files: vec![file("gpu-001"), file("gpu-002")],
            hosts: vec![host("gpu-001", 600, 1), host("gpu-002", 600, 40)],
            slow: SlowCalls {
                slow: 3,
                ..SlowCalls::default()
            },
            notes: vec!["There is no Inspector dump beside the traces.".to_owned()],
            ..Traces::default()
        }),
        ..job
    }
}

/// Two hosts of eight ranks, three groups, nothing wrong.
pub fn job() -> Job {
    let start = Timestamp::from_unix_micros(1_767_323_045_000_000);
    let end = Timestamp::from_unix_micros(1_767_323_648_000_000);
    let hosts = vec!["gpu-001".to_owned(), "gpu-002".to_owned()];
    Job {
        inputs: Inputs {
            files: 16,
            bytes: 3 << 20,
            lines: 2_500_000,
            records: BTreeMap::from([("collective".to_owned(), 2_500_000)]),
            ..Inputs::default()
        },
        overview: Overview {
            title: "job42".to_owned(),
            hosts: hosts.clone(),
            ranks: 16,
            ranks_expected: Some(16),
            span: Some((start, end)),
            dialects: vec![Dialect {
                version: "v4.0".to_owned(),
                git_revs: Vec::new(),
                records: 2_500_000,
            }],
            timing: TimingSource::KernelGpu,
            records_other_timing: 0,
            dump_interval: None,
            sampled: false,
            time: ExecTime::from_micros(1e9),
            bytes: 1 << 40,
            complete: Some(0.9996),
            bandwidth_mismatches: 0,
        },
        runs: vec![Run {
            start,
            end,
            ranks: 16,
            hosts,
        }],
        processes: Vec::new(),
        communicators: vec![communicator(start, end)],
        families: Vec::new(),
        groups: vec![
            group(
                CommClass::NvlinkOnly,
                "ReduceScatter",
                8 << 10,
                (8, 1),
                0.061,
            ),
            group(CommClass::HcaOnly, "AllReduce", 128 << 20, (2, 2), 0.139),
            group(CommClass::Mixed, "AllReduce", 1 << 30, (16, 2), 0.8),
        ],
        slices: Vec::new(),
        pairs: Vec::new(),
        shares: Vec::new(),
        budget: Some(TimeBudget {
            total: ExecTime::from_micros(1e9),
            waiting: ExecTime::from_micros(3.88e8),
            parts: vec![
                part(TimeCause::Transfer, 6.12e8),
                part(TimeCause::OrdinarySpread, 3.88e8),
            ],
        }),
        findings: Vec::new(),
        scatters: Vec::new(),
        histograms: Vec::new(),
        heat_maps: Vec::new(),
        pair_matrices: Vec::new(),
        timelines: Vec::new(),
        traces: None,
    }
}

fn part(cause: TimeCause, micros: f64) -> BudgetPart {
    BudgetPart {
        cause,
        finding: None,
        time: ExecTime::from_micros(micros),
    }
}

/// A finding in the words of its kind.
pub fn finding(kind: FindingKind, severity: Severity) -> Finding {
    Finding {
        id: kind.as_str().to_owned(),
        kind,
        severity,
        confidence: 0.9,
        summary: "Rank 5 (gpu-002, pid 4711) arrives late at 98 % of its collectives and makes \
                  the others wait 900 µs each time."
            .to_owned(),
        advice: "Look at the clocks and the temperature of GPU 5 of gpu-002.".to_owned(),
        subjects: Vec::new(),
        candidates_only: false,
        scope: None,
        communicators: Vec::new(),
        window: None,
        impact: Impact {
            time_lost: ExecTime::from_micros(0.0),
            share_of_collective_time: 0.0,
        },
        evidence: serde_json::Map::new(),
    }
}

fn communicator(start: Timestamp, end: Timestamp) -> Communicator {
    Communicator {
        id: "0xabc".to_owned(),
        name: None,
        class: CommClass::Mixed,
        n_ranks: 16,
        nnodes: 2,
        members: vec![Member {
            rank: 0,
            process: ProcessId(0),
        }],
        family: 0,
        run: 0,
        collectives: 10_000,
        collectives_complete: 9_996,
        p2p_records: 0,
        loss: Loss {
            dropped: Some(120),
            numbers_unseen: 0,
            records_unmatched: 4,
        },
        time: ExecTime::from_micros(1e9),
        first_dump: start,
        last_dump: end,
    }
}

fn group(
    class: CommClass,
    operation: &str,
    size: u64,
    (n_ranks, nnodes): (u32, u32),
    share_of_time: f64,
) -> Group {
    Group {
        key: GroupKey {
            class,
            operation: operation.to_owned(),
            size: MessageSize::from_bytes(size),
            n_ranks,
            nnodes,
        },
        p2p: false,
        communicators: 1,
        collectives: 1_234_567,
        records: 10_000_000,
        busbw: all(BusBandwidth::from_gb_per_s(40.0)),
        exec_time: all(ExecTime::from_micros(100.0)),
        link_busbw: Some(all(BusBandwidth::from_gb_per_s(371.2))),
        felt_busbw: Some(all(BusBandwidth::from_gb_per_s(45.04))),
        time: ExecTime::from_micros(1e9 * share_of_time),
        share_of_time,
        latency_bound: size < 64 << 10,
    }
}

fn all<T: Copy>(value: T) -> Distribution<T> {
    Distribution {
        count: 1,
        min: value,
        p5: value,
        p25: value,
        p50: value,
        mean: value,
        p75: value,
        p95: value,
        p99: value,
        max: value,
        whisker_low: value,
        whisker_high: value,
        outliers: 0,
        exact: true,
    }
}
