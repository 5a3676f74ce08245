//! Links that are slow though nobody is late.
//!
//! A slow link shows in every communicator and pair that uses it, and in none that doesn't. So: find the units that take
//! longer than the fast ones of their kind; `locate.rs` then finds the links that explain them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::fabric::fabric;
use super::lateness::{self, Series};
use super::locate::localise;
use super::transfer::{Kind, Unit};
use crate::facts::Scope;
use crate::measured::Measured;
use crate::statistics::window::{self, Noise, Point, Standout};

/// Transfers of a slow unit take at least this much longer. Communicators of one shape differ by a few percent by where their
/// ranks sit on the switches; a card that lost a lane or a rate step loses a quarter at least.
pub(super) const SLOW: f64 = 1.12;

/// Where the transfer had to be estimated from the ranks that wait least, it still contains some waiting, here more, there less.
const SLOW_SPARSE: f64 = 1.3;

/// Times the noise; see `late_rank`.
pub(super) const Z: f64 = 6.0;

/// Windows of one cause overlap by at least this part of their union.
const SAME_WINDOW: f64 = 0.5;

/// What is slow outside of a window as well, by this part of what it is inside, is slow all the time.
const LASTING: f64 = 0.5;

/// A link, or links of which one is slow.
#[derive(Debug, Clone)]
pub(crate) struct SlowLink {
    /// Which links.
    pub(crate) scope: Scope,
    /// Candidate processes; empty for a host or the fabric.
    pub(crate) processes: Vec<usize>,
    /// Candidate hosts; empty for cards.
    pub(crate) hosts: Vec<String>,
    /// When.
    pub(crate) standout: Standout,
    /// Time over that of the fast ones, in the window.
    pub(crate) ratio: f64,
    /// Slow units, as indices.
    pub(crate) units: Vec<usize>,
    /// Units of the same kinds that are fast.
    pub(crate) fast: usize,
    /// Kernel time above the reference, µs.
    pub(crate) time_lost: f64,
}

/// A unit found slow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slow {
    /// Its index.
    pub(super) unit: usize,
    /// When it is slow.
    pub(super) standout: Standout,
    /// Time over that of the fast ones, then.
    pub(super) ratio: f64,
}

/// Every slow link, by time lost.
pub(crate) fn slow_links(m: &Measured, units: &[Unit]) -> Vec<SlowLink> {
    let mut out = Vec::new();
    let fabric = fabric(m, units);
    // What the fabric did then explains no single link: whoever is slow besides is so at other times as well.
    let covered = fabric.iter().flat_map(|(link, covered)| {
        let window = link.standout.start..link.standout.end;
        covered.iter().map(move |&u| (u, window.clone()))
    });
    let covered: BTreeMap<usize, Range<usize>> = covered.collect();
    let radius = lateness::radius(m) + half_interval(m);
    let about =
        |w: &Range<usize>| w.start.saturating_sub(radius)..(w.end + radius).min(m.grid.len());
    let at_that_time = |s: &Slow| {
        let window = Standout {
            start: covered[&s.unit].start,
            end: covered[&s.unit].end,
            ..s.standout
        };
        overlap(&s.standout, &window) >= SAME_WINDOW
    };
    let mostly_then = |s: &Slow| {
        fabric.as_ref().is_some_and(|(link, _)| {
            let window = about(&(link.standout.start..link.standout.end));
            let shared = s.standout.end.min(window.end);
            let shared = shared.saturating_sub(s.standout.start.max(window.start));
            shared as f64 >= SAME_WINDOW * (s.standout.end - s.standout.start) as f64
        })
    };
    let explained: BTreeSet<usize> = slow_units(units, &BTreeMap::new())
        .iter()
        .filter(|s| units[s.unit].network)
        .filter(|s| mostly_then(s) || (covered.contains_key(&s.unit) && at_that_time(s)))
        .map(|s| s.unit)
        .collect();
    let masks = covered.iter().map(|(&u, w)| (u, about(w))).collect();
    let mut rest = slow_units(units, &masks);
    rest.retain(|s| !explained.contains(&s.unit));
    out.extend(fabric.map(|f| f.0));
    for network in [false, true] {
        let mine: Vec<Slow> = rest
            .iter()
            .copied()
            .filter(|s| units[s.unit].network == network)
            .collect();
        for together in by_window(mine) {
            out.extend(localise(m, units, &together, network));
        }
    }
    let mut out = joined(out);
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then_with(|| a.units.cmp(&b.units))
    });
    out
}

/// Stretches in half of a dump interval: as far as the time of an operation can be off.
fn half_interval(m: &Measured) -> usize {
    (0.5 * m.dump_interval.unwrap_or(0.0) / lateness::width(m)).ceil() as usize
}

/// Links found at different times of the run are one where the times overlap and one suspect explains all: a card is slow in each of its
/// communicators and pairs, and noise moves the ends of a window.
fn joined(mut links: Vec<SlowLink>) -> Vec<SlowLink> {
    links.sort_by_key(|l| std::cmp::Reverse(l.units.len()));
    let mut out: Vec<SlowLink> = Vec::new();
    for link in links {
        let known = out.iter_mut().find_map(|known| {
            let meet = known.standout.start < link.standout.end
                && link.standout.start < known.standout.end;
            let mine = link.processes.iter();
            let shared: Vec<usize> = mine
                .copied()
                .filter(|p| known.processes.contains(p))
                .collect();
            let same = known.scope == link.scope && meet && !shared.is_empty();
            same.then_some((known, shared))
        });
        match known {
            Some((known, shared)) => {
                known.processes = shared;
                known.time_lost += link.time_lost;
                known.fast += link.fast;
                known.units.extend(link.units);
            }
            None => out.push(link),
        }
    }
    out
}

pub(super) fn logs(unit: &Unit) -> Series {
    unit.ratio.iter().map(|r| r.map(f64::ln)).collect()
}

pub(super) fn points(series: &Series, weights: &[f64]) -> Vec<Option<Point>> {
    series
        .iter()
        .zip(weights)
        .map(|(v, &weight)| v.map(|value| Point { value, weight }))
        .collect()
}

/// Units that are slower than the fast ones of their kind. `covered` are stretches of units whose slowness is explained.
fn slow_units(units: &[Unit], covered: &BTreeMap<usize, Range<usize>>) -> Vec<Slow> {
    let noises = noises(units);
    let mut out = Vec::new();
    for (i, unit) in units.iter().enumerate().filter(|(_, u)| !u.partial) {
        let mut points = points(&logs(unit), &unit.chunks);
        if let Some(window) = covered.get(&i) {
            points[window.clone()].fill(None);
        }
        let Some(standout) = window::standout(&points, noises[&unit.kind]) else {
            continue;
        };
        let standout = throughout(&points, standout);
        let ratio = standout.mean.exp();
        if standout.z >= Z && ratio >= if unit.sparse { SLOW_SPARSE } else { SLOW } {
            out.push(Slow {
                unit: i,
                standout,
                ratio,
            });
        }
    }
    out
}

/// The whole series, where it stands out by as good as the same behind the window: noise moves the ends of a window, and a link that
/// is slow all the time would seem to be another one in each of its communicators.
fn throughout(points: &[Option<Point>], s: Standout) -> Standout {
    let mean = |of: &mut dyn Iterator<Item = &Option<Point>>| {
        let (sum, weight) = of.flatten().fold((0.0, 0.0), |a, p| {
            (a.0 + p.value * p.weight, a.1 + p.weight)
        });
        (weight > 0.0).then(|| sum / weight)
    };
    let outside = mean(&mut points[..s.start].iter().chain(&points[s.end..]));
    let all = mean(&mut points.iter());
    let present = |p: &Option<Point>| p.is_some();
    let ends = points
        .iter()
        .position(present)
        .zip(points.iter().rposition(present));
    match (outside, all, ends) {
        (Some(outside), Some(mean), Some((first, last))) if outside >= LASTING * s.mean => {
            Standout {
                start: first,
                end: last + 1,
                mean,
                whole: true,
                ..s
            }
        }
        _ => s,
    }
}

fn noises(units: &[Unit]) -> BTreeMap<Kind, Noise> {
    let mut by_kind: BTreeMap<Kind, Vec<Series>> = BTreeMap::new();
    for u in units {
        by_kind.entry(u.kind).or_default().push(logs(u));
    }
    // A thousandth: medians of whole microseconds aren't surer than that.
    by_kind
        .into_iter()
        .map(|(k, s)| (k, window::noise(&s, 1e-3)))
        .collect()
}

fn overlap(a: &Standout, b: &Standout) -> f64 {
    let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    let union = a.end.max(b.end) - a.start.min(b.start);
    shared as f64 / union.max(1) as f64
}

/// Slow units grouped by when they are slow.
fn by_window(mut slow: Vec<Slow>) -> Vec<Vec<Slow>> {
    slow.sort_by(|a, b| {
        b.standout
            .z
            .total_cmp(&a.standout.z)
            .then(a.unit.cmp(&b.unit))
    });
    let mut groups: Vec<Vec<Slow>> = Vec::new();
    for s in slow {
        let near = |g: &Vec<Slow>| {
            (g[0].standout.whole && s.standout.whole)
                || overlap(&g[0].standout, &s.standout) >= SAME_WINDOW
        };
        match groups.iter_mut().find(|g| near(g)) {
            Some(g) => g.push(s),
            None => groups.push(vec![s]),
        }
    }
    groups
}
