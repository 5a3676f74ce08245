//! How far the clocks of the hosts are apart, from when the kernels of common collectives stopped.

use std::collections::BTreeMap;

use super::{Kernel, Kernels};
use crate::communicator::Topology;
use crate::records::clock::{self, Hosts};
use crate::statistics::robust;

/// Fewer collectives of two hosts may all be odd ones.
const LEAST: usize = 20;

/// For each process, how much its host's clock is ahead of the mean of all, µs. `None` where the kernels don't connect all hosts.
///
/// `ends_together` tells of a function and a number of ranks whether all kernels stop at one moment.
pub(crate) fn offsets(
    topology: &Topology,
    kernels: &Kernels,
    ends_together: impl Fn(u32, u32) -> bool,
) -> Option<Vec<f64>> {
    let hosts = Hosts::of(topology);
    let mut comms = Vec::new();
    for (c, comm) in topology.comms.iter().enumerate() {
        let host_of: Vec<usize> = comm
            .members
            .iter()
            .map(|x| hosts.of_process(x.1.0 as usize))
            .collect();
        if host_of.iter().all(|h| *h == host_of[0]) {
            continue;
        }
        let stops = kernels
            .of_comm(c)
            .filter(|k| ends_together(k[0].function, comm.n_ranks))
            .map(|k| stops(k, &host_of));
        comms.extend(of_comm(stops.collect()));
    }
    let offset = hosts.settle(&comms);
    hosts.connected(&comms).then(|| hosts.by_process(&offset))
}

/// The middle of the stops on each host, µs by its clock: as late noticed as the middle of its starts.
pub(super) fn stops(collective: &[Kernel], host_of: &[usize]) -> BTreeMap<usize, i64> {
    let mut by_host: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for k in collective {
        let of_host = by_host.entry(host_of[k.member as usize]).or_default();
        of_host.push(k.stop);
    }
    let middle = |mut stops: Vec<i64>| {
        let half = stops.len() / 2;
        *stops.select_nth_unstable(half).1
    };
    by_host
        .into_iter()
        .map(|(host, stops)| (host, middle(stops)))
        .collect()
}

/// The host that most collectives have; the others are compared with it.
pub(super) fn reference(stops: &[BTreeMap<usize, i64>]) -> Option<usize> {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for host in stops.iter().flat_map(BTreeMap::keys) {
        *seen.entry(*host).or_default() += 1;
    }
    let (host, _) = seen
        .into_iter()
        .max_by_key(|&(host, n)| (n, std::cmp::Reverse(host)))?;
    Some(host)
}

/// What each host's clock is ahead of that of the host which most collectives have.
fn of_comm(stops: Vec<BTreeMap<usize, i64>>) -> Option<clock::Told> {
    let reference = reference(&stops)?;
    let mut differences: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for stops in stops.iter().filter(|s| s.len() > 1) {
        let Some(of_reference) = stops.get(&reference) else {
            continue;
        };
        for (host, stop) in stops {
            differences
                .entry(*host)
                .or_default()
                .push(stop.saturating_sub(*of_reference) as f64);
        }
    }
    let told: clock::Told = differences
        .into_iter()
        .filter(|(_, d)| d.len() >= LEAST)
        .filter_map(|(host, mut d)| Some((host, robust::median(&mut d)?)))
        .collect();
    (told.len() > 1).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::measured::Measured;

    /// Three hosts whose clocks are 900,000 µs ahead, 300,000 behind and 600,000 behind of their mean.
    const AHEAD: [i64; 3] = [900_000, -300_000, -600_000];

    fn job(collectives: i64) -> Kernels {
        let of = |n: i64| -> Vec<(u32, i64, i64)> {
            // Every fifth time the second host notices 40 µs late; ranks begin when they like.
            (0..3)
                .map(|i: u32| {
                    let late = if i == 1 && n % 5 == 0 { 40 } else { 0 };
                    let stop = 1_000 * n + 700 + AHEAD[i as usize] + late;
                    (i, stop - 100 - 50 * i64::from(i), stop)
                })
                .collect()
        };
        fixture::kernels(&(0..collectives).map(of).collect::<Vec<_>>())
    }

    #[test]
    fn clocks_are_apart_by_what_common_stops_differ() {
        let m = Measured::blank(3, &[(0, &[0, 1, 2])]);
        let offsets = offsets(&m.topology, &job(50), |_, _| true).expect("told");
        for (offset, ahead) in offsets.iter().zip(AHEAD) {
            assert!((offset - ahead as f64).abs() < 1.0, "{offsets:?}");
        }
    }

    #[test]
    fn a_few_or_other_collectives_tell_nothing() {
        let m = Measured::blank(3, &[(0, &[0, 1, 2])]);
        assert_eq!(offsets(&m.topology, &job(19), |_, _| true), None);
        assert_eq!(offsets(&m.topology, &job(50), |_, _| false), None);
        // A fourth host has no kernels.
        let m = Measured::blank(4, &[(0, &[0, 1, 2]), (0, &[2, 3])]);
        assert_eq!(offsets(&m.topology, &job(50), |_, _| true), None);
    }
}
