//! Who is to blame, or that nobody is.
//!
//! In order: slow links, from transfers alone; ranks that are late by themselves; ranks that are so now and then; hosts all of
//! whose ranks are late though none of these explains it; stages. Victims of one are not findings of another.

mod began;
mod behind;
mod budget;
mod carried;
mod data_quality;
mod delay;
mod fabric;
mod fellows;
mod intermittent;
mod judge;
mod late_host;
mod late_rank;
mod late_replica;
mod lateness;
mod link_words;
mod locate;
mod lost;
mod nccl_tests;
mod pace;
mod persistence;
mod pictures;
mod pipeline;
mod residue;
pub(crate) mod retransmit_words;
mod slow_link;
mod stage;
mod transfer;
mod usual;
mod verdicts;
mod waits;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet};

use nccl_report_ingest::Inputs;

use crate::facts::{CollectiveTimeline, Finding, FindingKind, HeatMap, Scope, TimeBudget};
use crate::host::retransmit::Retransmits;
use crate::host::{Suspect, SuspectOf};
use crate::measured::Measured;
use delay::Delay;
use late_rank::LateRank;
use lateness::Quantity;
use pictures::Scene;
use pipeline::Replicas;
use transfer::Unit;
use waits::Waits;

/// What was found.
pub(crate) struct Causes {
    pub(crate) findings: Vec<Finding>,
    pub(crate) budget: Option<TimeBudget>,
    pub(crate) heat_maps: Vec<HeatMap>,
    pub(crate) timelines: Vec<CollectiveTimeline>,
    /// Late ranks and hosts, in the order of their findings: whose traces may say why.
    pub(crate) suspects: Vec<Suspect>,
}

/// A network that is slow for a time is no cause of its own where retransmits of hosts explain at least this part of what it costs.
const MOST_OF_A_LOSS: f64 = 0.5;

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
    let slow: Vec<&Unit> = links
        .iter()
        .flat_map(|l| &l.units)
        .map(|&u| &units[u])
        .collect();
    let delay = Delay::of(m, &slow);
    let replicas = Replicas::of(m);
    let waits = Waits::of(m);
    let brought = (&delay, &waits);
    let mut late = late_rank::late_ranks(m, &places, &owns, &spanning, &replicas, brought);
    // Delayed by a slow link. A pair that is slow holds up the whole replica.
    let by_links: BTreeSet<usize> = links
        .iter()
        .filter(|l| l.scope != Scope::Fabric)
        .flat_map(|l| &l.units)
        .flat_map(|&u| units[u].processes.iter().copied())
        .flat_map(|p| replicas.fellows(p).chain([p]))
        .collect();
    behind::drop_victims_of_pauses(
        m, &places, &spanning, &replicas, &by_links, brought, &mut late,
    );
    let mut hosts = late_host::gather_ranks(m, &mut late);
    // Late all the time, on a late host, or delayed by a slow link: what they do now and then is explained.
    // What reaches the others of its replica is, too; what a late rank does besides may cost more.
    let mut late_processes: BTreeSet<usize> = late
        .iter()
        .flat_map(|l| l.among.iter().copied().chain(replicas.fellows(l.process)))
        .collect();
    late_processes.extend(
        (0..m.topology.processes.len())
            .filter(|&p| hosts.iter().any(|h| h.host == m.topology.processes[p].host)),
    );
    late_processes.extend(by_links);
    let mut intermittent =
        intermittent::intermittents(m, &places, &spanning, &replicas, &late_processes, brought);
    intermittent.retain(|i| i.costs_more(m, &late));
    late.retain(|l| !intermittent.iter().any(|i| i.process == l.process));
    // Late in each step, where only a few operations of a step meet it.
    let (always, mut intermittent): (Vec<_>, Vec<_>) =
        intermittent.into_iter().partition(|i| i.always);
    late.extend(always.iter().map(|i| LateRank::of_pauses(m, i)));
    residue::mark(&places, &spanning, &late, &mut intermittent);
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
    let culprits = late.iter().flat_map(LateRank::suspects);
    let culprits = culprits.chain(intermittent.iter().map(|i| i.process));
    explained.extend(carried::carried_along(m, &places, &replicas, culprits));
    hosts.extend(late_host::late_hosts(
        m, &raw, &spanning, &explained, &late, &delay,
    ));

    let mut told: Vec<Told> = Vec::new();
    told.extend(late.iter().map(|l| {
        let place = (l.comm, l.member);
        Told {
            finding: verdicts::late_rank(m, l),
            comms: l.comms.clone(),
            passed_on: BTreeMap::new(),
            scene: Some(Scene::of_rank(place, l.micros_late, Some(&l.standout))),
        }
    }));
    told.extend(intermittent.iter().map(|i| {
        let place = (i.comm, i.member);
        Told {
            finding: verdicts::intermittent(m, i),
            comms: BTreeSet::from([i.comm]),
            passed_on: BTreeMap::new(),
            scene: Some(Scene::of_pauses(place, i.typical_micros, i.events)),
        }
    }));
    told.extend(hosts.iter().map(|h| Told {
        finding: verdicts::late_host(m, h),
        comms: h.comms.clone(),
        passed_on: BTreeMap::new(),
        scene: Some(Scene::of_host(
            m,
            &h.host,
            &h.comms,
            h.micros_late,
            &h.standout,
        )),
    }));
    // Retransmits on one host slow down whoever talks with it, which looks like the whole fabric; a few close together, like a card of that
    // host or its peers at that time.
    let by_retransmits: f64 = retransmits.iter().map(|r| r.time_lost).sum();
    let meets = |&u: &usize| {
        let mut hosts = units[u].processes.iter();
        hosts.any(|&p| (retransmits.iter()).any(|r| r.host == m.topology.processes[p].host))
    };
    let explained = |l: &slow_link::SlowLink| {
        let for_a_time = !l.standout.whole && l.scope != Scope::Nvlink;
        (l.scope == Scope::Fabric || (for_a_time && l.units.iter().all(meets)))
            && by_retransmits >= MOST_OF_A_LOSS * l.time_lost
    };
    told.extend(links.iter().filter(|l| !explained(l)).map(|l| {
        let slow: Vec<&Unit> = l.units.iter().map(|&u| &units[u]).collect();
        let window = l.standout.start..l.standout.end;
        let passed_on = budget::passed_on(m, &slow, &window);
        let mut finding = verdicts::slow_link(m, &units, l);
        // The budget lays it to the link as well, as far as there was such waiting; the impact is of the transfers alone.
        let elsewhere: f64 = passed_on.values().sum();
        if elsewhere > 0.0 {
            let micros = verdicts::rounded(elsewhere);
            finding
                .evidence
                .insert("waited_elsewhere_us".into(), micros);
        }
        Told {
            finding,
            comms: slow.iter().map(|u| u.comm).collect(),
            passed_on,
            scene: None,
        }
    }));
    let imbalance = stage::imbalance(m);
    told.extend(imbalance.iter().map(|s| Told {
        finding: verdicts::stage(m, s),
        comms: s.comms.clone(),
        passed_on: BTreeMap::new(),
        scene: None,
    }));
    told.extend(retransmits.iter().map(|r| Told {
        finding: retransmit_words::finding(m, r, call_micros),
        comms: BTreeSet::new(),
        passed_on: BTreeMap::new(),
        scene: None,
    }));
    began::weigh(m, &mut told);
    told.sort_by(|a, b| {
        let share = |t: &Told| t.finding.impact.share_of_collective_time;
        share(b)
            .total_cmp(&share(a))
            .then_with(|| a.finding.id.cmp(&b.finding.id))
    });
    let suspects = suspects(&told, &late, &intermittent, &hosts);
    let budget = budget::budget(m, &told, &spanning);
    let timelines = pictures::timelines(m, &told);
    let heat_maps = pictures::heat_maps(m, &owns, &units, &told);
    let mut findings: Vec<Finding> = told.into_iter().map(|t| t.finding).collect();
    findings.extend(data_quality::findings(m, inputs));
    Causes {
        findings,
        budget,
        heat_maps,
        timelines,
        suspects,
    }
}

/// A finding, and where it shows.
struct Told {
    finding: Finding,
    /// Communicators in which time is lost to it; empty where it isn't known in which.
    comms: BTreeSet<usize>,
    /// Time that others wait elsewhere for those whom it delays, where `comms` don't cover that, by communicator, µs.
    passed_on: BTreeMap<usize, f64>,
    /// For a rank or host that is late, what shows it.
    scene: Option<Scene>,
}

/// Who is accused of being late, in the order of the findings.
fn suspects(
    told: &[Told],
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
    told.iter()
        .filter_map(|t| {
            let finding = &t.finding;
            let of = match finding.kind {
                FindingKind::LateRank | FindingKind::IntermittentLateRank => {
                    let &(comm, member) = t.scene.as_ref()?.places.first()?;
                    SuspectOf::Rank {
                        process: *processes.get(&(comm, member))?,
                        comm,
                        member,
                    }
                }
                FindingKind::LateHost => {
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
