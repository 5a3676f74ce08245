//! Delay that came to a process from elsewhere: time in Send and Recv, and in collectives over a slow link.

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
        for unit in slow {
            let ranks = unit.processes.len() as f64;
            for &p in &unit.processes {
                for (b, excess) in unit.excess.iter().enumerate() {
                    by_links[p][b] += excess / ranks;
                    // The time of pairs is in it already.
                    if unit.pair.is_none() {
                        by_process[p][b] += excess / ranks;
                    }
                }
            }
        }
        Self {
            by_process,
            by_links,
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
    /// The same as far as it is sure, in a window.
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
