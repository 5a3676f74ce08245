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
pub(crate) mod retransmit;
mod slow_link;
mod stage;
mod transfer;
mod verdicts;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use nccl_report_ingest::Inputs;
use nccl_report_ingest::ebpf::HostTrace;
use retransmit::Ran;

use crate::facts::{CollectiveTimeline, Finding, HeatMap, Scope, TimeBudget};
use crate::measured::Measured;
use delay::Delay;
use lateness::Quantity;
use pipeline::Replicas;
use transfer::Unit;

/// What was found.
pub(crate) struct Causes {
    pub(crate) findings: Vec<Finding>,
    pub(crate) budget: Option<TimeBudget>,
    pub(crate) heat_maps: Vec<HeatMap>,
    pub(crate) timelines: Vec<CollectiveTimeline>,
}

/// Looks for causes.
pub(crate) fn find(
    m: &mut Measured,
    inputs: &Inputs,
    traces: &[HostTrace],
    kernels: &BTreeMap<String, Vec<Ran>>,
) -> Causes {
    let spanning = stage::spanning(m);
    let places = lateness::places(m);
    let units = transfer::units(m);
    let links = slow_link::slow_links(m, &units);
    let owns = late_rank::lateness(m, &places);
    let slow: Vec<&Unit> = links
        .iter()
        .flat_map(|l| &l.units)
        .map(|&u| &units[u])
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
        retransmit::retransmits(m, traces, kernels)
            .iter()
            .map(|r| (verdicts::retransmits(m, r), None)),
    );
    findings.sort_by(|(a, _), (b, _)| {
        b.impact
            .share_of_collective_time
            .total_cmp(&a.impact.share_of_collective_time)
            .then_with(|| a.id.cmp(&b.id))
    });
    let timelines = pictures::timelines(m, &findings);
    let heat_maps = pictures::heat_maps(m, &owns, &units);
    let mut findings: Vec<Finding> = findings.into_iter().map(|f| f.0).collect();
    findings.extend(data_quality::findings(m, inputs));
    Causes {
        findings,
        budget,
        heat_maps,
        timelines,
    }
}
