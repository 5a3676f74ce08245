//! One series: what the runs before vary by, where its level shifts, and how far off the candidate is.
//!
//! Values are logarithms of times. The runs at one level differ by chance: by what each is unsure of itself, and by what runs of one
//! job differ by (another place in the fabric, other tenants), which is estimated from the runs (`DerSimonian` and Laird, 1986). A
//! new run of that level lies around their mean by its own error, that difference, and the error of the mean.

use super::past::Known;
use crate::comparison::estimate::Gap;
use crate::statistics::change_point::{self, Shift};

/// Runs that the candidate is held against, at least: with two there is no telling chance from change.
const FEWEST: usize = 3;
/// A new level becomes the reference once it has lasted for so many runs; until then the candidate is held against the level before,
/// so that a regression doesn't become the ordinary by being repeated once or twice.
const LASTING: usize = 5;
/// The probability that a series without a shift shows one.
const SHIFT: f64 = 0.01;

/// What a series comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    /// First index of each level after the first, and the logarithm of new over old.
    pub(crate) shifts: Vec<(usize, f64)>,
    /// What the candidate is held against.
    pub(crate) against: Option<Against>,
}

/// The runs that the candidate is held against, and the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Against {
    /// Indices of the runs.
    pub(crate) runs: Vec<usize>,
    /// Their mean.
    pub(crate) level: f64,
    /// Standard deviation of what one run is off the level by, and its degrees of freedom.
    pub(crate) spread: (f64, f64),
    /// Candidate − level.
    pub(crate) gap: Gap,
}

/// Judges a series, of which the last is the candidate. `None` stands for a run without a value. `least` is the smallest
/// shift that matters.
pub(crate) fn judge(values: &[Option<Known>], least: f64) -> Judged {
    let present: Vec<(usize, Known)> = (values.iter().enumerate())
        .filter_map(|(i, v)| Some((i, (*v)?)))
        .filter(|(_, k)| k.log.is_finite())
        .collect();
    let logs: Vec<f64> = present.iter().map(|p| p.1.log).collect();
    let own = mean_variance(&present);
    let asked = Shift {
        size: least,
        p: SHIFT,
        own_variance: own,
    };
    let starts = change_point::segments(&logs, &asked);
    let levels: Vec<(usize, f64)> = bounds(&starts, logs.len())
        .map(|(from, to)| (from, mean(&logs[from..to])))
        .collect();
    let shifts = levels
        .windows(2)
        .map(|w| (present[w[1].0].0, w[1].1 - w[0].1))
        .collect();
    let with_candidate = values
        .last()
        .is_some_and(|v| v.is_some_and(|k| k.log.is_finite()));
    let against = with_candidate
        .then(|| against(&present, &starts, own))
        .flatten();
    Judged { shifts, against }
}

/// First index of each segment and the one behind its last.
fn bounds(starts: &[usize], n: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    (0..starts.len()).map(move |k| (starts[k], starts.get(k + 1).copied().unwrap_or(n)))
}

fn against(present: &[(usize, Known)], starts: &[usize], own: f64) -> Option<Against> {
    let (candidate, before) = present.split_last()?;
    let candidate = candidate.1;
    // The levels of the runs before alone.
    let segments: Vec<(usize, usize)> = bounds(starts, present.len())
        .map(|(from, to)| (from, to.min(before.len())))
        .filter(|s| s.0 < s.1)
        .collect();
    let length = |s: &(usize, usize)| s.1 - s.0;
    let lasting = segments.iter().rev().find(|s| length(s) >= LASTING);
    let reference = lasting.or_else(|| segments.iter().max_by_key(|s| length(s)))?;
    if length(reference) < FEWEST {
        return None;
    }
    let of = |s: &(usize, usize)| {
        before[s.0..s.1]
            .iter()
            .map(|p| p.1.log)
            .collect::<Vec<f64>>()
    };
    // All levels tell what runs differ by.
    let squares: f64 = segments
        .iter()
        .map(|s| {
            let (logs, middle) = (of(s), mean(&of(s)));
            logs.iter().map(|v| (v - middle).powi(2)).sum::<f64>()
        })
        .sum();
    let df = (before.len() - segments.len()) as f64;
    let between = (squares / df - own).max(0.0);
    let n = length(reference) as f64;
    let (level, stretches) = (mean(&of(reference)), candidate.stretches as f64);
    let sum_df = (stretches - 1.0).max(1.0) * n;
    let parts = [
        (candidate.variance, (stretches - 1.0).max(0.0)),
        (between * (1.0 + 1.0 / n), df),
        (own / n, sum_df),
    ];
    Some(Against {
        runs: before[reference.0..reference.1]
            .iter()
            .map(|p| p.0)
            .collect(),
        level,
        spread: ((between + own).sqrt(), df),
        gap: Gap::of_parts(candidate.log - level, &parts),
    })
}

/// What a run is unsure of itself, on average.
fn mean_variance(present: &[(usize, Known)]) -> f64 {
    let known: Vec<f64> = (present.iter().map(|p| p.1.variance))
        .filter(|v| v.is_finite())
        .collect();
    if known.is_empty() { 0.0 } else { mean(&known) }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;

    fn series(changes: &[f64]) -> Vec<Option<Known>> {
        let known = |c: &f64| Known {
            log: 5.0 + c,
            variance: 1e-6,
            stretches: 24,
        };
        changes.iter().map(|c| Some(known(c))).collect()
    }

    fn judged(changes: &[f64]) -> Judged {
        judge(&series(changes), 0.03)
    }

    #[test]
    fn a_run_like_the_others_is_close_to_them() {
        let j = judged(&[0.0, 0.004, -0.003, 0.001, 0.002]);
        let against = j.against.expect("four runs");
        assert_eq!(against.runs, [0, 1, 2, 3]);
        assert!((against.gap.log - 0.0015).abs() < 1e-12);
        assert!(against.gap.p() > 0.5 && j.shifts.is_empty(), "{against:?}");
    }

    #[test]
    fn a_run_outside_is_far_off_and_shifts_the_level() {
        let j = judged(&[0.0, 0.004, -0.003, 0.001, 0.06]);
        let against = j.against.expect("four runs");
        assert!(against.gap.p() < 0.001, "{against:?}");
        assert_eq!(j.shifts.len(), 1);
        assert_eq!(j.shifts[0].0, 4);
        assert!((j.shifts[0].1 - 0.0595).abs() < 1e-12);
    }

    #[test]
    fn three_runs_suffice_and_two_do_not() {
        assert!(
            judged(&[0.0, 0.001, -0.001, 0.05])
                .against
                .is_some_and(|a| a.gap.p() < 0.01)
        );
        assert_eq!(judged(&[0.0, 0.001, 0.05]).against, None);
    }

    #[test]
    fn runs_that_vary_widely_hide_a_change() {
        let j = judged(&[0.0, 0.05, -0.04, 0.03, 0.07]);
        assert!(j.against.is_some_and(|a| a.gap.p() > 0.05));
    }

    #[test]
    fn a_level_must_last_to_become_the_reference() {
        let wobble = |k: usize| 0.002 * (k % 3) as f64;
        let of = |slow: usize| {
            let changes: Vec<f64> = (0..12 + slow + 1)
                .map(|k| wobble(k) + if k >= 12 { 0.06 } else { 0.0 })
                .collect();
            judged(&changes)
        };
        // Slow for three runs: since the 13th, against the first twelve.
        let short = of(3);
        assert_eq!(short.shifts[0].0, 12);
        let against = short.against.expect("runs");
        assert_eq!(against.runs.len(), 12);
        assert!(against.gap.p() < 1e-6);
        // For six: that's what it is now.
        let long = of(6);
        assert_eq!(long.shifts[0].0, 12);
        let against = long.against.expect("runs");
        assert_eq!(against.runs, [12, 13, 14, 15, 16, 17]);
        assert!(against.gap.p() > 0.1);
    }

    #[test]
    fn runs_without_a_value_keep_their_place() {
        let mut values = series(&[0.0, 0.0, 0.001, 0.002, 0.0, 0.07]);
        values[1] = None;
        let j = judge(&values, 0.03);
        assert_eq!(j.shifts[0].0, 5);
        assert_eq!(j.against.map(|a| a.runs), Some(vec![0, 2, 3, 4]));
        *values.last_mut().expect("one") = None;
        assert_eq!(judge(&values, 0.03).against, None);
        assert_eq!(judge(&[], 0.03).against, None);
    }

    /// Nearly normal: the sum of twelve uniform numbers.
    fn noise(random: &mut Random) -> f64 {
        let uniform = |r: &mut Random| r.below(1 << 20) as f64 / f64::from(1 << 20);
        (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
    }

    /// How many of 1000 candidates are called outside at 1 %, whose level is off by `off`; runs differ by `spread`, and each is
    /// unsure of itself by 0.3 %.
    fn outside(earlier: usize, spread: f64, off: f64) -> usize {
        let mut random = Random::seeded(earlier as u64);
        (0..1000)
            .filter(|_| {
                let values: Vec<Option<Known>> = (0..=earlier)
                    .map(|k| {
                        let by = if k == earlier { off } else { 0.0 };
                        let own = 0.003 * noise(&mut random);
                        Some(Known {
                            log: by + spread * noise(&mut random) + own,
                            variance: 9e-6,
                            stretches: 24,
                        })
                    })
                    .collect();
                let against = judge(&values, 0.03).against;
                against.is_some_and(|a| a.gap.log.abs() >= 0.03_f64.ln_1p() && a.gap.p() < 0.01)
            })
            .count()
    }

    /// Whatever runs differ by, at most 1 % of equal ones should be called different; 25 of 1000 are exceeded with a probability of
    /// 1e-5.
    #[test]
    fn an_equal_run_is_hardly_ever_outside() {
        for earlier in [3, 6, 20] {
            for spread in [0.0, 0.003, 0.01, 0.03] {
                let n = outside(earlier, spread, 0.0);
                assert!(n <= 25, "{earlier} runs, spread {spread}: {n}");
            }
        }
    }

    #[test]
    fn a_run_that_is_off_is_found() {
        // Runs that differ by half a percent, a candidate off by six: with a dozen it is all but certain.
        assert!(outside(12, 0.005, 0.06) >= 950);
        assert!(outside(12, 0.005, -0.06) >= 950);
        // Runs that agree to within their own error: three suffice for a tenth.
        assert!(outside(3, 0.0, 0.1) >= 700);
    }
}
