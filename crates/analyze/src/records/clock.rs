//! How far the clocks of the hosts are apart, from when their ranks began and stopped to write of the same communicators.
//!
//! The ranks of a communicator do the same operations, so their first and last stamps differ by the clocks and by the phases of
//! the dump threads, at most an interval each; over all ranks of a host and all communicators the phases average out.

use std::collections::BTreeMap;

use crate::communicator::Topology;

/// Rounds of averaging: hosts that share no communicator are compared through others, so differences travel a step a round.
const ROUNDS: usize = 30;

/// First and last stamps of a rank must tell the same difference up to this many intervals, else it wrote at other times.
const AGREE_INTERVALS: f64 = 2.0;

/// For each process, how much its host's clock is ahead of the mean of all, µs; 0 where nothing can be said.
pub(crate) fn offsets(topology: &Topology, seen: &[(i64, i64)], interval: f64) -> Vec<f64> {
    let hosts: BTreeMap<&str, usize> = topology
        .processes
        .iter()
        .map(|p| (p.host.as_str(), 0))
        .collect();
    let hosts: BTreeMap<&str, usize> = hosts.into_keys().zip(0..).collect();
    let host = |process: usize| hosts[topology.processes[process].host.as_str()];
    // Per communicator: host, first and last stamp of each rank, relative to the communicator's first rank.
    let comms: Vec<Vec<(usize, f64, f64)>> = topology
        .comms
        .iter()
        .filter_map(|c| {
            let (origin, end) = c.members.first().map(|x| seen[x.2 as usize])?;
            let relative = |at: i64, from: i64| (i128::from(at) - i128::from(from)) as f64;
            let all: Vec<_> = c
                .members
                .iter()
                .map(|x| {
                    (
                        host(x.1.0 as usize),
                        relative(seen[x.2 as usize].0, origin),
                        relative(seen[x.2 as usize].1, end),
                    )
                })
                .filter(|(_, first, last)| (first - last).abs() <= AGREE_INTERVALS * interval)
                .collect();
            (all.iter().any(|x| x.0 != all[0].0)).then_some(all)
        })
        .collect();
    let mut offset = vec![0.0; hosts.len()];
    for _ in 0..ROUNDS {
        let mut sums = vec![(0.0, 0.0); hosts.len()];
        for members in &comms {
            let middle = |x: &(usize, f64, f64)| f64::midpoint(x.1, x.2);
            let common =
                members.iter().map(|x| middle(x) - offset[x.0]).sum::<f64>() / members.len() as f64;
            for x in members {
                sums[x.0] = (sums[x.0].0 + middle(x) - common, sums[x.0].1 + 1.0);
            }
        }
        for (o, s) in offset.iter_mut().zip(&sums) {
            *o = if s.1 > 0.0 { s.0 / s.1 } else { 0.0 };
        }
        let mean = offset.iter().sum::<f64>() / offset.len().max(1) as f64;
        offset.iter_mut().for_each(|o| *o -= mean);
    }
    (0..topology.processes.len())
        .map(|p| offset[host(p)])
        .collect()
}
