//! Runs of a job in one folder, told apart.
//!
//! Processes that share a communicator belong to one run. Two groups of processes that share none belong to one run too
//! when they wrote at the same time, since the communicator that joins them may have left no record; unless each of them
//! is whole by itself: a communicator over all of its processes beside smaller ones, which is what a job looks like.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::{Comm, Draft};
use crate::facts::{Process, Run};
use crate::records::registry::EndpointKey;
use crate::units::Timestamp;

/// The run of each draft, numbered by start.
pub(super) fn assign(keys: &[EndpointKey], drafts: &[Draft]) -> Vec<u32> {
    // Union of drafts through the processes that they share.
    let mut parent: Vec<usize> = (0..drafts.len()).collect();
    let mut first_of: BTreeMap<(&str, i64), Vec<usize>> = BTreeMap::new();
    for (d, draft) in drafts.iter().enumerate() {
        let processes: BTreeSet<(&str, i64)> = draft
            .endpoints
            .iter()
            .map(|&e| (keys[e as usize].host.as_str(), keys[e as usize].pid))
            .collect();
        for p in processes {
            first_of.entry(p).or_default().push(d);
        }
    }
    for sharing in first_of.values() {
        for pair in sharing.windows(2) {
            join(&mut parent, pair[0], pair[1]);
        }
    }
    let mut components: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for d in 0..drafts.len() {
        components.entry(root(&mut parent, d)).or_default().push(d);
    }
    let mut groups: Vec<Group> = components
        .into_values()
        .map(|members| Group::of(keys, drafts, members))
        .collect();
    groups.sort_by(|a, b| (a.seen, &a.members).cmp(&(b.seen, &b.members)));

    let mut merged: Vec<Group> = Vec::new();
    for group in groups {
        let partner = merged.iter_mut().find(|m| {
            let overlap = m.seen.0 <= group.seen.1 && group.seen.0 <= m.seen.1;
            overlap && !(m.whole && group.whole)
        });
        match partner {
            Some(m) => {
                m.seen = (m.seen.0.min(group.seen.0), m.seen.1.max(group.seen.1));
                m.whole |= group.whole;
                m.members.extend(group.members);
            }
            None => merged.push(group),
        }
    }
    let mut run = vec![0; drafts.len()];
    for (r, group) in (0_u32..).zip(&merged) {
        for &d in &group.members {
            run[d] = r;
        }
    }
    run
}

/// Processes that share communicators.
struct Group {
    members: Vec<usize>,
    seen: (i64, i64),
    whole: bool,
}

impl Group {
    fn of(keys: &[EndpointKey], drafts: &[Draft], members: Vec<usize>) -> Self {
        let first = members.iter().map(|&d| drafts[d].seen.0).min().unwrap_or(0);
        let last = members.iter().map(|&d| drafts[d].seen.1).max().unwrap_or(0);
        let size = |d: usize| keys[drafts[d].endpoints[0] as usize].n_ranks;
        let largest = members.iter().map(|&d| size(d)).max().unwrap_or(0);
        let processes: BTreeSet<(&str, i64)> = members
            .iter()
            .flat_map(|&d| &drafts[d].endpoints)
            .map(|&e| (keys[e as usize].host.as_str(), keys[e as usize].pid))
            .collect();
        let smaller = members.iter().any(|&d| size(d) < largest);
        Self {
            whole: smaller && largest as usize >= processes.len(),
            members,
            seen: (first, last),
        }
    }
}

fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

fn join(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b)] = a.min(b);
}

/// Start, end and members of each run.
pub(super) fn describe(processes: &[Process], comms: &[Comm]) -> Vec<Run> {
    let n = processes.iter().map(|p| p.run + 1).max().unwrap_or(0);
    (0..n)
        .map(|r| {
            let mine = || comms.iter().filter(|c| c.run == r);
            let hosts: BTreeSet<&str> = processes
                .iter()
                .filter(|p| p.run == r)
                .map(|p| p.host.as_str())
                .collect();
            Run {
                start: Timestamp::from_unix_micros(mine().map(|c| c.seen.0).min().unwrap_or(0)),
                end: Timestamp::from_unix_micros(mine().map(|c| c.seen.1).max().unwrap_or(0)),
                ranks: processes.iter().filter(|p| p.run == r).count() as u64,
                hosts: hosts.into_iter().map(str::to_owned).collect(),
            }
        })
        .collect()
}
