//! Everything measured about a job, before it is put into words.

use std::collections::{BTreeMap, BTreeSet};

use crate::collective::facts::CommFacts;
use crate::collective::pool::Pools;
use crate::collective::trace::Trace;
use crate::communicator::Topology;
use crate::communicator::family::Kin;
use crate::comparison::CommBlocks;
use crate::facts::TimingSource;
use crate::kernels::Kernels;
use crate::point_to_point::in_order::InOrder;
use crate::point_to_point::{PairFacts, PairKey};
use crate::records::census::Census;
use crate::records::grid::TimeGrid;
use crate::records::operation::{Semantics, semantics};

/// The measurements. Communicators are indexed alike in `topology.comms`, `facts`, `traces`, `pairs`, `family_of`.
pub(crate) struct Measured {
    /// Stretches of time, by the mean of the hosts' clocks.
    pub(crate) grid: TimeGrid,
    /// Stretches of time by the stamps as they are: the axis of what is counted record by record.
    pub(crate) stamps: TimeGrid,
    /// Counts and samples record by record.
    pub(crate) census: Census,
    /// Who is who.
    pub(crate) topology: Topology,
    /// The timing that everything below is about.
    pub(crate) timing: TimingSource,
    /// Distance between two dumps, µs.
    pub(crate) dump_interval: Option<f64>,
    /// For each process, how much its host's clock is ahead of the mean of all, µs.
    pub(crate) clock: Vec<f64>,
    /// Whether that comes from kernels that stopped together, and not from when lines were written.
    pub(crate) clock_of_kernels: bool,
    /// Kernels of verbose dumps.
    pub(crate) kernels: Kernels,
    /// Families.
    pub(crate) kin: Vec<Kin>,
    /// Family of each communicator.
    pub(crate) family_of: Vec<usize>,
    /// Statistics of the collectives of each communicator.
    pub(crate) facts: Vec<CommFacts>,
    /// Times of the collectives of each family.
    pub(crate) pools: Pools,
    /// Lateness and transfer over time of each communicator.
    pub(crate) traces: Vec<Trace>,
    /// Send/Recv traffic of each communicator.
    pub(crate) pairs: Vec<BTreeMap<PairKey, PairFacts>>,
    /// Time in Send and Recv of each communicator, member by member, stretch by stretch, µs; empty without any.
    pub(crate) p2p_micros: Vec<Vec<f64>>,
    /// The same in the order of the program, member by member; empty without any, or where it is an exchange among all.
    pub(crate) in_order: Vec<Vec<InOrder>>,
    /// Communicators whose Sends and Receives are exchanges among all ranks: they are traced like collectives.
    pub(crate) exchanges: BTreeSet<usize>,
    /// Blocks of each communicator, where a comparison wants them.
    pub(crate) blocks: Option<Vec<CommBlocks>>,
    /// Totals of `dump_stats` per communicator: records dropped, where said.
    pub(crate) dropped: Vec<Option<u64>>,
}

impl Measured {
    /// The name of a function.
    pub(crate) fn function(&self, f: u32) -> &str {
        self.census
            .functions
            .items()
            .get(f as usize)
            .map_or("", String::as_str)
    }

    /// How a function's numbers are to be read in a communicator.
    pub(crate) fn semantics(&self, f: u32, comm: usize) -> Semantics {
        semantics(self.function(f), self.topology.comms[comm].n_ranks)
    }

    /// Kernel time of all records, µs.
    pub(crate) fn total_micros(&self) -> f64 {
        self.census
            .cells
            .iter()
            .filter(|(k, _)| k.timing == self.timing)
            .map(|(_, s)| s.micros)
            .sum()
    }
}

#[cfg(test)]
impl Measured {
    /// A job of 96 stretches of 1000 µs without records, a process a host: of each communicator its family and its processes, whose
    /// ranks are in that order.
    pub(crate) fn blank(processes: u32, comms: &[(usize, &[u32])]) -> Self {
        use crate::communicator::Comm;
        use crate::facts::{Process, ProcessId};
        use crate::records::grid::STRETCHES;
        let n = comms.len();
        let comm = |(c, members): (usize, &[u32])| Comm {
            id: format!("0x{c:x}"),
            name: None,
            n_ranks: members.len() as u32,
            nnodes: members.len() as u32,
            run: 0,
            members: (0..)
                .zip(members)
                .map(|(r, &p)| (r, ProcessId(p), 0))
                .collect(),
            seen: (0, 95_999),
        };
        let topology = Topology {
            comms: comms
                .iter()
                .enumerate()
                .map(|(c, x)| comm((c, x.1)))
                .collect(),
            processes: (0..processes)
                .map(|p| Process {
                    host: format!("host{p}"),
                    pid: 1,
                    local_rank: 0,
                    global_rank: Some(p),
                    run: 0,
                })
                .collect(),
            ..Topology::default()
        };
        let grid = TimeGrid::over(vec![(0, 95_999)], STRETCHES);
        Self {
            stamps: grid.clone(),
            grid,
            census: Census::default(),
            topology,
            timing: TimingSource::KernelGpu,
            dump_interval: None,
            clock: vec![0.0; processes as usize],
            clock_of_kernels: false,
            kernels: Kernels::default(),
            kin: Vec::new(),
            family_of: comms.iter().map(|x| x.0).collect(),
            facts: std::iter::repeat_with(CommFacts::default).take(n).collect(),
            pools: Pools::default(),
            traces: vec![Trace::default(); n],
            pairs: std::iter::repeat_with(Default::default).take(n).collect(),
            p2p_micros: vec![Vec::new(); n],
            in_order: vec![Vec::new(); n],
            exchanges: BTreeSet::new(),
            blocks: None,
            dropped: vec![None; n],
        }
    }
}
