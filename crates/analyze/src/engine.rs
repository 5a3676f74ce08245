//! The flow of the analysis: count record by record, find out who is who, match collectives, look for causes, put into words.

use std::collections::BTreeSet;
use std::ops::Range;

use nccl_report_ingest::{Dataset, Table};
use rayon::prelude::*;

use crate::assemble;
use crate::cause;
use crate::collective::facts::CommFacts;
use crate::collective::gather::{self, Portion};
use crate::collective::matching::Matched;
use crate::collective::order::{self, ahead};
use crate::collective::pool::Pools;
use crate::collective::trace::{self, Trace};
use crate::communicator::{Topology, family};
use crate::comparison::{CommBlocks, Examined, Kept};
use crate::facts::Job;
use crate::host;
use crate::kernels;
use crate::measured::Measured;
use crate::point_to_point::{self, Traffic, exchange};
use crate::records::algorithms;
use crate::records::census::{self, Census, Records};
use crate::records::clock;
use crate::records::grid::{STRETCHES, TimeGrid};
use crate::records::held::Held;
use crate::records::operation::semantics;
use crate::records::scan;
use crate::records::spill::Spill;
use crate::rules::{self, RankTails, Rules};
use crate::{Error, Options};

/// Analyses a dataset.
///
/// The records of a dataset are read once where they fit into memory, and never more of them held than [`Options::max_rows`].
///
/// # Errors
/// When a file of the dataset can't be read or isn't one of ours, or [`Options::hosts_of_traces`] names what isn't a trace.
pub fn analyze(dataset: &Dataset, options: &Options) -> Result<Job, Error> {
    host::given::check(dataset, &options.hosts_of_traces)?;
    let m = measure(dataset, options, false)?;
    let mut job = conclude(dataset, options, m)?;
    if let Some(rules) = &options.rules {
        let tails = tails(dataset, options, &job)?;
        let broken = rules::check(rules, &job, &tails, None);
        job.findings.extend(broken);
    }
    Ok(job)
}

/// The slow end of each rank's times, where rules ask for it.
fn tails(dataset: &Dataset, options: &Options, job: &Job) -> Result<RankTails, Error> {
    if options.rules.as_ref().is_some_and(Rules::need_tails) {
        rules::rank_tails(dataset, job)
    } else {
        Ok(RankTails::default())
    }
}

/// Analyses a dataset and keeps what a comparison with another needs. Rules aren't applied yet: the comparison does, which has the
/// other run.
///
/// # Errors
/// As [`analyze`].
pub fn examine(dataset: &Dataset, options: &Options) -> Result<Examined, Error> {
    let mut m = measure(dataset, options, true)?;
    let blocks = m.blocks.take().unwrap_or_default();
    let kept = Kept::of(&m, blocks);
    let algorithms = algorithms::algorithms(dataset)?;
    let job = conclude(dataset, options, m)?;
    let tails = tails(dataset, options, &job)?;
    Ok(kept.with(job, algorithms, tails))
}

fn conclude(dataset: &Dataset, options: &Options, mut m: Measured) -> Result<Job, Error> {
    let examined = host::examine(dataset, &m, options)?;
    let retransmits = examined.as_ref().map_or(&[][..], |e| &e.retransmits);
    let call_micros = examined.as_ref().map_or(0.0, host::Examined::call_micros);
    let mut causes = cause::find(&mut m, dataset.inputs(), retransmits, call_micros);
    let traces = examined
        .map(|examined| {
            let (findings, suspects) = (&mut causes.findings, std::mem::take(&mut causes.suspects));
            host::explain(dataset, &m, options, examined, findings, suspects)
        })
        .transpose()?;
    let (cube, hosts) = assemble::cube(&m)?;
    let mut slices = assemble::slices(&m, &cube, &hosts)?;
    slices.extend(assemble::time_slices(&m));
    let shares = assemble::shares(&m, &cube)?;
    let groups = assemble::groups(&mut m);
    let histograms = assemble::histograms(&mut m);
    let scatters = assemble::scatters(&mut m);
    let pairs = assemble::pairs(&mut m);
    let overview = assemble::overview(&m, options.title.clone());
    let communicators = assemble::communicators(&m);
    let families = assemble::families(&mut m);
    Ok(Job {
        inputs: dataset.inputs().clone(),
        overview,
        pair_matrices: assemble::pair_matrices(&pairs),
        communicators,
        families,
        groups,
        slices,
        pairs,
        shares,
        budget: causes.budget,
        findings: causes.findings,
        scatters,
        histograms,
        heat_maps: causes.heat_maps,
        timelines: causes.timelines,
        traces,
        runs: m.topology.runs,
        processes: m.topology.processes,
    })
}

fn measure(dataset: &Dataset, options: &Options, keep_blocks: bool) -> Result<Measured, Error> {
    let spans = dataset
        .files()
        .iter()
        .filter_map(|f| Some((f.census.first_dump_us?, f.census.last_dump_us?)))
        .collect();
    let stamps = TimeGrid::over(spans, STRETCHES);
    // Read once; what doesn't fit into memory waits on disk until it is matched.
    let records: u64 = [Table::Collectives, Table::P2p]
        .iter()
        .map(|&t| rows_of(dataset, t))
        .sum();
    let spill = (records > options.max_rows)
        .then(|| Spill::new(dataset.root()))
        .transpose()?;
    let taken = census::take(dataset, &stamps, spill)?;
    let census = taken.census;
    let topology = Topology::of(&census);
    let timing = census.timing();
    let dump_interval = census.gaps.dump_interval();
    let n = topology.comms.len();
    let kernels = kernels::read(dataset, &topology, &census)?;
    let functions = census.functions.items();
    let ends_together = |f: u32, n_ranks| semantics(&functions[f as usize], n_ranks).ends_together;
    let by_kernels = kernels::clocks::offsets(&topology, &kernels, ends_together);
    let clock_of_kernels = by_kernels.is_some();
    let clock = by_kernels
        .unwrap_or_else(|| clock::offsets(&topology, &census.seen, dump_interval.unwrap_or(0.0)));
    let grid = TimeGrid::over(
        topology
            .comms
            .iter()
            .flat_map(|c| &c.members)
            .map(|&(_, process, endpoint)| {
                let (first, last) = census.seen[endpoint as usize];
                let offset = clock[process.0 as usize] as i64;
                (first.saturating_sub(offset), last.saturating_sub(offset))
            })
            .collect(),
        stretches(records, census.endpoints.items().len() as u64),
    );

    let mut repertoire: Vec<BTreeSet<(u32, u64)>> = vec![BTreeSet::new(); n];
    let mut rows = [vec![0_u64; n], vec![0_u64; n]];
    for (key, sums) in census.cells.iter().filter(|(k, _)| k.timing == timing) {
        let comm = topology.place[key.endpoint as usize].0 as usize;
        repertoire[comm].insert((key.function, key.size));
        rows[usize::from(key.p2p)][comm] += sums.records;
    }
    let kin = family::families(&topology.comms, &repertoire);
    let mut family_of = vec![0; n];
    for (f, k) in kin.iter().enumerate() {
        k.comms.iter().for_each(|&c| family_of[c] = f);
    }

    let mut m = Measured {
        blocks: keep_blocks.then(|| vec![CommBlocks::default(); n]),
        facts: std::iter::repeat_with(CommFacts::default).take(n).collect(),
        pools: Pools::default(),
        traces: vec![Trace::default(); n],
        pairs: std::iter::repeat_with(Default::default).take(n).collect(),
        p2p_micros: vec![Vec::new(); n],
        in_order: vec![Vec::new(); n],
        exchanges: BTreeSet::new(),
        dropped: dropped(dataset, &census, &topology)?,
        stamps,
        clock,
        clock_of_kernels,
        kernels,
        grid,
        census,
        topology,
        timing,
        dump_interval,
        kin,
        family_of,
    };
    each_portion(
        &mut m,
        &taken.collectives,
        &rows[0],
        options,
        match_collectives,
    )?;
    each_portion(&mut m, &taken.p2p, &rows[1], options, pair_up)?;
    Ok(m)
}

/// Where records wait on disk, those of a portion are so many times fewer than could be held: they are in memory twice while they are
/// matched, and beside them is what a longer job keeps.
const PARTS: u64 = 8;

/// Gives all records of a table to `take`, by communicators, as many at a time as memory is to hold.
fn each_portion(
    m: &mut Measured,
    records: &Records,
    rows_of_comm: &[u64],
    options: &Options,
    take: fn(&mut Measured, &Held, &Portion),
) -> Result<(), Error> {
    match records {
        Records::Held(held) => take(m, held, &Portion::all(rows_of_comm.len())),
        Records::Spilled(spill, files) => {
            for portion in gather::portions(rows_of_comm, options.max_rows / PARTS) {
                let held = gather::load(spill, files, m, &portion)?;
                take(m, &held, &portion);
            }
        }
    }
    Ok(())
}

/// What is kept over time, as so many values of each rank of each communicator, are at most so many or half as many as there are records:
/// 2¹⁸ of 64 bytes are 16 MiB.
const KEPT_OVER_TIME: u64 = 1 << 18;

/// Stretches are at least so many: a window of a quarter of the run then has eight.
const LEAST_STRETCHES: u64 = 32;

/// How many stretches of time are told apart for each rank of each communicator: fewer where these are so many that most stretches would hold
/// next to nothing.
fn stretches(records: u64, endpoints: u64) -> usize {
    let each = KEPT_OVER_TIME.max(records / 2) / endpoints.max(1);
    (each.max(LEAST_STRETCHES) as usize).min(STRETCHES)
}

fn rows_of(dataset: &Dataset, table: Table) -> u64 {
    let tables = dataset.files().iter().flat_map(|f| &f.tables);
    tables.filter(|t| t.table == table).map(|t| t.rows).sum()
}

/// A few communicators a thread at a time: what each is found to do is kept in short only.
fn some(portion: &Portion) -> impl Iterator<Item = Range<usize>> {
    let step = 8 * rayon::current_num_threads().max(1);
    let end = portion.comms.end;
    let starts = portion.comms.clone().step_by(step);
    starts.map(move |start| start..(start + step).min(end))
}

fn match_collectives(m: &mut Measured, held: &Held, portion: &Portion) {
    for range in some(portion) {
        match_some(m, held, range, portion.is_last());
    }
}

fn match_some(m: &mut Measured, held: &Held, range: Range<usize>, last: bool) {
    let interval = m.dump_interval.unwrap_or(0.0);
    let (timing, grid, clock) = (m.timing, &m.grid, &m.clock);
    let functions = m.census.functions.items();
    let function = |f: u32| functions[f as usize].as_str();
    let keep_blocks = m.blocks.is_some();
    let parts: Vec<(CommFacts, Trace, CommBlocks)> = m.topology.comms[range.clone()]
        .par_iter()
        .map(|comm| {
            let matched = Matched::of(order::rows(comm, held, timing, &ahead(comm, clock)));
            let mut blocks = CommBlocks::default();
            if keep_blocks {
                for (collective, _) in matched.collectives() {
                    blocks.add(&collective, comm.n_ranks, grid);
                }
            }
            let ends_together = |f: u32| semantics(function(f), comm.n_ranks).ends_together;
            (
                CommFacts::of(comm, &matched, function),
                trace::trace(comm, &matched, grid, interval, ends_together),
                blocks,
            )
        })
        .collect();
    for (c, (facts, trace, blocks)) in range.zip(parts) {
        m.facts[c].merge(facts);
        if last {
            let (family, comm) = (m.family_of[c], &m.topology.comms[c]);
            m.pools.settle(family, comm, &mut m.facts[c], function);
        }
        m.traces[c].merge(trace);
        if let Some(kept) = &mut m.blocks {
            kept[c].merge(blocks);
        }
    }
}

fn pair_up(m: &mut Measured, held: &Held, portion: &Portion) {
    let range = portion.comms.clone();
    let interval = m.dump_interval.unwrap_or(0.0);
    let (timing, grid, clock) = (m.timing, &m.grid, &m.clock);
    let functions = m.census.functions.items();
    let direction = |f: u32| match functions[f as usize].as_str() {
        "Send" => Some(true),
        "Recv" => Some(false),
        _ => None,
    };
    let parts: Vec<_> = m.topology.comms[range.clone()]
        .par_iter()
        .map(|comm| {
            let ahead = ahead(comm, clock);
            let time = (grid, interval);
            let mut traffic = Traffic::of(comm, held, timing, &ahead, time, direction);
            let micros = std::mem::take(&mut traffic.micros);
            let in_order = std::mem::take(&mut traffic.in_order);
            let operations = exchange::operations(comm, held, timing, &ahead, &traffic);
            let exchanges = exchange::exchanges(&operations, &direction);
            let trace = (!exchanges.is_empty())
                .then(|| trace::trace(comm, &Matched::of(exchanges), grid, interval, |_| true));
            (
                point_to_point::pairs(traffic, grid, interval),
                (micros, in_order),
                trace,
            )
        })
        .collect();
    for (c, (pairs, (micros, in_order), trace)) in range.zip(parts) {
        if let Some(trace) = trace {
            m.traces[c].merge(trace);
            m.exchanges.insert(c);
        } else if m.in_order[c].is_empty() {
            m.in_order[c] = in_order;
        } else {
            let theirs = in_order.iter();
            (m.in_order[c].iter_mut().zip(theirs)).for_each(|(a, b)| a.merge(b));
        }
        if m.p2p_micros[c].is_empty() {
            m.p2p_micros[c] = micros;
        } else {
            m.p2p_micros[c]
                .iter_mut()
                .zip(micros)
                .for_each(|(a, b)| *a += b);
        }
        for (key, facts) in pairs {
            m.pairs[c].entry(key).or_default().merge(facts);
        }
    }
}

/// Records dropped per communicator, where its dumps say.
fn dropped(
    dataset: &Dataset,
    census: &Census,
    topology: &Topology,
) -> Result<Vec<Option<u64>>, Error> {
    let mut out = vec![None; topology.comms.len()];
    let files: Vec<_> = dataset
        .table(Table::DumpStats)
        .par_iter()
        .map(|p| scan::dropped(p))
        .collect::<Result<_, _>>()?;
    for (key, n) in files.into_iter().flatten() {
        // A rank of which only statistics are left has no records, hence no place.
        if let Some(e) = census.endpoints.get(&key) {
            let into: &mut Option<u64> = &mut out[topology.place[e as usize].0 as usize];
            *into = Some(into.unwrap_or(0).saturating_add(n));
        }
    }
    Ok(out)
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
