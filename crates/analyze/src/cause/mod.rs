//! Who is to blame, or that nobody is.
//!
//! In order: slow links, from transfers alone; ranks that are late by themselves; ranks that are so now and then; hosts all of
//! whose ranks are late though none of these explains it; stages. Victims of one are not findings of another.

mod budget;
mod data_quality;
mod delay;
mod intermittent;
mod late_host;
mod late_rank;
mod lateness;
mod pictures;
mod pipeline;
mod slow_link;
mod stage;
mod transfer;
mod verdicts;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet};

use nccl_report_ingest::Inputs;

use crate::facts::{CollectiveTimeline, Finding, FindingKind, HeatMap, Scope, TimeBudget};
use crate::host::retransmit::Retransmits;
use crate::host::{Suspect, SuspectOf};
use crate::measured::Measured;
use delay::Delay;
use lateness::Quantity;
use pipeline::Replicas;

/// What was found.
pub(crate) struct Causes {
    pub(crate) findings: Vec<Finding>,
    pub(crate) budget: Option<TimeBudget>,
    pub(crate) heat_maps: Vec<HeatMap>,
    pub(crate) timelines: Vec<CollectiveTimeline>,
    /// Late ranks and hosts, in the order of their findings: whose traces may say why.
    pub(crate) suspects: Vec<Suspect>,
}

/// Looks for causes. `retransmits` are those that traces show; `call_micros` is the time of the calls in them, for jobs without dumps.
pub(crate) fn find(
    m: &mut Measured,
    inputs: &Inputs,
    retransmits: &[Retransmits],
    call_micros: f64,
) -> Causes {
    let spanning = stage::spanning(m);
    let places = lateness::places(m);
    let units = transfer::units(m);
    let links = slow_link::slow_links(m, &units);
    let owns = late_rank::lateness(m, &places);
    let slow: Vec<(Vec<usize>, Vec<f64>)> = links
        .iter()
        .flat_map(|l| &l.units)
        .map(|&u| &units[u])
        .filter(|u| u.pair.is_none())
        .map(|u| {
            (
                u.processes.clone(),
                u.excess
                    .iter()
                    .map(|e| e / u.processes.len() as f64)
                    .collect(),
            )
        })
        .collect();
    let delay = Delay::of(m, &slow);
    let replicas = Replicas::of(m);
    let mut late = late_rank::late_ranks(m, &places, &owns, &spanning, &replicas, &delay);
    let mut hosts = late_host::gather_ranks(m, &mut late);
    // Late all the time, on a late host, or delayed by a slow link: what they do now and then is explained.
    let mut late_processes: BTreeSet<usize> = late.iter().map(|l| l.process).collect();
    late_processes.extend(
        (0..m.topology.processes.len())
            .filter(|&p| hosts.iter().any(|h| h.host == m.topology.processes[p].host)),
    );
    late_processes.extend(
        links
            .iter()
            .filter(|l| l.scope != Scope::Fabric)
            .flat_map(|l| &l.units)
            .flat_map(|&u| units[u].processes.iter().copied()),
    );
    let intermittent =
        intermittent::intermittents(m, &places, &spanning, &replicas, &late_processes, &delay);
    let mut explained = late_host::hosts_of(m, &late);
    explained.extend(
        intermittent
            .iter()
            .map(|i| m.topology.processes[i.process].host.clone()),
    );
    for link in &links {
        for &u in &link.units {
            explained.extend(
                units[u]
                    .processes
                    .iter()
                    .map(|&p| m.topology.processes[p].host.clone()),
            );
        }
    }
    explained.extend(hosts.iter().map(|h| h.host.clone()));
    let raw = lateness::separate(m, &places, Quantity::RawLateness, &BTreeSet::new());
    hosts.extend(late_host::late_hosts(
        m, &raw, &spanning, &explained, &late, &delay,
    ));
    let budget = budget::budget(m, &units, &links);

    let mut findings: Vec<(Finding, Option<(usize, usize)>)> = Vec::new();
    findings.extend(
        late.iter()
            .map(|l| (verdicts::late_rank(m, l), Some((l.comm, l.member)))),
    );
    findings.extend(
        intermittent
            .iter()
            .map(|i| (verdicts::intermittent(m, i), Some((i.comm, i.member)))),
    );
    findings.extend(hosts.iter().map(|h| (verdicts::late_host(m, h), None)));
    findings.extend(
        links
            .iter()
            .map(|l| (verdicts::slow_link(m, &units, l), None)),
    );
    findings.extend(
        stage::imbalance(m)
            .iter()
            .map(|s| (verdicts::stage(m, s), None)),
    );
    findings.extend(
        retransmits
            .iter()
            .map(|r| (verdicts::retransmits(m, r, call_micros), None)),
    );
    findings.sort_by(|(a, _), (b, _)| {
        b.impact
            .share_of_collective_time
            .total_cmp(&a.impact.share_of_collective_time)
            .then_with(|| a.id.cmp(&b.id))
    });
    let suspects = suspects(&findings, &late, &intermittent, &hosts);
    let timelines = pictures::timelines(m, &findings);
    let heat_maps = pictures::heat_maps(m, &owns, &units);
    let mut findings: Vec<Finding> = findings.into_iter().map(|f| f.0).collect();
    findings.extend(data_quality::findings(m, inputs));
    Causes {
        findings,
        budget,
        heat_maps,
        timelines,
        suspects,
    }
}

/// Who is accused of being late, in the order of the findings.
fn suspects(
    findings: &[(Finding, Option<(usize, usize)>)],
    late: &[late_rank::LateRank],
    intermittent: &[intermittent::Intermittent],
    hosts: &[late_host::LateHost],
) -> Vec<Suspect> {
    let ranks = late
        .iter()
        .map(|l| (l.process, l.comm, l.member))
        .chain(intermittent.iter().map(|i| (i.process, i.comm, i.member)));
    let processes: BTreeMap<(usize, usize), usize> = ranks
        .map(|(process, comm, member)| ((comm, member), process))
        .collect();
    findings
        .iter()
        .filter_map(|(finding, place)| {
            let of = match (finding.kind, place) {
                (_, Some((comm, member))) => SuspectOf::Rank {
                    process: *processes.get(&(*comm, *member))?,
                    comm: *comm,
                    member: *member,
                },
                (FindingKind::LateHost, None) => {
                    let host = &finding.subjects.first()?.host;
                    let of = hosts.iter().find(|h| h.host == *host)?;
                    SuspectOf::Host {
                        host: host.clone(),
                        comms: of.comms.clone(),
                    }
                }
                _ => return None,
            };
            Some(Suspect {
                finding: finding.id.clone(),
                of,
            })
        })
        .collect()
}
