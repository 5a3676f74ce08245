//! A mergeable sample with exact quantiles.
//!
//! Times are whole microseconds and bandwidths follow from them, so a million records hold a few thousand
//! distinct values. The sample keeps (value, count) runs in order: exact, whatever the number of records, and the
//! same whatever the order of merging. Only where distinct values exceed [`MAX_DISTINCT`] are neighbours merged.

use super::runs::Runs;
use crate::facts::Distribution;

/// Distinct values kept before neighbours are merged: 2^19 runs of 16 bytes are 8 MiB a sample.
const MAX_DISTINCT: usize = 1 << 19;

/// Neighbours merged by a sketch differ by at most this ratio: half a percent, the error that the report states.
const SKETCH_RATIO: f64 = 1.005;

/// A multiset of finite numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    values: Runs<f64>,
    sketched: bool,
}

impl Sample {
    /// Adds a value; what isn't finite is ignored (the reader refuses it before).
    pub(crate) fn push(&mut self, value: f64) {
        if value.is_finite() && self.values.push(value) {
            self.compact();
        }
    }

    /// Adds values, as [`Sample::push`] does.
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = f64>) {
        if self.values.extend(values.filter(|v| v.is_finite())) {
            self.compact();
        }
    }

    /// Adds all values of another sample.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sketched |= other.sketched;
        if self.values.merge(other.values) {
            self.compact();
        }
    }

    /// How many values.
    pub(crate) fn count(&self) -> u64 {
        self.values.count()
    }

    /// The values in ascending order with their counts.
    pub(crate) fn runs(&mut self) -> &[(f64, u64)] {
        self.compact();
        self.values.sorted()
    }

    /// Sorts everything in, and keeps the size in bounds.
    fn compact(&mut self) {
        self.values.sorted();
        self.bound();
    }

    /// Merges neighbours on a fixed grid of logarithms, so that the result doesn't depend on the order of merging.
    fn bound(&mut self) {
        let runs = self.values.sorted();
        if runs.len() <= MAX_DISTINCT && !self.sketched {
            return;
        }
        self.sketched = true;
        let step = SKETCH_RATIO.ln();
        let snap = |v: f64| {
            if v == 0.0 {
                0.0
            } else {
                v.signum() * ((v.abs().ln() / step).round() * step).exp()
            }
        };
        let mut out: Vec<(f64, u64)> = Vec::new();
        for &(v, n) in runs.iter() {
            let v = snap(v);
            match out.last_mut() {
                Some(last) if last.0.total_cmp(&v).is_eq() => last.1 += n,
                _ => out.push((v, n)),
            }
        }
        *runs = out;
    }

    /// The mean, or `None` when empty. Summed in ascending order with compensation, so that it is the same in every run.
    pub(crate) fn mean(&mut self) -> Option<f64> {
        let n = self.count();
        if n == 0 {
            return None;
        }
        let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
        for &(v, k) in self.runs() {
            let x = v * k as f64;
            let t = sum + x;
            lost += if sum.abs() >= x.abs() {
                (sum - t) + x
            } else {
                (x - t) + sum
            };
            sum = t;
        }
        Some((sum + lost) / n as f64)
    }

    /// Quantiles at ascending `qs`, linearly interpolated (type 7); empty when the sample is.
    pub(crate) fn quantiles(&mut self, qs: &[f64]) -> Vec<f64> {
        let n = self.count();
        if n == 0 {
            return Vec::new();
        }
        let mut out = Vec::with_capacity(qs.len());
        let runs = self.runs();
        let (mut i, mut before) = (0_usize, 0_u64);
        for &q in qs {
            let position = q * (n - 1) as f64;
            let low = position.floor() as u64;
            while i + 1 < runs.len() && before + runs[i].1 <= low {
                before += runs[i].1;
                i += 1;
            }
            let a = runs[i].0;
            let fraction = position - low as f64;
            let b = if before + runs[i].1 > low + 1 || i + 1 == runs.len() {
                a
            } else {
                runs[i + 1].0
            };
            out.push(if fraction > 0.0 {
                a + (b - a) * fraction
            } else {
                a
            });
        }
        out
    }

    /// The whole distribution in a unit, or `None` when empty.
    pub(crate) fn distribution<T>(&mut self, unit: impl Fn(f64) -> T) -> Option<Distribution<T>> {
        let mean = self.mean()?;
        let q = self.quantiles(&[0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0]);
        let reach = 1.5 * (q[4] - q[2]);
        let (low, high) = (q[2] - reach, q[4] + reach);
        let inside = |v: f64| v >= low && v <= high;
        let runs = self.runs();
        let whisker_low = runs
            .iter()
            .map(|r| r.0)
            .find(|&v| inside(v))
            .unwrap_or(q[0]);
        let whisker_high = runs
            .iter()
            .rev()
            .map(|r| r.0)
            .find(|&v| inside(v))
            .unwrap_or(q[7]);
        let outliers = runs.iter().filter(|r| !inside(r.0)).map(|r| r.1).sum();
        Some(Distribution {
            count: self.count(),
            min: unit(q[0]),
            p5: unit(q[1]),
            p25: unit(q[2]),
            p50: unit(q[3]),
            mean: unit(mean),
            p75: unit(q[4]),
            p95: unit(q[5]),
            p99: unit(q[6]),
            max: unit(q[7]),
            whisker_low: unit(whisker_low),
            whisker_high: unit(whisker_high),
            outliers,
            exact: !self.sketched,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[f64]) -> Sample {
        let mut s = Sample::default();
        values.iter().for_each(|&v| s.push(v));
        s
    }

    /// numpy.quantile([1, 2, 4, 8, 16, 32], [0, .05, .25, .5, .75, .95, .99, 1]) and numpy.mean, numpy 2.
    #[test]
    fn quantiles_are_those_of_numpy() {
        let d = of(&[32.0, 1.0, 16.0, 2.0, 8.0, 4.0])
            .distribution(|v| v)
            .expect("six values");
        assert_eq!((d.min, d.p5, d.p25, d.p50), (1.0, 1.25, 2.5, 6.0));
        assert_eq!((d.p75, d.p95, d.max, d.mean), (14.0, 28.0, 32.0, 10.5));
        assert!((d.p99 - 31.2).abs() < 1e-12);
        // Fences are -14.75 and 31.25: the upper whisker is the last value inside, and 32 is an outlier.
        assert_eq!((d.whisker_low, d.whisker_high, d.outliers), (1.0, 16.0, 1));
    }

    #[test]
    fn an_empty_sample_has_no_distribution() {
        assert!(Sample::default().distribution(|v| v).is_none());
    }

    proptest! {
        /// Merging is commutative and associative, and the empty sample is its identity.
        #[test]
        fn merging_obeys_its_laws(a in prop::collection::vec(0.0..1e6_f64, 0..200), b in prop::collection::vec(0.0..1e6_f64, 0..200)) {
            let whole: Vec<f64> = a.iter().chain(&b).copied().collect();
            let mut expected = of(&whole);
            let mut ab = of(&a);
            ab.merge(of(&b));
            let mut ba = of(&b);
            ba.merge(of(&a));
            let mut with_empty = of(&whole);
            with_empty.merge(Sample::default());
            prop_assert_eq!(expected.runs().to_vec(), ab.runs().to_vec());
            prop_assert_eq!(expected.runs().to_vec(), ba.runs().to_vec());
            prop_assert_eq!(expected.runs().to_vec(), with_empty.runs().to_vec());
        }

        /// A quantile lies where sorting and interpolating by the definition puts it.
        #[test]
        fn quantiles_follow_the_definition(mut v in prop::collection::vec((0_u32..50).prop_map(f64::from), 1..300), q in 0.0..=1.0_f64) {
            let got = of(&v).quantiles(&[q])[0];
            v.sort_by(f64::total_cmp);
            let at = q * (v.len() - 1) as f64;
            let (lo, hi) = (v[at.floor() as usize], v[at.ceil() as usize]);
            prop_assert!((got - (lo + (hi - lo) * at.fract())).abs() < 1e-9);
        }
    }
}
