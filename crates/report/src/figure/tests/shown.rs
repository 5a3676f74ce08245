//! Every finding about the job's speed leads to a drawing that shows it.

use nccl_report_analyze::facts::{
    Finding, FindingKind, HeatMap, Impact, Job, MapOf, PairSlice, ProcessId, Scope, Severity,
    Subject,
};
use nccl_report_analyze::units::{BusBandwidth, ExecTime};

use super::super::drawing::Figure;
use super::super::{all, synthetic};

fn finding(kind: FindingKind, communicators: Vec<String>) -> Finding {
    Finding {
        id: format!("{}:it", kind.as_str()),
        kind,
        severity: Severity::Warning,
        confidence: 0.9,
        summary: String::new(),
        advice: String::new(),
        subjects: vec![Subject {
            host: "gpu-000".into(),
            pid: None,
            local_rank: None,
            global_rank: None,
        }],
        candidates_only: false,
        scope: (kind == FindingKind::SlowLink).then_some(Scope::Nic),
        communicators,
        window: None,
        impact: Impact {
            time_lost: ExecTime::from_micros(1e6),
            share_of_collective_time: 0.1,
        },
        evidence: serde_json::Map::new(),
    }
}

fn map(of: MapOf, like: &HeatMap) -> HeatMap {
    HeatMap {
        of,
        title: format!("{of:?}"),
        ..like.clone()
    }
}

/// Two hosts with a finding of every kind about speed; of the pairs, those of the first communicator send messages of the matrix' size.
fn job() -> Job {
    let mut job = synthetic::job(2, 8, synthetic::plain);
    let first = job.communicators[0].id.clone();
    let second = job.communicators[1].id.clone();
    let size = job.pair_matrices[0].size;
    let times = job.groups[0].exec_time;
    job.pairs = (0..2)
        .map(|n| PairSlice {
            communicator: 0,
            source_rank: n,
            destination_rank: n + 1,
            source: Some(ProcessId(n)),
            destination: Some(ProcessId(n + 1)),
            crosses_network: Some(false),
            size,
            sends: 10,
            recvs: 10,
            bytes: 1 << 30,
            send_time: Some(times),
            recv_time: None,
            link_bandwidth: BusBandwidth::from_gb_per_s(20.0),
        })
        .collect();
    job.heat_maps = [
        MapOf::Lateness,
        MapOf::MeasuredLateness,
        MapOf::Pauses,
        MapOf::Transfer,
    ]
    .map(|of| map(of, &job.heat_maps[0]))
    .into();
    job.findings = vec![
        finding(FindingKind::LateRank, vec![first.clone()]),
        finding(FindingKind::IntermittentLateRank, vec![first.clone()]),
        finding(FindingKind::LateHost, vec![first.clone()]),
        finding(FindingKind::SlowLink, vec![first.clone(), second]),
        finding(FindingKind::StageImbalance, vec![first]),
        finding(FindingKind::TcpRetransmits, Vec::new()),
    ];
    job.timelines[0].finding = job.findings[0].id.clone();
    job
}

fn shown<'a>(figures: &'a [Figure], id: &str) -> Vec<&'a str> {
    let of = figures
        .iter()
        .filter(|f| f.findings.iter().any(|x| x == id));
    of.map(|f| f.id.as_str()).collect()
}

#[test]
fn every_finding_about_speed_has_a_drawing() {
    let job = job();
    let figures = all(&job);
    let starts = |kind: FindingKind, prefix: &str| {
        let ids = shown(&figures, &format!("{}:it", kind.as_str()));
        assert!(
            ids.iter().any(|id| id.starts_with(prefix)),
            "{kind:?}: no {prefix} among {ids:?}"
        );
    };
    starts(FindingKind::LateRank, "map-lateness");
    starts(FindingKind::LateRank, "timeline-");
    starts(FindingKind::IntermittentLateRank, "map-pauses");
    starts(FindingKind::LateHost, "map-measuredlateness");
    starts(FindingKind::SlowLink, "map-transfer");
    starts(FindingKind::SlowLink, "communicators-tp-group");
    starts(FindingKind::SlowLink, "pairs-");
    starts(FindingKind::StageImbalance, "stages-waiting");
    starts(FindingKind::TcpRetransmits, "map-transfer");
}

#[test]
fn a_finding_shows_only_where_it_can_be_seen() {
    let mut job = job();
    // Without a map of its own, lateness of any kind shows in the ordinary one.
    job.heat_maps.retain(|m| m.of == MapOf::Lateness);
    job.pairs.clear();
    let figures = all(&job);
    let host = shown(&figures, "late_host:it");
    assert_eq!(host, ["map-lateness"]);
    let link = shown(&figures, "slow_link:it");
    assert!(
        link.iter()
            .all(|id| id.starts_with("communicators-tp-group")),
        "{link:?}"
    );
    assert!(!link.is_empty());
    assert!(shown(&figures, "stage_imbalance:it").is_empty());
}

#[test]
fn the_operation_that_is_compared_is_the_one_in_which_the_link_is_slow() {
    let mut job = job();
    let family = &mut job.families[0];
    for (n, operation) in family.operations.iter_mut().enumerate() {
        operation.share_of_time = 0.1;
        let slow = if n == 2 { 10.0 } else { 99.0 };
        let bandwidths = operation.link_busbw_by_communicator.iter_mut().enumerate();
        for (c, bandwidth) in bandwidths {
            *bandwidth = Some(BusBandwidth::from_gb_per_s(if c < 2 {
                slow
            } else {
                100.0
            }));
        }
    }
    // Of three communicators two are slow.
    let index = *family.communicators.last().expect("some");
    family.communicators.extend([index, index]);
    for operation in &mut family.operations {
        let fast = Some(BusBandwidth::from_gb_per_s(100.0));
        operation.link_busbw_by_communicator.extend([fast, fast]);
    }
    job.communicators[index as usize].id = "0xother".into();
    let (operation, size) = (
        job.families[0].operations[2].operation.to_lowercase(),
        super::super::number::size(job.families[0].operations[2].size),
    );
    job.findings[3].communicators.truncate(1);
    let figures = all(&job);
    let link = shown(&figures, "slow_link:it");
    let expected = format!(
        "communicators-tp-group-{operation}-{}",
        super::super::drawing::slug(&size)
    );
    assert!(
        link.contains(&expected.as_str()),
        "{expected} not in {link:?}"
    );
    // Unless the finding tells of another.
    let told = &job.families[0].operations[4];
    let (operation, size) = (told.operation.clone(), told.size);
    let evidence = &mut job.findings[3].evidence;
    evidence.insert("operation".into(), operation.clone().into());
    evidence.insert("message_bytes".into(), size.as_bytes().into());
    let expected = format!(
        "communicators-tp-group-{}-{}",
        operation.to_lowercase(),
        super::super::drawing::slug(&super::super::number::size(size))
    );
    let figures = all(&job);
    let link = shown(&figures, "slow_link:it");
    assert!(
        link.contains(&expected.as_str()),
        "{expected} not in {link:?}"
    );
}
