//! Whether things fall into some windows more than by chance.
//!
//! Things on a computer come in bursts, and so do slow collectives, so a test that takes them for independent finds causes everywhere.
//! What holds for bursts of any kind, and for few of them: the windows are moved through the run as they are, round its end, and what
//! then lies in them is what lies in them by chance. The share of such moves with as much in them as in truth is the p-value of a
//! randomisation test (Fisher, 1935; for point processes moved round: Lotwick and Silverman, 1982).

use super::stretches::{Stretch, Stretches};

/// Moves tried at most.
const MOST_MOVES: u64 = 20_000;

/// Steps of work at most: windows times moves.
const WORK: u64 = 50_000_000;

/// The golden ratio's fraction: multiples of it fall evenly into 0..1, and never in step with a period of the job.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// What happened: lengths of time, or moments.
#[derive(Debug, Clone)]
pub(crate) enum Happened<'a> {
    /// Times that it took.
    Times(&'a Stretches),
    /// Moments, in order.
    Moments(&'a [i64]),
}

impl Happened<'_> {
    /// How much of it lies in the windows: ns, or how many.
    pub(crate) fn inside(&self, windows: &[Stretch]) -> i64 {
        match self {
            Self::Times(times) => windows.iter().map(|w| times.overlap(*w)).sum(),
            Self::Moments(at) => windows
                .iter()
                .map(|w| {
                    let first = at.partition_point(|&t| t < w.0);
                    (at.partition_point(|&t| t <= w.1) - first) as i64
                })
                .sum(),
        }
    }
}

/// Chance of as much inside the windows as there is, if it had nothing to do with them. Never 0: the smallest is one in the number of
/// moves. `smallest` is the chance that is asked for; moves that can't reach it aren't made in vain.
pub(crate) fn chance(
    windows: &Stretches,
    happened: &Happened<'_>,
    span: Stretch,
    smallest: f64,
) -> f64 {
    let length = span.1.saturating_sub(span.0);
    let inside = windows.within(span);
    if length <= 0 || inside.all().is_empty() {
        return 1.0;
    }
    let observed = happened.inside(inside.all());
    if observed == 0 {
        return 1.0;
    }
    let affordable = WORK / inside.all().len() as u64;
    let wanted = (4.0 / smallest.max(1e-12)).min(MOST_MOVES as f64) as u64;
    let moves = wanted.min(affordable).max(100);
    let mut as_much = 0_u64;
    let mut moved = Vec::with_capacity(inside.all().len() + 1);
    for k in 1..=moves {
        let by = ((k as f64 * GOLDEN).fract() * length as f64) as i64;
        moved.clear();
        for w in inside.all() {
            let (from, to) = (w.0 + by, w.1 + by);
            if from >= span.1 {
                moved.push((from - length, to - length));
            } else if to > span.1 {
                moved.push((from, span.1));
                moved.push((span.0, to - length));
            } else {
                moved.push((from, to));
            }
        }
        as_much += u64::from(happened.inside(&moved) >= observed);
    }
    (1 + as_much) as f64 / (1 + moves) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(period: i64, length: i64, n: i64) -> Stretches {
        Stretches::of((0..n).map(|i| (i * period, i * period + length)).collect())
    }

    #[test]
    fn what_follows_the_windows_is_no_chance() {
        // 20 windows of 10 in 100,000, irregular, and a moment in each.
        let starts: Vec<i64> = (0..20).map(|i| i * 5_000 + i * i * 37 % 977).collect();
        let windows = Stretches::of(starts.iter().map(|&s| (s, s + 10)).collect());
        let inside: Vec<i64> = starts.iter().map(|s| s + 5).collect();
        let p = chance(&windows, &Happened::Moments(&inside), (0, 100_000), 1e-3);
        assert!(p <= 1e-3, "{p}");
        let beside: Vec<i64> = starts.iter().map(|s| s + 250).collect();
        assert!(chance(&windows, &Happened::Moments(&beside), (0, 100_000), 1e-3) > 0.05);
    }

    #[test]
    fn one_burst_is_one_coincidence_however_many_there_are_in_it() {
        let windows = every(1_000, 100, 100);
        // A thousand moments in one window of a tenth of the time: one chance in ten, not 10^-1000.
        let burst: Vec<i64> = (0..1_000).map(|i| 5_010 + i / 20).collect();
        let p = chance(&windows, &Happened::Moments(&burst), (0, 100_000), 1e-3);
        assert!((0.03..0.2).contains(&p), "{p}");
    }

    #[test]
    fn chances_of_nothing_and_of_everything() {
        let windows = every(1_000, 100, 10);
        assert!(chance(&windows, &Happened::Moments(&[]), (0, 10_000), 0.01) >= 1.0);
        let always = Stretches::of(vec![(0, 10_000)]);
        assert!(chance(&windows, &Happened::Times(&always), (0, 10_000), 0.01) > 0.99);
        assert!(
            chance(
                &Stretches::default(),
                &Happened::Times(&always),
                (0, 0),
                0.01
            ) >= 1.0
        );
    }
}
