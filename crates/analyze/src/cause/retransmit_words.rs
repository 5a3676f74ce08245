//! Retransmits that slow collectives down, put into a finding.

use serde_json::json;

use super::verdicts::{confidence, evidence, id_of, impact, rounded, severity};
use super::words;
use crate::facts::{Finding, FindingKind, Severity, Subject, WindowSource};
use crate::host::retransmit::{Blame, Retransmits};
use crate::measured::Measured;

/// A finding of less confidence warns at most, however much time it lays to a host. It stands for a chance of coincidence of one in half
/// a million; findings begin at one in a thousand, which a cluster with many jobs reaches by coincidence now and then.
const SURE_ENOUGH: f64 = 0.8;

/// Connections listed.
const MOST_CONNECTIONS: usize = 4;

/// Where to look on a host that loses segments.
const LOOK: &str = "the interface's drops and errors (ethtool -S, ip -s link), receive buffers, the cable and the switch port";

/// The hosts that a finding is about.
fn subjects(r: &Retransmits) -> Vec<Subject> {
    r.hosts().into_iter().map(words::host).collect()
}

/// The id of the finding.
pub(crate) fn id(r: &Retransmits) -> String {
    id_of(FindingKind::TcpRetransmits, &subjects(r), "")
}

/// Who loses segments, in the words that a summary begins with, and what to do.
fn who(r: &Retransmits) -> (String, String) {
    let host = &r.host;
    let rdma = "or move NCCL to RDMA (NCCL_IB_HCA).";
    match &r.blame {
        Blame::Sender => (
            format!("TCP retransmits of host {host}"),
            format!(
                "NCCL runs over TCP on {host} and loses packets: look at {LOOK} and congestion, and at the receiver's side of the connection; {rdma}"
            ),
        ),
        Blame::Receiver { senders } => (
            format!(
                "TCP segments to host {host} are lost, and {} send them again",
                words::list(senders)
            ),
            if r.connections.is_empty() {
                format!(
                    "What several hosts send to {host} holds retransmits and what these send to others doesn't, so look there first: {LOOK}; {rdma}"
                )
            } else {
                format!(
                    "Several hosts send again to {host} and hardly to others, so look there first: {LOOK}; {rdma}"
                )
            },
        ),
        Blame::Either { receiver } => (
            format!("TCP retransmits of host {host}, or lost segments to host {receiver}"),
            if r.connections.is_empty() {
                format!(
                    "What third hosts send to {receiver} holds retransmits as well, too few to tell whose side it is. On both look at {LOOK}; {rdma}"
                )
            } else {
                format!(
                    "{host} sends most of them again to {receiver}; what others send there doesn't tell whose side it is, or nobody else sends there at the time. On both look at {LOOK}; {rdma}"
                )
            },
        ),
        Blame::Open { senders, others } => (
            format!("TCP retransmits of {}", words::list(senders)),
            format!(
                "The traces hold no addresses: who sends again may lose segments, or the host that is sent to{}. Traces with addresses would tell (tcp_events, or an agent that records them). Look at {LOOK} on each; {rdma}",
                match others.as_slice() {
                    [one] => format!(", such as {one}, which sends none again"),
                    _ => String::new(),
                }
            ),
        ),
    }
}

/// A host whose retransmits slow collectives down. Without dumps the loss is a part of the time in calls.
pub(crate) fn finding(m: &Measured, r: &Retransmits, call_micros: f64) -> Finding {
    let mut impact = impact(m, r.time_lost);
    if m.total_micros() <= 0.0 && call_micros > 0.0 {
        impact.share_of_collective_time = (r.time_lost / call_micros).clamp(0.0, 1.0);
    }
    let coarse = r.source == WindowSource::Dumps;
    let to = match r.connections.as_slice() {
        [] => String::new(),
        [(one, _)] => format!("; all on the connection {one}"),
        [(most, n), ..] => format!("; {n} of them on {most}"),
    };
    let (summary, advice) = who(r);
    let open = r.is_open();
    let sure = confidence(-r.chance.max(1e-300).log10(), 3.0, r.hosts().len());
    let connections = r.connections.iter().take(MOST_CONNECTIONS);
    Finding {
        id: id(r),
        kind: FindingKind::TcpRetransmits,
        // Where it is left open who it is, nobody is accused.
        severity: match severity(&impact) {
            _ if open => Severity::Info,
            Severity::Critical if sure < SURE_ENOUGH => Severity::Warning,
            other => other,
        },
        confidence: sure,
        summary: format!(
            "{summary}: {} of {} retransmits fall into slow operations{} ({} a second there, {} elsewhere){to}; {} took {}, where {} is usual.",
            words::count(r.inside.0),
            words::count(r.inside.1),
            if coarse {
                ", as far as the dumps tell when these ran"
            } else {
                ""
            },
            words::three(r.rates.0),
            words::three(r.rates.1),
            words::counted(r.operations, "operation with one", "operations with one"),
            words::duration(r.micros.0),
            words::duration(r.micros.1),
        ),
        advice,
        subjects: subjects(r),
        candidates_only: open,
        scope: None,
        communicators: Vec::new(),
        window: None,
        impact,
        evidence: evidence(vec![
            ("retransmits_in_slow_operations", json!(r.inside.0)),
            ("retransmits", json!(r.inside.1)),
            (
                "retransmits_a_second_in_slow_operations",
                rounded(r.rates.0),
            ),
            ("retransmits_a_second_elsewhere", rounded(r.rates.1)),
            ("retransmits_beyond_the_expected", rounded(r.beyond)),
            ("operations_with_a_retransmit", json!(r.operations)),
            ("typical_slow_us", rounded(r.micros.0)),
            ("typical_us", rounded(r.micros.1)),
            ("chance_of_coincidence", json!(r.chance)),
            ("slow_operations_from", json!(r.source.as_str())),
            (
                "connections",
                json!(connections.map(|c| &c.0).collect::<Vec<_>>()),
            ),
        ]),
    }
}
