//! Groups, histograms and scatters: like with like, over all communicators.

use std::collections::{BTreeMap, BTreeSet};

use super::families::share;
use crate::collective::pool::Times;
use crate::facts::{
    CommClass, DensityCell, Group, Histogram, Scatter, ScatterPoint, ScatterSeries,
};
use crate::measured::Measured;
use crate::records::operation::bus_work;
use crate::statistics::Sample;
use crate::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};

/// Bins of a histogram.
const BINS: usize = 48;

/// A message is latency-bound while its time is under this many times that of the smallest of its kind: at twice the time most
/// of it is still latency.
const LATENCY_RATIO: f64 = 2.0;

/// What the collectives of a group showed, over its communicators.
#[derive(Default)]
struct Matched {
    communicators: u64,
    collectives: u64,
    times: Times,
}

/// What a group's records are alike in, its operation by the census's number: class, operation, size, ranks, nodes.
type Alike = (CommClass, u32, u64, u32, u32);

/// Every group. Leaves the samples of the census sorted.
pub(crate) fn groups(m: &mut Measured) -> Vec<Group> {
    let mut matched = matched(m);
    let total = m.total_micros();
    let timing = m.timing;
    let mut out: Vec<Group> = Vec::new();
    let mut typical: Vec<f64> = Vec::new();
    for ((key, p2p, t), sample) in &mut m.census.groups {
        if *t != timing {
            continue;
        }
        let function = m.census.functions.get(&key.operation).unwrap_or(u32::MAX);
        let size = key.size.as_bytes();
        let alike = (key.class, function, size, key.n_ranks, key.nnodes);
        let found = matched.remove(&alike).unwrap_or_default();
        let micros = sample.micros.sum();
        let records = sample.micros.count();
        let (Some(busbw), Some(exec_time)) = (
            sample.busbw.distribution(BusBandwidth::from_gb_per_s),
            sample.micros.distribution(ExecTime::from_micros),
        ) else {
            continue;
        };
        let Matched {
            communicators,
            collectives,
            mut times,
        } = found;
        let work = bus_work(&key.operation, key.n_ranks, size);
        typical.push(
            times
                .shortest
                .quantiles(&[0.5])
                .first()
                .copied()
                .unwrap_or(exec_time.p50.as_micros()),
        );
        out.push(Group {
            key: key.clone(),
            p2p: *p2p,
            communicators,
            collectives: if *p2p { records } else { collectives },
            records,
            busbw,
            exec_time,
            link_busbw: times
                .link_busbw(work)
                .distribution(BusBandwidth::from_gb_per_s),
            felt_busbw: times.felt_busbw.distribution(BusBandwidth::from_gb_per_s),
            time: ExecTime::from_micros(micros),
            share_of_time: share(micros, total),
            latency_bound: false,
        });
    }
    mark_latency_bound(&mut out, &typical);
    out
}

/// By group, the matched collectives of all communicators, and how many communicators there are.
fn matched(m: &Measured) -> BTreeMap<Alike, Matched> {
    let mut out: BTreeMap<Alike, Matched> = BTreeMap::new();
    for (comm, facts) in m.topology.comms.iter().zip(&m.facts) {
        for (&(function, size), cell) in &facts.cells {
            let alike = (comm.class(), function, size, comm.n_ranks, comm.nnodes);
            let into = out.entry(alike).or_default();
            into.communicators += 1;
            into.collectives += cell.collectives;
        }
    }
    for (&(family, function, size), times) in m.pools.iter() {
        let kin = &m.kin[family];
        let alike = (kin.class, function, size, kin.n_ranks, kin.nnodes);
        out.entry(alike).or_default().times.merge(times.clone());
    }
    // Sends and Receives aren't matched.
    let cells = m.census.cells.iter().map(|c| c.0);
    let seen: BTreeSet<(u32, u32, u64)> = cells
        .filter(|k| k.timing == m.timing && k.p2p)
        .map(|k| (m.topology.place[k.endpoint as usize].0, k.function, k.size))
        .collect();
    for (comm, function, size) in seen {
        let comm = &m.topology.comms[comm as usize];
        let alike = (comm.class(), function, size, comm.n_ranks, comm.nnodes);
        out.entry(alike).or_default().communicators += 1;
    }
    out
}

/// Marks groups whose time hardly differs from that of the smallest message of the same kind, given a much larger one exists.
fn mark_latency_bound(groups: &mut [Group], typical: &[f64]) {
    let kind = |g: &Group| {
        (
            g.key.class,
            g.key.operation.clone(),
            g.key.n_ranks,
            g.key.nnodes,
        )
    };
    let mut smallest: BTreeMap<_, (MessageSize, f64)> = BTreeMap::new();
    let mut largest: BTreeMap<_, MessageSize> = BTreeMap::new();
    for (g, &t) in groups.iter().zip(typical) {
        let s = smallest.entry(kind(g)).or_insert((g.key.size, t));
        if g.key.size < s.0 {
            *s = (g.key.size, t);
        }
        let l = largest.entry(kind(g)).or_insert(g.key.size);
        *l = (*l).max(g.key.size);
    }
    for (g, &t) in groups.iter_mut().zip(typical) {
        let (size, time) = smallest[&kind(g)];
        let decades = largest[&kind(g)].as_bytes() as f64 / size.as_bytes().max(1) as f64;
        // Alone, a size says nothing of the regime: then the old rule of thumb, that a ring is latency-bound under 1 MiB.
        let by_time = decades >= 8.0 && t < LATENCY_RATIO * time && g.key.size < largest[&kind(g)];
        let by_size = decades < 8.0 && g.key.size.as_bytes() < 1 << 20;
        g.latency_bound = by_time || by_size;
    }
}

/// A histogram for each group, over equal steps of the logarithm.
pub(crate) fn histograms(m: &mut Measured) -> Vec<Histogram> {
    let timing = m.timing;
    let mut pooled: BTreeMap<(CommClass, String, MessageSize), Sample> = BTreeMap::new();
    for ((key, _, t), sample) in &m.census.groups {
        if *t == timing {
            pooled
                .entry((key.class, key.operation.clone(), key.size))
                .or_default()
                .merge(sample.busbw.clone());
        }
    }
    pooled
        .into_iter()
        .filter_map(|((class, operation, size), mut sample)| {
            histogram(class, operation, size, &mut sample)
        })
        .collect()
}

fn histogram(
    class: CommClass,
    operation: String,
    size: MessageSize,
    sample: &mut Sample,
) -> Option<Histogram> {
    let positive: Vec<(f64, u64)> = sample
        .runs()
        .iter()
        .copied()
        .filter(|r| r.0 > 0.0)
        .collect();
    let (low, high) = (positive.first()?.0, positive.last()?.0);
    // All equal: one bin of a percent around the value.
    let (low, high) = if low < high {
        (low, high)
    } else {
        (low / 1.005, high * 1.005)
    };
    let step = (high / low).ln() / BINS as f64;
    let mut counts = vec![0_u64; BINS];
    for (v, n) in positive {
        let bin = (((v / low).ln() / step) as usize).min(BINS - 1);
        counts[bin] += n;
    }
    let edges = (0..=BINS)
        .map(|k| BusBandwidth::from_gb_per_s(low * (step * k as f64).exp()))
        .collect();
    Some(Histogram {
        class,
        operation,
        size,
        edges,
        counts,
    })
}

/// A scatter for each class and operation, a series per size.
pub(crate) fn scatters(m: &mut Measured) -> Vec<Scatter> {
    let timing = m.timing;
    let mut pooled: BTreeMap<(CommClass, String), BTreeMap<MessageSize, Vec<ScatterSeries>>> =
        BTreeMap::new();
    for ((key, _, t), sample) in &mut m.census.groups {
        if *t != timing {
            continue;
        }
        let swarm = &mut sample.swarm;
        let density = if swarm.is_whole() {
            Vec::new()
        } else {
            let bandwidth = BusBandwidth::from_gb_per_s;
            swarm
                .cells()
                .map(|(stretch, low, high, count)| {
                    let (start, end) = m.stamps.bounds(stretch);
                    DensityCell {
                        start,
                        end,
                        low: bandwidth(low),
                        high: bandwidth(high),
                        count,
                    }
                })
                .collect()
        };
        let points = swarm
            .points()
            .iter()
            .map(|&(busbw, at, origin)| {
                let (comm, member) = m.topology.place[origin.endpoint as usize];
                let process = m.topology.comms[comm as usize].members[member as usize].1;
                ScatterPoint {
                    at: Timestamp::from_unix_micros(at),
                    busbw: BusBandwidth::from_gb_per_s(busbw),
                    process,
                }
            })
            .collect();
        let series = ScatterSeries {
            size: key.size,
            records: swarm.count(),
            points,
            density,
        };
        pooled
            .entry((key.class, key.operation.clone()))
            .or_default()
            .entry(key.size)
            .or_default()
            .push(series);
    }
    pooled
        .into_iter()
        .map(|((class, operation), sizes)| Scatter {
            class,
            operation,
            series: sizes.into_values().filter_map(join).collect(),
        })
        .collect()
}

/// One series of those that differ in the number of ranks only.
fn join(parts: Vec<ScatterSeries>) -> Option<ScatterSeries> {
    parts.into_iter().reduce(|mut a, b| {
        a.records += b.records;
        a.points.extend(b.points);
        a.density.extend(b.density);
        a
    })
}
