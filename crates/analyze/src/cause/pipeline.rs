//! Which rank of a pipeline's replica is the one that the others wait for.
//!
//! The ranks of a replica (one of each stage) wait for each other in Send and Recv, so a delay of one makes all of them as late at
//! whatever comes next. Lateness can't tell them apart; the waiting can: against their peers of the same stage in other replicas,
//! all waited longer by that delay but the one that it began with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::delay::Delay;
use super::lateness::Own;
use super::stage;
use crate::measured::Measured;

/// A rank of the replica is as late as another from this part of its lateness on.
const AS_LATE: f64 = 0.5;

/// All that are as late have waited longer by this part of the lateness at least.
const WAITED: f64 = 0.5;

/// The replicas of all pipelines.
pub(crate) struct Replicas {
    /// Communicators that are replicas.
    pub(crate) comms: BTreeSet<usize>,
    /// The other ranks of a process's replicas.
    fellows: BTreeMap<usize, BTreeSet<usize>>,
}

impl Replicas {
    /// Of a job.
    pub(crate) fn of(m: &Measured) -> Self {
        let comms = stage::chains(m);
        let mut fellows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &c in &comms {
            let members = || m.topology.comms[c].members.iter().map(|x| x.1.0 as usize);
            for p in members() {
                fellows
                    .entry(p)
                    .or_default()
                    .extend(members().filter(|&q| q != p));
            }
        }
        Self { comms, fellows }
    }

    /// The other ranks of a process's replicas.
    pub(crate) fn fellows(&self, process: usize) -> impl Iterator<Item = usize> + '_ {
        self.fellows.get(&process).into_iter().flatten().copied()
    }

    /// Whether the ranks of `o`'s replica that are as late waited longer than `o`'s process, by a good part of `late` (µs in all).
    /// `level` is the mean lateness of a rank in a communicator of `o`'s family, in the window.
    pub(crate) fn wait_for(
        &self,
        m: &Measured,
        (index, delay): (&Index<'_>, &Delay),
        o: &Own,
        window: &Range<usize>,
        late: f64,
        level: &dyn Fn(&Own) -> f64,
    ) -> bool {
        let own = delay.about(m, o, window);
        let mine = level(o);
        self.fellows.get(&o.process).into_iter().flatten().all(|q| {
            index
                .of(*q, m.family_of[o.comm])
                .filter(|x| level(x) >= AS_LATE * mine)
                .all(|x| delay.about(m, x, window) - own >= WAITED * late)
        })
    }
}

/// Quantities by process and family.
pub(crate) struct Index<'a>(BTreeMap<(usize, usize), Vec<&'a Own>>);

impl<'a> Index<'a> {
    /// Of these.
    pub(crate) fn over(m: &Measured, owns: &'a [Own]) -> Self {
        let mut map: BTreeMap<(usize, usize), Vec<&Own>> = BTreeMap::new();
        for o in owns {
            map.entry((o.process, m.family_of[o.comm]))
                .or_default()
                .push(o);
        }
        Self(map)
    }

    /// Those of a process in a family.
    pub(super) fn of(&self, process: usize, family: usize) -> impl Iterator<Item = &'a Own> + '_ {
        self.0
            .get(&(process, family))
            .into_iter()
            .flatten()
            .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three replicas of a pipeline of two stages, ranks 0–1, 2–3 and 4–5, and the data-parallel groups of either stage. The ranks of
    /// the first replica wait so long in Send and Recv in ten stretches, the others 10 µs.
    fn job(first: f64, second: f64) -> Measured {
        let comms: &[(usize, &[u32])] = &[
            (0, &[0, 1]),
            (0, &[2, 3]),
            (0, &[4, 5]),
            (1, &[0, 2, 4]),
            (1, &[1, 3, 5]),
        ];
        let mut m = Measured::blank(6, comms);
        for c in 0..3 {
            m.pairs[c].entry((0, 1, 8192)).or_default();
            let waits = if c == 0 {
                [first, second]
            } else {
                [10.0, 10.0]
            };
            for wait in waits {
                let mut series = vec![0.0; 96];
                series[20..30].fill(wait);
                m.p2p_micros[c].extend(series);
            }
        }
        m
    }

    /// Lateness of a process in the communicator of its stage.
    fn late(process: usize, micros: f64) -> Own {
        Own {
            comm: 3 + process % 2,
            member: process / 2,
            process,
            measured: vec![Some(micros); 96],
            own: vec![Some(micros); 96],
        }
    }

    fn waits_for(m: &Measured, owns: &[Own], of: usize) -> bool {
        let delay = Delay::of(m, &[]);
        let index = Index::over(m, owns);
        let level = |o: &Own| o.own[20].unwrap_or(0.0);
        // Ten operations of 80 µs.
        let late = 800.0;
        Replicas::of(m).wait_for(m, (&index, &delay), &owns[of], &(20..30), late, &level)
    }

    #[test]
    fn ranks_that_send_to_their_neighbours_are_replicas() {
        let replicas = Replicas::of(&job(10.0, 90.0));
        assert_eq!(replicas.comms, BTreeSet::from([0, 1, 2]));
        assert_eq!(replicas.fellows[&0], BTreeSet::from([1]));
        assert_eq!(replicas.fellows[&5], BTreeSet::from([4]));
    }

    /// Rank 1 waits 10 × 90 µs where its peers of the stage wait 10 × 10: 800 longer, rank 0 not at all: the delay began with it.
    #[test]
    fn the_rank_that_the_others_wait_for_waits_least() {
        let m = job(10.0, 90.0);
        let owns = [late(0, 80.0), late(1, 80.0)];
        assert!(waits_for(&m, &owns, 0));
        assert!(!waits_for(&m, &owns, 1));
    }

    /// 390 µs longer than rank 0 is less than half of the 800 that it is late by; 410 is more.
    #[test]
    fn half_of_the_lateness_must_have_been_waited() {
        let owns = [late(0, 80.0), late(1, 80.0)];
        assert!(!waits_for(&job(10.0, 49.0), &owns, 0));
        assert!(waits_for(&job(10.0, 51.0), &owns, 0));
    }

    /// A fellow that is late by less than half as much has nothing to explain.
    #[test]
    fn only_those_as_late_are_asked() {
        let m = job(10.0, 10.0);
        assert!(waits_for(&m, &[late(0, 80.0), late(1, 39.0)], 0));
        assert!(!waits_for(&m, &[late(0, 80.0), late(1, 41.0)], 0));
    }
}
