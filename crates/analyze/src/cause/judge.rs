//! Whether a rank is late, unusually and by itself: what its lateness is held against.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::delay::Delay;
use super::late_rank::{LateRank, PASSED_ON, Z, mean};
use super::lateness::{OWN, Own};
use super::persistence::persists;
use super::pipeline::{AS_LATE, Index, Replicas};
use super::usual::{Usual, near};
use super::waits::{Waits, is_episode};
use super::words;
use crate::measured::Measured;
use crate::statistics::robust;
use crate::statistics::window::{self, Standout};

/// Ranks lose at least this share of the communicator's time by waiting for it: below that a cause isn't worth a night's sleep,
/// and differences of a few microseconds between processes are ordinary.
pub(super) const LOCAL_SHARE: f64 = 0.03;

/// Fewer operations in a window are an episode.
const LEAST_OPERATIONS: f64 = 24.0;

/// What a rank's lateness is held against.
pub(super) struct Judge<'a> {
    pub(super) m: &'a Measured,
    pub(super) places: &'a [Vec<(usize, usize)>],
    pub(super) noises: &'a BTreeMap<usize, window::Noise>,
    pub(super) usual: BTreeMap<usize, Usual>,
    pub(super) spanning: &'a BTreeSet<usize>,
    pub(super) delay: &'a Delay,
    pub(super) index: Index<'a>,
}

impl Judge<'_> {
    /// Whether a rank is late in a communicator, unusually and by itself.
    pub(super) fn late_by_itself(&self, o: &Own) -> Option<LateRank> {
        let late = self.late(o)?;
        let came = self.came(o, &late.window());
        (came < PASSED_ON * late.micros_late * late.operations).then_some(late)
    }

    /// Whether it is so but for what its replica of a pipeline does, whose ranks are told apart by who waits for whom.
    pub(super) fn late_with_replica(&self, o: &Own) -> Option<LateRank> {
        let late = self.late(o)?;
        let window = late.window();
        let came = self.waited_elsewhere(o, &window) - self.shared(o, &window);
        let came = came.max(self.by_links(o, &window).0);
        (came < PASSED_ON * late.micros_late * late.operations).then_some(late)
    }

    /// Whether nobody but the ranks of its replica and those of one communicator could pass delay on to a rank, as far as topology tells.
    pub(super) fn alone(&self, process: usize, replicas: &Replicas) -> bool {
        let comms = &self.m.topology.comms;
        let members = |c: usize| -> BTreeSet<usize> {
            let members = comms[c].members.iter();
            members.map(|x| x.1.0 as usize).collect()
        };
        let circles: Vec<(BTreeSet<usize>, bool)> = self.places[process]
            .iter()
            .map(|x| x.0)
            .filter(|c| !self.spanning.contains(c) && !replicas.comms.contains(c))
            .map(|c| {
                (
                    members(c),
                    comms[c].members.len() < comms[c].n_ranks as usize,
                )
            })
            .collect();
        let widest = circles.iter().map(|c| &c.0).max_by_key(|c| c.len());
        // Whoever left no file may be anybody.
        let within = |(members, lacks): &(BTreeSet<usize>, bool)| {
            widest.is_some_and(|w| members == w || (members.is_subset(w) && !lacks))
        };
        circles.iter().all(within)
    }

    /// Whether a rank is late for longer than an episode while none of its replica is as late: so is one that keeps a tensor group waiting, which
    /// holds up all replicas alike.
    pub(super) fn late_alone(
        &self,
        o: &Own,
        late: &LateRank,
        replicas: &Replicas,
        waits: &Waits,
    ) -> bool {
        let window = late.window();
        let level = |x: &Own| mean(&x.measured, &window);
        let limit = AS_LATE * level(o);
        let mut fellows = replicas
            .fellows(o.process)
            .flat_map(|q| self.index.of_process(q))
            .filter(|x| waits.knows(x));
        !is_episode(self.m, o, &window) && fellows.all(|x| level(x) < limit)
    }

    /// Whether it is late unusually, whether or not that was passed on to it.
    fn late(&self, o: &Own) -> Option<LateRank> {
        let m = self.m;
        let family = m.family_of[o.comm];
        let points = o.points(m);
        let standout = window::standout(&points, self.noises[&family])?;
        let window = standout.start..standout.end;
        let weight: f64 = points[window.clone()]
            .iter()
            .flatten()
            .map(|p| p.weight)
            .sum();
        let measured: f64 = o.measured[window.clone()]
            .iter()
            .zip(&points[window.clone()])
            .map(|(v, p)| v.unwrap_or(0.0) * p.map_or(0.0, |p| p.weight))
            .sum();
        // Not a rest of what fellows share, and more than ranks usually differ by.
        if standout.z < Z
            || standout.mean * weight < OWN * measured
            || self.spanning.contains(&o.comm)
        {
            return None;
        }
        let near = near(m, self.places, o.process);
        if standout.mean < self.usual[&family].limit(o.process, &near, weight) {
            return None;
        }
        let late = self.measure(o, standout);
        let enough = late.operations >= LEAST_OPERATIONS
            && persists(m.traces[o.comm].member(o.member), &window, standout.mean);
        (late.local_share >= LOCAL_SHARE && enough).then_some(late)
    }

    /// How late a rank is in a communicator in the window of a standout.
    pub(super) fn measure(&self, o: &Own, standout: Standout) -> LateRank {
        let window = standout.start..standout.end;
        let trace = &self.m.traces[o.comm];
        let (operations, late) = trace.member(o.member)[window.clone()]
            .iter()
            .zip(&o.own[window.clone()])
            .fold((0.0, 0.0), |a, (b, v)| {
                (a.0 + b.operations, a.1 + v.unwrap_or(0.0) * b.operations)
            });
        let members = self.m.topology.comms[o.comm].members.len();
        let time: f64 = (0..members)
            .flat_map(|i| &trace.member(i)[window.clone()])
            .map(|b| b.micros)
            .sum();
        let time_lost = late * (members - 1) as f64;
        LateRank {
            process: o.process,
            comm: o.comm,
            member: o.member,
            standout,
            micros_late: late / operations.max(1.0),
            operations,
            time_lost,
            comms: BTreeSet::from([o.comm]),
            local_share: if time > 0.0 { time_lost / time } else { 0.0 },
            alike: BTreeSet::new(),
            among: BTreeSet::new(),
        }
    }

    /// What came to a rank from elsewhere, µs. What a late neighbour in the pipeline added to its way here isn't its own; a part of
    /// it is shared by fellows, and has been taken off already. What slow links added isn't either, however well the fellows show it.
    fn came(&self, o: &Own, window: &Range<usize>) -> f64 {
        let (by_links, in_comms) = self.by_links(o, window);
        let came = self.delay.beyond_fellows(self.m, o, window) - in_comms;
        let came = came.max(self.waited_elsewhere(o, window)) - self.shared(o, window);
        came.max(by_links)
    }

    /// What slow links added, µs; and of what they added in communicators, the part that isn't why it is late.
    pub(super) fn by_links(&self, o: &Own, window: &Range<usize>) -> (f64, f64) {
        let by_links = self.delay.by_links(self.m, o, window);
        let by_comms = self.delay.by_comms(self.m, o, window);
        if by_comms > 0.0 && self.late_beside_links(o, window) {
            (by_links - by_comms, by_comms)
        } else {
            (by_links, 0.0)
        }
    }

    /// What fellows share of a rank's lateness, µs in all.
    fn shared(&self, o: &Own, window: &Range<usize>) -> f64 {
        let measured = &o.measured[window.clone()];
        self.m.traces[o.comm].member(o.member)[window.clone()]
            .iter()
            .zip(measured.iter().zip(&o.own[window.clone()]))
            .map(|(b, (all, own))| (all.unwrap_or(0.0) - own.unwrap_or(0.0)) * b.operations)
            .sum()
    }

    /// How much longer `o`'s process waited in its other communicators than the median of its fellows in this one did in theirs, µs.
    /// Whoever is the cause waits nowhere; who comes late from a communicator in which it waited brings another's delay.
    fn waited_elsewhere(&self, o: &Own, window: &Range<usize>) -> f64 {
        let m = self.m;
        // Where collectives lack ranks, waiting is known of some here and of others there.
        let lacks = |c: usize| 5 * m.facts[c].complete() < 4 * m.facts[c].collectives();
        let lossy = self.places[o.process].iter().any(|x| lacks(x.0));
        if lossy || words::unsure_place(m, o.comm, o.process) {
            return 0.0;
        }
        let waited = |p: usize| {
            self.places[p]
                .iter()
                .filter(|x| x.0 != o.comm && !self.spanning.contains(&x.0))
                .filter(|x| !m.traces[x.0].bins.is_empty())
                .flat_map(|&(c, i)| &m.traces[c].member(i)[window.clone()])
                .map(|b| b.wait)
                .sum::<f64>()
        };
        let members = m.topology.comms[o.comm].members.iter();
        let mut fellows: Vec<f64> = members
            .map(|x| x.1.0 as usize)
            .filter(|&p| p != o.process)
            .map(waited)
            .collect();
        waited(o.process) - robust::median(&mut fellows).unwrap_or(0.0)
    }

    /// Whether a rank is late by far more than those whom the same slow communicator holds up: then that isn't why.
    fn late_beside_links(&self, o: &Own, window: &Range<usize>) -> bool {
        let mut alike: Vec<f64> = self
            .delay
            .held_up_with(o.process)
            .flat_map(|p| self.index.of(p, self.m.family_of[o.comm]))
            .map(|x| mean(&x.measured, window))
            .collect();
        robust::median(&mut alike)
            .is_some_and(|level| level < PASSED_ON * mean(&o.measured, window))
    }
}
