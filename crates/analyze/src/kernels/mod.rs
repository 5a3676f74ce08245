//! When kernels began and stopped, as verbose dumps stamp them: evidence beside the times of the GPU, which needs no clock.
//!
//! A stamp is taken by a CPU thread of its host, a few to tens of microseconds late, by that host's clock. The kernels of a collective whose
//! ranks end together stop at one moment, so their stops tell how far the clocks are apart ([`clocks`]); with that taken off, their
//! starts tell who came last ([`starts`]).

pub(crate) mod clocks;
mod read;
pub(crate) mod starts;

pub(crate) use read::read;

/// A kernel: one rank's part in a collective, over all its channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kernel {
    pub(crate) comm: u32,
    pub(crate) function: u32,
    pub(crate) sequence_number: i64,
    /// Index among the members of the communicator.
    pub(crate) member: u32,
    /// Where its record stands in its file.
    line: i64,
    /// When the first start and the first stop of its channels were noticed, µs since the epoch by its host's clock: of many channels the
    /// first is noticed with the least delay, and both alike.
    pub(crate) start: i64,
    pub(crate) stop: i64,
}

/// The kernels of a job's collectives, or of some that are spread over it evenly; empty where no dump is verbose.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kernels {
    /// By communicator, function, number and member, one of each.
    list: Vec<Kernel>,
    /// One of so many numbers is in it.
    every: u64,
}

impl Kernels {
    /// Of any kernels. A rank with several of one number replays a graph, or two runs lie in one folder: which belong together isn't
    /// known, and the collective is left out.
    fn of(mut list: Vec<Kernel>, every: u64) -> Self {
        list.sort_unstable();
        let of_collective = |a: &Kernel, b: &Kernel| key(a) == key(b);
        let twice = |c: &[Kernel]| c.windows(2).any(|w| w[0].member == w[1].member);
        let kept = list
            .chunk_by(of_collective)
            .filter(|c| !twice(c))
            .flatten()
            .copied()
            .collect();
        Self { list: kept, every }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One of so many collectives is in it.
    pub(crate) fn every(&self) -> u64 {
        self.every.max(1)
    }

    /// The collectives of a communicator, by function and number.
    pub(crate) fn of_comm(&self, comm: usize) -> impl Iterator<Item = &[Kernel]> {
        let start = self.list.partition_point(|k| (k.comm as usize) < comm);
        let end = self.list.partition_point(|k| (k.comm as usize) <= comm);
        self.list[start..end].chunk_by(|a, b| key(a) == key(b))
    }
}

fn key(k: &Kernel) -> (u32, u32, i64) {
    (k.comm, k.function, k.sequence_number)
}

#[cfg(test)]
pub(super) mod fixture {
    use super::{Kernel, Kernels};

    /// Collectives of communicator 0 and function 0, numbered from 0: of each the members with their starts and stops.
    pub(crate) fn kernels(collectives: &[Vec<(u32, i64, i64)>]) -> Kernels {
        let list = (0..).zip(collectives).flat_map(|(n, members)| {
            members.iter().map(move |&(member, start, stop)| Kernel {
                comm: 0,
                function: 0,
                sequence_number: n,
                member,
                line: 0,
                start,
                stop,
            })
        });
        Kernels::of(list.collect(), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(comm: u32, sequence_number: i64, member: u32, line: i64) -> Kernel {
        Kernel {
            comm,
            function: 0,
            sequence_number,
            member,
            line,
            start: line,
            stop: line + 1,
        }
    }

    #[test]
    fn a_number_that_a_rank_has_twice_is_left_out() {
        let list = vec![
            kernel(1, 8, 0, 3),
            kernel(1, 7, 1, 2),
            kernel(1, 7, 0, 1),
            kernel(1, 7, 0, 9),
            kernel(2, 7, 0, 1),
        ];
        let kernels = Kernels::of(list, 1);
        let of = |comm| -> Vec<(i64, usize)> {
            kernels
                .of_comm(comm)
                .map(|c| (c[0].sequence_number, c.len()))
                .collect()
        };
        assert_eq!(of(0), []);
        assert_eq!(of(1), [(8, 1)]);
        assert_eq!(of(2), [(7, 1)]);
    }
}
