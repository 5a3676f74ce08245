//! When operations ended, as narrowly as dumps tell that don't stamp them.
//!
//! A line says that its operation had ended when it was written, and hadn't an interval before. Each rank writes at moments of its own,
//! so all of them together leave a narrower time than one. The operations of a communicator run one after another, so each ended later
//! than the one before by at least the longest time that a rank spent in it. And what the ranks of two hosts say of many operations bounds
//! how far their clocks are apart, the closer the more ranks there are.

use crate::collective::matching::{Collective, Matched};

/// Dump threads are late by up to this part of an interval.
pub(super) const LATE_DUMP: f64 = 0.05;

/// Ranks don't end at quite the same moment, so this part of a rank's time is taken to have passed since the end of the operation before.
const PASSED: f64 = 0.98;

/// When the collectives of a communicator ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ends {
    /// Of each collective, between which moments, µs by the clock of the reference.
    pub(super) each: Vec<(i64, i64)>,
    /// How much the clock of each host is ahead of the reference, µs, beyond what the rows' stamps were corrected by.
    pub(super) ahead: Vec<i64>,
}

impl Ends {
    /// Of the collectives in their order. `host_of` tells the host of each member, numbered from 0; host 0 is the reference. `serial`
    /// says of a function whether its ranks end together, one operation after another, by timings that hold the kernel alone.
    pub(super) fn of(
        matched: &Matched,
        host_of: &[usize],
        interval: f64,
        serial: impl Fn(u32) -> bool,
    ) -> Self {
        let whole = (interval * (1.0 + LATE_DUMP)) as i64;
        let ahead = ahead(matched, host_of, whole);
        let mut each: Vec<(i64, i64)> = Vec::new();
        let mut steps: Vec<(u32, i64)> = Vec::new();
        for (x, _) in matched.collectives() {
            let stamps = x
                .rows
                .iter()
                .map(|r| r.dumped.saturating_sub(ahead[host_of[r.member as usize]]));
            each.push(between(stamps, whole));
            steps.push((x.cell().0, (PASSED * x.longest()) as i64));
        }
        let mut from = 0;
        for run in steps.chunk_by(|a, b| a.0 == b.0) {
            let to = from + run.len();
            if serial(run[0].0) {
                one_after_another(&mut each[from..to], run);
            }
            from = to;
        }
        Self { each, ahead }
    }
}

/// Between which moments an operation ended, by the stamps of its records.
pub(super) fn between(stamps: impl Iterator<Item = i64>, whole: i64) -> (i64, i64) {
    let (least, most) = stamps.fold((i64::MAX, i64::MIN), |s, at| (s.0.min(at), s.1.max(at)));
    let first = most.saturating_sub(whole);
    // Clocks that are further apart than is known leave nothing between: then what one rank says must do.
    if first < least {
        (first, least)
    } else {
        (least.saturating_sub(whole), least)
    }
}

/// Narrows the ends of operations that ran one after another; where they can't have, all stay as they are.
fn one_after_another(ends: &mut [(i64, i64)], steps: &[(u32, i64)]) {
    let mut narrow = ends.to_vec();
    for k in 1..narrow.len() {
        narrow[k].0 = narrow[k].0.max(narrow[k - 1].0.saturating_add(steps[k].1));
    }
    for k in (1..narrow.len()).rev() {
        narrow[k - 1].1 = narrow[k - 1].1.min(narrow[k].1.saturating_sub(steps[k].1));
    }
    if narrow.iter().all(|end| end.0 <= end.1) {
        ends.copy_from_slice(&narrow);
    }
}

/// How far the hosts' clocks are ahead of that of host 0: 0 where the stamps don't contradict it, else the middle of what they allow.
fn ahead(matched: &Matched, host_of: &[usize], whole: i64) -> Vec<i64> {
    let hosts = host_of.iter().max().map_or(0, |last| last + 1);
    // Of each host the least and the most that its clock can be ahead.
    let mut can: Vec<(i64, i64)> = vec![(i64::MIN, i64::MAX); hosts];
    let mut stamps: Vec<(i64, i64)> = vec![(i64::MAX, i64::MIN); hosts];
    for (x, _) in matched.collectives() {
        of_hosts(x, host_of, &mut stamps);
        let reference = stamps[0];
        if reference.0 > reference.1 {
            continue;
        }
        for (can, of) in can.iter_mut().zip(&stamps).filter(|(_, of)| of.0 <= of.1) {
            // It ended on both in the same moment: after the last stamp less an interval, before the first.
            can.0 = can
                .0
                .max(of.1.saturating_sub(whole).saturating_sub(reference.0));
            can.1 = can
                .1
                .min(of.0.saturating_sub(reference.1.saturating_sub(whole)));
        }
    }
    can.into_iter()
        .enumerate()
        .map(|(host, (least, most))| {
            if host == 0 || least > most || (least..=most).contains(&0) {
                0
            } else {
                least.midpoint(most)
            }
        })
        .collect()
}

/// The first and the last stamp of each host.
fn of_hosts(x: Collective<'_>, host_of: &[usize], stamps: &mut [(i64, i64)]) {
    stamps.fill((i64::MAX, i64::MIN));
    for r in x.rows {
        let of = &mut stamps[host_of[r.member as usize]];
        *of = (of.0.min(r.dumped), of.1.max(r.dumped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::row::Row;

    fn row(sequence_number: i64, member: u32, micros: f64, dumped: i64) -> Row {
        Row {
            function: 0,
            member,
            sequence_number,
            size: 8,
            micros,
            dumped,
        }
    }

    #[test]
    fn all_ranks_together_leave_less_than_one() {
        let rows = vec![
            row(1, 0, 5.0, 1_000),
            row(1, 1, 5.0, 1_040),
            row(1, 2, 5.0, 990),
        ];
        let ends = Ends::of(&Matched::of(rows), &[0, 0, 0], 100.0, |_| true);
        // 1040 less an interval and a twentieth, and the first stamp.
        assert_eq!(ends.each, [(935, 990)]);
    }

    #[test]
    fn operations_that_follow_each_other_push_each_other_apart() {
        let rows = || vec![row(1, 0, 50.0, 1_000), row(2, 0, 50.0, 1_000)];
        let serial = Ends::of(&Matched::of(rows()), &[0], 100.0, |_| true);
        // The second took 50 (49 count), so the first ended by 951 and the second after 895 + 49.
        assert_eq!(serial.each, [(895, 951), (944, 1_000)]);
        let not = Ends::of(&Matched::of(rows()), &[0], 100.0, |_| false);
        assert_eq!(not.each, [(895, 1_000), (895, 1_000)]);
        // Three of 50 don't fit into an interval of 100 unless they overlapped.
        let mut three = rows();
        three.push(row(3, 0, 50.0, 1_000));
        three.push(row(4, 0, 50.0, 1_000));
        let three = Ends::of(&Matched::of(three), &[0], 100.0, |_| true);
        assert_eq!(three.each, [(895, 1_000); 4]);
    }

    #[test]
    fn clocks_that_contradict_each_other_are_set() {
        // Ends every 7; four ranks on each host write at moments of their own, host 1 by a clock that is 500 ahead.
        let rows = (1..200_i64)
            .flat_map(|k| {
                let next = move |phase: i64| (7 * k - phase).div_euclid(100) * 100 + 100 + phase;
                (0..8_u32).map(move |r| {
                    let (host, phase) = (i64::from(r / 4), i64::from(r % 4) * 25);
                    row(k, r, 1.0, next(phase + 10 * host) + 500 * host)
                })
            })
            .collect();
        let ends = Ends::of(&Matched::of(rows), &[0, 0, 0, 0, 1, 1, 1, 1], 100.0, |_| {
            true
        });
        assert!((ends.ahead[1] - 500).abs() <= 20, "{:?}", ends.ahead);
        for (k, end) in (1..200_i64).zip(&ends.each) {
            assert!(end.0 - 20 <= 7 * k && 7 * k <= end.1 + 20, "{k}: {end:?}");
        }
    }
}
