//! Collectives worth showing: of each rank that is markedly late at some time, a few of those it was late at.
//!
//! A person believes a picture of one collective more than a mean. The worst one shows a pause, not the habit; so of each rank
//! those are kept whose lateness is closest to what the rank shows on the whole, at its worst times, and in its pauses. Which of
//! them illustrates a finding is decided once the finding's typical lateness is known.

use std::collections::BTreeMap;

use super::chunk::Moment;
use super::trace::{Event, Trace};
use crate::statistics::robust;

/// Whoever is late by less than this is never accused, so needs no picture (see `late_rank`).
const LEAST_MICROS: f64 = 5.0;

/// Nor is whoever is late by less than this part of the mean time of an operation: a third of what a finding asks for.
const LEAST_SHARE: f64 = 0.01;

/// Lengths of the stretches of time in which a rank may be late: a finding asks for six, and may cover any number more.
const LENGTHS: [usize; 5] = [6, 12, 24, 48, usize::MAX];

/// Fewer pauses are no habit (see `intermittent`).
const LEAST_EVENTS: usize = 4;

/// Kernel times kept for the pictures of one communicator: a megabyte.
const KEPT_TIMES: usize = 1 << 16;

/// A collective at which one rank was late.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Example {
    /// The rank, as index in the communicator's members.
    pub(crate) member: u32,
    /// How much later than the median of the others it arrived, µs.
    pub(crate) late: f64,
    /// Whether all others had arrived before.
    pub(crate) last: bool,
    /// Stretch of the time grid.
    pub(crate) stretch: usize,
    /// Function.
    pub(crate) function: u32,
    /// Sequence number.
    pub(crate) sequence_number: i64,
    /// Message size, bytes.
    pub(crate) size: u64,
    /// Member and kernel time (µs) of every record.
    pub(crate) times: Vec<(u32, f64)>,
}

/// A lateness of one rank that is looked for, and the collective so far that comes closest.
struct Sought<'a> {
    member: u32,
    micros: f64,
    best: Option<Best<'a>>,
}

struct Best<'a> {
    distance: f64,
    late: f64,
    last: bool,
    moment: &'a Moment<'a>,
}

/// Picks the collectives to keep, once the sums of the trace are there. `n_ranks` is the size of the communicator.
pub(super) fn examples<'a>(
    t: &Trace,
    n_ranks: usize,
    cells: impl Iterator<Item = &'a Vec<Moment<'a>>> + Clone,
) -> Vec<Example> {
    let mut sought: Vec<Sought<'_>> = sought(t, n_ranks);
    let mut wanted: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, s) in sought.iter().enumerate() {
        wanted.entry(s.member).or_default().push(i);
    }
    let moments = || cells.clone().flatten().filter(|m| m.rows.len() > 1);
    let mut scratch = Vec::new();
    for moment in moments().filter(|_| !wanted.is_empty()) {
        let last = last(moment);
        for &i in wanted.get(&last).into_iter().flatten() {
            sought[i].consider(moment, n_ranks, true, &mut scratch);
        }
    }
    // Where two are late, only one of them is ever the last.
    wanted.retain(|_, of| of.iter().all(|&i| sought[i].best.is_none()));
    for moment in moments().filter(|_| !wanted.is_empty()) {
        for row in moment.rows {
            for &i in wanted.get(&row.member).into_iter().flatten() {
                sought[i].consider(moment, n_ranks, false, &mut scratch);
            }
        }
    }
    let mut out: Vec<Example> = sought.into_iter().filter_map(Sought::found).collect();
    out.dedup_by(|a, b| a.is(b));
    out
}

/// Who arrived last: the shortest time; of several the first.
fn last(moment: &Moment<'_>) -> u32 {
    let shortest = moment
        .rows
        .iter()
        .min_by(|a, b| a.micros.total_cmp(&b.micros).then(a.member.cmp(&b.member)));
    shortest.map_or(u32::MAX, |r| r.member)
}

/// How much later than the median of the others a rank arrived, µs.
fn lateness(moment: &Moment<'_>, member: u32, others: &mut Vec<f64>) -> Option<f64> {
    let own = moment.rows.iter().find(|r| r.member == member)?.micros;
    others.clear();
    let rest = moment.rows.iter().filter(|r| r.member != member);
    others.extend(rest.map(|r| r.micros));
    Some(robust::median(others)? - own)
}

impl<'a> Sought<'a> {
    fn consider(
        &mut self,
        moment: &'a Moment<'a>,
        n_ranks: usize,
        last: bool,
        scratch: &mut Vec<f64>,
    ) {
        let Some(late) = lateness(moment, self.member, scratch).filter(|l| *l > 0.0) else {
            return;
        };
        // A rank that left no record of it is a hole in the picture.
        let missing = 1.0 - moment.rows.len() as f64 / n_ranks.max(1) as f64;
        let distance = (late / self.micros).ln().abs() + missing;
        if self.best.as_ref().is_none_or(|b| distance < b.distance) {
            self.best = Some(Best {
                distance,
                late,
                last,
                moment,
            });
        }
    }

    fn found(self) -> Option<Example> {
        let Best {
            late, last, moment, ..
        } = self.best?;
        let first = moment.rows.first()?;
        Some(Example {
            member: self.member,
            late,
            last,
            stretch: moment.stretch,
            function: first.function,
            sequence_number: first.sequence_number,
            size: first.size,
            times: moment.rows.iter().map(|r| (r.member, r.micros)).collect(),
        })
    }
}

/// Keeps, of what several parts of one communicator showed, no more than one part may.
pub(super) fn bound(examples: &mut Vec<Example>) {
    examples.sort_by(|a, b| {
        (b.last.cmp(&a.last)).then(b.late.total_cmp(&a.late)).then(
            (a.member, a.function, a.sequence_number).cmp(&(
                b.member,
                b.function,
                b.sequence_number,
            )),
        )
    });
    let mut room = KEPT_TIMES;
    examples.retain(|e| {
        let fits = e.times.len() <= room;
        room -= if fits { e.times.len() } else { 0 };
        fits
    });
}

impl Example {
    fn is(&self, other: &Self) -> bool {
        (self.member, self.function, self.sequence_number, self.size)
            == (
                other.member,
                other.function,
                other.sequence_number,
                other.size,
            )
    }
}

/// What is looked for, of the latest ranks first, as far as there is room to keep it.
fn sought<'a>(t: &Trace, n_ranks: usize) -> Vec<Sought<'a>> {
    let members = t.bins.len() / t.stretches.max(1);
    let (time, operations) = t
        .bins
        .iter()
        .fold((0.0, 0.0), |a, b| (a.0 + b.micros, a.1 + b.operations));
    let least = LEAST_MICROS.max(if operations > 0.0 {
        LEAST_SHARE * time / operations
    } else {
        0.0
    });
    let mut events: Vec<Vec<f64>> = vec![Vec::new(); members];
    for &Event { member, micros, .. } in &t.events {
        events[member as usize].push(micros);
    }
    let mut of_member: Vec<(f64, u32, Vec<f64>)> = Vec::new();
    for (member, pauses) in events.iter_mut().enumerate() {
        let mut levels = levels(t, member);
        if pauses.len() >= LEAST_EVENTS {
            levels.extend(
                [0.5, 0.9]
                    .iter()
                    .filter_map(|&q| robust::quantile(pauses, q)),
            );
        }
        levels.retain(|l| *l >= least);
        let most = levels.iter().copied().fold(0.0, f64::max);
        if !levels.is_empty() {
            of_member.push((most, u32::try_from(member).unwrap_or(u32::MAX), levels));
        }
    }
    of_member.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let room = (KEPT_TIMES / n_ranks.max(1)).max(LENGTHS.len() + 2);
    of_member
        .into_iter()
        .flat_map(|(_, member, levels)| levels.into_iter().map(move |l| (member, l)))
        .take(room)
        .map(|(member, micros)| Sought {
            member,
            micros,
            best: None,
        })
        .collect()
}

/// The largest mean lateness of a member over stretches of each length, µs an operation.
fn levels(t: &Trace, member: usize) -> Vec<f64> {
    let bins: Vec<_> = t
        .member(member)
        .iter()
        .filter(|b| b.operations > 0.0)
        .collect();
    let mut out = Vec::new();
    for length in LENGTHS.iter().map(|&l| l.min(bins.len())) {
        let most = bins
            .windows(length.max(1))
            .map(|w| {
                w.iter().map(|b| b.lateness).sum::<f64>()
                    / w.iter().map(|b| b.operations).sum::<f64>()
            })
            .fold(0.0, f64::max);
        out.push(most);
    }
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::row::Row;
    use crate::collective::trace::Bin;

    /// Collectives of four ranks that take 100 µs; `late` gives each rank's lateness, number by number.
    fn rows(n: i64, late: impl Fn(i64, u32) -> f64) -> Vec<Vec<Row>> {
        let rows = |sn: i64| {
            let most = (0..4).map(|r| late(sn, r)).fold(0.0, f64::max);
            let row = |member| Row {
                function: 0,
                member,
                sequence_number: sn,
                size: 8192,
                micros: 100.0 + most - late(sn, member),
                dumped: sn,
            };
            (0..4).map(row).collect()
        };
        (0..n).map(rows).collect()
    }

    fn trace(n: usize, late: impl Fn(i64, u32) -> f64) -> Trace {
        let bin = |i: usize| Bin {
            lateness: late((i % n) as i64, (i / n) as u32),
            operations: 1.0,
            micros: 100.0,
            ..Bin::default()
        };
        Trace {
            stretches: n,
            bins: (0..4 * n).map(bin).collect(),
            ..Trace::default()
        }
    }

    fn found(n: usize, late: fn(i64, u32) -> f64) -> Vec<(u32, i64, bool)> {
        let rows = rows(n as i64, late);
        let moment = |(stretch, rows)| Moment {
            stretch,
            rows,
            transfer: None,
        };
        let moments: Vec<Moment<'_>> = (rows.iter().map(Vec::as_slice).enumerate())
            .map(moment)
            .collect();
        let found = examples(&trace(n, late), 4, std::iter::once(&moments));
        found
            .iter()
            .map(|e| (e.member, e.sequence_number, e.last))
            .collect()
    }

    #[test]
    fn lateness_of_a_part_of_the_run_is_shown_at_its_level() {
        // 40 µs late on the whole, 400 from number 20 to 25: one picture for each, none of the other ranks.
        let late = |sn: i64, r: u32| match (r, sn) {
            (2, 20..26) => 400.0,
            (2, _) => 40.0,
            _ => 0.0,
        };
        let found = found(60, late);
        assert!(found.iter().all(|f| f.0 == 2 && f.2), "{found:?}");
        assert!(found.iter().any(|f| (20..26).contains(&f.1)), "{found:?}");
        assert!(found.iter().any(|f| !(20..26).contains(&f.1)), "{found:?}");
    }

    #[test]
    fn the_second_of_two_late_ranks_is_shown_though_it_is_never_the_last() {
        let late = |_: i64, r: u32| [0.0, 300.0, 500.0, 0.0][r as usize];
        let found = found(12, late);
        assert!(found.iter().any(|f| f.0 == 2 && f.2), "{found:?}");
        assert!(found.iter().any(|f| f.0 == 1 && !f.2), "{found:?}");
    }

    #[test]
    fn nothing_is_kept_of_ranks_that_are_together() {
        assert_eq!(found(12, |_, r| f64::from(r)), []);
    }
}
