//! Causes put into findings: a sentence, what to do, the numbers behind it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::intermittent::{Intermittent, SURE_CHANCE};
use super::late_host::LateHost;
use super::late_rank::LateRank;
use super::link_words::Told;
use super::pace;
use super::slow_link::SlowLink;
use super::stage::Imbalance;
use super::transfer::Unit;
use super::words;
use crate::facts::{Finding, FindingKind, Impact, Scope, Severity, Subject};
use crate::measured::Measured;
use crate::units::ExecTime;

/// Under so many times the noise a late rank is told, and nobody is woken for it.
const SURE: f64 = 10.0;

/// Causes that cost at least this share of the job's communication time are warnings.
const WARNING: f64 = 0.002;

/// Causes that cost at least this share are critical.
const CRITICAL: f64 = 0.10;

/// A rank that costs its communicator less than this share of its time is worth knowing, not an alarm: with ordinary jitter
/// a rank that does a little more on its CPU reaches half of it.
const LOCAL_WARNING: f64 = 0.08;

pub(super) fn impact(m: &Measured, lost: f64) -> Impact {
    let total = m.total_micros();
    let share = if total > 0.0 {
        (lost / total).clamp(0.0, 1.0)
    } else {
        0.0
    };
    Impact {
        time_lost: ExecTime::from_micros(lost),
        share_of_collective_time: share,
    }
}

pub(super) fn severity(i: &Impact) -> Severity {
    match i.share_of_collective_time {
        s if s >= CRITICAL => Severity::Critical,
        s if s >= WARNING => Severity::Warning,
        _ => Severity::Info,
    }
}

/// Evidence grows with the distance from the noise; some doubt always remains, more where records are few or candidates many.
pub(super) fn confidence(z: f64, least: f64, candidates: usize) -> f64 {
    let sure = 1.0 - 0.5 * (-(z / least - 1.0)).exp().min(1.0);
    let sure = if candidates > 1 { sure * 0.9 } else { sure };
    // To whole per cent, and never a hundred.
    ((sure * 100.0).round() / 100.0).min(0.99)
}

fn ids(m: &Measured, comms: &BTreeSet<usize>) -> Vec<String> {
    comms
        .iter()
        .map(|&c| m.topology.comms[c].id.clone())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

pub(super) fn evidence(pairs: Vec<(&str, Value)>) -> Map<String, Value> {
    pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

pub(super) fn rounded(v: f64) -> Value {
    json!((v * 1e3).round() / 1e3)
}

pub(super) fn id_of(kind: FindingKind, subjects: &[Subject], extra: &str) -> String {
    let who: Vec<String> = subjects
        .iter()
        .map(|s| match (s.pid, s.local_rank) {
            (Some(pid), Some(local)) => format!("{}/{pid}/{local}", s.host),
            _ => s.host.clone(),
        })
        .collect();
    let who = if who.len() > 4 {
        format!("{}+{}", who[..3].join(","), who.len() - 3)
    } else {
        who.join(",")
    };
    if extra.is_empty() {
        format!("{}:{who}", kind.as_str())
    } else {
        format!("{}:{who}:{extra}", kind.as_str())
    }
}

/// A rank that is late by itself.
pub(crate) fn late_rank(m: &Measured, l: &LateRank) -> Finding {
    let window = words::window(m, &l.standout);
    let impact = impact(m, l.time_lost);
    let subject = words::subject(m, l.process);
    let others: Vec<f64> = (0..m.topology.comms[l.comm].members.len())
        .filter(|&i| i != l.member)
        .filter_map(|i| {
            let (sum, n) = m.traces[l.comm].member(i)[l.standout.start..l.standout.end]
                .iter()
                .fold((0.0, 0.0), |a, b| (a.0 + b.lateness, a.1 + b.operations));
            (n > 0.0).then(|| sum / n)
        })
        .collect();
    let next = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let names =
        |of: &BTreeSet<usize>| -> Vec<String> { of.iter().map(|&p| words::rank(m, p)).collect() };
    let alike = match l.alike.len() {
        0 => String::new(),
        _ => format!(
            " As late: {}. If they belong to one pipeline it began with one of them; these dumps hold no Send and Recv to tell which.",
            words::list(&names(&l.alike)),
        ),
    };
    let subjects: Vec<Subject> = l.suspects().map(|p| words::subject(m, p)).collect();
    let candidates = subjects.len() > 1;
    let (who, whose) = if candidates {
        let who = format!("the pipeline of {}", words::list(&names(&l.among)));
        (
            who,
            " Which of these ranks delays it, their waiting in Send and Recv doesn't tell.",
        )
    } else {
        (words::rank(m, l.process), "")
    };
    Finding {
        id: id_of(FindingKind::LateRank, &subjects, ""),
        kind: FindingKind::LateRank,
        severity: if l.local_share < LOCAL_WARNING
            || l.standout.z < SURE
            || !l.alike.is_empty()
            || candidates
            || words::unsure_place(m, l.comm, l.process)
        {
            Severity::Info
        } else {
            severity(&impact)
        },
        confidence: confidence(l.standout.z, 8.0, subjects.len()),
        summary: format!(
            "{} arrives {} late at its collectives{}: {} of {} wait{} for it, and {} of the job's communication time is lost.{alike}{whose}",
            words::capital(&who),
            words::duration(l.micros_late),
            words::when(m, window),
            the_others(others.len()),
            words::comm(m, l.comm),
            if others.len() == 1 { "s" } else { "" },
            words::percent(impact.share_of_collective_time),
        ),
        advice: if candidates {
            "Look at the GPU of each of these ranks: nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE for throttling, dmesg for Xid and ECC errors. A short run of the same computing on each of these hosts alone tells whose it is.".to_owned()
        } else {
            format!(
                "On {0}, look at the GPU of local rank {1} (as a rule GPU {1}): nvidia-smi -i {1} -q -d CLOCK,PERFORMANCE,TEMPERATURE for throttling, dmesg for Xid and ECC errors; then at other work on its GPU or CPU cores, and at its share of the input. If it stays, drain {0}.",
                words::name(&subject.host),
                subject.local_rank.unwrap_or(0),
            )
        },
        subjects,
        candidates_only: candidates,
        scope: None,
        communicators: ids(m, &l.comms),
        window,
        impact,
        evidence: evidence(vec![
            ("communicator", json!(m.topology.comms[l.comm].id)),
            ("communicator_name", json!(m.topology.comms[l.comm].name)),
            ("late_us_per_operation", rounded(l.micros_late)),
            (
                "next_latest_peer_us_per_operation",
                if next.is_finite() {
                    rounded(next)
                } else {
                    Value::Null
                },
            ),
            ("operations", rounded(l.operations)),
            ("times_the_noise", rounded(l.standout.z)),
            ("share_of_communicator_time_lost", rounded(l.local_share)),
        ]),
    }
}

/// A rank that is late now and then.
pub(crate) fn intermittent(m: &Measured, i: &Intermittent) -> Finding {
    let impact = impact(m, i.time_lost);
    let subject = words::subject(m, i.process);
    Finding {
        id: id_of(
            FindingKind::IntermittentLateRank,
            std::slice::from_ref(&subject),
            "",
        ),
        kind: FindingKind::IntermittentLateRank,
        severity: if i.chance > SURE_CHANCE
            || i.beside_culprit
            || words::unsure_place(m, i.comm, i.process)
        {
            Severity::Info
        } else {
            severity(&impact)
        },
        confidence: confidence(-i.chance.max(1e-300).log10(), 5.0, 1),
        summary: format!(
            "{} pauses now and then: {} late arrivals{} (typically {}) in {}, where {} would be usual for its peers; {} of the job's communication time is lost.",
            words::capital(&words::rank(m, i.process)),
            words::count(i.events as u64),
            if i.limit > 0.0 {
                format!(" of more than {}", words::duration(i.limit))
            } else {
                String::new()
            },
            words::duration(i.typical_micros),
            words::counted(i.operations as u64, "operation", "operations"),
            words::expected(i.events_of_peers),
            words::percent(impact.share_of_collective_time),
        ),
        advice: format!(
            "On {}, look for what takes the CPU or the GPU from pid {} now and then: garbage collection, a data loader that starves, checkpoints, cron jobs, other processes, page reclaim, throttling. Compare its host-side trace with a peer's at the same moments.",
            words::name(&subject.host),
            subject.pid.unwrap_or(0)
        ),
        subjects: vec![subject],
        candidates_only: false,
        scope: None,
        communicators: vec![m.topology.comms[i.comm].id.clone()],
        window: None,
        impact,
        evidence: evidence(vec![
            ("communicator", json!(m.topology.comms[i.comm].id)),
            ("communicator_name", json!(m.topology.comms[i.comm].name)),
            ("events", rounded(i.events)),
            ("events_expected_from_peers", rounded(i.events_of_peers)),
            ("events_longer_than_us", rounded(i.limit)),
            ("typical_event_us", rounded(i.typical_micros)),
            ("operations", rounded(i.operations)),
            ("chance_among_equals", json!(i.chance)),
        ]),
    }
}

/// A host all of whose ranks are late.
pub(crate) fn late_host(m: &Measured, h: &LateHost) -> Finding {
    let window = words::window(m, &h.standout);
    let impact = impact(m, h.time_lost);
    let subject = words::host(&h.host);
    let lacks = lacks_ranks(m, &h.host);
    Finding {
        id: id_of(FindingKind::LateHost, std::slice::from_ref(&subject), ""),
        kind: FindingKind::LateHost,
        severity: if lacks {
            Severity::Info
        } else {
            severity(&impact)
        },
        confidence: confidence(h.standout.z, 8.0, if lacks { 2 } else { 1 }),
        summary: format!(
            "Host {} is late as a whole: {} arrive {} late at collectives with other hosts{}; {} of the job's communication time is lost.{}",
            words::name(&h.host),
            if h.ranks.1 >= h.ranks.0 {
                format!("all its {} ranks", h.ranks.0)
            } else {
                format!("{} of its {} ranks", h.ranks.1, h.ranks.0)
            },
            words::duration(h.micros_late),
            words::when(m, window),
            words::percent(impact.share_of_collective_time),
            if lacks {
                " A rank of it left no file, and may be the one that makes the others late."
            } else {
                ""
            },
        ),
        advice: format!(
            "Look at {} as a whole, not at one GPU: CPU governor and power cap, cooling, memory pressure, a daemon or another job on its cores, its share of the input. If it stays, drain it.",
            words::name(&h.host)
        ),
        subjects: vec![subject],
        candidates_only: false,
        scope: None,
        communicators: ids(m, &h.comms),
        window,
        impact,
        evidence: evidence(vec![
            ("late_us_per_operation", rounded(h.micros_late)),
            ("ranks_late", json!(h.ranks.1)),
            ("ranks_on_host", json!(h.ranks.0)),
            ("times_the_noise", rounded(h.standout.z)),
        ]),
    }
}

/// Whether a rank of a communicator inside a host left no file: it may make all others of it late.
fn lacks_ranks(m: &Measured, host: &str) -> bool {
    m.topology.comms.iter().any(|c| {
        let mut members = c.members.iter();
        c.members.len() < c.n_ranks as usize
            && members.all(|x| m.topology.processes[x.1.0 as usize].host == host)
    })
}

/// A slow link, or links of which one is slow.
pub(crate) fn slow_link(m: &Measured, units: &[Unit], l: &SlowLink) -> Finding {
    let window = words::window(m, &l.standout);
    let impact = impact(m, l.time_lost);
    let subjects: Vec<Subject> = if l.hosts.is_empty() {
        l.processes.iter().map(|&p| words::subject(m, p)).collect()
    } else {
        l.hosts.iter().map(|h| words::host(h)).collect()
    };
    let candidates = l.scope != Scope::Fabric && subjects.len() > 1;
    let comms: BTreeSet<usize> = l.units.iter().map(|&u| units[u].comm).collect();
    let pace = pace::pace(m, units, l);
    let link = Told {
        m,
        units,
        link: l,
        candidates,
        pace: pace.as_ref(),
        window,
        share: impact.share_of_collective_time,
    };
    let extra = match l.scope {
        Scope::Fabric => "fabric".to_owned(),
        s => s.as_str().to_owned(),
    };
    Finding {
        id: id_of(
            FindingKind::SlowLink,
            if l.scope == Scope::Fabric {
                &[]
            } else {
                &subjects
            },
            &extra,
        ),
        kind: FindingKind::SlowLink,
        severity: severity(&impact),
        confidence: confidence(l.standout.z, 6.0, if candidates { 2 } else { 1 }),
        summary: link.summary(),
        advice: link.advice(),
        subjects,
        candidates_only: candidates,
        scope: Some(l.scope),
        communicators: ids(m, &comms),
        window,
        impact,
        evidence: evidence(link.evidence()),
    }
}

/// A stage that takes longer: information.
pub(crate) fn stage(m: &Measured, s: &Imbalance) -> Finding {
    let subjects: Vec<Subject> = s.processes.iter().map(|&p| words::subject(m, p)).collect();
    Finding {
        id: format!("{}:stage-{}", FindingKind::StageImbalance.as_str(), s.stage),
        kind: FindingKind::StageImbalance,
        severity: Severity::Info,
        confidence: 0.8,
        summary: format!(
            "Pipeline stage {} as a whole takes longer than its neighbours: each Send to it waits {} until it is ready, in every replica alike. The model is split unevenly; no rank is at fault.",
            s.stage,
            words::duration(s.wait_of_a_send),
        ),
        advice: "Move a layer (or the loss and the output embedding) from this stage to another, or accept it.".to_owned(),
        candidates_only: false,
        scope: None,
        communicators: ids(m, &s.comms),
        window: None,
        impact: impact(m, s.time_lost),
        evidence: evidence(vec![
            ("stage", json!(s.stage)),
            ("wait_of_a_send_us", rounded(s.wait_of_a_send)),
            ("wait_of_a_send_to_the_next_slowest_stage_us", rounded(s.elsewhere)),
        ]),
        subjects,
    }
}

/// "the other rank", "the other 7 ranks".
fn the_others(n: usize) -> String {
    match n {
        1 => "the other rank".to_owned(),
        n => format!("the other {n} ranks"),
    }
}
