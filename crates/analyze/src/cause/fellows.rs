//! Who shares a communicator with whom, and what they show elsewhere.
//!
//! Communicators with the same members are one circle: whoever is late in one of them is so towards the same fellows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::lateness::Series;
use crate::measured::Measured;
use crate::statistics::robust::{self, Others};

/// With this many fellows the median with a rank and without it are the same for our purpose.
const MANY: usize = 16;

/// So many of many fellows must speak at a time, the rank among them.
const QUORUM: usize = 6;

/// A place (communicator and member) with its family and its number among the places of its process.
type Place = (usize, (usize, usize), usize);

/// The circles of a job.
pub(super) struct Fellows<'a> {
    pub(super) m: &'a Measured,
    /// By communicator, a series a member.
    pub(super) series: &'a [Vec<Series>],
    /// By communicator.
    pub(super) circle_of: Vec<usize>,
    /// The processes of each, ascending.
    circles: Vec<Vec<usize>>,
    /// By process, its places sorted by family.
    by_family: Vec<Vec<Place>>,
}

impl<'a> Fellows<'a> {
    /// Finds the circles.
    pub(super) fn of(
        m: &'a Measured,
        places: &[Vec<(usize, usize)>],
        series: &'a [Vec<Series>],
    ) -> Self {
        let by_family = places
            .iter()
            .map(|mine| {
                let places = mine.iter().enumerate();
                let mut mine: Vec<Place> = places.map(|(n, &p)| (m.family_of[p.0], p, n)).collect();
                mine.sort_by_key(|&(family, ..)| family);
                mine
            })
            .collect();
        let mut numbers: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let circle_of = m
            .topology
            .comms
            .iter()
            .map(|comm| {
                let mut processes: Vec<usize> =
                    comm.members.iter().map(|x| x.1.0 as usize).collect();
                processes.sort_unstable();
                processes.dedup();
                let next = numbers.len();
                *numbers.entry(processes).or_insert(next)
            })
            .collect();
        let mut circles = vec![Vec::new(); numbers.len()];
        for (processes, number) in numbers {
            circles[number] = processes;
        }
        Self {
            m,
            series,
            circle_of,
            by_family,
            circles,
        }
    }

    /// The circles of some places, but for communicators of one rank and those of `except`.
    pub(super) fn circles_of(
        &self,
        places: &[(usize, usize)],
        except: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        places
            .iter()
            .filter(|&&(comm, _)| {
                self.m.topology.comms[comm].members.len() >= 2 && !except.contains(&comm)
            })
            .map(|&(comm, _)| self.circle_of[comm])
            .collect()
    }

    /// The places of a process in communicators of a family.
    pub(super) fn places(&self, process: usize, family: usize) -> &[Place] {
        let places = &self.by_family[process];
        let start = places.partition_point(|p| p.0 < family);
        let end = places.partition_point(|p| p.0 <= family);
        &places[start..end]
    }

    /// What circles share in a family; worked out when it is asked for.
    pub(super) fn shared(&self, family: usize) -> Shared<'_> {
        Shared {
            fellows: self,
            family,
            of_circles: self.circles.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// What a process shows in a family outside of a circle.
    fn elsewhere(
        &self,
        circle: usize,
        process: usize,
        family: usize,
    ) -> impl Iterator<Item = &Series> {
        self.places(process, family)
            .iter()
            .filter(move |(_, (comm, _), _)| self.circle_of[*comm] != circle)
            .filter_map(|&(_, (comm, member), _)| self.series[comm].get(member))
    }
}

/// What the members of each circle show in their other communicators of one family, at the median.
pub(super) struct Shared<'a> {
    pub(super) fellows: &'a Fellows<'a>,
    pub(super) family: usize,
    of_circles: Vec<OnceLock<OfCircle>>,
}

/// What the members of a circle share.
enum OfCircle {
    /// They are in no other communicator of the family.
    Nothing,
    /// Many: all of them.
    All(Series),
    /// Few: each without itself, in the order of the circle.
    Others(Vec<Series>),
}

impl Shared<'_> {
    /// What the fellows of a process in a circle share; `None` where they are in no other communicator of the family.
    pub(super) fn of_fellows(&self, circle: usize, process: usize) -> Option<Cow<'_, Series>> {
        let of_circle = self.of_circles[circle].get_or_init(|| self.of_circle(circle));
        match of_circle {
            OfCircle::Nothing => None,
            OfCircle::All(series) => Some(Cow::Borrowed(series)),
            OfCircle::Others(series) => {
                let members = &self.fellows.circles[circle];
                let place = members.binary_search(&process).ok()?;
                series.get(place).map(Cow::Borrowed)
            }
        }
    }

    fn of_circle(&self, circle: usize) -> OfCircle {
        let members = &self.fellows.circles[circle];
        let elsewhere: Vec<Vec<&Series>> = members
            .iter()
            .map(|&p| self.fellows.elsewhere(circle, p, self.family).collect())
            .collect();
        if elsewhere.iter().all(Vec::is_empty) {
            OfCircle::Nothing
        } else if members.len() > MANY {
            OfCircle::All(self.of_all(&elsewhere))
        } else if elsewhere.iter().all(|series| series.len() <= 1) {
            OfCircle::Others(self.of_others(&elsewhere))
        } else {
            let but = |k: usize| {
                let others = elsewhere.iter().enumerate().filter(move |(i, _)| *i != k);
                let others: Vec<&Series> = others.flat_map(|(_, s)| s.iter().copied()).collect();
                self.median(&others)
            };
            OfCircle::Others((0..members.len()).map(but).collect())
        }
    }

    fn stretches(&self) -> std::ops::Range<usize> {
        0..self.fellows.m.grid.len()
    }

    fn median(&self, series: &[&Series]) -> Series {
        let mut values = Vec::with_capacity(series.len());
        self.stretches()
            .map(|b| {
                values.clear();
                values.extend(series.iter().filter_map(|s| s[b]));
                robust::median(&mut values)
            })
            .collect()
    }

    /// The rank itself is among many fellows, and mustn't explain itself where most of the others are silent.
    fn of_all(&self, elsewhere: &[Vec<&Series>]) -> Series {
        let mut values = Vec::new();
        self.stretches()
            .map(|b| {
                values.clear();
                values.extend(elsewhere.iter().flatten().filter_map(|s| s[b]));
                if values.len() < QUORUM {
                    None
                } else {
                    robust::median(&mut values)
                }
            })
            .collect()
    }

    /// For each member, the median of the others, who have one series each at most.
    fn of_others(&self, elsewhere: &[Vec<&Series>]) -> Vec<Series> {
        let mut out = vec![vec![None; self.stretches().end]; elsewhere.len()];
        let mut values = Vec::with_capacity(elsewhere.len());
        for b in self.stretches() {
            let of = |series: &Vec<&Series>| series.first().and_then(|s| s[b]);
            values.clear();
            values.extend(elsewhere.iter().filter_map(of));
            let without = Others::of(&mut values);
            let all = robust::median(&mut values);
            for (series, out) in elsewhere.iter().zip(&mut out) {
                out[b] = match of(series) {
                    Some(own) => without.as_ref().map(|without| without.median(own)),
                    None => all,
                };
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four ranks meet in one communicator, and each has a partner in one of another family, where they are late by 10, 20, 30 and 40 µs.
    /// Of the three others the median is 30, 30, 20, 20; while rank 0 is silent, theirs without themselves is 35, 30, 25, and its own fellows' 30.
    #[test]
    fn what_fellows_share_is_the_median_of_the_others() {
        let comms: [(usize, &[u32]); 5] = [
            (0, &[0, 1, 2, 3]),
            (1, &[0, 4]),
            (1, &[1, 5]),
            (1, &[2, 6]),
            (1, &[3, 7]),
        ];
        let m = Measured::blank(8, &comms);
        let always = |value: f64| vec![Some(value); m.grid.len()];
        let mut series = vec![(0..4).map(|_| always(5.0)).collect::<Vec<Series>>()];
        for late in [10.0, 20.0, 30.0, 40.0] {
            series.push(vec![always(late), always(0.0)]);
        }
        series[1][0][7] = None;
        let places = super::super::lateness::places(&m);
        let fellows = Fellows::of(&m, &places, &series);
        let shared = fellows.shared(1);
        let of = |process: usize, stretch: usize| {
            let circle = fellows.circle_of[0];
            shared.of_fellows(circle, process).expect("shared")[stretch]
        };
        assert_eq!(
            [0, 1, 2, 3].map(|p| of(p, 3)),
            [30.0, 30.0, 20.0, 20.0].map(Some)
        );
        assert_eq!(
            [0, 1, 2, 3].map(|p| of(p, 7)),
            [30.0, 35.0, 30.0, 25.0].map(Some)
        );
        // The partner of rank 0 sees what that shows where the four meet; in their own family they meet nobody else.
        let pair = fellows.circle_of[1];
        let where_they_meet = fellows.shared(0);
        let of_partner = where_they_meet.of_fellows(pair, 4).expect("shared");
        assert_eq!(of_partner[3], Some(5.0));
        assert!(shared.of_fellows(pair, 4).is_none());
    }
}
