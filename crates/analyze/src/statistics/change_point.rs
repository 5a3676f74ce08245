//! Where the level of a short series shifts.
//!
//! For each number of segments the cut with the least squared distance to the segments' means is found exactly (Fisher, 1958: "On
//! grouping for maximum homogeneity"). A cut into more segments is taken only where an F test supports it, corrected for all
//! the places where the cuts might have been. One cut and two at a time are tried, since a level that goes and comes back shows with
//! two only.

use super::student;

/// Values that are looked at: with a longer series only its last so many. The cost grows with their square.
const MOST: usize = 512;
/// Segments at most: a series that shifts more often has no level.
const MOST_SEGMENTS: usize = 12;

/// What is asked of a shift.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shift {
    /// Its smallest size, in the unit of the values.
    pub(crate) size: f64,
    /// The probability of one or more shifts in a series without any.
    pub(crate) p: f64,
    /// The variance that each value is known to have at least.
    pub(crate) own_variance: f64,
}

/// The first index of each segment, in ascending order; the first is 0. Empty for an empty series.
pub(crate) fn segments(values: &[f64], asked: &Shift) -> Vec<usize> {
    let skipped = values.len().saturating_sub(MOST);
    let values = &values[skipped..];
    if values.is_empty() {
        return Vec::new();
    }
    let cuts = Cuts::of(values);
    let n = values.len();
    let mut count = 1;
    'more: loop {
        for extra in [1, 2] {
            let more = count + extra;
            if more > cuts.most || n <= more {
                break 'more;
            }
            let places = binomial(n - count, extra);
            if improvement(&cuts, n, count, more, asked.own_variance) * places < asked.p {
                count = more;
                continue 'more;
            }
        }
        break;
    }
    let mut starts = cuts.starts(count);
    drop_small(values, &mut starts, asked.size);
    if let Some(first) = starts.first_mut() {
        *first = 0;
    }
    starts.iter_mut().skip(1).for_each(|s| *s += skipped);
    starts
}

/// The probability that `more` segments fit this much better than `count` by chance.
fn improvement(cuts: &Cuts, n: usize, count: usize, more: usize, own_variance: f64) -> f64 {
    let (before, after) = (cuts.least[count - 1][n], cuts.least[more - 1][n]);
    let (extra, left) = ((more - count) as f64, (n - more) as f64);
    let noise = (after / left).max(own_variance);
    if before <= 0.0 {
        return 1.0;
    }
    if noise <= 0.0 {
        return 0.0;
    }
    student::f_upper((before - after) / extra / noise, extra, left)
}

/// Joins neighbours that differ by less than `size`, the closest first.
fn drop_small(values: &[f64], starts: &mut Vec<usize>, size: f64) {
    loop {
        let mean = |k: usize| {
            let end = starts.get(k + 1).copied().unwrap_or(values.len());
            let of = &values[starts[k]..end];
            of.iter().sum::<f64>() / of.len() as f64
        };
        let closest = (1..starts.len())
            .map(|k| (k, (mean(k) - mean(k - 1)).abs()))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        match closest {
            Some((k, distance)) if distance < size => {
                starts.remove(k);
            }
            _ => return,
        }
    }
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |b, i| b * (n - i) as f64 / (i + 1) as f64)
}

/// The best cuts of a series into 1, 2, … segments.
struct Cuts {
    most: usize,
    /// `least[k][j]`: squared distances of the first `j` values in `k + 1` segments.
    least: Vec<Vec<f64>>,
    /// Where the last of these segments starts.
    last: Vec<Vec<usize>>,
}

impl Cuts {
    fn of(values: &[f64]) -> Self {
        let n = values.len();
        let most = MOST_SEGMENTS.min(n);
        // Sums from a middle value keep digits where values are nearly alike.
        let middle = values[n / 2];
        let (mut sum, mut square) = (vec![0.0; n + 1], vec![0.0; n + 1]);
        for (i, v) in values.iter().enumerate() {
            sum[i + 1] = sum[i] + (v - middle);
            square[i + 1] = square[i] + (v - middle).powi(2);
        }
        let cost = |i: usize, j: usize| {
            let s: f64 = sum[j] - sum[i];
            (square[j] - square[i] - s * s / (j - i) as f64).max(0.0)
        };
        let mut least = vec![vec![f64::INFINITY; n + 1]; most];
        let mut last = vec![vec![0; n + 1]; most];
        for (j, whole) in least[0].iter_mut().enumerate().skip(1) {
            *whole = cost(0, j);
        }
        for k in 1..most {
            for j in k + 1..=n {
                for i in k..j {
                    let c = least[k - 1][i] + cost(i, j);
                    if c < least[k][j] {
                        (least[k][j], last[k][j]) = (c, i);
                    }
                }
            }
        }
        Self { most, least, last }
    }

    fn starts(&self, count: usize) -> Vec<usize> {
        let mut end = self.least[0].len() - 1;
        let mut out = vec![0; count];
        for k in (1..count).rev() {
            end = self.last[k][end];
            out[k] = end;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;

    const ASKED: Shift = Shift {
        size: 0.03,
        p: 0.01,
        own_variance: 1e-6,
    };

    /// Nearly normal noise: the sum of twelve uniform numbers.
    fn noise(random: &mut Random) -> f64 {
        (0..12)
            .map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20))
            .sum::<f64>()
            - 6.0
    }

    #[test]
    fn a_shift_is_found_where_it_is() {
        let mut random = Random::seeded(7);
        for at in [3, 10, 19] {
            let values: Vec<f64> = (0..20)
                .map(|i| 0.005 * noise(&mut random) + if i >= at { 0.05 } else { 0.0 })
                .collect();
            assert_eq!(segments(&values, &ASKED), [0, at], "{values:?}");
        }
    }

    #[test]
    fn three_runs_and_one_that_differs() {
        assert_eq!(segments(&[1.0, 1.001, 0.999, 1.06], &ASKED), [0, 3]);
        assert_eq!(segments(&[1.0, 1.02, 0.98, 1.06], &ASKED), [0]);
    }

    #[test]
    fn what_goes_and_comes_back_is_two_shifts() {
        let values: Vec<f64> = (0..30)
            .map(|i| 0.002 * f64::from(i % 3) + if (10..15).contains(&i) { 0.08 } else { 0.0 })
            .collect();
        assert_eq!(segments(&values, &ASKED), [0, 10, 15]);
    }

    #[test]
    fn a_small_shift_is_none_however_sure() {
        let values: Vec<f64> = (0..40)
            .map(|i| 0.0001 * f64::from(i % 2) + if i >= 20 { 0.02 } else { 0.0 })
            .collect();
        assert_eq!(segments(&values, &ASKED), [0]);
    }

    /// At 1 % the expected number of series with a shift is at most 10 of 1000; 25 are exceeded with a probability of 1e-5.
    #[test]
    fn series_without_a_shift_hardly_ever_show_one() {
        let mut random = Random::seeded(3);
        let asked = Shift {
            size: 0.0,
            own_variance: 0.0,
            ..ASKED
        };
        for n in [4, 12, 50] {
            let with = (0..1000)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| noise(&mut random)).collect();
                    segments(&values, &asked).len() > 1
                })
                .count();
            assert!(with <= 25, "{n}: {with}");
        }
    }

    #[test]
    fn degenerate_series_have_one_segment() {
        assert_eq!(segments(&[], &ASKED), [0_usize; 0]);
        assert_eq!(segments(&[1.0], &ASKED), [0]);
        assert_eq!(segments(&[1.0, 2.0], &ASKED), [0]);
        assert_eq!(segments(&[1.0; 30], &ASKED), [0]);
    }

    #[test]
    fn of_a_long_series_the_end_is_looked_at() {
        let values: Vec<f64> = (0..700)
            .map(|i| {
                if i >= 600 {
                    1.0
                } else {
                    0.001 * f64::from(i % 2)
                }
            })
            .collect();
        assert_eq!(segments(&values, &ASKED), [0, 600]);
    }
}
