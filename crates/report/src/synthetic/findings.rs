//! Findings of several kinds: about the job's speed, and about the data.

use nccl_report_analyze::facts::{Finding, FindingKind, Impact, Scope, Severity, Subject, Window};
use nccl_report_analyze::units::{ExecTime, Timestamp};
use serde_json::{Map, Value, json};

use super::{MINUTE, START, communicator_id};

fn rank(host: &str, pid: i64, local: u32, global: u32) -> Subject {
    Subject {
        host: host.to_owned(),
        pid: Some(pid),
        local_rank: Some(local),
        global_rank: Some(global),
    }
}

fn host(name: &str) -> Subject {
    Subject {
        host: name.to_owned(),
        pid: None,
        local_rank: None,
        global_rank: None,
    }
}

fn evidence(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn impact(time_lost_us: f64, share: f64) -> Impact {
    Impact {
        time_lost: ExecTime::from_micros(time_lost_us),
        share_of_collective_time: share,
    }
}

/// Seven findings, by impact.
#[must_use]
pub fn findings() -> Vec<Finding> {
    let mut findings = performance();
    findings.extend(data_quality());
    findings
}

fn performance() -> Vec<Finding> {
    vec![
        Finding {
            id: "late_rank:gpu-002/4705/5".into(),
            kind: FindingKind::LateRank,
            severity: Severity::Critical,
            confidence: 0.97,
            summary: "Global rank 13 (gpu-002, local rank 5) arrives last at 94.1 % of its collectives, 1.21 ms after the \
                      second last in the median; the other 31 ranks wait for it."
                .into(),
            advice: "Look at the GPU's clocks and temperature on gpu-002 (nvidia-smi -q -d PERFORMANCE, local GPU 5) and at \
                     what else runs there. If the job can be restarted, exclude the host and see whether the lateness stays."
                .into(),
            subjects: vec![rank("gpu-002", 4_705, 5, 13)],
            candidates_only: false,
            scope: None,
            communicators: vec![communicator_id(1), communicator_id(9)],
            window: None,
            impact: impact(6.4e8, 0.16),
            evidence: evidence(json!({
                "collectives": 2_377,
                "collectives_late": 2_237,
                "late_share": 0.941_1,
                "gap_to_second_us": {"p50": 1_210.0, "p95": 1_402.5},
                "peers_gap_us": 3.1,
                "by_operation": [
                    {"operation": "AllReduce", "late_share": 0.95, "gap_us": 1_214.0},
                    {"operation": "AllGather", "late_share": 0.93, "gap_us": 1_190.0}
                ],
            })),
        },
        Finding {
            id: "slow_link:fabric/1".into(),
            kind: FindingKind::SlowLink,
            severity: Severity::Warning,
            confidence: 0.81,
            summary: "For 6 minutes every network transfer ran at 61 % of its usual bandwidth; transfers inside the nodes did not."
                .into(),
            advice: "Ask the network's operators about that time; look for another job that started then.".into(),
            subjects: vec![host("gpu-001"), host("gpu-002"), host("gpu-003"), host("gpu-004")],
            candidates_only: false,
            scope: Some(Scope::Fabric),
            communicators: (4..13).map(communicator_id).collect(),
            window: Some(Window {
                start: Timestamp::from_unix_micros(START + 18 * MINUTE),
                end: Timestamp::from_unix_micros(START + 24 * MINUTE),
            }),
            impact: impact(2.0e8, 0.05),
            evidence: evidence(json!({"link_busbw_gbs": 14.1, "usual_busbw_gbs": 23.1, "ratio": 0.61})),
        },
        Finding {
            id: "slow_link:nic/gpu-003".into(),
            kind: FindingKind::SlowLink,
            severity: Severity::Warning,
            confidence: 0.62,
            summary: "Pipeline transfers between gpu-001 and gpu-003 run at 11.9 GB/s where other pairs have 23.1 GB/s; it is the \
                      network card of one of the two ranks."
                .into(),
            advice: "Compare the link state and error counters of both cards (ibstat, ethtool -S).".into(),
            subjects: vec![rank("gpu-001", 4_705, 5, 5), rank("gpu-003", 4_705, 5, 21)],
            candidates_only: true,
            scope: Some(Scope::Nic),
            communicators: vec![communicator_id(13)],
            window: None,
            impact: impact(1.0e8, 0.025),
            evidence: evidence(json!({"link_gbs": 11.9, "peers_gbs": 23.1, "message_bytes": 33_554_432, "pairs": 23})),
        },
    ]
}

fn data_quality() -> Vec<Finding> {
    let about_data = |id: &str, kind, severity, summary: &str, advice: &str| Finding {
        id: id.into(),
        kind,
        severity,
        confidence: 1.0,
        summary: summary.into(),
        advice: advice.into(),
        subjects: Vec::new(),
        candidates_only: false,
        scope: None,
        communicators: Vec::new(),
        window: None,
        impact: impact(0.0, 0.0),
        evidence: Map::new(),
    };
    vec![
        Finding {
            subjects: vec![rank("gpu-004", 4_703, 3, 27)],
            ..about_data(
                "lost_records:gpu-004/4703/3",
                FindingKind::LostRecords,
                Severity::Warning,
                "The plugin admits 1,001 dropped records: the ring was overwritten between two dumps.",
                "Raise NCCL_INSPECTOR_DUMP_COLL_RING_SIZE or shorten NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS.",
            )
        },
        about_data(
            "unreadable_input",
            FindingKind::UnreadableInput,
            Severity::Info,
            "33 of 1,054,243 lines could not be read.",
            "Nothing to do: they cost only themselves. The account of the input lists the first of them.",
        ),
    ]
}
