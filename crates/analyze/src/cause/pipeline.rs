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
use super::waits::{self, Waited, Waits};
use crate::measured::Measured;

/// A rank of the replica is as late as another from this part of its lateness on.
pub(super) const AS_LATE: f64 = 0.5;

/// All that are as late have waited longer by this part of the lateness at least.
const WAITED: f64 = 0.5;

/// Whoever waited for the rank with which a delay began did so by this part of the longest wait at least: a stage whose collectives come after
/// its forward pass has met a third of the delay, since the backward pass computes twice as long.
pub(super) const LEAST_WAITED: f64 = 0.25;

/// Two ranks of a replica waited for different times if these differ by so many standard errors: among all pairs of a job of thousands of
/// ranks, 4 happen by chance once in a few runs, and the errors are estimates.
const SURE: f64 = 5.0;

/// Who makes a replica late.
pub(crate) enum Blame<'a> {
    /// This rank: all the others waited for it.
    One(&'a Own),
    /// One of these processes: the data doesn't tell which.
    Among(BTreeSet<usize>),
    /// None of its ranks is as late as the others.
    Nobody,
}

/// The replicas of all pipelines.
pub(crate) struct Replicas {
    /// Communicators that are replicas.
    pub(crate) comms: BTreeSet<usize>,
    /// The other ranks of a process's replicas.
    fellows: BTreeMap<usize, BTreeSet<usize>>,
    /// The replica of a process.
    chain_of: BTreeMap<usize, usize>,
}

impl Replicas {
    /// Of a job.
    pub(crate) fn of(m: &Measured) -> Self {
        let comms = stage::chains(m);
        let mut fellows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut chain_of = BTreeMap::new();
        for &c in &comms {
            let members = || m.topology.comms[c].members.iter().map(|x| x.1.0 as usize);
            for p in members() {
                chain_of.entry(p).or_insert(c);
                fellows
                    .entry(p)
                    .or_default()
                    .extend(members().filter(|&q| q != p));
            }
        }
        Self {
            comms,
            fellows,
            chain_of,
        }
    }

    /// The other ranks of a process's replicas.
    pub(crate) fn fellows(&self, process: usize) -> impl Iterator<Item = usize> + '_ {
        self.fellows.get(&process).into_iter().flatten().copied()
    }

    /// The communicator in which a process sends to the next stage.
    pub(crate) fn chain_of(&self, process: usize) -> Option<usize> {
        self.chain_of.get(&process).copied()
    }

    /// With whom the lateness of a replica began in a window. `ranks` are its ranks, each where it meets its peers; of these, `late` are as
    /// late as any, by `seen` µs in all at least. The rank with which it began waited for nobody; the others waited for it.
    pub(crate) fn blame<'a>(
        m: &Measured,
        waits: &Waits,
        (ranks, late): (&[&'a Own], &BTreeSet<usize>),
        window: &Range<usize>,
        seen: f64,
    ) -> Blame<'a> {
        let is_late = |o: &&'a Own| late.contains(&o.process);
        if !ranks
            .iter()
            .copied()
            .filter(is_late)
            .all(|o| waits.knows(o))
        {
            let mut asked = ranks.iter().copied().filter(is_late);
            return match (asked.next(), asked.next()) {
                (Some(one), None) => Blame::One(one),
                _ => Blame::Among(late.clone()),
            };
        }
        let known = ranks.iter().copied().filter(|o| waits.knows(o));
        let known: Vec<&'a Own> = known.collect();
        let Some(waited) = waited(m, waits, &known, window) else {
            // Of many steps, records of Send and Recv lack.
            let episode = known.iter().any(|o| waits::is_episode(m, o, window));
            return if episode || late.len() < 2 {
                Blame::Nobody
            } else {
                Blame::Among(late.clone())
            };
        };
        let Some(&(least, first)) = waited.iter().find(|w| is_late(&w.0)) else {
            return Blame::Nobody;
        };
        let beyond = |w: &Waited| w.micros - first.micros;
        let error = |w: &Waited| w.error.hypot(first.error);
        let last = waited[waited.len() - 1].1;
        if beyond(&last) < SURE * error(&last) {
            // That nobody waited in nearly every step says that the replica isn't late in these, if it would be seen.
            return if seen >= SURE * error(&last) || late.len() < 2 {
                Blame::Nobody
            } else {
                Blame::Among(late.clone())
            };
        }
        let waited_for_it =
            |w: &Waited| beyond(w) >= LEAST_WAITED * beyond(&last) && beyond(w) >= SURE * error(w);
        let among: BTreeSet<usize> = waited
            .iter()
            .filter(|w| is_late(&w.0) && (w.0.process == least.process || !waited_for_it(&w.1)))
            .map(|w| w.0.process)
            .collect();
        if among.len() == 1 {
            Blame::One(least)
        } else {
            Blame::Among(among)
        }
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

/// What the ranks of a replica waited, the least first; `None` where it isn't known of all.
pub(super) fn waited<'a>(
    m: &Measured,
    waits: &Waits,
    ranks: &[&'a Own],
    window: &Range<usize>,
) -> Option<Vec<(&'a Own, Waited)>> {
    let replica: BTreeSet<usize> = ranks.iter().map(|o| o.process).collect();
    let of = |&o: &&'a Own| Some((o, waits.waited(m, o, window, &replica)?));
    let mut waited: Vec<(&Own, Waited)> = ranks.iter().map(of).collect::<Option<_>>()?;
    waited.sort_by(|a, b| a.1.micros.total_cmp(&b.1.micros));
    Some(waited)
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

    /// Those of a process.
    pub(super) fn of_process(&self, process: usize) -> impl Iterator<Item = &'a Own> + '_ {
        let all = self.0.range((process, 0)..=(process, usize::MAX));
        all.flat_map(|x| x.1).copied()
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

    fn blamed(m: &Measured, seen: f64) -> BTreeSet<usize> {
        let ranks = [waits::tests::at_peers(0), waits::tests::at_peers(1)];
        let ranks: Vec<&Own> = ranks.iter().collect();
        let ranks = (ranks.as_slice(), &BTreeSet::from([0, 1]));
        match Replicas::blame(m, &Waits::of(m), ranks, &(0..96), seen) {
            Blame::One(o) => BTreeSet::from([o.process]),
            Blame::Among(processes) => processes,
            Blame::Nobody => BTreeSet::new(),
        }
    }

    /// Times of Send and Recv: these of rank 0 and 1, and 10 µs of all others.
    fn times(first: f64, second: f64) -> Measured {
        waits::tests::job(|rank, _| *[first, second].get(rank).unwrap_or(&10.0))
    }

    #[test]
    fn blame_is_on_the_rank_that_waited_for_nobody() {
        assert_eq!(blamed(&times(10.0, 90.0), 1280.0), BTreeSet::from([0]));
        assert_eq!(blamed(&times(90.0, 10.0), 1280.0), BTreeSet::from([1]));
        // The culprit waits less than its peers where it used to wait for the other.
        assert_eq!(blamed(&times(2.0, 50.0), 640.0), BTreeSet::from([0]));
    }

    /// Both late and neither waited, though a delay of 1280 µs would be seen: pauses of either. One of 10 µs would not: one of them.
    #[test]
    fn without_waiting_nobody_is_blamed_or_both() {
        assert!(blamed(&times(10.0, 10.0), 1280.0).is_empty());
        assert_eq!(blamed(&times(10.0, 10.0), 10.0), BTreeSet::from([0, 1]));
    }
}
