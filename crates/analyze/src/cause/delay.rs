//! Delay that came to a process from elsewhere: time in Send and Recv, and in collectives over a slow link.

use std::ops::Range;

use super::lateness::{self, Own};
use crate::measured::Measured;
use crate::statistics::robust;

/// Time that a process spent, stretch by stretch, in what delays it beyond its collectives' waiting: Send and Recv, and the
/// excess of slow links over their kind, µs.
pub(crate) struct Delay {
    by_process: Vec<Vec<f64>>,
    radius: usize,
    width: f64,
}

impl Delay {
    /// Of every process; `slow` holds the excess of slow collectives per rank, stretch by stretch.
    pub(crate) fn of(m: &Measured, slow: &[(Vec<usize>, Vec<f64>)]) -> Self {
        let mut by_process = vec![vec![0.0; m.grid.len()]; m.topology.processes.len()];
        for (comm, micros) in m.topology.comms.iter().zip(&m.p2p_micros) {
            for (member, series) in comm.members.iter().zip(micros.chunks(m.grid.len().max(1))) {
                by_process[member.1.0 as usize]
                    .iter_mut()
                    .zip(series)
                    .for_each(|(a, b)| *a += b);
            }
        }
        for (processes, excess) in slow {
            for &p in processes {
                by_process[p]
                    .iter_mut()
                    .zip(excess)
                    .for_each(|(a, b)| *a += b);
            }
        }
        Self {
            by_process,
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
        self.beyond(m, o, self.around(window, half.ceil() as usize + 1))
    }

    fn beyond(&self, m: &Measured, o: &Own, near: Range<usize>) -> f64 {
        let sum = |p: usize| self.by_process[p][near.clone()].iter().sum::<f64>();
        let mut fellows: Vec<f64> = m.topology.comms[o.comm]
            .members
            .iter()
            .map(|x| x.1.0 as usize)
            .filter(|&p| p != o.process)
            .map(sum)
            .collect();
        sum(o.process) - robust::median(&mut fellows).unwrap_or(0.0)
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
        self.beyond(m, o, near) - edges.iter().sum::<f64>()
    }
}
