//! From a change and its uncertainty to a word.
//!
//! A bucket is called worse or better only when the change is at least the threshold **and** more than chance, all buckets
//! together. It is called unchanged only when a change that matters would have been seen. Everything else is inconclusive.

use crate::facts::{BucketVerdict, Verdict};

/// The probability that two equal runs are called different, over all buckets together.
pub(crate) const SIGNIFICANCE: f64 = 0.01;

/// The width of the intervals that are shown: 95 %.
pub(crate) const INTERVAL: f64 = 0.05;

/// A bucket is unchanged only if its interval excludes changes of this many times the threshold: with once, a change of nearly
/// nothing in a short run would never be "unchanged", and with more, "unchanged" would say little.
pub(crate) const EXCLUDED: f64 = 2.0;

/// What a bucket's change adds to the whole, as a share of the communication time, below which it is only a note: 30 % of 0.1 %.
pub(crate) const NOTE: f64 = 0.0005;

/// Share of the time that must be judged for the whole to be called unchanged or improved.
pub(crate) const JUDGED: f64 = 0.5;

/// A change and its uncertainty, turned so that above zero is worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Worsening {
    /// Relative size.
    pub(crate) size: f64,
    /// Ends of the interval.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The probability of it between equal runs, corrected for the number of buckets.
    pub(crate) p: f64,
}

/// The word for a bucket with enough data.
pub(crate) fn judge(w: &Worsening, threshold: f64) -> BucketVerdict {
    if w.size.abs() >= threshold && w.p < SIGNIFICANCE {
        return if w.size > 0.0 {
            BucketVerdict::Regression
        } else {
            BucketVerdict::Improvement
        };
    }
    let reach = EXCLUDED * threshold;
    if w.size.abs() < threshold && w.low > -reach && w.high < reach {
        return BucketVerdict::Unchanged;
    }
    BucketVerdict::Inconclusive
}

/// What speaks for and against the candidate as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Signs {
    /// Something got worse that matters to the whole.
    pub(crate) worse: bool,
    /// Something got better that matters to the whole.
    pub(crate) better: bool,
    /// Most of the time lies in buckets that were judged.
    pub(crate) judged: bool,
    /// The runs differ in what must be equal for "unchanged" to mean anything, or a part of one isn't there.
    pub(crate) blocked: bool,
}

/// The word for the whole. What got worse is said even when the data is partial; "unchanged" and "improved" need all of it.
pub(crate) const fn whole(signs: Signs) -> Verdict {
    match signs {
        Signs {
            worse: true,
            better: true,
            ..
        } => Verdict::Mixed,
        Signs { worse: true, .. } => Verdict::Regression,
        Signs { judged: false, .. } | Signs { blocked: true, .. } => Verdict::Inconclusive,
        Signs { better: true, .. } => Verdict::Improvement,
        _ => Verdict::Unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(size: f64, half_width: f64, p: f64) -> BucketVerdict {
        judge(
            &Worsening {
                size,
                low: size - half_width,
                high: size + half_width,
                p,
            },
            0.03,
        )
    }

    #[test]
    fn size_without_support_is_inconclusive() {
        assert_eq!(judged(0.05, 0.06, 0.2), BucketVerdict::Inconclusive);
        assert_eq!(judged(-0.05, 0.06, 0.2), BucketVerdict::Inconclusive);
    }

    #[test]
    fn support_without_size_is_unchanged() {
        assert_eq!(judged(0.02, 0.001, 1e-9), BucketVerdict::Unchanged);
        assert_eq!(judged(-0.029, 0.001, 1e-9), BucketVerdict::Unchanged);
    }

    #[test]
    fn size_and_support_make_a_verdict() {
        assert_eq!(judged(0.03, 0.01, 0.009), BucketVerdict::Regression);
        assert_eq!(judged(-0.05, 0.01, 0.001), BucketVerdict::Improvement);
        assert_eq!(judged(0.05, 0.04, 0.011), BucketVerdict::Inconclusive);
    }

    #[test]
    fn what_could_hide_a_change_is_not_unchanged() {
        assert_eq!(judged(0.0, 0.059, 1.0), BucketVerdict::Unchanged);
        assert_eq!(judged(0.0, 0.061, 1.0), BucketVerdict::Inconclusive);
        assert_eq!(judged(0.02, 0.041, 1.0), BucketVerdict::Inconclusive);
        assert_eq!(judged(0.0, f64::INFINITY, 1.0), BucketVerdict::Inconclusive);
        assert_eq!(
            judged(f64::NAN, f64::NAN, f64::NAN),
            BucketVerdict::Inconclusive
        );
    }

    #[test]
    fn the_whole_fails_on_what_is_worse_and_passes_only_on_whole_data() {
        let of = |worse, better, judged, blocked| {
            whole(Signs {
                worse,
                better,
                judged,
                blocked,
            })
        };
        assert_eq!(of(false, false, true, false), Verdict::Unchanged);
        assert_eq!(of(false, true, true, false), Verdict::Improvement);
        assert_eq!(of(true, false, false, true), Verdict::Regression);
        assert_eq!(of(true, true, true, false), Verdict::Mixed);
        for better in [false, true] {
            assert_eq!(of(false, better, false, false), Verdict::Inconclusive);
            assert_eq!(of(false, better, true, true), Verdict::Inconclusive);
        }
    }
}
