//! A mergeable sample: exact quantiles while its distinct values are few, those of a sketch from then on.
//!
//! Times are whole microseconds and bandwidths follow from them, so a million records often hold a few thousand distinct values.
//! The sample keeps (value, count) runs in order. Where distinct values exceed [`MAX_DISTINCT`], each is replaced by the middle of its
//! bucket, the same whatever the order of adding and merging: whether a sample is sketched depends on its values alone, and so does what it then
//! holds. Count, sum, smallest and largest value stay exact.

use super::runs::Runs;
use crate::facts::Distribution;

/// Distinct values kept one by one: 64 KiB a sample. A job has hundreds of samples, whose memory mustn't grow with its length.
const MAX_DISTINCT: usize = 1 << 12;

/// Buckets of a sketch between a power of two and the next. A bucket is at most 1/256 of its values wide and its middle at most half as
/// far from any of them: an error of 0.2 %, under the half percent that the report states.
const BUCKETS: u32 = 8;

/// Sums of sketched values are kept in units of 2⁻²⁰ of the value's own: whole numbers, so that they don't depend on the order of adding.
const UNITS: f64 = (1_u64 << 20) as f64;

/// A multiset of finite numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    values: Runs<f64>,
    /// Of what buckets no longer tell, once there are any.
    sketched: Option<Told>,
}

/// What stays exact of sketched values.
#[derive(Debug, Clone, Copy)]
struct Told {
    /// In [`UNITS`].
    sum: i128,
    min: f64,
    max: f64,
}

impl Told {
    const NOTHING: Self = Self {
        sum: 0,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
    };

    /// Takes a value in, and gives the middle of its bucket.
    fn take(&mut self, value: f64, times: u64) -> f64 {
        self.sum = self
            .sum
            .saturating_add(((value * UNITS).round() as i128).saturating_mul(times.into()));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        middle(value)
    }

    fn merge(&mut self, other: &Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// The middle of the bucket that a value lies in: its first bits, and a one for the rest. Zero has a bucket of its own.
fn middle(value: f64) -> f64 {
    const REST: u32 = f64::MANTISSA_DIGITS - 1 - BUCKETS;
    if value == 0.0 {
        return 0.0;
    }
    f64::from_bits(value.to_bits() >> REST << REST | 1 << (REST - 1))
}

impl Sample {
    /// Adds a value; what isn't finite is ignored (the reader refuses it before).
    pub(crate) fn push(&mut self, value: f64) {
        if value.is_finite() {
            let value = match &mut self.sketched {
                None => value,
                Some(told) => told.take(value, 1),
            };
            if self.values.push(value) {
                self.compact();
            }
        }
    }

    /// Adds values, as [`Sample::push`] does.
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = f64>) {
        let values = values.filter(|v| v.is_finite());
        let due = match &mut self.sketched {
            None => self.values.extend(values),
            Some(told) => self.values.extend(values.map(|v| told.take(v, 1))),
        };
        if due {
            self.compact();
        }
    }

    /// Adds all values of another sample.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if self.sketched.is_some() || other.sketched.is_some() {
            self.sketch();
            other.sketch();
            if let (Some(told), Some(theirs)) = (&mut self.sketched, &other.sketched) {
                told.merge(theirs);
            }
        }
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
        if self.values.sorted().len() > MAX_DISTINCT {
            self.sketch();
        }
    }

    /// Replaces the values by the middles of their buckets, unless they are.
    fn sketch(&mut self) {
        if self.sketched.is_some() {
            return;
        }
        let mut told = Told::NOTHING;
        let runs = self.values.sorted();
        let mut out: Vec<(f64, u64)> = Vec::new();
        for &(v, n) in runs.iter() {
            let v = told.take(v, n);
            match out.last_mut() {
                Some(last) if last.0.total_cmp(&v).is_eq() => last.1 += n,
                _ => out.push((v, n)),
            }
        }
        *runs = out;
        self.sketched = Some(told);
    }

    /// The sample of what `of` makes of each value: `of` must be monotone, or the order is lost. Values without a result are left out.
    pub(crate) fn map(&mut self, of: impl Fn(f64) -> Option<f64>) -> Self {
        let mut out = Self::default();
        let mapped = self.runs().iter().filter_map(|&(v, n)| Some((of(v)?, n)));
        let mut runs: Vec<(f64, u64)> = mapped.filter(|r| r.0.is_finite()).collect();
        if runs
            .first()
            .zip(runs.last())
            .is_some_and(|(a, b)| a.0 > b.0)
        {
            runs.reverse();
        }
        if let Some(told) = &self.sketched {
            // The mean is that of the buckets; the ends are those of the values.
            let mut mine = Told::NOTHING;
            runs.iter().for_each(|&(v, n)| {
                mine.take(v, n);
            });
            let ends = [told.min, told.max].map(|v| of(v).filter(|v| v.is_finite()));
            if let [Some(a), Some(b)] = ends {
                (mine.min, mine.max) = (a.min(b), a.max(b));
            }
            out.sketched = Some(mine);
        }
        out.values = Runs::of(runs);
        out
    }

    /// The sum of the values, summed in ascending order with compensation, so that it is the same in every run.
    pub(crate) fn sum(&mut self) -> f64 {
        self.compact();
        if let Some(told) = &self.sketched {
            return told.sum as f64 / UNITS;
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
        sum + lost
    }

    /// The mean, or `None` when empty.
    pub(crate) fn mean(&mut self) -> Option<f64> {
        let n = self.count();
        (n > 0).then(|| self.sum() / n as f64)
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
        // A bucket's middle may lie beyond the values at the ends.
        if let Some(told) = &self.sketched {
            for (q, v) in qs.iter().zip(&mut out) {
                *v = match *q {
                    q if q <= 0.0 => told.min,
                    q if q >= 1.0 => told.max,
                    _ => v.clamp(told.min, told.max),
                };
            }
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
        let mut values = runs.iter().map(|r| r.0);
        let whisker_low = values.find(|&v| inside(v)).map_or(q[0], |v| v.max(q[0]));
        let mut values = runs.iter().rev().map(|r| r.0);
        let whisker_high = values.find(|&v| inside(v)).map_or(q[7], |v| v.min(q[7]));
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
            exact: self.sketched.is_none(),
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

        /// However many values come in, in whatever order and parts: count, sum and ends are those of the values, quantiles are off by less than
        /// half a percent, and the same values give the same sketch.
        #[test]
        fn sketches_depend_on_the_values_alone(seed in any::<u64>(), cut in 0_usize..40_000, early in any::<bool>()) {
            let mut random = crate::statistics::random::Random::seeded(seed);
            let mut unit = || (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
            // More distinct values than are kept one by one.
            let mut v: Vec<f64> = (0..40_000).map(|_| (unit() * 12.0).exp()).collect();
            let mut whole = of(&v);
            let (mut a, mut b) = (of(&v[cut..]), of(&v[..cut]));
            if early {
                a.runs();
                b.runs();
            }
            a.merge(b);
            prop_assert_eq!(a.runs().to_vec(), whole.runs().to_vec());
            prop_assert_eq!(a.sum().to_bits(), whole.sum().to_bits());
            v.sort_by(f64::total_cmp);
            let d = a.distribution(|v| v).expect("values");
            prop_assert!(!d.exact);
            prop_assert_eq!((d.count, d.min, d.max), (40_000, v[0], v[39_999]));
            let sum: f64 = v.iter().sum();
            prop_assert!((a.sum() - sum).abs() < 1e-9 * sum);
            for (got, q) in [(d.p5, 0.05), (d.p50, 0.5), (d.p99, 0.99)] {
                let exact = v[(q * 39_999.0) as usize];
                prop_assert!((got - exact).abs() < 0.005 * exact, "{got} {exact}");
            }
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
