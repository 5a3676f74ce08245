//! The time between stamps of an endpoint, which tells how often it dumped.

use std::collections::BTreeMap;

/// Lines of one dump are written a few microseconds apart; the shortest real interval is above 50 µs.
const SAME_DUMP_MICROS: u64 = 25;

/// Gaps between stamps are sorted into bins this much of a factor wide.
const GAP_RATIO: f64 = 1.05;

/// Gaps up to this many µs are counted one by one, since a logarithm for each costs more: those within a dump.
const SHORT: usize = 256;

/// Gaps between consecutive stamps.
#[derive(Debug)]
pub(crate) struct Gaps {
    /// Stamps that have one before them, and how many of them were written within its dump.
    neighbours: (u64, u64),
    /// How many gaps of each short length, µs.
    short: Box<[u64; SHORT]>,
    /// Sums of longer gaps, µs, by the logarithm of the gap.
    long: BTreeMap<i32, i64>,
}

impl Default for Gaps {
    fn default() -> Self {
        Self {
            neighbours: (0, 0),
            short: Box::new([0; SHORT]),
            long: BTreeMap::new(),
        }
    }
}

impl Gaps {
    /// Notes that `at` follows `before`.
    pub(crate) fn add(&mut self, before: i64, at: i64) {
        self.neighbours.0 += 1;
        self.neighbours.1 += u64::from(at.abs_diff(before) <= SAME_DUMP_MICROS);
        let gap = at.saturating_sub(before);
        if gap <= 0 {
            return;
        }
        match usize::try_from(gap)
            .ok()
            .and_then(|g| self.short.get_mut(g))
        {
            Some(n) => *n += 1,
            None => {
                let sum = self.long.entry(bin(gap)).or_default();
                *sum = sum.saturating_add(gap);
            }
        }
    }

    /// Adds those of another file.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.neighbours.0 += other.neighbours.0;
        self.neighbours.1 += other.neighbours.1;
        for (a, b) in self.short.iter_mut().zip(other.short.iter()) {
            *a += b;
        }
        for (&k, &sum) in &other.long {
            let into = self.long.entry(k).or_default();
            *into = into.saturating_add(sum);
        }
    }

    /// Whether dumps hold one record a communicator: hardly any two consecutive ones were written together.
    pub(crate) fn one_a_dump(&self) -> bool {
        self.neighbours.0 > 0 && self.neighbours.1 * 50 < self.neighbours.0
    }

    /// Distance between two dumps, µs: half of the time passes in gaps between stamps that are shorter. Stamps of one dump
    /// lie microseconds apart and hold no time; pauses of the job are few. `None` with fewer than two stamps an endpoint.
    pub(crate) fn dump_interval(&self) -> Option<f64> {
        let mut bins = self.long.clone();
        for (gap, &n) in (0_i64..).zip(self.short.iter()).filter(|g| *g.1 > 0) {
            let into = bins.entry(bin(gap)).or_default();
            *into = into.saturating_add(gap.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX)));
        }
        let total: i128 = bins.values().map(|&s| i128::from(s)).sum();
        let mut sum = 0_i128;
        for (&k, &s) in &bins {
            sum += i128::from(s);
            if 2 * sum >= total {
                return Some(((f64::from(k) + 0.5) * GAP_RATIO.ln()).exp());
            }
        }
        None
    }
}

fn bin(gap: i64) -> i32 {
    ((gap as f64).ln() / GAP_RATIO.ln()).floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_time_passes_in_gaps_up_to_the_dump_interval() {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.dump_interval(), None);
        // Dumps 100 ms apart, each of three lines 2 µs apart, and one pause of a second.
        for dump in 0..50_i64 {
            let at = dump * 100_000 + if dump > 40 { 1_000_000 } else { 0 };
            let before = at - if dump == 41 { 1_100_000 } else { 100_000 } + 4;
            if dump > 0 {
                gaps.add(before, at);
            }
            gaps.add(at, at + 2);
            gaps.add(at + 2, at + 4);
        }
        let interval = gaps.dump_interval().expect("has gaps");
        assert!((interval / 100_000.0 - 1.0).abs() < 0.06, "{interval}");
        assert!(!gaps.one_a_dump());
    }

    #[test]
    fn short_gaps_count_as_the_logarithm_bins_do() {
        let mut one = Gaps::default();
        let mut bins: BTreeMap<i32, i64> = BTreeMap::new();
        for gap in 1..1_000 {
            one.add(0, gap);
            *bins.entry(bin(gap)).or_default() += gap;
        }
        let mut two = Gaps::default();
        two.merge(&one);
        two.merge(&one);
        assert_eq!(one.dump_interval(), two.dump_interval());
        let total: i64 = bins.values().sum();
        let mut sum = 0;
        let median = bins.iter().find(|b| {
            sum += b.1;
            2 * sum >= total
        });
        let expected = median.map(|b| ((f64::from(*b.0) + 0.5) * GAP_RATIO.ln()).exp());
        assert_eq!(one.dump_interval(), expected);
    }
}
