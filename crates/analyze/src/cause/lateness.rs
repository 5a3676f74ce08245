//! Lateness of every rank in each of its communicators, and the part of it that is its own.
//!
//! Delay is passed on. A slow GPU makes its tensor-parallel peers wait, and then all of them arrive late at their
//! data-parallel collectives; the members of a slow communicator arrive late everywhere else. What they have in common is
//! that a rank's lateness in one communicator is shared by its fellows in another: so a rank's *own* lateness in a
//! communicator is what remains after the part that the fellows in any of its other communicators share, compared within
//! one family. This needs neither clocks nor the order of operations, and no assumption on what overlaps with what.

use std::collections::{BTreeMap, BTreeSet};

use crate::collective::trace::Bin;
use crate::measured::Measured;
use crate::statistics::robust;
use crate::statistics::window::Point;

/// With this many fellows the median with a rank and without it are the same for our purpose.
const MANY: usize = 16;

/// So many of many fellows must speak at a time, the rank among them.
const QUORUM: usize = 6;

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
    let shared = Shared {
        m,
        places,
        series: &series,
        memo: std::cell::RefCell::default(),
    };
    let mut out = Vec::new();
    for (process, mine) in places.iter().enumerate() {
        for &(comm, member) in mine {
            let Some(about) = series[comm]
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
            let mut own = measured.clone();
            for &(other, _) in mine {
                if other == comm
                    || m.topology.comms[other].members.len() < 2
                    || except.contains(&other)
                {
                    continue;
                }
                let explained = shared.by_fellows(m.family_of[comm], other, process);
                // Where the fellows are silent, they are taken to share what they share on the whole.
                let (sum, n) = explained
                    .iter()
                    .flatten()
                    .fold((0.0, 0_u32), |a, v| (a.0 + v, a.1 + 1));
                let usual = if n > 0 { sum / f64::from(n) } else { 0.0 };
                for ((value, explained), all) in own.iter_mut().zip(&explained).zip(&measured) {
                    if let (Some(v), Some(all)) = (value.as_mut(), all) {
                        *v = v.min(all - explained.unwrap_or(usual).max(0.0));
                    }
                }
            }
            out.push(Own {
                comm,
                member,
                process,
                measured,
                own,
            });
        }
    }
    out
}

impl Own {
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

/// Medians over the fellows in a communicator of a quantity in a family.
struct Shared<'a> {
    m: &'a Measured,
    places: &'a [Vec<(usize, usize)>],
    series: &'a [Vec<Series>],
    memo: std::cell::RefCell<BTreeMap<(usize, usize), Series>>,
}

impl Shared<'_> {
    /// What the fellows of `process` in communicator `through` show in their communicators of `family`, at the median.
    fn by_fellows(&self, family: usize, through: usize, process: usize) -> Series {
        let members = &self.m.topology.comms[through].members;
        if members.len() <= MANY {
            return self.median(family, through, Some(process));
        }
        if let Some(known) = self.memo.borrow().get(&(family, through)) {
            return known.clone();
        }
        let all = self.median(family, through, None);
        self.memo
            .borrow_mut()
            .insert((family, through), all.clone());
        all
    }

    fn median(&self, family: usize, through: usize, but: Option<usize>) -> Series {
        let fellows: Vec<&Series> = self.m.topology.comms[through]
            .members
            .iter()
            .map(|x| x.1.0 as usize)
            .filter(|&p| Some(p) != but)
            .flat_map(|p| &self.places[p])
            .filter(|(c, _)| *c != through && self.m.family_of[*c] == family)
            .filter_map(|&(c, i)| self.series[c].get(i))
            .collect();
        let mut values = Vec::with_capacity(fellows.len());
        (0..self.m.grid.len())
            .map(|b| {
                values.clear();
                values.extend(fellows.iter().filter_map(|s| s[b]));
                // The rank itself is among many fellows, and mustn't explain itself where most of the others are silent.
                if but.is_none() && values.len() < QUORUM {
                    None
                } else {
                    robust::median(&mut values)
                }
            })
            .collect()
    }
}
