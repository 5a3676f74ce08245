//! What eBPF traces might say, hostile names included.

use nccl_report_analyze::facts::{
    Coincidence, HostCause, HostTimeline, Job, KnownBy, Lane, RetransmitsOverTime, SlowCall,
    SlowCalls, SlowLimit, TraceFile, TraceHost, Traces, WindowSource,
};
use nccl_report_analyze::units::{ExecTime, Timestamp};

const START: i64 = 1_767_225_600_000_000;

/// The ordinary job with traces of its hosts.
#[must_use]
pub fn traced() -> Job {
    let mut job = super::job();
    job.traces = Some(traces(&job.findings[0].id, "gpu-002"));
    job
}

/// Two hosts, one of a name that no host should have; a cause that is named and one that isn't.
#[must_use]
pub fn traces(finding: &str, hostile: &str) -> Traces {
    let time = ExecTime::from_micros;
    let at = |s: i64| Timestamp::from_unix_micros(START + s * 1_000_000);
    let count = |host: &str, what: &str, retransmits| Coincidence {
        host: host.to_owned(),
        what: what.to_owned(),
        retransmits,
        inside: retransmits / 2,
        slow_calls: 1,
    };
    let cause = |cause: &str, named, inside: Option<f64>| HostCause {
        finding: finding.to_owned(),
        cause: cause.to_owned(),
        host: "gpu-001".to_owned(),
        pid: Some(4711),
        windows: time(400_000.0),
        coarse: false,
        inside: inside.map(time),
        events_inside: 12,
        events: 40,
        share_inside: 0.775,
        share_outside: Some(0.01),
        share_of_peers: None,
        explains: inside.map(|_| 0.7),
        chance: Some(0.000_5),
        named,
    };
    Traces {
        files: vec![TraceFile {
            path: format!("traces/{hostile}.db"),
            hosts: vec![hostile.to_owned()],
            known_by: KnownBy::Rows,
            span: Some((at(0), at(60))),
            rows: 1234,
        }],
        hosts: vec![TraceHost {
            host: hostile.to_owned(),
            in_dumps: true,
            events: 1000,
            events_counted: None,
            calls: 200,
            retransmits: 34,
            clock_ahead: Some(time(-12.5)),
        }],
        slow: SlowCalls {
            limit: SlowLimit::Milliseconds(50.0),
            calls: 200,
            slow: 1,
            rows: vec![SlowCall {
                host: hostile.to_owned(),
                source_file: "a.db".to_owned(),
                op: "=ALL_REDUCE".to_owned(),
                rank: None,
                timestamp_ns: Some(-5),
                duration_ns: 60_000_000,
                retransmits_in_window: 3,
            }],
            omitted: 0,
            by_host: vec![count(hostile, "", 34)],
            by_connection: vec![count(hostile, "10.0.0.1 → 10.0.0.2", 34)],
            by_address: vec![count(hostile, "10.0.0.1", 34)],
            windows: WindowSource::Calls,
        },
        causes: vec![
            cause("off_cpu", true, Some(310_000.0)),
            cause("page_alloc", false, None),
        ],
        over_time: Some(RetransmitsOverTime {
            edges: vec![at(0), at(20), at(40), at(60)],
            hosts: vec!["gpu-001".to_owned(), hostile.to_owned()],
            counts: vec![0, 3, 1, 30, 0, 0],
            slow: vec![0, 1, 0],
        }),
        timelines: vec![HostTimeline {
            finding: finding.to_owned(),
            title: format!("AllReduce no. 7: 20 ms late on {hostile}"),
            host: hostile.to_owned(),
            coarse: false,
            origin: at(3),
            length: time(40_000.0),
            lanes: vec![
                Lane {
                    name: "AllReduce".to_owned(),
                    kind: "collective".to_owned(),
                    bars: vec![(time(25_000.0), time(5_000.0))],
                    omitted: 0,
                },
                Lane {
                    name: "off the CPU".to_owned(),
                    kind: "off_cpu".to_owned(),
                    bars: vec![(time(4_000.0), time(19_000.0)), (time(30_000.0), time(0.0))],
                    omitted: 2,
                },
            ],
        }],
        notes: vec![format!("Nothing tells how the clock of {hostile} stands.")],
    }
}
