//! Everything that can be counted record by record, in one pass over the dataset.
//!
//! Files are read in parallel and merged in the order of the dataset, so the result doesn't depend on the number of threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use nccl_report_ingest::{Dataset, Table};
use rayon::prelude::*;

use super::cell::CellKey;
use super::file_census::{FileCensus, Kept};
use super::gaps::Gaps;
use super::grid::TimeGrid;
use super::group_samples::{GroupSample, GroupSamples, Key};
use super::held::Held;
use super::registry::{EndpointKey, Registry};
use super::spill::{Spill, SpilledFile};
use crate::Error;
use crate::facts::TimingSource;

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
    pub(crate) cells: Cells,
    /// Sums per stretch of time, function and timing.
    pub(crate) stretches: BTreeMap<(usize, u32, TimingSource), Sums>,
    /// Samples per group and timing; the flag tells Send/Recv from collectives.
    pub(crate) groups: BTreeMap<Key, GroupSample>,
    /// Sequence numbers of each endpoint and function (collectives only).
    pub(crate) numbers: BTreeMap<(u32, u32), Numbers>,
    /// Times between consecutive stamps of an endpoint.
    pub(crate) gaps: Gaps,
    /// Whether any record has a communicator name, be it "unknown".
    pub(crate) named: bool,
    /// Written bandwidths that disagree with size and time.
    pub(crate) mismatches: u64,
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

/// Sums by what records are alike in, each once and in order once all are there: of thousands of ranks these are as many as records,
/// and a list takes a third of what a tree would.
#[derive(Debug, Default)]
pub(crate) struct Cells(Vec<(CellKey, Sums)>);

impl Cells {
    fn push(&mut self, key: CellKey, sums: Sums) {
        self.0.push((key, sums));
    }

    /// Puts them in order, those of one key together.
    fn settle(&mut self) {
        // Stable: sums of one key are added in the order of their files.
        self.0.sort_by_key(|c| c.0);
        self.0.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1.add(&next.1);
            }
            same
        });
        self.0.shrink_to_fit();
    }

    /// All, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&CellKey, &Sums)> + Clone {
        self.0.iter().map(|(key, sums)| (key, sums))
    }
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
    pub(super) fn add(&mut self, o: &Self) {
        self.records += o.records;
        self.bytes = self.bytes.saturating_add(o.bytes);
        self.micros += o.micros;
        self.busbw_micros += o.busbw_micros;
    }
}

/// What the pass found, and the records themselves.
#[derive(Debug)]
pub(crate) struct Taken {
    /// Counts and samples.
    pub(crate) census: Census,
    /// Collectives.
    pub(crate) collectives: Records,
    /// Sends and Receives.
    pub(crate) p2p: Records,
}

/// All records of a table.
#[derive(Debug)]
pub(crate) enum Records {
    /// In memory.
    Held(Held),
    /// On disk.
    Spilled(Arc<Spill>, Vec<SpilledFile>),
}

/// Reads the dataset once. The records stay for what comes after, in memory or in `spill`.
pub(crate) fn take(
    dataset: &Dataset,
    grid: &TimeGrid,
    spill: Option<Spill>,
) -> Result<Taken, Error> {
    let spill = spill.map(Arc::new);
    let mut census = Census::default();
    let groups = GroupSamples::default();
    // By batch, the census's numbers of its endpoints.
    let mut endpoints: Vec<Vec<u32>> = Vec::new();
    let mut take_table = |table| -> Result<Records, Error> {
        let batches = batches(dataset.table_rows(table));
        let (mut held, mut spilled) = (Vec::new(), Vec::new());
        // Two batches a thread at a time: their results wait for their turn to be merged, and mustn't pile up.
        for some in batches.chunks(2 * rayon::current_num_threads().max(1)) {
            let first = endpoints.len();
            let parts: Vec<FileCensus> = some
                .par_iter()
                .enumerate()
                .map(|(i, paths)| {
                    FileCensus::of(first + i, paths, table, grid, &groups, spill.as_deref())
                })
                .collect::<Result<_, _>>()?;
            for part in parts {
                let (of_batch, records) = census.merge(part);
                endpoints.push(of_batch);
                for kept in records {
                    match kept {
                        Kept::Held(file) => held.push(file),
                        Kept::Spilled(file) => spilled.push(file),
                    }
                }
            }
        }
        Ok(match &spill {
            Some(spill) => Records::Spilled(Arc::clone(spill), spilled),
            None => Records::Held(Held::new(held)),
        })
    };
    let collectives = take_table(Table::Collectives)?;
    let p2p = take_table(Table::P2p)?;
    census.cells.settle();
    census.groups = groups.finish();
    for sample in census.groups.values_mut() {
        sample.swarm.rename(&endpoints);
    }
    Ok(Taken {
        census,
        collectives,
        p2p,
    })
}

/// Files that are counted together have so many rows: what is counted is merged once for all of them, and a job of thousands of ranks has
/// thousands of small files.
const TOGETHER: u64 = 1 << 16;

/// Sorts files into batches, in their order; a large one is alone.
fn batches(files: Vec<(PathBuf, u64)>) -> Vec<Vec<PathBuf>> {
    let mut out: Vec<Vec<PathBuf>> = Vec::new();
    let mut together = u64::MAX;
    for (path, rows) in files {
        together = together.saturating_add(rows);
        match out.last_mut() {
            Some(batch) if together <= TOGETHER => batch.push(path),
            _ => {
                out.push(vec![path]);
                together = rows;
            }
        }
    }
    out
}

impl Census {
    /// Adds a batch; gives back the numbers that its endpoints have here, and its records.
    fn merge(&mut self, part: FileCensus) -> (Vec<u32>, Vec<Kept>) {
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
        for (key, cell) in part.cells.keys().iter().zip(&part.counts) {
            let sums = cell.sums();
            *self.timings.entry(key.timing).or_default() += sums.records;
            let (endpoint, function) = (
                endpoints[key.endpoint as usize],
                functions[key.function as usize],
            );
            if !part.p2p {
                let into = self.numbers.entry((endpoint, function)).or_default();
                *into = Numbers {
                    first: into.first.min(cell.numbers.first),
                    last: into.last.max(cell.numbers.last),
                };
            }
            let key = CellKey {
                endpoint,
                function,
                ..*key
            };
            self.cells.push(key, sums);
        }
        for ((stretch, function, timing), sums) in part.stretches {
            self.stretches
                .entry((stretch, functions[function as usize], timing))
                .or_default()
                .add(&sums);
        }
        self.named |= part.names.named;
        self.gaps.merge(&part.gaps);
        self.mismatches += part.mismatches;
        let mut records = part.kept;
        for kept in &mut records {
            match kept {
                Kept::Held(file) => file.rename(&endpoints, &functions),
                Kept::Spilled(file) => file.rename(&endpoints, &functions),
            }
        }
        (endpoints, records)
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
