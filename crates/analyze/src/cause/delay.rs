//! Delay that came to a process from elsewhere: time in Send and Recv, and in collectives over a slow link.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::lateness::{self, Own};
use super::transfer::Unit;
use crate::measured::Measured;
use crate::statistics::robust;

/// Time that a process spent, stretch by stretch, in what delays it beyond its collectives' waiting, µs.
pub(crate) struct Delay {
    /// In Send and Recv, and in collectives over slow links beyond their kind's time.
    by_process: Vec<Vec<f64>>,
    /// Beyond the time of their kind in whatever runs over a slow link.
    by_links: Vec<Vec<f64>>,
    /// Of that, in communicators.
    by_comms: Vec<Vec<f64>>,
    /// Processes that share a slow communicator with a process.
    held_up_with: BTreeMap<usize, BTreeSet<usize>>,
    radius: usize,
    width: f64,
}

impl Delay {
    /// Of every process. `slow` are the units over slow links.
    pub(crate) fn of(m: &Measured, slow: &[&Unit]) -> Self {
        let mut by_process = vec![vec![0.0; m.grid.len()]; m.topology.processes.len()];
        for (c, (comm, micros)) in m.topology.comms.iter().zip(&m.p2p_micros).enumerate() {
            // Waiting in an exchange among all is that in any collective.
            if m.exchanges.contains(&c) {
                continue;
            }
            for (member, series) in comm.members.iter().zip(micros.chunks(m.grid.len().max(1))) {
                by_process[member.1.0 as usize]
                    .iter_mut()
                    .zip(series)
                    .for_each(|(a, b)| *a += b);
            }
        }
        let mut by_links = vec![vec![0.0; m.grid.len()]; m.topology.processes.len()];
        let mut by_comms = by_links.clone();
        let mut held_up_with: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for unit in slow {
            if unit.pair.is_none() {
                for &p in &unit.processes {
                    let others = unit.processes.iter().copied().filter(|&q| q != p);
                    held_up_with.entry(p).or_default().extend(others);
                }
            }
            let ranks = unit.processes.len() as f64;
            for &p in &unit.processes {
                for (b, excess) in unit.excess.iter().enumerate() {
                    by_links[p][b] += excess / ranks;
                    // The time of pairs is in it already.
                    if unit.pair.is_none() {
                        by_process[p][b] += excess / ranks;
                        by_comms[p][b] += excess / ranks;
                    }
                }
            }
        }
        Self {
            by_process,
            by_links,
            by_comms,
            held_up_with,
            radius: lateness::radius(m),
            width: lateness::width(m),
        }
    }

    /// The stretches up to `radius` around a window.
    fn around(&self, window: &Range<usize>, radius: usize) -> Range<usize> {
        let end = self.by_process.first().map_or(0, Vec::len);
        window.start.saturating_sub(radius)..(window.end + radius).min(end)
    }

    /// How much longer `o`'s process was delayed than the median of its fellows in the communicator, in and about a window, µs.
    /// All that belongs to the window is in it: times are known to half a dump interval.
    pub(crate) fn about(&self, m: &Measured, o: &Own, window: &Range<usize>) -> f64 {
        let half = 0.5 * m.dump_interval.unwrap_or(0.0) / self.width;
        let near = self.around(window, half.ceil() as usize + 1);
        beyond(&self.by_process, m, o, &near)
    }

    /// How much longer slow links held `o`'s process up than the median of its fellows, in a window, µs.
    pub(crate) fn by_links(&self, m: &Measured, o: &Own, window: &Range<usize>) -> f64 {
        beyond(&self.by_links, m, o, &self.around(window, self.radius))
    }

    /// Of that, in communicators rather than pairs.
    pub(crate) fn by_comms(&self, m: &Measured, o: &Own, window: &Range<usize>) -> f64 {
        beyond(&self.by_comms, m, o, &self.around(window, self.radius))
    }

    /// Processes that slow communicators hold up with this one.
    pub(crate) fn held_up_with(&self, process: usize) -> impl Iterator<Item = usize> + '_ {
        self.held_up_with
            .get(&process)
            .into_iter()
            .flatten()
            .copied()
    }

    /// The same as [`Self::about`] as far as it is sure, in a window.
    pub(crate) fn beyond_fellows(&self, m: &Measured, o: &Own, window: &Range<usize>) -> f64 {
        let near = self.around(window, self.radius);
        let mine = &self.by_process[o.process];
        let own = mine[near.clone()].iter().sum::<f64>();
        // Each process writes at times of its own: at either edge of a window up to half an interval is counted here or there, no
        // more than is counted behind the edge.
        let length = (near.len() as f64 * self.width).max(1.0);
        let half = own * (0.5 * m.dump_interval.unwrap_or(0.0) / length).min(0.5);
        let edges = [&mine[..near.start], &mine[near.end..]]
            .map(|behind| behind.iter().sum::<f64>().min(half));
        beyond(&self.by_process, m, o, &near) - edges.iter().sum::<f64>()
    }
}

/// What a process has of a series beyond the median of its fellows in the communicator.
fn beyond(series: &[Vec<f64>], m: &Measured, o: &Own, near: &Range<usize>) -> f64 {
    let sum = |p: usize| series[p][near.clone()].iter().sum::<f64>();
    let mut fellows: Vec<f64> = m.topology.comms[o.comm]
        .members
        .iter()
        .map(|x| x.1.0 as usize)
        .filter(|&p| p != o.process)
        .map(sum)
        .collect();
    sum(o.process) - robust::median(&mut fellows).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::transfer::Kind;

    /// A series with a value in some stretches.
    fn series(values: &[(Range<usize>, f64)]) -> Vec<f64> {
        let mut out = vec![0.0; 96];
        for (at, value) in values {
            out[at.clone()].fill(*value);
        }
        out
    }

    /// Three processes that send to each other, the first 100 µs in each of ten stretches, the others 30 and 50 µs.
    fn job(more_of_first: &[(Range<usize>, f64)]) -> Measured {
        let mut m = Measured::blank(3, &[(0, &[0, 1, 2])]);
        let mut first = vec![(10..20, 100.0)];
        first.extend_from_slice(more_of_first);
        m.p2p_micros[0] = [
            series(&first),
            series(&[(10..20, 30.0)]),
            series(&[(10..20, 50.0)]),
        ]
        .concat();
        m
    }

    fn first() -> Own {
        Own {
            comm: 0,
            member: 0,
            process: 0,
            ..Own::default()
        }
    }

    /// 10 × 100 against the median of 10 × 30 and 10 × 50: 1000 − 400.
    #[test]
    fn delay_is_held_against_the_median_of_fellows() {
        let m = job(&[]);
        let delay = Delay::of(&m, &[]);
        assert_eq!(delay.about(&m, &first(), &(10..20)), 600.0);
        assert_eq!(delay.beyond_fellows(&m, &first(), &(10..20)), 600.0);
        // Half of the window: five stretches and two on either side as smoothing wants, of which seven hold something.
        assert_eq!(delay.beyond_fellows(&m, &first(), &(10..15)), 700.0 - 280.0);
        assert_eq!(delay.by_links(&m, &first(), &(10..20)), 0.0);
    }

    /// Dumps every 4000 µs: the window with two stretches on either side lasts 14,000 µs, so a seventh of what is in it may belong
    /// behind one of its edges: 1000 / 7 = 142.9, but no more than is there, 50 before and 400 behind. 600 − 50 − 142.9.
    #[test]
    fn what_may_belong_behind_an_edge_is_not_sure() {
        let mut m = job(&[(2..3, 50.0), (40..44, 100.0)]);
        m.dump_interval = Some(4000.0);
        let delay = Delay::of(&m, &[]);
        let sure = delay.beyond_fellows(&m, &first(), &(10..20));
        assert!((sure - (550.0 - 1000.0 / 7.0)).abs() < 1e-9, "{sure}");
        assert_eq!(delay.about(&m, &first(), &(10..20)), 600.0);
    }

    /// A slow communicator costs 60 µs of kernel time in each of four stretches, over the two ranks in it: 30 a rank and stretch,
    /// 120 in all. The third rank has none of it, so the median of the fellows is the mean of 120 and 0.
    #[test]
    fn slow_links_hold_up_whoever_is_in_their_communicators() {
        let m = Measured::blank(3, &[(0, &[0, 1, 2]), (1, &[0, 1])]);
        let mut unit = Unit {
            comm: 1,
            pair: None,
            processes: vec![0, 1],
            network: true,
            kind: Kind {
                family: 1,
                p2p: false,
                network: true,
            },
            ratio: Vec::new(),
            excess: series(&[(10..14, 60.0)]),
            time: Vec::new(),
            chunks: Vec::new(),
            sparse: false,
            partial: false,
            operations: 4.0,
        };
        let delay = Delay::of(&m, &[&unit]);
        assert_eq!(delay.by_links(&m, &first(), &(10..14)), 60.0);
        assert_eq!(delay.about(&m, &first(), &(10..14)), 60.0);
        assert_eq!(delay.by_comms(&m, &first(), &(10..14)), 60.0);
        assert_eq!(delay.held_up_with(0).collect::<Vec<_>>(), [1]);
        // The time of a slow pair is in that of Send and Recv already.
        unit.pair = Some((0, 1));
        let delay = Delay::of(&m, &[&unit]);
        assert_eq!(delay.by_links(&m, &first(), &(10..14)), 60.0);
        assert_eq!(delay.about(&m, &first(), &(10..14)), 0.0);
        assert_eq!(delay.by_comms(&m, &first(), &(10..14)), 0.0);
        assert_eq!(delay.held_up_with(0).count(), 0);
    }
}
