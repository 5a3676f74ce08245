//! Communicators, processes and runs, from the endpoints that records come from.
//!
//! An id differs between jobs but isn't guaranteed to: where one rank of an id is claimed by two processes, the endpoints
//! are told apart by when they wrote (incarnations). A process that drives several GPUs holds several ranks of one
//! communicator; each is an entry of its own, told apart by the order of its ranks in the largest such communicator.

use std::collections::{BTreeMap, BTreeSet};

use super::runs;
use super::slots::{device_slots, natural};
use crate::facts::{CommClass, Process, ProcessId, Run};
use crate::records::census::Census;
use crate::records::registry::EndpointKey;
use crate::units::Timestamp;

/// A communicator: what its endpoints have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comm {
    /// Id as written.
    pub(crate) id: String,
    /// Name, if any.
    pub(crate) name: Option<String>,
    /// Size.
    pub(crate) n_ranks: u32,
    /// Nodes.
    pub(crate) nnodes: u32,
    /// Index of the run.
    pub(crate) run: u32,
    /// Rank, process and endpoint of each rank seen, by rank.
    pub(crate) members: Vec<(u32, ProcessId, u32)>,
    /// First and last stamp.
    pub(crate) seen: (i64, i64),
}

impl Comm {
    /// Its class.
    pub(crate) fn class(&self) -> CommClass {
        CommClass::of(self.n_ranks, self.nnodes)
    }
}

/// Who is who.
#[derive(Debug, Clone, Default)]
pub(crate) struct Topology {
    /// Every communicator, by run, class, name and id.
    pub(crate) comms: Vec<Comm>,
    /// Every rank, by run, global rank (where known), host, pid.
    pub(crate) processes: Vec<Process>,
    /// Every run, by start.
    pub(crate) runs: Vec<Run>,
    /// Communicator and rank index in [`Comm::members`] of each endpoint.
    pub(crate) place: Vec<(u32, u32)>,
}

/// A communicator before its members have processes.
pub(super) struct Draft {
    pub(super) endpoints: Vec<u32>,
    pub(super) seen: (i64, i64),
}

impl Topology {
    /// Resolves the endpoints of a census.
    pub(crate) fn of(census: &Census) -> Self {
        let keys = census.endpoints.items();
        let drafts = incarnations(keys, &census.seen);
        let run_of_draft = runs::assign(keys, &drafts);
        let slots = device_slots(keys, &drafts, &run_of_draft);

        // Every (run, host, pid, slot) is a process.
        let mut identities: BTreeSet<(u32, &str, i64, u32)> = BTreeSet::new();
        for (d, draft) in drafts.iter().enumerate() {
            for &e in &draft.endpoints {
                let key = &keys[e as usize];
                identities.insert((run_of_draft[d], &key.host, key.pid, slots[e as usize]));
            }
        }
        let identities: Vec<_> = identities.into_iter().collect();
        let number: BTreeMap<_, usize> = identities
            .iter()
            .enumerate()
            .map(|(i, k)| (*k, i))
            .collect();
        let of_endpoint = |d: usize, e: u32| {
            let key = &keys[e as usize];
            number[&(
                run_of_draft[d],
                key.host.as_str(),
                key.pid,
                slots[e as usize],
            )]
        };

        let global = global_ranks(
            &drafts,
            &run_of_draft,
            identities.len(),
            &identities,
            keys,
            &of_endpoint,
        );
        let mut order: Vec<usize> = (0..identities.len()).collect();
        order.sort_by_key(|&i| {
            (
                identities[i].0,
                global[i].unwrap_or(u32::MAX),
                identities[i],
            )
        });
        let mut new_number = vec![0_u32; identities.len()];
        let mut ranks_on_host: BTreeMap<(u32, &str), u32> = BTreeMap::new();
        let mut processes = Vec::with_capacity(identities.len());
        for (position, &i) in order.iter().enumerate() {
            let (run, host, pid, _) = identities[i];
            let local = ranks_on_host.entry((run, host)).or_default();
            processes.push(Process {
                host: host.to_owned(),
                pid,
                local_rank: *local,
                global_rank: global[i],
                run,
            });
            *local += 1;
            new_number[i] = u32::try_from(position).unwrap_or(u32::MAX);
        }

        let mut comms: Vec<Comm> = drafts
            .iter()
            .enumerate()
            .map(|(d, draft)| {
                let key = &keys[draft.endpoints[0] as usize];
                let mut members: Vec<_> = draft
                    .endpoints
                    .iter()
                    .map(|&e| {
                        (
                            keys[e as usize].rank,
                            ProcessId(new_number[of_endpoint(d, e)]),
                            e,
                        )
                    })
                    .collect();
                members.sort_unstable();
                Comm {
                    id: key.id.clone(),
                    name: key.name.clone(),
                    n_ranks: key.n_ranks,
                    nnodes: key.nnodes,
                    run: run_of_draft[d],
                    members,
                    seen: draft.seen,
                }
            })
            .collect();
        comms.sort_by(|a, b| {
            (a.run, a.class(), natural(a.name.as_deref()), &a.id, a.seen).cmp(&(
                b.run,
                b.class(),
                natural(b.name.as_deref()),
                &b.id,
                b.seen,
            ))
        });
        let mut place = vec![(0, 0); keys.len()];
        for (c, comm) in comms.iter().enumerate() {
            for (m, member) in comm.members.iter().enumerate() {
                place[member.2 as usize] = (
                    u32::try_from(c).unwrap_or(u32::MAX),
                    u32::try_from(m).unwrap_or(u32::MAX),
                );
            }
        }
        let runs = runs::describe(&processes, &comms);
        Self {
            comms,
            processes,
            runs,
            place,
        }
    }

    /// When the run's records begin and end.
    pub(crate) fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let start = self.runs.iter().map(|r| r.start).min()?;
        let end = self.runs.iter().map(|r| r.end).max()?;
        Some((start, end))
    }
}

/// Endpoints by communicator; a rank claimed by several processes splits them by time.
fn incarnations(keys: &[EndpointKey], seen: &[(i64, i64)]) -> Vec<Draft> {
    let mut by_key: BTreeMap<(&str, Option<&str>, u32, u32), Vec<u32>> = BTreeMap::new();
    for (e, k) in (0_u32..).zip(keys) {
        by_key
            .entry((&k.id, k.name.as_deref(), k.n_ranks, k.nnodes))
            .or_default()
            .push(e);
    }
    let mut drafts = Vec::new();
    for mut endpoints in by_key.into_values() {
        let distinct: BTreeSet<u32> = endpoints.iter().map(|&e| keys[e as usize].rank).collect();
        if distinct.len() == endpoints.len() {
            drafts.push(draft(endpoints, seen));
            continue;
        }
        // In order of time, an endpoint opens a new incarnation when its rank is taken in the open one, or the open one is over.
        endpoints.sort_by_key(|&e| (seen[e as usize], &keys[e as usize]));
        let mut open: Vec<(BTreeSet<u32>, i64, Vec<u32>)> = Vec::new();
        for e in endpoints {
            let (rank, (first, last)) = (keys[e as usize].rank, seen[e as usize]);
            match open.last_mut() {
                Some((taken, until, members)) if first <= *until && !taken.contains(&rank) => {
                    taken.insert(rank);
                    *until = last.max(*until);
                    members.push(e);
                }
                _ => open.push((BTreeSet::from([rank]), last, vec![e])),
            }
        }
        drafts.extend(open.into_iter().map(|(_, _, members)| draft(members, seen)));
    }
    drafts
}

fn draft(endpoints: Vec<u32>, seen: &[(i64, i64)]) -> Draft {
    let first = endpoints
        .iter()
        .map(|&e| seen[e as usize].0)
        .min()
        .unwrap_or(0);
    let last = endpoints
        .iter()
        .map(|&e| seen[e as usize].1)
        .max()
        .unwrap_or(0);
    Draft {
        endpoints,
        seen: (first, last),
    }
}

/// Rank of each process in a communicator that holds every process of its run; `None` where there is none.
fn global_ranks(
    drafts: &[Draft],
    runs: &[u32],
    n: usize,
    identities: &[(u32, &str, i64, u32)],
    keys: &[EndpointKey],
    of_endpoint: &dyn Fn(usize, u32) -> usize,
) -> Vec<Option<u32>> {
    let mut in_run: BTreeMap<u32, usize> = BTreeMap::new();
    for id in identities {
        *in_run.entry(id.0).or_default() += 1;
    }
    let mut global = vec![None; n];
    let mut done: BTreeSet<u32> = BTreeSet::new();
    for (d, draft) in drafts.iter().enumerate() {
        let members: BTreeMap<usize, u32> = draft
            .endpoints
            .iter()
            .map(|&e| (of_endpoint(d, e), keys[e as usize].rank))
            .collect();
        if members.len() == in_run[&runs[d]]
            && members.len() == draft.endpoints.len()
            && done.insert(runs[d])
        {
            for (process, rank) in members {
                global[process] = Some(rank);
            }
        }
    }
    global
}
