//! The census of one Parquet file, or of a few small ones, in numbers of its own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nccl_report_ingest::Table;

use super::cell::{CellIndex, CellKey};
use super::census::{Numbers, Sums};
use super::gaps::Gaps;
use super::grid::TimeGrid;
use super::group_samples::{GroupSample, GroupSamples, Seen, Shared};
use super::hash::NumberMap;
use super::held::{HeldFile, Record};
use super::operation::{bandwidth_of, bus_work};
use super::scan::{self, Batch, Names};
use super::spill::{Spill, SpilledFile};
use super::swarm::Origin;
use crate::Error;
use crate::facts::{CommClass, GroupKey, TimingSource};
use crate::units::MessageSize;

/// Bandwidths as written and as computed may differ by the last of six decimals, by the truncation of the time to whole
/// microseconds, and by this much of rounding in writers that use floats. More is a mismatch.
const BANDWIDTH_TOLERANCE: f64 = 1e-3;

/// Counts and samples of the files.
#[derive(Default)]
pub(super) struct FileCensus {
    pub(super) names: Names,
    pub(super) p2p: bool,
    /// First and last stamp of each endpoint.
    pub(super) seen: Vec<(i64, i64)>,
    pub(super) dialects: Vec<u64>,
    pub(super) cells: CellIndex,
    /// By the number of the cell.
    pub(super) counts: Vec<CellCounts>,
    /// What is everybody's sample of a group, and what hasn't been added to it.
    groups: Vec<(Shared, GroupSample)>,
    /// Records since anything was.
    since: usize,
    /// Records that their group's sample doesn't hold yet: one list fills faster than four.
    waiting: Vec<Vec<Seen>>,
    pub(super) gaps: Gaps,
    pub(super) mismatches: u64,
    /// The records, in memory or on disk.
    pub(super) kept: Vec<Kept>,
    /// Of class, function, size, ranks, nodes and timing.
    group_index: NumberMap<(u8, u32, u64, u32, u32, u8), usize>,
    /// The last stamp of each endpoint.
    last_stamp: Vec<i64>,
    lines: Vec<Line>,
    line_index: NumberMap<(u32, u8), usize>,
    /// Sums per stretch of time, function and timing, but for those that lines hold.
    pub(super) stretches: BTreeMap<(usize, u32, TimingSource), Sums>,
}

/// The records of the files or of a part of them.
pub(super) enum Kept {
    /// In memory.
    Held(HeldFile),
    /// On disk.
    Spilled(SpilledFile),
}

/// Records that go to disk together, 32 bytes each, and after which the groups are added to everybody's.
const TOGETHER: usize = 1 << 16;

/// Records of a group that its sample doesn't hold yet are at most so many, 40 bytes each.
const WAITING: usize = 256;

/// A function with a timing, and its sums in the stretch of time that was last met.
struct Line {
    function: u32,
    timing: TimingSource,
    stretch: usize,
    sums: Sums,
}

/// Counts of one cell.
pub(super) struct CellCounts {
    size: u64,
    records: u64,
    micros: f64,
    busbw_micros: f64,
    pub(super) numbers: Numbers,
    /// Bus bandwidth × time of each record, by size and function.
    work: Option<f64>,
    group: usize,
    line: usize,
}

impl CellCounts {
    /// Sums over its records.
    pub(super) fn sums(&self) -> Sums {
        Sums {
            records: self.records,
            bytes: self.size.saturating_mul(self.records),
            micros: self.micros,
            busbw_micros: self.busbw_micros,
        }
    }
}

impl FileCensus {
    /// The `batch`-th batch of files; adds to `samples`.
    pub(super) fn of(
        batch: usize,
        paths: &[PathBuf],
        table: Table,
        grid: &TimeGrid,
        samples: &GroupSamples,
        spill: Option<&Spill>,
    ) -> Result<Self, Error> {
        let number = u32::try_from(batch).unwrap_or(u32::MAX);
        let mut census = Self {
            p2p: table == Table::P2p,
            ..Self::default()
        };
        let mut held = Vec::new();
        let mut names = Names::default();
        for path in paths {
            // Between the stamps of two files there is no gap of a dump interval.
            census.last_stamp.fill(i64::MIN);
            scan::more_operations(path, table, &mut names, |names, batch| {
                census.add(names, batch, grid, (number, samples), &mut held);
                if census.since >= TOGETHER {
                    census.share();
                }
                match spill {
                    Some(spill) if held.len() >= TOGETHER => census.spill(spill, &mut held),
                    _ => Ok(()),
                }
            })?;
        }
        census.names = names;
        census.share();
        (census.groups, census.waiting) = (Vec::new(), Vec::new());
        for line in 0..census.lines.len() {
            census.turn(line, usize::MAX);
        }
        match spill {
            Some(spill) => census.spill(spill, &mut held)?,
            None => {
                let held = HeldFile::new(held, census.cells.keys());
                census.kept.push(Kept::Held(held));
            }
        }
        Ok(census)
    }

    /// Adds what the groups show to everybody's samples.
    fn share(&mut self) {
        for ((all, sample), waiting) in self.groups.iter_mut().zip(&mut self.waiting) {
            sample.take(waiting);
            all.add(sample);
        }
        self.since = 0;
    }

    fn spill(&mut self, spill: &Spill, records: &mut Vec<Record>) -> Result<(), Error> {
        let held = HeldFile::new(std::mem::take(records), self.cells.keys());
        self.kept.push(Kept::Spilled(spill.put(held)?));
        Ok(())
    }

    fn add(
        &mut self,
        names: &Names,
        batch: &Batch,
        grid: &TimeGrid,
        (number, samples): (u32, &GroupSamples),
        held: &mut Vec<Record>,
    ) {
        self.since += batch.len();
        let endpoints = names.endpoints.items().len();
        self.seen.resize(endpoints, (i64::MAX, i64::MIN));
        self.last_stamp.resize(endpoints, i64::MIN);
        self.dialects.resize(names.dialects.items().len(), 0);
        let mut stretches = grid.cursor();
        for i in 0..batch.len() {
            let (endpoint, at) = (batch.endpoint[i], batch.dumped[i]);
            let (size, micros, busbw) = (batch.size[i], batch.micros[i], batch.busbw[i]);
            let sequence_number = batch.sequence_number[i];
            self.dialects[batch.dialect[i] as usize] += 1;
            self.stamp(endpoint as usize, at);

            let cell = self.cells.number(CellKey {
                endpoint,
                function: batch.function[i],
                size,
                timing: batch.timing[i],
                p2p: self.p2p,
            });
            if cell as usize == self.counts.len() {
                self.open_cell(names, samples);
            }
            let counts = &mut self.counts[cell as usize];
            counts.records += 1;
            counts.micros += micros;
            counts.busbw_micros += busbw * micros;
            let numbers = &mut counts.numbers;
            numbers.first = numbers.first.min(sequence_number);
            numbers.last = numbers.last.max(sequence_number);

            let stretch = stretches.stretch(at);
            let (group, line, work) = (counts.group, counts.line, counts.work);
            if self.lines[line].stretch != stretch {
                self.turn(line, stretch);
            }
            self.lines[line].sums.add(&Sums {
                records: 1,
                bytes: size,
                micros,
                busbw_micros: busbw * micros,
            });
            let waiting = &mut self.waiting[group];
            waiting.push(Seen {
                micros,
                point: (
                    busbw,
                    at,
                    Origin {
                        batch: number,
                        endpoint,
                    },
                ),
                stretch: u32::try_from(stretch).unwrap_or(u32::MAX),
            });
            if waiting.len() == WAITING {
                self.groups[group].1.take(waiting);
            }
            if let Some(computed) = work.and_then(|w| bandwidth_of(w, micros)) {
                let tolerance = 1e-6 + computed * (BANDWIDTH_TOLERANCE + 1.0 / micros);
                self.mismatches += u64::from((busbw - computed).abs() > tolerance);
            }
            held.push(Record {
                sequence_number,
                dumped: at,
                micros,
                cell,
                peer: batch.peer[i],
            });
        }
    }

    fn stamp(&mut self, endpoint: usize, at: i64) {
        let seen = &mut self.seen[endpoint];
        *seen = (seen.0.min(at), seen.1.max(at));
        let before = std::mem::replace(&mut self.last_stamp[endpoint], at);
        if before != i64::MIN {
            self.gaps.add(before, at);
        }
    }

    /// Puts a line's sums away, and takes those of another stretch up where they were left.
    fn turn(&mut self, line: usize, stretch: usize) {
        let line = &mut self.lines[line];
        let key = |stretch| (stretch, line.function, line.timing);
        let other = self.stretches.remove(&key(stretch)).unwrap_or_default();
        if line.sums.records > 0 {
            self.stretches.insert(key(line.stretch), line.sums);
        }
        (line.stretch, line.sums) = (stretch, other);
    }

    /// Makes room for the newest cell.
    fn open_cell(&mut self, names: &Names, samples: &GroupSamples) {
        let Some(&key) = self.cells.keys().last() else {
            return;
        };
        let endpoint = &names.endpoints.items()[key.endpoint as usize];
        let function = &names.functions.items()[key.function as usize];
        let class = CommClass::of(endpoint.n_ranks, endpoint.nnodes);
        let timing = key.timing as u8;
        let shape = (endpoint.n_ranks, endpoint.nnodes);
        let group = (
            class as u8,
            key.function,
            key.size,
            shape.0,
            shape.1,
            timing,
        );
        let group = *self.group_index.entry(group).or_insert_with(|| {
            let group = GroupKey {
                class,
                operation: function.clone(),
                size: MessageSize::from_bytes(key.size),
                n_ranks: endpoint.n_ranks,
                nnodes: endpoint.nnodes,
            };
            let all = samples.of((group, self.p2p, key.timing));
            self.groups.push((all, GroupSample::default()));
            self.waiting.push(Vec::new());
            self.groups.len() - 1
        });
        let line = *self
            .line_index
            .entry((key.function, timing))
            .or_insert_with(|| {
                self.lines.push(Line {
                    function: key.function,
                    timing: key.timing,
                    stretch: usize::MAX,
                    sums: Sums::default(),
                });
                self.lines.len() - 1
            });
        self.counts.push(CellCounts {
            size: key.size,
            records: 0,
            micros: 0.0,
            busbw_micros: 0.0,
            numbers: Numbers::default(),
            work: bus_work(function, endpoint.n_ranks, key.size),
            group,
            line,
        });
    }
}
