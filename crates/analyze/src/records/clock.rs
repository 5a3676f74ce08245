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

/// What a communicator tells: by host, how much its clock seems ahead of any common moment, µs; several times where several ranks tell it.
pub(crate) type Told = Vec<(usize, f64)>;

/// The hosts of a job, numbered by name.
pub(crate) struct Hosts {
    of_process: Vec<usize>,
    count: usize,
}

impl Hosts {
    /// Those of the processes.
    pub(crate) fn of(topology: &Topology) -> Self {
        let names = topology.processes.iter().map(|p| (p.host.as_str(), 0));
        let names: BTreeMap<&str, usize> = names.collect();
        let numbers: BTreeMap<&str, usize> = names.into_keys().zip(0..).collect();
        Self {
            of_process: topology
                .processes
                .iter()
                .map(|p| numbers[p.host.as_str()])
                .collect(),
            count: numbers.len(),
        }
    }

    /// The number of a process's host.
    pub(crate) fn of_process(&self, process: usize) -> usize {
        self.of_process[process]
    }

    /// A value of each process's host.
    pub(crate) fn by_process(&self, of_host: &[f64]) -> Vec<f64> {
        self.of_process.iter().map(|&h| of_host[h]).collect()
    }

    /// Whether what was told compares every host with every other, be it through others.
    pub(crate) fn connected(&self, comms: &[Told]) -> bool {
        let mut group: Vec<usize> = (0..self.count).collect();
        for told in comms {
            let Some(&(first, _)) = told.first() else {
                continue;
            };
            for (host, _) in told {
                let (into, from) = (group[first], group[*host]);
                group
                    .iter_mut()
                    .filter(|g| **g == from)
                    .for_each(|g| *g = into);
            }
        }
        group.windows(2).all(|w| w[0] == w[1])
    }

    /// For each host, how much its clock is ahead of the mean of all, µs: what agrees best with all that was told; 0 where nothing was.
    pub(crate) fn settle(&self, comms: &[Told]) -> Vec<f64> {
        let mut offset = vec![0.0; self.count];
        for _ in 0..ROUNDS {
            let mut sums = vec![(0.0, 0.0); self.count];
            for told in comms {
                let all = told.iter().map(|x| x.1 - offset[x.0]).sum::<f64>();
                let common = all / told.len() as f64;
                for x in told {
                    sums[x.0] = (sums[x.0].0 + x.1 - common, sums[x.0].1 + 1.0);
                }
            }
            for (o, s) in offset.iter_mut().zip(&sums) {
                *o = if s.1 > 0.0 { s.0 / s.1 } else { 0.0 };
            }
            let mean = offset.iter().sum::<f64>() / offset.len().max(1) as f64;
            offset.iter_mut().for_each(|o| *o -= mean);
        }
        offset
    }
}

/// For each process, how much its host's clock is ahead of the mean of all, µs; 0 where nothing can be said.
pub(crate) fn offsets(topology: &Topology, seen: &[(i64, i64)], interval: f64) -> Vec<f64> {
    let hosts = Hosts::of(topology);
    let comms: Vec<Told> = topology
        .comms
        .iter()
        .filter_map(|c| {
            // First and last stamp of each rank, relative to the communicator's first rank.
            let (origin, end) = c.members.first().map(|x| seen[x.2 as usize])?;
            let relative = |at: i64, from: i64| (i128::from(at) - i128::from(from)) as f64;
            let all: Told = c
                .members
                .iter()
                .filter_map(|x| {
                    let (first, last) = seen[x.2 as usize];
                    let (first, last) = (relative(first, origin), relative(last, end));
                    let agree = (first - last).abs() <= AGREE_INTERVALS * interval;
                    agree.then(|| {
                        let host = hosts.of_process(x.1.0 as usize);
                        (host, f64::midpoint(first, last))
                    })
                })
                .collect();
            (all.iter().any(|x| x.0 != all[0].0)).then_some(all)
        })
        .collect();
    hosts.by_process(&hosts.settle(&comms))
}
