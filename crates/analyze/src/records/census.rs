//! Everything that can be counted record by record, in one pass over the dataset.
//!
//! Files are read in parallel and merged in the order of the dataset, so the result doesn't depend on the number of threads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nccl_report_ingest::{Dataset, Table};
use rayon::prelude::*;

use super::grid::TimeGrid;
use super::operation::bus_bandwidth;
use super::registry::{EndpointKey, Registry};
use super::scan::{self, Batch, Names};
use super::swarm::Swarm;
use crate::Error;
use crate::facts::{CommClass, GroupKey, TimingSource};
use crate::statistics::Sample;

/// Bandwidths as written and as computed may differ by the last of six decimals, by the truncation of the time to whole
/// microseconds, and by this much of rounding in writers that use floats. More is a mismatch.
const BANDWIDTH_TOLERANCE: f64 = 1e-3;

/// Lines of one dump are written a few microseconds apart; the shortest real interval is above 50 µs.
const SAME_DUMP_MICROS: u64 = 25;

/// Gaps between stamps are sorted into bins this much of a factor wide.
const GAP_RATIO: f64 = 1.05;

/// What the pass found. Numbers are indices into the registries.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// Where records come from.
    pub(crate) endpoints: Registry<EndpointKey>,
    /// Functions, collectives and Send/Recv alike.
    pub(crate) functions: Registry<String>,
    /// First and last stamp of each endpoint.
    pub(crate) seen: Vec<(i64, i64)>,
    /// Records by format version and `git_rev`.
    pub(crate) dialects: BTreeMap<(Option<String>, Option<String>), u64>,
    /// Records by timing source.
    pub(crate) timings: BTreeMap<TimingSource, u64>,
    /// Sums per endpoint, function, size and timing.
    pub(crate) cells: BTreeMap<CellKey, Sums>,
    /// Sums per stretch of time, function and timing.
    pub(crate) stretches: BTreeMap<(usize, u32, TimingSource), Sums>,
    /// Samples per group and timing; the flag tells Send/Recv from collectives.
    pub(crate) groups: BTreeMap<(GroupKey, bool, TimingSource), GroupSample>,
    /// Sequence numbers of each endpoint and function (collectives only).
    pub(crate) numbers: BTreeMap<(u32, u32), Numbers>,
    /// Time between consecutive stamps of an endpoint, by the logarithm of the gap: sums of gaps, µs.
    pub(crate) gaps: BTreeMap<i32, i64>,
    /// Consecutive records of an endpoint, and how many of them were written within one dump.
    pub(crate) neighbours: (u64, u64),
    /// Whether any record has a communicator name, be it "unknown".
    pub(crate) named: bool,
    /// Written bandwidths that disagree with size and time.
    pub(crate) mismatches: u64,
}

/// What a [`Sums`] is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CellKey {
    /// Endpoint.
    pub(crate) endpoint: u32,
    /// Function.
    pub(crate) function: u32,
    /// Message size, bytes.
    pub(crate) size: u64,
    /// Where times come from.
    pub(crate) timing: TimingSource,
    /// Send/Recv rather than a collective.
    pub(crate) p2p: bool,
}

/// Sums over records.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    /// How many.
    pub(crate) records: u64,
    /// Message sizes.
    pub(crate) bytes: u64,
    /// Kernel times, µs.
    pub(crate) micros: f64,
    /// Bus bandwidth × time, GB/s · µs.
    pub(crate) busbw_micros: f64,
}

/// Sequence numbers and how densely they come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    /// The smallest.
    pub(crate) first: i64,
    /// The largest.
    pub(crate) last: i64,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            first: i64::MAX,
            last: i64::MIN,
        }
    }
}

impl Sums {
    fn add(&mut self, o: &Self) {
        self.records += o.records;
        self.bytes = self.bytes.saturating_add(o.bytes);
        self.micros += o.micros;
        self.busbw_micros += o.busbw_micros;
    }
}

/// Values of a group's records.
#[derive(Debug, Default)]
pub(crate) struct GroupSample {
    /// Kernel times, µs.
    pub(crate) micros: Sample,
    /// Bus bandwidths as written, GB/s.
    pub(crate) busbw: Sample,
    /// What is drawn of them.
    pub(crate) swarm: Swarm,
}

/// Reads the dataset once.
pub(crate) fn take(dataset: &Dataset, grid: &TimeGrid) -> Result<Census, Error> {
    let mut files: Vec<(PathBuf, Table)> = dataset
        .table(Table::Collectives)
        .into_iter()
        .map(|p| (p, Table::Collectives))
        .collect();
    files.extend(
        dataset
            .table(Table::P2p)
            .into_iter()
            .map(|p| (p, Table::P2p)),
    );
    let mut whole = Census::default();
    // A few files a thread at a time: their results wait for their turn to be merged, and mustn't pile up.
    for some in files.chunks(4 * rayon::current_num_threads().max(1)) {
        let parts: Vec<FileCensus> = some
            .par_iter()
            .map(|(path, table)| FileCensus::of(path, *table, grid))
            .collect::<Result<_, _>>()?;
        for part in parts {
            whole.merge(part);
        }
    }
    Ok(whole)
}

/// The census of one Parquet file, in the file's own numbers.
#[derive(Default)]
struct FileCensus {
    names: Names,
    p2p: bool,
    seen: Vec<(i64, i64)>,
    dialects: Vec<u64>,
    timings: BTreeMap<TimingSource, u64>,
    cells: Vec<(CellKey, Sums)>,
    cell_index: std::collections::HashMap<CellKey, usize>,
    cell_group: Vec<usize>,
    stretches: BTreeMap<(usize, u32, TimingSource), Sums>,
    groups: Vec<((GroupKey, TimingSource), GroupSample)>,
    group_index: BTreeMap<(GroupKey, TimingSource), usize>,
    numbers: BTreeMap<(u32, u32), Numbers>,
    last_stamp: Vec<i64>,
    gaps: BTreeMap<i32, i64>,
    neighbours: (u64, u64),
    mismatches: u64,
}

impl FileCensus {
    fn of(path: &std::path::Path, table: Table, grid: &TimeGrid) -> Result<Self, Error> {
        let mut census = Self {
            p2p: table == Table::P2p,
            ..Self::default()
        };
        census.names = scan::operations(path, table, |names, batch| {
            census.add(names, batch, grid);
            Ok(())
        })?;
        Ok(census)
    }

    fn add(&mut self, names: &Names, batch: &Batch, grid: &TimeGrid) {
        self.seen
            .resize(names.endpoints.items().len(), (i64::MAX, i64::MIN));
        self.dialects.resize(names.dialects.items().len(), 0);
        let mut last: Option<(CellKey, usize)> = None;
        for i in 0..batch.len() {
            let (endpoint, function, timing) =
                (batch.endpoint[i], batch.function[i], batch.timing[i]);
            let (size, micros, busbw, at) = (
                batch.size[i],
                batch.micros[i],
                batch.busbw[i],
                batch.dumped[i],
            );
            let seen = &mut self.seen[endpoint as usize];
            *seen = (seen.0.min(at), seen.1.max(at));
            self.note_gap(endpoint, at);
            self.dialects[batch.dialect[i] as usize] += 1;
            let key = CellKey {
                endpoint,
                function,
                size,
                timing,
                p2p: self.p2p,
            };
            let cell = match last {
                Some((k, c)) if k == key => c,
                _ => self.cell(names, key),
            };
            last = Some((key, cell));
            if !self.p2p {
                let numbers = self.numbers.entry((endpoint, function)).or_default();
                let sn = batch.sequence_number[i];
                *numbers = Numbers {
                    first: numbers.first.min(sn),
                    last: numbers.last.max(sn),
                };
            }
            let one = Sums {
                records: 1,
                bytes: size,
                micros,
                busbw_micros: busbw * micros,
            };
            self.cells[cell].1.add(&one);
            self.stretches
                .entry((grid.stretch(at), function, timing))
                .or_default()
                .add(&one);
            let group = &mut self.groups[self.cell_group[cell]].1;
            group.micros.push(micros);
            group.busbw.push(busbw);
            group.swarm.push(at, busbw, endpoint, grid);
            let key = &names.endpoints.items()[endpoint as usize];
            if let Some(computed) = bus_bandwidth(
                &names.functions.items()[function as usize],
                key.n_ranks,
                size,
                micros,
            ) {
                let tolerance = 1e-6 + computed * (BANDWIDTH_TOLERANCE + 1.0 / micros);
                self.mismatches += u64::from((busbw - computed).abs() > tolerance);
            }
        }
        for (t, n) in count_timings(batch) {
            *self.timings.entry(t).or_default() += n;
        }
    }

    fn note_gap(&mut self, endpoint: u32, at: i64) {
        let endpoint = endpoint as usize;
        if self.last_stamp.len() <= endpoint {
            self.last_stamp.resize(endpoint + 1, i64::MIN);
        }
        let before = std::mem::replace(&mut self.last_stamp[endpoint], at);
        if before != i64::MIN {
            self.neighbours.0 += 1;
            self.neighbours.1 += u64::from(at.abs_diff(before) <= SAME_DUMP_MICROS);
        }
        if before != i64::MIN && before < at {
            let gap = at.saturating_sub(before);
            let sum = self
                .gaps
                .entry(((gap as f64).ln() / GAP_RATIO.ln()).floor() as i32)
                .or_default();
            *sum = sum.saturating_add(gap);
        }
    }

    /// The place of a cell's sums, and with it of its group.
    fn cell(&mut self, names: &Names, key: CellKey) -> usize {
        if let Some(&i) = self.cell_index.get(&key) {
            return i;
        }
        let endpoint = &names.endpoints.items()[key.endpoint as usize];
        let group = GroupKey {
            class: CommClass::of(endpoint.n_ranks, endpoint.nnodes),
            operation: names.functions.items()[key.function as usize].clone(),
            size: crate::units::MessageSize::from_bytes(key.size),
            n_ranks: endpoint.n_ranks,
            nnodes: endpoint.nnodes,
        };
        let next = self.groups.len();
        let group = *self
            .group_index
            .entry((group, key.timing))
            .or_insert_with_key(|k| {
                self.groups.push((k.clone(), GroupSample::default()));
                next
            });
        self.cells.push((key, Sums::default()));
        self.cell_group.push(group);
        self.cell_index.insert(key, self.cells.len() - 1);
        self.cells.len() - 1
    }
}

fn count_timings(batch: &Batch) -> BTreeMap<TimingSource, u64> {
    let mut counts = BTreeMap::new();
    for &t in &batch.timing {
        *counts.entry(t).or_default() += 1;
    }
    counts
}

impl Census {
    fn merge(&mut self, part: FileCensus) {
        let endpoints: Vec<u32> = part
            .names
            .endpoints
            .items()
            .iter()
            .map(|e| self.endpoints.intern(e))
            .collect();
        let functions: Vec<u32> = part
            .names
            .functions
            .items()
            .iter()
            .map(|f| self.functions.intern(f))
            .collect();
        self.seen
            .resize(self.endpoints.items().len(), (i64::MAX, i64::MIN));
        for (&e, s) in endpoints.iter().zip(&part.seen) {
            let seen = &mut self.seen[e as usize];
            *seen = (seen.0.min(s.0), seen.1.max(s.1));
        }
        for (d, n) in part.names.dialects.items().iter().zip(&part.dialects) {
            *self.dialects.entry(d.clone()).or_default() += n;
        }
        for (t, n) in part.timings {
            *self.timings.entry(t).or_default() += n;
        }
        for (key, sums) in &part.cells {
            let key = CellKey {
                endpoint: endpoints[key.endpoint as usize],
                function: functions[key.function as usize],
                ..*key
            };
            self.cells.entry(key).or_default().add(sums);
        }
        for ((stretch, function, timing), sums) in &part.stretches {
            self.stretches
                .entry((*stretch, functions[*function as usize], *timing))
                .or_default()
                .add(sums);
        }
        for ((key, timing), mut sample) in part.groups {
            sample.swarm.rename(&endpoints);
            let into = self.groups.entry((key, part.p2p, timing)).or_default();
            into.micros.merge(sample.micros);
            into.busbw.merge(sample.busbw);
            into.swarm.merge(sample.swarm);
        }
        for ((e, f), n) in part.numbers {
            let into = self
                .numbers
                .entry((endpoints[e as usize], functions[f as usize]))
                .or_default();
            *into = Numbers {
                first: into.first.min(n.first),
                last: into.last.max(n.last),
            };
        }
        self.neighbours = (
            self.neighbours.0 + part.neighbours.0,
            self.neighbours.1 + part.neighbours.1,
        );
        self.named |= part.names.named;
        for (k, sum) in part.gaps {
            let into = self.gaps.entry(k).or_default();
            *into = into.saturating_add(sum);
        }
        self.mismatches += part.mismatches;
    }

    /// Whether dumps hold one record a communicator: hardly any two consecutive ones were written together.
    pub(crate) fn one_a_dump(&self) -> bool {
        self.neighbours.0 > 0 && self.neighbours.1 * 50 < self.neighbours.0
    }

    /// Distance between two dumps, µs: half of the time passes in gaps between stamps that are shorter. Stamps of one dump
    /// lie microseconds apart and hold no time; pauses of the job are few. `None` with fewer than two stamps an endpoint.
    pub(crate) fn dump_interval(&self) -> Option<f64> {
        let total: i128 = self.gaps.values().map(|&s| i128::from(s)).sum();
        let mut sum = 0_i128;
        for (&k, &s) in &self.gaps {
            sum += i128::from(s);
            if 2 * sum >= total {
                return Some(((f64::from(k) + 0.5) * GAP_RATIO.ln()).exp());
            }
        }
        None
    }

    /// The timing that the statistics are about: the GPU's where any record has it, else what most records have.
    pub(crate) fn timing(&self) -> TimingSource {
        if self.timings.contains_key(&TimingSource::KernelGpu) {
            return TimingSource::KernelGpu;
        }
        self.timings
            .iter()
            .max_by_key(|(t, n)| (**n, std::cmp::Reverse(**t)))
            .map_or(TimingSource::KernelGpu, |(t, _)| *t)
    }
}
