//! Who came last, by the stamps of the kernels' starts.
//!
//! Within a communicator each host's clock is set right by when the collectives around stopped: that follows a clock which drifts or is
//! stepped, and an average over many collectives leaves little of how late a thread notices one of them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Kernel;
use super::clocks::{self, reference};
use crate::measured::Measured;
use crate::records::clock::Hosts;
use crate::statistics::robust;

/// Collectives before and after, by whose stops a clock is set right.
const AROUND: usize = 16;

/// Clocks that move about by more than this part of a lateness can't tell it.
const UNSURE: f64 = 0.5;

/// Fewer collectives say nothing.
const LEAST: usize = 20;

/// What starts say of some ranks of a communicator.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Starts {
    /// How much later than the median of the others the median of these ranks began, collective by collective, µs.
    pub(crate) after_others: Vec<f64>,
    /// In how many of them none of the others began later.
    pub(crate) last: usize,
}

impl Starts {
    /// Mean of how much later they began, µs.
    pub(crate) fn mean(&self) -> f64 {
        self.after_others.iter().sum::<f64>() / self.after_others.len().max(1) as f64
    }

    /// Collectives looked at.
    pub(crate) fn collectives(&self) -> usize {
        self.after_others.len()
    }
}

/// What starts say of `ranks` (members) of a communicator in some stretches of time, or in the whole run, of a lateness of `claimed` µs.
/// `None` where there are none, or hardly any, or the clocks move by more than half of that about each of them.
pub(crate) fn starts(
    m: &Measured,
    comm: usize,
    ranks: &[usize],
    window: Option<&Range<usize>>,
    claimed: f64,
) -> Option<Starts> {
    let of = &m.topology.comms[comm];
    let hosts = Hosts::of(&m.topology);
    let host_of: Vec<usize> = of
        .members
        .iter()
        .map(|x| hosts.of_process(x.1.0 as usize))
        .collect();
    let mut collectives: Vec<&[Kernel]> = m
        .kernels
        .of_comm(comm)
        .filter(|c| c.len() > 1 && m.semantics(c[0].function, comm).ends_together)
        .collect();
    // In the order in which they ran, by one clock.
    let ahead: Vec<i64> = of
        .members
        .iter()
        .map(|x| m.clock[x.1.0 as usize] as i64)
        .collect();
    let at = |c: &[Kernel]| c[0].stop.saturating_sub(ahead[c[0].member as usize]);
    collectives.sort_by_key(|c| at(c));
    let clocks = clocks_over_time(&collectives, &host_of, UNSURE * claimed)?;
    let mut out = Starts {
        after_others: Vec::new(),
        last: 0,
    };
    let (mut theirs, mut others) = (Vec::new(), Vec::new());
    for (collective, clocks) in collectives.iter().zip(&clocks) {
        if window.is_some_and(|w| !w.contains(&m.grid.stretch(at(collective)))) {
            continue;
        }
        theirs.clear();
        others.clear();
        for k in *collective {
            let Some(clock) = clocks.get(&host_of[k.member as usize]) else {
                continue;
            };
            let start = (k.start.saturating_sub(collective[0].start)) as f64 - clock;
            if ranks.contains(&(k.member as usize)) {
                theirs.push(start);
            } else {
                others.push(start);
            }
        }
        let latest = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (Some(theirs), Some(others)) =
            (robust::median(&mut theirs), robust::median(&mut others))
        else {
            continue;
        };
        // Nobody waits longer than the collective takes.
        let longest = collective
            .iter()
            .map(|k| k.stop.saturating_sub(k.start))
            .max();
        let bound = longest.unwrap_or(0) as f64 + claimed;
        if (theirs - others).abs() > bound {
            continue;
        }
        out.after_others.push(theirs - others);
        out.last += usize::from(theirs >= latest);
    }
    (out.collectives() >= LEAST).then_some(out)
}

/// For each collective, by how much each host's clock is then ahead of that of the host which most have, µs; hosts of which those around
/// disagree by more than `most` µs aren't in it.
fn clocks_over_time(
    collectives: &[&[Kernel]],
    host_of: &[usize],
    most: f64,
) -> Option<Vec<BTreeMap<usize, f64>>> {
    let stops: Vec<BTreeMap<usize, i64>> = collectives
        .iter()
        .map(|c| clocks::stops(c, host_of))
        .collect();
    let reference = reference(&stops)?;
    // Of each host the collectives that it has in common with that one, and the difference of the stops.
    let mut differences: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
    for (i, stops) in stops.iter().enumerate() {
        let Some(of_reference) = stops.get(&reference) else {
            continue;
        };
        for (host, stop) in stops {
            let difference = stop.saturating_sub(*of_reference) as f64;
            differences.entry(*host).or_default().push((i, difference));
        }
    }
    let around = |host: &usize, i: usize| {
        let of_host = differences.get(host)?;
        let place = of_host.partition_point(|d| d.0 < i);
        let near = place.saturating_sub(AROUND)..(place + AROUND + 1).min(of_host.len());
        let mut values: Vec<f64> = of_host[near].iter().map(|d| d.1).collect();
        let agree = spread(&values) <= most;
        agree.then(|| robust::median(&mut values)).flatten()
    };
    Some(
        (stops.iter().enumerate())
            .map(|(i, stops)| {
                let hosts = stops.keys();
                hosts
                    .filter_map(|host| Some((*host, around(host, i)?)))
                    .collect()
            })
            .collect(),
    )
}

/// How much differences move about a steady drift, µs.
fn spread(values: &[f64]) -> f64 {
    let half = values.len() / 2;
    let middle = |part: &[f64]| robust::median(&mut part.to_vec()).unwrap_or(0.0);
    let drift = if half < 2 {
        0.0
    } else {
        2.0 * (middle(&values[half..]) - middle(&values[..half])) / values.len() as f64
    };
    let rest: Vec<f64> = (0..)
        .zip(values)
        .map(|(i, v)| v - drift * f64::from(i))
        .collect();
    robust::scale(&rest).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    /// Two hosts of two ranks, the second's clock 300,000 µs ahead and drifting by 10 µs a collective. The last rank begins 200 µs after the
    /// others in every other collective; stops are noticed up to 4 µs late.
    fn job(collectives: i64) -> Measured {
        let of = |n: i64| -> Vec<(u32, i64, i64)> {
            let ahead = 300_000 + 10 * n;
            let late = if n % 2 == 0 { 200 } else { 0 };
            let stop = 10_000 * n + 5_000;
            vec![
                (0, stop - 900, stop),
                (1, stop - 900, stop + n % 5),
                (2, stop - 900 + ahead, stop + ahead + n % 3),
                (3, stop - 900 + late + ahead, stop + ahead + n % 4),
            ]
        };
        let mut m = Measured::blank(4, &[(0, &[0, 1, 2, 3])]);
        m.topology.processes[1].host = "host0".to_owned();
        m.topology.processes[3].host = "host2".to_owned();
        m.census.functions.intern(&"AllReduce".to_owned());
        m.kernels = fixture::kernels(&(0..collectives).map(of).collect::<Vec<_>>());
        m
    }

    #[test]
    fn the_late_rank_begins_after_the_others_whatever_the_clocks_say() {
        let m = job(96);
        let late = starts(&m, 0, &[3], None, 200.0).expect("told");
        assert_eq!(late.collectives(), 96);
        // Half of them by 200 µs: 100 in the mean. The drift over those around is even on both sides but at the ends.
        assert!((late.mean() - 100.0).abs() < 20.0, "{}", late.mean());
        assert!(late.last >= 48, "{}", late.last);
        let other = starts(&m, 0, &[0], None, 200.0).expect("told");
        assert!(other.mean() < 20.0, "{}", other.mean());
        // Of a host, the middle of its ranks: half of 100.
        let host = starts(&m, 0, &[2, 3], None, 200.0).expect("told");
        assert!((host.mean() - 50.0).abs() < 20.0, "{}", host.mean());
    }

    #[test]
    fn a_clock_that_drifts_is_followed_and_one_that_jumps_is_not() {
        let drifts: Vec<f64> = (0..33).map(|i| 10.0 * f64::from(i)).collect();
        assert!(spread(&drifts) < 1.0, "{}", spread(&drifts));
        let jumps: Vec<f64> = (0..33)
            .map(|i| if i / 5 % 2 == 0 { 5e6 } else { 0.0 })
            .collect();
        assert!(spread(&jumps) > 1e5, "{}", spread(&jumps));
    }

    #[test]
    fn in_a_window_only_what_ran_in_it_counts() {
        // 96 stretches of 1000 µs: the first nine collectives run before the last, the others in it or after.
        let m = job(96);
        let first = starts(&m, 0, &[3], Some(&(0..95)), 200.0);
        assert_eq!(first, None, "nine collectives are too few");
        let rest = starts(&m, 0, &[3], Some(&(95..96)), 200.0).expect("told");
        assert_eq!(rest.collectives(), 87);
    }
}
