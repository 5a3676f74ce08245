//! Buckets of like with like: what of a run's operations may be compared with another run's.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};

use super::block::{Block, CommBlocks, Thinned};
use crate::communicator::family::stem;
use crate::facts::{BucketKey, GroupKey, Process, ProcessId};
use crate::measured::Measured;
use crate::units::MessageSize;

/// Send and Recv are two sides of one transfer and make one bucket.
pub(crate) const SEND_RECV: &str = "SendRecv";

/// Blocks of one communicator in a bucket.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommSeries {
    /// A number for where its members sit, the same for the communicator of another run with the same place in the layout.
    pub(crate) place: u64,
    /// By stretch, ascending.
    pub(crate) blocks: Vec<(usize, Block)>,
}

/// One run's side of a bucket.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Bucket {
    /// Communicators.
    pub(crate) comms: Vec<CommSeries>,
    /// Operations of which at least one rank has a record.
    pub(crate) operations: u64,
    /// Of them, operations of which every rank has one.
    pub(crate) complete: u64,
    /// Records.
    pub(crate) records: u64,
    /// Records that there would be if every rank had left its own.
    pub(crate) expected: u64,
    /// Kernel time of the records, µs.
    pub(crate) micros: f64,
    /// Send and Recv.
    pub(crate) p2p: bool,
    /// Time hardly depends on the size.
    pub(crate) latency_bound: bool,
}

impl Bucket {
    /// Adds another bucket's operations.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.comms.extend(other.comms);
        self.operations += other.operations;
        self.complete += other.complete;
        self.records += other.records;
        self.expected += other.expected;
        self.micros += other.micros;
        self.p2p |= other.p2p;
        self.latency_bound |= other.latency_bound;
    }

    /// Share of the records that there would be if every rank had left its own.
    pub(crate) fn seen(&self) -> Option<f64> {
        (self.expected > 0).then(|| (self.records as f64 / self.expected as f64).min(1.0))
    }
}

/// The buckets of a run, by key with the family's name.
pub(crate) type Buckets = BTreeMap<BucketKey, Bucket>;

/// Sorts what was kept of a run into buckets.
pub(crate) fn buckets(m: &Measured, blocks: Vec<CommBlocks>) -> Buckets {
    let mut out = Buckets::new();
    for (c, comm_blocks) in blocks.into_iter().enumerate() {
        let comm = &m.topology.comms[c];
        let place = place(&comm.members, &m.topology.processes);
        let key = |operation: &str, size: u64, crosses_network: Option<bool>| BucketKey {
            class: comm.class(),
            operation: operation.to_owned(),
            size: MessageSize::from_bytes(size),
            n_ranks: comm.n_ranks,
            nnodes: comm.nnodes,
            crosses_network,
            family: comm.name.as_deref().map(stem),
        };
        let mut series: BTreeMap<(u32, u64), Vec<(usize, Block)>> = BTreeMap::new();
        for ((function, size, stretch), block) in comm_blocks.blocks {
            series
                .entry((function, size))
                .or_default()
                .push((stretch, block));
        }
        for ((function, size), blocks) in series {
            let operation = m.function(function);
            let Some(cell) = m.facts[c].cells.get(&(function, size)) else {
                continue;
            };
            out.entry(key(operation, size, None))
                .or_default()
                .absorb(Bucket {
                    comms: vec![CommSeries { place, blocks }],
                    operations: cell.collectives,
                    complete: cell.complete,
                    records: cell.records,
                    expected: cell.collectives * u64::from(comm.n_ranks),
                    micros: cell.micros,
                    p2p: false,
                    latency_bound: false,
                });
        }
        for ((size, crosses), bucket) in pairs(m, c, place) {
            out.entry(key(SEND_RECV, size, crosses))
                .or_default()
                .absorb(bucket);
        }
    }
    out
}

/// Where the members of a communicator sit: their ranks in the job where all are known, else their hosts and places on them.
fn place(members: &[(u32, ProcessId, u32)], processes: &[Process]) -> u64 {
    let of = |m: &(u32, ProcessId, u32)| &processes[m.1.0 as usize];
    // Compared within this process only, so any fixed hash will do.
    let mut hasher = std::hash::DefaultHasher::new();
    let ranks: Option<Vec<u32>> = members.iter().map(|m| of(m).global_rank).collect();
    match ranks {
        Some(ranks) => ranks.hash(&mut hasher),
        None => members
            .iter()
            .for_each(|m| (&of(m).host, of(m).local_rank).hash(&mut hasher)),
    }
    hasher.finish()
}

/// The operations of the records in a bucket.
pub(crate) fn operations(key: &BucketKey) -> impl Iterator<Item = &str> {
    let both = key.operation == SEND_RECV;
    std::iter::once(if both { "Send" } else { key.operation.as_str() })
        .chain(both.then_some("Recv"))
}

/// The group that the records of a bucket lie in.
pub(crate) fn group_key(key: &BucketKey, operation: &str) -> GroupKey {
    GroupKey {
        class: key.class,
        operation: operation.to_owned(),
        size: key.size,
        n_ranks: key.n_ranks,
        nnodes: key.nnodes,
    }
}

/// The Send/Recv traffic of a communicator by size and whether it leaves the host. The time of a pair in a stretch is that of the
/// side that waits less, so its mean over ranks isn't known.
fn pairs(m: &Measured, c: usize, place: u64) -> BTreeMap<(u64, Option<bool>), Bucket> {
    let comm = &m.topology.comms[c];
    let host_of: BTreeMap<u32, &str> = comm
        .members
        .iter()
        .map(|&(rank, process, _)| (rank, m.topology.processes[process.0 as usize].host.as_str()))
        .collect();
    let mut out: BTreeMap<(u64, Option<bool>), (Bucket, BTreeMap<usize, Block>)> = BTreeMap::new();
    for (&(source, destination, size), facts) in &m.pairs[c] {
        let crosses = host_of
            .get(&source)
            .zip(host_of.get(&destination))
            .map(|(a, b)| a != b);
        let (bucket, blocks) = out.entry((size, crosses)).or_default();
        bucket.p2p = true;
        let (sends, recvs) = (facts.sends.count(), facts.recvs.count());
        bucket.operations += sends.max(recvs);
        bucket.complete += sends.min(recvs);
        bucket.records += sends + recvs;
        bucket.expected += 2 * sends.max(recvs);
        for side in [&facts.sends, &facts.recvs] {
            bucket.micros += side.clone().sum();
        }
        for (stretch, transfer) in facts.transfer().iter() {
            if let Some(t) = transfer.mean() {
                blocks
                    .entry(stretch)
                    .or_default()
                    .whole
                    .push((t as f32, f32::NAN));
            }
        }
    }
    out.into_iter()
        .map(|(key, (mut bucket, blocks))| {
            bucket.comms = vec![CommSeries {
                place,
                blocks: blocks.into_iter().collect(),
            }];
            (key, bucket)
        })
        .collect()
}

/// Pairs up the buckets of two runs. Where both have the same families in a bucket they are told apart by family, else not: names
/// may be given or withheld without anything else having changed.
pub(crate) fn align(
    baseline: &Buckets,
    candidate: &Buckets,
) -> BTreeMap<BucketKey, (Option<Bucket>, Option<Bucket>)> {
    let nameless = |key: &BucketKey| BucketKey {
        family: None,
        ..key.clone()
    };
    let families = |of: &Buckets| {
        let mut out: BTreeMap<BucketKey, BTreeSet<Option<String>>> = BTreeMap::new();
        for key in of.keys() {
            out.entry(nameless(key))
                .or_default()
                .insert(key.family.clone());
        }
        out
    };
    let (left, right) = (families(baseline), families(candidate));
    let mut out: BTreeMap<BucketKey, (Option<Bucket>, Option<Bucket>)> = BTreeMap::new();
    for (is_candidate, side) in [(false, baseline), (true, candidate)] {
        for (key, bucket) in side {
            let shared = nameless(key);
            let apart = left.get(&shared) == right.get(&shared);
            let slot = out
                .entry(if apart { key.clone() } else { shared })
                .or_default();
            let place = if is_candidate {
                &mut slot.1
            } else {
                &mut slot.0
            };
            place
                .get_or_insert_with(Bucket::default)
                .absorb(bucket.clone());
        }
    }
    out
}

/// The times of a communicator's block: those of complete collectives, or of all.
pub(crate) fn thinned(block: &Block, whole_only: bool) -> impl Iterator<Item = &Thinned> {
    std::iter::once(&block.whole).chain((!whole_only).then_some(&block.part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::CommClass;

    fn key(family: Option<&str>) -> BucketKey {
        BucketKey {
            class: CommClass::HcaOnly,
            operation: "AllReduce".into(),
            size: MessageSize::from_bytes(1 << 20),
            n_ranks: 2,
            nnodes: 2,
            crosses_network: None,
            family: family.map(str::to_owned),
        }
    }

    fn of(families: &[Option<&str>]) -> Buckets {
        families
            .iter()
            .map(|f| {
                (
                    key(*f),
                    Bucket {
                        operations: 1,
                        ..Bucket::default()
                    },
                )
            })
            .collect()
    }

    #[test]
    fn the_same_families_are_told_apart() {
        let both = [Some("DP Group"), Some("EP Group")];
        let aligned = align(&of(&both), &of(&both));
        assert_eq!(
            aligned.keys().cloned().collect::<Vec<_>>(),
            [key(Some("DP Group")), key(Some("EP Group"))]
        );
    }

    #[test]
    fn other_names_are_no_other_bucket() {
        let aligned = align(&of(&[Some("DP Group"), Some("EP Group")]), &of(&[None]));
        let (left, right) = &aligned[&key(None)];
        assert_eq!(aligned.len(), 1);
        assert_eq!(left.as_ref().map(|b| b.operations), Some(2));
        assert_eq!(right.as_ref().map(|b| b.operations), Some(1));
    }

    #[test]
    fn what_one_side_lacks_is_kept() {
        let aligned = align(&of(&[None]), &Buckets::new());
        assert!(matches!(&aligned[&key(None)], (Some(_), None)));
    }
}
