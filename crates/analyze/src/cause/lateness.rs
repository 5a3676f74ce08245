//! Lateness of every rank in each of its communicators, and the part of it that is its own.
//!
//! Delay is passed on. A slow GPU makes its tensor-parallel peers wait, and then all of them arrive late at their
//! data-parallel collectives; the members of a slow communicator arrive late everywhere else. What they have in common is
//! that a rank's lateness in one communicator is shared by its fellows in another: so a rank's *own* lateness in a
//! communicator is what remains after the part that the fellows in any of its other communicators share, compared within
//! one family. This needs neither clocks nor the order of operations, and no assumption on what overlaps with what.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::fellows::{Fellows, Shared};
use crate::collective::trace::Bin;
use crate::measured::Measured;
use crate::statistics::window::Point;

/// A rank's lateness is its own when at least this part of it is; less is what fellows share, imperfectly matched in time.
pub(super) const OWN: f64 = 0.5;

/// A value per stretch of time, where there is one.
pub(crate) type Series = Vec<Option<f64>>;

/// A quantity of one rank in one communicator.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// Index of the communicator.
    pub(crate) comm: usize,
    /// Index in its members.
    pub(crate) member: usize,
    /// Process.
    pub(crate) process: usize,
    /// As measured against the communicator's other ranks.
    pub(crate) measured: Series,
    /// What no fellow shares.
    pub(crate) own: Series,
}

/// Places of every process: (communicator, member).
pub(crate) fn places(m: &Measured) -> Vec<Vec<(usize, usize)>> {
    let mut places = vec![Vec::new(); m.topology.processes.len()];
    for (c, comm) in m.topology.comms.iter().enumerate() {
        for (i, member) in comm.members.iter().enumerate() {
            places[member.1.0 as usize].push((c, i));
        }
    }
    places
}

/// Stretches on either side that a value is smoothed over. Times of operations are known to about 0.3 dump intervals (the
/// mean stamp of a few ranks), and what is compared must be of one time.
pub(super) fn radius(m: &Measured) -> usize {
    ((0.3 * m.dump_interval.unwrap_or(0.0) / width(m)).ceil() as usize).clamp(2, 12)
}

/// Length of a stretch, µs.
pub(super) fn width(m: &Measured) -> f64 {
    let (start, end) = m.grid.bounds(0);
    (end.as_unix_micros() - start.as_unix_micros()).max(1) as f64
}

/// Which quantity of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Lateness, µs an operation.
    Lateness,
    /// Lateness without smoothing over chunks, µs an operation.
    RawLateness,
    /// Events, µs in all.
    Events,
}

/// The quantity about each stretch; also where only neighbouring stretches hold operations, since those of one moment are
/// counted a little earlier in one communicator and a little later in another.
fn smooth(bins: &[Bin], quantity: Quantity, radius: usize) -> Series {
    (0..bins.len())
        .map(|b| {
            let near = &bins[b.saturating_sub(radius)..(b + radius + 1).min(bins.len())];
            let operations: f64 = near.iter().map(|b| b.operations).sum();
            (operations > 0.0).then(|| match quantity {
                Quantity::Lateness => near.iter().map(|b| b.lateness).sum::<f64>() / operations,
                Quantity::RawLateness => {
                    near.iter().map(|b| b.raw_lateness).sum::<f64>() / operations
                }
                Quantity::Events => near.iter().map(|b| b.event_micros).sum(),
            })
        })
        .collect()
}

/// Separates a quantity into shared and own parts. Communicators of `except` don't count as carrying delay on.
pub(crate) fn separate(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    quantity: Quantity,
    except: &BTreeSet<usize>,
) -> Vec<Own> {
    let radius = radius(m);
    let series: Vec<Vec<Series>> = m
        .traces
        .iter()
        .zip(&m.topology.comms)
        .map(|(t, c)| {
            let members = if t.bins.is_empty() {
                0
            } else {
                c.members.len()
            };
            (0..members)
                .map(|i| smooth(t.member(i), quantity, radius))
                .collect()
        })
        .collect();
    let fellows = Fellows::of(m, places, &series);
    let circles: Vec<BTreeSet<usize>> = places
        .iter()
        .map(|mine| fellows.circles_of(mine, except))
        .collect();
    let families: BTreeSet<usize> = m.family_of.iter().copied().collect();
    let mut owns: Vec<(usize, Own)> = Vec::new();
    // Family by family: what circles share in one of them is soon forgotten.
    for family in families {
        let shared = fellows.shared(family);
        let of_family: Vec<(usize, Own)> = circles
            .par_iter()
            .enumerate()
            .flat_map_iter(|(process, circles)| of_process(&shared, circles, process))
            .collect();
        owns.extend(of_family);
    }
    owns.sort_by_key(|(place, own)| (own.process, *place));
    owns.into_iter().map(|(_, own)| own).collect()
}

/// The lateness of one process in each of its communicators of a family, with the number of each among its places.
fn of_process(shared: &Shared<'_>, circles: &BTreeSet<usize>, process: usize) -> Vec<(usize, Own)> {
    let (fellows, family) = (shared.fellows, shared.family);
    let m = fellows.m;
    let mut passed_on: Option<PassedOn> = None;
    let mut out = Vec::new();
    for &(_, (comm, member), place) in fellows.places(process, family) {
        let Some(about) = fellows.series[comm]
            .get(member)
            .filter(|s| s.iter().any(Option::is_some))
        else {
            continue;
        };
        let bins = m.traces[comm].member(member);
        let measured: Series = about
            .iter()
            .zip(bins)
            .map(|(v, b)| v.filter(|_| b.operations > 0.0))
            .collect();
        // A process is in hundreds of communicators, but these are of few circles.
        let passed_on = passed_on.get_or_insert_with(|| {
            let mut passed_on = PassedOn::nothing(m.grid.len());
            for &circle in circles {
                if let Some(of_fellows) = shared.of_fellows(circle, process) {
                    passed_on.add(circle, &of_fellows);
                }
            }
            passed_on
        });
        let circle = fellows.circle_of[comm];
        let own = measured
            .iter()
            .enumerate()
            .map(|(b, all)| all.map(|all| all - passed_on.but_through(circle, b)))
            .collect();
        out.push((
            place,
            Own {
                comm,
                member,
                process,
                measured,
                own,
            },
        ));
    }
    out
}

/// The most that the fellows in any circle of a process share in one family, stretch by stretch; and the most but for one circle, since
/// what is looked at doesn't explain itself.
struct PassedOn(Vec<Largest>);

/// The two largest values, and whose the first is.
#[derive(Debug, Clone, Copy, Default)]
struct Largest {
    first: f64,
    through: Option<usize>,
    second: f64,
}

impl PassedOn {
    fn nothing(stretches: usize) -> Self {
        Self(vec![Largest::default(); stretches])
    }

    /// Adds what is shared through a circle. Where its members are silent, they are taken to share what they share on the whole.
    fn add(&mut self, through: usize, shared: &Series) {
        let (sum, n) = shared
            .iter()
            .flatten()
            .fold((0.0, 0_u32), |a, v| (a.0 + v, a.1 + 1));
        let usual = if n > 0 { sum / f64::from(n) } else { 0.0 };
        for (largest, value) in self.0.iter_mut().zip(shared) {
            let value = value.unwrap_or(usual);
            if value > largest.first {
                largest.second = largest.first;
                largest.first = value;
                largest.through = Some(through);
            } else if value > largest.second {
                largest.second = value;
            }
        }
    }

    /// The most that is passed on at a stretch, never below zero, through any circle but this one.
    fn but_through(&self, circle: usize, stretch: usize) -> f64 {
        let largest = self.0[stretch];
        if largest.through == Some(circle) {
            largest.second
        } else {
            largest.first
        }
    }
}

impl Own {
    /// What is the rank's own at a stretch: nothing where fellows share most of what it is late by. The rest is then what
    /// couldn't be matched in time.
    pub(crate) fn at(&self, stretch: usize) -> Option<f64> {
        let (all, own) = self.measured[stretch].zip(self.own[stretch])?;
        Some(if own >= OWN * all { own } else { 0.0 })
    }

    /// The own part with the measurements behind each value.
    pub(crate) fn points(&self, m: &Measured) -> Vec<Option<Point>> {
        weighted(&self.own, m.traces[self.comm].member(self.member))
    }
}

/// A series with the chunks behind each value.
pub(crate) fn weighted(series: &Series, bins: &[Bin]) -> Vec<Option<Point>> {
    series
        .iter()
        .zip(bins)
        .map(|(v, b)| {
            v.map(|value| Point {
                value,
                weight: b.chunks,
            })
        })
        .collect()
}
